// Package upgrade judges whether a new version that was put in place is seen to work,
// and keeps what happened: one record per attempt in the data folder. It refuses a
// third attempt like the two before it. It puts no program in place, stops and starts
// nothing, and opens no database: what it judges is told to it.
package upgrade

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mangrove/internal/durable"
)

// Outcome is how an attempt ended, as stored and shown.
type Outcome string

// The outcomes.
const (
	// UnderWay is an attempt that has begun and was not judged yet.
	UnderWay Outcome = "under-way"
	// Resumed is one after which every service serves and every Job that was under way
	// has gone on, has ended or is held.
	Resumed Outcome = "resumed"
	// Idle is one after which every service serves; nothing was being downloaded.
	Idle Outcome = "idle"
	// Failed is any other.
	Failed Outcome = "failed"
)

// Reason is why an attempt failed.
type Reason string

// The reasons.
const (
	// NotStopped, NoBackup, NotSwapped and NotStarted are told by whoever did the step.
	NotStopped Reason = "not-stopped"
	NoBackup   Reason = "no-backup"
	NotSwapped Reason = "not-swapped"
	NotStarted Reason = "not-started"
	// NotVerified is an attempt that nobody judged before the next began.
	NotVerified Reason = "not-verified"
	// Silent is a supervisor that did not answer in time.
	Silent Reason = "no-answer"
	// WrongVersion is another version than the one that was put in place.
	WrongVersion Reason = "wrong-version"
	// Services is a service that does not serve.
	Services Reason = "services"
	// Unknown is progress that could not be read.
	Unknown Reason = "progress-unknown"
	// Unmoved is a Job whose checkpoint did not move.
	Unmoved Reason = "unmoved"
	// SetAside is a Job that the new version set aside.
	SetAside Reason = "set-aside"
)

// Steps are the reasons that are told and not found, each once.
func Steps() []Reason { return []Reason{NotStopped, NoBackup, NotSwapped, NotStarted} }

// Rollback says what the old programs need to run again.
type Rollback string

// The ways back.
const (
	// Programs: the schema is theirs, so they need only be put back.
	Programs Rollback = "programs"
	// Downgrade: the database has to be taken to their schema first.
	Downgrade Rollback = "downgrade"
	// Unsure: it is not known what the schema is, or was.
	Unsure Rollback = "unsure"
)

// Job is how far one Job is.
type Job struct {
	Job    int64  `json:"job"`
	Site   string `json:"site"`
	Series string `json:"series"`
	// State and Circuit are the scraper's words, Class and Reason why it is there.
	State   string `json:"state"`
	Class   string `json:"class,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Circuit string `json:"circuit,omitempty"`
	// Fingerprint is the checkpoint's: it changes with every chapter and page that is
	// completed (STALL-1). "" is none that can be read.
	Fingerprint string `json:"fingerprint,omitempty"`
	Published   int    `json:"published"`
	Chapter     string `json:"chapter,omitempty"`
	PagesDone   int    `json:"pages_done"`
	// Verdict is what became of it, after.
	Verdict Verdict `json:"verdict,omitempty"`
}

// Progress is what the scraper's program says of the downloads.
type Progress struct {
	Version  string   `json:"version"`
	Database int64    `json:"database"`
	Program  int64    `json:"program"`
	Holds    []string `json:"holds"`
	Jobs     []Job    `json:"jobs"`
}

// Side is how everything stood before the new version, or after it.
type Side struct {
	// Version is the running supervisor's, or the installed program's where none ran.
	Version string `json:"version"`
	Running bool   `json:"running"`
	// Schema is the version of the database; 0 is not known.
	Schema int64 `json:"schema"`
	// Jobs are those that were under way.
	Jobs []Job `json:"jobs"`
	// Unread says why the schema and the Jobs are not known, or "".
	Unread string `json:"unread,omitempty"`
}

// File is a file with what tells it from others.
type File struct {
	Path   string `json:"path"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Record is one attempt.
type Record struct {
	Format int `json:"format"`
	// Number counts the attempts on a data folder, from 1.
	Number int `json:"number"`
	// Version is the one that is put in place, Programs are its three.
	Version  string    `json:"version"`
	Programs []File    `json:"programs"`
	Begun    time.Time `json:"begun"`
	Ended    time.Time `json:"ended,omitzero"`
	Outcome  Outcome   `json:"outcome"`
	// Reason and About say why it failed and what that is about, Said in one line.
	Reason Reason `json:"reason,omitempty"`
	About  string `json:"about,omitempty"`
	Said   string `json:"said"`
	// Note is a person's word on why an attempt like the two before it will be different.
	Note   string `json:"note,omitempty"`
	Backup *File  `json:"backup,omitempty"`
	// Kept is the folder in which the programs to go back to lie beside the new ones.
	Kept string `json:"kept"`
	// Fallback is what there is to go back to, and Rollback what that needs.
	Fallback Fallback `json:"fallback"`
	Rollback Rollback `json:"rollback"`
	Before   Side     `json:"before"`
	After    *Side    `json:"after,omitempty"`
}

// Fallback is the last version that was seen to work, or that nobody has complained of.
type Fallback struct {
	Version string `json:"version"`
	// Schema is the database's under it, 0 if that is not known.
	Schema int64 `json:"schema"`
	// Backup was made under it.
	Backup *File `json:"backup,omitempty"`
}

// format is the file's; maxRecord bounds what is read, in bytes, and maxRecords how
// many attempts are looked at.
const (
	format     = 1
	maxRecord  = 1 << 20
	maxRecords = 10000
)

// Folder is where a data folder keeps its records.
func Folder(data string) string { return filepath.Join(data, "upgrades") }

// File is where a record lies.
func (r Record) File(data string) string {
	return filepath.Join(Folder(data), fmt.Sprintf("%04d.json", r.Number))
}

// Write keeps r, synced, whole or not at all.
func (r Record) Write(data string) error {
	r.Format = format
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if len(text) >= maxRecord {
		return fmt.Errorf("the record of attempt %d is longer than %d bytes", r.Number, maxRecord)
	}
	if err := os.Mkdir(Folder(data), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return durable.Classify("create", Folder(data), err)
	}
	return durable.WriteFile(r.File(data), append(text, '\n'), 0o600)
}

// Records lists the attempts on a data folder, oldest first.
func Records(data string) ([]Record, error) {
	files, err := filepath.Glob(filepath.Join(Folder(data), "[0-9]*.json"))
	if err != nil {
		return nil, err
	}
	var out []Record
	for _, file := range files[max(0, len(files)-maxRecords):] {
		r, err := read(file)
		if err != nil {
			return nil, fmt.Errorf("%s is no record of an upgrade (%w); look at it, and move it away", file, err)
		}
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Record) int { return a.Number - b.Number })
	return out, nil
}

