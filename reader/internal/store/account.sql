-- Users and the claim.

-- name: ClaimState
SELECT claimed_at IS NOT NULL, coalesce(expires_at, 'epoch') FROM claim;

-- name: SetClaimCode
UPDATE claim SET code_hash = $1, expires_at = $2 WHERE claimed_at IS NULL;

-- name: ClaimCodeMatches
SELECT EXISTS (SELECT FROM claim WHERE claimed_at IS NULL AND code_hash = $1 AND expires_at > now());

-- name: InsertUser
-- Without a password hash the user is an invited one.
INSERT INTO users (name, name_key, password_hash, role) VALUES ($1, $2, $3, $4)
ON CONFLICT (name_key) DO NOTHING
RETURNING id, created_at;

-- name: TakeClaim
-- However many try at once, one finds claimed_at still NULL.
UPDATE claim SET claimed_by = $1, claimed_at = now(), code_hash = NULL, expires_at = NULL
WHERE claimed_at IS NULL AND code_hash = $2 AND expires_at > now();

-- name: UserByName
SELECT id, name, role, created_at, password_hash FROM users
WHERE name_key = $1 AND password_hash IS NOT NULL AND disabled_at IS NULL;
