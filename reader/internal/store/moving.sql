-- Moving in and out: plans, what adopting them wrote, and what people have.

-- name: KnownTitles
-- What a title can be matched with: the catalog, and what the person follows.
SELECT t.site, t.series_id, t.title, t.native_title, t.site_name FROM titles t
WHERE t.site <> 'local' OR EXISTS (SELECT FROM books b WHERE b.title_id = t.id AND b.removed_at IS NULL)
UNION ALL
SELECT b.site, b.series_id, b.title, '', '' FROM bookmarks b
WHERE b.user_id = $1 AND NOT EXISTS (SELECT FROM titles t WHERE t.site = b.site AND t.series_id = b.series_id)
ORDER BY 1, 2;

-- name: Folders
-- What other programs put into the library, with how many files and how many of them
-- the person has finished.
SELECT t.series_id, t.title, count(*), count(*) FILTER (WHERE p.finished)
FROM titles t JOIN books b ON b.title_id = t.id AND b.removed_at IS NULL LEFT JOIN progress p ON p.book_id = b.id AND p.user_id = $1
WHERE t.site = 'local'
GROUP BY t.id ORDER BY t.title, t.series_id;

-- name: SaveImport
INSERT INTO imports (user_id, kind, name) VALUES ($1, $2, $3) RETURNING id;

-- name: ForgetOldPlans
-- A plan that was not adopted is kept until five newer ones are.
DELETE FROM imports WHERE id IN (SELECT id FROM imports WHERE user_id = $1 AND state = 'planned' ORDER BY id DESC OFFSET 5);

-- name: ForgetPlan
DELETE FROM imports WHERE id = $2 AND user_id = $1 AND state = 'planned';

-- name: Imports
SELECT m.id, m.user_id, m.kind, m.name, m.state, m.created_at, m.adopted_at, m.undone_at
FROM imports m WHERE m.user_id = $1 AND ($2::bigint = 0 OR m.id = $2) ORDER BY m.id DESC;

-- name: ImportCounts
SELECT i.import_id, i.word, count(*), count(*) FILTER (WHERE i.state = 'left'), count(*) FILTER (WHERE i.state IN ('adopted', 'undone')),
    sum(i.chapters)::bigint, sum(i.read)::bigint
FROM import_items i JOIN imports m ON m.id = i.import_id
WHERE m.user_id = $1 AND ($2::bigint = 0 OR m.id = $2)
GROUP BY i.import_id, i.word;

-- name: ImportItems
SELECT position, title, source, address, word, reason, site, series_id, url, site_name, local_id, candidates, favourite, download, languages,
    categories, chapters, read, state, added_at
FROM import_items
WHERE import_id = $1 AND ($2::text = '' OR word = $2) AND position >= $3
ORDER BY position LIMIT $4;

-- name: ChooseCandidate
UPDATE import_items i SET site = $4, series_id = $5, site_name = $6, word = $7, url = '', languages = '{}', state = 'planned'
FROM imports m
WHERE m.id = i.import_id AND m.id = $2 AND m.user_id = $1 AND m.state = 'planned' AND i.position = $3 AND i.reason = 'titles';

-- name: LeaveItem
UPDATE import_items i SET state = $4
FROM imports m
WHERE m.id = i.import_id AND m.id = $2 AND m.user_id = $1 AND m.state = 'planned' AND i.position = $3 AND i.state IN ('planned', 'left');

-- name: AdoptImport
UPDATE imports SET state = 'adopted', adopted_at = now() WHERE id = $2 AND user_id = $1 AND state = 'planned';

-- name: AdoptItems
UPDATE import_items SET state = 'adopted' WHERE import_id = $1 AND state = 'planned' AND site <> '';

-- name: AdoptFollows
-- Who follows it already keeps the wish as it is. A date of the other program's is
-- kept, so that what came in is not all new today.
WITH made AS (
    INSERT INTO bookmarks (user_id, site, series_id, title, download, languages, url, followed_at)
    SELECT DISTINCT ON (i.site, i.series_id) m.user_id, i.site, i.series_id, i.title, i.download, i.languages, i.url, least(coalesce(i.added_at, now()), now())
    FROM import_items i JOIN imports m ON m.id = i.import_id
    WHERE i.import_id = $1 AND i.state = 'adopted' AND i.favourite AND i.site <> 'local'
    ORDER BY i.site, i.series_id, i.position
    ON CONFLICT DO NOTHING
    RETURNING site, series_id, followed_at
)
UPDATE import_items i SET followed_at = made.followed_at FROM made
WHERE i.import_id = $1 AND i.state = 'adopted' AND i.favourite AND i.site = made.site AND i.series_id = made.series_id
RETURNING i.site, i.series_id;

