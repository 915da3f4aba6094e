package store

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/scraperclient"
)

// Cursor answers how far the change log is applied.
func (s *Store) Cursor(ctx context.Context) (c catalog.Cursor, err error) {
	err = s.pool.QueryRow(ctx, s.sql.Get("Cursor")).Scan(&c.Epoch, &c.Revision)
	return c, wrap("read", "the library cursor", err)
}

// Indexed reports whether a book has its pages for this fingerprint already.
func (s *Store) Indexed(ctx context.Context, key scraperclient.Key, chapterID, fingerprint, path string) (ok bool, err error) {
	err = s.pool.QueryRow(ctx, s.sql.Get("Indexed"), key.Site, key.SeriesID, chapterID, fingerprint, path).Scan(&ok)
	return ok, wrap("look up", "a book", err)
}

// Apply stores a batch and moves the cursor, together or not at all.
func (s *Store) Apply(ctx context.Context, b catalog.Batch) error {
	return s.tx(ctx, "apply", "the library's changes", func(tx pgx.Tx) error {
		// The cursor first: its row lock makes two readers take turns.
		tag, err := tx.Exec(ctx, s.sql.Get("MoveCursor"), b.To.Epoch, b.To.Revision, b.From.Epoch, b.From.Revision)
		if err != nil {
			return err
		}
		if tag.RowsAffected() != 1 {
			return fault.Newf(fault.Stale, "apply", "the library's changes", "the cursor has moved")
		}
		var books []int64
		for _, e := range b.Entries {
			book, err := s.applyEntry(ctx, tx, b.To.Epoch, e)
			if err != nil {
				return err
			}
			if book != 0 {
				books = append(books, book)
			}
		}
		if err := s.applyMarks(ctx, tx, books); err != nil {
			return err
		}
		if !b.Whole {
			return nil
		}
		_, err = tx.Exec(ctx, s.sql.Get("RemoveOtherEpochs"), b.To.Epoch)
		return err
	})
}

// applyEntry stores one change and answers the book that is here now, 0 for none.
func (s *Store) applyEntry(ctx context.Context, tx pgx.Tx, epoch string, e catalog.Entry) (bookID int64, err error) {
	if e.Removed && e.ReplacedBy != "" {
		if _, err := tx.Exec(ctx, s.sql.Get("ReplaceBook"), e.Series.Site, e.Series.SeriesID, e.Path, e.ReplacedBy); err != nil {
			return 0, err
		}
	}
	if e.Removed {
		// One that was replaced is no longer found by its old path.
		_, err := tx.Exec(ctx, s.sql.Get("RemoveBook"), e.Series.Site, e.Series.SeriesID, e.Chapter.ID, epoch, e.Path)
		return 0, err
	}
	t, c := e.Series, e.Chapter
	var titleID int64
	if _, err := tx.Exec(ctx, s.sql.Get("RekeyTitleOfFile"), e.Path, t.Site, t.SeriesID); err != nil {
		return 0, err
	}
	err = tx.QueryRow(ctx, s.sql.Get("SaveTitle"), t.Site, t.SeriesID, t.Title, t.NativeTitle, list(t.Authors), t.Description, t.URL,
		oneOf(t.Status, "ongoing", "completed", "hiatus", "cancelled"), list(t.Tags), t.License, t.SiteName,
		oneOf(t.Direction, "ltr", "rtl", "strip"), list(t.AltTitles)).Scan(&titleID)
	if err != nil {
		return 0, err
	}
	if _, err := tx.Exec(ctx, s.sql.Get("MoveBookOfFile"), titleID, e.Path, c.ID, e.Fingerprint); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(ctx, s.sql.Get("RepointBook"), titleID, e.Path, c.ID); err != nil {
		return 0, err
	}
	count := max(e.Change.Pages, 1)
	if len(e.Pages) > 0 {
		count = len(e.Pages)
	}
	err = tx.QueryRow(ctx, s.sql.Get("SaveBook"), titleID, c.ID, e.Path, catalog.Decimal(c.Number), catalog.Decimal(c.Volume), c.Title,
		c.Language, list(c.Groups), c.SourceOrder, count, e.Size, e.Fingerprint, e.PublishedAt, epoch, list(e.Missing),
		cmp.Or(oneOf(e.Kind, "rar", "7z", "folder"), "zip"), string(e.Why)).Scan(&bookID)
	if err != nil {
		return 0, err
	}
	if e.Why != "" {
		// Places stay as they are for when it can be read again.
		return bookID, nil
	}
	if _, err := tx.Exec(ctx, s.sql.Get("KeepPlaces"), bookID); err != nil || len(e.Pages) == 0 {
		return bookID, err
	}
	return bookID, s.savePages(ctx, tx, bookID, e.Pages)
}

// SaveIndex stores the pages found later in a file that could not be read when
// its change was applied.
func (s *Store) SaveIndex(ctx context.Context, bookID int64, pages []catalog.Page) error {
	return s.tx(ctx, "store", "the pages of a book", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.sql.Get("SetPageCount"), bookID, len(pages)); err != nil {
			return err
		}
		return s.savePages(ctx, tx, bookID, pages)
	})
}

