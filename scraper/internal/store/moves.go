package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/source"
)

// Propose records where a Series may have moved to.
func (s *Store) Propose(ctx context.Context, key source.Key, p lane.Proposal, now time.Time) error {
	_, err := s.exec(ctx, "Propose", key.Site, key.SeriesID, p.URL, p.Because, now)
	return err
}

// Proposal is where a Series may have moved to; its URL is "" for nowhere.
func (s *Store) Proposal(ctx context.Context, key source.Key) (p lane.Proposal, err error) {
	err = s.db.QueryRow(ctx, s.sql.Get("GetProposal"), key.Site, key.SeriesID).Scan(&p.URL, &p.Because)
	if errors.Is(err, pgx.ErrNoRows) {
		return lane.Proposal{}, nil
	}
	return p, classify("GetProposal", err)
}

// MoveSeries gives a Series another Site, id or address, in one transaction. Its
// follow, chapters, files and the age of its failure go with it; the first good
// read at the new place ends the failure through the ordinary path (POLL-14). It
// is refused while a Job is outstanding, whose checkpoint lies under the old name,
// and where the new name is another Series known here.
func (s *Store) MoveSeries(ctx context.Context, from, to source.Key, url string, now time.Time) error {
	return s.inTx(ctx, "MoveSeries", func(tx pgx.Tx) error {
		var busy bool
		err := tx.QueryRow(ctx, s.sql.Get("LockForMove"), from.Site, from.SeriesID).Scan(&busy)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return unknownSeries(from)
		case err != nil:
			return err
		case busy:
			return fault.Newf(fault.Stale, "move", from.String(), "a download of it is under way")
		}
		if from != to {
			var taken bool
			if err := tx.QueryRow(ctx, s.sql.Get("SeriesExists"), to.Site, to.SeriesID).Scan(&taken); err != nil {
				return err
			}
			if taken {
				return fault.Newf(fault.Conflict, "move", from.String(), "%s is known here already", to)
			}
		}
		if _, err := tx.Exec(ctx, s.sql.Get("RekeySeries"), from.Site, from.SeriesID, to.Site, to.SeriesID, url, now); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, s.sql.Get("ForgetProposal"), to.Site, to.SeriesID); err != nil {
			return err
		}
		if from == to {
			return nil
		}
		if _, err := tx.Exec(ctx, s.sql.Get("RekeyJobs"), from.Site, from.SeriesID, to.Site, to.SeriesID); err != nil {
			return err
		}
		if err := s.rekeyFiles(ctx, tx, from, to); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, s.sql.Get("ForgetMoveBack"), to.Site, to.SeriesID); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, s.sql.Get("RememberMove"), from.Site, from.SeriesID, to.Site, to.SeriesID, now)
		return err
	})
}

// rekeyFiles gives each file of a moved Series its new name, a change of the
// library each, so that the catalog follows.
func (s *Store) rekeyFiles(ctx context.Context, tx pgx.Tx, from, to source.Key) error {
	// The counter first, as everyone else takes it: the other way round two would
	// wait for each other.
	if _, err := tx.Exec(ctx, s.sql.Get("LockLibrary")); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, s.sql.Get("FilesToRekey"), from.Site, from.SeriesID)
	if err != nil {
		return err
	}
	paths, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, path := range paths {
		var revision int64
		if err := tx.QueryRow(ctx, s.sql.Get("NextRevision")).Scan(&revision); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, s.sql.Get("RekeyFile"), path, to.Site, to.SeriesID, revision); err != nil {
			return err
		}
	}
	return nil
}

// Moved maps those of keys that a person has moved to their names now.
func (s *Store) Moved(ctx context.Context, keys []source.Key) (map[source.Key]source.Key, error) {
	sites, ids := make([]string, len(keys)), make([]string, len(keys))
	for i, k := range keys {
		sites[i], ids[i] = k.Site, k.SeriesID
	}
	rows, err := s.db.Query(ctx, s.sql.Get("MovedTo"), sites, ids)
	if err != nil {
		return nil, classify("MovedTo", err)
	}
	out := map[source.Key]source.Key{}
	var from, to source.Key
	_, err = pgx.ForEachRow(rows, []any{&from.Site, &from.SeriesID, &to.Site, &to.SeriesID}, func() error {
		out[from] = to
		return nil
	})
	return out, classify("MovedTo", err)
}
