-- What an operator does to Jobs. Each act names the state it was seen in.

-- name: JobByID
SELECT id, site, series_id, state, unattended, class, reason, retries, stalls, retry_at, changed_at, resume_to, priority
FROM jobs WHERE id = $1;

-- name: ActOnJob
UPDATE jobs
SET state = $3, resume_to = $4, unattended = unattended OR $5, retry_at = NULL,
    retries = CASE WHEN $6 THEN 0 ELSE retries END, stalls = CASE WHEN $6 THEN 0 ELSE stalls END,
    class = CASE WHEN $7 THEN class ELSE '' END, reason = CASE WHEN $7 THEN reason ELSE '' END,
    changed_at = now(), finished_at = CASE WHEN $3 = 'cancelled' THEN now() END
WHERE id = $1 AND state = $2
RETURNING site, series_id;

-- name: RetryChapters
-- Chapters set aside are tried again; no page is deleted (JOB-5). The fetches and
-- crashes of before are no longer held against them, and pages that a file was
-- published without are asked for again.
WITH crashes AS (DELETE FROM job_crashes WHERE job_id = $1),
files AS (UPDATE library_files f SET again = true FROM jobs j, job_chapters jc
          WHERE j.id = $1 AND jc.job_id = j.id AND f.site = j.site AND f.series_id = j.series_id AND f.chapter_id = jc.chapter_id
            AND f.state = 'published' AND f.missing_pages <> '{}'),
fetches AS (DELETE FROM chapter_fetches f USING jobs j, job_chapters jc
            WHERE j.id = $1 AND jc.job_id = j.id AND f.site = j.site AND f.series_id = j.series_id AND f.chapter_id = jc.chapter_id)
UPDATE job_chapters SET state = 'waiting', class = '', reason = '', set_aside_at = NULL WHERE job_id = $1 AND state = 'set_aside';

-- name: JobsIn
-- The newest of a Series only: an older one is history. The bound is given in
-- milliseconds, as pages send it.
SELECT j.id FROM jobs j
WHERE j.state = $1 AND j.changed_at < $2::timestamptz + interval '1 millisecond'
  AND NOT EXISTS (SELECT FROM jobs n WHERE n.site = j.site AND n.series_id = j.series_id AND n.id > j.id)
ORDER BY j.id;

-- name: SetPriority
UPDATE jobs SET priority = $2 WHERE id = $1;
