package lane

import (
	"context"
	"time"

	"go.uber.org/zap"

	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// passBatch is how many due Series are looked up at once; a Pass takes as many
// batches as it needs.
const passBatch = 100

// witnessAfter is how many unfetchable reads in a row call for a witness (POLL-9).
const witnessAfter = 3

// flushEvery and flushAfter bound how many unchanged reads, and how long, wait to
// be written together; a crash polls them again (POLL-3).
const (
	flushEvery = 100
	flushAfter = 2 * time.Second
)

// activityEvery is how often the title being polled is noted.
const activityEvery = time.Second

// held is an unfetchable read whose meaning is not yet known.
type held struct {
	due Due
	at  time.Time
	// moved is where the Site sends readers for good, or "".
	moved string
}

// pass is one run over the due Series, in progress.
type pass struct {
	lane *Lane
	row  Pass
	held []held
	seen map[string]bool
	// adaptive and interval are the operator's settings as they were when the Pass
	// began.
	adaptive bool
	interval time.Duration
	// unchanged are good reads still to be written.
	unchanged []Unchanged
	// noted is when the activity was last written, calm once the Lane's trouble
	// is known to be over.
	noted time.Time
	calm  bool
	// unwritten counts writes that failed, cause is the first of their errors.
	unwritten int
	cause     error
	// sought are the Series that this Pass found gone, to be looked for by title.
	sought []Due
}

// runPass polls what is due and writes the Pass row, whatever ended it.
func (l *Lane) runPass(ctx context.Context) error {
	p := &pass{lane: l, seen: map[string]bool{}, row: Pass{
		Site: l.site.Key, Started: time.Now(), EndReason: EndComplete, Counts: map[poll.Outcome]int{},
	}}
	err := p.readSettings(ctx)
	if err == nil {
		err = p.run(ctx)
	}
	// What was read well is written though the Pass was stopped.
	p.flush(context.WithoutCancel(ctx))
	if p.unwritten > 0 {
		l.log.Warn("some of what the Pass read could not be recorded", zap.Int("writes", p.unwritten), zap.NamedError("first", p.cause))
	}
	if ctx.Err() != nil {
		p.row.EndReason = EndStopped
	}
	p.row.Ended = time.Now()
	// The row is written though the Pass was stopped: it says so.
	ctx = context.WithoutCancel(ctx)
	if rerr := l.store.RecordPass(ctx, p.row); rerr != nil {
		l.log.Warn("the Pass row could not be written", zap.Error(rerr))
	}
	if aerr := l.busy(ctx, Idle, ""); err == nil {
		err = aerr
	}
	return err
}

// readSettings reads what an operator may change while the Lane runs.
func (p *pass) readSettings(ctx context.Context) error {
	chosen, err := p.lane.store.PollInterval(ctx, p.row.Site)
	if err != nil {
		return err
	}
	p.interval = Ordinary(p.lane.site, chosen)
	p.adaptive, err = p.lane.store.AdaptiveInterval(ctx)
	return err
}

func (p *pass) run(ctx context.Context) error {
	for ctx.Err() == nil {
		p.flush(ctx)
		batch, err := p.lane.store.DueSeries(ctx, p.row.Site, time.Now(), passBatch)
		if err != nil {
			return err
		}
		polled := 0
		for _, d := range batch {
			if p.seen[d.Key.SeriesID] {
				// Its advance was not written; once a Pass is enough.
				continue
			}
			p.seen[d.Key.SeriesID] = true
			polled++
			goOn, err := p.one(ctx, d)
			if err != nil || !goOn || ctx.Err() != nil {
				return err
			}
			if p.lane.retired.Load() || p.lane.halted.Load() {
				p.row.EndReason = EndStopped
				return p.settleBeforeLeaving(ctx)
			}
		}
		if polled == 0 {
			break
		}
	}
	if err := p.settleBeforeLeaving(ctx); err != nil || p.row.EndReason != EndComplete {
		return err
	}
	return p.lookForGone(ctx)
}

// settleBeforeLeaving asks the witness about the reads still held at the end.
func (p *pass) settleBeforeLeaving(ctx context.Context) error {
	if p.lane.halted.Load() {
		// Not even a witness is asked of a Site that somebody has paused.
		p.dropHeld(ctx)
	}
	if len(p.held) > 0 && ctx.Err() == nil {
		_, err := p.callWitness(ctx)
		return err
	}
	return nil
}

// one polls one Series and reports whether the Pass goes on.
func (p *pass) one(ctx context.Context, d Due) (bool, error) {
	l := p.lane
	if time.Since(p.noted) >= activityEvery {
		if err := l.busy(ctx, Polling, d.Key.SeriesID); err != nil {
			return false, err
		}
		p.noted = time.Now()
	}
	priority := DuePoll
	if d.Forced {
		priority = Forced
	}
	ctx = incident.Begin(ctx)
	r := poll.Check(WithPriority(ctx, priority), l.adapter, l.fetcher, source.Ask{SeriesID: d.Key.SeriesID, URL: d.URL, Validators: d.Validators})
	if ctx.Err() != nil {
		return false, nil
	}
	l.log.Info("polled", zap.String("series", d.Key.SeriesID), zap.String("outcome", string(r.Outcome)), zap.NamedError("cause", r.Err))
	now := time.Now()
	switch r.Outcome {
	case poll.Unfetchable:
		if l.asksForQuiet(d.Key.SeriesID, r.Err, now) {
			// Not even a witness is asked before the time that the Site named.
			p.row.Counts[poll.Unreachable]++
			p.advance(ctx, d, now)
			return false, p.outage(ctx, poll.Unreachable, r.Err)
		}
		p.held = append(p.held, held{d, now, source.ProposedMove(r.Err)})
		p.advance(ctx, d, now)
		if len(p.held) >= witnessAfter {
			return p.callWitness(ctx)
		}
		return true, nil
	case poll.Refused, poll.Unreachable:
		p.dropHeld(ctx)
		p.row.Counts[r.Outcome]++
		p.advance(ctx, d, now)
		p.row.EndReason = EndReason(r.Outcome)
		if err := l.troubled(ctx, Trouble(r.Outcome)); err != nil {
			return false, err
		}
		event := circuit.Trouble
		if r.Outcome == poll.Refused {
			event = circuit.Refusal
		}
		return false, l.moveCircuit(ctx, event, r.Err)
	case poll.OK, poll.NoChapter, poll.Errors:
		l.pageCame(d.Key.SeriesID, now)
		// A page came: the Site answers, so what was held is about its Series.
		if err := p.settleHeld(ctx); err != nil {
			return false, err
		}
	}
	return true, p.record(ctx, d, r, now)
}

// record carries out what an outcome does. A failure to write is logged and the
// Pass goes on (POLL-4).
func (p *pass) record(ctx context.Context, d Due, r poll.Result, now time.Time) error {
	l := p.lane
	p.row.Counts[r.Outcome]++
	if r.Outcome == poll.OK && r.Reading.NotModified {
		next, why := p.afterGood(ctx, d, now)
		p.unchanged = append(p.unchanged, Unchanged{d.Key, now, next, why})
		if len(p.unchanged) >= flushEvery || now.Sub(p.unchanged[0].At) >= flushAfter {
			p.flush(ctx)
		}
		return p.quiet(ctx)
	}
	if r.Outcome == poll.OK {
		next, why := p.afterGood(ctx, d, now)
		good, err := l.store.RecordGood(ctx, d, r.Reading, now, next, why)
		if err != nil {
			p.lost(err)
			return nil
		}
		p.row.NewChapters += len(good.New)
		if len(good.New) > 0 {
			l.log.Info("new chapters", zap.Stringer("series", d.Key), zap.Int("count", len(good.New)))
			if d.Download {
				skipped, err := l.queue.Request(ctx, d.Key)
				if err != nil {
					p.lost(err)
				} else if skipped != "" {
					l.log.Info("new chapters wait", zap.Stringer("series", d.Key), zap.String("because", skipped))
				}
			}
		}
		l.keepCover(ctx, d, good.CoverURL)
	} else {
		if p.fail(ctx, d.Key, r.Outcome, now) && r.Outcome == poll.NotFound {
			p.lostSight(d)
		}
		l.recordFailure(ctx, d.Key, r)
		p.advance(ctx, d, now)
	}
	l.hub.Changed(d.Key)
	return p.quiet(ctx)
}

// fail writes a failure row, after the good reads that came before it, and
// reports whether it said something else before.
func (p *pass) fail(ctx context.Context, key source.Key, o poll.Outcome, at time.Time) bool {
	p.flush(ctx)
	written, err := p.lane.store.RecordFailure(ctx, key, o, at)
	if err != nil {
		p.lost(err)
	}
	return written
}

// lost counts a write that failed: the Pass goes on, and says so once at its end
// (POLL-4). With the database down every write of thousands of Series fails.
func (p *pass) lost(err error) {
	if p.unwritten == 0 {
		p.cause = err
	}
	p.unwritten++
}

// flush writes the unchanged reads that wait.
func (p *pass) flush(ctx context.Context) {
	if len(p.unchanged) == 0 {
		return
	}
	if err := p.lane.store.RecordUnchanged(ctx, p.unchanged); err != nil {
		p.lost(err)
	}
	for _, u := range p.unchanged {
		p.lane.hub.Changed(u.Key)
	}
	p.unchanged = nil
}

// quiet records, once a Pass, that the Site answers again.
func (p *pass) quiet(ctx context.Context) error {
	if p.calm {
		return nil
	}
	err := p.lane.answered(ctx)
	p.calm = err == nil
	return err
}

// afterGood says when a Series just read well is due again: by the ordinary
// interval, or by its releases where the operator has switched that on.
func (p *pass) afterGood(ctx context.Context, d Due, now time.Time) (time.Time, NextReason) {
	if !p.adaptive {
		return p.nextPoll(now), ByInterval
	}
	releases, err := p.lane.store.Releases(ctx, d.Key)
	if err != nil {
		p.lost(err)
		return p.nextPoll(now), ByInterval
	}
	length, why := Interval(p.interval, releases, now)
	return now.Add(spread(length)), why
}

func (p *pass) advance(ctx context.Context, d Due, now time.Time) {
	if err := p.lane.store.Advance(ctx, d.Key, p.nextPoll(now)); err != nil {
		p.lost(err)
	}
}

// settleHeld writes the held reads as what they were.
func (p *pass) settleHeld(ctx context.Context) error {
	for _, h := range p.held {
		p.row.Counts[poll.Unfetchable]++
		p.fail(ctx, h.due.Key, poll.Unfetchable, h.at)
		if h.moved != "" {
			if err := p.lane.store.Propose(ctx, h.due.Key, Proposal{h.moved, Redirect}, h.at); err != nil {
				p.lost(err)
			}
		}
		p.lane.hub.Changed(h.due.Key)
	}
	p.held = nil
	return nil
}

// dropHeld counts the held reads as unreachable: nothing is written of them.
func (p *pass) dropHeld(context.Context) {
	p.row.Counts[poll.Unreachable] += len(p.held)
	p.held = nil
}

// callWitness reads the Series last read ok, to learn whether the held reads are
// about their Series or about the Site (POLL-9), and reports whether the Pass
// goes on.
func (p *pass) callWitness(ctx context.Context) (bool, error) {
	l := p.lane
	var except []string
	for _, h := range p.held {
		except = append(except, h.due.Key.SeriesID)
	}
	w, ok, err := l.store.Witness(ctx, p.row.Site, except)
	if err != nil {
		return false, err
	}
	if !ok {
		return true, p.settleHeld(ctx)
	}
	ctx = incident.Begin(ctx)
	r := poll.Check(WithPriority(ctx, DuePoll), l.adapter, l.fetcher, source.Ask{SeriesID: w.Key.SeriesID, URL: w.URL})
	if ctx.Err() != nil {
		return false, nil
	}
	switch r.Outcome {
	case poll.OK, poll.NoChapter, poll.Errors:
		return true, p.settleHeld(ctx)
	}
	return false, p.outage(ctx, r.Outcome, r.Err)
}

// outage ends the Pass because the whole Site is in trouble: what was held is no
// evidence, and the circuit opens, or pauses where the Site refused.
func (p *pass) outage(ctx context.Context, o poll.Outcome, cause error) error {
	p.dropHeld(ctx)
	p.row.EndReason = EndOutage
	trouble, event := TroubleUnreachable, circuit.Trouble
	if o == poll.Refused {
		p.row.EndReason, trouble, event = EndRefused, TroubleRefused, circuit.Refusal
	}
	if err := p.lane.troubled(ctx, trouble); err != nil {
		return err
	}
	return p.lane.moveCircuit(ctx, event, cause)
}
