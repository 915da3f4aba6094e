-- The follows and the counter that every change of them takes its revision from.

-- name: NextFollowRevision
UPDATE follow_revision SET revision = revision + 1 RETURNING revision;

-- name: FollowRevision
SELECT revision FROM follow_revision;

-- name: SaveBookmark
-- Writes nothing when nothing changes, so that a second press takes no revision.
INSERT INTO bookmarks (user_id, site, series_id, title, download, languages, url) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (user_id, site, series_id) DO UPDATE
SET title = excluded.title, download = excluded.download, languages = excluded.languages,
    url = CASE WHEN excluded.url = '' THEN bookmarks.url ELSE excluded.url END
WHERE (bookmarks.title, bookmarks.download, bookmarks.languages) IS DISTINCT FROM (excluded.title, excluded.download, excluded.languages);

-- name: DeleteBookmark
DELETE FROM bookmarks WHERE user_id = $1 AND site = $2 AND series_id = $3;

-- name: WantedSeries
-- What all users together want of one Series: downloads if anyone asked for them.
SELECT bool_or(b.download), coalesce(array_agg(DISTINCT l.language) FILTER (WHERE l.language IS NOT NULL), '{}'), max(b.url), max(b.title)
FROM bookmarks b LEFT JOIN LATERAL unnest(b.languages) AS l (language) ON true
WHERE b.site = $1 AND b.series_id = $2
HAVING count(*) > 0;

-- name: WantedAll
SELECT b.site, b.series_id, bool_or(b.download), coalesce(array_agg(DISTINCT l.language) FILTER (WHERE l.language IS NOT NULL), '{}'), max(b.url), max(b.title)
FROM bookmarks b LEFT JOIN LATERAL unnest(b.languages) AS l (language) ON true
GROUP BY b.site, b.series_id
ORDER BY b.site, b.series_id;

-- name: Bookmark
SELECT title, download, languages, url FROM bookmarks WHERE user_id = $1 AND site = $2 AND series_id = $3;

-- name: DropRekeyed
-- Who follows both names keeps the wish for the new one.
DELETE FROM bookmarks b
WHERE b.site = $1 AND b.series_id = $2
  AND EXISTS (SELECT FROM bookmarks o WHERE o.user_id = b.user_id AND o.site = $3 AND o.series_id = $4);

-- name: RekeyBookmarks
UPDATE bookmarks SET site = $3, series_id = $4, url = '' WHERE site = $1 AND series_id = $2;

-- name: RaiseFollowRevision
UPDATE follow_revision SET revision = $1 WHERE revision < $1;
