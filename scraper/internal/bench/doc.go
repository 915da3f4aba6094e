// Package bench measures the scraper from its own parts on real PostgreSQL and a
// stand-in Site on loopback: `make bench` prints a table and writes
// build/bench.json. It asserts no time: a shared machine's seconds say little,
// its ratios and counts say more. Nothing imports it.
package bench
