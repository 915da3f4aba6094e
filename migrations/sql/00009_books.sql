-- +goose Up
-- A book whose file is without some of the Site's pages, on an operator's word (C19).
ALTER TABLE reader.books ADD COLUMN missing_pages integer[] NOT NULL DEFAULT '{}';
COMMENT ON COLUMN reader.books.missing_pages IS 'numbers, from 1, of the Site''s pages that the file is without';

-- +goose Down
ALTER TABLE reader.books DROP COLUMN missing_pages;
