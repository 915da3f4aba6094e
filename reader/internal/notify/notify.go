package notify

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
)

// Store keeps destinations and what they were told.
type Store interface {
	// Destinations lists all, oldest first.
	Destinations(ctx context.Context) ([]Destination, error)
	// AddDestination stores one and returns its id; RemoveDestination forgets one
	// with all it was told.
	AddDestination(ctx context.Context, d Destination) (int64, error)
	RemoveDestination(ctx context.Context, id int64) error
	// NoteNotices stores those notices that a destination was not given yet, and that the
	// others still last.
	NoteNotices(ctx context.Context, destination int64, notices []Notice, now time.Time) error
	// PendingNotices are still to be sent, oldest first, at most limit of total;
	// oldest are the times of the first one that is urgent and of the first at all.
	PendingNotices(ctx context.Context, destination int64, limit int) (p Pending, err error)
	// ClaimDestination takes the turn of a destination until a time, if it is due: of several
	// readers one sends.
	ClaimDestination(ctx context.Context, destination int64, now, until time.Time) (bool, error)
	// MarkTold marks notices as told and when the next message may go; MarkFailed keeps them
	// and says why.
	MarkTold(ctx context.Context, destination int64, ids []int64, now, next time.Time) error
	MarkFailed(ctx context.Context, destination int64, why string, now, next time.Time) error
	// ForgetNotices drops what has been over since before a time.
	ForgetNotices(ctx context.Context, before time.Time) error
}

// Pending is what a destination has not been told.
type Pending struct {
	IDs     []int64
	Notices []Notice
	Total   int
	// Urgent is when the first notice of another kind than Chapters came, Oldest
	// when the first of any did; zero without one.
	Urgent, Oldest time.Time
}

// How messages are gathered: several things that happen together are one message,
// and nobody hears of anything more often than every gap.
const (
	every          = time.Minute
	settle         = 2 * time.Minute
	settleChapters = 15 * time.Minute
	gap            = 5 * time.Minute
	mostInMessage  = 500
	// over is how long a notice whose cause is gone is remembered.
	over = 30 * 24 * time.Hour
)

// waits are the times before a message that failed is tried again; the last one repeats.
func waits() []time.Duration {
	return []time.Duration{5 * time.Minute, 15 * time.Minute, time.Hour, 6 * time.Hour}
}

// Service tells.
type Service struct {
	store   Store
	scraper Scraper
	// file is what a parked service is told from, when nothing else may run.
	file string
	log  *zap.Logger
}

// New makes the service; Run works it. file is where the addresses for parked
// services are kept, for the supervisor's word.
func New(store Store, scraper Scraper, file string, log *zap.Logger) *Service {
	return &Service{store: store, scraper: scraper, file: file, log: log}
}

// Run looks and tells until ctx ends.
func (s *Service) Run(ctx context.Context) {
	for {
		if err := s.Turn(ctx, time.Now()); err != nil && ctx.Err() == nil && !fault.Is(err, fault.Away) {
			s.log.Warn("people could not be told", zap.Error(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(every):
		}
	}
}

// Turn looks once and sends what is due. Without a destination nothing is asked
// and nothing is sent.
func (s *Service) Turn(ctx context.Context, now time.Time) error {
	to, err := s.store.Destinations(ctx)
	if err != nil {
		return err
	}
	if err := keep(s.file, to); err != nil {
		s.log.Warn("the addresses for parked services could not be kept", zap.Error(err))
	}
	if len(to) == 0 {
		return nil
	}
	st, lookErr := look(ctx, s.scraper, to, now)
	for _, d := range to {
		if lookErr == nil {
			if err := s.store.NoteNotices(ctx, d.ID, st.notices(d, now), now); err != nil {
				return err
			}
		}
		if err := s.tell(ctx, d, now); err != nil {
			return err
		}
	}
	if err := s.store.ForgetNotices(ctx, now.Add(-over)); err != nil {
		return err
	}
	return lookErr
}

// tell sends what is due to one destination.
func (s *Service) tell(ctx context.Context, d Destination, now time.Time) error {
	p, err := s.store.PendingNotices(ctx, d.ID, mostInMessage)
	if err != nil || len(p.Notices) == 0 || !p.due(now) {
		return err
	}
	mine, err := s.store.ClaimDestination(ctx, d.ID, now, now.Add(2*sendTime))
	if err != nil || !mine {
		return err
	}
	title, body := digest(p.Notices, p.Total)
	if err := send(ctx, d.Address, title, body); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		why := Reason(err)
		s.log.Warn("a message was not taken", zap.String("destination", d.Name), zap.String("why", why))
		return s.store.MarkFailed(ctx, d.ID, why, now, now.Add(waits()[min(d.Tries, len(waits())-1)]))
	}
	// Sent and not marked would be sent twice, which is better than never.
	return s.store.MarkTold(context.WithoutCancel(ctx), d.ID, p.IDs, now, now.Add(gap))
}

// due reports whether what is pending has had the time to gather.
func (p Pending) due(now time.Time) bool {
	return (!p.Urgent.IsZero() && !p.Urgent.After(now.Add(-settle))) || !p.Oldest.After(now.Add(-settleChapters))
}

// Destinations lists all, without their addresses.
func (s *Service) Destinations(ctx context.Context) ([]Destination, error) {
	return s.store.Destinations(ctx)
}

// Add stores a destination after looking at its address; a fault of class Invalid
// says what is wrong with it.
func (s *Service) Add(ctx context.Context, d Destination) (int64, error) {
	d.Name, d.Address = plain(d.Name), strings.TrimSpace(d.Address)
	switch {
	case d.Name == "":
		return 0, fault.Newf(fault.Invalid, "add", "a destination", "it has no name")
	case len(d.Kinds) == 0 || slices.ContainsFunc(d.Kinds, func(k Kind) bool { return !slices.Contains(Kinds(), k) }):
		return 0, fault.Newf(fault.Invalid, "add", "a destination", "nothing is chosen that it is told")
	case d.FailingDays < 0 || d.FailingDays > 365:
		return 0, fault.Newf(fault.Invalid, "add", "a destination", "%d days are not between 0 and 365", d.FailingDays)
	}
	if err := Check(d.Address); err != nil {
		return 0, err
	}
	id, err := s.store.AddDestination(ctx, d)
	if err == nil {
		err = s.refile(ctx)
	}
	return id, err
}

// Remove forgets a destination.
func (s *Service) Remove(ctx context.Context, id int64) error {
	if err := s.store.RemoveDestination(ctx, id); err != nil {
		return err
	}
	return s.refile(ctx)
}

// Test sends a message now that says what it is; an error says why it was not taken.
func (s *Service) Test(ctx context.Context, id int64) error {
	to, err := s.store.Destinations(ctx)
	if err != nil {
		return err
	}
	for _, d := range to {
		if d.ID == id {
			return send(ctx, d.Address, "Mangrove: a test", "This is how Mangrove will tell you, under the name of "+d.Name+".")
		}
	}
	return fault.Newf(fault.NotFound, "test", "a destination", "there is no such destination")
}

func (s *Service) refile(ctx context.Context) error {
	to, err := s.store.Destinations(ctx)
	if err != nil {
		return err
	}
	return keep(s.file, to)
}

// Reason is why a message was not taken, for a person.
func Reason(err error) string {
	var f *fault.Error
	if errors.As(err, &f) && f.Err != nil {
		err = f.Err
	}
	return plain(err.Error())
}
