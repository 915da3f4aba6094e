package main

import (
	"fmt"
	"path/filepath"
	"strconv"
)

type incidentCommand struct {
	List incidentListCommand `cmd:"" help:"List what went wrong, newest first."`
	Show incidentShowCommand `cmd:"" help:"Show one incident: what was read, and what was decided."`
	Save incidentSaveCommand `cmd:"" help:"Save the bundle of one incident, fit for a bug report."`
}

// Help is shown by `mangrove incident --help`.
func (incidentCommand) Help() string {
	return "The newest two hundred are kept. What may be secret was taken out before it was kept.\n\n" + incidentCodes + "Example: mangrove incident list"
}

const incidentCodes = "It works while the scraper is stopped or parked.\n\nExit codes: 0 done, 1 there is no such incident or it cannot be written, 3 the database does not answer.\n\n"

type incidentListCommand struct{}

// Help is shown by `mangrove incident list --help`.
func (incidentListCommand) Help() string {
	return "One line each: number, when last, kind, what it is about, whether it waits, and why.\n\n" + incidentCodes + "Example: mangrove incident list"
}

// Run is `mangrove incident list`.
func (incidentListCommand) Run(con console) error { return handOver(con, "incident", "list") }

type incidentShowCommand struct {
	N int64 `arg:"" help:"The incident's number."`
}

// Help is shown by `mangrove incident show --help`.
func (incidentShowCommand) Help() string {
	return "Prints what was decided, in order, and the beginning of what the Site answered.\n\n" + incidentCodes + "Example: mangrove incident show 12"
}

// Run is `mangrove incident show`.
func (c incidentShowCommand) Run(con console) error {
	return handOver(con, "incident", "show", strconv.FormatInt(c.N, 10))
}

type incidentSaveCommand struct {
	N    int64  `arg:"" help:"The incident's number."`
	File string `arg:"" optional:"" help:"Where to put it; incident-N.zip here if left out."`
}

// Help is shown by `mangrove incident save --help`.
func (incidentSaveCommand) Help() string {
	return "Writes one zip of at most 1 MiB: incident.json, the pages that were read, the Job's checkpoint, and how to make a test of it. A file that is there already is left alone.\n\n" +
		incidentCodes + "Example: mangrove incident save 12"
}

// Run is `mangrove incident save`.
func (c incidentSaveCommand) Run(con console) error {
	if c.File == "" {
		c.File = fmt.Sprintf("incident-%d.zip", c.N)
	}
	// The program is started elsewhere.
	file, err := filepath.Abs(c.File)
	if err != nil {
		return err
	}
	return handOver(con, "incident", "save", strconv.FormatInt(c.N, 10), file)
}
