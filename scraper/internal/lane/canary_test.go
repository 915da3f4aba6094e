package lane_test

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"mangrove/internal/fakesite"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/canary"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/cover"
	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/declared"
	"mangrove/scraper/internal/store"
)

// described is a Lane over a described Site that really answers, in a real database.
type described struct {
	t    *testing.T
	site *fakesite.Server
	db   *store.Store
	conn *pgx.Conn
	lane *lane.Lane
}

func newDescribed(t *testing.T, more string) *described {
	t.Helper()
	urls := pgtest.New(t)
	conn, err := pgx.Connect(t.Context(), urls.Admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	d := &described{t: t, site: fakesite.Start(t), conn: conn, db: store.New(pgtest.Pool(t, urls.Scraper, store.Schema, nil))}
	host := strings.TrimPrefix(d.site.URL, "http://")
	l, problems := declared.Parse("t.yaml", []byte("name: Test\nhosts: ['"+host+"']\npacing: 500ms\n"+more+`
series: {address: "`+d.site.URL+`/series/{id}", landmark: main, title: h1}
chapters: {item: li, address: a@href, number: a}
pages: {landmark: main, image: p.page img}
`))
	if l == nil {
		t.Fatal(problems)
	}
	site := l.Site()
	site.Pacing = time.Millisecond
	gate, hub := &lane.Gate{}, live.NewHub()
	client := fetch.New(fetch.Options{
		Site: site, Slots: lane.NewSlots(site, gate.Allow, 0), Identity: "Mangrove/test", FirstWait: time.Millisecond,
		Guard: fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
	})
	t.Cleanup(client.Close)
	heard := gate.Listen(client)
	recorder := &incident.Recorder{Store: d.db, Log: zap.NewNop()}
	if err := d.db.EnsureLane(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	d.lane = lane.New(lane.Options{
		Adapter: l.Adapter(), Fetcher: heard, Store: d.db, Queue: queue.New(d.db), Covers: cover.New(t.TempDir()), Hub: hub, Gate: gate, Incidents: recorder, Log: zap.NewNop(),
		Runner: &job.Runner{Library: t.TempDir(), Store: d.db, Hub: hub, Adapter: l.Adapter(), Fetcher: heard, Incidents: recorder},
	})
	d.markup("h1", "p class=page")
	return d
}

// markup makes the Site's pages: what a title and a page's image stand in.
func (d *described) markup(title, image string) {
	for _, id := range []string{"a", "b", "known"} {
		d.site.On("/series/"+id, fakesite.HTML("<main><"+title+">Series "+id+"</"+title+"><ul><li><a href=/c/"+id+"-2>Chapter 2</a><li><a href=/c/"+id+"-1>Chapter 1</a></ul></main>"))
		for _, n := range []string{"1", "2"} {
			d.site.On("/c/"+id+"-"+n, fakesite.HTML("<main><"+image+"><img src=/1.png></p></main>"))
		}
	}
}

func (d *described) exec(sql string, args ...any) {
	d.t.Helper()
	if _, err := d.conn.Exec(d.t.Context(), sql, args...); err != nil {
		d.t.Fatal(err)
	}
}

func (d *described) follow(ids ...string) {
	d.t.Helper()
	for _, id := range ids {
		d.exec("INSERT INTO scraper.series (site, series_id, title, url, origin) VALUES ('t', $1, $1, $2, 'followed')", id, d.site.URL+"/series/"+id)
	}
}

// trial makes the canary due and takes one turn.
func (d *described) trial() canary.Canary {
	d.t.Helper()
	d.exec("UPDATE scraper.canaries SET next_at = now() - interval '1 second'")
	if _, err := d.lane.Turn(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	p, err := d.db.Canary(d.t.Context(), "t")
	if err != nil {
		d.t.Fatal(err)
	}
	return p.Canary
}

// asked forgets the ledger and returns what stood in it.
func (d *described) asked() (out []string) {
	for _, r := range d.site.Ledger().Requests {
		out = append(out, r.Path)
	}
	d.site.Forget()
	return out
}

func (d *described) count(sql string) (n int) {
	d.t.Helper()
	if err := d.conn.QueryRow(d.t.Context(), "SELECT count(*) FROM "+sql).Scan(&n); err != nil {
		d.t.Fatal(err)
	}
	return n
}

// A Site changes its markup while no Poll is due: the canary says so, with the page as
// evidence, and nothing of the library has failed (H18).
func TestTheCanarySaysSoBeforeTheLibraryFails(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, title, image string
		outcome            canary.Outcome
		evidence, chapter  string
	}{
		{"the Series page", "h2", "p class=page", canary.Errors, "the page gives no title", ""},
		{"the page list, which no Poll reads", "h1", "p class=sheet", canary.Errors, "the page shows no image", "/c/known-2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDescribed(t, "canary: known")
			if c := d.trial(); c.State != canary.Untried || len(d.asked()) != 0 {
				t.Fatalf("nobody follows anything: %+v", c)
			}
			d.follow("a", "b")
			if _, err := d.lane.Turn(t.Context()); err != nil {
				t.Fatal(err)
			}
			d.asked()
			if c := d.trial(); c.State != canary.Well || c.SeriesID != "known" || c.Chapters != 2 {
				t.Fatalf("well: %+v", c)
			}
			if diff := cmp.Diff([]string{"/series/known", "/c/known-2"}, d.asked()); diff != "" {
				t.Errorf("a trial asks for the Series and one page list, no image:\n%s", diff)
			}
			d.markup(tt.title, tt.image)
			if c := d.trial(); c.State != canary.Doubtful || d.count("scraper.incidents") != 0 {
				t.Errorf("once: %+v, %d incidents", c, d.count("scraper.incidents"))
			}
			c := d.trial()
			if c.State != canary.Failing || c.Outcome != tt.outcome || !strings.Contains(c.Evidence, tt.evidence) || c.FailingSince.IsZero() {
				t.Errorf("twice: %+v", c)
			}
			for what, n := range map[string]int{"failure rows": d.count("scraper.poll_failures"), "Jobs": d.count("scraper.jobs"), "known Series": d.count("scraper.series") - 2} {
				if n != 0 {
					t.Errorf("%d %s", n, what)
				}
			}
			if at, err := d.db.Circuit(t.Context(), "t"); err != nil || at.State != circuit.Closed {
				t.Errorf("the circuit is %s, %v", at.State, err)
			}
			list, err := d.db.Incidents(t.Context(), true, 0, 10)
			if err != nil || len(list) != 1 || list[0].About != incident.AboutCanary || list[0].Key.SeriesID != "known" || list[0].ChapterID != tt.chapter {
				t.Fatalf("incidents %+v, %v", list, err)
			}
			in, err := d.db.Incident(t.Context(), list[0].ID)
			if err != nil || len(in.Evidence) != 1 || !strings.Contains(string(in.Evidence[0].Body), "<main>") {
				t.Errorf("its evidence: %+v, %v", in.Evidence, err)
			}
			if c := d.trial(); c.State != canary.Failing || d.count("scraper.incidents") != 1 {
				t.Errorf("a third time: %+v, %d incidents", c, d.count("scraper.incidents"))
			}
			d.markup("h1", "p class=page")
			if c := d.trial(); c.State != canary.Well || c.Evidence != "" || d.count("scraper.incidents WHERE resolution = 'good_read'") != 1 {
				t.Errorf("mended: %+v", c)
			}
		})
	}
}

// The Site's own trouble is no break: it answers 503, breaks the connection, or
// refuses. A refusal pauses the Lane, as any does, and no second request follows it.
func TestACanaryOfAnAwaySiteSaysNothing(t *testing.T) {
	t.Parallel()
	d := newDescribed(t, "canary: known")
	d.follow("a")
	if _, err := d.lane.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c := d.trial(); c.State != canary.Well {
		t.Fatalf("%+v", c)
	}
	for name, answer := range map[string]fakesite.Answer{"503": fakesite.Status(503), "a reset": {Reset: true}} {
		d.site.On("/series/known", answer)
		for range 3 {
			if c := d.trial(); c.State != canary.Well || c.Outcome != canary.OK {
				t.Errorf("%s: %+v", name, c)
			}
		}
	}
	d.markup("h1", "p class=page")
	d.site.On("/c/known-2", fakesite.Status(503))
	if c := d.trial(); c.State != canary.Well {
		t.Errorf("a page list that is not answered: %+v", c)
	}
	d.asked()
	d.site.On("/series/known", fakesite.Status(403))
	if c := d.trial(); c.State != canary.Well || len(d.asked()) != 1 {
		t.Errorf("refused: %+v", c)
	}
	if at, err := d.db.Circuit(t.Context(), "t"); err != nil || at.State != circuit.Paused {
		t.Errorf("the circuit is %s, %v", at.State, err)
	}
	if d.trial(); len(d.asked()) != 0 || d.count("scraper.poll_failures") != 0 {
		t.Error("a paused Site was asked, or a Series is said to fail")
	}
}

// A Site that rebuilds all its pages, landmarks too, looks like one in trouble: its Lane
// rests, and no trial of its own comes. What its probes are answered says it all the
// same, and no request more is sent for it.
func TestACanaryHearsWhatProbesAreAnswered(t *testing.T) {
	t.Parallel()
	d := newDescribed(t, "canary: known")
	d.follow("a", "b")
	if _, err := d.lane.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c := d.trial(); c.State != canary.Well {
		t.Fatalf("%+v", c)
	}
	for _, id := range []string{"a", "b", "known"} {
		d.site.On("/series/"+id, fakesite.HTML("<body><section><h1>All new</h1></section></body>"))
	}
	// Polls have met it, and the Lane rests.
	d.exec("UPDATE scraper.circuits SET state = 'open', reason = 'outage', detail = 'the page has no main', until = now() + interval '5 minutes', since = now()")
	for i, want := range []canary.State{canary.Doubtful, canary.Failing} {
		d.exec("UPDATE scraper.circuits SET until = now() - interval '1 second'")
		d.asked()
		if c := d.trial(); c.State != want || c.Outcome != canary.NoLandmark {
			t.Errorf("probe %d: %+v", i+1, c)
		}
		if n := len(d.asked()); n != 1 {
			t.Errorf("probe %d sent %d requests", i+1, n)
		}
		if at, err := d.db.Circuit(t.Context(), "t"); err != nil || at.State != circuit.Open {
			t.Errorf("probe %d: the circuit is %s, %v", i+1, at.State, err)
		}
	}
	if d.count("scraper.incidents WHERE about = 'canary' AND resolved_at IS NULL") != 1 || d.count("scraper.poll_failures") != 0 {
		t.Error("it has no incident, or is held against a Series")
	}
	// A Site that does not answer its probes says nothing of its adapter.
	d.exec("UPDATE scraper.canaries SET state = 'well', failing_since = NULL, evidence = ''")
	for _, id := range []string{"a", "b"} {
		d.site.On("/series/"+id, fakesite.Status(502))
	}
	d.exec("UPDATE scraper.circuits SET until = now() - interval '1 second'")
	if c := d.trial(); c.State != canary.Well {
		t.Errorf("502: %+v", c)
	}
}

// Without a declared Series it is the followed one that was read well last; of those
// that fail, only what may be the adapter's fault is tried.
func TestTheKnownSeriesIsOneThatIsFollowed(t *testing.T) {
	t.Parallel()
	d := newDescribed(t, "")
	d.follow("b", "a", "c")
	d.exec("UPDATE scraper.series SET last_good_read_at = '2026-08-01', next_poll_at = now() + interval '1 day'")
	d.exec("UPDATE scraper.series SET last_good_read_at = '2026-08-02' WHERE series_id = 'c'")
	known := func() string {
		t.Helper()
		k, ok, err := d.db.KnownSeries(t.Context(), "t", "")
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return ""
		}
		return k.Key.SeriesID
	}
	if got := known(); got != "c" {
		t.Errorf("the one read last is c, not %s", got)
	}
	d.exec("INSERT INTO scraper.poll_failures VALUES ('t', 'c', 'errors', now())")
	if got := known(); got != "a" {
		t.Errorf("of two read at once it is a, not %s", got)
	}
	d.exec("INSERT INTO scraper.poll_failures VALUES ('t', 'a', 'not_found', now()), ('t', 'b', 'no_chapter', now())")
	if got := known(); got != "c" {
		t.Errorf("of those that fail it is c, not %s", got)
	}
	d.exec("UPDATE scraper.poll_failures SET outcome = 'not_found'")
	if got := known(); got != "" {
		t.Errorf("nothing can be tried, and %s is", got)
	}
	d.exec("DELETE FROM scraper.poll_failures WHERE series_id = 'a'")
	d.exec("INSERT INTO scraper.chapters (site, series_id, chapter_id, url, source_order, first_seen_at) SELECT 't', 'a', 'old-' || n, 'u', n, now() FROM generate_series(1, 5) n")
	c := d.trial()
	if c.Outcome != canary.Fewer || c.SeriesID != "a" || c.Chapters != 0 {
		t.Errorf("two chapters of five are %+v", c)
	}
	if diff := cmp.Diff([]string{"/series/a"}, d.asked()); diff != "" {
		t.Error(diff)
	}
}

// Two that moved a canary at once: one of them knows nothing of what it wrote over.
func TestACanaryMovesOnce(t *testing.T) {
	t.Parallel()
	d := newDescribed(t, "")
	p, err := d.db.Canary(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	bad := canary.Trial{Outcome: canary.Errors, SeriesID: "a", Err: source.Unparsed("u", "%s", strings.Repeat("so ", 5000))}
	same := func(d time.Duration) time.Duration { return d }
	to := p.After(bad, time.Now(), p.Every, same)
	for i, want := range []bool{true, false} {
		if moved, err := d.db.MoveCanary(t.Context(), p.Canary, to); err != nil || moved != want {
			t.Errorf("move %d: %v, %v", i+1, moved, err)
		}
	}
	got, err := d.db.Canary(t.Context(), "t")
	if err != nil || got.State != canary.Doubtful || len(got.Evidence) == 0 {
		t.Errorf("%+v, %v", got, err)
	}
	now := time.Now()
	if err := d.db.HastenCanary(t.Context(), "t", now); err != nil {
		t.Fatal(err)
	}
	if got, err = d.db.Canary(t.Context(), "t"); err != nil || got.Next.After(now) {
		t.Errorf("hastened: %v, %v", got.Next, err)
	}
}
