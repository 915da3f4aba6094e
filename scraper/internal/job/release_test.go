package job_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/cbz"
	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	release := func(id, number string, published int, groups ...string) source.Chapter {
		return source.Chapter{ID: id, Number: number, Language: "en", Groups: groups, Published: day(published)}
	}
	held := func(c source.Chapter) job.Held { return job.Held{Chapter: c, Path: "S/" + c.ID + ".cbz"} }
	north, south, joint := release("n", "44", 1, "North"), release("s", "44", 2, "South"), release("j", "44", 3, "North", "South")
	inVolume := north
	inVolume.ID, inVolume.Volume = "v", "2"
	spanish := south
	spanish.ID, spanish.Language = "es", "es"
	tests := []struct {
		name      string
		lacking   []source.Chapter
		held      []job.Held
		preferred []string
		want      []string // "id" or "id for path"
	}{
		{"no preference keeps every release", []source.Chapter{north, south}, nil, nil, []string{"n", "s"}},
		{"the preferred one of two", []source.Chapter{north, south}, nil, []string{"South"}, []string{"s"}},
		{"case does not matter", []source.Chapter{north, south}, nil, []string{"south"}, []string{"s"}},
		{"best first", []source.Chapter{north, south}, nil, []string{"North", "South"}, []string{"n"}},
		{"a preferred group that released nothing", []source.Chapter{north, south}, nil, []string{"West"}, []string{"n"}},
		{"the library's stays where none is preferred", []source.Chapter{south}, []job.Held{held(north)}, []string{"West"}, nil},
		{"a lesser release is not wanted beside the preferred", []source.Chapter{north}, []job.Held{held(south)}, []string{"South"}, nil},
		{"a better one takes the place", []source.Chapter{south}, []job.Held{held(north)}, []string{"South"}, []string{"s for S/n.cbz"}},
		{"without preference nothing takes a place", []source.Chapter{south}, []job.Held{held(north)}, nil, []string{"s"}},
		{"a joint release counts for its best group", []source.Chapter{joint, south}, nil, []string{"North", "South"}, []string{"j"}},
		{"another volume is another chapter", []source.Chapter{inVolume, south}, nil, []string{"South"}, []string{"v", "s"}},
		{"another language too", []source.Chapter{north, spanish}, nil, []string{"North"}, []string{"n", "es"}},
		{"without a number nothing is alike", []source.Chapter{release("a", "", 1, "North"), release("b", "", 2, "South")}, nil, []string{"South"}, []string{"a", "b"}},
		{"a revision takes the place of its own group's", []source.Chapter{release("n2", "44", 9, "North")}, []job.Held{held(north)}, nil, []string{"n2 for S/n.cbz"}},
		{"of two revisions the later", []source.Chapter{north, release("n2", "44", 9, "North")}, nil, nil, []string{"n2"}},
		{"an earlier one of the same group is not wanted", []source.Chapter{release("n0", "44", 1, "North")}, []job.Held{held(release("n2", "44", 9, "North"))}, nil, nil},
		{"without groups nothing is a revision", []source.Chapter{release("x2", "44", 9)}, []job.Held{held(release("x", "44", 1))}, nil, []string{"x2"}},
		{"a file without some pages is made whole", []source.Chapter{north}, []job.Held{held(north)}, nil, []string{"n for S/n.cbz"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range job.Choose(tt.lacking, tt.held, tt.preferred) {
				said := p.ID
				if p.Replaces != "" {
					said += " for " + p.Replaces
				}
				got = append(got, said)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("chosen (-want +got):\n%s", d)
			}
		})
	}
}

