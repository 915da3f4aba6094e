package store

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/scraperclient"
)

// Shelf answers all that one person's library has, by title.
func (s *Store) Shelf(ctx context.Context, userID int64) ([]catalog.Card, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("Shelf"), userID)
	if err != nil {
		return nil, wrap("list", "the library", err)
	}
	cards, err := pgx.CollectRows(rows, scanCard)
	return cards, wrap("list", "the library", err)
}

// asAsked has a statement planned for what is asked this time: most of its filters
// are not set, and fall away.
const asAsked = pgx.QueryExecModeCacheDescribe

// ShelfLetters answers the numbers of the letters of catalog.Letters that a view by
// title has, ascending. Only the filters of q count, not the piece.
func (s *Store) ShelfLetters(ctx context.Context, userID int64, q catalog.ShelfQuery) ([]int, error) {
	name, args := "ShelfLetters", []any{asAsked, userID, catalog.LetterStarts()}
	if q.State != "" || q.Following || q.Site+q.Status+q.Language+q.Tag+q.Words != "" {
		sites, ids := keyLists(q.Failing)
		name, args = "ShelfLettersOf", append(args, q.State, q.Following, q.Site, q.Status, q.Language, q.Tag, sites, ids, plain(q.Words))
	}
	rows, err := s.pool.Query(ctx, s.sql.Get(name), args...)
	if err != nil {
		return nil, wrap("list", "the letters of the library", err)
	}
	numbers, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (n int, err error) {
		err = row.Scan(&n)
		return n - 1, err // the database counts from one
	})
	return numbers, wrap("list", "the letters of the library", err)
}

// ShelfBlock answers a piece of one person's library.
func (s *Store) ShelfBlock(ctx context.Context, userID int64, q catalog.ShelfQuery) ([]catalog.Card, error) {
	sites, ids := keyLists(q.Failing)
	rows, err := s.pool.Query(ctx, s.sql.Get("ShelfBlock"), asAsked, userID, q.Sort, q.Collection, q.State, q.Following, q.Site, q.Status, q.Language, q.Tag,
		sites, ids, plain(q.Words), q.After.Set, q.After.Rank, q.After.Order, q.After.Site, q.After.SeriesID,
		q.Until.Set, q.Until.Rank, q.Until.Order, q.Until.Site, q.Until.SeriesID, q.Limit)
	if err != nil {
		return nil, wrap("list", "the library", err)
	}
	cards, err := pgx.CollectRows(rows, scanCard)
	return cards, wrap("list", "the library", err)
}

func cardFields(c *catalog.Card) []any {
	return []any{
		&c.TitleID, &c.Site, &c.SeriesID, &c.Name, &c.SiteName, &c.Following, &c.AddedAt, &c.Books, &c.Unread, &c.Newest,
		&c.Cover, &c.Page, &c.Pages, &c.ReadAt, &c.Finished, &c.Gone, &c.Unreadable, &c.Place.Rank, &c.Place.Order,
	}
}

func scanCard(row pgx.CollectableRow) (c catalog.Card, err error) {
	err = row.Scan(cardFields(&c)...)
	return finished(c), err
}

// finished fills in what a row says in another form.
func finished(c catalog.Card) catalog.Card {
	c.ReadAt = never(c.ReadAt)
	c.Place.Set, c.Place.Site, c.Place.SeriesID = true, c.Site, c.SeriesID
	return c
}

// ShelfCounts counts one person's library.
func (s *Store) ShelfCounts(ctx context.Context, userID int64) (n catalog.ShelfCounts, err error) {
	err = s.pool.QueryRow(ctx, s.sql.Get("ShelfCounts"), userID).Scan(&n.All, &n.Chapters, &n.Unread, &n.Reading, &n.Read, &n.Gone, &n.Following)
	return n, wrap("count", "the library", err)
}

// ShelfChoices answers what a library can be filtered by.
func (s *Store) ShelfChoices(ctx context.Context, userID int64) (map[string][]catalog.Choice, error) {
	rows, err := s.pool.Query(ctx, s.sql.Get("ShelfChoices"), userID)
	if err != nil {
		return nil, wrap("list", "the filters of the library", err)
	}
	out := map[string][]catalog.Choice{}
	var kind string
	var c catalog.Choice
	_, err = pgx.ForEachRow(rows, []any{&kind, &c.Value, &c.Name, &c.Titles}, func() error {
		out[kind] = append(out[kind], c)
		return nil
	})
	return out, wrap("list", "the filters of the library", err)
}

// findMore is how many of each kind are judged.
const findMore = 200

// Find answers what one person's library has of a query, the nearest first.
func (s *Store) Find(ctx context.Context, userID int64, query string) ([]catalog.Card, error) {
	query = plain(query)
	if strings.TrimSpace(query) == "" {
		return nil, nil
	}
	var found []catalog.Found
	err := s.tx(ctx, "search", "the library", func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, s.sql.Get("FindAlike")); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, s.sql.Get("Find"), asAsked, userID, query, findMore)
		if err != nil {
			return err
		}
		found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (f catalog.Found, err error) {
			err = row.Scan(append(cardFields(&f.Card), &f.Words, &f.Title, &f.Native, &f.Holds, &f.Query)...)
			f.Card = finished(f.Card)
			return f, err
		})
		return err
	})
	return catalog.Rank(found), wrap("search", "the library", err)
}

// plain keeps from the database what it takes for no text.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\x00", "")
}

// SeesTitle reports whether a person may see a title.
func (s *Store) SeesTitle(ctx context.Context, userID, titleID int64) (ok bool, err error) {
	err = s.pool.QueryRow(ctx, s.sql.Get("Seen"), userID, titleID).Scan(&ok)
	return ok, wrap("ask", "who may see a title", err)
}

// SeesBook reports whether a person may see a book.
func (s *Store) SeesBook(ctx context.Context, userID, bookID int64) (ok bool, err error) {
	err = s.pool.QueryRow(ctx, s.sql.Get("SeenBook"), userID, bookID).Scan(&ok)
	return ok, wrap("ask", "who may see a book", err)
}

// SeesSeries reports whether a person may see a Series.
func (s *Store) SeesSeries(ctx context.Context, userID int64, key scraperclient.Key) (ok bool, err error) {
	err = s.pool.QueryRow(ctx, s.sql.Get("SeenSeries"), userID, key.Site, key.SeriesID).Scan(&ok)
	return ok, wrap("ask", "who may see a Series", err)
}
