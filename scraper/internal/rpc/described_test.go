package rpc

import (
	"testing"

	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/sample"
	"mangrove/scraper/internal/store"
)

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
