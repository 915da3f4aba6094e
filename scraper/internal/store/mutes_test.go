package store

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// mutedAt is when the failure of k was muted, zero if it is shown; it fails the
// test where no list has k.
func (e env) mutedAt(t *testing.T, k source.Key) time.Time {
	t.Helper()
	for _, muted := range []bool{false, true} {
		rows, err := e.Worklist(t.Context(), WorklistQuery{Sort: "oldest", Limit: 100, Muted: muted})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if r.Key == k {
				if r.Muted.IsZero() == muted {
					t.Errorf("asked for muted %v, got a row muted at %v", muted, r.Muted)
				}
				return r.Muted
			}
		}
	}
	t.Fatalf("%s is on no list", k)
	return time.Time{}
}

// A mute lives and dies with its failure row, and no statement of the poll path
// knows of it.
func TestAMuteEndsWithItsFailure(t *testing.T) {
	t.Parallel()
	ends := map[string]func(env, context.Context) error{
		"a good read": func(e env, ctx context.Context) error {
			_, err := e.RecordGood(ctx, lane.Due{Key: key}, reading("1"), time.Now(), time.Now(), lane.ByInterval)
			return err
		},
		"an unchanged read": func(e env, ctx context.Context) error {
			return e.RecordUnchanged(ctx, []lane.Unchanged{{Key: key, At: time.Now(), Next: time.Now(), Why: lane.ByInterval}})
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			s := setup(t)
			ctx := t.Context()
			first := time.Date(2026, 8, 12, 6, 0, 0, 0, time.UTC)
			other := source.Key{Site: key.Site, SeriesID: "well"}
			if n, err := s.SetMuted(ctx, []source.Key{key}, true, first); n != 0 || err != nil {
				t.Fatalf("%d muted that do not fail (%v)", n, err)
			}
			if _, err := s.RecordFailure(ctx, key, poll.Errors, first); err != nil {
				t.Fatal(err)
			}
			if n, err := s.SetMuted(ctx, []source.Key{other, key, key}, true, first.Add(time.Hour)); n != 1 || err != nil {
				t.Fatalf("%d muted (%v), want one", n, err)
			}
			if n, err := s.SetMuted(ctx, []source.Key{key}, true, first.Add(2*time.Hour)); n != 0 || err != nil || !s.mutedAt(t, key).Equal(first.Add(time.Hour)) {
				t.Errorf("muted again: %d changed (%v), muted at %v", n, err, s.mutedAt(t, key))
			}
			if _, err := s.RecordFailure(ctx, key, poll.NotFound, first.Add(3*time.Hour)); err != nil {
				t.Fatal(err)
			}
			if s.mutedAt(t, key).IsZero() {
				t.Error("another word of the same failure ended the mute")
			}
			sent := s.seen.mentions("worklist_mutes")
			if err := end(s, ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := s.RecordFailure(ctx, key, poll.Errors, first.Add(24*time.Hour)); err != nil {
				t.Fatal(err)
			}
			if n := s.seen.mentions("worklist_mutes") - sent; n != 0 {
				t.Errorf("Polls sent %d statements about mutes", n)
			}
			if !s.mutedAt(t, key).IsZero() {
				t.Error("a new failure is muted from its start")
			}
			if at, err := s.Standing(ctx); at.Failing != 1 || at.Muted != 0 || err != nil {
				t.Errorf("%d fail and %d are muted after it (%v)", at.Failing, at.Muted, err)
			}
		})
	}
}

func TestAMuteIsTakenBackMovedAndForgotten(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := t.Context()
	now := time.Now()
	if _, err := s.RecordFailure(ctx, key, poll.Errors, now); err != nil {
		t.Fatal(err)
	}
	mute := func(muted bool) {
		t.Helper()
		if n, err := s.SetMuted(ctx, []source.Key{key}, muted, now); n != 1 || err != nil {
			t.Fatalf("muted %v: %d changed (%v)", muted, n, err)
		}
	}
	mute(true)
	mute(false)
	if !s.mutedAt(t, key).IsZero() {
		t.Error("it is still muted")
	}
	mute(true)
	to := source.Key{Site: "other", SeriesID: "9"}
	if err := s.MoveSeries(ctx, key, to, "http://other.example/9", now); err != nil {
		t.Fatal(err)
	}
	if s.mutedAt(t, to).IsZero() {
		t.Error("a move lost the mute, and the failure with its age stayed")
	}
	if n, err := s.exec(ctx, "RemoveSeries", to.Site, to.SeriesID); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := s.Standing(ctx); n.Muted != 0 || err != nil {
		t.Errorf("%d mutes of no Series (%v)", n.Muted, err)
	}
}

