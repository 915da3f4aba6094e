package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/internal/durable"
)

// TestASecondScraperIsRefused with the code that costs nothing, and names the one that
// works (SUP-7, F42). What a dead one left is no obstacle (S-093).
func TestASecondScraperIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "scraper"), 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "scraper", "scraper.lock")
	cfg := config.Config{DataDir: dir, LibraryDir: filepath.Join(dir, "library")}
	for _, text := range []string{"", "abc", "1\n", "4194303\n", fmt.Sprintln(os.Getpid()), fmt.Sprintln(os.Getppid())} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var ended *exit
		// It stops at the next thing it needs: no database is named.
		if err := run(context.Background(), cfg, false, zap.NewNop()); !errors.As(err, &ended) || ended.code != config.ExitConfig || !strings.Contains(err.Error(), config.DatabaseURLScraper) {
			t.Errorf("a lock file holding %q: %v", text, err)
		}
	}
	held, err := durable.TakeLock(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Unlock() }()
	var ended *exit
	if err := run(context.Background(), cfg, false, zap.NewNop()); !errors.As(err, &ended) || ended.code != config.ExitLock || !strings.Contains(err.Error(), fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("while another works: %v", err)
	}
}
