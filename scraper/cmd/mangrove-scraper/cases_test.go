package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"

	"mangrove/internal/fakesite"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/store"
)

// comic is a scraper that follows some Series of a comic Site, through a file that
// describes it, over real Lanes and a real database.
type comic struct {
	*describedRun
	ctx  context.Context
	site *fakesite.Server
	pool *pgxpool.Pool
}

func firstSeries(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("s%02d", i))
	}
	return ids
}

// startComic lets prepare script the Site before anything is asked of it.
func startComic(t *testing.T, series []string, prepare func(*fakesite.Server)) *comic {
	t.Helper()
	r, ctx := newDescribedRun(t)
	c := &comic{r, ctx, fakesite.Start(t), pgtest.Pool(t, r.urls.Admin, store.Schema, nil)}
	fakesite.Comic{Chapters: 2, Pages: 1}.Serve(c.site.Site)
	prepare(c.site)
	r.lanes.incidents = incident.Recorder{Store: r.db, Log: zap.NewNop()}
	r.put("comic.yaml", fakesite.ComicDescription(strings.TrimPrefix(c.site.URL, "http://"), series...))
	r.look(ctx)
	return c
}

// passes waits for n Passes and returns them all.
func (c *comic) passes(t *testing.T, n int) []string {
	t.Helper()
	for c.ctx.Err() == nil {
		if got := rowsOf(t, c.pool, "SELECT end_reason || ' ok ' || ok FROM poll_passes WHERE site = 'comic' ORDER BY id"); len(got) >= n {
			return got
		}
		pause(c.ctx, 20*time.Millisecond)
	}
	t.Fatalf("there are no %d Passes: %v", n, c.logs.All())
	return nil
}

// again makes every Series due, in the order of their ids.
func (c *comic) again(t *testing.T) {
	t.Helper()
	if _, err := c.pool.Exec(c.ctx, `UPDATE series SET next_poll_at = now() - interval '1 hour' + replace(series_id, 's', '')::int * interval '1 ms' WHERE site = 'comic'`); err != nil {
		t.Fatal(err)
	}
	c.lanes.wake("comic")
}

// A sign-in page that answers for everything is no evidence about any Series: no
// row, no list replaced, one incident, and the Lane stops after a few (S-036).
func TestASignInPageAnswersForEverything(t *testing.T) {
	t.Parallel()
	signIn := fakesite.HTML("<html><title>Sign in</title><form><input name=password></form>")
	c := startComic(t, firstSeries(50), func(s *fakesite.Server) {
		// The fourth of fifty Series is the first that meets the new page.
		for _, id := range firstSeries(50)[3:] {
			s.On("/series/"+id, signIn)
		}
		s.Handle("/series/s02", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fakesite.Comic{Chapters: 2}.Serve(s.Site)
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(`<main><h1>s02</h1><ul><li><a href="/c/s02-1">Chapter 1</a></ul></main>`))
			for _, id := range firstSeries(3) {
				s.On("/series/"+id, signIn)
			}
		}))
	})
	if got, want := c.passes(t, 1), []string{"outage ok 3"}; !cmp.Equal(want, got) {
		t.Errorf("Passes %v, want %v", got, want)
	}
	if n := len(c.site.Ledger().Requests); n != 7 {
		t.Errorf("%d requests, want three good ones, three and a witness", n)
	}
	if rows := rowsOf(t, c.pool, "SELECT series_id FROM poll_failures"); len(rows) != 0 {
		t.Errorf("failure rows for %v", rows)
	}
	if rows := rowsOf(t, c.pool, "SELECT series_id || ' ' || count(*) FROM chapters GROUP BY series_id ORDER BY 1"); !cmp.Equal(rows, []string{"s00 2", "s01 2", "s02 1"}) {
		t.Errorf("chapters known: %v", rows)
	}
	if rows := rowsOf(t, c.pool, "SELECT about || ' ' || kind FROM incidents"); !cmp.Equal(rows, []string{"circuit network"}) {
		t.Errorf("incidents %v, want one about the Site", rows)
	}
}

// A 429 with a time pauses the whole Lane until a person resumes it, and says
// nothing of any Series (S-039). That a stored circuit holds over a restart is the
// Lane's own test (CIRC-1).
func TestTooManyRequestsPausesTheLane(t *testing.T) {
	t.Parallel()
	c := startComic(t, firstSeries(4), func(s *fakesite.Server) { s.On("/series/s00", fakesite.Status(404)) })
	c.passes(t, 1)
	const failures = "SELECT ctid::text || xmin::text || f::text FROM poll_failures f"
	before := rowsOf(t, c.pool, failures)
	busy := fakesite.Status(429)
	busy.Header = http.Header{"Retry-After": {"120"}}
	c.site.On("/series/s02", busy)
	c.site.Forget()
	c.again(t)
	c.passes(t, 2)
	if got := c.site.Ledger().Paths(); !cmp.Equal(got, []string{"/series/s00", "/series/s01", "/series/s02"}) {
		t.Errorf("asked for %v", got)
	}
	if d := cmp.Diff(before, rowsOf(t, c.pool, failures)); d != "" || len(before) != 1 {
		t.Errorf("the failure rows changed:\n%s", d)
	}
	got, err := c.db.Circuit(c.ctx, "comic")
	if err != nil || got.State != circuit.Paused || got.Reason != circuit.Access {
		t.Errorf("the circuit is %+v (%v)", got, err)
	}
	if left := time.Until(got.RetryAfter); left < 100*time.Second || left > 2*time.Minute {
		t.Errorf("not before %s from now, want two minutes", left)
	}
}

// The validators of the last answer are kept though its page said nothing new, so
// that the next question can be answered in one line (S-112).
func TestTheLastValidatorsAreKept(t *testing.T) {
	t.Parallel()
	page := func(tag string) fakesite.Answer {
		a := fakesite.HTML(`<main><h1>One</h1><ul><li><a href="/c/1">Chapter 1</a></ul></main>`)
		a.Header = http.Header{"Etag": {tag}, "Last-Modified": {"Mon, 02 Jan 2006 15:04:05 GMT"}}
		return a
	}
	moved := page(`"c"`)
	moved.Header.Set("Last-Modified", "Tue, 03 Jan 2006 15:04:05 GMT")
	same := fakesite.Status(304)
	c := startComic(t, []string{"s00"}, func(s *fakesite.Server) {
		s.On("/series/s00", page(`"a"`), page(`"b"`), page(`"c"`), moved, same)
	})
	for n := 1; n <= 4; n++ {
		c.passes(t, n)
		c.again(t)
	}
	c.passes(t, 5)
	var tags, times []string
	for _, r := range c.site.Ledger().Requests {
		tags, times = append(tags, r.Header.Get("If-None-Match")), append(times, r.Header.Get("If-Modified-Since"))
	}
	if d := cmp.Diff([]string{"", `"a"`, `"b"`, `"c"`, `"c"`}, tags); d != "" {
		t.Errorf("If-None-Match (-want +got):\n%s", d)
	}
	if times[4] != "Tue, 03 Jan 2006 15:04:05 GMT" {
		t.Errorf("If-Modified-Since %v", times)
	}
}
