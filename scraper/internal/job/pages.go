package job

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/checkpoint"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/staging"
)

// listLife is how long the addresses of a page list stay good where the Site
// declares nothing (JOB-10).
const listLife = time.Minute

// pageTries is how often one page is asked for before its chapter is set aside.
const pageTries = 3

// mostGone is how many pages may be gone with no page found between them before
// the rest of a list is no longer asked for.
const mostGone = 10

// list is the page list in hand for a chapter, with what is known of its addresses.
type list struct {
	pages []source.Page
	// answered is when it came; its addresses age from then.
	answered time.Time
	// renewed is true for one that a refusal bought: only a page buys the next.
	renewed bool
	// first is the page to ask for before all others.
	first int
	// yielded is true once a page came from it.
	yielded bool
}

// buys reports whether a refusal of l buys a fresh list (JOB-10).
func (l list) buys(life time.Duration) bool {
	if life == 0 {
		life = listLife
	}
	return l.yielded || (!l.renewed && time.Since(l.answered) > life)
}

// list asks the adapter for a chapter's page list, no sooner than the Site
// allows; one that panics or does not come back is a parser failure.
func (r *Runner) list(ctx context.Context, key source.Key, ch source.Chapter) (l list, err error) {
	if gap := r.Adapter.Site().ListPacing; gap > 0 {
		if err := r.lists.wait(ctx, gap); err != nil {
			return list{}, err
		}
	}
	pages, err := source.Attend(ctx, r.Fetcher, ch.URL, func(ctx context.Context, f source.Fetcher) ([]source.Page, error) {
		return r.Adapter.Pages(ctx, f, key, ch)
	})
	if fault.Is(err, fault.NotFound) {
		// The Series is there, this chapter is not: its own trouble only.
		err = fault.New(fault.Page, "read the pages of", key.String()+"/"+ch.ID, errors.New("the Site no longer has this chapter"))
	}
	return list{pages: pages, answered: time.Now()}, err
}

// PageList reads the page list of a chapter for whoever wants to know whether it can
// be read: as a Job does, at no Job's cost.
func (r *Runner) PageList(ctx context.Context, key source.Key, ch source.Chapter) ([]source.Page, error) {
	l, err := r.list(ctx, key, ch)
	return l.pages, err
}

// fetchPages fetches what the stage misses. A refusal that may only mean that
// the addresses have expired buys a fresh list, which takes the place of l;
// changed is true when that one is of other pages, which belong in a stage of
// their own (PUB-2).
func (r *Runner) fetchPages(ctx context.Context, j Job, ch source.Chapter, l *list, stage *staging.Stage, stop <-chan struct{}) (changed bool, err error) {
	note := r.noter(j, ch, len(l.pages), stage)
	if err := note(); err != nil {
		return false, err
	}
	bad, gone := map[int]error{}, 0
	for {
		refused, err := r.askPages(ctx, ch, l, stage, bad, note, stop)
		if err != nil {
			return false, err
		}
		if stopped(stop) && len(stage.Missing()) > 0 {
			return false, errStopped(j)
		}
		if len(refused) == 0 {
			return false, badPages(bad, len(l.pages))
		}
		if !l.buys(r.Adapter.Site().ListLife) {
			for i, err := range refused {
				if fault.Is(err, fault.Access) {
					return false, err
				}
				bad[i] = err
			}
			// A page that is gone is no refusal: the others are asked for, so that a
			// person hears of all that are missing and may take the chapter without
			// them. A list on which nothing is found is given up.
			if gone += len(refused); gone >= mostGone {
				return false, badPages(bad, len(l.pages))
			}
			continue
		}
		gone = 0
		fresh, err := r.list(ctx, j.Key, ch)
		if err != nil {
			return false, err
		}
		fresh.renewed, fresh.first = true, firstOf(refused)
		same := slices.Equal(identities(l.pages), identities(fresh.pages))
		if *l = fresh; !same {
			l.first = 0
			return true, nil
		}
	}
}

