package web

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/scraperclient"
)

func TestAnnouncedChaptersComeFirst(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	other := &scraperv1.SeriesKey{Site: "sample", SeriesId: "other"}
	s.scraper.SetState(&scraperv1.SeriesState{Series: &scraperv1.Series{Key: other, Title: "Other", SiteName: "Sample"}})
	mo := s.claim()
	announce := func(key *scraperv1.SeriesKey, id, number string, ago time.Duration) {
		s.scraper.Announce(&scraperv1.NewChapter{
			Series: &scraperv1.Series{Key: key, Title: "T"}, Chapter: &scraperv1.Chapter{ChapterId: id, Number: number, LibraryState: "absent"},
			AnnouncedAt: timestamppb.New(time.Now().Add(-ago)),
		})
	}
	announce(other, "o9", "9", time.Minute)
	announce(sampleKey, "c2", "2", 2*time.Hour)
	announce(sampleKey, "c1", "1", 3*time.Hour)
	rail := func() string {
		t.Helper()
		_, body := s.get(mo, "/")
		_, body, _ = strings.Cut(body, `id="new"`)
		body, _, _ = strings.Cut(body, "</section>")
		return body
	}
	s.publish("c1", "1", 3)
	if got := rail(); got != "" {
		t.Errorf("what nobody here follows is new: %s", got)
	}
	s.post(mo, "/sites/sample/s/follow", nil)
	got := rail()
	has(t, got, `href="/read/1"`, "Chapter 1 · ", `class="badge">2<`)
	hasNot(t, got, "Other")
	s.post(mo, "/sites/sample/other/follow", nil)
	got = rail()
	has(t, got, `href="/sites/sample/other"`, "Chapter 9 · not here yet")
	if strings.Index(got, "Other") > strings.Index(got, "Pepper") || strings.Count(got, "Pepper") != 1 {
		t.Errorf("the rail is %s", got)
	}
	// What is finished is not new; what has not arrived still is.
	s.post(mo, "/sites/sample/s/finished", map[string][]string{"book": {"1"}, "finished": {"1"}})
	got = rail()
	has(t, got, `href="/series/1"`, "Chapter 2 · not here yet", `class="badge">1<`)
	s.scraper.Stop()
	s.get(mo, "/sites/sample/x")
	if got := rail(); strings.Contains(got, "not here yet") {
		t.Errorf("without the scraper the rail says %s", got)
	}
}

func TestNextPollSaysWhy(t *testing.T) {
	t.Parallel()
	now := time.Now()
	every := func(days, n int) []scraperclient.Chapter {
		var out []scraperclient.Chapter
		for i := range n {
			out = append(out, scraperclient.Chapter{PublishedAt: now.AddDate(0, 0, -days*i)})
		}
		return out
	}
	for _, tt := range []struct {
		name, reason string
		chapters     []scraperclient.Chapter
		want         string
	}{
		{"as always", "interval", every(14, 9), "every 6 hours"},
		{"two weeks", "releases", every(14, 9), "read less often: it releases about every 2 weeks"},
		{"a week", "releases", every(7, 9), "read less often: it releases about every week"},
		{"four days", "releases", every(4, 9), "read less often: it releases about every 4 days"},
		{"a month", "releases", every(30, 9), "read less often: it releases about every month"},
		{"a quarter", "releases", every(91, 9), "read less often: it releases about every 3 months"},
		{"too few to tell", "releases", every(14, 3), "read less often: it releases rarely"},
		{"asked for", "forced", nil, ""},
	} {
		if got := (tongue{}).nextPollWhy(&scraperclient.State{NextPollReason: tt.reason, Chapters: tt.chapters, Lane: &scraperclient.Lane{Interval: 6 * time.Hour}}); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestAFailingSeriesSaysSo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	asked := time.Now().Add(-time.Minute)
	s.series(func(st *scraperv1.SeriesState) {
		st.Failure = &scraperv1.Failure{Outcome: "not_found", FailingSince: timestamppb.New(time.Now().Add(-50 * 24 * time.Hour))}
		st.NextPollAt, st.NextPollReason = timestamppb.New(time.Now().Add(time.Hour)), "interval"
		st.Chapters[0].GoneSince = timestamppb.New(time.Now().Add(-72 * time.Hour))
	})
	s.post(mo, "/sites/sample/s/follow", nil)
	_, body := s.get(mo, "/sites/sample/s")
	has(t, body, "Sample says there is no such title", "for 50 days", "Poll again", "Open the Site", "Unfollow", ", every 12 hours", "gone from the Site since")
	hasNot(t, body, "not read yet", "re-tested")
	s.series(func(st *scraperv1.SeriesState) {
		st.Failure = &scraperv1.Failure{Outcome: "not_found", FailingSince: timestamppb.New(time.Now().Add(-50 * 24 * time.Hour))}
		st.ForcedPollAt, st.NextPollReason = timestamppb.New(asked), "forced"
		st.Lane = &scraperv1.Lane{Site: "sample", Circuit: "paused", CircuitReason: "access", CircuitSince: timestamppb.New(asked)}
	})
	_, body = s.get(mo, "/sites/sample/s")
	has(t, body, "Requested "+Clock(asked, time.Now())+", not read yet. Its Lane is paused.", "this age is not being re-tested")
	hasNot(t, body, "Poll again")
}
