-- +goose Up
-- Files of other programs that a person has said are chapters of a Series (F11), with
-- what they were before, so that it can be taken back. The files stay where they are.
CREATE TABLE scraper.adopted_files (
    path       text        PRIMARY KEY REFERENCES scraper.library_files ON UPDATE CASCADE ON DELETE CASCADE,
    folder     text        NOT NULL CHECK (folder <> ''),
    chapter_id text        NOT NULL CHECK (chapter_id <> ''),
    adopted_at timestamptz NOT NULL
);
CREATE INDEX adopted_files_folder ON scraper.adopted_files (folder);
COMMENT ON COLUMN scraper.adopted_files.folder IS 'series_id of the files while their Site was "local"';

-- +goose Down
DROP TABLE scraper.adopted_files;
