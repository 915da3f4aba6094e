package rpc

import (
	"context"
	"time"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
)

// Probes tries one read of a Site whose circuit is paused (CIRC-3).
type Probes interface {
	// Probe answers within a minute and a half whether the Site was resumed, and
	// else in one line why not.
	Probe(ctx context.Context, site string) (resumed bool, reason string, err error)
}

// Paces are the request slots of the Lanes that are worked here.
type Paces interface {
	// SetPacing changes the least time between two requests, from the next one on.
	SetPacing(site string, d time.Duration)
	// Rate is how many requests a minute were sent in the last ten minutes; ok is
	// false for a Site whose Lane is not worked here.
	Rate(site string) (perMinute float64, ok bool)
}

// ProbeSite tries one read. Before the time the Site asked for it wants the
// request confirmed, as a Resume does (CIRC-5).
func (s *Server) ProbeSite(ctx context.Context, r *scraperv1.ProbeSiteRequest) (*scraperv1.ProbeSiteResponse, error) {
	if _, err := s.adapter(r.GetSite()); err != nil {
		return nil, err
	}
	c, err := s.Store.Circuit(ctx, r.GetSite())
	if err != nil {
		return nil, err
	}
	switch {
	case c.State != circuit.Paused:
		return &scraperv1.ProbeSiteResponse{Resumed: c.Asking(), Reason: "its circuit is " + string(c.State)}, nil
	case c.RetryAfter.After(time.Now()) && !r.GetConfirmed():
		return &scraperv1.ProbeSiteResponse{AskedForQuietUntil: stamp(c.RetryAfter)}, nil
	case s.Probes == nil:
		return nil, fault.Newf(fault.Unavailable, "probe", r.GetSite(), "no Lane is worked here")
	}
	resumed, reason, err := s.Probes.Probe(ctx, r.GetSite())
	if err != nil {
		return nil, err
	}
	site := source.Key{Site: r.GetSite()}
	s.Recorder.Acted("probe", site)
	if resumed {
		s.Recorder.End(ctx, incident.Ended(incident.Resumed, site))
	}
	s.Wake(r.GetSite())
	s.Hub.QueueChanged()
	return &scraperv1.ProbeSiteResponse{Resumed: resumed, Reason: reason}, nil
}

// pacing is the pace of a Site: the operator's choice, never below the adapter's.
func (s *Server) pacing(ctx context.Context, a source.Adapter) (time.Duration, error) {
	chosen, _, err := s.Store.Pacing(ctx, a.Site().Key)
	if fault.Is(err, fault.Unknown) {
		// The Lane goes on with the Site's own, and has logged why.
		return a.Site().Pacing, nil
	}
	return max(chosen, a.Site().Pacing), err
}

// SetPacing chooses the pace of a Site; it holds from the next request on.
func (s *Server) SetPacing(ctx context.Context, r *scraperv1.SetPacingRequest) (*scraperv1.SetPacingResponse, error) {
	a, err := s.adapter(r.GetSite())
	if err != nil {
		return nil, err
	}
	// Read as a whole number of milliseconds, and not before it is known to be small.
	if seconds := r.GetSeconds(); !(seconds >= 0 && seconds <= 3600) {
		return nil, fault.Newf(fault.Invalid, "set", "the pacing of "+r.GetSite(), "%v seconds", seconds)
	}
	d := time.Duration(r.GetSeconds()*1000) * time.Millisecond
	if d != 0 && d < a.Site().Pacing {
		return nil, fault.Newf(fault.Invalid, "set", "the pacing of "+r.GetSite(), "%s is faster than its own %s", d, a.Site().Pacing)
	}
	if d == a.Site().Pacing {
		d = 0
	}
	if err := s.Store.SetPacing(ctx, r.GetSite(), d); err != nil {
		return nil, err
	}
	now := max(d, a.Site().Pacing)
	if s.Paces != nil {
		s.Paces.SetPacing(r.GetSite(), now)
	}
	s.Hub.QueueChanged()
	return &scraperv1.SetPacingResponse{Seconds: now.Seconds()}, nil
}

// GetQueueSettings answers the settings of the queue.
func (s *Server) GetQueueSettings(ctx context.Context, _ *scraperv1.GetQueueSettingsRequest) (*scraperv1.GetQueueSettingsResponse, error) {
	at, err := s.Store.DiscoveryAt(ctx)
	if err != nil {
		return nil, err
	}
	floor, err := s.Store.FreeSpaceFloor(ctx)
	if err != nil {
		return nil, err
	}
	last, err := s.lastDiscovery(ctx)
	return &scraperv1.GetQueueSettingsResponse{DiscoveryAt: at, FreeSpaceFloor: floor, LastDiscovery: last}, err
}

