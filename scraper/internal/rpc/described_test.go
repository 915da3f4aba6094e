package rpc

import (
	"errors"
	"testing"

	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/sample"
	"mangrove/scraper/internal/store"
)

// A Site that is read through a browser says so when there is none to read it
// with, and only then.
func TestALaneWithoutABrowser(t *testing.T) {
	plain, err := sample.Start("http://sample.example")
	if err != nil {
		t.Fatal(err)
	}
	row := store.LaneRow{Site: "sample", Circuit: circuit.Circuit{Site: "sample", State: circuit.Closed}}
	missing, there := func() error { return errors.New("there is no Chromium") }, func() error { return nil }
	for _, tt := range []struct {
		name    string
		adapter source.Adapter
		browser func() error
		needs   string
	}{
		{"a Site without scripts", plain, missing, ""},
		{"no browser", scripted{plain}, missing, "browser"},
		{"a browser", scripted{plain}, there, ""},
	} {
		s := &Server{Adapters: source.NewRegistry(tt.adapter), Browser: tt.browser}
		if got := s.lane(row).GetNeeds(); got != tt.needs {
			t.Errorf("%s: needs %q, want %q", tt.name, got, tt.needs)
		}
	}
}

// scripted is an adapter whose Site is read through a browser.
type scripted struct{ source.Adapter }

func (s scripted) Site() source.Site {
	site := s.Adapter.Site()
	site.Browser = true
	return site
}

// A Lane whose Site nobody reads any longer says so, and its Series keep their
// Site's key for a name.
func TestALaneWithoutItsDescription(t *testing.T) {
	a, err := sample.Start("http://sample.example")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Adapters: source.NewRegistry(a)}
	row := func(site string) store.LaneRow {
		return store.LaneRow{Site: site, Circuit: circuit.Circuit{Site: site, State: circuit.Closed}}
	}
	if got := s.lane(row("sample")).GetSiteName(); got != "Sample" {
		t.Errorf("a Lane with its adapter is called %q", got)
	}
	s.Adapters.Remove("sample")
	if got := s.lane(row("sample")).GetSiteName(); got != "sample (its description is gone)" {
		t.Errorf("a Lane without its adapter is called %q", got)
	}
	if got := s.siteName("sample"); got != "sample" {
		t.Errorf("its Series are said to be on %q", got)
	}
}
