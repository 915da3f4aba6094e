-- +goose Up
-- What the reader alone writes (OWN-1).

CREATE TABLE reader.users (
    id            bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text        NOT NULL CHECK (name <> ''),
    name_key      text        NOT NULL UNIQUE,
    password_hash text        NOT NULL CHECK (password_hash <> ''),
    role          text        NOT NULL CHECK (role IN ('administrator', 'member', 'guest')),
    created_at    timestamptz NOT NULL DEFAULT now()
);
COMMENT ON COLUMN reader.users.name_key IS 'the name folded for comparison, so that two spellings of one name cannot both exist';

-- One row decides who is first (READ-3): only the one update that sets claimed_by wins.
CREATE TABLE reader.claim (
    singleton  boolean     PRIMARY KEY DEFAULT true CHECK (singleton),
    code_hash  bytea,
    expires_at timestamptz,
    claimed_by bigint      REFERENCES reader.users ON DELETE RESTRICT,
    claimed_at timestamptz,
    CHECK ((claimed_by IS NULL) = (claimed_at IS NULL))
);
INSERT INTO reader.claim DEFAULT VALUES;

CREATE TABLE reader.sessions (
    token_hash text        PRIMARY KEY,
    data       bytea       NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX sessions_expiry ON reader.sessions (expires_at);

-- The counter every change of the follows takes its revision from (OWN-3).
CREATE TABLE reader.follow_revision (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    revision  bigint  NOT NULL DEFAULT 0
);
INSERT INTO reader.follow_revision DEFAULT VALUES;

CREATE TABLE reader.bookmarks (
    user_id    bigint      NOT NULL REFERENCES reader.users ON DELETE CASCADE,
    site       text        NOT NULL CHECK (site <> ''),
    series_id  text        NOT NULL CHECK (series_id <> ''),
    title      text        NOT NULL,
    url        text        NOT NULL DEFAULT '',
    download   boolean     NOT NULL DEFAULT true,
    languages  text[]      NOT NULL DEFAULT '{}',
    followed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, site, series_id)
);
CREATE INDEX bookmarks_series ON reader.bookmarks (site, series_id);

CREATE TABLE reader.titles (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    site         text        NOT NULL,
    series_id    text        NOT NULL,
    title        text        NOT NULL,
    native_title text        NOT NULL DEFAULT '',
    authors      text[]      NOT NULL DEFAULT '{}',
    description  text        NOT NULL DEFAULT '',
    url          text        NOT NULL DEFAULT '',
    status       text        NOT NULL DEFAULT '' CHECK (status IN ('', 'ongoing', 'completed', 'hiatus', 'cancelled')),
    tags         text[]      NOT NULL DEFAULT '{}',
    license      text        NOT NULL DEFAULT '',
    site_name    text        NOT NULL DEFAULT '',
    reading_direction text   NOT NULL DEFAULT '' CHECK (reading_direction IN ('', 'ltr', 'rtl', 'strip')),
    added_at     timestamptz NOT NULL DEFAULT now(),
    UNIQUE (site, series_id)
);

CREATE TABLE reader.books (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    title_id     bigint      NOT NULL REFERENCES reader.titles ON DELETE CASCADE,
    chapter_id   text        NOT NULL,
    path         text        NOT NULL,
    number       numeric,
    volume       numeric,
    name         text        NOT NULL DEFAULT '',
    language     text        NOT NULL DEFAULT '',
    groups       text[]      NOT NULL DEFAULT '{}',
    source_order integer     NOT NULL DEFAULT 0,
    page_count   integer     NOT NULL CHECK (page_count > 0),
    size         bigint      NOT NULL,
    fingerprint  text        NOT NULL,
    published_at timestamptz NOT NULL,
    removed_at   timestamptz,
    epoch        text        NOT NULL DEFAULT '',
    UNIQUE (title_id, chapter_id)
);
CREATE INDEX books_path ON reader.books (path);
COMMENT ON COLUMN reader.books.epoch IS 'the library epoch that last named the book; after a full resync those of another epoch are marked removed';

-- Where each page lies inside its CBZ, so that a page is served by range.
CREATE TABLE reader.pages (
    book_id    bigint  NOT NULL REFERENCES reader.books ON DELETE CASCADE,
    position   integer NOT NULL CHECK (position >= 0),
    name       text    NOT NULL,
    byte_offset bigint NOT NULL CHECK (byte_offset >= 0),
    size       bigint  NOT NULL CHECK (size > 0),
    stored     boolean NOT NULL,
    media_type text    NOT NULL CHECK (media_type IN ('image/jpeg', 'image/png', 'image/gif', 'image/webp', 'image/avif')),
    width      integer NOT NULL CHECK (width >= 0),
    height     integer NOT NULL CHECK (height >= 0),
    PRIMARY KEY (book_id, position)
);
COMMENT ON COLUMN reader.pages.width IS 'in pixels; width and height are both 0 for a page that is broken in its file';

-- Progress belongs to the chapter, not to the file, so that it outlives both.
CREATE TABLE reader.progress (
    user_id    bigint      NOT NULL REFERENCES reader.users ON DELETE CASCADE,
    book_id    bigint      NOT NULL REFERENCES reader.books ON DELETE CASCADE,
    page       integer     NOT NULL CHECK (page >= 0),
    finished   boolean     NOT NULL DEFAULT false,
    device     text        NOT NULL DEFAULT '',
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, book_id)
);
CREATE INDEX progress_recent ON reader.progress (user_id, changed_at DESC);

CREATE TABLE reader.library_cursor (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    epoch     text    NOT NULL DEFAULT '',
    revision  bigint  NOT NULL DEFAULT 0
);
INSERT INTO reader.library_cursor DEFAULT VALUES;

-- +goose Down
DROP TABLE reader.library_cursor, reader.progress, reader.pages, reader.books, reader.titles, reader.bookmarks,
    reader.follow_revision, reader.sessions, reader.claim, reader.users;
