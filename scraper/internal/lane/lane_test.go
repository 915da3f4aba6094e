package lane_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/cover"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/inventory/inventorytest"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

// site is a scripted Site: each Series answers with the next word of its script,
// the last one repeating.
type site struct {
	scripts map[string][]string
	asked   []string
	total   int
	// asking is the gate; shut counts reads that met it closed.
	asking func() error
	shut   int
	// before is called when a Series is asked for.
	before func(id string)
	// found is what a search answers, searched what was searched for.
	found    []source.Series
	searched []string
	// noSearch is the error of a search.
	noSearch error
	// full is true when the disk is found full while a chapter is read.
	full bool
}

func (s *site) Site() source.Site { return source.Site{Key: "t", Name: "Test"} }

func (s *site) Listed() (out []source.Series) {
	for id := range s.scripts {
		out = append(out, source.Series{ID: id, Title: id, URL: "http://t/" + id})
	}
	return out
}

func (s *site) Recognise(string) (string, string, bool) { return "", "", false }
func (*site) Address(string) string                     { return "" }

func (s *site) Series(_ context.Context, _ source.Fetcher, ask source.Ask) (source.Reading, error) {
	s.asked = append(s.asked, ask.SeriesID)
	s.total++
	if s.before != nil {
		s.before(ask.SeriesID)
	}
	if s.asking() != nil {
		s.shut++
	}
	script := s.scripts[ask.SeriesID]
	word := script[0]
	if len(script) > 1 {
		s.scripts[ask.SeriesID] = script[1:]
	}
	answered := func(c fault.Class, e fault.Evidence) error {
		return fault.Newf(c, "get", ask.URL, "scripted").WithEvidence(e)
	}
	r := source.Reading{Series: source.Series{ID: ask.SeriesID, Title: ask.SeriesID}}
	switch word {
	case "ok":
		r.Chapters = []source.Chapter{{ID: "1", URL: "http://t/1"}}
		return r, nil
	case "no_chapter":
		return r, nil
	case "same":
		return source.Reading{NotModified: true}, nil
	case "not_found":
		return r, source.NotFound(ask.URL)
	case "unfetchable":
		return r, answered(fault.Network, fault.Answered)
	case "no-landmark":
		return r, source.NoLandmark(ask.URL, "list of chapters")
	case "errors":
		return r, source.Unparsed(ask.URL, "scripted")
	case "panic":
		panic("scripted")
	case "refused":
		return r, answered(fault.Access, fault.Answered)
	case "unreachable":
		return r, answered(fault.Network, fault.NoRead)
	}
	panic("no such word: " + word)
}

func (s *site) Search(_ context.Context, _ source.Fetcher, query string) ([]source.Series, error) {
	s.searched = append(s.searched, query)
	return s.found, s.noSearch
}

func (s *site) Pages(context.Context, source.Fetcher, source.Key, source.Chapter) ([]source.Page, error) {
	if s.full {
		return nil, fault.Newf(fault.Storage, "write", "a page", "no space left")
	}
	return nil, source.Unparsed("pages", "none here")
}

type bench struct {
	site *site
	lane *lane.Lane
	db   *store.Store
	conn *pgx.Conn
	seen *statements
	// scraper is the address of the scraper's role.
	scraper string
	library string
	inv     *inventory.Inventory
}

// statements counts those that name poll_failures, as they are sent.
type statements struct{ failures atomic.Int64 }

func (s *statements) TraceQueryStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceQueryStartData) context.Context {
	if strings.Contains(d.SQL, "poll_failures") {
		s.failures.Add(1)
	}
	return ctx
}

