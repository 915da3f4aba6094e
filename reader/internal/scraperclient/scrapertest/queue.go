package scrapertest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"mangrove/internal/fault"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// queued is what an operator sees of the queue. The rules of the states are the
// scraper's and tested there: here an act leads where leads says.
type queued struct {
	jobs      []*scraperv1.GetJobResponse
	holds     []*scraperv1.Hold
	discovery string
	floor     int64
	// lastDiscovery is what the newest did; accepted are "job chapter".
	lastDiscovery *scraperv1.Discovery
	accepted      []string
	probe         *scraperv1.ProbeSiteResponse
	acts          []string
}

// leads is where each act leads, from the states it is for.
func leads(act, from string) string {
	switch {
	case act == "start" && from == "ready":
		return "queued"
	case act == "pause" && slices.Contains([]string{"requested", "inspecting", "queued", "downloading", "retry_wait"}, from):
		return "paused"
	case act == "resume" && from == "paused":
		return "queued"
	case act == "retry" && slices.Contains([]string{"retry_wait", "unavailable", "quarantined"}, from):
		return "requested"
	case act == "cancel" && from != "done" && from != "cancelled":
		return "cancelled"
	}
	return ""
}

// SetJobs sets the Jobs, in the order in which they are answered.
func (s *Scraper) SetJobs(jobs ...*scraperv1.GetJobResponse) { s.change(func() { s.jobs = jobs }) }

// SetHolds sets the Holds.
func (s *Scraper) SetHolds(holds ...*scraperv1.Hold) { s.change(func() { s.holds = holds }) }

// SetProbe sets what trying one read comes to.
func (s *Scraper) SetProbe(p *scraperv1.ProbeSiteResponse) { s.change(func() { s.probe = p }) }

// Acts are the acts that changed something, oldest first.
func (s *Scraper) Acts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.acts)
}

// inState counts Jobs; s.mu is held.
func (s *Scraper) inState(state string) (n int32) {
	for _, j := range s.jobs {
		if j.GetJob().GetJob().GetState() == state {
			n++
		}
	}
	return n
}

// ListJobs lists what was set.
func (s *Scraper) ListJobs(_ context.Context, r *scraperv1.ListJobsRequest) (*scraperv1.ListJobsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := &scraperv1.ListJobsResponse{}
	counts := map[string]*scraperv1.JobCount{}
	skip := r.GetOffset()
	for _, j := range s.jobs {
		state := j.GetJob().GetJob().GetState()
		if state != "done" && state != "cancelled" {
			if counts[state] == nil {
				counts[state] = &scraperv1.JobCount{State: state}
				out.Counts = append(out.Counts, counts[state])
			}
			counts[state].Jobs++
			counts[state].Chapters += j.GetJob().GetEstimate().GetChapters()
		}
		if !slices.Contains(r.GetStates(), state) || r.GetSite() != "" && r.GetSite() != j.GetJob().GetKey().GetSite() {
			continue
		}
		switch {
		case skip > 0:
			skip--
		case int32(len(out.Jobs)) == r.GetLimit():
			out.More = true
		default:
			out.Jobs = append(out.Jobs, j.GetJob())
		}
	}
	return out, nil
}

// GetJob answers what was set.
func (s *Scraper) GetJob(_ context.Context, r *scraperv1.GetJobRequest) (*scraperv1.GetJobResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, j := range s.jobs {
		if j.GetJob().GetJob().GetId() == r.GetId() {
			return j, nil
		}
	}
	return nil, fault.New(fault.NotFound, "find", "a Job", nil)
}

// act moves the Jobs that pick keeps; s.mu is held by change.
func (s *Scraper) act(act string, pick func(*scraperv1.Job) bool) (moved int, at *scraperv1.QueueJob) {
	for i, j := range s.jobs {
		if !pick(j.GetJob().GetJob()) {
			continue
		}
		at = j.GetJob()
		to := leads(act, at.GetJob().GetState())
		if to == "" {
			continue
		}
		// What was answered before is not changed under whoever reads it.
		j = proto.CloneOf(j)
		at = j.GetJob()
		at.Job.State, at.Job.ChangedAt, at.Current = to, timestamppb.Now(), nil
		s.jobs[i] = j
		moved++
	}
	return moved, at
}