func read(file string) (Record, error) {
	f, err := os.Open(file)
	if err != nil {
		return Record{}, err
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err != nil {
		return Record{}, err
	}
	return Read(text)
}

// Read reads a record strictly.
func Read(text []byte) (Record, error) {
	if len(text) > maxRecord {
		return Record{}, errors.New("it is too long")
	}
	var r Record
	decode := json.NewDecoder(bytes.NewReader(text))
	decode.DisallowUnknownFields()
	if err := decode.Decode(&r); err != nil {
		return Record{}, err
	}
	switch {
	case r.Format != format:
		return Record{}, fmt.Errorf("its format is %d", r.Format)
	case r.Number < 1 || r.Begun.IsZero() || !slices.Contains([]Outcome{UnderWay, Resumed, Idle, Failed}, r.Outcome) || (r.Outcome == Failed) != (r.Reason != ""):
		return Record{}, errors.New("it says nothing")
	}
	return r, nil
}

// ErrNote refuses an attempt that would repeat what has failed twice.
var ErrNote = errors.New("it failed twice in the same way")

// Begin makes the record of the next attempt after those before it. One like the last
// two, of the same version, which failed with the same reason, needs a note on why it
// will be different (features H15). An attempt that nobody judged ends first.
func Begin(before []Record, next Record, now time.Time) (begun Record, ended *Record, err error) {
	next.Number, next.Begun, next.Outcome = 1, now, UnderWay
	next.Said = "begun"
	next.Fallback = Fallback{Version: next.Before.Version, Schema: next.Before.Schema}
	if n := len(before); n > 0 {
		last := before[n-1]
		next.Number = last.Number + 1
		if last.Outcome == UnderWay {
			last.Outcome, last.Reason, last.Said, last.Ended = Failed, NotVerified, "nobody saw it work before the next attempt began", now
			before = append(slices.Clone(before[:n-1]), last)
			ended = &last
		}
		// What failed is still in place: there is nothing in it to go back to.
		if last.Outcome == Failed && last.Swapped() && next.Before.Version == last.Version {
			next.Fallback = last.Fallback
		}
	}
	if n := len(before); n >= 2 && next.Note == "" {
		a, b := before[n-2], before[n-1]
		if a.failure() == b.failure() && a.Outcome == Failed && b.Version == next.Version {
			return Record{}, ended, fmt.Errorf("%w: attempts %d and %d put %s in place, and both ended with %s (%s)", ErrNote, a.Number, b.Number, b.Version, b.Reason, b.Said)
		}
	}
	return next, ended, nil
}

// Swapped reports whether programs were, or may have been, replaced.
func (r Record) Swapped() bool { return r.Reason != NotStopped && r.Reason != NoBackup }

// failure is what makes two failures the same.
func (r Record) failure() [4]string {
	return [4]string{string(r.Outcome), r.Version, string(r.Reason), r.About}
}
