//go:build faults

package failpoint

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Env names the one fault of this process: "name[@part of the path]:n[=act]".
// At the n-th time the step is reached, or the operation asked about, the process
// is killed; =STOP stops it as SIGSTOP does, and =ENOSPC, =EIO, =EROFS or =EDQUOT
// lets the operation fail, that one time.
const Env = "FAULT_POINT"

type fault struct {
	name, part, act string
	n               int64
	met             atomic.Int64
}

// armed is read once, as the process starts to reach anything. What is not
// understood ends the process: a test that tests nothing must not pass.
var armed = sync.OnceValue(func() *fault {
	said := os.Getenv(Env)
	if said == "" {
		return nil
	}
	head, act, _ := strings.Cut(said, "=")
	name, count, _ := strings.Cut(head, ":")
	name, part, _ := strings.Cut(name, "@")
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || n < 1 {
		fmt.Fprintf(os.Stderr, "%s=%s is not understood\n", Env, said)
		os.Exit(78)
	}
	return &fault{name: name, part: part, act: act, n: n}
})

// due reports whether this is the time.
func due(name, path string) (*fault, bool) {
	f := armed()
	if f == nil || f.name != name || !strings.Contains(path, f.part) || f.met.Add(1) != f.n {
		return nil, false
	}
	return f, true
}

// end is what becomes of the process.
func (f *fault) end() {
	if f.act == "STOP" {
		// To this very thread: one that is only sent to the process may be taken by
		// another thread, and this one goes a step further before it stops too.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		_ = unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGSTOP)
		return
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // not one step further
}

// Reach says that a step is reached.
func Reach(name string) {
	if f, ok := due(name, ""); ok {
		f.end()
	}
}

// Torn is Reach in the middle of writing data to f: half of it is there.
func Torn(name string, file *os.File, data []byte) {
	if f, ok := due(name, file.Name()); ok {
		_, _ = file.Write(data[:len(data)/2])
		f.end()
	}
}

// Fail returns the error an operation on path shall end with, or nil.
func Fail(op, path string) error {
	f, ok := due(op, path)
	if !ok {
		return nil
	}
	errno, known := map[string]syscall.Errno{"ENOSPC": syscall.ENOSPC, "EIO": syscall.EIO, "EROFS": syscall.EROFS, "EDQUOT": syscall.EDQUOT}[f.act]
	if !known {
		fmt.Fprintf(os.Stderr, "%s: %q is no error\n", Env, f.act)
		os.Exit(78)
	}
	return &os.PathError{Op: op, Path: path, Err: errno}
}
