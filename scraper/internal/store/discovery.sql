-- The nightly discovery (JOB-9).

-- name: Candidates
SELECT s.site, s.series_id, s.languages, coalesce(j.id, 0), coalesce(j.state, ''), coalesce(j.reason, '')
FROM series s
LEFT JOIN LATERAL (SELECT id, state, reason FROM jobs WHERE jobs.site = s.site AND jobs.series_id = s.series_id ORDER BY id DESC LIMIT 1) j ON true
WHERE s.download
  AND EXISTS (SELECT FROM chapters c
              WHERE c.site = s.site AND c.series_id = s.series_id AND c.gone_since IS NULL AND NOT c.external
                AND NOT EXISTS (SELECT FROM library_files f
                                WHERE f.site = c.site AND f.series_id = c.series_id AND f.chapter_id = c.chapter_id AND f.state <> 'removed'))
ORDER BY s.site, s.series_id;

-- name: InsertDiscovery
INSERT INTO discoveries (started_at, ended_at, end_reason, looked_at, requested) VALUES ($1, $2, $3, $4, $5) RETURNING id;

-- name: InsertSkips
INSERT INTO discovery_skips (discovery_id, site, series_id, why, job_id)
SELECT $1, s.site, s.series_id, s.why, nullif(s.job_id, 0)
FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) AS s (site, series_id, why, job_id);

-- name: PruneDiscoveries
DELETE FROM discoveries WHERE id <= (SELECT id FROM discoveries ORDER BY id DESC OFFSET $1 LIMIT 1);

-- name: LastDiscovery
SELECT max(started_at) FROM discoveries;

-- name: NewestDiscovery
SELECT id, started_at, ended_at, end_reason, looked_at, requested FROM discoveries ORDER BY id DESC LIMIT 1;

-- name: DiscoverySkips
SELECT site, series_id, why, coalesce(job_id, 0) FROM discovery_skips WHERE discovery_id = $1 ORDER BY site, series_id LIMIT 1000;
