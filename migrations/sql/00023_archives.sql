-- +goose Up
-- Archives and folders that other programs made, catalogued where they lie, and
-- those that cannot be read with the reason, beside the rest.

ALTER TABLE scraper.library_files
    ADD COLUMN kind text NOT NULL DEFAULT 'zip' CHECK (kind IN ('zip', 'rar', '7z', 'folder')),
    ADD COLUMN unreadable text NOT NULL DEFAULT '' CHECK (unreadable IN ('', 'empty', 'not-an-archive', 'encrypted', 'corrupt', 'too-large',
                                                                         'unsafe-names', 'duplicate-names', 'no-pages', 'unsupported')),
    DROP CONSTRAINT library_files_pages_check,
    DROP CONSTRAINT library_files_size_check,
    ADD CONSTRAINT library_files_pages_check CHECK (pages > 0 OR pages = 0 AND unreadable <> ''),
    ADD CONSTRAINT library_files_size_check CHECK (size > 0 OR size = 0 AND unreadable <> '');
COMMENT ON COLUMN scraper.library_files.kind IS 'what holds the pages, by its bytes; of a folder, path is the folder and size that of its pictures';
COMMENT ON COLUMN scraper.library_files.unreadable IS 'why it cannot be read, or empty; pages is then 0';

ALTER TABLE reader.books
    ADD COLUMN kind text NOT NULL DEFAULT 'zip' CHECK (kind IN ('zip', 'rar', '7z', 'folder')),
    ADD COLUMN unreadable text NOT NULL DEFAULT '' CHECK (unreadable IN ('', 'empty', 'not-an-archive', 'encrypted', 'corrupt', 'too-large',
                                                                         'unsafe-names', 'duplicate-names', 'no-pages', 'unsupported'));
COMMENT ON COLUMN reader.books.unreadable IS 'why its file cannot be read, or empty; page_count is then that of the last file that could, or 1';
CREATE INDEX books_unreadable ON reader.books (title_id) WHERE unreadable <> '';

-- +goose Down
ALTER TABLE reader.books DROP COLUMN unreadable, DROP COLUMN kind;
UPDATE scraper.library_files SET pages = greatest(pages, 1), size = greatest(size, 1) WHERE unreadable <> '';
ALTER TABLE scraper.library_files
    DROP CONSTRAINT library_files_pages_check,
    DROP CONSTRAINT library_files_size_check,
    DROP COLUMN unreadable,
    DROP COLUMN kind,
    ADD CONSTRAINT library_files_pages_check CHECK (pages > 0),
    ADD CONSTRAINT library_files_size_check CHECK (size > 0);
