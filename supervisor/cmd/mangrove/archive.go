package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	"mangrove/supervisor/internal/chronicle"
	"mangrove/supervisor/internal/preflight"
)

type archiveCommand struct {
	File string `arg:"" help:"Where to put it; the file must not be there yet."`
}

// Help is shown by `mangrove archive --help`.
func (archiveCommand) Help() string {
	return "Puts supervisor-events.log aside, the supervisor's own log of what failed, was parked, tried or done, which is only ever appended to. Mangrove must be stopped. The file is copied, " +
		"synced and compared before the log is removed; the next start begins a new one. The rotated logs need none of this.\n\n" +
		"Exit codes: 0 done, 1 it cannot be written or there is nothing, 2 a wrong setting, 75 Mangrove runs.\n\n" +
		"Example: mangrove archive /srv/backup/supervisor-events-2026.log"
}

// Run is `mangrove archive`.
func (cmd archiveCommand) Run(con console) error {
	c, err := config.FromEnvironment()
	if err != nil {
		return err
	}
	to, err := filepath.Abs(cmd.File)
	if err != nil {
		return err
	}
	// Nobody appends while the lock is ours.
	lock, err := preflight.Lock(c)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	n, err := chronicle.Archive(chronicle.Path(c.DataDir), to)
	switch {
	case errors.Is(err, chronicle.ErrNothing):
		return coded(config.ExitFailure, "there is no %s: nothing to put aside", chronicle.Path(c.DataDir))
	case errors.Is(err, durable.ErrExists):
		return coded(config.ExitFailure, "%s is there already; name another file", to)
	case err != nil:
		return coded(config.ExitFailure, "%s cannot be put aside as %s: %s; it stays where it is", chronicle.Path(c.DataDir), to, durable.Reason(err))
	}
	_, err = fmt.Fprintf(con.out, "%s holds what was written until now (%d KiB); a new log begins at the next start\n", to, (n+1023)/1024)
	return err
}
