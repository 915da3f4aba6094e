// Package rpc is the gRPC edge of the scraper: it turns what the packages behind
// it know into messages, and requests into calls, and is the only importer of
// the contract. It asks no Site, runs no SQL, and words nothing for a person.
package rpc

import (
	"context"
	"time"

	"golang.org/x/sync/singleflight"
	"google.golang.org/protobuf/types/known/timestamppb"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/follow"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

// Store is what the edge reads.
type Store interface {
	Series(ctx context.Context, key source.Key) (store.SeriesRow, error)
	ListSeries(ctx context.Context, origin string) ([]store.SeriesRow, error)
	Chapters(ctx context.Context, key source.Key) ([]store.KnownChapter, error)
	Failure(ctx context.Context, key source.Key) (store.Failure, bool, error)
	LatestJob(ctx context.Context, key source.Key) (job.Job, bool, error)
	JobChapters(ctx context.Context, id int64) ([]store.JobChapter, error)
	FilesOfSeries(ctx context.Context, key source.Key) (map[string]string, error)
	Lanes(ctx context.Context) ([]store.LaneRow, error)
	Canaries(ctx context.Context) ([]store.CanaryRow, error)
	CanaryEvery(ctx context.Context) (time.Duration, error)
	SetCanaryEvery(ctx context.Context, d time.Duration) error
	ForcePoll(ctx context.Context, key source.Key, now time.Time) (time.Time, error)
	ForcePolls(ctx context.Context, keys []source.Key, now time.Time) (int64, error)
	Worklist(ctx context.Context, q store.WorklistQuery) ([]store.FailingSeries, error)
	WorklistCounts(ctx context.Context, site string, before time.Time) (map[poll.Outcome]store.WorklistCount, error)
	SetMuted(ctx context.Context, keys []source.Key, muted bool, now time.Time) (int64, error)
	PollInterval(ctx context.Context, site string) (time.Duration, error)
	SetPollInterval(ctx context.Context, site string, d time.Duration) error
	AdaptiveInterval(ctx context.Context) (bool, error)
	SetAdaptiveInterval(ctx context.Context, on bool) error
	DefaultLanguages(ctx context.Context) ([]string, error)
	SetDefaultLanguages(ctx context.Context, tags []string) error
	PassesSince(ctx context.Context, t time.Time) ([]lane.Pass, error)
	CountingSince(ctx context.Context) (time.Time, error)
	NewChapters(ctx context.Context, limit int) ([]store.NewChapter, error)
	Circuit(ctx context.Context, site string) (circuit.Circuit, error)
	MoveCircuit(ctx context.Context, from, to circuit.Circuit) (bool, error)
	MoveSeries(ctx context.Context, from, to source.Key, url string, now time.Time) error
	Proposal(ctx context.Context, key source.Key) (lane.Proposal, error)
	LibraryHead(ctx context.Context) (epoch string, revision int64, err error)
	ChangesAfter(ctx context.Context, revision int64, limit int) ([]store.LibraryChange, error)
	Standing(ctx context.Context) (store.Standing, error)
	AdoptFolder(ctx context.Context, folder string, to source.Key, now time.Time) (files, listed int, err error)
	ReturnFolder(ctx context.Context, folder string) (files int, err error)
	QueueStore
	Incidents
}

// Follows applies the reader's messages.
type Follows interface {
	Apply(ctx context.Context, m follow.Message) (follow.Result, error)
}

// Searches asks a Site through its Lane, with a person's priority.
type Searches interface {
	Search(ctx context.Context, site, query string) ([]source.Series, error)
}

// Covers reads kept covers.
type Covers interface {
	// Read returns the image of a digest and its type by content; class
	// not-found if it is not kept.
	Read(sha256 string) (data []byte, mediaType string, err error)
}

// Library is what the library folder holds, as last looked at.
type Library interface {
	// Summary never waits.
	Summary() inventory.Summary
	// Invalidate says that what is known of it has changed, TryAgain that the cause
	// of a failure was mended.
	Invalidate()
	TryAgain()
}

// Server implements ScraperService.
type Server struct {
	scraperv1.UnimplementedScraperServiceServer
	scraperv1.UnimplementedQueueServiceServer
	scraperv1.UnimplementedMovingServiceServer

	Version  string
	Started  time.Time
	Store    Store
	Follows  Follows
	Covers   Covers
	Searches Searches
	Library  Library
	Hub      *live.Hub
	Adapters *source.Registry
	// Browser says why no browser can be started, or nil; a nil func never does.
	Browser func() error
	// Unread are descriptions of Sites that are not read now; a nil func has none.
	Unread func() []*scraperv1.UnreadDescription
	// UnreadFile hears of a file that could not be read; nil hears of none.
	UnreadFile func(path string)
	// Recorder ends incidents and tells what operators did; nil does neither.
	Recorder *incident.Recorder
	// Wake makes a Site's Lane look for work.
	Wake func(site string)
	// StopJob asks the unit of work under way for a Job to stop at its next
	// checkpoint, once its row says so; a nil func asks nobody.
	StopJob func(site string, jobID int64)
	// Halt lets the Lane of a Site look at its circuit soon; nil where none is worked.
	Halt func(site string)
	// Probes tries one read of a paused Site; nil when nothing here can.
	Probes Probes
	// reading is the reading of the state that callers share.
	reading singleflight.Group
	// Paces sets and measures the Lanes' pace; nil when no Lane is worked here.
	Paces Paces
}

// statusPatience bounds the reading of the state: whoever asked for it first may
// have gone, and others wait for the same.
const statusPatience = 10 * time.Second

// GetStatus answers the scraper's state. Those who ask at the same time share one
// reading of it: a hundred probes are no hundred times the statements (INV-1).
func (s *Server) GetStatus(ctx context.Context, _ *scraperv1.GetStatusRequest) (*scraperv1.GetStatusResponse, error) {
	read := s.reading.DoChan("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statusPatience)
		defer cancel()
		return s.status(ctx)
	})
	select {
	case <-ctx.Done():
		return nil, fault.New(fault.Away, "read", "the scraper's state", ctx.Err())
	case got := <-read:
		out, _ := got.Val.(*scraperv1.GetStatusResponse)
		return out, got.Err
	}
}

