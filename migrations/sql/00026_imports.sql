-- +goose Up
-- Moving in (F11, F12): what a backup or a folder holds, what was found for it
-- here, and what adopting it wrote, so that it can be taken back.
CREATE TABLE reader.imports (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id    bigint      NOT NULL REFERENCES reader.users ON DELETE CASCADE,
    kind       text        NOT NULL CHECK (kind IN ('mihon', 'kotatsu', 'mangrove', 'folder')),
    name       text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 200),
    state      text        NOT NULL DEFAULT 'planned' CHECK (state IN ('planned', 'adopted', 'undone')),
    created_at timestamptz NOT NULL DEFAULT now(),
    adopted_at timestamptz,
    undone_at  timestamptz,
    CHECK ((state = 'planned') = (adopted_at IS NULL)),
    CHECK ((state = 'undone') = (undone_at IS NOT NULL))
);
CREATE INDEX imports_user ON reader.imports (user_id, id);

CREATE TABLE reader.import_items (
    import_id  bigint      NOT NULL REFERENCES reader.imports ON DELETE CASCADE,
    position   integer     NOT NULL CHECK (position >= 0),
    title      text        NOT NULL CHECK (octet_length(title) <= 2048),
    source     text        NOT NULL CHECK (octet_length(source) <= 512),
    address    text        NOT NULL CHECK (octet_length(address) <= 4096),
    word       text        NOT NULL CHECK (word IN ('matched', 'ambiguous', 'unknown', 'no-adapter')),
    reason     text        NOT NULL CHECK (reason IN ('address', 'own-name', 'title', 'titles', 'no-adapter', 'unread', 'no-title', 'files', 'not-followed')),
    site_name  text        NOT NULL DEFAULT '',
    site       text        NOT NULL DEFAULT '',
    series_id  text        NOT NULL DEFAULT '',
    url        text        NOT NULL DEFAULT '',
    local_id   text        NOT NULL DEFAULT '',
    candidates jsonb       NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(candidates) = 'array'),
    favourite  boolean     NOT NULL,
    download   boolean     NOT NULL,
    languages  text[]      NOT NULL,
    categories text[]      NOT NULL,
    chapters   integer     NOT NULL CHECK (chapters >= 0),
    read       integer     NOT NULL CHECK (read >= 0),
    state      text        NOT NULL DEFAULT 'planned' CHECK (state IN ('planned', 'left', 'adopted', 'undone')),
    added_at   timestamptz,
    followed_at timestamptz,
    PRIMARY KEY (import_id, position),
    CHECK ((site = '') = (series_id = '')),
    CHECK (word NOT IN ('matched', 'no-adapter') OR site <> '')
);
CREATE INDEX import_items_series ON reader.import_items (site, series_id) WHERE state = 'adopted';
CREATE INDEX import_items_local ON reader.import_items (local_id) WHERE state = 'adopted' AND local_id <> '';
COMMENT ON COLUMN reader.import_items.local_id IS 'the folder whose files were put here by another program and hold this Series, '''' for none';
COMMENT ON COLUMN reader.import_items.followed_at IS 'followed_at of the follow that adopting made; NULL when it made none';

-- What was read, by chapter. It waits here until the chapter is in the catalog.
CREATE TABLE reader.import_marks (
    import_id   bigint      NOT NULL,
    position    integer     NOT NULL,
    nth         integer     NOT NULL,
    chapter_key text        NOT NULL CHECK (octet_length(chapter_key) <= 2048),
    number      numeric,
    page        integer     NOT NULL CHECK (page >= 0),
    finished    boolean     NOT NULL,
    through     boolean     NOT NULL,
    read_at     timestamptz,
    PRIMARY KEY (import_id, position, nth),
    FOREIGN KEY (import_id, position) REFERENCES reader.import_items ON DELETE CASCADE
);
COMMENT ON COLUMN reader.import_marks.through IS 'every chapter with a lower number was read as well';

-- Places that adopting has looked at, each once, with what stood there before.
CREATE TABLE reader.import_places (
    import_id  bigint      NOT NULL REFERENCES reader.imports ON DELETE CASCADE,
    book_id    bigint      NOT NULL REFERENCES reader.books ON DELETE CASCADE,
    written_at timestamptz,
    page       integer,
    finished   boolean,
    device     text,
    changed_at timestamptz,
    PRIMARY KEY (import_id, book_id),
    CHECK (num_nulls(page, finished, device, changed_at) IN (0, 4))
);
COMMENT ON COLUMN reader.import_places.written_at IS 'changed_at of the place as adopting wrote it; NULL when it left the place alone';
COMMENT ON COLUMN reader.import_places.page IS 'with finished, device and changed_at the place before; NULL for none';

-- What adopting put into collections, by the categories of the other program.
CREATE TABLE reader.import_collected (
    import_id     bigint  NOT NULL REFERENCES reader.imports ON DELETE CASCADE,
    collection_id bigint  NOT NULL REFERENCES reader.collections ON DELETE CASCADE,
    site          text    NOT NULL,
    series_id     text    NOT NULL,
    made          boolean NOT NULL,
    PRIMARY KEY (import_id, collection_id, site, series_id)
);
COMMENT ON COLUMN reader.import_collected.made IS 'there was no such collection before; undoing takes it away again if it is empty then';

-- +goose Down
DROP TABLE reader.import_collected, reader.import_places, reader.import_marks, reader.import_items, reader.imports;
