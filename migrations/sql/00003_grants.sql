-- +goose Up
-- A trespass is an error from the database (OWN-1). The reader reads and writes
-- its own tables and sees none of the scraper's, and the other way about.
GRANT USAGE ON SCHEMA reader TO mangrove_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA reader TO mangrove_reader;
REVOKE INSERT, DELETE ON reader.claim, reader.follow_revision, reader.library_cursor FROM mangrove_reader;

GRANT USAGE ON SCHEMA scraper TO mangrove_scraper;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA scraper TO mangrove_scraper;
REVOKE INSERT, UPDATE, DELETE ON scraper.job_transitions FROM mangrove_scraper;
REVOKE INSERT, DELETE ON scraper.library, scraper.follows FROM mangrove_scraper;

-- What a later migration adds is granted the same way.
ALTER DEFAULT PRIVILEGES IN SCHEMA reader GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO mangrove_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA scraper GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO mangrove_scraper;

-- +goose Down
ALTER DEFAULT PRIVILEGES IN SCHEMA reader REVOKE ALL ON TABLES FROM mangrove_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA scraper REVOKE ALL ON TABLES FROM mangrove_scraper;
REVOKE ALL ON ALL TABLES IN SCHEMA reader FROM mangrove_reader;
REVOKE ALL ON ALL TABLES IN SCHEMA scraper FROM mangrove_scraper;
REVOKE USAGE ON SCHEMA reader FROM mangrove_reader;
REVOKE USAGE ON SCHEMA scraper FROM mangrove_scraper;
