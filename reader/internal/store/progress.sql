-- How far each person has read.

-- name: SaveMark
-- The rules of progress, in one statement: the furthest page, unless somebody who
-- knows the place as it stands asks for another, and the last page finishes. A mark
-- of a page that the book does not have is no row. The time only grows: it is the
-- version that a later mark has to know.
INSERT INTO progress AS p (user_id, book_id, page, finished, device, changed_at)
SELECT $1, b.id, $3, $3 >= b.page_count - 1, $5, now() FROM books b WHERE b.id = $2 AND $3 < b.page_count
ON CONFLICT (user_id, book_id) DO UPDATE
SET (page, device, changed_at) = (
        SELECT CASE WHEN taken THEN excluded.page ELSE p.page END, CASE WHEN taken THEN excluded.device ELSE p.device END,
            CASE WHEN taken THEN greatest(excluded.changed_at, p.changed_at + interval '1 microsecond') ELSE p.changed_at END
        FROM (SELECT excluded.page > p.page OR $4::boolean AND p.changed_at = $6 AS taken) t),
    finished = p.finished OR excluded.finished
RETURNING page, finished, device, changed_at;

-- name: SetRead
INSERT INTO progress AS p (user_id, book_id, page, finished)
SELECT $1, b.id, b.page_count - 1, true FROM books b WHERE b.title_id = $2 AND b.id = ANY ($3)
ON CONFLICT (user_id, book_id) DO UPDATE
SET page = excluded.page, finished = true, changed_at = greatest(now(), p.changed_at + interval '1 microsecond') WHERE NOT p.finished;

-- name: SetUnread
DELETE FROM progress p USING books b
WHERE p.user_id = $1 AND b.id = p.book_id AND b.title_id = $2 AND b.id = ANY ($3);

-- name: Shelved
SELECT b.id, b.title_id, b.chapter_id, b.path, coalesce(trim_scale(b.number)::text, ''), coalesce(trim_scale(b.volume)::text, ''), b.name,
    b.language, b.groups, b.source_order, b.page_count, b.size, b.fingerprint, b.published_at, b.removed_at, b.missing_pages, b.unreadable,
    p.user_id IS NOT NULL, coalesce(p.page, 0), coalesce(p.finished, false), coalesce(p.device, ''), coalesce(p.changed_at, 'epoch')
FROM books b LEFT JOIN progress p ON p.book_id = b.id AND p.user_id = $2
WHERE b.title_id = $1;

-- name: RecentTitles
-- Titles read last, newest first.
SELECT b.title_id FROM progress p JOIN books b ON b.id = p.book_id
WHERE p.user_id = $1
GROUP BY b.title_id
ORDER BY max(p.changed_at) DESC
LIMIT $2;
