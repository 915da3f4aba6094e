package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/inventory/inventorytest"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
)

// TestDiscovery: what a night finds, requests and passes over, and why (JOB-9).
func TestDiscovery(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := t.Context()
	conn := s.admin(t)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	// state is that of the latest Job, "" for none.
	add := func(id string, download bool, language, state string) source.Key {
		t.Helper()
		k := source.Key{Site: key.Site, SeriesID: id}
		exec(`INSERT INTO scraper.series (site, series_id, title, url, origin, download) VALUES ($1, $2, $2, 'http://x', 'followed', $3)`, k.Site, id, download)
		exec(`INSERT INTO scraper.chapters (site, series_id, chapter_id, url, source_order, first_seen_at, language) VALUES ($1, $2, '1', 'http://x/1', 0, now(), $3)`, k.Site, id, language)
		if state != "" {
			exec(`INSERT INTO scraper.jobs (site, series_id, state, finished_at) VALUES ($1, $2, $3, CASE WHEN $3 IN ('unavailable', 'quarantined', 'done', 'cancelled') THEN now() END)`, k.Site, id, state)
		}
		return k
	}
	lacks := add("lacks", true, "en", "")
	add("unmarked", false, "en", "")
	add("spoken", true, "fr", "")
	outstanding := add("outstanding", true, "en", "ready")
	unavailable := add("unavailable", true, "en", "unavailable")
	quarantined := add("quarantined", true, "en", "quarantined")
	cancelled := add("cancelled", true, "en", "cancelled")
	external := add("external", true, "en", "")
	exec(`UPDATE scraper.chapters SET external = true WHERE series_id = $1`, external.SeriesID)
	complete := add("complete", true, "en", "done")
	exec(`INSERT INTO scraper.library_files (path, revision, state, site, series_id, chapter_id, series_title, pages, size, fingerprint, published_at)
		VALUES ('p', 1, 'published', $1, $2, '1', 't', 1, 1, 'f', now())`, complete.Site, complete.SeriesID)
	gone := add("gone", true, "en", "done")
	exec(`INSERT INTO scraper.library_files (path, revision, state, site, series_id, chapter_id, series_title, pages, size, fingerprint, published_at)
		VALUES ('q', 2, 'missing', $1, $2, '1', 't', 1, 1, 'g', now())`, gone.Site, gone.SeriesID)

	looked := inventorytest.Snapshot(t, s.Store)
	var current error
	var woken []string
	d := &queue.Discovery{
		Store: s.Store, Current: func(context.Context) (inventory.Snapshot, error) { return looked, current }, Log: zap.NewNop(),
		Languages: func(string) []string { return []string{"en"} },
		Wake:      func(site string) { woken = append(woken, site) },
	}
	id := func(k source.Key) int64 {
		t.Helper()
		j, ok, err := s.LatestJob(ctx, k)
		if err != nil || !ok {
			t.Fatalf("%s has no Job: %v", k, err)
		}
		return j.ID
	}

	current = errors.New("the library is not mounted")
	got, err := d.Run(ctx)
	if err != nil || got.End != queue.DiscoveryNoInventory || got.Requested != 0 || got.LookedAt != 0 {
		t.Errorf("without an Inventory: %+v, %v", got, err)
	}
	current = nil
	got, err = d.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := queue.Discovered{
		Started: got.Started, Ended: got.Ended, End: queue.DiscoveryComplete, LookedAt: 5, Requested: 2,
		Skipped: []queue.Skip{
			{Key: outstanding, Why: queue.WhyOutstanding, JobID: id(outstanding)},
			{Key: quarantined, Why: queue.WhyQuarantined, JobID: id(quarantined)},
			{Key: unavailable, Why: queue.WhyUnavailable, JobID: id(unavailable)},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the first night (-want +got):\n%s", diff)
	}
	for _, k := range []source.Key{lacks, cancelled} {
		if j, _, err := s.LatestJob(ctx, k); err != nil || j.State != job.Requested || !j.Unattended {
			t.Errorf("%s has Job %+v (%v), want one requested and unattended", k, j, err)
		}
	}
	if diff := cmp.Diff([]string{key.Site}, woken); diff != "" {
		t.Errorf("Lanes woken (-want +got):\n%s", diff)
	}
	// The next night finds them under way and requests nothing.
	got, err = d.Run(ctx)
	if err != nil || got.Requested != 0 || len(got.Skipped) != 5 {
		t.Errorf("the second night: %+v, %v", got, err)
	}
	kept, ok, err := s.NewestDiscovery(ctx)
	if err != nil || !ok || kept.LookedAt != 5 || len(kept.Skipped) != 5 || kept.Skipped[0].Why != queue.WhyOutstanding {
		t.Errorf("kept: %+v, %v, %v", kept, ok, err)
	}
}

func TestTheDiscoveryRunsOnceANight(t *testing.T) {
	t.Parallel()
	s := setup(t)
	ctx := t.Context()
	looked := inventorytest.Snapshot(t, s.Store)
	runs := 0
	d := &queue.Discovery{
		Store: s.Store, Log: zap.NewNop(), Wake: func(string) {}, Languages: func(string) []string { return nil },
		Current: func(context.Context) (inventory.Snapshot, error) { runs++; return looked, nil },
	}
	at := func(clock string) time.Time {
		t.Helper()
		now := time.Now()
		c, err := time.Parse("15:04", clock)
		if err != nil {
			t.Fatal(err)
		}
		return time.Date(now.Year(), now.Month(), now.Day()+1, c.Hour(), c.Minute(), 0, 0, now.Location())
	}
	for _, step := range []struct {
		now  time.Time
		last string // when the newest one began, "" leaves it
		want int
	}{
		{at("02:59"), "", 1},                                         // the first: yesterday's was missed
		{at("02:59"), "02:00", 0},                                    // not yet time
		{at("03:00"), "02:00", 1},                                    // time
		{at("23:00"), "03:00", 0},                                    // has been
		{at("23:00").AddDate(0, 0, 1), "03:00", 1},                   // a night later, made up for
		{at("03:00").AddDate(0, 0, 7).Add(-time.Minute), "03:00", 1}, // it was off for a week
	} {
		if step.last != "" {
			if _, err := s.admin(t).Exec(ctx, "UPDATE scraper.discoveries SET started_at = $1", at(step.last)); err != nil {
				t.Fatal(err)
			}
		}
		before := runs
		if err := d.RunIfDue(ctx, step.now); err != nil {
			t.Fatal(err)
		}
		if runs-before != step.want {
			t.Errorf("at %s, last at %s: %d runs, want %d", step.now, step.last, runs-before, step.want)
		}
	}
	if _, err := s.exec(ctx, "SetSetting", discoveryAt, ""); err != nil {
		t.Fatal(err)
	}
	before := runs
	if err := d.RunIfDue(ctx, at("03:00").AddDate(1, 0, 0)); err != nil || runs != before {
		t.Errorf("switched off it ran %d times (%v)", runs-before, err)
	}
	for range 40 {
		if _, err := d.Run(ctx); err != nil {
			t.Fatal(err)
		}
	}
	var n int
	if err := s.admin(t).QueryRow(ctx, "SELECT count(*) FROM scraper.discoveries").Scan(&n); err != nil || n != discoveriesKept {
		t.Errorf("%d rows are kept (%v), want %d", n, err, discoveriesKept)
	}
}

func TestLastTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here: ", err)
	}
	at := func(s string) time.Time {
		t.Helper()
		v, err := time.ParseInLocation("2006-01-02 15:04", s, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, tt := range []struct{ clock, now, want string }{
		{"03:00", "2026-12-01 03:00", "2026-12-01 03:00"},
		{"03:00", "2026-12-01 02:59", "2026-11-30 03:00"},
		{"23:59", "2026-01-01 00:00", "2025-12-31 23:59"},
		{"02:30", "2026-03-29 12:00", "2026-03-29 03:30"}, // an hour that does not exist
		{"", "2026-12-01 03:00", ""},
		{"25:00", "2026-12-01 03:00", ""},
	} {
		got, ok := queue.LastTime(tt.clock, at(tt.now))
		if tt.want == "" && ok {
			t.Errorf("%q is taken for a time of day", tt.clock)
		}
		if tt.want != "" && (!ok || !got.Equal(at(tt.want))) {
			t.Errorf("%s before %s: %s (%v), want %s", tt.clock, tt.now, got, ok, tt.want)
		}
	}
}
