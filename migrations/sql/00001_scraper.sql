-- +goose Up
-- What the scraper alone writes (OWN-1). Word columns repeat the Go constants;
-- a test compares the two.

CREATE TABLE scraper.series (
    site             text        NOT NULL CHECK (site <> ''),
    series_id        text        NOT NULL CHECK (series_id <> ''),
    title            text        NOT NULL,
    native_title     text        NOT NULL DEFAULT '',
    authors          text[]      NOT NULL DEFAULT '{}',
    description      text        NOT NULL DEFAULT '',
    url              text        NOT NULL,
    status           text        NOT NULL DEFAULT '' CHECK (status IN ('', 'ongoing', 'completed', 'hiatus', 'cancelled')),
    tags             text[]      NOT NULL DEFAULT '{}',
    license          text        NOT NULL DEFAULT '',
    reading_direction text       NOT NULL DEFAULT '' CHECK (reading_direction IN ('', 'ltr', 'rtl', 'strip')),
    cover_url        text        NOT NULL DEFAULT '',
    cover_sha256     text        NOT NULL DEFAULT '',
    origin           text        NOT NULL CHECK (origin IN ('listed', 'followed')),
    download         boolean     NOT NULL DEFAULT false,
    languages        text[]      NOT NULL DEFAULT '{}',
    follow_revision  bigint      NOT NULL DEFAULT 0,
    absent_since     timestamptz,
    folder           text        NOT NULL DEFAULT '',
    etag             text        NOT NULL DEFAULT '',
    last_modified    text        NOT NULL DEFAULT '',
    added_at         timestamptz NOT NULL DEFAULT now(),
    next_poll_at     timestamptz NOT NULL DEFAULT now(),
    next_poll_reason text        NOT NULL DEFAULT 'interval' CHECK (next_poll_reason IN ('interval', 'releases')),
    forced_poll_at   timestamptz,
    last_good_read_at timestamptz,
    polled_at        timestamptz,
    shrunk_at        timestamptz,
    PRIMARY KEY (site, series_id)
);
COMMENT ON COLUMN scraper.series.absent_since IS 'missing from a whole desired set since (OWN-3); it leaves after a day';
COMMENT ON COLUMN scraper.series.folder IS 'name of its folder in the library, set at the first publication and stable from then on (PUB-5)';
COMMENT ON COLUMN scraper.series.polled_at IS 'when a Poll with evidence last ended; pacing and pages only, never a failure mark (POLL-2)';
COMMENT ON COLUMN scraper.series.shrunk_at IS 'since when its list has lost more than half of its chapters; believed at the second such read';
CREATE UNIQUE INDEX series_folder ON scraper.series (folder) WHERE folder <> '';
CREATE INDEX series_due ON scraper.series (site, next_poll_at);
CREATE INDEX series_forced ON scraper.series (site, forced_poll_at) WHERE forced_poll_at IS NOT NULL;

CREATE TABLE scraper.chapters (
    site          text        NOT NULL,
    series_id     text        NOT NULL,
    chapter_id    text        NOT NULL CHECK (chapter_id <> ''),
    number        numeric,
    volume        numeric,
    title         text        NOT NULL DEFAULT '',
    language      text        NOT NULL DEFAULT '',
    groups        text[]      NOT NULL DEFAULT '{}',
    url           text        NOT NULL,
    source_order  integer     NOT NULL,
    external      boolean     NOT NULL DEFAULT false,
    published_at  timestamptz,
    first_seen_at timestamptz NOT NULL,
    announced_at  timestamptz,
    gone_since    timestamptz,
    PRIMARY KEY (site, series_id, chapter_id),
    FOREIGN KEY (site, series_id) REFERENCES scraper.series ON DELETE CASCADE
);

COMMENT ON COLUMN scraper.chapters.announced_at IS 'when it was announced as new, once; none is when a Series is read for the first time (POLL-12)';
CREATE INDEX chapters_announced ON scraper.chapters (announced_at DESC) WHERE announced_at IS NOT NULL;

-- The row's existence IS the failure (POLL-2): no success mark, no counter, no history.
CREATE TABLE scraper.poll_failures (
    site          text        NOT NULL,
    series_id     text        NOT NULL,
    outcome       text        NOT NULL CHECK (outcome IN ('not_found', 'no_chapter', 'unfetchable', 'errors')),
    failing_since timestamptz NOT NULL,
    PRIMARY KEY (site, series_id),
    FOREIGN KEY (site, series_id) REFERENCES scraper.series ON DELETE CASCADE
);
CREATE INDEX poll_failures_oldest ON scraper.poll_failures (failing_since);

