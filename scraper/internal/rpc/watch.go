package rpc

import (
	"time"

	"google.golang.org/grpc"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// settle is how long a burst of changes is gathered before it is sent: pages
// arrive many a second, people look a few times a second.
const settle = 200 * time.Millisecond

// WatchSeries sends the state of one Series now and after each change.
func (s *Server) WatchSeries(r *scraperv1.WatchSeriesRequest, stream grpc.ServerStreamingServer[scraperv1.WatchSeriesResponse]) error {
	key, err := keyOf(r.GetKey())
	if err != nil {
		return err
	}
	// Watch first, so that no change between the read and the watch is missed.
	changed, stop := s.Hub.WatchSeries(key)
	defer stop()
	ctx := stream.Context()
	for {
		state, err := s.state(ctx, key)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		if err != nil {
			// Unfollowed while watched, or not yet followed: an empty state.
			state = &scraperv1.SeriesState{}
		}
		if err := send(state, stream.Send); err != nil {
			return err
		}
		if !wait(ctx.Done(), changed) {
			return ctx.Err()
		}
	}
}

// WatchLibrary sends the library's head revision now and whenever it moves.
func (s *Server) WatchLibrary(_ *scraperv1.WatchLibraryRequest, stream grpc.ServerStreamingServer[scraperv1.WatchLibraryResponse]) error {
	changed, stop := s.Hub.WatchLibrary()
	defer stop()
	ctx := stream.Context()
	for {
		epoch, head, err := s.Store.LibraryHead(ctx)
		if err != nil {
			return err
		}
		if err := stream.Send(&scraperv1.WatchLibraryResponse{Epoch: epoch, Head: head}); err != nil {
			return err
		}
		if !wait(ctx.Done(), changed) {
			return ctx.Err()
		}
	}
}

// WatchQueue tells that something in the queue changed, now and then.
func (s *Server) WatchQueue(_ *scraperv1.WatchQueueRequest, stream grpc.ServerStreamingServer[scraperv1.WatchQueueResponse]) error {
	changed, stop := s.Hub.WatchQueue()
	defer stop()
	for {
		if err := stream.Send(&scraperv1.WatchQueueResponse{}); err != nil {
			return err
		}
		if !wait(stream.Context().Done(), changed) {
			return stream.Context().Err()
		}
	}
}

// wait returns true a settling time after a change, false at the end of the call.
func wait(done <-chan struct{}, changed <-chan struct{}) bool {
	select {
	case <-done:
		return false
	case <-changed:
	}
	timer := time.NewTimer(settle)
	defer timer.Stop()
	select {
	case <-done:
		return false
	case <-timer.C:
		return true
	}
}
