-- What the watchdog reads and writes (STALL).

-- name: DownloadsHeld
SELECT EXISTS (SELECT FROM holds) OR EXISTS (SELECT FROM circuits WHERE site = $1 AND state IN ('open', 'paused'));

-- name: RecordStall
UPDATE jobs SET state = $3, class = 'stall', reason = $4, stalls = stalls + 1, changed_at = now(), retry_at = NULL,
       finished_at = CASE WHEN $3 = 'quarantined' THEN now() END
WHERE id = $1 AND state = $2
RETURNING changed_at;
