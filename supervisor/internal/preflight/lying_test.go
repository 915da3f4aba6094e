package preflight

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mangrove/internal/config"
	"mangrove/internal/kerneltest"
)

// lying is set for the process in which every lock is granted and none is taken.
const lying = "LYING_LOCKS"

// TestALockThatLies: a file system that grants a lock twice would let two supervisors
// in, and is refused with what to do (F45).
func TestALockThatLies(t *testing.T) {
	t.Parallel()
	if folder := os.Getenv(lying); folder != "" {
		if err := kerneltest.LyingLocks(); err != nil {
			fmt.Println("skip:", err)
			os.Exit(0)
		}
		lock, err := Lock(config.Config{DataDir: folder})
		var wrong *config.SettingError
		fmt.Printf("lock: %v, setting: %v: %v\n", lock != nil, errors.As(err, &wrong), err)
		os.Exit(0)
	}
	folder := t.TempDir()
	again := exec.Command(os.Args[0], "-test.run=^TestALockThatLies$")
	again.Env = append(os.Environ(), lying+"="+folder)
	out, err := again.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.HasPrefix(string(out), "skip: ") {
		t.Skipf("locks cannot be made to lie here: %s", out)
	}
	want := "lock: false, setting: true: " + config.Data + ": " + folder + " lies on a file system without working locks; choose a local one\n"
	if string(out) != want {
		t.Errorf("got  %swant %s", out, want)
	}
	// The same folder, where locks are true, is taken.
	lock, err := Lock(config.Config{DataDir: folder})
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Unlock(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(folder, "supervisor.lock")); err != nil {
		t.Error(err)
	}
}
