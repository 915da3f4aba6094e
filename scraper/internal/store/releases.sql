-- Whose releases of a Series are wanted (C21).

-- name: PreferredGroups
SELECT groups FROM preferred_groups WHERE site = $1 AND series_id = $2;

-- name: PreferGroups
INSERT INTO preferred_groups (site, series_id, groups)
SELECT s.site, s.series_id, $3 FROM series s WHERE s.site = $1 AND s.series_id = $2
ON CONFLICT (site, series_id) DO UPDATE SET groups = excluded.groups;

-- name: PreferNone
DELETE FROM preferred_groups WHERE site = $1 AND series_id = $2;
