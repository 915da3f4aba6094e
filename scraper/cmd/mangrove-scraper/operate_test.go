package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"mangrove/internal/config"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
)

func TestOperate(t *testing.T) {
	db, cfg, _ := newDesk(t)
	ctx := t.Context()
	key := source.Key{Site: "sample", SeriesID: "s"}
	if err := db.EnsureListed(ctx, key.Site, source.Series{ID: "s", Title: "S", URL: "http://x"}); err != nil {
		t.Fatal(err)
	}
	if err := db.EnsureLane(ctx, key.Site); err != nil {
		t.Fatal(err)
	}
	do := func(args ...string) error { return operate(ctx, cfg, args) }

	c, err := db.Circuit(ctx, key.Site)
	if err != nil {
		t.Fatal(err)
	}
	paused, _ := c.Next(circuit.Refusal, time.Now(), "status 403", time.Time{})
	if moved, err := db.MoveCircuit(ctx, c, paused); !moved || err != nil {
		t.Fatal(moved, err)
	}
	if err := do("resume", key.Site); err != nil {
		t.Error(err)
	}
	if c, err := db.Circuit(ctx, key.Site); err != nil || c.State != circuit.Closed {
		t.Errorf("after resume the circuit is %s (%v)", c.State, err)
	}
	if err := do("resume", "nosuch"); err == nil || !strings.Contains(err.Error(), "nosuch") {
		t.Errorf("an unknown Site: %v", err)
	}

	if err := db.SetHold(ctx, "storage", "no space left", time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := do("release", "storage"); err != nil {
		t.Error(err)
	}
	if was, err := db.ReleaseHold(ctx, "storage"); was || err != nil {
		t.Errorf("the Hold is still there (%v, %v)", was, err)
	}

	if _, err := db.RequestJob(ctx, key, true); err != nil {
		t.Fatal(err)
	}
	j, _, err := db.LatestJob(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []job.State{job.Inspecting, job.Quarantined} {
		if j, err = db.Move(ctx, j, job.Change{To: to, Retries: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := do("retry", key.Site, key.SeriesID); err != nil {
		t.Error(err)
	}
	if again, _, err := db.LatestJob(ctx, key); err != nil || again.ID != j.ID || again.State != job.Requested || again.Retries != 0 {
		t.Errorf("after retry: %+v, %v; want the same Job requested, its counts set back", again, err)
	}
	for _, args := range [][]string{{"retry", "sample"}, {"release", "everything"}, {"frobnicate"}} {
		if err := do(args...); err == nil || !strings.Contains(err.Error(), "usage") {
			t.Errorf("%v: %v, want the usage", args, err)
		}
	}
}

func TestDatabaseAwayIsItsOwnExitCode(t *testing.T) {
	cfg := config.Config{DatabaseURLScraper: "postgres://u:hunter2@127.0.0.1:1/m?connect_timeout=1"}
	err := operate(t.Context(), cfg, []string{"release", "queue"})
	var e *exit
	if !errors.As(err, &e) || e.code != config.ExitDatabase || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v, want exit code 3 and no password", err)
	}
}
