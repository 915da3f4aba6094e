-- Whether each Lane's adapter still reads the Series it is known to read (H18).

-- name: EnsureCanary
INSERT INTO canaries (site) VALUES ($1) ON CONFLICT (site) DO NOTHING;

-- name: GetCanary
-- With how far apart trials lie, and whether anybody follows anything there.
SELECT state, outcome, series_id, chapter_id, chapters, ran_at, good_at, failing_since, next_at, evidence,
       coalesce((SELECT value FROM settings WHERE key = 'canary_hours'), ''),
       EXISTS (SELECT FROM series s WHERE s.site = c.site AND s.origin = 'followed')
FROM canaries c WHERE site = $1;

-- name: Canaries
-- Those of Lanes that are tried: where somebody follows something.
SELECT c.site, c.state, c.outcome, c.series_id, c.ran_at, c.good_at, c.failing_since, c.next_at, c.evidence, coalesce(s.title, ''),
       coalesce((SELECT max(i.id) FROM incidents i WHERE i.resolved_at IS NULL AND i.about = 'canary' AND i.site = c.site), 0)
FROM canaries c LEFT JOIN series s USING (site, series_id)
WHERE EXISTS (SELECT FROM series f WHERE f.site = c.site AND f.origin = 'followed')
  AND NOT EXISTS (SELECT FROM settings WHERE key = 'canary_hours' AND value = '0');

-- name: MoveCanary
UPDATE canaries SET state = $4, outcome = $5, series_id = $6, chapter_id = $7, chapters = $8, ran_at = $9, good_at = $10, failing_since = $11, next_at = $12, evidence = $13
WHERE site = $1 AND state = $2 AND next_at IS NOT DISTINCT FROM $3;

-- name: HastenCanary
-- A description was mended: what is in doubt is tried now.
UPDATE canaries SET next_at = $2 WHERE site = $1 AND state IN ('doubtful', 'failing') AND next_at > $2;

-- name: DeclaredSeries
SELECT s.url, (SELECT count(*) FROM chapters c WHERE c.site = s.site AND c.series_id = s.series_id AND c.gone_since IS NULL)::integer,
       ARRAY(SELECT f.chapter_id FROM library_files f WHERE f.site = s.site AND f.series_id = s.series_id AND f.state = 'published')
FROM series s WHERE s.site = $1 AND s.series_id = $2;

-- name: FollowedSeries
-- The followed one that was read well last. Those that fail for a reason of their own
-- are left out, and those that are not understood or not answered come last.
SELECT s.series_id, s.url, (SELECT count(*) FROM chapters c WHERE c.site = s.site AND c.series_id = s.series_id AND c.gone_since IS NULL)::integer,
       ARRAY(SELECT f.chapter_id FROM library_files f WHERE f.site = s.site AND f.series_id = s.series_id AND f.state = 'published')
FROM series s LEFT JOIN poll_failures p USING (site, series_id)
WHERE s.site = $1 AND s.origin = 'followed' AND s.last_good_read_at IS NOT NULL AND (p.outcome IS NULL OR p.outcome IN ('errors', 'unfetchable'))
ORDER BY p.outcome IS NOT NULL, s.last_good_read_at DESC, s.series_id
LIMIT 1;