// shownSkips bounds how many Series that a discovery passed over are told.
const shownSkips = 50

func (s *Server) lastDiscovery(ctx context.Context) (*scraperv1.Discovery, error) {
	d, ok, err := s.Store.NewestDiscovery(ctx)
	if err != nil || !ok {
		return nil, err
	}
	out := &scraperv1.Discovery{
		StartedAt: stamp(d.Started), EndReason: string(d.End), LookedAt: int32(d.LookedAt), Requested: int32(d.Requested), Skipped: int32(len(d.Skipped)),
	}
	for _, k := range d.Skipped[:min(len(d.Skipped), shownSkips)] {
		row, err := s.Store.Series(ctx, k.Key)
		if fault.Is(err, fault.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out.Skips = append(out.Skips, &scraperv1.DiscoverySkip{Series: s.series(row), Why: string(k.Why), JobId: k.JobID})
	}
	return out, nil
}

// mostFloor bounds the floor of free space, in bytes.
const mostFloor = 1 << 50

// SetFreeSpaceFloor sets how much room downloads leave where the library lies.
func (s *Server) SetFreeSpaceFloor(ctx context.Context, r *scraperv1.SetFreeSpaceFloorRequest) (*scraperv1.SetFreeSpaceFloorResponse, error) {
	if r.GetBytes() > mostFloor {
		return nil, fault.Newf(fault.Invalid, "set", "the free space floor", "%d is too large", r.GetBytes())
	}
	if err := s.Store.SetFreeSpaceFloor(ctx, r.GetBytes()); err != nil {
		return nil, err
	}
	s.Hub.QueueChanged()
	return &scraperv1.SetFreeSpaceFloorResponse{}, nil
}

// AcceptMissing takes a chapter without the pages that its Site does not give.
func (s *Server) AcceptMissing(ctx context.Context, r *scraperv1.AcceptMissingRequest) (*scraperv1.AcceptMissingResponse, error) {
	now, err := queue.Accept(ctx, s.Store, r.GetJobId(), r.GetChapterId())
	if err != nil {
		return nil, err
	}
	s.Recorder.Acted("accept", now.Key)
	s.Wake(now.Key.Site)
	s.Hub.Changed(now.Key)
	m, err := s.jobMessageByID(ctx, now.ID)
	return &scraperv1.AcceptMissingResponse{Job: m}, err
}

// What bounds a preference of groups.
const (
	mostGroups  = 20
	longestName = 200
)

// FetchAgain has a chapter fetched once more.
func (s *Server) FetchAgain(ctx context.Context, r *scraperv1.FetchAgainRequest) (*scraperv1.FetchAgainResponse, error) {
	key, err := keyOf(r.GetKey())
	if err != nil {
		return nil, err
	}
	if r.GetChapterId() == "" || len(r.GetChapterId()) > maxID {
		return nil, fault.Newf(fault.Invalid, "fetch again", key.String(), "no chapter is named")
	}
	if err := queue.FetchAgain(ctx, s.Store, key, r.GetChapterId()); err != nil {
		return nil, err
	}
	s.Recorder.Acted("fetch again", key)
	s.Wake(key.Site)
	s.Hub.Changed(key)
	return &scraperv1.FetchAgainResponse{}, nil
}

// PreferGroups says whose releases of a Series are wanted, best first.
func (s *Server) PreferGroups(ctx context.Context, r *scraperv1.PreferGroupsRequest) (*scraperv1.PreferGroupsResponse, error) {
	key, err := keyOf(r.GetKey())
	if err != nil {
		return nil, err
	}
	for _, g := range r.GetGroups() {
		if g == "" || len(g) > longestName {
			return nil, fault.Newf(fault.Invalid, "prefer", "groups", "a name is empty or too long")
		}
	}
	if len(r.GetGroups()) > mostGroups {
		return nil, fault.Newf(fault.Invalid, "prefer", "groups", "%d are too many", len(r.GetGroups()))
	}
	if err := s.Store.SetPreferredGroups(ctx, key, r.GetGroups()); err != nil {
		return nil, err
	}
	s.Hub.Changed(key)
	return &scraperv1.PreferGroupsResponse{}, nil
}

// SetDiscovery sets when new chapters are looked for each night.
func (s *Server) SetDiscovery(ctx context.Context, r *scraperv1.SetDiscoveryRequest) (*scraperv1.SetDiscoveryResponse, error) {
	if err := s.Store.SetDiscoveryAt(ctx, r.GetAt()); err != nil {
		return nil, err
	}
	s.Hub.QueueChanged()
	return &scraperv1.SetDiscoveryResponse{}, nil
}
