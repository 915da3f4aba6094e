package job_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/inventory"
	"mangrove/scraper/internal/job"
)

// What the library lacks is not decided before it was looked at (INV-3): the Job
// waits, its Site is asked for nothing, and nothing is held against either.
// It shows features F4 and F7.
func TestAnInspectionWaitsForALook(t *testing.T) {
	t.Parallel()
	w := setup(t)
	r := w.runner(t)
	r.Inventory = inventory.New(inventory.Options{Log: zap.NewNop()}) // nobody works it
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := r.Inspect(ctx, w.job(t))
	if j := w.job(t); !fault.Is(err, fault.Away) || j.State != job.Requested || j.Class != "" {
		t.Errorf("the Job is %+v, %v", j, err)
	}
	if n := len(w.site.Ledger().Requests); n != 0 {
		t.Errorf("the Site was asked %d times", n)
	}
	r.Inventory = w.inv
	if err := r.Inspect(t.Context(), w.job(t)); err != nil {
		t.Fatal(err)
	}
	if j := w.job(t); j.State != job.Queued {
		t.Errorf("the Job is %+v", j)
	}
}

// A library that is not there is a storage failure of whoever needs it.
func TestAnInspectionWithoutTheLibraryIsStorage(t *testing.T) {
	t.Parallel()
	w := setup(t)
	if err := os.Remove(filepath.Join(w.library, inventory.MarkerName)); err != nil {
		t.Fatal(err)
	}
	err := w.runner(t).Inspect(t.Context(), w.job(t))
	if j := w.job(t); !fault.Is(err, fault.Storage) || j.State != job.Requested || j.Class != fault.Storage {
		t.Errorf("the Job is %+v, %v", j, err)
	}
	if n := len(w.site.Ledger().Requests); n != 0 {
		t.Errorf("the Site was asked %d times", n)
	}
}

// The database is older than the files: what is there is adopted, and nothing is
// fetched again.
// It shows F88.
func TestARestoredDatabaseFetchesNothing(t *testing.T) {
	t.Parallel()
	w := setup(t)
	if j, err := w.work(t); err != nil || j.State != job.Done {
		t.Fatal(j, err)
	}
	want := w.published(t)
	if _, err := w.pool.Exec(t.Context(), "DELETE FROM library_files"); err != nil {
		t.Fatal(err)
	}
	w.inv.InvalidateAll()
	if asked, err := w.db.RequestJob(t.Context(), key, true); !asked || err != nil {
		t.Fatal(asked, err)
	}
	w.site.Forget()
	if j, err := w.work(t); err != nil || j.State != job.Done {
		t.Fatal(j, err)
	}
	if lists, pages := w.askedFor(); lists+pages != 0 {
		t.Errorf("%d page lists and %d pages were fetched", lists, pages)
	}
	if got := w.published(t); len(got) != len(want) {
		t.Errorf("published %v, want %v", got, want)
	}
}
