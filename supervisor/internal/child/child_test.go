package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/logging"
)

// shell is a program that runs text.
func shell(text string) Spec {
	return Spec{Path: "/bin/sh", Args: []string{"-c", text}, Env: []string{"PATH=/usr/bin:/bin"}}
}

func wait(t *testing.T, p *Process) Exit {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(20 * time.Second):
		_ = p.Signal(syscall.SIGKILL)
		t.Fatal("the program does not end")
	}
	return p.Exit()
}

// alive reports whether the process exists and is no zombie.
func alive(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return !strings.HasPrefix(rest, "Z")
}

// eventually fails the test unless cond holds within ten seconds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// TestExit shows F63.
func TestExit(t *testing.T) {
	tests := []struct {
		name, text string
		want       Exit
		words      string
	}{
		{"zero", "exit 0", Exit{}, "exit code 0"},
		{"a code", "exit 78", Exit{Code: 78}, "exit code 78"},
		{"a signal", "kill -9 $$", Exit{Code: -1, Signal: "killed"}, "signal: killed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := Start(shell(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := wait(t, p); got != tt.want || got.String() != tt.words {
				t.Errorf("exit %+v (%s), want %+v (%s)", got, got, tt.want, tt.words)
			}
		})
	}
}

// TestStartNamesWhatCannotRun shows F37.
func TestStartNamesWhatCannotRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "missing"), plain, dir} {
		if _, err := Start(Spec{Path: path}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("start %s: %v, want an error that names it", path, err)
		}
	}
}

// TestTheEnvironmentIsOnlyWhatWasGiven shows C33.
func TestTheEnvironmentIsOnlyWhatWasGiven(t *testing.T) {
	t.Setenv("MANGROVE_LEAK", "secret")
	for _, env := range [][]string{nil, {"A=1", "B=two words"}} {
		p, err := Start(Spec{Path: "/usr/bin/env", Env: env})
		if err != nil {
			t.Fatal(err)
		}
		wait(t, p)
		if diff := cmp.Diff(env, p.LastLines()); diff != "" {
			t.Errorf("environment (-want +got):\n%s", diff)
		}
	}
}

func TestStandardInputAndOutput(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, in, out string
		kept                []string
		exit                Exit
	}{
		{"both", "cat; echo said >&2", "one\ntwo", "one\ntwo", []string{"said"}, Exit{}},
		{"more than a pipe holds", "wc -c", strings.Repeat("x", 1<<20), "1048576\n", nil, Exit{}},
		{"nobody reads", "exit 3", strings.Repeat("x", 1<<20), "", nil, Exit{Code: 3}},
		{"nothing to read", "cat", "", "", nil, Exit{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file, err := os.Create(filepath.Join(t.TempDir(), "out"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = file.Close() }()
			spec := shell(tt.text)
			spec.Stdin, spec.Stdout = strings.NewReader(tt.in), file
			p, err := Start(spec)
			if err != nil {
				t.Fatal(err)
			}
			if got := wait(t, p); got != tt.exit {
				t.Errorf("it ended with %s, want %s", got, tt.exit)
			}
			got, err := os.ReadFile(file.Name())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.out, string(got)); diff != "" {
				t.Errorf("standard output (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.kept, p.LastLines()); diff != "" {
				t.Errorf("lines kept (-want +got):\n%s", diff)
			}
		})
	}
}

// A program may end while the one who types does not.
func TestAnInputThatNeverEndsKeepsNobody(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	spec := shell("exit 0")
	spec.Stdin = r
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	if got := wait(t, p); got != (Exit{}) {
		t.Errorf("it ended with %s", got)
	}
}

func TestOutput(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	spec := shell(`i=0; while [ $i -lt 30 ]; do echo line $i; i=$((i+1)); done; echo error >&2; printf 'no end of line'`)
	spec.Log = &log
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	wait(t, p)
	last := p.LastLines()
	if len(last) != 20 || last[18] != "error" || last[19] != "no end of line" || last[0] != "line 12" {
		t.Errorf("last lines %q", last)
	}
	if got := strings.Count(log.String(), "\n"); got != 32 {
		t.Errorf("%d lines in the log, want 32", got)
	}
}

// TestALongTraceDoesNotHideTheCrash: the line it began with is kept.
func TestALongTraceDoesNotHideTheCrash(t *testing.T) {
	t.Parallel()
	for _, n := range []int{3, 300} {
		p, err := Start(shell(fmt.Sprintf(`echo start; echo 'panic: index out of range'; echo 'panic: again'; i=0; while [ $i -lt %d ]; do echo frame $i; i=$((i+1)); done; exit 2`, n)))
		if err != nil {
			t.Fatal(err)
		}
		wait(t, p)
		last := p.LastLines()
		if at := slices.Index(last, "panic: index out of range"); at < 0 || n > 20 && at != 0 || len(last) > 20 || last[len(last)-1] != fmt.Sprint("frame ", n-1) {
			t.Errorf("%d frames: %q", n, last)
		}
	}
}

