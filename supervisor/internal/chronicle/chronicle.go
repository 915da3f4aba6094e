// Package chronicle is the supervisor's own append-only log: one JSON line for each
// change that somebody may ask about long after the rotated logs are gone, a service that
// failed or was parked, an operator's act, a setting on trial. Lines are appended and
// never changed, and no change waits for them. The file is put aside only in stopped
// maintenance; the package never does that by itself.
package chronicle

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"mangrove/internal/durable"
	"mangrove/internal/redact"
)

// Event is one line. Empty fields are left out.
type Event struct {
	Time time.Time `json:"time"`
	// Event is "supervisor", "service", "operator" or "setting".
	Event string `json:"event"`
	// Name is the service's or the setting's.
	Name string `json:"name,omitempty"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Reason says why, in one line without secrets.
	Reason string `json:"reason,omitempty"`
}

// maxReason bounds a reason, in bytes.
const maxReason = 500

// Path is where the chronicle of a data folder lies.
func Path(data string) string { return filepath.Join(data, "supervisor-events.log") }

// Log appends to the chronicle.
type Log struct {
	path string
	// say is told once when a line cannot be written, and not again before one could.
	say func(error)

	mu      sync.Mutex
	failing bool
}

// New makes a log that appends to path.
func New(path string, say func(error)) *Log { return &Log{path: path, say: say} }

// Tell appends one line. One that cannot be written is lost.
func (l *Log) Tell(e Event) {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Time, e.Reason = e.Time.UTC(), redact.Clip(redact.Line(e.Reason), maxReason)
	l.mu.Lock()
	defer l.mu.Unlock()
	line, err := json.Marshal(e)
	if err == nil {
		err = add(l.path, append(line, '\n'))
	}
	if err != nil && !l.failing {
		l.say(err)
	}
	l.failing = err != nil
}

// add appends with one write. A name that was put aside starts a new file.
func add(path string, line []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// ErrNothing is returned by Archive when there is nothing to put aside.
var ErrNothing = errors.New("there is nothing to archive")

// Archive puts the chronicle aside as the file to, which must not be there: it is copied
// whole and synced, compared, and only then is the chronicle removed. A kill in between
// leaves both. Nobody may append meanwhile: the caller holds the supervisor's lock. It
// returns how many bytes were put aside.
func Archive(path, to string) (int64, error) {
	from, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, ErrNothing
	}
	if err != nil {
		return 0, durable.Classify("read", path, err)
	}
	defer func() { _ = from.Close() }()
	if _, err := os.Lstat(to); err == nil {
		return 0, durable.Classify("create", to, durable.ErrExists)
	}
	pending := filepath.Join(filepath.Dir(to), "."+filepath.Base(to)+".tmp")
	copied, err := durable.CreatePending(pending, 0o600)
	if err != nil {
		return 0, err
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(copied, sum), from)
	if err == nil {
		err = durable.Sync(copied)
	}
	if cerr := copied.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = same(pending, sum.Sum(nil))
	}
	if err != nil {
		_ = os.Remove(pending)
		return 0, durable.Classify("write", to, err)
	}
	if err := durable.RenameNoReplace(pending, to); err != nil {
		_ = os.Remove(pending)
		return 0, err
	}
	if err := durable.SyncDir(filepath.Dir(to)); err != nil {
		return 0, err
	}
	if err := os.Remove(path); err != nil {
		return 0, durable.Classify("remove", path, err)
	}
	return n, durable.SyncDir(filepath.Dir(path))
}

// same fails unless the file has that digest.
func same(path string, want []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if string(sum.Sum(nil)) != string(want) {
		return fmt.Errorf("%s is not what was read", path)
	}
	return nil
}
