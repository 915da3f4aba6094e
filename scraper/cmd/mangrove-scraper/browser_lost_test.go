package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"

	"mangrove/internal/fakesite"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/browser"
	"mangrove/scraper/internal/store"
)

// killBrowser ends, with no warning, every process that names dir.
func killBrowser(t *testing.T, dir string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	killed := 0
	for _, file := range lines {
		line, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(line), dir) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	if killed == 0 {
		t.Fatal("no browser was running")
	}
}

// rowsOf are the rows of a statement as text.
func rowsOf(t *testing.T, pool *pgxpool.Pool, sql string) []string {
	t.Helper()
	rows, err := pool.Query(t.Context(), sql)
	if err != nil {
		t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The browser is killed while a Pass reads through it: the failure rows are to the
// byte what they were, and the Lane says that it is the Site that was not reached
// (B17, POLL-1, POLL-3).
func TestABrowserKilledInAPassWritesNothing(t *testing.T) {
	if os.Getenv("CI") == "" {
		if err := browser.New(browser.Options{}).Available(); err != nil {
			t.Skip(err)
		}
	}
	r, ctx := newDescribedRun(t)
	dir, err := os.MkdirTemp("/tmp", "mgb-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	pages := browser.New(browser.Options{
		Owner: dir, Dir: dir, Identity: "Mangrove/test", Allow: r.cfg.AllowAddresses, Log: zap.NewNop(),
	})
	t.Cleanup(pages.Close)
	r.lanes.pages = pages

	site := fakesite.Start(t)
	page := fakesite.HTML(`<main><h1>One</h1><ul><li><a href="/c/1">Chapter 1</a></ul></main>`)
	site.On("/series/a", page)
	site.On("/series/b", page, fakesite.Answer{Hold: make(chan struct{})})
	site.On("/series/c", fakesite.Status(404))
	host := strings.TrimPrefix(site.URL, "http://")
	pool := pgtest.Pool(t, r.urls.Admin, store.Schema, nil)
	ended := func(n int) []string {
		t.Helper()
		for ctx.Err() == nil {
			if got := rowsOf(t, pool, "SELECT end_reason || ' ' || unreachable FROM poll_passes ORDER BY id"); len(got) >= n {
				return got
			}
			pause(ctx, 50*time.Millisecond)
		}
		t.Fatalf("the Pass did not end: %v", r.logs.All())
		return nil
	}
	const failures = "SELECT ctid::text || xmin::text || f::text FROM poll_failures f"

	r.put("comic.yaml", strings.Replace(fakesite.ComicDescription(host, "a", "b", "c"), "series:\n", "browser: true\nseries:\n", 1))
	r.look(ctx)
	ended(1)
	before := rowsOf(t, pool, failures)
	if len(before) != 1 {
		t.Fatalf("failure rows %v, want the one of c", before)
	}

	if _, err := pool.Exec(ctx, "UPDATE series SET next_poll_at = now() - interval '1 hour' + ascii(series_id) * interval '1 ms' WHERE site = 'comic'"); err != nil {
		t.Fatal(err)
	}
	r.lanes.wake("comic")
	if err := site.WaitCount(ctx, "/series/b", 2); err != nil {
		t.Fatalf("the second Series is not asked for: %v", err)
	}
	killBrowser(t, dir)
	passes := ended(2)
	if want := "unreachable 1"; passes[1] != want {
		t.Errorf("the Pass ended as %q, want %q", passes[1], want)
	}
	if n := site.Count("/series/c"); n != 1 {
		t.Errorf("the third Series was asked for %d times, want only before the browser was lost", n)
	}
	if d := cmp.Diff(before, rowsOf(t, pool, failures)); d != "" {
		t.Errorf("the failure rows changed:\n%s", d)
	}
	if got := rowsOf(t, pool, "SELECT trouble FROM poll_lanes WHERE site = 'comic'"); got[0] != "unreachable" {
		t.Errorf("the Lane's trouble is %q", got[0])
	}
}
