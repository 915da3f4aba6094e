package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Standing is how things stand at one glance.
type Standing struct {
	// Epoch and Revision are the head of the library's change log; Follows is the
	// highest revision of follows applied.
	Epoch             string
	Revision, Follows int64
	// Failing counts failure rows, Muted those of them that are muted.
	Failing, Muted int
	// Outstanding counts Jobs that have not ended, Ready those that wait for
	// somebody's word, and Quarantined those that were set aside until somebody decides.
	Outstanding, Ready, Quarantined int
	Lanes                           []LaneRow
}

// Standing reads it in one turn to the database and back: while the library is looked
// at, each turn waits for its share of the machine.
func (s *Store) Standing(ctx context.Context) (out Standing, err error) {
	var b pgx.Batch
	read := func(name string, into ...any) {
		b.Queue(s.sql.Get(name)).QueryRow(func(row pgx.Row) error { return row.Scan(into...) })
	}
	read("LibraryHead", &out.Epoch, &out.Revision)
	read("FollowsRevision", &out.Follows)
	read("CountFailures", &out.Failing)
	read("CountMutes", &out.Muted)
	read("CountOutstanding", &out.Outstanding)
	read("CountWaitingForPerson", &out.Ready, &out.Quarantined)
	b.Queue(s.sql.Get("LaneFigures")).Query(func(rows pgx.Rows) (err error) {
		out.Lanes, err = pgx.CollectRows(rows, laneRow)
		return err
	})
	return out, classify("Standing", s.db.SendBatch(ctx, &b).Close())
}