func (s *Server) status(ctx context.Context) (*scraperv1.GetStatusResponse, error) {
	at, err := s.Store.Standing(ctx)
	if err != nil {
		return nil, err
	}
	out := &scraperv1.GetStatusResponse{
		Version: s.Version, StartedAt: timestamppb.New(s.Started), Library: s.library(),
		LibraryEpoch: at.Epoch, LibraryRevision: at.Revision, FollowsRevision: at.Follows,
		SeriesFailing: int32(at.Failing), SeriesMuted: int32(at.Muted),
		JobsOutstanding: int32(at.Outstanding), JobsReady: int32(at.Ready), JobsQuarantined: int32(at.Quarantined),
	}
	for _, l := range at.Lanes {
		out.Lanes = append(out.Lanes, s.lane(l))
	}
	return out, nil
}

// ReportFile hears that a file could not be read (F73).
func (s *Server) ReportFile(_ context.Context, r *scraperv1.ReportFileRequest) (*scraperv1.ReportFileResponse, error) {
	if r.GetPath() == "" || len(r.GetPath()) > maxPath {
		return nil, fault.Newf(fault.Invalid, "report", "a file", "%d bytes are no path", len(r.GetPath()))
	}
	if s.UnreadFile != nil {
		s.UnreadFile(r.GetPath())
	}
	return &scraperv1.ReportFileResponse{}, nil
}

// maxPath bounds a path within the library, in bytes.
const maxPath = 4096

// GetLibrary answers the state of the library.
func (s *Server) GetLibrary(context.Context, *scraperv1.GetLibraryRequest) (*scraperv1.GetLibraryResponse, error) {
	return &scraperv1.GetLibraryResponse{Library: s.library()}, nil
}

func (s *Server) library() *scraperv1.LibraryState {
	k := s.Library.Summary()
	return &scraperv1.LibraryState{
		Status: string(k.Status), Files: int64(k.Counts.Files), Missing: int64(k.Counts.Missing), Bytes: k.Counts.Bytes,
		PassedOver: int64(k.Counts.PassedOver), LookedAt: stamp(k.At), Why: k.Why, AgainAt: stamp(k.Again), Watched: k.Watched,
	}
}

// ListSeries lists known Series.
func (s *Server) ListSeries(ctx context.Context, r *scraperv1.ListSeriesRequest) (*scraperv1.ListSeriesResponse, error) {
	switch r.GetOrigin() {
	case "", "listed", "followed":
	default:
		return nil, fault.Newf(fault.Invalid, "list Series by", "origin", "%q is no origin", r.GetOrigin())
	}
	rows, err := s.Store.ListSeries(ctx, r.GetOrigin())
	if err != nil {
		return nil, err
	}
	out := &scraperv1.ListSeriesResponse{}
	for _, row := range rows {
		out.Series = append(out.Series, s.series(row))
	}
	return out, nil
}

// GetSeries answers one Series, and of a long one a part of its chapters.
func (s *Server) GetSeries(ctx context.Context, r *scraperv1.GetSeriesRequest) (*scraperv1.GetSeriesResponse, error) {
	key, err := keyOf(r.GetKey())
	if err != nil {
		return nil, err
	}
	if r.GetSkip() < 0 {
		return nil, fault.Newf(fault.Invalid, "skip chapters of", key.String(), "%d is less than none", r.GetSkip())
	}
	state, err := s.state(ctx, key)
	if err != nil {
		return nil, err
	}
	left := state.GetChapters()[min(int(r.GetSkip()), len(state.GetChapters())):]
	n := fitting(left)
	state.Chapters = left[:n]
	return &scraperv1.GetSeriesResponse{State: state, More: n < len(left)}, nil
}

