package incident

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/internal/redact"
	"mangrove/scraper/internal/source"
)

// Happening is a failure as whoever decided about it tells it.
type Happening struct {
	Kind  fault.Class
	About About
	Key   source.Key
	JobID int64
	// ChapterID may be left out where the unit of work has named its chapter.
	ChapterID string
	Cause     error
	Decided   []Decision
}

// End is the end of what a failure stopped: every incident about it that still
// waits is resolved. Empty fields of Key and ChapterID match any.
type End struct {
	About      []About
	Key        source.Key
	ChapterID  string
	Resolution Resolution
}

// Store keeps incidents.
type Store interface {
	// RecordIncident adds in, evicting where there are Kept already, or counts it
	// on the one that stands for the same; fresh says which.
	RecordIncident(ctx context.Context, in Incident) (id int64, fresh bool, err error)
	// DecideIncident appends to what was decided, as far as there is room.
	DecideIncident(ctx context.Context, id int64, decided []Decision) error
	// EndIncidents resolves what waits and returns how many did.
	EndIncidents(ctx context.Context, e End, now time.Time) (int64, error)
}

// unit is one unit of work: its incident, once it has one, and what was decided
// before.
type unit struct {
	mu      sync.Mutex
	id      int64
	chapter string
	decided []Decision
}

type unitKey struct{}

// Begin begins a unit of work of a Lane: its evidence and its incident are its own.
func Begin(ctx context.Context) context.Context {
	return context.WithValue(source.WithEvidence(ctx), unitKey{}, &unit{})
}

// Reading names the chapter the unit of work is at.
func Reading(ctx context.Context, chapterID string) {
	if u, ok := ctx.Value(unitKey{}).(*unit); ok {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.chapter = chapterID
	}
}

// Decide notes a decision that is no incident by itself, for the one that follows
// from the same unit of work, if any does: a Job that waits because its Site is paused.
func Decide(ctx context.Context, d Decision) {
	if u, ok := ctx.Value(unitKey{}).(*unit); ok {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.decided = append(u.decided, stamped([]Decision{d}, time.Now())...)
	}
}

// Recorder records incidents. A failure of its own is logged and nothing more:
// the work that failed has been dealt with by then. A nil Recorder does nothing.
type Recorder struct {
	Store Store
	// Checkpoint reads the checkpoint of a Series, nil if there is none.
	Checkpoint func(source.Key) []byte
	Events     *EventLog
	Log        *zap.Logger
}

// patience bounds what a record may take.
const patience = 10 * time.Second

// Record records a failure. Within one unit of work the first is the incident,
// and what is recorded after it is what was decided next about the same.
func (r *Recorder) Record(ctx context.Context, h Happening) {
	if r == nil || r.Store == nil {
		return
	}
	now := time.Now()
	h.Decided = stamped(h.Decided, now)
	u, ok := ctx.Value(unitKey{}).(*unit)
	if !ok {
		u = &unit{}
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	seen := source.SeenIn(ctx)
	// The record is made though the work was told to stop meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if u.id != 0 {
		if err := r.Store.DecideIncident(ctx, u.id, h.Decided); err != nil {
			r.Log.Warn("a decision could not be added to its incident", zap.Int64("incident", u.id), zap.Error(err))
		}
		return
	}
	in := r.incident(h, u, seen, now)
	id, fresh, err := r.Store.RecordIncident(ctx, in)
	if err != nil {
		r.Log.Warn("an incident could not be recorded", zap.String("kind", string(in.Kind)), zap.Stringer("series", in.Key), zap.Error(err))
		return
	}
	u.id, u.decided = id, nil
	if fresh {
		r.Log.Info("incident", zap.Int64("incident", id), zap.String("kind", string(in.Kind)), zap.Stringer("series", in.Key), zap.String("reason", in.Reason))
		r.Events.Tell(Event{
			Event: "incident", Site: in.Key.Site, Series: in.Key.SeriesID, Job: in.JobID, Chapter: in.ChapterID, To: strconv.FormatInt(id, 10),
			Class: string(in.Kind), Reason: in.Reason,
		})
	}
}

