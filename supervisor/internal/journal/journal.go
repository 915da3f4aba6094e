// Package journal reads the rotated logs of a data folder: the last lines of a
// program across its older files, and what is written from now on. It writes and
// removes nothing, and needs nobody to be running.
package journal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// maxFile bounds what is read of one file, in bytes from its end: they are rotated
	// at ten MiB.
	maxFile = 16 << 20
	// maxLine is where a line is cut, as it is when it is written.
	maxLine = 64 << 10
	// lookEvery is how often a followed file is looked at.
	lookEvery = 250 * time.Millisecond
)

// Log is the log of one program.
type Log struct {
	// Dir holds the files, Name is "scraper", "reader", "postgres", "migrate" or
	// "supervisor".
	Dir, Name string
}

func (l Log) path() string { return filepath.Join(l.Dir, l.Name+".log") }

// files are the program's files, oldest first: those that were set aside bear the time
// at which that happened, which sorts.
func (l Log) files() []string {
	older, _ := filepath.Glob(filepath.Join(l.Dir, l.Name+"-*.log"))
	slices.Sort(older)
	return append(older, l.path())
}

// Last returns the last n lines, oldest first. No log is no lines.
func (l Log) Last(n int) ([]string, error) {
	var lines []string
	files := l.files()
	for i := len(files) - 1; i >= 0 && len(lines) < n; i-- {
		text, err := end(files[i])
		if errors.Is(err, fs.ErrNotExist) {
			continue // none was written, or it has just been set aside
		}
		if err != nil {
			return nil, err
		}
		lines = append(split(text), lines...)
	}
	return lines[max(0, len(lines)-n):], nil
}

// end is the file, or the end of one that is too large.
func end(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if skip := info.Size() - maxFile; skip > 0 {
		if _, err := f.Seek(skip, io.SeekStart); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(io.LimitReader(f, maxFile))
}

func split(text []byte) []string {
	var out []string
	for line := range bytes.Lines(text) {
		out = append(out, string(bytes.TrimRight(line[:min(len(line), maxLine)], "\r\n")))
	}
	return out
}

// Follow calls line for each line written from now on, until ctx ends. A file that is
// set aside is read to its end first, and then the new one from its beginning.
func (l Log) Follow(ctx context.Context, line func(string)) error {
	var f *os.File
	defer func() { _ = f.Close() }()
	seek := int64(io.SeekEnd) // only what is there already is passed over
	var rest []byte
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if f == nil {
			opened, err := os.Open(l.path())
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if err == nil {
				f = opened
				if _, err := f.Seek(0, int(seek)); err != nil {
					return err
				}
			}
			seek = io.SeekStart
		}
		if f != nil {
			aside := setAside(f, l.path()) // looked at first: what it still holds is read below
			text, err := io.ReadAll(io.LimitReader(f, maxFile))
			if err != nil {
				return err
			}
			rest = emit(append(rest, text...), line)
			if aside {
				_ = f.Close()
				f = nil
				continue
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// emit passes on the whole lines of text and returns what is left of the last.
func emit(text []byte, line func(string)) []byte {
	for {
		i := bytes.IndexByte(text, '\n')
		switch {
		case i >= 0:
			line(strings.TrimRight(string(text[:min(i, maxLine)]), "\r"))
			text = text[i+1:]
		case len(text) > maxLine:
			return text[:maxLine]
		default:
			return text
		}
	}
}

// setAside reports whether path leads to another file than f by now.
func setAside(f *os.File, path string) bool {
	open, err := f.Stat()
	if err != nil {
		return true
	}
	now, err := os.Stat(path)
	return err == nil && !os.SameFile(open, now)
}
