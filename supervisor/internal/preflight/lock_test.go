package preflight

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"mangrove/internal/config"
)

// TestStaleLocksAreNoObstacle: the number in a lock file says nothing; only a live lock
// does, and whoever meets one is told its holder (SUP-7, S-093, F43, F44).
// It shows features D23.
func TestStaleLocksAreNoObstacle(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"our own": strconv.Itoa(os.Getpid()) + "\n", "process 1": "1\n", "a dead one": "4194303\n", "a live stranger": strconv.Itoa(os.Getppid()) + "\n", "empty": "", "no number": "abc",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := config.Config{DataDir: t.TempDir()}
			if err := os.WriteFile(filepath.Join(c.DataDir, "supervisor.lock"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			lock, err := Lock(c)
			if err != nil {
				t.Fatal(err)
			}
			var held *LockedError
			if _, err := Lock(c); !errors.As(err, &held) || held.PID != os.Getpid() {
				t.Errorf("a second one: %v", err)
			}
			if err := lock.Unlock(); err != nil {
				t.Error(err)
			}
		})
	}
}
