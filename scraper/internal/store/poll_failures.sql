-- The failure row is the state (POLL-2, POLL-3).

-- name: RecordFailure
-- failing_since of an existing row is never touched, and nothing is written when
-- the word is unchanged.
INSERT INTO poll_failures (site, series_id, outcome, failing_since)
VALUES ($1, $2, $3, $4)
ON CONFLICT (site, series_id) DO UPDATE SET outcome = excluded.outcome
WHERE poll_failures.outcome <> excluded.outcome;

-- name: GetFailure
SELECT outcome, failing_since FROM poll_failures WHERE site = $1 AND series_id = $2;

-- name: CountFailures
SELECT count(*) FROM poll_failures;
