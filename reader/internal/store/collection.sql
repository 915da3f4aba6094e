-- Collections and what stands in them.

-- name: Collections
-- Those a person sees, or the one that is asked for: their own, and the shared ones.
-- A guest who is kept to some collections sees these alone.
WITH seen AS MATERIALIZED (
    SELECT c.* FROM collections c JOIN users me ON me.id = $1
    WHERE ($2::bigint = 0 OR c.id = $2)
      AND (c.created_by = $1 OR c.shared AND (me.role <> 'guest' OR me.sees = 'everything'
        OR EXISTS (SELECT FROM guest_collections g WHERE g.user_id = $1 AND g.collection_id = c.id)))
)
SELECT c.id, c.name, coalesce(u.name, ''), coalesce(c.created_by, 0) = $1, c.shared, c.cover, count(s.site), coalesce(sum(s.unread), 0),
    coalesce((array_agg(s.title_id ORDER BY k.position, k.site, k.series_id) FILTER (WHERE b.id IS NOT NULL))[1:4], '{}'),
    coalesce((array_agg(b.fingerprint ORDER BY k.position, k.site, k.series_id) FILTER (WHERE b.id IS NOT NULL))[1:4], '{}')
FROM seen c
LEFT JOIN users u ON u.id = c.created_by
LEFT JOIN collection_series k ON k.collection_id = c.id
LEFT JOIN shelf s ON s.user_id = $1 AND s.site = k.site AND s.series_id = k.series_id
LEFT JOIN books b ON b.id = s.cover_book
GROUP BY c.id, c.name, c.name_key, u.name, c.created_by, c.shared, c.cover
ORDER BY c.name_key, c.id;

-- name: EnsureCollection
-- A person's collection of this name, made if there is none.
INSERT INTO collections AS c (created_by, name, name_key) VALUES ($1, $2, reader.folded($2))
ON CONFLICT (created_by, name_key) DO UPDATE SET name = c.name
RETURNING id;

-- name: AddToCollection
-- At its end, in the order given; what is in it stays where it is.
INSERT INTO collection_series (collection_id, site, series_id, position)
SELECT $1, k.site, k.series_id, (SELECT coalesce(max(position), 0) FROM collection_series WHERE collection_id = $1) + k.n
FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS k (site, series_id, n)
ON CONFLICT DO NOTHING;

-- name: CountCollection
SELECT count(*) FROM collection_series WHERE collection_id = $1;

-- name: ChangeableCollection
-- Held against others for the change that follows: a person's own, and for those who
-- run Mangrove the shared ones too.
SELECT id FROM collections WHERE id = $1 AND (created_by = $2 OR shared AND $3::boolean) FOR UPDATE;

-- name: RemoveFromCollection
DELETE FROM collection_series WHERE collection_id = $1 AND (site, series_id) IN (SELECT * FROM unnest($2::text[], $3::text[]))
RETURNING site, series_id, position;

-- name: PutBackIntoCollection
-- Where it stood; what is in it meanwhile stays where it is.
INSERT INTO collection_series (collection_id, site, series_id, position)
SELECT $1, k.site, k.series_id, k.position FROM unnest($2::text[], $3::text[], $4::integer[]) AS k (site, series_id, position)
ON CONFLICT DO NOTHING;

-- name: MoveInCollection
-- One place up (-3) or down (3) among places two apart.
WITH apart AS (
    SELECT site, series_id, 2 * row_number() OVER (ORDER BY position, site, series_id) + CASE WHEN (site, series_id) = ($2, $3) THEN $4::integer ELSE 0 END AS place
    FROM collection_series WHERE collection_id = $1
), ordered AS (
    SELECT site, series_id, row_number() OVER (ORDER BY place) AS position FROM apart
)
UPDATE collection_series k SET position = o.position
FROM ordered o
WHERE k.collection_id = $1 AND k.site = o.site AND k.series_id = o.series_id AND k.position <> o.position;

-- name: RenameCollection
UPDATE collections SET name = $2, name_key = reader.folded($2) WHERE id = $1;

-- name: ShareCollection
UPDATE collections SET shared = $2 WHERE id = $1;

-- name: CoverCollection
UPDATE collections SET cover = $2 WHERE id = $1;

-- name: DeleteCollection
DELETE FROM collections WHERE id = $1;

-- name: CollectionCovers
SELECT DISTINCT cover FROM collections WHERE cover <> '';

-- name: InCollections
-- Which of a person's own collections a Series stands in.
SELECT c.id, c.name, k.collection_id IS NOT NULL
FROM collections c LEFT JOIN collection_series k ON k.collection_id = c.id AND k.site = $3 AND k.series_id = $4
WHERE c.created_by = $1 OR c.shared AND $2::boolean
ORDER BY c.name_key, c.id;

-- name: SetTitlesRead
-- Every book of the titles that the person may see.
INSERT INTO progress AS p (user_id, book_id, page, finished)
SELECT $1, b.id, b.page_count - 1, true
FROM unnest($2::text[], $3::text[]) AS k (site, series_id)
JOIN titles t ON t.site = k.site AND t.series_id = k.series_id
JOIN seen_titles v ON v.user_id = $1 AND v.title_id = t.id
JOIN books b ON b.title_id = t.id AND b.removed_at IS NULL
ON CONFLICT (user_id, book_id) DO UPDATE
SET page = excluded.page, finished = true, changed_at = greatest(now(), p.changed_at + interval '1 microsecond') WHERE NOT p.finished;

-- name: SetTitlesUnread
DELETE FROM progress p USING books b JOIN titles t ON t.id = b.title_id JOIN unnest($2::text[], $3::text[]) AS k (site, series_id) ON t.site = k.site AND t.series_id = k.series_id
WHERE p.user_id = $1 AND b.id = p.book_id;

-- name: LimitGuest
UPDATE users SET sees = $2 WHERE id = $1 AND role = 'guest';

-- name: ForgetGuestCollections
DELETE FROM guest_collections WHERE user_id = $1;

-- name: KeepGuestCollections
-- Only shared ones: a guest sees no other.
INSERT INTO guest_collections (user_id, collection_id) SELECT $1, c.id FROM collections c WHERE c.id = ANY ($2::bigint[]) AND c.shared;

-- name: GuestLimits
SELECT u.id, u.sees, coalesce(array_agg(g.collection_id) FILTER (WHERE g.collection_id IS NOT NULL), '{}')
FROM users u LEFT JOIN guest_collections g ON g.user_id = u.id
WHERE u.role = 'guest'
GROUP BY u.id;
