-- Titles, books and pages, and the cursor they stand at.

-- name: Cursor
SELECT epoch, revision FROM library_cursor;

-- name: MoveCursor
UPDATE library_cursor SET epoch = $1, revision = $2 WHERE epoch = $3 AND revision = $4;

-- name: Indexed
SELECT EXISTS (
    SELECT FROM titles t JOIN books b ON b.title_id = t.id
    WHERE t.site = $1 AND t.series_id = $2 AND b.chapter_id = $3 AND b.fingerprint = $4 AND b.path = $5 AND b.unreadable = ''
      AND (SELECT count(*) FROM pages p WHERE p.book_id = b.id) = b.page_count);

-- name: SaveTitle
-- An upsert would take a number from the sequence for each chapter of a title.
-- The cursor's row lock, held here, lets one reader write at a time.
WITH old AS (
    UPDATE titles
    SET title = $3, native_title = $4, authors = $5, description = $6, url = $7, status = $8, tags = $9, license = $10, site_name = $11,
        reading_direction = $12, alt_titles = $13
    WHERE site = $1 AND series_id = $2
    RETURNING id
), new AS (
    INSERT INTO titles (site, series_id, title, native_title, authors, description, url, status, tags, license, site_name, reading_direction,
        alt_titles)
    SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 WHERE NOT EXISTS (SELECT FROM old)
    RETURNING id
)
SELECT id FROM old UNION ALL SELECT id FROM new;

-- name: RekeyTitle
-- One Series under a new name: the title, its books and what was read of them stay.
UPDATE titles t SET site = $3, series_id = $4
WHERE t.site = $1 AND t.series_id = $2 AND NOT EXISTS (SELECT FROM titles o WHERE o.site = $3 AND o.series_id = $4);

-- name: RekeyTitleOfFile
-- The same, told by a file that is known under the old name.
UPDATE titles t SET site = $2, series_id = $3
FROM books b
WHERE b.path = $1 AND b.title_id = t.id AND (t.site, t.series_id) <> ($2, $3) AND 'local' NOT IN (t.site, $2)
  AND NOT EXISTS (SELECT FROM titles o WHERE o.site = $2 AND o.series_id = $3);

-- name: MoveBookOfFile
-- A file of another program that became a chapter of a Series, or the other way
-- about: this book alone goes there, with what was read of it.
UPDATE books b SET title_id = $1, chapter_id = $3
FROM titles f, titles t
WHERE b.path = $2 AND b.fingerprint = $4 AND b.removed_at IS NULL AND f.id = b.title_id AND t.id = $1 AND f.id <> t.id AND 'local' IN (f.site, t.site)
  AND NOT EXISTS (SELECT FROM books o WHERE o.title_id = $1 AND o.chapter_id = $3);

-- name: RepointBook
-- One file under a new chapter id: the book and what was read of it stay.
UPDATE books b SET chapter_id = $3
WHERE b.title_id = $1 AND b.path = $2 AND b.chapter_id <> $3
  AND NOT EXISTS (SELECT FROM books o WHERE o.title_id = $1 AND o.chapter_id = $3);

-- name: SaveBook
INSERT INTO books (title_id, chapter_id, path, number, volume, name, language, groups, source_order, page_count, size, fingerprint, published_at, epoch,
                   missing_pages, kind, unreadable)
VALUES ($1, $2, $3, nullif($4::text, '')::numeric, nullif($5::text, '')::numeric, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)
ON CONFLICT (title_id, chapter_id) DO UPDATE
SET path = excluded.path, number = excluded.number, volume = excluded.volume, name = excluded.name, language = excluded.language,
    groups = excluded.groups, source_order = excluded.source_order,
    page_count = CASE WHEN excluded.unreadable = '' THEN excluded.page_count ELSE books.page_count END, size = excluded.size,
    fingerprint = excluded.fingerprint, published_at = excluded.published_at, epoch = excluded.epoch, removed_at = NULL,
    missing_pages = excluded.missing_pages, kind = excluded.kind, unreadable = excluded.unreadable
RETURNING id;

