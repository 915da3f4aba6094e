// Package follow reconciles the reader's wishes with what is really polled
// (OWN-3). It knows in which order messages count and what a wish means for a
// Series; the store keeps the revision and the rows. It never asks a Site.
package follow

import (
	"context"
	"time"

	"mangrove/scraper/internal/source"
)

// Grace is how long a Series missing from a whole set stays.
const Grace = 24 * time.Hour

// Wish is one followed Series.
type Wish struct {
	Key       source.Key
	Download  bool
	Languages []string
	// URL and Title are what the person followed by, or "".
	URL, Title string
}

// Message is one change of the follows, or the whole desired set.
type Message struct {
	Revision   int64
	Whole      bool
	Follows    []Wish
	Unfollowed []source.Key
}

// Placed is a Wish with where its Series is read.
type Placed struct {
	Wish
	// Listed is true for a Series its Site offers anyway.
	Listed bool
}

// Change is a Message whose Series have been looked up.
type Change struct {
	Revision int64
	Whole    bool
	Follows  []Placed
	// Kept are wishes on Sites without an adapter: their Series stay if they are
	// known, since a described Site may come back.
	Kept       []Wish
	Unfollowed []source.Key
	// Listed are Series that stay known when nobody follows them.
	Listed map[source.Key]bool
}

// Store applies a Change in one transaction.
type Store interface {
	// ApplyFollows refuses a revision that is not newer than the highest
	// applied (the same whole set again is no harm and is applied again).
	ApplyFollows(ctx context.Context, c Change, now time.Time) (Applied, error)
	// Moved maps those of keys that a person has moved to their names now.
	Moved(ctx context.Context, keys []source.Key) (map[source.Key]source.Key, error)
}

// Applied says what came of a Change.
type Applied struct {
	// Revision is the highest applied; Stale is true when that was a later one.
	Revision int64
	Stale    bool
	// Wanted are Series whose downloads are wanted now and were not before, or
	// for which no Job was ever requested. A set that says nothing new names
	// none: it is sent every few minutes, and no Site must feel that.
	Wanted []source.Key
}

// Queue orders downloads.
type Queue interface {
	Request(ctx context.Context, key source.Key) (skipped string, err error)
}

// Reconciler applies the reader's messages.
type Reconciler struct {
	Store    Store
	Queue    Queue
	Adapters *source.Registry
	// Wake makes a Site's Lane look for work.
	Wake func(site string)
}

// Result says what came of a message.
type Result struct {
	Revision int64
	Stale    bool
	Unknown  []source.Key
	// Moved are wishes taken for the name their Series has now.
	Moved map[source.Key]source.Key
}

// Apply applies m. Follows on Sites without an adapter are named; they make no
// Series known, but keep one that is.
func (r *Reconciler) Apply(ctx context.Context, m Message) (Result, error) {
	c := Change{Revision: m.Revision, Whole: m.Whole, Unfollowed: m.Unfollowed, Listed: map[source.Key]bool{}}
	var out Result
	places := map[source.Key]source.Series{}
	// One look: a Site must not come or go in the midst of a message.
	adapters := r.Adapters.All()
	for site, a := range adapters {
		for _, s := range a.Listed() {
			key := source.Key{Site: site, SeriesID: s.ID}
			c.Listed[key], places[key] = true, s
		}
	}
	var err error
	if out.Moved, err = r.Store.Moved(ctx, keysOf(m)); err != nil {
		return out, err
	}
	now := func(k source.Key) source.Key {
		if to, ok := out.Moved[k]; ok {
			return to
		}
		return k
	}
	c.Unfollowed = nil
	for _, k := range m.Unfollowed {
		c.Unfollowed = append(c.Unfollowed, now(k))
	}
	for _, w := range m.Follows {
		w.Key = now(w.Key)
		if _, ok := adapters[w.Key.Site]; !ok {
			out.Unknown = append(out.Unknown, w.Key)
			c.Kept = append(c.Kept, w)
			continue
		}
		s, listed := places[w.Key]
		c.Follows = append(c.Follows, Placed{Wish: place(adapters[w.Key.Site], w, s), Listed: listed})
	}
	applied, err := r.Store.ApplyFollows(ctx, c, time.Now())
	out.Revision, out.Stale = applied.Revision, applied.Stale
	if err != nil || out.Stale {
		return out, err
	}
	for _, key := range applied.Wanted {
		if _, err := r.Queue.Request(ctx, key); err != nil {
			return out, err
		}
	}
	for site := range adapters {
		r.Wake(site)
	}
	return out, nil
}

// place says where the Series of a wish is read: where its Site lists it, where the
// person's address leads if that is the same Series, or where its id tells.
func place(a source.Adapter, w Wish, listed source.Series) Wish {
	id, url, ok := a.Recognise(w.URL)
	switch {
	case listed.URL != "":
		w.URL, w.Title = listed.URL, listed.Title
	case ok && id == w.Key.SeriesID:
		w.URL = url
	default:
		w.URL = a.Address(w.Key.SeriesID)
	}
	return w
}

func keysOf(m Message) []source.Key {
	out := append([]source.Key(nil), m.Unfollowed...)
	for _, w := range m.Follows {
		out = append(out, w.Key)
	}
	return out
}
