-- Where people are told, and what each was told.

-- name: Destinations
SELECT id, name, address, kinds, failing_days, created_at, sent_at, failed_at, failure, tries FROM notify_destinations ORDER BY id;

-- name: AddDestination
INSERT INTO notify_destinations (name, address, kinds, failing_days) VALUES ($1, $2, $3, $4) RETURNING id;

-- name: RemoveDestination
DELETE FROM notify_destinations WHERE id = $1;

-- name: Note
-- What lasts is refreshed once a day: it is told once, however long it lasts.
INSERT INTO notifications (destination_id, kind, key, text, at, seen_at)
SELECT $1, kind, key, text, $5, $5 FROM unnest($2::text[], $3::text[], $4::text[]) AS n (kind, key, text)
ON CONFLICT (destination_id, kind, key) DO UPDATE SET seen_at = excluded.seen_at
WHERE notifications.seen_at < excluded.seen_at - interval '1 day';

-- name: PendingFigures
SELECT count(*), min(at) FILTER (WHERE kind <> 'chapters'), min(at) FROM notifications WHERE destination_id = $1 AND sent_at IS NULL;

-- name: Pending
SELECT id, kind, key, text FROM notifications WHERE destination_id = $1 AND sent_at IS NULL ORDER BY at, id LIMIT $2;

-- name: ClaimDestination
UPDATE notify_destinations SET next_at = $3 WHERE id = $1 AND next_at <= $2;

-- name: MarkTold
UPDATE notifications SET sent_at = $3 WHERE destination_id = $1 AND id = ANY ($2) AND sent_at IS NULL;

-- name: DestinationTold
UPDATE notify_destinations SET sent_at = $2, next_at = $3, failure = '', tries = 0 WHERE id = $1;

-- name: DestinationFailed
UPDATE notify_destinations SET failed_at = $3, failure = $2, next_at = $4, tries = tries + 1 WHERE id = $1;

-- name: ForgetNotifications
DELETE FROM notifications WHERE seen_at < $1 AND sent_at IS NOT NULL;
