package rpc

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

// passesShown is how far back Lanes are drawn (POLL-7).
const passesShown = 14 * 24 * time.Hour

// maxKeys bounds a bulk request.
const maxKeys = 1000

// keysOf reads the Series of a bulk request.
func keysOf(in []*scraperv1.SeriesKey) ([]source.Key, error) {
	if len(in) > maxKeys {
		return nil, fault.Newf(fault.Invalid, "read", "a bulk request", "%d Series at once, at most %d", len(in), maxKeys)
	}
	var keys []source.Key
	for _, k := range in {
		key, err := keyOf(k)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// RequestPolls stamps a Forced Poll for many Series.
func (s *Server) RequestPolls(ctx context.Context, r *scraperv1.RequestPollsRequest) (*scraperv1.RequestPollsResponse, error) {
	keys, err := keysOf(r.GetKeys())
	if err != nil {
		return nil, err
	}
	n, err := s.Store.ForcePolls(ctx, keys, time.Now())
	if err != nil {
		return nil, err
	}
	sites := map[string]bool{}
	for _, k := range keys {
		sites[k.Site] = true
	}
	for site := range sites {
		s.Wake(site)
	}
	for _, k := range keys {
		s.Hub.Changed(k)
	}
	return &scraperv1.RequestPollsResponse{Stamped: int32(n)}, nil
}

// maxAddress bounds what a person may paste (B41).
const maxAddress = 4096

// recognise finds the Site whose adapter reads an address.
func (s *Server) recognise(address string) (source.Key, string, error) {
	if len(address) > maxAddress {
		return source.Key{}, "", fault.Newf(fault.Invalid, "read", "an address", "it is %d bytes long", len(address))
	}
	for site, a := range s.Adapters.All() {
		if id, url, ok := a.Recognise(address); ok {
			return source.Key{Site: site, SeriesID: id}, url, nil
		}
	}
	return source.Key{}, "", fault.Newf(fault.NotFound, "read", "this address", "no Site here does")
}

// RecogniseAddress says which Series a page address belongs to.
func (s *Server) RecogniseAddress(ctx context.Context, r *scraperv1.RecogniseAddressRequest) (*scraperv1.RecogniseAddressResponse, error) {
	key, url, err := s.recognise(r.GetAddress())
	if err != nil {
		return nil, err
	}
	out := &scraperv1.RecogniseAddressResponse{Key: keyMessage(key), Url: url, SiteName: s.siteName(key.Site)}
	row, err := s.Store.Series(ctx, key)
	switch {
	case err == nil:
		out.Known = s.series(row)
	case !fault.Is(err, fault.NotFound):
		return nil, err
	}
	return out, nil
}

// clip keeps a text from outside within bounds.
func clip(s string) string { return s[:min(len(s), maxAddress)] }

// maxQuery bounds what a person may search for, in bytes.
const maxQuery = 800

// SearchSite asks one Site for a title.
func (s *Server) SearchSite(ctx context.Context, r *scraperv1.SearchSiteRequest) (*scraperv1.SearchSiteResponse, error) {
	query := strings.TrimSpace(r.GetQuery())
	if query == "" || len(query) > maxQuery {
		return nil, fault.Newf(fault.Invalid, "search", r.GetSite(), "the query is empty or too long")
	}
	a, ok := s.Adapters.Get(r.GetSite())
	if !ok {
		return nil, fault.Newf(fault.NotFound, "search", r.GetSite(), "no such Site")
	}
	if _, ok := a.(source.Searcher); !ok {
		return nil, status.Error(codes.Unimplemented, a.Site().Name+" cannot be searched")
	}
	found, err := s.Searches.Search(ctx, r.GetSite(), query)
	if err != nil {
		return nil, err
	}
	out := &scraperv1.SearchSiteResponse{}
	for _, f := range found[:min(len(found), 50)] {
		m := s.series(store.SeriesRow{Key: source.Key{Site: r.GetSite(), SeriesID: f.ID}, Series: f})
		out.Series = append(out.Series, m)
	}
	return out, nil
}

// MoveSeries moves a Series to where an address leads.
func (s *Server) MoveSeries(ctx context.Context, r *scraperv1.MoveSeriesRequest) (*scraperv1.MoveSeriesResponse, error) {
	from, err := keyOf(r.GetKey())
	if err != nil {
		return nil, err
	}
	to, url, err := s.recognise(r.GetAddress())
	if err != nil {
		return nil, err
	}
	if err := s.Store.MoveSeries(ctx, from, to, url, time.Now()); err != nil {
		return nil, err
	}
	s.Hub.LibraryChanged()
	s.Library.Invalidate()
	for _, k := range []source.Key{from, to} {
		s.Hub.Changed(k)
		s.Wake(k.Site)
	}
	return &scraperv1.MoveSeriesResponse{Key: keyMessage(to)}, nil
}

// ListLanes answers each Lane's live state and its Passes of fourteen days.
func (s *Server) ListLanes(ctx context.Context, r *scraperv1.ListLanesRequest) (*scraperv1.ListLanesResponse, error) {
	lanes, err := s.Store.Lanes(ctx)
	if err != nil {
		return nil, err
	}
	before := time.Now().Add(-passesShown)
	var passes []lane.Pass
	if !r.GetBrief() {
		if passes, err = s.Store.PassesSince(ctx, before); err != nil {
			return nil, err
		}
	}
	trials, err := s.Store.Canaries(ctx)
	if err != nil {
		return nil, err
	}
	out := &scraperv1.ListLanesResponse{PrunedBefore: timestamppb.New(before)}
	if s.Unread != nil {
		out.Unread = s.Unread()
	}
	for _, l := range lanes {
		d := &scraperv1.LaneDetail{
			Lane: s.lane(l), Series: int32(l.Series), Failing: int32(l.Failing), NextDueAt: stamp(l.NextDue), LastGoodRead: stamp(l.LastGoodRead),
			CountingSince: stamp(l.CountingSince), CircuitDetail: l.Circuit.Detail, RetryAfter: stamp(l.Circuit.RetryAfter), Current: l.Current, Jobs: int32(l.Jobs), Muted: int32(l.Muted),
		}
		if a, ok := s.Adapters.Get(l.Site); ok {
			pace, err := s.pacing(ctx, a)
			if err != nil {
				return nil, err
			}
			d.PacingSeconds, d.LeastPacingSeconds = pace.Seconds(), a.Site().Pacing.Seconds()
			_, d.Searchable = a.(source.Searcher)
		}
		if s.Paces != nil {
			if perMinute, ok := s.Paces.Rate(l.Site); ok {
				d.RequestsPerMinute = &perMinute
			}
		}
		for _, c := range trials {
			if c.Site == l.Site {
				d.Canary = canaryMessage(c)
			}
		}
		for _, p := range passes {
			if p.Site == l.Site {
				d.Passes = append(d.Passes, passMessage(p))
			}
		}
		out.Lanes = append(out.Lanes, d)
	}
	return out, nil
}

func canaryMessage(c store.CanaryRow) *scraperv1.Canary {
	return &scraperv1.Canary{
		State: string(c.State), Outcome: string(c.Outcome), Key: keyMessage(source.Key{Site: c.Site, SeriesID: c.SeriesID}), Title: c.Title, RanAt: stamp(c.Ran), GoodAt: stamp(c.Good),
		FailingSince: stamp(c.FailingSince), NextAt: stamp(c.Next), Evidence: c.Evidence, IncidentId: c.IncidentID,
	}
}

func passMessage(p lane.Pass) *scraperv1.Pass {
	n := func(o poll.Outcome) int32 { return int32(p.Counts[o]) }
	return &scraperv1.Pass{
		StartedAt: stamp(p.Started), EndedAt: stamp(p.Ended), EndReason: string(p.EndReason), Ok: n(poll.OK), NotFound: n(poll.NotFound), NoChapter: n(poll.NoChapter),
		Unfetchable: n(poll.Unfetchable), Errors: n(poll.Errors), Refused: n(poll.Refused), Unreachable: n(poll.Unreachable), NewChapters: int32(p.NewChapters),
	}
}

// ResumeSite ends a pause or a rest of a Site's circuit. Before the time the Site
// asked for it wants the request confirmed (CIRC-5).
func (s *Server) ResumeSite(ctx context.Context, r *scraperv1.ResumeSiteRequest) (*scraperv1.ResumeSiteResponse, error) {
	if _, ok := s.Adapters.Get(r.GetSite()); !ok {
		return nil, fault.Newf(fault.NotFound, "resume", r.GetSite(), "no such Site")
	}
	c, err := s.Store.Circuit(ctx, r.GetSite())
	if err != nil {
		return nil, err
	}
	now := time.Now()
	if c.RetryAfter.After(now) && !r.GetConfirmed() {
		return &scraperv1.ResumeSiteResponse{AskedForQuietUntil: stamp(c.RetryAfter)}, nil
	}
	next, ok := c.Next(circuit.Resume, now, "", time.Time{})
	if ok {
		moved, err := s.Store.MoveCircuit(ctx, c, next)
		if err != nil {
			return nil, err
		}
		if !moved {
			return nil, fault.Newf(fault.Stale, "resume", r.GetSite(), "its circuit moved meanwhile")
		}
		site := source.Key{Site: r.GetSite()}
		s.Recorder.Acted("resume", site)
		s.Recorder.End(ctx, incident.Ended(incident.Resumed, site))
	}
	s.Wake(r.GetSite())
	s.Hub.QueueChanged()
	return &scraperv1.ResumeSiteResponse{Resumed: true}, nil
}

// PauseSite stops asking a Site: what is under way there ends with the read or
// chapter it is at, and nothing is asked until an operator resumes it (CIRC-3).
func (s *Server) PauseSite(ctx context.Context, r *scraperv1.PauseSiteRequest) (*scraperv1.PauseSiteResponse, error) {
	if _, ok := s.Adapters.Get(r.GetSite()); !ok {
		return nil, fault.Newf(fault.NotFound, "pause", r.GetSite(), "no such Site")
	}
	c, err := s.Store.Circuit(ctx, r.GetSite())
	if err != nil {
		return nil, err
	}
	next, ok := c.Next(circuit.Pause, time.Now(), "", time.Time{})
	if !ok {
		return &scraperv1.PauseSiteResponse{}, nil
	}
	moved, err := s.Store.MoveCircuit(ctx, c, next)
	if err != nil {
		return nil, err
	}
	if !moved {
		return nil, fault.Newf(fault.Stale, "pause", r.GetSite(), "its circuit moved meanwhile")
	}
	s.Recorder.Acted("pause", source.Key{Site: r.GetSite()})
	if s.Halt != nil {
		s.Halt(r.GetSite())
	}
	s.Hub.QueueChanged()
	return &scraperv1.PauseSiteResponse{Changed: true}, nil
}

// ListNewChapters lists announced chapters, newest first.
func (s *Server) ListNewChapters(ctx context.Context, r *scraperv1.ListNewChaptersRequest) (*scraperv1.ListNewChaptersResponse, error) {
	limit := int(r.GetLimit())
	if limit == 0 {
		limit = 50
	}
	if limit < 1 || limit > 200 {
		return nil, fault.Newf(fault.Invalid, "list", "new chapters", "limit %d", limit)
	}
	rows, err := s.Store.NewChapters(ctx, limit)
	if err != nil {
		return nil, err
	}
	out := &scraperv1.ListNewChaptersResponse{}
	for _, n := range rows {
		out.Chapters = append(out.Chapters, &scraperv1.NewChapter{Series: s.series(n.Series), Chapter: s.newChapter(n), AnnouncedAt: stamp(n.Announced)})
	}
	return out, nil
}

func (s *Server) newChapter(n store.NewChapter) *scraperv1.Chapter {
	m := chapter(n.Chapter)
	m.FirstSeenAt, m.LibraryState = stamp(n.FirstSeen), n.LibraryState
	return m
}
