// Package bench measures the reader's pages beside nginx sending the same bytes as
// loose files: requests a second and processor time for each, with one connection
// and with sixty-four. `make bench` prints a table and adds to build/bench.json. It
// asserts no time. Nothing imports it.
package bench
