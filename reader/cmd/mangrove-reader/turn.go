package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"mangrove/internal/pulse"
)

const (
	// mainLoop is the loop by whose turns the reader is alive (SUP-6).
	mainLoop = "main"
	// turnEvery is its rest between two turns.
	turnEvery = 5 * time.Second
	// turnPath is what it asks the pages for: it needs neither sign-in nor database.
	turnPath = "/manifest.webmanifest"
)

// turn asks the reader's own pages for one that needs nothing, again and again, until
// ctx ends or something has failed: a handler that no longer comes back holds the
// loop, and its beat stops, though the health server would still answer (S-092).
func turn(ctx context.Context, beats *pulse.Pulse, pages http.Handler, failed <-chan error) error {
	defer beats.Rest(mainLoop)
	for {
		beats.Beat(mainLoop)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+turnPath, http.NoBody)
		if err != nil {
			return fmt.Errorf("ask for %s: %w", turnPath, err)
		}
		pages.ServeHTTP(&nowhere{header: http.Header{}}, r)
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case <-time.After(turnEvery):
		}
	}
}

// nowhere is an answer that nobody reads.
type nowhere struct{ header http.Header }

// Header is the answer's.
func (n *nowhere) Header() http.Header { return n.header }

// Write takes all and keeps nothing.
func (n *nowhere) Write(p []byte) (int, error) { return len(p), nil }

// WriteHeader keeps nothing.
func (n *nowhere) WriteHeader(int) {}
