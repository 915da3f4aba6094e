-- Users, the claim and the sign-ins.

-- name: ClaimState
SELECT claimed_by IS NOT NULL, coalesce(expires_at, 'epoch') FROM claim;

-- name: SetClaimCode
UPDATE claim SET code_hash = $1, expires_at = $2 WHERE claimed_by IS NULL;

-- name: ClaimCodeMatches
SELECT EXISTS (SELECT FROM claim WHERE claimed_by IS NULL AND code_hash = $1 AND expires_at > now());

-- name: InsertUser
INSERT INTO users (name, name_key, password_hash, role) VALUES ($1, $2, $3, $4)
ON CONFLICT (name_key) DO NOTHING
RETURNING id, created_at;

-- name: TakeClaim
-- However many try at once, one finds claimed_by still NULL.
UPDATE claim SET claimed_by = $1, claimed_at = now(), code_hash = NULL, expires_at = NULL
WHERE claimed_by IS NULL AND code_hash = $2 AND expires_at > now();

-- name: UserByName
SELECT id, name, role, created_at, password_hash FROM users WHERE name_key = $1;

-- name: User
SELECT id, name, role, created_at FROM users WHERE id = $1;

-- name: FindSession
SELECT data FROM sessions WHERE token_hash = $1 AND expires_at > now();

-- name: SaveSession
INSERT INTO sessions (token_hash, data, expires_at) VALUES ($1, $2, $3)
ON CONFLICT (token_hash) DO UPDATE SET data = excluded.data, expires_at = excluded.expires_at;

-- name: DeleteSession
DELETE FROM sessions WHERE token_hash = $1;

-- name: PruneSessions
DELETE FROM sessions WHERE expires_at <= now();
