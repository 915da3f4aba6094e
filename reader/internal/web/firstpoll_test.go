package web

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/scraperclient"
)

// A Series that was never read says why it waits and until when (A15): a moment
// would be untrue of a Site that rests.
func TestWhyTheFirstPollWaits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 9, 1, 14, 0, 0, 0, time.Local)
	ago, until := now.Add(-2*time.Hour), now.Add(4*time.Minute)
	lane := func(circuit, reason, trouble, needs string) *scraperclient.Lane {
		return &scraperclient.Lane{Circuit: circuit, CircuitReason: reason, CircuitSince: ago, CircuitUntil: until, Trouble: trouble, TroubleSince: ago, Needs: needs}
	}
	for _, tt := range []struct {
		name       string
		state      scraperclient.State
		first, nxt string
	}{
		{"nothing holds it back", scraperclient.State{Lane: lane("closed", "", "", "")}, tongue{}.firstSoon(), ""},
		{"no Lane is known", scraperclient.State{}, tongue{}.firstSoon(), ""},
		{"refused", scraperclient.State{Lane: lane("paused", "access", "refused", "")}, "Alpha refuses since 12:00 and is not asked until somebody resumes it. The first Poll comes after Resume.", "after Resume"},
		{"systemic", scraperclient.State{Lane: lane("paused", "systemic", "", "")}, "Alpha is paused since 12:00, because its pages are not understood, and is not asked until somebody resumes it. The first Poll comes after Resume.", "after Resume"},
		{"paused by an operator", scraperclient.State{Lane: lane("paused", "operator", "", "")}, "Alpha is paused by an operator since 12:00 and is not asked until a Resume. The first Poll comes after Resume.", "after Resume"},
		{"resting", scraperclient.State{Lane: lane("open", "outage", "unreachable", "")}, "Alpha has not answered since 12:00 and rests until 14:04. The first Poll comes after 14:04.", "after 14:04"},
		{"about to be tried", scraperclient.State{Lane: lane("probing", "outage", "unreachable", "")}, "Alpha has not answered since 12:00 and is being tried with one read. The first Poll comes once it answers.", "once it answers"},
		{"without a browser", scraperclient.State{Lane: lane("open", "outage", "unreachable", "browser")}, "Alpha is read through a browser, and the server has none. The first Poll comes once there is a browser.", "once there is a browser"},
		{"unreachable, its turn comes", scraperclient.State{Lane: lane("closed", "", "unreachable", ""), Polled: true, NextPollAt: now.Add(time.Hour)}, "Alpha is not reachable since 12:00. The next Poll is about 15:00.", ""},
		{"resumed after a refusal", scraperclient.State{Lane: lane("closed", "", "refused", "")}, "Alpha refused since 12:00. The next Poll is due.", ""},
		{"failing from the start", scraperclient.State{Lane: lane("closed", "", "", ""), Polled: true, NextPollAt: now.Add(time.Hour), Failure: &scraperclient.Failure{Outcome: "errors", Since: ago}}, "No Poll has listed any yet. The next Poll is about 15:00.", ""},
		{"failing, then paused", scraperclient.State{Lane: lane("paused", "operator", "", ""), Polled: true, Failure: &scraperclient.Failure{Outcome: "errors", Since: ago}}, "Alpha is paused by an operator since 12:00 and is not asked until a Resume. The next Poll comes after Resume.", "after Resume"},
		{"read, and listing none", scraperclient.State{Lane: lane("closed", "", "", ""), LastGoodRead: ago}, "The last good Poll listed none.", ""},
	} {
		if got := (tongue{}).firstPoll(&tt.state, "Alpha", now); got != tt.first {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.first)
		}
		if got := (tongue{}).laneWaits(tt.state.Lane, "Alpha", now).next; got != tt.nxt {
			t.Errorf("%s: next %q, want %q", tt.name, got, tt.nxt)
		}
	}
}

func TestASeriesPageSaysWhyItWaits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	state := func(change func(*scraperv1.SeriesState)) {
		s.series(func(st *scraperv1.SeriesState) {
			st.Chapters, st.Polled, st.LastGoodRead, st.NextPollAt = nil, false, nil, timestamppb.Now()
			change(st)
		})
	}
	state(func(*scraperv1.SeriesState) {})
	s.post(mo, "/sites/sample/s/follow", nil)
	_, body := s.get(mo, "/sites/sample/s")
	has(t, body, tongue{}.firstSoon(), "<dd>due now")
	state(func(st *scraperv1.SeriesState) {
		st.Lane = &scraperv1.Lane{Site: "sample", Circuit: "paused", CircuitReason: "operator", CircuitSince: timestamppb.Now()}
	})
	_, body = s.get(mo, "/sites/sample/s")
	has(t, body, "Sample is paused by an operator since", "The first Poll comes after Resume.", "<dd>after Resume")
	hasNot(t, body, "it takes a moment", "due now")
	if n := strings.Count(body, "is paused by an operator since"); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// What the Site lists against what is here, and how the last Job ended, are two
// figures in two places (B37, JOB-8).
func TestCoverageAndTheJobAreShownApart(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.series(func(st *scraperv1.SeriesState) {
		st.Chapters[0].LibraryState, st.Chapters[1].LibraryState = "absent", "absent"
		st.Chapters[0].DownloadState, st.Chapters[0].SetAsideReason = "set_aside", "fetch page 2 of 3: status 404"
		st.Job = &scraperv1.Job{Id: 1, State: "done", ChaptersDone: 2, ChaptersTotal: 2}
	})
	s.publish("c1", "1", 2)
	s.post(mo, "/sites/sample/s/follow", nil)
	resp, _ := s.get(mo, "/sites/sample/s")
	_, body := s.get(mo, resp.Header.Get("Location"))
	_, coverage, _ := strings.Cut(body, `id="series-coverage"`)
	coverage, _, _ = strings.Cut(coverage, "</section>")
	_, following, _ := strings.Cut(body, `id="series-following"`)
	following, _, _ = strings.Cut(following, "</section>")
	has(t, coverage, "1 <small>of 2 chapters in the library")
	hasNot(t, coverage, "Done")
	has(t, following, "Done, 2 chapters")
	hasNot(t, following, "in the library")
	has(t, body, "page 2 of 3: status 404")
}
