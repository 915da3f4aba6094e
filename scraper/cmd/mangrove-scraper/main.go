// Command mangrove-scraper follows Series on Sites, downloads their chapters and
// publishes them into the library. The supervisor starts it; `mangrove-scraper
// migrate` prepares the database, which this program owns.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"mangrove/internal/config"
	"mangrove/internal/lifeline"
	"mangrove/internal/logging"
)

// version is set by the build.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A closed terminal is no reason to stop serving (F61).
	signal.Ignore(syscall.SIGHUP)
	// Without its supervisor nobody would notice what becomes of it (SUP-8).
	ctx, orphaned := context.WithCancel(ctx)
	if err := lifeline.Watch(os.Getenv(lifeline.Env), orphaned); err != nil {
		fmt.Fprintln(os.Stderr, "mangrove-scraper:", err)
		os.Exit(config.ExitConfig)
	}
	code := realMain(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// exit carries a named exit code with its one line.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string { return e.err.Error() }
func (e *exit) Unwrap() error { return e.err }

func realMain(ctx context.Context, args []string) int {
	cfg, err := config.FromEnvironment()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mangrove-scraper:", err)
		return config.ExitConfig
	}
	switch {
	case len(args) == 0, len(args) == 1 && args[0] == "after-crash":
		err = run(ctx, cfg, len(args) == 1, logging.New(os.Stderr, "scraper", cfg.LogLevel))
	case len(args) == 1 && args[0] == "migrate":
		err = migrate(ctx, cfg, -1)
	case len(args) == 2 && args[0] == "downgrade":
		to, perr := strconv.ParseInt(args[1], 10, 64)
		if perr != nil || to < 0 {
			err = &exit{config.ExitSettings, errUsage}
		} else {
			err = migrate(ctx, cfg, to)
		}
	case len(args) == 1 && args[0] == "version":
		fmt.Println(version)
	case len(args) == 1 && args[0] == "check":
		err = check(ctx, cfg, os.Stdout)
	case len(args) == 1 && args[0] == "database":
		err = database(ctx, cfg, os.Stdout)
	case len(args) > 0 && args[0] == "progress":
		err = progress(ctx, cfg, args[1:], os.Stdout)
	case len(args) > 0 && args[0] == "site":
		err = site(ctx, args[1:], streams{os.Stdin, os.Stdout, os.Stderr})
	default:
		err = operate(ctx, cfg, args)
	}
	if err == nil {
		return config.ExitOK
	}
	fmt.Fprintln(os.Stderr, "mangrove-scraper:", err)
	var e *exit
	if errors.As(err, &e) {
		return e.code
	}
	return config.ExitFailure
}
