package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/store"
)

// An unmounted library holds downloads and leaves one incident, however often it is
// found; nothing is taken for missing (INV-5).
func TestAnUnmountedLibraryHoldsDownloads(t *testing.T) {
	t.Parallel()
	db := store.New(pgtest.Pool(t, pgtest.New(t).Scraper, store.Schema, nil))
	root := filepath.Join(t.TempDir(), "library")
	marker := inventory.NewMarker(root, db)
	if err := marker.Establish(t.Context()); err != nil {
		t.Fatal(err)
	}
	library := inventory.NewLibrary(root, marker, db)
	inv := newInventory(library, marker, holding(db, &incident.Recorder{Store: db, Log: zap.NewNop()}, zap.NewNop()), nil, zap.NewNop())
	ctx, cancel := context.WithCancel(t.Context())
	defer lookAtLibrary(ctx, library, inv, zap.NewNop()).Wait()
	defer cancel()
	if _, err := inv.Current(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(root, root+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		inv.TryAgain()
		if _, err := inv.Current(t.Context()); !fault.Is(err, fault.Storage) || !inventory.NotThere(err) {
			t.Fatalf("%v, want the library not there", err)
		}
	}
	holds, err := db.Holds(t.Context())
	if err != nil || len(holds) != 1 || holds[0].Kind != "storage" {
		t.Errorf("Holds %+v, %v", holds, err)
	}
	rows, err := db.Incidents(t.Context(), true, 0, 10)
	if err != nil || len(rows) != 1 || rows[0].Seen != 1 || rows[0].Kind != fault.Storage || rows[0].About != incident.AboutHold {
		t.Errorf("incidents %+v, %v", rows, err)
	}
	if s := inv.Summary(); s.Status != inventory.Failed || s.Why == "" {
		t.Errorf("%+v", s)
	}
	// Mounted again: the next decision sees it, though the failure rests still.
	if err := os.Remove(root); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(root+".away", root); err != nil {
		t.Fatal(err)
	}
	if at, err := inv.Current(t.Context()); err != nil || !at.Made() {
		t.Errorf("once it is mounted again: %v", err)
	}
}
