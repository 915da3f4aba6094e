-- +goose Up
-- What the library page and the search ask at each block and each letter, kept as
-- it changes and never counted while somebody waits (ADR 0025).

-- One form for what is searched and what is searched for: compatible forms, small
-- letters, and no marks above letters. Only U+0300 to U+036F go: the marks of other
-- scripts are part of their letters.
-- +goose StatementBegin
CREATE FUNCTION reader.folded(given text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
SELECT lower(normalize(regexp_replace(normalize(given, NFKD), '[\u0300-\u036f]', '', 'g'), NFKC))
$$;
-- +goose StatementEnd

-- The order of titles: folded, without signs at the front, and with each number
-- filled up to ten digits, so that 9 stands before 10.
-- +goose StatementBegin
CREATE FUNCTION reader.shelf_order(given text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
SELECT regexp_replace(regexp_replace(coalesce(nullif(regexp_replace(reader.folded(given), '^[^[:alnum:]]+', ''), ''), reader.folded(given)),
    '([0-9]+)', '0000000000\1', 'g'), '[0-9]*([0-9]{10})(?![0-9])', '\1', 'g')
$$;
-- +goose StatementEnd

-- All that a title is found by, folded.
-- +goose StatementBegin
CREATE FUNCTION reader.shelf_words(title text, native_title text, alt_titles text[], authors text[], tags text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
SELECT reader.folded(concat_ws(' ', title, native_title, array_to_string(alt_titles, ' '), array_to_string(authors, ' '), array_to_string(tags, ' ')))
$$;
-- +goose StatementEnd

-- What is searched for as patterns: each word, folded, wherever it stands. What LIKE
-- would read as a sign of its own means itself. No words keep everything.
-- +goose StatementBegin
CREATE FUNCTION reader.shelf_patterns(given text) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
SELECT ARRAY(
    SELECT '%' || regexp_replace(w.word, '([\\%_])', '\\\1', 'g') || '%'
    FROM regexp_split_to_table(reader.folded(given), '\s+') WITH ORDINALITY AS w (word, n)
    WHERE w.word <> '' ORDER BY w.n LIMIT 20)
$$;
-- +goose StatementEnd

-- The other names that a Site gives a title.
ALTER TABLE scraper.series ADD COLUMN alt_titles text[] NOT NULL DEFAULT '{}';
ALTER TABLE reader.titles ADD COLUMN alt_titles text[] NOT NULL DEFAULT '{}';

ALTER TABLE reader.titles
    ADD COLUMN shelf_order text COLLATE "C" NOT NULL GENERATED ALWAYS AS (reader.shelf_order(title)) STORED,
    ADD COLUMN shelf_words text NOT NULL GENERATED ALWAYS AS (reader.shelf_words(title, native_title, alt_titles, authors, tags)) STORED,
    ADD COLUMN book_count  integer     NOT NULL DEFAULT 0 CHECK (book_count >= 0),
    ADD COLUMN gone_count  integer     NOT NULL DEFAULT 0 CHECK (gone_count >= 0),
    ADD COLUMN unreadable_count integer NOT NULL DEFAULT 0 CHECK (unreadable_count BETWEEN 0 AND book_count),
    ADD COLUMN lacking_count integer   NOT NULL DEFAULT 0 CHECK (lacking_count BETWEEN 0 AND book_count),
    ADD COLUMN newest_at   timestamptz,
    ADD COLUMN languages   text[]      NOT NULL DEFAULT '{}',
    ADD COLUMN cover_book  bigint;
COMMENT ON COLUMN reader.titles.gone_count IS 'books that the library had and that are not there now';
COMMENT ON COLUMN reader.titles.lacking_count IS 'books that are there and lack pages, or cannot be read';
ALTER TABLE reader.bookmarks
    ADD COLUMN shelf_order text COLLATE "C" NOT NULL GENERATED ALWAYS AS (reader.shelf_order(title)) STORED,
    ADD COLUMN shelf_words text NOT NULL GENERATED ALWAYS AS (reader.shelf_words(title, '', '{}', '{}', '{}')) STORED;

CREATE INDEX titles_shelf ON reader.titles (shelf_order, site, series_id) WHERE book_count > 0;
CREATE INDEX titles_words ON reader.titles USING gin (shelf_words reader.gin_trgm_ops);

-- How far each person is with each title.
CREATE TABLE reader.shelf_reading (
    user_id  bigint      NOT NULL REFERENCES reader.users ON DELETE CASCADE,
    title_id bigint      NOT NULL REFERENCES reader.titles ON DELETE CASCADE,
    finished integer     NOT NULL CHECK (finished >= 0),
    begun    integer     NOT NULL CHECK (begun >= finished),
    read_at  timestamptz NOT NULL,
    current_book bigint,
    PRIMARY KEY (user_id, title_id)
);
COMMENT ON TABLE reader.shelf_reading IS 'kept by triggers of books and progress; counts only books that are here, and names the one that is being read';
CREATE INDEX shelf_reading_title ON reader.shelf_reading (title_id);

-- The locks come first: what is counted after them is counted with everything that
-- was committed before.
-- +goose StatementBegin
CREATE FUNCTION reader.count_reading(people bigint[], shelved bigint[]) RETURNS void
    LANGUAGE plpgsql SET search_path TO 'reader'
    AS $$
BEGIN
    PERFORM FROM titles WHERE id = ANY (shelved) ORDER BY id FOR SHARE;
    INSERT INTO shelf_reading (user_id, title_id, finished, begun, read_at)
    SELECT DISTINCT p.user_id, b.title_id, 0, 0, 'epoch'::timestamptz
    FROM progress p JOIN books b ON b.id = p.book_id
    WHERE b.title_id = ANY (shelved) AND (people IS NULL OR p.user_id = ANY (people))
    ON CONFLICT DO NOTHING;
    PERFORM FROM shelf_reading WHERE title_id = ANY (shelved) AND (people IS NULL OR user_id = ANY (people)) ORDER BY user_id, title_id FOR UPDATE;
    UPDATE shelf_reading r SET finished = c.finished, begun = c.begun, read_at = c.read_at, current_book = c.current
    FROM (
        SELECT p.user_id, b.title_id, count(*) FILTER (WHERE p.finished AND b.removed_at IS NULL AND b.unreadable = '') AS finished,
            count(*) FILTER (WHERE b.removed_at IS NULL AND b.unreadable = '') AS begun, max(p.changed_at) AS read_at,
            (array_agg(b.id ORDER BY p.changed_at DESC) FILTER (WHERE NOT p.finished AND b.removed_at IS NULL AND b.unreadable = ''))[1] AS current
        FROM progress p JOIN books b ON b.id = p.book_id
        WHERE b.title_id = ANY (shelved) AND (people IS NULL OR p.user_id = ANY (people))
        GROUP BY p.user_id, b.title_id
    ) c
    WHERE r.user_id = c.user_id AND r.title_id = c.title_id AND (r.finished, r.begun, r.read_at, r.current_book) IS DISTINCT FROM (c.finished, c.begun, c.read_at, c.current);
    DELETE FROM shelf_reading r
    WHERE r.title_id = ANY (shelved) AND (people IS NULL OR r.user_id = ANY (people))
      AND NOT EXISTS (SELECT FROM progress p JOIN books b ON b.id = p.book_id WHERE p.user_id = r.user_id AND b.title_id = r.title_id);
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION reader.count_books(shelved bigint[]) RETURNS void
    LANGUAGE plpgsql SET search_path TO 'reader'
    AS $$
BEGIN
    PERFORM FROM titles WHERE id = ANY (shelved) ORDER BY id FOR NO KEY UPDATE;
    UPDATE titles t
    SET book_count = c.here, unreadable_count = c.unreadable, lacking_count = c.lacking, gone_count = c.gone, newest_at = c.newest, languages = c.languages, cover_book = c.cover
    FROM (
        SELECT o.id,
            count(*) FILTER (WHERE b.removed_at IS NULL) AS here,
            count(*) FILTER (WHERE b.removed_at IS NULL AND b.unreadable <> '') AS unreadable,
            count(*) FILTER (WHERE b.removed_at IS NULL AND (b.missing_pages <> '{}' OR b.unreadable <> '')) AS lacking,
            count(*) FILTER (WHERE b.removed_at IS NOT NULL) AS gone,
            max(b.published_at) FILTER (WHERE b.removed_at IS NULL) AS newest,
            coalesce(array_agg(DISTINCT b.language ORDER BY b.language) FILTER (WHERE b.removed_at IS NULL AND b.language <> ''), '{}') AS languages,
            (array_agg(b.id ORDER BY b.number NULLS LAST, b.source_order DESC, b.id) FILTER (WHERE b.removed_at IS NULL AND b.unreadable = ''))[1] AS cover
        FROM titles o LEFT JOIN books b ON b.title_id = o.id
        WHERE o.id = ANY (shelved)
        GROUP BY o.id
    ) c
    WHERE t.id = c.id AND (t.book_count, t.unreadable_count, t.lacking_count, t.gone_count, t.newest_at, t.languages, t.cover_book) IS DISTINCT FROM (c.here, c.unreadable, c.lacking, c.gone, c.newest, c.languages, c.cover);
    PERFORM count_reading(NULL, shelved);
END
$$;
-- +goose StatementEnd

-- Triggers of a statement, not of a row: a thousand chapters of one title count once.
-- +goose StatementBegin
CREATE FUNCTION reader.books_changed() RETURNS trigger
    LANGUAGE plpgsql SET search_path TO 'reader'
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM count_books(ARRAY(SELECT DISTINCT title_id FROM fresh));
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM count_books(ARRAY(SELECT DISTINCT title_id FROM old_rows));
    ELSE
        PERFORM count_books(ARRAY(SELECT title_id FROM fresh UNION SELECT title_id FROM old_rows));
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER books_added AFTER INSERT ON reader.books REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION reader.books_changed();
CREATE TRIGGER books_altered AFTER UPDATE ON reader.books REFERENCING NEW TABLE AS fresh OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION reader.books_changed();
CREATE TRIGGER books_removed AFTER DELETE ON reader.books REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION reader.books_changed();

-- +goose StatementBegin
CREATE FUNCTION reader.progress_changed() RETURNS trigger
    LANGUAGE plpgsql SET search_path TO 'reader'
    AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM count_reading(array_agg(DISTINCT p.user_id), array_agg(DISTINCT b.title_id)) FROM old_rows p JOIN books b ON b.id = p.book_id;
    ELSE
        PERFORM count_reading(array_agg(DISTINCT p.user_id), array_agg(DISTINCT b.title_id)) FROM fresh p JOIN books b ON b.id = p.book_id;
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER progress_added AFTER INSERT ON reader.progress REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION reader.progress_changed();
CREATE TRIGGER progress_altered AFTER UPDATE ON reader.progress REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION reader.progress_changed();
CREATE TRIGGER progress_removed AFTER DELETE ON reader.progress REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION reader.progress_changed();

SELECT reader.count_books(ARRAY(SELECT id FROM reader.titles));

-- Collections: somebody's own, or shared with everybody by an administrator.
CREATE TABLE reader.collections (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_by bigint      REFERENCES reader.users ON DELETE CASCADE,
    name       text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 80),
    name_key   text        NOT NULL,
    shared     boolean     NOT NULL DEFAULT false,
    cover      text        NOT NULL DEFAULT '' CHECK (cover ~ '^([0-9a-f]{64})?$'),
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX collections_name ON reader.collections (created_by, name_key);
COMMENT ON COLUMN reader.collections.cover IS 'the SHA-256 of the cover that was uploaded, '''' for none';

-- Series by their key and not by the title's id, so that one can stand in a
-- collection before anything of it is here.
CREATE TABLE reader.collection_series (
    collection_id bigint NOT NULL REFERENCES reader.collections ON DELETE CASCADE,
    site          text   NOT NULL CHECK (site <> ''),
    series_id     text   NOT NULL CHECK (series_id <> ''),
    position      integer NOT NULL CHECK (position >= 0),
    PRIMARY KEY (collection_id, site, series_id)
);
CREATE INDEX collection_series_series ON reader.collection_series (site, series_id);

-- A Series that moves stays where people put it.
-- +goose StatementBegin
CREATE FUNCTION reader.series_rekeyed() RETURNS trigger
    LANGUAGE plpgsql SET search_path TO 'reader'
    AS $$
BEGIN
    UPDATE collection_series k SET site = NEW.site, series_id = NEW.series_id
    WHERE k.site = OLD.site AND k.series_id = OLD.series_id
      AND NOT EXISTS (SELECT FROM collection_series o WHERE o.collection_id = k.collection_id AND o.site = NEW.site AND o.series_id = NEW.series_id);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER titles_rekeyed AFTER UPDATE OF site, series_id ON reader.titles
    FOR EACH ROW WHEN ((OLD.site, OLD.series_id) IS DISTINCT FROM (NEW.site, NEW.series_id)) EXECUTE FUNCTION reader.series_rekeyed();
CREATE TRIGGER bookmarks_rekeyed AFTER UPDATE OF site, series_id ON reader.bookmarks
    FOR EACH ROW WHEN ((OLD.site, OLD.series_id) IS DISTINCT FROM (NEW.site, NEW.series_id)) EXECUTE FUNCTION reader.series_rekeyed();

-- A guest may be kept to some collections. The word stands at the person: losing
-- the last collection must not open the whole library.
ALTER TABLE reader.users ADD COLUMN sees text NOT NULL DEFAULT 'everything' CHECK (sees IN ('everything', 'collections'));
CREATE TABLE reader.guest_collections (
    user_id       bigint NOT NULL REFERENCES reader.users ON DELETE CASCADE,
    collection_id bigint NOT NULL REFERENCES reader.collections ON DELETE CASCADE,
    PRIMARY KEY (user_id, collection_id)
);
CREATE INDEX guest_collections_collection ON reader.guest_collections (collection_id);

-- Which titles a person may see. Whoever lists titles to somebody goes through here.
CREATE VIEW reader.seen_titles AS
SELECT u.id AS user_id, t.id AS title_id
FROM reader.users u JOIN reader.titles t ON u.role <> 'guest' OR u.sees = 'everything' OR EXISTS (
    SELECT FROM reader.guest_collections g JOIN reader.collection_series c ON c.collection_id = g.collection_id
    WHERE g.user_id = u.id AND c.site = t.site AND c.series_id = t.series_id);

-- One row a title as a person's library shows it: titles with a book here, and follows
-- that have none yet (title id 0).
CREATE VIEW reader.shelf AS
SELECT u.id AS user_id, t.id AS title_id, t.site, t.series_id, t.title, t.site_name, t.status, t.tags, t.languages, t.shelf_order, t.shelf_words, t.added_at,
    t.book_count, t.book_count - t.unreadable_count - coalesce(r.finished, 0) AS unread, coalesce(r.begun, 0) AS begun, coalesce(r.finished, 0) AS finished, r.read_at, t.newest_at,
    t.gone_count, t.unreadable_count, t.lacking_count, t.cover_book, r.current_book, f.user_id IS NOT NULL AS following
FROM reader.users u
JOIN reader.titles t ON u.role <> 'guest' OR u.sees = 'everything' OR EXISTS (
    SELECT FROM reader.guest_collections g JOIN reader.collection_series c ON c.collection_id = g.collection_id
    WHERE g.user_id = u.id AND c.site = t.site AND c.series_id = t.series_id)
LEFT JOIN reader.shelf_reading r ON r.user_id = u.id AND r.title_id = t.id
LEFT JOIN reader.bookmarks f ON f.user_id = u.id AND f.site = t.site AND f.series_id = t.series_id
WHERE t.book_count > 0
UNION ALL
SELECT f.user_id, 0, f.site, f.series_id, f.title, '', '', '{}', '{}', f.shelf_order, f.shelf_words, f.followed_at, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, NULL, NULL, true
FROM reader.bookmarks f
WHERE NOT EXISTS (SELECT FROM reader.titles t WHERE t.site = f.site AND t.series_id = f.series_id AND t.book_count > 0);

-- +goose Down
DROP VIEW reader.shelf, reader.seen_titles;
DROP TABLE reader.guest_collections;
ALTER TABLE reader.users DROP COLUMN sees;
DROP TRIGGER bookmarks_rekeyed ON reader.bookmarks;
DROP TRIGGER titles_rekeyed ON reader.titles;
DROP FUNCTION reader.series_rekeyed;
DROP TABLE reader.collection_series, reader.collections;
DROP TRIGGER progress_removed ON reader.progress;
DROP TRIGGER progress_altered ON reader.progress;
DROP TRIGGER progress_added ON reader.progress;
DROP TRIGGER books_removed ON reader.books;
DROP TRIGGER books_altered ON reader.books;
DROP TRIGGER books_added ON reader.books;
DROP FUNCTION reader.progress_changed, reader.books_changed, reader.count_books, reader.count_reading;
DROP TABLE reader.shelf_reading;
ALTER TABLE reader.bookmarks DROP COLUMN shelf_order, DROP COLUMN shelf_words;
ALTER TABLE reader.titles DROP COLUMN shelf_order, DROP COLUMN shelf_words, DROP COLUMN unreadable_count, DROP COLUMN lacking_count, DROP COLUMN book_count, DROP COLUMN gone_count,
    DROP COLUMN newest_at, DROP COLUMN languages, DROP COLUMN cover_book, DROP COLUMN alt_titles;
ALTER TABLE scraper.series DROP COLUMN alt_titles;
DROP FUNCTION reader.shelf_patterns, reader.shelf_words, reader.shelf_order, reader.folded;
