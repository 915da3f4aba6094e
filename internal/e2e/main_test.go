package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// programs is the folder of the built programs and root that of the repository,
// both set by TestMain before any test.
var programs, root string

// keepFigures keeps what a bench has measured.
var keepFigures = func(string) error { return nil }

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if root, err = repository(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if programs, err = os.MkdirTemp("/tmp", "mangrove-p-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer func() { _ = os.RemoveAll(programs) }()
		build := exec.Command("go", "build", "-tags", "nodynamic", "-ldflags", "-X main.version=e2e", "-o", programs+"/",
			"./supervisor/cmd/mangrove", "./scraper/cmd/mangrove-scraper", "./reader/cmd/mangrove-reader")
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build the programs: %v\n%s", err, out)
			return 1
		}
		code := m.Run()
		if browser.chromium != nil {
			browser.chromium.close()
		}
		if err := keepFigures(root); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}())
}

// repository is the folder with go.work, above the package.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.work")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no go.work above the package")
		}
		dir = filepath.Dir(dir)
	}
}

// threeAtOnce bounds how many tests run: each has a database, three services and
// a window of the browser.
var threeAtOnce = make(chan struct{}, 3)

// turn takes one of the three places for the length of a test, which is skipped
// where there is no browser.
func turn(t *testing.T) {
	t.Helper()
	t.Parallel()
	theBrowser(t)
	threeAtOnce <- struct{}{}
	t.Cleanup(func() { <-threeAtOnce })
}

// lastLines is the end of a text, for a message about what went wrong.
func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
