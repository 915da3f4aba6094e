package lane_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/source"
)

// A Series that is gone is looked for by its title, once, and a move is proposed
// where one other Series bears it (A12).
func TestATitleThatIsGoneIsLookedFor(t *testing.T) {
	t.Parallel()
	other := func(id, title string) source.Series {
		return source.Series{ID: id, Title: title, URL: "http://t/" + id}
	}
	for name, tt := range map[string]struct {
		found []source.Series
		want  lane.Proposal
	}{
		"another id":          {[]source.Series{other("9", "unlike"), other("a2", "Ａ")}, lane.Proposal{URL: "http://t/a2", Because: lane.SameTitle}},
		"only itself":         {[]source.Series{other("a", "a")}, lane.Proposal{}},
		"two to choose from":  {[]source.Series{other("a2", "a"), other("a3", "A")}, lane.Proposal{}},
		"nothing":             {nil, lane.Proposal{}},
		"only similar titles": {[]source.Series{other("a2", "a b")}, lane.Proposal{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t, map[string][]string{"a": {"ok", "not_found"}, "b": {"ok"}})
			b.site.found = tt.found
			b.turn(t)
			if len(b.site.searched) != 0 {
				t.Errorf("searched for %v while everything was there", b.site.searched)
			}
			b.turn(t)
			b.turn(t)
			if d := cmp.Diff([]string{"a"}, b.site.searched); d != "" {
				t.Errorf("searches (-want +got):\n%s", d)
			}
			got, err := b.db.Proposal(t.Context(), source.Key{Site: "t", SeriesID: "a"})
			if err != nil || got != tt.want {
				t.Errorf("proposed %+v (%v), want %+v", got, err, tt.want)
			}
			if d := cmp.Diff(map[string]string{"a": "not_found"}, b.failures(t)); d != "" {
				t.Errorf("failure rows (-want +got):\n%s", d)
			}
			b.site.scripts["a"] = []string{"ok"}
			b.turn(t)
			if got, err := b.db.Proposal(t.Context(), source.Key{Site: "t", SeriesID: "a"}); err != nil || got.URL != "" {
				t.Errorf("it is there again and %+v is still proposed (%v)", got, err)
			}
		})
	}
}

// A Site that drops half its titles is not asked for each of them, and one that
// refuses a search pauses as for any other request.
func TestALookForTitlesIsPolite(t *testing.T) {
	t.Parallel()
	scripts := map[string][]string{}
	for i := range 40 {
		scripts[fmt.Sprintf("s%02d", i)] = []string{"ok", "not_found"}
	}
	b := setup(t, scripts)
	b.turn(t)
	b.turn(t)
	if n := len(b.site.searched); n != 10 {
		t.Errorf("%d searches in one Pass, want ten", n)
	}

	refusing := setup(t, map[string][]string{"a": {"ok", "not_found"}, "b": {"ok", "not_found"}})
	refusing.turn(t)
	refusing.site.noSearch = fault.Newf(fault.Access, "search", "t", "scripted").WithEvidence(fault.Answered)
	refusing.turn(t)
	if len(refusing.site.searched) != 1 {
		t.Errorf("searched %d times after a refusal", len(refusing.site.searched))
	}
	if c, err := refusing.db.Circuit(t.Context(), "t"); err != nil || c.State != circuit.Paused {
		t.Errorf("the circuit is %s (%v)", c.State, err)
	}
	if d := cmp.Diff(map[string]string{"a": "not_found", "b": "not_found"}, refusing.failures(t)); d != "" {
		t.Errorf("failure rows (-want +got):\n%s", d)
	}
}
