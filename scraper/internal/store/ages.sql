-- The ages of failures across a downgrade (POLL-11).

-- name: AllFailures
SELECT site, series_id, outcome, failing_since FROM poll_failures ORDER BY site, series_id;

-- name: TakeAges
-- An age is taken back where the Series has not been read since it came back, or
-- where it fails again: nothing is said to fail that was read well meanwhile.
INSERT INTO poll_failures AS f (site, series_id, outcome, failing_since)
SELECT a.site, a.series_id, a.outcome, a.failing_since
FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) AS a (site, series_id, outcome, failing_since)
JOIN series s ON s.site = a.site AND s.series_id = a.series_id
WHERE s.polled_at IS NULL OR EXISTS (SELECT FROM poll_failures p WHERE p.site = a.site AND p.series_id = a.series_id)
ON CONFLICT (site, series_id) DO UPDATE SET failing_since = least(f.failing_since, excluded.failing_since);

-- name: KnownAmong
SELECT s.site, s.series_id FROM series s JOIN unnest($1::text[], $2::text[]) AS k (site, series_id) ON s.site = k.site AND s.series_id = k.series_id;
