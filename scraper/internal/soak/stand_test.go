package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"image"
	"image/png"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/source"
)

const (
	pacing = 2 * time.Second
	// latency is how long an answer takes.
	latency = 150 * time.Millisecond
	pages   = 4
)

// trouble is what a Site does for a while.
type trouble string

const (
	away     trouble = "away"     // no connection
	storm    trouble = "storm"    // 5xx
	quiet    trouble = "quiet"    // 503 with Retry-After
	refusing trouble = "refusing" // 429
	rebuilt  trouble = "rebuilt"  // Series pages nobody understands
	parked   trouble = "parked"   // maintenance pages with status 200
	torn     trouble = "torn"     // one page in ten is cut short
	hidden   trouble = "hidden"   // one chapter of each Series is not listed
	moved    trouble = "moved"    // Series pages lie elsewhere, for good
)

type episode struct {
	what     trouble
	from, to time.Time
}

// stand is a Site. What it shows follows from the time alone.
type stand struct {
	key   string
	plan  []episode
	start time.Time
	// calm is from when on it shows nothing new.
	calm   time.Time
	series int

	mu   sync.Mutex
	last time.Time
	// asked counts requests, hasty those nearer to the one before than the pacing,
	// after those that followed a refusal.
	asked, hasty, after int
	refused             bool
	// whole is when each image was delivered whole last, again those that were twice.
	whole map[string]time.Time
	again []delivery
	rng   *rand.Rand
	// image hears of each image that was answered.
	image chan<- struct{}
}

// delivery is an image that was delivered at before, and once more.
type delivery struct {
	name   string
	before time.Time
}

// hits reports whether a trouble is under way.
func (s *stand) hits(t trouble, at time.Time) bool {
	for _, e := range s.plan {
		if e.what == t && !at.Before(e.from) && at.Before(e.to) {
			return true
		}
	}
	return false
}

func (s *stand) Site() source.Site {
	return source.Site{Key: s.key, Name: s.key, Hosts: []string{s.key + ".example"}, Languages: []string{"en"}, Pacing: pacing, ImagesInFlight: 2, WorkPrefix: s.key + "-"}
}
func (*stand) Listed() []source.Series                 { return nil }
func (*stand) Recognise(string) (string, string, bool) { return "", "", false }
func (s *stand) Address(id string) string              { return "https://" + s.key + ".example/series/" + id }

// chapters are those of a Series at a time, newest first.
func (s *stand) chapters(id string, at time.Time) (out []source.Chapter) {
	if at.After(s.calm) {
		at = s.calm
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(s.key + id))
	every := 7*time.Hour + time.Duration(h.Sum32()%12)*time.Hour
	n := 2 + int(at.Sub(s.start)/every)
	for i := n; i >= 1; i-- {
		if i == 1+int(h.Sum32()%2) && s.hits(hidden, at) {
			continue
		}
		ch := fmt.Sprintf("%s-c%d", id, i)
		out = append(out, source.Chapter{ID: ch, Number: fmt.Sprint(i), Language: "en", URL: "https://" + s.key + ".example/chapter/" + ch, Order: n - i})
	}
	return out
}

type seriesPage struct {
	ID, Title string
	Landmark  bool
	Chapters  []source.Chapter
}

func (s *stand) Series(ctx context.Context, f source.Fetcher, ask source.Ask) (source.Reading, error) {
	resp, err := f.Get(ctx, source.Request{URL: ask.URL, Want: source.WantJSON})
	if err != nil {
		return source.Reading{}, err
	}
	var p seriesPage
	switch err := json.Unmarshal(resp.Body, &p); {
	case err != nil:
		return source.Reading{}, source.Unparsed(ask.URL, "the page is another")
	case !p.Landmark:
		return source.Reading{}, source.NoLandmark(ask.URL, "list")
	}
	r := source.Reading{Series: source.Series{ID: p.ID, Title: p.Title, URL: ask.URL}, Chapters: p.Chapters}
	if resp.Permanent {
		r.MovedTo = resp.URL
	}
	return r, nil
}

func (s *stand) Pages(ctx context.Context, f source.Fetcher, _ source.Key, ch source.Chapter) ([]source.Page, error) {
	resp, err := f.Get(ctx, source.Request{URL: ch.URL, Want: source.WantJSON})
	if err != nil {
		return nil, err
	}
	var out []source.Page
	if err := json.Unmarshal(resp.Body, &out); err != nil {
		return nil, source.NoLandmark(ch.URL, "reader")
	}
	return out, nil
}

