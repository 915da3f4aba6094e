-- +goose Up
-- Keys of scripts and reading apps. Only a digest is kept (SEC-1), and a key
-- that is revoked is a row that is gone.
CREATE TABLE reader.api_keys (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id    bigint      NOT NULL REFERENCES reader.users ON DELETE CASCADE,
    name       text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 60),
    scope      text        NOT NULL CHECK (scope IN ('read', 'opds', 'admin')),
    key_hash   bytea       NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32),
    last_signs text        NOT NULL CHECK (char_length(last_signs) = 4),
    created_at timestamptz NOT NULL DEFAULT now(),
    used_at    timestamptz
);
CREATE INDEX api_keys_user ON reader.api_keys (user_id);
COMMENT ON COLUMN reader.api_keys.used_at IS 'NULL for never; written at most once a minute';

-- +goose Down
DROP TABLE reader.api_keys;
