package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/reader/internal/account"
	"mangrove/reader/internal/scraperclient"
)

const (
	// maxStreams bounds open event streams; a page without one asks every 15 s.
	maxStreams = 200
	// refreshEvery redraws what tells a time, and proves that the line is alive.
	refreshEvery = 15 * time.Second
	// gather is how long changes are collected before a page is drawn again.
	gather = 150 * time.Millisecond
)

// padding is a comment of two kibibytes, which a browser skips.
func padding() string { return ":" + strings.Repeat(" ", 2048) + "\n\n" }

// piece is finished HTML for the element with this id.
type piece struct {
	ID   string `json:"id"`
	HTML string `json:"html"`
	// Key, if set, is compared instead of the HTML to tell whether it changed.
	Key string `json:"-"`
}

// events keeps one page up to date: each event names an element and carries
// its finished HTML. It ends with the sign-in, the page or the program.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	key := scraperclient.Key{Site: q.Get("site"), SeriesID: q.Get("series")}
	view := q.Get("view")
	known := view == "library" || view == "home" || view == "series" && key.Site != "" && key.SeriesID != ""
	if operating(view) {
		known = who(r).Role == account.Administrator
	}
	if known && view == "series" && who(r).Role == account.Guest {
		var err error
		if known, err = s.Shelves.SeesSeries(r.Context(), who(r).ID, key); err != nil {
			return err
		}
	}
	if !known {
		return notFound("a view")
	}
	if s.streams.Add(1) > maxStreams {
		s.streams.Add(-1)
		return &account.TooManyError{Wait: refreshEvery}
	}
	defer s.streams.Add(-1)

	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	rc := http.NewResponseController(w)
	// The server's read time-out would end the request after half a minute.
	if err := rc.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	// Proxies hold an answer back until they have enough of it, or to compress it.
	// The first header stops nginx, the second those that keep to the standard,
	// and the padding fills the buffers of those that heed neither.
	h.Set("X-Accel-Buffering", "no")
	h.Set("Cache-Control", "no-store, no-transform")
	w.WriteHeader(http.StatusOK)

	states, queue := make(chan *scraperclient.State, 1), make(chan struct{}, 1)
	switch view {
	case "series":
		go s.watch(ctx, key, states)
	case "scraper", "job":
		go s.watchQueue(ctx, queue)
	case "health":
		go s.watchStanding(ctx, queue)
	}
	var state *scraperclient.State
	sent := map[string]string{}
	for first, whole := true, true; ; first = false {
		changed := s.Catalog.Changed()
		pieces, err := s.pieces(ctx, who(r), q, state, whole)
		if err != nil {
			if ctx.Err() == nil && !fault.Is(err, fault.Away) && !fault.Is(err, fault.NotFound) {
				s.Log.Warn("a live page could not be drawn", zap.Error(err))
			}
			return nil // the browser comes back, or asks for the page
		}
		var out bytes.Buffer
		if first {
			out.WriteString(padding())
		}
		out.WriteString(": here\n\n")
		for _, p := range pieces {
			mark := cmp.Or(p.Key, p.HTML)
			if sent[p.ID] == mark {
				continue
			}
			sent[p.ID] = mark
			data, err := json.Marshal(p)
			if err != nil {
				return nil
			}
			out.WriteString("data: ")
			out.Write(data)
			out.WriteString("\n\n")
		}
		if first {
			out.WriteString("retry: 3000\n\n")
		}
		_ = rc.SetWriteDeadline(time.Now().Add(10 * time.Second))
		if _, err := w.Write(out.Bytes()); err != nil {
			return nil
		}
		if err := rc.Flush(); err != nil {
			return nil
		}
		refresh := time.NewTimer(refreshEvery)
		whole = true
		select {
		case <-ctx.Done():
		case <-s.Stopping:
			cancel()
		case state = <-states:
		case <-queue:
		case <-changed:
		case <-refresh.C:
			// A whole library is drawn for a change, not for the time of day.
			whole = view == "series" || operating(view)
			if _, ok, err := s.authenticated(r); err != nil || !ok {
				return nil
			}
		}
		refresh.Stop()
		if ctx.Err() != nil {
			return nil
		}
		// A page that arrives is three changes in a row; draw them once.
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(gather):
		}
		select {
		case state = <-states:
		default:
		}
	}
}

