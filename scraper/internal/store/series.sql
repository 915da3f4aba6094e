-- The Series the scraper polls, and when.

-- name: EnsureListed
-- A Series a Site offers from the start is known from the start.
INSERT INTO series (site, series_id, title, url, origin)
VALUES ($1, $2, $3, $4, 'listed')
ON CONFLICT (site, series_id) DO NOTHING;

-- name: RetargetListed
-- The address of a listed Series may change between starts (a listener's port).
UPDATE series SET url = $3
WHERE site = $1 AND series_id = $2 AND url <> $3;

-- name: DueSeries
SELECT s.site, s.series_id, s.url, s.etag, s.last_modified, s.forced_poll_at IS NOT NULL, s.download,
       s.last_good_read_at IS NOT NULL, s.cover_url, s.cover_sha256, s.moved_at IS NOT NULL, s.title
FROM series s
WHERE s.site = $1 AND (s.next_poll_at <= $2 OR s.forced_poll_at IS NOT NULL)
ORDER BY s.forced_poll_at NULLS LAST, s.next_poll_at, s.series_id
LIMIT $3;

-- name: NextDue
SELECT min(next_poll_at) FROM series WHERE site = $1;

-- name: Witness
SELECT s.site, s.series_id, s.url
FROM series s
WHERE s.site = $1 AND s.last_good_read_at IS NOT NULL AND s.series_id <> ALL ($2)
  AND NOT EXISTS (SELECT FROM poll_failures f WHERE f.site = s.site AND f.series_id = s.series_id)
ORDER BY s.last_good_read_at DESC
LIMIT 1;

-- name: Advance
UPDATE series SET next_poll_at = $3, next_poll_reason = 'interval', forced_poll_at = NULL, polled_at = now()
WHERE site = $1 AND series_id = $2;

-- name: MarkGood
-- Everything a correct Poll says of the Series itself, and the end of its failure
-- row if it has one, in one statement. An address is kept only once the page
-- there has yielded the same Series (POLL-13).
WITH cleared AS (DELETE FROM poll_failures WHERE site = $1 AND series_id = $2),
     understood AS (UPDATE incidents SET resolved_at = greatest($4, at), resolution = 'good_read'
                    WHERE resolved_at IS NULL AND about = 'series' AND site = $1 AND series_id = $2),
     answered AS (DELETE FROM move_proposals WHERE site = $1 AND series_id = $2)
UPDATE series SET next_poll_at = $3, last_good_read_at = $4, polled_at = $4, next_poll_reason = $5, forced_poll_at = NULL,
       url = CASE WHEN $6 = '' THEN url ELSE $6 END, shrunk_at = CASE WHEN $7 THEN coalesce(shrunk_at, $4) END,
       moved_at = NULL,
       title = $8, native_title = $9, authors = $10, description = $11, status = $12, tags = $13,
       license = $14, reading_direction = $15, etag = $16, last_modified = $17, alt_titles = $18
WHERE site = $1 AND series_id = $2
RETURNING coalesce(shrunk_at < $4, false);

-- name: MarkUnchanged
-- MarkGood and DeleteFailure for many reads that changed nothing, in one statement.
WITH reads AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::timestamptz[], $5::text[]) AS r (site, series_id, next, at, why)
), cleared AS (
    DELETE FROM poll_failures f USING reads r WHERE f.site = r.site AND f.series_id = r.series_id
), understood AS (
    UPDATE incidents i SET resolved_at = greatest(r.at, i.at), resolution = 'good_read'
    FROM reads r
    WHERE i.resolved_at IS NULL AND i.about = 'series' AND i.site = r.site AND i.series_id = r.series_id
)
UPDATE series s SET next_poll_at = r.next, next_poll_reason = r.why, forced_poll_at = NULL, last_good_read_at = r.at, polled_at = r.at
FROM reads r
WHERE s.site = r.site AND s.series_id = r.series_id;

-- name: MarkRead
-- A correct read that was not a Poll (an inspection): what it said is kept, its
-- turn is not moved and no failure row is touched.
UPDATE series SET last_good_read_at = $3, shrunk_at = CASE WHEN $4 THEN coalesce(shrunk_at, $3) END,
       title = $5, native_title = $6, authors = $7, description = $8, status = $9, tags = $10, license = $11,
       reading_direction = $12, etag = $13, last_modified = $14, alt_titles = $15
WHERE site = $1 AND series_id = $2
RETURNING coalesce(shrunk_at < $3, false);

-- name: SaveCover
UPDATE series SET cover_url = $3, cover_sha256 = $4
WHERE site = $1 AND series_id = $2;

-- name: ForcePoll
UPDATE series SET forced_poll_at = coalesce(forced_poll_at, $3)
WHERE site = $1 AND series_id = $2
RETURNING forced_poll_at;

-- name: ForcePolls
UPDATE series s SET forced_poll_at = coalesce(s.forced_poll_at, $3)
FROM unnest($1::text[], $2::text[]) AS k (site, series_id)
WHERE s.site = k.site AND s.series_id = k.series_id;

-- name: Releases
SELECT coalesce(published_at, first_seen_at) FROM chapters WHERE site = $1 AND series_id = $2 AND NOT external;

-- name: GetSeries
SELECT site, series_id, title, native_title, authors, description, url, status, tags, license, reading_direction, cover_sha256,
       origin, download, languages, folder, last_good_read_at, next_poll_at, next_poll_reason, forced_poll_at, polled_at, moved_at, alt_titles
FROM series
WHERE site = $1 AND series_id = $2;

-- name: ListSeries
SELECT site, series_id, title, native_title, authors, description, url, status, tags, license, reading_direction, cover_sha256,
       origin, download, languages, folder, last_good_read_at, next_poll_at, next_poll_reason, forced_poll_at, polled_at, moved_at, alt_titles
FROM series
WHERE $1 = '' OR origin = $1
ORDER BY title, site, series_id;

-- name: NameFolder
UPDATE series SET folder = CASE WHEN folder = '' THEN $3 ELSE folder END
WHERE site = $1 AND series_id = $2
RETURNING folder;
