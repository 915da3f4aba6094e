// Package lane is the single line of work for one Site: every request passes
// its Slots, and its loop does one unit of work at a time: one poll, one
// inspection, one chapter (POLL-7, design.md, Flow). It decides what a read
// means when the whole Site is in trouble (POLL-8, POLL-9). It parses no page,
// writes no SQL and never asks a Site whose circuit is not closed.
package lane
