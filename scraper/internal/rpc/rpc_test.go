package rpc_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"mangrove/internal/fault"
	"mangrove/internal/grpcserver"
	"mangrove/internal/pgtest"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/canary"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/cover"
	"mangrove/scraper/internal/follow"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/inventory/inventorytest"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/rpc"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/source/sample"
	"mangrove/scraper/internal/store"
)

var key = source.Key{Site: sample.Key, SeriesID: "pepper-and-carrot"}

// edge is the API over its real socket and a real store.
type edge struct {
	scraperv1.ScraperServiceClient
	queue scraperv1.QueueServiceClient
	pool  *pgxpool.Pool
	db    *store.Store
	hub   *live.Hub
	// stopped are the Jobs whose unit of work was asked to stop.
	stopped *[]int64
	probes  *probes
	paces   *paces
}

// probes stands for the Lanes: it answers what it is told to.
type probes struct {
	asked  int
	reason string
}

func (p *probes) Probe(context.Context, string) (bool, string, error) {
	p.asked++
	return p.reason == "", p.reason, nil
}

// paces notes what a Lane was told.
type paces struct{ set map[string]time.Duration }

func (p *paces) SetPacing(site string, d time.Duration) { p.set[site] = d }
func (p *paces) Rate(string) (float64, bool)            { return 9, true }

type noSearch struct{}

func (noSearch) Search(context.Context, string, string) ([]source.Series, error) { return nil, nil }

func setup(t *testing.T) edge {
	t.Helper()
	pool := pgtest.Pool(t, pgtest.New(t).Scraper, store.Schema, nil)
	db := store.New(pool)
	a, err := sample.Start("http://sample.example")
	if err != nil {
		t.Fatal(err)
	}
	if err := db.EnsureListed(t.Context(), sample.Key, a.Listed()[0]); err != nil {
		t.Fatal(err)
	}
	if err := db.EnsureLane(t.Context(), sample.Key); err != nil {
		t.Fatal(err)
	}
	adapters := source.NewRegistry(a)
	hub := live.NewHub()
	wake := func(string) {}
	server := grpcserver.New(zap.NewNop(), grpc.Creds(grpcserver.PeerCredentials(os.Geteuid())))
	stopped, probing, pacing := &[]int64{}, &probes{}, &paces{set: map[string]time.Duration{}}
	served := &rpc.Server{
		Version: "test", Started: time.Now(), Store: db, Covers: cover.New(t.TempDir()), Searches: noSearch{}, Recorder: &incident.Recorder{Store: db, Log: zap.NewNop()}, Hub: hub, Adapters: adapters, Wake: wake,
		Library: inventorytest.Start(t, t.TempDir(), db),
		Unread:  func() []*scraperv1.UnreadDescription { return []*scraperv1.UnreadDescription{{File: "sites/foo.yaml"}} },
		Follows: &follow.Reconciler{Store: db, Queue: queue.New(db), Adapters: adapters, Wake: wake},
		StopJob: func(_ string, id int64) { *stopped = append(*stopped, id) }, Probes: probing, Paces: pacing,
	}
	scraperv1.RegisterScraperServiceServer(server.Server, served)
	scraperv1.RegisterQueueServiceServer(server.Server, served)
	scraperv1.RegisterMovingServiceServer(server.Server, served)
	path := filepath.Join(t.TempDir(), "s.sock")
	l, err := grpcserver.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { _ = server.Serve(l); close(done) }()
	conn, err := grpcserver.DialUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(); server.Stop(time.Second); <-done })
	return edge{scraperv1.NewScraperServiceClient(conn), scraperv1.NewQueueServiceClient(conn), pool, db, hub, stopped, probing, pacing}
}

func message(k source.Key) *scraperv1.SeriesKey {
	return &scraperv1.SeriesKey{Site: k.Site, SeriesId: k.SeriesID}
}

