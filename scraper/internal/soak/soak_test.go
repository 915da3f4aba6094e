package soak

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/canary"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/cover"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/stall"
	"mangrove/scraper/internal/store"
)

var (
	soakDays = flag.Int("soak.days", 4, "how many days are lived through")
	soakSeed = flag.Uint64("soak.seed", 1, "what the Sites do is drawn from it")
)

const day = 24 * time.Hour

// clock makes the database tell the time of the bubble: PostgreSQL's own now() is
// hidden by one that says what the connection was told.
const clock = `CREATE FUNCTION scraper.now() RETURNS timestamptz LANGUAGE sql STABLE AS
	$$ SELECT pg_catalog.current_setting('soak.now')::timestamptz $$;
GRANT EXECUTE ON FUNCTION scraper.now() TO PUBLIC`

var errKilled = errors.New("killed")

// month is a library and the Sites it follows.
type month struct {
	t       *testing.T
	pool    *pgxpool.Pool
	db      *store.Store
	library string
	data    string
	stands  []*stand
	start   time.Time
	// dead is true from a kill to the next start: no statement gets through.
	dead atomic.Bool
	// floor is how many bytes must stay free.
	floor atomic.Int64
	// killed is when it was, each time.
	killed []time.Time
	// image hears of each image that a Site has answered.
	image chan struct{}
	// staged is called with a Site's key when a page of it was staged; nil is not.
	staged func(site string)
	// end ends the process that runs.
	end func()
}

// open opens the database, within the bubble.
func (m *month) open(address string) {
	m.t.Helper()
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		m.t.Fatal(err)
	}
	cfg.MaxConns, cfg.MaxConnLifetime, cfg.MaxConnIdleTime, cfg.HealthCheckPeriod = 8, 1000*day, 1000*day, 1000*day
	cfg.ConnConfig.RuntimeParams["search_path"] = "scraper,pg_catalog"
	cfg.ConnConfig.RuntimeParams["timezone"] = "UTC"
	var mu sync.Mutex
	told := map[*pgx.Conn]time.Time{}
	cfg.PrepareConn = func(ctx context.Context, c *pgx.Conn) (bool, error) {
		if m.dead.Load() {
			return true, errKilled
		}
		now := time.Now()
		mu.Lock()
		fresh := told[c].Equal(now)
		told[c] = now
		mu.Unlock()
		if fresh {
			return true, nil
		}
		_, err := c.Exec(ctx, "SELECT set_config('soak.now', $1, false)", now.UTC().Format(time.RFC3339Nano))
		return err == nil, err
	}
	if m.pool, err = pgxpool.NewWithConfig(context.Background(), cfg); err != nil {
		m.t.Fatal(err)
	}
	m.db = store.New(m.pool)
}

