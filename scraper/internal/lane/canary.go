package lane

import (
	"context"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/canary"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// canary tries whether the adapter still reads its known Series, if that is due and
// nothing else is: it is the Lane's last unit of work. tried is true when it asked
// the Site; due is when it wants to next, zero for never. A Lane nobody follows
// anything of asks nothing.
func (l *Lane) canary(ctx context.Context, now time.Time) (tried bool, due time.Time, err error) {
	p, err := l.store.Canary(ctx, l.site.Key)
	if err != nil || !p.Followed || p.Every == 0 {
		return false, time.Time{}, err
	}
	if p.Next.IsZero() {
		to := p.Canary
		to.Next = now.Add(spread(min(canary.First, p.Every)))
		_, err := l.store.MoveCanary(ctx, p.Canary, to)
		return false, to.Next, err
	}
	if p.Next.After(now) {
		return false, p.Next, nil
	}
	if again := l.unwritten.Add(canary.Again); again.After(now) {
		return false, again, nil
	}
	k, ok, err := l.known(ctx)
	if err != nil {
		return false, time.Time{}, err
	}
	if !ok {
		// Nothing was ever read well: the Polls say so.
		to := p.Canary
		to.Next = now.Add(spread(p.Every))
		_, err := l.store.MoveCanary(ctx, p.Canary, to)
		return false, to.Next, err
	}
	return true, time.Time{}, l.try(ctx, p, k)
}

// known is the Series by which the adapter is tried: the declared one, if its address
// is known, else one that is followed.
func (l *Lane) known(ctx context.Context) (canary.Known, bool, error) {
	if id := l.site.Canary; id != "" {
		k, ok, err := l.store.KnownSeries(ctx, l.site.Key, id)
		if err != nil {
			return k, false, err
		}
		if k.URL == "" {
			k.URL = l.adapter.Address(id)
		}
		if ok && k.URL != "" {
			return k, true, nil
		}
	}
	return l.store.KnownSeries(ctx, l.site.Key, "")
}

// try reads a known Series and the page list of one of its chapters, and records what
// that says of the adapter. Nothing is written before its end: a trial that a crash or
// a stop cuts short is made again.
func (l *Lane) try(ctx context.Context, p CanaryPlan, k canary.Known) error {
	if err := l.busy(ctx, Polling, k.Key.SeriesID); err != nil {
		return err
	}
	ctx = incident.Begin(WithPriority(ctx, Canary))
	// Without validators: "not modified" would say nothing of how the page is read.
	r := poll.Check(ctx, l.adapter, l.fetcher, source.Ask{SeriesID: k.Key.SeriesID, URL: k.URL})
	if ctx.Err() != nil {
		return nil
	}
	chapters := k.Chapters
	if chapters == 0 && p.SeriesID == k.Key.SeriesID {
		chapters = p.Chapters
	}
	found := canary.Trial{SeriesID: k.Key.SeriesID, Chapters: len(r.Reading.Chapters)}
	found.Outcome, found.Err = canary.Series(k, r, chapters)
	if ch, owed, ok := p.Chapter(k, r.Reading.Chapters); ok && found.Outcome == canary.OK {
		if l.halted.Load() || l.retired.Load() {
			return nil
		}
		// What the page list answers is evidence of its own.
		ctx = incident.Begin(ctx)
		incident.Reading(ctx, ch.ID)
		pages, err := l.runner.PageList(ctx, k.Key, ch)
		if ctx.Err() != nil {
			return nil
		}
		found.Outcome, found.Err = canary.Pages(l.site, ch, pages, err, owed)
		if len(pages) > 0 {
			found.ChapterID = ch.ID
		}
	}
	to := p.After(found, time.Now(), p.Every, spread)
	l.log.Log(levelOfTrial(found.Outcome), "tried by the known Series", zap.String("series", k.Key.SeriesID), zap.String("outcome", string(found.Outcome)), zap.String("state", string(to.State)), zap.NamedError("cause", found.Err))
	if found.Outcome == canary.Refused {
		// No request follows a refusal, whatever was asked for (CIRC-3): before all else,
		// since what is written after it may fail.
		if err := l.troubled(ctx, TroubleRefused); err != nil {
			return err
		}
		if err := l.moveCircuit(ctx, circuit.Refusal, found.Err); err != nil {
			return err
		}
	}
	moved, err := l.store.MoveCanary(ctx, p.Canary, to)
	switch {
	case err != nil:
		// It is made again, and the Site is not asked over and over for what cannot be kept.
		l.unwritten = time.Now()
	case moved:
		l.recordTrial(ctx, k, to, found)
	}
	return err
}

// tryByProbe takes the probe of an open circuit for the trial that is due. A Site that
// has rebuilt all its pages looks like one in trouble: its Lane rests, is probed and
// rests again, and would never come to a trial of its own. A probe that was answered
// with pages of another kind says what a trial would, at no request.
func (l *Lane) tryByProbe(ctx context.Context, d Due, r poll.Result) error {
	k := canary.Known{Key: d.Key, URL: d.URL}
	o, err := canary.Series(k, r, 0)
	if o.Verdict() != canary.Bad {
		return nil
	}
	p, serr := l.store.Canary(ctx, l.site.Key)
	if serr != nil || !p.Followed || p.Every == 0 || p.Next.IsZero() || p.Next.After(time.Now()) {
		return serr
	}
	found := canary.Trial{Outcome: o, SeriesID: d.Key.SeriesID, Err: err}
	to := p.After(found, time.Now(), p.Every, spread)
	moved, serr := l.store.MoveCanary(ctx, p.Canary, to)
	if serr == nil && moved {
		l.recordTrial(ctx, k, to, found)
	}
	return serr
}

// recordTrial tells of an adapter that no longer reads its known Series: that is our
// side, and the page is what mends it. A good trial ends it.
func (l *Lane) recordTrial(ctx context.Context, k canary.Known, c canary.Canary, found canary.Trial) {
	if l.incidents == nil {
		return
	}
	switch {
	case c.State == canary.Well:
		l.incidents.End(ctx, incident.End{About: []incident.About{incident.AboutCanary}, Key: source.Key{Site: l.site.Key}, Resolution: incident.GoodRead})
	case c.State == canary.Failing && found.Outcome.Verdict() == canary.Bad:
		l.incidents.Record(ctx, incident.Happening{
			Kind: fault.Parser, About: incident.AboutCanary, Key: k.Key, Cause: found.Err,
			Decided: []incident.Decision{{What: "canary", ID: l.site.Key, To: string(c.State), Reason: string(c.Outcome)}},
		})
	}
}
