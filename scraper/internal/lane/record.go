package lane

import (
	"context"
	"strconv"
	"time"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/poll"
	"mangrove/scraper/internal/source"
)

// Recorder keeps incidents (OBS-2). It never fails the work it is told of.
type Recorder interface {
	Record(ctx context.Context, h incident.Happening)
	End(ctx context.Context, e incident.End)
}

// recordFailure tells of a page that was read and not understood: that is our
// side, and the page is what mends it. The other words are the Site's.
func (l *Lane) recordFailure(ctx context.Context, key source.Key, r poll.Result) {
	if l.incidents == nil || r.Outcome != poll.Errors {
		return
	}
	l.incidents.Record(ctx, incident.Happening{
		Kind: fault.Of(r.Err), About: incident.AboutSeries, Key: key, Cause: r.Err,
		Decided: []incident.Decision{{What: "poll", ID: key.SeriesID, To: string(r.Outcome)}},
	})
}

// recordCircuit tells that a Site's circuit has moved. An open or paused one is
// an incident, or the next decision about the one that led to it; a closed one
// ends it.
func (l *Lane) recordCircuit(ctx context.Context, c circuit.Circuit, cause error) {
	if l.incidents == nil {
		return
	}
	switch c.State {
	case circuit.Closed:
		l.incidents.End(ctx, incident.End{About: []incident.About{incident.AboutCircuit}, Key: source.Key{Site: c.Site}, Resolution: incident.GoodRead})
	case circuit.Open, circuit.Paused:
		kind := fault.Of(cause)
		switch c.Reason {
		case circuit.Outage:
			// Whatever the last read of it ended in: a Site's bad day is one.
			kind = fault.Network
		case circuit.Access:
			kind = fault.Access
		}
		l.incidents.Record(ctx, incident.Happening{
			Kind: kind, About: incident.AboutCircuit, Key: source.Key{Site: c.Site}, Cause: cause,
			Decided: []incident.Decision{{What: "circuit", ID: c.Site, To: string(c.State), Reason: string(c.Reason)}},
		})
	}
}

// hold stops all downloads after a storage failure of j.
func (l *Lane) hold(ctx context.Context, j job.Job, cause error) error {
	err := l.store.SetHold(ctx, "storage", job.Reason(cause), time.Now())
	if err == nil && l.incidents != nil {
		l.incidents.Record(ctx, incident.Happening{
			Kind: fault.Storage, About: incident.AboutHold, Key: j.Key, JobID: j.ID, Cause: cause,
			Decided: []incident.Decision{{What: "hold", ID: "storage", To: "held", Reason: "job " + strconv.FormatInt(j.ID, 10)}},
		})
	}
	return err
}