func TestFollowThenWatch(t *testing.T) {
	e := setup(t)
	ctx := t.Context()
	listed, err := e.ListSeries(ctx, &scraperv1.ListSeriesRequest{Origin: "listed"})
	if err != nil || len(listed.GetSeries()) != 1 || listed.GetSeries()[0].GetSiteName() != "Sample" {
		t.Fatalf("listed %v, %v", listed, err)
	}
	stream, err := e.WatchSeries(ctx, &scraperv1.WatchSeriesRequest{Key: message(key)})
	if err != nil {
		t.Fatal(err)
	}
	first, err := stream.Recv()
	if err != nil || first.GetState().GetJob() != nil {
		t.Fatalf("first state %v, %v; want one without a Job", first, err)
	}
	got, err := e.ApplyFollows(ctx, &scraperv1.ApplyFollowsRequest{Revision: 1, Follows: []*scraperv1.Follow{
		{Key: message(key), Download: true}, {Key: &scraperv1.SeriesKey{Site: "nowhere", SeriesId: "1"}},
	}})
	if err != nil || got.GetRevision() != 1 || len(got.GetUnknown()) != 1 || got.GetUnknown()[0].GetSite() != "nowhere" {
		t.Fatalf("applied %v, %v; want revision 1 and the unknown Site named", got, err)
	}
	second, err := stream.Recv()
	if err != nil || second.GetState().GetSeries().GetOrigin() != "followed" || second.GetState().GetJob().GetState() != "requested" {
		t.Errorf("after the follow: %v, %v; want it followed with a Job", second, err)
	}
	stale, err := e.ApplyFollows(ctx, &scraperv1.ApplyFollowsRequest{Revision: 1, Unfollowed: []*scraperv1.SeriesKey{message(key)}})
	if err != nil || !stale.GetStale() {
		t.Errorf("an old revision: %v, %v; want it refused", stale, err)
	}
}

func TestWorklistAndLanes(t *testing.T) {
	e := setup(t)
	ctx := t.Context()
	since := time.Date(2026, 8, 12, 6, 0, 0, 0, time.UTC)
	if _, err := e.db.RecordFailure(ctx, key, poll.NotFound, since); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if err := e.db.RecordPass(ctx, lane.Pass{Site: key.Site, Started: now, Ended: now, EndReason: lane.EndRefused, Counts: map[poll.Outcome]int{poll.Refused: 1}}); err != nil {
		t.Fatal(err)
	}
	c, err := e.db.Circuit(ctx, key.Site)
	if err != nil {
		t.Fatal(err)
	}
	next, _ := c.Next(circuit.Refusal, now, "status 429", now.Add(time.Hour))
	if moved, err := e.db.MoveCircuit(ctx, c, next); !moved || err != nil {
		t.Fatal(moved, err)
	}
	if err := e.db.SetTrouble(ctx, key.Site, lane.TroubleRefused, now); err != nil {
		t.Fatal(err)
	}
	work, err := e.ListWorklist(ctx, &scraperv1.ListWorklistRequest{})
	if err != nil || len(work.GetItems()) != 1 || work.GetTotal() != 1 || len(work.GetLanes()) != 1 || work.GetCountingSince() == nil {
		t.Fatalf("Worklist %v, %v; want one Series, one Lane in trouble, counting", work, err)
	}
	if f := work.GetItems()[0].GetFailure(); f.GetOutcome() != "not_found" || !f.GetFailingSince().AsTime().Equal(since) {
		t.Errorf("failure %v", f)
	}
	lanes, err := e.ListLanes(ctx, &scraperv1.ListLanesRequest{})
	if err != nil || len(lanes.GetLanes()) != 1 || len(lanes.GetUnread()) != 1 || lanes.GetUnread()[0].GetFile() != "sites/foo.yaml" {
		t.Fatalf("Lanes %v, %v", lanes, err)
	}
	d := lanes.GetLanes()[0]
	if d.GetLane().GetCircuit() != "paused" || d.GetLane().GetTrouble() != "refused" || d.GetCircuitDetail() != "status 429" || d.GetRetryAfter() == nil ||
		d.GetFailing() != 1 || len(d.GetPasses()) != 1 || d.GetPasses()[0].GetRefused() != 1 || d.GetPacingSeconds() != 0.2 {
		t.Errorf("Lane %v", d)
	}
	if d.GetCanary() != nil {
		t.Errorf("nobody follows anything, and its known Series is %v", d.GetCanary())
	}
	if _, err := e.pool.Exec(ctx, "UPDATE series SET origin = 'followed', title = 'Pepper'"); err != nil {
		t.Fatal(err)
	}
	trials, err := e.db.Canary(ctx, key.Site)
	if err != nil {
		t.Fatal(err)
	}
	to := trials.Canary
	for range 2 {
		to = to.After(canary.Trial{Outcome: canary.NoChapter, SeriesID: key.SeriesID, Err: source.Unparsed("u", "no list")}, since, trials.Every, func(d time.Duration) time.Duration { return d })
	}
	if moved, err := e.db.MoveCanary(ctx, trials.Canary, to); !moved || err != nil {
		t.Fatal(moved, err)
	}
	id, _, err := e.db.RecordIncident(ctx, incident.Incident{Kind: fault.Parser, About: incident.AboutCanary, Key: key, At: since, LastAt: since, Seen: 1})
	if err != nil {
		t.Fatal(err)
	}
	lanes, err = e.ListLanes(ctx, &scraperv1.ListLanesRequest{Brief: true})
	if c := lanes.GetLanes()[0].GetCanary(); err != nil || c.GetState() != "failing" || c.GetOutcome() != "no_chapter" || c.GetTitle() != "Pepper" || c.GetKey().GetSeriesId() != key.SeriesID ||
		!c.GetFailingSince().AsTime().Equal(since) || c.GetGoodAt() != nil || c.GetNextAt() == nil || c.GetEvidence() == "" || c.GetIncidentId() != id {
		t.Errorf("its known Series: %v, %v", c, err)
	}
	polls, err := e.RequestPolls(ctx, &scraperv1.RequestPollsRequest{Keys: []*scraperv1.SeriesKey{message(key), {Site: "x", SeriesId: "y"}}})
	if err != nil || polls.GetStamped() != 1 {
		t.Errorf("stamped %v, %v; want one", polls, err)
	}
	if f, failing, err := e.db.Failure(ctx, key); err != nil || !failing || !f.Since.Equal(since) {
		t.Errorf("a Forced Poll request changed the failure row: %v %v %v", f, failing, err)
	}
}

