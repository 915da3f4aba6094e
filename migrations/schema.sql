-- What the migrations add up to. Written by `make generate`; do not edit.

-- PostgreSQL database dump

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

-- Name: mangrove; Type: SCHEMA; Schema: -; Owner: mangrove_owner

CREATE SCHEMA mangrove;

ALTER SCHEMA mangrove OWNER TO mangrove_owner;

-- Name: reader; Type: SCHEMA; Schema: -; Owner: mangrove_owner

CREATE SCHEMA reader;

ALTER SCHEMA reader OWNER TO mangrove_owner;

-- Name: scraper; Type: SCHEMA; Schema: -; Owner: mangrove_owner

CREATE SCHEMA scraper;

ALTER SCHEMA scraper OWNER TO mangrove_owner;

-- Name: pg_trgm; Type: EXTENSION; Schema: -; Owner: -

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA reader;

-- Name: EXTENSION pg_trgm; Type: COMMENT; Schema: -; Owner: 

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';

-- Name: book_id(); Type: FUNCTION; Schema: reader; Owner: mangrove_owner

CREATE FUNCTION reader.book_id() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
DECLARE
    t record;
BEGIN
    SELECT site, series_id INTO t FROM reader.titles WHERE id = NEW.title_id;
    -- A file of another program is what it holds, wherever it lies.
    NEW.id := greatest(CASE WHEN t.site = 'local' THEN reader.stable_id('local', NEW.fingerprint)
                       ELSE reader.stable_id(t.site, t.series_id, NEW.chapter_id) END, 1);
    WHILE EXISTS (SELECT FROM reader.books WHERE id = NEW.id) LOOP
        NEW.id := NEW.id + 1;
    END LOOP;
    RETURN NEW;
END
$$;

ALTER FUNCTION reader.book_id() OWNER TO mangrove_owner;

-- Name: books_changed(); Type: FUNCTION; Schema: reader; Owner: mangrove_owner

CREATE FUNCTION reader.books_changed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'reader'
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

ALTER FUNCTION reader.books_changed() OWNER TO mangrove_owner;

-- Name: count_books(bigint[]); Type: FUNCTION; Schema: reader; Owner: mangrove_owner

CREATE FUNCTION reader.count_books(shelved bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'reader'
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

ALTER FUNCTION reader.count_books(shelved bigint[]) OWNER TO mangrove_owner;

-- Name: count_reading(bigint[], bigint[]); Type: FUNCTION; Schema: reader; Owner: mangrove_owner

CREATE FUNCTION reader.count_reading(people bigint[], shelved bigint[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'reader'
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

ALTER FUNCTION reader.count_reading(people bigint[], shelved bigint[]) OWNER TO mangrove_owner;

-- Name: folded(text); Type: FUNCTION; Schema: reader; Owner: mangrove_owner

CREATE FUNCTION reader.folded(given text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
SELECT lower(normalize(regexp_replace(normalize(given, NFKD), '[\u0300-\u036f]', '', 'g'), NFKC))
$$;

ALTER FUNCTION reader.folded(given text) OWNER TO mangrove_owner;

-- Name: progress_changed(); Type: FUNCTION; Schema: reader; Owner: mangrove_owner

CREATE FUNCTION reader.progress_changed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'reader'
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

ALTER FUNCTION reader.progress_changed() OWNER TO mangrove_owner;

-- Name: series_rekeyed(); Type: FUNCTION; Schema: reader; Owner: mangrove_owner

CREATE FUNCTION reader.series_rekeyed() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'reader'
    AS $$
BEGIN
    UPDATE collection_series k SET site = NEW.site, series_id = NEW.series_id
    WHERE k.site = OLD.site AND k.series_id = OLD.series_id
      AND NOT EXISTS (SELECT FROM collection_series o WHERE o.collection_id = k.collection_id AND o.site = NEW.site AND o.series_id = NEW.series_id);
    RETURN NULL;
END
$$;

ALTER FUNCTION reader.series_rekeyed() OWNER TO mangrove_owner;

-- Name: shelf_order(text); Type: FUNCTION; Schema: reader; Owner: mangrove_owner

CREATE FUNCTION reader.shelf_order(given text) RETURNS text
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
SELECT regexp_replace(regexp_replace(coalesce(nullif(regexp_replace(reader.folded(given), '^[^[:alnum:]]+', ''), ''), reader.folded(given)),
    '([0-9]+)', '0000000000\1', 'g'), '[0-9]*([0-9]{10})(?![0-9])', '\1', 'g')
$$;

ALTER FUNCTION reader.shelf_order(given text) OWNER TO mangrove_owner;

-- Name: shelf_patterns(text); Type: FUNCTION; Schema: reader; Owner: mangrove_owner

CREATE FUNCTION reader.shelf_patterns(given text) RETURNS text[]
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
SELECT ARRAY(
    SELECT '%' || regexp_replace(w.word, '([\\%_])', '\\\1', 'g') || '%'
    FROM regexp_split_to_table(reader.folded(given), '\s+') WITH ORDINALITY AS w (word, n)
    WHERE w.word <> '' ORDER BY w.n LIMIT 20)
$$;

ALTER FUNCTION reader.shelf_patterns(given text) OWNER TO mangrove_owner;

-- Name: shelf_words(text, text, text[], text[], text[]); Type: FUNCTION; Schema: reader; Owner: mangrove_owner

CREATE FUNCTION reader.shelf_words(title text, native_title text, alt_titles text[], authors text[], tags text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$
SELECT reader.folded(concat_ws(' ', title, native_title, array_to_string(alt_titles, ' '), array_to_string(authors, ' '), array_to_string(tags, ' ')))
$$;

ALTER FUNCTION reader.shelf_words(title text, native_title text, alt_titles text[], authors text[], tags text[]) OWNER TO mangrove_owner;

-- Name: stable_id(text[]); Type: FUNCTION; Schema: reader; Owner: mangrove_owner

CREATE FUNCTION reader.stable_id(VARIADIC parts text[]) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT
    AS $$
    SELECT ('x' || substr(encode(sha256(convert_to(array_to_string(parts, E'\x1f'), 'UTF8')), 'hex'), 1, 13))::bit(52)::bigint
$$;

ALTER FUNCTION reader.stable_id(VARIADIC parts text[]) OWNER TO mangrove_owner;

-- Name: title_id(); Type: FUNCTION; Schema: reader; Owner: mangrove_owner

CREATE FUNCTION reader.title_id() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.id := greatest(reader.stable_id(NEW.site, NEW.series_id), 1);
    WHILE EXISTS (SELECT FROM reader.titles WHERE id = NEW.id) LOOP
        NEW.id := NEW.id + 1;
    END LOOP;
    RETURN NEW;
END
$$;

ALTER FUNCTION reader.title_id() OWNER TO mangrove_owner;

-- Name: check_job_transition(); Type: FUNCTION; Schema: scraper; Owner: mangrove_owner

CREATE FUNCTION scraper.check_job_transition() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'scraper'
    AS $$
BEGIN
    IF NEW.state <> OLD.state AND NOT EXISTS (
        SELECT 1 FROM scraper.job_transitions t WHERE t.from_state = OLD.state AND t.to_state = NEW.state
    ) THEN
        RAISE EXCEPTION 'job %: % to % is not an allowed transition', OLD.id, OLD.state, NEW.state USING ERRCODE = 'check_violation';
    END IF;
    RETURN NEW;
END
$$;

ALTER FUNCTION scraper.check_job_transition() OWNER TO mangrove_owner;

SET default_tablespace = '';

SET default_table_access_method = heap;

-- Name: migrations; Type: TABLE; Schema: mangrove; Owner: mangrove_owner

CREATE TABLE mangrove.migrations (
    id integer NOT NULL,
    version_id bigint NOT NULL,
    is_applied boolean NOT NULL,
    tstamp timestamp without time zone DEFAULT now() NOT NULL
);

ALTER TABLE mangrove.migrations OWNER TO mangrove_owner;

-- Name: migrations_id_seq; Type: SEQUENCE; Schema: mangrove; Owner: mangrove_owner

ALTER TABLE mangrove.migrations ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME mangrove.migrations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: api_keys; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.api_keys (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    name text NOT NULL,
    scope text NOT NULL,
    key_hash bytea NOT NULL,
    last_signs text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT api_keys_key_hash_check CHECK ((octet_length(key_hash) = 32)),
    CONSTRAINT api_keys_last_signs_check CHECK ((char_length(last_signs) = 4)),
    CONSTRAINT api_keys_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 60))),
    CONSTRAINT api_keys_scope_check CHECK ((scope = ANY (ARRAY['read'::text, 'opds'::text, 'admin'::text])))
);

ALTER TABLE reader.api_keys OWNER TO mangrove_owner;

-- Name: COLUMN api_keys.used_at; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.api_keys.used_at IS 'NULL for never; written at most once a minute';

-- Name: api_keys_id_seq; Type: SEQUENCE; Schema: reader; Owner: mangrove_owner

ALTER TABLE reader.api_keys ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME reader.api_keys_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: bookmarks; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.bookmarks (
    user_id bigint NOT NULL,
    site text NOT NULL,
    series_id text NOT NULL,
    title text NOT NULL,
    url text DEFAULT ''::text NOT NULL,
    download boolean DEFAULT true NOT NULL,
    languages text[] DEFAULT '{}'::text[] NOT NULL,
    followed_at timestamp with time zone DEFAULT now() NOT NULL,
    shelf_order text GENERATED ALWAYS AS (reader.shelf_order(title)) STORED NOT NULL COLLATE pg_catalog."C",
    shelf_words text GENERATED ALWAYS AS (reader.shelf_words(title, ''::text, '{}'::text[], '{}'::text[], '{}'::text[])) STORED NOT NULL,
    CONSTRAINT bookmarks_series_id_check CHECK ((series_id <> ''::text)),
    CONSTRAINT bookmarks_site_check CHECK ((site <> ''::text))
);

ALTER TABLE reader.bookmarks OWNER TO mangrove_owner;

-- Name: books; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.books (
    id bigint NOT NULL,
    title_id bigint NOT NULL,
    chapter_id text NOT NULL,
    path text NOT NULL,
    number numeric,
    volume numeric,
    name text DEFAULT ''::text NOT NULL,
    language text DEFAULT ''::text NOT NULL,
    groups text[] DEFAULT '{}'::text[] NOT NULL,
    source_order integer DEFAULT 0 NOT NULL,
    page_count integer NOT NULL,
    size bigint NOT NULL,
    fingerprint text NOT NULL,
    published_at timestamp with time zone NOT NULL,
    removed_at timestamp with time zone,
    epoch text DEFAULT ''::text NOT NULL,
    missing_pages integer[] DEFAULT '{}'::integer[] NOT NULL,
    kind text DEFAULT 'zip'::text NOT NULL,
    unreadable text DEFAULT ''::text NOT NULL,
    CONSTRAINT books_kind_check CHECK ((kind = ANY (ARRAY['zip'::text, 'rar'::text, '7z'::text, 'folder'::text]))),
    CONSTRAINT books_page_count_check CHECK ((page_count > 0)),
    CONSTRAINT books_unreadable_check CHECK ((unreadable = ANY (ARRAY[''::text, 'empty'::text, 'not-an-archive'::text, 'encrypted'::text, 'corrupt'::text, 'too-large'::text, 'unsafe-names'::text, 'duplicate-names'::text, 'no-pages'::text, 'unsupported'::text])))
);

ALTER TABLE reader.books OWNER TO mangrove_owner;

-- Name: COLUMN books.epoch; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.books.epoch IS 'the library epoch that last named the book; after a full resync those of another epoch are marked removed';

-- Name: COLUMN books.missing_pages; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.books.missing_pages IS 'numbers, from 1, of the Site''s pages that the file is without';

-- Name: COLUMN books.unreadable; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.books.unreadable IS 'why its file cannot be read, or empty; page_count is then that of the last file that could, or 1';

-- Name: books_id_seq; Type: SEQUENCE; Schema: reader; Owner: mangrove_owner

ALTER TABLE reader.books ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME reader.books_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: claim; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.claim (
    singleton boolean DEFAULT true NOT NULL,
    code_hash bytea,
    expires_at timestamp with time zone,
    claimed_by bigint,
    claimed_at timestamp with time zone,
    CONSTRAINT claim_check CHECK (((claimed_by IS NULL) OR (claimed_at IS NOT NULL))),
    CONSTRAINT claim_singleton_check CHECK (singleton)
);

ALTER TABLE reader.claim OWNER TO mangrove_owner;

-- Name: collection_series; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.collection_series (
    collection_id bigint NOT NULL,
    site text NOT NULL,
    series_id text NOT NULL,
    "position" integer NOT NULL,
    CONSTRAINT collection_series_position_check CHECK (("position" >= 0)),
    CONSTRAINT collection_series_series_id_check CHECK ((series_id <> ''::text)),
    CONSTRAINT collection_series_site_check CHECK ((site <> ''::text))
);

ALTER TABLE reader.collection_series OWNER TO mangrove_owner;

-- Name: collections; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.collections (
    id bigint NOT NULL,
    created_by bigint,
    name text NOT NULL,
    name_key text NOT NULL,
    shared boolean DEFAULT false NOT NULL,
    cover text DEFAULT ''::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT collections_cover_check CHECK ((cover ~ '^([0-9a-f]{64})?$'::text)),
    CONSTRAINT collections_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 80)))
);

