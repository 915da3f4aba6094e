package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/scraperclient"
)

// noon is a fixed now for what is drawn by the day.
func noon() time.Time { return time.Date(2026, 8, 14, 12, 0, 0, 0, time.Local) }

func passAt(t time.Time, ok, notFound int, end string) scraperclient.Pass {
	return scraperclient.Pass{Started: t, Ended: t.Add(18 * time.Minute), EndReason: end, OK: ok, NotFound: notFound}
}

func TestStripNumbers(t *testing.T) {
	t.Parallel()
	now := noon()
	first := time.Date(2026, 8, 1, 0, 0, 0, 0, time.Local)
	refused := passAt(first.AddDate(0, 0, 13).Add(6*time.Hour), 0, 0, "refused")
	refused.Refused = 1
	d := scraperclient.LaneDetail{Lane: scraperclient.Lane{Site: "alpha", SiteName: "Alpha"}, Passes: []scraperclient.Pass{
		passAt(first.Add(-time.Hour), 50, 0, "complete"), // before the first day that is drawn
		passAt(first.Add(time.Hour), 100, 10, "complete"),
		passAt(first.Add(13*time.Hour), 55, 0, "complete"),
		passAt(first.AddDate(0, 0, 1).Add(time.Hour), 0, 0, "unreachable"),
		refused,
	}}
	got := tongue{}.stripOf(d, now.AddDate(0, 0, -14), 0, now)
	var drawn []string
	for _, c := range got.Cells {
		line := c.X + "+" + c.Width + ":"
		for _, b := range c.Bars {
			line += fmt.Sprintf(" %s %s@%s", b.Class, b.Height, b.Y)
		}
		drawn = append(drawn, line)
	}
	// The tallest is 55 for 110 reads, so that a read is half a unit.
	want := []string{"0.0+15.0: c-ok 50.0@14.0 c-warn 5.0@8.0", "30.0+15.0: c-ok 27.5@36.5", "60.0+15.0: c-quiet 5.0@59.0", "795.0+15.0: c-bad 5.0@59.0"}
	if diff := cmp.Diff(want, drawn); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1 Aug", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14"}, got.Days); diff != "" {
		t.Error(diff)
	}
	if want := "Passes of Alpha, 1 Aug to 14 Aug: 4, 1 refused, 1 cut short without an answer; about 6 percent of the reads failing."; got.Says != want {
		t.Errorf("got %q, want %q", got.Says, want)
	}
	if want := "1 Aug, 01:00, 18 min, done: 100 read well, 10 not found."; got.Cells[0].Tells != want {
		t.Errorf("got %q, want %q", got.Cells[0].Tells, want)
	}
	if want := "06:00, 18 min, cut short, refused: 1 refused."; got.Cells[3].Tells != want {
		t.Errorf("got %q, want %q", got.Cells[3].Tells, want)
	}
}

func TestStripOfABusyDay(t *testing.T) {
	t.Parallel()
	now := noon()
	day := time.Date(2026, 8, 13, 0, 0, 0, 0, time.Local)
	for _, tt := range []struct{ passes, cells int }{{1, 1}, {4, 4}, {5, 5}, {8, 8}, {9, 8}, {288, 8}} {
		d := scraperclient.LaneDetail{Lane: scraperclient.Lane{Site: "alpha"}}
		for i := range tt.passes {
			d.Passes = append(d.Passes, passAt(day.Add(time.Duration(i)*24*time.Hour/time.Duration(tt.passes)), 3, 0, "complete"))
		}
		s := tongue{}.stripOf(d, time.Time{}, 0, now)
		if len(s.Cells) != tt.cells {
			t.Errorf("%d Passes make %d bars, want %d", tt.passes, len(s.Cells), tt.cells)
		}
		n, right := 0, "720.0"
		for _, c := range s.Cells {
			n += sum(c.passes).OK
			if len(c.X) == len(right) && c.X < right || c.X >= "780.0" {
				t.Errorf("%d Passes: a bar at %s", tt.passes, c.X)
			}
			right = c.X
		}
		if n != 3*tt.passes {
			t.Errorf("%d Passes: %d reads are drawn", tt.passes, n)
		}
	}
	// Many in one hour must not leave their day.
	var d scraperclient.LaneDetail
	for i := range 7 {
		d.Passes = append(d.Passes, passAt(day.Add(23*time.Hour+time.Duration(i)*time.Minute), 1, 0, "complete"))
	}
	s := tongue{}.stripOf(d, time.Time{}, 0, now)
	if len(s.Cells) != 7 || s.Cells[6].X != "772.5" {
		t.Errorf("%d bars, the last at %s", len(s.Cells), s.Cells[len(s.Cells)-1].X)
	}
}

