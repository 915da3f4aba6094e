// Package scrapertest is a scripted scraper for tests: the private API on a
// real unix socket, answering from data that a test sets and recording what it
// was told. It fetches nothing and knows no rule of the real one but those that
// the API itself states (a stale revision of the follows is refused).
package scrapertest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"
	"testing"

	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"mangrove/internal/fault"
	"mangrove/internal/grpcserver"
	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// Scraper is the scripted scraper.
type Scraper struct {
	scraperv1.UnimplementedScraperServiceServer
	scraperv1.UnimplementedQueueServiceServer
	scraperv1.UnimplementedMovingServiceServer
	socket string

	mu       sync.Mutex
	server   *grpcserver.Server
	moved    chan struct{}
	states   map[string]*scraperv1.SeriesState
	reported []string
	covers   map[string][]byte
	epoch    string
	changes  []*scraperv1.LibraryChange
	revision int64
	follows  []*scraperv1.ApplyFollowsRequest
	polls    []*scraperv1.SeriesKey
	failure  error
	library  *scraperv1.LibraryState
	operated
	placed
	queued
	foreign map[string]*scraperv1.RecognisedSeries
	folders map[string]*scraperv1.SeriesKey
	refused error
}

// New makes a scraper that does not listen yet; its socket lies in a folder of
// its own, short enough for a unix address.
func New(t testing.TB) *Scraper {
	t.Helper()
	dir, err := os.MkdirTemp("", "scraper")
	if err != nil {
		t.Fatal(err)
	}
	s := &Scraper{
		socket: filepath.Join(dir, "s.sock"), moved: make(chan struct{}), epoch: "epoch-1",
		states: map[string]*scraperv1.SeriesState{}, covers: map[string][]byte{},
	}
	t.Cleanup(func() { s.Stop(); _ = os.RemoveAll(dir) })
	return s
}

// Socket is where it listens once started.
func (s *Scraper) Socket() string { return s.socket }

// Start listens.
func (s *Scraper) Start(t testing.TB) {
	t.Helper()
	l, err := grpcserver.ListenUnix(s.socket)
	if err != nil {
		t.Fatal(err)
	}
	g := grpcserver.New(zap.NewNop(), grpc.Creds(grpcserver.PeerCredentials(os.Geteuid())))
	scraperv1.RegisterScraperServiceServer(g.Server, s)
	scraperv1.RegisterQueueServiceServer(g.Server, s)
	scraperv1.RegisterMovingServiceServer(g.Server, s)
	s.mu.Lock()
	s.server = g
	s.mu.Unlock()
	go func() { _ = g.Serve(l) }()
}

// Stop goes away at once, as if killed.
func (s *Scraper) Stop() {
	s.mu.Lock()
	g := s.server
	s.server = nil
	s.mu.Unlock()
	if g != nil {
		g.Server.Stop()
	}
}

func id(k *scraperv1.SeriesKey) string { return k.GetSite() + "/" + k.GetSeriesId() }

// change runs fn and tells everyone who watches.
func (s *Scraper) change(fn func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn()
	close(s.moved)
	s.moved = make(chan struct{})
}

// Fail makes GetSeries fail with err from now on.
func (s *Scraper) Fail(err error) { s.change(func() { s.failure = err }) }

// SetState sets what is known of one Series.
func (s *Scraper) SetState(st *scraperv1.SeriesState) {
	s.change(func() { s.states[id(st.GetSeries().GetKey())] = st })
}

// SetCover sets the cover of one Series.
func (s *Scraper) SetCover(site, series string, data []byte) {
	s.change(func() { s.covers[site+"/"+series] = data })
}

// Publish appends to the change log and gives the next revision.
func (s *Scraper) Publish(changes ...*scraperv1.LibraryChange) {
	s.change(func() {
		for _, c := range changes {
			c = proto.CloneOf(c)
			c.Revision = int64(len(s.changes) + 1)
			s.changes = append(s.changes, c)
		}
	})
}

// NewEpoch starts the change log over.
func (s *Scraper) NewEpoch(epoch string) {
	s.change(func() { s.epoch, s.changes = epoch, nil })
}

// Follows are the messages that arrived, oldest first.
func (s *Scraper) Follows() []*scraperv1.ApplyFollowsRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*scraperv1.ApplyFollowsRequest(nil), s.follows...)
}

// Polls are the Forced Polls asked for.
func (s *Scraper) Polls() []*scraperv1.SeriesKey {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*scraperv1.SeriesKey(nil), s.polls...)
}

// SetLibrary sets the state of the library folder.
func (s *Scraper) SetLibrary(l *scraperv1.LibraryState) { s.change(func() { s.library = l }) }

// GetLibrary answers what was set.
func (s *Scraper) GetLibrary(context.Context, *scraperv1.GetLibraryRequest) (*scraperv1.GetLibraryResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &scraperv1.GetLibraryResponse{Library: s.library}, nil
}

// GetStatus answers the heads.
func (s *Scraper) GetStatus(context.Context, *scraperv1.GetStatusRequest) (*scraperv1.GetStatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	failing := s.failing(nil)
	muted := 0
	for _, st := range failing {
		if s.isMuted(st) {
			muted++
		}
	}
	return &scraperv1.GetStatusResponse{
		Version: "test", LibraryEpoch: s.epoch, LibraryRevision: int64(len(s.changes)), FollowsRevision: s.revision,
		SeriesFailing: int32(len(failing)), SeriesMuted: int32(muted), Lanes: s.briefLanes(),
		Library: s.library, JobsReady: s.inState("ready"), JobsQuarantined: s.inState("quarantined"),
	}, nil
}