// watch passes on the newest state of a Series; nil says that the scraper is
// away. It tries again for as long as someone looks.
func (s *Server) watch(ctx context.Context, key scraperclient.Key, states chan *scraperclient.State) {
	put := func(st *scraperclient.State) {
		for {
			select {
			case states <- st:
				return
			case <-ctx.Done():
				return
			default:
			}
			select {
			case <-states: // an older one that nobody has drawn yet
			default:
			}
		}
	}
	for ctx.Err() == nil {
		err := s.Scraper.WatchSeries(ctx, key, func(st scraperclient.State) { put(&st) })
		if ctx.Err() != nil {
			return
		}
		put(nil)
		wait := 2 * time.Second
		if fault.Is(err, fault.NotFound) {
			wait = refreshEvery
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// pieces draws the live elements of a page with the page's own templates; not
// whole, only the scraper's line.
func (s *Server) pieces(ctx context.Context, u account.User, q url.Values, state *scraperclient.State, whole bool) ([]piece, error) {
	var out []piece
	view, key := q.Get("view"), scraperclient.Key{Site: q.Get("site"), SeriesID: q.Get("series")}
	draw := func(id, name string, data any) error {
		html, err := s.draw(ctx, name, data)
		if err != nil {
			return err
		}
		out = append(out, piece{ID: id, HTML: string(html)})
		return nil
	}
	if err := draw("scraper-line", "scraper-line", s.say(ctx).scraperLine(s.Scraper.Presence(), time.Now())); err != nil {
		return nil, err
	}
	run := runningOf(s.say(ctx), u, s.Scraper.Presence())
	if run != nil {
		for _, id := range navCountIDs() {
			if err := draw(id, "nav-count", run.Count(id)); err != nil {
				return nil, err
			}
		}
	}
	if !whole {
		return out, nil
	}
	switch view {
	case "worklist":
		return s.worklistPieces(ctx, u, q, out)
	case "lanes":
		return s.lanesPieces(ctx, q, out)
	case "scraper":
		return s.scraperPieces(ctx, q, out)
	case "job":
		return s.jobPieces(ctx, q, out)
	case "incidents":
		return s.incidentsPieces(ctx, q, out)
	case "health":
		return s.healthPieces(ctx, out)
	case "library":
		return s.libraryPieces(ctx, u, out)
	case "home":
		v, err := s.homeView(ctx, u.ID)
		if err != nil {
			return nil, err
		}
		v.Library.Frame.Scraper = s.say(ctx).scraperLine(s.Scraper.Presence(), time.Now())
		v.Running = run
		return out, draw("home", "home-content", v)
	}
	k, err := s.know(ctx, u, key, state)
	if err != nil {
		return nil, err
	}
	v := k.view(time.Now())
	for _, name := range []string{"series-state", "series-acts-wide", "series-acts-phone", "series-notices", "series-coverage", "series-following", "series-unread"} {
		if err := draw(name, name, v); err != nil {
			return nil, err
		}
	}
	// Rows change one by one; the list as a whole only when rows come or go.
	frame := "chapters"
	for _, vol := range v.Volumes {
		frame += " " + vol.ID
		for _, r := range vol.Rows {
			frame += " " + r.ID
			if err := draw(r.ID, "series-row", r); err != nil {
				return nil, err
			}
		}
	}
	n := len(out)
	if err := draw("chapters", "series-chapters", v); err != nil {
		return nil, err
	}
	out[n].Key = frame
	return out, nil
}
