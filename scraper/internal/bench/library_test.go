//go:build bench

package bench

import (
	"archive/zip"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/cbz"
	"mangrove/internal/pgtest"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/rpc"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

// sparse writes holes where pages would be.
type sparse struct {
	f    *os.File
	page []byte
	at   int64
}

func (s *sparse) Write(p []byte) (int, error) {
	if len(p) == len(s.page) && &p[0] == &s.page[0] {
		s.at += int64(len(p))
		return len(p), nil
	}
	n, err := s.f.WriteAt(p, s.at)
	s.at += int64(n)
	return n, err
}

// shelve makes folders of archives with pages holes each, with a manifest as ours have.
func shelve(t *testing.T, root string, folders, each, pages, size int) {
	t.Helper()
	blank := make([]byte, size)
	sum := crc32.ChecksumIEEE(blank)
	make := func(dir string, n int) error {
		f, err := os.Create(filepath.Join(root, dir, fmt.Sprintf("c%03d.cbz", n)))
		if err != nil {
			return err
		}
		defer f.Close()
		z := zip.NewWriter(&sparse{f: f, page: blank})
		manifest := fmt.Sprintf(`{"fingerprint":"%s-%d","site":"bench","series_id":%q,"chapter_id":"%d","pages":[`, dir, n, dir, n)
		for i := range pages {
			name := fmt.Sprintf("%03d.jpg", i)
			w, err := z.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Store, CRC32: sum, CompressedSize64: uint64(size), UncompressedSize64: uint64(size)})
			if err != nil {
				return err
			}
			if _, err := w.Write(blank); err != nil {
				return err
			}
			if i > 0 {
				manifest += ","
			}
			manifest += fmt.Sprintf(`{"name":%q,"size":%d}`, name, size)
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: cbz.ManifestName, Method: zip.Store})
		if err == nil {
			_, err = io.WriteString(w, manifest+"]}")
		}
		if err == nil {
			err = z.Close()
		}
		return err
	}
	for d := range folders {
		dir := fmt.Sprintf("Series %04d", d)
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
		for n := range each {
			if err := make(dir, n); err != nil {
				t.Fatal(err)
			}
		}
	}
	// As on another day: a folder that changed this second is read again.
	old := time.Now().Add(-time.Hour)
	for d := range folders {
		if err := os.Chtimes(filepath.Join(root, fmt.Sprintf("Series %04d", d)), old, old); err != nil {
			t.Fatal(err)
		}
	}
}

