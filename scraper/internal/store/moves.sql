-- Series that a person moves to another Site or address (POLL-13, POLL-14).

-- name: Propose
INSERT INTO move_proposals (site, series_id, url, because, seen_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (site, series_id) DO UPDATE SET url = excluded.url, because = excluded.because, seen_at = excluded.seen_at
WHERE (move_proposals.url, move_proposals.because) IS DISTINCT FROM (excluded.url, excluded.because);

-- name: GetProposal
SELECT url, because FROM move_proposals WHERE site = $1 AND series_id = $2;

-- name: LockForMove
SELECT EXISTS (SELECT FROM jobs j WHERE j.site = s.site AND j.series_id = s.series_id
               AND j.state IN ('requested', 'inspecting', 'ready', 'queued', 'downloading', 'paused', 'retry_wait'))
FROM series s WHERE s.site = $1 AND s.series_id = $2 FOR UPDATE;

-- name: SeriesExists
SELECT EXISTS (SELECT FROM series WHERE site = $1 AND series_id = $2);

-- name: RekeySeries
-- Chapters, failure row and its age go with the key (ON UPDATE CASCADE).
UPDATE series SET site = $3, series_id = $4, url = $5, etag = '', last_modified = '', next_poll_at = $6, forced_poll_at = $6, moved_at = $6,
       origin = CASE WHEN origin = 'listed' THEN 'followed' ELSE origin END
WHERE site = $1 AND series_id = $2;

-- name: RekeyJobs
UPDATE jobs SET site = $3, series_id = $4 WHERE site = $1 AND series_id = $2;

-- name: FilesToRekey
SELECT path FROM library_files WHERE site = $1 AND series_id = $2 ORDER BY revision FOR UPDATE;

-- name: RekeyFile
UPDATE library_files SET site = $2, series_id = $3, revision = $4 WHERE path = $1;

-- name: ForgetProposal
DELETE FROM move_proposals WHERE site = $1 AND series_id = $2;

-- name: RememberMove
INSERT INTO series_moves (from_site, from_id, to_site, to_id, moved_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (from_site, from_id) DO UPDATE SET to_site = excluded.to_site, to_id = excluded.to_id, moved_at = excluded.moved_at;

-- name: ForgetMoveBack
-- Moved back to where it was: the old name is its name again.
DELETE FROM series_moves WHERE from_site = $1 AND from_id = $2;

-- name: MovedTo
SELECT m.from_site, m.from_id, m.to_site, m.to_id
FROM series_moves m JOIN unnest($1::text[], $2::text[]) AS k (site, series_id) ON m.from_site = k.site AND m.from_id = k.series_id;
