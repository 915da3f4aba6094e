package lane

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// Covers keeps the covers Sites show, by digest.
type Covers interface {
	// Keep checks that data is a whole image, stores it and returns its digest.
	Keep(data []byte) (sha256 string, err error)
}

// Options make a Lane.
type Options struct {
	Adapter source.Adapter
	Fetcher source.Fetcher
	Store   Store
	Queue   Queue
	Runner  Runner
	Covers  Covers
	Hub     *live.Hub
	// Incidents takes what was decided about failures; nil takes nothing.
	Incidents Recorder
	// Gate is the one the Fetcher's Slots ask, and that listens to it (Listen).
	Gate *Gate
	// Held returns nil while the Lane is still this program's to work; nil
	// means that nobody else could have it.
	Held func() error
	Log  *zap.Logger
}

// Lane is the single line of work for one Site.
type Lane struct {
	site    source.Site
	adapter source.Adapter
	fetcher source.Fetcher
	store   Store
	queue   Queue
	runner  Runner
	covers  Covers
	hub     *live.Hub
	// incidents may be nil.
	incidents Recorder
	gate      *Gate
	held      func() error
	log       *zap.Logger
	wake      chan struct{}
	// probes holds the one operator who waits for a probe's answer.
	probes  chan chan probeAnswer
	retired atomic.Bool
	// halted is true once somebody else has moved the circuit while the Lane works.
	halted atomic.Bool
	// quiet is when a Series page came with a wish for quiet, page when one last
	// came that could be read. Only the Lane's own work touches them.
	quiet map[string]time.Time
	page  time.Time
	// unwritten is when the end of a trial could not be written.
	unwritten time.Time
	// activity and about are what was last noted of what the Lane does; "" before.
	activity Activity
	about    string
}

// New makes a Lane; Run works it.
func New(o Options) *Lane {
	site := o.Adapter.Site()
	return &Lane{
		site: site, adapter: o.Adapter, fetcher: o.Fetcher, store: o.Store, queue: o.Queue, runner: o.Runner,
		covers: o.Covers, hub: o.Hub, incidents: o.Incidents, gate: o.Gate, held: o.Held, log: o.Log.With(zap.String("site", site.Key)), wake: make(chan struct{}, 1),
		probes: make(chan chan probeAnswer, 1), quiet: map[string]time.Time{},
	}
}

// Wake makes the Lane look for work now: somebody asked for something.
func (l *Lane) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// StopJob makes the unit of a Job end at its next checkpoint, if it is under way,
// after the Job's row has been moved (STALL-4, JOB-5).
func (l *Lane) StopJob(jobID int64) {
	l.runner.Stop(jobID)
	l.Wake()
}

// Retire ends Run after the unit of work under way: nothing is cut off, and the
// Pass or Job goes on with whoever works the Lane next.
func (l *Lane) Retire() {
	l.retired.Store(true)
	l.Wake()
}

// Halt makes the Lane look at its circuit again as soon as the read or chapter
// under way has ended: somebody has paused the Site. A Pass ends there.
func (l *Lane) Halt() {
	l.halted.Store(true)
	l.Wake()
}

// Search asks the Site for a title, with the priority of a person waiting. It runs
// beside the Lane's unit of work and shares its slots, pacing and circuit.
func (l *Lane) Search(ctx context.Context, query string) ([]source.Series, error) {
	s, ok := l.adapter.(source.Searcher)
	if !ok {
		return nil, fault.Newf(fault.Invalid, "search", l.site.Key, "this Site cannot be searched")
	}
	return s.Search(WithPriority(ctx, Person), l.fetcher, query)
}

// longestIdle bounds how long a Lane goes without looking at its queue, for
// changes made where it cannot hear of them.
const longestIdle = time.Minute

// afterError is the rest after the database did not answer.
const afterError = 5 * time.Second