CREATE TABLE scraper.poll_lanes (
    site            text        PRIMARY KEY,
    activity        text        NOT NULL DEFAULT 'idle' CHECK (activity IN ('idle', 'polling', 'inspecting', 'downloading')),
    series_id       text        NOT NULL DEFAULT '',
    trouble         text        NOT NULL DEFAULT '' CHECK (trouble IN ('', 'refused', 'unreachable')),
    trouble_since   timestamptz,
    holder          text        NOT NULL DEFAULT '',
    counting_since  timestamptz NOT NULL DEFAULT now(),
    cycled_at       timestamptz,
    CHECK ((trouble = '') = (trouble_since IS NULL))
);

COMMENT ON COLUMN scraper.poll_lanes.cycled_at IS 'when every Series of the Lane had been polled since counting_since; ages mean something from then on (POLL-11)';

CREATE TABLE scraper.poll_passes (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site        text        NOT NULL,
    started_at  timestamptz NOT NULL,
    ended_at    timestamptz NOT NULL,
    end_reason  text        NOT NULL CHECK (end_reason IN ('complete', 'refused', 'unreachable', 'outage', 'stopped')),
    ok          integer     NOT NULL DEFAULT 0,
    not_found   integer     NOT NULL DEFAULT 0,
    no_chapter  integer     NOT NULL DEFAULT 0,
    unfetchable integer     NOT NULL DEFAULT 0,
    errors      integer     NOT NULL DEFAULT 0,
    refused     integer     NOT NULL DEFAULT 0,
    unreachable integer     NOT NULL DEFAULT 0,
    new_chapters integer    NOT NULL DEFAULT 0
);
CREATE INDEX poll_passes_site ON scraper.poll_passes (site, started_at);

CREATE TABLE scraper.circuits (
    site   text        PRIMARY KEY,
    state  text        NOT NULL DEFAULT 'closed' CHECK (state IN ('closed', 'open', 'probing', 'paused')),
    reason text        NOT NULL DEFAULT '' CHECK (reason IN ('', 'outage', 'access', 'systemic', 'operator')),
    detail text        NOT NULL DEFAULT '',
    since  timestamptz NOT NULL DEFAULT now(),
    until  timestamptz,
    retry_after timestamptz,
    CHECK ((state = 'closed') = (reason = '')),
    CHECK ((state IN ('open', 'probing')) = (until IS NOT NULL))
);

CREATE TABLE scraper.holds (
    kind   text        PRIMARY KEY CHECK (kind IN ('queue', 'storage')),
    since  timestamptz NOT NULL DEFAULT now(),
    detail text        NOT NULL DEFAULT ''
);

CREATE TABLE scraper.jobs (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site         text        NOT NULL,
    series_id    text        NOT NULL,
    state        text        NOT NULL DEFAULT 'requested' CHECK (state IN
        ('requested', 'inspecting', 'ready', 'queued', 'downloading', 'paused', 'retry_wait', 'unavailable', 'quarantined', 'done', 'cancelled')),
    unattended   boolean     NOT NULL DEFAULT false,
    class        text        NOT NULL DEFAULT '' CHECK (class IN
        ('', 'network', 'unavailable', 'parser', 'access', 'storage', 'page', 'conflict', 'unknown', 'stall')),
    reason       text        NOT NULL DEFAULT '',
    retries      integer     NOT NULL DEFAULT 0 CHECK (retries >= 0),
    stalls       integer     NOT NULL DEFAULT 0 CHECK (stalls >= 0),
    retry_at     timestamptz,
    requested_at timestamptz NOT NULL DEFAULT now(),
    changed_at   timestamptz NOT NULL DEFAULT now(),
    finished_at  timestamptz,
    CHECK ((state = 'retry_wait') = (retry_at IS NOT NULL)),
    CHECK ((state IN ('unavailable', 'quarantined', 'done', 'cancelled')) = (finished_at IS NOT NULL))
);
-- At most one outstanding Job a Series (JOB-2).
CREATE UNIQUE INDEX jobs_outstanding ON scraper.jobs (site, series_id)
    WHERE state IN ('requested', 'inspecting', 'ready', 'queued', 'downloading', 'paused', 'retry_wait');
CREATE INDEX jobs_series ON scraper.jobs (site, series_id, id);

