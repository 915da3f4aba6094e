-- What went wrong (OBS-2). One statement adds and evicts.

-- name: LockIncidents
-- Two that add at once would each leave room for one.
SELECT pg_advisory_xact_lock(hashtext('scraper.incidents'));

-- name: RecordIncident
-- The same again, while it stands unresolved, is counted on it: what stopped a
-- Site, a Hold or the reading of a Series is one until it ends, whatever the
-- reason says later; what a Job met is the same for an hour and one reason. A new
-- one makes room first: resolved ones go, the oldest first, and unresolved ones
-- only where there is nothing else.
WITH again AS (
    UPDATE incidents SET seen = seen + 1, last_at = greatest(last_at, $10)
    WHERE id = (
        SELECT id FROM incidents
        WHERE resolved_at IS NULL AND kind = $1 AND about = $2
          AND (about = 'hold' OR (site = $3 AND (about IN ('circuit', 'canary') OR series_id = $4)))
          AND (about <> 'file' OR chapter_id = $6)
          AND (about NOT IN ('job', 'chapter') OR (job_id = $5 AND chapter_id = $6 AND reason = $8 AND last_at > $10::timestamptz - interval '1 hour'))
        ORDER BY id DESC LIMIT 1)
    RETURNING id
), evicted AS (
    DELETE FROM incidents
    WHERE NOT EXISTS (SELECT FROM again)
      AND id IN (SELECT id FROM incidents ORDER BY resolved_at IS NULL DESC, id DESC OFFSET $12::integer - 1)
), fresh AS (
    INSERT INTO incidents (kind, about, site, series_id, job_id, chapter_id, subject, reason, decided, at, last_at, checkpoint)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb, $10, $10, $11::bytea
    WHERE NOT EXISTS (SELECT FROM again)
    RETURNING id
)
SELECT id, false FROM again UNION ALL SELECT id, true FROM fresh;

-- name: AddEvidence
INSERT INTO incident_evidence (incident_id, position, at, address, status, media_type, headers, size, removed, cut, body)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- name: DecideIncident
-- What is decided next about the same, as far as there is room.
UPDATE incidents SET decided = decided || $2::jsonb
WHERE id = $1 AND jsonb_array_length(decided) + jsonb_array_length($2::jsonb) <= $3;

-- name: EndIncidents
UPDATE incidents SET resolved_at = greatest($6, at), resolution = $5
WHERE resolved_at IS NULL AND about = ANY ($1) AND ($2 = '' OR site = $2) AND ($3 = '' OR series_id = $3) AND ($4 = '' OR chapter_id = $4);

-- name: ResolveIncident
UPDATE incidents SET resolved_at = $2, resolution = 'operator'
WHERE id = $1 AND resolved_at IS NULL;

-- name: ListIncidents
SELECT i.id, i.kind, i.about, i.site, i.series_id, i.job_id, i.chapter_id, i.subject, i.reason, i.decided, i.at, i.last_at, i.seen, i.resolved_at, i.resolution,
       coalesce(s.title, ''), coalesce(trim_scale(c.number)::text, '')
FROM incidents i
LEFT JOIN series s USING (site, series_id)
LEFT JOIN chapters c ON c.site = i.site AND c.series_id = i.series_id AND c.chapter_id = i.chapter_id
WHERE NOT $1 OR i.resolved_at IS NULL
ORDER BY i.id DESC
OFFSET $2 LIMIT $3;

-- name: CountIncidents
SELECT count(*), count(*) FILTER (WHERE resolved_at IS NULL) FROM incidents;

-- name: GetIncident
SELECT i.id, i.kind, i.about, i.site, i.series_id, i.job_id, i.chapter_id, i.subject, i.reason, i.decided, i.at, i.last_at, i.seen, i.resolved_at, i.resolution,
       coalesce(s.title, ''), coalesce(trim_scale(c.number)::text, '')
FROM incidents i
LEFT JOIN series s USING (site, series_id)
LEFT JOIN chapters c ON c.site = i.site AND c.series_id = i.series_id AND c.chapter_id = i.chapter_id
WHERE i.id = $1;

-- name: IncidentCheckpoint
SELECT checkpoint FROM incidents WHERE id = $1;

-- name: IncidentEvidence
SELECT at, address, status, media_type, headers, size, removed, cut, body FROM incident_evidence WHERE incident_id = $1 ORDER BY position;

-- name: OpenIncidents
-- Those that tell why a Series is not understood.
SELECT site, series_id, max(id) FROM incidents WHERE resolved_at IS NULL AND about = 'series' GROUP BY site, series_id;
