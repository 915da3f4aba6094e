-- How each person wants each title shown.

-- name: ReadingSettings
-- A title's own before those for every title.
SELECT mode, direction, fit, background, gap, cover, changed_at, title_id IS NULL
FROM reading_settings
WHERE user_id = $1 AND (title_id = $2 OR title_id IS NULL)
ORDER BY title_id NULLS LAST
LIMIT 1;

-- name: SaveReadingSettings
INSERT INTO reading_settings (user_id, title_id, mode, direction, fit, background, gap, cover)
SELECT $1, t.id, $3, $4, $5, $6, $7, $8 FROM titles t WHERE t.id = $2
ON CONFLICT (user_id, title_id) WHERE title_id IS NOT NULL DO UPDATE
SET mode = excluded.mode, direction = excluded.direction, fit = excluded.fit, background = excluded.background, gap = excluded.gap,
    cover = excluded.cover, changed_at = now()
RETURNING changed_at;

-- name: SaveReadingSettingsForEvery
INSERT INTO reading_settings (user_id, mode, direction, fit, background, gap, cover)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (user_id) WHERE title_id IS NULL DO UPDATE
SET mode = excluded.mode, direction = excluded.direction, fit = excluded.fit, background = excluded.background, gap = excluded.gap,
    cover = excluded.cover, changed_at = now()
RETURNING changed_at;
