package job_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"mangrove/internal/fakesite"
	"mangrove/internal/fault"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
)

// noting is a runner that records.
func (w *workshop) noting(t *testing.T) *job.Runner {
	r := w.runner(t)
	r.Incidents = &incident.Recorder{Store: w.db, Log: zap.NewNop(), Checkpoint: incident.Checkpoints(w.library, w.adapter.Site())}
	return r
}

// unit does one unit of work as a Lane does.
func (w *workshop) unit(t *testing.T, r *job.Runner) error {
	t.Helper()
	j := w.job(t)
	work := r.Step
	if j.State == job.Requested {
		work = r.Inspect
	}
	return work(incident.Begin(t.Context()), j)
}

// anew orders the Series again, inspects it and fetches one chapter.
func (w *workshop) anew(t *testing.T, r *job.Runner) {
	t.Helper()
	// An operator's Retry: what was set aside is not taken up by itself (JOB-4).
	j := w.job(t)
	if err := w.db.RetryChapters(t.Context(), j.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.db.Move(t.Context(), j, job.Change{To: job.Requested}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.unit(t, r); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *workshop) incidents(t *testing.T) (out []string) {
	t.Helper()
	rows, err := w.db.Incidents(t.Context(), false, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		in, err := w.db.Incident(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%s %s job %d chapter %s", in.Kind, in.About, in.JobID, in.ChapterID)
		for _, d := range in.Decided {
			line += ", " + d.String()
		}
		for _, e := range in.Evidence {
			line += fmt.Sprintf("; %d %s %d", e.Status, strings.TrimPrefix(e.Address, w.site.URL), len(e.Body))
		}
		if in.Resolution != "" {
			line += " -> " + string(in.Resolution)
		}
		out = append(out, line)
	}
	return out
}

// A chapter set aside is an incident that shows what stood in the page's place,
// and ends when the chapter is published after all.
func TestAChapterSetAsideIsAnIncident(t *testing.T) {
	w := setup(t)
	w.site.On("/img/1/2.png", fakesite.HTML("<html>hotlinking</html>"), fakesite.HTML("<html>hotlinking</html>"), fakesite.HTML("<html>hotlinking</html>"),
		fakesite.Bytes("image/png", w.images["/img/1/2.png"]))
	r := w.noting(t)
	for range 4 {
		if err := w.unit(t, r); err != nil {
			t.Fatal(err)
		}
	}
	want := "page chapter job 1 chapter 1, chapter 1 to set_aside (page); 200 /img/1/2.png 23; 200 /img/1/2.png 23; 200 /img/1/2.png 23"
	if d := cmp.Diff([]string{want}, w.incidents(t)); d != "" {
		t.Error(d)
	}
	if j := w.job(t); j.State != job.Done {
		t.Fatalf("the Job is %s", j.State)
	}
	w.anew(t, r)
	if d := cmp.Diff([]string{want + " -> good_read"}, w.incidents(t)); d != "" {
		t.Error(d)
	}
}

func TestASpoiledImageIsEvidence(t *testing.T) {
	w := setup(t)
	w.site.On("/img/1/1.png", fakesite.Bytes("image/png", w.images["/img/1/1.png"][:40]))
	r := w.noting(t)
	for range 2 {
		if err := w.unit(t, r); err != nil {
			t.Fatal(err)
		}
	}
	want := "page chapter job 1 chapter 1, chapter 1 to set_aside (page); 200 /img/1/1.png 40; 200 /img/1/1.png 40; 200 /img/1/1.png 40"
	if d := cmp.Diff([]string{want}, w.incidents(t)); d != "" {
		t.Error(d)
	}
}

// unreadable is an adapter that reads a page and cannot make anything of it.
type unreadable struct{ adapter }

func (u unreadable) Pages(ctx context.Context, f source.Fetcher, key source.Key, ch source.Chapter) ([]source.Page, error) {
	if _, err := u.adapter.Pages(ctx, f, key, ch); err != nil {
		return nil, err
	}
	return nil, source.Unparsed(ch.URL+"?token=abc", "no list in the page")
}

func TestAQuarantineKeepsThePage(t *testing.T) {
	w := setup(t)
	w.site.On("/c/2", fakesite.HTML("<html>something new</html>"))
	r := w.noting(t)
	for range 2 {
		if err := w.unit(t, r); err != nil {
			t.Fatal(err)
		}
	}
	r.Adapter = unreadable{w.adapter}
	if err := w.unit(t, r); !fault.Is(err, fault.Parser) {
		t.Fatal(err)
	}
	want := "parser job job 1 chapter 2, job 1 to quarantined (parser); 200 /c/2 26"
	if d := cmp.Diff([]string{want}, w.incidents(t)); d != "" {
		t.Error(d)
	}
	in, err := w.db.Incident(t.Context(), 1)
	if err != nil || in.Subject != w.site.URL+"/c/2" || in.Reason != "no list in the page" || !strings.Contains(string(in.Checkpoint), `"published": [`) {
		t.Errorf("%+v, %v, checkpoint %s", in.Incident, err, in.Checkpoint)
	}
	// Another Job reads it: that one's publication ends what the first left.
	r.Adapter = w.adapter
	w.anew(t, r)
	if d := cmp.Diff([]string{want + " -> good_read"}, w.incidents(t)); d != "" {
		t.Error(d)
	}
}

// What waits is no incident of its own: the outage or the pause is, in the Lane.
func TestAJobThatWaitsIsNone(t *testing.T) {
	for _, status := range []int{503, 403} {
		w := setup(t)
		r := w.noting(t)
		if err := w.unit(t, r); err != nil {
			t.Fatal(err)
		}
		w.site.On("/c/1", fakesite.Status(status))
		if err := w.unit(t, r); err == nil {
			t.Fatal("no failure")
		}
		if got := w.incidents(t); len(got) != 0 {
			t.Errorf("%d: %v", status, got)
		}
	}
	w := setup(t)
	r := w.noting(t)
	w.site.On("/c/1", fakesite.Status(503))
	for range 2 {
		_ = w.unit(t, r)
		if j := w.job(t); j.State == job.RetryWait {
			if _, err := w.db.Move(t.Context(), j, job.Change{To: job.Queued, Retries: j.Retries}); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = w.unit(t, r)
	got := w.incidents(t)
	if len(got) != 1 || !strings.HasPrefix(got[0], "network job job 1 chapter 1, job 1 to quarantined (network); 503 /c/1") {
		t.Errorf("after the one retry: %v", got)
	}
}
