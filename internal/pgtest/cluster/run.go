package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"mangrove/internal/pgcluster"
	"mangrove/internal/pgtest"
)

// failed is the exit code when the cluster, not the command, is at fault.
const failed = 125

// run starts a cluster, runs args beside it and returns the exit code.
func run(ctx context.Context, args []string) (code int, err error) {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return failed, errors.New("give a command to run")
	}
	programs, err := pgcluster.Find(pgcluster.Lookup{Bin: os.Getenv("MANGROVE_POSTGRES_BIN"), Path: os.Getenv("PATH")})
	if err != nil {
		return failed, fmt.Errorf("%w; run deploy/install.sh", err)
	}
	owner, err := pgcluster.ChooseOwner(os.Geteuid())
	if err != nil {
		return failed, err
	}
	// Straight below /tmp: a longer TMPDIR may not leave room for a socket's path.
	dir, err := os.MkdirTemp("/tmp", "mangrove-pg-")
	if err != nil {
		return failed, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s := server{programs: programs, owner: owner, layout: pgcluster.Layout{Root: dir + "/pg"}}
	if err := s.start(ctx, dir); err != nil {
		return failed, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	return command(ctx, args, s.layout.AdminURL("postgres"))
}

// command runs args with the cluster's address. A signal to us reaches it too:
// it is passed on, and the command has half a minute to end.
func command(ctx context.Context, args []string, address string) (int, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), pgtest.Env+"="+address)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 30 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal()), nil
		}
		return exit.ExitCode(), nil
	case err != nil:
		return failed, err
	}
	return 0, nil
}
