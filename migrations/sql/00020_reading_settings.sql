-- +goose Up
-- How each person wants each title shown, on every device (E1). A row without a
-- title is what the person chose for every title that has no row of its own.
CREATE TABLE reader.reading_settings (
    user_id    bigint      NOT NULL REFERENCES reader.users ON DELETE CASCADE,
    title_id   bigint      REFERENCES reader.titles ON DELETE CASCADE,
    mode       text        NOT NULL CHECK (mode IN ('auto', 'single', 'double', 'vertical', 'strip')),
    direction  text        NOT NULL CHECK (direction IN ('ltr', 'rtl')),
    fit        text        NOT NULL CHECK (fit IN ('both', 'width', 'height', 'original')),
    background text        NOT NULL CHECK (background IN ('black', 'grey', 'paper', 'white')),
    gap        text        NOT NULL CHECK (gap IN ('none', 'narrow', 'wide')),
    cover      text        NOT NULL CHECK (cover IN ('alone', 'paired')),
    changed_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX reading_settings_title ON reader.reading_settings (user_id, title_id) WHERE title_id IS NOT NULL;
CREATE UNIQUE INDEX reading_settings_every ON reader.reading_settings (user_id) WHERE title_id IS NULL;
COMMENT ON COLUMN reader.reading_settings.cover IS 'whether the first page of a chapter stands alone in double page, or beside the second';

-- +goose Down
DROP TABLE reader.reading_settings;
