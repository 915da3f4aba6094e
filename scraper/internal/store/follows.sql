-- The reader's follows, as far as they have been applied (OWN-3).

-- name: LockFollows
SELECT revision FROM follows FOR UPDATE;

-- name: SetFollowsRevision
UPDATE follows SET revision = $1;

-- name: FollowsRevision
SELECT revision FROM follows;

-- name: UpsertFollow
-- Answers whether downloads are wanted now that were not wanted before.
WITH before AS (SELECT origin, download FROM series WHERE site = $1 AND series_id = $2)
INSERT INTO series (site, series_id, title, url, origin, download, languages, follow_revision)
VALUES ($1, $2, $3, $4, 'followed', $5, $6, $7)
ON CONFLICT (site, series_id) DO UPDATE
SET origin = 'followed', download = excluded.download, languages = excluded.languages, follow_revision = excluded.follow_revision,
    absent_since = NULL
RETURNING download AND NOT coalesce((SELECT origin = 'followed' AND download FROM before), false);

-- name: WantingFirstJob
-- Followed for downloads, and no Job was ever requested: the process that took the
-- wish died before it could.
SELECT s.site, s.series_id FROM series s
WHERE s.origin = 'followed' AND s.download AND NOT EXISTS (SELECT FROM jobs j WHERE j.site = s.site AND j.series_id = s.series_id);

-- name: KeepFollow
-- A wish for a Site that nobody reads now: its Series is kept, if it is known.
UPDATE series SET origin = 'followed', download = $3, languages = $4, follow_revision = $5, absent_since = NULL
WHERE site = $1 AND series_id = $2;

-- name: Unlist
-- A Series its Site offers anyway stays known when nobody follows it.
UPDATE series SET origin = 'listed', download = false, languages = '{}', absent_since = NULL
WHERE site = $1 AND series_id = $2 AND origin = 'followed';

-- name: RemoveSeries
-- One statement: poll state, failure row and known chapters go with it. Never
-- while a Job is outstanding.
DELETE FROM series s
WHERE s.site = $1 AND s.series_id = $2
  AND NOT EXISTS (SELECT FROM jobs j WHERE j.site = s.site AND j.series_id = s.series_id
                  AND j.state IN ('requested', 'inspecting', 'ready', 'queued', 'downloading', 'paused', 'retry_wait'));

-- name: MarkAbsent
-- Missing from a whole desired set, since when.
UPDATE series SET absent_since = coalesce(absent_since, $2)
WHERE origin = 'followed' AND follow_revision < $1;

-- name: RemoveOrphans
DELETE FROM series s
WHERE s.origin = 'followed' AND s.absent_since <= $1
  AND NOT EXISTS (SELECT FROM jobs j WHERE j.site = s.site AND j.series_id = s.series_id
                  AND j.state IN ('requested', 'inspecting', 'ready', 'queued', 'downloading', 'paused', 'retry_wait'));
