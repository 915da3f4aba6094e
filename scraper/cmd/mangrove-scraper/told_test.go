package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/pg"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

// TestARunningScraperIsTold: what is done on the command line is heard at once, so
// that a Retry does not wait for a Lane that rests.
func TestARunningScraperIsTold(t *testing.T) {
	db, cfg, _ := newDesk(t)
	ctx := t.Context()
	address, err := cfg.RoleURL("scraper")
	if err != nil {
		t.Fatal(err)
	}
	pool, err := pg.Open(ctx, address.Reveal(), pg.Options{Schema: store.Schema})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	words := make(chan store.Told, 8)
	go func() { _ = store.HearTold(ctx, pool, func(w store.Told) { words <- w }) }()
	hear := func(after string, want store.Told) {
		t.Helper()
		select {
		case got := <-words:
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("after %s it hears (-want +got):\n%s", after, diff)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("after %s it hears nothing", after)
		}
	}
	// What was said before it listened may have been missed.
	hear("the start", store.Told{})

	key := source.Key{Site: "sample", SeriesID: "s"}
	if err := db.EnsureListed(ctx, key.Site, source.Series{ID: "s", Title: "S", URL: "http://x"}); err != nil {
		t.Fatal(err)
	}
	if err := db.EnsureLane(ctx, key.Site); err != nil {
		t.Fatal(err)
	}
	if _, err := db.RequestJob(ctx, key, true); err != nil {
		t.Fatal(err)
	}
	j, _, err := db.LatestJob(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	if j, err = db.Move(ctx, j, job.Change{To: job.Inspecting}); err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprint(j.ID)
	for _, tt := range []struct {
		args []string
		want store.Told
	}{
		{[]string{"pause", id}, store.Told{Site: "sample", StopJob: j.ID}},
		{[]string{"resume", id}, store.Told{Site: "sample"}},
		{[]string{"cancel", id}, store.Told{Site: "sample"}},
		{[]string{"retry", "sample", "s"}, store.Told{Site: "sample"}},
		{[]string{"start", "--all"}, store.Told{}},
		{[]string{"pause", "sample"}, store.Told{Site: "sample", Paused: true}},
		{[]string{"resume", "sample"}, store.Told{Site: "sample"}},
		{[]string{"pause", "--all"}, store.Told{}},
		{[]string{"release", "queue"}, store.Told{}},
	} {
		if err := operate(ctx, cfg, tt.args); err != nil {
			t.Fatalf("%v: %v", tt.args, err)
		}
		hear(fmt.Sprint(tt.args), tt.want)
	}
}
