// Package child runs the programs that Mangrove supervises: each in a process
// group of its own, with no environment but what it is given, its output kept.
// It decides nothing: it neither restarts a program nor knows which ones there
// are.
package child

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"mangrove/internal/lifeline"
)

// Spec says what to run.
type Spec struct {
	// Path is the program; Args follow it.
	Path string
	Args []string
	// Env is the whole environment, "NAME=value" each (C33).
	Env []string
	// Dir is the working folder; "" is "/".
	Dir string
	// User is whom to run as, nil for our own user. Only root may choose.
	User *User
	// Log receives whole lines of standard output and error; nil keeps none.
	Log io.Writer
	// Stdin is what the program reads, nil for nothing. It comes through a pipe:
	// in a group of its own the program may not read a terminal itself.
	Stdin io.Reader
	// Stdout, if any, is handed to the program as it is; its lines are then
	// neither kept nor logged.
	Stdout *os.File
	// Family, if any, is told that somebody waits for the program.
	Family *Family
	// Life gives the program a life pipe (lifeline): it ends itself when we are gone,
	// whatever became of the death signal.
	Life bool
	// ParentDeath is sent to the program when we die without a word; 0 is
	// SIGTERM.
	ParentDeath syscall.Signal
}

// User is a user and group of the operating system.
type User struct{ UID, GID uint32 }

// Exit says how a program ended.
type Exit struct {
	// Code is the exit code, -1 when a signal ended it.
	Code int
	// Signal names that signal, as "killed", or is "".
	Signal string
}

// String is "exit code 1" or "signal: killed".
func (e Exit) String() string {
	if e.Signal != "" {
		return "signal: " + e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}

// drainFor is how long output is still read after the program itself is gone:
// a process it left behind may hold the pipe open for ever.
const drainFor = 500 * time.Millisecond

// Process is a running program, and after Done a finished one.
type Process struct {
	pid    int
	output *output
	life   *os.File // our end of the life pipe, or nil
	done   chan struct{}
	exit   Exit
}

// Start runs the program. The error names the path when it cannot be run.
func Start(spec Spec) (*Process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Env = spec.Env
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would mean ours
	}
	cmd.Dir = spec.Dir
	if cmd.Dir == "" {
		cmd.Dir = "/"
	}
	cmd.Stdout, cmd.Stderr = w, w
	if spec.Stdout != nil {
		cmd.Stdout = spec.Stdout
	}
	fed, err := feed(cmd, spec.Stdin)
	if err != nil {
		_, _ = r.Close(), w.Close()
		return nil, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	var life *os.File
	if spec.Life {
		if life, err = enliven(cmd); err != nil {
			fed(false)
			_, _ = r.Close(), w.Close()
			return nil, fmt.Errorf("start %s: %w", spec.Path, err)
		}
	}
	death := spec.ParentDeath
	if death == 0 {
		death = syscall.SIGTERM
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death}
	if spec.User != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: spec.User.UID, Gid: spec.User.GID}
	}
	p := &Process{output: newOutput(spec.Log), life: life, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(spec.Family, cmd, r, w, started)
	err = <-started
	fed(err == nil)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", spec.Path, err)
	}
	return p, nil
}

// enliven gives cmd the read end of a life pipe and returns ours, which no program
// inherits.
func enliven(cmd *exec.Cmd) (*os.File, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{theirs} // the first of them is 3
	cmd.Env = append(slices.Clone(cmd.Env), lifeline.Env+"=3")
	return ours, nil
}

// feed gives cmd a pipe to read in from. The returned function is called once cmd
// has been started, or not: it copies in into the pipe until in ends or nobody
// reads it any more. Nothing waits for that: a terminal may never end.
func feed(cmd *exec.Cmd, in io.Reader) (func(started bool), error) {
	if in == nil {
		return func(bool) {}, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdin = r
	return func(started bool) {
		_ = r.Close()
		if !started {
			_ = w.Close()
			return
		}
		go func() {
			_, _ = io.Copy(w, in)
			_ = w.Close()
		}()
	}, nil
}

// run starts the program and stays with it to its end. The kernel sends the
// death signal when the thread that started the program ends, not the process,
// so the goroutine keeps its thread and never gives it back.
func (p *Process) run(family *Family, cmd *exec.Cmd, r, w *os.File, started chan<- error) {
	runtime.LockOSThread()
	err := family.start(cmd)
	_ = w.Close()
	for _, f := range cmd.ExtraFiles {
		_ = f.Close()
	}
	if err != nil {
		_ = r.Close()
		_ = p.life.Close() // of nil it is an error, and nothing else
		started <- err
		return
	}
	p.pid = cmd.Process.Pid
	read := make(chan struct{})
	go func() { defer close(read); p.output.read(r) }()
	started <- nil
	// The program is looked at before it is reaped: until then its group
	// cannot become another's, so what it left behind can be ended safely.
	for {
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	p.exit = exitOf(family.wait(cmd))
	_ = r.SetReadDeadline(time.Now().Add(drainFor))
	<-read
	_ = r.Close()
	_ = p.life.Close()
	p.output.close()
	close(p.done)
}

func exitOf(err error) Exit {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		if err != nil {
			return Exit{Code: -1, Signal: err.Error()}
		}
		return Exit{}
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return Exit{Code: -1, Signal: status.Signal().String()}
	}
	return Exit{Code: exit.ExitCode()}
}

// PID is the process id, which is the id of its group too.
func (p *Process) PID() int { return p.pid }

// Done is closed when the program has ended, its group is gone and its output
// is read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit says how it ended. It is set once Done is closed.
func (p *Process) Exit() Exit {
	<-p.done
	return p.exit
}

// LastLines returns the last lines of its output, oldest first, at most twenty.
func (p *Process) LastLines() []string { return p.output.last() }

// Dropped is how many lines did not reach the log, because it could not be
// written or did not keep up.
func (p *Process) Dropped() int64 { return p.output.dropped.Load() }

// Signal sends sig to the whole group. A program that has ended is no error.
func (p *Process) Signal(sig syscall.Signal) error {
	select {
	case <-p.done:
		return nil
	default:
	}
	if err := syscall.Kill(-p.pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("send %s to process group %d: %w", sig, p.pid, err)
	}
	return nil
}
