package scraperclient_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"mangrove/internal/fault"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/scraperclient"
	"mangrove/reader/internal/scraperclient/scrapertest"
)

func connect(t *testing.T, s *scrapertest.Scraper) *scraperclient.Client {
	t.Helper()
	c, err := scraperclient.New(s.Socket(), zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestWithoutTheScraper(t *testing.T) {
	t.Parallel()
	before := time.Now()
	c := connect(t, scrapertest.New(t))
	ctx := context.Background()
	key := scraperclient.Key{Site: "sample", SeriesID: "s"}
	for name, call := range map[string]func() error{
		"status":  func() error { _, err := c.Status(ctx); return err },
		"list":    func() error { _, err := c.ListSeries(ctx, ""); return err },
		"get":     func() error { _, err := c.GetSeries(ctx, key); return err },
		"cover":   func() error { _, err := c.GetCover(ctx, key); return err },
		"follows": func() error { _, err := c.ApplyFollows(ctx, scraperclient.FollowChange{}); return err },
		"poll":    func() error { return c.RequestPoll(ctx, key) },
		"changes": func() error { _, err := c.ListChanges(ctx, "", 0, 1); return err },
		"watch":   func() error { return c.WatchSeries(ctx, key, func(scraperclient.State) {}) },
	} {
		err := call()
		var away *scraperclient.AwayError
		if !fault.Is(err, fault.Away) || !errors.As(err, &away) || away.Since.Before(before) || away.Since.After(time.Now()) {
			t.Errorf("%s: got %v, want away since the start", name, err)
		}
	}
	if p := c.Presence(); !p.Away || p.Status != nil || !p.LastAnswer.IsZero() {
		t.Errorf("presence %+v", p)
	}
}

func TestComesAndGoes(t *testing.T) {
	t.Parallel()
	s := scrapertest.New(t)
	c := connect(t, s)
	back, heads := make(chan struct{}, 9), make(chan int64, 99)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx, scraperclient.Heard{Library: func(_ string, head int64) { heads <- head }, Back: func() { back <- struct{}{} }})
	}()
	wait := func(what string, ch <-chan struct{}) {
		t.Helper()
		select {
		case <-ch:
		case <-time.After(15 * time.Second):
			t.Fatal("not in 15 seconds: " + what)
		}
	}
	s.Start(t)
	wait("the scraper is there", back)
	if c.Presence().Away {
		t.Error("there, and counted as away")
	}
	s.Publish(&scraperv1.LibraryChange{Path: "x"})
	for head := range heads {
		if head == 1 {
			break
		}
	}
	s.Stop()
	away := make(chan struct{})
	go func() {
		for !c.Presence().Away {
			<-time.After(5 * time.Millisecond)
		}
		close(away)
	}()
	wait("its absence is noticed", away)
	if since := c.Presence().Since; time.Since(since) > 10*time.Second {
		t.Errorf("away since %v", since)
	}
	s.Start(t)
	wait("the scraper is back", back)
	cancel()
	wait("Run ends", done)
}

// TestTheEvidenceOfAnAnswerIsItsClass: a connection that has just ended may still
// look ready, so only what the scraper's server says of a failure is an answer.
func TestTheEvidenceOfAnAnswerIsItsClass(t *testing.T) {
	t.Parallel()
	s := scrapertest.New(t)
	s.Start(t)
	c := connect(t, s)
	key := scraperclient.Key{Site: "sample", SeriesID: "s"}
	for _, tt := range []struct {
		name   string
		answer error
		class  fault.Class
		away   bool
	}{
		{"a Site that the scraper cannot reach", fault.Newf(fault.Network, "ask", "sample", "connection refused"), fault.Network, false},
		{"a call that no server answered", status.Error(codes.Unavailable, "the connection is draining"), fault.Away, true},
	} {
		s.Fail(tt.answer)
		_, err := c.GetSeries(t.Context(), key)
		if !fault.Is(err, tt.class) || c.Presence().Away != tt.away {
			t.Errorf("%s: %v, away %v", tt.name, err, c.Presence().Away)
		}
	}
}

// TestALongSeriesComesInParts: the chapters of all of them are one state (S-097).
func TestALongSeriesComesInParts(t *testing.T) {
	t.Parallel()
	s := scrapertest.New(t)
	s.Start(t)
	c := connect(t, s)
	state := &scraperv1.SeriesState{Series: &scraperv1.Series{Key: &scraperv1.SeriesKey{Site: "sample", SeriesId: "long"}, Title: "Long"}}
	var want []string
	for n := range 7 {
		want = append(want, strconv.Itoa(n))
		state.Chapters = append(state.Chapters, &scraperv1.Chapter{ChapterId: want[n]})
	}
	s.SetState(state)
	key := scraperclient.Key{Site: "sample", SeriesID: "long"}
	is := func(what string, got scraperclient.State) {
		var ids []string
		for _, ch := range got.Chapters {
			ids = append(ids, ch.ID)
		}
		if d := cmp.Diff(want, ids); d != "" || got.Series.Title != "Long" {
			t.Errorf("%s, %q has other chapters: %s", what, got.Series.Title, d)
		}
	}
	got, err := c.GetSeries(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	is("asked for", got)
	ctx, enough := context.WithCancel(t.Context())
	told := 0
	_ = c.WatchSeries(ctx, key, func(st scraperclient.State) {
		is("watched", st)
		if told++; told == 2 {
			enough()
			return
		}
		s.SetState(state)
	})
	if told != 2 {
		t.Errorf("told %d times, want twice", told)
	}
}

func TestFailuresKeepTheirClass(t *testing.T) {
	t.Parallel()
	s := scrapertest.New(t)
	s.Start(t)
	c := connect(t, s)
	_, err := c.GetSeries(context.Background(), scraperclient.Key{Site: "none"})
	if !fault.Is(err, fault.NotFound) || c.Presence().Away {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Status(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
