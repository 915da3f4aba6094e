package job_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/staging"
)

const listedPages = 6

// expiring reads one chapter of six pages whose addresses name the list they
// come from.
type expiring struct {
	adapter
	life     time.Duration
	inFlight int
	lists    *atomic.Int32
	// identity names a page of a list; empty is the path.
	identity func(list, page int) string
	// none is the list from which on the chapter has no page, 0 for never.
	none int
	// listed is how many pages there are; 0 means six.
	listed int
}

func (a expiring) count() int {
	if a.listed > 0 {
		return a.listed
	}
	return listedPages
}

func (a expiring) Site() source.Site {
	s := a.adapter.Site()
	s.ListLife, s.ImagesInFlight = a.life, a.inFlight
	return s
}

func (a expiring) Pages(ctx context.Context, f source.Fetcher, _ source.Key, ch source.Chapter) (out []source.Page, err error) {
	n := int(a.lists.Add(1))
	if _, err := f.Get(ctx, source.Request{URL: ch.URL, Want: source.WantHTML}); err != nil || n == a.none {
		return nil, err
	}
	for i := range a.count() {
		p := source.Page{URL: fmt.Sprintf("%s/img/%d?list=%d&token=secret", a.base, i, n)}
		if a.identity != nil {
			p.Identity = a.identity(n, i)
		}
		out = append(out, p)
	}
	return out, nil
}

// answer is what the Site says to page i of list n: 200 is the image, a minus
// before a status adds a wish to be left alone.
type answer func(list, page int) int

// serve lets the Site of w answer so, and makes the runner of a new process.
func (w *workshop) serve(t *testing.T, a expiring, say answer) (expiring, *job.Runner) {
	t.Helper()
	w.adapter.chapters = 1
	a.adapter, a.lists, a.inFlight = w.adapter, &atomic.Int32{}, max(a.inFlight, 1)
	for i := range a.count() {
		img := drawing(t, 100+i)
		w.images[fmt.Sprint(i)] = img
		w.site.Handle(fmt.Sprintf("/img/%d", i), http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			n, err := strconv.Atoi(r.URL.Query().Get("list"))
			if err != nil {
				t.Error(err)
			}
			status := say(n, i)
			if status < 0 {
				rw.Header().Set("Retry-After", "120")
				status = -status
			}
			if status == 200 {
				rw.Header().Set("Content-Type", "image/png")
				_, _ = rw.Write(img)
				return
			}
			rw.WriteHeader(status)
		}))
	}
	r := w.runner(t)
	r.Adapter = a
	return a, r
}

// steps runs units until the Job rests, as work does, with a runner.
func (w *workshop) steps(t *testing.T, r *job.Runner) (job.Job, error) {
	t.Helper()
	for range 10 {
		var err error
		switch j := w.job(t); j.State {
		case job.Requested:
			err = r.Inspect(t.Context(), j)
		case job.Queued, job.Downloading:
			err = r.Step(t.Context(), j)
		default:
			return j, nil
		}
		if err != nil {
			return w.job(t), err
		}
	}
	t.Fatal("the Job does not come to rest")
	return job.Job{}, nil
}

// askedFor counts list readings and page requests.
func (w *workshop) askedFor() (lists, pages int) {
	for _, r := range w.site.Ledger().Requests {
		switch {
		case strings.HasPrefix(r.Path, "/img/"):
			pages++
		case r.Path == "/c/1":
			lists++
		}
	}
	return lists, pages
}

