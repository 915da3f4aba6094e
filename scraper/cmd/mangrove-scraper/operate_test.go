package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mangrove/internal/config"
	"mangrove/internal/fault"
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
	id := fmt.Sprint(j.ID)
	for _, tt := range []struct {
		args []string
		want job.State
	}{
		{[]string{"pause", id}, job.Paused}, {[]string{"pause", id}, job.Paused}, {[]string{"resume", id}, job.Requested}, {[]string{"start", "--all"}, job.Requested},
		{[]string{"queue"}, job.Requested}, {[]string{"cancel", id}, job.Cancelled},
	} {
		if err := do(tt.args...); err != nil {
			t.Errorf("%v: %v", tt.args, err)
		}
		if now, _, err := db.LatestJob(ctx, key); err != nil || now.State != tt.want {
			t.Errorf("after %v the Job is %s (%v), want %s", tt.args, now.State, err, tt.want)
		}
	}
	if err := do("pause", "--all"); err != nil {
		t.Error(err)
	}
	if holds, err := db.Holds(ctx); err != nil || len(holds) != 1 || holds[0].Kind != "queue" {
		t.Errorf("after pause --all the Holds are %+v (%v)", holds, err)
	}
	if err := do("pause", "4711"); !fault.Is(err, fault.NotFound) {
		t.Errorf("no such Job: %v", err)
	}
	said, err := list(ctx, db, nil)
	if err != nil || !strings.HasPrefix(said, "Hold queue since ") || !strings.HasSuffix(said, "the queue is empty") {
		t.Errorf("the queue: %q, %v", said, err)
	}
	for _, name := range []string{"0", "x"} {
		if err := do("pause", name); err == nil || !strings.Contains(err.Error(), "no Site is called") {
			t.Errorf("pause %s: %v", name, err)
		}
	}
	for range 2 {
		if err := do("pause", "sample"); err != nil {
			t.Error(err)
		}
	}
	if c, err := db.Circuit(ctx, "sample"); err != nil || c.State != circuit.Paused || c.Reason != circuit.Operator {
		t.Errorf("after pause sample the circuit is %+v (%v)", c, err)
	}
	for _, args := range [][]string{{"retry", "sample"}, {"cancel", "--all"}, {"release", "everything"}, {"frobnicate"}} {
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
