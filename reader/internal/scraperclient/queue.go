package scraperclient

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// Estimate is about what is still to be fetched: whoever shows it says "about".
type Estimate struct {
	Chapters, Pages int
	// Bytes is 0 when nothing is known that it could be taken from.
	Bytes int64
}

// QueueJob is a Job as a page shows it.
type QueueJob struct {
	Job
	Series Key
	Title  string
	// SiteName is the Site's name for people.
	SiteName    string
	HasCover    bool
	RequestedAt time.Time
	// Priority is "high", "normal" or "low".
	Priority string
	// Told is true when it does not wait for an operator's word at ready.
	Told                bool
	Retries, Stalls     int
	Published, SetAside int
	Estimate            Estimate
	// Current is the chapter under way, nil when there is none.
	Current *Chapter
}

// JobChapter is one chapter of a Job.
type JobChapter struct {
	Chapter
	// State is "waiting", "downloading", "published" or "set_aside".
	State         string
	Pages         int
	Class, Reason string
}

// JobCount is how many Jobs are in a state, and how many chapters they still want.
type JobCount struct{ Jobs, Chapters int }

// Jobs is one page of the queue.
type Jobs struct {
	Jobs []QueueJob
	// Counts are by state; ended Jobs are not counted.
	Counts map[string]JobCount
	// More is true when there are some beyond this page.
	More bool
}

// JobsQuery says which Jobs are wanted.
type JobsQuery struct {
	States        []string
	Site          string
	Offset, Limit int
}

// Hold is a stop on all downloads.
type Hold struct {
	// Kind is "queue" or "storage".
	Kind   string
	Since  time.Time
	Detail string
}

// Probed is what came of trying one read of a paused Site.
type Probed struct {
	Resumed bool
	Reason  string
	// QuietUntil is set when the Site asked for quiet and nothing was tried (CIRC-5).
	QuietUntil time.Time
}

// probeTimeout bounds a probe: the scraper answers within a minute and a half.
const probeTimeout = 100 * time.Second

// ListJobs lists Jobs by state.
func (c *Client) ListJobs(ctx context.Context, q JobsQuery) (Jobs, error) {
	resp, err := call(ctx, c, "list", "the queue", func(ctx context.Context) (*scraperv1.ListJobsResponse, error) {
		return c.queue.ListJobs(ctx, &scraperv1.ListJobsRequest{States: q.States, Site: q.Site, Offset: int32(q.Offset), Limit: int32(q.Limit)})
	})
	if err != nil {
		return Jobs{}, err
	}
	out := Jobs{Counts: map[string]JobCount{}, More: resp.GetMore()}
	for _, j := range resp.GetJobs() {
		out.Jobs = append(out.Jobs, fromQueueJob(j))
	}
	for _, n := range resp.GetCounts() {
		out.Counts[n.GetState()] = JobCount{int(n.GetJobs()), int(n.GetChapters())}
	}
	return out, nil
}

func fromJob(j *scraperv1.Job) Job {
	return Job{
		ID: j.GetId(), State: j.GetState(), ChaptersDone: int(j.GetChaptersDone()), ChaptersTotal: int(j.GetChaptersTotal()),
		Reason: j.GetReason(), Class: j.GetClass(), RetryAt: when(j.GetRetryAt()), ChangedAt: when(j.GetChangedAt()),
	}
}

func fromQueueJob(j *scraperv1.QueueJob) QueueJob {
	out := QueueJob{
		Job: fromJob(j.GetJob()), Series: fromKey(j.GetKey()), Title: j.GetTitle(), SiteName: j.GetSiteName(), HasCover: j.GetHasCover(),
		RequestedAt: when(j.GetRequestedAt()), Priority: j.GetPriority(), Told: j.GetTold(), Retries: int(j.GetRetries()), Stalls: int(j.GetStalls()),
		Published: int(j.GetPublished()), SetAside: int(j.GetSetAside()),
		Estimate: Estimate{int(j.GetEstimate().GetChapters()), int(j.GetEstimate().GetPages()), j.GetEstimate().GetBytes()},
	}
	if j.GetCurrent() != nil {
		ch := fromChapter(j.GetCurrent())
		out.Current = &ch
	}
	return out
}

// GetJob answers one Job with its chapters.
func (c *Client) GetJob(ctx context.Context, id int64) (QueueJob, []JobChapter, error) {
	resp, err := call(ctx, c, "ask about", job(id), func(ctx context.Context) (*scraperv1.GetJobResponse, error) {
		return c.queue.GetJob(ctx, &scraperv1.GetJobRequest{Id: id})
	})
	if err != nil {
		return QueueJob{}, nil, err
	}
	var chapters []JobChapter
	for _, ch := range resp.GetChapters() {
		chapters = append(chapters, JobChapter{fromChapter(ch.GetChapter()), ch.GetState(), int(ch.GetPages()), ch.GetClass(), ch.GetReason()})
	}
	return fromQueueJob(resp.GetJob()), chapters, nil
}

