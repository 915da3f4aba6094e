//go:build bench

package bench

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"

	"mangrove/internal/benchtest"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/cover"
	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

// report adds a figure to build/bench.json.
var report = benchtest.Report

func TestMain(m *testing.M) { benchtest.Main(m, "../../..") }

// counter counts statements sent to the server.
type counter struct{ n atomic.Int64 }

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.n.Add(1)
	return ctx
}
func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// site is a Site whose Series pages never change, or gained one chapter.
type site struct {
	key, base string
	changed   bool
}

func (s site) Site() source.Site {
	u, err := url.Parse(s.base)
	if err != nil {
		panic(err)
	}
	return source.Site{Key: s.key, Name: s.key, Hosts: []string{u.Host}}
}
func (site) Listed() []source.Series                 { return nil }
func (site) Recognise(string) (string, string, bool) { return "", "", false }
func (site) Address(string) string                   { return "" }
func (s site) Series(ctx context.Context, f source.Fetcher, ask source.Ask) (source.Reading, error) {
	r, err := f.Get(ctx, source.Request{URL: ask.URL, Want: source.WantHTML, Validators: ask.Validators})
	if err != nil || r.NotModified {
		return source.Reading{NotModified: err == nil}, err
	}
	out := source.Reading{Series: source.Series{ID: ask.SeriesID, Title: ask.SeriesID}, Validators: r.Validators}
	for i := range 21 {
		out.Chapters = append(out.Chapters, source.Chapter{ID: fmt.Sprint(21 - i), Number: fmt.Sprint(21 - i), URL: ask.URL + "/c", Order: i})
	}
	return out, nil
}
func (site) Pages(context.Context, source.Fetcher, source.Key, source.Chapter) ([]source.Page, error) {
	return nil, nil
}

func serve(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"a"`)
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>" + strings.Repeat("x", 20_000)))
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return "http://" + l.Addr().String()
}

// polls runs one Pass on each of n Lanes over 2,000 Series in all.
func polls(t *testing.T, name string, lanes int, changed bool, perPoll, perSecond float64) {
	const series = 2000
	base := serve(t)
	urls := pgtest.New(t)
	count := &counter{}
	pool := pgtest.Pool(t, urls.Scraper, store.Schema, count)
	db := store.New(pool)
	admin, err := pgx.Connect(t.Context(), urls.Admin)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close(context.Background()) }()
	etag := `"a"`
	if changed {
		etag = ""
	}
	if _, err := admin.Exec(t.Context(), `INSERT INTO scraper.series (site, series_id, title, url, origin, etag, last_good_read_at)
		SELECT 'site' || i % $1, 's' || i, 't', $2 || '/s' || i, 'followed', $3, now() FROM generate_series(1, $4) i`, lanes, base, etag, series); err != nil {
		t.Fatal(err)
	}
	if changed {
		if _, err := admin.Exec(t.Context(), `INSERT INTO scraper.chapters (site, series_id, chapter_id, number, url, source_order, first_seen_at)
			SELECT site, series_id, n::text, n, url || '/c', 20 - n + 1, now() FROM scraper.series, generate_series(1, 20) n`); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := admin.Exec(t.Context(), "ANALYZE"); err != nil {
		t.Fatal(err)
	}
	claims, err := pgxpool.New(t.Context(), urls.Scraper+"&search_path=scraper&pool_max_conns="+fmt.Sprint(lanes+1))
	if err != nil {
		t.Fatal(err)
	}
	defer claims.Close()
	var ready []*lane.Lane
	for i := range lanes {
		a := site{fmt.Sprint("site", i), base, changed}
		if err := db.EnsureLane(t.Context(), a.key); err != nil {
			t.Fatal(err)
		}
		gate := &lane.Gate{}
		client := fetch.New(fetch.Options{
			Site: a.Site(), Slots: lane.NewSlots(a.Site(), gate.Allow, 0), Identity: "Mangrove/bench",
			Guard: fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
		})
		defer client.Close()
		ready = append(ready, lane.New(lane.Options{
			Adapter: a, Fetcher: client, Store: db, Queue: queue.New(db), Covers: cover.New(t.TempDir()), Hub: live.NewHub(), Gate: gate, Log: zap.NewNop(),
		}))
	}
	before := count.n.Load()
	start := time.Now()
	var all sync.WaitGroup
	for _, l := range ready {
		all.Go(func() {
			if _, err := l.Turn(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	took := time.Since(start).Seconds()
	var read int
	if err := admin.QueryRow(t.Context(), "SELECT sum(ok) FROM scraper.poll_passes").Scan(&read); err != nil || read != series {
		t.Fatalf("%d Series were read well (%v), want %d", read, err, series)
	}
	report(name+": polls", series/took, "polls/s", perSecond)
	report(name+": statements", float64(count.n.Load()-before)/series, "per poll", perPoll)
}

func TestPolls(t *testing.T) {
	polls(t, "2,000 unchanged, one Lane", 1, false, 0.1, 0)
	polls(t, "2,000 unchanged, 50 Lanes", 50, false, 0, 0)
	polls(t, "2,000 with one new chapter of 21, one Lane", 1, true, 8, 0)
}

func TestFailingAtScale(t *testing.T) {
	urls := pgtest.New(t)
	pool := pgtest.Pool(t, urls.Scraper, store.Schema, nil)
	db := store.New(pool)
	admin, err := pgx.Connect(t.Context(), urls.Admin)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close(context.Background()) }()
	for _, sql := range []string{
		"INSERT INTO scraper.series (site, series_id, title, url, origin) SELECT 'site' || i % 20, 's' || i, 'Title ' || i, 'u', 'followed' FROM generate_series(1, 100000) i",
		"INSERT INTO scraper.poll_failures SELECT site, series_id, 'errors', now() - random() * interval '90 days' FROM scraper.series ORDER BY random() LIMIT 10000",
		"ANALYZE",
	} {
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	p99 := func(n int, f func(i int) error) float64 {
		var took []time.Duration
		for i := range n {
			start := time.Now()
			if err := f(i); err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(start))
		}
		slices.Sort(took)
		return float64(took[n*99/100].Microseconds()) / 1000
	}
	report("is it failing? p99 at 100,000 Series", p99(5000, func(i int) error {
		_, _, err := db.Failure(t.Context(), source.Key{Site: fmt.Sprint("site", i%20), SeriesID: fmt.Sprint("s", i*17+i%20)})
		return err
	}), "ms", 1)
	report("Worklist page p99, 10,000 failing", p99(100, func(i int) error {
		rows, err := db.Worklist(t.Context(), store.WorklistQuery{Sort: "oldest", Offset: i * 50, Limit: 100})
		if err == nil && len(rows) != 100 {
			err = fmt.Errorf("%d rows", len(rows))
		}
		return err
	}), "ms", 0)
}