// incident is what is kept of h: bounded and redacted.
func (r *Recorder) incident(h Happening, u *unit, seen []source.Seen, now time.Time) Incident {
	in := Incident{
		Kind: known(h.Kind), About: h.About, Key: source.Key{Site: redact.Clip(h.Key.Site, maxName), SeriesID: redact.Clip(h.Key.SeriesID, maxLine)}, JobID: h.JobID,
		ChapterID: redact.Clip(cmp.Or(h.ChapterID, u.chapter), maxLine), At: now, LastAt: now, Seen: 1,
	}
	in.Subject, in.Reason = tell(h.Cause)
	in.Decided = append(in.Decided, u.decided...)
	in.Decided = append(in.Decided, h.Decided...)
	in.Decided = in.Decided[:min(len(in.Decided), MaxDecisions)]
	if h.JobID != 0 && r.Checkpoint != nil {
		in.Checkpoint = r.Checkpoint(h.Key)
	}
	if tells(in.Kind, h.Cause) {
		for _, s := range seen {
			in.Evidence = append(in.Evidence, Redact(s))
		}
	}
	return in
}

// tells reports whether what the Site answered tells anything about a failure.
// Of a full disk it does not, nor of a read that never happened.
func tells(kind fault.Class, cause error) bool {
	switch kind {
	case fault.Storage, fault.Conflict, fault.Stall:
		return false
	}
	var f *fault.Error
	return !errors.As(cause, &f) || f.Evidence != fault.NoRead
}

// End resolves the incidents about something that has ended.
func (r *Recorder) End(ctx context.Context, e End) {
	if r == nil || r.Store == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	if _, err := r.Store.EndIncidents(ctx, e, time.Now()); err != nil {
		r.Log.Warn("incidents could not be resolved", zap.String("resolution", string(e.Resolution)), zap.Stringer("series", e.Key), zap.Error(err))
	}
}

// Redact makes evidence of an answer: bounded, with nothing secret in it.
func Redact(s source.Seen) Evidence {
	e := Evidence{
		At: s.At, Address: redact.Address(s.URL), Status: s.Status, MediaType: redact.Clip(redact.Line(s.MediaType), 256), Size: s.Size, Cut: s.Size > int64(len(s.Body)),
	}
	for _, h := range s.Headers {
		if allowedHeader(h.Name) && len(e.Headers) < 20 {
			e.Headers = append(e.Headers, source.Header{Name: h.Name, Value: redact.Clip(redact.Line(h.Value), 200)})
		}
	}
	e.Body, e.Removed = redact.Body(s.Body, e.MediaType, s.Secrets)
	if len(e.Body) > source.MaxBody {
		e.Body, e.Cut = e.Body[:source.MaxBody], true
	}
	return e
}

// allowedHeader is the list of the headers that are kept, in lower case.
func allowedHeader(name string) bool {
	switch name {
	case "content-type", "content-length", "date", "server", "retry-after", "cf-mitigated", "etag", "last-modified":
		return true
	}
	return false
}

// tell is what was being read and why it failed, from the nearest classified error.
func tell(cause error) (subject, reason string) {
	var f *fault.Error
	switch {
	case cause == nil:
		return "", ""
	case !errors.As(cause, &f):
		return "", short(cause.Error())
	case f.Err == nil:
		return redact.Line(f.Subject), short(f.Op)
	}
	return redact.Line(f.Subject), short(f.Err.Error())
}

// short is Line, for a reason: no more than a person reads.
func short(text string) string {
	text = redact.Line(text)
	if runes := []rune(text); len(runes) > 300 {
		return string(runes[:300]) + "…"
	}
	return text
}

// known is kind if an incident may be of it, else unknown.
func known(kind fault.Class) fault.Class {
	for _, k := range Kinds() {
		if k == kind {
			return kind
		}
	}
	return fault.Unknown
}

func stamped(decided []Decision, now time.Time) []Decision {
	out := make([]Decision, 0, len(decided))
	for _, d := range decided {
		if d.At.IsZero() {
			d.At = now
		}
		d.ID, d.To, d.Reason = redact.Clip(redact.Line(d.ID), maxLine), redact.Clip(d.To, 64), redact.Clip(redact.Line(d.Reason), 300)
		out = append(out, d)
	}
	return out
}

// Acted tells events.log what an operator did: the act, and to what.
func (r *Recorder) Acted(act string, key source.Key) {
	if r != nil {
		r.Events.Tell(Event{Event: "operator", Site: key.Site, Series: key.SeriesID, To: act})
	}
}

// Ended is what an operator's act ends.
func Ended(act Resolution, key source.Key) End {
	switch act {
	case Resumed:
		return End{About: []About{AboutCircuit}, Key: source.Key{Site: key.Site}, Resolution: Resumed}
	case Released:
		return End{About: []About{AboutHold}, Resolution: Released}
	}
	return End{About: []About{AboutJob, AboutChapter}, Key: key, Resolution: act}
}
