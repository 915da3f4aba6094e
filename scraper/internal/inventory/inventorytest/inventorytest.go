// Package inventorytest starts a real Inventory over a real library folder for
// tests of what decides by one. It stands in for nothing and fakes no Snapshot:
// there is no other way to one than a look at the library.
package inventorytest

import (
	"context"
	"testing"

	"go.uber.org/zap"

	"mangrove/scraper/internal/inventory"
)

// Store is what an Inventory and its marker keep.
type Store interface {
	inventory.Store
	inventory.IDStore
}

// Start works an Inventory of the library in root until the test ends. The marker
// is established.
func Start(t testing.TB, root string, s Store) *inventory.Inventory {
	t.Helper()
	marker := inventory.NewMarker(root, s)
	if err := marker.Establish(t.Context()); err != nil {
		t.Fatal(err)
	}
	inv := inventory.New(inventory.Options{Scanner: inventory.NewLibrary(root, marker, s), Log: zap.NewNop()})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		inv.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return inv
}

// Snapshot is a look at an empty library, for a test of what needs one: it is to be
// taken before the store knows of files, which it would find gone.
func Snapshot(t testing.TB, s Store) inventory.Snapshot {
	t.Helper()
	at, err := Start(t, t.TempDir(), s).Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}
