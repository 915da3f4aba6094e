package scraperclient_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/scraperclient"
	"mangrove/reader/internal/scraperclient/scrapertest"
)

func TestSearchSite(t *testing.T) {
	t.Parallel()
	s, c := started(t)
	for site, class := range map[string]fault.Class{"refuses": fault.Access, "rests": fault.Network, "slow": fault.Stall, "broken": fault.Parser, "none": fault.NotFound} {
		s.SearchWith(site, func(context.Context, string) ([]*scraperv1.Series, error) {
			return nil, fault.New(class, "search", site, nil)
		})
	}
	s.SearchWith("well", func(_ context.Context, query string) ([]*scraperv1.Series, error) {
		return []*scraperv1.Series{{Key: &scraperv1.SeriesKey{Site: "well", SeriesId: "a"}, Title: query}}, nil
	})
	got, err := c.SearchSite(t.Context(), "well", "witch")
	want := []scraperclient.Series{{Key: scraperclient.Key{Site: "well", SeriesID: "a"}, Title: "witch"}}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
	for site, class := range map[string]fault.Class{
		"refuses": fault.Access, "rests": fault.Network, "slow": fault.Stall, "broken": fault.Unknown, "none": fault.NotFound, "mute": fault.Invalid,
	} {
		if _, err := c.SearchSite(t.Context(), site, "x"); fault.Of(err) != class || errors.Is(err, scraperclient.ErrNotSearchable) != (site == "mute") {
			t.Errorf("%s: %v, want class %s", site, err, class)
		}
	}
	if c.Presence().Away {
		t.Error("a Site that did not answer made the scraper count as away")
	}
	absent := connect(t, scrapertest.New(t))
	if _, err := absent.SearchSite(t.Context(), "well", "x"); !fault.Is(err, fault.Away) {
		t.Errorf("without the scraper: %v", err)
	}
}

func TestMovesAreRefusedInClasses(t *testing.T) {
	t.Parallel()
	s, c := started(t)
	state := func(id, job string) scraperclient.Key {
		st := &scraperv1.SeriesState{Series: &scraperv1.Series{Key: &scraperv1.SeriesKey{Site: "a", SeriesId: id}}}
		if job != "" {
			st.Job = &scraperv1.Job{State: job}
		}
		s.SetState(st)
		return scraperclient.Key{Site: "a", SeriesID: id}
	}
	busy, free := state("busy", "downloading"), state("free", "done")
	s.Read("https://b.example/new", "B", &scraperv1.SeriesKey{Site: "b", SeriesId: "new"})
	s.Read("https://a.example/busy", "A", &scraperv1.SeriesKey{Site: "a", SeriesId: "busy"})
	for _, tt := range []struct {
		name, address string
		key           scraperclient.Key
		want          fault.Class
	}{
		{"a download is under way", "https://b.example/new", busy, fault.Stale},
		{"known under that name", "https://a.example/busy", free, fault.Conflict},
		{"no Site reads it", "https://c.example/", free, fault.NotFound},
		{"it moves", "https://b.example/new", free, ""},
	} {
		if _, err := c.MoveSeries(t.Context(), tt.key, tt.address); fault.Of(err) != tt.want {
			t.Errorf("%s: %v, want class %q", tt.name, err, tt.want)
		}
	}
	st, err := c.GetSeries(t.Context(), scraperclient.Key{Site: "b", SeriesID: "new"})
	if err != nil || st.MovedAt.IsZero() || st.Series.SiteName != "B" {
		t.Errorf("after the move: %+v, %v", st, err)
	}
}

func started(t *testing.T) (*scrapertest.Scraper, *scraperclient.Client) {
	s := scrapertest.New(t)
	s.Start(t)
	return s, connect(t, s)
}