func job(id int64) string { return "Job " + strconv.FormatInt(id, 10) }

// ActOnJob does one act and answers the Job as it is now; changed is false when
// there was nothing to do. Class conflict: its Series has another outstanding Job.
func (c *Client) ActOnJob(ctx context.Context, id int64, act string) (j QueueJob, changed bool, err error) {
	resp, err := call(ctx, c, act, job(id), func(ctx context.Context) (*scraperv1.ActOnJobResponse, error) {
		return c.queue.ActOnJob(ctx, &scraperv1.ActOnJobRequest{Id: id, Act: act})
	})
	return fromQueueJob(resp.GetJob()), resp.GetChanged(), err
}

// ActOnJobs starts all that is ready or retries all that is quarantined, as far
// as it has been so since seen; it returns how many Jobs moved.
func (c *Client) ActOnJobs(ctx context.Context, act string, seen time.Time) (int, error) {
	resp, err := call(ctx, c, act, "Jobs", func(ctx context.Context) (*scraperv1.ActOnJobsResponse, error) {
		return c.queue.ActOnJobs(ctx, &scraperv1.ActOnJobsRequest{Act: act, SeenAt: timestamppb.New(seen)})
	})
	return int(resp.GetChanged()), err
}

// SetJobPriority orders a Job among those of its Site.
func (c *Client) SetJobPriority(ctx context.Context, id int64, priority string) error {
	_, err := call(ctx, c, "order", job(id), func(ctx context.Context) (*scraperv1.SetJobPriorityResponse, error) {
		return c.queue.SetJobPriority(ctx, &scraperv1.SetJobPriorityRequest{Id: id, Priority: priority})
	})
	return err
}

// ListHolds lists the Holds that are set.
func (c *Client) ListHolds(ctx context.Context) ([]Hold, error) {
	resp, err := call(ctx, c, "list", "the Holds", func(ctx context.Context) (*scraperv1.ListHoldsResponse, error) {
		return c.queue.ListHolds(ctx, &scraperv1.ListHoldsRequest{})
	})
	var out []Hold
	for _, h := range resp.GetHolds() {
		out = append(out, Hold{h.GetKind(), when(h.GetSince()), h.GetDetail()})
	}
	return out, err
}

// SetHold stops all downloads.
func (c *Client) SetHold(ctx context.Context) error {
	_, err := call(ctx, c, "hold", "all downloads", func(ctx context.Context) (*scraperv1.SetHoldResponse, error) {
		return c.queue.SetHold(ctx, &scraperv1.SetHoldRequest{})
	})
	return err
}

// ReleaseHold lets them go on.
func (c *Client) ReleaseHold(ctx context.Context, kind string) error {
	_, err := call(ctx, c, "release", "a Hold", func(ctx context.Context) (*scraperv1.ReleaseHoldResponse, error) {
		return c.queue.ReleaseHold(ctx, &scraperv1.ReleaseHoldRequest{Kind: kind})
	})
	return err
}

// ProbeSite tries one read of a paused Site (CIRC-3). It takes as long as the Site does.
func (c *Client) ProbeSite(ctx context.Context, site string, confirmed bool) (Probed, error) {
	limited, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	resp, err := c.queue.ProbeSite(limited, &scraperv1.ProbeSiteRequest{Site: site, Confirmed: confirmed})
	if err != nil {
		return Probed{}, c.fail(ctx, "probe", site, err)
	}
	c.answered()
	return Probed{resp.GetResumed(), resp.GetReason(), when(resp.GetAskedForQuietUntil())}, nil
}

// SetPacing chooses the least time between two requests to a Site; zero goes
// back to the Site's own.
func (c *Client) SetPacing(ctx context.Context, site string, d time.Duration) error {
	_, err := call(ctx, c, "set the pace of", site, func(ctx context.Context) (*scraperv1.SetPacingResponse, error) {
		return c.queue.SetPacing(ctx, &scraperv1.SetPacingRequest{Site: site, Seconds: d.Seconds()})
	})
	return err
}

// QueueSettings are what an operator chose for the queue, and what the newest
// discovery did.
type QueueSettings struct {
	// DiscoveryAt is when new chapters are looked for each night: "HH:MM", or "" for never.
	DiscoveryAt string
	// FreeSpaceFloor is how many bytes are left free where the library lies.
	FreeSpaceFloor int64
	// Last is the newest discovery, nil before the first.
	Last *Discovery
}

