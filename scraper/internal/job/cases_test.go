package job_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/internal/smalldisk"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/staging"
)

// listing is a Site whose chapters have the pages that the test names, in order.
type listing struct {
	adapter
	pages []string
}

func (l listing) Pages(ctx context.Context, f source.Fetcher, key source.Key, ch source.Chapter) (out []source.Page, err error) {
	if _, err := l.adapter.Pages(ctx, f, key, ch); err != nil {
		return nil, err
	}
	for _, name := range l.pages {
		out = append(out, source.Page{URL: l.base + "/img/" + ch.ID + "/" + name})
	}
	return out, nil
}

// listed is a runner of two chapters with the named pages, each a whole image.
func (w *workshop) listed(t *testing.T, pages ...string) *job.Runner {
	t.Helper()
	r := w.runner(t)
	r.Adapter = listing{w.adapter, pages}
	for c := 1; c <= 2; c++ {
		for i, name := range pages {
			path := fmt.Sprintf("/img/%d/%s", c, name)
			w.images[path] = drawing(t, 64*c+i)
			w.site.On(path, fakesite.Bytes("image/png", w.images[path]))
		}
	}
	return r
}

func numbered(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("p%d.png", i+1))
	}
	return out
}

// kept counts the pages in staging.
func (w *workshop) kept(t *testing.T) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(staging.Root(w.library), "*", "[0-9]*.png"))
	if err != nil {
		t.Fatal(err)
	}
	return len(found)
}

// aside is why a chapter was set aside, "" when it was not.
func (w *workshop) aside(t *testing.T, chapter string) string {
	t.Helper()
	chapters, err := w.db.JobChapters(t.Context(), w.job(t).ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range chapters {
		if c.ChapterID == chapter && c.State == job.ChapterSetAside {
			return c.Reason
		}
	}
	return ""
}

// TestCaseAPageThatAlwaysFails: nothing is published but a whole chapter, and what
// came is kept (S-029).
func TestCaseAPageThatAlwaysFails(t *testing.T) {
	t.Parallel()
	w := setup(t)
	r := w.listed(t, numbered(20)...)
	w.site.On("/img/1/p10.png", fakesite.Status(500))
	j, err := w.steps(t, r)
	if !fault.Is(err, fault.Network) || j.State != job.RetryWait || !strings.Contains(j.Reason, "page 10 at ") {
		t.Errorf("the Job is %s: %s (%v)", j.State, j.Reason, err)
	}
	if got := w.published(t); len(got) != 0 || len(w.files(t)) != 0 {
		t.Errorf("published %v, files %v", got, w.files(t))
	}
	// The page is tried again while the others come.
	if n := w.kept(t); n < 9 || n > 19 {
		t.Errorf("%d pages are kept, want at least those before the one that fails", n)
	}
}

// TestCaseAPageThatIsGone: 404 for everybody, for ever. It is asked for a few times,
// named, and the next chapter goes on (S-030).
func TestCaseAPageThatIsGone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	r := w.listed(t, numbered(23)...)
	w.site.On("/img/1/p7.png", fakesite.Status(404))
	if j, err := w.steps(t, r); err != nil || j.State != job.Done {
		t.Fatalf("the Job is %s: %s (%v)", j.State, j.Reason, err)
	}
	if got := w.aside(t, "1"); !strings.Contains(got, "page 7 of 23") || !strings.Contains(got, "404") {
		t.Errorf("set aside for %q", got)
	}
	if n := w.site.Count("/img/1/p7.png"); n != 2 { // a fresh list may have helped
		t.Errorf("asked for %d times", n)
	}
	if got := w.published(t); len(got) != 1 || len(got["2"]) != 23 {
		t.Errorf("published %d chapters, the second of %d pages", len(got), len(got["2"]))
	}
	if n := w.kept(t); n < 6 {
		t.Errorf("%d pages of the first are kept", n)
	}
	var failing int
	if err := w.pool.QueryRow(t.Context(), "SELECT count(*) FROM poll_failures").Scan(&failing); err != nil || failing != 0 {
		t.Errorf("%d failure rows for a Series that reads well (%v)", failing, err)
	}
}