// What is in the library belongs to the release, not to its number (S-013).
func TestOnlyTheReleaseThatIsHereIsPublished(t *testing.T) {
	t.Parallel()
	e := setup(t)
	ctx := t.Context()
	r := source.Reading{Series: source.Series{ID: key.SeriesID, Title: "T"}, Chapters: []source.Chapter{
		{ID: "a", Number: "44", Groups: []string{"North"}, URL: "http://x/a"}, {ID: "b", Number: "44", Groups: []string{"South"}, URL: "http://x/b", Order: 1},
	}}
	if _, err := e.db.RecordGood(ctx, lane.Due{Key: key}, r, time.Now(), time.Now(), lane.ByInterval); err != nil {
		t.Fatal(err)
	}
	if _, err := e.pool.Exec(ctx, `INSERT INTO library_files (path, revision, state, site, series_id, chapter_id, series_title, pages, size, fingerprint, published_at)
		VALUES ('T/44.cbz', 1, 'published', $1, $2, 'a', 'T', 1, 1, 'f', now())`, key.Site, key.SeriesID); err != nil {
		t.Fatal(err)
	}
	got, err := e.GetSeries(ctx, &scraperv1.GetSeriesRequest{Key: message(key)})
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for _, c := range got.GetState().GetChapters() {
		states[c.GetChapterId()] = c.GetLibraryState()
	}
	if states["a"] != "published" || states["b"] != "absent" || len(states) != 2 {
		t.Errorf("library states %v", states)
	}
}

