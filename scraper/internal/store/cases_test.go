package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/source"
)

// listing plays reads of one Series, a day apart, and says what each announced.
type listing struct {
	env
	t   *testing.T
	now time.Time
	any bool
}

func newListing(t *testing.T) *listing {
	return &listing{env: setup(t), t: t, now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
}

// read plays one good read and returns the ids it announced.
func (l *listing) read(chapters ...source.Chapter) (announced []string) {
	l.t.Helper()
	r := source.Reading{Series: source.Series{ID: key.SeriesID, Title: "A Title"}}
	for i, c := range chapters {
		c.URL, c.Order = "http://x/"+c.ID, i
		r.Chapters = append(r.Chapters, c)
	}
	l.now = l.now.Add(24 * time.Hour)
	g, err := l.RecordGood(l.t.Context(), lane.Due{Key: key, Known: l.any}, r, l.now, l.now, lane.ByInterval)
	if err != nil {
		l.t.Fatal(err)
	}
	l.any = true
	for _, c := range g.New {
		announced = append(announced, c.ID)
	}
	return announced
}

// known lists the known ids, those gone from the Site marked.
func (l *listing) known() (out []string) {
	l.t.Helper()
	all, err := l.Chapters(l.t.Context(), key)
	if err != nil {
		l.t.Fatal(err)
	}
	for _, c := range all {
		id := c.ID
		if !c.GoneSince.IsZero() {
			id += " gone"
		}
		out = append(out, id)
	}
	return out
}

func span(prefix string, n int) (out []source.Chapter) {
	for i := range n {
		out = append(out, source.Chapter{ID: fmt.Sprint(prefix, i+1), Number: fmt.Sprint(i + 1), Language: "en", Groups: []string{"North"}})
	}
	return out
}

func TestCaseEveryIDChanges(t *testing.T) {
	l := newListing(t)
	l.read(span("p-", 60)...)
	if got := l.read(span("q-", 60)...); got != nil {
		t.Errorf("announced %v, want nothing", got)
	}
	if known := l.known(); len(known) != 60 || known[0] != "q-1" {
		t.Errorf("%d chapters, the first %q; want the sixty re-pointed", len(known), known[0])
	}
}

func TestCaseOneOldChapterGetsANewID(t *testing.T) {
	l := newListing(t)
	list := span("10", 50)
	l.read(list...)
	list[11].ID = "2093"
	if got := l.read(list...); got != nil {
		t.Errorf("announced %v, want nothing", got)
	}
}

func TestCaseVolumeComesAndGoes(t *testing.T) {
	l := newListing(t)
	c := source.Chapter{ID: "x", Number: "18.1"}
	l.read(c)
	for _, volume := range []string{"2", ""} {
		c.Volume = volume
		if got := l.read(c); got != nil {
			t.Errorf("volume %q: announced %v", volume, got)
		}
		if d := cmp.Diff([]string{"x"}, l.known()); d != "" {
			t.Error(d)
		}
	}
}

func TestCaseTwoGroupsOneNumber(t *testing.T) {
	l := newListing(t)
	north := source.Chapter{ID: "a", Number: "44", Groups: []string{"North"}}
	south := source.Chapter{ID: "b", Number: "44", Groups: []string{"South"}}
	joint := source.Chapter{ID: "c", Number: "44", Groups: []string{"North", "South"}}
	l.read(north)
	if d := cmp.Diff([]string{"b", "c"}, l.read(north, south, joint)); d != "" {
		t.Error(d)
	}
	joint.Groups = []string{"South", "North"}
	before := l.seen.mentions("INSERT INTO chapters")
	if got := l.read(north, south, joint); got != nil || l.seen.mentions("INSERT INTO chapters") != before {
		t.Errorf("another order of the groups changed something (announced %v)", got)
	}
}

func TestCaseNumbersRestartInEveryVolume(t *testing.T) {
	l := newListing(t)
	var list []source.Chapter
	for v, n := range map[string]int{"1": 7, "2": 6} {
		for i := range n {
			list = append(list, source.Chapter{ID: fmt.Sprint(v, "-", i), Volume: v, Number: fmt.Sprint(i + 1)})
		}
	}
	l.read(list...)
	if got := len(l.known()); got != 13 {
		t.Errorf("%d stored of 13", got)
	}
}

func TestCaseAListThatLosesMostOfItsChaptersIsReadTwice(t *testing.T) {
	l := newListing(t)
	full := span("", 80)
	l.read(full...)
	l.read(full[:3]...)
	for _, k := range l.known() {
		if len(k) > 4 {
			t.Fatalf("%s at the first short list", k)
		}
	}
	l.read(full...)
	l.read(full[:3]...)
	l.read(full[:3]...)
	gone := 0
	for _, k := range l.known() {
		if len(k) > 4 {
			gone++
		}
	}
	if gone != 77 {
		t.Errorf("%d gone after a second short list, want 77", gone)
	}
	if got := l.read(full...); got != nil {
		t.Errorf("back again: announced %v", got)
	}
}

// TestCaseAChapterIsRemovedAndStays shows features F15.
func TestCaseAChapterIsRemovedAndStays(t *testing.T) {
	l := newListing(t)
	list := span("", 10)
	l.read(list...)
	l.read(append(append([]source.Chapter{}, list[:3]...), list[4:]...)...)
	gone := 0
	for _, k := range l.known() {
		if k == "4 gone" {
			gone++
		}
	}
	if got := len(l.known()); got != 10 || gone != 1 {
		t.Errorf("%d known, chapter 4 gone %d times: %v", got, gone, l.known())
	}
}

func TestCaseValidatorsOfTheLastAnswerAreSent(t *testing.T) {
	e := setup(t)
	now := time.Now()
	for _, v := range []source.Validators{{ETag: `"a"`, LastModified: "1"}, {ETag: `"a"`, LastModified: "2"}, {ETag: `"c"`, LastModified: "2"}} {
		r := reading("1")
		r.Validators = v
		if _, err := e.RecordGood(t.Context(), lane.Due{Key: key, Known: true}, r, now, now, lane.ByInterval); err != nil {
			t.Fatal(err)
		}
		due, err := e.DueSeries(t.Context(), key.Site, now.Add(time.Hour), 1)
		if err != nil || len(due) != 1 || due[0].Validators != v {
			t.Errorf("the next request sends %+v (%v), want %+v", due, err, v)
		}
	}
}

func TestCaseARenamedSeriesKeepsItsFolder(t *testing.T) {
	l := newListing(t)
	first, err := l.NameFolder(t.Context(), key, "Old Road [1]")
	if err != nil {
		t.Fatal(err)
	}
	l.read(span("", 3)...)
	again, err := l.NameFolder(t.Context(), key, "The New Road [1]")
	if err != nil || again != first {
		t.Errorf("the folder became %q (%v), want %q for ever", again, err, first)
	}
	if row, err := l.Series(t.Context(), key); err != nil || row.Series.Title != "A Title" {
		t.Errorf("the title shown is %q (%v), want the new one", row.Series.Title, err)
	}
}
