-- +goose Up
-- What keeps one bad Job from parking the scraper (JOB-12), one chapter from
-- being fetched over and over (JOB-4), and what the nightly discovery found.

-- A crash of the scraper while a unit of the Job was under way. Neither a retry
-- nor a stall is counted for it.
CREATE TABLE scraper.job_crashes (
    job_id      bigint      NOT NULL REFERENCES scraper.jobs ON DELETE CASCADE,
    crashed_at  timestamptz NOT NULL,
    fingerprint text        NOT NULL,
    PRIMARY KEY (job_id, crashed_at)
);
COMMENT ON COLUMN scraper.job_crashes.fingerprint IS 'of the checkpoint as the crash left it; empty when there was none to read';

-- One row each time all pages of a chapter have been fetched.
CREATE TABLE scraper.chapter_fetches (
    site       text        NOT NULL,
    series_id  text        NOT NULL,
    chapter_id text        NOT NULL,
    fetched_at timestamptz NOT NULL,
    PRIMARY KEY (site, series_id, chapter_id, fetched_at),
    FOREIGN KEY (site, series_id) REFERENCES scraper.series ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX chapter_fetches_old ON scraper.chapter_fetches (fetched_at);

-- An operator's Retry of a Job that ended with chapters set aside reuses its row (JOB-2).
INSERT INTO scraper.job_transitions (from_state, to_state) VALUES ('done', 'requested');

ALTER TABLE scraper.chapters ADD COLUMN changed_at timestamptz;
COMMENT ON COLUMN scraper.chapters.changed_at IS 'when the Site last listed it otherwise than before; a chapter set aside is tried again after that (JOB-4)';
ALTER TABLE scraper.job_chapters ADD COLUMN set_aside_at timestamptz;
UPDATE scraper.job_chapters SET set_aside_at = now() WHERE state = 'set_aside';
ALTER TABLE scraper.job_chapters ADD CONSTRAINT job_chapters_set_aside CHECK ((state = 'set_aside') = (set_aside_at IS NOT NULL));
CREATE INDEX job_chapters_set_aside ON scraper.job_chapters (chapter_id) WHERE state = 'set_aside';

-- One run of the nightly discovery (JOB-9), with what it passed over and why.
CREATE TABLE scraper.discoveries (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    started_at timestamptz NOT NULL,
    ended_at   timestamptz NOT NULL,
    end_reason text        NOT NULL CHECK (end_reason IN ('complete', 'no_inventory', 'stopped')),
    looked_at  integer     NOT NULL CHECK (looked_at >= 0),
    requested  integer     NOT NULL CHECK (requested >= 0)
);
CREATE TABLE scraper.discovery_skips (
    discovery_id bigint NOT NULL REFERENCES scraper.discoveries ON DELETE CASCADE,
    site         text   NOT NULL,
    series_id    text   NOT NULL,
    why          text   NOT NULL CHECK (why IN ('outstanding', 'unavailable', 'quarantined', 'failed')),
    job_id       bigint,
    PRIMARY KEY (discovery_id, site, series_id)
);

-- +goose Down
DELETE FROM scraper.job_transitions WHERE from_state = 'done';
DROP TABLE scraper.discovery_skips, scraper.discoveries, scraper.chapter_fetches, scraper.job_crashes;
DROP INDEX scraper.job_chapters_set_aside;
ALTER TABLE scraper.job_chapters DROP COLUMN set_aside_at;
ALTER TABLE scraper.chapters DROP COLUMN changed_at;
