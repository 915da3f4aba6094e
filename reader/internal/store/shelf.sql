-- What the library page, Home and the search show: one row a title. The views
-- shelf and seen_titles say what a person has and may see.

-- name: Shelf
-- All of it.
SELECT s.title_id, s.site, s.series_id, s.title, s.site_name, s.following, s.added_at, s.book_count, s.unread, coalesce(s.newest_at, s.added_at),
    coalesce(c.fingerprint, ''), coalesce(r.page, 0), coalesce(b.page_count, 0), coalesce(s.read_at, 'epoch'), s.finished, s.gone_count, s.unreadable_count, 0::bigint, s.shelf_order
FROM shelf s
LEFT JOIN books c ON c.id = s.cover_book
LEFT JOIN books b ON b.id = s.current_book
LEFT JOIN progress r ON r.user_id = s.user_id AND r.book_id = s.current_book
WHERE s.user_id = $1
ORDER BY s.shelf_order, s.site, s.series_id;

-- name: ShelfBlock
-- A piece of it: filtered, in the order that is asked for, after one place and up to
-- another. Every order is one number, ascending, and the title's order between equals.
-- The cover and the chapter being read are looked up for the piece alone.
SELECT s.title_id, s.site, s.series_id, s.title, s.site_name, s.following, s.added_at, s.book_count, s.unread, coalesce(s.newest_at, s.added_at),
    coalesce(c.fingerprint, ''), coalesce(r.page, 0), coalesce(b.page_count, 0), coalesce(s.read_at, 'epoch'), s.finished, s.gone_count, s.unreadable_count, s.rank, s.shelf_order
FROM (
    SELECT s.* FROM (
        SELECT s.*, CASE $2::text
            WHEN 'read' THEN coalesce(-(extract(epoch FROM s.read_at) * 1000000)::bigint, 0)
            WHEN 'added' THEN -(extract(epoch FROM s.added_at) * 1000000)::bigint
            WHEN 'latest' THEN coalesce(-(extract(epoch FROM s.newest_at) * 1000000)::bigint, 0)
            WHEN 'unread' THEN -s.unread::bigint
            WHEN 'collection' THEN (SELECT k.position FROM collection_series k WHERE k.collection_id = $3 AND k.site = s.site AND k.series_id = s.series_id)::bigint
            ELSE 0::bigint END AS rank
        FROM shelf s
        WHERE s.user_id = $1
            AND ($3::bigint = 0 OR (s.site, s.series_id) IN (SELECT k.site, k.series_id FROM collection_series k WHERE k.collection_id = $3))
            AND CASE $4::text
                WHEN 'unread' THEN s.book_count > 0 AND s.begun = 0
                WHEN 'reading' THEN s.begun > 0 AND s.unread > 0
                WHEN 'read' THEN s.finished > 0 AND s.unread = 0
                WHEN 'gone' THEN s.gone_count + s.lacking_count > 0
                WHEN 'failing' THEN (s.site, s.series_id) IN (SELECT * FROM unnest($10::text[], $11::text[]))
                ELSE true END
            AND (NOT $5::boolean OR s.following)
            AND ($6::text = '' OR s.site = $6) AND ($7::text = '' OR s.status = $7)
            AND ($8::text = '' OR s.languages @> ARRAY[$8]) AND ($9::text = '' OR s.tags @> ARRAY[$9])
            AND ($12::text = '' OR s.shelf_words LIKE ALL ((SELECT reader.shelf_patterns($12))::text[]))
    ) s
    WHERE (NOT $13::boolean OR (s.rank, s.shelf_order, s.site, s.series_id) > ($14, $15::text COLLATE "C", $16, $17))
        AND (NOT $18::boolean OR (s.rank, s.shelf_order, s.site, s.series_id) <= ($19, $20::text COLLATE "C", $21, $22))
    ORDER BY s.rank, s.shelf_order, s.site, s.series_id
    LIMIT $23
) s
LEFT JOIN books c ON c.id = s.cover_book
LEFT JOIN books b ON b.id = s.current_book
LEFT JOIN progress r ON r.user_id = s.user_id AND r.book_id = s.current_book
ORDER BY s.rank, s.shelf_order, s.site, s.series_id;

-- name: ShelfLetters
-- Which of some places of the order a whole library has titles at or behind, and before
-- the next. It steps through the index of titles, from one place that has titles to the
-- next, and looks through what is followed and not here yet.
WITH RECURSIVE here (letter) AS (
    SELECT 0
    UNION ALL
    SELECT width_bucket((
        SELECT t.shelf_order FROM titles t
        WHERE t.book_count > 0 AND t.shelf_order >= ($2::text[])[h.letter + 1] COLLATE "C"
            AND EXISTS (SELECT FROM seen_titles v WHERE v.user_id = $1 AND v.title_id = t.id)
        ORDER BY t.shelf_order, t.site, t.series_id LIMIT 1
    ), $2::text[])
    FROM here h WHERE h.letter < cardinality($2::text[])
)
SELECT letter FROM here WHERE letter > 0
UNION
SELECT width_bucket(f.shelf_order, $2::text[]) FROM bookmarks f
WHERE f.user_id = $1 AND NOT EXISTS (SELECT FROM titles t WHERE t.site = f.site AND t.series_id = f.series_id AND t.book_count > 0)
ORDER BY letter;

