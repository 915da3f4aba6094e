package pages

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// coverStore is the folder that covers lie in, bounded: beyond its limit, what was
// not looked at for longest goes.
type coverStore struct {
	dir   string
	limit int64

	once  sync.Once
	mu    sync.Mutex
	bytes int64
}

// block is what a small file costs on most disks, whatever its length.
const block = 4096

func cost(size int64) int64 { return (size + block - 1) / block * block }

// touched is how exactly it is remembered when a cover was last looked at: a write
// for each look would wear a disk for nothing.
const touched = 24 * time.Hour

// look notes that a file was looked at.
func (s *coverStore) look(path string, info fs.FileInfo) {
	if now := time.Now(); now.Sub(info.ModTime()) > touched {
		_ = os.Chtimes(path, now, now)
	}
}

// added notes that files were written, and makes room if there is none any more.
func (s *coverStore) added(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	counted := false
	s.once.Do(func() {
		_, s.bytes = s.files()
		counted = true
	})
	if !counted {
		s.bytes += n
	}
	if s.limit > 0 && s.bytes > s.limit {
		s.makeRoom()
	}
}

type storedCover struct {
	path string
	size int64
	used time.Time
}

func (s *coverStore) files() (list []storedCover, total int64) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, 0
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(e.Name(), ".jpg") && !strings.HasSuffix(e.Name(), noCover) {
			continue
		}
		f := storedCover{filepath.Join(s.dir, e.Name()), cost(info.Size()), info.ModTime()}
		list, total = append(list, f), total+f.size
	}
	return list, total
}

// makeRoom goes down to nine tenths, so that it is not done for each cover.
func (s *coverStore) makeRoom() {
	list, total := s.files()
	slices.SortFunc(list, func(a, b storedCover) int { return a.used.Compare(b.used) })
	for _, f := range list {
		if total <= s.limit/10*9 {
			break
		}
		if err := os.Remove(f.path); err == nil || errors.Is(err, fs.ErrNotExist) {
			total -= f.size
		}
	}
	s.bytes = total
}
