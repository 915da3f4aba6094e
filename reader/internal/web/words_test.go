package web

import (
	"strings"
	"testing"
	"time"

	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/progress"
	"mangrove/reader/internal/scraperclient"
)

var noBook progress.Shelved

func fromTest(id string) scraperclient.Chapter { return scraperclient.Chapter{ID: id} }

func TestClock(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 8, 12, 14, 2, 0, 0, time.Local)
	for want, at := range map[string]time.Time{
		"09:05": now.Add(-4*time.Hour - 57*time.Minute), "00:00": time.Date(2026, 8, 12, 0, 0, 0, 0, time.Local),
		"yesterday, 23:40": time.Date(2026, 8, 11, 23, 40, 0, 0, time.Local), "tomorrow, 02:00": time.Date(2026, 8, 13, 2, 0, 0, 0, time.Local),
		"1 Feb": time.Date(2026, 2, 1, 9, 0, 0, 0, time.Local), "12 Aug 2025": time.Date(2025, 8, 12, 9, 0, 0, 0, time.Local),
		"an unknown time": {},
	} {
		if got := Clock(at, now); got != want {
			t.Errorf("Clock(%v) = %q, want %q", at, got, want)
		}
	}
	if got := Moment(now, now); got != "Today, 14:02" {
		t.Error(got)
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"1 chapter": english.T("%d chapters", 1), "0 chapters": english.T("%d chapters", 0), "3,012 chapters": english.T("%d chapters", 3012),
		"1,000,000": english.number(1000000), "1 second": seconds(time.Millisecond), "40 seconds": seconds(39500 * time.Millisecond),
		"3 min": span(3*time.Minute + 12*time.Second), "111 days": span(111*24*time.Hour + time.Hour),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The words of JOB-1 and POLL-1 each have words of their own.
func TestEveryStateHasWords(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, state := range []string{
		"requested", "inspecting", "ready", "queued", "downloading", "paused", "retry_wait", "unavailable", "quarantined", "done", "cancelled",
	} {
		p := jobWords(&scraperclient.Job{State: state, RetryAt: now.Add(time.Minute)}, now)
		if p.Icon == "" || p.Tone == "" || p.Word == state || p.Exact != state {
			t.Errorf("Job %s is worded %+v", state, p)
		}
	}
	for _, outcome := range []string{"not_found", "no_chapter", "unfetchable", "errors"} {
		if p := failureWords(&scraperclient.Failure{Outcome: outcome, Since: now}, now); p.Word == "" || p.Word[:7] == "Failing" {
			t.Errorf("%s is worded %+v", outcome, p)
		}
	}
	for _, trouble := range []string{"refused", "unreachable"} {
		if _, ok := laneTrouble(&scraperclient.Lane{Trouble: trouble, TroubleSince: now}, now); !ok {
			t.Errorf("%s has no words", trouble)
		}
	}
}

func TestEveryIconExists(t *testing.T) {
	t.Parallel()
	a, err := loadAssets()
	if err != nil {
		t.Fatal(err)
	}
	sprite := string(a["icons.svg"].data)
	now := time.Now()
	var icons []string
	for _, state := range []string{"requested", "inspecting", "ready", "queued", "downloading", "paused", "retry_wait", "unavailable", "quarantined", "done", "cancelled"} {
		icons = append(icons, jobWords(&scraperclient.Job{State: state}, now).Icon)
	}
	for _, o := range []string{"not_found", "no_chapter", "unfetchable", "errors", "else"} {
		icons = append(icons, failureWords(&scraperclient.Failure{Outcome: o}, now).Icon)
	}
	icons = append(icons, "mark", "home", "lib", "user", "theme", "back", "next", "heart", "play", "check", "down", "unplug", "lock", "refresh", "out", "fit", "tune", "pages", "rows", "sun", "x", "hand", "warn", "clock")
	for _, icon := range icons {
		if !strings.Contains(sprite, `id="i-`+icon+`"`) {
			t.Errorf("there is no icon %q", icon)
		}
	}
}

func TestFollowingChapter(t *testing.T) {
	t.Parallel()
	chapters := []scraperclient.Chapter{
		{ID: "5", Number: "5"}, {ID: "4", Number: "4", LibraryState: "published"}, {ID: "3", Number: "3"}, {ID: "2", Number: "2"}, {ID: "1", Number: "1"},
	}
	current := catalog.Book{ChapterID: "1", Number: "1"}
	if c, ok := following(chapters, current, nil); !ok || c.ID != "2" {
		t.Errorf("got %q, want the very next one", c.ID)
	}
	next := progress.Shelved{Book: catalog.Book{Number: "2"}}
	if c, ok := following(chapters, current, &next); ok {
		t.Errorf("got %q before a next one that is here", c.ID)
	}
	if _, ok := following(chapters, catalog.Book{Number: "5"}, nil); ok {
		t.Error("something follows the last")
	}
}
