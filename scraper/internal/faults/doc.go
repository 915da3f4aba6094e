// Package faults kills the scraper's own program at every named step of a chapter
// (internal/failpoint) and at seeded moments, lets its disk fail under it, and
// looks at library, change log and the Site's ledger from outside: `make faults`
// prints a table and writes build/faults.json. The code under test is the built
// binary with real PostgreSQL and a stand-in Site on loopback; nothing imports
// this, and it judges by what a reader of the folder and the Site would see.
package faults
