// Package lifeline is the life pipe between the supervisor and a program it
// starts: the program inherits the read end, the supervisor alone holds the write
// end and never writes. However the supervisor ends, the kernel closes the pipe,
// and the program ends itself (SUP-8). The package starts no program and sends no
// signal.
package lifeline

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Env names the variable that gives a program the descriptor of its life pipe. It
// is no setting: a person never sets it, and a program started by hand has none.
const Env = "LIFE_PIPE_FD"

// Grace is how long a program may take to end in peace once its pipe is closed. It
// leaves a second of the five that nothing may outlive the supervisor.
const Grace = 4 * time.Second

// exitCode is that of a program that did not end in peace. Nobody is left to read it.
const exitCode = 1

// Watch looks after the life pipe that value names, which is Env's: when it closes,
// lost is called, and the process is gone after Grace at the latest. An empty value
// is no pipe and nothing to watch. Programs that this one starts do not inherit it.
func Watch(value string, lost func()) error {
	if value == "" {
		return nil
	}
	fd, err := strconv.ParseUint(value, 10, 16)
	if err != nil {
		return fmt.Errorf("%s: %q is no descriptor", Env, value)
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(fd), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return fmt.Errorf("%s: descriptor %d is no pipe", Env, fd)
	}
	unix.CloseOnExec(int(fd))
	go follow(os.NewFile(uintptr(fd), "life pipe"), lost, os.Exit)
	return nil
}

// follow returns never, or after exit.
func follow(pipe *os.File, lost func(), exit func(int)) {
	_, _ = pipe.Read(make([]byte, 1)) // Nothing is ever written: it returns when the other end is gone.
	go lost()
	time.Sleep(Grace)
	exit(exitCode)
}
