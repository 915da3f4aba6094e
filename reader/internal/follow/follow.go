// Package follow keeps the wishes of users to be kept up to date with a Series,
// and sees to it that the scraper hears of them (OWN-3): every change at once,
// and the whole set with its revision at start and every few minutes, so that
// any loss or repetition ends in the same set. It refuses to decide what is
// really polled; that is the scraper's.
package follow

import (
	"context"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/reader/internal/scraperclient"
)

// Wish is one user's follow.
type Wish struct {
	UserID int64
	Key    scraperclient.Key
	Title  string
	// URL is the address the person followed by, "" when the scraper knew the Series.
	URL       string
	Download  bool
	Languages []string
}

// Store keeps the follows. Each change takes its revision from the counter row
// in its own transaction, and returns what the scraper should hear: for a
// Series that nobody follows any more, its key in Unfollowed. A change of
// nothing has revision 0.
type Store interface {
	Follow(ctx context.Context, w Wish) (scraperclient.FollowChange, error)
	Unfollow(ctx context.Context, userID int64, key scraperclient.Key) (scraperclient.FollowChange, error)
	// Rekey gives every user's follow of a Series the name it has now.
	Rekey(ctx context.Context, from, to scraperclient.Key) (scraperclient.FollowChange, error)
	// RaiseRevision makes the counter at least revision.
	RaiseRevision(ctx context.Context, revision int64) error
	// Wanted is the whole desired set with the revision it stands at.
	Wanted(ctx context.Context) (scraperclient.FollowChange, error)
}

// Scraper hears of the follows.
type Scraper interface {
	ApplyFollows(ctx context.Context, change scraperclient.FollowChange) (scraperclient.Applied, error)
	MoveSeries(ctx context.Context, key scraperclient.Key, address string) (scraperclient.Key, error)
}

// resendEvery is how often the whole set is sent though nothing changed.
const resendEvery = 3 * time.Minute

// Service is the follows of one library.
type Service struct {
	store   Store
	scraper Scraper
	log     *zap.Logger
	wake    chan struct{}
}

// New makes the service; Run sends the whole set.
func New(store Store, scraper Scraper, log *zap.Logger) *Service {
	return &Service{store: store, scraper: scraper, log: log, wake: make(chan struct{}, 1)}
}

// Follow stores the wish and tells the scraper. A scraper that is away hears of
// it later; the wish stands either way.
func (s *Service) Follow(ctx context.Context, w Wish) error {
	change, err := s.store.Follow(ctx, w)
	if err != nil {
		return err
	}
	s.Send(ctx, change)
	return nil
}

// Unfollow removes the wish and tells the scraper. What is in the library stays.
func (s *Service) Unfollow(ctx context.Context, userID int64, key scraperclient.Key) error {
	change, err := s.store.Unfollow(ctx, userID, key)
	if err != nil {
		return err
	}
	s.Send(ctx, change)
	return nil
}

// UnfollowAll removes one user's wishes for many Series. It goes on over those
// that the user does not follow, and stops at the first that could not be stored.
func (s *Service) UnfollowAll(ctx context.Context, userID int64, keys []scraperclient.Key) error {
	for _, key := range keys {
		if err := s.Unfollow(ctx, userID, key); err != nil {
			return err
		}
	}
	return nil
}

// Move moves a Series to where an address leads, for everybody who follows it, and
// returns its name from then on (POLL-14). The scraper moves first: it may refuse,
// and it understands wishes for the old name from then on, so that a reader that
// dies in between loses nothing.
func (s *Service) Move(ctx context.Context, key scraperclient.Key, address string) (scraperclient.Key, error) {
	to, err := s.scraper.MoveSeries(ctx, key, address)
	if err != nil || to == key {
		return to, err
	}
	change, err := s.store.Rekey(context.WithoutCancel(ctx), key, to)
	if err != nil {
		return to, err
	}
	s.Send(ctx, change)
	return to, nil
}

// Send tells the scraper of a change that is stored. One that is away hears of it
// with the whole set.
func (s *Service) Send(ctx context.Context, change scraperclient.FollowChange) {
	if change.Revision == 0 {
		return
	}
	if _, err := s.scraper.ApplyFollows(context.WithoutCancel(ctx), change); err != nil {
		if !fault.Is(err, fault.Away) {
			s.log.Warn("a change of the follows was not taken", zap.Int64("revision", change.Revision), zap.Error(err))
		}
		s.Wake()
	}
}

// Wake sends the whole set soon, for example because the scraper is back.
func (s *Service) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run sends the whole set now, at each Wake and every few minutes, until ctx ends.
func (s *Service) Run(ctx context.Context) {
	for {
		again := resendEvery
		if err := s.SendAll(ctx); err != nil && ctx.Err() == nil {
			if !fault.Is(err, fault.Away) {
				s.log.Warn("the follows were not taken", zap.Error(err))
			}
			again = 5 * time.Second
		}
		t := time.NewTimer(again)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-s.wake:
			// A scraper that refused just now gets a moment.
			if again < resendEvery {
				select {
				case <-ctx.Done():
				case <-t.C:
				}
			}
		case <-t.C:
		}
		t.Stop()
	}
}

// SendAll sends the whole set with its revision.
func (s *Service) SendAll(ctx context.Context) error {
	all, err := s.store.Wanted(ctx)
	if err != nil {
		return err
	}
	all.Whole = true
	got, err := s.scraper.ApplyFollows(ctx, all)
	if err != nil {
		return err
	}
	if got.Revision > all.Revision {
		// The scraper has heard of later revisions than this database knows: it
		// was restored from an older copy. What people wish is what is here.
		s.log.Warn("the follows' revision was behind the scraper's", zap.Int64("ours", all.Revision), zap.Int64("scrapers", got.Revision))
		if err := s.store.RaiseRevision(ctx, got.Revision+1); err != nil {
			return err
		}
		s.Wake()
	}
	for from, to := range got.Moved {
		if _, err := s.store.Rekey(ctx, from, to); err != nil {
			return err
		}
		s.Wake()
	}
	return nil
}
