package main

import (
	"context"
	"time"

	"go.uber.org/zap"

	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/source"
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
		}
	}
	n, err := db.RecoverJobs(ctx, []string{site.Key})
	if err != nil {
		return err
	}
	if n > 0 {
		l.log.Info("Jobs that were under way go on from their checkpoints", zap.String("site", site.Key), zap.Int64("jobs", n))
	}
	// What it was doing then has been looked at now.
	return db.SetActivity(ctx, site.Key, lane.Idle, "")
}