// ActOnJob does what leads says.
func (s *Scraper) ActOnJob(_ context.Context, r *scraperv1.ActOnJobRequest) (*scraperv1.ActOnJobResponse, error) {
	out := &scraperv1.ActOnJobResponse{}
	s.change(func() {
		n, j := s.act(r.GetAct(), func(j *scraperv1.Job) bool { return j.GetId() == r.GetId() })
		out.Changed, out.Job = n > 0, j
		if n > 0 {
			s.acts = append(s.acts, r.GetAct())
		}
	})
	if out.GetJob() == nil {
		return nil, fault.New(fault.NotFound, "find", "a Job", nil)
	}
	if ended := out.GetJob().GetJob().GetState(); r.GetAct() == "retry" && (ended == "done" || ended == "cancelled") {
		s.again(out)
	}
	return out, nil
}

// again orders a new Job in the place of one that has ended.
func (s *Scraper) again(out *scraperv1.ActOnJobResponse) {
	s.change(func() {
		j := proto.CloneOf(out.GetJob())
		j.Job.Id, j.Job.State = j.GetJob().GetId()+1, "requested"
		s.jobs = append(s.jobs, &scraperv1.GetJobResponse{Job: j})
		out.Changed, out.Job = true, j
	})
}

// ActOnJobs does what leads says to what was seen.
func (s *Scraper) ActOnJobs(_ context.Context, r *scraperv1.ActOnJobsRequest) (*scraperv1.ActOnJobsResponse, error) {
	from := map[string]string{"start": "ready", "retry": "quarantined"}[r.GetAct()]
	out := &scraperv1.ActOnJobsResponse{}
	s.change(func() {
		n, _ := s.act(r.GetAct(), func(j *scraperv1.Job) bool {
			return j.GetState() == from && j.GetChangedAt().AsTime().Before(r.GetSeenAt().AsTime().Add(time.Millisecond))
		})
		out.Changed = int32(n)
		s.acts = append(s.acts, r.GetAct()+" all")
	})
	return out, nil
}

// SetJobPriority orders what was set.
func (s *Scraper) SetJobPriority(_ context.Context, r *scraperv1.SetJobPriorityRequest) (*scraperv1.SetJobPriorityResponse, error) {
	s.change(func() {
		for i, j := range s.jobs {
			if j.GetJob().GetJob().GetId() == r.GetId() {
				j = proto.CloneOf(j)
				j.Job.Priority = r.GetPriority()
				s.jobs[i] = j
			}
		}
		s.acts = append(s.acts, r.GetPriority())
	})
	return &scraperv1.SetJobPriorityResponse{}, nil
}

// WatchQueue tells whenever anything is set.
func (s *Scraper) WatchQueue(_ *scraperv1.WatchQueueRequest, stream grpc.ServerStreamingServer[scraperv1.WatchQueueResponse]) error {
	for {
		s.mu.Lock()
		moved := s.moved
		s.mu.Unlock()
		if err := stream.Send(&scraperv1.WatchQueueResponse{}); err != nil {
			return err
		}
		select {
		case <-moved:
		case <-stream.Context().Done():
			return nil
		}
	}
}

// ListHolds lists what was set.
func (s *Scraper) ListHolds(context.Context, *scraperv1.ListHoldsRequest) (*scraperv1.ListHoldsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &scraperv1.ListHoldsResponse{Holds: s.holds}, nil
}

// SetHold sets the operator's.
func (s *Scraper) SetHold(context.Context, *scraperv1.SetHoldRequest) (*scraperv1.SetHoldResponse, error) {
	s.change(func() {
		s.holds = append(slices.Clone(s.holds), &scraperv1.Hold{Kind: "queue", Since: timestamppb.Now(), Detail: "by an operator"})
	})
	return &scraperv1.SetHoldResponse{}, nil
}

// ReleaseHold ends one.
func (s *Scraper) ReleaseHold(_ context.Context, r *scraperv1.ReleaseHoldRequest) (*scraperv1.ReleaseHoldResponse, error) {
	out := &scraperv1.ReleaseHoldResponse{}
	s.change(func() {
		n := len(s.holds)
		s.holds = slices.DeleteFunc(slices.Clone(s.holds), func(h *scraperv1.Hold) bool { return h.GetKind() == r.GetKind() })
		out.Released = len(s.holds) < n
	})
	return out, nil
}

