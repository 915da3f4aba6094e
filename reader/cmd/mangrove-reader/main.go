// Command mangrove-reader serves the library to browsers. It owns users,
// follows, progress and the catalog, and reaches everything else through the
// scraper's private API. It never writes into the library.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"mangrove/internal/config"
	"mangrove/internal/durable"
	"mangrove/internal/lifeline"
	"mangrove/migrations"
)

// version is set by the build.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	if len(os.Args) == 2 && os.Args[1] == "version" {
		fmt.Println(version)
		return
	}
	// The supervisor's word about a service that is parked: nothing is served for it.
	if len(os.Args) > 1 && os.Args[1] == "tell-parked" {
		err := tellParked(ctx, os.Args[2:])
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, "mangrove-reader:", err)
		}
		os.Exit(exitCode(err))
	}
	// What an operator asks for on the command line.
	if len(os.Args) > 1 && (os.Args[1] == "import" || os.Args[1] == "export") {
		err := move(ctx, os.Args[1], os.Args[2:], os.Stdout)
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, "mangrove-reader:", err)
		}
		os.Exit(moveCode(err))
	}
	// A closed terminal is no reason to stop serving (F61).
	signal.Ignore(syscall.SIGHUP)
	// Without its supervisor nobody would notice what becomes of it (SUP-8).
	ctx, orphaned := context.WithCancel(ctx)
	if err := lifeline.Watch(os.Getenv(lifeline.Env), orphaned); err != nil {
		fmt.Fprintln(os.Stderr, "mangrove-reader:", err)
		os.Exit(config.ExitConfig)
	}
	err := run(ctx, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mangrove-reader:", err)
	}
	os.Exit(exitCode(err))
}

// exitCode tells the supervisor whether another start could help (SUP-3).
func exitCode(err error) int {
	var setting *config.SettingError
	switch {
	case err == nil:
		return config.ExitOK
	case errors.As(err, &setting), errors.Is(err, migrations.ErrNewer):
		return config.ExitConfig
	case errors.Is(err, durable.ErrLocked):
		return config.ExitLock
	}
	return config.ExitFailure
}
