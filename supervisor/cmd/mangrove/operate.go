package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"mangrove/internal/config"
	"mangrove/supervisor/internal/child"
)

type resumeCommand struct {
	Site string `arg:"" name:"site-or-job" help:"The Site's key, for example sample, or a Job's number."`
}

// Help is shown by `mangrove resume --help`.
func (resumeCommand) Help() string {
	return "Ends a pause or a rest of a Site's circuit, or the pause of one Job. Look first at why a Site was paused: one that refused should be left alone for as long as it says.\n\n" + operateCodes +
		"Example: mangrove resume sample"
}

// Run closes a Site's circuit (CIRC-3).
func (c resumeCommand) Run(con console) error { return operate(con, "resume", c.Site) }

type releaseCommand struct {
	Hold string `arg:"" enum:"queue,storage" help:"Which Hold: queue or storage."`
}

// Help is shown by `mangrove release --help`.
func (releaseCommand) Help() string {
	return "Ends a Hold on all downloads, once what it names has been mended.\n\n" + operateCodes + "Example: mangrove release storage"
}

// Run ends a Hold.
func (c releaseCommand) Run(con console) error { return operate(con, "release", c.Hold) }

type retryCommand struct {
	Job    string `arg:"" optional:"" name:"job-or-site" help:"The Job's number, or the Site's key with the Series behind it."`
	Series string `arg:"" optional:"" help:"The Series' id on its Site."`
	All    bool   `help:"All that is quarantined."`
}

// Help is shown by `mangrove retry --help`.
func (retryCommand) Help() string {
	return "Puts a Job that was set aside back in the queue, with its counts set back and nothing deleted.\n\n" + operateCodes +
		"Examples: mangrove retry 12, mangrove retry sample pepper-and-carrot, mangrove retry --all"
}

// Run puts a Job back in the queue (JOB-5).
func (c retryCommand) Run(con console) error {
	if c.Series != "" && !c.All {
		return operate(con, "retry", c.Job, c.Series)
	}
	return operateOnJob(con, "retry", c.Job, c.All)
}

const operateCodes = "It works while the scraper is stopped or parked; a running scraper is told at once.\n\nExit codes: 0 done, 1 refused, 3 the database does not answer.\n\n"

// operate has the scraper's own program do what an operator asks: the supervisor
// never opens the database.
func operate(con console, args ...string) error {
	spec := child.Spec{Args: args}
	exit, lines, err := runScraper(&spec)
	if err != nil {
		return err
	}
	said := exit.String()
	if len(lines) > 0 {
		said = strings.TrimPrefix(lines[len(lines)-1], filepath.Base(spec.Path)+": ")
	}
	if exit.Code != config.ExitOK {
		return coded(max(exit.Code, config.ExitFailure), "%s", said)
	}
	_, err = fmt.Fprintln(con.out, printable(said))
	return err
}

// runScraper runs the scraper's own program once, with the settings it has under
// the supervisor, until it ends or we are told to. It completes spec's path,
// environment and life.
func runScraper(spec *child.Spec) (child.Exit, []string, error) {
	c, err := configured()
	if err != nil {
		return child.Exit{}, nil, err
	}
	if spec.Path, _, err = siblings(); err != nil {
		return child.Exit{}, nil, err
	}
	spec.Env = scraperEnvironment(os.Environ(), c)
	return runOnce(spec)
}

// runReader does the same with the reader's.
func runReader(spec *child.Spec) (child.Exit, []string, error) {
	c, err := configured()
	if err != nil {
		return child.Exit{}, nil, err
	}
	if _, spec.Path, err = siblings(); err != nil {
		return child.Exit{}, nil, err
	}
	spec.Env = readerEnvironment(os.Environ(), c)
	return runOnce(spec)
}

func runOnce(spec *child.Spec) (child.Exit, []string, error) {
	spec.Life = true
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return child.Run(ctx, *spec)
}