func (s *Store) savePages(ctx context.Context, tx pgx.Tx, bookID int64, pages []catalog.Page) error {
	if _, err := tx.Exec(ctx, s.sql.Get("DeletePages"), bookID); err != nil {
		return err
	}
	n := len(pages)
	positions, widths, heights := make([]int32, n), make([]int32, n), make([]int32, n)
	names, types := make([]string, n), make([]string, n)
	offsets, sizes := make([]int64, n), make([]int64, n)
	stored := make([]bool, n)
	for i, p := range pages {
		positions[i], widths[i], heights[i] = int32(p.Position), int32(p.Width), int32(p.Height)
		names[i], types[i] = p.Name, p.MediaType
		offsets[i], sizes[i], stored[i] = p.Offset, p.Size, p.Stored
	}
	_, err := tx.Exec(ctx, s.sql.Get("SavePages"), bookID, positions, names, offsets, sizes, stored, types, widths, heights)
	return err
}

// Title answers one title.
func (s *Store) Title(ctx context.Context, id int64) (catalog.Title, error) {
	t, err := scanTitle(s.pool.QueryRow(ctx, s.sql.Get("Title"), id))
	return t, wrap("find", "a title", err)
}

// TitleByKey answers the title of a Series.
func (s *Store) TitleByKey(ctx context.Context, key scraperclient.Key) (catalog.Title, error) {
	t, err := scanTitle(s.pool.QueryRow(ctx, s.sql.Get("TitleByKey"), key.Site, key.SeriesID))
	return t, wrap("find", "a title", err)
}

func scanTitle(row pgx.Row) (t catalog.Title, err error) {
	err = row.Scan(&t.ID, &t.Site, &t.SeriesID, &t.Name, &t.NativeName, &t.Authors, &t.Description, &t.URL, &t.Status, &t.Tags,
		&t.License, &t.SiteName, &t.Direction, &t.AddedAt)
	return t, err
}

// Book answers one book.
func (s *Store) Book(ctx context.Context, id int64) (catalog.Book, error) {
	var b catalog.Book
	err := s.pool.QueryRow(ctx, s.sql.Get("Book"), id).Scan(bookFields(&b)...)
	return b, wrap("find", "a book", err)
}

func bookFields(b *catalog.Book) []any {
	return []any{
		&b.ID, &b.TitleID, &b.ChapterID, &b.Path, &b.Number, &b.Volume, &b.Name, &b.Language, &b.Groups, &b.SourceOrder,
		&b.PageCount, &b.Size, &b.Fingerprint, &b.PublishedAt, (*maybeTime)(&b.RemovedAt), &b.Missing, &b.Why,
	}
}

// Refused lists the books that cannot be read, by title and in reading order.
func (s *Store) Refused(ctx context.Context, limit int) ([]catalog.Refused, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("Refused"), limit)
	if err != nil {
		return nil, wrap("list", "the files that cannot be read", err)
	}
	books, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (r catalog.Refused, err error) {
		err = row.Scan(append(bookFields(&r.Book), &r.TitleName)...)
		return r, err
	})
	return books, wrap("list", "the files that cannot be read", err)
}

// CountRefused counts the books that cannot be read.
func (s *Store) CountRefused(ctx context.Context) (n int, err error) {
	err = s.pool.QueryRow(ctx, s.sql.Get("CountRefused")).Scan(&n)
	return n, wrap("count", "the files that cannot be read", err)
}

// Pages answers the pages of a book in order; none when its file was never read.
func (s *Store) Pages(ctx context.Context, bookID int64) ([]catalog.Page, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("Pages"), bookID)
	if err != nil {
		return nil, wrap("list", "the pages of a book", err)
	}
	pages, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p catalog.Page, err error) {
		err = row.Scan(&p.Position, &p.Name, &p.Offset, &p.Size, &p.Stored, &p.MediaType, &p.Width, &p.Height)
		return p, err
	})
	return pages, wrap("list", "the pages of a book", err)
}

// Page answers one page and the file it lies in.
func (s *Store) Page(ctx context.Context, bookID int64, position int) (catalog.Placed, error) {
	var p catalog.Placed
	err := s.pool.QueryRow(ctx, s.sql.Get("Page"), bookID, position).Scan(&p.Path, &p.Fingerprint, &p.Here, &p.Position, &p.Name,
		&p.Offset, &p.Size, &p.Stored, &p.MediaType, &p.Width, &p.Height)
	return p, wrap("find", "a page", err)
}

// CoverBook answers the book whose first page is a title's cover.
func (s *Store) CoverBook(ctx context.Context, titleID int64) (bookID int64, fingerprint string, err error) {
	err = s.pool.QueryRow(ctx, s.sql.Get("CoverBook"), titleID).Scan(&bookID, &fingerprint)
	return bookID, fingerprint, wrap("find", "the cover of a title", err)
}

// maybeTime scans NULL as the zero time.
type maybeTime time.Time

// Scan takes what the driver gives.
func (m *maybeTime) Scan(v any) error {
	t, _ := v.(time.Time)
	*m = maybeTime(t)
	return nil
}

// list keeps a NOT NULL array from being NULL.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// oneOf keeps a word the table would refuse from stopping a whole batch.
func oneOf(word string, allowed ...string) string {
	for _, a := range allowed {
		if word == a {
			return word
		}
	}
	return ""
}
