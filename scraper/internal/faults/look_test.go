//go:build faults

package faults

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mangrove/internal/cbz"
)

// observer looks at a library from outside all the while, as a reader of the
// folder and of the change log would; it knows nothing of the scraper.
type observer struct {
	w    *world
	done chan struct{}
	wait sync.WaitGroup
	// away is true while the library is taken away on purpose.
	away atomic.Bool

	mu     sync.Mutex
	wrong  []string
	seen   map[string]string // good files, by what they were like
	staged map[string]int    // pages by stage
}

// watch looks every few milliseconds until close.
func watch(w *world) *observer {
	o := &observer{w: w, done: make(chan struct{}), seen: map[string]string{}, staged: map[string]int{}}
	o.wait.Go(func() {
		for {
			select {
			case <-o.done:
				return
			case <-time.After(15 * time.Millisecond):
				o.look()
			}
		}
	})
	w.t.Cleanup(o.close)
	return o
}

func (o *observer) close() {
	o.mu.Lock()
	select {
	case <-o.done:
	default:
		close(o.done)
	}
	o.mu.Unlock()
	o.wait.Wait()
}

func (o *observer) said() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.wrong)
}

func (o *observer) complain(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(o.wrong, line) {
		o.wrong = append(o.wrong, line)
	}
}

// rows are the committed files with their fingerprints.
func (o *observer) rows() (map[string]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	rows, err := o.w.db.Query(ctx, "SELECT path, fingerprint FROM scraper.library_files WHERE state = 'published'")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var path, fingerprint string
		if err := rows.Scan(&path, &fingerprint); err != nil {
			return nil, err
		}
		out[path] = fingerprint
	}
	return out, rows.Err()
}

// look holds the library against what the Site served: every visible chapter is
// whole (INV1), every committed one is there (INV4), and no stage loses a page but
// to its own commit (INV13). It returns how many are visible and committed.
func (o *observer) look() (whole, committed int) {
	if o.away.Load() {
		return 0, 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	rows, err := o.rows()
	if err != nil {
		o.complain("the rows cannot be read: %v", err)
		return 0, 0
	}
	files, err := o.files()
	if err != nil && !o.away.Load() {
		o.complain("the library cannot be read: %v", err)
	}
	if o.away.Load() {
		return 0, 0
	}
	for path := range rows {
		if files[path] {
			continue
		}
		// Replaced between the two looks?
		if now, err := o.rows(); err == nil && now[path] != "" && !o.away.Load() {
			o.complain("%s is committed and not there", path)
		}
	}
	o.stages()
	o.checkpoint()
	return len(files), len(rows)
}

// files are the visible chapters by path.
func (o *observer) files() (map[string]bool, error) {
	out := map[string]bool{}
	err := filepath.WalkDir(o.w.library, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case strings.HasPrefix(d.Name(), ".") && d.IsDir():
			return fs.SkipDir
		case d.IsDir() || strings.HasPrefix(d.Name(), "."):
			return nil
		case d.Name() == "mangrove.json":
			// No chapter: what is known of the Series, and never half of it.
			if data, err := os.ReadFile(path); err == nil && !json.Valid(data) {
				o.complain("%s is half written", path)
			}
			return nil
		}
		rel, err := filepath.Rel(o.w.library, path)
		if err != nil {
			return err
		}
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		st, err := f.Stat()
		if err != nil {
			return err
		}
		like := fmt.Sprint(st.Size(), st.ModTime(), st.Sys())
		if o.seen[rel] != like {
			if why := o.broken(f, st.Size()); why != "" {
				o.complain("%s: %s", rel, why)
			} else {
				o.seen[rel] = like
			}
		}
		out[filepath.ToSlash(rel)] = true
		return nil
	})
	return out, err
}

// broken says why a file is not the whole chapter that the Site served.
func (o *observer) broken(f *os.File, size int64) string {
	a, err := cbz.Open(f, size)
	if err != nil {
		return err.Error()
	}
	if a.Manifest == nil {
		return "it has no record of its pages"
	}
	want := o.w.site.digests[a.Manifest.ChapterID]
	if len(a.Pages) != len(want) {
		return fmt.Sprintf("%d pages of %d", len(a.Pages), len(want))
	}
	for i := range a.Pages {
		p, err := a.OpenPage(i)
		if err != nil {
			return err.Error()
		}
		h := sha256.New()
		_, err = io.Copy(h, p)
		_ = p.Close()
		if sum := hex.EncodeToString(h.Sum(nil)); err != nil || sum != want[i] || sum != a.Manifest.Pages[i].SHA256 {
			return fmt.Sprintf("page %d is not what was served (%v)", i+1, err)
		}
	}
	return ""
}

// stages counts the pages of each stage.
func (o *observer) stages() {
	root := filepath.Join(o.w.library, ".mangrove", "staging")
	now := map[string]int{}
	entries, err := os.ReadDir(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		o.complain("staging cannot be read: %v", err)
		return
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		now[e.Name()] = 0
		pages, err := os.ReadDir(filepath.Join(root, e.Name()))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			o.complain("a stage cannot be read: %v", err)
		}
		for _, p := range pages {
			if strings.HasSuffix(p.Name(), ".png") && !strings.HasPrefix(p.Name(), ".") {
				now[e.Name()]++
			}
		}
	}
	// Read after the stages: what was removed by then was committed before.
	rows, err := o.rows()
	if err != nil || o.away.Load() {
		return
	}
	committed := map[string]bool{}
	for _, fingerprint := range rows {
		committed[fingerprint] = true
	}
	for stage, before := range o.staged {
		if now[stage] < before && !committed[stage] {
			o.complain("stage %s had %d pages and has %d, uncommitted", stage[:8], before, now[stage])
		}
	}
	o.staged = now
}

// checkpoint is whole whenever there is one.
func (o *observer) checkpoint() {
	data, err := os.ReadFile(filepath.Join(o.w.library, ".mangrove", "work", "sample-pepper-and-carrot", "checkpoint.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil || !json.Valid(data) {
		o.complain("the checkpoint is %q (%v)", data, err)
	}
}

// stagedNow counts all staged pages.
func (o *observer) stagedNow() (n int) {
	o.look()
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, pages := range o.staged {
		n += pages
	}
	return n
}