ALTER TABLE reader.collections OWNER TO mangrove_owner;

-- Name: COLUMN collections.cover; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.collections.cover IS 'the SHA-256 of the cover that was uploaded, '''' for none';

-- Name: collections_id_seq; Type: SEQUENCE; Schema: reader; Owner: mangrove_owner

ALTER TABLE reader.collections ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME reader.collections_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: follow_revision; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.follow_revision (
    singleton boolean DEFAULT true NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    CONSTRAINT follow_revision_singleton_check CHECK (singleton)
);

ALTER TABLE reader.follow_revision OWNER TO mangrove_owner;

-- Name: guest_collections; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.guest_collections (
    user_id bigint NOT NULL,
    collection_id bigint NOT NULL
);

ALTER TABLE reader.guest_collections OWNER TO mangrove_owner;

-- Name: identities; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    user_id bigint NOT NULL,
    linked_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT identities_issuer_check CHECK (((octet_length(issuer) >= 1) AND (octet_length(issuer) <= 500))),
    CONSTRAINT identities_subject_check CHECK (((octet_length(subject) >= 1) AND (octet_length(subject) <= 255)))
);

ALTER TABLE reader.identities OWNER TO mangrove_owner;

-- Name: import_collected; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.import_collected (
    import_id bigint NOT NULL,
    collection_id bigint NOT NULL,
    site text NOT NULL,
    series_id text NOT NULL,
    made boolean NOT NULL
);

ALTER TABLE reader.import_collected OWNER TO mangrove_owner;

-- Name: COLUMN import_collected.made; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.import_collected.made IS 'there was no such collection before; undoing takes it away again if it is empty then';

-- Name: import_items; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.import_items (
    import_id bigint NOT NULL,
    "position" integer NOT NULL,
    title text NOT NULL,
    source text NOT NULL,
    address text NOT NULL,
    word text NOT NULL,
    reason text NOT NULL,
    site_name text DEFAULT ''::text NOT NULL,
    site text DEFAULT ''::text NOT NULL,
    series_id text DEFAULT ''::text NOT NULL,
    url text DEFAULT ''::text NOT NULL,
    local_id text DEFAULT ''::text NOT NULL,
    candidates jsonb DEFAULT '[]'::jsonb NOT NULL,
    favourite boolean NOT NULL,
    download boolean NOT NULL,
    languages text[] NOT NULL,
    categories text[] NOT NULL,
    chapters integer NOT NULL,
    read integer NOT NULL,
    state text DEFAULT 'planned'::text NOT NULL,
    added_at timestamp with time zone,
    followed_at timestamp with time zone,
    CONSTRAINT import_items_address_check CHECK ((octet_length(address) <= 4096)),
    CONSTRAINT import_items_candidates_check CHECK ((jsonb_typeof(candidates) = 'array'::text)),
    CONSTRAINT import_items_chapters_check CHECK ((chapters >= 0)),
    CONSTRAINT import_items_check CHECK (((site = ''::text) = (series_id = ''::text))),
    CONSTRAINT import_items_check1 CHECK (((word <> ALL (ARRAY['matched'::text, 'no-adapter'::text])) OR (site <> ''::text))),
    CONSTRAINT import_items_position_check CHECK (("position" >= 0)),
    CONSTRAINT import_items_read_check CHECK ((read >= 0)),
    CONSTRAINT import_items_reason_check CHECK ((reason = ANY (ARRAY['address'::text, 'own-name'::text, 'title'::text, 'titles'::text, 'no-adapter'::text, 'unread'::text, 'no-title'::text, 'files'::text, 'not-followed'::text]))),
    CONSTRAINT import_items_source_check CHECK ((octet_length(source) <= 512)),
    CONSTRAINT import_items_state_check CHECK ((state = ANY (ARRAY['planned'::text, 'left'::text, 'adopted'::text, 'undone'::text]))),
    CONSTRAINT import_items_title_check CHECK ((octet_length(title) <= 2048)),
    CONSTRAINT import_items_word_check CHECK ((word = ANY (ARRAY['matched'::text, 'ambiguous'::text, 'unknown'::text, 'no-adapter'::text])))
);

ALTER TABLE reader.import_items OWNER TO mangrove_owner;

-- Name: COLUMN import_items.local_id; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.import_items.local_id IS 'the folder whose files were put here by another program and hold this Series, '''' for none';

-- Name: COLUMN import_items.followed_at; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.import_items.followed_at IS 'followed_at of the follow that adopting made; NULL when it made none';

-- Name: import_marks; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.import_marks (
    import_id bigint NOT NULL,
    "position" integer NOT NULL,
    nth integer NOT NULL,
    chapter_key text NOT NULL,
    number numeric,
    page integer NOT NULL,
    finished boolean NOT NULL,
    through boolean NOT NULL,
    read_at timestamp with time zone,
    CONSTRAINT import_marks_chapter_key_check CHECK ((octet_length(chapter_key) <= 2048)),
    CONSTRAINT import_marks_page_check CHECK ((page >= 0))
);

ALTER TABLE reader.import_marks OWNER TO mangrove_owner;

-- Name: COLUMN import_marks.through; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.import_marks.through IS 'every chapter with a lower number was read as well';

-- Name: import_places; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.import_places (
    import_id bigint NOT NULL,
    book_id bigint NOT NULL,
    written_at timestamp with time zone,
    page integer,
    finished boolean,
    device text,
    changed_at timestamp with time zone,
    CONSTRAINT import_places_check CHECK ((num_nulls(page, finished, device, changed_at) = ANY (ARRAY[0, 4])))
);

ALTER TABLE reader.import_places OWNER TO mangrove_owner;

-- Name: COLUMN import_places.written_at; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.import_places.written_at IS 'changed_at of the place as adopting wrote it; NULL when it left the place alone';

-- Name: COLUMN import_places.page; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.import_places.page IS 'with finished, device and changed_at the place before; NULL for none';

-- Name: imports; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.imports (
    id bigint NOT NULL,
    user_id bigint NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    state text DEFAULT 'planned'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    adopted_at timestamp with time zone,
    undone_at timestamp with time zone,
    CONSTRAINT imports_check CHECK (((state = 'planned'::text) = (adopted_at IS NULL))),
    CONSTRAINT imports_check1 CHECK (((state = 'undone'::text) = (undone_at IS NOT NULL))),
    CONSTRAINT imports_kind_check CHECK ((kind = ANY (ARRAY['mihon'::text, 'kotatsu'::text, 'mangrove'::text, 'folder'::text]))),
    CONSTRAINT imports_name_check CHECK (((char_length(name) >= 1) AND (char_length(name) <= 200))),
    CONSTRAINT imports_state_check CHECK ((state = ANY (ARRAY['planned'::text, 'adopted'::text, 'undone'::text])))
);

ALTER TABLE reader.imports OWNER TO mangrove_owner;

-- Name: imports_id_seq; Type: SEQUENCE; Schema: reader; Owner: mangrove_owner

ALTER TABLE reader.imports ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME reader.imports_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: library_cursor; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.library_cursor (
    singleton boolean DEFAULT true NOT NULL,
    epoch text DEFAULT ''::text NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    CONSTRAINT library_cursor_singleton_check CHECK (singleton)
);

ALTER TABLE reader.library_cursor OWNER TO mangrove_owner;

-- Name: notifications; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.notifications (
    id bigint NOT NULL,
    destination_id bigint NOT NULL,
    kind text NOT NULL,
    key text NOT NULL,
    text text NOT NULL,
    at timestamp with time zone NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    sent_at timestamp with time zone,
    CONSTRAINT notifications_kind_check CHECK ((kind = ANY (ARRAY['parked'::text, 'storage'::text, 'refused'::text, 'canary'::text, 'quarantined'::text, 'failing'::text, 'chapters'::text])))
);

ALTER TABLE reader.notifications OWNER TO mangrove_owner;

-- Name: COLUMN notifications.seen_at; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.notifications.seen_at IS 'when it was last known to last, to a day';

-- Name: notifications_id_seq; Type: SEQUENCE; Schema: reader; Owner: mangrove_owner

ALTER TABLE reader.notifications ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME reader.notifications_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: notify_destinations; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.notify_destinations (
    id bigint NOT NULL,
    name text NOT NULL,
    address text NOT NULL,
    kinds text[] NOT NULL,
    failing_days integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    next_at timestamp with time zone DEFAULT now() NOT NULL,
    sent_at timestamp with time zone,
    failed_at timestamp with time zone,
    failure text DEFAULT ''::text NOT NULL,
    tries integer DEFAULT 0 NOT NULL,
    CONSTRAINT notify_destinations_failing_days_check CHECK (((failing_days >= 0) AND (failing_days <= 365))),
    CONSTRAINT notify_destinations_kinds_check CHECK ((kinds <@ ARRAY['parked'::text, 'storage'::text, 'refused'::text, 'canary'::text, 'quarantined'::text, 'failing'::text, 'chapters'::text])),
    CONSTRAINT notify_destinations_name_check CHECK ((name <> ''::text))
);

ALTER TABLE reader.notify_destinations OWNER TO mangrove_owner;

-- Name: COLUMN notify_destinations.address; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.notify_destinations.address IS 'with its secrets; never shown, logged or exported';

-- Name: COLUMN notify_destinations.next_at; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.notify_destinations.next_at IS 'when the next message may go';

-- Name: notify_destinations_id_seq; Type: SEQUENCE; Schema: reader; Owner: mangrove_owner

ALTER TABLE reader.notify_destinations ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME reader.notify_destinations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: pages; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.pages (
    book_id bigint NOT NULL,
    "position" integer NOT NULL,
    name text NOT NULL,
    byte_offset bigint NOT NULL,
    size bigint NOT NULL,
    stored boolean NOT NULL,
    media_type text NOT NULL,
    width integer NOT NULL,
    height integer NOT NULL,
    CONSTRAINT pages_byte_offset_check CHECK ((byte_offset >= 0)),
    CONSTRAINT pages_height_check CHECK ((height >= 0)),
    CONSTRAINT pages_media_type_check CHECK ((media_type = ANY (ARRAY['image/jpeg'::text, 'image/png'::text, 'image/gif'::text, 'image/webp'::text, 'image/avif'::text]))),
    CONSTRAINT pages_position_check CHECK (("position" >= 0)),
    CONSTRAINT pages_size_check CHECK ((size > 0)),
    CONSTRAINT pages_width_check CHECK ((width >= 0))
);

