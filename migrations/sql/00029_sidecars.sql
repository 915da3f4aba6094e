-- +goose Up
-- Files are read whole now and then, and titles and books keep their ids when the
-- database is made anew.

ALTER TABLE scraper.library_files ADD COLUMN verified_at timestamptz;
COMMENT ON COLUMN scraper.library_files.verified_at IS 'when it was last read to its last byte; none is never since it was published';
CREATE INDEX library_files_unverified ON scraper.library_files (coalesce(verified_at, published_at)) WHERE state = 'published';

ALTER TABLE scraper.incidents DROP CONSTRAINT incidents_about_check;
ALTER TABLE scraper.incidents ADD CONSTRAINT incidents_about_check CHECK (about IN ('series', 'job', 'chapter', 'circuit', 'hold', 'file'));

-- The id is the first 52 bits of a digest of what the thing is called where it
-- comes from; a number that is taken makes way for the next. Those given before
-- this stay as they are.
-- +goose StatementBegin
CREATE FUNCTION reader.stable_id(VARIADIC parts text[]) RETURNS bigint LANGUAGE sql IMMUTABLE STRICT AS $$
    SELECT ('x' || substr(encode(sha256(convert_to(array_to_string(parts, E'\x1f'), 'UTF8')), 'hex'), 1, 13))::bit(52)::bigint
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION reader.title_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.id := greatest(reader.stable_id(NEW.site, NEW.series_id), 1);
    WHILE EXISTS (SELECT FROM reader.titles WHERE id = NEW.id) LOOP
        NEW.id := NEW.id + 1;
    END LOOP;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION reader.book_id() RETURNS trigger LANGUAGE plpgsql AS $$
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
-- +goose StatementEnd
CREATE TRIGGER title_id BEFORE INSERT ON reader.titles FOR EACH ROW EXECUTE FUNCTION reader.title_id();
CREATE TRIGGER book_id BEFORE INSERT ON reader.books FOR EACH ROW EXECUTE FUNCTION reader.book_id();

-- +goose Down
DROP TRIGGER book_id ON reader.books;
DROP TRIGGER title_id ON reader.titles;
DROP FUNCTION reader.book_id();
DROP FUNCTION reader.title_id();
DROP FUNCTION reader.stable_id(text[]);
DELETE FROM scraper.incidents WHERE about = 'file';
ALTER TABLE scraper.incidents DROP CONSTRAINT incidents_about_check;
ALTER TABLE scraper.incidents ADD CONSTRAINT incidents_about_check CHECK (about IN ('series', 'job', 'chapter', 'circuit', 'hold'));
DROP INDEX scraper.library_files_unverified;
ALTER TABLE scraper.library_files DROP COLUMN verified_at;
