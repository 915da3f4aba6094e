-- What an operator changes while Mangrove runs.

-- name: GetSetting
SELECT value FROM settings WHERE key = $1;

-- name: SetSetting
INSERT INTO settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: DropSetting
DELETE FROM settings WHERE key = $1;
