-- Whole readings of files, and what is known of Series in a library without a database.

-- name: Unverified
-- What was published here was whole then.
SELECT path, site, series_id, chapter_id, fingerprint, kind
FROM library_files
WHERE state = 'published' AND unreadable = '' AND coalesce(verified_at, published_at) < $1
ORDER BY coalesce(verified_at, published_at), path
LIMIT $2;

-- name: KnownFile
SELECT path, site, series_id, chapter_id, fingerprint, kind FROM library_files WHERE path = $1 AND state = 'published' AND unreadable = '';

-- name: SetVerified
UPDATE library_files SET verified_at = $2 WHERE path = $1;

-- name: WantAgain
-- On an operator's word: the file that is there goes once the new one is published.
-- The fetches of before are no longer held against it.
WITH fetches AS (DELETE FROM chapter_fetches WHERE site = $1 AND series_id = $2 AND chapter_id = $3)
UPDATE library_files f SET again = true
FROM chapters c
WHERE f.site = $1 AND f.series_id = $2 AND f.chapter_id = $3 AND f.state <> 'removed'
  AND c.site = f.site AND c.series_id = f.series_id AND c.chapter_id = f.chapter_id AND c.gone_since IS NULL AND NOT c.external;

-- name: SeriesFolders
-- The folders that hold files of a Series, with one Series each.
SELECT DISTINCT ON (folder) folder, site, series_id
FROM library_files
WHERE state = 'published' AND site <> 'local' AND folder <> ''
ORDER BY folder, published_at;

-- name: RestoreSeries
-- What a Site has said since counts more; nobody's wish is made up (OWN-1).
INSERT INTO series (site, series_id, title, native_title, authors, description, url, status, tags, license, reading_direction, alt_titles, origin, folder)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'followed', $13)
ON CONFLICT (site, series_id) DO UPDATE
SET (title, native_title, authors, description, url, status, tags, license, reading_direction, alt_titles) =
        (excluded.title, excluded.native_title, excluded.authors, excluded.description, excluded.url, excluded.status, excluded.tags, excluded.license,
         excluded.reading_direction, excluded.alt_titles),
    folder = CASE WHEN series.folder = '' THEN excluded.folder ELSE series.folder END
WHERE series.last_good_read_at IS NULL
  AND (series.title, series.native_title, series.authors, series.description, series.url, series.status, series.tags, series.license, series.reading_direction,
       series.alt_titles)
      IS DISTINCT FROM (excluded.title, excluded.native_title, excluded.authors, excluded.description, excluded.url, excluded.status, excluded.tags,
                        excluded.license, excluded.reading_direction, excluded.alt_titles);

-- name: RestoreFolder
UPDATE series SET folder = $3 WHERE site = $1 AND series_id = $2 AND folder = '';

-- name: RetellFiles
-- The reader takes each file of the Series once more, with what is known of it now.
WITH those AS (
    SELECT path, row_number() OVER (ORDER BY path) AS n FROM library_files WHERE site = $1 AND series_id = $2 AND state = 'published'
), next AS (
    UPDATE library SET revision = revision + (SELECT count(*) FROM those) WHERE EXISTS (SELECT FROM those)
    RETURNING revision - (SELECT count(*) FROM those) AS base
)
UPDATE library_files f SET revision = next.base + those.n FROM those, next WHERE f.path = those.path;

-- name: FileNames
SELECT substring(path from '[^/]+$'), chapter_id FROM library_files
WHERE site = $1 AND series_id = $2 AND folder = $3 AND state = 'published'
ORDER BY path;

-- name: RekeyFiles
-- Files of a Series that has moved tell of the names of before.
UPDATE library_files f SET site = $1, series_id = $2, chapter_id = n.chapter_id
FROM unnest($3::text[], $4::text[]) AS n (path, chapter_id)
WHERE f.path = n.path AND (f.site, f.series_id) <> ($1, $2)
  AND NOT EXISTS (SELECT FROM library_files o WHERE o.site = $1 AND o.series_id = $2 AND o.chapter_id = n.chapter_id AND o.state <> 'removed');
