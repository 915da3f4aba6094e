package main

import (
	"context"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/source"
)

// paceAgain is how often a chosen pace is read again: another scraper may have
// been told of it.
const paceAgain = time.Minute

// pace gives a Lane's slots the pace that was chosen for its Site, and keeps it
// so until ctx ends.
func (l *lanes) pace(ctx context.Context, site source.Site, slots *lane.Slots) error {
	read := func() error {
		chosen, _, err := l.db.Pacing(ctx, site.Key)
		if err == nil {
			slots.SetPacing(max(chosen, site.Pacing))
		}
		return err
	}
	switch err := read(); {
	case fault.Is(err, fault.Away):
		return err
	case err != nil:
		// What cannot be read is no choice: the Site's own pace holds.
		l.log.Warn("the chosen pace cannot be read", zap.String("site", site.Key), zap.Error(err))
	}
	go func() {
		for pause(ctx, paceAgain); ctx.Err() == nil; pause(ctx, paceAgain) {
			if err := read(); err != nil && ctx.Err() == nil {
				l.log.Warn("the pace was not read again", zap.String("site", site.Key), zap.Error(err))
			}
		}
	}()
	return nil
}

// SetPacing changes a Site's pace, if its Lane is worked here.
func (l *lanes) SetPacing(site string, d time.Duration) {
	l.mu.Lock()
	slots := l.slots[site]
	l.mu.Unlock()
	if slots != nil {
		slots.SetPacing(d)
	}
}

// Rate is what a Site was really sent, if its Lane is worked here.
func (l *lanes) Rate(site string) (float64, bool) {
	l.mu.Lock()
	slots := l.slots[site]
	l.mu.Unlock()
	if slots == nil {
		return 0, false
	}
	return slots.Rate(), true
}
