-- Failures that a person has looked at (POLL-14). They end with their failure row.

-- name: Mute
-- A failure that ends or moves at this very moment is passed over: its row is
-- locked then, and there is nothing left to mute.
INSERT INTO worklist_mutes (site, series_id, muted_at)
SELECT f.site, f.series_id, $3
FROM poll_failures f JOIN unnest($1::text[], $2::text[]) AS k (site, series_id) ON f.site = k.site AND f.series_id = k.series_id
ORDER BY f.site, f.series_id
FOR KEY SHARE OF f SKIP LOCKED
ON CONFLICT (site, series_id) DO NOTHING;

-- name: Unmute
DELETE FROM worklist_mutes m USING unnest($1::text[], $2::text[]) AS k (site, series_id)
WHERE m.site = k.site AND m.series_id = k.series_id;

-- name: CountMutes
SELECT count(*) FROM worklist_mutes;
