-- +goose Up
-- What the last scan saw of each file, so that the next one reads only what changed (INV-6).

ALTER TABLE scraper.library_files ADD COLUMN mtime_ns bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN scraper.library_files.mtime_ns IS 'of the file when it was last read, in nanoseconds since 1970; 0 is not known, and its size alone is compared';
ALTER TABLE scraper.library_files ADD COLUMN folder text NOT NULL GENERATED ALWAYS AS (coalesce(substring(path from '^(.*)/[^/]*$'), '')) STORED;
CREATE INDEX library_files_folder ON scraper.library_files (folder);
CREATE INDEX library_files_fingerprint ON scraper.library_files (fingerprint);

-- +goose Down
ALTER TABLE scraper.library_files DROP COLUMN folder, DROP COLUMN mtime_ns;
DROP INDEX scraper.library_files_fingerprint;