// GetCover answers the kept cover of a Series.
func (s *Server) GetCover(ctx context.Context, r *scraperv1.GetCoverRequest) (*scraperv1.GetCoverResponse, error) {
	key, err := keyOf(r.GetKey())
	if err != nil {
		return nil, err
	}
	row, err := s.Store.Series(ctx, key)
	if err != nil {
		return nil, err
	}
	if row.CoverSHA256 == "" {
		return nil, fault.Newf(fault.NotFound, "find the cover of", key.String(), "none is kept")
	}
	data, mediaType, err := s.Covers.Read(row.CoverSHA256)
	if err != nil {
		return nil, err
	}
	return &scraperv1.GetCoverResponse{MediaType: mediaType, Data: data, Sha256: row.CoverSHA256}, nil
}

// maxFollows bounds one message of follows.
const maxFollows = 50_000

// ApplyFollows takes one change of the follows, or the whole desired set.
func (s *Server) ApplyFollows(ctx context.Context, r *scraperv1.ApplyFollowsRequest) (*scraperv1.ApplyFollowsResponse, error) {
	if r.GetRevision() < 0 || len(r.GetFollows())+len(r.GetUnfollowed()) > maxFollows || (r.GetWhole() && len(r.GetUnfollowed()) > 0) {
		return nil, fault.Newf(fault.Invalid, "apply", "follows", "the message is malformed")
	}
	m := follow.Message{Revision: r.GetRevision(), Whole: r.GetWhole()}
	for _, f := range r.GetFollows() {
		key, err := keyOf(f.GetKey())
		if err != nil {
			return nil, err
		}
		m.Follows = append(m.Follows, follow.Wish{Key: key, Download: f.GetDownload(), Languages: f.GetLanguages(), URL: clip(f.GetUrl()), Title: clip(f.GetTitle())})
	}
	for _, k := range r.GetUnfollowed() {
		key, err := keyOf(k)
		if err != nil {
			return nil, err
		}
		m.Unfollowed = append(m.Unfollowed, key)
	}
	got, err := s.Follows.Apply(ctx, m)
	if err != nil {
		return nil, err
	}
	out := &scraperv1.ApplyFollowsResponse{Revision: got.Revision, Stale: got.Stale}
	for _, k := range got.Unknown {
		out.Unknown = append(out.Unknown, &scraperv1.SeriesKey{Site: k.Site, SeriesId: k.SeriesID})
	}
	for from, to := range got.Moved {
		out.Moved = append(out.Moved, &scraperv1.Move{From: keyMessage(from), To: keyMessage(to)})
	}
	for _, f := range m.Follows {
		s.Hub.Changed(f.Key)
	}
	for _, k := range m.Unfollowed {
		s.Hub.Changed(k)
	}
	return out, nil
}

// RequestPoll stamps a Forced Poll.
func (s *Server) RequestPoll(ctx context.Context, r *scraperv1.RequestPollRequest) (*scraperv1.RequestPollResponse, error) {
	key, err := keyOf(r.GetKey())
	if err != nil {
		return nil, err
	}
	at, err := s.Store.ForcePoll(ctx, key, time.Now())
	if err != nil {
		return nil, err
	}
	s.Wake(key.Site)
	s.Hub.Changed(key)
	return &scraperv1.RequestPollResponse{RequestedAt: timestamppb.New(at)}, nil
}

// ListLibraryChanges answers the library's changes after a cursor.
func (s *Server) ListLibraryChanges(ctx context.Context, r *scraperv1.ListLibraryChangesRequest) (*scraperv1.ListLibraryChangesResponse, error) {
	limit := int(r.GetLimit())
	if limit == 0 {
		limit = 200
	}
	if limit < 1 || limit > 500 || r.GetAfter() < 0 {
		return nil, fault.Newf(fault.Invalid, "list", "library changes", "limit %d, after %d", limit, r.GetAfter())
	}
	epoch, head, err := s.Store.LibraryHead(ctx)
	if err != nil {
		return nil, err
	}
	after := r.GetAfter()
	if r.GetEpoch() != epoch {
		after = 0
	}
	changes, err := s.Store.ChangesAfter(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	out := &scraperv1.ListLibraryChangesResponse{Epoch: epoch, Head: head}
	titles := map[source.Key]*scraperv1.Series{}
	for _, c := range changes {
		if _, ok := titles[c.Key]; !ok {
			row, err := s.Store.Series(ctx, c.Key)
			switch {
			case err == nil:
				titles[c.Key] = s.series(row)
			case fault.Is(err, fault.NotFound):
				// No longer polled; what it was published as is all there is.
				titles[c.Key] = &scraperv1.Series{Key: keyMessage(c.Key), Title: c.SeriesTitle, SiteName: s.siteName(c.Key.Site)}
			default:
				return nil, err
			}
		}
		out.Changes = append(out.Changes, change(c, titles[c.Key]))
	}
	// The caller goes on from the last revision it was given.
	out.Changes = out.Changes[:fitting(out.GetChanges())]
	return out, nil
}
