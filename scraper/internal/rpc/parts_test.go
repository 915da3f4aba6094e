package rpc_test

import (
	"strings"
	"testing"

	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// No answer grows with the library past what a message may be (S-097): a Series of
// 40,000 chapters with long titles, each of them in the library.
func TestALongSeriesFits(t *testing.T) {
	e := setup(t)
	ctx := t.Context()
	const chapters = 40_000
	for _, sql := range []string{
		`INSERT INTO series (site, series_id, title, url, origin, description) VALUES ('sample', 'long', 'Long', 'https://x.example/', 'followed', repeat('d', 10000))`,
		`INSERT INTO chapters (site, series_id, chapter_id, number, title, url, source_order, first_seen_at)
			SELECT 'sample', 'long', n::text, n, repeat('t', 120), 'https://x.example/' || n, n, now() FROM generate_series(1, 40000) AS n`,
		`INSERT INTO library_files (path, site, series_id, chapter_id, series_title, number, title, size, mtime_ns, pages, fingerprint, state, revision, published_at)
			SELECT 'Long/' || n || '.cbz', 'sample', 'long', n::text, 'Long', n, repeat('t', 120), 1, 1, 1, 'f' || n, 'published', n, now() FROM generate_series(1, 2000) AS n`,
		`UPDATE library SET revision = 2000`,
	} {
		if _, err := e.pool.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	k := &scraperv1.SeriesKey{Site: "sample", SeriesId: "long"}
	seen := map[string]bool{}
	for more := true; more; {
		got, err := e.GetSeries(ctx, &scraperv1.GetSeriesRequest{Key: k, Skip: int32(len(seen))})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range got.GetState().GetChapters() {
			seen[c.GetChapterId()] = true
		}
		more = got.GetMore()
	}
	if len(seen) != chapters {
		t.Errorf("asked for, it has %d chapters", len(seen))
	}
	stream, err := e.WatchSeries(ctx, &scraperv1.WatchSeriesRequest{Key: k})
	if err != nil {
		t.Fatal(err)
	}
	clear(seen)
	parts := 0
	for more := true; more; parts++ {
		got, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range got.GetState().GetChapters() {
			seen[c.GetChapterId()] = true
		}
		if whole := got.GetState().GetSeries() != nil; whole != (parts == 0) {
			t.Errorf("part %d says what the Series is: %v", parts, whole)
		}
		more = got.GetMore()
	}
	if len(seen) != chapters || parts < 2 {
		t.Errorf("watched, it has %d chapters in %d parts", len(seen), parts)
	}
	at, epoch := int64(0), ""
	for at < 2000 {
		got, err := e.ListLibraryChanges(ctx, &scraperv1.ListLibraryChangesRequest{Epoch: epoch, After: at, Limit: 500})
		if err != nil || len(got.GetChanges()) == 0 {
			t.Fatalf("after %d: %v", at, err)
		}
		epoch = got.GetEpoch()
		for _, c := range got.GetChanges() {
			if at++; c.GetRevision() != at || !strings.HasPrefix(c.GetPath(), "Long/") {
				t.Fatalf("revision %d, want %d", c.GetRevision(), at)
			}
		}
	}
}
