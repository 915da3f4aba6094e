// Package kerneltest lets the kernel answer this process with what a test needs: a lock
// that is granted and not taken, a fork that is refused. It filters the system calls of
// all threads and of everything that is started afterwards, for good, so a test does it
// in a process of its own. It contains no product code, and nothing but tests imports it.
package kerneltest

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrNoFilter means that this machine filters no system calls.
var ErrNoFilter = errors.New("this kernel filters no system calls")

// Offsets in struct seccomp_data, of which the lower half of the first argument comes
// first on the machines below.
const (
	atNumber = 0
	atArch   = 4
	atFirst  = 16
)

// numbers are the architecture and the system calls of one machine.
type numbers struct {
	arch uint32
	// forks are calls that only ever make processes.
	forks []uint32
}

func machine() (numbers, error) {
	switch runtime.GOARCH {
	case "amd64":
		return numbers{unix.AUDIT_ARCH_X86_64, []uint32{57, 58}}, nil // fork, vfork
	case "arm64":
		return numbers{unix.AUDIT_ARCH_AARCH64, nil}, nil
	}
	return numbers{}, fmt.Errorf("%w: %s is not known here", ErrNoFilter, runtime.GOARCH)
}

func load(at uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
}

func answer(k uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k}
}

// unless jumps over the next n instructions where the loaded word is not k.
func unless(k uint32, n uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: n}
}

// failing makes a call return an errno; 0 makes it return 0 and do nothing.
func failing(err unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(err) }

const allowed = unix.SECCOMP_RET_ALLOW

// LyingLocks grants every flock from now on, and takes none: as some network file
// systems do (F45).
func LyingLocks() error {
	return install(func(numbers) []unix.SockFilter {
		return []unix.SockFilter{load(atNumber), unless(unix.SYS_FLOCK, 1), answer(failing(0))}
	})
}

// NoForks refuses every new process from now on, as a kernel at its limit does; new
// threads are none (F38).
func NoForks() error {
	return install(func(m numbers) []unix.SockFilter {
		// A library that asks for threads in the newer way asks in the older one then.
		program := []unix.SockFilter{load(atNumber), unless(unix.SYS_CLONE3, 1), answer(failing(unix.ENOSYS))}
		for _, fork := range m.forks {
			program = append(program, unless(fork, 1), answer(failing(unix.EAGAIN)))
		}
		return append(program, unless(unix.SYS_CLONE, 4), load(atFirst),
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: unix.CLONE_THREAD, Jt: 1},
			answer(failing(unix.EAGAIN)), answer(allowed))
	})
}

// install filters the system calls of every thread.
func install(rules func(numbers) []unix.SockFilter) error {
	m, err := machine()
	if err != nil {
		return err
	}
	program := append([]unix.SockFilter{load(atArch), unless(m.arch, 1), {Code: unix.BPF_JMP | unix.BPF_JA, K: 1}, answer(allowed)}, rules(m)...)
	program = append(program, answer(allowed))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("%w: %w", ErrNoFilter, err)
	}
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(program)
	if errno != 0 {
		return fmt.Errorf("%w: %w", ErrNoFilter, errno)
	}
	return nil
}
