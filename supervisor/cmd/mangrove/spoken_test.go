package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/config"
)

// full is a disk that is full until it is not.
type full struct{ room bool }

func (f *full) Write(p []byte) (int, error) {
	if !f.room {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

func TestALogThatCannotBeWrittenIsSaidOnce(t *testing.T) {
	t.Parallel()
	disk := &full{}
	var said []string
	log := &spoken{log: disk, name: "scraper", say: func(text string) { said = append(said, text) }}
	for range 5 {
		if _, err := log.Write([]byte("x")); err == nil {
			t.Error("the failure is hidden")
		}
	}
	disk.room = true
	for range 3 {
		if n, err := log.Write([]byte("x")); n != 1 || err != nil {
			t.Error(n, err)
		}
	}
	want := []string{"The log of scraper cannot be written: no space left. Everything goes on without it.", "The log of scraper is written again; 5 lines are missing."}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
}

// TestAFullLogDiskStopsNothing: a real one, of one mebibyte, that a service fills
// (F66, S-096). The service goes on serving, nothing is counted, and the console says
// it once.
func TestAFullLogDiskStopsNothing(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root to mount a file system")
	}
	w := newWorld(t)
	logs := filepath.Join(w.data, "logs")
	if err := os.Mkdir(logs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", logs, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		t.Skip("a file system cannot be mounted here: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(logs, syscall.MNT_DETACH) })
	w.script("scraper.noise", "")
	s := w.up().serving()
	w.eventually("the disk is full and the console says so", func() bool {
		return strings.Contains(s.log.String(), "The log of scraper cannot be written: no space left.")
	})
	for range 20 {
		if now := w.status("scraper"); now.GetState() != "serving" || now.GetFailures() != 0 {
			t.Fatalf("the scraper is %v", now)
		}
	}
	if n := strings.Count(s.log.String(), "The log of scraper cannot be written"); n > 2 { // a rotation may free some
		t.Errorf("the console says it %d times", n)
	}
	if code, out := w.run("logs", "scraper", "-n", "1"); code != 0 || !strings.Contains(out, "noise") {
		t.Errorf("the logs: %d %s", code, out)
	}
	if code, out := w.run("restart", "scraper"); code != config.ExitOK {
		t.Errorf("a restart: %d %s", code, out)
	}
	w.eventually("it serves again", func() bool { return w.status("scraper").GetState() == "serving" })
}
