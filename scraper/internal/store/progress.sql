-- What a new version is compared by with the one before it.

-- name: Progress
-- Only columns that the oldest supported schema has: whoever asks may be newer than
-- the database, which is migrated at its start.
SELECT j.id, j.site, j.series_id, j.state, j.class, j.reason, coalesce(c.state, '')
FROM jobs j
LEFT JOIN circuits c USING (site)
WHERE j.state IN ('requested', 'inspecting', 'queued', 'downloading', 'retry_wait') OR j.id = ANY ($1)
ORDER BY j.id
LIMIT $2;
