package main

import (
	"os"

	"mangrove/internal/config"
	"mangrove/supervisor/internal/child"
)

// siteCommand groups what looks at how Sites are read.
type siteCommand struct {
	Check siteCheckCommand `cmd:"" help:"Check the description of a Site, and what it reads from a page."`
	Label siteLabelCommand `cmd:"" help:"Read chapters' labels from standard input and print what they state."`
}

// Help is shown by `mangrove site --help`.
func (siteCommand) Help() string {
	return "Tools for those who describe or mend a Site. They ask no database.\n\nExample: mangrove site label < labels.jsonl"
}

type siteLabelCommand struct{}

// Help is shown by `mangrove site label --help`.
func (siteLabelCommand) Help() string {
	return `Reads one JSON object a line from standard input, {"series": "the Series' name", "label": "the chapter's label"}, and prints what the label states as one JSON ` +
		"object a line: line, number, last, volume, lastVolume, season, part, revision, suffix, special, title. What the label does not state is left out. A line that cannot be read is named on " +
		"standard error and the rest is read all the same.\n\nExit codes: 0 every line was read, 1 some were not.\n\n" +
		`Example: echo '{"series": "Lantern 14", "label": "Lantern 14 Vol.2 Ch.10.5"}' | mangrove site label`
}

// Run is `mangrove site label`.
func (siteLabelCommand) Run(con console) error { return handOver(con, "site", "label") }

// handOver lets the scraper's own program talk to the person directly: our standard
// input and output are its.
func handOver(con console, args ...string) error {
	return handOverTo(runScraper, con, args...)
}

func handOverTo(run func(*child.Spec) (child.Exit, []string, error), con console, args ...string) error {
	exit, _, err := run(&child.Spec{Args: args, Log: con.err, Stdin: os.Stdin, Stdout: os.Stdout})
	if err != nil {
		return err
	}
	if exit.Code != config.ExitOK {
		return &saidError{max(exit.Code, config.ExitFailure)}
	}
	return nil
}
