-- The table of the library's files as the Inventory finds the folder (INV-6). Each
-- change takes a revision of its own; the counter row is locked first (LockLibrary).

-- name: LockLibrary
SELECT revision FROM library FOR UPDATE;

-- name: FilesIn
SELECT path, size, mtime_ns, state, revision, site, series_id, chapter_id, fingerprint, unreadable
FROM library_files WHERE $1::text[] IS NULL OR folder = ANY ($1);

-- name: FilesLike
SELECT path, size, mtime_ns, state, revision, site, series_id, chapter_id, fingerprint, unreadable
FROM library_files
WHERE state <> 'removed'
  AND (fingerprint = ANY ($1) OR (site, series_id, chapter_id) IN (SELECT * FROM unnest($2::text[], $3::text[], $4::text[])));

-- name: LibraryCounts
SELECT count(*) FILTER (WHERE state = 'published'), count(*) FILTER (WHERE state = 'missing'), coalesce(sum(size) FILTER (WHERE state = 'published'), 0)::bigint
FROM library_files WHERE state <> 'removed';

-- name: MarkMissing
-- One that was published after the look began is not missing.
WITH those AS (
    SELECT path, row_number() OVER (ORDER BY path) AS n FROM library_files WHERE path = ANY ($1) AND state = 'published' AND revision <= $2
), next AS (
    UPDATE library SET revision = revision + (SELECT count(*) FROM those) WHERE EXISTS (SELECT FROM those)
    RETURNING revision - (SELECT count(*) FROM those) AS base
)
UPDATE library_files f SET state = 'missing', revision = next.base + those.n FROM those, next WHERE f.path = those.path;

-- name: MarkBack
WITH those AS (
    SELECT f.path, b.size, b.mtime_ns, row_number() OVER (ORDER BY f.path) AS n
    FROM library_files f JOIN unnest($1::text[], $2::bigint[], $3::bigint[]) AS b (path, size, mtime_ns) USING (path)
    WHERE f.state = 'missing'
), next AS (
    UPDATE library SET revision = revision + (SELECT count(*) FROM those) WHERE EXISTS (SELECT FROM those)
    RETURNING revision - (SELECT count(*) FROM those) AS base
)
UPDATE library_files f SET state = 'published', size = those.size, mtime_ns = those.mtime_ns, revision = next.base + those.n
FROM those, next WHERE f.path = those.path;

-- name: TouchFiles
UPDATE library_files f SET mtime_ns = b.mtime_ns
FROM unnest($1::text[], $2::bigint[], $3::bigint[]) AS b (path, size, mtime_ns)
WHERE f.path = b.path AND f.size = b.size;

-- name: RereadFiles
-- $1 are the old paths, $2 the new ones: the same, or what another program renamed
-- the files to.
WITH those AS (
    SELECT f.path, b.to_path, b.size, b.mtime_ns, b.pages, b.fingerprint, b.kind, b.unreadable, row_number() OVER (ORDER BY f.path) AS n
    FROM library_files f
    JOIN unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::int[], $6::text[], $7::text[], $8::text[])
         AS b (path, to_path, size, mtime_ns, pages, fingerprint, kind, unreadable) USING (path)
    WHERE f.state <> 'removed' AND (f.path = b.to_path OR NOT EXISTS (SELECT FROM library_files o WHERE o.path = b.to_path))
), next AS (
    UPDATE library SET revision = revision + (SELECT count(*) FROM those) WHERE EXISTS (SELECT FROM those)
    RETURNING revision - (SELECT count(*) FROM those) AS base
)
UPDATE library_files f
SET path = those.to_path, state = 'published', size = those.size, mtime_ns = those.mtime_ns, pages = those.pages, fingerprint = those.fingerprint,
    verified_at = CASE WHEN f.fingerprint = those.fingerprint AND f.size = those.size THEN f.verified_at END,
    kind = those.kind, unreadable = those.unreadable, revision = next.base + those.n
FROM those, next WHERE f.path = those.path;

-- name: AdoptFiles
-- What the Site says of a chapter counts more than what its file says. A file
-- whose chapter was published meanwhile is left as it is.
WITH those AS (
    SELECT b.*, row_number() OVER (ORDER BY b.path) AS n
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[],
                $12::text[], $13::int[], $14::text[], $15::text[], $16::text[], $17::text[])
         AS b (path, size, mtime_ns, site, series_id, chapter_id, series_title, number, volume, title, language, groups, pages, fingerprint, missing_pages,
               kind, unreadable)
    WHERE NOT EXISTS (SELECT FROM library_files o WHERE o.path = b.path)
      AND NOT EXISTS (SELECT FROM library_files o WHERE o.site = b.site AND o.series_id = b.series_id AND o.chapter_id = b.chapter_id AND o.state <> 'removed')
), next AS (
    UPDATE library SET revision = revision + (SELECT count(*) FROM those) WHERE EXISTS (SELECT FROM those)
    RETURNING revision - (SELECT count(*) FROM those) AS base
)
INSERT INTO library_files (path, revision, state, site, series_id, chapter_id, series_title, number, volume, title, language, groups,
                           source_order, pages, size, mtime_ns, fingerprint, published_at, missing_pages, kind, unreadable)
SELECT t.path, next.base + t.n, 'published', t.site, t.series_id, t.chapter_id, coalesce(s.title, t.series_title),
       coalesce(c.number, nullif(t.number, '')::numeric), coalesce(c.volume, nullif(t.volume, '')::numeric), coalesce(c.title, t.title),
       coalesce(c.language, t.language), coalesce(c.groups, CASE WHEN t.groups = '' THEN '{}' ELSE string_to_array(t.groups, E'\n') END),
       coalesce(c.source_order, 0), t.pages, t.size, t.mtime_ns, t.fingerprint, to_timestamp(t.mtime_ns / 1e9),
       CASE WHEN t.missing_pages = '' THEN '{}' ELSE string_to_array(t.missing_pages, ',')::int[] END, t.kind, t.unreadable
FROM those t
CROSS JOIN next
LEFT JOIN series s ON s.site = t.site AND s.series_id = t.series_id
LEFT JOIN chapters c ON c.site = t.site AND c.series_id = t.series_id AND c.chapter_id = t.chapter_id;
