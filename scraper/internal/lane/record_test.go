package lane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/source"
)

// incidents words what stands, oldest first.
func (b bench) incidents(t *testing.T) []string {
	t.Helper()
	rows, err := b.db.Incidents(t.Context(), false, 0, incident.Kept)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range slices.Backward(rows) {
		var decided []string
		for _, d := range r.Decided {
			decided = append(decided, d.String())
		}
		line := fmt.Sprintf("%s %s %s x%d: %s", r.Kind, r.About, r.Key.SeriesID, r.Seen, strings.Join(decided, ", "))
		if r.Resolution != "" {
			line += " -> " + string(r.Resolution)
		}
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return out
}

func (b bench) wantIncidents(t *testing.T, when string, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, b.incidents(t)); d != "" {
		t.Errorf("%s: (-want +got)\n%s", when, d)
	}
}

// A Series that is not understood is one incident until it is read well, however
// often it is polled; the Site's own words are none (OBS-2).
func TestAPageThatIsNotUnderstoodIsOneIncident(t *testing.T) {
	b := setup(t, map[string][]string{"a": {"errors", "panic", "errors", "ok", "errors"}, "b": {"not_found", "no_chapter", "unfetchable", "ok"}, "c": {"ok"}})
	b.turn(t)
	b.wantIncidents(t, "the first time", "parser series a x1: poll a to errors")
	b.turn(t)
	b.turn(t)
	b.wantIncidents(t, "three times", "parser series a x3: poll a to errors")
	b.turn(t)
	b.wantIncidents(t, "read well", "parser series a x3: poll a to errors -> good_read")
	b.turn(t)
	b.wantIncidents(t, "again", "parser series a x3: poll a to errors -> good_read", "parser series a x1: poll a to errors")
}

func TestARefusalIsOneIncidentAPause(t *testing.T) {
	b := setup(t, map[string][]string{"a": {"refused"}})
	b.turn(t)
	b.wantIncidents(t, "refused", "access circuit x1: circuit t to paused (access)")
	b.turn(t)
	b.wantIncidents(t, "still paused", "access circuit x1: circuit t to paused (access)")
}

func TestAnOutageIsOneIncident(t *testing.T) {
	b := setup(t, map[string][]string{"a": {"unreachable", "no-landmark", "unfetchable", "ok"}})
	probe := func() {
		b.exec(t, `UPDATE scraper.circuits SET until = now() - interval '1 second'`)
		b.turn(t)
	}
	b.turn(t)
	b.wantIncidents(t, "open", "network circuit x1: circuit t to open (outage)")
	probe()
	probe()
	b.wantIncidents(t, "probed in vain", "network circuit x3: circuit t to open (outage)")
	probe()
	b.wantIncidents(t, "answered", "network circuit x3: circuit t to open (outage) -> good_read")
}

// Two Jobs within an hour: each is an incident, and the second tells of the pause.
func TestTheSecondQuarantinePausesTheSite(t *testing.T) {
	b := setup(t, map[string][]string{"a": {"ok"}, "b": {"ok"}})
	b.turn(t)
	b.exec(t, `UPDATE scraper.series SET next_poll_at = now() + interval '1 day'`)
	for _, id := range []string{"a", "b"} {
		if asked, err := b.db.RequestJob(t.Context(), source.Key{Site: "t", SeriesID: id}, true); !asked || err != nil {
			t.Fatal(asked, err)
		}
	}
	// Two inspections, then a chapter each, whose page list this Site never yields.
	for range 4 {
		if _, err := b.lane.Turn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.wantIncidents(t, "two Jobs", "parser job a x1: job 1 to quarantined (parser)",
		"parser job b x1: job 2 to quarantined (parser), circuit t to paused (systemic)")
	rows, err := b.db.Incidents(t.Context(), true, 0, 1)
	if err != nil || rows[0].ChapterID != "1" || rows[0].JobID != 2 || rows[0].Subject != "pages" || rows[0].Reason != "none here" {
		t.Errorf("%+v, %v", rows, err)
	}
}

// The disk is nobody's fault: one incident a Hold, that names the Job it met first.
func TestAHoldIsOneIncident(t *testing.T) {
	b := setup(t, map[string][]string{"a": {"ok"}})
	b.turn(t)
	b.exec(t, `UPDATE scraper.series SET next_poll_at = now() + interval '1 day'`)
	if _, err := b.db.RequestJob(t.Context(), source.Key{Site: "t", SeriesID: "a"}, true); err != nil {
		t.Fatal(err)
	}
	b.site.full = true
	for range 2 {
		if _, err := b.lane.Turn(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.wantIncidents(t, "held", "storage hold a x1: job 1 to queued (storage), hold storage to held (job 1)")
	if was, err := b.db.ReleaseHold(t.Context(), "storage"); !was || err != nil {
		t.Fatal(was, err)
	}
	if _, err := b.lane.Turn(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.wantIncidents(t, "held again, with nothing resolved", "storage hold a x2: job 1 to queued (storage), hold storage to held (job 1)")
}

// What cannot be recorded is logged, and the work goes on as without.
func TestARecordThatFailsFailsNothing(t *testing.T) {
	b := setup(t, map[string][]string{"a": {"errors"}, "b": {"ok"}, "c": {"refused"}})
	b.exec(t, `REVOKE INSERT ON scraper.incidents FROM mangrove_scraper`)
	b.turn(t)
	if d := cmp.Diff(map[string]string{"a": "errors"}, b.failures(t)); d != "" {
		t.Error(d)
	}
	if want := "refused ok=1 not_found=0 no_chapter=0 unfetchable=0 errors=1 refused=1 unreachable=0"; b.lastPass(t) != want {
		t.Errorf("got %s, want %s", b.lastPass(t), want)
	}
	if c, err := b.db.Circuit(t.Context(), "t"); err != nil || c.Asking() || c.Since.After(time.Now()) {
		t.Errorf("the circuit is %+v (%v)", c, err)
	}
	if got := b.incidents(t); len(got) != 0 {
		t.Errorf("recorded all the same: %v", got)
	}
}
