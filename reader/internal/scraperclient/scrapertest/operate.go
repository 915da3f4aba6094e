package scrapertest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// operated is what an operator looks at. The failing Series are those whose
// state has a failure; the rest is set.
type operated struct {
	worklists int
	lanes     []*scraperv1.LaneDetail
	counting  *timestamppb.Timestamp
	pruned    *timestamppb.Timestamp
	unread    []*scraperv1.UnreadDescription
	news      []*scraperv1.NewChapter
	muted     map[string]*timestamppb.Timestamp
	settings  *scraperv1.GetSettingsResponse
	// incidents are newest first; rows of "errors" link the one of their Series.
	incidents []*scraperv1.GetIncidentResponse
}

// SetLanes sets the Lanes, in the order in which they are answered.
func (s *Scraper) SetLanes(prunedBefore time.Time, lanes ...*scraperv1.LaneDetail) {
	s.change(func() { s.lanes, s.pruned = lanes, timestamppb.New(prunedBefore) })
}

// SetUnread sets the descriptions that are not read.
func (s *Scraper) SetUnread(unread ...*scraperv1.UnreadDescription) {
	s.change(func() { s.unread = unread })
}

// SetCounting sets since when failures are counted; the zero time ends it.
func (s *Scraper) SetCounting(since time.Time) {
	s.change(func() {
		s.counting = nil
		if !since.IsZero() {
			s.counting = timestamppb.New(since)
		}
	})
}

// Announce appends to the chapters announced as new.
func (s *Scraper) Announce(news ...*scraperv1.NewChapter) {
	s.change(func() { s.news = append(s.news, news...) })
}

func (s *Scraper) briefLanes() []*scraperv1.Lane {
	var out []*scraperv1.Lane
	for _, l := range s.lanes {
		out = append(out, l.GetLane())
	}
	return out
}

// failing are the failing Series that the filters keep, muted or not; s.mu is held.
func (s *Scraper) failing(r *scraperv1.ListWorklistRequest) []*scraperv1.SeriesState {
	var out []*scraperv1.SeriesState
	for _, st := range s.states {
		f := st.GetFailure()
		if f == nil || (r.GetSite() != "" && st.GetSeries().GetKey().GetSite() != r.GetSite()) || (r.GetOutcome() != "" && f.GetOutcome() != r.GetOutcome()) ||
			(r.GetFailingBefore() != nil && !f.GetFailingSince().AsTime().Before(r.GetFailingBefore().AsTime())) {
			continue
		}
		out = append(out, st)
	}
	return out
}

// isMuted reports whether the failure of a state is muted; s.mu is held.
func (s *Scraper) isMuted(st *scraperv1.SeriesState) bool {
	return st.GetFailure() != nil && s.muted[id(st.GetSeries().GetKey())] != nil
}

// SetMuted mutes the failures that are there, or shows them again.
func (s *Scraper) SetMuted(_ context.Context, r *scraperv1.SetMutedRequest) (*scraperv1.SetMutedResponse, error) {
	if len(r.GetKeys()) > 1000 {
		return nil, fault.New(fault.Invalid, "mute", "Series", nil)
	}
	out := &scraperv1.SetMutedResponse{}
	s.change(func() {
		for _, k := range r.GetKeys() {
			st := s.states[id(k)]
			if st.GetFailure() == nil || s.isMuted(st) == r.GetMuted() {
				continue
			}
			out.Changed++
			if !r.GetMuted() {
				delete(s.muted, id(k))
				continue
			}
			if s.muted == nil {
				s.muted = map[string]*timestamppb.Timestamp{}
			}
			s.muted[id(k)] = timestamppb.Now()
		}
	})
	return out, nil
}

// Worklists is how often the Worklist was asked for.
func (s *Scraper) Worklists() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.worklists
}

