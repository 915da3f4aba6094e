-- Keys of scripts and reading apps.

-- name: AddKey
INSERT INTO api_keys (user_id, name, scope, key_hash, last_signs)
SELECT $1, $2, $3, $4, $5
WHERE (SELECT count(*) FROM api_keys WHERE user_id = $1) < $6
RETURNING id, created_at;

-- name: Keys
SELECT id, name, scope, last_signs, created_at, coalesce(used_at, 'epoch') FROM api_keys WHERE user_id = $1 ORDER BY id DESC;

-- name: RevokeKey
DELETE FROM api_keys WHERE user_id = $1 AND id = $2;

-- name: KeyUser
SELECT k.id, k.name, k.scope, k.last_signs, k.created_at, coalesce(k.used_at, 'epoch'), u.id, u.name, u.role, u.created_at, coalesce(u.language, '')
FROM api_keys k JOIN users u ON u.id = k.user_id
WHERE k.key_hash = $1 AND u.disabled_at IS NULL AND u.password_hash IS NOT NULL;

-- name: TouchKey
UPDATE api_keys SET used_at = now() WHERE id = $1 AND (used_at IS NULL OR used_at <= now() - make_interval(secs => $2));