-- name: BooksOfImport
SELECT b.id FROM books b JOIN titles t ON t.id = b.title_id
WHERE EXISTS (SELECT FROM import_items i WHERE i.import_id = $1 AND i.state = 'adopted'
              AND (i.site = t.site AND i.series_id = t.series_id OR t.site = 'local' AND i.local_id = t.series_id));

-- name: HasImports
SELECT EXISTS (SELECT FROM imports WHERE state = 'adopted');

-- name: ApplyMarks
-- What was read elsewhere of these books, by everybody who moved in with it. Each
-- import looks at a book once: whoever marks it unread afterwards is left in peace.
-- The furthest wins, and nobody is moved back. What stood there is kept for undoing.
WITH wanted AS (
    SELECT i.import_id, m.user_id, b.id AS book_id, bool_or(k.finished OR k.through AND b.number < k.number) AS finished,
        max(CASE WHEN k.finished OR k.through AND b.number < k.number THEN b.page_count - 1 ELSE least(k.page, b.page_count - 1) END) AS page,
        max(k.read_at) AS read_at
    FROM books b
    JOIN titles t ON t.id = b.title_id
    JOIN LATERAL (
        SELECT import_id, position FROM import_items WHERE state = 'adopted' AND site = t.site AND series_id = t.series_id
        UNION
        SELECT import_id, position FROM import_items WHERE state = 'adopted' AND local_id <> '' AND local_id = t.series_id AND t.site = 'local'
    ) i ON true
    JOIN imports m ON m.id = i.import_id
    JOIN import_marks k ON k.import_id = i.import_id AND k.position = i.position
        AND (k.chapter_key = b.chapter_id OR k.number = b.number OR k.through AND b.number < k.number)
    WHERE b.id = ANY ($1) AND NOT EXISTS (SELECT FROM import_places p WHERE p.import_id = i.import_id AND p.book_id = b.id)
    GROUP BY i.import_id, m.user_id, b.id
), furthest AS (
    SELECT DISTINCT ON (user_id, book_id) * FROM wanted ORDER BY user_id, book_id, finished DESC, page DESC, import_id
), written AS (
    INSERT INTO progress AS p (user_id, book_id, page, finished, changed_at)
    SELECT user_id, book_id, page, finished, least(coalesce(read_at, now()), now()) FROM furthest
    ON CONFLICT (user_id, book_id) DO UPDATE
    SET page = greatest(p.page, excluded.page), finished = excluded.finished,
        changed_at = greatest(excluded.changed_at, p.changed_at + interval '1 microsecond')
    WHERE NOT p.finished AND (excluded.finished OR excluded.page > p.page)
    RETURNING user_id, book_id, changed_at
)
INSERT INTO import_places (import_id, book_id, written_at, page, finished, device, changed_at)
SELECT w.import_id, w.book_id, n.changed_at, o.page, o.finished, o.device, o.changed_at
FROM wanted w
LEFT JOIN furthest f ON f.import_id = w.import_id AND f.user_id = w.user_id AND f.book_id = w.book_id
LEFT JOIN written n ON n.user_id = f.user_id AND n.book_id = f.book_id
LEFT JOIN progress o ON o.user_id = w.user_id AND o.book_id = w.book_id;

-- name: NumberedMarks
-- Marks that name a chapter by another program's number, beside the books they may mean.
SELECT k.import_id, k.position, k.nth, k.chapter_key, i.source, b.title_id, b.chapter_id, b.number::text
FROM books b
JOIN titles t ON t.id = b.title_id
JOIN import_items i ON i.state = 'adopted' AND i.site = t.site AND i.series_id = t.series_id
JOIN import_marks k ON k.import_id = i.import_id AND k.position = i.position AND k.through AND k.number IS NULL
WHERE b.id = ANY ($1) AND b.number IS NOT NULL;

-- name: NumberMark
UPDATE import_marks SET chapter_key = $4, number = $5::text::numeric WHERE import_id = $1 AND position = $2 AND nth = $3;

-- name: BooksOfTitles
SELECT id FROM books WHERE title_id = ANY ($1);

-- name: UndoImport
UPDATE imports SET state = 'undone', undone_at = now() WHERE id = $2 AND user_id = $1 AND state = 'adopted' AND adopted_at > $3;

-- name: UndoFollows
-- A follow that was taken up anew since has another time, and stays.
DELETE FROM bookmarks b USING imports m
WHERE m.id = $1 AND b.user_id = m.user_id
  AND EXISTS (SELECT FROM import_items i WHERE i.import_id = m.id AND i.site = b.site AND i.series_id = b.series_id AND i.followed_at = b.followed_at)
RETURNING b.site, b.series_id;

-- name: WantedOf
SELECT b.site, b.series_id, bool_or(b.download), coalesce(array_agg(DISTINCT l.language) FILTER (WHERE l.language IS NOT NULL), '{}'), max(b.url), max(b.title)
FROM bookmarks b LEFT JOIN LATERAL unnest(b.languages) AS l (language) ON true
WHERE (b.site, b.series_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))
GROUP BY b.site, b.series_id
ORDER BY b.site, b.series_id;