ALTER TABLE reader.pages OWNER TO mangrove_owner;

-- Name: COLUMN pages.width; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.pages.width IS 'in pixels; width and height are both 0 for a page that is broken in its file';

-- Name: progress; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.progress (
    user_id bigint NOT NULL,
    book_id bigint NOT NULL,
    page integer NOT NULL,
    finished boolean DEFAULT false NOT NULL,
    device text DEFAULT ''::text NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT progress_page_check CHECK ((page >= 0))
);

ALTER TABLE reader.progress OWNER TO mangrove_owner;

-- Name: reading_settings; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.reading_settings (
    user_id bigint NOT NULL,
    title_id bigint,
    mode text NOT NULL,
    direction text NOT NULL,
    fit text NOT NULL,
    background text NOT NULL,
    gap text NOT NULL,
    cover text NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT reading_settings_background_check CHECK ((background = ANY (ARRAY['black'::text, 'grey'::text, 'paper'::text, 'white'::text]))),
    CONSTRAINT reading_settings_cover_check CHECK ((cover = ANY (ARRAY['alone'::text, 'paired'::text]))),
    CONSTRAINT reading_settings_direction_check CHECK ((direction = ANY (ARRAY['ltr'::text, 'rtl'::text]))),
    CONSTRAINT reading_settings_fit_check CHECK ((fit = ANY (ARRAY['both'::text, 'width'::text, 'height'::text, 'original'::text]))),
    CONSTRAINT reading_settings_gap_check CHECK ((gap = ANY (ARRAY['none'::text, 'narrow'::text, 'wide'::text]))),
    CONSTRAINT reading_settings_mode_check CHECK ((mode = ANY (ARRAY['auto'::text, 'single'::text, 'double'::text, 'vertical'::text, 'strip'::text])))
);

ALTER TABLE reader.reading_settings OWNER TO mangrove_owner;

-- Name: COLUMN reading_settings.cover; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.reading_settings.cover IS 'whether the first page of a chapter stands alone in double page, or beside the second';

-- Name: titles; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.titles (
    id bigint NOT NULL,
    site text NOT NULL,
    series_id text NOT NULL,
    title text NOT NULL,
    native_title text DEFAULT ''::text NOT NULL,
    authors text[] DEFAULT '{}'::text[] NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    url text DEFAULT ''::text NOT NULL,
    status text DEFAULT ''::text NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    license text DEFAULT ''::text NOT NULL,
    site_name text DEFAULT ''::text NOT NULL,
    reading_direction text DEFAULT ''::text NOT NULL,
    added_at timestamp with time zone DEFAULT now() NOT NULL,
    alt_titles text[] DEFAULT '{}'::text[] NOT NULL,
    shelf_order text GENERATED ALWAYS AS (reader.shelf_order(title)) STORED NOT NULL COLLATE pg_catalog."C",
    shelf_words text GENERATED ALWAYS AS (reader.shelf_words(title, native_title, alt_titles, authors, tags)) STORED NOT NULL,
    book_count integer DEFAULT 0 NOT NULL,
    gone_count integer DEFAULT 0 NOT NULL,
    unreadable_count integer DEFAULT 0 NOT NULL,
    lacking_count integer DEFAULT 0 NOT NULL,
    newest_at timestamp with time zone,
    languages text[] DEFAULT '{}'::text[] NOT NULL,
    cover_book bigint,
    CONSTRAINT titles_book_count_check CHECK ((book_count >= 0)),
    CONSTRAINT titles_check CHECK (((unreadable_count >= 0) AND (unreadable_count <= book_count))),
    CONSTRAINT titles_check1 CHECK (((lacking_count >= 0) AND (lacking_count <= book_count))),
    CONSTRAINT titles_gone_count_check CHECK ((gone_count >= 0)),
    CONSTRAINT titles_reading_direction_check CHECK ((reading_direction = ANY (ARRAY[''::text, 'ltr'::text, 'rtl'::text, 'strip'::text]))),
    CONSTRAINT titles_status_check CHECK ((status = ANY (ARRAY[''::text, 'ongoing'::text, 'completed'::text, 'hiatus'::text, 'cancelled'::text])))
);

ALTER TABLE reader.titles OWNER TO mangrove_owner;

-- Name: COLUMN titles.gone_count; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.titles.gone_count IS 'books that the library had and that are not there now';

-- Name: COLUMN titles.lacking_count; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.titles.lacking_count IS 'books that are there and lack pages, or cannot be read';

