-- +goose Up
-- The language that a person reads the pages in. Which there are is not said here:
-- a language comes with a message file, and none is lost when a file goes.
ALTER TABLE reader.users ADD COLUMN language text
    CHECK (length(language) <= 35 AND language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$');
COMMENT ON COLUMN reader.users.language IS 'a language tag; NULL is whatever the browser asks for';

-- +goose Down
ALTER TABLE reader.users DROP COLUMN language;
