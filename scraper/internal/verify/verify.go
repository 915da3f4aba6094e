// Package verify re-reads the files of the library, slowly, and says which no
// longer hold what was published (F14). Rot becomes an incident that names the
// page; nothing is deleted, written over or fetched because of it: what to do is
// for a person to say. It refuses to take a library that is not there for a
// rotten one.
package verify

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/archive"
	"mangrove/internal/cbz"
	"mangrove/internal/durable"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/source"
)

const (
	// Every is how old the last whole reading of a file may be before it is read again.
	Every = 90 * 24 * time.Hour
	// nightly bounds one night's reading, and gentle is its pace, in bytes a second:
	// a library of a terabyte is read within ninety nights, by a disk that hardly
	// notices.
	nightly = 4 * time.Hour
	gentle  = 24 << 20
	// batch is how many files are asked for at once.
	batch = 100
)

// File is a file of the library, as it is known.
type File struct {
	// Path is within the library, with slashes.
	Path        string
	Key         source.Key
	ChapterID   string
	Fingerprint string
	// Kind is what holds its pages.
	Kind archive.Kind
}

// Store is what verifying reads and writes.
type Store interface {
	// Unverified lists files that are there and were not read whole since before,
	// the longest unread first.
	Unverified(ctx context.Context, before time.Time, limit int) ([]File, error)
	// KnownFile is the file of that path, if it is there; class not-found otherwise.
	KnownFile(ctx context.Context, path string) (File, error)
	// SetVerified notes that files were read whole, rotten or not.
	SetVerified(ctx context.Context, path string, at time.Time) error
}

// Recorder keeps incidents.
type Recorder interface {
	Record(ctx context.Context, h incident.Happening)
	End(ctx context.Context, e incident.End)
}

// Finding is a file that does not hold what was published.
type Finding struct {
	File File
	// What is wrong, one line each.
	What []string
}

// Report is what one verifying found.
type Report struct {
	Files, Pages int
	Bytes        int64
	Rotten       []Finding
	// Gone counts files that were not there; the Inventory tells of them.
	Gone int
}

// Verifier verifies the library in Library.
type Verifier struct {
	Library string
	// There is the Marker's check.
	There  func(ctx context.Context) error
	Store  Store
	Record Recorder
	Log    *zap.Logger
	// Found is called for each finding; nil is not.
	Found func(Finding)

	pace int64
}

// Night reads what is due, gently, for a part of the night at most.
func (v *Verifier) Night(ctx context.Context, now time.Time) error {
	night, end := context.WithTimeout(ctx, nightly)
	defer end()
	slow := *v
	slow.pace = gentle
	r, err := slow.Run(night, now.Add(-Every))
	if night.Err() != nil && ctx.Err() == nil {
		err = nil // the rest has time until tomorrow
	}
	if r.Files > 0 {
		v.Log.Info("files were verified", zap.Int("files", r.Files), zap.Int64("bytes", r.Bytes), zap.Int("rotten", len(r.Rotten)), zap.Error(err))
	}
	return err
}

// Run reads every file that was not read whole since before.
func (v *Verifier) Run(ctx context.Context, before time.Time) (Report, error) {
	var r Report
	for ctx.Err() == nil {
		if err := v.There(ctx); err != nil {
			return r, err
		}
		files, err := v.Store.Unverified(ctx, before, batch)
		if err != nil || len(files) == 0 {
			return r, err
		}
		for _, f := range files {
			if err := v.file(ctx, f, &r); err != nil {
				return r, err
			}
		}
	}
	return r, ctx.Err()
}

