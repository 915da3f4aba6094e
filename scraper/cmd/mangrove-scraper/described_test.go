package main

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"mangrove/internal/config"
	"mangrove/internal/fakesite"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/canary"
	"mangrove/scraper/internal/cover"
	"mangrove/scraper/internal/follow"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/sample"
	"mangrove/scraper/internal/store"
	"mangrove/scraper/internal/tally"
)

// describedRun is a scraper as far as described Sites need one: real Lanes over
// a real database, the folder looked at when the test says.
type describedRun struct {
	t        *testing.T
	urls     pgtest.URLs
	cfg      config.Config
	db       *store.Store
	registry *source.Registry
	lanes    *lanes
	watched  *described
	logs     *observer.ObservedLogs
	clock    time.Time
}

func newDescribedRun(t *testing.T) (*describedRun, context.Context) {
	t.Helper()
	urls := pgtest.New(t)
	pool := pgtest.Pool(t, urls.Scraper, store.Schema, nil)
	core, logs := observer.New(zapcore.InfoLevel)
	r := &describedRun{t: t, urls: urls, db: store.New(pool), registry: source.NewRegistry(), logs: logs, clock: time.Now(), cfg: config.Config{
		DataDir: t.TempDir(), LibraryDir: t.TempDir(), AllowAddresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
	}}
	if err := os.Mkdir(sitesDir(r.cfg), 0o700); err != nil {
		t.Fatal(err)
	}
	log := zap.New(core)
	r.lanes = newLanes(r.cfg, log, r.db, pgtest.Pool(t, urls.Scraper, store.Schema, nil), live.NewHub(), cover.New(t.TempDir()), nil, nil, tally.New(prometheus.NewRegistry()))
	shipped, err := sample.Start("http://sample.example")
	if err != nil {
		t.Fatal(err)
	}
	r.watched = newDescribed(r.cfg, []source.Adapter{shipped}, r.registry, log)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(func() { cancel(); r.lanes.wait() })
	return r, ctx
}

func (r *describedRun) put(name, body string) {
	r.t.Helper()
	file := filepath.Join(sitesDir(r.cfg), name)
	if err := os.WriteFile(file, []byte(body), 0o600); err != nil {
		r.t.Fatal(err)
	}
	r.clock = r.clock.Add(time.Second)
	if err := os.Chtimes(file, r.clock, r.clock); err != nil {
		r.t.Fatal(err)
	}
}

func (r *describedRun) look(ctx context.Context) { r.watched.look(ctx, r.db, r.lanes) }

// ended waits until the keeper of a Site is gone.
func (r *describedRun) ended(ctx context.Context, site string) {
	r.t.Helper()
	r.lanes.mu.Lock()
	k, ok := r.lanes.keepers[site]
	r.lanes.mu.Unlock()
	if !ok {
		return
	}
	select {
	case <-k.done:
	case <-ctx.Done():
		r.t.Fatalf("the Lane of %s goes on", site)
	}
}

func (r *describedRun) said(message string) int { return r.logs.FilterMessage(message).Len() }

func describe(host, title, series string) string {
	return strings.Replace(fakesite.ComicDescription(host, series), "name: Comic\n", "name: "+title+"\n", 1)
}

// anew is a description by which Series lie elsewhere: only the adapter made of it
// asks there.
func anew(description string) string {
	return strings.Replace(description, "/series/{id}", "/anew/{id}", 1)
}