-- name: ShelfLettersOf
-- The same of what filters keep, which have to be asked of each title.
SELECT DISTINCT width_bucket(s.shelf_order, $2::text[]) AS letter
FROM shelf s
WHERE s.user_id = $1
    AND CASE $3::text
        WHEN 'unread' THEN s.book_count > 0 AND s.begun = 0
        WHEN 'reading' THEN s.begun > 0 AND s.unread > 0
        WHEN 'read' THEN s.finished > 0 AND s.unread = 0
        WHEN 'gone' THEN s.gone_count + s.lacking_count > 0
        WHEN 'failing' THEN (s.site, s.series_id) IN (SELECT * FROM unnest($9::text[], $10::text[]))
        ELSE true END
    AND (NOT $4::boolean OR s.following)
    AND ($5::text = '' OR s.site = $5) AND ($6::text = '' OR s.status = $6)
    AND ($7::text = '' OR s.languages @> ARRAY[$7]) AND ($8::text = '' OR s.tags @> ARRAY[$8])
    AND ($11::text = '' OR s.shelf_words LIKE ALL ((SELECT reader.shelf_patterns($11))::text[]))
ORDER BY letter;

-- name: ShelfCounts
SELECT count(*), coalesce(sum(unread), 0), count(*) FILTER (WHERE book_count > 0 AND begun = 0), count(*) FILTER (WHERE begun > 0 AND unread > 0),
    count(*) FILTER (WHERE finished > 0 AND unread = 0), count(*) FILTER (WHERE gone_count + lacking_count > 0), count(*) FILTER (WHERE following)
FROM shelf WHERE user_id = $1;

-- name: ShelfChoices
-- What there is to filter by: Sites, states, languages, and the tags that most titles have.
WITH here AS MATERIALIZED (SELECT site, site_name, status, languages, tags FROM shelf WHERE user_id = $1)
SELECT 'site', site, max(site_name), count(*) FROM here GROUP BY site
UNION ALL
SELECT 'status', status, '', count(*) FROM here WHERE status <> '' GROUP BY status
UNION ALL
SELECT 'language', l.language, '', count(*) FROM here, unnest(languages) AS l (language) GROUP BY l.language
UNION ALL
(SELECT 'tag', t.tag, '', count(*) FROM here, unnest(tags) AS t (tag) WHERE t.tag <> '' GROUP BY t.tag ORDER BY count(*) DESC, t.tag LIMIT 60);

-- name: Seen
-- Whether a person may see a title, and a book's.
SELECT EXISTS (SELECT FROM seen_titles WHERE user_id = $1 AND title_id = $2);

-- name: SeenBook
SELECT EXISTS (SELECT FROM books b JOIN seen_titles v ON v.title_id = b.title_id WHERE v.user_id = $1 AND b.id = $2);

-- name: SeenSeries
-- A Series without a title is none of a guest's who is kept to collections, unless
-- it stands in one of them.
SELECT EXISTS (
    SELECT FROM users u WHERE u.id = $1 AND (u.role <> 'guest' OR u.sees = 'everything' OR EXISTS (
        SELECT FROM guest_collections g JOIN collection_series c ON c.collection_id = g.collection_id
        WHERE g.user_id = u.id AND c.site = $2 AND c.series_id = $3)));

-- name: Find
-- What holds every word, and what is like it: more than is shown, for the judging of
-- letters is not the database's (catalog.Rank).
SELECT s.title_id, s.site, s.series_id, s.title, s.site_name, s.following, s.added_at, s.book_count, s.unread, coalesce(s.newest_at, s.added_at),
    coalesce(c.fingerprint, ''), coalesce(r.page, 0), coalesce(b.page_count, 0), coalesce(s.read_at, 'epoch'), s.finished, s.gone_count, s.unreadable_count, 0::bigint, s.shelf_order,
    s.shelf_words, reader.folded(s.title), reader.folded(concat_ws(E'\n', t.native_title, array_to_string(t.alt_titles, E'\n'))), s.holds, reader.folded($2)
FROM (
    (SELECT s.*, true AS holds FROM shelf s
     WHERE s.user_id = $1 AND s.shelf_words LIKE ALL ((SELECT reader.shelf_patterns($2))::text[])
     ORDER BY length(s.shelf_words), s.shelf_order, s.site, s.series_id LIMIT $3)
    UNION ALL
    (SELECT s.*, false FROM shelf s
     WHERE s.user_id = $1 AND (SELECT length(reader.folded($2))) > 3 AND (SELECT reader.folded($2)) <% s.shelf_words AND NOT s.shelf_words LIKE ALL ((SELECT reader.shelf_patterns($2))::text[])
     ORDER BY word_similarity((SELECT reader.folded($2)), s.shelf_words) DESC, s.shelf_order, s.site, s.series_id LIMIT $3)
) s
LEFT JOIN titles t ON t.id = s.title_id
LEFT JOIN books c ON c.id = s.cover_book
LEFT JOIN books b ON b.id = s.current_book
LEFT JOIN progress r ON r.user_id = s.user_id AND r.book_id = s.current_book;

-- name: FindAlike
-- How alike counts as found, for one transaction. A wrong letter in five leaves
-- about two in five of the three-letter pieces.
SET LOCAL pg_trgm.word_similarity_threshold = 0.25;