// begin starts the scraper as its program does, over database and library alone.
func (m *month) begin(crashed bool) {
	m.t.Helper()
	m.dead.Store(false)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	m.end = func() { cancel(); running.Wait() }
	log, hub := zap.NewNop(), live.NewHub()
	marker := inventory.NewMarker(m.library, m.db)
	must(m.t, marker.Establish(ctx))
	inv := inventory.New(inventory.Options{Scanner: inventory.NewLibrary(m.library, marker, m.db), There: marker.Check, Log: log})
	running.Go(func() { inv.Run(ctx) })
	recorder := &incident.Recorder{Store: m.db, Log: log}
	lanes := map[string]*lane.Lane{}
	var sites []source.Site
	for _, s := range m.stands {
		site := s.Site()
		sites = append(sites, site)
		must(m.t, m.db.EnsureLane(ctx, site.Key))
		if crashed {
			_, err := job.AfterCrash(ctx, m.db, m.library, site, time.Now())
			must(m.t, err)
		}
		_, err := m.db.RecoverJobs(ctx, []string{site.Key})
		must(m.t, err)
		must(m.t, m.db.SetActivity(ctx, site.Key, lane.Idle, ""))
		gate := &lane.Gate{}
		heard := gate.Listen(wire{s, lane.NewSlots(site, gate.Allow, 0)})
		l := lane.New(lane.Options{
			Adapter: s, Fetcher: heard, Store: m.db, Queue: queue.New(m.db), Covers: cover.New(m.data), Hub: hub, Gate: gate, Incidents: recorder, Log: log,
			Runner: &job.Runner{
				Library: m.library, Store: m.db, Marker: marker, Inventory: inv, Hub: hub, Adapter: s, Fetcher: heard, Incidents: recorder, Log: log, Generator: "Mangrove",
				Floor: func(context.Context) (int64, error) { return m.floor.Load(), nil },
				PageStaged: func() {
					if m.staged != nil {
						m.staged(site.Key)
					}
				},
			},
		})
		lanes[site.Key] = l
		running.Go(func() { l.Run(ctx) })
	}
	watchdog := &stall.Watch{
		Library: m.library, Store: m.db, Sites: func() []source.Site { return sites }, Stop: func(site string, id int64) { lanes[site].StopJob(id) }, Log: log,
		Stalled: func(ctx context.Context, s stall.Stall) {
			recorder.Record(ctx, incident.Happening{Kind: fault.Stall, About: incident.AboutJob, Key: s.Job.Key, JobID: s.Job.ID, Cause: fault.Newf(fault.Stall, "download", s.Job.Key.String(), "%s", s.Job.Reason)})
		},
	}
	discovery := &queue.Discovery{
		Store: m.db, Current: inv.Current, Wake: func(site string) { lanes[site].Wake() }, Log: log, Languages: func(string) []string { return []string{"en"} },
	}
	running.Go(func() {
		// The program does these more often; nothing here needs them to the minute but
		// the watchdog, which counts no more than two of its own turns at once.
		for turn := 0; rest(ctx, stall.Every); turn++ {
			if m.staged != nil {
				watchdog.Look(ctx, time.Now())
			}
			if turn%10 != 0 {
				continue
			}
			_ = discovery.RunIfDue(ctx, time.Now())
			_ = m.db.PruneFetches(ctx, time.Now().Add(-2*day))
			_ = m.db.PrunePasses(ctx, time.Now().Add(-14*day))
		}
	})
}