// A good read that is being written has the row locked: the mute passes it over
// instead of waiting for it, and neither can end in a deadlock.
func TestMutingDoesNotWaitForAGoodRead(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := s.RecordFailure(ctx, key, poll.Errors, time.Now()); err != nil {
		t.Fatal(err)
	}
	conn := s.admin(t)
	if _, err := conn.Exec(ctx, "BEGIN; DELETE FROM scraper.poll_failures"); err != nil {
		t.Fatal(err)
	}
	if n, err := s.SetMuted(ctx, []source.Key{key}, true, time.Now()); n != 0 || err != nil {
		t.Errorf("%d muted (%v) of a failure that is ending", n, err)
	}
	if _, err := conn.Exec(ctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
}

// The oldest page of many is found by index, muted ones between them or not.
func TestThePlanOfTheWorklist(t *testing.T) {
	t.Parallel()
	s := setup(t)
	conn := s.admin(t)
	for _, sql := range []string{
		"SET search_path = scraper",
		"INSERT INTO series (site, series_id, title, url, origin) SELECT 'sample', 's' || i, 't' || i, 'u', 'followed' FROM generate_series(1, 50000) i",
		"INSERT INTO poll_failures SELECT 'sample', 's' || i, 'errors', now() - i * interval '1 minute' FROM generate_series(1, 10000) i",
		"INSERT INTO worklist_mutes SELECT 'sample', 's' || i, now() FROM generate_series(1, 10000, 4) i",
		"ANALYZE series", "ANALYZE poll_failures", "ANALYZE worklist_mutes", "ANALYZE move_proposals",
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"WorklistOldest", "WorklistNewest"} {
		for _, muted := range []bool{false, true} {
			for _, site := range []string{"", "sample"} {
				got := plan(t, conn, s.Statements().Get(name), site, "", (*time.Time)(nil), muted, 0, 100)
				if !strings.Contains(got, "poll_failures_oldest") || strings.Contains(got, "Seq Scan on series") || strings.Contains(got, "Seq Scan on poll_failures") {
					t.Errorf("%s, muted %v, Site %q, is not read in order from the index:\n%s", name, muted, site, got)
				}
			}
		}
	}
	start := time.Now()
	for i := range 20 {
		if rows, err := s.Worklist(t.Context(), WorklistQuery{Sort: "oldest", Limit: 100, Offset: i * 100}); err != nil || len(rows) != 100 {
			t.Fatal(fmt.Sprint(len(rows)), err)
		}
	}
	t.Logf("a page of a hundred takes %v", time.Since(start)/20)
}

func TestPollIntervalOfASite(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := t.Context()
	of := func() time.Duration {
		t.Helper()
		d, err := s.PollInterval(ctx, key.Site)
		if err != nil {
			t.Fatal(err)
		}
		lanes, err := s.Lanes(ctx)
		if err != nil || lanes[0].Interval != d {
			t.Errorf("the Lane says %v, the setting %v (%v)", lanes[0].Interval, d, err)
		}
		return d
	}
	if of() != 0 {
		t.Error("there is a choice that nobody made")
	}
	for _, want := range []time.Duration{24 * time.Hour, time.Hour, 0} {
		if err := s.SetPollInterval(ctx, key.Site, want); err != nil {
			t.Fatal(err)
		}
		if got := of(); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	for _, bad := range []string{"", "twelve", "-1", "1.5", "99999999999"} {
		if _, err := s.exec(ctx, "SetSetting", "interval/"+key.Site, bad); err != nil {
			t.Fatal(err)
		}
		if got := of(); got != 0 {
			t.Errorf("%q counts as %v", bad, got)
		}
	}
}
