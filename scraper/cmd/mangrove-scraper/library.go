package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/store"
)

// newInventory makes the Inventory of a library. One that is not there holds all
// downloads (INV-5); what else a look fails of is shown, and stops nothing but
// decisions that need one.
func newInventory(library *inventory.Library, marker *inventory.Marker, held func(context.Context, error) error, changed func(), log *zap.Logger) *inventory.Inventory {
	return inventory.New(inventory.Options{
		Scanner: library, There: marker.Check, Changed: changed, Log: log,
		Failed: func(ctx context.Context, err error) {
			if !inventory.NotThere(err) {
				return
			}
			if err := held(ctx, err); err != nil {
				log.Warn("downloads could not be held", zap.Error(err))
			}
		},
	})
}

// lookAtLibrary works the Inventory and its Watcher until ctx ends; the group waits
// for their end.
func lookAtLibrary(ctx context.Context, library *inventory.Library, inv *inventory.Inventory, log *zap.Logger) *sync.WaitGroup {
	var looking sync.WaitGroup
	looking.Go(func() { inv.Run(ctx) })
	looking.Go(func() { inventory.NewWatcher(library, inv, log).Run(ctx) })
	return &looking
}

// holding makes the function that holds all downloads because the library cannot be
// written. It records why when they were not held before: a library that is away is
// found so again and again.
func holding(db *store.Store, recorder *incident.Recorder, log *zap.Logger) func(context.Context, error) error {
	return func(ctx context.Context, cause error) error {
		before, err := db.Holds(ctx)
		if err != nil {
			return err
		}
		if err := db.SetHold(ctx, "storage", job.Reason(cause), time.Now()); err != nil {
			return err
		}
		if slices.ContainsFunc(before, func(h store.Hold) bool { return h.Kind == "storage" }) {
			return nil
		}
		log.Error("downloads are on hold", zap.Error(cause))
		recorder.Record(ctx, incident.Happening{
			Kind: fault.Storage, About: incident.AboutHold, Cause: cause, Decided: []incident.Decision{{What: "hold", ID: "storage", To: "held"}},
		})
		return nil
	}
}
