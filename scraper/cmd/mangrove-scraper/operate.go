package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mangrove/internal/config"
	"mangrove/internal/fault"
	"mangrove/internal/pg"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

var errUsage = errors.New("usage: mangrove-scraper [after-crash | migrate | downgrade VERSION | version | queue | start JOB|--all | pause JOB|--all | resume SITE|JOB | " +
	"retry JOB|--all|SITE SERIES | cancel JOB | release queue|storage | site label | site check FILE [URL]]")

// operate does what an operator asks of the queue and the circuits, straight in
// the database: it works while the scraper is parked, and a running one hears of
// it within a minute.
func operate(ctx context.Context, cfg config.Config, args []string) error {
	var do func(context.Context, *store.Store) (string, error)
	switch {
	case len(args) == 1 && args[0] == "queue":
		do = list
	case len(args) == 2 && actOf(args[0], args[1]) != nil:
		do = actOf(args[0], args[1])
	case len(args) == 2 && args[0] == "resume":
		do = func(ctx context.Context, db *store.Store) (string, error) { return resume(ctx, db, args[1]) }
	case len(args) == 2 && args[0] == "release" && (args[1] == "queue" || args[1] == "storage"):
		do = func(ctx context.Context, db *store.Store) (string, error) { return release(ctx, db, args[1]) }
	case len(args) == 3 && args[0] == "retry":
		do = func(ctx context.Context, db *store.Store) (string, error) {
			return retry(ctx, db, source.Key{Site: args[1], SeriesID: args[2]})
		}
	default:
		return &exit{config.ExitSettings, errUsage}
	}
	address, err := cfg.RoleURL("scraper")
	if err != nil {
		return &exit{config.ExitConfig, err}
	}
	pool, err := pg.Open(ctx, address.Reveal(), pg.Options{Schema: store.Schema, MaxConns: 1})
	if err != nil {
		return &exit{config.ExitConfig, err}
	}
	defer pool.Close()
	said, err := do(ctx, store.New(pool))
	if fault.Is(err, fault.Away) {
		return &exit{config.ExitDatabase, fmt.Errorf("the database does not answer: %s", connectReason(err))}
	}
	if err == nil {
		fmt.Println(said)
	}
	return err
}

// resume closes a Site's circuit (CIRC-3).
func resume(ctx context.Context, db *store.Store, site string) (string, error) {
	lanes, err := db.Lanes(ctx)
	if err != nil {
		return "", err
	}
	for _, l := range lanes {
		if l.Site != site {
			continue
		}
		c, err := db.Circuit(ctx, site)
		if err != nil {
			return "", err
		}
		next, ok := c.Next(circuit.Resume, time.Now(), "", time.Time{})
		if !ok {
			return fmt.Sprintf("%s is being asked already; nothing to resume", site), nil
		}
		moved, err := db.MoveCircuit(ctx, c, next)
		if err == nil && !moved {
			err = fmt.Errorf("the circuit of %s moved meanwhile; look again", site)
		}
		return fmt.Sprintf("%s is asked again (it was %s since %s)", site, c.State, c.Since.Format(time.RFC3339)), err
	}
	return "", fmt.Errorf("no Site is called %q", site)
}

// release ends a Hold.
func release(ctx context.Context, db *store.Store, kind string) (string, error) {
	was, err := db.ReleaseHold(ctx, kind)
	if err == nil && !was {
		return fmt.Sprintf("there is no %s Hold", kind), nil
	}
	return fmt.Sprintf("the %s Hold is released; downloads go on", kind), err
}

// retry puts a Job that was set aside back in the queue, with its counts set back
// and nothing deleted (JOB-5).
func retry(ctx context.Context, db *store.Store, key source.Key) (string, error) {
	j, ok, err := db.LatestJob(ctx, key)
	if err != nil {
		return "", err
	}
	if !ok {
		return "", fmt.Errorf("there is no Job for %s", key)
	}
	if j.State.Outstanding() && j.State != job.RetryWait {
		return fmt.Sprintf("Job %d is under way (%s)", j.ID, j.State), nil
	}
	done, err := queue.Do(ctx, db, queue.Retry, j.ID)
	switch {
	case err != nil:
		return "", err
	case done.Job.ID != j.ID:
		return "a new Job is requested for " + key.String(), nil
	}
	return fmt.Sprintf("Job %d is back in the queue (it was %s)", j.ID, j.State), nil
}
