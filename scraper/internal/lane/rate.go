package lane

import "time"

// rateWindow is how far back the effective rate is measured, in steps of rateStep.
const (
	rateWindow = 10 * time.Minute
	rateStep   = 10 * time.Second
	rateSteps  = int(rateWindow / rateStep)
)

// rate counts the requests that were let through, by steps of ten seconds. It is
// kept in memory: a restart counts anew. Whoever has it guards it.
type rate struct {
	began time.Time
	steps [rateSteps]int
	// at is the number of the newest step since began.
	at int
}

// grant counts one request.
func (r *rate) grant(now time.Time) {
	if r.began.IsZero() {
		r.began = now
	}
	r.turn(now)
	r.steps[r.at%rateSteps]++
}

// turn forgets the steps that are older than the window.
func (r *rate) turn(now time.Time) {
	to := int(now.Sub(r.began) / rateStep)
	if to-r.at >= rateSteps {
		r.steps, r.at = [rateSteps]int{}, to
		return
	}
	for r.at < to {
		r.at++
		r.steps[r.at%rateSteps] = 0
	}
}

// perMinute is the mean over the window, or over what has passed of it since
// the first request, a minute at least.
func (r *rate) perMinute(now time.Time) float64 {
	if r.began.IsZero() {
		return 0
	}
	r.turn(now)
	n := 0
	for _, s := range r.steps {
		n += s
	}
	over := min(max(now.Sub(r.began), time.Minute), rateWindow)
	return float64(n) / over.Minutes()
}

// Rate is how many requests a minute were really let through in the last ten
// minutes, beside the configured pacing.
func (s *Slots) Rate() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rate.perMinute(time.Now())
}

// SetPacing changes the least time between two requests, from the next one on.
// One that was granted before keeps the distance it was granted with, unless
// the new one is longer.
func (s *Slots) SetPacing(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if longer := d - s.pacing; longer > 0 {
		s.next = s.next.Add(longer)
	}
	s.pacing = d
}
