package rpc_test

import (
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

func TestSettingsOfPolling(t *testing.T) {
	t.Parallel()
	e := setup(t)
	ctx := t.Context()
	get := func() *scraperv1.GetSettingsResponse {
		t.Helper()
		got, err := e.GetSettings(ctx, &scraperv1.GetSettingsRequest{})
		if err != nil || len(got.GetSites()) != 1 || got.GetSites()[0].GetSite() != key.Site || got.GetSites()[0].GetSiteName() != "Sample" {
			t.Fatalf("%v, %v", got, err)
		}
		return got
	}
	if got := get(); got.GetAdaptiveInterval() || got.GetSites()[0].GetIntervalHours() != 0 {
		t.Errorf("from the start: %v; want it off and nothing chosen", got)
	}
	own := get().GetSites()[0].GetDefaultIntervalSeconds()
	lane := func() float64 {
		t.Helper()
		got, err := e.ListLanes(ctx, &scraperv1.ListLanesRequest{})
		if err != nil {
			t.Fatal(err)
		}
		return got.GetLanes()[0].GetLane().GetIntervalSeconds()
	}
	if lane() != own {
		t.Errorf("the Lane polls every %v s, the Site's own is %v s", lane(), own)
	}
	for _, on := range []bool{true, false} {
		if _, err := e.SetAdaptiveInterval(ctx, &scraperv1.SetAdaptiveIntervalRequest{On: on}); err != nil || get().GetAdaptiveInterval() != on {
			t.Errorf("switched to %v: %v, %v", on, get(), err)
		}
	}
	if got := get().GetCanaryHours(); got != 24 {
		t.Errorf("known Series are read every %d hours from the start, want 24", got)
	}
	for _, hours := range []int32{6, 168, 0, 24} {
		if _, err := e.SetCanaryInterval(ctx, &scraperv1.SetCanaryIntervalRequest{Hours: hours}); err != nil || get().GetCanaryHours() != hours {
			t.Errorf("known Series every %d hours: %v, %v", hours, get(), err)
		}
	}
	for _, hours := range []int32{-1, 5, 169, 1 << 30} {
		if _, err := e.SetCanaryInterval(ctx, &scraperv1.SetCanaryIntervalRequest{Hours: hours}); status.Code(err) != codes.InvalidArgument || get().GetCanaryHours() != 24 {
			t.Errorf("known Series every %d hours: %v", hours, err)
		}
	}
	for _, hours := range []int32{1, 168, 24} {
		if _, err := e.SetPollInterval(ctx, &scraperv1.SetPollIntervalRequest{Site: key.Site, Hours: hours}); err != nil {
			t.Errorf("%d hours: %v", hours, err)
		}
		if got := get().GetSites()[0].GetIntervalHours(); got != hours || lane() != (time.Duration(hours)*time.Hour).Seconds() {
			t.Errorf("%d hours chosen, got %d; the Lane says %v s", hours, got, lane())
		}
	}
	for _, hours := range []int32{-1, 169, 1 << 30} {
		if _, err := e.SetPollInterval(ctx, &scraperv1.SetPollIntervalRequest{Site: key.Site, Hours: hours}); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%d hours: %v", hours, err)
		}
	}
	if _, err := e.SetPollInterval(ctx, &scraperv1.SetPollIntervalRequest{Site: "nosuch", Hours: 3}); status.Code(err) != codes.NotFound {
		t.Errorf("no such Site: %v", err)
	}
	if _, err := e.SetPollInterval(ctx, &scraperv1.SetPollIntervalRequest{Site: key.Site}); err != nil || get().GetSites()[0].GetIntervalHours() != 0 || lane() != own {
		t.Errorf("taken back: %v (%v)", get(), err)
	}
}
