-- What the library holds, as a change log by revision (OWN-4).

-- name: LibraryHead
SELECT epoch, revision FROM library;

-- name: LibraryID
SELECT library_id FROM library;

-- name: SetLibraryID
UPDATE library SET library_id = $1 WHERE library_id = '';

-- name: NextRevision
-- The counter row is locked until the transaction ends, so that revisions become
-- visible in their order.
UPDATE library SET revision = revision + 1 RETURNING revision;

-- name: Commit
-- A publication in one statement: the next revision, whose counter row stays
-- locked until it is visible, the file, the Job's chapter, and the retry that the
-- chapter gives back (JOB-4). Repeated for a file that is committed already it
-- changes the Job alone.
WITH there AS (
    SELECT FROM library_files WHERE path = $1 AND fingerprint = $14 AND state = 'published' AND unreadable = ''
), next AS (
    UPDATE library SET revision = revision + 1 WHERE NOT EXISTS (SELECT FROM there) RETURNING revision
), put AS (
    INSERT INTO library_files (path, revision, state, site, series_id, chapter_id, series_title, number, volume, title, language, groups,
                               source_order, pages, size, fingerprint, published_at, missing_pages)
    SELECT $1, next.revision, 'published', $2, $3, $4, $5, nullif($6, '')::numeric, nullif($7, '')::numeric, $8, $9, $10, $11, $12, $13, $14, $15, $17 FROM next
    ON CONFLICT (path) DO UPDATE
    SET revision = excluded.revision, state = 'published', series_title = excluded.series_title, number = excluded.number,
        volume = excluded.volume, title = excluded.title, language = excluded.language, groups = excluded.groups,
        source_order = excluded.source_order, pages = excluded.pages, size = excluded.size, fingerprint = excluded.fingerprint,
        published_at = excluded.published_at, missing_pages = excluded.missing_pages, again = false, replaced_by = '', file_gone = false,
        verified_at = NULL, kind = excluded.kind, unreadable = ''
), back AS (
    UPDATE jobs SET retries = 0 WHERE id = $16 AND retries > 0
)
UPDATE job_chapters SET state = 'published', class = '', reason = '', set_aside_at = NULL, accept_missing = false, replaces = '', pages = $12
WHERE job_id = $16 AND chapter_id = $4;

-- name: ReplaceFile
-- The file's place is taken by another one: a tombstone that says which (OWN-4).
WITH next AS (UPDATE library SET revision = revision + 1 RETURNING revision)
UPDATE library_files f SET state = 'removed', revision = next.revision, replaced_by = $2 FROM next
WHERE f.path = $1 AND f.state <> 'removed';

-- name: FileGone
UPDATE library_files SET file_gone = true WHERE path = $1 AND replaced_by <> '';

-- name: ReplacedFiles
SELECT path FROM library_files WHERE replaced_by <> '' AND NOT file_gone ORDER BY path LIMIT 1000;

-- name: InLibrary
SELECT f.chapter_id, coalesce(trim_scale(f.number)::text, ''), coalesce(trim_scale(f.volume)::text, ''), f.language, f.groups, c.published_at, f.path
FROM library_files f
LEFT JOIN chapters c USING (site, series_id, chapter_id)
WHERE f.site = $1 AND f.series_id = $2 AND (f.state = 'published' OR (f.again AND f.state = 'missing'));

-- name: CommittedFingerprints
SELECT fingerprint FROM library_files WHERE state = 'published' AND fingerprint = ANY ($1);

-- name: FilesOfSeries
SELECT chapter_id, state FROM library_files WHERE site = $1 AND series_id = $2 AND state <> 'removed';

-- name: ChangesAfter
SELECT f.path, f.revision, f.state, f.site, f.series_id, f.chapter_id, f.series_title, coalesce(trim_scale(f.number)::text, ''),
       coalesce(trim_scale(f.volume)::text, ''), f.title, f.language, f.groups, f.source_order, f.pages, f.size, f.fingerprint, f.published_at,
       f.missing_pages, f.replaced_by, f.kind, f.unreadable
FROM library_files f
WHERE f.revision > $1
ORDER BY f.revision
LIMIT $2;

-- name: FileOfChapter
SELECT path FROM library_files WHERE site = $1 AND series_id = $2 AND chapter_id = $3 AND state <> 'removed';

-- name: RepointFile
UPDATE library_files SET chapter_id = $2, revision = $3 WHERE path = $1;
