package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// Age is a failure row as it is kept in a file across a downgrade.
type Age struct {
	Site         string       `json:"site"`
	SeriesID     string       `json:"series_id"`
	Outcome      poll.Outcome `json:"outcome"`
	FailingSince time.Time    `json:"failing_since"`
}

// Ages lists every failure row.
func (s *Store) Ages(ctx context.Context) ([]Age, error) {
	rows, err := s.db.Query(ctx, s.sql.Get("AllFailures"))
	if err != nil {
		return nil, classify("AllFailures", err)
	}
	out, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Age])
	return out, classify("AllFailures", err)
}

// TakeAges takes ages back for the Series that are known again, and returns those
// whose Series are not.
func (s *Store) TakeAges(ctx context.Context, ages []Age) (left []Age, err error) {
	sites, ids, words, since := make([]string, len(ages)), make([]string, len(ages)), make([]string, len(ages)), make([]time.Time, len(ages))
	for i, a := range ages {
		sites[i], ids[i], words[i], since[i] = a.Site, a.SeriesID, string(a.Outcome), a.FailingSince
	}
	known := map[source.Key]bool{}
	err = s.inTx(ctx, "TakeAges", func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, s.sql.Get("KnownAmong"), sites, ids)
		if err != nil {
			return err
		}
		var k source.Key
		if _, err := pgx.ForEachRow(rows, []any{&k.Site, &k.SeriesID}, func() error {
			known[k] = true
			return nil
		}); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, s.sql.Get("TakeAges"), sites, ids, words, since)
		return err
	})
	for _, a := range ages {
		if !known[source.Key{Site: a.Site, SeriesID: a.SeriesID}] {
			left = append(left, a)
		}
	}
	return left, err
}
