// Package faults kills the scraper's own program at seeded moments and looks at
// the library from outside, as a reader of the folder would: `make faults` prints
// a table and writes build/faults.json. The code under test is the built binary
// with real PostgreSQL and a stand-in Site on loopback; nothing imports this.
package faults
