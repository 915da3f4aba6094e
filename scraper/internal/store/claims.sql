-- Which scraper works which Lane (design.md, Beyond one machine).

-- name: TryClaim
SELECT pg_try_advisory_lock($1, hashtext($2));

-- name: ReleaseClaim
SELECT pg_advisory_unlock($1, hashtext($2));

-- name: ClaimHeld
-- Is the claim still that of this backend?
SELECT EXISTS (SELECT FROM pg_locks
               WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                 AND classid = $1 AND objid = (hashtext($2)::bigint & 4294967295)::oid AND pid = $3 AND granted);

-- name: TakeLane
-- The holder before this one, "" if there was none.
UPDATE poll_lanes l SET holder = $2
FROM poll_lanes before
WHERE l.site = $1 AND before.site = l.site
RETURNING before.holder;
