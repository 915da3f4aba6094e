-- Whom issuers vouch for.

-- name: UserByIdentity
SELECT u.id, u.name, u.role, u.created_at, u.disabled_at IS NOT NULL
FROM identities i JOIN users u ON u.id = i.user_id
WHERE i.issuer = $1 AND i.subject = $2;

-- name: Ways
SELECT u.password_hash IS NOT NULL, coalesce((SELECT i.linked_at FROM identities i WHERE i.user_id = u.id AND i.issuer = $2), 'epoch')
FROM users u WHERE u.id = $1;

-- name: Link
-- Whatever is in the way, the identity of another or another identity of theirs,
-- nothing is written; the two looks after it say which.
INSERT INTO identities (issuer, subject, user_id)
SELECT $1, $2, id FROM users WHERE id = $3 AND disabled_at IS NULL
ON CONFLICT DO NOTHING;

-- name: Unlink
DELETE FROM identities i USING users u
WHERE i.user_id = $1 AND i.issuer = $2 AND u.id = i.user_id AND u.password_hash IS NOT NULL;

-- name: EndIssuerSignIns
DELETE FROM sessions WHERE user_id = $1 AND method = 'issuer' AND id <> $2;

-- name: InvitationMatches
SELECT EXISTS (
    SELECT FROM user_codes c JOIN users u ON u.id = c.user_id
    WHERE u.name_key = $1 AND c.code_hash = $2 AND c.purpose = 'invitation' AND c.expires_at > now() AND u.disabled_at IS NULL);

-- name: TakeInvitation
-- However many try at once, one finds the row.
DELETE FROM user_codes c USING users u
WHERE u.id = c.user_id AND u.name_key = $1 AND c.code_hash = $2 AND c.purpose = 'invitation' AND c.expires_at > now() AND u.disabled_at IS NULL
RETURNING u.id, u.name, u.role, u.created_at;
