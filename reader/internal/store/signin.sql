-- Sign-ins of browsers. A disabled person has none.

-- name: AddSignIn
INSERT INTO sessions (token_hash, user_id, device, method, expires_at) VALUES ($1, $2, $3, $4, $5);

-- name: SignedIn
SELECT s.id, s.device, s.method, s.created_at, s.used_at, s.expires_at, u.id, u.name, u.role, u.created_at
FROM sessions s JOIN users u ON u.id = s.user_id
WHERE s.token_hash = $1 AND s.expires_at > now() AND u.disabled_at IS NULL;

-- name: TouchSignIn
-- However many requests come at once, one of them writes.
UPDATE sessions SET used_at = now(), expires_at = $3
WHERE id = $1 AND used_at <= now() - make_interval(secs => $2) AND $3 > now();

-- name: DropSignIn
DELETE FROM sessions WHERE token_hash = $1;

-- name: SignIns
SELECT id, device, method, created_at, used_at, expires_at FROM sessions
WHERE user_id = $1 AND expires_at > now()
ORDER BY used_at DESC, id DESC;

-- name: EndSignIn
DELETE FROM sessions WHERE user_id = $1 AND id = $2;

-- name: EndOtherSignIns
DELETE FROM sessions WHERE user_id = $1 AND id <> $2;

-- name: PruneSignIns
DELETE FROM sessions WHERE expires_at <= now();

-- name: PruneCodes
-- Codes that waited in vain; an invited person stays in the list, to be asked again.
DELETE FROM user_codes WHERE expires_at <= now();
