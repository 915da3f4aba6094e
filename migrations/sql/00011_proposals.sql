-- +goose Up
-- Why a move is proposed: the Site sends readers elsewhere for good, or the Series
-- is gone there and the Site lists one of the same title under another id (A12).
ALTER TABLE scraper.move_proposals ADD COLUMN because text NOT NULL DEFAULT 'redirect' CHECK (because IN ('redirect', 'same_title'));
ALTER TABLE scraper.move_proposals ALTER COLUMN because DROP DEFAULT;

-- +goose Down
ALTER TABLE scraper.move_proposals DROP COLUMN because;
