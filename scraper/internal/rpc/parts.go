package rpc

import (
	"google.golang.org/protobuf/proto"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// part is how many bytes of one message a list takes at most: no answer grows with the
// library past what a message may be (S-097). One that is longer goes in several.
const part = 1 << 20

// fitting is how many of the first items fit into one message; one always does.
func fitting[T proto.Message](items []T) int {
	size := 0
	for n, m := range items {
		if size += proto.Size(m); size > part && n > 0 {
			return n
		}
	}
	return len(items)
}

// send sends a state whole, in as many messages as its chapters need.
func send(state *scraperv1.SeriesState, to func(*scraperv1.WatchSeriesResponse) error) error {
	left := state.GetChapters()
	for {
		n := fitting(left)
		state.Chapters, left = left[:n], left[n:]
		if err := to(&scraperv1.WatchSeriesResponse{State: state, More: len(left) > 0}); err != nil || len(left) == 0 {
			return err
		}
		state = &scraperv1.SeriesState{}
	}
}