// ProbeSite answers what was set; a Site that asked for quiet wants it confirmed.
func (s *Scraper) ProbeSite(_ context.Context, r *scraperv1.ProbeSiteRequest) (*scraperv1.ProbeSiteResponse, error) {
	out := &scraperv1.ProbeSiteResponse{}
	err := s.onLane(r.GetSite(), func(d *scraperv1.LaneDetail) {
		if after := d.GetRetryAfter(); after.AsTime().After(time.Now()) && !r.GetConfirmed() {
			out.AskedForQuietUntil = after
			return
		}
		out = s.probe
		if out.GetResumed() {
			d.Lane.Circuit, d.Lane.CircuitReason, d.Lane.Trouble = "closed", "", ""
		}
	})
	return out, err
}

// SetPacing sets the pace of a Lane that was set.
func (s *Scraper) SetPacing(_ context.Context, r *scraperv1.SetPacingRequest) (*scraperv1.SetPacingResponse, error) {
	err := s.onLane(r.GetSite(), func(d *scraperv1.LaneDetail) { d.PacingSeconds = max(r.GetSeconds(), d.GetLeastPacingSeconds()) })
	return &scraperv1.SetPacingResponse{Seconds: r.GetSeconds()}, err
}

// onLane changes a Lane that was set.
func (s *Scraper) onLane(site string, fn func(*scraperv1.LaneDetail)) error {
	found := false
	s.change(func() {
		for i, d := range s.lanes {
			if d.GetLane().GetSite() == site {
				found = true
				d = proto.CloneOf(d)
				s.lanes[i] = d
				fn(d)
			}
		}
	})
	if !found {
		return fault.New(fault.NotFound, "find", site, nil)
	}
	return nil
}

// GetQueueSettings answers what was set.
func (s *Scraper) GetQueueSettings(context.Context, *scraperv1.GetQueueSettingsRequest) (*scraperv1.GetQueueSettingsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &scraperv1.GetQueueSettingsResponse{DiscoveryAt: s.discovery, FreeSpaceFloor: s.floor, LastDiscovery: s.lastDiscovery}, nil
}

// SetDiscovery sets it.
func (s *Scraper) SetDiscovery(_ context.Context, r *scraperv1.SetDiscoveryRequest) (*scraperv1.SetDiscoveryResponse, error) {
	s.change(func() { s.discovery = r.GetAt() })
	return &scraperv1.SetDiscoveryResponse{}, nil
}

// SetLastDiscovery sets what the newest discovery did.
func (s *Scraper) SetLastDiscovery(d *scraperv1.Discovery) { s.change(func() { s.lastDiscovery = d }) }

// SetFreeSpaceFloor keeps the floor.
func (s *Scraper) SetFreeSpaceFloor(_ context.Context, r *scraperv1.SetFreeSpaceFloorRequest) (*scraperv1.SetFreeSpaceFloorResponse, error) {
	s.change(func() { s.floor = r.GetBytes() })
	return &scraperv1.SetFreeSpaceFloorResponse{}, nil
}

// AcceptMissing keeps which chapter was taken.
func (s *Scraper) AcceptMissing(_ context.Context, r *scraperv1.AcceptMissingRequest) (*scraperv1.AcceptMissingResponse, error) {
	s.change(func() { s.accepted = append(s.accepted, fmt.Sprintf("%d %s", r.GetJobId(), r.GetChapterId())) })
	return &scraperv1.AcceptMissingResponse{}, nil
}

// Accepted are the chapters that were taken without some pages, "job chapter" each.
func (s *Scraper) Accepted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.accepted)
}

// PreferGroups keeps the groups and shows them in the Series' state.
func (s *Scraper) PreferGroups(_ context.Context, r *scraperv1.PreferGroupsRequest) (*scraperv1.PreferGroupsResponse, error) {
	s.change(func() {
		if st := s.states[id(r.GetKey())]; st != nil {
			st.PreferredGroups = r.GetGroups()
		}
	})
	return &scraperv1.PreferGroupsResponse{}, nil
}

// FetchAgain marks the chapter wanted once more; one that waits already is refused.
func (s *Scraper) FetchAgain(_ context.Context, r *scraperv1.FetchAgainRequest) (*scraperv1.FetchAgainResponse, error) {
	err := status.Error(codes.NotFound, "no such chapter")
	s.change(func() {
		st := s.states[id(r.GetKey())]
		for _, c := range st.GetChapters() {
			switch {
			case c.GetChapterId() != r.GetChapterId():
			case c.GetDownloadState() == "waiting":
				err = status.Error(codes.AlreadyExists, "under way")
			default:
				c.DownloadState, err = "waiting", nil
			}
		}
	})
	return &scraperv1.FetchAgainResponse{}, err
}