// askPages asks for the pages that are neither staged nor known to be bad, the
// declared number at a time. The first is asked for alone, so that a list that
// is refused at once costs one request. After a refusal no further request is
// sent; what was sent is still answered. Refusals that may be of expired addresses
// are returned by page. Any other failure that is about more than its
// page ends the rest.
func (r *Runner) askPages(ctx context.Context, ch source.Chapter, l *list, stage *staging.Stage, bad map[int]error, note func() error, stop <-chan struct{}) (map[int]error, error) {
	missing := slices.DeleteFunc(stage.Missing(), func(i int) bool { return bad[i] != nil })
	if at := slices.Index(missing, l.first); at > 0 {
		missing = slices.Insert(slices.Delete(missing, at, at+1), 0, l.first)
	}
	var mu sync.Mutex
	refused, batch := map[int]error{}, source.NewBatch()
	// Told to stop, requests that wait for their slot are withdrawn.
	over := make(chan struct{})
	defer close(over)
	go func() {
		select {
		case <-stop:
			batch.End()
		case <-over:
		}
	}()
	one := func(ctx context.Context, i int) error {
		select {
		case <-stop:
			return nil
		case <-batch.Ended():
			return nil
		case <-ctx.Done():
			return ctx.Err()
		default:
		}
		err := r.fetchPage(ctx, l.pages[i], i, ch, stage, batch)
		mu.Lock()
		switch {
		case err == nil:
			l.yielded = true
		case errors.Is(err, source.ErrWithdrawn):
			err = nil
		case mayHaveExpired(err):
			batch.End()
			refused[i], err = err, nil
		case fault.Is(err, fault.Page):
			bad[i], err = err, nil
		}
		mu.Unlock()
		if err != nil {
			return err
		}
		return note()
	}
	if len(missing) == 0 {
		return nil, nil
	}
	if err := one(ctx, missing[0]); err != nil {
		return nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(r.Adapter.Site().ImagesInFlight, 1))
	for _, i := range missing[1:] {
		group.Go(func() error { return one(ctx, i) })
	}
	return refused, group.Wait()
}

// fetchPage asks for one page until it is a whole image, a few times at most.
func (r *Runner) fetchPage(ctx context.Context, p source.Page, i int, ch source.Chapter, stage *staging.Stage, batch *source.Batch) error {
	var err error
	for range pageTries {
		var resp *source.Response
		resp, err = r.Fetcher.Get(ctx, source.Request{URL: p.URL, Want: source.WantImage, Referer: ch.URL, Batch: batch})
		if err == nil {
			if err = stage.Accept(i, resp.Body); err != nil {
				spoiled(ctx, resp)
			} else if r.PageStaged != nil {
				r.PageStaged()
			}
		}
		if !fault.Is(err, fault.Page) {
			return onPage(err, i)
		}
	}
	return err
}

// onPage is err with the number of the page it happened at, for the Job's reason
// (B38). What it is classified as, and what it wraps, stays.
func onPage(err error, i int) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	at := *f
	at.Subject = fmt.Sprintf("page %d at %s", i+1, f.Subject)
	return &at
}

// mayHaveExpired reports whether err is one of the answers that an expired
// address gives. A Site that names a time to come back at means the visitor.
func mayHaveExpired(err error) bool {
	var f *fault.Error
	if !errors.As(err, &f) || !f.RetryAfter.IsZero() {
		return false
	}
	switch source.StatusOf(err) {
	case 403, 404, 410:
		return true
	}
	return false
}

// noter returns what writes the checkpoint and tells the progress, one at a time.
func (r *Runner) noter(j Job, ch source.Chapter, total int, stage *staging.Stage) func() error {
	path := checkpoint.Path(r.Library, r.Adapter.Site(), j.Key)
	var mu sync.Mutex
	return func() error {
		mu.Lock()
		defer mu.Unlock()
		c, _ := checkpoint.Load(path)
		if c.JobID != j.ID {
			c = checkpoint.Checkpoint{JobID: j.ID, Site: j.Key.Site, SeriesID: j.Key.SeriesID}
		}
		c.Chapter, c.Staging, c.PagesDone, c.PagesTotal = ch.ID, stageName(stage), stage.Done(), total
		r.Hub.SetProgress(j.Key, live.Progress{ChapterID: ch.ID, Done: c.PagesDone, Total: c.PagesTotal})
		return checkpoint.Save(path, c)
	}
}

// badPages names the pages a chapter is set aside for; nil when there are none.
func badPages(bad map[int]error, total int) error {
	var names []string
	var why error
	for i := range total {
		if err := bad[i]; err != nil {
			names = append(names, fmt.Sprint(i+1))
			why = err
		}
	}
	if why == nil {
		return nil
	}
	return fault.Newf(fault.Page, "fetch", fmt.Sprintf("page %s of %d", strings.Join(names, ", "), total), "%s", causeOf(why))
}

func firstOf(refused map[int]error) int {
	first := -1
	for i := range refused {
		if first < 0 || i < first {
			first = i
		}
	}
	return first
}

func identities(pages []source.Page) []string {
	out := make([]string, len(pages))
	for i, p := range pages {
		out[i] = staging.Identity(p)
	}
	return out
}
