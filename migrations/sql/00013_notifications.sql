-- +goose Up
-- Where people are told what waits for them, and what each was told.
CREATE TABLE reader.notify_destinations (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name         text        NOT NULL CHECK (name <> ''),
    address      text        NOT NULL,
    kinds        text[]      NOT NULL CHECK (kinds <@ ARRAY['parked', 'storage', 'refused', 'quarantined', 'failing', 'chapters']),
    failing_days integer     NOT NULL CHECK (failing_days BETWEEN 0 AND 365),
    created_at   timestamptz NOT NULL DEFAULT now(),
    next_at      timestamptz NOT NULL DEFAULT now(),
    sent_at      timestamptz,
    failed_at    timestamptz,
    failure      text        NOT NULL DEFAULT '',
    tries        integer     NOT NULL DEFAULT 0
);
COMMENT ON COLUMN reader.notify_destinations.address IS 'with its secrets; never shown, logged or exported';
COMMENT ON COLUMN reader.notify_destinations.next_at IS 'when the next message may go';

CREATE TABLE reader.notifications (
    id             bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    destination_id bigint      NOT NULL REFERENCES reader.notify_destinations ON DELETE CASCADE,
    kind           text        NOT NULL CHECK (kind IN ('parked', 'storage', 'refused', 'quarantined', 'failing', 'chapters')),
    key            text        NOT NULL,
    text           text        NOT NULL,
    at             timestamptz NOT NULL,
    seen_at        timestamptz NOT NULL,
    sent_at        timestamptz,
    UNIQUE (destination_id, kind, key)
);
COMMENT ON COLUMN reader.notifications.seen_at IS 'when it was last known to last, to a day';
CREATE INDEX ON reader.notifications (destination_id, at) WHERE sent_at IS NULL;
CREATE INDEX ON reader.notifications (seen_at);

-- +goose Down
DROP TABLE reader.notifications, reader.notify_destinations;
