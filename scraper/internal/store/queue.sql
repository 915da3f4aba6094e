-- The queue as pages show it.

-- name: ListJobs
-- Of what was set aside only the newest Job of a Series: an older one is history.
SELECT j.id, j.site, j.series_id, j.state, j.unattended, j.class, j.reason, j.retries, j.stalls, j.retry_at, j.changed_at, j.resume_to, j.priority,
       j.requested_at, coalesce(s.title, j.series_id), coalesce(s.cover_sha256, '') <> '',
       c.total, c.published, c.set_aside, c.counted, c.uncounted,
       coalesce(own.files, 0), coalesce(own.pages, 0), coalesce(own.size, 0),
       coalesce(cur.chapter_id, ''), coalesce(trim_scale(cur.number)::text, ''), coalesce(cur.title, '')
FROM jobs j
LEFT JOIN series s USING (site, series_id)
CROSS JOIN LATERAL (
    SELECT count(*) AS total, count(*) FILTER (WHERE state = 'published') AS published, count(*) FILTER (WHERE state = 'set_aside') AS set_aside,
           coalesce(sum(pages) FILTER (WHERE state IN ('waiting', 'downloading')), 0) AS counted,
           count(*) FILTER (WHERE state IN ('waiting', 'downloading') AND pages = 0) AS uncounted
    FROM job_chapters WHERE job_id = j.id) c
LEFT JOIN LATERAL (
    SELECT count(*) AS files, sum(pages) AS pages, sum(size) AS size FROM library_files f
    WHERE f.site = j.site AND f.series_id = j.series_id AND f.state = 'published') own ON true
LEFT JOIN LATERAL (
    SELECT k.chapter_id, k.number, k.title FROM job_chapters jc
    JOIN chapters k ON k.site = j.site AND k.series_id = j.series_id AND k.chapter_id = jc.chapter_id
    WHERE jc.job_id = j.id AND j.state = 'downloading' AND jc.state IN ('waiting', 'downloading')
    ORDER BY jc.state = 'downloading' DESC, jc.position LIMIT 1) cur ON true
WHERE j.state = ANY ($1) AND ($2 = '' OR j.site = $2) AND ($5 = 0 OR j.id = $5)
  AND ($5 <> 0 OR j.state NOT IN ('quarantined', 'unavailable') OR NOT EXISTS (SELECT FROM jobs n WHERE n.site = j.site AND n.series_id = j.series_id AND n.id > j.id))
ORDER BY j.finished_at DESC NULLS FIRST,
         CASE j.state WHEN 'paused' THEN 1 ELSE 0 END,
         CASE j.state WHEN 'requested' THEN 0 WHEN 'inspecting' THEN 0 ELSE 1 END,
         CASE j.priority WHEN 'high' THEN 0 WHEN 'normal' THEN 1 ELSE 2 END,
         CASE j.state WHEN 'downloading' THEN 0 WHEN 'retry_wait' THEN 1 ELSE 2 END, j.id
OFFSET $3 LIMIT $4;

-- name: CountJobs
-- By state, with the chapters still to come; ended Jobs are not counted but for
-- those that were set aside.
SELECT j.state, count(*), coalesce(sum(c.left_over), 0)
FROM jobs j
CROSS JOIN LATERAL (SELECT count(*) AS left_over FROM job_chapters WHERE job_id = j.id AND state IN ('waiting', 'downloading')) c
WHERE j.state IN ('requested', 'inspecting', 'ready', 'queued', 'downloading', 'paused', 'retry_wait', 'unavailable', 'quarantined')
  AND ($1 = '' OR j.site = $1)
  AND (j.state NOT IN ('quarantined', 'unavailable') OR NOT EXISTS (SELECT FROM jobs n WHERE n.site = j.site AND n.series_id = j.series_id AND n.id > j.id))
GROUP BY j.state
ORDER BY j.state;

-- name: SiteFiles
-- What a published chapter of each Site has on the average.
SELECT site, count(*), sum(pages), sum(size) FROM library_files WHERE state = 'published' AND site = ANY ($1) GROUP BY site;

-- name: JobDetail
SELECT jc.chapter_id, jc.state, jc.pages, jc.class, jc.reason, coalesce(trim_scale(c.number)::text, ''), coalesce(trim_scale(c.volume)::text, ''),
       coalesce(c.title, ''), coalesce(c.language, '')
FROM job_chapters jc
JOIN jobs j ON j.id = jc.job_id
LEFT JOIN chapters c ON c.site = j.site AND c.series_id = j.series_id AND c.chapter_id = jc.chapter_id
WHERE jc.job_id = $1
ORDER BY jc.position, jc.chapter_id
LIMIT $2;

-- name: CountWaitingForPerson
SELECT count(*) FILTER (WHERE state = 'ready' AND NOT unattended), count(*) FILTER (WHERE state = 'quarantined')
FROM jobs j
WHERE state IN ('ready', 'quarantined')
  AND NOT EXISTS (SELECT FROM jobs n WHERE n.site = j.site AND n.series_id = j.series_id AND n.id > j.id);
