-- +goose Up
-- Each Lane is tried now and then: whether its adapter still reads a Series it is known to
-- read (H18). What such a trial finds stands here and nowhere else.
CREATE TABLE scraper.canaries (
    site          text        PRIMARY KEY REFERENCES scraper.poll_lanes ON DELETE CASCADE,
    state         text        NOT NULL DEFAULT 'untried' CHECK (state IN ('untried', 'well', 'doubtful', 'failing')),
    outcome       text        NOT NULL DEFAULT '' CHECK (outcome IN ('', 'ok', 'errors', 'no_landmark', 'gone', 'moved', 'no_chapter', 'fewer', 'no_pages', 'bad_pages', 'refused', 'away')),
    series_id     text        NOT NULL DEFAULT '' CHECK (octet_length(series_id) <= 2048),
    chapter_id    text        NOT NULL DEFAULT '' CHECK (octet_length(chapter_id) <= 2048),
    chapters      integer     NOT NULL DEFAULT 0 CHECK (chapters >= 0),
    ran_at        timestamptz,
    good_at       timestamptz,
    failing_since timestamptz,
    next_at       timestamptz,
    evidence      text        NOT NULL DEFAULT '' CHECK (octet_length(evidence) <= 500),
    CHECK ((state IN ('doubtful', 'failing')) = (failing_since IS NOT NULL)),
    CHECK (state <> 'well' OR good_at IS NOT NULL)
);
COMMENT ON COLUMN scraper.canaries.series_id IS 'of the last trial; chapter_id is the chapter whose pages were read well last, chapters how many were listed then';
COMMENT ON COLUMN scraper.canaries.next_at IS 'when the next trial is due; none before the first Follow';
INSERT INTO scraper.canaries (site) SELECT site FROM scraper.poll_lanes;

ALTER TABLE scraper.incidents DROP CONSTRAINT incidents_about_check;
ALTER TABLE scraper.incidents ADD CONSTRAINT incidents_about_check CHECK (about IN ('series', 'job', 'chapter', 'circuit', 'hold', 'file', 'canary'));

ALTER TABLE reader.notify_destinations DROP CONSTRAINT notify_destinations_kinds_check;
ALTER TABLE reader.notify_destinations ADD CONSTRAINT notify_destinations_kinds_check CHECK (kinds <@ ARRAY['parked', 'storage', 'refused', 'canary', 'quarantined', 'failing', 'chapters']);
ALTER TABLE reader.notifications DROP CONSTRAINT notifications_kind_check;
ALTER TABLE reader.notifications ADD CONSTRAINT notifications_kind_check CHECK (kind IN ('parked', 'storage', 'refused', 'canary', 'quarantined', 'failing', 'chapters'));

-- +goose Down
DELETE FROM reader.notifications WHERE kind = 'canary';
ALTER TABLE reader.notifications DROP CONSTRAINT notifications_kind_check;
ALTER TABLE reader.notifications ADD CONSTRAINT notifications_kind_check CHECK (kind IN ('parked', 'storage', 'refused', 'quarantined', 'failing', 'chapters'));
UPDATE reader.notify_destinations SET kinds = array_remove(kinds, 'canary');
ALTER TABLE reader.notify_destinations DROP CONSTRAINT notify_destinations_kinds_check;
ALTER TABLE reader.notify_destinations ADD CONSTRAINT notify_destinations_kinds_check CHECK (kinds <@ ARRAY['parked', 'storage', 'refused', 'quarantined', 'failing', 'chapters']);
DELETE FROM scraper.incidents WHERE about = 'canary';
ALTER TABLE scraper.incidents DROP CONSTRAINT incidents_about_check;
ALTER TABLE scraper.incidents ADD CONSTRAINT incidents_about_check CHECK (about IN ('series', 'job', 'chapter', 'circuit', 'hold', 'file'));
DROP TABLE scraper.canaries;