-- Allowed transitions of JOB-1, repeated so that the database refuses the rest.
CREATE TABLE scraper.job_transitions (
    from_state text NOT NULL,
    to_state   text NOT NULL,
    PRIMARY KEY (from_state, to_state)
);
INSERT INTO scraper.job_transitions (from_state, to_state) VALUES
    ('requested', 'inspecting'), ('requested', 'cancelled'), ('requested', 'paused'),
    ('inspecting', 'requested'), ('inspecting', 'ready'), ('inspecting', 'retry_wait'), ('inspecting', 'unavailable'),
    ('inspecting', 'quarantined'), ('inspecting', 'done'), ('inspecting', 'cancelled'),
    ('ready', 'queued'), ('ready', 'cancelled'), ('ready', 'requested'),
    ('queued', 'downloading'), ('queued', 'paused'), ('queued', 'cancelled'),
    ('downloading', 'queued'), ('downloading', 'paused'), ('downloading', 'retry_wait'), ('downloading', 'unavailable'),
    ('downloading', 'quarantined'), ('downloading', 'done'), ('downloading', 'cancelled'),
    ('paused', 'queued'), ('paused', 'requested'), ('paused', 'cancelled'),
    ('retry_wait', 'queued'), ('retry_wait', 'requested'), ('retry_wait', 'paused'), ('retry_wait', 'cancelled'), ('retry_wait', 'quarantined'),
    ('unavailable', 'requested'), ('quarantined', 'queued'), ('quarantined', 'requested'), ('quarantined', 'cancelled');

-- +goose StatementBegin
CREATE FUNCTION scraper.check_job_transition() RETURNS trigger
    LANGUAGE plpgsql SET search_path = scraper AS $$
BEGIN
    IF NEW.state <> OLD.state AND NOT EXISTS (
        SELECT 1 FROM scraper.job_transitions t WHERE t.from_state = OLD.state AND t.to_state = NEW.state
    ) THEN
        RAISE EXCEPTION 'job %: % to % is not an allowed transition', OLD.id, OLD.state, NEW.state USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER jobs_transition BEFORE UPDATE OF state ON scraper.jobs
    FOR EACH ROW EXECUTE FUNCTION scraper.check_job_transition();

CREATE TABLE scraper.job_chapters (
    job_id     bigint  NOT NULL REFERENCES scraper.jobs ON DELETE CASCADE,
    chapter_id text    NOT NULL,
    position   integer NOT NULL,
    state      text    NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'downloading', 'published', 'set_aside')),
    pages      integer NOT NULL DEFAULT 0 CHECK (pages >= 0),
    class      text    NOT NULL DEFAULT '' CHECK (class IN ('', 'network', 'unavailable', 'parser', 'access', 'storage', 'page', 'conflict', 'unknown', 'stall')),
    reason     text    NOT NULL DEFAULT '',
    PRIMARY KEY (job_id, chapter_id)
);

-- One row: the library's identity and its change counter, locked by whoever
-- takes the next revision (OWN-4).
CREATE TABLE scraper.library (
    singleton  boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    library_id text    NOT NULL DEFAULT '',
    epoch      text    NOT NULL,
    revision   bigint  NOT NULL DEFAULT 0
);
INSERT INTO scraper.library (epoch) VALUES (gen_random_uuid()::text);

-- What is in the library folder. A removed file keeps its row as a tombstone.
CREATE TABLE scraper.library_files (
    path         text        PRIMARY KEY,
    revision     bigint      NOT NULL UNIQUE,
    state        text        NOT NULL CHECK (state IN ('published', 'missing', 'removed')),
    site         text        NOT NULL,
    series_id    text        NOT NULL,
    chapter_id   text        NOT NULL,
    series_title text        NOT NULL,
    number       numeric,
    volume       numeric,
    title        text        NOT NULL DEFAULT '',
    language     text        NOT NULL DEFAULT '',
    groups       text[]      NOT NULL DEFAULT '{}',
    source_order integer     NOT NULL DEFAULT 0,
    pages        integer     NOT NULL CHECK (pages > 0),
    size         bigint      NOT NULL CHECK (size > 0),
    fingerprint  text        NOT NULL,
    published_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX library_files_chapter ON scraper.library_files (site, series_id, chapter_id) WHERE state <> 'removed';

-- The highest revision of follows applied (OWN-3).
CREATE TABLE scraper.follows (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    revision  bigint  NOT NULL DEFAULT 0
);
INSERT INTO scraper.follows DEFAULT VALUES;

CREATE TABLE scraper.settings (
    key   text PRIMARY KEY,
    value text NOT NULL
);

-- +goose Down
DROP TABLE scraper.settings, scraper.follows, scraper.library_files, scraper.library, scraper.job_chapters,
    scraper.job_transitions, scraper.jobs, scraper.holds, scraper.circuits, scraper.poll_passes, scraper.poll_lanes,
    scraper.poll_failures, scraper.chapters, scraper.series;
DROP FUNCTION scraper.check_job_transition();
