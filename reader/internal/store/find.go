package store

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/unicode/norm"

	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/scraperclient"
)

// maxWords bounds what one search makes the database compare.
const maxWords = 20

// Matching answers the cards of one person's shelf whose name, native name or
// authors hold every word of query. Case and marks above letters do not count.
func (s *Store) Matching(ctx context.Context, userID int64, query string) ([]catalog.Card, error) {
	words := patterns(query)
	if len(words) == 0 {
		return nil, nil
	}
	rows, err := s.pool.Query(ctx, s.sql.Get("Matching"), userID, words)
	if err != nil {
		return nil, wrap("search", "the library", err)
	}
	found := map[scraperclient.Key]bool{}
	var key scraperclient.Key
	if _, err := pgx.ForEachRow(rows, []any{&key.Site, &key.SeriesID}, func() error {
		found[key] = true
		return nil
	}); err != nil {
		return nil, wrap("search", "the library", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	cards, err := s.Shelf(ctx, userID)
	var out []catalog.Card
	for _, c := range cards {
		if found[scraperclient.Key{Site: c.Site, SeriesID: c.SeriesID}] {
			out = append(out, c)
		}
	}
	return out, err
}

// patterns makes each word a pattern for ILIKE: without its marks, and with what
// ILIKE would read as a wildcard meaning itself.
func patterns(query string) []string {
	plain := strings.Map(func(r rune) rune {
		if r == 0 || r >= 0x300 && r <= 0x36f {
			return -1
		}
		return r
	}, norm.NFKD.String(strings.ToValidUTF8(query, "")))
	var out []string
	for _, w := range strings.Fields(plain) {
		out = append(out, "%"+strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(w)+"%")
	}
	return out[:min(len(out), maxWords)]
}