// peak samples the heap until the func it returns is called.
func peak() func() float64 {
	done, out := make(chan struct{}), make(chan float64)
	runtime.GC()
	go func() {
		most := uint64(0)
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
			select {
			case <-done:
				out <- float64(most) / (1 << 20)
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() float64 { close(done); return <-out }
}

func library(t *testing.T) (root string, db *store.Store, open func() *inventory.Library) {
	t.Helper()
	db = store.New(pgtest.Pool(t, pgtest.New(t).Scraper, store.Schema, nil))
	root = t.TempDir()
	return root, db, func() *inventory.Library {
		m := inventory.NewMarker(root, db)
		if err := m.Establish(t.Context()); err != nil {
			t.Fatal(err)
		}
		return inventory.NewLibrary(root, m, db)
	}
}

// Rows 7a and 7b: 400 Series of 50 archives of 20 pages. Not every file system keeps
// holes, so the pages are small; no look reads one.
func TestLibraryScan(t *testing.T) {
	const files = 20_000
	root, _, open := library(t)
	shelve(t, root, 400, 50, 20, 512)
	lib := open()
	live := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	look := func(l *inventory.Library, deep bool, changed int) float64 {
		t.Helper()
		start := time.Now()
		c, n, err := l.Scan(t.Context(), deep)
		if err != nil || n != changed || c.Files != files {
			t.Fatalf("%+v, %d changes, %v", c, n, err)
		}
		return time.Since(start).Seconds() * 1000
	}
	heap := peak()
	report("first look at 20,000 CBZ, none known", look(lib, true, files)/1000, "s", 8)
	report("heap during it, at most", heap(), "MiB", 0)
	// S-063: what a look leaves behind does not grow with looks.
	first := live()
	look(lib, true, 0)
	look(lib, true, 0)
	report("heap that stays after the third deep look over the first", live()/first, "ratio", 1.1)
	median := func(f func() float64) float64 {
		var all []float64
		for range 7 {
			all = append(all, f())
		}
		slices.Sort(all)
		return all[3]
	}
	find := median(func() float64 {
		start := time.Now()
		if err := exec.Command("find", root, "-name", "*.cbz", "-newermt", "2100-01-01").Run(); err != nil {
			t.Fatal(err)
		}
		return time.Since(start).Seconds() * 1000
	})
	warm := median(func() float64 { return look(lib, false, 0) })
	report("find with times over the same tree", find, "ms", 0)
	report("warm look, nothing changed", warm, "ms", 60)
	report("warm look over find", warm/find, "ratio", 0)
	report("deep look, nothing changed", median(func() float64 { return look(lib, true, 0) }), "ms", 500)
	report("first look of a new process, all known", median(func() float64 { return look(open(), true, 0) }), "ms", 500)
}

// P22 and F1: 100,000 chapters, 100 callers of GetStatus while they are looked at.
func TestStatusWhileLooking(t *testing.T) {
	root, db, open := library(t)
	shelve(t, root, 1000, 100, 1, 512)
	looks := 0
	counted := scans{open(), &looks}
	inv := inventory.New(inventory.Options{Scanner: counted, Log: zap.NewNop()})
	edge := &rpc.Server{Version: "bench", Started: time.Now(), Store: db, Hub: live.NewHub(), Adapters: source.NewRegistry(), Library: inv}
	ctx, cancel := context.WithCancel(t.Context())
	var working sync.WaitGroup
	heap := peak()
	start := time.Now()
	working.Go(func() { inv.Run(ctx) })
	took, quick := ask(t, inv, edge, func(int) bool { return inv.Summary().At.IsZero() })
	report("first look at 100,000 CBZ, 100 callers", time.Since(start).Seconds(), "s", 0)
	report("heap during it, at most ", heap(), "MiB", 256)
	cancel()
	working.Wait()
	alone, _ := ask(t, inv, edge, func(round int) bool { return round < 10 })
	at := func(all []time.Duration, percent int) float64 {
		slices.Sort(all)
		return float64(all[len(all)*percent/100].Microseconds()) / 1000
	}
	p99 := func(all []time.Duration) float64 { return at(all, 99) }
	report("GetStatus median during it", at(took, 50), "ms", 10)
	report("GetStatus p99 with nothing under way", p99(alone), "ms", 50)
	report("GetStatus p99 during it", p99(took), "ms", 50)
	report("Summary p99 during it", p99(quick), "ms", 10)
	report("looks that they made for", float64(looks), "looks", 1)
}

// ask has 100 callers ask all at once, twice a second, while more says so.
func ask(t *testing.T, inv *inventory.Inventory, edge *rpc.Server, more func(round int) bool) (status, summary []time.Duration) {
	t.Helper()
	var mu sync.Mutex
	for round := 0; more(round); round++ {
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() {
				begin := time.Now()
				inv.Summary()
				quick := time.Since(begin)
				begin = time.Now()
				if _, err := edge.GetStatus(t.Context(), &scraperv1.GetStatusRequest{}); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				status, summary = append(status, time.Since(begin)), append(summary, quick)
			})
		}
		callers.Wait()
		time.Sleep(500 * time.Millisecond)
	}
	return status, summary
}

// scans counts looks.
type scans struct {
	*inventory.Library
	n *int
}

func (s scans) Scan(ctx context.Context, deep bool) (inventory.Counts, int, error) {
	*s.n++
	return s.Library.Scan(ctx, deep)
}
