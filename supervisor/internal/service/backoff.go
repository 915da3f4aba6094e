package service

import "time"

const (
	firstPause = time.Second
	longest    = time.Minute
	// steadyAfter is how long a program must serve for its next failure to
	// be the first again.
	steadyAfter = 10 * time.Minute
)

// pause returns how long to wait after the n-th failure in a row, n from 1:
// one second, doubled each time, at most a minute.
func pause(n int) time.Duration {
	d := firstPause
	for range n - 1 {
		if d *= 2; d >= longest {
			return longest
		}
	}
	return d
}
