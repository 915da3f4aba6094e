package rpc

import (
	"cmp"
	"context"
	"slices"
	"time"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/store"
)

// ListWorklist lists the failing Series.
func (s *Server) ListWorklist(ctx context.Context, r *scraperv1.ListWorklistRequest) (*scraperv1.ListWorklistResponse, error) {
	q := store.WorklistQuery{
		Site: r.GetSite(), Outcome: poll.Outcome(r.GetOutcome()), Muted: r.GetMuted(), Sort: cmp.Or(r.GetSort(), "oldest"),
		Offset: int(r.GetOffset()), Limit: cmp.Or(int(r.GetLimit()), 100),
	}
	if r.GetFailingBefore() != nil {
		q.Before = r.GetFailingBefore().AsTime()
	}
	if q.Limit < 1 || q.Limit > 500 || q.Offset < 0 || (q.Outcome != "" && !slices.Contains(poll.Outcomes(), q.Outcome)) ||
		(r.GetFailingBefore() != nil && !r.GetFailingBefore().IsValid()) {
		return nil, fault.Newf(fault.Invalid, "list", "the Worklist", "limit %d, offset %d, outcome %q", q.Limit, q.Offset, q.Outcome)
	}
	rows, err := s.Store.Worklist(ctx, q)
	if err != nil {
		return nil, err
	}
	counts, err := s.Store.WorklistCounts(ctx, q.Site, q.Before)
	if err != nil {
		return nil, err
	}
	lanes, err := s.Store.Lanes(ctx)
	if err != nil {
		return nil, err
	}
	since, err := s.Store.CountingSince(ctx)
	if err != nil {
		return nil, err
	}
	incidents, err := s.Store.OpenIncidents(ctx)
	if err != nil {
		return nil, err
	}
	out := &scraperv1.ListWorklistResponse{CountingSince: stamp(since)}
	for _, f := range rows {
		out.Items = append(out.Items, &scraperv1.WorklistItem{
			Series: s.series(f.SeriesRow), Failure: &scraperv1.Failure{Outcome: string(f.Failure.Outcome), FailingSince: stamp(f.Failure.Since)},
			LastGoodRead: stamp(f.LastGoodRead), NextPollAt: stamp(f.NextPoll), ForcedPollAt: stamp(f.ForcedPoll), ProposedUrl: f.Proposal.URL, ProposedBecause: string(f.Proposal.Because),
			MutedAt: stamp(f.Muted),
		})
		if f.Failure.Outcome == poll.Errors {
			out.Items[len(out.Items)-1].IncidentId = incidents[f.Key]
		}
	}
	for _, o := range poll.Outcomes() {
		n, failing := counts[o]
		if !failing {
			continue
		}
		out.Counts = append(out.Counts, &scraperv1.OutcomeCount{Outcome: string(o), Count: int32(n.Shown), Muted: int32(n.Muted)})
		switch {
		case q.Outcome != "" && q.Outcome != o:
		case q.Muted:
			out.Total += int32(n.Muted)
		default:
			out.Total += int32(n.Shown)
		}
	}
	for _, l := range lanes {
		if l.Trouble != lane.NoTrouble || !l.Circuit.Asking() {
			out.Lanes = append(out.Lanes, s.lane(l))
		}
	}
	return out, nil
}

// SetMuted mutes failures that a person has looked at, or shows them again.
func (s *Server) SetMuted(ctx context.Context, r *scraperv1.SetMutedRequest) (*scraperv1.SetMutedResponse, error) {
	keys, err := keysOf(r.GetKeys())
	if err != nil {
		return nil, err
	}
	n, err := s.Store.SetMuted(ctx, keys, r.GetMuted(), time.Now())
	return &scraperv1.SetMutedResponse{Changed: int32(n)}, err
}
