package store

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
)

func TestOneScraperALane(t *testing.T) {
	e := setup(t)
	ctx := t.Context()
	pool := e.db.(*pgxpool.Pool)
	first, ok, err := e.ClaimLane(ctx, pool, key.Site, "a")
	if err != nil || !ok {
		t.Fatalf("first claim: ok %v, %v", ok, err)
	}
	other := pgtest.Pool(t, e.urls.Scraper, Schema, nil)
	if _, ok, err := New(other).ClaimLane(ctx, other, key.Site, "b"); ok || err != nil {
		t.Fatalf("a second scraper claimed the same Lane: %v, %v", ok, err)
	}
	if c, ok, err := New(other).ClaimLane(ctx, other, "another site", "b"); !ok || err != nil {
		t.Fatalf("a second scraper cannot claim another Lane: %v, %v", ok, err)
	} else {
		c.Release()
	}
	// The machine of the first dies: its backend ends, and it must notice.
	admin := e.admin(t)
	if _, err := admin.Exec(ctx, "SELECT pg_terminate_backend($1)", first.conn.Conn().PgConn().PID()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-first.Lost():
	case <-time.After(30 * time.Second):
		t.Fatal("the loss of the claim was not noticed")
	}
	if _, err := first.RecordFailure(ctx, key, poll.Errors, time.Now()); err == nil {
		t.Error("a scraper that lost its claim could still write")
	}
	if err := first.Held(); err == nil {
		t.Error("a lost claim says it is held")
	}
	first.Release()
	second, ok, err := New(other).ClaimLane(ctx, other, key.Site, "b")
	if err != nil || !ok || !second.Taken {
		t.Fatalf("the Lane of a dead scraper: ok %v, taken %v, %v; want both", ok, second != nil && second.Taken, err)
	}
	second.Release()
	again, ok, err := New(other).ClaimLane(ctx, other, key.Site, "b")
	if err != nil || !ok || again.Taken {
		t.Errorf("our own Lane again: ok %v, taken %v, %v; want it at once", ok, again != nil && again.Taken, err)
	}
	again.Release()
}

func TestAStopDoesNotCutTheClaimOff(t *testing.T) {
	e := setup(t)
	c, ok, err := e.ClaimLane(t.Context(), e.db.(*pgxpool.Pool), key.Site, "a")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	defer c.Release()
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.RecordGood(stopped, lane.Due{Key: key}, reading("1"), time.Now(), time.Now(), lane.ByInterval); err != nil {
		t.Errorf("a statement of a Lane that was told to stop: %v", err)
	}
	if err := c.Held(); err != nil {
		t.Errorf("the claim was cut off: %v", err)
	}
}
