package main

import (
	"errors"
	"os"
	"testing"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/internal/pgtest"
	"mangrove/migrations"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

func TestAgesOutliveADowngrade(t *testing.T) {
	admin := pgtest.Empty(t)
	cfg := config.Config{DataDir: t.TempDir(), DatabaseURL: config.Secret(admin)}
	ctx := t.Context()
	d := migrations.Database{AdminURL: admin}
	since := time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)
	add := func(db *store.Store, ids ...string) {
		t.Helper()
		for _, id := range ids {
			if err := db.EnsureListed(ctx, "sample", source.Series{ID: id, Title: id, URL: "http://x/" + id}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := migrations.Apply(ctx, d); err != nil {
		t.Fatal(err)
	}
	db := store.New(pgtest.Pool(t, admin, store.Schema, nil))
	add(db, "a", "b", "c")
	for i, id := range []string{"a", "b", "c"} {
		if _, err := db.RecordFailure(ctx, source.Key{Site: "sample", SeriesID: id}, poll.Errors, since.AddDate(0, 0, i)); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := db.SetMuted(ctx, []source.Key{{Site: "sample", SeriesID: "a"}}, true, since.AddDate(0, 1, 0)); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if err := downgrade(ctx, cfg, d, 0); err != nil {
		t.Fatal(err)
	}
	if err := migrations.Apply(ctx, d); err != nil {
		t.Fatal(err)
	}
	db = store.New(pgtest.Pool(t, admin, store.Schema, nil))
	// a and b are followed again; b was read well before its age came back.
	add(db, "a", "b")
	if err := db.Advance(ctx, source.Key{Site: "sample", SeriesID: "b"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := takeAges(ctx, cfg, db, zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	if f, failing, err := db.Failure(ctx, source.Key{Site: "sample", SeriesID: "a"}); err != nil || !failing || !f.Since.Equal(since) {
		t.Errorf("a is failing %v since %v (%v), want since %v", failing, f.Since, err, since)
	}
	// Its mute is not kept: it is shown again, which hides nothing.
	if n, err := db.Standing(ctx); n.Muted != 0 || err != nil {
		t.Errorf("%d mutes after the downgrade (%v)", n.Muted, err)
	}
	if _, failing, err := db.Failure(ctx, source.Key{Site: "sample", SeriesID: "b"}); failing || err != nil {
		t.Errorf("b was read since and is said to fail (%v)", err)
	}
	// c comes back later and takes its age then; the file is gone after that.
	add(db, "c")
	if err := takeAges(ctx, cfg, db, zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	if f, failing, err := db.Failure(ctx, source.Key{Site: "sample", SeriesID: "c"}); err != nil || !failing || !f.Since.Equal(since.AddDate(0, 0, 2)) {
		t.Errorf("c is failing %v since %v (%v)", failing, f.Since, err)
	}
	if _, err := os.Stat(agesFile(cfg)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of saved ages is still there: %v", err)
	}
}