// ListWorklist lists the failing states as the API says.
func (s *Scraper) ListWorklist(_ context.Context, r *scraperv1.ListWorklistRequest) (*scraperv1.ListWorklistResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.worklists++
	if !slices.Contains([]string{"", "oldest", "newest", "title"}, r.GetSort()) || r.GetOffset() < 0 || r.GetLimit() < 0 || r.GetLimit() > 500 {
		return nil, fault.New(fault.Invalid, "list", "the Worklist", nil)
	}
	out := &scraperv1.ListWorklistResponse{CountingSince: s.counting}
	shown, muted := map[string]int32{}, map[string]int32{}
	for _, st := range s.failing(&scraperv1.ListWorklistRequest{Site: r.GetSite(), FailingBefore: r.GetFailingBefore()}) {
		if s.isMuted(st) {
			muted[st.GetFailure().GetOutcome()]++
		} else {
			shown[st.GetFailure().GetOutcome()]++
		}
	}
	for _, o := range []string{"not_found", "no_chapter", "unfetchable", "errors"} {
		if shown[o]+muted[o] > 0 {
			out.Counts = append(out.Counts, &scraperv1.OutcomeCount{Outcome: o, Count: shown[o], Muted: muted[o]})
		}
	}
	kept := slices.DeleteFunc(s.failing(r), func(st *scraperv1.SeriesState) bool { return s.isMuted(st) != r.GetMuted() })
	out.Total = int32(len(kept))
	slices.SortFunc(kept, func(a, b *scraperv1.SeriesState) int {
		by := a.GetFailure().GetFailingSince().AsTime().Compare(b.GetFailure().GetFailingSince().AsTime())
		switch r.GetSort() {
		case "newest":
			by = -by
		case "title":
			by = cmp.Compare(a.GetSeries().GetTitle(), b.GetSeries().GetTitle())
		}
		return cmp.Or(by, cmp.Compare(id(a.GetSeries().GetKey()), id(b.GetSeries().GetKey())))
	})
	kept = kept[min(len(kept), int(r.GetOffset())):]
	for _, st := range kept[:min(len(kept), int(cmp.Or(r.GetLimit(), 100)))] {
		out.Items = append(out.Items, &scraperv1.WorklistItem{
			Series: st.GetSeries(), Failure: st.GetFailure(), LastGoodRead: st.GetLastGoodRead(), NextPollAt: st.GetNextPollAt(), ForcedPollAt: st.GetForcedPollAt(),
			ProposedUrl: st.GetProposedUrl(), ProposedBecause: st.GetProposedBecause(), MutedAt: s.muted[id(st.GetSeries().GetKey())], IncidentId: s.openIncident(st),
		})
	}
	for _, l := range s.briefLanes() {
		if l.GetTrouble() != "" || l.GetCircuit() != "closed" {
			out.Lanes = append(out.Lanes, l)
		}
	}
	return out, nil
}

// ListLanes answers what was set.
func (s *Scraper) ListLanes(context.Context, *scraperv1.ListLanesRequest) (*scraperv1.ListLanesResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &scraperv1.ListLanesResponse{Lanes: s.lanes, PrunedBefore: s.pruned, Unread: s.unread}, nil
}

// PauseSite pauses the circuit of a Lane that was set.
func (s *Scraper) PauseSite(_ context.Context, r *scraperv1.PauseSiteRequest) (*scraperv1.PauseSiteResponse, error) {
	found := false
	s.change(func() {
		for _, d := range s.lanes {
			if d.GetLane().GetSite() == r.GetSite() {
				found = true
				d.Lane.Circuit, d.Lane.CircuitReason, d.Lane.CircuitSince = "paused", "operator", timestamppb.Now()
			}
		}
	})
	if !found {
		return nil, fault.New(fault.NotFound, "pause", r.GetSite(), nil)
	}
	return &scraperv1.PauseSiteResponse{Changed: true}, nil
}

// ResumeSite closes the circuit of a Lane that was set, asking first where the
// Site's own time has not passed.
func (s *Scraper) ResumeSite(_ context.Context, r *scraperv1.ResumeSiteRequest) (*scraperv1.ResumeSiteResponse, error) {
	out := &scraperv1.ResumeSiteResponse{}
	found := false
	s.change(func() {
		for _, d := range s.lanes {
			if d.GetLane().GetSite() != r.GetSite() {
				continue
			}
			found = true
			if after := d.GetRetryAfter(); after.AsTime().After(time.Now()) && !r.GetConfirmed() {
				out.AskedForQuietUntil = after
				continue
			}
			d.Lane.Circuit, d.Lane.CircuitReason, d.Lane.Trouble = "closed", "", ""
			out.Resumed = true
		}
	})
	if !found {
		return nil, fault.New(fault.NotFound, "resume", r.GetSite(), nil)
	}
	return out, nil
}

// RequestPolls records the wishes and stamps the states; nothing is cleared.
func (s *Scraper) RequestPolls(_ context.Context, r *scraperv1.RequestPollsRequest) (*scraperv1.RequestPollsResponse, error) {
	if len(r.GetKeys()) > 1000 {
		return nil, fault.New(fault.Invalid, "request", "Polls", nil)
	}
	out := &scraperv1.RequestPollsResponse{}
	s.change(func() {
		for _, k := range r.GetKeys() {
			s.polls = append(s.polls, k)
			st := s.states[id(k)]
			if st == nil {
				continue
			}
			st = proto.CloneOf(st)
			if st.ForcedPollAt == nil {
				st.ForcedPollAt = timestamppb.Now()
			}
			s.states[id(k)] = st
			out.Stamped++
		}
	})
	return out, nil
}

// ListNewChapters answers what was announced.
func (s *Scraper) ListNewChapters(_ context.Context, r *scraperv1.ListNewChaptersRequest) (*scraperv1.ListNewChaptersResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &scraperv1.ListNewChaptersResponse{Chapters: s.news[:min(len(s.news), int(r.GetLimit()))]}, nil
}
