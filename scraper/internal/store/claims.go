package store

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"mangrove/internal/fault"
)

// claimClass is the first half of the advisory lock's key, so that the claims of
// Lanes meet no other lock of the database. An arbitrary constant.
const claimClass = 0x4c616e65

// checkEvery is how often a claim is looked at from outside its connection.
const checkEvery = 5 * time.Second

// Claim is the right to work one Lane, held as an advisory lock by one database
// connection over which the Lane's writes go too: whoever loses the connection
// loses the Lane and can write nothing more for it.
type Claim struct {
	*Store
	// Taken is true when another scraper worked the Lane before: it may still
	// have a request under way.
	Taken bool

	site string
	conn *pgxpool.Conn
	stop context.CancelFunc
	done chan struct{}
	lost chan struct{}
}

// ClaimLane tries to claim a Site's Lane for holder, on a connection taken from
// pool and kept until Release; ok is false while another scraper has it. The
// Lane's rows are made if they are not there. The Claim's Store is for the one
// goroutine that works the Lane.
func (s *Store) ClaimLane(ctx context.Context, pool *pgxpool.Pool, site, holder string) (c *Claim, ok bool, err error) {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, false, classify("claim", err)
	}
	giveUp := func() {
		// The lock belongs to the session: only closing it is sure to free it.
		_ = conn.Conn().Close(context.WithoutCancel(ctx))
		conn.Release()
	}
	if err := conn.QueryRow(ctx, s.sql.Get("TryClaim"), claimClass, site).Scan(&ok); err != nil || !ok {
		giveUp()
		return nil, false, classify("TryClaim", err)
	}
	own := &Store{db: steady{conn.Conn()}, sql: s.sql, events: s.events}
	if err := own.EnsureLane(ctx, site); err != nil {
		giveUp()
		return nil, false, err
	}
	var before string
	if err := conn.QueryRow(ctx, s.sql.Get("TakeLane"), site, holder).Scan(&before); err != nil {
		giveUp()
		return nil, false, classify("TakeLane", err)
	}
	watch, stop := context.WithCancel(context.WithoutCancel(ctx))
	c = &Claim{Store: own, Taken: before != "" && before != holder, site: site, conn: conn, stop: stop, done: make(chan struct{}), lost: make(chan struct{})}
	pid := conn.Conn().PgConn().PID()
	go func() {
		defer close(c.done)
		var once sync.Once
		ticker := time.NewTicker(checkEvery)
		defer ticker.Stop()
		for {
			select {
			case <-watch.Done():
				return
			case <-ticker.C:
			}
			var held bool
			err := s.db.QueryRow(watch, s.sql.Get("ClaimHeld"), claimClass, site, pid).Scan(&held)
			if watch.Err() == nil && err == nil && !held {
				once.Do(func() { close(c.lost) })
			}
		}
	}()
	return c, true, nil
}

// Lost is closed when the claim is found to be held no longer.
func (c *Claim) Lost() <-chan struct{} { return c.lost }

// Held reports whether the connection still stands; a Lane looks after a failed write.
func (c *Claim) Held() error {
	if c.conn.Conn().IsClosed() {
		return fault.Newf(fault.Away, "hold", "the Lane's claim", "its database connection is gone")
	}
	return nil
}

// Release gives the Lane up, at once if the connection still stands: a server
// notices a closed one only a little later.
func (c *Claim) Release() {
	c.stop()
	<-c.done
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	_, _ = c.conn.Exec(ctx, c.sql.Get("ReleaseClaim"), claimClass, c.site)
	_ = c.conn.Conn().Close(ctx)
	c.conn.Release()
}

// steady is a connection whose statements are not cut off when their caller is
// told to stop: pgx closes a connection whose context ends in mid-statement, and
// with it would go the claim and the Pass row that says why the Pass ended. The
// server's statement time-out bounds them.
type steady struct{ conn *pgx.Conn }

func (s steady) Begin(ctx context.Context) (pgx.Tx, error) {
	tx, err := s.conn.Begin(context.WithoutCancel(ctx))
	return steadyTx{tx}, err
}

func (s steady) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return s.conn.Exec(context.WithoutCancel(ctx), sql, args...)
}

func (s steady) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return s.conn.Query(context.WithoutCancel(ctx), sql, args...)
}

func (s steady) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return s.conn.QueryRow(context.WithoutCancel(ctx), sql, args...)
}

func (s steady) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	return s.conn.SendBatch(context.WithoutCancel(ctx), b)
}

type steadyTx struct{ pgx.Tx }

func (s steadyTx) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return s.Tx.Exec(context.WithoutCancel(ctx), sql, args...)
}

func (s steadyTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return s.Tx.Query(context.WithoutCancel(ctx), sql, args...)
}

func (s steadyTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return s.Tx.QueryRow(context.WithoutCancel(ctx), sql, args...)
}

func (s steadyTx) Commit(ctx context.Context) error { return s.Tx.Commit(context.WithoutCancel(ctx)) }
