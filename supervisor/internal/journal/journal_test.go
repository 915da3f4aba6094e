package journal

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/logging"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestTheLastLinesOfSeveralFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "scraper-2026-01-01T00-00-00.000.log"), "1\n2\n")
	write(t, filepath.Join(dir, "scraper-2026-01-02T00-00-00.000.log"), "3\n4\n")
	write(t, filepath.Join(dir, "scraper.log"), "5\n6 no end")
	write(t, filepath.Join(dir, "reader.log"), "another's\n")
	for n, want := range map[int][]string{1: {"6 no end"}, 3: {"4", "5", "6 no end"}, 50: {"1", "2", "3", "4", "5", "6 no end"}} {
		got, err := Log{dir, "scraper"}.Last(n)
		if err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("the last %d: %q, %v", n, got, err)
		}
	}
	if got, err := (Log{dir, "postgres"}).Last(3); len(got) != 0 || err != nil {
		t.Errorf("no log: %q, %v", got, err)
	}
	long := filepath.Join(dir, "migrate.log")
	write(t, long, strings.Repeat("x", maxLine+5)+"\n")
	if err := os.Truncate(long, maxFile+maxLine+100); err != nil { // a hole, and no lines
		t.Fatal(err)
	}
	if got, err := (Log{dir, "migrate"}).Last(3); err != nil || len(got) != 1 || len(got[0]) != maxLine {
		t.Errorf("a file without lines: %d, %v", len(got), err)
	}
}

// TestFollowGoesOnAcrossARotation, by the very writer that rotates, and loses no line.
func TestFollowGoesOnAcrossARotation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := logging.Rotated(filepath.Join(dir, "reader.log"))
	defer func() { _ = log.Close() }()
	if _, err := log.Write([]byte("before\n")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	lines := make(chan string, 1<<16)
	ended := make(chan error, 1)
	go func() { ended <- (Log{dir, "reader"}).Follow(ctx, func(l string) { lines <- l }) }()
	next := func() string {
		select {
		case l := <-lines:
			return l
		case <-ctx.Done():
			t.Fatal("no line comes")
			return ""
		}
	}
	// It is under way once a line comes through.
	for said := false; !said; {
		if _, err := log.Write([]byte("hello\n")); err != nil {
			t.Fatal(err)
		}
		select {
		case l := <-lines:
			if l != "hello" {
				t.Fatalf("it begins with %q", l)
			}
			said = true
		case <-time.After(20 * time.Millisecond):
		}
	}
	const n, size = 300, 60 << 10 // 18 MB: more than one file holds
	for i := range n {
		if _, err := fmt.Fprintf(log, "%d %s\n", i, strings.Repeat("x", size)); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < n; {
		if l := next(); l != "hello" {
			if !strings.HasPrefix(l, fmt.Sprint(i, " x")) {
				t.Fatalf("line %d begins with %.20q", i, l)
			}
			i++
		}
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*.log")); len(files) < 2 {
		t.Errorf("nothing was rotated: %v", files)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