// kill ends the process so that nothing it does from now on reaches the database.
func (m *month) kill() {
	m.dead.Store(true)
	m.killed = append(m.killed, time.Now())
	m.end()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// live lets time pass until at, with a kill every so often, most of them in the midst
// of a chapter.
func (m *month) live(r *rand.Rand, at time.Time) {
	for {
		next := time.Now().Add(time.Duration(r.Int64N(int64(6 * time.Hour))))
		if len(m.killed) == 0 {
			// In the midst of what there is from the start.
			next = time.Now().Add(20 * time.Second)
		}
		if next.After(at) {
			time.Sleep(time.Until(at))
			return
		}
		time.Sleep(time.Until(next))
		if r.IntN(6) > 0 {
			select {
			case <-m.image:
			default:
			}
			timer := time.NewTimer(min(12*time.Hour, time.Until(at)))
			select {
			case <-m.image:
				// One page is accepted by then, the next may be under way.
				time.Sleep(2*latency + time.Duration(r.Int64N(int64(2*pacing))))
			case <-timer.C:
			}
			timer.Stop()
		}
		m.kill()
		time.Sleep(time.Duration(r.Int64N(int64(2 * time.Minute))))
		m.begin(true)
		if !time.Now().Before(at) {
			return
		}
	}
}

// rows runs a query whose rows are one text each, outside the scraper's pool rules.
func (m *month) rows(sql string, args ...any) []string {
	m.t.Helper()
	got, err := m.pool.Query(context.Background(), sql, args...)
	must(m.t, err)
	out, err := pgx.CollectRows(got, pgx.RowTo[string])
	must(m.t, err)
	return out
}

// prepared is the address of a database that is told the time.
func prepared(t *testing.T) string {
	t.Helper()
	urls := pgtest.New(t)
	admin, err := pgx.Connect(t.Context(), urls.Admin)
	must(t, err)
	_, err = admin.Exec(t.Context(), clock)
	must(t, err)
	must(t, admin.Close(t.Context()))
	return urls.Scraper
}

// follow follows every Series of the stands, to be downloaded.
func (m *month) follow() {
	m.t.Helper()
	for _, s := range m.stands {
		for i := range s.series {
			id := fmt.Sprintf("%c", 'a'+i)
			_, err := m.pool.Exec(context.Background(), "INSERT INTO series (site, series_id, title, url, origin, download) VALUES ($1, $2, $2, $3, 'followed', true)", s.key, id, s.Address(id))
			must(m.t, err)
		}
	}
}

// weight is what a process that lives long must not gain.
type weight struct {
	goroutines int
	heap       uint64
}

func weightNow() weight {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return weight{runtime.NumGoroutine(), s.HeapAlloc}
}

// bears fails where later is more than a little heavier.
func (w weight) bears(t *testing.T, when string, later weight) {
	t.Helper()
	if later.goroutines > w.goroutines+8 || later.heap > 2*w.heap+8<<20 {
		t.Errorf("%s: %d goroutines and %d KiB grew to %d and %d KiB", when, w.goroutines, w.heap>>10, later.goroutines, later.heap>>10)
	}
}

// weighing is how long a process is left alone to be weighed.
const weighing = 6 * time.Hour

// weigh starts the scraper anew and says what it weighs after an hour, and fails if it
// weighs more some hours later.
func (m *month) weigh() weight {
	m.t.Helper()
	m.end()
	m.begin(false)
	time.Sleep(time.Hour)
	young := weightNow()
	time.Sleep(weighing - time.Hour)
	young.bears(m.t, "in some hours", weightNow())
	return young
}

// A month with nobody there: what can be downloaded is, once and whole; what waits for
// a person is named with a reason and an age; no Site is asked too often, no page that
// was accepted again, and nothing grows. It shows features H9.
func TestAMonthWithNobodyThere(t *testing.T) {
	address := prepared(t)
	library, data := filepath.Join(t.TempDir(), "library"), t.TempDir()
	now := time.Now().Round(0)
	t.Logf("%d days, seed %d", *soakDays, *soakSeed)
	synctest.Test(t, func(t *testing.T) {
		// The bubble's time begins in 2000; files have the machine's.
		time.Sleep(time.Until(now))
		length := time.Duration(*soakDays) * day
		m := &month{t: t, library: library, data: data, start: time.Now(), image: make(chan struct{}, 1)}
		r := rand.New(rand.NewPCG(*soakSeed, 9))
		end := m.start.Add(length)
		hours := func(from, to float64) [2]time.Duration {
			return [2]time.Duration{time.Duration(from * float64(time.Hour)), time.Duration(to * float64(time.Hour))}
		}
		plans := map[string][]episode{
			"calm":     planned(t, r, m.start, length, map[trouble][2]time.Duration{hidden: hours(5, 40), torn: hours(1, 5), parked: hours(0.5, 3)}, 3),
			"stormy":   planned(t, r, m.start, length, map[trouble][2]time.Duration{away: hours(1, 9), storm: hours(0.2, 2), quiet: hours(1, 3), torn: hours(1, 8)}, 2),
			"changing": planned(t, r, m.start, length, map[trouble][2]time.Duration{rebuilt: hours(6, 30), hidden: hours(5, 30)}, 4),
			"refusing": {{refusing, m.start.Add(length * 3 / 5), end.Add(100 * day)}},
		}
		plans["calm"] = append(plans["calm"], episode{moved, m.start.Add(length / 3), end.Add(100 * day)})
		for _, key := range []string{"calm", "stormy", "changing", "refusing"} {
			m.stands = append(m.stands, &stand{image: m.image, key: key, plan: plans[key], start: m.start, calm: end.Add(-2 * day), series: 3, whole: map[string]time.Time{}, rng: rand.New(rand.NewPCG(*soakSeed, uint64(len(key))))})
		}
		m.open(address)
		defer m.pool.Close()
		m.follow()
		m.begin(false)
		m.live(r, m.start.Add(length/6))
		early := m.weigh()
		m.live(r, end.Add(-weighing))
		early.bears(t, "from the first days to the last", m.weigh())
		m.end()
		m.judge()
		m.fill()
	})
}

// judge looks at what the month has left.
func (m *month) judge() {
	t := m.t
	ctx := context.Background()
	named := map[string]string{}
	for _, row := range m.rows(`SELECT DISTINCT ON (site, series_id) site || '/' || series_id || ' ' || state || ' ' || class || ' since ' || changed_at || ': ' || reason
		FROM jobs ORDER BY site, series_id, id DESC`) {
		key, said, _ := strings.Cut(row, " ")
		named[key] = said
	}
	aside := m.rows("SELECT j.site || '/' || j.series_id || ' ' || c.chapter_id FROM job_chapters c JOIN jobs j ON j.id = c.job_id WHERE c.state = 'set_aside' AND c.reason <> '' AND c.set_aside_at IS NOT NULL")
	published, waiting := 0, map[string]int{}
	for _, s := range m.stands {
		for i := range s.series {
			id := fmt.Sprintf("%c", 'a'+i)
			key := s.key + "/" + id
			have := m.rows("SELECT chapter_id || ' ' || path FROM library_files WHERE site = $1 AND series_id = $2 AND state = 'published' AND missing_pages = '{}' ORDER BY 1", s.key, id)
			for at := 1; at < len(have); at++ {
				if a, _, _ := strings.Cut(have[at-1], " "); strings.HasPrefix(have[at], a+" ") {
					t.Errorf("%s is published twice: %v", key, have)
				}
			}
			for _, row := range have {
				chapter, path, _ := strings.Cut(row, " ")
				wholeFile(t, filepath.Join(m.library, path), chapter)
			}
			published += len(have)
			for _, ch := range s.chapters(id, time.Now()) {
				if slices.ContainsFunc(have, func(row string) bool { return strings.HasPrefix(row, ch.ID+" ") }) {
					continue
				}
				c, err := m.db.Circuit(ctx, s.key)
				must(t, err)
				why, allowed := "", false
				switch {
				case c.State == circuit.Paused && c.Reason == circuit.Access && !c.Since.IsZero():
					why, allowed = "the Site refuses", s.key == "refusing"
				case slices.Contains(aside, key+" "+ch.ID):
					why, allowed = "the chapter is set aside", true
				case strings.HasPrefix(named[key], "quarantined network"), strings.HasPrefix(named[key], "quarantined parser"):
					why, allowed = named[key][:len("quarantined network")], s.key != "calm"
				case c.State == circuit.Paused && c.Reason == circuit.Systemic:
					why, allowed = "the Site is paused: not understood", s.key == "changing"
				}
				if waiting[s.key+": "+why]++; !allowed {
					t.Errorf("%s is not in the library, and nothing that would excuse it says why: Job %q, circuit %s %s", ch.ID, named[key], c.State, c.Reason)
				}
			}
		}
		for _, d := range s.again {
			// A kill may lose what was delivered that very moment, and nothing else may.
			if !slices.ContainsFunc(m.killed, func(at time.Time) bool { return at.Sub(d.before).Abs() < latency }) {
				t.Errorf("%s delivered %s again, which was accepted at %s", s.key, d.name, d.before)
			}
		}
		if s.hasty > 0 || s.after > 0 {
			t.Errorf("%s: %d of %d requests came nearer than its pacing, %d after a refusal", s.key, s.hasty, s.asked, s.after)
		}
		t.Logf("%s: %d troubles, %d requests, %d images again", s.key, len(s.plan), s.asked, len(s.again))
	}
	if failing := m.rows("SELECT site || '/' || series_id || ' ' || outcome FROM poll_failures"); len(failing) > 0 {
		t.Errorf("what reads well is said to fail: %v", failing)
	}
	if open := m.rows("SELECT site || ' ' || state FROM circuits WHERE state NOT IN ('closed', 'paused')"); len(open) > 0 {
		t.Errorf("circuits: %v", open)
	}
	if many := m.rows("SELECT count(*)::text FROM incidents HAVING count(*) > $1", incident.Kept); len(many) > 0 {
		t.Errorf("%s incidents are kept", many[0])
	}
	for _, row := range m.rows("SELECT site || ' ' || state FROM canaries") {
		if site, state, _ := strings.Cut(row, " "); site != "refusing" && state != string(canary.Well) {
			t.Errorf("the canary of %s is %s", site, state)
		}
	}
	if published < 10 {
		t.Errorf("only %d chapters were published", published)
	}
	var why []string
	for w, n := range waiting {
		why = append(why, fmt.Sprintf("%d %s", n, w))
	}
	sort.Strings(why)
	t.Logf("%d chapters published, %d kills; waiting for a person: %v", published, len(m.killed), why)
}

// fill lets the disk be full for half a day: downloads stand still and say since when,
// nothing of the library is lost, and Polls go on.
func (m *month) fill() {
	t := m.t
	files := m.rows("SELECT count(*)::text FROM library_files WHERE state = 'published'")
	for _, s := range m.stands {
		s.mu.Lock()
		s.calm, s.plan = time.Now().Add(100*day), slices.DeleteFunc(s.plan, func(e episode) bool { return e.what != refusing && e.what != moved })
		s.mu.Unlock()
	}
	m.floor.Store(1 << 60)
	m.begin(false)
	time.Sleep(26 * time.Hour)
	m.end()
	holds, err := m.db.Holds(context.Background())
	must(t, err)
	if len(holds) != 1 || holds[0].Kind != "storage" || holds[0].Detail == "" || holds[0].Since.Before(m.start) {
		t.Errorf("with a full disk: %+v", holds)
	}
	if now := m.rows("SELECT count(*)::text FROM library_files WHERE state = 'published'"); now[0] != files[0] {
		t.Errorf("%s chapters, then %s with a full disk", files[0], now[0])
	}
	if polled := m.rows("SELECT site FROM series WHERE site <> 'refusing' AND last_good_read_at < $1", time.Now().Add(-day)); len(polled) > 0 {
		t.Errorf("Polls stopped with the downloads: %v", polled)
	}
	if failing := m.rows("SELECT site || '/' || series_id || ' ' || outcome FROM poll_failures"); len(failing) > 0 {
		t.Errorf("a full disk is held against Series: %v", failing)
	}
}

// wholeFile fails unless a file holds the pages of a chapter, byte for byte.
func wholeFile(t *testing.T, path, chapter string) {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	defer func() { _ = z.Close() }()
	var got [][]byte
	for _, f := range z.File {
		if strings.HasSuffix(f.Name, ".xml") || strings.HasSuffix(f.Name, ".json") {
			continue
		}
		r, err := f.Open()
		must(t, err)
		data, err := io.ReadAll(r)
		must(t, err)
		must(t, r.Close())
		got = append(got, data)
	}
	if len(got) != pages {
		t.Errorf("%s holds %d pages", path, len(got))
		return
	}
	for i, data := range got {
		if !bytes.Equal(data, drawing(fmt.Sprintf("%s/%d", chapter, i))) {
			t.Errorf("page %d of %s is another", i+1, path)
		}
	}
}
