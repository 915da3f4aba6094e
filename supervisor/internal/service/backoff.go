package service

import "time"

const (
	// secondPause is that after the second failure in a row.
	secondPause = time.Second
	longest     = time.Minute
	// steadyAfter is how long a program must serve for its next failure to
	// be the first again.
	steadyAfter = 10 * time.Minute
)

// pause returns how long to wait after the n-th failure in a row, n from 1: not at
// all after one that came out of the blue, then one second, doubled each time, at
// most a minute.
func pause(n int) time.Duration {
	if n <= 1 {
		return 0
	}
	d := secondPause
	for range n - 2 {
		if d *= 2; d >= longest {
			return longest
		}
	}
	return d
}
