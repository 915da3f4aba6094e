-- +goose Up
-- Failures that a person has looked at and does not want in front of them
-- (POLL-14). A mute hangs on the failure row: a good read ends both, and a move
-- takes both along, without a statement of its own.
CREATE TABLE scraper.worklist_mutes (
    site      text        NOT NULL,
    series_id text        NOT NULL,
    muted_at  timestamptz NOT NULL,
    PRIMARY KEY (site, series_id),
    FOREIGN KEY (site, series_id) REFERENCES scraper.poll_failures ON DELETE CASCADE ON UPDATE CASCADE
);

-- +goose Down
DROP TABLE scraper.worklist_mutes;
