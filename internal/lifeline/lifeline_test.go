package lifeline

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// role makes this test binary a program on a life pipe: "peaceful" ends when it is
// told, "deaf" never does, "parent" shows what a child of its own inherits.
const role = "LIFELINE_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "":
		os.Exit(m.Run())
	case "parent":
		cmd := exec.Command("/bin/sh", "-c", "ls -l /proc/self/fd")
		cmd.Stdout = os.Stdout
		if err := Watch(os.Getenv(Env), func() {}); err != nil {
			panic(err)
		}
		_ = cmd.Run()
		os.Exit(0)
	}
	told := make(chan struct{})
	if err := Watch(os.Getenv(Env), func() {
		if os.Getenv(role) == "peaceful" {
			close(told)
		}
	}); err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString("up\n")
	<-told
	os.Exit(9)
}

// child starts this binary on a life pipe, waits until it is up and returns the end
// that the supervisor holds.
func child(t *testing.T, as string) (*exec.Cmd, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{role + "=" + as, Env + "=3"}
	cmd.ExtraFiles = []*os.File{r}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = r.Close()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = w.Close() })
	if _, err := io.ReadFull(out, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	return cmd, w
}

// TestAProgramEndsWithItsPipe: in peace if it can, and within five seconds if not.
func TestAProgramEndsWithItsPipe(t *testing.T) {
	t.Parallel()
	for as, want := range map[string]int{"peaceful": 9, "deaf": exitCode} {
		t.Run(as, func(t *testing.T) {
			t.Parallel()
			cmd, pipe := child(t, as)
			began := time.Now()
			_ = pipe.Close()
			_ = cmd.Wait()
			if got, took := cmd.ProcessState.ExitCode(), time.Since(began); got != want || took > 5*time.Second {
				t.Errorf("it ended with %d after %s, want %d within five seconds", got, took, want)
			}
		})
	}
}

// TestWhatAProgramStartsDoesNotInheritIt, or it would keep a copy for nothing.
func TestWhatAProgramStartsDoesNotInheritIt(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }()
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{role + "=parent", Env + "=3"}
	cmd.ExtraFiles = []*os.File{r}
	out, err := cmd.Output()
	if err != nil || strings.Contains(string(out), " 3 -> pipe:") || !strings.Contains(string(out), " 1 -> ") {
		t.Errorf("its child holds (%v):\n%s", err, out)
	}
}

func TestTheGraceIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		empty, err := os.Open(os.DevNull) // reads as a closed pipe does
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = empty.Close() }()
		began, ended := time.Now(), time.Duration(0)
		follow(empty, func() {}, func(int) { ended = time.Since(began) })
		if ended != Grace {
			t.Errorf("it was ended after %s, want %s", ended, Grace)
		}
	})
}

func TestAValueThatIsNoPipe(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"x", "-1", "65535", "99999999999"} {
		if err := Watch(value, func() {}); err == nil {
			t.Errorf("%q is taken for a pipe", value)
		}
	}
	if err := Watch("", func() { t.Error("lost without a pipe") }); err != nil {
		t.Error(err)
	}
}
