package main

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"mangrove/internal/config"
	"mangrove/supervisor/internal/child"
)

// siteCommand groups what looks at how Sites are read.
type siteCommand struct {
	Check siteCheckCommand `cmd:"" help:"Check the description of a Site, and what it reads from a page."`
}

// Help is shown by `mangrove site --help`.
func (siteCommand) Help() string {
	return "Tools for those who describe or mend a Site. They ask no database.\n\nExample: mangrove site check comic.yaml"
}

type siteCheckCommand struct {
	File string `arg:"" help:"The description, a .yaml file."`
	URL  string `arg:"" optional:"" help:"The address of a Series, a chapter or a search on the Site."`
}

// Help is shown by `mangrove site check --help`.
func (siteCheckCommand) Help() string {
	return "Says what is wrong with a description, with file, line and column. With an address it asks the Site, as slowly as a Lane would, and shows what each key finds there and " +
		"what a Poll would end in; from a Series it goes on to the page list of its first chapter.\n\nExit codes: 0 all is well, 1 something is to be mended.\n\n" +
		"Example: mangrove site check comic.yaml https://comic.example/series/one"
}

// Run is `mangrove site check`.
func (c siteCheckCommand) Run(con console) error {
	// The program is started elsewhere.
	file, err := filepath.Abs(c.File)
	if err != nil {
		return err
	}
	args := []string{"site", "check", file}
	if c.URL != "" {
		args = append(args, c.URL)
	}
	return handOver(con, args...)
}

// handOver lets the scraper's own program talk to the person: what it says is
// passed on line by line, and its exit code is ours.
func handOver(con console, args ...string) error {
	c, err := config.FromEnvironment()
	if err != nil {
		return err
	}
	scraper, _, err := siblings()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	exit, _, err := child.Run(ctx, child.Spec{Path: scraper, Args: args, Env: scraperEnvironment(os.Environ(), c), Log: con.out})
	if err != nil {
		return err
	}
	if exit.Code != config.ExitOK {
		return &saidError{max(exit.Code, config.ExitFailure)}
	}
	return nil
}