-- name: UndoNewPlaces
DELETE FROM progress p USING imports m, import_places x
WHERE m.id = $1 AND x.import_id = m.id AND p.user_id = m.user_id AND p.book_id = x.book_id AND p.changed_at = x.written_at AND x.changed_at IS NULL;

-- name: UndoPlaces
UPDATE progress p SET page = x.page, finished = x.finished, device = x.device, changed_at = x.changed_at
FROM imports m, import_places x
WHERE m.id = $1 AND x.import_id = m.id AND p.user_id = m.user_id AND p.book_id = x.book_id AND p.changed_at = x.written_at AND x.changed_at IS NOT NULL;

-- name: Categories
-- The categories of adopted Series, each with its Series in the order of the file.
SELECT c.name, array_agg(i.site ORDER BY i.position), array_agg(i.series_id ORDER BY i.position)
FROM import_items i CROSS JOIN LATERAL (SELECT DISTINCT unnest(i.categories)) AS c (name)
WHERE i.import_id = $1 AND i.state = 'adopted'
GROUP BY c.name ORDER BY min(i.position), c.name;

-- name: HasCollection
SELECT EXISTS (SELECT FROM collections WHERE created_by = $1 AND name_key = reader.folded($2));

-- name: NoteCollected
-- Those that are not in it yet, before they are put there.
INSERT INTO import_collected (import_id, collection_id, site, series_id, made)
SELECT DISTINCT $1::bigint, $2::bigint, k.site, k.series_id, $5::boolean FROM unnest($3::text[], $4::text[]) AS k (site, series_id)
WHERE NOT EXISTS (SELECT FROM collection_series s WHERE s.collection_id = $2 AND s.site = k.site AND s.series_id = k.series_id)
ON CONFLICT DO NOTHING;

-- name: UndoCollected
DELETE FROM collection_series s USING import_collected c
WHERE c.import_id = $1 AND s.collection_id = c.collection_id AND s.site = c.site AND s.series_id = c.series_id;

-- name: UndoCollections
DELETE FROM collections o
WHERE NOT o.shared AND o.id IN (SELECT collection_id FROM import_collected WHERE import_id = $1 AND made)
  AND NOT EXISTS (SELECT FROM collection_series s WHERE s.collection_id = o.id);

-- name: DropCollected
DELETE FROM import_collected WHERE import_id = $1;

-- name: UndoItems
UPDATE import_items SET state = 'undone', followed_at = NULL WHERE import_id = $1 AND state = 'adopted';

-- name: DropMarks
DELETE FROM import_marks WHERE import_id = $1;

-- name: DropPlaces
DELETE FROM import_places WHERE import_id = $1;

-- name: RekeyImported
-- What waits for chapters of a Series waits for them under the name it has now.
WITH collected AS (
    UPDATE import_collected c SET site = $3, series_id = $4
    WHERE c.site = $1 AND c.series_id = $2 AND NOT EXISTS (
        SELECT FROM import_collected o WHERE o.import_id = c.import_id AND o.collection_id = c.collection_id AND o.site = $3 AND o.series_id = $4)
)
UPDATE import_items SET site = $3, series_id = $4 WHERE site = $1 AND series_id = $2;

-- name: ExportedFollows
SELECT u.id, u.name, b.site, b.series_id, b.title, b.url, b.download, b.languages, b.followed_at
FROM bookmarks b JOIN users u ON u.id = b.user_id
WHERE $1::bigint = 0 OR u.id = $1
ORDER BY u.name_key, b.title, b.site, b.series_id;

-- name: ExportedCollections
-- A person's own, each with its Series in their order.
SELECT u.id, u.name, k.site, k.series_id, coalesce(t.title, b.title, ''), coalesce(t.url, b.url, ''), c.name
FROM collections c JOIN users u ON u.id = c.created_by JOIN collection_series k ON k.collection_id = c.id
LEFT JOIN titles t ON t.site = k.site AND t.series_id = k.series_id
LEFT JOIN bookmarks b ON b.user_id = u.id AND b.site = k.site AND b.series_id = k.series_id
WHERE $1::bigint = 0 OR u.id = $1
ORDER BY u.name_key, c.name_key, c.id, k.position, k.site, k.series_id;

-- name: ExportedPlaces
SELECT u.id, u.name, t.site, t.series_id, t.title, t.url, b.chapter_id, coalesce(trim_scale(b.number)::text, ''), p.page, p.finished, p.changed_at
FROM progress p JOIN users u ON u.id = p.user_id JOIN books b ON b.id = p.book_id JOIN titles t ON t.id = b.title_id
WHERE $1::bigint = 0 OR u.id = $1
ORDER BY u.name_key, t.title, t.site, t.series_id, b.number NULLS LAST, b.source_order DESC, b.id;
