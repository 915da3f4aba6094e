package rpc

import (
	"context"
	"slices"
	"time"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

// QueueStore is what the edge reads and changes of the queue.
type QueueStore interface {
	queue.ActStore
	ListJobs(ctx context.Context, states []job.State, site string, offset, limit int) ([]store.ListedJob, error)
	ListedJobByID(ctx context.Context, id int64) (store.ListedJob, error)
	JobDetail(ctx context.Context, id int64, limit int) ([]store.DetailedChapter, error)
	CountJobs(ctx context.Context, site string) (map[job.State]store.JobCount, error)
	SiteFiles(ctx context.Context, sites []string) (map[string]queue.Files, error)
	SetPriority(ctx context.Context, id int64, p job.Priority) error
	Holds(ctx context.Context) ([]store.Hold, error)
	SetHold(ctx context.Context, kind, detail string, now time.Time) error
	ReleaseHold(ctx context.Context, kind string) (bool, error)
	Pacing(ctx context.Context, site string) (time.Duration, bool, error)
	SetPacing(ctx context.Context, site string, d time.Duration) error
	DiscoveryAt(ctx context.Context) (string, error)
	SetDiscoveryAt(ctx context.Context, at string) error
	NewestDiscovery(ctx context.Context) (queue.Discovered, bool, error)
	FreeSpaceFloor(ctx context.Context) (int64, error)
	SetFreeSpaceFloor(ctx context.Context, bytes int64) error
	AcceptMissing(ctx context.Context, jobID int64, chapterID string) error
	WantAgain(ctx context.Context, key source.Key, chapterID string) error
	PreferredGroups(ctx context.Context, key source.Key) ([]string, error)
	SetPreferredGroups(ctx context.Context, key source.Key, groups []string) error
}

// maxChapters bounds the chapters of one Job that are sent.
const maxChapters = 3000

// ListJobs lists Jobs by state.
func (s *Server) ListJobs(ctx context.Context, r *scraperv1.ListJobsRequest) (*scraperv1.ListJobsResponse, error) {
	limit, offset := int(r.GetLimit()), int(r.GetOffset())
	if limit == 0 {
		limit = 50
	}
	states, err := statesOf(r.GetStates())
	if err != nil || limit < 1 || limit > 200 || offset < 0 || len(r.GetSite()) > maxID {
		return nil, fault.Newf(fault.Invalid, "list", "Jobs", "limit %d, offset %d, states %q", limit, offset, r.GetStates())
	}
	// One more than asked for says whether there is another page.
	jobs, err := s.Store.ListJobs(ctx, states, r.GetSite(), offset, limit+1)
	if err != nil {
		return nil, err
	}
	counts, err := s.Store.CountJobs(ctx, r.GetSite())
	if err != nil {
		return nil, err
	}
	out := &scraperv1.ListJobsResponse{More: len(jobs) > limit}
	if out.Jobs, err = s.queueJobs(ctx, jobs[:min(len(jobs), limit)]); err != nil {
		return nil, err
	}
	for _, state := range job.States() {
		if n, ok := counts[state]; ok {
			out.Counts = append(out.Counts, &scraperv1.JobCount{State: string(state), Jobs: int32(n.Jobs), Chapters: int32(n.Chapters)})
		}
	}
	return out, nil
}

// statesOf reads states; none means all that did not end well and were not cancelled.
func statesOf(words []string) ([]job.State, error) {
	var out []job.State
	for _, state := range job.States() {
		if slices.Contains(words, string(state)) || len(words) == 0 && state != job.Done && state != job.Cancelled {
			out = append(out, state)
		}
	}
	if len(words) > 0 && len(out) != len(words) {
		return nil, fault.Newf(fault.Invalid, "read", "states", "%q", words)
	}
	return out, nil
}

// queueJobs makes messages, asking for the Sites' averages only where a Series
// has none of its own.
func (s *Server) queueJobs(ctx context.Context, jobs []store.ListedJob) ([]*scraperv1.QueueJob, error) {
	var strangers []string
	for _, j := range jobs {
		if j.Own.Chapters == 0 && !slices.Contains(strangers, j.Key.Site) {
			strangers = append(strangers, j.Key.Site)
		}
	}
	sites := map[string]queue.Files{}
	if len(strangers) > 0 {
		var err error
		if sites, err = s.Store.SiteFiles(ctx, strangers); err != nil {
			return nil, err
		}
	}
	var out []*scraperv1.QueueJob
	for _, j := range jobs {
		out = append(out, s.queueJob(j, sites[j.Key.Site]))
	}
	return out, nil
}

func (s *Server) queueJob(j store.ListedJob, site queue.Files) *scraperv1.QueueJob {
	about := queue.About(j.Total-j.Published-j.SetAside, j.Counted, j.Uncounted, j.Own, site)
	out := &scraperv1.QueueJob{
		Job: &scraperv1.Job{
			Id: j.ID, State: string(j.State), ChaptersDone: int32(j.Published + j.SetAside), ChaptersTotal: int32(j.Total), Reason: j.Reason,
			Class: string(j.Class), RetryAt: stamp(j.RetryAt), ChangedAt: stamp(j.ChangedAt),
		},
		Key: keyMessage(j.Key), Title: j.Title, SiteName: s.siteName(j.Key.Site), HasCover: j.HasCover, RequestedAt: stamp(j.Requested),
		Priority: string(j.Priority), ResumeTo: string(j.ResumeTo), Told: j.Unattended, Retries: int32(j.Retries), Stalls: int32(j.Stalls),
		Published: int32(j.Published), SetAside: int32(j.SetAside),
		Estimate: &scraperv1.Estimate{Chapters: int32(about.Chapters), Pages: int32(about.Pages), Bytes: about.Bytes},
	}
	if j.State == job.Downloading && j.Current.ID != "" {
		out.Current = chapter(j.Current)
		if p, ok := s.Hub.Progress(j.Key); ok && p.ChapterID == j.Current.ID {
			out.Current.PagesDone, out.Current.PagesTotal = int32(p.Done), int32(p.Total)
		}
	}
	return out
}

// jobMessageByID reads one Job as it is listed.
func (s *Server) jobMessageByID(ctx context.Context, id int64) (*scraperv1.QueueJob, error) {
	j, err := s.Store.ListedJobByID(ctx, id)
	if err != nil {
		return nil, err
	}
	all, err := s.queueJobs(ctx, []store.ListedJob{j})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// GetJob answers one Job with its chapters.
func (s *Server) GetJob(ctx context.Context, r *scraperv1.GetJobRequest) (*scraperv1.GetJobResponse, error) {
	m, err := s.jobMessageByID(ctx, r.GetId())
	if err != nil {
		return nil, err
	}
	chapters, err := s.Store.JobDetail(ctx, r.GetId(), maxChapters)
	if err != nil {
		return nil, err
	}
	out := &scraperv1.GetJobResponse{Job: m}
	for _, c := range chapters {
		d := &scraperv1.JobChapter{Chapter: chapter(c.Chapter), State: string(c.State), Pages: int32(c.Pages), Class: string(c.Class), Reason: c.Reason}
		if cur := m.GetCurrent(); cur.GetChapterId() == c.ID {
			d.Chapter.PagesDone, d.Chapter.PagesTotal = cur.GetPagesDone(), cur.GetPagesTotal()
		}
		out.Chapters = append(out.Chapters, d)
	}
	return out, nil
}

// acted tells everyone concerned what an act has changed; the row is committed.
func (s *Server) acted(ctx context.Context, act queue.Act, d queue.Done) {
	if !d.Changed {
		return
	}
	s.Recorder.Acted(string(act), d.Job.Key)
	if act == queue.Retry {
		s.Recorder.End(ctx, incident.Ended(incident.Retried, d.Job.Key))
	}
	if d.Interrupted && s.StopJob != nil {
		s.StopJob(d.Job.Key.Site, d.Job.ID)
	}
	s.Wake(d.Job.Key.Site)
	s.Hub.Changed(d.Job.Key)
}

// ActOnJob does one act to one Job.
func (s *Server) ActOnJob(ctx context.Context, r *scraperv1.ActOnJobRequest) (*scraperv1.ActOnJobResponse, error) {
	done, err := queue.Do(ctx, s.Store, queue.Act(r.GetAct()), r.GetId())
	if err != nil {
		return nil, err
	}
	s.acted(ctx, queue.Act(r.GetAct()), done)
	m, err := s.jobMessageByID(ctx, done.Job.ID)
	return &scraperv1.ActOnJobResponse{Changed: done.Changed, Job: m}, err
}

// ActOnJobs does one act to all Jobs it is for.
func (s *Server) ActOnJobs(ctx context.Context, r *scraperv1.ActOnJobsRequest) (*scraperv1.ActOnJobsResponse, error) {
	before := time.Now().Add(time.Hour)
	if r.GetSeenAt() != nil {
		before = r.GetSeenAt().AsTime()
	}
	all, err := queue.DoAll(ctx, s.Store, queue.Act(r.GetAct()), before)
	for _, d := range all {
		s.acted(ctx, queue.Act(r.GetAct()), d)
	}
	if err != nil {
		return nil, err
	}
	return &scraperv1.ActOnJobsResponse{Changed: int32(len(all))}, nil
}

// SetJobPriority orders a Job among those of its Site.
func (s *Server) SetJobPriority(ctx context.Context, r *scraperv1.SetJobPriorityRequest) (*scraperv1.SetJobPriorityResponse, error) {
	p := job.Priority(r.GetPriority())
	if !slices.Contains(job.Priorities(), p) {
		return nil, fault.Newf(fault.Invalid, "order", "a Job", "%q is no priority", r.GetPriority())
	}
	if err := s.Store.SetPriority(ctx, r.GetId(), p); err != nil {
		return nil, err
	}
	s.Hub.QueueChanged()
	return &scraperv1.SetJobPriorityResponse{}, nil
}

// wakeAll makes every Lane look for work.
func (s *Server) wakeAll() {
	for site := range s.Adapters.All() {
		s.Wake(site)
	}
	s.Hub.QueueChanged()
}

// ListHolds lists the Holds that are set.
func (s *Server) ListHolds(ctx context.Context, _ *scraperv1.ListHoldsRequest) (*scraperv1.ListHoldsResponse, error) {
	holds, err := s.Store.Holds(ctx)
	out := &scraperv1.ListHoldsResponse{}
	for _, h := range holds {
		out.Holds = append(out.Holds, &scraperv1.Hold{Kind: h.Kind, Since: stamp(h.Since), Detail: h.Detail})
	}
	return out, err
}

// SetHold sets the operator's Hold. What is under way ends its unit of work.
func (s *Server) SetHold(ctx context.Context, _ *scraperv1.SetHoldRequest) (*scraperv1.SetHoldResponse, error) {
	if err := s.Store.SetHold(ctx, queue.HoldQueue, "by an operator", time.Now()); err != nil {
		return nil, err
	}
	s.Hub.QueueChanged()
	return &scraperv1.SetHoldResponse{}, nil
}

// ReleaseHold ends a Hold.
func (s *Server) ReleaseHold(ctx context.Context, r *scraperv1.ReleaseHoldRequest) (*scraperv1.ReleaseHoldResponse, error) {
	if !slices.Contains(queue.Holds(), r.GetKind()) {
		return nil, fault.Newf(fault.Invalid, "release", "a Hold", "%q is no Hold", r.GetKind())
	}
	was, err := s.Store.ReleaseHold(ctx, r.GetKind())
	if err != nil {
		return nil, err
	}
	if r.GetKind() == "storage" {
		s.Library.TryAgain()
	}
	s.wakeAll()
	if was {
		s.Recorder.Acted("release "+r.GetKind(), source.Key{})
		s.Recorder.End(ctx, incident.Ended(incident.Released, source.Key{}))
	}
	return &scraperv1.ReleaseHoldResponse{Released: was}, nil
}

// adapter is that of a Site that is read here, or class not-found.
func (s *Server) adapter(site string) (source.Adapter, error) {
	a, ok := s.Adapters.Get(site)
	if !ok {
		return nil, fault.Newf(fault.NotFound, "find", site, "no such Site")
	}
	return a, nil
}
