package job_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/pgxpool"

	"mangrove/internal/cbz"
	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/checkpoint"
	"mangrove/scraper/internal/fetch"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/inventory/inventorytest"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/live"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/staging"
	"mangrove/scraper/internal/store"
)

var key = source.Key{Site: "t", SeriesID: "s"}

// adapter reads a Site of two chapters of three pages, whose lists it knows.
type adapter struct {
	base     string
	chapters int
}

func (a adapter) Site() source.Site {
	u, err := url.Parse(a.base)
	if err != nil {
		panic(err)
	}
	return source.Site{Key: "t", Name: "Test", Hosts: []string{u.Host}, ImagesInFlight: 2, WorkPrefix: "t-"}
}
func (a adapter) Listed() []source.Series               { return nil }
func (adapter) Recognise(string) (string, string, bool) { return "", "", false }
func (adapter) Address(string) string                   { return "" }

func (a adapter) Series(ctx context.Context, f source.Fetcher, ask source.Ask) (source.Reading, error) {
	if _, err := f.Get(ctx, source.Request{URL: a.base + "/s", Want: source.WantHTML}); err != nil {
		return source.Reading{}, err
	}
	r := source.Reading{Series: source.Series{ID: "s", Title: "A Series", Authors: []string{"An Author"}}}
	for i := range a.chapters {
		n := fmt.Sprint(i + 1)
		r.Chapters = append(r.Chapters, source.Chapter{ID: n, Number: n, URL: a.base + "/c/" + n, Order: a.chapters - i, Language: "en"})
	}
	return r, nil
}

func (a adapter) Pages(ctx context.Context, f source.Fetcher, _ source.Key, ch source.Chapter) (out []source.Page, err error) {
	if _, err := f.Get(ctx, source.Request{URL: ch.URL, Want: source.WantHTML}); err != nil {
		return nil, err
	}
	for i := range 3 {
		out = append(out, source.Page{URL: fmt.Sprintf("%s/img/%s/%d.png", a.base, ch.ID, i)})
	}
	return out, nil
}

type anytime struct{}

func (anytime) Acquire(context.Context, source.Want) (func(), error) { return func() {}, nil }

func (anytime) Again(context.Context) error { return nil }

func (anytime) Sent() {}

type workshop struct {
	site    *fakesite.Server
	pool    *pgxpool.Pool
	urls    pgtest.URLs
	db      *store.Store
	library string
	adapter adapter
	images  map[string][]byte
	hub     *live.Hub
	inv     *inventory.Inventory
}

func drawing(t *testing.T, n int) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 16, 16))
	img.Set(n%16, n/16%16, color.White)
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func setup(t *testing.T) *workshop {
	t.Helper()
	w := &workshop{site: fakesite.Start(t), library: filepath.Join(t.TempDir(), "library"), images: map[string][]byte{}, hub: live.NewHub()}
	w.adapter = adapter{base: w.site.URL, chapters: 2}
	w.urls = pgtest.New(t)
	w.pool = pgtest.Pool(t, w.urls.Scraper, store.Schema, nil)
	w.db = store.New(w.pool)
	w.site.On("/s", fakesite.HTML("<html>"))
	for c := 1; c <= 2; c++ {
		w.site.On(fmt.Sprintf("/c/%d", c), fakesite.HTML("<html>"))
		for p := range 3 {
			path := fmt.Sprintf("/img/%d/%d.png", c, p)
			w.images[path] = drawing(t, c*16+p)
			w.site.On(path, fakesite.Bytes("image/png", w.images[path]))
		}
	}
	if err := w.db.EnsureListed(t.Context(), "t", source.Series{ID: "s", Title: "A Series", URL: w.site.URL + "/s"}); err != nil {
		t.Fatal(err)
	}
	w.inv = inventorytest.Start(t, w.library, w.db)
	if asked, err := w.db.RequestJob(t.Context(), key, true); !asked || err != nil {
		t.Fatal(asked, err)
	}
	return w
}