// ListSeries answers the Series that were set.
func (s *Scraper) ListSeries(_ context.Context, r *scraperv1.ListSeriesRequest) (*scraperv1.ListSeriesResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &scraperv1.ListSeriesResponse{}
	for _, st := range s.states {
		if r.GetOrigin() == "" || st.GetSeries().GetOrigin() == r.GetOrigin() {
			out.Series = append(out.Series, st.GetSeries())
		}
	}
	sort.Slice(out.Series, func(i, j int) bool { return out.Series[i].GetTitle() < out.Series[j].GetTitle() })
	return out, nil
}

func (s *Scraper) state(k *scraperv1.SeriesKey) (*scraperv1.SeriesState, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.states[id(k)]
	if st == nil {
		return nil, nil, fault.New(fault.NotFound, "find", "a Series", nil)
	}
	return st, s.moved, nil
}

// GetSeries answers the state that was set.
func (s *Scraper) GetSeries(_ context.Context, r *scraperv1.GetSeriesRequest) (*scraperv1.GetSeriesResponse, error) {
	s.mu.Lock()
	failure := s.failure
	s.mu.Unlock()
	if failure != nil {
		return nil, failure
	}
	st, _, err := s.state(r.GetKey())
	if err != nil {
		return nil, err
	}
	st, more := partOf(st, int(r.GetSkip()))
	return &scraperv1.GetSeriesResponse{State: st, More: more}, nil
}

// ReportFile keeps the path.
func (s *Scraper) ReportFile(_ context.Context, r *scraperv1.ReportFileRequest) (*scraperv1.ReportFileResponse, error) {
	s.change(func() { s.reported = append(s.reported, r.GetPath()) })
	return &scraperv1.ReportFileResponse{}, nil
}

// Reported are the files that could not be read.
func (s *Scraper) Reported() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reported)
}

// partOf is a state with two of its chapters, as the scraper tells of a long Series.
func partOf(st *scraperv1.SeriesState, skip int) (part *scraperv1.SeriesState, more bool) {
	part = proto.CloneOf(st)
	part.Chapters = part.Chapters[min(skip, len(part.Chapters)):]
	more = len(part.Chapters) > 2
	part.Chapters = part.Chapters[:min(2, len(part.Chapters))]
	return part, more
}

// WatchSeries sends the state now and whenever anything is set.
func (s *Scraper) WatchSeries(r *scraperv1.WatchSeriesRequest, stream grpc.ServerStreamingServer[scraperv1.WatchSeriesResponse]) error {
	for {
		st, moved, err := s.state(r.GetKey())
		if err != nil {
			return err
		}
		for skip, more := 0, true; more; skip += 2 {
			var part *scraperv1.SeriesState
			if part, more = partOf(st, skip); skip > 0 {
				part = &scraperv1.SeriesState{Chapters: part.GetChapters()}
			}
			if err := stream.Send(&scraperv1.WatchSeriesResponse{State: part, More: more}); err != nil {
				return err
			}
		}
		select {
		case <-moved:
		case <-stream.Context().Done():
			return nil
		}
	}
}

// GetCover answers the cover that was set.
func (s *Scraper) GetCover(_ context.Context, r *scraperv1.GetCoverRequest) (*scraperv1.GetCoverResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data := s.covers[id(r.GetKey())]
	if data == nil {
		return nil, fault.New(fault.NotFound, "find", "a cover", nil)
	}
	return &scraperv1.GetCoverResponse{MediaType: "image/png", Data: data}, nil
}

// ApplyFollows records the message; an older revision is refused.
func (s *Scraper) ApplyFollows(_ context.Context, r *scraperv1.ApplyFollowsRequest) (*scraperv1.ApplyFollowsResponse, error) {
	var out *scraperv1.ApplyFollowsResponse
	s.change(func() {
		s.follows = append(s.follows, proto.CloneOf(r))
		stale := r.GetRevision() < s.revision
		s.revision = max(s.revision, r.GetRevision())
		out = &scraperv1.ApplyFollowsResponse{Revision: s.revision, Stale: stale}
	})
	return out, nil
}

// RequestPoll records the wish.
func (s *Scraper) RequestPoll(_ context.Context, r *scraperv1.RequestPollRequest) (*scraperv1.RequestPollResponse, error) {
	s.change(func() { s.polls = append(s.polls, r.GetKey()) })
	return &scraperv1.RequestPollResponse{}, nil
}

// ListLibraryChanges answers the log as the API says.
func (s *Scraper) ListLibraryChanges(_ context.Context, r *scraperv1.ListLibraryChangesRequest) (*scraperv1.ListLibraryChangesResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	after := r.GetAfter()
	if r.GetEpoch() != s.epoch {
		after = 0
	}
	out := &scraperv1.ListLibraryChangesResponse{Epoch: s.epoch, Head: int64(len(s.changes))}
	for _, c := range s.changes {
		if c.GetRevision() > after && int32(len(out.Changes)) < r.GetLimit() {
			out.Changes = append(out.Changes, c)
		}
	}
	return out, nil
}

// WatchLibrary tells the head now and whenever it moves.
func (s *Scraper) WatchLibrary(_ *scraperv1.WatchLibraryRequest, stream grpc.ServerStreamingServer[scraperv1.WatchLibraryResponse]) error {
	for {
		s.mu.Lock()
		m, moved := &scraperv1.WatchLibraryResponse{Epoch: s.epoch, Head: int64(len(s.changes))}, s.moved
		s.mu.Unlock()
		if err := stream.Send(m); err != nil {
			return err
		}
		select {
		case <-moved:
		case <-stream.Context().Done():
			return nil
		}
	}
}
