-- The queue. Every change names the state it expects.

-- name: RequestJob
INSERT INTO jobs (site, series_id, unattended) VALUES ($1, $2, $3)
ON CONFLICT (site, series_id) WHERE state IN ('requested', 'inspecting', 'ready', 'queued', 'downloading', 'paused', 'retry_wait')
DO NOTHING
RETURNING id;

-- name: RecoverJobs
-- After a crash nothing is under way: what was goes back to where its
-- checkpoint says (JOB-6).
UPDATE jobs SET state = CASE state WHEN 'downloading' THEN 'queued' ELSE 'requested' END, changed_at = now()
WHERE site = ANY ($1) AND state IN ('downloading', 'inspecting');

-- name: NextJob
SELECT id, site, series_id, state, unattended, class, reason, retries, stalls, retry_at, changed_at
FROM jobs
WHERE site = $1
  AND (state = 'requested' OR state = 'downloading' OR state = 'queued' OR (state = 'ready' AND unattended) OR (state = 'retry_wait' AND retry_at <= $2))
  AND NOT EXISTS (SELECT FROM holds)
-- Looking what there is costs one read and goes first; then the operator's order,
-- and within it what was begun.
ORDER BY CASE state WHEN 'requested' THEN 0 WHEN 'ready' THEN 1 ELSE 2 END,
         CASE priority WHEN 'high' THEN 0 WHEN 'normal' THEN 1 ELSE 2 END,
         CASE state WHEN 'downloading' THEN 0 WHEN 'retry_wait' THEN 1 ELSE 2 END, id
LIMIT 1;

-- name: RetryingJob
-- The Job that a network failure made wait and that still has its retry: it is the
-- probe of its Site's circuit (CIRC-2).
SELECT id, site, series_id, state, unattended, class, reason, retries, stalls, retry_at, changed_at
FROM jobs
WHERE site = $1 AND retries > 0 AND ((state = 'retry_wait' AND retry_at <= $2) OR state IN ('requested', 'queued', 'downloading'))
  AND NOT EXISTS (SELECT FROM holds)
ORDER BY retry_at NULLS LAST, id
LIMIT 1;

-- name: Yield
UPDATE jobs SET state = 'queued', changed_at = now() WHERE site = $1 AND id <> $2 AND state = 'downloading';

-- name: NextRetry
SELECT min(retry_at) FROM jobs WHERE site = $1 AND state = 'retry_wait' AND NOT EXISTS (SELECT FROM holds);

-- name: MoveJob
UPDATE jobs SET state = $3, class = $4, reason = $5, retries = $6, retry_at = $7, resume_to = '', changed_at = now(),
       finished_at = CASE WHEN $3 IN ('unavailable', 'quarantined', 'done', 'cancelled') THEN now() END
WHERE id = $1 AND state = $2
RETURNING changed_at;

-- name: LatestJob
-- The outstanding Job, or else the latest one.
SELECT id, site, series_id, state, unattended, class, reason, retries, stalls, retry_at, changed_at
FROM jobs
WHERE site = $1 AND series_id = $2
ORDER BY id DESC
LIMIT 1;

-- name: CountOutstanding
SELECT count(*) FROM jobs WHERE state IN ('requested', 'inspecting', 'ready', 'queued', 'downloading', 'paused', 'retry_wait');

-- name: QuarantinedSince
SELECT id, site, series_id, state, unattended, class, reason, retries, stalls, retry_at, changed_at
FROM jobs
WHERE site = $1 AND state = 'quarantined' AND class IN ('parser', 'unknown') AND finished_at >= $2
ORDER BY finished_at DESC
LIMIT 10;

-- name: PlanChapters
INSERT INTO job_chapters (job_id, chapter_id, position, replaces)
SELECT $1, c.chapter_id, c.position, c.replaces FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS c (chapter_id, replaces, position)
ON CONFLICT (job_id, chapter_id) DO UPDATE
SET replaces = excluded.replaces,
    -- Published before and wanted anew: its missing pages are asked for again.
    state = CASE job_chapters.state WHEN 'published' THEN 'waiting' ELSE job_chapters.state END;

-- name: NextChapter
SELECT c.chapter_id, coalesce(trim_scale(c.number)::text, ''), coalesce(trim_scale(c.volume)::text, ''), c.title, c.language, c.groups, c.url, c.source_order,
       c.external, c.published_at
FROM job_chapters jc
JOIN jobs j ON j.id = jc.job_id
JOIN chapters c ON c.site = j.site AND c.series_id = j.series_id AND c.chapter_id = jc.chapter_id
WHERE jc.job_id = $1 AND jc.state IN ('waiting', 'downloading')
ORDER BY jc.position
LIMIT 1;

-- name: StartChapter
-- How often all its pages were fetched since $5 is told in the same breath.
UPDATE job_chapters SET state = 'downloading', class = '', reason = '', set_aside_at = NULL
WHERE job_id = $1 AND chapter_id = $2
RETURNING (SELECT count(*) FROM chapter_fetches WHERE site = $3 AND series_id = $4 AND chapter_id = $2 AND fetched_at > $5), accept_missing, replaces;

-- name: AcceptMissing
-- An operator takes a chapter without the pages that its Site does not give.
UPDATE job_chapters SET accept_missing = true, state = 'waiting', class = '', reason = '', set_aside_at = NULL
WHERE job_id = $1 AND chapter_id = $2 AND state = 'set_aside' AND class = 'page';

-- name: RecordFetched
INSERT INTO chapter_fetches (site, series_id, chapter_id, fetched_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING;

-- name: PruneFetches
DELETE FROM chapter_fetches WHERE fetched_at < $1;

-- name: MarkJobChapter
UPDATE job_chapters SET state = $3, class = $4, reason = $5, pages = CASE WHEN $6 > 0 THEN $6 ELSE pages END,
       set_aside_at = CASE WHEN $3 = 'set_aside' THEN now() END
WHERE job_id = $1 AND chapter_id = $2;

-- name: DropJobChapter
-- A chapter that turned out to be read elsewhere is nothing the Job failed at.
DELETE FROM job_chapters WHERE job_id = $1 AND chapter_id = $2;

-- name: JobChapters
SELECT chapter_id, state, pages, reason FROM job_chapters WHERE job_id = $1 ORDER BY position;