func (*statements) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// setup makes a Lane over the scripts; Series are due in the order of their ids.
func setup(t *testing.T, scripts map[string][]string) bench {
	t.Helper()
	urls := pgtest.New(t)
	seen := &statements{}
	db := store.New(pgtest.Pool(t, urls.Scraper, store.Schema, seen))
	conn, err := pgx.Connect(t.Context(), urls.Admin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	s := &site{scripts: scripts}
	for _, sr := range s.Listed() {
		if err := db.EnsureListed(t.Context(), "t", sr); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.EnsureLane(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	b := bench{site: s, conn: conn, seen: seen, scraper: urls.Scraper, library: t.TempDir()}
	// Its statements are its own, and not what a test counts or breaks.
	b.inv = inventorytest.Start(t, b.library, store.New(pgtest.Pool(t, urls.Scraper, store.Schema, nil)))
	b.rewire(t, db)
	return b
}

// rewire makes the Lane anew, over another store of the same database.
func (b *bench) rewire(t *testing.T, db *store.Store) {
	t.Helper()
	hub, gate := live.NewHub(), &lane.Gate{}
	recorder := &incident.Recorder{Store: db, Log: zap.NewNop()}
	b.site.asking = gate.Allow
	b.db, b.lane = db, lane.New(lane.Options{
		Adapter: b.site, Incidents: recorder, Store: db, Queue: queue.New(db), Covers: cover.New(t.TempDir()), Hub: hub, Gate: gate, Log: zap.NewNop(),
		Runner: &job.Runner{Library: b.library, Inventory: b.inv, Store: db, Hub: hub, Adapter: b.site, Incidents: recorder},
	})
}

// checks sets how many cases rapid tries, unless the command line did.
func checks(t *testing.T, n string) {
	t.Helper()
	if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() == f.DefValue {
		if err := f.Value.Set(n); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = f.Value.Set(f.DefValue) })
	}
}

func (b bench) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	if _, err := b.conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// due makes every Series due, in the order of their ids, and runs one turn.
func (b bench) turn(t *testing.T) {
	t.Helper()
	b.exec(t, `UPDATE scraper.series SET next_poll_at = now() - interval '1 hour' + (ascii(series_id) || ' ms')::interval`)
	b.site.asked = nil
	if _, err := b.lane.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (b bench) failures(t *testing.T) map[string]string {
	t.Helper()
	rows, err := b.conn.Query(t.Context(), "SELECT series_id, outcome FROM scraper.poll_failures")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	var id, word string
	if _, err := pgx.ForEachRow(rows, []any{&id, &word}, func() error { out[id] = word; return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

func (b bench) lastPass(t *testing.T) string {
	t.Helper()
	var s string
	err := b.conn.QueryRow(t.Context(), `SELECT format('%s ok=%s not_found=%s no_chapter=%s unfetchable=%s errors=%s refused=%s unreachable=%s',
		end_reason, ok, not_found, no_chapter, unfetchable, errors, refused, unreachable) FROM scraper.poll_passes ORDER BY id DESC LIMIT 1`).Scan(&s)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPass(t *testing.T) {
	tests := []struct {
		name     string
		before   string // a first Pass in which every Series reads ok, but those named
		scripts  map[string][]string
		asked    []string
		failures map[string]string
		pass     string
		circuit  circuit.State
	}{
		{
			name:     "each word has its effect",
			scripts:  map[string][]string{"a": {"ok"}, "b": {"not_found"}, "c": {"no_chapter"}, "d": {"errors"}, "e": {"panic"}, "f": {"ok"}},
			asked:    []string{"a", "b", "c", "d", "e", "f"},
			failures: map[string]string{"b": "not_found", "c": "no_chapter", "d": "errors", "e": "errors"},
			pass:     "complete ok=2 not_found=1 no_chapter=1 unfetchable=0 errors=2 refused=0 unreachable=0",
			circuit:  circuit.Closed,
		},
		{
			name:     "the first refusal pauses the Lane and ends the Pass",
			scripts:  map[string][]string{"a": {"ok"}, "b": {"refused"}, "c": {"errors"}},
			asked:    []string{"a", "b"},
			failures: map[string]string{},
			pass:     "refused ok=1 not_found=0 no_chapter=0 unfetchable=0 errors=0 refused=1 unreachable=0",
			circuit:  circuit.Paused,
		},
		{
			name:     "the first unreachable ends the Pass",
			scripts:  map[string][]string{"a": {"unreachable"}, "b": {"errors"}},
			asked:    []string{"a"},
			failures: map[string]string{},
			pass:     "unreachable ok=0 not_found=0 no_chapter=0 unfetchable=0 errors=0 refused=0 unreachable=1",
			circuit:  circuit.Open,
		},
		{
			name:     "one unfetchable page among good ones is its own",
			scripts:  map[string][]string{"a": {"unfetchable"}, "b": {"ok"}},
			asked:    []string{"a", "b"},
			failures: map[string]string{"a": "unfetchable"},
			pass:     "complete ok=1 not_found=0 no_chapter=0 unfetchable=1 errors=0 refused=0 unreachable=0",
			circuit:  circuit.Closed,
		},
		{
			name:     "a whole Site in trouble writes nothing",
			scripts:  map[string][]string{"a": {"ok", "unfetchable"}, "b": {"ok", "no-landmark"}, "c": {"ok", "unfetchable"}, "d": {"ok", "unfetchable"}, "w": {"ok", "unfetchable"}},
			before:   "all",
			asked:    []string{"a", "b", "c", "w"},
			failures: map[string]string{},
			pass:     "outage ok=0 not_found=0 no_chapter=0 unfetchable=0 errors=0 refused=0 unreachable=3",
			circuit:  circuit.Open,
		},
		{
			name:     "a witness that answers makes the held reads count, and the Pass goes on",
			scripts:  map[string][]string{"a": {"ok", "unfetchable"}, "b": {"ok", "unfetchable"}, "c": {"ok", "unfetchable"}, "w": {"ok"}},
			before:   "all",
			asked:    []string{"a", "b", "c", "w", "w"},
			failures: map[string]string{"a": "unfetchable", "b": "unfetchable", "c": "unfetchable"},
			pass:     "complete ok=1 not_found=0 no_chapter=0 unfetchable=3 errors=0 refused=0 unreachable=0",
			circuit:  circuit.Closed,
		},
		{
			name:     "without a witness they are written",
			scripts:  map[string][]string{"a": {"unfetchable"}},
			asked:    []string{"a"},
			failures: map[string]string{"a": "unfetchable"},
			pass:     "complete ok=0 not_found=0 no_chapter=0 unfetchable=1 errors=0 refused=0 unreachable=0",
			circuit:  circuit.Closed,
		},
		{
			name:     "at the end of the Pass the witness is read",
			scripts:  map[string][]string{"a": {"ok"}, "b": {"ok", "unfetchable"}},
			before:   "all",
			asked:    []string{"a", "b"},
			failures: map[string]string{"b": "unfetchable"},
			pass:     "complete ok=1 not_found=0 no_chapter=0 unfetchable=1 errors=0 refused=0 unreachable=0",
			circuit:  circuit.Closed,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := setup(t, tt.scripts)
			if tt.before != "" {
				b.turn(t)
				// The witness is the Series last read ok; make that one "w".
				b.exec(t, `UPDATE scraper.series SET last_good_read_at = now() WHERE series_id = 'w'`)
			}
			b.turn(t)
			asked := b.site.asked
			if tt.name == "at the end of the Pass the witness is read" {
				// a is read in the Pass, and again as the witness for b.
				tt.asked = append(tt.asked, "a")
			}
			if d := cmp.Diff(tt.asked, asked); d != "" {
				t.Errorf("asked:\n%s", d)
			}
			if d := cmp.Diff(tt.failures, b.failures(t)); d != "" {
				t.Errorf("failure rows:\n%s", d)
			}
			if got := b.lastPass(t); got != tt.pass {
				t.Errorf("Pass row\n got %s\nwant %s", got, tt.pass)
			}
			if c, err := b.db.Circuit(t.Context(), "t"); err != nil || c.State != tt.circuit {
				t.Errorf("circuit %s, %v; want %s", c.State, err, tt.circuit)
			}
		})
	}
}

// rows are the failure rows with their versions.
func (b bench) rows(t *testing.T) []string {
	t.Helper()
	rows, err := b.conn.Query(t.Context(), "SELECT format('%s %s %s %s %s', series_id, outcome, failing_since, xmin, ctid) FROM scraper.poll_failures ORDER BY 1")
	if err != nil {
		t.Fatal(err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestARefusedSiteIsNotAskedUntilResume(t *testing.T) {
	b := setup(t, map[string][]string{"a": {"refused", "ok"}})
	b.turn(t)
	for range 3 {
		b.turn(t)
		if len(b.site.asked) != 0 {
			t.Fatalf("asked %v after a refusal", b.site.asked)
		}
	}
	c, err := b.db.Circuit(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	next, ok := c.Next(circuit.Resume, time.Now(), "", time.Time{})
	if !ok {
		t.Fatal("a paused circuit cannot be resumed")
	}
	if moved, err := b.db.MoveCircuit(t.Context(), c, next); !moved || err != nil {
		t.Fatal(moved, err)
	}
	b.turn(t)
	if d := cmp.Diff([]string{"a"}, b.site.asked); d != "" {
		t.Error(d)
	}
	lanes, err := b.db.Lanes(t.Context())
	if err != nil || lanes[0].Trouble != lane.NoTrouble {
		t.Errorf("after a good read the Lane still says %q (%v)", lanes[0].Trouble, err)
	}
}

func TestAnOutageCostsOneProbe(t *testing.T) {
	b := setup(t, map[string][]string{"a": {"unreachable", "unreachable", "ok"}, "b": {"ok"}})
	b.turn(t)
	expire := func() {
		b.exec(t, `UPDATE scraper.circuits SET until = now() - interval '1 second' WHERE state IN ('open', 'probing')`)
	}
	b.turn(t)
	if len(b.site.asked) != 0 {
		t.Fatalf("asked %v while the circuit rests", b.site.asked)
	}
	for i, want := range []circuit.State{circuit.Open, circuit.Closed} {
		expire()
		b.turn(t)
		if len(b.site.asked) != 1 {
			t.Errorf("probe %d asked %v, want one read", i+1, b.site.asked)
		}
		if c, err := b.db.Circuit(t.Context(), "t"); err != nil || c.State != want {
			t.Errorf("after probe %d: %s, %v; want %s", i+1, c.State, err, want)
		}
	}
	if n := len(b.failures(t)); n != 0 {
		t.Errorf("%d failure rows after an outage, want none", n)
	}
}

func TestAStopWritesThePassRow(t *testing.T) {
	b := setup(t, map[string][]string{"a": {"ok"}})
	ctx, cancel := context.WithCancel(t.Context())
	b.lane = lane.New(lane.Options{Adapter: stopping{b.site, cancel}, Store: b.db, Queue: queue.New(b.db), Hub: live.NewHub(), Gate: &lane.Gate{}, Log: zap.NewNop()})
	if _, err := b.lane.Turn(ctx); err != nil {
		t.Fatal(err)
	}
	if got, want := b.lastPass(t), "stopped ok=0 not_found=0 no_chapter=0 unfetchable=0 errors=0 refused=0 unreachable=0"; got != want {
		t.Errorf("Pass row\n got %s\nwant %s", got, want)
	}
}

// stopping is a Site during whose read the program is told to stop.
type stopping struct {
	*site
	stop context.CancelFunc
}

func (s stopping) Series(ctx context.Context, _ source.Fetcher, ask source.Ask) (source.Reading, error) {
	s.stop()
	return source.Reading{}, fault.New(fault.Network, "get", ask.URL, fmt.Errorf("stopped: %w", ctx.Err())).WithEvidence(fault.NoRead)
}

// A circuit is stored: a new process over the same database asks a Site that
// refused, or one whose outage is not over, nothing (CIRC-1, S-039).
func TestACircuitOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	for word, state := range map[string]circuit.State{"refused": circuit.Paused, "unreachable": circuit.Open} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			b := setup(t, map[string][]string{"a": {word}, "b": {"ok"}})
			b.turn(t)
			b.rewire(t, b.db)
			for range 3 {
				b.turn(t)
				if len(b.site.asked) != 0 {
					t.Errorf("asked for %v", b.site.asked)
				}
			}
			if c, err := b.db.Circuit(t.Context(), "t"); err != nil || c.State != state {
				t.Errorf("the circuit is %s (%v), want %s", c.State, err, state)
			}
		})
	}
}

// A Site that an operator pauses in the middle of a Pass is left alone from the next
// read on; what was held of it is dropped, and no trouble is made of it (CIRC-3).
func TestAPauseEndsThePass(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string][]string{"a": {"ok"}, "b": {"unfetchable"}, "c": {"ok"}})
	b.site.before = func(id string) {
		if id != "b" {
			return
		}
		c, err := b.db.Circuit(t.Context(), "t")
		if err != nil {
			t.Error(err)
		}
		next, _ := c.Next(circuit.Pause, time.Now(), "", time.Time{})
		if moved, err := b.db.MoveCircuit(t.Context(), c, next); err != nil || !moved {
			t.Error(moved, err)
		}
		b.lane.Halt()
	}
	b.turn(t)
	if d := cmp.Diff([]string{"a", "b"}, b.site.asked); d != "" {
		t.Errorf("reads (-want +got):\n%s", d)
	}
	if f := b.failures(t); len(f) != 0 {
		t.Errorf("failure rows %v", f)
	}
	var reason, trouble string
	if err := b.conn.QueryRow(t.Context(), "SELECT p.end_reason, l.trouble FROM scraper.poll_passes p JOIN scraper.poll_lanes l USING (site)").Scan(&reason, &trouble); err != nil || reason != "stopped" || trouble != "" {
		t.Errorf("the Pass ended as %q, trouble %q (%v)", reason, trouble, err)
	}
	b.turn(t)
	if len(b.site.asked) != 0 {
		t.Errorf("asked for %v while paused", b.site.asked)
	}
}
