-- +goose Up
-- People: invitations, disabling, and sign-ins that can be listed and ended.

-- A user without a password was invited and has not come yet.
ALTER TABLE reader.users ALTER COLUMN password_hash DROP NOT NULL;
ALTER TABLE reader.users ADD COLUMN disabled_at timestamptz;
COMMENT ON COLUMN reader.users.password_hash IS 'NULL until the person has chosen a password with an invitation';

-- One code at a time for each person: the newest counts.
CREATE TABLE reader.user_codes (
    user_id    bigint      PRIMARY KEY REFERENCES reader.users ON DELETE CASCADE,
    purpose    text        NOT NULL CHECK (purpose IN ('invitation', 'reset')),
    code_hash  bytea       NOT NULL UNIQUE CHECK (octet_length(code_hash) = 32),
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    CHECK (expires_at > created_at)
);

-- Who claimed the library may leave it; that it is claimed stays.
ALTER TABLE reader.claim DROP CONSTRAINT claim_check, DROP CONSTRAINT claim_claimed_by_fkey;
ALTER TABLE reader.claim
    ADD CONSTRAINT claim_check CHECK (claimed_by IS NULL OR claimed_at IS NOT NULL),
    ADD CONSTRAINT claim_claimed_by_fkey FOREIGN KEY (claimed_by) REFERENCES reader.users ON DELETE SET NULL;

-- The rows of before do not say whose they are; everybody signs in once more.
DROP TABLE reader.sessions;
CREATE TABLE reader.sessions (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    token_hash bytea       NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    user_id    bigint      NOT NULL REFERENCES reader.users ON DELETE CASCADE,
    device     text        NOT NULL CHECK (char_length(device) BETWEEN 1 AND 80),
    created_at timestamptz NOT NULL DEFAULT now(),
    used_at    timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    CHECK (used_at >= created_at AND expires_at > used_at)
);
CREATE INDEX sessions_user ON reader.sessions (user_id);
CREATE INDEX sessions_expiry ON reader.sessions (expires_at);
COMMENT ON COLUMN reader.sessions.used_at IS 'written at most once a minute';

-- +goose Down
DROP TABLE reader.sessions;
CREATE TABLE reader.sessions (
    token_hash text        PRIMARY KEY,
    data       bytea       NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_expiry ON reader.sessions (expires_at);
DROP TABLE reader.user_codes;
DELETE FROM reader.users WHERE password_hash IS NULL;
-- The older program knows nobody who is disabled, so that they are given a
-- password that nobody has.
UPDATE reader.users SET password_hash = '$argon2id$v=19$m=19456,t=2,p=1$' ||
    rtrim(encode(substr(sha256((random()::text || id)::bytea), 1, 16), 'base64'), '=') || '$' ||
    rtrim(encode(sha256((random()::text || clock_timestamp())::bytea), 'base64'), '=')
WHERE disabled_at IS NOT NULL;
ALTER TABLE reader.users DROP COLUMN disabled_at;
ALTER TABLE reader.users ALTER COLUMN password_hash SET NOT NULL;
ALTER TABLE reader.claim DROP CONSTRAINT claim_check, DROP CONSTRAINT claim_claimed_by_fkey;
UPDATE reader.claim SET claimed_by = (SELECT min(id) FROM reader.users WHERE role = 'administrator')
WHERE claimed_at IS NOT NULL AND claimed_by IS NULL;
ALTER TABLE reader.claim
    ADD CONSTRAINT claim_check CHECK ((claimed_by IS NULL) = (claimed_at IS NULL)),
    ADD CONSTRAINT claim_claimed_by_fkey FOREIGN KEY (claimed_by) REFERENCES reader.users ON DELETE RESTRICT;