// file reads one file whole and says what came of it.
func (v *Verifier) file(ctx context.Context, f File, r *Report) error {
	began := time.Now()
	size, pages, what, err := v.read(ctx, f)
	if err != nil {
		return err
	}
	if len(what) > 0 {
		// A library that has gone meanwhile is not rotten.
		if err := v.There(ctx); err != nil {
			return err
		}
	}
	r.Files, r.Pages, r.Bytes = r.Files+1, r.Pages+pages, r.Bytes+size
	switch {
	case size < 0:
		r.Files, r.Bytes, r.Gone = r.Files-1, r.Bytes+1, r.Gone+1
	case len(what) > 0:
		found := Finding{f, what}
		r.Rotten = append(r.Rotten, found)
		if v.Found != nil {
			v.Found(found)
		}
		v.Record.Record(ctx, incident.Happening{
			Kind: fault.Page, About: incident.AboutFile, Key: f.Key, ChapterID: f.ChapterID,
			Cause: fault.Newf(fault.Page, "verify", f.Path, "%s", strings.Join(what, "; ")),
		})
	default:
		v.Record.End(ctx, incident.End{About: []incident.About{incident.AboutFile}, Key: f.Key, ChapterID: f.ChapterID, Resolution: incident.GoodRead})
	}
	if err := v.Store.SetVerified(ctx, f.Path, time.Now()); err != nil {
		return err
	}
	v.rest(ctx, time.Duration(float64(max(size, 0))/float64(max(v.pace, 1))*float64(time.Second))-time.Since(began))
	return nil
}

// rest keeps the pace, if there is one.
func (v *Verifier) rest(ctx context.Context, d time.Duration) {
	if v.pace == 0 || d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// maxLines bounds what is said of one file.
const maxLines = 20

// read reads a file whole. size is -1 when it is not there.
func (v *Verifier) read(ctx context.Context, f File) (size int64, pages int, what []string, err error) {
	root, err := os.OpenRoot(v.Library)
	if err != nil {
		return 0, 0, nil, durable.Classify("open", v.Library, err)
	}
	defer func() { _ = root.Close() }() // nothing was written
	if f.Kind != archive.ZIP {
		return others(ctx, root, f)
	}
	file, err := root.Open(filepath.FromSlash(f.Path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return -1, 0, nil, nil
	case err != nil:
		return 0, 0, []string{"it cannot be opened: " + durable.Reason(err)}, nil
	}
	defer func() { _ = file.Close() }() // nothing was written
	st, err := file.Stat()
	switch {
	case err != nil:
		return 0, 0, []string{"it cannot be opened: " + durable.Reason(err)}, nil
	case !st.Mode().IsRegular():
		return -1, 0, nil, nil
	}
	got, err := cbz.Verify(ctx, file, st.Size())
	switch {
	case ctx.Err() != nil:
		return 0, 0, nil, ctx.Err()
	case err != nil:
		return st.Size(), 0, []string{"it cannot be read at all: " + fault.Line(err)}, nil
	}
	what = lines(got.Bad)
	if f.Key.Site != inventory.LocalSite && got.Fingerprint != f.Fingerprint {
		what = append(what, "it is not the chapter that was published")
	}
	return st.Size(), got.Pages, what, nil
}

// others reads what another program made and is no ZIP: its own checksums, and each
// picture to its end, are all there is to go by. Its size is that of its pages.
func others(ctx context.Context, root *os.Root, f File) (size int64, pages int, what []string, err error) {
	got, err := archive.Index(ctx, root, f.Path)
	switch {
	case ctx.Err() != nil:
		return 0, 0, nil, ctx.Err()
	case fault.Is(err, fault.NotFound):
		return -1, 0, nil, nil
	case err != nil:
		return 0, 0, []string{"it cannot be read at all: " + fault.Line(err)}, nil
	}
	var bad []cbz.Damage
	for i, p := range got.Pages {
		size += p.Size
		if p.Width == 0 {
			bad = append(bad, cbz.Damage{Page: i + 1, Name: p.Name, What: "it is no whole picture"})
		}
	}
	return size, len(got.Pages), lines(bad), nil
}

// lines says what is wrong, one page a line, within bounds.
func lines(bad []cbz.Damage) (what []string) {
	for i, d := range bad {
		if i == maxLines {
			return append(what, fmt.Sprintf("and %d more pages", len(bad)-maxLines))
		}
		what = append(what, fmt.Sprintf("page %d (%s): %s", d.Page, d.Name, d.What))
	}
	return what
}
