// Package bench measures the supervisor beside others on the same child: how long
// from the kill -9 of a child to the first word of the next, and what it costs to
// do nothing. `make bench` prints a table and adds to build/bench.json. It asserts
// no time; a peer that is not installed is skipped and said to be. Nothing imports it.
package bench
