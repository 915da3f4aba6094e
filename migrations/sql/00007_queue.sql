-- +goose Up
-- What an operator does to Jobs: an order among those of a Site, and where a
-- paused one goes on. The pages read Jobs by state.
ALTER TABLE scraper.jobs
    ADD COLUMN priority  text NOT NULL DEFAULT 'normal' CHECK (priority IN ('high', 'normal', 'low')),
    ADD COLUMN resume_to text NOT NULL DEFAULT '' CHECK (resume_to IN ('', 'requested', 'queued'));
COMMENT ON COLUMN scraper.jobs.resume_to IS 'where a paused Job goes on; a Job that was never inspected, or waited for its retry, is inspected first';
CREATE INDEX jobs_state ON scraper.jobs (state, id);

-- An inspection can be paused too, and a Job of a title that is gone be dropped.
INSERT INTO scraper.job_transitions (from_state, to_state) VALUES ('inspecting', 'paused'), ('unavailable', 'cancelled');

-- +goose Down
DELETE FROM scraper.job_transitions WHERE (from_state, to_state) IN (('inspecting', 'paused'), ('unavailable', 'cancelled'));
DROP INDEX scraper.jobs_state;
ALTER TABLE scraper.jobs DROP COLUMN resume_to, DROP COLUMN priority;