// Run does units of work until ctx ends, the Lane is no longer held, or it is
// retired. A stop ends the read in flight and writes the Pass row with its reason.
func (l *Lane) Run(ctx context.Context) {
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterError)
		defer cancel()
		if err := l.busy(ctx, Idle, ""); err != nil {
			l.log.Debug("what the Lane does could not be noted", zap.Error(err))
		}
	}()
	for ctx.Err() == nil && !l.retired.Load() {
		wait, err := l.Turn(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && l.held != nil && l.held() != nil {
			l.log.Warn("the Lane is given up", zap.Error(err))
			return
		}
		if err != nil {
			l.log.Warn("the Lane rests after an error", zap.Error(err), zap.Duration("rest", afterError))
			wait = afterError
		}
		if wait <= 0 {
			continue
		}
		timer := time.NewTimer(min(wait, longestIdle))
		select {
		case <-ctx.Done():
		case <-l.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// busy notes what the Lane is doing, if that is something else than before: the
// chapters of a Job follow each other without a word.
func (l *Lane) busy(ctx context.Context, a Activity, seriesID string) error {
	if l.activity == a && l.about == seriesID {
		return nil
	}
	err := l.store.SetActivity(ctx, l.site.Key, a, seriesID)
	if l.activity, l.about = a, seriesID; err != nil {
		l.activity = ""
	}
	return err
}

// Turn does one piece of work, or says how long there will be none.
func (l *Lane) Turn(ctx context.Context) (time.Duration, error) {
	wait, err := l.turn(ctx)
	if wait > 0 && ctx.Err() == nil {
		err = errors.Join(err, l.busy(ctx, Idle, ""))
	}
	return wait, err
}

func (l *Lane) turn(ctx context.Context) (time.Duration, error) {
	now := time.Now()
	l.halted.Store(false)
	c, err := l.store.Circuit(ctx, l.site.Key)
	if err != nil {
		return 0, err
	}
	l.gate.Set(c)
	if answer := l.probeWanted(); answer != nil {
		probed, err := l.probePaused(ctx, c)
		answer <- probeAnswer{probed, err}
		return 0, nil
	}
	if !c.Asking() {
		if !c.Due(now) {
			if c.Until.IsZero() {
				return longestIdle, nil
			}
			return c.Until.Sub(now), nil
		}
		return 0, l.probe(ctx, c)
	}
	if l.gate.heard.Load() {
		if err := l.answered(ctx); err != nil {
			return 0, err
		}
	}
	due, err := l.store.DueSeries(ctx, l.site.Key, now, 1)
	if err != nil {
		return 0, err
	}
	if len(due) > 0 {
		return 0, l.runPass(ctx)
	}
	j, ok, err := l.queue.Next(ctx, l.site.Key, now)
	if err != nil {
		return 0, err
	}
	if ok {
		_, err := l.runJob(ctx, j)
		return 0, err
	}
	tried, trial, err := l.canary(ctx, now)
	if err != nil || tried {
		return 0, err
	}
	return l.untilNext(ctx, now, trial)
}

// untilNext is how long until a Series is due, a Job wants its retry or the canary its
// trial, which is zero when it wants none.
func (l *Lane) untilNext(ctx context.Context, now, trial time.Time) (time.Duration, error) {
	wait := longestIdle
	poll, err := l.store.NextDue(ctx, l.site.Key)
	if err != nil {
		return 0, err
	}
	retry, err := l.queue.NextRetry(ctx, l.site.Key)
	if err != nil {
		return 0, err
	}
	for _, at := range []time.Time{poll, retry, trial} {
		if !at.IsZero() {
			wait = min(wait, max(at.Sub(now), 50*time.Millisecond))
		}
	}
	return wait, nil
}

// runJob does one unit of a Job and moves the Site's circuit if the unit says
// something about the Site. answered is false when the unit failed for the
// Site's sake.
func (l *Lane) runJob(ctx context.Context, j job.Job) (answered bool, err error) {
	ctx = incident.Begin(ctx)
	activity, work := Downloading, l.runner.Step
	if j.State == job.Requested {
		activity, work = Inspecting, l.runner.Inspect
	}
	if err := l.busy(ctx, activity, j.Key.SeriesID); err != nil {
		return false, err
	}
	err = work(WithPriority(ctx, Download), j)
	if ctx.Err() != nil {
		return false, nil
	}
	class := fault.Of(err)
	if err != nil {
		if aerr := l.busy(ctx, Idle, ""); aerr != nil {
			return false, errors.Join(err, aerr)
		}
		l.log.Log(levelOf(class), "a Job's unit failed", zap.Int64("job", j.ID), zap.Stringer("series", j.Key), zap.String("class", string(class)), zap.Error(err))
	}
	switch class {
	case "":
		return true, nil
	case fault.Away:
		return false, err
	case fault.Stale:
		return true, nil
	case fault.Storage:
		return true, l.hold(ctx, j, err)
	case fault.Parser, fault.Unknown:
		unread, qerr := l.store.QuarantinedSince(ctx, l.site.Key, time.Now().Add(-time.Hour))
		if qerr != nil || len(unread) < 2 {
			return true, qerr
		}
		return true, l.moveCircuit(ctx, circuit.Pattern, pattern(l.site.Key, unread[0], unread[1]))
	}
	if event, ok := circuit.EventOf(class); ok {
		if class == fault.Access {
			if terr := l.troubled(ctx, TroubleRefused); terr != nil {
				return false, terr
			}
		}
		// What the unit heard before it failed does not end the trouble.
		l.gate.heard.Store(false)
		return false, l.moveCircuit(ctx, event, err)
	}
	return true, nil
}

// probe sends the one probe of an open circuit (CIRC-2): the waiting Job if it
// has its retry, otherwise one read.
func (l *Lane) probe(ctx context.Context, c circuit.Circuit) error {
	if !c.Due(time.Now()) {
		return nil
	}
	if err := l.moveCircuit(ctx, circuit.Probe, nil); err != nil {
		return err
	}
	j, ok, err := l.queue.Retrying(ctx, l.site.Key, time.Now())
	if err != nil {
		return err
	}
	if ok {
		answered, err := l.runJob(ctx, j)
		if err != nil || !answered {
			return err
		}
		return l.moveCircuit(ctx, circuit.Answer, nil)
	}
	ctx = incident.Begin(ctx)
	target, ok, err := l.probeTarget(ctx)
	if err != nil {
		return err
	}
	if !ok {
		return l.moveCircuit(ctx, circuit.Answer, nil)
	}
	r := poll.Check(WithPriority(ctx, DuePoll), l.adapter, l.fetcher, source.Ask{SeriesID: target.Key.SeriesID, URL: target.URL})
	if ctx.Err() != nil {
		return nil
	}
	switch r.Outcome {
	case poll.Unfetchable, poll.Unreachable:
		if err := l.tryByProbe(ctx, target, r); err != nil {
			return err
		}
		return l.moveCircuit(ctx, circuit.Trouble, r.Err)
	case poll.Refused:
		if err := l.troubled(ctx, TroubleRefused); err != nil {
			return err
		}
		return l.moveCircuit(ctx, circuit.Refusal, r.Err)
	}
	if err := l.answered(ctx); err != nil {
		return err
	}
	return l.moveCircuit(ctx, circuit.Answer, nil)
}

func (l *Lane) probeTarget(ctx context.Context) (Due, bool, error) {
	if w, ok, err := l.store.Witness(ctx, l.site.Key, nil); err != nil || ok {
		return w, ok, err
	}
	due, err := l.store.DueSeries(ctx, l.site.Key, time.Now().Add(3*longestInterval), 1)
	if err != nil || len(due) == 0 {
		return Due{}, false, err
	}
	return due[0], true, nil
}

// answered ends the Lane's trouble: the Site has just answered, whatever it was
// asked for (POLL-8). Only here does a trouble end.
func (l *Lane) answered(ctx context.Context) error {
	l.gate.heard.Store(false)
	return l.store.SetTrouble(ctx, l.site.Key, NoTrouble, time.Now())
}

// troubled notes that a whole Site refuses or is out of reach; since when stays
// while the word does. What was heard before is of no account from then on.
func (l *Lane) troubled(ctx context.Context, t Trouble) error {
	l.gate.heard.Store(false)
	return l.store.SetTrouble(ctx, l.site.Key, t, time.Now())
}

// moveCircuit applies an event to the stored circuit. Losing the compare-and-set
// is fine: whoever won knew something newer.
func (l *Lane) moveCircuit(ctx context.Context, e circuit.Event, cause error) error {
	c, err := l.store.Circuit(ctx, l.site.Key)
	if err != nil {
		return err
	}
	var f *fault.Error
	var retryAfter time.Time
	detail := ""
	if errors.As(cause, &f) {
		retryAfter, detail = f.RetryAfter, job.Reason(cause)
	}
	next, ok := c.Next(e, time.Now(), detail, retryAfter)
	if !ok {
		return nil
	}
	moved, err := l.store.MoveCircuit(ctx, c, next)
	if err == nil && moved {
		l.gate.Set(next)
		l.recordCircuit(ctx, next, cause)
		l.log.Info("circuit", zap.String("from", string(c.State)), zap.String("to", string(next.State)), zap.String("reason", string(next.Reason)), zap.String("detail", next.Detail))
	}
	return err
}

// keepCover fetches the cover when the Site shows another one than is kept. It
// is a convenience: its failure changes nothing and is only logged.
func (l *Lane) keepCover(ctx context.Context, d Due, coverURL string) {
	if coverURL == "" || (coverURL == d.CoverURL && d.CoverSHA256 != "") {
		return
	}
	resp, err := l.fetcher.Get(WithPriority(ctx, Download), source.Request{URL: coverURL, Want: source.WantImage, Referer: d.URL})
	if err == nil {
		var sum string
		if sum, err = l.covers.Keep(resp.Body); err == nil {
			err = l.store.SaveCover(ctx, d.Key, coverURL, sum)
		}
	}
	if err != nil {
		l.log.Info("no cover kept", zap.Stringer("series", d.Key), zap.Error(err))
		return
	}
	l.hub.Changed(d.Key)
}
