package lane

import (
	"context"
	"strings"
	"time"

	"go.uber.org/zap"
	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/source"
)

// mostSearches bounds the searches one Pass makes for Series that are gone, so
// that a Site which drops half its titles is not asked for each of them at once.
// Those beyond it are looked for when a person searches.
const mostSearches = 10

// lostSight keeps in mind that a Series is gone from its Site since this Pass.
func (p *pass) lostSight(d Due) {
	if d.Title != "" && len(p.sought) < mostSearches {
		p.sought = append(p.sought, d)
	}
}

// lookForGone searches the Site for the titles that this Pass found gone, once
// each in the life of a failure, and proposes a move where exactly one Series
// bears the same title under another id (A12). What a search says changes nothing
// else: a person decides.
func (p *pass) lookForGone(ctx context.Context) error {
	l := p.lane
	s, ok := l.adapter.(source.Searcher)
	if !ok {
		return nil
	}
	for _, d := range p.sought {
		found, err := search(WithPriority(ctx, DuePoll), s, l.fetcher, d.Title)
		if ctx.Err() != nil {
			return nil
		}
		switch class := fault.Of(err); {
		case class == fault.Access:
			p.row.EndReason = EndRefused
			if err := l.troubled(ctx, TroubleRefused); err != nil {
				return err
			}
			return l.moveCircuit(ctx, circuit.Refusal, err)
		case err != nil:
			// The next read of a Series says what ails the Site, if anything does.
			l.log.Info("a title that is gone could not be searched for", zap.Stringer("series", d.Key), zap.Error(err))
			return nil
		}
		if at := sameTitle(d, found); at != "" {
			if err := l.store.Propose(ctx, d.Key, Proposal{at, SameTitle}, time.Now()); err != nil {
				p.lost(err)
			}
			l.hub.Changed(d.Key)
		}
	}
	return nil
}

// search asks for a title; an adapter that panics or does not come back found nothing
// (POLL-4).
func search(ctx context.Context, s source.Searcher, f source.Fetcher, title string) ([]source.Series, error) {
	return source.Attend(ctx, f, title, func(ctx context.Context, f source.Fetcher) ([]source.Series, error) { return s.Search(ctx, f, title) })
}

// sameTitle is the address of the one Series found that bears the title of d under
// another id; "" when there is none, or more than one to choose from.
func sameTitle(d Due, found []source.Series) string {
	want, at := titleKey(d.Title), ""
	for _, s := range found {
		if s.ID == d.Key.SeriesID || titleKey(s.Title) != want {
			continue
		}
		if at != "" && at != s.URL {
			return ""
		}
		at = s.URL
	}
	return at
}

// titleKey is what two writings of one title have in common: case, width and
// spaces apart.
func titleKey(title string) string {
	return strings.Join(strings.Fields(cases.Fold().String(norm.NFKC.String(title))), " ")
}
