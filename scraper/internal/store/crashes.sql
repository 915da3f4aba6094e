-- Crashes of the scraper while a Job's unit was under way (JOB-12).

-- name: UnderWay
-- A Job between two units is not under way: its Lane was doing something else.
SELECT j.id, j.site, j.series_id, j.state, j.unattended, j.class, j.reason, j.retries, j.stalls, j.retry_at, j.changed_at
FROM jobs j
JOIN poll_lanes l ON l.site = j.site AND l.series_id = j.series_id
WHERE j.site = $1 AND ((j.state = 'downloading' AND l.activity = 'downloading') OR (j.state = 'inspecting' AND l.activity = 'inspecting'));

-- name: RecordCrash
-- The unit is under way no longer: another crash before the next one begins is none of this Job's.
WITH recorded AS (
    INSERT INTO job_crashes (job_id, crashed_at, fingerprint) VALUES ($1, $3, $2) ON CONFLICT DO NOTHING RETURNING 1
), over AS (
    UPDATE poll_lanes l SET activity = 'idle', series_id = '' FROM jobs j WHERE j.id = $1 AND l.site = j.site AND l.series_id = j.series_id
)
SELECT (SELECT count(*) FROM recorded) + (SELECT count(*) FROM job_crashes WHERE job_id = $1 AND fingerprint = $2 AND crashed_at > $4);