// files lists what stands in the library's Series folders.
func (w *workshop) files(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(w.library, "*", "*.cbz"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// pagesOf opens the one published file of a chapter.
func (w *workshop) archive(t *testing.T, path string) *cbz.Archive {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	a, err := cbz.Open(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestAChapterWithoutAPage: an operator takes it, it is marked so, and it is made
// whole when the Site mends it (C19).
func TestAChapterWithoutAPage(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.adapter.chapters = 1
	w.site.On("/img/1/1.png", fakesite.HTML("<html>no image</html>"))
	if j, err := w.work(t); err != nil || j.State != job.Done {
		t.Fatal(j, err)
	}
	if got := w.files(t); len(got) != 0 {
		t.Fatalf("published without a person's word: %v", got)
	}
	j := w.job(t)
	if err := w.db.AcceptMissing(t.Context(), j.ID, "2"); !fault.Is(err, fault.Stale) {
		t.Errorf("a chapter that is not set aside: %v, want class stale", err)
	}
	if err := w.db.AcceptMissing(t.Context(), j.ID, "1"); err != nil {
		t.Fatal(err)
	}
	again := func() {
		t.Helper()
		w.site.Forget()
		if _, err := w.db.Move(t.Context(), w.job(t), job.Change{To: job.Requested}); err != nil {
			t.Fatal(err)
		}
		if j, err := w.work(t); err != nil || j.State != job.Done {
			t.Fatalf("the Job is %s: %s (%v)", j.State, j.Reason, err)
		}
	}
	again()
	files := w.files(t)
	if len(files) != 1 {
		t.Fatalf("files %v, want one", files)
	}
	a := w.archive(t, files[0])
	if d := cmp.Diff([]int{2}, a.Manifest.Missing); d != "" || len(a.Pages) != 2 || !strings.Contains(a.Info.Notes, "no whole image for page 2.") {
		t.Errorf("the archive has %d pages, notes %q, missing (-want +got):\n%s", len(a.Pages), a.Info.Notes, d)
	}
	if w.site.Count("/img/1/0.png") != 0 || w.site.Count("/img/1/2.png") != 0 {
		t.Error("pages that were kept were asked for again")
	}
	changes, err := w.db.ChangesAfter(t.Context(), 0, 10)
	if err != nil || len(changes) != 1 || !cmp.Equal(changes[0].Missing, []int{2}) {
		t.Errorf("changes %+v, %v; want one that says page 2 is missing", changes, err)
	}
	// The Site mends it, and a person asks for it again.
	w.site.On("/img/1/1.png", fakesite.Bytes("image/png", w.images["/img/1/1.png"]))
	if err := w.db.RetryChapters(t.Context(), j.ID); err != nil {
		t.Fatal(err)
	}
	again()
	now := w.files(t)
	if len(now) != 1 || now[0] == files[0] {
		t.Fatalf("files %v, want one other than %v", now, files)
	}
	if a := w.archive(t, now[0]); len(a.Manifest.Missing) != 0 || len(a.Pages) != 3 {
		t.Errorf("the archive has %d pages, missing %v", len(a.Pages), a.Manifest.Missing)
	}
	changes, err = w.db.ChangesAfter(t.Context(), 0, 10)
	if err != nil || len(changes) != 2 || changes[0].State != "removed" || changes[0].ReplacedBy != changes[1].Path || changes[1].State != "published" {
		t.Errorf("changes %+v, %v; want a tombstone that says what took its place, then the file", changes, err)
	}
}

// TestABetterReleaseTakesThePlace: the old file goes only after the new one is
// published and committed, whenever the process is killed (C21).
func TestABetterReleaseTakesThePlace(t *testing.T) {
	t.Parallel()
	for _, kill := range []string{"never", "before the commit", "before the file is removed"} {
		t.Run(kill, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			read := func(chapters ...source.Chapter) {
				t.Helper()
				for i := range chapters {
					chapters[i].Number, chapters[i].Language, chapters[i].URL = "44", "en", w.site.URL+"/c/"+chapters[i].ID
				}
				r := source.Reading{Series: source.Series{ID: "s", Title: "A Series"}, Chapters: chapters}
				if err := w.db.SaveReading(t.Context(), key, r, time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			north, south := source.Chapter{ID: "1", Groups: []string{"North"}}, source.Chapter{ID: "2", Groups: []string{"South"}}
			if err := w.db.SetPreferredGroups(t.Context(), key, []string{"South", "North"}); err != nil {
				t.Fatal(err)
			}
			read(north)
			if j, err := w.work(t); err != nil || j.State != job.Done {
				t.Fatal(j, err)
			}
			old := w.files(t)
			read(north, south)
			if _, err := w.db.RequestJob(t.Context(), key, true); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := w.runner(t)
			switch kill {
			case "before the commit":
				r.Store = dying{w.db, cancel, false}
			case "before the file is removed":
				r.Store = dying{w.db, cancel, true}
			}
			if err := r.Inspect(ctx, w.job(t)); err != nil {
				t.Fatal(err)
			}
			_ = r.Step(ctx, w.job(t))
			if kill != "never" {
				if now := w.files(t); len(now) != 2 {
					t.Errorf("killed %s: files %v, want both", kill, now)
				}
				if err := job.RetireLeftovers(t.Context(), w.library, w.db); err != nil {
					t.Fatal(err)
				}
				if _, err := w.db.RecoverJobs(t.Context(), []string{"t"}); err != nil {
					t.Fatal(err)
				}
			}
			w.site.Forget()
			if j, err := w.work(t); err != nil || j.State != job.Done {
				t.Fatalf("the Job is %s: %s (%v)", j.State, j.Reason, err)
			}
			now := w.files(t)
			if len(now) != 1 || now[0] == old[0] {
				t.Errorf("files %v, want the better release alone", now)
			}
			if a := w.archive(t, now[0]); a.Manifest.ChapterID != "2" {
				t.Errorf("it is chapter %s", a.Manifest.ChapterID)
			}
			for _, req := range w.site.Ledger().Requests {
				if strings.HasPrefix(req.Path, "/img/") {
					t.Errorf("%s was fetched again", req.Path)
				}
			}
			// The lesser one is known and not wanted: nothing is fetched for it.
			if _, err := w.db.RequestJob(t.Context(), key, true); err != nil {
				t.Fatal(err)
			}
			w.site.Forget()
			if j, err := w.work(t); err != nil || j.State != job.Done || len(w.site.Ledger().Paths()) != 0 {
				t.Errorf("the Job is %s (%v) and asked for %v", j.State, err, w.site.Ledger().Paths())
			}
		})
	}
}

// dying is a store whose process is killed at a publication: before its commit, or
// right after.
type dying struct {
	job.Store
	kill      func()
	committed bool
}

func (d dying) Commit(ctx context.Context, j job.Job, p job.Publication) error {
	if d.committed {
		if err := d.Store.Commit(ctx, j, p); err != nil {
			return err
		}
	}
	d.kill()
	return ctx.Err()
}
