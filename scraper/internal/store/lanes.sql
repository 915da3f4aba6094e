-- The Lanes' live state, their Passes, and the Sites' circuits.

-- name: EnsureLane
INSERT INTO poll_lanes (site) VALUES ($1)
ON CONFLICT (site) DO NOTHING;

-- name: EnsureCircuit
INSERT INTO circuits (site) VALUES ($1) ON CONFLICT (site) DO NOTHING;

-- name: SetActivity
UPDATE poll_lanes SET activity = $2, series_id = $3
WHERE site = $1 AND (activity, series_id) IS DISTINCT FROM ($2, $3);

-- name: SetTrouble
UPDATE poll_lanes SET trouble = $2, trouble_since = CASE WHEN $2 = '' THEN NULL ELSE $3::timestamptz END
WHERE site = $1 AND trouble <> $2;

-- name: RecordPass
INSERT INTO poll_passes (site, started_at, ended_at, end_reason, ok, not_found, no_chapter, unfetchable, errors, refused, unreachable, new_chapters)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12);

-- name: PrunePasses
DELETE FROM poll_passes WHERE started_at < $1;

-- name: GetCircuit
SELECT site, state, reason, detail, since, until, retry_after FROM circuits WHERE site = $1;

-- name: MoveCircuit
UPDATE circuits SET state = $4, reason = $5, detail = $6, since = $7, until = $8, retry_after = $9
WHERE site = $1 AND state = $2 AND since = $3;

-- name: SetHold
INSERT INTO holds (kind, since, detail) VALUES ($1, $2, $3)
ON CONFLICT (kind) DO UPDATE SET detail = excluded.detail
RETURNING xmax = 0;

-- name: ReleaseHold
DELETE FROM holds WHERE kind = $1;

-- name: ListHolds
SELECT kind, since, detail FROM holds ORDER BY kind;
