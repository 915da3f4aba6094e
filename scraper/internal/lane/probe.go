package lane

import (
	"context"
	"errors"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// Probed is what came of an operator's "try one read" (CIRC-3).
type Probed struct {
	// Resumed is true when the Site is asked again from now on.
	Resumed bool
	// Reason words, in one line, why it stays paused.
	Reason string
}

type probeAnswer struct {
	Probed
	err error
}

// Probe sends one read to a Site whose circuit is paused, on an operator's word,
// and resumes it when the Site answers; refused, it stays paused. The read is a
// unit of work of the Lane's like any other. A circuit that is not paused needs no
// probe: class invalid.
func (l *Lane) Probe(ctx context.Context) (Probed, error) {
	answer := make(chan probeAnswer, 1)
	select {
	case l.probes <- answer:
		l.Wake()
	default:
		return Probed{}, fault.Newf(fault.Stale, "probe", l.site.Key, "it is being probed already")
	}
	select {
	case a := <-answer:
		return a.Probed, a.err
	case <-ctx.Done():
		return Probed{}, ctx.Err()
	}
}

// probeWanted returns where an operator waits for the answer of a probe, or nil.
func (l *Lane) probeWanted() chan probeAnswer {
	select {
	case answer := <-l.probes:
		return answer
	default:
		return nil
	}
}

// probePaused reads one Series of a paused Site. What is stored stays paused until
// the Site has answered, so that a crash in between resumes nothing.
func (l *Lane) probePaused(ctx context.Context, c circuit.Circuit) (Probed, error) {
	if c.State != circuit.Paused {
		return Probed{}, fault.Newf(fault.Invalid, "probe", l.site.Key, "its circuit is not paused")
	}
	target, ok, err := l.probeTarget(ctx)
	if err != nil {
		return Probed{}, err
	}
	if ok {
		// The one read is let through, and the gate is shut again behind it.
		through := c
		through.State = circuit.Probing
		l.gate.Set(through)
		r := poll.Check(WithPriority(ctx, Person), l.adapter, l.fetcher, source.Ask{SeriesID: target.Key.SeriesID, URL: target.URL})
		l.gate.Set(c)
		if ctx.Err() != nil {
			return Probed{}, ctx.Err()
		}
		switch r.Outcome {
		case poll.Refused, poll.Unreachable, poll.Unfetchable:
			return Probed{Reason: job.Reason(r.Err)}, l.noteQuiet(ctx, c, r.Err)
		}
	}
	if err := l.answered(ctx); err != nil {
		return Probed{}, err
	}
	return Probed{Resumed: true}, l.moveCircuit(ctx, circuit.Resume, nil)
}

// noteQuiet records the time that a Site asked for anew (CIRC-5).
func (l *Lane) noteQuiet(ctx context.Context, c circuit.Circuit, cause error) error {
	var f *fault.Error
	if !errors.As(cause, &f) || f.RetryAfter.IsZero() {
		return nil
	}
	next := c
	next.RetryAfter = f.RetryAfter
	_, err := l.store.MoveCircuit(ctx, c, next)
	return err
}
