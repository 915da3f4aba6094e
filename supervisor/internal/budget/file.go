package budget

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mangrove/internal/durable"
)

// version numbers the file's form.
const version = 1

// maxFile bounds what is read back.
const maxFile = 1 << 20

// ahead is how far a stamp of another boot may lie in the future before the file
// is disbelieved: clocks differ a little, and are set at start.
const ahead = time.Minute

// stored is the runtime file.
type stored struct {
	Version int    `json:"version"`
	Service string `json:"service"`
	Ledger
}

// Budget is the kept budget of one service. It is for one goroutine.
type Budget struct {
	path    string
	service string
	now     func() Moment
	ledger  Ledger
	// unwritten says why the file could not be written; nothing is started then.
	unwritten error
}

// Path is the runtime file of a service in the data folder.
func Path(data, service string) string {
	return filepath.Join(data, "runtime-"+service+".json")
}

// Open reads the budget of a service. A file that is not there is a full budget;
// one that cannot be understood is copied for inspection, and counts as spent from
// now on (SUP-4). strict then says why.
func Open(data, service string, now func() Moment) (b *Budget, strict string) {
	b = &Budget{path: Path(data, service), service: service, now: now}
	ledger, err := read(b.path, service, now())
	switch {
	case err == nil:
		b.ledger = ledger
		return b, ""
	case errors.Is(err, fs.ErrNotExist):
		return b, ""
	}
	strict = err.Error()
	if err := b.distrust(strict); err != nil {
		b.unwritten = err
	}
	return b, strict
}

// distrust keeps the file that could not be understood and puts a spent one in its
// place.
func (b *Budget) distrust(why string) error {
	now := b.now()
	kept := fmt.Sprintf("%s.unreadable-%s", b.path, now.Wall.UTC().Format("20060102T150405.000000000"))
	for range Limit {
		b.ledger.Record(Failure{Moment: now, What: "the runtime file could not be believed: " + why + "; it is kept as " + filepath.Base(kept)})
	}
	if err := copyFile(b.path, kept); err != nil {
		return err
	}
	return b.save()
}

// read reads a runtime file strictly: no unknown form, no stranger, no stamp ahead.
func read(path, service string, now Moment) (Ledger, error) {
	f, err := os.Open(path)
	if err != nil {
		return Ledger{}, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return Ledger{}, err
	}
	if len(data) > maxFile {
		return Ledger{}, errors.New("it is too large")
	}
	var s *stored
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return Ledger{}, errors.New("it is no runtime file")
	}
	var more json.RawMessage
	switch {
	case dec.Decode(&more) != io.EOF:
		return Ledger{}, errors.New("something stands behind its end")
	case s == nil, s.Version == 0, s.Failures == nil:
		return Ledger{}, errors.New("it says nothing")
	case s.Version != version:
		return Ledger{}, fmt.Errorf("its version is %d", s.Version)
	case s.Service != service:
		return Ledger{}, fmt.Errorf("it is that of %q", s.Service)
	}
	for _, x := range s.Failures {
		switch {
		case x.Wall.IsZero() && x.Boot == "":
			return Ledger{}, errors.New("a failure has no time")
		case now.Since(x.Moment) < -ahead:
			return Ledger{}, errors.New("a failure lies in the future")
		}
	}
	return s.Ledger, nil
}

// Fail records a failure and keeps it before it returns. parked is true when the
// service must not be started again; reason then says why.
func (b *Budget) Fail(what string, lines []string) (parked bool, reason string) {
	b.ledger.Record(Failure{Moment: b.now(), What: what, LastLines: lines})
	_ = b.save()
	return b.Parked()
}

// Parked reports whether the service must not be started, and why.
func (b *Budget) Parked() (parked bool, reason string) {
	switch {
	case b.unwritten != nil:
		return true, "its budget cannot be written: " + durable.Reason(b.unwritten)
	case b.ledger.Spent(b.now()):
		return true, fmt.Sprintf("%d failures within an hour", Limit)
	}
	return false, ""
}

// Left is how many failures it may still have.
func (b *Budget) Left() int { return b.ledger.Left(b.now()) }

// FreesAt is when the budget is no longer spent; zero when it is not.
func (b *Budget) FreesAt() time.Time {
	if d := b.ledger.FreesIn(b.now()); d > 0 {
		return time.Now().Add(d)
	}
	return time.Time{}
}

// Failures are the failures that are remembered, oldest first.
func (b *Budget) Failures() []Failure { return b.ledger.Failures }

// Reset is an operator's deliberate forgiveness (SUP-5): the file is copied first,
// and then its failures alone are cleared. It returns the copy's path, "" when there
// was no file.
func (b *Budget) Reset() (backup string, err error) {
	backup = fmt.Sprintf("%s.before-reset-%s", b.path, b.now().Wall.UTC().Format("20060102T150405.000000000"))
	err = copyFile(b.path, backup)
	if errors.Is(err, fs.ErrNotExist) {
		backup, err = "", nil
	}
	if err != nil {
		return "", err
	}
	before := b.ledger
	b.ledger = Ledger{}
	if err := b.save(); err != nil {
		b.ledger = before
		return backup, err
	}
	return backup, nil
}

// Rewrite tries again to write a budget that could not be written.
func (b *Budget) Rewrite() {
	if b.unwritten != nil {
		_ = b.save()
	}
}

// save writes the file whole and synced: what it allows happens after it.
func (b *Budget) save() error {
	s := stored{version, b.service, b.ledger}
	if s.Failures == nil {
		s.Failures = []Failure{}
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err == nil {
		err = durable.WriteFile(b.path, append(data, '\n'), 0o600)
	}
	b.unwritten = err
	return err
}

// copyFile copies at most maxFile bytes, synced; to must not be there.
func copyFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return err
	}
	return durable.WriteFile(to, data, 0o600)
}