func TestAPassOpensWithoutScript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	at := time.Now().Add(-30 * time.Hour).Truncate(time.Millisecond)
	s.scraper.SetLanes(time.Now().Add(-14*24*time.Hour), lane("alpha", 0, func(d *scraperv1.LaneDetail) {
		d.Passes = []*scraperv1.Pass{{StartedAt: timestamppb.New(at), EndedAt: timestamppb.New(at.Add(time.Minute)), EndReason: "complete", Ok: 1204, Errors: 3, NewChapters: 1}}
	}), lane("beta", 0, nil))
	_, body := s.get(mo, "/lanes")
	address := fmt.Sprintf("/lanes?site=alpha&amp;pass=%d#lane-alpha", at.UnixMilli())
	has(t, body, `<a class="cell" href="`+address+`"`, "Choose a bar to see what its Pass read.", "No Pass since", "are pruned", `id="lane-alpha"`, "one request in 2 s", "1,204", "Show as a table")
	if n := strings.Count(body, address); n != 2 {
		t.Errorf("%d links to the Pass, want one in the strip and one in the table", n)
	}
	path, _, _ := strings.Cut(strings.ReplaceAll(address, "&amp;", "&"), "#")
	_, body = s.get(mo, path)
	has(t, body, `aria-current="true"><rect class="hit"`, ">"+upperFirst(dated(at, time.Now()))+", 1 min, done: 1,204 read well, 3 not understood, 1 new chapter.</p>")
	_, body = s.get(mo, "/lanes?site=alpha&pass=1")
	has(t, body, "That Pass is not kept any more.")
	for _, path := range []string{"/lanes?pass=1", "/lanes?site=alpha&pass=x", "/lanes?site=alpha&pass=-1"} {
		if resp, _ := s.get(mo, path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s answers %d", path, resp.StatusCode)
		}
	}
}

// A file in sites/ with mistakes is a notice before the Lanes, whether its Site has
// one or not.
func TestAnUnreadDescriptionIsANotice(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.scraper.SetLanes(time.Now(), lane("alpha", 0, nil))
	if _, body := s.get(mo, "/lanes"); strings.Contains(body, "is not read") {
		t.Error("a notice of nothing")
	}
	s.scraper.SetUnread(
		&scraperv1.UnreadDescription{File: "sites/foo.yaml", Kept: true, Problems: []*scraperv1.DescriptionProblem{{Line: 12, Column: 3, Message: `there is no key "<b>" here`}, {Message: "the file's name is the Site's key"}}},
		&scraperv1.UnreadDescription{File: "sites/bar.yaml", Problems: []*scraperv1.DescriptionProblem{{Line: 1, Column: 1, Message: "name is missing"}}},
	)
	_, body := s.get(mo, "/lanes")
	has(t, body, `<h2 id="unread-0">sites/foo.yaml is not read</h2>`, "<li>line 12: there is no key &#34;&lt;b&gt;&#34; here</li><li>the file&#39;s name is the Site&#39;s key</li>", "Its Site goes on as it was described before.",
		`<h2 id="unread-1">sites/bar.yaml is not read</h2>`, "<li>line 1: name is missing</li>", "Its Site is not asked anything.", "mangrove site check sites/bar.yaml")
	if strings.Index(body, "sites/foo.yaml") > strings.Index(body, `id="lane-alpha"`) {
		t.Error("the notice stands behind the Lanes")
	}
}

