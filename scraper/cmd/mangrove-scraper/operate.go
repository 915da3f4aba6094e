package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/config"
	"mangrove/internal/fault"
	"mangrove/internal/logging"
	"mangrove/internal/pg"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

var errUsage = errors.New("usage: mangrove-scraper [after-crash | migrate | downgrade VERSION | version | check | database | progress [JOB...] | queue | start JOB|--all | pause SITE|JOB|--all | resume SITE|JOB | " +
	"retry JOB|--all|SITE SERIES | cancel JOB | release queue|storage | library rebuild|verify [--due]|fetch-again SITE SERIES CHAPTER | incident list|show N|save N FILE | site label | site check FILE [URL]]")

// operate does what an operator asks of the queue and the circuits, straight in
// the database: it works while the scraper is parked, and a running one is told.
func operate(ctx context.Context, cfg config.Config, args []string) error {
	var do func(context.Context, *store.Store, *incident.Recorder) (string, error)
	switch {
	case len(args) == 1 && args[0] == "queue":
		do = list
	case len(args) == 2 && actOf(args[0], args[1]) != nil:
		do = actOf(args[0], args[1])
	case len(args) == 2 && args[0] == "resume":
		do = func(ctx context.Context, db *store.Store, r *incident.Recorder) (string, error) {
			return moveCircuit(ctx, db, r, args[1], circuit.Resume)
		}
	case len(args) == 2 && args[0] == "pause":
		do = func(ctx context.Context, db *store.Store, r *incident.Recorder) (string, error) {
			return moveCircuit(ctx, db, r, args[1], circuit.Pause)
		}
	case len(args) == 2 && args[0] == "release" && (args[1] == "queue" || args[1] == "storage"):
		do = func(ctx context.Context, db *store.Store, r *incident.Recorder) (string, error) {
			return release(ctx, db, r, args[1])
		}
	case len(args) == 3 && args[0] == "retry":
		do = func(ctx context.Context, db *store.Store, r *incident.Recorder) (string, error) {
			return retry(ctx, db, r, source.Key{Site: args[1], SeriesID: args[2]})
		}
	case len(args) >= 2 && args[0] == "library":
		if do = libraryActs(cfg, args[1:]); do == nil {
			return &exit{config.ExitSettings, errUsage}
		}
	case len(args) >= 2 && args[0] == "incident":
		if do = incidents(args[1:]); do == nil {
			return &exit{config.ExitSettings, errUsage}
		}
	default:
		return &exit{config.ExitSettings, errUsage}
	}
	address, err := cfg.RoleURL("scraper")
	if err != nil {
		return noAddress(cfg, err)
	}
	pool, err := pg.Open(ctx, address.Reveal(), pg.Options{Schema: store.Schema, MaxConns: 1})
	if err != nil {
		return &exit{config.ExitConfig, err}
	}
	defer pool.Close()
	// A running scraper starts new files; here a line is added.
	log := logging.New(os.Stderr, "scraper", "warn")
	events := incident.AppendEventLog(incident.EventLogPath(cfg.DataDir), log)
	db := store.New(pool).Tell(events)
	said, err := do(ctx, db, &incident.Recorder{Store: db, Events: events, Log: log})
	if fault.Is(err, fault.Away) {
		return &exit{config.ExitDatabase, fmt.Errorf("the database does not answer: %s", connectReason(err))}
	}
	if err == nil {
		fmt.Println(said)
	}
	return err
}

// moveCircuit pauses a Site's circuit or closes it (CIRC-3). A scraper that runs
// looks at it after the Pass or chapter under way.
func moveCircuit(ctx context.Context, db *store.Store, r *incident.Recorder, site string, event circuit.Event) (string, error) {
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
		next, ok := c.Next(event, time.Now(), "", time.Time{})
		if !ok && event == circuit.Pause {
			return fmt.Sprintf("%s is paused already, since %s", site, c.Since.Format(time.RFC3339)), nil
		}
		if !ok {
			return fmt.Sprintf("%s is being asked already; nothing to resume", site), nil
		}
		moved, err := db.MoveCircuit(ctx, c, next)
		if err == nil && !moved {
			err = fmt.Errorf("the circuit of %s moved meanwhile; look again", site)
		}
		if err == nil && event == circuit.Pause {
			r.Acted("pause", source.Key{Site: site})
			tell(ctx, db, r, store.Told{Site: site, Paused: true})
			return fmt.Sprintf("nothing is asked of %s until mangrove resume %s", site, site), nil
		}
		if err == nil {
			acted(ctx, r, "resume", incident.Resumed, source.Key{Site: site})
			tell(ctx, db, r, store.Told{Site: site})
		}
		return fmt.Sprintf("%s is asked again (it was %s since %s)", site, c.State, c.Since.Format(time.RFC3339)), err
	}
	return "", fmt.Errorf("no Site is called %q", site)
}

// acted tells what an operator did, and ends the incidents that waited for it.
func acted(ctx context.Context, r *incident.Recorder, act string, as incident.Resolution, key source.Key) {
	r.Acted(act, key)
	r.End(ctx, incident.Ended(as, key))
}

// tell makes a running scraper look at what was changed. The change is stored: one
// that is not told finds it within a minute.
func tell(ctx context.Context, db *store.Store, r *incident.Recorder, t store.Told) {
	if err := db.TellRunning(ctx, t); err != nil {
		r.Log.Debug("a running scraper was not told", zap.Error(err))
	}
}

// release ends a Hold.
func release(ctx context.Context, db *store.Store, r *incident.Recorder, kind string) (string, error) {
	was, err := db.ReleaseHold(ctx, kind)
	if err == nil && !was {
		return fmt.Sprintf("there is no %s Hold", kind), nil
	}
	if err == nil {
		acted(ctx, r, "release "+kind, incident.Released, source.Key{})
		tell(ctx, db, r, store.Told{})
	}
	return fmt.Sprintf("the %s Hold is released; downloads go on", kind), err
}

// retry puts a Job that was set aside back in the queue, with its counts set back
// and nothing deleted (JOB-5).
func retry(ctx context.Context, db *store.Store, r *incident.Recorder, key source.Key) (string, error) {
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
	if err != nil {
		return "", err
	}
	acted(ctx, r, "retry", incident.Retried, key)
	tell(ctx, db, r, store.Told{Site: key.Site})
	if done.Job.ID != j.ID {
		return "a new Job is requested for " + key.String(), nil
	}
	return fmt.Sprintf("Job %d is back in the queue (it was %s)", j.ID, j.State), nil
}
