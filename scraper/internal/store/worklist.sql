-- What the operator looks at: the failing Series and the Lanes. A page of them is
-- found in the failure rows alone and joined afterwards, so that a page far down
-- does not read all Series before it. The mutes are asked for one by one: joined,
-- they are taken to leave one row, and the whole list is sorted for a page of it.

-- name: WorklistOldest
SELECT s.site, s.series_id, s.title, s.native_title, s.authors, s.description, s.url, s.status, s.tags, s.license, s.reading_direction, s.cover_sha256,
       s.origin, s.download, s.languages, s.folder, s.last_good_read_at, s.next_poll_at, s.next_poll_reason, s.forced_poll_at, s.polled_at, s.moved_at, s.alt_titles,
       f.outcome, f.failing_since, coalesce(p.url, ''), coalesce(p.because, ''), m.muted_at
FROM (
    SELECT site, series_id, outcome, failing_since FROM poll_failures f
    WHERE ($1 = '' OR site = $1) AND ($2 = '' OR outcome = $2) AND ($3::timestamptz IS NULL OR failing_since < $3)
      AND EXISTS (SELECT FROM worklist_mutes m WHERE m.site = f.site AND m.series_id = f.series_id) = $4
    ORDER BY failing_since, site, series_id
    OFFSET $5 LIMIT $6
) f JOIN series s USING (site, series_id) LEFT JOIN move_proposals p USING (site, series_id) LEFT JOIN worklist_mutes m USING (site, series_id)
ORDER BY f.failing_since, f.site, f.series_id;

-- name: WorklistNewest
SELECT s.site, s.series_id, s.title, s.native_title, s.authors, s.description, s.url, s.status, s.tags, s.license, s.reading_direction, s.cover_sha256,
       s.origin, s.download, s.languages, s.folder, s.last_good_read_at, s.next_poll_at, s.next_poll_reason, s.forced_poll_at, s.polled_at, s.moved_at, s.alt_titles,
       f.outcome, f.failing_since, coalesce(p.url, ''), coalesce(p.because, ''), m.muted_at
FROM (
    SELECT site, series_id, outcome, failing_since FROM poll_failures f
    WHERE ($1 = '' OR site = $1) AND ($2 = '' OR outcome = $2) AND ($3::timestamptz IS NULL OR failing_since < $3)
      AND EXISTS (SELECT FROM worklist_mutes m WHERE m.site = f.site AND m.series_id = f.series_id) = $4
    ORDER BY failing_since DESC, site, series_id
    OFFSET $5 LIMIT $6
) f JOIN series s USING (site, series_id) LEFT JOIN move_proposals p USING (site, series_id) LEFT JOIN worklist_mutes m USING (site, series_id)
ORDER BY f.failing_since DESC, f.site, f.series_id;

-- name: WorklistTitle
SELECT s.site, s.series_id, s.title, s.native_title, s.authors, s.description, s.url, s.status, s.tags, s.license, s.reading_direction, s.cover_sha256,
       s.origin, s.download, s.languages, s.folder, s.last_good_read_at, s.next_poll_at, s.next_poll_reason, s.forced_poll_at, s.polled_at, s.moved_at, s.alt_titles,
       f.outcome, f.failing_since, coalesce(p.url, ''), coalesce(p.because, ''),
       (SELECT m.muted_at FROM worklist_mutes m WHERE m.site = f.site AND m.series_id = f.series_id)
FROM poll_failures f JOIN series s USING (site, series_id) LEFT JOIN move_proposals p USING (site, series_id)
WHERE ($1 = '' OR f.site = $1) AND ($2 = '' OR f.outcome = $2) AND ($3::timestamptz IS NULL OR f.failing_since < $3)
  AND EXISTS (SELECT FROM worklist_mutes m WHERE m.site = f.site AND m.series_id = f.series_id) = $4
ORDER BY s.title, f.site, f.series_id
OFFSET $5 LIMIT $6;

-- name: WorklistCounts
-- How many are shown and how many are muted, by word.
SELECT f.outcome, count(*) FILTER (WHERE m.muted_at IS NULL), count(*) FILTER (WHERE m.muted_at IS NOT NULL)
FROM poll_failures f LEFT JOIN worklist_mutes m USING (site, series_id)
WHERE ($1 = '' OR f.site = $1) AND ($2::timestamptz IS NULL OR f.failing_since < $2)
GROUP BY f.outcome ORDER BY f.outcome;

-- name: LaneFigures
SELECT l.site, l.activity, l.trouble, l.trouble_since, c.state, c.reason, c.detail, c.since, c.until, c.retry_after,
       CASE WHEN l.cycled_at IS NULL AND figures.series > 0 THEN l.counting_since END,
       coalesce(figures.series, 0), coalesce(failing.n, 0), coalesce(failing.muted, 0), figures.next_due, figures.last_good, coalesce(outstanding.n, 0),
       coalesce((SELECT title FROM series cur WHERE cur.site = l.site AND cur.series_id = l.series_id), ''),
       coalesce((SELECT value FROM settings WHERE key = 'interval/' || l.site), '')
FROM poll_lanes l
JOIN circuits c USING (site)
LEFT JOIN (SELECT site, count(*) AS series, min(next_poll_at) AS next_due, max(last_good_read_at) AS last_good FROM series GROUP BY site) figures USING (site)
LEFT JOIN (SELECT site, count(*) AS n, count(m.muted_at) AS muted FROM poll_failures LEFT JOIN worklist_mutes m USING (site, series_id)
           GROUP BY site) failing USING (site)
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