func TestPageListsAreRenewed(t *testing.T) {
	never := time.Duration(1) // a life that is over at once
	tests := []struct {
		name         string
		adapter      expiring
		list         []int // statuses of the list's own page, in order
		say          answer
		state        job.State
		class        fault.Class
		lists, pages int
		aside        string // part of the reason a chapter was set aside for
		external     bool
		stagesLeft   int
	}{
		{name: "nothing expires", say: func(int, int) int { return 200 }, state: job.Done, lists: 1, pages: 6},
		{name: "expired in mid-chapter", say: func(l, p int) int { return pick(l == 1 && p >= 3, 403) }, state: job.Done, lists: 2, pages: 7},
		{name: "expired in mid-chapter, told as gone", say: func(l, p int) int { return pick(l == 1 && p >= 3, 410) }, state: job.Done, lists: 2, pages: 7},
		{name: "every list good for two pages", say: func(l, p int) int { return pick(p >= 2*l, 403) }, state: job.Done, lists: 3, pages: 8},
		{name: "refused at once", say: func(int, int) int { return 403 }, state: job.Queued, class: fault.Access, lists: 1, pages: 1, stagesLeft: 1},
		{name: "refused at once by a list past its life", adapter: expiring{life: never}, say: func(l, _ int) int { return pick(l == 1, 403) }, state: job.Done, lists: 2, pages: 7},
		{name: "both lists past their life refused", adapter: expiring{life: never}, say: func(int, int) int { return 403 }, state: job.Queued, class: fault.Access, lists: 2, pages: 2, stagesLeft: 1},
		{name: "refused after one page, the second list well", say: func(l, p int) int { return pick(l == 1 && p > 0, 403) }, state: job.Done, lists: 2, pages: 7},
		{name: "refused after one page, the second list refused too", say: func(_, p int) int { return pick(p > 0, 403) }, state: job.Queued, class: fault.Access, lists: 2, pages: 3, stagesLeft: 1},
		{name: "one page is not there", say: func(_, p int) int { return pick(p == 2, 404) }, state: job.Done, lists: 2, pages: 7, aside: "page 3 of 6", stagesLeft: 1},
		{name: "the first page is not there", say: func(_, p int) int { return pick(p == 0, 404) }, state: job.Done, lists: 1, pages: 6, aside: "page 1 of 6", stagesLeft: 1},
		{name: "two pages are not there", say: func(_, p int) int { return pick(p == 1 || p == 4, 404) }, state: job.Done, lists: 3, pages: 8, aside: "page 2, 5 of 6", stagesLeft: 1},
		{name: "no page is there", say: func(int, int) int { return 404 }, state: job.Done, lists: 1, pages: 6, aside: "page 1, 2, 3, 4, 5, 6 of 6", stagesLeft: 1},
		{name: "one page is refused", say: func(_, p int) int { return pick(p == 2, 403) }, state: job.Queued, class: fault.Access, lists: 2, pages: 4, stagesLeft: 1},
		{name: "too many requests buy nothing", say: func(_, p int) int { return pick(p == 2, 429) }, state: job.Queued, class: fault.Access, lists: 1, pages: 3, stagesLeft: 1},
		{name: "a sign-in buys nothing", say: func(_, p int) int { return pick(p == 2, 401) }, state: job.Queued, class: fault.Access, lists: 1, pages: 3, stagesLeft: 1},
		{name: "a refusal with a time buys nothing", say: func(_, p int) int { return pick(p == 2, -403) }, state: job.Queued, class: fault.Access, lists: 1, pages: 3, stagesLeft: 1},
		{name: "the fresh list is refused", list: []int{200, 403}, say: func(_, p int) int { return pick(p == 2, 403) }, state: job.Queued, class: fault.Access, lists: 2, pages: 3, stagesLeft: 1},
		{name: "the fresh list is not there", list: []int{200, 404}, say: func(_, p int) int { return pick(p == 2, 404) }, state: job.Done, lists: 2, pages: 3, aside: "no longer has this chapter", stagesLeft: 1},
		{name: "the fresh list is of other pages", adapter: expiring{identity: func(l, p int) string { return fmt.Sprint(min(l, 2), "/", p) }},
			say: func(l, p int) int { return pick(l == 1 && p == 2, 403) }, state: job.Done, lists: 2, pages: 9, stagesLeft: 1},
		{name: "other pages each time", adapter: expiring{identity: func(l, p int) string { return fmt.Sprint(l, "/", p) }},
			say: func(_, p int) int { return pick(p == 2, 403) }, state: job.Done, lists: 3, pages: 6, aside: "other pages each time", stagesLeft: 2},
		{name: "no page from the start", adapter: expiring{none: 1}, say: func(int, int) int { return 200 }, state: job.Done, lists: 1, external: true},
		{name: "no page any more", adapter: expiring{none: 2}, say: func(_, p int) int { return pick(p == 2, 404) }, state: job.Done, lists: 2, pages: 3, external: true, stagesLeft: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := setup(t)
			_, r := w.serve(t, tt.adapter, tt.say)
			if tt.list != nil {
				w.answerInTurn("/c/1", tt.list)
			}
			j, err := w.steps(t, r)
			if j.State != tt.state || j.Class != tt.class {
				t.Errorf("the Job is %s, class %q, reason %q (%v); want %s, %q", j.State, j.Class, j.Reason, err, tt.state, tt.class)
			}
			if lists, pages := w.askedFor(); lists != tt.lists || pages != tt.pages {
				t.Errorf("%d lists and %d pages were asked for, want %d and %d", lists, pages, tt.lists, tt.pages)
			}
			chapters, err := w.db.JobChapters(t.Context(), j.ID)
			if err != nil {
				t.Fatal(err)
			}
			if tt.external != (len(chapters) == 0) {
				t.Errorf("the Job is for %+v", chapters)
			}
			for _, c := range chapters {
				if (c.State == job.ChapterSetAside) != (tt.aside != "") || !strings.Contains(c.Reason, tt.aside) {
					t.Errorf("the chapter is %s: %s", c.State, c.Reason)
				}
			}
			at, err := w.inv.Current(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			lacking, err := w.db.Lacking(t.Context(), at, key)
			if err != nil {
				t.Fatal(err)
			}
			// What was set aside is not asked for again by itself.
			done := tt.state == job.Done && !tt.external
			if done != (len(lacking) == 0) || tt.external != slices.ContainsFunc(lacking, func(c source.Chapter) bool { return c.External }) {
				t.Errorf("the library lacks %+v", lacking)
			}
			if left, err := staging.List(w.library); err != nil || len(left) != tt.stagesLeft {
				t.Errorf("stages left %v (%v), want %d", left, err, tt.stagesLeft)
			}
			if strings.Contains(j.Reason, "secret") {
				t.Errorf("the reason tells a token: %s", j.Reason)
			}
		})
	}
}