func TestWhatALaneDoes(t *testing.T) {
	t.Parallel()
	now := noon()
	for _, tt := range []struct {
		name string
		d    scraperclient.LaneDetail
		want string
	}{
		{"polling", scraperclient.LaneDetail{Lane: scraperclient.Lane{Circuit: "closed", Activity: "polling"}, Current: "Ash"}, "Polling Ash"},
		{"inspecting", scraperclient.LaneDetail{Lane: scraperclient.Lane{Circuit: "closed", Activity: "inspecting"}}, "Looking what there is of a Series"},
		{"downloading", scraperclient.LaneDetail{Lane: scraperclient.Lane{Circuit: "closed", Activity: "downloading"}, Current: "Ash"}, "Downloading Ash"},
		{"idle", scraperclient.LaneDetail{Lane: scraperclient.Lane{Circuit: "closed", Activity: "idle"}, Series: 2, NextDue: now.Add(time.Hour)}, "Nothing to do until 13:00."},
		{"due", scraperclient.LaneDetail{Lane: scraperclient.Lane{Circuit: "closed", Activity: "idle"}, Series: 2, NextDue: now.Add(-time.Hour)}, "Nothing to do just now; the next Series is due."},
		{"empty", scraperclient.LaneDetail{Lane: scraperclient.Lane{Circuit: "closed", Activity: "idle"}}, "Nothing here is followed."},
		{"paused", scraperclient.LaneDetail{Lane: scraperclient.Lane{Circuit: "paused"}, Series: 1204, Jobs: 3}, "Paused. 1,204 Series and 3 downloads wait; other Sites go on."},
		{"resting", scraperclient.LaneDetail{Lane: scraperclient.Lane{Circuit: "open"}, Series: 1}, "Resting. 1 Series waits; other Sites go on."},
	} {
		if got, _ := (tongue{}).laneLine(tt.d, now); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	for _, reason := range []string{"complete", "refused", "unreachable", "outage", "stopped"} {
		if (tongue{}).endWords(reason) == reason {
			t.Errorf("%s has no words", reason)
		}
	}
}

func TestEveryCircuitHasWords(t *testing.T) {
	t.Parallel()
	a, err := loadAssets()
	if err != nil {
		t.Fatal(err)
	}
	sprite, now := string(a["icons.svg"].data), noon()
	for _, circuit := range []string{"closed", "open", "probing", "paused"} {
		for _, reason := range []string{"", "outage", "access", "systemic", "operator"} {
			p := circuitWords(scraperclient.Lane{Circuit: circuit, CircuitReason: reason, CircuitUntil: now.Add(time.Minute), CircuitSince: now}, now)
			if p.Word == "" || p.Tone == "" || p.Exact != circuit || !strings.Contains(sprite, `id="i-`+p.Icon+`"`) {
				t.Errorf("%s %s is worded %+v", circuit, reason, p)
			}
		}
	}
	for _, icon := range []string{"work", "lanes", "pulse"} {
		if !strings.Contains(sprite, `id="i-`+icon+`"`) {
			t.Errorf("there is no icon %q", icon)
		}
	}
}

// What a Site's known Series says stands on its card: how it was read, and, once it is
// no longer understood, what to do (H18).
func TestALaneSaysWhetherItsSiteIsStillUnderstood(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	ago := timestamppb.New(time.Now().Add(-50 * time.Hour))
	key := &scraperv1.SeriesKey{Site: "alpha", SeriesId: "long-runner"}
	of := func(c *scraperv1.Canary) {
		s.scraper.SetLanes(time.Now(), lane("alpha", 0, func(d *scraperv1.LaneDetail) { d.Canary = c }))
	}
	of(nil)
	_, body := s.get(mo, "/lanes")
	hasNot(t, body, "Known Series")
	for state, want := range map[string]string{"untried": "not read yet", "well": "read well ", "doubtful": "not understood ", "failing": "not understood since "} {
		of(&scraperv1.Canary{State: state, Key: key, RanAt: ago, GoodAt: ago, FailingSince: ago, NextAt: timestamppb.New(time.Now().Add(time.Hour))})
		_, body := s.get(mo, "/lanes")
		has(t, body, "<dt>Known Series</dt><dd>"+want)
		if strings.Contains(body, "no longer understood") != (state == "failing") {
			t.Errorf("%s: whether a notice says so is wrong", state)
		}
	}
	words := map[string]bool{}
	for _, outcome := range []string{"errors", "no_landmark", "gone", "moved", "no_chapter", "fewer", "no_pages", "bad_pages"} {
		words[tongue{}.trialWords(outcome)] = true
	}
	if len(words) != 8 {
		t.Errorf("eight words of trials are worded as %v", words)
	}
	of(&scraperv1.Canary{State: "failing", Outcome: "no_pages", Key: key, Title: "Long <Runner>", FailingSince: ago, IncidentId: 12})
	_, body = s.get(mo, "/lanes")
	has(t, body, "<h3>Its pages are no longer understood</h3>", "Mangrove reads “Long &lt;Runner&gt;” regularly", "a chapter has no pages any more.", "No Series is marked as failing because of this.", "mangrove site check", `href="/incidents/12">See what was read</a>`)
	// A Site that refuses says so first.
	s.scraper.SetLanes(time.Now(), lane("alpha", 0, func(d *scraperv1.LaneDetail) {
		d.Canary, d.Lane.Trouble, d.Lane.TroubleSince = &scraperv1.Canary{State: "failing", Key: key, FailingSince: ago}, "refused", ago
	}))
	_, body = s.get(mo, "/lanes")
	hasNot(t, body, "no longer understood")
	// One that rests because all its pages are new is not called away.
	s.scraper.SetLanes(time.Now(), lane("alpha", 0, func(d *scraperv1.LaneDetail) {
		d.Canary, d.Lane.Circuit, d.Lane.CircuitReason = &scraperv1.Canary{State: "failing", Outcome: "no_landmark", Key: key, FailingSince: ago}, "open", "outage"
		d.Lane.Trouble, d.Lane.TroubleSince, d.Lane.CircuitUntil = "unreachable", ago, timestamppb.New(time.Now().Add(time.Minute))
	}))
	_, body = s.get(mo, "/lanes")
	has(t, body, "Its pages are no longer understood", "a page lacks the part that every page of its kind has", "Resting until")
}
