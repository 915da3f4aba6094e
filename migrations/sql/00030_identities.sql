-- +goose Up
-- Who an issuer of OpenID Connect says somebody is. Nothing but its address and
-- its own name for the person decides: no address of mail, no name, no role.
CREATE TABLE reader.identities (
    issuer    text        NOT NULL CHECK (octet_length(issuer) BETWEEN 1 AND 500),
    subject   text        NOT NULL CHECK (octet_length(subject) BETWEEN 1 AND 255),
    user_id   bigint      NOT NULL REFERENCES reader.users ON DELETE CASCADE,
    linked_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (issuer, subject),
    -- One account there for each person here, so that unlinking is no question.
    UNIQUE (user_id, issuer)
);

-- How a sign-in was begun.
ALTER TABLE reader.sessions ADD COLUMN method text NOT NULL DEFAULT 'password' CHECK (method IN ('password', 'issuer'));
COMMENT ON COLUMN reader.users.password_hash IS 'NULL for those who have not come yet, and for those who only come through an issuer';

-- +goose Down
-- Who has no password is invited anew by the older program.
ALTER TABLE reader.sessions DROP COLUMN method;
DROP TABLE reader.identities;
COMMENT ON COLUMN reader.users.password_hash IS 'NULL until the person has chosen a password with an invitation';
