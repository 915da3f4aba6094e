-- What the operator looks at: the failing Series and the Lanes.

-- name: WorklistOldest
SELECT s.site, s.series_id, s.title, s.native_title, s.authors, s.description, s.url, s.status, s.tags, s.license, s.reading_direction, s.cover_sha256,
       s.origin, s.download, s.languages, s.folder, s.last_good_read_at, s.next_poll_at, s.next_poll_reason, s.forced_poll_at, s.polled_at, s.moved_at, s.preferred_groups,
       f.outcome, f.failing_since, coalesce(p.url, '')
FROM poll_failures f JOIN series s USING (site, series_id) LEFT JOIN move_proposals p USING (site, series_id)
WHERE ($1 = '' OR f.site = $1) AND ($2 = '' OR f.outcome = $2)
ORDER BY f.failing_since, f.site, f.series_id
OFFSET $3 LIMIT $4;

-- name: WorklistNewest
SELECT s.site, s.series_id, s.title, s.native_title, s.authors, s.description, s.url, s.status, s.tags, s.license, s.reading_direction, s.cover_sha256,
       s.origin, s.download, s.languages, s.folder, s.last_good_read_at, s.next_poll_at, s.next_poll_reason, s.forced_poll_at, s.polled_at, s.moved_at, s.preferred_groups,
       f.outcome, f.failing_since, coalesce(p.url, '')
FROM poll_failures f JOIN series s USING (site, series_id) LEFT JOIN move_proposals p USING (site, series_id)
WHERE ($1 = '' OR f.site = $1) AND ($2 = '' OR f.outcome = $2)
ORDER BY f.failing_since DESC, f.site, f.series_id
OFFSET $3 LIMIT $4;

-- name: WorklistTitle
SELECT s.site, s.series_id, s.title, s.native_title, s.authors, s.description, s.url, s.status, s.tags, s.license, s.reading_direction, s.cover_sha256,
       s.origin, s.download, s.languages, s.folder, s.last_good_read_at, s.next_poll_at, s.next_poll_reason, s.forced_poll_at, s.polled_at, s.moved_at, s.preferred_groups,
       f.outcome, f.failing_since, coalesce(p.url, '')
FROM poll_failures f JOIN series s USING (site, series_id) LEFT JOIN move_proposals p USING (site, series_id)
WHERE ($1 = '' OR f.site = $1) AND ($2 = '' OR f.outcome = $2)
ORDER BY s.title, f.site, f.series_id
OFFSET $3 LIMIT $4;

-- name: WorklistCounts
SELECT outcome, count(*) FROM poll_failures WHERE $1 = '' OR site = $1 GROUP BY outcome ORDER BY outcome;

-- name: LaneFigures
SELECT l.site, l.activity, l.trouble, l.trouble_since, c.state, c.reason, c.detail, c.since, c.until, c.retry_after,
       CASE WHEN l.cycled_at IS NULL AND figures.series > 0 THEN l.counting_since END,
       coalesce(figures.series, 0), coalesce(failing.n, 0), figures.next_due, figures.last_good, coalesce(outstanding.n, 0),
       coalesce((SELECT title FROM series cur WHERE cur.site = l.site AND cur.series_id = l.series_id), '')
FROM poll_lanes l
JOIN circuits c USING (site)
LEFT JOIN (SELECT site, count(*) AS series, min(next_poll_at) AS next_due, max(last_good_read_at) AS last_good FROM series GROUP BY site) figures USING (site)
LEFT JOIN (SELECT site, count(*) AS n FROM poll_failures GROUP BY site) failing USING (site)
LEFT JOIN (SELECT site, count(*) AS n FROM jobs
           WHERE state IN ('requested', 'inspecting', 'ready', 'queued', 'downloading', 'paused', 'retry_wait') GROUP BY site) outstanding USING (site)
ORDER BY (c.state = 'paused' OR l.trouble = 'refused') DESC, (c.state <> 'closed' OR l.trouble <> '') DESC, l.site;

-- name: PassesSince
SELECT site, started_at, ended_at, end_reason, ok, not_found, no_chapter, unfetchable, errors, refused, unreachable, new_chapters
FROM poll_passes WHERE started_at >= $1 ORDER BY site, started_at, id;

-- name: MarkCycled
-- Every Series of the Lane has been polled since the counting began.
UPDATE poll_lanes l SET cycled_at = $2
WHERE l.site = $1 AND l.cycled_at IS NULL AND NOT EXISTS (SELECT FROM series s WHERE s.site = l.site AND s.polled_at IS NULL);

-- name: CountingSince
SELECT min(l.counting_since) FROM poll_lanes l
WHERE l.cycled_at IS NULL AND EXISTS (SELECT FROM series s WHERE s.site = l.site);
