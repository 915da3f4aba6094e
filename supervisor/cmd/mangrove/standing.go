package main

import (
	"context"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/standing"
	"mangrove/supervisor/internal/budget"
	"mangrove/supervisor/internal/service"
)

// tellStanding keeps the file by which the reader knows how the services stand, until
// ctx ends: at each change, and now and then so that it is known to be kept. It runs
// beside everything else: a full disk delays nobody.
func (s *system) tellStanding(ctx context.Context, started time.Time, changed <-chan struct{}) {
	told := true
	for {
		err := standing.Write(s.config.StatusFile(), standingOf(started, s.group.statuses()))
		if now := err == nil; now != told {
			told = now
			s.log.Warn("the file that tells how the services stand", zap.Bool("written", told), zap.Error(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-time.After(standing.Every):
		}
	}
}

// standingOf is what the file says.
func standingOf(started time.Time, all []service.Status) standing.Report {
	r := standing.Report{Started: started, Version: version, Limit: budget.Limit}
	for _, now := range all {
		row := standing.Service{
			Name: now.Name, State: string(now.State), Since: now.Since, Left: now.Left, FreesAt: standing.Moment(now.FreesAt),
			NextStart: standing.Moment(now.NextStart), Reason: now.Reason, Next: service.NextAct(now),
		}
		for _, e := range now.Exits {
			row.Exits = append(row.Exits, standing.Exit{At: e.Wall, What: e.What, LastLines: e.LastLines})
		}
		r.Services = append(r.Services, row)
	}
	return r
}