func TestResumeAsksBeforeTheSitesOwnTime(t *testing.T) {
	e := setup(t)
	ctx := t.Context()
	now := time.Now()
	c, err := e.db.Circuit(ctx, key.Site)
	if err != nil {
		t.Fatal(err)
	}
	next, _ := c.Next(circuit.Refusal, now, "status 429", now.Add(time.Hour))
	if moved, err := e.db.MoveCircuit(ctx, c, next); !moved || err != nil {
		t.Fatal(moved, err)
	}
	asked, err := e.ResumeSite(ctx, &scraperv1.ResumeSiteRequest{Site: key.Site})
	if err != nil || asked.GetResumed() || asked.GetAskedForQuietUntil() == nil {
		t.Errorf("before its time: %v, %v; want to be asked", asked, err)
	}
	if c, err := e.db.Circuit(ctx, key.Site); err != nil || c.State != circuit.Paused {
		t.Errorf("the circuit is %s (%v), want it still paused", c.State, err)
	}
	done, err := e.ResumeSite(ctx, &scraperv1.ResumeSiteRequest{Site: key.Site, Confirmed: true})
	if err != nil || !done.GetResumed() {
		t.Errorf("confirmed: %v, %v", done, err)
	}
	if c, err := e.db.Circuit(ctx, key.Site); err != nil || c.State != circuit.Closed {
		t.Errorf("the circuit is %s (%v), want closed", c.State, err)
	}
	if _, err := e.ResumeSite(ctx, &scraperv1.ResumeSiteRequest{Site: "nosuch"}); status.Code(err) != codes.NotFound {
		t.Errorf("no such Site: %v", err)
	}
}

// An operator pauses a Site, once however often it is said, and ends it by Resume.
func TestPauseSite(t *testing.T) {
	t.Parallel()
	e := setup(t)
	ctx := t.Context()
	for _, changed := range []bool{true, false} {
		if r, err := e.PauseSite(ctx, &scraperv1.PauseSiteRequest{Site: key.Site}); err != nil || r.GetChanged() != changed {
			t.Errorf("%v, %v; want changed %v", r, err, changed)
		}
	}
	if c, err := e.db.Circuit(ctx, key.Site); err != nil || c.State != circuit.Paused || c.Reason != circuit.Operator {
		t.Errorf("the circuit is %+v (%v)", c, err)
	}
	if r, err := e.ResumeSite(ctx, &scraperv1.ResumeSiteRequest{Site: key.Site}); err != nil || !r.GetResumed() {
		t.Errorf("resumed: %v, %v", r, err)
	}
	if _, err := e.PauseSite(ctx, &scraperv1.PauseSiteRequest{Site: "nosuch"}); status.Code(err) != codes.NotFound {
		t.Errorf("no such Site: %v", err)
	}
}

func TestRecogniseAndMove(t *testing.T) {
	e := setup(t)
	ctx := t.Context()
	r, err := e.RecogniseAddress(ctx, &scraperv1.RecogniseAddressRequest{Address: "http://sample.example/series/pepper-and-carrot?x=1"})
	if err != nil || r.GetKey().GetSeriesId() != key.SeriesID || r.GetKnown() == nil {
		t.Errorf("recognised %v, %v", r, err)
	}
	moved, err := e.MoveSeries(ctx, &scraperv1.MoveSeriesRequest{Key: message(key), Address: "http://sample.example/series/elsewhere"})
	if err != nil || moved.GetKey().GetSeriesId() != "elsewhere" {
		t.Fatalf("moved %v, %v", moved, err)
	}
	state, err := e.GetSeries(ctx, &scraperv1.GetSeriesRequest{Key: moved.GetKey()})
	if err != nil || state.GetState().GetMovedAt() == nil || state.GetState().GetNextPollReason() != "forced" {
		t.Errorf("after the move: %v, %v", state, err)
	}
	again, err := e.ApplyFollows(ctx, &scraperv1.ApplyFollowsRequest{Revision: 1, Whole: true, Follows: []*scraperv1.Follow{{Key: message(key)}}})
	if err != nil || len(again.GetMoved()) != 1 || again.GetMoved()[0].GetTo().GetSeriesId() != "elsewhere" {
		t.Errorf("a wish for the old name: %v, %v; want it taken for the new", again, err)
	}
	if _, err := e.GetSeries(ctx, &scraperv1.GetSeriesRequest{Key: message(key)}); status.Code(err) != codes.NotFound {
		t.Errorf("the old name is known again: %v", err)
	}
}