-- name: KeepPlaces
-- Another file may have fewer pages: a place behind its end is its last page.
UPDATE progress p SET page = b.page_count - 1 FROM books b WHERE b.id = $1 AND p.book_id = b.id AND p.page >= b.page_count;

-- name: ReplaceBook
-- Another file takes the place of this one: the book, and what was read of it, go
-- with it. The change that names the new file follows.
UPDATE books b SET path = $4
FROM titles t
WHERE b.title_id = t.id AND t.site = $1 AND t.series_id = $2 AND b.path = $3
  AND NOT EXISTS (SELECT FROM books o WHERE o.path = $4);

-- name: RemoveBook
-- Progress stays; a book that comes back keeps its id. A tombstone of an old
-- path does not remove a chapter that has moved.
UPDATE books b SET removed_at = coalesce(b.removed_at, now()), epoch = $4
FROM titles t
WHERE b.title_id = t.id AND t.site = $1 AND t.series_id = $2 AND b.chapter_id = $3 AND ($5::text = '' OR b.path = $5);

-- name: RemoveOtherEpochs
UPDATE books SET removed_at = now() WHERE removed_at IS NULL AND epoch <> $1;

-- name: DeletePages
DELETE FROM pages WHERE book_id = $1;

-- name: SavePages
INSERT INTO pages (book_id, position, name, byte_offset, size, stored, media_type, width, height)
SELECT $1, p.position, p.name, p.byte_offset, p.size, p.stored, p.media_type, p.width, p.height
FROM unnest($2::integer[], $3::text[], $4::bigint[], $5::bigint[], $6::boolean[], $7::text[], $8::integer[], $9::integer[])
    AS p (position, name, byte_offset, size, stored, media_type, width, height);

-- name: SetPageCount
UPDATE books SET page_count = $2, unreadable = '' WHERE id = $1;

-- name: Refused
-- Books that cannot be read, by title and in reading order.
SELECT b.id, b.title_id, b.chapter_id, b.path, coalesce(trim_scale(b.number)::text, ''), coalesce(trim_scale(b.volume)::text, ''), b.name, b.language,
    b.groups, b.source_order, b.page_count, b.size, b.fingerprint, b.published_at, b.removed_at, b.missing_pages, b.unreadable, t.title
FROM books b JOIN titles t ON t.id = b.title_id
WHERE b.unreadable <> '' AND b.removed_at IS NULL
ORDER BY t.title, t.id, b.number NULLS LAST, b.source_order DESC, b.id
LIMIT $1;

-- name: CountRefused
SELECT count(*) FROM books WHERE unreadable <> '' AND removed_at IS NULL;

-- name: Title
SELECT id, site, series_id, title, native_title, authors, description, url, status, tags, license, site_name, reading_direction, added_at
FROM titles WHERE id = $1;

-- name: TitleByKey
SELECT id, site, series_id, title, native_title, authors, description, url, status, tags, license, site_name, reading_direction, added_at
FROM titles WHERE site = $1 AND series_id = $2;

-- name: Book
SELECT id, title_id, chapter_id, path, coalesce(trim_scale(number)::text, ''), coalesce(trim_scale(volume)::text, ''), name, language,
    groups, source_order, page_count, size, fingerprint, published_at, removed_at, missing_pages, unreadable
FROM books WHERE id = $1;

-- name: Pages
SELECT position, name, byte_offset, size, stored, media_type, width, height FROM pages WHERE book_id = $1 ORDER BY position;

-- name: Page
SELECT b.path, b.fingerprint, b.removed_at IS NULL AND b.unreadable = '', p.position, p.name, p.byte_offset, p.size, p.stored, p.media_type, p.width, p.height
FROM pages p JOIN books b ON b.id = p.book_id
WHERE p.book_id = $1 AND p.position = $2;

-- name: CoverBook
-- The book whose first page is the cover: the first in reading order.
SELECT b.id, b.fingerprint FROM books b JOIN pages p ON p.book_id = b.id AND p.position = 0
WHERE b.title_id = $1 AND b.removed_at IS NULL AND b.unreadable = ''
ORDER BY b.number NULLS LAST, b.source_order DESC, b.id
LIMIT 1;
