package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/zap"
	"pgregory.net/rapid"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/circuit"
	"mangrove/scraper/internal/incident"
	"mangrove/scraper/internal/job"
	"mangrove/scraper/internal/lane"
	"mangrove/scraper/internal/source"
)

// failed is an incident of a Job; change makes it another.
func failed(reason string, change func(*incident.Incident)) incident.Incident {
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	in := incident.Incident{Kind: fault.Parser, About: incident.AboutJob, Key: key, JobID: 1, Reason: reason, At: at, LastAt: at, Seen: 1}
	if change != nil {
		change(&in)
	}
	return in
}

func (e env) record(t *testing.T, in incident.Incident) (int64, bool) {
	t.Helper()
	id, fresh, err := e.RecordIncident(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return id, fresh
}

func TestAnIncidentIsKeptWhole(t *testing.T) {
	s := setup(t)
	in := failed("no list", func(in *incident.Incident) {
		in.ChapterID, in.Subject, in.Checkpoint = "c1", "http://x/c1", []byte(`{"job_id":1}`)
		in.Decided = []incident.Decision{{At: in.At, What: "job", ID: "1", To: "quarantined", Reason: "parser"}}
		in.Evidence = []incident.Evidence{
			{At: in.At, Address: "http://x/c1", Status: 200, MediaType: "text/html", Headers: []source.Header{{Name: "server", Value: "x"}}, Size: 9, Body: []byte("<html>\x00\xff")},
			{At: in.At, Address: "http://x/c2", Status: 404, Size: 300 << 10, Cut: true, Removed: 2, Body: bytes.Repeat([]byte("x"), 256<<10)},
		}
	})
	id, fresh := s.record(t, in)
	got, err := s.Incident(t.Context(), id)
	if err != nil || !fresh {
		t.Fatal(fresh, err)
	}
	in.ID = id
	if d := cmp.Diff(in, got.Incident, cmpopts.EquateApproxTime(0), cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	if got.Title != "Pepper&Carrot" {
		t.Errorf("its Series is called %q", got.Title)
	}
	list, err := s.Incidents(t.Context(), false, 0, 10)
	if err != nil || len(list) != 1 || list[0].Evidence != nil || list[0].Checkpoint != nil {
		t.Errorf("the list has %+v, %v", list, err)
	}
	if _, err := s.Incident(t.Context(), id+1); !fault.Is(err, fault.NotFound) {
		t.Errorf("one that is not there: %v", err)
	}
	if err := s.DecideIncident(t.Context(), id, []incident.Decision{{What: "circuit", ID: "sample", To: "paused", Reason: "systemic"}}); err != nil {
		t.Fatal(err)
	}
	for range 2 * incident.MaxDecisions {
		if err := s.DecideIncident(t.Context(), id, []incident.Decision{{What: "job", ID: "2", To: "queued"}}); err != nil {
			t.Fatal(err)
		}
	}
	got, err = s.Incident(t.Context(), id)
	if err != nil || len(got.Decided) != incident.MaxDecisions || got.Decided[1].String() != "circuit sample to paused (systemic)" {
		t.Errorf("%d decisions, %v, %v", len(got.Decided), got.Decided[:2], err)
	}
}

func TestTheSameAgainIsCounted(t *testing.T) {
	s := setup(t)
	later := func(d time.Duration, change func(*incident.Incident)) func(*incident.Incident) {
		return func(in *incident.Incident) {
			in.At = in.At.Add(d)
			in.LastAt = in.At
			if change != nil {
				change(in)
			}
		}
	}
	about := func(a incident.About, kind fault.Class, reason string) func(*incident.Incident) {
		return func(in *incident.Incident) { in.About, in.Kind, in.JobID, in.Reason = a, kind, 0, reason }
	}
	first, _ := s.record(t, failed("a", nil))
	for i, tt := range []struct {
		name   string
		change func(*incident.Incident)
		fresh  bool
	}{
		{"within the hour", later(59*time.Minute, nil), false},
		{"within an hour of the last", later(118*time.Minute, nil), false},
		{"another reason", later(0, func(in *incident.Incident) { in.Reason = "b" }), true},
		{"another Job", later(0, func(in *incident.Incident) { in.JobID = 2 }), true},
		{"another chapter", later(0, func(in *incident.Incident) { in.ChapterID = "c" }), true},
		{"another kind", later(0, func(in *incident.Incident) { in.Kind = fault.Unknown }), true},
		{"after more than an hour", later(4*time.Hour, nil), true},
		{"a Series", about(incident.AboutSeries, fault.Parser, "a"), true},
		{"a Series, days later, in other words", later(96*time.Hour, about(incident.AboutSeries, fault.Parser, "b")), false},
		{"an outage", about(incident.AboutCircuit, fault.Network, "a"), true},
		{"the same outage at another Series", later(96*time.Hour, func(in *incident.Incident) {
			about(incident.AboutCircuit, fault.Network, "c")(in)
			in.Key.SeriesID = "other"
		}), false},
		{"another Site's outage", func(in *incident.Incident) {
			about(incident.AboutCircuit, fault.Network, "a")(in)
			in.Key.Site = "other"
		}, true},
		{"a Hold", about(incident.AboutHold, fault.Storage, "a"), true},
		{"the same Hold from another Site", func(in *incident.Incident) {
			about(incident.AboutHold, fault.Storage, "b")(in)
			in.Key.Site = "other"
		}, false},
	} {
		if _, fresh := s.record(t, failed("a", tt.change)); fresh != tt.fresh {
			t.Errorf("%d %s: fresh %v, want %v", i, tt.name, fresh, tt.fresh)
		}
	}
	got, err := s.Incident(t.Context(), first)
	if err != nil || got.Seen != 3 || got.LastAt.Sub(got.At) != 118*time.Minute {
		t.Errorf("seen %d, %s after the first (%v)", got.Seen, got.LastAt.Sub(got.At), err)
	}
	// Resolved, the same is another.
	if was, err := s.ResolveIncident(t.Context(), first, time.Now()); !was || err != nil {
		t.Fatal(was, err)
	}
	if was, err := s.ResolveIncident(t.Context(), first, time.Now()); was || err != nil {
		t.Errorf("resolved twice: %v, %v", was, err)
	}
	if _, fresh := s.record(t, failed("a", later(118*time.Minute, func(in *incident.Incident) { in.ChapterID = "none yet" }))); !fresh {
		t.Error("a resolved incident was counted on")
	}
}

func TestWhatEndsResolves(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	now := time.Now()
	other := source.Key{Site: key.Site, SeriesID: "other"}
	all := map[string]int64{}
	for name, change := range map[string]func(*incident.Incident){
		"series":  func(in *incident.Incident) { in.About, in.JobID = incident.AboutSeries, 0 },
		"job":     nil,
		"chapter": func(in *incident.Incident) { in.About, in.Kind, in.ChapterID = incident.AboutChapter, fault.Page, "c1" },
		"circuit": func(in *incident.Incident) { in.About, in.Kind = incident.AboutCircuit, fault.Access },
		"hold":    func(in *incident.Incident) { in.About, in.Kind = incident.AboutHold, fault.Storage },
		"foreign": func(in *incident.Incident) { in.Key, in.JobID = other, 9 },
	} {
		all[name], _ = s.record(t, failed(name, change))
	}
	for _, tt := range []struct {
		name string
		end  func() error
		want string
	}{
		{"a good read of another", func() error {
			return s.RecordUnchanged(ctx, []lane.Unchanged{{Key: other, At: now, Next: now, Why: lane.ByInterval}})
		}, ""},
		{"a good read", func() error {
			_, err := s.RecordGood(ctx, lane.Due{Key: key}, reading("1"), now, now, lane.ByInterval)
			return err
		}, "series:good_read"},
		{"another chapter", func() error {
			_, err := s.EndIncidents(ctx, incident.End{About: []incident.About{incident.AboutChapter}, Key: key, ChapterID: "c2", Resolution: incident.GoodRead}, now)
			return err
		}, "series:good_read"},
		{"a Retry", func() error {
			_, err := s.EndIncidents(ctx, incident.Ended(incident.Retried, key), now)
			return err
		}, "chapter:retried job:retried series:good_read"},
		{"a Resume", func() error {
			_, err := s.EndIncidents(ctx, incident.Ended(incident.Resumed, key), now)
			return err
		}, "chapter:retried circuit:resumed job:retried series:good_read"},
		{"a release", func() error {
			_, err := s.EndIncidents(ctx, incident.Ended(incident.Released, source.Key{}), now)
			return err
		}, "chapter:retried circuit:resumed hold:released job:retried series:good_read"},
	} {
		if err := tt.end(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for name, id := range all {
			in, err := s.Incident(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			if in.Resolution != incident.Unresolved {
				got = append(got, name+":"+string(in.Resolution))
			}
		}
		slices.Sort(got)
		if d := cmp.Diff(tt.want, strings.Join(got, " ")); d != "" {
			t.Errorf("after %s: %s", tt.name, d)
		}
	}
	again, fresh := s.record(t, failed("series", func(in *incident.Incident) { in.About, in.JobID = incident.AboutSeries, 0 }))
	open, err := s.OpenIncidents(ctx)
	if d := cmp.Diff(map[source.Key]int64{key: again}, open); d != "" || err != nil || !fresh {
		t.Error(d, err, fresh)
	}
	if err := s.RecordUnchanged(ctx, []lane.Unchanged{{Key: key, At: now, Next: now, Why: lane.ByInterval}}); err != nil {
		t.Fatal(err)
	}
	if open, err := s.OpenIncidents(ctx); err != nil || len(open) != 0 {
		t.Errorf("an unchanged page was read and %v stand, %v", open, err)
	}
}

// The newest are kept, and none that waits goes before one that does not.
func TestEvictionModel(t *testing.T) {
	checks(t, "40")
	s := setup(t)
	admin := s.admin(t)
	ctx := t.Context()
	rapid.Check(t, func(rt *rapid.T) {
		if _, err := admin.Exec(ctx, "TRUNCATE scraper.incidents CASCADE"); err != nil {
			rt.Fatal(err)
		}
		type known struct {
			id       int64
			resolved bool
		}
		var model []known
		kept := rapid.IntRange(1, 6).Draw(rt, "kept")
		for i := range rapid.IntRange(1, 25).Draw(rt, "steps") {
			if len(model) > 0 && rapid.IntRange(0, 2).Draw(rt, "step") == 0 {
				j := rapid.IntRange(0, len(model)-1).Draw(rt, "which")
				if was, err := s.ResolveIncident(ctx, model[j].id, time.Now()); err != nil || was == model[j].resolved {
					rt.Fatal(was, err)
				}
				model[j].resolved = true
			} else {
				in := failed(fmt.Sprint(i), func(in *incident.Incident) { in.Evidence = []incident.Evidence{{At: in.At, Body: []byte("x")}} })
				id, fresh, err := s.recordIncident(ctx, in, kept)
				if err != nil || !fresh {
					rt.Fatal(fresh, err)
				}
				if len(model) == kept {
					victim := slices.IndexFunc(model, func(k known) bool { return k.resolved })
					model = slices.Delete(model, max(victim, 0), max(victim, 0)+1)
				}
				model = append(model, known{id, false})
			}
			rows, err := s.Incidents(ctx, false, 0, incident.Kept)
			if err != nil {
				rt.Fatal(err)
			}
			var want, got []string
			for _, k := range model {
				want = append(want, fmt.Sprint(k.id, k.resolved))
			}
			for _, r := range slices.Backward(rows) {
				got = append(got, fmt.Sprint(r.ID, r.Resolution != ""))
			}
			if d := cmp.Diff(want, got); d != "" {
				rt.Fatalf("(-want +got)\n%s", d)
			}
		}
		var evidence int
		if err := admin.QueryRow(ctx, "SELECT count(*) FROM scraper.incident_evidence").Scan(&evidence); err != nil || evidence != len(model) {
			rt.Fatalf("%d answers of %d incidents (%v)", evidence, len(model), err)
		}
	})
}

// TestTwoHundredAreKept shows features H4, F139.
func TestTwoHundredAreKept(t *testing.T) {
	s := setup(t)
	for i := range incident.Kept - 1 {
		s.record(t, failed(fmt.Sprint(i), nil))
	}
	// From now on whoever adds makes room for one, and nobody ever sees more.
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 20 {
				if _, _, err := s.RecordIncident(context.Background(), failed(fmt.Sprint(worker, "-", i), nil)); err != nil {
					t.Error(err)
				}
				if n, _, err := s.CountIncidents(context.Background()); err != nil || n > incident.Kept {
					t.Errorf("%d are kept (%v)", n, err)
					return
				}
			}
		})
	}
	all.Wait()
	total, open, err := s.CountIncidents(t.Context())
	if err != nil || total != incident.Kept || open != incident.Kept {
		t.Errorf("%d are kept, %d wait, want %d (%v)", total, open, incident.Kept, err)
	}
}

// Every change of state that was committed is one line.
func TestChangesAreTold(t *testing.T) {
	s := setup(t)
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "events.log")
	log := incident.NewEventLog(path, zap.NewNop())
	told := s.Store.Tell(log)
	if _, err := told.RequestJob(ctx, key, true); err != nil {
		t.Fatal(err)
	}
	if asked, err := told.RequestJob(ctx, key, true); asked || err != nil {
		t.Fatal(asked, err)
	}
	j, _, err := told.LatestJob(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	held := j
	if j, err = told.Move(ctx, j, job.Change{To: job.Inspecting}); err != nil {
		t.Fatal(err)
	}
	if _, err := told.Move(ctx, held, job.Change{To: job.Inspecting}); !fault.Is(err, fault.Stale) {
		t.Fatal(err)
	}
	if j, err = told.Plan(ctx, j, nil, job.Change{To: job.Ready}); err != nil {
		t.Fatal(err)
	}
	for _, to := range []job.State{job.Queued, job.Downloading} {
		if j, err = told.Move(ctx, j, job.Change{To: to}); err != nil {
			t.Fatal(err)
		}
	}
	if err := told.SetAside(ctx, j, "c1", fault.Page, "page 3 of 5"); err != nil {
		t.Fatal(err)
	}
	if _, err = told.Move(ctx, j, job.Change{To: job.Quarantined, Class: fault.Parser, Reason: "at https://x/?token=abc\nmore"}); err != nil {
		t.Fatal(err)
	}
	c, err := told.Circuit(ctx, key.Site)
	if err != nil {
		t.Fatal(err)
	}
	paused, _ := c.Next(circuit.Refusal, time.Now(), "status 403", time.Time{})
	for range 2 {
		if _, err := told.MoveCircuit(ctx, c, paused); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := told.SetHold(ctx, "storage", "no space left", time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if _, err := told.ReleaseHold(ctx, "storage"); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(string(data)) {
		var e incident.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Time.IsZero() {
			t.Fatalf("%q: %v", line, err)
		}
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s>%s %s %s", e.Event, e.From, e.To, e.Class, e.Reason)))
	}
	want := []string{
		"job >requested", "job requested>inspecting", "job inspecting>ready", "job ready>queued", "job queued>downloading", "chapter >set_aside page page 3 of 5",
		"job downloading>quarantined parser at https://x/?token=[removed]", "circuit closed>paused access status 403", "hold >storage  no space left", "hold storage>",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
