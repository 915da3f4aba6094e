package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"mangrove/internal/cbz"
	"mangrove/internal/config"
	"mangrove/internal/fault"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/inventory/inventorytest"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/publish"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

// onDisk puts a chapter of three pages into the library and the database, as a
// publication does.
func onDisk(t *testing.T, db *store.Store, library string, key source.Key, chapter string) string {
	t.Helper()
	ctx := t.Context()
	row, err := db.Series(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	folder, err := db.NameFolder(ctx, key, cbz.FolderName(row.Series.Title, key.Site+"\x00"+key.SeriesID))
	if err != nil {
		t.Fatal(err)
	}
	m := cbz.Manifest{Site: key.Site, SeriesID: key.SeriesID, ChapterID: chapter}
	print := sha256.Sum256([]byte(key.String() + chapter))
	m.Fingerprint = hex.EncodeToString(print[:])
	var pages [][]byte
	for n := range 3 {
		img := image.NewGray(image.Rect(0, 0, 40, 60))
		img.SetGray(n, len(chapter), color.Gray{Y: 200})
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(b.Bytes())
		pages = append(pages, b.Bytes())
		m.Pages = append(m.Pages, cbz.PageRecord{
			Name: fmt.Sprintf("%04d.png", n+1), Size: int64(b.Len()), SHA256: hex.EncodeToString(sum[:]), MediaType: "image/png", Width: 40, Height: 60,
		})
	}
	name := chapter + ".cbz"
	if err := os.MkdirAll(filepath.Join(library, folder), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(library, folder, name))
	if err != nil {
		t.Fatal(err)
	}
	err = cbz.Write(f, cbz.ComicInfo{Series: row.Series.Title, Number: "7.5"}, m, func(i int) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(pages[i])), nil })
	if err != nil {
		t.Fatal(err)
	}
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	err = db.Commit(ctx, job.Job{Key: key}, job.Publication{
		Chapter: source.Chapter{ID: chapter, Number: "7.5"}, SeriesTitle: row.Series.Title, Fingerprint: m.Fingerprint,
		File: publish.File{Path: folder + "/" + name, Size: st.Size(), Pages: 3},
	})
	if err != nil {
		t.Fatal(err)
	}
	return folder + "/" + name
}

// knownSeries is a Series that was read well, with all that a page says.
func knownSeries(t *testing.T, db *store.Store, id string) source.Key {
	t.Helper()
	key := source.Key{Site: "sample", SeriesID: id}
	s := source.Series{
		ID: id, Title: "Title of " + id, NativeTitle: "題", Authors: []string{"A", "B"}, Description: "Of " + id, URL: "http://x/" + id, Status: "ongoing",
		Tags: []string{"t"}, License: "CC BY 4.0", Direction: "rtl",
	}
	if err := db.EnsureLane(t.Context(), key.Site); err != nil {
		t.Fatal(err)
	}
	if err := db.EnsureListed(t.Context(), key.Site, s); err != nil {
		t.Fatal(err)
	}
	chapters := []source.Chapter{{ID: "c1", Number: "7.5", URL: "http://x/c1"}, {ID: "c2", Number: "8", URL: "http://x/c2", Order: 1}}
	if err := db.SaveReading(t.Context(), key, source.Reading{Series: s, Chapters: chapters}, time.Now()); err != nil {
		t.Fatal(err)
	}
	return key
}

// known is what a database knows of its library, apart from when it learned it.
func known(t *testing.T, db *store.Store) (out []string) {
	t.Helper()
	files, err := db.FilesIn(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		row, err := db.Series(t.Context(), f.Key)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, fmt.Sprintf("%s %s %s %s %d %+v in %s", f.Path, f.State, f.Key, f.ChapterID+" "+f.Fingerprint, f.Stamp.Size, row.Series, row.Folder))
	}
	slices.Sort(out)
	return out
}