func TestSitesDescribedWhileItRuns(t *testing.T) {
	site := fakesite.Start(t)
	page := fakesite.HTML(`<main><h1>One</h1><ul><li><a href="/c/1">Chapter 1</a></ul></main>`)
	for _, p := range []string{"/series/one", "/anew/two", "/series/three", "/series/four"} {
		site.On(p, page)
	}
	host := strings.TrimPrefix(site.URL, "http://")
	r, ctx := newDescribedRun(t)
	asked := func(path string) {
		t.Helper()
		if err := site.WaitCount(ctx, path, 1); err != nil {
			t.Fatalf("%s is not asked for: %v\n%v", path, err, r.logs.All())
		}
	}

	r.look(ctx)
	site.On("/feed.xml", fakesite.Bytes("application/rss+xml", []byte(`<rss version="2.0"><channel><title>Lantern</title><item><guid>1</guid></item></channel></rss>`)))
	r.put("lantern.yaml", "kind: feed\nname: Lantern\naddress: "+site.URL+"/feed.xml\npacing: 1s\n")
	r.look(ctx)
	asked("/feed.xml")
	r.put("comic.yaml", describe(host, "Comic", "one"))
	r.put("sample.yaml", describe(host, "Mine", "one"))
	r.look(ctx)
	asked("/series/one")
	if a, ok := r.registry.Get("comic"); !ok || a.Site().Name != "Comic" {
		t.Error("an added Site is not registered")
	}
	if _, ok := r.registry.Get("sample"); ok || r.said("a Site's description is wrong") != 1 {
		t.Error("the key of a shipped adapter is taken")
	}

	r.put("comic.yaml", anew(describe(host, "Comic anew", "two")))
	r.look(ctx)
	asked("/anew/two")
	if a, _ := r.registry.Get("comic"); a.Site().Name != "Comic anew" {
		t.Error("a changed Site is still the old one")
	}

	r.put("comic.yaml", strings.Replace(describe(host, "Comic", "three"), "item: li", "items: li", 1))
	r.look(ctx)
	r.look(ctx)
	if a, ok := r.registry.Get("comic"); !ok || a.Site().Name != "Comic anew" {
		t.Error("a broken file ended its last good adapter")
	}
	wrong := r.logs.FilterMessage("a Site's description is wrong").All()
	where := ""
	for _, l := range wrong[1:] {
		where += l.ContextMap()["where"].(string) + "\n"
	}
	if !strings.Contains(where, `comic.yaml:11:3: chapters: there is no key "items" here; did you mean "item"?`) || len(wrong) != 3 {
		t.Errorf("the problems are logged as\n%s", where)
	}

	unread := r.watched.unread()
	if len(unread) != 2 || unread[0].GetFile() != "sites/comic.yaml" || !unread[0].GetKept() || unread[1].GetFile() != "sites/sample.yaml" || unread[1].GetKept() {
		t.Fatalf("not read: %v", unread)
	}
	if p := unread[0].GetProblems(); len(p) != 2 || p[0].GetLine() != 10 && p[0].GetLine() != 11 || !strings.Contains(p[0].GetMessage()+p[1].GetMessage(), `there is no key "items" here`) {
		t.Errorf("told as %v", p)
	}

	r.put("comic.yaml", describe(host, "Comic", "three"))
	r.look(ctx)
	asked("/series/three")
	if unread = r.watched.unread(); len(unread) != 1 {
		t.Errorf("mended, but told as %v", unread)
	}
	if r.said("a Site's description is right again") != 1 {
		t.Error("mending is not said")
	}

	// Removed: the Lane ends, the Series stays known, and a wish keeps it.
	if err := os.Remove(filepath.Join(sitesDir(r.cfg), "comic.yaml")); err != nil {
		t.Fatal(err)
	}
	r.look(ctx)
	r.ended(ctx, "comic")
	if _, ok := r.registry.Get("comic"); ok {
		t.Error("a removed Site is still registered")
	}
	key := source.Key{Site: "comic", SeriesID: "one"}
	reconciler := follow.Reconciler{Store: r.db, Queue: queue.New(r.db), Adapters: r.registry, Wake: func(string) {}}
	got, err := reconciler.Apply(ctx, follow.Message{Revision: 1, Whole: true, Follows: []follow.Wish{{Key: key}, {Key: source.Key{Site: "comic", SeriesID: "never"}}}})
	if err != nil || len(got.Unknown) != 2 {
		t.Errorf("wishes on a Site nobody reads: %+v, %v", got, err)
	}
	if row, err := r.db.Series(ctx, key); err != nil || row.Origin != "followed" {
		t.Errorf("the Series is %+v, %v", row, err)
	}
	if _, err := r.db.Series(ctx, source.Key{Site: "comic", SeriesID: "never"}); err == nil {
		t.Error("a wish made a Series known on a Site nobody reads")
	}

	// It comes back.
	r.put("comic.yaml", describe(host, "Comic", "four"))
	r.look(ctx)
	asked("/series/four")
}