func TestHostileRequests(t *testing.T) {
	e := setup(t)
	ctx := t.Context()
	long := strings.Repeat("x", 10_000)
	tests := []struct {
		name string
		call func() error
		want codes.Code
	}{
		{"no key", func() error { _, err := e.GetSeries(ctx, &scraperv1.GetSeriesRequest{}); return err }, codes.InvalidArgument},
		{"a long key", func() error {
			_, err := e.RequestPoll(ctx, &scraperv1.RequestPollRequest{Key: &scraperv1.SeriesKey{Site: long, SeriesId: "1"}})
			return err
		}, codes.InvalidArgument},
		{"a NUL in a key", func() error {
			_, err := e.GetSeries(ctx, &scraperv1.GetSeriesRequest{Key: &scraperv1.SeriesKey{Site: "a\x00", SeriesId: "1"}})
			return err
		}, codes.InvalidArgument},
		{"an unknown Series", func() error {
			_, err := e.GetSeries(ctx, &scraperv1.GetSeriesRequest{Key: &scraperv1.SeriesKey{Site: "a", SeriesId: "1"}})
			return err
		}, codes.NotFound},
		{"no cover", func() error { _, err := e.GetCover(ctx, &scraperv1.GetCoverRequest{Key: message(key)}); return err }, codes.NotFound},
		{"an origin that is none", func() error { _, err := e.ListSeries(ctx, &scraperv1.ListSeriesRequest{Origin: "'; DROP"}); return err }, codes.InvalidArgument},
		{"a negative limit", func() error {
			_, err := e.ListLibraryChanges(ctx, &scraperv1.ListLibraryChangesRequest{Limit: -1})
			return err
		}, codes.InvalidArgument},
		{"a negative cursor", func() error {
			_, err := e.ListLibraryChanges(ctx, &scraperv1.ListLibraryChangesRequest{After: -1})
			return err
		}, codes.InvalidArgument},
		{"a Worklist of an outcome that is none", func() error {
			_, err := e.ListWorklist(ctx, &scraperv1.ListWorklistRequest{Outcome: "fine"})
			return err
		}, codes.InvalidArgument},
		{"a Worklist in no order", func() error {
			_, err := e.ListWorklist(ctx, &scraperv1.ListWorklistRequest{Sort: "title; --"})
			return err
		}, codes.InvalidArgument},
		{"a whole set that also unfollows", func() error {
			_, err := e.ApplyFollows(ctx, &scraperv1.ApplyFollowsRequest{Whole: true, Unfollowed: []*scraperv1.SeriesKey{message(key)}})
			return err
		}, codes.InvalidArgument},
		{"an address of 10,000 bytes", func() error {
			_, err := e.RecogniseAddress(ctx, &scraperv1.RecogniseAddressRequest{Address: long})
			return err
		}, codes.InvalidArgument},
		{"an address no Site reads", func() error {
			_, err := e.RecogniseAddress(ctx, &scraperv1.RecogniseAddressRequest{Address: "file:///etc/passwd"})
			return err
		}, codes.NotFound},
		{"a search of a Site that has none", func() error {
			_, err := e.SearchSite(ctx, &scraperv1.SearchSiteRequest{Site: sample.Key, Query: "x"})
			return err
		}, codes.Unimplemented},
		{"a search of no Site", func() error {
			_, err := e.SearchSite(ctx, &scraperv1.SearchSiteRequest{Site: "x", Query: "x"})
			return err
		}, codes.NotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := tt.call(); status.Code(err) != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestLibraryChangesOfAnotherEpochStartOver(t *testing.T) {
	e := setup(t)
	ctx := t.Context()
	head, err := e.ListLibraryChanges(ctx, &scraperv1.ListLibraryChangesRequest{Epoch: "another", After: 1_000_000})
	if err != nil || head.GetEpoch() == "another" || head.GetHead() != 0 || len(head.GetChanges()) != 0 {
		t.Errorf("%v, %v", head, err)
	}
	stream, err := e.WatchLibrary(ctx, &scraperv1.WatchLibraryRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if m, err := stream.Recv(); err != nil || m.GetEpoch() != head.GetEpoch() {
		t.Errorf("%v, %v", m, err)
	}
	e.hub.LibraryChanged()
	if _, err := stream.Recv(); err != nil {
		t.Errorf("no word of a change: %v", err)
	}
}
