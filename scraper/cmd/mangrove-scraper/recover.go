package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/failpoint"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/stall"
	"mangrove/scraper/internal/store"
)

// recover puts what was under way on a Site when a process ended back where its
// checkpoint says (JOB-6). After a crash, a Job that has now brought the scraper
// down twice is quarantined first (JOB-12).
func (l *lanes) recover(ctx context.Context, site source.Site, db *store.Claim) error {
	l.mu.Lock()
	crashed := l.afterCrash && !l.looked[site.Key]
	l.looked[site.Key] = true
	l.mu.Unlock()
	if crashed {
		poison, err := job.AfterCrash(ctx, db, l.cfg.LibraryDir, site, time.Now())
		if err != nil {
			return err
		}
		for _, j := range poison {
			l.log.Error("a Job brought the scraper down twice and is quarantined", zap.Int64("job", j.ID), zap.Stringer("series", j.Key))
			l.recordJob(ctx, j, fault.New(fault.Unknown, "go on with", j.Key.String(), errors.New(j.Reason)))
		}
	}
	failpoint.Reach(failpoint.RecoveryCrash)
	n, err := db.RecoverJobs(ctx, []string{site.Key})
	if err != nil {
		return err
	}
	failpoint.Reach(failpoint.RecoveryJobs)
	if n > 0 {
		l.log.Info("Jobs that were under way go on from their checkpoints", zap.String("site", site.Key), zap.Int64("jobs", n))
	}
	// What it was doing then has been looked at now.
	return db.SetActivity(ctx, site.Key, lane.Idle, "")
}

// stalled keeps a stall as an incident (STALL-4).
func (l *lanes) stalled(ctx context.Context, s stall.Stall) {
	l.tally.Stall(s.Job.Key.Site, s.Job.State)
	l.recordJob(ctx, s.Job, fault.Newf(fault.Stall, "download", s.Job.Key.String(), "%s; its checkpoint stands at %s", s.Job.Reason, s.Fingerprint[:12]))
}

// recordJob keeps as an incident what was decided about a Job outside its unit of work.
func (l *lanes) recordJob(ctx context.Context, j job.Job, cause error) {
	recorder := l.incidents
	for _, site := range l.sites() {
		if site.Key == j.Key.Site {
			recorder.Checkpoint = incident.Checkpoints(l.cfg.LibraryDir, site)
		}
	}
	recorder.Record(ctx, incident.Happening{
		Kind: j.Class, About: incident.AboutJob, Key: j.Key, JobID: j.ID, Cause: cause,
		Decided: []incident.Decision{{What: "job", ID: strconv.FormatInt(j.ID, 10), To: string(j.State), Reason: string(j.Class)}},
	})
}