// TestCaseTwoDeadImages: the list names two that are no pages. Nothing is guessed,
// and once the adapter is mended nothing of the old list is mixed in (S-031).
func TestCaseTwoDeadImages(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.adapter.chapters = 1
	r := w.noting(t)
	pages := numbered(20)
	r.Adapter = w.listed(t, pages...).Adapter
	for _, dead := range pages[18:] {
		w.site.On("/img/1/"+dead, fakesite.Status(404))
	}
	for range 3 {
		if err := w.unit(t, r); err != nil {
			t.Fatal(err)
		}
	}
	if got := w.aside(t, "1"); !strings.Contains(got, "page 19, 20 of 20") || len(w.files(t)) != 0 {
		t.Errorf("set aside for %q; files %v", got, w.files(t))
	}
	// Both are shown, and that they are the last two of the list.
	if said := strings.Join(w.incidents(t), "\n"); !strings.Contains(said, "404 /img/1/p19.png") || !strings.Contains(said, "404 /img/1/p20.png") || !strings.Contains(said, "200 /c/1") {
		t.Errorf("the incident does not show what was read: %s", said)
	}
	r.Adapter = w.listed(t, pages[:18]...).Adapter
	w.anew(t, r)
	if got := w.published(t); len(got["1"]) != 18 {
		t.Errorf("published with %d pages, want 18", len(got["1"]))
	}
	if left, err := staging.List(w.library); err != nil || len(left) != 1 {
		t.Errorf("stages %v (%v), want the old list's alone", left, err)
	}
}

// TestCasePagesThatAreNone: an empty body and half a body are never pages; half of
// one that comes whole the next time is no harm (S-032, S-033).
func TestCasePagesThatAreNone(t *testing.T) {
	t.Parallel()
	w := setup(t)
	r := w.listed(t, numbered(3)...)
	w.site.On("/img/1/p2.png", fakesite.Bytes("image/jpeg", nil))
	half := fakesite.Bytes("image/png", w.images["/img/2/p2.png"])
	half.CutAfter = len(half.Body) / 2
	w.site.On("/img/2/p2.png", half, fakesite.Bytes("image/png", w.images["/img/2/p2.png"]))
	if j, err := w.steps(t, r); err != nil || j.State != job.Done {
		t.Fatal(j, err)
	}
	if got := w.aside(t, "1"); !strings.Contains(got, "page 2 of 3") {
		t.Errorf("set aside for %q", got)
	}
	if n := w.site.Count("/img/1/p2.png"); n != 3 {
		t.Errorf("an empty page was asked for %d times, want 3", n)
	}
	if got := w.published(t); len(got) != 1 || len(got["2"]) != 3 {
		t.Errorf("published %v", got)
	}
	if n := w.site.Count("/img/2/p2.png"); n != 2 {
		t.Errorf("a page cut short was asked for %d times, want 2", n)
	}
}

// TestCasePagesKeepTheSourcesOrder: names say nothing (S-098).
func TestCasePagesKeepTheSourcesOrder(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.adapter.chapters = 1
	names := []string{"10.png", "2.png", "p1a.png", "p1.png", "1.png", "cover.png", "11.png", "3.png", "09.png", "z.png", "A.png", "a.png"}
	if j, err := w.steps(t, w.listed(t, names...)); err != nil || j.State != job.Done {
		t.Fatal(j, err)
	}
	var want []string
	for _, name := range names {
		want = append(want, sum(w.images["/img/1/"+name]))
	}
	if d := cmp.Diff(want, w.published(t)["1"]); d != "" {
		t.Errorf("pages (-want +got):\n%s", d)
	}
}