// answer is what the Site says to one request now. The words are those package fetch
// gives to such answers.
func (s *stand) answer(r source.Request) (*source.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	down := func(e fault.Evidence, format string, args ...any) *fault.Error {
		return fault.Newf(fault.Network, "get", source.Subject(r.URL), format, args...).WithEvidence(e)
	}
	switch {
	case s.hits(away, now):
		return nil, down(fault.NoRead, "connection refused")
	case s.hits(refusing, now):
		s.refused = true
		return nil, fault.Newf(fault.Access, "get", source.Subject(r.URL), "status 429").WithEvidence(fault.Answered)
	case s.hits(storm, now):
		return nil, down(fault.Answered, "status 502")
	case s.hits(quiet, now):
		err := down(fault.Answered, "status 503")
		err.RetryAfter = now.Add(time.Hour)
		return nil, err
	}
	_, path, _ := strings.Cut(r.URL, ".example/")
	kind, name, _ := strings.Cut(path, "/")
	resp := &source.Response{URL: r.URL, MediaType: "application/json"}
	switch kind {
	case "series", "titles":
		if kind == "series" && s.hits(moved, now) {
			resp.URL, resp.Permanent = strings.Replace(r.URL, "/series/", "/titles/", 1), true
		}
		p := seriesPage{ID: name, Title: "The " + name + " of " + s.key, Landmark: !s.hits(parked, now), Chapters: s.chapters(name, now)}
		resp.Body, _ = json.Marshal(p)
		if s.hits(rebuilt, now) {
			resp.Body = []byte("<html>")
		}
	case "chapter":
		var list []source.Page
		for i := range pages {
			at := fmt.Sprintf("https://%s.example/image/%s/%d", s.key, name, i)
			list = append(list, source.Page{URL: at, Identity: at})
		}
		resp.Body, _ = json.Marshal(list)
		if s.hits(parked, now) {
			resp.Body = []byte("<html>")
		}
	case "image":
		resp.MediaType, resp.Body = "image/png", drawing(name)
		if s.hits(torn, now) && s.rng.IntN(10) == 0 {
			resp.Body = resp.Body[:len(resp.Body)/2]
			return resp, nil
		}
		if at, ok := s.whole[name]; ok {
			s.again = append(s.again, delivery{name, at})
		}
		s.whole[name] = now
		select {
		case s.image <- struct{}{}:
		default:
		}
	}
	return resp, nil
}

// drawing is the image of a page, another for each.
func drawing(name string) []byte {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	r := rand.New(rand.NewPCG(h.Sum64(), 1))
	img := image.NewGray(image.Rect(0, 0, 12, 12))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint32())
	}
	var buf bytes.Buffer
	_ = png.Encode(&buf, img)
	return buf.Bytes()
}

// wire asks a stand through the Lane's slots, and network failures again, as package
// fetch does.
type wire struct {
	*stand
	slots *lane.Slots
}

func (w wire) Get(ctx context.Context, r source.Request) (resp *source.Response, err error) {
	for try := range 3 {
		if try > 0 {
			if !rest(ctx, time.Duration(2*try)*time.Second) {
				return nil, err
			}
		}
		if resp, err = w.once(ctx, r); !fault.Is(err, fault.Network) {
			return resp, err
		}
		var f *fault.Error
		if f, _ = err.(*fault.Error); f != nil && !f.RetryAfter.IsZero() {
			return nil, err
		}
	}
	return resp, err
}

func (w wire) once(ctx context.Context, r source.Request) (*source.Response, error) {
	release, err := w.slots.Acquire(ctx, r.Want)
	if err != nil {
		return nil, err
	}
	defer release()
	w.mu.Lock()
	now := time.Now()
	if w.asked++; !w.last.IsZero() && now.Sub(w.last) < pacing {
		w.hasty++
	}
	if w.last = now; w.refused {
		w.after++
	}
	w.mu.Unlock()
	if !rest(ctx, latency) {
		return nil, fault.New(fault.Network, "get", r.URL, ctx.Err()).WithEvidence(fault.Answered)
	}
	return w.answer(r)
}

// rest returns false when ctx has ended.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// planned draws a Site's month: so many troubles of each kind, of so many hours, none
// in its last two days.
func planned(t *testing.T, r *rand.Rand, start time.Time, length time.Duration, kinds map[trouble][2]time.Duration, everyDays int) (out []episode) {
	t.Helper()
	for _, what := range []trouble{away, storm, quiet, rebuilt, parked, torn, hidden} {
		span, ok := kinds[what]
		if !ok {
			continue
		}
		for day := 0; time.Duration(day)*24*time.Hour < length-3*24*time.Hour; day += everyDays {
			from := start.Add(time.Duration(day)*24*time.Hour + time.Duration(r.Int64N(int64(time.Duration(everyDays)*24*time.Hour-span[1]))))
			to := from.Add(span[0] + time.Duration(r.Int64N(int64(span[1]-span[0])+1)))
			if to.Before(start.Add(length - 2*24*time.Hour)) {
				out = append(out, episode{what, from, to})
			}
		}
	}
	return out
}