// A person hears of every page that is gone, not only of the first (S-107); a list
// on which nothing is found is given up early.
func TestEveryPageThatIsGoneIsNamed(t *testing.T) {
	guessed := []int{4, 5, 11, 20, 21, 30, 41, 47}
	for _, tt := range []struct {
		name  string
		say   answer
		aside string
		lists int
		pages int
	}{
		{"eight of 48 have another type than was guessed", func(_, p int) int { return pick(slices.Contains(guessed, p), 404) }, "page 5, 6, 12, 21, 22, 31, 42, 48 of 48", 7, 54},
		{"all but the first", func(_, p int) int { return pick(p > 0, 404) }, "page 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 of 48", 2, 12},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := setup(t)
			_, r := w.serve(t, expiring{listed: 48}, tt.say)
			j, err := w.steps(t, r)
			if j.State != job.Done {
				t.Fatalf("the Job is %s (%v)", j.State, err)
			}
			if n := len(w.published(t)); n != 0 {
				t.Errorf("%d chapters are visible", n)
			}
			chapters, err := w.db.JobChapters(t.Context(), j.ID)
			if err != nil || len(chapters) != 1 || !strings.Contains(chapters[0].Reason, tt.aside) {
				t.Errorf("set aside: %+v (%v), want %q", chapters, err, tt.aside)
			}
			if lists, pages := w.askedFor(); lists != tt.lists || pages != tt.pages {
				t.Errorf("%d lists and %d pages were asked for, want %d and %d", lists, pages, tt.lists, tt.pages)
			}
		})
	}
}