// runner is a new process: nothing is carried over but database and library.
func (w *workshop) runner(t *testing.T) *job.Runner {
	t.Helper()
	c := fetch.New(fetch.Options{
		Site: w.adapter.Site(), Slots: anytime{}, Identity: "Mangrove/test", FirstWait: time.Millisecond,
		Guard: fetch.Guard{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}},
	})
	t.Cleanup(c.Close)
	return &job.Runner{
		Library: w.library, Store: w.db, Marker: inventory.NewMarker(w.library, w.db), Inventory: w.inv, Hub: w.hub, Adapter: w.adapter, Fetcher: c, Generator: "Mangrove test",
	}
}

func (w *workshop) job(t *testing.T) job.Job {
	t.Helper()
	j, ok, err := w.db.LatestJob(t.Context(), key)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return j
}

// work runs units until the Job rests.
func (w *workshop) work(t *testing.T) (job.Job, error) {
	t.Helper()
	return w.steps(t, w.runner(t))
}

// published maps each chapter in the library to the digests of its pages.
func (w *workshop) published(t *testing.T) map[string][]string {
	t.Helper()
	changes, err := w.db.ChangesAfter(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, c := range changes {
		path := filepath.Join(w.library, filepath.FromSlash(c.Path))
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		a, err := cbz.Open(f, c.Size)
		if err != nil {
			t.Fatal(err)
		}
		for i := range a.Pages {
			p, err := a.OpenPage(i)
			if err != nil {
				t.Fatal(err)
			}
			var buf bytes.Buffer
			if _, err := buf.ReadFrom(p); err != nil {
				t.Fatal(err)
			}
			_ = p.Close()
			out[c.Chapter.ID] = append(out[c.Chapter.ID], sum(buf.Bytes()))
		}
		_ = f.Close()
	}
	return out
}

func (w *workshop) served(chapters ...int) map[string][]string {
	out := map[string][]string{}
	for _, c := range chapters {
		for p := range 3 {
			out[fmt.Sprint(c)] = append(out[fmt.Sprint(c)], sum(w.images[fmt.Sprintf("/img/%d/%d.png", c, p)]))
		}
	}
	return out
}

func sum(data []byte) string {
	digest := sha256.Sum256(data)
	return hex.EncodeToString(digest[:])
}

func TestFromRequestedToDone(t *testing.T) {
	w := setup(t)
	j, err := w.work(t)
	if err != nil || j.State != job.Done {
		t.Fatalf("the Job is %s (%v), want done", j.State, err)
	}
	if d := cmp.Diff(w.served(1, 2), w.published(t)); d != "" {
		t.Errorf("the library does not hold what the Site served:\n%s", d)
	}
	// One Series page, two lists, six images: nothing is asked twice.
	if n := len(w.site.Ledger().Requests); n != 9 {
		t.Errorf("%d requests, want 9", n)
	}
	if left, err := staging.List(w.library); err != nil || len(left) != 0 {
		t.Errorf("stages left behind: %v, %v", left, err)
	}
	if _, there := checkpoint.Load(checkpoint.Path(w.library, w.adapter.Site(), key)); there {
		t.Error("the checkpoint of a finished Job is still there")
	}
}

func TestAResumedChapterFetchesOnlyWhatIsMissing(t *testing.T) {
	w := setup(t)
	hold := make(chan struct{})
	w.site.On("/img/1/2.png", fakesite.Answer{ContentType: "image/png", Body: w.images["/img/1/2.png"], Hold: hold}, fakesite.Bytes("image/png", w.images["/img/1/2.png"]))
	if err := w.runner(t).Inspect(t.Context(), w.job(t)); err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancel(t.Context())
	done := make(chan error, 1)
	r := w.runner(t)
	go func() { done <- r.Step(ctx, w.job(t)) }()
	watch, stop := w.hub.WatchSeries(key)
	defer stop()
	for {
		if p, _ := w.hub.Progress(key); p.Done == 2 {
			break
		}
		<-watch
	}
	if err := w.site.WaitCount(t.Context(), "/img/1/2.png", 1); err != nil {
		t.Fatal(err)
	}
	kill()
	if err := <-done; err == nil {
		t.Error("a killed step ended well")
	}
	c, there := checkpoint.Load(checkpoint.Path(w.library, w.adapter.Site(), key))
	if !there || c.PagesDone != 2 || c.Chapter != "1" {
		t.Errorf("checkpoint %+v (there %v), want two pages of chapter 1", c, there)
	}
	if n, err := w.db.RecoverJobs(t.Context(), []string{"t"}); n != 1 || err != nil {
		t.Fatalf("recovered %d, %v", n, err)
	}
	w.site.Forget()
	if j, err := w.work(t); err != nil || j.State != job.Done {
		t.Fatalf("the Job is %s (%v), want done", j.State, err)
	}
	for path, want := range map[string]int{"/img/1/0.png": 0, "/img/1/1.png": 0, "/img/1/2.png": 1} {
		if got := w.site.Count(path); got != want {
			t.Errorf("%s was asked for %d times after the resume, want %d", path, got, want)
		}
	}
	if d := cmp.Diff(w.served(1, 2), w.published(t)); d != "" {
		t.Error(d)
	}
}

func TestKilledBetweenRenameAndCommit(t *testing.T) {
	w := setup(t)
	if j, err := w.work(t); err != nil || j.State != job.Done {
		t.Fatal(j, err)
	}
	want := w.published(t)
	// Another database that knows the Series, and the library as it stands: as
	// after a kill between each rename and its commit.
	urls := pgtest.New(t)
	w.db = store.New(pgtest.Pool(t, urls.Scraper, store.Schema, nil))
	if err := w.db.EnsureListed(t.Context(), "t", source.Series{ID: "s", Title: "A Series", URL: w.site.URL + "/s"}); err != nil {
		t.Fatal(err)
	}
	w.inv = inventorytest.Start(t, w.library, w.db)
	if _, err := w.db.RequestJob(t.Context(), key, true); err != nil {
		t.Fatal(err)
	}
	w.site.Forget()
	if j, err := w.work(t); err != nil || j.State != job.Done {
		t.Fatalf("the Job is %s (%v), want done", j.State, err)
	}
	for _, r := range w.site.Ledger().Requests {
		if len(r.Path) > 4 && r.Path[:5] == "/img/" {
			t.Errorf("%s was fetched again", r.Path)
		}
	}
	if d := cmp.Diff(want, w.published(t)); d != "" {
		t.Errorf("adopted chapters differ:\n%s", d)
	}
}

func TestFailures(t *testing.T) {
	html := fakesite.HTML("<html>Rate limited</html>")
	tests := []struct {
		name    string
		script  func(w *workshop)
		state   job.State
		class   fault.Class
		visible []int
		aside   string // a chapter set aside
	}{
		{"a page that is never an image sets its chapter aside", func(w *workshop) { w.site.On("/img/1/1.png", html) }, job.Done, "", []int{2}, "1"},
		{"a page that is an image at the second try", func(w *workshop) {
			w.site.On("/img/1/1.png", html, fakesite.Bytes("image/png", w.images["/img/1/1.png"]))
		}, job.Done, "", []int{1, 2}, ""},
		{"a page that is gone", func(w *workshop) { w.site.On("/img/2/0.png", fakesite.Status(404)) }, job.Done, "", []int{1}, "2"},
		{"a chapter that is gone", func(w *workshop) { w.site.On("/c/1", fakesite.Status(404)) }, job.Done, "", []int{2}, "1"},
		{"a refused page", func(w *workshop) { w.site.On("/img/2/0.png", fakesite.Status(403)) }, job.Queued, fault.Access, []int{1}, ""},
		{"a Site in trouble", func(w *workshop) { w.site.On("/c/2", fakesite.Status(502)) }, job.RetryWait, fault.Network, []int{1}, ""},
		{"a page of another kind", func(w *workshop) { w.site.On("/c/1", fakesite.JSON("{}")) }, job.Quarantined, fault.Parser, nil, ""},
		{"the Series is gone", func(w *workshop) { w.site.On("/s", fakesite.Status(404)) }, job.Unavailable, fault.Unavailable, nil, ""},
		{"no chapter in a wanted language", func(w *workshop) {
			if _, err := w.pool.Exec(context.Background(), "UPDATE series SET languages = '{fr}'"); err != nil {
				panic(err)
			}
		}, job.Unavailable, fault.Unavailable, nil, ""},
		{"the Series page is refused", func(w *workshop) { w.site.On("/s", fakesite.Status(429)) }, job.Requested, fault.Access, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := setup(t)
			tt.script(w)
			j, err := w.work(t)
			if j.State != tt.state || j.Class != tt.class {
				t.Errorf("the Job is %s, class %q, reason %q (%v); want %s, %q", j.State, j.Class, j.Reason, err, tt.state, tt.class)
			}
			if d := cmp.Diff(w.served(tt.visible...), w.published(t)); d != "" {
				t.Errorf("visible chapters:\n%s", d)
			}
			chapters, err := w.db.JobChapters(t.Context(), j.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range chapters {
				if (c.State == job.ChapterSetAside) != (c.ChapterID == tt.aside) {
					t.Errorf("chapter %s is %s (%s)", c.ChapterID, c.State, c.Reason)
				}
			}
		})
	}
}

// The reason of a Job or of a chapter says what the Site answered and at which
// page, in one line (B38).
func TestReasonsNameTheStatusAndThePage(t *testing.T) {
	for _, tt := range []struct {
		name, path string
		answer     fakesite.Answer
		job, aside []string
	}{
		{"a refused page", "/img/2/2.png", fakesite.Status(403), []string{"page 3 at ", "/img/2/2.png", "status 403"}, nil},
		{"a Site in trouble at a page", "/img/1/1.png", fakesite.Status(502), []string{"page 2 at ", "status 502"}, nil},
		{"a Site in trouble at a list", "/c/1", fakesite.Status(503), []string{"/c/1", "status 503"}, nil},
		{"a page that is gone", "/img/1/1.png", fakesite.Status(404), nil, []string{"page 2 of 3", "status 404"}},
		{"a page that is no image", "/img/1/0.png", fakesite.HTML("<html>Later</html>"), nil, []string{"page 1 of 3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := setup(t)
			w.site.On(tt.path, tt.answer)
			j, _ := w.work(t)
			aside := ""
			chapters, err := w.db.JobChapters(t.Context(), j.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range chapters {
				aside += c.Reason
			}
			for said, wants := range map[string][]string{j.Reason: tt.job, aside: tt.aside} {
				for _, want := range wants {
					if !strings.Contains(said, want) || strings.Contains(said, "\n") {
						t.Errorf("the reason is %q, want it to say %q in one line", said, want)
					}
				}
			}
		})
	}
}

func TestAnUnmountedLibraryIsAStorageFailure(t *testing.T) {
	w := setup(t)
	if err := w.runner(t).Inspect(t.Context(), w.job(t)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(w.library, w.library+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(w.library, 0o755); err != nil {
		t.Fatal(err)
	}
	err := w.runner(t).Step(t.Context(), w.job(t))
	if j := w.job(t); !fault.Is(err, fault.Storage) || j.State != job.Queued {
		t.Errorf("got %v, the Job is %s; want a storage failure and the Job queued", err, j.State)
	}
	entries, err := os.ReadDir(w.library)
	if err != nil || len(entries) != 0 {
		t.Errorf("something was written into the empty mount point: %v, %v", entries, err)
	}
}

func TestAskingAgainFetchesNothing(t *testing.T) {
	w := setup(t)
	if j, err := w.work(t); err != nil || j.State != job.Done {
		t.Fatal(j, err)
	}
	for range 3 {
		w.site.Forget()
		if asked, err := w.db.RequestJob(t.Context(), key, true); !asked || err != nil {
			t.Fatal(asked, err)
		}
		if j, err := w.work(t); err != nil || j.State != job.Done {
			t.Fatalf("the Job is %s (%v), want done", j.State, err)
		}
		if got := w.site.Ledger().Paths(); len(got) != 0 {
			t.Errorf("asked for %v, want nothing: the Series was read a moment ago and the library lacks nothing", got)
		}
	}
}