// A replaced adapter waits for the unit of work under way, which is not cut off.
func TestAReplacedSiteFinishesItsUnit(t *testing.T) {
	site := fakesite.Start(t)
	release := make(chan struct{})
	body := `<main><h1>One</h1><ul><li><a href="/c/1">Chapter 1</a></ul></main>`
	held := fakesite.HTML(body)
	held.Hold = release
	site.On("/series/one", held)
	site.On("/anew/two", fakesite.HTML(body))
	host := strings.TrimPrefix(site.URL, "http://")
	r, ctx := newDescribedRun(t)
	r.put("comic.yaml", describe(host, "Comic", "one"))
	r.look(ctx)
	if err := site.WaitCount(ctx, "/series/one", 1); err != nil {
		t.Fatal(err)
	}
	r.put("comic.yaml", anew(describe(host, "Comic", "two")))
	r.look(ctx)
	if site.Count("/anew/two") != 0 {
		t.Error("two units of work at once")
	}
	close(release)
	if err := site.WaitCount(ctx, "/anew/two", 1); err != nil {
		t.Fatal(err)
	}
	if known, err := r.db.Chapters(ctx, source.Key{Site: "comic", SeriesID: "one"}); err != nil || len(known) != 1 {
		t.Errorf("the read under way was lost: %v, %v", known, err)
	}
}

// A description that is mended is tried at once, and not only at its canary's next turn.
func TestAMendedDescriptionIsTriedAtOnce(t *testing.T) {
	t.Parallel()
	site := fakesite.Start(t)
	site.On("/series/one", fakesite.HTML(`<main><h2>One</h2><ul><li><a href="/c/1">Chapter 1</a></ul></main>`))
	site.On("/c/1", fakesite.HTML(`<main><img src="/1.png"></main>`))
	host := strings.TrimPrefix(site.URL, "http://")
	r, ctx := newDescribedRun(t)
	pool := pgtest.Pool(t, r.urls.Admin, store.Schema, nil)
	exec := func(sql string) {
		t.Helper()
		if _, err := pool.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.db.EnsureLane(ctx, "comic"); err != nil {
		t.Fatal(err)
	}
	exec("INSERT INTO series (site, series_id, title, url, origin, next_poll_at, last_good_read_at) VALUES ('comic', 'one', 'One', 'http://" + host + "/series/one', 'followed', now() + interval '1 day', now())")
	exec("UPDATE canaries SET state = 'failing', outcome = 'errors', failing_since = now(), next_at = now() + interval '1 day' WHERE site = 'comic'")
	broken := strings.Replace(describe(host, "Comic", "one"), "name: Comic\n", "name: Comic\ncanary: one\n", 1)
	r.put("comic.yaml", broken)
	r.look(ctx)
	r.put("comic.yaml", strings.Replace(broken, "title: h1", "title: h2", 1))
	r.look(ctx)
	if err := site.WaitCount(ctx, "/c/1", 1); err != nil {
		t.Fatalf("the mended description is not tried: %v", err)
	}
	for ctx.Err() == nil {
		p, err := r.db.Canary(ctx, "comic")
		if err != nil {
			t.Fatal(err)
		}
		if p.State == canary.Well {
			return
		}
		pause(ctx, 10*time.Millisecond)
	}
	t.Error("the mended description is not believed")
}
