package logging

import (
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

const (
	// alikeEach is how many warnings and errors with one message are written within
	// alikeFor; what comes beyond is counted and said once the time is over.
	alikeEach = 60
	alikeFor  = time.Minute
	// alikeMost bounds how many messages are remembered.
	alikeMost = 1000
)

// collapser leaves out warnings and errors that are alike when they come in a flood,
// so that a loop which fails does not fill the disk (S-096).
type collapser struct {
	zapcore.Core
	alike *alike
}

// alike counts the messages of the current stretch of time. It is shared by a logger
// and all that were made from it.
type alike struct {
	mu    sync.Mutex
	until time.Time
	seen  map[string]*flood
}

// flood is one message: how often it came, and when it was last left out.
type flood struct {
	n    int
	last time.Time
}

func newCollapser(core zapcore.Core) collapser { return collapser{core, &alike{}} }

// With keeps counting together what is logged with further fields.
func (c collapser) With(fields []zapcore.Field) zapcore.Core {
	return collapser{c.Core.With(fields), c.alike}
}

// Check passes an entry on unless too many were like it.
func (c collapser) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if e.Level < zapcore.WarnLevel || e.Level > zapcore.ErrorLevel || !c.Enabled(e.Level) {
		return c.Core.Check(e, ce)
	}
	over, pass := c.alike.count(e)
	for message, f := range over {
		said := zapcore.Entry{Level: zapcore.WarnLevel, Time: e.Time, Message: "lines that are alike were left out"}
		_ = c.Write(said, []zapcore.Field{zap.String("said", message), zap.Int("left_out", f.n-alikeEach), zap.Time("last", f.last)})
	}
	if !pass {
		return ce
	}
	return c.Core.Check(e, ce)
}

// count counts e and reports whether it is to be written; over are the floods of the
// stretch of time that has just ended.
func (a *alike) count(e zapcore.Entry) (over map[string]*flood, pass bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.Time.After(a.until) {
		over = a.seen
		for message, f := range over {
			if f.n <= alikeEach {
				delete(over, message)
			}
		}
		a.seen, a.until = map[string]*flood{}, e.Time.Add(alikeFor)
	}
	f, known := a.seen[e.Message]
	if !known {
		if len(a.seen) >= alikeMost {
			return over, true
		}
		f = &flood{}
		a.seen[e.Message] = f
	}
	if f.n++; f.n > alikeEach {
		f.last = e.Time
		return over, false
	}
	return over, true
}
