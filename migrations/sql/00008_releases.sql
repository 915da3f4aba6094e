-- +goose Up
-- Which release of a chapter is wanted, and what takes the place of what (C19, C21).

-- Whose releases of a Series are wanted, best first; without a row every release is.
CREATE TABLE scraper.preferred_groups (
    site      text   NOT NULL,
    series_id text   NOT NULL,
    groups    text[] NOT NULL CHECK (groups <> '{}'),
    PRIMARY KEY (site, series_id),
    FOREIGN KEY (site, series_id) REFERENCES scraper.series ON DELETE CASCADE ON UPDATE CASCADE
);

ALTER TABLE scraper.job_chapters ADD COLUMN accept_missing boolean NOT NULL DEFAULT false;
ALTER TABLE scraper.job_chapters ADD COLUMN replaces text NOT NULL DEFAULT '';
COMMENT ON COLUMN scraper.job_chapters.accept_missing IS 'an operator takes the chapter without the pages that are no whole images';
COMMENT ON COLUMN scraper.job_chapters.replaces IS 'path of the library file that goes once this chapter is published';

ALTER TABLE scraper.library_files ADD COLUMN missing_pages integer[] NOT NULL DEFAULT '{}';
ALTER TABLE scraper.library_files ADD COLUMN again boolean NOT NULL DEFAULT false;
ALTER TABLE scraper.library_files ADD COLUMN replaced_by text NOT NULL DEFAULT '';
ALTER TABLE scraper.library_files ADD COLUMN file_gone boolean NOT NULL DEFAULT false;
ALTER TABLE scraper.library_files ADD CONSTRAINT library_files_replaced CHECK (replaced_by = '' OR state = 'removed');
COMMENT ON COLUMN scraper.library_files.missing_pages IS 'numbers, from 1, of the Site''s pages that the file was published without';
COMMENT ON COLUMN scraper.library_files.again IS 'an operator wants the missing pages asked for again';
COMMENT ON COLUMN scraper.library_files.replaced_by IS 'path of the file that took its place; its readers'' progress goes with it';
COMMENT ON COLUMN scraper.library_files.file_gone IS 'a replaced file has been removed from the folder';
CREATE INDEX library_files_leftover ON scraper.library_files (path) WHERE replaced_by <> '' AND NOT file_gone;

-- +goose Down
ALTER TABLE scraper.library_files DROP COLUMN file_gone, DROP COLUMN replaced_by, DROP COLUMN again, DROP COLUMN missing_pages;
ALTER TABLE scraper.job_chapters DROP COLUMN replaces, DROP COLUMN accept_missing;
DROP TABLE scraper.preferred_groups;
