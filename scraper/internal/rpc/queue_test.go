package rpc_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
)

// inspected makes a Job of two chapters that is ready.
func (e edge) inspected(t *testing.T) job.Job {
	t.Helper()
	ctx := t.Context()
	r := source.Reading{Series: source.Series{ID: key.SeriesID, Title: "Pepper&Carrot"}}
	for _, id := range []string{"1", "2"} {
		r.Chapters = append(r.Chapters, source.Chapter{ID: id, Number: id, URL: "http://x/" + id})
	}
	if err := e.db.SaveReading(ctx, key, r, time.Now()); err != nil {
		t.Fatal(err)
	}
	if _, err := e.db.RequestJob(ctx, key, false); err != nil {
		t.Fatal(err)
	}
	j, _, err := e.db.LatestJob(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	if j, err = e.db.Move(ctx, j, job.Change{To: job.Inspecting}); err != nil {
		t.Fatal(err)
	}
	var planned []job.Planned
	for _, c := range r.Chapters {
		planned = append(planned, job.Planned{Chapter: c})
	}
	if j, err = e.db.Plan(ctx, j, planned, job.Change{To: job.Ready}); err != nil {
		t.Fatal(err)
	}
	return j
}

func TestTheQueueFromReadyToCancelled(t *testing.T) {
	e := setup(t)
	ctx := t.Context()
	j := e.inspected(t)
	list, err := e.queue.ListJobs(ctx, &scraperv1.ListJobsRequest{States: []string{"ready"}})
	if err != nil || len(list.GetJobs()) != 1 || list.GetMore() || len(list.GetCounts()) != 1 || list.GetCounts()[0].GetChapters() != 2 {
		t.Fatalf("what is ready: %v, %v", list, err)
	}
	ready := list.GetJobs()[0]
	if ready.GetTitle() != "Pepper&Carrot" || ready.GetSiteName() != "Sample" || ready.GetPriority() != "normal" || ready.GetTold() ||
		ready.GetEstimate().GetChapters() != 2 || ready.GetEstimate().GetPages() != 40 || ready.GetEstimate().GetBytes() != 0 {
		t.Errorf("ready is %v", ready)
	}
	head, err := e.GetStatus(ctx, &scraperv1.GetStatusRequest{})
	if err != nil || head.GetJobsReady() != 1 || head.GetJobsQuarantined() != 0 {
		t.Errorf("status %v, %v; want one that waits for a word", head, err)
	}
	act := func(a queue.Act) *scraperv1.ActOnJobResponse {
		t.Helper()
		got, err := e.queue.ActOnJob(ctx, &scraperv1.ActOnJobRequest{Id: j.ID, Act: string(a)})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	all, err := e.queue.ActOnJobs(ctx, &scraperv1.ActOnJobsRequest{Act: "start", SeenAt: timestamppb.New(time.Now().Add(-time.Hour))})
	if err != nil || all.GetChanged() != 0 {
		t.Errorf("what was ready an hour ago: %v, %v", all, err)
	}
	all, err = e.queue.ActOnJobs(ctx, &scraperv1.ActOnJobsRequest{Act: "start", SeenAt: ready.GetJob().GetChangedAt()})
	if err != nil || all.GetChanged() != 1 {
		t.Errorf("what was shown: %v, %v; want it started", all, err)
	}
	if got := act(queue.Start); got.GetChanged() || got.GetJob().GetJob().GetState() != "queued" || !got.GetJob().GetTold() {
		t.Errorf("started twice: %v", got)
	}
	q := queue.New(e.db)
	work, _, err := q.Next(ctx, key.Site, time.Now())
	if err != nil || work.ID != j.ID {
		t.Fatalf("next is %+v, %v", work, err)
	}
	if _, err = e.db.Move(ctx, work, job.Change{To: job.Downloading}); err != nil {
		t.Fatal(err)
	}
	e.hub.SetProgress(key, live.Progress{ChapterID: "1", Done: 3, Total: 9})
	one, err := e.queue.GetJob(ctx, &scraperv1.GetJobRequest{Id: j.ID})
	if err != nil || one.GetJob().GetCurrent().GetPagesDone() != 3 || one.GetJob().GetCurrent().GetPagesTotal() != 9 || len(one.GetChapters()) != 2 ||
		one.GetChapters()[0].GetChapter().GetPagesDone() != 3 || one.GetChapters()[0].GetState() != "waiting" {
		t.Errorf("under way it is %v, %v", one, err)
	}
	if got := act(queue.Pause); !got.GetChanged() || got.GetJob().GetResumeTo() != "queued" || got.GetJob().GetCurrent() != nil {
		t.Errorf("paused: %v", got)
	}
	if len(*e.stopped) != 1 || (*e.stopped)[0] != j.ID {
		t.Errorf("asked to stop: %v, want Job %d once", *e.stopped, j.ID)
	}
	if got := act(queue.Pause); got.GetChanged() || len(*e.stopped) != 1 {
		t.Errorf("paused twice: %v, asked to stop %v", got, *e.stopped)
	}
	if got := act(queue.Cancel); !got.GetChanged() || got.GetJob().GetJob().GetState() != "cancelled" {
		t.Errorf("cancelled: %v", got)
	}
	if list, err := e.queue.ListJobs(ctx, &scraperv1.ListJobsRequest{}); err != nil || len(list.GetJobs()) != 0 {
		t.Errorf("a cancelled Job is still listed: %v, %v", list, err)
	}
}

func TestWatchQueueHearsOfEverything(t *testing.T) {
	e := setup(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	stream, err := e.queue.WatchQueue(ctx, &scraperv1.WatchQueueRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	j := e.inspected(t)
	for name, do := range map[string]func() error{
		"progress": func() error {
			e.hub.SetProgress(source.Key{Site: "x", SeriesID: "y"}, live.Progress{ChapterID: "1", Total: 2})
			return nil
		},
		"an act": func() error {
			_, err := e.queue.ActOnJob(ctx, &scraperv1.ActOnJobRequest{Id: j.ID, Act: "start"})
			return err
		},
		"a priority": func() error {
			_, err := e.queue.SetJobPriority(ctx, &scraperv1.SetJobPriorityRequest{Id: j.ID, Priority: "high"})
			return err
		},
		"a Hold": func() error { _, err := e.queue.SetHold(ctx, &scraperv1.SetHoldRequest{}); return err },
		"a pace": func() error {
			_, err := e.queue.SetPacing(ctx, &scraperv1.SetPacingRequest{Site: key.Site, Seconds: 5})
			return err
		},
	} {
		if err := do(); err != nil {
			t.Fatal(name, err)
		}
		if _, err := stream.Recv(); err != nil {
			t.Errorf("no word of %s: %v", name, err)
		}
	}
}

func TestHoldsAndPace(t *testing.T) {
	e := setup(t)
	ctx := t.Context()
	for range 2 {
		if _, err := e.queue.SetHold(ctx, &scraperv1.SetHoldRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	holds, err := e.queue.ListHolds(ctx, &scraperv1.ListHoldsRequest{})
	if err != nil || len(holds.GetHolds()) != 1 || holds.GetHolds()[0].GetKind() != "queue" || holds.GetHolds()[0].GetSince() == nil {
		t.Errorf("Holds %v, %v", holds, err)
	}
	for _, want := range []bool{true, false} {
		if got, err := e.queue.ReleaseHold(ctx, &scraperv1.ReleaseHoldRequest{Kind: "queue"}); err != nil || got.GetReleased() != want {
			t.Errorf("released %v, %v; want %v", got, err, want)
		}
	}
	lane := func() *scraperv1.LaneDetail {
		t.Helper()
		l, err := e.ListLanes(ctx, &scraperv1.ListLanesRequest{Brief: true})
		if err != nil {
			t.Fatal(err)
		}
		return l.GetLanes()[0]
	}
	if l := lane(); l.GetPacingSeconds() != 0.2 || l.GetLeastPacingSeconds() != 0.2 || l.GetRequestsPerMinute() != 9 {
		t.Errorf("before: %v", l)
	}
	if got, err := e.queue.SetPacing(ctx, &scraperv1.SetPacingRequest{Site: key.Site, Seconds: 5}); err != nil || got.GetSeconds() != 5 {
		t.Errorf("chosen: %v, %v", got, err)
	}
	if l := lane(); l.GetPacingSeconds() != 5 || l.GetLeastPacingSeconds() != 0.2 || e.paces.set[key.Site] != 5*time.Second {
		t.Errorf("after: %v, the Lane was told %v", l, e.paces.set)
	}
	if _, err := e.queue.SetPacing(ctx, &scraperv1.SetPacingRequest{Site: key.Site}); err != nil {
		t.Fatal(err)
	}
	if l := lane(); l.GetPacingSeconds() != 0.2 || e.paces.set[key.Site] != 200*time.Millisecond {
		t.Errorf("taken back: %v, the Lane was told %v", l, e.paces.set)
	}
	// What the store holds is not used below the adapter's own.
	if err := e.db.SetPacing(ctx, key.Site, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if l := lane(); l.GetPacingSeconds() != 0.2 {
		t.Errorf("a stored millisecond makes it %v s", l.GetPacingSeconds())
	}
	if _, err := e.pool.Exec(ctx, "UPDATE settings SET value = 'soon'"); err != nil {
		t.Fatal(err)
	}
	if l := lane(); l.GetPacingSeconds() != 0.2 {
		t.Errorf("what cannot be read makes it %v s", l.GetPacingSeconds())
	}
	if _, err := e.queue.SetDiscovery(ctx, &scraperv1.SetDiscoveryRequest{At: "02:30"}); err != nil {
		t.Fatal(err)
	}
	if got, err := e.queue.GetQueueSettings(ctx, &scraperv1.GetQueueSettingsRequest{}); err != nil || got.GetDiscoveryAt() != "02:30" {
		t.Errorf("settings %v, %v", got, err)
	}
}

func TestTryOneRead(t *testing.T) {
	e := setup(t)
	ctx := t.Context()
	if got, err := e.queue.ProbeSite(ctx, &scraperv1.ProbeSiteRequest{Site: key.Site}); err != nil || !got.GetResumed() || e.probes.asked != 0 {
		t.Errorf("a Site that is asked anyway: %v, %v, probed %d times", got, err, e.probes.asked)
	}
	c, err := e.db.Circuit(ctx, key.Site)
	if err != nil {
		t.Fatal(err)
	}
	paused, _ := c.Next(circuit.Refusal, time.Now(), "status 429", time.Now().Add(time.Hour))
	if moved, err := e.db.MoveCircuit(ctx, c, paused); !moved || err != nil {
		t.Fatal(moved, err)
	}
	if got, err := e.queue.ProbeSite(ctx, &scraperv1.ProbeSiteRequest{Site: key.Site}); err != nil || got.GetResumed() || got.GetAskedForQuietUntil() == nil || e.probes.asked != 0 {
		t.Errorf("before its time: %v, %v; want to be asked, and no read", got, err)
	}
	e.probes.reason = "status 429"
	got, err := e.queue.ProbeSite(ctx, &scraperv1.ProbeSiteRequest{Site: key.Site, Confirmed: true})
	if err != nil || got.GetResumed() || got.GetReason() != "status 429" || e.probes.asked != 1 {
		t.Errorf("confirmed: %v, %v", got, err)
	}
}

func TestHostileRequestsOfTheQueue(t *testing.T) {
	e := setup(t)
	ctx := t.Context()
	pace := func(site string, seconds float64) func() error {
		return func() error {
			_, err := e.queue.SetPacing(ctx, &scraperv1.SetPacingRequest{Site: site, Seconds: seconds})
			return err
		}
	}
	for name, tt := range map[string]struct {
		call func() error
		want codes.Code
	}{
		"a state that is none": {func() error {
			_, err := e.queue.ListJobs(ctx, &scraperv1.ListJobsRequest{States: []string{"'; DROP"}})
			return err
		}, codes.InvalidArgument},
		"a state twice": {func() error {
			_, err := e.queue.ListJobs(ctx, &scraperv1.ListJobsRequest{States: []string{"ready", "ready"}})
			return err
		}, codes.InvalidArgument},
		"a limit":   {func() error { _, err := e.queue.ListJobs(ctx, &scraperv1.ListJobsRequest{Limit: 100_000}); return err }, codes.InvalidArgument},
		"an offset": {func() error { _, err := e.queue.ListJobs(ctx, &scraperv1.ListJobsRequest{Offset: -1}); return err }, codes.InvalidArgument},
		"an act": {func() error {
			_, err := e.queue.ActOnJob(ctx, &scraperv1.ActOnJobRequest{Id: 1, Act: "explode"})
			return err
		}, codes.InvalidArgument},
		"no such Job": {func() error {
			_, err := e.queue.ActOnJob(ctx, &scraperv1.ActOnJobRequest{Id: -5, Act: "pause"})
			return err
		}, codes.NotFound},
		"no Job at all":   {func() error { _, err := e.queue.GetJob(ctx, &scraperv1.GetJobRequest{}); return err }, codes.NotFound},
		"cancel for many": {func() error { _, err := e.queue.ActOnJobs(ctx, &scraperv1.ActOnJobsRequest{Act: "cancel"}); return err }, codes.InvalidArgument},
		"a priority": {func() error {
			_, err := e.queue.SetJobPriority(ctx, &scraperv1.SetJobPriorityRequest{Id: 1, Priority: "now"})
			return err
		}, codes.InvalidArgument},
		"a Hold": {func() error {
			_, err := e.queue.ReleaseHold(ctx, &scraperv1.ReleaseHoldRequest{Kind: "all"})
			return err
		}, codes.InvalidArgument},
		"faster than its own": {pace(key.Site, 0.1), codes.InvalidArgument},
		"no number":           {pace(key.Site, math.NaN()), codes.InvalidArgument},
		"for ever":            {pace(key.Site, math.Inf(1)), codes.InvalidArgument},
		"a day":               {pace(key.Site, 86_400), codes.InvalidArgument},
		"the pace of no Site": {pace("nosuch", 5), codes.NotFound},
		"a probe of no Site": {func() error {
			_, err := e.queue.ProbeSite(ctx, &scraperv1.ProbeSiteRequest{Site: "nosuch"})
			return err
		}, codes.NotFound},
		"a time of day": {func() error {
			_, err := e.queue.SetDiscovery(ctx, &scraperv1.SetDiscoveryRequest{At: "25:00"})
			return err
		}, codes.InvalidArgument},
	} {
		if err := tt.call(); status.Code(err) != tt.want {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
}

// TestWhatAPersonSaysOfReleases: a chapter without some pages, and whose releases
// are wanted, over the socket.
func TestWhatAPersonSaysOfReleases(t *testing.T) {
	t.Parallel()
	e := setup(t)
	ctx := t.Context()
	if _, err := e.queue.AcceptMissing(ctx, &scraperv1.AcceptMissingRequest{JobId: 4711, ChapterId: "1"}); status.Code(err) != codes.Aborted {
		t.Errorf("a chapter that is not set aside: %v, want ABORTED", err)
	}
	k := &scraperv1.SeriesKey{Site: key.Site, SeriesId: key.SeriesID}
	if _, err := e.queue.PreferGroups(ctx, &scraperv1.PreferGroupsRequest{Key: k, Groups: []string{"South", "North"}}); err != nil {
		t.Fatal(err)
	}
	got, err := e.GetSeries(ctx, &scraperv1.GetSeriesRequest{Key: k})
	if d := cmp.Diff([]string{"South", "North"}, got.GetState().GetPreferredGroups()); err != nil || d != "" {
		t.Errorf("preferred (%v):\n%s", err, d)
	}
	for name, r := range map[string]*scraperv1.PreferGroupsRequest{
		"an empty name": {Key: k, Groups: []string{""}}, "a long name": {Key: k, Groups: []string{strings.Repeat("x", 201)}}, "too many": {Key: k, Groups: slices.Repeat([]string{"x"}, 21)},
	} {
		if _, err := e.queue.PreferGroups(ctx, r); status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: %v, want INVALID_ARGUMENT", name, err)
		}
	}
	if _, err := e.queue.PreferGroups(ctx, &scraperv1.PreferGroupsRequest{Key: &scraperv1.SeriesKey{Site: key.Site, SeriesId: "nosuch"}, Groups: []string{"x"}}); status.Code(err) != codes.NotFound {
		t.Errorf("an unknown Series: %v, want NOT_FOUND", err)
	}
	if _, err := e.queue.PreferGroups(ctx, &scraperv1.PreferGroupsRequest{Key: k}); err != nil {
		t.Error(err)
	}
	if got, err := e.GetSeries(ctx, &scraperv1.GetSeriesRequest{Key: k}); err != nil || len(got.GetState().GetPreferredGroups()) != 0 {
		t.Errorf("after none is preferred: %v, %v", got.GetState().GetPreferredGroups(), err)
	}
}

func TestTheNewestDiscoveryIsTold(t *testing.T) {
	t.Parallel()
	e := setup(t)
	ctx := t.Context()
	before, err := e.queue.GetQueueSettings(ctx, &scraperv1.GetQueueSettingsRequest{})
	if err != nil || before.GetLastDiscovery() != nil || before.GetFreeSpaceFloor() != job.DefaultFloor {
		t.Errorf("before the first: %v, %v", before, err)
	}
	if err := e.db.SaveDiscovery(ctx, queue.Discovered{
		Started: time.Now(), Ended: time.Now(), End: queue.DiscoveryComplete, LookedAt: 2, Requested: 1,
		Skipped: []queue.Skip{{Key: key, Why: queue.WhyQuarantined, JobID: 7}, {Key: source.Key{Site: key.Site, SeriesID: "unfollowed"}, Why: queue.WhyOutstanding}},
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.queue.SetFreeSpaceFloor(ctx, &scraperv1.SetFreeSpaceFloorRequest{Bytes: 1 << 31}); err != nil {
		t.Fatal(err)
	}
	for _, bytes := range []int64{-1, 1 << 51} {
		if _, err := e.queue.SetFreeSpaceFloor(ctx, &scraperv1.SetFreeSpaceFloorRequest{Bytes: bytes}); status.Code(err) != codes.InvalidArgument {
			t.Errorf("a floor of %d: %v", bytes, err)
		}
	}
	got, err := e.queue.GetQueueSettings(ctx, &scraperv1.GetQueueSettingsRequest{})
	d := got.GetLastDiscovery()
	if err != nil || got.GetFreeSpaceFloor() != 1<<31 || d.GetLookedAt() != 2 || d.GetRequested() != 1 || d.GetSkipped() != 2 || len(d.GetSkips()) != 1 || d.GetSkips()[0].GetWhy() != "quarantined" || d.GetSkips()[0].GetJobId() != 7 {
		t.Errorf("got %v, %v", got, err)
	}
}
