package main

import (
	"mangrove/internal/config"
)

type queueCommand struct{}

// Help is shown by `mangrove queue --help`.
func (queueCommand) Help() string {
	return "Lists what is under way, what waits and what was set aside, with the number by which the other commands call a Job.\n\n" + operateCodes + "Example: mangrove queue"
}

// Run lists the queue.
func (queueCommand) Run(con console) error { return handOver(con, "queue") }

type pauseCommand struct {
	Job string `arg:"" optional:"" name:"site-or-job" help:"The Site's key, for example sample, or a Job's number."`
	All bool   `help:"Hold all downloads."`
}

// Help is shown by `mangrove pause --help`.
func (pauseCommand) Help() string {
	return "Pauses one Job, or a whole Site until mangrove resume, or holds all downloads until mangrove release queue. What is under way ends its Pass or chapter first.\n\n" + operateCodes +
		"Examples: mangrove pause 12, mangrove pause sample, mangrove pause --all"
}

// Run pauses a Job or a Site, or sets the operator's Hold.
func (c pauseCommand) Run(con console) error { return operateOnJob(con, "pause", c.Job, c.All) }

type cancelCommand struct {
	Job string `arg:"" help:"The Job's number."`
}

// Help is shown by `mangrove cancel --help`.
func (cancelCommand) Help() string {
	return "Ends a Job for good. What it has published stays, and so do the pages it has staged.\n\n" + operateCodes + "Example: mangrove cancel 12"
}

// Run cancels a Job.
func (c cancelCommand) Run(con console) error { return operateOnJob(con, "cancel", c.Job, false) }

// operateOnJob does an act on one Job or on all.
func operateOnJob(con console, act, job string, all bool) error {
	switch {
	case all == (job != ""):
		return coded(config.ExitSettings, "name one Job by its number (mangrove queue lists them), or say --all")
	case all:
		job = "--all"
	}
	return operate(con, act, job)
}
