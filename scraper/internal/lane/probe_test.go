package lane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/source"
)

// probe is an operator's "try one read", answered by the Lane's next turn.
func (b bench) probe(t *testing.T) (lane.Probed, error) {
	t.Helper()
	type answer struct {
		lane.Probed
		err error
	}
	done := make(chan answer, 1)
	go func() {
		p, err := b.lane.Probe(t.Context())
		done <- answer{p, err}
	}()
	for {
		select {
		case a := <-done:
			return a.Probed, a.err
		default:
			b.turn(t)
		}
	}
}

func TestAnOperatorsProbe(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string][]string{"a": {"refused", "refused", "unfetchable", "ok", "ok"}})
	b.turn(t)
	state := func() circuit.Circuit {
		t.Helper()
		c, err := b.db.Circuit(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	before := state()
	for _, what := range []string{"refused again", "not to be read"} {
		asked := b.site.total
		got, err := b.probe(t)
		if err != nil || got.Resumed || got.Reason == "" {
			t.Errorf("%s: %+v, %v; want it to stay paused, with the reason", what, got, err)
		}
		if n := b.site.total - asked; n != 1 {
			t.Errorf("%s: %d reads, want one", what, n)
		}
		if d := cmp.Diff(before, state()); d != "" {
			t.Errorf("%s: the circuit moved:\n%s", what, d)
		}
		if err := b.site.asking(); !fault.Is(err, fault.Access) {
			t.Errorf("%s: after it, requests get %v; want them refused", what, err)
		}
	}
	got, err := b.probe(t)
	if err != nil || !got.Resumed {
		t.Errorf("answered: %+v, %v; want it resumed", got, err)
	}
	if c := state(); c.State != circuit.Closed {
		t.Errorf("the circuit is %s, want closed", c.State)
	}
	if b.site.shut != 0 {
		t.Errorf("%d reads met a shut gate", b.site.shut)
	}
	if lanes, err := b.db.Lanes(t.Context()); err != nil || lanes[0].Trouble != lane.NoTrouble {
		t.Errorf("the Lane still says %q (%v)", lanes[0].Trouble, err)
	}
	if _, err := b.probe(t); !fault.Is(err, fault.Invalid) {
		t.Errorf("a probe of a Site that is asked anyway: %v, want class invalid", err)
	}
	if n := len(b.failures(t)); n != 0 {
		t.Errorf("%d failure rows; a refusal and a probe are no evidence about a Series", n)
	}
}

// TestTwoUnreadableJobsPauseTheSiteAndAreBothShown: the same Job twice does not (D6).
func TestTwoUnreadableJobsPauseTheSiteAndAreBothShown(t *testing.T) {
	t.Parallel()
	b := setup(t, map[string][]string{"a": {"errors"}, "b": {"errors"}})
	b.exec(t, "UPDATE scraper.series SET next_poll_at = now() + interval '1 day'")
	work := func() {
		t.Helper()
		for range 2 {
			if _, err := b.lane.Turn(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	request := func(id string) {
		t.Helper()
		if asked, err := b.db.RequestJob(t.Context(), source.Key{Site: "t", SeriesID: id}, true); err != nil || !asked {
			t.Fatal(asked, err)
		}
	}
	request("a")
	work()
	b.exec(t, "UPDATE scraper.jobs SET state = 'requested', finished_at = NULL")
	work()
	c, err := b.db.Circuit(t.Context(), "t")
	if err != nil || c.State != circuit.Closed {
		t.Fatalf("the same Job twice: the circuit is %s (%v), want closed", c.State, err)
	}
	request("b")
	work()
	c, err = b.db.Circuit(t.Context(), "t")
	if err != nil || c.State != circuit.Paused || c.Reason != circuit.Systemic {
		t.Fatalf("two Jobs: the circuit is %s, %q (%v); want a systemic pause", c.State, c.Reason, err)
	}
	for _, want := range []string{"Job 1 of a (", "Job 2 of b ("} {
		if !strings.Contains(c.Detail, want) {
			t.Errorf("the pause says %q, which does not name %q", c.Detail, want)
		}
	}
	if b.site.asking() == nil {
		t.Error("requests are let through while the Site is paused")
	}
}

// TestAnOutageOfAHundredJobs costs one retry in all, however long it lasts: the
// others wait with theirs unspent (CIRC-2, JOB-11).
func TestAnOutageOfAHundredJobs(t *testing.T) {
	t.Parallel()
	const jobs, probes = 100, 12
	scripts := map[string][]string{}
	for i := range jobs {
		scripts[fmt.Sprintf("s%02d", i)] = append(slices.Repeat([]string{"unreachable"}, probes+1), "ok")
	}
	b := setup(t, scripts)
	b.exec(t, "UPDATE scraper.series SET next_poll_at = now() + interval '1 day'")
	for i := range jobs {
		if asked, err := b.db.RequestJob(t.Context(), source.Key{Site: "t", SeriesID: fmt.Sprintf("s%02d", i)}, true); err != nil || !asked {
			t.Fatal(asked, err)
		}
	}
	states := func() map[string]int {
		t.Helper()
		rows, err := b.conn.Query(t.Context(), "SELECT state || ' ' || retries, count(*) FROM scraper.jobs GROUP BY 1")
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]int{}
		var word string
		var n int
		if _, err := pgx.ForEachRow(rows, []any{&word, &n}, func() error { out[word] = n; return nil }); err != nil {
			t.Fatal(err)
		}
		return out
	}
	turn := func() {
		t.Helper()
		if _, err := b.lane.Turn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	turn()
	if d := cmp.Diff(map[string]int{"retry_wait 1": 1, "requested 0": jobs - 1}, states()); d != "" {
		t.Fatalf("after the first failure (-want +got):\n%s", d)
	}
	for range 5 {
		turn() // the circuit rests, and so does every Job
	}
	if b.site.total != 1 {
		t.Errorf("%d reads while the circuit rests, want the one that failed", b.site.total)
	}
	for n := range probes {
		b.exec(t, "UPDATE scraper.circuits SET until = now() - interval '1 second' WHERE state IN ('open', 'probing')")
		b.exec(t, "UPDATE scraper.jobs SET retry_at = now() - interval '1 second' WHERE state = 'retry_wait'")
		turn()
		turn()
		if want := n + 2; b.site.total != want {
			t.Fatalf("%d reads after probe %d, want %d", b.site.total, n+1, want)
		}
	}
	if d := cmp.Diff(map[string]int{"quarantined 1": 1, "requested 0": jobs - 1}, states()); d != "" {
		t.Errorf("after an hour of outage (-want +got):\n%s", d)
	}
	// The Site is back: one probe finds out, and the others go on as if nothing had been.
	for id := range b.site.scripts {
		b.site.scripts[id] = []string{"ok"}
	}
	b.exec(t, "UPDATE scraper.circuits SET until = now() - interval '1 second' WHERE state IN ('open', 'probing')")
	turn()
	if c, err := b.db.Circuit(t.Context(), "t"); err != nil || c.State != circuit.Closed {
		t.Errorf("the circuit is %s (%v)", c.State, err)
	}
	turn()
	if n := states()["requested 0"]; n != jobs-2 {
		t.Errorf("%d Jobs wait, want the next one taken up", n)
	}
}