func TestALongLineIsCut(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	spec := shell(`head -c 300000 /dev/zero | tr '\0' x; echo; echo after`)
	spec.Log = &log
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	wait(t, p)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || len(lines[0]) > maxLine+10 || !strings.HasSuffix(lines[0], "(cut)") || lines[1] != "after" {
		t.Errorf("%d lines, the first of %d bytes", len(lines), len(lines[0]))
	}
}

// stuck is a log that takes nothing until it is opened.
type stuck struct{ open chan struct{} }

func (s stuck) Write(p []byte) (int, error) { <-s.open; return len(p), nil }

// broken is a log on a full disk.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestTheProgramIsNeverBlockedByItsLog(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	t.Cleanup(sync.OnceFunc(func() { close(open) }))
	tests := []struct {
		name string
		log  interface{ Write([]byte) (int, error) }
	}{{"stuck", stuck{open}}, {"full", broken{}}}
	for _, tt := range tests {
		// 40 MB, far more than any pipe holds.
		spec := shell(`yes 'a line of forty bytes, a line of forty..' | head -n 1000000; echo end`)
		spec.Log = tt.log
		p, err := Start(spec)
		if err != nil {
			t.Fatal(err)
		}
		if got := wait(t, p); got.Code != 0 {
			t.Errorf("%s: %s", tt.name, got)
		}
		if last := p.LastLines(); last[len(last)-1] != "end" || p.Dropped() == 0 {
			t.Errorf("%s: last line %q, %d dropped", tt.name, last[len(last)-1], p.Dropped())
		}
	}
}

// TestAFloodOfOutput: a gigabyte, lines of a hundred kilobytes among it, goes through
// in little time; the files stay within their bound, and what they lack is counted and
// said there (F65, S-096).
func TestAFloodOfOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log := logging.Rotated(filepath.Join(dir, "scraper.log"))
	defer func() { _ = log.Close() }()
	spec := shell(`line=$(head -c 1000 /dev/zero | tr '\0' x); { yes "$line" | head -c 1073741824; head -c 100000 /dev/zero | tr '\0' y; echo; echo end; }`)
	spec.Log = log
	began := time.Now()
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
	case <-time.After(time.Minute):
		_ = p.Signal(syscall.SIGKILL)
		t.Fatal("the program is held up")
	}
	t.Logf("it took %s, %d lines were dropped", time.Since(began), p.Dropped())
	last := p.LastLines()
	if p.Exit() != (Exit{}) || last[len(last)-1] != "end" || len(last[len(last)-2]) != keptBytes {
		t.Errorf("it ended with %s, its last line is %.40q", p.Exit(), last[len(last)-1])
	}
	size, said := int64(0), false
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		size += int64(len(data))
		said = said || bytes.Contains(data, []byte(" lines dropped)\n"))
	}
	// One file more than is kept may stand there while the oldest is being removed.
	if size > 7*(10<<20+maxLine) {
		t.Errorf("the logs are %d bytes", size)
	}
	if p.Dropped() > 0 && !said {
		t.Error("lines are missing and no file says so")
	}
}

// TestNothingOfTheGroupIsLeft shows S-094.
func TestNothingOfTheGroupIsLeft(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text string }{
		{"the program ends by itself", `sleep 1000 & echo $!; exit 3`},
		{"the program is killed", `sleep 1000 & echo $!; kill -9 $$`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Start(shell(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			wait(t, p)
			grandchild, err := strconv.Atoi(p.LastLines()[0])
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "the grandchild is gone", func() bool { return !alive(grandchild) })
		})
	}
}

// TestAGrandchildThatKeepsThePipeDoesNotHang shows F47.
func TestAGrandchildThatKeepsThePipeDoesNotHang(t *testing.T) {
	t.Parallel()
	p, err := Start(shell(`setsid sleep 1000 & echo $!; exit 0`))
	if err != nil {
		t.Fatal(err)
	}
	wait(t, p)
	pid, err := strconv.Atoi(p.LastLines()[0])
	if err != nil {
		t.Fatal(err)
	}
	// It left the group, so it is ours to end.
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

func TestSignalReachesTheGroup(t *testing.T) {
	t.Parallel()
	p, err := Start(shell(`trap 'exit 9' TERM; echo up; sleep 1000 & wait`))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is up", func() bool { return len(p.LastLines()) == 1 })
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if got := wait(t, p); got.Code != 9 {
		t.Errorf("%s, want exit code 9", got)
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("a signal after the end: %v", err)
	}
}

func TestRunIsKilledWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	exit, _, err := Run(ctx, shell("exec sleep 1000"))
	if !errors.Is(err, context.DeadlineExceeded) || exit.Signal != "killed" {
		t.Errorf("Run = %s, %v", exit, err)
	}
}

// TestTheDeathSignalFollowsTheProcess starts many programs from goroutines
// whose threads come and go: none may be taken for an orphan (F41).
func TestTheDeathSignalFollowsTheProcess(t *testing.T) {
	t.Parallel()
	var all []*Process
	for range 20 {
		p, err := Start(shell("exec sleep 1"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	for _, p := range all {
		if got := wait(t, p); got != (Exit{}) {
			t.Errorf("a program ended with %s", got)
		}
	}
}
