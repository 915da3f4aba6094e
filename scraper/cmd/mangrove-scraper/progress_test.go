package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/config"
	"mangrove/migrations"
	"mangrove/scraper/internal/checkpoint"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/source"
)

// TestProgressTellsHowFarTheDownloadsAre: the fingerprint is the checkpoint's, one that
// another Job left is not believed, and what has ended is told of when it is asked for.
func TestProgressTellsHowFarTheDownloadsAre(t *testing.T) {
	db, cfg, _ := newDesk(t)
	ctx := t.Context()
	cfg.LibraryDir = t.TempDir()
	type said struct {
		standing
		Jobs []jobStanding
	}
	told := func(args ...string) (s said) {
		t.Helper()
		var out bytes.Buffer
		if err := progress(ctx, cfg, args, &out); err != nil {
			t.Fatal(err)
		}
		decode := json.NewDecoder(&out)
		decode.DisallowUnknownFields()
		if err := decode.Decode(&s.standing); err != nil {
			t.Fatal(err)
		}
		for decode.More() {
			var j jobStanding
			if err := decode.Decode(&j); err != nil {
				t.Fatal(err)
			}
			s.Jobs = append(s.Jobs, j)
		}
		return s
	}
	nothing := said{standing: standing{Version: version, Database: migrations.Latest(), Program: migrations.Latest(), Holds: []string{}}}
	if diff := cmp.Diff(nothing, told(), cmp.AllowUnexported(said{})); diff != "" {
		t.Errorf("with an empty queue (-want +got):\n%s", diff)
	}

	if err := db.EnsureLane(ctx, "sample"); err != nil {
		t.Fatal(err)
	}
	var jobs []job.Job
	for n, states := range [][]job.State{{job.Inspecting, job.Ready, job.Queued, job.Downloading}, {job.Inspecting, job.Done}} {
		key := source.Key{Site: "sample", SeriesID: fmt.Sprintf("series-%d", n)}
		if err := db.EnsureListed(ctx, key.Site, source.Series{ID: key.SeriesID, Title: "S", URL: "http://x"}); err != nil {
			t.Fatal(err)
		}
		if _, err := db.RequestJob(ctx, key, true); err != nil {
			t.Fatal(err)
		}
		j, _, err := db.LatestJob(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range states {
			if j, err = db.Move(ctx, j, job.Change{To: to}); err != nil {
				t.Fatal(err)
			}
		}
		jobs = append(jobs, j)
	}
	sites, err := workPrefixes(cfg)
	if err != nil {
		t.Fatal(err)
	}
	kept := checkpoint.Checkpoint{JobID: jobs[0].ID, Site: "sample", SeriesID: "series-0", Published: []string{"1"}, Chapter: "2", Staging: "ab", PagesDone: 3, PagesTotal: 8}
	path := checkpoint.Path(cfg.LibraryDir, sites["sample"], jobs[0].Key)
	if err := checkpoint.Save(path, kept); err != nil {
		t.Fatal(err)
	}
	if err := db.SetHold(ctx, "queue", "by an operator", time.Now()); err != nil {
		t.Fatal(err)
	}
	running := jobStanding{Job: jobs[0].ID, Site: "sample", Series: "series-0", State: "downloading", Circuit: "closed", Fingerprint: kept.Fingerprint(), Published: 1, Chapter: "2", PagesDone: 3}
	want := nothing
	want.Holds, want.Jobs = []string{"queue"}, []jobStanding{running}
	if diff := cmp.Diff(want, told(), cmp.AllowUnexported(said{})); diff != "" {
		t.Errorf("with one under way (-want +got):\n%s", diff)
	}
	want.Jobs = append(want.Jobs, jobStanding{Job: jobs[1].ID, Site: "sample", Series: "series-1", State: "done", Circuit: "closed"})
	if diff := cmp.Diff(want, told(fmt.Sprint(jobs[1].ID)), cmp.AllowUnexported(said{})); diff != "" {
		t.Errorf("with one that has ended (-want +got):\n%s", diff)
	}
	kept.JobID = jobs[1].ID
	if err := checkpoint.Save(path, kept); err != nil {
		t.Fatal(err)
	}
	if got := told().Jobs[0]; got.Fingerprint != "" || got.Published != 0 {
		t.Errorf("another Job's checkpoint was believed: %+v", got)
	}

	for name, tt := range map[string]struct {
		change func(*config.Config)
		args   []string
		code   int
	}{
		"no number":         {func(*config.Config) {}, []string{"x"}, config.ExitSettings},
		"no database":       {func(c *config.Config) { c.DatabaseURLScraper = "postgres://nobody@127.0.0.1:1/none" }, nil, config.ExitDatabase},
		"before it started": {func(c *config.Config) { c.DatabaseURLFile = filepath.Join(cfg.DataDir, "none") }, nil, config.ExitDatabase},
	} {
		other := cfg
		tt.change(&other)
		var e *exit
		if err := progress(ctx, other, tt.args, &bytes.Buffer{}); !errors.As(err, &e) || e.code != tt.code {
			t.Errorf("%s: %v, want code %d", name, err, tt.code)
		}
	}
}
