package store

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5/pgxpool"
)

// toldChannel carries what was changed beside a running scraper.
const toldChannel = "mangrove_told"

// Told is what the command line tells a running scraper: what to look at again.
type Told struct {
	// Site is the Lane it is about; empty for all of them.
	Site string `json:"site,omitempty"`
	// Paused is true when the Site is to be asked nothing more (CIRC-3).
	Paused bool `json:"paused,omitempty"`
	// StopJob ends the unit of this Job at its next checkpoint; 0 for none.
	StopJob int64 `json:"stop_job,omitempty"`
}

// TellRunning tells a scraper that runs, if there is one. One that does not hear it
// finds the change when it next looks by itself.
func (s *Store) TellRunning(ctx context.Context, t Told) error {
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, "SELECT pg_notify($1, $2)", toldChannel, string(body))
	return classify("TellRunning", err)
}

// HearTold calls hear for each word until ctx ends or the connection, one of
// pool's, is lost. The first call is made once it listens, with nothing said:
// whatever was told before may have been missed.
func HearTold(ctx context.Context, pool *pgxpool.Pool, hear func(Told)) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return classify("HearTold", err)
	}
	defer func() {
		// It still listens; nobody else is to have it.
		_ = conn.Conn().Close(context.WithoutCancel(ctx))
		conn.Release()
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+toldChannel); err != nil {
		return classify("HearTold", err)
	}
	hear(Told{})
	for {
		n, err := conn.Conn().WaitForNotification(ctx)
		if err != nil {
			return classify("HearTold", err)
		}
		var t Told
		// Words nobody understands still say that something changed.
		_ = json.Unmarshal([]byte(n.Payload), &t)
		hear(t)
	}
}
