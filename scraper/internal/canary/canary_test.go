package canary

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

func exactly(d time.Duration) time.Duration { return d }

// Every state meets every outcome, and each cell is as it is written here.
func TestEveryCellOfTheTable(t *testing.T) {
	t.Parallel()
	led := map[State]map[Verdict]State{
		Untried: {Good: Well, Bad: Doubtful, Unclear: Untried}, Well: {Good: Well, Bad: Doubtful, Unclear: Well},
		Doubtful: {Good: Well, Bad: Failing, Unclear: Doubtful}, Failing: {Good: Well, Bad: Failing, Unclear: Failing},
	}
	began := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	now := began.Add(time.Hour)
	for _, from := range States() {
		for _, o := range Outcomes() {
			c := Canary{Site: "t", State: from, SeriesID: "s", Chapters: 7, ChapterID: "c"}
			if from == Doubtful || from == Failing {
				c.FailingSince, c.Outcome, c.Evidence = began, Errors, "before"
			}
			got := c.After(Trial{Outcome: o, SeriesID: "s", ChapterID: "d", Chapters: 9, Err: source.Unparsed("u", "why")}, now, Every, exactly)
			cell := fmt.Sprintf("%s, %s", from, o)
			v := o.Verdict()
			if got.State != led[from][v] || !got.Ran.Equal(now) || !got.Next.After(now) || got.Next.After(now.Add(Every)) {
				t.Errorf("%s: %+v", cell, got)
			}
			if (got.State == Doubtful || got.State == Failing) == got.FailingSince.IsZero() {
				t.Errorf("%s: since when it fails is %v", cell, got.FailingSince)
			}
			switch v {
			case Good:
				if !got.Good.Equal(now) || got.Evidence != "" || got.Chapters != 9 || got.ChapterID != "d" {
					t.Errorf("%s: %+v", cell, got)
				}
			case Bad:
				if got.Chapters != 7 || got.ChapterID != "c" || got.Evidence == "" || got.Outcome != o || (from == Failing && !got.FailingSince.Equal(began)) {
					t.Errorf("%s: %+v", cell, got)
				}
			case Unclear:
				if got.Chapters != 7 || got.Evidence != c.Evidence || !got.FailingSince.Equal(c.FailingSince) {
					t.Errorf("%s says something: %+v", cell, got)
				}
			}
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a word of nobody's has a verdict")
		}
	}()
	Outcome("nonsense").Verdict()
}

// What one Series had is no measure of another, and what a Site calls things is bounded.
func TestAnotherSeriesBeginsAnew(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := Canary{State: Well, SeriesID: "a", ChapterID: "c", Chapters: 90, Good: now}
	got := c.After(Trial{Outcome: Fewer, SeriesID: "b", Err: errors.New(strings.Repeat("ü", 900) + "\x00\n")}, now, Every, exactly)
	if got.SeriesID != "b" || got.Chapters != 0 || got.ChapterID != "" || len(got.Evidence) > MaxEvidence || strings.ContainsAny(got.Evidence, "\x00\n") {
		t.Errorf("%+v", got)
	}
	for _, id := range []string{"", strings.Repeat("x", 2049), "a\x00", "\xff"} {
		if got := c.After(Trial{Outcome: OK, SeriesID: "a", ChapterID: id, Chapters: 91}, now, Every, exactly); got.ChapterID != "c" || got.Chapters != 91 {
			t.Errorf("%q: %+v", id, got)
		}
	}
}

func TestWhichChapterIsTried(t *testing.T) {
	t.Parallel()
	list := []source.Chapter{{ID: "5", External: true}, {ID: "4"}, {ID: "3"}, {ID: "2"}, {ID: "1", External: true}}
	k := Known{Key: source.Key{Site: "t", SeriesID: "s"}}
	for _, tt := range []struct {
		name      string
		canary    Canary
		published []string
		list      []source.Chapter
		want      string
		owed      bool
	}{
		{"the oldest that was published", Canary{SeriesID: "s", ChapterID: "4"}, []string{"4", "2", "9"}, list, "2", true},
		{"one that lies elsewhere now is passed over", Canary{}, []string{"1", "3"}, list, "3", true},
		{"the one of the last time", Canary{SeriesID: "s", ChapterID: "3"}, nil, list, "3", true},
		{"not that of another Series", Canary{SeriesID: "o", ChapterID: "3"}, nil, list, "4", false},
		{"the newest that is there", Canary{}, []string{"9"}, list, "4", false},
		{"none", Canary{}, nil, list[:1], "", false},
	} {
		k.Published = tt.published
		ch, owed, ok := tt.canary.Chapter(k, tt.list)
		if ch.ID != tt.want || owed != tt.owed || ok != (tt.want != "") {
			t.Errorf("%s: %q, owed %v, %v", tt.name, ch.ID, owed, ok)
		}
	}
}

func TestHowAReadingIsJudged(t *testing.T) {
	t.Parallel()
	failed := func(c fault.Class, e fault.Evidence) error {
		return fault.Newf(c, "get", "u", "scripted").WithEvidence(e)
	}
	elsewhere := func(permanent bool) error {
		return fault.New(fault.Parser, "get", "u", &source.Elsewhere{URL: "http://x", Permanent: permanent}).WithEvidence(fault.Answered)
	}
	result := func(err error) poll.Result { return poll.Result{Outcome: poll.Judge(err), Err: err} }
	four := poll.Result{Outcome: poll.OK, Reading: source.Reading{Chapters: make([]source.Chapter, 4)}}
	for _, tt := range []struct {
		name     string
		declared bool
		r        poll.Result
		chapters int
		want     Outcome
	}{
		{"well", true, four, 4, OK},
		{"nothing known", true, four, 0, OK},
		{"half", true, four, 8, OK},
		{"less than half", true, four, 9, Fewer},
		{"an empty list", true, poll.Result{Outcome: poll.NoChapter}, 0, NoChapter},
		{"a declared Series that is gone", true, result(source.NotFound("u")), 4, Gone},
		{"a followed one that is gone", false, result(source.NotFound("u")), 4, Away},
		{"not understood", false, result(source.Unparsed("u", "x")), 4, Errors},
		{"no landmark", false, result(source.NoLandmark("u", "x")), 4, NoLandmark},
		{"moved for good", false, result(elsewhere(true)), 4, Moved},
		{"led elsewhere for now", false, result(elsewhere(false)), 4, Away},
		{"502", false, result(failed(fault.Network, fault.Answered)), 4, Away},
		{"no connection", false, result(failed(fault.Network, fault.NoRead)), 4, Away},
		{"403", false, result(failed(fault.Access, fault.Answered)), 4, Refused},
		{"no browser", false, result(failed(fault.Unknown, fault.NoRead)), 4, Away},
	} {
		if got, _ := Series(Known{Declared: tt.declared}, tt.r, tt.chapters); got != tt.want {
			t.Errorf("%s is %s, want %s", tt.name, got, tt.want)
		}
	}
}
