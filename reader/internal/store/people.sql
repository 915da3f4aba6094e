-- What administrators do with people, and people with their own account.

-- name: People
SELECT u.id, u.name, u.role, u.created_at, u.password_hash IS NULL AND i.user_id IS NULL, u.password_hash IS NULL AND i.user_id IS NOT NULL, coalesce(u.disabled_at, 'epoch'),
    coalesce((SELECT max(s.used_at) FROM sessions s WHERE s.user_id = u.id AND s.expires_at > now()), 'epoch'),
    coalesce(c.purpose, ''), coalesce(c.expires_at, 'epoch'),
    (SELECT count(*) FROM bookmarks b WHERE b.user_id = u.id), (SELECT count(*) FROM progress p WHERE p.user_id = u.id)
FROM users u LEFT JOIN user_codes c ON c.user_id = u.id AND c.expires_at > now()
    LEFT JOIN (SELECT DISTINCT user_id FROM identities) i ON i.user_id = u.id
ORDER BY array_position(ARRAY['administrator', 'member', 'guest'], u.role), u.name_key;

-- name: UserForCode
-- Locked, so that the code fits what the person is when it is stored.
SELECT id, name, role, created_at, password_hash IS NULL AND NOT EXISTS (SELECT FROM identities i WHERE i.user_id = users.id)
FROM users WHERE id = $1 AND disabled_at IS NULL FOR UPDATE;

-- name: SaveCode
INSERT INTO user_codes (user_id, purpose, code_hash, expires_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id) DO UPDATE
SET purpose = excluded.purpose, code_hash = excluded.code_hash, created_at = now(), expires_at = excluded.expires_at;

-- name: CodeMatches
SELECT EXISTS (
    SELECT FROM user_codes c JOIN users u ON u.id = c.user_id
    WHERE u.name_key = $1 AND c.code_hash = $2 AND c.expires_at > now() AND u.disabled_at IS NULL);

-- name: TakeCode
-- However many try at once, one finds the row.
DELETE FROM user_codes c USING users u
WHERE u.id = c.user_id AND u.name_key = $1 AND c.code_hash = $2 AND c.expires_at > now() AND u.disabled_at IS NULL
RETURNING u.id, u.name, u.role, u.created_at;

-- name: RedeemPassword
UPDATE users SET password_hash = $2 WHERE id = $1 AND disabled_at IS NULL;

-- name: SetRole
-- The administrators are locked in one order, so that of two who lower each
-- other at once the second sees what the first has done.
WITH others AS (
    SELECT id FROM users WHERE role = 'administrator' AND disabled_at IS NULL AND password_hash IS NOT NULL ORDER BY id FOR UPDATE
), changed AS (
    UPDATE users SET role = $3
    WHERE id = $1 AND role = $2 AND (role <> 'administrator' OR $3 = 'administrator' OR EXISTS (SELECT FROM others WHERE id <> $1))
    RETURNING id
)
SELECT EXISTS (SELECT FROM changed), EXISTS (SELECT FROM others WHERE id <> $1);

-- name: Disable
WITH others AS (
    SELECT id FROM users WHERE role = 'administrator' AND disabled_at IS NULL AND password_hash IS NOT NULL ORDER BY id FOR UPDATE
), changed AS (
    UPDATE users SET disabled_at = now()
    WHERE id = $1 AND disabled_at IS NULL AND (role <> 'administrator' OR EXISTS (SELECT FROM others WHERE id <> $1))
    RETURNING id
), ended AS (
    DELETE FROM sessions WHERE user_id IN (SELECT id FROM changed)
), spent AS (
    DELETE FROM user_codes WHERE user_id IN (SELECT id FROM changed)
)
SELECT EXISTS (SELECT FROM changed), EXISTS (SELECT FROM others WHERE id <> $1);

-- name: RemoveUser
WITH others AS (
    SELECT id FROM users WHERE role = 'administrator' AND disabled_at IS NULL AND password_hash IS NOT NULL ORDER BY id FOR UPDATE
), changed AS (
    DELETE FROM users
    WHERE id = $1 AND (role <> 'administrator' OR EXISTS (SELECT FROM others WHERE id <> $1))
    RETURNING id
)
SELECT EXISTS (SELECT FROM changed), EXISTS (SELECT FROM others WHERE id <> $1);

-- name: Enable
UPDATE users SET disabled_at = NULL WHERE id = $1 AND disabled_at IS NOT NULL;

-- name: PasswordHash
SELECT password_hash FROM users WHERE id = $1 AND password_hash IS NOT NULL AND disabled_at IS NULL;

-- name: SetPassword
UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2;

-- name: DropCode
DELETE FROM user_codes WHERE user_id = $1;

-- name: Rename
-- No row when another has the name: the unique key decides, not a look before.
UPDATE users SET name = $2, name_key = $3
WHERE id = $1 AND NOT EXISTS (SELECT FROM users WHERE name_key = $3 AND id <> $1);