// TestCaseTheDiskFillsUp in the middle of a chapter: nothing is published, what
// came is kept, and with room again no page of it is asked for twice (S-034, F67).
// Read-only it is the same (S-062, F69).
func TestCaseTheDiskFillsUp(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, at, reason string
		spoil, mend      func(t *testing.T, dir string)
	}{
		{"no room for a page", "/img/1/p3.png", "no space left", func(t *testing.T, dir string) {
			if err := smalldisk.Fill(dir); err != nil {
				t.Error(err)
			}
		}, func(t *testing.T, dir string) { smalldisk.Free(t, dir) }},
		{"no name left", "/img/1/p3.png", "no space left", func(t *testing.T, dir string) {
			if err := smalldisk.FillNames(dir); err != nil {
				t.Error(err)
			}
		}, func(t *testing.T, dir string) { smalldisk.Free(t, dir) }},
		{"read-only", "/c/2", "read-only", func(t *testing.T, dir string) { smalldisk.ReadOnly(t, dir, true) },
			func(t *testing.T, dir string) { smalldisk.ReadOnly(t, dir, false) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			disk := t.TempDir()
			smalldisk.Mount(t, disk, "size=16m,nr_inodes=200")
			r := w.listed(t, numbered(5)...)
			// The marker comes along.
			if err := os.CopyFS(disk, os.DirFS(w.library)); err != nil {
				t.Fatal(err)
			}
			w.library, r.Library = disk, disk
			r.Marker, r.Floor = w.runner(t).Marker, func(context.Context) (int64, error) { return 0, nil }
			body := w.images[tt.at]
			w.site.Handle(tt.at, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
				tt.spoil(t, disk)
				if body == nil {
					rw.Header().Set("Content-Type", "text/html")
					body = []byte("<html>")
				} else {
					rw.Header().Set("Content-Type", "image/png")
				}
				_, _ = rw.Write(body)
			}))
			j, err := w.steps(t, r)
			if !fault.Is(err, fault.Storage) || j.State != job.Queued || j.Class != fault.Storage || !strings.Contains(j.Reason, tt.reason) {
				t.Errorf("the Job is %s: %s (%v)", j.State, j.Reason, err)
			}
			kept, files := w.kept(t), len(w.files(t))
			if tt.at == "/c/2" && (kept != 0 || files != 1) || tt.at != "/c/2" && (kept < 1 || files != 0) {
				t.Errorf("%d pages kept, %d files", kept, files)
			}
			tt.mend(t, disk)
			w.site.On(tt.at, fakesite.Answer{ContentType: map[bool]string{true: "text/html", false: "image/png"}[tt.at == "/c/2"], Body: body})
			if j, err := w.steps(t, r); err != nil || j.State != job.Done {
				t.Fatalf("with room again the Job is %s: %s (%v)", j.State, j.Reason, err)
			}
			again := 0
			for path := range w.images {
				again += max(w.site.Count(path)-1, 0)
			}
			if again > w.adapter.Site().ImagesInFlight {
				t.Errorf("%d pages were asked for again, want those on the wire at most", again)
			}
			if got := w.published(t); len(got["1"]) != 5 || len(got["2"]) != 5 {
				t.Errorf("published %d and %d pages", len(got["1"]), len(got["2"]))
			}
		})
	}
}

// TestCaseAFlippedBit between two runs costs that page alone (F80).
func TestCaseAFlippedBit(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.adapter.chapters = 1
	r := w.listed(t, numbered(5)...)
	w.site.On("/img/1/p5.png", fakesite.Status(502))
	if _, err := w.steps(t, r); !fault.Is(err, fault.Network) {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(staging.Root(w.library), "*", "002.png"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	data, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(found[0], data, 0o644); err != nil {
		t.Fatal(err)
	}
	w.site.Forget()
	w.site.On("/img/1/p5.png", fakesite.Bytes("image/png", w.images["/img/1/p5.png"]))
	j := w.job(t)
	if _, err := w.db.Move(t.Context(), j, job.Change{To: job.Queued, Retries: j.Retries}); err != nil {
		t.Fatal(err)
	}
	if j, err := w.steps(t, r); err != nil || j.State != job.Done {
		t.Fatal(j, err)
	}
	var asked []string
	for _, path := range w.site.Ledger().Paths() {
		if strings.HasPrefix(path, "/img/") {
			asked = append(asked, path)
		}
	}
	if d := cmp.Diff([]string{"/img/1/p2.png", "/img/1/p5.png"}, asked); d != "" {
		t.Errorf("asked for (-want +got):\n%s", d)
	}
}
