package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/queue"
	"mangrove/scraper/internal/store"
)

// listed bounds how many Jobs are printed.
const listed = 200

// list prints the queue: what is under way or waits, and what was set aside.
func list(ctx context.Context, db *store.Store, _ *incident.Recorder) (string, error) {
	states := slices.DeleteFunc(job.States(), func(s job.State) bool { return s == job.Done || s == job.Cancelled })
	jobs, err := db.ListJobs(ctx, states, "", 0, listed+1)
	if err != nil {
		return "", err
	}
	holds, err := db.Holds(ctx)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, h := range holds {
		fmt.Fprintf(&out, "Hold %s since %s: %s\n", h.Kind, h.Since.Local().Format(time.DateTime), h.Detail)
	}
	if len(jobs) == 0 {
		return out.String() + "the queue is empty", nil
	}
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "JOB\tSTATE\tSITE\tSERIES\tCHAPTERS\tREASON")
	for _, j := range jobs[:min(len(jobs), listed)] {
		_, _ = fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%d of %d\t%s\n", j.ID, j.State, j.Key.Site, clipped(j.Title, 40), j.Published+j.SetAside, j.Total, clipped(j.Reason, 80))
	}
	_ = table.Flush()
	if len(jobs) > listed {
		fmt.Fprintf(&out, "and more: the first %d are shown\n", listed)
	}
	return strings.TrimRight(out.String(), "\n"), nil
}

// clipped keeps text from outside from breaking the table.
func clipped(s string, most int) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return ' '
		}
		return r
	}, s))
	if len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return string(runes)
}

// actOf is what a verb does to one Job, or to all; nil when it is not such a verb.
// A scraper that runs is told; a unit of work under way ends at its next checkpoint.
func actOf(verb, what string) func(context.Context, *store.Store, *incident.Recorder) (string, error) {
	act := queue.Act(verb)
	if !slices.Contains(queue.Acts(), act) {
		return nil
	}
	if what == "--all" {
		return actOnAll(act)
	}
	id, err := strconv.ParseInt(what, 10, 64)
	if err != nil || id < 1 {
		return nil
	}
	return func(ctx context.Context, db *store.Store, r *incident.Recorder) (string, error) {
		done, err := queue.Do(ctx, db, act, id)
		if err != nil {
			return "", err
		}
		if done.Changed {
			told(ctx, r, act, done)
			word := store.Told{Site: done.Job.Key.Site}
			if done.Interrupted {
				word.StopJob = done.Job.ID
			}
			tell(ctx, db, r, word)
		}
		switch {
		case done.Job.ID != id:
			return fmt.Sprintf("Job %d has ended; Job %d takes its place (%s)", id, done.Job.ID, done.Job.State), nil
		case !done.Changed:
			return fmt.Sprintf("Job %d is already %s; nothing was changed", id, done.Job.State), nil
		}
		return fmt.Sprintf("Job %d is %s", id, done.Job.State), nil
	}
}

func actOnAll(act queue.Act) func(context.Context, *store.Store, *incident.Recorder) (string, error) {
	switch act {
	case queue.Pause:
		return func(ctx context.Context, db *store.Store, r *incident.Recorder) (string, error) {
			err := db.SetHold(ctx, queue.HoldQueue, "by an operator", time.Now())
			if err == nil {
				tell(ctx, db, r, store.Told{})
			}
			return "all downloads are on hold; mangrove release queue lets them go on", err
		}
	case queue.Start, queue.Retry:
		return func(ctx context.Context, db *store.Store, r *incident.Recorder) (string, error) {
			all, err := queue.DoAll(ctx, db, act, time.Now())
			for _, done := range all {
				told(ctx, r, act, done)
			}
			tell(ctx, db, r, store.Told{})
			return fmt.Sprintf("%d Jobs moved", len(all)), err
		}
	}
	return nil
}

// told tells what an operator did to a Job, and ends what waited for a Retry.
func told(ctx context.Context, r *incident.Recorder, act queue.Act, done queue.Done) {
	if act == queue.Retry {
		acted(ctx, r, string(act), incident.Retried, done.Job.Key)
		return
	}
	r.Acted(string(act), done.Job.Key)
}