// Discovery is what one look for chapters to download did.
type Discovery struct {
	Started time.Time
	// End is "complete", "no_inventory" or "stopped".
	End                          string
	LookedAt, Requested, Skipped int
	Skips                        []DiscoverySkip
}

// DiscoverySkip is a Series that a discovery passed over.
type DiscoverySkip struct {
	Series Series
	// Why is "outstanding", "unavailable", "quarantined" or "failed".
	Why   string
	JobID int64
}

// QueueSettings asks for them.
func (c *Client) QueueSettings(ctx context.Context) (QueueSettings, error) {
	resp, err := call(ctx, c, "ask for", "the settings of the queue", func(ctx context.Context) (*scraperv1.GetQueueSettingsResponse, error) {
		return c.queue.GetQueueSettings(ctx, &scraperv1.GetQueueSettingsRequest{})
	})
	out := QueueSettings{DiscoveryAt: resp.GetDiscoveryAt(), FreeSpaceFloor: resp.GetFreeSpaceFloor()}
	if d := resp.GetLastDiscovery(); d != nil {
		out.Last = &Discovery{
			Started: when(d.GetStartedAt()), End: d.GetEndReason(), LookedAt: int(d.GetLookedAt()), Requested: int(d.GetRequested()), Skipped: int(d.GetSkipped()),
		}
		for _, k := range d.GetSkips() {
			out.Last.Skips = append(out.Last.Skips, DiscoverySkip{fromSeries(k.GetSeries()), k.GetWhy(), k.GetJobId()})
		}
	}
	return out, err
}

// SetFreeSpaceFloor sets how many bytes are left free where the library lies.
func (c *Client) SetFreeSpaceFloor(ctx context.Context, bytes int64) error {
	_, err := call(ctx, c, "set", "the room that is left free", func(ctx context.Context) (*scraperv1.SetFreeSpaceFloorResponse, error) {
		return c.queue.SetFreeSpaceFloor(ctx, &scraperv1.SetFreeSpaceFloorRequest{Bytes: bytes})
	})
	return err
}

// AcceptMissing takes a chapter that was set aside without the pages that its Site
// does not give; class stale when it was not set aside for its pages.
func (c *Client) AcceptMissing(ctx context.Context, jobID int64, chapterID string) error {
	_, err := call(ctx, c, "take", "a chapter without some pages", func(ctx context.Context) (*scraperv1.AcceptMissingResponse, error) {
		return c.queue.AcceptMissing(ctx, &scraperv1.AcceptMissingRequest{JobId: jobID, ChapterId: chapterID})
	})
	return err
}

// FetchAgain has a chapter whose file is rotten or missing fetched once more.
func (c *Client) FetchAgain(ctx context.Context, key Key, chapterID string) error {
	_, err := call(ctx, c, "fetch again", "a chapter of "+key.Site+" "+key.SeriesID, func(ctx context.Context) (*scraperv1.FetchAgainResponse, error) {
		return c.queue.FetchAgain(ctx, &scraperv1.FetchAgainRequest{Key: toKey(key), ChapterId: chapterID})
	})
	return err
}

// PreferGroups says whose releases of a Series are wanted, best first; none keeps
// every release.
func (c *Client) PreferGroups(ctx context.Context, key Key, groups []string) error {
	_, err := call(ctx, c, "prefer groups of", key.Site+" "+key.SeriesID, func(ctx context.Context) (*scraperv1.PreferGroupsResponse, error) {
		return c.queue.PreferGroups(ctx, &scraperv1.PreferGroupsRequest{Key: toKey(key), Groups: groups})
	})
	return err
}

// SetDiscoveryAt sets it.
func (c *Client) SetDiscoveryAt(ctx context.Context, at string) error {
	_, err := call(ctx, c, "set", "the time of discovery", func(ctx context.Context) (*scraperv1.SetDiscoveryResponse, error) {
		return c.queue.SetDiscovery(ctx, &scraperv1.SetDiscoveryRequest{At: at})
	})
	return err
}

// WatchQueue calls changed now and after each change in the queue, until ctx
// ends or the stream does. It does not reconnect.
func (c *Client) WatchQueue(ctx context.Context, changed func()) error {
	stream, err := c.queue.WatchQueue(ctx, &scraperv1.WatchQueueRequest{})
	for err == nil {
		if _, err = stream.Recv(); err == nil {
			c.answered()
			changed()
		}
	}
	return c.fail(ctx, "watch", "the queue", err)
}
