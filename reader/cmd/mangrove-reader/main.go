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
	"mangrove/migrations"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	var err error
	if len(os.Args) > 1 && os.Args[1] == "tell-parked" {
		err = tellParked(ctx, os.Args[2:])
	} else {
		err = run(ctx, os.Stderr)
	}
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
	}
	return config.ExitFailure
}
