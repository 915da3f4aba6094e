package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"mangrove/internal/pgcluster"
)

// server is the throw-away cluster.
type server struct {
	programs pgcluster.Programs
	owner    pgcluster.Owner
	layout   pgcluster.Layout
	output   *os.File
	pid      int
	// ended is closed when the server is gone, how is then in err.
	ended chan struct{}
	err   error
}

// start makes the cluster below dir, which it opens for passage, and waits
// until it takes connections.
func (s *server) start(ctx context.Context, dir string) error {
	// Tests of ordinary users' ways connect as such a user: they must get as far as the socket.
	if err := os.Chmod(dir, 0o711); err != nil {
		return err
	}
	if err := s.layout.MakeFolders(s.owner); err != nil {
		return err
	}
	err := s.layout.Create(s.owner, pgcluster.Open, true, func(args []string) error {
		out, err := s.command(s.programs.Initdb(), args).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, open := range []string{s.layout.Root, s.layout.Run()} {
		if err := os.Chmod(open, 0o711); err != nil {
			return err
		}
	}
	if s.output, err = os.Create(dir + "/log"); err != nil {
		return err
	}
	cmd := s.command(s.programs.Postgres(), s.layout.ServerArgs(
		"unix_socket_permissions=0777", "max_connections=200", "shared_buffers=128MB", "fsync=off", "full_page_writes=off",
		"synchronous_commit=off", "wal_level=minimal", "max_wal_senders=0", "jit=off", "log_min_error_statement=error"))
	cmd.Stdout, cmd.Stderr = s.output, s.output
	started := make(chan error, 1)
	s.ended = make(chan struct{})
	go func() {
		// The death signal follows the thread that started the server, so
		// this goroutine keeps its thread for as long as the server runs.
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			s.err = cmd.Wait()
			close(s.ended)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	s.pid = cmd.Process.Pid
	return s.waitReady(ctx)
}

func (s *server) waitReady(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(time.Minute)
	for !s.layout.Ready(s.pid) {
		select {
		case <-s.ended:
			log, _ := os.ReadFile(s.output.Name())
			return fmt.Errorf("the server ended (%w): %s", s.err, bytes.TrimSpace(log))
		case <-limit:
			return errors.Join(errors.New("the server was not ready within a minute"), s.stop())
		case <-ctx.Done():
			return errors.Join(ctx.Err(), s.stop())
		case <-tick.C:
		}
	}
	return nil
}

// stop asks for a fast stop, which ends sessions, and insists after ten seconds.
func (s *server) stop() error {
	defer func() { _ = s.output.Close() }()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		if err := syscall.Kill(s.pid, sig); err != nil {
			return err
		}
		select {
		case <-s.ended:
			return nil
		case <-time.After(10 * time.Second):
		}
	}
	return errors.New("the server does not end")
}

// command makes a process of the cluster's user in a group of its own, so that
// a Ctrl-C at the terminal reaches the tests first and not the server.
func (s *server) command(path string, args []string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "TZ=UTC"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGQUIT}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: s.owner.UID, Gid: s.owner.GID}
	}
	return cmd
}
