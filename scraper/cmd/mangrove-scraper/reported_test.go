package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"

	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/verify"
)

// TestAFileThatSomebodyCouldNotRead: whoever tells is not believed. The file is read
// whole, and only what is damaged becomes an incident (F73).
func TestAFileThatSomebodyCouldNotRead(t *testing.T) {
	db, cfg, _ := newDesk(t)
	ctx, enough := context.WithTimeout(t.Context(), 30*time.Second)
	defer enough()
	cfg.LibraryDir = t.TempDir()
	marker := inventory.NewMarker(cfg.LibraryDir, db)
	if err := marker.Establish(ctx); err != nil {
		t.Fatal(err)
	}
	key := knownSeries(t, db, "s")
	well, damaged := onDisk(t, db, cfg.LibraryDir, key, "c1"), onDisk(t, db, cfg.LibraryDir, key, "c2")
	if err := os.Truncate(filepath.Join(cfg.LibraryDir, filepath.FromSlash(damaged)), 200); err != nil {
		t.Fatal(err)
	}
	recorder := &incident.Recorder{Store: db, Events: incident.AppendEventLog(incident.EventLogPath(cfg.DataDir), zap.NewNop()), Log: zap.NewNop()}
	ear := verify.NewEar(&verify.Verifier{Library: cfg.LibraryDir, There: marker.Check, Store: db, Record: recorder, Log: zap.NewNop()})
	done := make(chan struct{})
	go func() { ear.Hear(ctx); close(done) }()
	// In this order: once the last is an incident, the others have been looked at.
	for _, path := range []string{"../../etc/passwd", "nosuch.cbz", well, damaged, damaged} {
		ear.Tell(path)
	}
	for {
		rows, err := db.Incidents(t.Context(), true, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(rows) > 0 {
			if len(rows) != 1 || rows[0].About != incident.AboutFile || rows[0].ChapterID != "c2" || rows[0].Seen != 1 {
				t.Errorf("incidents: %+v", rows)
			}
			break
		}
		select {
		case <-ctx.Done():
			t.Fatal("no incident of the damaged file")
		case <-time.After(10 * time.Millisecond):
		}
	}
	enough()
	<-done
}
