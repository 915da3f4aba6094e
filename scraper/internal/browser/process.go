package browser

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is Chromium's main process with all that descends from it.
type process struct {
	pid  int
	done chan struct{}
	said tail

	mu sync.Mutex
	// kin are the descendants last seen, by the time they started: once the main
	// process is gone they have another parent and cannot be found any more.
	kin map[int]string
}

// start runs cmd in a group of its own; it dies with us even if we are killed.
func start(cmd *exec.Cmd) (*process, error) {
	p := &process{done: make(chan struct{}), kin: map[int]string{}}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout, cmd.Stderr = w, w
	cmd.SysProcAttr.Setpgid, cmd.SysProcAttr.Pdeathsig = true, syscall.SIGKILL
	started := make(chan error, 1)
	go p.run(cmd, r, w, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// run starts the program and stays with it to its end. The kernel sends the
// death signal when the thread that started the program ends, so the goroutine
// keeps its thread and never gives it back.
func (p *process) run(cmd *exec.Cmd, r, w *os.File, started chan<- error) {
	runtime.LockOSThread()
	err := cmd.Start()
	_ = w.Close()
	if err != nil {
		_ = r.Close()
		started <- err
		return
	}
	p.pid = cmd.Process.Pid
	go func() { _, _ = io.Copy(&p.said, r) }()
	started <- nil
	// It is looked at before it is reaped: until then its group cannot become
	// another's, so what it left behind can be ended safely.
	for {
		err := unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	p.endKin()
	_ = cmd.Wait()
	_ = r.Close()
	close(p.done)
}

// kill ends the group and every descendant, those in groups of their own too,
// and waits until they are gone, for a bounded time.
func (p *process) kill() {
	p.look()
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	<-p.done
	for deadline := time.Now().Add(5 * time.Second); p.endKin() > 0 && time.Now().Before(deadline); {
		time.Sleep(5 * time.Millisecond)
	}
}

// endKin kills the known descendants and returns how many were still there.
func (p *process) endKin() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	left := 0
	for pid, started := range p.kin {
		s, ok := statOf(strconv.Itoa(pid))
		if !ok || s.started != started || s.ended {
			continue
		}
		left++
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	return left
}

// look notes the descendants there are now and returns the memory of the whole
// family in bytes: what each process has to itself, which unlike its
// proportional share everybody may read.
func (p *process) look() int64 {
	select {
	case <-p.done:
		return 0
	default:
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0
	}
	all, children := map[int]stat{}, map[int][]int{}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if s, ok := statOf(e.Name()); ok {
				all[pid] = s
				children[s.parent] = append(children[s.parent], pid)
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for pid, started := range p.kin {
		if all[pid].started != started {
			delete(p.kin, pid)
		}
	}
	memory := privateOf(p.pid)
	for queue := children[p.pid]; len(queue) > 0; {
		pid := queue[0]
		queue = append(queue[1:], children[pid]...)
		p.kin[pid] = all[pid].started
		memory += privateOf(pid)
	}
	return memory
}

// endStrays ends what names the profile and is not of the family: the crash
// handler gives itself another parent at once, and may never have been seen with
// its own. It waits until they are gone, for a bounded time.
func endStrays(profile string) {
	for deadline := time.Now().Add(5 * time.Second); ; {
		left := 0
		entries, err := os.ReadDir("/proc")
		if err != nil {
			return
		}
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil || pid == os.Getpid() {
				continue
			}
			line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
			if err != nil || !bytes.Contains(line, []byte(profile+"/")) {
				continue
			}
			left++
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		if left == 0 || time.Now().After(deadline) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

type stat struct {
	parent  int
	started string
	ended   bool
}

func statOf(pid string) (stat, bool) {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return stat{}, false
	}
	// The name in brackets may hold anything; the rest follows it (proc(5)).
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 20 {
		return stat{}, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return stat{parent, string(fields[19]), fields[0][0] == 'Z' || fields[0][0] == 'X'}, err == nil
}

func privateOf(pid int) int64 {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(data))
	if len(fields) < 3 {
		return 0
	}
	resident, rerr := strconv.ParseInt(fields[1], 10, 64)
	shared, serr := strconv.ParseInt(fields[2], 10, 64)
	if rerr != nil || serr != nil {
		return 0
	}
	return max(0, resident-shared) * int64(os.Getpagesize())
}

// tail keeps the end of what Chromium says.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if over := len(t.data) - 4<<10; over > 0 {
		t.data = append([]byte(nil), t.data[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}

// ended reports whether the main process is gone.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}
