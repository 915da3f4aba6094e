-- What the library page and Home show: one row a title.

-- name: Shelf
-- Titles with a book here, and follows that have none yet (title id 0).
SELECT t.id, t.site, t.series_id, t.title, t.site_name, f.user_id IS NOT NULL, t.added_at, s.books, s.unread, s.newest,
    coalesce(c.fingerprint, ''), coalesce(r.page, 0), coalesce(r.page_count, 0)
FROM titles t
JOIN LATERAL (
    SELECT count(*) AS books, count(*) FILTER (WHERE NOT coalesce(p.finished, false) AND b.unreadable = '') AS unread, max(b.published_at) AS newest
    FROM books b LEFT JOIN progress p ON p.book_id = b.id AND p.user_id = $1
    WHERE b.title_id = t.id AND b.removed_at IS NULL
) s ON s.books > 0
LEFT JOIN bookmarks f ON f.user_id = $1 AND f.site = t.site AND f.series_id = t.series_id
LEFT JOIN LATERAL (
    SELECT b.fingerprint FROM books b WHERE b.title_id = t.id AND b.removed_at IS NULL AND b.unreadable = ''
    ORDER BY b.number NULLS LAST, b.source_order DESC, b.id LIMIT 1
) c ON true
LEFT JOIN LATERAL (
    SELECT p.page, b.page_count FROM progress p JOIN books b ON b.id = p.book_id
    WHERE p.user_id = $1 AND b.title_id = t.id AND NOT p.finished
    ORDER BY p.changed_at DESC LIMIT 1
) r ON true
UNION ALL
SELECT 0, f.site, f.series_id, f.title, '', true, f.followed_at, 0, 0, f.followed_at, '', 0, 0
FROM bookmarks f
WHERE f.user_id = $1 AND NOT EXISTS (
    SELECT FROM titles t JOIN books b ON b.title_id = t.id
    WHERE t.site = f.site AND t.series_id = f.series_id AND b.removed_at IS NULL)
ORDER BY 4, 2, 3;

-- name: Matching
-- Series of which each word is in a name or an author. Marks above letters count on
-- neither side, so that "cafe" finds "Café"; the words come with theirs taken off.
SELECT site, series_id FROM (
    SELECT site, series_id, concat_ws(' ', title, native_title, array_to_string(authors, ' ')) AS named FROM titles
    UNION ALL
    SELECT site, series_id, title FROM bookmarks WHERE user_id = $1
) s
WHERE NOT EXISTS (
    SELECT FROM unnest($2::text[]) AS w (pattern)
    WHERE regexp_replace(normalize(s.named, NFKD), '[\u0300-\u036f]', '', 'g') NOT ILIKE w.pattern);
