package incident

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/redact"
)

// Event is one line of events.log: one change of state. Empty fields are left out.
type Event struct {
	Time time.Time `json:"time"`
	// Event is "job", "circuit", "hold", "publication", "incident", "recovered"
	// or "operator".
	Event   string `json:"event"`
	Site    string `json:"site,omitempty"`
	Series  string `json:"series,omitempty"`
	Job     int64  `json:"job,omitempty"`
	Chapter string `json:"chapter,omitempty"`
	From    string `json:"from,omitempty"`
	To      string `json:"to,omitempty"`
	Class   string `json:"class,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// EventLog is events.log: JSON lines, appended and never changed, in files of
// 10 MiB of which five old ones are kept. A line that cannot be written is lost
// and the log says so once: no change of state ever waits for it or fails with
// it. A nil EventLog takes every line and writes none.
type EventLog struct {
	mu      sync.Mutex
	w       io.Writer
	log     *zap.Logger
	failing bool
}

// EventLogPath is where events.log lies in a data folder.
func EventLogPath(dataDir string) string { return filepath.Join(dataDir, "scraper", "events.log") }

// NewEventLog opens events.log for the scraper, which alone starts new files.
func NewEventLog(path string, log *zap.Logger) *EventLog {
	return &EventLog{w: appender{path, true}, log: log}
}

// AppendEventLog opens events.log for a command that adds a line to it beside a
// running scraper.
func AppendEventLog(path string, log *zap.Logger) *EventLog {
	return &EventLog{w: appender{path, false}, log: log}
}

// Bounds of the file.
const (
	maxEventLog  = 10 << 20
	oldEventLogs = 5
)

// appender opens its file for each line, so that the line goes where the name
// leads now, whoever else writes there: a rotating writer keeps its place in the
// file and would write over what a command has added.
type appender struct {
	path    string
	rotates bool
}

// Write appends one line with one write.
func (a appender) Write(line []byte) (int, error) {
	if info, err := os.Stat(a.path); a.rotates && err == nil && info.Mode().IsRegular() && info.Size()+int64(len(line)) > maxEventLog {
		// A name that cannot be moved is written on: a long file loses nothing.
		for n := oldEventLogs - 1; n >= 0; n-- {
			_ = os.Rename(a.old(n), a.old(n+1))
		}
	}
	f, err := os.OpenFile(a.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := f.Write(line)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return n, err
}

// old is the n-th oldest file; the zeroth is the one that is written.
func (a appender) old(n int) string {
	if n == 0 {
		return a.path
	}
	return a.path + "." + strconv.Itoa(n)
}

// Tell writes one line.
func (l *EventLog) Tell(e Event) {
	if l == nil {
		return
	}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time = e.Time.UTC()
	e.Reason, e.Site, e.Series, e.Chapter = short(e.Reason), redact.Clip(redact.Line(e.Site), maxName), redact.Clip(redact.Line(e.Series), maxName), redact.Clip(redact.Line(e.Chapter), maxName)
	l.mu.Lock()
	defer l.mu.Unlock()
	line, err := json.Marshal(e)
	if err == nil {
		_, err = l.w.Write(append(line, '\n'))
	}
	if err != nil && !l.failing {
		l.log.Warn("events.log cannot be written; the work goes on without it", zap.Error(err))
	}
	l.failing = err != nil
}
