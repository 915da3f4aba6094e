package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mangrove/internal/config"
	"mangrove/internal/fault"
	"mangrove/internal/pgtest"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/source"
	"mangrove/scraper/internal/store"
)

// newDesk is a database with a command's settings, and what an operator did in it.
func newDesk(t *testing.T) (*store.Store, config.Config, func() []incident.Event) {
	t.Helper()
	urls := pgtest.New(t)
	cfg := config.Config{DatabaseURLFile: filepath.Join(t.TempDir(), "scraper.url"), DataDir: t.TempDir()}
	if err := os.WriteFile(cfg.DatabaseURLFile, []byte(urls.Scraper), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(cfg.DataDir, "scraper"), 0o700); err != nil {
		t.Fatal(err)
	}
	told := func() (out []incident.Event) {
		data, err := os.ReadFile(incident.EventLogPath(cfg.DataDir))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			var e incident.Event
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			out = append(out, e)
		}
		return out
	}
	return store.New(pgtest.Pool(t, urls.Scraper, store.Schema, nil)), cfg, told
}

// TestIncidentCommands shows features H11 and H12.
func TestIncidentCommands(t *testing.T) {
	t.Parallel()
	db, cfg, _ := newDesk(t)
	ctx := t.Context()
	if said, err := listIncidents(ctx, db); err != nil || said != "there are no incidents" {
		t.Errorf("%q, %v", said, err)
	}
	at := time.Now()
	id, _, err := db.RecordIncident(ctx, incident.Incident{
		Kind: fault.Parser, About: incident.AboutJob, Key: source.Key{Site: "comic", SeriesID: "s"}, JobID: 4, ChapterID: "c", Subject: "http://x/c", Reason: "no \x1b[2J list",
		At: at, LastAt: at, Decided: []incident.Decision{{At: at, What: "job", ID: "4", To: "quarantined", Reason: "parser"}}, Checkpoint: []byte(`{"job_id":4}`),
		Evidence: []incident.Evidence{{At: at, Address: "http://x/c", Status: 200, MediaType: "text/html", Size: 20, Body: []byte("<html>\n\x1b[31mred\xff"), Headers: []source.Header{{Name: "etag", Value: "e"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	said, err := listIncidents(ctx, db)
	if err != nil || !strings.Contains(said, "parser   job     waits     comic/s chapter c, Job 4: no  [2J list") {
		t.Errorf("%q, %v", said, err)
	}
	said, err = showIncident(ctx, db, id)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"about a job", "job 4 to quarantined (parser)", "Checkpoint: {\"job_id\":4}", "Answer 1: http://x/c 200 text/html, 20 bytes", "etag: e", "<html>\n [31mred\uFFFD", "mangrove incident save 1"} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s", want, said)
		}
	}
	if strings.Contains(said, "\x1b") {
		t.Error("what commands a terminal is printed")
	}
	file := filepath.Join(t.TempDir(), "x.zip")
	if err := operate(ctx, cfg, []string{"incident", "save", "1", file}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if r, bodies, err := incident.Open(data); err != nil || r.ID != id || len(bodies) != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"save", "1", file}, "is there already"}, {[]string{"save", "9", file + "2"}, "no incident 9"}, {[]string{"show", "9"}, "incident list"},
		{[]string{"save", "1", filepath.Join(file, "x.zip")}, "cannot be written"}, {[]string{"save", "1"}, "usage"}, {[]string{"show", "x"}, "usage"},
		{[]string{"show", "-1"}, "usage"}, {[]string{"list", "1"}, "usage"}, {[]string{"burn", "1"}, "usage"},
	} {
		if err := operate(ctx, cfg, append([]string{"incident"}, tt.args...)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.args, err, tt.want)
		}
	}
}

// An operator's act ends what waited for it, and is a line in events.log.
func TestActsResolve(t *testing.T) {
	t.Parallel()
	db, cfg, told := newDesk(t)
	ctx := t.Context()
	key := source.Key{Site: "sample", SeriesID: "s"}
	if err := db.EnsureListed(ctx, key.Site, source.Series{ID: "s", Title: "S", URL: "http://x"}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.RequestJob(ctx, key, true); err != nil {
		t.Fatal(err)
	}
	if err := db.SetHold(ctx, "storage", "full", time.Now()); err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	for _, about := range []incident.About{incident.AboutHold, incident.AboutJob} {
		if _, _, err := db.RecordIncident(ctx, incident.Incident{Kind: fault.Storage, About: about, Key: key, At: at, LastAt: at}); err != nil {
			t.Fatal(err)
		}
	}
	if err := operate(ctx, cfg, []string{"release", "storage"}); err != nil {
		t.Fatal(err)
	}
	rows, err := db.Incidents(ctx, false, 0, 2)
	if err != nil || rows[1].Resolution != incident.Released || rows[0].Resolution != incident.Unresolved {
		t.Errorf("%+v, %v", rows, err)
	}
	var got []string
	for _, e := range told() {
		got = append(got, e.Event+" "+e.From+">"+e.To)
	}
	if want := "hold storage>, operator >release storage"; strings.Join(got, ", ") != want {
		t.Errorf("told %q, want %q", got, want)
	}
}