// pick is status if it is so, and 200 if not.
func pick(so bool, status int) int {
	if so {
		return status
	}
	return 200
}

func (w *workshop) answerInTurn(path string, statuses []int) {
	var n atomic.Int32
	w.site.Handle(path, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		rw.WriteHeader(statuses[min(int(n.Add(1)), len(statuses))-1])
	}))
}

// two are slots for two requests at once; the fourth to be given back is told.
type two struct {
	slots    chan struct{}
	released atomic.Int32
	fourth   chan struct{}
}

func (s *two) Acquire(ctx context.Context, _ source.Want) (func(), error) {
	select {
	case s.slots <- struct{}{}:
		return func() {
			<-s.slots
			if s.released.Add(1) == 4 {
				close(s.fourth)
			}
		}, nil
	case <-ctx.Done():
		return nil, fault.New(fault.Network, "wait for", "a request slot", ctx.Err())
	}
}

func (*two) Again(context.Context) error { return nil }

func (*two) Sent() {}

// What waits for a slot when the list is refused is not asked for from that
// list; what was sent is answered, and its page kept.
func TestARefusedListIsAskedNothingMore(t *testing.T) {
	w := setup(t)
	slots := &two{slots: make(chan struct{}, 2), fourth: make(chan struct{})}
	both := make(chan struct{})
	var arrivals atomic.Int32
	_, r := w.serve(t, expiring{inFlight: 4}, func(l, _ int) int {
		if l > 1 {
			return 200
		}
		// The first page comes alone, then two of four while two wait.
		switch arrivals.Add(1) {
		case 2:
			<-both
			return 403
		case 3:
			close(both)
			// The Series, the list, the first page and the refused one.
			<-slots.fourth
		}
		return 200
	})
	c := fetch.New(fetch.Options{
		Site: r.Adapter.Site(), Slots: slots, Identity: "Mangrove/test", FirstWait: time.Millisecond,
		Guard: fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
	})
	t.Cleanup(c.Close)
	r.Fetcher = c
	if j, err := w.steps(t, r); err != nil || j.State != job.Done {
		t.Fatalf("the Job is %s (%v), want done", j.State, err)
	}
	// Six pages, of which the refused one was asked for twice.
	if lists, pages := w.askedFor(); lists != 2 || pages != 7 || arrivals.Load() != 3 {
		t.Errorf("%d lists, %d pages, %d from the first list; want 2, 7 and 3 (%v)", lists, pages, arrivals.Load(), w.site.Ledger().Paths())
	}
}

// A Job that goes on later asks for a list first, keeps what is staged though
// every address is another, and fetches the rest only (S-108).
func TestAResumeAsksForAFreshList(t *testing.T) {
	w := setup(t)
	open := false
	a, r := w.serve(t, expiring{}, func(l, p int) int { return pick(p >= 3 && !open, 403) })
	if j, err := w.steps(t, r); !fault.Is(err, fault.Access) || j.State != job.Queued {
		t.Fatalf("the Job is %s (%v), want it queued after a refusal", j.State, err)
	}
	open = true
	w.site.Forget()
	next := w.runner(t)
	next.Adapter = a
	if j, err := w.steps(t, next); err != nil || j.State != job.Done {
		t.Fatalf("the Job is %s (%v), want done", j.State, err)
	}
	want := []string{"/c/1"}
	for i := 3; i < listedPages; i++ {
		want = append(want, fmt.Sprintf("/img/%d?list=3&token=secret", i))
	}
	if d := cmp.Diff(want, w.site.Ledger().Paths()); d != "" {
		t.Error(d)
	}
}
