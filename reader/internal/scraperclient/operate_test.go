package scraperclient_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"google.golang.org/protobuf/types/known/timestamppb"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/scraperclient"
	"mangrove/reader/internal/scraperclient/scrapertest"
)

func TestWhatAnOperatorAsks(t *testing.T) {
	t.Parallel()
	ctx, s := t.Context(), scrapertest.New(t)
	s.Start(t)
	c, err := scraperclient.New(s.Socket(), zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	at := time.Unix(1_800_000_000, 0).UTC()
	key := &scraperv1.SeriesKey{Site: "alpha", SeriesId: "1"}
	series := &scraperv1.Series{Key: key, Title: "Ash"}
	lane := &scraperv1.Lane{Site: "alpha", Circuit: "open", CircuitUntil: timestamppb.New(at), IntervalSeconds: 7200}
	s.SetState(&scraperv1.SeriesState{Series: series, Failure: &scraperv1.Failure{Outcome: "errors", FailingSince: timestamppb.New(at)}, NextPollReason: "releases"})
	s.SetCounting(at)
	s.SetLanes(at, &scraperv1.LaneDetail{
		Lane: lane, Series: 3, Failing: 1, Muted: 1, PacingSeconds: 1.5, RetryAfter: timestamppb.New(at), Current: "Ash", Jobs: 2,
		Canary: &scraperv1.Canary{State: "failing", Outcome: "errors", Key: key, Title: "Ash", RanAt: timestamppb.New(at), GoodAt: timestamppb.New(at.Add(1)), FailingSince: timestamppb.New(at.Add(2)), NextAt: timestamppb.New(at.Add(3)), Evidence: "no list", IncidentId: 9},
		Passes: []*scraperv1.Pass{{StartedAt: timestamppb.New(at), EndedAt: timestamppb.New(at.Add(time.Minute)), EndReason: "complete", Ok: 1, NotFound: 2, NoChapter: 3, Unfetchable: 4, Errors: 5, Refused: 6, Unreachable: 7, NewChapters: 8}},
	})
	s.SetUnread(&scraperv1.UnreadDescription{File: "sites/foo.yaml", Kept: true, Problems: []*scraperv1.DescriptionProblem{{Line: 12, Column: 3, Message: "no"}}})
	s.Announce(&scraperv1.NewChapter{Series: series, Chapter: &scraperv1.Chapter{ChapterId: "c"}, AnnouncedAt: timestamppb.New(at)})

	k := scraperclient.Key{Site: "alpha", SeriesID: "1"}
	ash := scraperclient.Series{Key: k, Title: "Ash"}
	brief := scraperclient.Lane{Site: "alpha", Circuit: "open", CircuitUntil: at, Interval: 2 * time.Hour}
	list, err := c.ListWorklist(ctx, scraperclient.WorklistQuery{Limit: 10})
	want := scraperclient.Worklist{
		Items: []scraperclient.Failing{{Series: ash, Failure: scraperclient.Failure{Outcome: "errors", Since: at}}}, Total: 1,
		Counts: []scraperclient.OutcomeCount{{Outcome: "errors", Count: 1}}, Lanes: []scraperclient.Lane{brief}, CountingSince: at,
	}
	if d := cmp.Diff(want, list); err != nil || d != "" {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
	lanes, err := c.ListLanes(ctx)
	wantLanes := scraperclient.Lanes{PrunedBefore: at, Lanes: []scraperclient.LaneDetail{{
		Lane: brief, Series: 3, Failing: 1, Muted: 1, Jobs: 2, RetryAfter: at, Current: "Ash", Pacing: 1500 * time.Millisecond,
		Canary: &scraperclient.Canary{State: "failing", Outcome: "errors", Key: k, Title: "Ash", Ran: at, Good: at.Add(1), FailingSince: at.Add(2), Next: at.Add(3), Evidence: "no list", IncidentID: 9},
		Passes: []scraperclient.Pass{{Started: at, Ended: at.Add(time.Minute), EndReason: "complete", OK: 1, NotFound: 2, NoChapter: 3, Unfetchable: 4, Errors: 5, Refused: 6, Unreachable: 7, NewChapters: 8}},
	}}, Unread: []scraperclient.UnreadDescription{{File: "sites/foo.yaml", Kept: true, Problems: []scraperclient.DescriptionProblem{{Line: 12, Column: 3, Message: "no"}}}}}
	if d := cmp.Diff(wantLanes, lanes); err != nil || d != "" {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
	if p := lanes.Lanes[0].Passes[0]; p.Failing() != 14 || p.Read() != 15 {
		t.Errorf("%d failing of %d", p.Failing(), p.Read())
	}
	news, err := c.ListNewChapters(ctx, 10)
	if d := cmp.Diff([]scraperclient.NewChapter{{Series: ash, Chapter: scraperclient.Chapter{ID: "c"}, Announced: at}}, news); err != nil || d != "" {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
	if n, err := c.RequestPolls(ctx, []scraperclient.Key{k, {Site: "alpha", SeriesID: "unknown"}}); n != 1 || err != nil {
		t.Errorf("%d stamped, %v", n, err)
	}
	st, err := c.GetSeries(ctx, k)
	if err != nil || st.ForcedPoll.IsZero() || st.Failure == nil || st.NextPollReason != "releases" {
		t.Errorf("%+v, %v", st, err)
	}
	if n, err := c.SetMuted(ctx, []scraperclient.Key{k, {Site: "alpha", SeriesID: "unknown"}}, true); n != 1 || err != nil {
		t.Errorf("%d muted, %v", n, err)
	}
	for _, q := range []scraperclient.WorklistQuery{{}, {Muted: true, Before: at}, {Muted: true, Before: at.Add(time.Second), Limit: 10}} {
		got, err := c.ListWorklist(ctx, q)
		shown := q.Limit > 0
		if err != nil || (len(got.Items) == 1) != shown || (shown && (got.Items[0].Muted.IsZero() || got.Counts[0] != scraperclient.OutcomeCount{Outcome: "errors", Muted: 1})) {
			t.Errorf("%+v: %+v, %v", q, got, err)
		}
	}
	if st, err := c.Status(ctx); err != nil || st.SeriesFailing != 1 || st.SeriesMuted != 1 {
		t.Errorf("status %+v, %v", st, err)
	}
	if n, err := c.SetMuted(ctx, []scraperclient.Key{k}, false); n != 1 || err != nil {
		t.Errorf("%d shown again, %v", n, err)
	}
	s.SetSettings(&scraperv1.GetSettingsResponse{Sites: []*scraperv1.SiteSettings{{Site: "alpha", SiteName: "Alpha", DefaultIntervalSeconds: 5400}}})
	if err := c.SetAdaptive(ctx, true); err != nil {
		t.Error(err)
	}
	if err := c.SetPollInterval(ctx, "alpha", 24); err != nil {
		t.Error(err)
	}
	if err := c.SetPollInterval(ctx, "alpha", 169); !fault.Is(err, fault.Invalid) {
		t.Errorf("169 hours: %v", err)
	}
	settings, err := c.Settings(ctx)
	wantSettings := scraperclient.Settings{Adaptive: true, Sites: []scraperclient.SiteSettings{{Site: "alpha", Name: "Alpha", Hours: 24, Default: 90 * time.Minute}}}
	if d := cmp.Diff(wantSettings, settings); err != nil || d != "" {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
	if _, err := c.ListWorklist(ctx, scraperclient.WorklistQuery{Sort: "age"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("an unknown order: %v", err)
	}
	s.Stop()
	// The first call may still meet the old connection's end.
	if _, err := c.ListLanes(ctx); !fault.Is(err, fault.Away) && !fault.Is(err, fault.Network) {
		t.Errorf("away: %v", err)
	}
}