// TestTheFolderOutlivesItsDatabase: an empty database knows again all that the old
// one knew of the library, a Series that had moved included (F13).
func TestTheFolderOutlivesItsDatabase(t *testing.T) {
	db, cfg, _ := newDesk(t)
	ctx := t.Context()
	cfg.LibraryDir = t.TempDir()
	if err := inventory.NewMarker(cfg.LibraryDir, db).Establish(ctx); err != nil {
		t.Fatal(err)
	}
	stays, moves := knownSeries(t, db, "stays"), knownSeries(t, db, "moves")
	onDisk(t, db, cfg.LibraryDir, stays, "c1")
	onDisk(t, db, cfg.LibraryDir, moves, "c1")
	onDisk(t, db, cfg.LibraryDir, moves, "c2")
	if err := keepSidecars(ctx, cfg, db, zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	moveFiles(t, cfg, moves, source.Key{Site: "sample", SeriesID: "moved"})
	if err := keepSidecars(ctx, cfg, db, zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	want := known(t, db)
	if len(want) != 3 || !strings.Contains(strings.Join(want, "\n"), "sample/moved") {
		t.Fatalf("the first database knows %q", want)
	}
	before := tree(t, cfg.LibraryDir)

	fresh, again, _ := newDesk(t)
	again.LibraryDir = cfg.LibraryDir
	for range 2 { // a second time finds nothing to do
		if err := operate(ctx, again, []string{"library", "rebuild"}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, known(t, fresh)); diff != "" {
			t.Errorf("what is known (-before +after):\n%s", diff)
		}
	}
	if diff := cmp.Diff(before, tree(t, cfg.LibraryDir)); diff != "" {
		t.Errorf("the folder (-before +after):\n%s", diff)
	}
	said, err := rebuild(ctx, again, fresh, &incident.Recorder{Log: zap.NewNop()})
	if err != nil || said != "the library holds 3 chapters; 0 entries were new or changed; 0 Series were restored" {
		t.Errorf("once more: %q, %v", said, err)
	}
}

// moveFiles gives a Series another name, as a move does.
func moveFiles(t *testing.T, cfg config.Config, from, to source.Key) {
	t.Helper()
	address, err := cfg.RoleURL("scraper")
	if err != nil {
		t.Fatal(err)
	}
	pool := pgtest.Pool(t, address.Reveal(), store.Schema, nil)
	for _, sql := range []string{
		`UPDATE series SET series_id = $2 WHERE series_id = $1`,
		`UPDATE library_files SET series_id = $2, chapter_id = 'new-' || chapter_id WHERE series_id = $1`,
	} {
		if _, err := pool.Exec(t.Context(), sql, from.SeriesID, to.SeriesID); err != nil {
			t.Fatal(err)
		}
	}
}

// tree is each file below dir with a digest.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		sum := sha256.Sum256(data)
		out[path] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestVerifyNamesThePage: one flipped bit is one incident that names the page, and
// nothing is deleted; mended or fetched again, it is over (F14, F81).
func TestVerifyNamesThePage(t *testing.T) {
	db, cfg, _ := newDesk(t)
	ctx := t.Context()
	cfg.LibraryDir = t.TempDir()
	if err := inventory.NewMarker(cfg.LibraryDir, db).Establish(ctx); err != nil {
		t.Fatal(err)
	}
	key := knownSeries(t, db, "s")
	path := onDisk(t, db, cfg.LibraryDir, key, "c1")
	onDisk(t, db, cfg.LibraryDir, key, "c2")
	recorder := &incident.Recorder{Store: db, Events: incident.AppendEventLog(incident.EventLogPath(cfg.DataDir), zap.NewNop()), Log: zap.NewNop()}
	look := func(since time.Duration) (string, string, error) {
		t.Helper()
		var out strings.Builder
		said, err := verifyLibrary(ctx, cfg, db, recorder, time.Now().Add(-since), &out)
		return out.String(), said, err
	}
	if _, said, err := look(0); err != nil || !strings.HasPrefix(said, "2 files with 6 pages were read") {
		t.Fatalf("a whole library: %q, %v", said, err)
	}

	file := filepath.Join(cfg.LibraryDir, filepath.FromSlash(path))
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a, err := cbz.Open(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	rotten := bytes.Clone(whole)
	rotten[a.Pages[1].Offset+a.Pages[1].Size/2] ^= 4
	if err := os.WriteFile(file, rotten, 0o644); err != nil {
		t.Fatal(err)
	}
	before := tree(t, cfg.LibraryDir)
	for range 2 { // found twice it is one incident
		out, _, err := look(0)
		if err == nil || out != path+": page 2 (0002.png): its bytes have changed\n" {
			t.Errorf("printed %q, %v", out, err)
		}
	}
	if diff := cmp.Diff(before, tree(t, cfg.LibraryDir)); diff != "" {
		t.Errorf("the folder (-before +after):\n%s", diff)
	}
	waiting := func() []store.IncidentRow {
		t.Helper()
		rows, err := db.Incidents(ctx, true, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	rows := waiting()
	if len(rows) != 1 || rows[0].About != incident.AboutFile || rows[0].Kind != fault.Page || rows[0].ChapterID != "c1" || rows[0].Seen != 2 {
		t.Fatalf("incidents: %+v", rows)
	}
	if _, said, err := look(time.Hour); err != nil || !strings.HasPrefix(said, "0 files") {
		t.Errorf("what was read an hour ago is not due: %q, %v", said, err)
	}

	// A person wants it anew: it is lacking then, and takes the place of the file.
	if _, err := fetchAgain(ctx, db, recorder, key, "nosuch"); !fault.Is(err, fault.NotFound) {
		t.Errorf("a chapter that is not there: %v", err)
	}
	if _, err := fetchAgain(ctx, db, recorder, key, "c1"); err != nil {
		t.Fatal(err)
	}
	snapshot, err := inventorytest.Start(t, cfg.LibraryDir, db).Current(ctx)
	if err != nil {
		t.Fatal(err)
	}
	lacking, err := db.Lacking(ctx, snapshot, key)
	if err != nil || len(lacking) != 1 || lacking[0].ID != "c1" {
		t.Errorf("lacking: %+v, %v", lacking, err)
	}
	held, err := db.InLibrary(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	if plan := job.Choose(lacking, held, nil); len(plan) != 1 || plan[0].Replaces != path {
		t.Errorf("the plan is %+v, want it to replace %s", plan, path)
	}
	if _, err := fetchAgain(ctx, db, recorder, key, "c1"); !fault.Is(err, fault.Conflict) {
		t.Errorf("while its Job waits: %v", err)
	}

	if err := os.WriteFile(file, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, said, err := look(0); err != nil || !strings.HasSuffix(said, "all are well") {
		t.Errorf("mended: %q, %v", said, err)
	}
	if rows := waiting(); len(rows) != 0 {
		t.Errorf("still waiting: %+v", rows)
	}

	// A library that is not there is not rotten.
	if err := os.Remove(filepath.Join(cfg.LibraryDir, inventory.MarkerName)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := look(0); !fault.Is(err, fault.Storage) {
		t.Errorf("without its marker: %v", err)
	}
	if rows := waiting(); len(rows) != 0 {
		t.Errorf("a library that is away made incidents: %+v", rows)
	}
}

// TestVerifyEndsWithItsContext: it is stopped at any time, and goes on where it was.
func TestVerifyEndsWithItsContext(t *testing.T) {
	db, cfg, _ := newDesk(t)
	cfg.LibraryDir = t.TempDir()
	if err := inventory.NewMarker(cfg.LibraryDir, db).Establish(t.Context()); err != nil {
		t.Fatal(err)
	}
	onDisk(t, db, cfg.LibraryDir, knownSeries(t, db, "s"), "c1")
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := verifyLibrary(ended, cfg, db, &incident.Recorder{Log: zap.NewNop()}, time.Now(), io.Discard); err == nil {
		t.Error("it went on")
	}
}
