package poll

import (
	"context"
	"errors"
	"testing"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/source"
)

type adapter func(ask source.Ask) (source.Reading, error)

func (adapter) Site() source.Site                       { return source.Site{} }
func (adapter) Listed() []source.Series                 { return nil }
func (adapter) Recognise(string) (string, string, bool) { return "", "", false }
func (adapter) Address(string) string                   { return "" }
func (a adapter) Series(_ context.Context, _ source.Fetcher, ask source.Ask) (source.Reading, error) {
	return a(ask)
}
func (adapter) Pages(context.Context, source.Fetcher, source.Key, source.Chapter) ([]source.Page, error) {
	return nil, nil
}

func TestCheck(t *testing.T) {
	good := source.Reading{Series: source.Series{ID: "s", Title: "T"}, Chapters: []source.Chapter{{ID: "1", URL: "u", Number: "1"}}}
	with := func(change func(*source.Reading)) source.Reading {
		r := good
		r.Chapters = append([]source.Chapter(nil), good.Chapters...)
		change(&r)
		return r
	}
	fails := func(c fault.Class, e fault.Evidence) error { return fault.Newf(c, "get", "u", "x").WithEvidence(e) }
	tests := []struct {
		name string
		r    source.Reading
		err  error
		want Outcome
	}{
		{"good", good, nil, OK},
		{"not modified", source.Reading{NotModified: true}, nil, OK},
		{"no chapter", with(func(r *source.Reading) { r.Chapters = nil }), nil, NoChapter},
		{"no title", with(func(r *source.Reading) { r.Series.Title = "" }), nil, Errors},
		{"another Series at this address", with(func(r *source.Reading) { r.Series.ID = "other" }), nil, NotFound},
		{"an id twice", with(func(r *source.Reading) { r.Chapters = append(r.Chapters, r.Chapters[0]) }), nil, Errors},
		{"a chapter without address", with(func(r *source.Reading) { r.Chapters[0].URL = "" }), nil, Errors},
		{"a number that is none", with(func(r *source.Reading) { r.Chapters[0].Number = "NaN" }), nil, Errors},
		{"a number not in its plain form", with(func(r *source.Reading) { r.Chapters[0].Number = "1.50" }), nil, Errors},
		{"gone", good, source.NotFound("u"), NotFound},
		{"no landmark", good, source.NoLandmark("u", "list"), Unfetchable},
		{"not understood", good, source.Unparsed("u", "x"), Errors},
		{"plain error", good, errors.New("x"), Errors},
		{"5xx", good, fails(fault.Network, fault.Answered), Unfetchable},
		{"refused connection", good, fails(fault.Network, fault.NoRead), Unreachable},
		{"too large", good, fails(fault.Parser, fault.Answered), Unfetchable},
		{"forbidden", good, fails(fault.Access, fault.Answered), Refused},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Check(t.Context(), adapter(func(source.Ask) (source.Reading, error) { return tt.r, tt.err }), nil, source.Ask{SeriesID: "s", URL: "u"})
			if got.Outcome != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAPanicIsErrors(t *testing.T) {
	got := Check(t.Context(), adapter(func(source.Ask) (source.Reading, error) { panic("index out of range") }), nil, source.Ask{})
	if got.Outcome != Errors || !fault.Is(got.Err, fault.Parser) {
		t.Errorf("got %s, want errors of class parser", got.Outcome)
	}
}

func TestEveryOutcomeHasAnEffect(t *testing.T) {
	count := map[Effect]int{}
	for _, o := range Outcomes() {
		count[o.Effect()]++
	}
	if len(Outcomes()) != 7 {
		t.Errorf("%d words", len(Outcomes()))
	}
	for _, eighth := range []Outcome{"", "fine", "OK"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q has an effect", eighth)
				}
			}()
			eighth.Effect()
		}()
	}
	if count[Write] != 4 || count[Delete] != 1 || count[Nothing] != 2 {
		t.Errorf("effects %v, want 4 writing, 1 deleting, 2 without", count)
	}
}
