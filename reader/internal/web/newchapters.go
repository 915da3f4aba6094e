package web

import (
	"context"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/reader/internal/catalog"
	"mangrove/reader/internal/progress"
	"mangrove/reader/internal/scraperclient"
)

const (
	// announcedAsked is how many announcements are looked through for the rail.
	announcedAsked = 100
	// announcedFor is how long a chapter that never arrived here counts as new.
	announcedFor = 30 * 24 * time.Hour
	// announcedWait bounds what Home waits for the scraper: reading never depends
	// on fetching.
	announcedWait = time.Second
)

// announced are the followed Series of which chapters were announced as new,
// newest first, one tile a Series (POLL-12). A chapter that is here opens; one
// that is not leads to its Series. What the person has finished is not new.
// Without the scraper there are none, and the catalog alone says what is new.
func (s *Server) announced(ctx context.Context, userID int64, cards []catalog.Card, now time.Time) ([]tile, error) {
	if s.Scraper.Presence().Away {
		return nil, nil
	}
	limited, cancel := context.WithTimeout(ctx, announcedWait)
	defer cancel()
	news, err := s.Scraper.ListNewChapters(limited, announcedAsked)
	if err != nil {
		if ctx.Err() == nil && !fault.Is(err, fault.Away) {
			s.Log.Warn("new chapters could not be asked for", zap.Error(err))
		}
		return nil, ctx.Err()
	}
	byKey := map[scraperclient.Key]catalog.Card{}
	for _, c := range cards {
		if c.Following {
			byKey[scraperclient.Key{Site: c.Site, SeriesID: c.SeriesID}] = c
		}
	}
	var order []scraperclient.Key
	grouped := map[scraperclient.Key][]scraperclient.NewChapter{}
	for _, n := range news {
		key := n.Series.Key
		if _, ok := byKey[key]; !ok {
			continue // someone else's follow
		}
		if grouped[key] == nil {
			order = append(order, key)
		}
		grouped[key] = append(grouped[key], n)
	}
	var out []tile
	for _, key := range order {
		if len(out) == homeRail {
			break
		}
		t, ok, err := s.announcedTile(ctx, userID, byKey[key], grouped[key], now)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, t)
		}
	}
	return out, nil
}

// announcedTile is one Series with its new chapters, newest first. The tile
// opens the oldest of them that is here and not finished.
func (s *Server) announcedTile(ctx context.Context, userID int64, c catalog.Card, news []scraperclient.NewChapter, now time.Time) (tile, bool, error) {
	books := map[string]progress.Shelved{}
	if c.TitleID != 0 {
		list, err := s.Shelves.Shelved(ctx, c.TitleID, userID)
		if err != nil {
			return tile{}, false, err
		}
		for _, b := range list {
			books[b.ChapterID] = b
		}
	}
	say := s.say(ctx)
	t := say.tileOf(c)
	t.Key = cardKey(c)
	series := t.Href
	t.Unread, t.Percent = 0, 0
	for _, n := range news {
		b, have := books[n.Chapter.ID]
		here := have && b.Here()
		if here && b.Place.Finished || !here && now.Sub(n.Announced) > announcedFor {
			continue
		}
		t.Unread++
		switch {
		case here:
			t.Href = readAddress(b.ID, b.Place.Page)
			t.Meta = upperFirst(say.chapterName(b.Number, b.Name)) + " · " + say.clock(n.Announced, now)
		case t.Href == series:
			t.Meta = upperFirst(say.chapterName(n.Chapter.Number, n.Chapter.Title)) + " · " + say.T("not here yet")
		}
	}
	return t, t.Unread > 0, nil
}

func cardKey(c catalog.Card) string {
	return keyText(scraperclient.Key{Site: c.Site, SeriesID: c.SeriesID})
}
