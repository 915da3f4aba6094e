package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/scraper/internal/source"
)

// difference is what a list changes in what is known.
type difference struct {
	// from and to are ids of one release under two ids: the known one is pointed
	// to the new (POLL-12).
	from, to []string
	// fresh were never seen before; write are those and the changed ones.
	fresh, write []source.Chapter
	// gone are known chapters the list no longer has.
	gone []string
	// shrunk is true when the list lost more than half of what it had: that is
	// believed only when a second read says so too.
	shrunk bool
}

// compare compares a list with what is known. It is pure; what it finds is
// written by saveDifference.
func compare(known []KnownChapter, chapters []source.Chapter) (d difference) {
	byID := make(map[string]KnownChapter, len(known))
	for _, k := range known {
		byID[k.ID] = k
	}
	listed := make(map[string]bool, len(chapters))
	for _, c := range chapters {
		listed[c.ID] = true
	}
	present := 0
	for _, k := range known {
		if k.GoneSince.IsZero() {
			present++
		}
		if listed[k.ID] {
			continue
		}
		moved := false
		for _, c := range chapters {
			if _, taken := byID[c.ID]; taken || !sameRelease(k.Chapter, c) {
				continue
			}
			d.from, d.to = append(d.from, k.ID), append(d.to, c.ID)
			delete(byID, k.ID)
			byID[c.ID] = k
			moved = true
			break
		}
		if !moved && k.GoneSince.IsZero() {
			d.gone = append(d.gone, k.ID)
		}
	}
	for _, c := range chapters {
		k, seen := byID[c.ID]
		if !seen {
			d.fresh = append(d.fresh, c)
		}
		if !seen || !k.GoneSince.IsZero() || !same(k.Chapter, c) {
			d.write = append(d.write, c)
		}
	}
	d.shrunk = 2*len(d.gone) > present
	return d
}

// sameRelease reports whether a chapter that is absent from a list and one with a
// new id are one release under two ids (POLL-12). Without a number only the title
// tells one-shots apart.
func sameRelease(a, b source.Chapter) bool {
	return a.Number == b.Number && a.Volume == b.Volume && a.Language == b.Language && sameGroups(a.Groups, b.Groups) &&
		(a.Number != "" || (a.Title != "" && a.Title == b.Title))
}

// sameGroups ignores the order in which a joint release names its groups.
func sameGroups(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

func same(a, b source.Chapter) bool {
	return a.Number == b.Number && a.Volume == b.Volume && a.Title == b.Title && a.Language == b.Language && a.URL == b.URL &&
		a.Order == b.Order && a.External == b.External && a.Published.Equal(b.Published) && sameGroups(a.Groups, b.Groups)
}

// saveDifference writes d: new chapters are announced at announced unless that is
// zero, and chapters of a shrunk list are marked gone only once confirmed.
func (s *Store) saveDifference(ctx context.Context, tx pgx.Tx, key source.Key, d difference, confirmed bool, now, announced time.Time) error {
	if len(d.from) > 0 {
		if err := s.repoint(ctx, tx, key, d.from, d.to); err != nil {
			return err
		}
	}
	if len(d.write) > 0 {
		if _, err := tx.Exec(ctx, s.sql.Get("SaveChapters"), append(columns(key, d.write, now), orNull(announced))...); err != nil {
			return err
		}
	}
	if len(d.gone) > 0 && (!d.shrunk || confirmed) {
		if _, err := tx.Exec(ctx, s.sql.Get("MarkGone"), key.Site, key.SeriesID, d.gone, now); err != nil {
			return err
		}
	}
	return nil
}

// repoint gives known chapters their new ids everywhere: their rows, the Jobs that
// want them, and their files, each of which becomes a change of the library.
func (s *Store) repoint(ctx context.Context, tx pgx.Tx, key source.Key, from, to []string) error {
	for _, name := range []string{"RepointChapters", "RepointJobChapters"} {
		if _, err := tx.Exec(ctx, s.sql.Get(name), key.Site, key.SeriesID, from, to); err != nil {
			return err
		}
	}
	for i := range from {
		var path string
		err := tx.QueryRow(ctx, s.sql.Get("FileOfChapter"), key.Site, key.SeriesID, from[i]).Scan(&path)
		if errors.Is(err, pgx.ErrNoRows) {
			continue
		}
		if err != nil {
			return err
		}
		var revision int64
		if err := tx.QueryRow(ctx, s.sql.Get("NextRevision")).Scan(&revision); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, s.sql.Get("RepointFile"), path, to[i], revision); err != nil {
			return err
		}
	}
	return nil
}

// columns turns chapters into the arrays SaveChapters unnests.
func columns(key source.Key, chapters []source.Chapter, now time.Time) []any {
	n := len(chapters)
	ids, numbers, volumes, titles := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	languages, groups, urls := make([]string, n), make([]string, n), make([]string, n)
	orders, external, published := make([]int32, n), make([]bool, n), make([]*time.Time, n)
	for i, c := range chapters {
		ids[i], numbers[i], volumes[i], titles[i] = c.ID, c.Number, c.Volume, c.Title
		languages[i], groups[i], urls[i] = c.Language, strings.Join(c.Groups, "\n"), c.URL
		orders[i], external[i], published[i] = int32(c.Order), c.External, orNull(c.Published)
	}
	return []any{key.Site, key.SeriesID, now, ids, numbers, volumes, titles, languages, groups, urls, orders, external, published}
}