-- Name: users; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.users (
    id bigint NOT NULL,
    name text NOT NULL,
    name_key text NOT NULL,
    password_hash text,
    role text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    disabled_at timestamp with time zone,
    sees text DEFAULT 'everything'::text NOT NULL,
    language text,
    CONSTRAINT users_language_check CHECK (((length(language) <= 35) AND (language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'::text))),
    CONSTRAINT users_name_check CHECK ((name <> ''::text)),
    CONSTRAINT users_password_hash_check CHECK ((password_hash <> ''::text)),
    CONSTRAINT users_role_check CHECK ((role = ANY (ARRAY['administrator'::text, 'member'::text, 'guest'::text]))),
    CONSTRAINT users_sees_check CHECK ((sees = ANY (ARRAY['everything'::text, 'collections'::text])))
);

ALTER TABLE reader.users OWNER TO mangrove_owner;

-- Name: COLUMN users.name_key; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.users.name_key IS 'the name folded for comparison, so that two spellings of one name cannot both exist';

-- Name: COLUMN users.password_hash; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.users.password_hash IS 'NULL for those who have not come yet, and for those who only come through an issuer';

-- Name: COLUMN users.language; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.users.language IS 'a language tag; NULL is whatever the browser asks for';

-- Name: seen_titles; Type: VIEW; Schema: reader; Owner: mangrove_owner

CREATE VIEW reader.seen_titles AS
 SELECT u.id AS user_id,
    t.id AS title_id
   FROM (reader.users u
     JOIN reader.titles t ON (((u.role <> 'guest'::text) OR (u.sees = 'everything'::text) OR (EXISTS ( SELECT
           FROM (reader.guest_collections g
             JOIN reader.collection_series c ON ((c.collection_id = g.collection_id)))
          WHERE ((g.user_id = u.id) AND (c.site = t.site) AND (c.series_id = t.series_id)))))));

ALTER TABLE reader.seen_titles OWNER TO mangrove_owner;

-- Name: sessions; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.sessions (
    id bigint NOT NULL,
    token_hash bytea NOT NULL,
    user_id bigint NOT NULL,
    device text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    used_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    method text DEFAULT 'password'::text NOT NULL,
    CONSTRAINT sessions_check CHECK (((used_at >= created_at) AND (expires_at > used_at))),
    CONSTRAINT sessions_device_check CHECK (((char_length(device) >= 1) AND (char_length(device) <= 80))),
    CONSTRAINT sessions_method_check CHECK ((method = ANY (ARRAY['password'::text, 'issuer'::text]))),
    CONSTRAINT sessions_token_hash_check CHECK ((octet_length(token_hash) = 32))
);

ALTER TABLE reader.sessions OWNER TO mangrove_owner;

-- Name: COLUMN sessions.used_at; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON COLUMN reader.sessions.used_at IS 'written at most once a minute';

-- Name: sessions_id_seq; Type: SEQUENCE; Schema: reader; Owner: mangrove_owner

ALTER TABLE reader.sessions ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME reader.sessions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: shelf_reading; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.shelf_reading (
    user_id bigint NOT NULL,
    title_id bigint NOT NULL,
    finished integer NOT NULL,
    begun integer NOT NULL,
    read_at timestamp with time zone NOT NULL,
    current_book bigint,
    CONSTRAINT shelf_reading_check CHECK ((begun >= finished)),
    CONSTRAINT shelf_reading_finished_check CHECK ((finished >= 0))
);

ALTER TABLE reader.shelf_reading OWNER TO mangrove_owner;

-- Name: TABLE shelf_reading; Type: COMMENT; Schema: reader; Owner: mangrove_owner

COMMENT ON TABLE reader.shelf_reading IS 'kept by triggers of books and progress; counts only books that are here, and names the one that is being read';

-- Name: shelf; Type: VIEW; Schema: reader; Owner: mangrove_owner

CREATE VIEW reader.shelf AS
 SELECT u.id AS user_id,
    t.id AS title_id,
    t.site,
    t.series_id,
    t.title,
    t.site_name,
    t.status,
    t.tags,
    t.languages,
    t.shelf_order,
    t.shelf_words,
    t.added_at,
    t.book_count,
    ((t.book_count - t.unreadable_count) - COALESCE(r.finished, 0)) AS unread,
    COALESCE(r.begun, 0) AS begun,
    COALESCE(r.finished, 0) AS finished,
    r.read_at,
    t.newest_at,
    t.gone_count,
    t.unreadable_count,
    t.lacking_count,
    t.cover_book,
    r.current_book,
    (f.user_id IS NOT NULL) AS following
   FROM (((reader.users u
     JOIN reader.titles t ON (((u.role <> 'guest'::text) OR (u.sees = 'everything'::text) OR (EXISTS ( SELECT
           FROM (reader.guest_collections g
             JOIN reader.collection_series c ON ((c.collection_id = g.collection_id)))
          WHERE ((g.user_id = u.id) AND (c.site = t.site) AND (c.series_id = t.series_id)))))))
     LEFT JOIN reader.shelf_reading r ON (((r.user_id = u.id) AND (r.title_id = t.id))))
     LEFT JOIN reader.bookmarks f ON (((f.user_id = u.id) AND (f.site = t.site) AND (f.series_id = t.series_id))))
  WHERE (t.book_count > 0)
UNION ALL
 SELECT f.user_id,
    0 AS title_id,
    f.site,
    f.series_id,
    f.title,
    ''::text AS site_name,
    ''::text AS status,
    '{}'::text[] AS tags,
    '{}'::text[] AS languages,
    f.shelf_order,
    f.shelf_words,
    f.followed_at AS added_at,
    0 AS book_count,
    0 AS unread,
    0 AS begun,
    0 AS finished,
    NULL::timestamp with time zone AS read_at,
    NULL::timestamp with time zone AS newest_at,
    0 AS gone_count,
    0 AS unreadable_count,
    0 AS lacking_count,
    NULL::bigint AS cover_book,
    NULL::bigint AS current_book,
    true AS following
   FROM reader.bookmarks f
  WHERE (NOT (EXISTS ( SELECT
           FROM reader.titles t
          WHERE ((t.site = f.site) AND (t.series_id = f.series_id) AND (t.book_count > 0)))));

ALTER TABLE reader.shelf OWNER TO mangrove_owner;

-- Name: titles_id_seq; Type: SEQUENCE; Schema: reader; Owner: mangrove_owner

ALTER TABLE reader.titles ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME reader.titles_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: user_codes; Type: TABLE; Schema: reader; Owner: mangrove_owner

CREATE TABLE reader.user_codes (
    user_id bigint NOT NULL,
    purpose text NOT NULL,
    code_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT user_codes_check CHECK ((expires_at > created_at)),
    CONSTRAINT user_codes_code_hash_check CHECK ((octet_length(code_hash) = 32)),
    CONSTRAINT user_codes_purpose_check CHECK ((purpose = ANY (ARRAY['invitation'::text, 'reset'::text])))
);

ALTER TABLE reader.user_codes OWNER TO mangrove_owner;

-- Name: users_id_seq; Type: SEQUENCE; Schema: reader; Owner: mangrove_owner

ALTER TABLE reader.users ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME reader.users_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: adopted_files; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.adopted_files (
    path text NOT NULL,
    folder text NOT NULL,
    chapter_id text NOT NULL,
    adopted_at timestamp with time zone NOT NULL,
    CONSTRAINT adopted_files_chapter_id_check CHECK ((chapter_id <> ''::text)),
    CONSTRAINT adopted_files_folder_check CHECK ((folder <> ''::text))
);

ALTER TABLE scraper.adopted_files OWNER TO mangrove_owner;

-- Name: COLUMN adopted_files.folder; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.adopted_files.folder IS 'series_id of the files while their Site was "local"';

-- Name: canaries; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.canaries (
    site text NOT NULL,
    state text DEFAULT 'untried'::text NOT NULL,
    outcome text DEFAULT ''::text NOT NULL,
    series_id text DEFAULT ''::text NOT NULL,
    chapter_id text DEFAULT ''::text NOT NULL,
    chapters integer DEFAULT 0 NOT NULL,
    ran_at timestamp with time zone,
    good_at timestamp with time zone,
    failing_since timestamp with time zone,
    next_at timestamp with time zone,
    evidence text DEFAULT ''::text NOT NULL,
    CONSTRAINT canaries_chapter_id_check CHECK ((octet_length(chapter_id) <= 2048)),
    CONSTRAINT canaries_chapters_check CHECK ((chapters >= 0)),
    CONSTRAINT canaries_check CHECK (((state = ANY (ARRAY['doubtful'::text, 'failing'::text])) = (failing_since IS NOT NULL))),
    CONSTRAINT canaries_check1 CHECK (((state <> 'well'::text) OR (good_at IS NOT NULL))),
    CONSTRAINT canaries_evidence_check CHECK ((octet_length(evidence) <= 500)),
    CONSTRAINT canaries_outcome_check CHECK ((outcome = ANY (ARRAY[''::text, 'ok'::text, 'errors'::text, 'no_landmark'::text, 'gone'::text, 'moved'::text, 'no_chapter'::text, 'fewer'::text, 'no_pages'::text, 'bad_pages'::text, 'refused'::text, 'away'::text]))),
    CONSTRAINT canaries_series_id_check CHECK ((octet_length(series_id) <= 2048)),
    CONSTRAINT canaries_state_check CHECK ((state = ANY (ARRAY['untried'::text, 'well'::text, 'doubtful'::text, 'failing'::text])))
);

ALTER TABLE scraper.canaries OWNER TO mangrove_owner;

-- Name: COLUMN canaries.series_id; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.canaries.series_id IS 'of the last trial; chapter_id is the chapter whose pages were read well last, chapters how many were listed then';

-- Name: COLUMN canaries.next_at; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.canaries.next_at IS 'when the next trial is due; none before the first Follow';

-- Name: chapter_fetches; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.chapter_fetches (
    site text NOT NULL,
    series_id text NOT NULL,
    chapter_id text NOT NULL,
    fetched_at timestamp with time zone NOT NULL
);

ALTER TABLE scraper.chapter_fetches OWNER TO mangrove_owner;

-- Name: chapters; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.chapters (
    site text NOT NULL,
    series_id text NOT NULL,
    chapter_id text NOT NULL,
    number numeric,
    volume numeric,
    title text DEFAULT ''::text NOT NULL,
    language text DEFAULT ''::text NOT NULL,
    groups text[] DEFAULT '{}'::text[] NOT NULL,
    url text NOT NULL,
    source_order integer NOT NULL,
    external boolean DEFAULT false NOT NULL,
    published_at timestamp with time zone,
    first_seen_at timestamp with time zone NOT NULL,
    announced_at timestamp with time zone,
    gone_since timestamp with time zone,
    changed_at timestamp with time zone,
    CONSTRAINT chapters_chapter_id_check CHECK ((chapter_id <> ''::text))
);

ALTER TABLE scraper.chapters OWNER TO mangrove_owner;

-- Name: COLUMN chapters.announced_at; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.chapters.announced_at IS 'when it was announced as new, once; none is when a Series is read for the first time (POLL-12)';

-- Name: COLUMN chapters.changed_at; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.chapters.changed_at IS 'when the Site last listed it otherwise than before; a chapter set aside is tried again after that (JOB-4)';

-- Name: circuits; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.circuits (
    site text NOT NULL,
    state text DEFAULT 'closed'::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    detail text DEFAULT ''::text NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    until timestamp with time zone,
    retry_after timestamp with time zone,
    CONSTRAINT circuits_check CHECK (((state = 'closed'::text) = (reason = ''::text))),
    CONSTRAINT circuits_check1 CHECK (((state = ANY (ARRAY['open'::text, 'probing'::text])) = (until IS NOT NULL))),
    CONSTRAINT circuits_reason_check CHECK ((reason = ANY (ARRAY[''::text, 'outage'::text, 'access'::text, 'systemic'::text, 'operator'::text]))),
    CONSTRAINT circuits_state_check CHECK ((state = ANY (ARRAY['closed'::text, 'open'::text, 'probing'::text, 'paused'::text])))
);

ALTER TABLE scraper.circuits OWNER TO mangrove_owner;

-- Name: discoveries; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.discoveries (
    id bigint NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    end_reason text NOT NULL,
    looked_at integer NOT NULL,
    requested integer NOT NULL,
    CONSTRAINT discoveries_end_reason_check CHECK ((end_reason = ANY (ARRAY['complete'::text, 'no_inventory'::text, 'stopped'::text]))),
    CONSTRAINT discoveries_looked_at_check CHECK ((looked_at >= 0)),
    CONSTRAINT discoveries_requested_check CHECK ((requested >= 0))
);

ALTER TABLE scraper.discoveries OWNER TO mangrove_owner;

-- Name: discoveries_id_seq; Type: SEQUENCE; Schema: scraper; Owner: mangrove_owner

ALTER TABLE scraper.discoveries ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME scraper.discoveries_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: discovery_skips; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.discovery_skips (
    discovery_id bigint NOT NULL,
    site text NOT NULL,
    series_id text NOT NULL,
    why text NOT NULL,
    job_id bigint,
    CONSTRAINT discovery_skips_why_check CHECK ((why = ANY (ARRAY['outstanding'::text, 'unavailable'::text, 'quarantined'::text, 'failed'::text])))
);

ALTER TABLE scraper.discovery_skips OWNER TO mangrove_owner;

-- Name: follows; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.follows (
    singleton boolean DEFAULT true NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    CONSTRAINT follows_singleton_check CHECK (singleton)
);

ALTER TABLE scraper.follows OWNER TO mangrove_owner;

-- Name: holds; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.holds (
    kind text NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    detail text DEFAULT ''::text NOT NULL,
    CONSTRAINT holds_kind_check CHECK ((kind = ANY (ARRAY['queue'::text, 'storage'::text])))
);

ALTER TABLE scraper.holds OWNER TO mangrove_owner;

-- Name: incident_evidence; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.incident_evidence (
    incident_id bigint NOT NULL,
    "position" integer NOT NULL,
    at timestamp with time zone NOT NULL,
    address text NOT NULL,
    status integer NOT NULL,
    media_type text DEFAULT ''::text NOT NULL,
    headers jsonb DEFAULT '[]'::jsonb NOT NULL,
    size bigint NOT NULL,
    removed integer DEFAULT 0 NOT NULL,
    cut boolean DEFAULT false NOT NULL,
    body bytea NOT NULL,
    CONSTRAINT incident_evidence_address_check CHECK ((octet_length(address) <= 2048)),
    CONSTRAINT incident_evidence_body_check CHECK ((octet_length(body) <= 262144)),
    CONSTRAINT incident_evidence_media_type_check CHECK ((octet_length(media_type) <= 256)),
    CONSTRAINT incident_evidence_position_check CHECK ((("position" >= 1) AND ("position" <= 3))),
    CONSTRAINT incident_evidence_removed_check CHECK ((removed >= 0)),
    CONSTRAINT incident_evidence_size_check CHECK ((size >= 0))
);

ALTER TABLE scraper.incident_evidence OWNER TO mangrove_owner;

-- Name: COLUMN incident_evidence.size; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.incident_evidence.size IS 'of the whole answer as it came; cut is true when body is less of it';

-- Name: COLUMN incident_evidence.removed; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.incident_evidence.removed IS 'how many places were blanked in body';

-- Name: incidents; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.incidents (
    id bigint NOT NULL,
    kind text NOT NULL,
    about text NOT NULL,
    site text NOT NULL,
    series_id text DEFAULT ''::text NOT NULL,
    job_id bigint DEFAULT 0 NOT NULL,
    chapter_id text DEFAULT ''::text NOT NULL,
    subject text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    decided jsonb DEFAULT '[]'::jsonb NOT NULL,
    at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    seen integer DEFAULT 1 NOT NULL,
    checkpoint bytea,
    resolved_at timestamp with time zone,
    resolution text DEFAULT ''::text NOT NULL,
    CONSTRAINT incidents_about_check CHECK ((about = ANY (ARRAY['series'::text, 'job'::text, 'chapter'::text, 'circuit'::text, 'hold'::text, 'file'::text, 'canary'::text]))),
    CONSTRAINT incidents_chapter_id_check CHECK ((octet_length(chapter_id) <= 2048)),
    CONSTRAINT incidents_check CHECK (((resolution = ''::text) = (resolved_at IS NULL))),
    CONSTRAINT incidents_check1 CHECK ((last_at >= at)),
    CONSTRAINT incidents_checkpoint_check CHECK ((octet_length(checkpoint) <= 65536)),
    CONSTRAINT incidents_decided_check CHECK (((jsonb_typeof(decided) = 'array'::text) AND (jsonb_array_length(decided) <= 20))),
    CONSTRAINT incidents_job_id_check CHECK ((job_id >= 0)),
    CONSTRAINT incidents_kind_check CHECK ((kind = ANY (ARRAY['network'::text, 'parser'::text, 'access'::text, 'storage'::text, 'page'::text, 'conflict'::text, 'stall'::text, 'unknown'::text]))),
    CONSTRAINT incidents_reason_check CHECK ((octet_length(reason) <= 2048)),
    CONSTRAINT incidents_resolution_check CHECK ((resolution = ANY (ARRAY[''::text, 'resumed'::text, 'retried'::text, 'released'::text, 'good_read'::text, 'operator'::text]))),
    CONSTRAINT incidents_seen_check CHECK ((seen > 0)),
    CONSTRAINT incidents_series_id_check CHECK ((octet_length(series_id) <= 2048)),
    CONSTRAINT incidents_site_check CHECK ((octet_length(site) <= 512)),
    CONSTRAINT incidents_subject_check CHECK ((octet_length(subject) <= 2048))
);

ALTER TABLE scraper.incidents OWNER TO mangrove_owner;

-- Name: COLUMN incidents.about; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.incidents.about IS 'what the failure stopped; what ends that resolves the incident';

-- Name: COLUMN incidents.seen; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.incidents.seen IS 'how often the same happened while it stood unresolved';

-- Name: COLUMN incidents.checkpoint; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.incidents.checkpoint IS 'the Job''s checkpoint as it was then';

-- Name: incidents_id_seq; Type: SEQUENCE; Schema: scraper; Owner: mangrove_owner

ALTER TABLE scraper.incidents ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME scraper.incidents_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: job_chapters; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.job_chapters (
    job_id bigint NOT NULL,
    chapter_id text NOT NULL,
    "position" integer NOT NULL,
    state text DEFAULT 'waiting'::text NOT NULL,
    pages integer DEFAULT 0 NOT NULL,
    class text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    set_aside_at timestamp with time zone,
    accept_missing boolean DEFAULT false NOT NULL,
    replaces text DEFAULT ''::text NOT NULL,
    CONSTRAINT job_chapters_class_check CHECK ((class = ANY (ARRAY[''::text, 'network'::text, 'unavailable'::text, 'parser'::text, 'access'::text, 'storage'::text, 'page'::text, 'conflict'::text, 'unknown'::text, 'stall'::text]))),
    CONSTRAINT job_chapters_pages_check CHECK ((pages >= 0)),
    CONSTRAINT job_chapters_set_aside CHECK (((state = 'set_aside'::text) = (set_aside_at IS NOT NULL))),
    CONSTRAINT job_chapters_state_check CHECK ((state = ANY (ARRAY['waiting'::text, 'downloading'::text, 'published'::text, 'set_aside'::text])))
);

ALTER TABLE scraper.job_chapters OWNER TO mangrove_owner;

-- Name: COLUMN job_chapters.accept_missing; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.job_chapters.accept_missing IS 'an operator takes the chapter without the pages that are no whole images';

-- Name: COLUMN job_chapters.replaces; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.job_chapters.replaces IS 'path of the library file that goes once this chapter is published';

-- Name: job_crashes; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.job_crashes (
    job_id bigint NOT NULL,
    crashed_at timestamp with time zone NOT NULL,
    fingerprint text NOT NULL
);

ALTER TABLE scraper.job_crashes OWNER TO mangrove_owner;

-- Name: COLUMN job_crashes.fingerprint; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.job_crashes.fingerprint IS 'of the checkpoint as the crash left it; empty when there was none to read';

-- Name: job_transitions; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.job_transitions (
    from_state text NOT NULL,
    to_state text NOT NULL
);

ALTER TABLE scraper.job_transitions OWNER TO mangrove_owner;

-- Name: jobs; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.jobs (
    id bigint NOT NULL,
    site text NOT NULL,
    series_id text NOT NULL,
    state text DEFAULT 'requested'::text NOT NULL,
    unattended boolean DEFAULT false NOT NULL,
    class text DEFAULT ''::text NOT NULL,
    reason text DEFAULT ''::text NOT NULL,
    retries integer DEFAULT 0 NOT NULL,
    stalls integer DEFAULT 0 NOT NULL,
    retry_at timestamp with time zone,
    requested_at timestamp with time zone DEFAULT now() NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL,
    finished_at timestamp with time zone,
    priority text DEFAULT 'normal'::text NOT NULL,
    resume_to text DEFAULT ''::text NOT NULL,
    CONSTRAINT jobs_check CHECK (((state = 'retry_wait'::text) = (retry_at IS NOT NULL))),
    CONSTRAINT jobs_check1 CHECK (((state = ANY (ARRAY['unavailable'::text, 'quarantined'::text, 'done'::text, 'cancelled'::text])) = (finished_at IS NOT NULL))),
    CONSTRAINT jobs_class_check CHECK ((class = ANY (ARRAY[''::text, 'network'::text, 'unavailable'::text, 'parser'::text, 'access'::text, 'storage'::text, 'page'::text, 'conflict'::text, 'unknown'::text, 'stall'::text]))),
    CONSTRAINT jobs_priority_check CHECK ((priority = ANY (ARRAY['high'::text, 'normal'::text, 'low'::text]))),
    CONSTRAINT jobs_resume_to_check CHECK ((resume_to = ANY (ARRAY[''::text, 'requested'::text, 'queued'::text]))),
    CONSTRAINT jobs_retries_check CHECK ((retries >= 0)),
    CONSTRAINT jobs_stalls_check CHECK ((stalls >= 0)),
    CONSTRAINT jobs_state_check CHECK ((state = ANY (ARRAY['requested'::text, 'inspecting'::text, 'ready'::text, 'queued'::text, 'downloading'::text, 'paused'::text, 'retry_wait'::text, 'unavailable'::text, 'quarantined'::text, 'done'::text, 'cancelled'::text])))
);

ALTER TABLE scraper.jobs OWNER TO mangrove_owner;

-- Name: COLUMN jobs.resume_to; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.jobs.resume_to IS 'where a paused Job goes on; a Job that was never inspected, or waited for its retry, is inspected first';

-- Name: jobs_id_seq; Type: SEQUENCE; Schema: scraper; Owner: mangrove_owner

ALTER TABLE scraper.jobs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME scraper.jobs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: library; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.library (
    singleton boolean DEFAULT true NOT NULL,
    library_id text DEFAULT ''::text NOT NULL,
    epoch text NOT NULL,
    revision bigint DEFAULT 0 NOT NULL,
    CONSTRAINT library_singleton_check CHECK (singleton)
);

ALTER TABLE scraper.library OWNER TO mangrove_owner;

-- Name: library_files; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.library_files (
    path text NOT NULL,
    revision bigint NOT NULL,
    state text NOT NULL,
    site text NOT NULL,
    series_id text NOT NULL,
    chapter_id text NOT NULL,
    series_title text NOT NULL,
    number numeric,
    volume numeric,
    title text DEFAULT ''::text NOT NULL,
    language text DEFAULT ''::text NOT NULL,
    groups text[] DEFAULT '{}'::text[] NOT NULL,
    source_order integer DEFAULT 0 NOT NULL,
    pages integer NOT NULL,
    size bigint NOT NULL,
    fingerprint text NOT NULL,
    published_at timestamp with time zone NOT NULL,
    missing_pages integer[] DEFAULT '{}'::integer[] NOT NULL,
    again boolean DEFAULT false NOT NULL,
    replaced_by text DEFAULT ''::text NOT NULL,
    file_gone boolean DEFAULT false NOT NULL,
    mtime_ns bigint DEFAULT 0 NOT NULL,
    folder text GENERATED ALWAYS AS (COALESCE("substring"(path, '^(.*)/[^/]*$'::text), ''::text)) STORED NOT NULL,
    kind text DEFAULT 'zip'::text NOT NULL,
    unreadable text DEFAULT ''::text NOT NULL,
    verified_at timestamp with time zone,
    CONSTRAINT library_files_kind_check CHECK ((kind = ANY (ARRAY['zip'::text, 'rar'::text, '7z'::text, 'folder'::text]))),
    CONSTRAINT library_files_pages_check CHECK (((pages > 0) OR ((pages = 0) AND (unreadable <> ''::text)))),
    CONSTRAINT library_files_replaced CHECK (((replaced_by = ''::text) OR (state = 'removed'::text))),
    CONSTRAINT library_files_size_check CHECK (((size > 0) OR ((size = 0) AND (unreadable <> ''::text)))),
    CONSTRAINT library_files_state_check CHECK ((state = ANY (ARRAY['published'::text, 'missing'::text, 'removed'::text]))),
    CONSTRAINT library_files_unreadable_check CHECK ((unreadable = ANY (ARRAY[''::text, 'empty'::text, 'not-an-archive'::text, 'encrypted'::text, 'corrupt'::text, 'too-large'::text, 'unsafe-names'::text, 'duplicate-names'::text, 'no-pages'::text, 'unsupported'::text])))
);

ALTER TABLE scraper.library_files OWNER TO mangrove_owner;

-- Name: COLUMN library_files.missing_pages; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.library_files.missing_pages IS 'numbers, from 1, of the Site''s pages that the file was published without';

-- Name: COLUMN library_files.again; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.library_files.again IS 'an operator wants the missing pages asked for again';

-- Name: COLUMN library_files.replaced_by; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.library_files.replaced_by IS 'path of the file that took its place; its readers'' progress goes with it';

-- Name: COLUMN library_files.file_gone; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.library_files.file_gone IS 'a replaced file has been removed from the folder';

-- Name: COLUMN library_files.mtime_ns; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.library_files.mtime_ns IS 'of the file when it was last read, in nanoseconds since 1970; 0 is not known, and its size alone is compared';

-- Name: COLUMN library_files.kind; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.library_files.kind IS 'what holds the pages, by its bytes; of a folder, path is the folder and size that of its pictures';

-- Name: COLUMN library_files.unreadable; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.library_files.unreadable IS 'why it cannot be read, or empty; pages is then 0';

-- Name: COLUMN library_files.verified_at; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.library_files.verified_at IS 'when it was last read to its last byte; none is never since it was published';

-- Name: move_proposals; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.move_proposals (
    site text NOT NULL,
    series_id text NOT NULL,
    url text NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    because text NOT NULL,
    CONSTRAINT move_proposals_because_check CHECK ((because = ANY (ARRAY['redirect'::text, 'same_title'::text])))
);

ALTER TABLE scraper.move_proposals OWNER TO mangrove_owner;

-- Name: poll_failures; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.poll_failures (
    site text NOT NULL,
    series_id text NOT NULL,
    outcome text NOT NULL,
    failing_since timestamp with time zone NOT NULL,
    CONSTRAINT poll_failures_outcome_check CHECK ((outcome = ANY (ARRAY['not_found'::text, 'no_chapter'::text, 'unfetchable'::text, 'errors'::text])))
);

ALTER TABLE scraper.poll_failures OWNER TO mangrove_owner;

-- Name: poll_lanes; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.poll_lanes (
    site text NOT NULL,
    activity text DEFAULT 'idle'::text NOT NULL,
    series_id text DEFAULT ''::text NOT NULL,
    trouble text DEFAULT ''::text NOT NULL,
    trouble_since timestamp with time zone,
    holder text DEFAULT ''::text NOT NULL,
    counting_since timestamp with time zone DEFAULT now() NOT NULL,
    cycled_at timestamp with time zone,
    CONSTRAINT poll_lanes_activity_check CHECK ((activity = ANY (ARRAY['idle'::text, 'polling'::text, 'inspecting'::text, 'downloading'::text]))),
    CONSTRAINT poll_lanes_check CHECK (((trouble = ''::text) = (trouble_since IS NULL))),
    CONSTRAINT poll_lanes_trouble_check CHECK ((trouble = ANY (ARRAY[''::text, 'refused'::text, 'unreachable'::text])))
);

ALTER TABLE scraper.poll_lanes OWNER TO mangrove_owner;

-- Name: COLUMN poll_lanes.cycled_at; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.poll_lanes.cycled_at IS 'when every Series of the Lane had been polled since counting_since; ages mean something from then on (POLL-11)';

-- Name: poll_passes; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.poll_passes (
    id bigint NOT NULL,
    site text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone NOT NULL,
    end_reason text NOT NULL,
    ok integer DEFAULT 0 NOT NULL,
    not_found integer DEFAULT 0 NOT NULL,
    no_chapter integer DEFAULT 0 NOT NULL,
    unfetchable integer DEFAULT 0 NOT NULL,
    errors integer DEFAULT 0 NOT NULL,
    refused integer DEFAULT 0 NOT NULL,
    unreachable integer DEFAULT 0 NOT NULL,
    new_chapters integer DEFAULT 0 NOT NULL,
    CONSTRAINT poll_passes_end_reason_check CHECK ((end_reason = ANY (ARRAY['complete'::text, 'refused'::text, 'unreachable'::text, 'outage'::text, 'stopped'::text])))
);

ALTER TABLE scraper.poll_passes OWNER TO mangrove_owner;

-- Name: poll_passes_id_seq; Type: SEQUENCE; Schema: scraper; Owner: mangrove_owner

ALTER TABLE scraper.poll_passes ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME scraper.poll_passes_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

-- Name: preferred_groups; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.preferred_groups (
    site text NOT NULL,
    series_id text NOT NULL,
    groups text[] NOT NULL,
    CONSTRAINT preferred_groups_groups_check CHECK ((groups <> '{}'::text[]))
);

ALTER TABLE scraper.preferred_groups OWNER TO mangrove_owner;

-- Name: series; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.series (
    site text NOT NULL,
    series_id text NOT NULL,
    title text NOT NULL,
    native_title text DEFAULT ''::text NOT NULL,
    authors text[] DEFAULT '{}'::text[] NOT NULL,
    description text DEFAULT ''::text NOT NULL,
    url text NOT NULL,
    status text DEFAULT ''::text NOT NULL,
    tags text[] DEFAULT '{}'::text[] NOT NULL,
    license text DEFAULT ''::text NOT NULL,
    reading_direction text DEFAULT ''::text NOT NULL,
    cover_url text DEFAULT ''::text NOT NULL,
    cover_sha256 text DEFAULT ''::text NOT NULL,
    origin text NOT NULL,
    download boolean DEFAULT false NOT NULL,
    languages text[] DEFAULT '{}'::text[] NOT NULL,
    follow_revision bigint DEFAULT 0 NOT NULL,
    absent_since timestamp with time zone,
    folder text DEFAULT ''::text NOT NULL,
    etag text DEFAULT ''::text NOT NULL,
    last_modified text DEFAULT ''::text NOT NULL,
    added_at timestamp with time zone DEFAULT now() NOT NULL,
    next_poll_at timestamp with time zone DEFAULT now() NOT NULL,
    next_poll_reason text DEFAULT 'interval'::text NOT NULL,
    forced_poll_at timestamp with time zone,
    last_good_read_at timestamp with time zone,
    polled_at timestamp with time zone,
    shrunk_at timestamp with time zone,
    moved_at timestamp with time zone,
    alt_titles text[] DEFAULT '{}'::text[] NOT NULL,
    CONSTRAINT series_next_poll_reason_check CHECK ((next_poll_reason = ANY (ARRAY['interval'::text, 'releases'::text]))),
    CONSTRAINT series_origin_check CHECK ((origin = ANY (ARRAY['listed'::text, 'followed'::text]))),
    CONSTRAINT series_reading_direction_check CHECK ((reading_direction = ANY (ARRAY[''::text, 'ltr'::text, 'rtl'::text, 'strip'::text]))),
    CONSTRAINT series_series_id_check CHECK ((series_id <> ''::text)),
    CONSTRAINT series_site_check CHECK ((site <> ''::text)),
    CONSTRAINT series_status_check CHECK ((status = ANY (ARRAY[''::text, 'ongoing'::text, 'completed'::text, 'hiatus'::text, 'cancelled'::text])))
);

ALTER TABLE scraper.series OWNER TO mangrove_owner;

-- Name: COLUMN series.absent_since; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.series.absent_since IS 'missing from a whole desired set since (OWN-3); it leaves after a day';

-- Name: COLUMN series.folder; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.series.folder IS 'name of its folder in the library, set at the first publication and stable from then on (PUB-5)';

-- Name: COLUMN series.polled_at; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.series.polled_at IS 'when a Poll with evidence last ended; pacing and pages only, never a failure mark (POLL-2)';

-- Name: COLUMN series.shrunk_at; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.series.shrunk_at IS 'since when its list has lost more than half of its chapters; believed at the second such read';

-- Name: COLUMN series.moved_at; Type: COMMENT; Schema: scraper; Owner: mangrove_owner

COMMENT ON COLUMN scraper.series.moved_at IS 'when a person moved it here; cleared by the first good read, which matches its chapters by number (POLL-14)';

-- Name: series_moves; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.series_moves (
    from_site text NOT NULL,
    from_id text NOT NULL,
    to_site text NOT NULL,
    to_id text NOT NULL,
    moved_at timestamp with time zone NOT NULL
);

ALTER TABLE scraper.series_moves OWNER TO mangrove_owner;

-- Name: settings; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.settings (
    key text NOT NULL,
    value text NOT NULL
);

ALTER TABLE scraper.settings OWNER TO mangrove_owner;

-- Name: worklist_mutes; Type: TABLE; Schema: scraper; Owner: mangrove_owner

CREATE TABLE scraper.worklist_mutes (
    site text NOT NULL,
    series_id text NOT NULL,
    muted_at timestamp with time zone NOT NULL
);

ALTER TABLE scraper.worklist_mutes OWNER TO mangrove_owner;

-- Name: migrations migrations_pkey; Type: CONSTRAINT; Schema: mangrove; Owner: mangrove_owner

ALTER TABLE ONLY mangrove.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (id);

-- Name: api_keys api_keys_key_hash_key; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.api_keys
    ADD CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash);

-- Name: api_keys api_keys_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.api_keys
    ADD CONSTRAINT api_keys_pkey PRIMARY KEY (id);

-- Name: bookmarks bookmarks_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.bookmarks
    ADD CONSTRAINT bookmarks_pkey PRIMARY KEY (user_id, site, series_id);

-- Name: books books_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.books
    ADD CONSTRAINT books_pkey PRIMARY KEY (id);

-- Name: books books_title_id_chapter_id_key; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.books
    ADD CONSTRAINT books_title_id_chapter_id_key UNIQUE (title_id, chapter_id);

-- Name: claim claim_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.claim
    ADD CONSTRAINT claim_pkey PRIMARY KEY (singleton);

-- Name: collection_series collection_series_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.collection_series
    ADD CONSTRAINT collection_series_pkey PRIMARY KEY (collection_id, site, series_id);

-- Name: collections collections_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.collections
    ADD CONSTRAINT collections_pkey PRIMARY KEY (id);

-- Name: follow_revision follow_revision_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.follow_revision
    ADD CONSTRAINT follow_revision_pkey PRIMARY KEY (singleton);

-- Name: guest_collections guest_collections_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.guest_collections
    ADD CONSTRAINT guest_collections_pkey PRIMARY KEY (user_id, collection_id);

-- Name: identities identities_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.identities
    ADD CONSTRAINT identities_pkey PRIMARY KEY (issuer, subject);

-- Name: identities identities_user_id_issuer_key; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.identities
    ADD CONSTRAINT identities_user_id_issuer_key UNIQUE (user_id, issuer);

-- Name: import_collected import_collected_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.import_collected
    ADD CONSTRAINT import_collected_pkey PRIMARY KEY (import_id, collection_id, site, series_id);

-- Name: import_items import_items_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.import_items
    ADD CONSTRAINT import_items_pkey PRIMARY KEY (import_id, "position");

-- Name: import_marks import_marks_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.import_marks
    ADD CONSTRAINT import_marks_pkey PRIMARY KEY (import_id, "position", nth);

-- Name: import_places import_places_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.import_places
    ADD CONSTRAINT import_places_pkey PRIMARY KEY (import_id, book_id);

-- Name: imports imports_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.imports
    ADD CONSTRAINT imports_pkey PRIMARY KEY (id);

-- Name: library_cursor library_cursor_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.library_cursor
    ADD CONSTRAINT library_cursor_pkey PRIMARY KEY (singleton);

-- Name: notifications notifications_destination_id_kind_key_key; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.notifications
    ADD CONSTRAINT notifications_destination_id_kind_key_key UNIQUE (destination_id, kind, key);

-- Name: notifications notifications_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.notifications
    ADD CONSTRAINT notifications_pkey PRIMARY KEY (id);

-- Name: notify_destinations notify_destinations_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.notify_destinations
    ADD CONSTRAINT notify_destinations_pkey PRIMARY KEY (id);

-- Name: pages pages_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.pages
    ADD CONSTRAINT pages_pkey PRIMARY KEY (book_id, "position");

-- Name: progress progress_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.progress
    ADD CONSTRAINT progress_pkey PRIMARY KEY (user_id, book_id);

-- Name: sessions sessions_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);

-- Name: sessions sessions_token_hash_key; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.sessions
    ADD CONSTRAINT sessions_token_hash_key UNIQUE (token_hash);

-- Name: shelf_reading shelf_reading_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.shelf_reading
    ADD CONSTRAINT shelf_reading_pkey PRIMARY KEY (user_id, title_id);

-- Name: titles titles_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.titles
    ADD CONSTRAINT titles_pkey PRIMARY KEY (id);

-- Name: titles titles_site_series_id_key; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.titles
    ADD CONSTRAINT titles_site_series_id_key UNIQUE (site, series_id);

-- Name: user_codes user_codes_code_hash_key; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.user_codes
    ADD CONSTRAINT user_codes_code_hash_key UNIQUE (code_hash);

-- Name: user_codes user_codes_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.user_codes
    ADD CONSTRAINT user_codes_pkey PRIMARY KEY (user_id);

-- Name: users users_name_key_key; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.users
    ADD CONSTRAINT users_name_key_key UNIQUE (name_key);

-- Name: users users_pkey; Type: CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

-- Name: adopted_files adopted_files_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.adopted_files
    ADD CONSTRAINT adopted_files_pkey PRIMARY KEY (path);

-- Name: canaries canaries_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.canaries
    ADD CONSTRAINT canaries_pkey PRIMARY KEY (site);

-- Name: chapter_fetches chapter_fetches_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.chapter_fetches
    ADD CONSTRAINT chapter_fetches_pkey PRIMARY KEY (site, series_id, chapter_id, fetched_at);

-- Name: chapters chapters_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.chapters
    ADD CONSTRAINT chapters_pkey PRIMARY KEY (site, series_id, chapter_id);

-- Name: circuits circuits_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.circuits
    ADD CONSTRAINT circuits_pkey PRIMARY KEY (site);

-- Name: discoveries discoveries_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.discoveries
    ADD CONSTRAINT discoveries_pkey PRIMARY KEY (id);

-- Name: discovery_skips discovery_skips_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.discovery_skips
    ADD CONSTRAINT discovery_skips_pkey PRIMARY KEY (discovery_id, site, series_id);

-- Name: follows follows_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.follows
    ADD CONSTRAINT follows_pkey PRIMARY KEY (singleton);

-- Name: holds holds_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.holds
    ADD CONSTRAINT holds_pkey PRIMARY KEY (kind);

-- Name: incident_evidence incident_evidence_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.incident_evidence
    ADD CONSTRAINT incident_evidence_pkey PRIMARY KEY (incident_id, "position");

-- Name: incidents incidents_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.incidents
    ADD CONSTRAINT incidents_pkey PRIMARY KEY (id);

-- Name: job_chapters job_chapters_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.job_chapters
    ADD CONSTRAINT job_chapters_pkey PRIMARY KEY (job_id, chapter_id);

-- Name: job_crashes job_crashes_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.job_crashes
    ADD CONSTRAINT job_crashes_pkey PRIMARY KEY (job_id, crashed_at);

-- Name: job_transitions job_transitions_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.job_transitions
    ADD CONSTRAINT job_transitions_pkey PRIMARY KEY (from_state, to_state);

-- Name: jobs jobs_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.jobs
    ADD CONSTRAINT jobs_pkey PRIMARY KEY (id);

-- Name: library_files library_files_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.library_files
    ADD CONSTRAINT library_files_pkey PRIMARY KEY (path);

-- Name: library_files library_files_revision_key; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.library_files
    ADD CONSTRAINT library_files_revision_key UNIQUE (revision);

-- Name: library library_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.library
    ADD CONSTRAINT library_pkey PRIMARY KEY (singleton);

-- Name: move_proposals move_proposals_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.move_proposals
    ADD CONSTRAINT move_proposals_pkey PRIMARY KEY (site, series_id);

-- Name: poll_failures poll_failures_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.poll_failures
    ADD CONSTRAINT poll_failures_pkey PRIMARY KEY (site, series_id);

-- Name: poll_lanes poll_lanes_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.poll_lanes
    ADD CONSTRAINT poll_lanes_pkey PRIMARY KEY (site);

-- Name: poll_passes poll_passes_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.poll_passes
    ADD CONSTRAINT poll_passes_pkey PRIMARY KEY (id);

-- Name: preferred_groups preferred_groups_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.preferred_groups
    ADD CONSTRAINT preferred_groups_pkey PRIMARY KEY (site, series_id);

-- Name: series_moves series_moves_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.series_moves
    ADD CONSTRAINT series_moves_pkey PRIMARY KEY (from_site, from_id);

-- Name: series series_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.series
    ADD CONSTRAINT series_pkey PRIMARY KEY (site, series_id);

-- Name: settings settings_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.settings
    ADD CONSTRAINT settings_pkey PRIMARY KEY (key);

-- Name: worklist_mutes worklist_mutes_pkey; Type: CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.worklist_mutes
    ADD CONSTRAINT worklist_mutes_pkey PRIMARY KEY (site, series_id);

-- Name: api_keys_user; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX api_keys_user ON reader.api_keys USING btree (user_id);

-- Name: bookmarks_series; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX bookmarks_series ON reader.bookmarks USING btree (site, series_id);

-- Name: books_path; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX books_path ON reader.books USING btree (path);

-- Name: books_unreadable; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX books_unreadable ON reader.books USING btree (title_id) WHERE (unreadable <> ''::text);

-- Name: collection_series_series; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX collection_series_series ON reader.collection_series USING btree (site, series_id);

-- Name: collections_name; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE UNIQUE INDEX collections_name ON reader.collections USING btree (created_by, name_key);

-- Name: guest_collections_collection; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX guest_collections_collection ON reader.guest_collections USING btree (collection_id);

-- Name: import_items_local; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX import_items_local ON reader.import_items USING btree (local_id) WHERE ((state = 'adopted'::text) AND (local_id <> ''::text));

-- Name: import_items_series; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX import_items_series ON reader.import_items USING btree (site, series_id) WHERE (state = 'adopted'::text);

-- Name: imports_user; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX imports_user ON reader.imports USING btree (user_id, id);

-- Name: notifications_destination_id_at_idx; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX notifications_destination_id_at_idx ON reader.notifications USING btree (destination_id, at) WHERE (sent_at IS NULL);

-- Name: notifications_seen_at_idx; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX notifications_seen_at_idx ON reader.notifications USING btree (seen_at);

-- Name: progress_recent; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX progress_recent ON reader.progress USING btree (user_id, changed_at DESC);

-- Name: reading_settings_every; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE UNIQUE INDEX reading_settings_every ON reader.reading_settings USING btree (user_id) WHERE (title_id IS NULL);

-- Name: reading_settings_title; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE UNIQUE INDEX reading_settings_title ON reader.reading_settings USING btree (user_id, title_id) WHERE (title_id IS NOT NULL);

-- Name: sessions_expiry; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX sessions_expiry ON reader.sessions USING btree (expires_at);

-- Name: sessions_user; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX sessions_user ON reader.sessions USING btree (user_id);

-- Name: shelf_reading_title; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX shelf_reading_title ON reader.shelf_reading USING btree (title_id);

-- Name: titles_shelf; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX titles_shelf ON reader.titles USING btree (shelf_order, site, series_id) WHERE (book_count > 0);

-- Name: titles_words; Type: INDEX; Schema: reader; Owner: mangrove_owner

CREATE INDEX titles_words ON reader.titles USING gin (shelf_words reader.gin_trgm_ops);

-- Name: adopted_files_folder; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE INDEX adopted_files_folder ON scraper.adopted_files USING btree (folder);

-- Name: chapter_fetches_old; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE INDEX chapter_fetches_old ON scraper.chapter_fetches USING btree (fetched_at);

-- Name: chapters_announced; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE INDEX chapters_announced ON scraper.chapters USING btree (announced_at DESC) WHERE (announced_at IS NOT NULL);

-- Name: incidents_open; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE INDEX incidents_open ON scraper.incidents USING btree (site, series_id) WHERE (resolved_at IS NULL);

-- Name: job_chapters_set_aside; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE INDEX job_chapters_set_aside ON scraper.job_chapters USING btree (chapter_id) WHERE (state = 'set_aside'::text);

-- Name: jobs_outstanding; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE UNIQUE INDEX jobs_outstanding ON scraper.jobs USING btree (site, series_id) WHERE (state = ANY (ARRAY['requested'::text, 'inspecting'::text, 'ready'::text, 'queued'::text, 'downloading'::text, 'paused'::text, 'retry_wait'::text]));

-- Name: jobs_series; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE INDEX jobs_series ON scraper.jobs USING btree (site, series_id, id);

-- Name: jobs_state; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE INDEX jobs_state ON scraper.jobs USING btree (state, id);

-- Name: library_files_chapter; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE UNIQUE INDEX library_files_chapter ON scraper.library_files USING btree (site, series_id, chapter_id) WHERE (state <> 'removed'::text);

-- Name: library_files_fingerprint; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE INDEX library_files_fingerprint ON scraper.library_files USING btree (fingerprint);

-- Name: library_files_folder; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE INDEX library_files_folder ON scraper.library_files USING btree (folder);

-- Name: library_files_leftover; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE INDEX library_files_leftover ON scraper.library_files USING btree (path) WHERE ((replaced_by <> ''::text) AND (NOT file_gone));

-- Name: library_files_unverified; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE INDEX library_files_unverified ON scraper.library_files USING btree (COALESCE(verified_at, published_at)) WHERE (state = 'published'::text);

-- Name: poll_failures_oldest; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE INDEX poll_failures_oldest ON scraper.poll_failures USING btree (failing_since);

-- Name: poll_passes_site; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE INDEX poll_passes_site ON scraper.poll_passes USING btree (site, started_at);

-- Name: series_due; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE INDEX series_due ON scraper.series USING btree (site, next_poll_at);

-- Name: series_folder; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE UNIQUE INDEX series_folder ON scraper.series USING btree (folder) WHERE (folder <> ''::text);

-- Name: series_forced; Type: INDEX; Schema: scraper; Owner: mangrove_owner

CREATE INDEX series_forced ON scraper.series USING btree (site, forced_poll_at) WHERE (forced_poll_at IS NOT NULL);

-- Name: books book_id; Type: TRIGGER; Schema: reader; Owner: mangrove_owner

CREATE TRIGGER book_id BEFORE INSERT ON reader.books FOR EACH ROW EXECUTE FUNCTION reader.book_id();

-- Name: bookmarks bookmarks_rekeyed; Type: TRIGGER; Schema: reader; Owner: mangrove_owner

CREATE TRIGGER bookmarks_rekeyed AFTER UPDATE OF site, series_id ON reader.bookmarks FOR EACH ROW WHEN (((old.site IS DISTINCT FROM new.site) OR (old.series_id IS DISTINCT FROM new.series_id))) EXECUTE FUNCTION reader.series_rekeyed();

-- Name: books books_added; Type: TRIGGER; Schema: reader; Owner: mangrove_owner

CREATE TRIGGER books_added AFTER INSERT ON reader.books REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION reader.books_changed();

-- Name: books books_altered; Type: TRIGGER; Schema: reader; Owner: mangrove_owner

CREATE TRIGGER books_altered AFTER UPDATE ON reader.books REFERENCING OLD TABLE AS old_rows NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION reader.books_changed();

-- Name: books books_removed; Type: TRIGGER; Schema: reader; Owner: mangrove_owner

CREATE TRIGGER books_removed AFTER DELETE ON reader.books REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION reader.books_changed();

-- Name: progress progress_added; Type: TRIGGER; Schema: reader; Owner: mangrove_owner

CREATE TRIGGER progress_added AFTER INSERT ON reader.progress REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION reader.progress_changed();

-- Name: progress progress_altered; Type: TRIGGER; Schema: reader; Owner: mangrove_owner

CREATE TRIGGER progress_altered AFTER UPDATE ON reader.progress REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION reader.progress_changed();

-- Name: progress progress_removed; Type: TRIGGER; Schema: reader; Owner: mangrove_owner

CREATE TRIGGER progress_removed AFTER DELETE ON reader.progress REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION reader.progress_changed();

-- Name: titles title_id; Type: TRIGGER; Schema: reader; Owner: mangrove_owner

CREATE TRIGGER title_id BEFORE INSERT ON reader.titles FOR EACH ROW EXECUTE FUNCTION reader.title_id();

-- Name: titles titles_rekeyed; Type: TRIGGER; Schema: reader; Owner: mangrove_owner

CREATE TRIGGER titles_rekeyed AFTER UPDATE OF site, series_id ON reader.titles FOR EACH ROW WHEN (((old.site IS DISTINCT FROM new.site) OR (old.series_id IS DISTINCT FROM new.series_id))) EXECUTE FUNCTION reader.series_rekeyed();

-- Name: jobs jobs_transition; Type: TRIGGER; Schema: scraper; Owner: mangrove_owner

CREATE TRIGGER jobs_transition BEFORE UPDATE OF state ON scraper.jobs FOR EACH ROW EXECUTE FUNCTION scraper.check_job_transition();

-- Name: api_keys api_keys_user_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.api_keys
    ADD CONSTRAINT api_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES reader.users(id) ON DELETE CASCADE;

-- Name: bookmarks bookmarks_user_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.bookmarks
    ADD CONSTRAINT bookmarks_user_id_fkey FOREIGN KEY (user_id) REFERENCES reader.users(id) ON DELETE CASCADE;

-- Name: books books_title_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.books
    ADD CONSTRAINT books_title_id_fkey FOREIGN KEY (title_id) REFERENCES reader.titles(id) ON DELETE CASCADE;

-- Name: claim claim_claimed_by_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.claim
    ADD CONSTRAINT claim_claimed_by_fkey FOREIGN KEY (claimed_by) REFERENCES reader.users(id) ON DELETE SET NULL;

-- Name: collection_series collection_series_collection_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.collection_series
    ADD CONSTRAINT collection_series_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES reader.collections(id) ON DELETE CASCADE;

-- Name: collections collections_created_by_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.collections
    ADD CONSTRAINT collections_created_by_fkey FOREIGN KEY (created_by) REFERENCES reader.users(id) ON DELETE CASCADE;

-- Name: guest_collections guest_collections_collection_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.guest_collections
    ADD CONSTRAINT guest_collections_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES reader.collections(id) ON DELETE CASCADE;

-- Name: guest_collections guest_collections_user_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.guest_collections
    ADD CONSTRAINT guest_collections_user_id_fkey FOREIGN KEY (user_id) REFERENCES reader.users(id) ON DELETE CASCADE;

-- Name: identities identities_user_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.identities
    ADD CONSTRAINT identities_user_id_fkey FOREIGN KEY (user_id) REFERENCES reader.users(id) ON DELETE CASCADE;

-- Name: import_collected import_collected_collection_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.import_collected
    ADD CONSTRAINT import_collected_collection_id_fkey FOREIGN KEY (collection_id) REFERENCES reader.collections(id) ON DELETE CASCADE;

-- Name: import_collected import_collected_import_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.import_collected
    ADD CONSTRAINT import_collected_import_id_fkey FOREIGN KEY (import_id) REFERENCES reader.imports(id) ON DELETE CASCADE;

-- Name: import_items import_items_import_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.import_items
    ADD CONSTRAINT import_items_import_id_fkey FOREIGN KEY (import_id) REFERENCES reader.imports(id) ON DELETE CASCADE;

-- Name: import_marks import_marks_import_id_position_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.import_marks
    ADD CONSTRAINT import_marks_import_id_position_fkey FOREIGN KEY (import_id, "position") REFERENCES reader.import_items(import_id, "position") ON DELETE CASCADE;

-- Name: import_places import_places_book_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.import_places
    ADD CONSTRAINT import_places_book_id_fkey FOREIGN KEY (book_id) REFERENCES reader.books(id) ON DELETE CASCADE;

-- Name: import_places import_places_import_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.import_places
    ADD CONSTRAINT import_places_import_id_fkey FOREIGN KEY (import_id) REFERENCES reader.imports(id) ON DELETE CASCADE;

-- Name: imports imports_user_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.imports
    ADD CONSTRAINT imports_user_id_fkey FOREIGN KEY (user_id) REFERENCES reader.users(id) ON DELETE CASCADE;

-- Name: notifications notifications_destination_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.notifications
    ADD CONSTRAINT notifications_destination_id_fkey FOREIGN KEY (destination_id) REFERENCES reader.notify_destinations(id) ON DELETE CASCADE;

-- Name: pages pages_book_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.pages
    ADD CONSTRAINT pages_book_id_fkey FOREIGN KEY (book_id) REFERENCES reader.books(id) ON DELETE CASCADE;

-- Name: progress progress_book_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.progress
    ADD CONSTRAINT progress_book_id_fkey FOREIGN KEY (book_id) REFERENCES reader.books(id) ON DELETE CASCADE;

-- Name: progress progress_user_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.progress
    ADD CONSTRAINT progress_user_id_fkey FOREIGN KEY (user_id) REFERENCES reader.users(id) ON DELETE CASCADE;

-- Name: reading_settings reading_settings_title_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.reading_settings
    ADD CONSTRAINT reading_settings_title_id_fkey FOREIGN KEY (title_id) REFERENCES reader.titles(id) ON DELETE CASCADE;

-- Name: reading_settings reading_settings_user_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.reading_settings
    ADD CONSTRAINT reading_settings_user_id_fkey FOREIGN KEY (user_id) REFERENCES reader.users(id) ON DELETE CASCADE;

-- Name: sessions sessions_user_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES reader.users(id) ON DELETE CASCADE;

-- Name: shelf_reading shelf_reading_title_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.shelf_reading
    ADD CONSTRAINT shelf_reading_title_id_fkey FOREIGN KEY (title_id) REFERENCES reader.titles(id) ON DELETE CASCADE;

-- Name: shelf_reading shelf_reading_user_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.shelf_reading
    ADD CONSTRAINT shelf_reading_user_id_fkey FOREIGN KEY (user_id) REFERENCES reader.users(id) ON DELETE CASCADE;

-- Name: user_codes user_codes_user_id_fkey; Type: FK CONSTRAINT; Schema: reader; Owner: mangrove_owner

ALTER TABLE ONLY reader.user_codes
    ADD CONSTRAINT user_codes_user_id_fkey FOREIGN KEY (user_id) REFERENCES reader.users(id) ON DELETE CASCADE;

-- Name: adopted_files adopted_files_path_fkey; Type: FK CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.adopted_files
    ADD CONSTRAINT adopted_files_path_fkey FOREIGN KEY (path) REFERENCES scraper.library_files(path) ON UPDATE CASCADE ON DELETE CASCADE;

-- Name: canaries canaries_site_fkey; Type: FK CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.canaries
    ADD CONSTRAINT canaries_site_fkey FOREIGN KEY (site) REFERENCES scraper.poll_lanes(site) ON DELETE CASCADE;

-- Name: chapter_fetches chapter_fetches_site_series_id_fkey; Type: FK CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.chapter_fetches
    ADD CONSTRAINT chapter_fetches_site_series_id_fkey FOREIGN KEY (site, series_id) REFERENCES scraper.series(site, series_id) ON UPDATE CASCADE ON DELETE CASCADE;

-- Name: chapters chapters_site_series_id_fkey; Type: FK CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.chapters
    ADD CONSTRAINT chapters_site_series_id_fkey FOREIGN KEY (site, series_id) REFERENCES scraper.series(site, series_id) ON UPDATE CASCADE ON DELETE CASCADE;

-- Name: discovery_skips discovery_skips_discovery_id_fkey; Type: FK CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.discovery_skips
    ADD CONSTRAINT discovery_skips_discovery_id_fkey FOREIGN KEY (discovery_id) REFERENCES scraper.discoveries(id) ON DELETE CASCADE;

-- Name: incident_evidence incident_evidence_incident_id_fkey; Type: FK CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.incident_evidence
    ADD CONSTRAINT incident_evidence_incident_id_fkey FOREIGN KEY (incident_id) REFERENCES scraper.incidents(id) ON DELETE CASCADE;

-- Name: job_chapters job_chapters_job_id_fkey; Type: FK CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.job_chapters
    ADD CONSTRAINT job_chapters_job_id_fkey FOREIGN KEY (job_id) REFERENCES scraper.jobs(id) ON DELETE CASCADE;

-- Name: job_crashes job_crashes_job_id_fkey; Type: FK CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.job_crashes
    ADD CONSTRAINT job_crashes_job_id_fkey FOREIGN KEY (job_id) REFERENCES scraper.jobs(id) ON DELETE CASCADE;

-- Name: move_proposals move_proposals_site_series_id_fkey; Type: FK CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.move_proposals
    ADD CONSTRAINT move_proposals_site_series_id_fkey FOREIGN KEY (site, series_id) REFERENCES scraper.series(site, series_id) ON UPDATE CASCADE ON DELETE CASCADE;

-- Name: poll_failures poll_failures_site_series_id_fkey; Type: FK CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.poll_failures
    ADD CONSTRAINT poll_failures_site_series_id_fkey FOREIGN KEY (site, series_id) REFERENCES scraper.series(site, series_id) ON UPDATE CASCADE ON DELETE CASCADE;

-- Name: preferred_groups preferred_groups_site_series_id_fkey; Type: FK CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.preferred_groups
    ADD CONSTRAINT preferred_groups_site_series_id_fkey FOREIGN KEY (site, series_id) REFERENCES scraper.series(site, series_id) ON UPDATE CASCADE ON DELETE CASCADE;

-- Name: series_moves series_moves_to_site_to_id_fkey; Type: FK CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.series_moves
    ADD CONSTRAINT series_moves_to_site_to_id_fkey FOREIGN KEY (to_site, to_id) REFERENCES scraper.series(site, series_id) ON UPDATE CASCADE ON DELETE CASCADE;

-- Name: worklist_mutes worklist_mutes_site_series_id_fkey; Type: FK CONSTRAINT; Schema: scraper; Owner: mangrove_owner

ALTER TABLE ONLY scraper.worklist_mutes
    ADD CONSTRAINT worklist_mutes_site_series_id_fkey FOREIGN KEY (site, series_id) REFERENCES scraper.poll_failures(site, series_id) ON UPDATE CASCADE ON DELETE CASCADE;

-- Name: SCHEMA mangrove; Type: ACL; Schema: -; Owner: mangrove_owner

GRANT USAGE ON SCHEMA mangrove TO mangrove_reader;
GRANT USAGE ON SCHEMA mangrove TO mangrove_scraper;

-- Name: SCHEMA public; Type: ACL; Schema: -; Owner: pg_database_owner

REVOKE USAGE ON SCHEMA public FROM PUBLIC;

-- Name: SCHEMA reader; Type: ACL; Schema: -; Owner: mangrove_owner

GRANT USAGE ON SCHEMA reader TO mangrove_reader;

-- Name: SCHEMA scraper; Type: ACL; Schema: -; Owner: mangrove_owner

GRANT USAGE ON SCHEMA scraper TO mangrove_scraper;

-- Name: TABLE migrations; Type: ACL; Schema: mangrove; Owner: mangrove_owner

GRANT SELECT ON TABLE mangrove.migrations TO mangrove_reader;
GRANT SELECT ON TABLE mangrove.migrations TO mangrove_scraper;

-- Name: TABLE api_keys; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.api_keys TO mangrove_reader;

-- Name: TABLE bookmarks; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.bookmarks TO mangrove_reader;

-- Name: TABLE books; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.books TO mangrove_reader;

-- Name: TABLE claim; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,UPDATE ON TABLE reader.claim TO mangrove_reader;

-- Name: TABLE collection_series; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.collection_series TO mangrove_reader;

-- Name: TABLE collections; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.collections TO mangrove_reader;

-- Name: TABLE follow_revision; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,UPDATE ON TABLE reader.follow_revision TO mangrove_reader;

-- Name: TABLE guest_collections; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.guest_collections TO mangrove_reader;

-- Name: TABLE identities; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.identities TO mangrove_reader;

-- Name: TABLE import_collected; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.import_collected TO mangrove_reader;

-- Name: TABLE import_items; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.import_items TO mangrove_reader;

-- Name: TABLE import_marks; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.import_marks TO mangrove_reader;

-- Name: TABLE import_places; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.import_places TO mangrove_reader;

-- Name: TABLE imports; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.imports TO mangrove_reader;

-- Name: TABLE library_cursor; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,UPDATE ON TABLE reader.library_cursor TO mangrove_reader;

-- Name: TABLE notifications; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.notifications TO mangrove_reader;

-- Name: TABLE notify_destinations; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.notify_destinations TO mangrove_reader;

-- Name: TABLE pages; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.pages TO mangrove_reader;

-- Name: TABLE progress; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.progress TO mangrove_reader;

-- Name: TABLE reading_settings; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.reading_settings TO mangrove_reader;

-- Name: TABLE titles; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.titles TO mangrove_reader;

-- Name: TABLE users; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.users TO mangrove_reader;

-- Name: TABLE seen_titles; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.seen_titles TO mangrove_reader;

-- Name: TABLE sessions; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.sessions TO mangrove_reader;

-- Name: TABLE shelf_reading; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.shelf_reading TO mangrove_reader;

-- Name: TABLE shelf; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.shelf TO mangrove_reader;

-- Name: TABLE user_codes; Type: ACL; Schema: reader; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE reader.user_codes TO mangrove_reader;

-- Name: TABLE adopted_files; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.adopted_files TO mangrove_scraper;

-- Name: TABLE canaries; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.canaries TO mangrove_scraper;

-- Name: TABLE chapter_fetches; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.chapter_fetches TO mangrove_scraper;

-- Name: TABLE chapters; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.chapters TO mangrove_scraper;

-- Name: TABLE circuits; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.circuits TO mangrove_scraper;

-- Name: TABLE discoveries; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.discoveries TO mangrove_scraper;

-- Name: TABLE discovery_skips; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.discovery_skips TO mangrove_scraper;

-- Name: TABLE follows; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,UPDATE ON TABLE scraper.follows TO mangrove_scraper;

-- Name: TABLE holds; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.holds TO mangrove_scraper;

-- Name: TABLE incident_evidence; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.incident_evidence TO mangrove_scraper;

-- Name: TABLE incidents; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.incidents TO mangrove_scraper;

-- Name: TABLE job_chapters; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.job_chapters TO mangrove_scraper;

-- Name: TABLE job_crashes; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.job_crashes TO mangrove_scraper;

-- Name: TABLE job_transitions; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT ON TABLE scraper.job_transitions TO mangrove_scraper;

-- Name: TABLE jobs; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.jobs TO mangrove_scraper;

-- Name: TABLE library; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,UPDATE ON TABLE scraper.library TO mangrove_scraper;

-- Name: TABLE library_files; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.library_files TO mangrove_scraper;

-- Name: TABLE move_proposals; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.move_proposals TO mangrove_scraper;

-- Name: TABLE poll_failures; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.poll_failures TO mangrove_scraper;

-- Name: TABLE poll_lanes; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.poll_lanes TO mangrove_scraper;

-- Name: TABLE poll_passes; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.poll_passes TO mangrove_scraper;

-- Name: TABLE preferred_groups; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.preferred_groups TO mangrove_scraper;

-- Name: TABLE series; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.series TO mangrove_scraper;

-- Name: TABLE series_moves; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.series_moves TO mangrove_scraper;

-- Name: TABLE settings; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.settings TO mangrove_scraper;

-- Name: TABLE worklist_mutes; Type: ACL; Schema: scraper; Owner: mangrove_owner

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE scraper.worklist_mutes TO mangrove_scraper;

-- Name: DEFAULT PRIVILEGES FOR TABLES; Type: DEFAULT ACL; Schema: reader; Owner: mangrove_owner

ALTER DEFAULT PRIVILEGES FOR ROLE mangrove_owner IN SCHEMA reader GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO mangrove_reader;

-- Name: DEFAULT PRIVILEGES FOR TABLES; Type: DEFAULT ACL; Schema: scraper; Owner: mangrove_owner

ALTER DEFAULT PRIVILEGES FOR ROLE mangrove_owner IN SCHEMA scraper GRANT SELECT,INSERT,DELETE,UPDATE ON TABLES  TO mangrove_scraper;

-- PostgreSQL database dump complete
