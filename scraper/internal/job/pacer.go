package job

import (
	"context"
	"sync"
	"time"
)

// pacer keeps the starts of one kind of question a time apart. It only waits:
// the Lane's slots pace the requests themselves.
type pacer struct {
	mu   sync.Mutex
	next time.Time
}

// wait returns when the next start is due, or with the error of ctx.
func (p *pacer) wait(ctx context.Context, gap time.Duration) error {
	p.mu.Lock()
	now := time.Now()
	at := now
	if p.next.After(at) {
		at = p.next
	}
	p.next = at.Add(gap)
	p.mu.Unlock()
	if !at.After(now) {
		return nil
	}
	timer := time.NewTimer(at.Sub(now))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
