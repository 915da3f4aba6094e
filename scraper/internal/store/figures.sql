-- How things stand, counted for the metrics. Each statement reads a table of rows
-- that are few by nature, or the part of one that is: Jobs that have ended are history.

-- name: FailingFigures
SELECT f.site, f.outcome,
       CASE WHEN f.failing_since > $1::timestamptz - interval '1 hour' THEN 'under_1h'
            WHEN f.failing_since > $1::timestamptz - interval '1 day' THEN '1h_to_1d'
            WHEN f.failing_since > $1::timestamptz - interval '7 days' THEN '1d_to_7d'
            WHEN f.failing_since > $1::timestamptz - interval '30 days' THEN '7d_to_30d'
            ELSE 'over_30d' END AS age,
       m.muted_at IS NOT NULL AS muted, count(*)
FROM poll_failures f LEFT JOIN worklist_mutes m USING (site, series_id)
GROUP BY 1, 2, 3, 4;

-- name: JobFigures
SELECT site, state, count(*) FROM jobs
WHERE state IN ('requested', 'inspecting', 'ready', 'queued', 'downloading', 'paused', 'retry_wait', 'unavailable', 'quarantined')
GROUP BY site, state;

-- name: CircuitFigures
SELECT l.site, c.state, c.reason, c.since, l.trouble, l.trouble_since
FROM poll_lanes l JOIN circuits c USING (site);
