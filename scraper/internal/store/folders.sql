-- Files of other programs that become chapters of a Series where they lie (F11).

-- name: SeriesBusy
SELECT EXISTS (SELECT FROM jobs WHERE site = $1 AND series_id = $2
               AND state IN ('requested', 'inspecting', 'ready', 'queued', 'downloading', 'paused', 'retry_wait'));

-- name: FolderFiles
-- Each with the chapter of the Series that has its number: one that the Site still
-- lists, in a language that is wanted, and that no other file holds.
SELECT f.path, f.chapter_id, coalesce((
    SELECT c.chapter_id FROM chapters c LEFT JOIN series s USING (site, series_id)
    WHERE c.site = $2 AND c.series_id = $3 AND c.number = f.number
      AND NOT EXISTS (SELECT FROM library_files o WHERE o.site = c.site AND o.series_id = c.series_id AND o.chapter_id = c.chapter_id AND o.state <> 'removed')
    ORDER BY c.gone_since IS NOT NULL, f.language <> '' AND c.language <> f.language, NOT coalesce(c.language = ANY (s.languages), false), c.source_order
    LIMIT 1), '')
FROM library_files f
WHERE f.site = 'local' AND f.series_id = $1 AND f.state <> 'removed'
ORDER BY f.path FOR UPDATE OF f;

-- name: AdoptFile
UPDATE library_files SET site = $2, series_id = $3, chapter_id = $4, revision = $5 WHERE path = $1;

-- name: NoteAdopted
INSERT INTO adopted_files (path, folder, chapter_id, adopted_at) VALUES ($1, $2, $3, $4);

-- name: AdoptedFiles
DELETE FROM adopted_files WHERE folder = $1 RETURNING path, chapter_id;

-- name: Adopted
SELECT a.path, a.folder, a.chapter_id, f.site, f.series_id, f.chapter_id
FROM adopted_files a JOIN library_files f USING (path)
WHERE f.state <> 'removed' AND f.site <> 'local'
ORDER BY a.path;

-- name: MayAdoptAgain
SELECT EXISTS (SELECT FROM library_files WHERE path = $1 AND site = 'local' AND series_id = $2 AND chapter_id = $3 AND state <> 'removed')
    AND NOT EXISTS (SELECT FROM library_files WHERE site = $4 AND series_id = $5 AND chapter_id = $6 AND state <> 'removed');
