-- +goose Up
-- One classified failure each: what was read of it, and what was decided (OBS-2).
-- Two hundred are kept; who adds one evicts in the same statement.
CREATE TABLE scraper.incidents (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind        text        NOT NULL CHECK (kind IN ('network', 'parser', 'access', 'storage', 'page', 'conflict', 'stall', 'unknown')),
    about       text        NOT NULL CHECK (about IN ('series', 'job', 'chapter', 'circuit', 'hold')),
    site        text        NOT NULL CHECK (octet_length(site) <= 512),
    series_id   text        NOT NULL DEFAULT '' CHECK (octet_length(series_id) <= 2048),
    job_id      bigint      NOT NULL DEFAULT 0 CHECK (job_id >= 0),
    chapter_id  text        NOT NULL DEFAULT '' CHECK (octet_length(chapter_id) <= 2048),
    subject     text        NOT NULL DEFAULT '' CHECK (octet_length(subject) <= 2048),
    reason      text        NOT NULL DEFAULT '' CHECK (octet_length(reason) <= 2048),
    decided     jsonb       NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(decided) = 'array' AND jsonb_array_length(decided) <= 20),
    at          timestamptz NOT NULL,
    last_at     timestamptz NOT NULL,
    seen        integer     NOT NULL DEFAULT 1 CHECK (seen > 0),
    checkpoint  bytea       CHECK (octet_length(checkpoint) <= 65536),
    resolved_at timestamptz,
    resolution  text        NOT NULL DEFAULT '' CHECK (resolution IN ('', 'resumed', 'retried', 'released', 'good_read', 'operator')),
    CHECK ((resolution = '') = (resolved_at IS NULL)),
    CHECK (last_at >= at)
);
COMMENT ON COLUMN scraper.incidents.about IS 'what the failure stopped; what ends that resolves the incident';
COMMENT ON COLUMN scraper.incidents.seen IS 'how often the same happened while it stood unresolved';
COMMENT ON COLUMN scraper.incidents.checkpoint IS 'the Job''s checkpoint as it was then';
CREATE INDEX incidents_open ON scraper.incidents (site, series_id) WHERE resolved_at IS NULL;

-- What the Site answered, redacted and bounded; apart, so that lists stay cheap.
CREATE TABLE scraper.incident_evidence (
    incident_id bigint      NOT NULL REFERENCES scraper.incidents ON DELETE CASCADE,
    position    integer     NOT NULL CHECK (position BETWEEN 1 AND 3),
    at          timestamptz NOT NULL,
    address     text        NOT NULL CHECK (octet_length(address) <= 2048),
    status      integer     NOT NULL,
    media_type  text        NOT NULL DEFAULT '' CHECK (octet_length(media_type) <= 256),
    headers     jsonb       NOT NULL DEFAULT '[]',
    size        bigint      NOT NULL CHECK (size >= 0),
    removed     integer     NOT NULL DEFAULT 0 CHECK (removed >= 0),
    cut         boolean     NOT NULL DEFAULT false,
    body        bytea       NOT NULL CHECK (octet_length(body) <= 262144),
    PRIMARY KEY (incident_id, position)
);
COMMENT ON COLUMN scraper.incident_evidence.size IS 'of the whole answer as it came; cut is true when body is less of it';
COMMENT ON COLUMN scraper.incident_evidence.removed IS 'how many places were blanked in body';

-- +goose Down
DROP TABLE scraper.incident_evidence, scraper.incidents;
