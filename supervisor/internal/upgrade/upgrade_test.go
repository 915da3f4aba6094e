package upgrade

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	full = []Service{{Name: "postgres", State: "serving"}, {Name: "scraper", State: "serving"}, {Name: "reader", State: "serving"}}
	want = []string{"postgres", "scraper", "reader"}
)

func under(jobs ...Job) Record {
	return Record{Version: "2", Before: Side{Version: "1", Schema: 31, Jobs: jobs}, Fallback: Fallback{Version: "1", Schema: 31}}
}

// TestWhatIsJudged walks what may be seen of a new version: what ends an attempt, what
// is waited for, and what is said of it (features H14).
func TestWhatIsJudged(t *testing.T) {
	t.Parallel()
	running := Job{Job: 7, Site: "s", State: "downloading", Fingerprint: "a", PagesDone: 3}
	with := func(change func(*Job)) *Progress {
		j := running
		change(&j)
		return &Progress{Jobs: []Job{j}, Database: 31}
	}
	same := func(*Job) {}
	tests := []struct {
		name string
		r    Record
		seen Seen
		want Finding
	}{
		{"nobody answers", under(), Seen{}, Finding{Outcome: Failed, Reason: Silent}},
		{"the old one runs", under(), Seen{Answers: true, Version: "1"}, Finding{Final: true, Outcome: Failed, Reason: WrongVersion, About: "1"}},
		{"one is not there yet", under(), Seen{Answers: true, Version: "2", Want: want, Services: full[:2]}, Finding{Outcome: Failed, Reason: Services, About: "reader"}},
		{"one starts", under(), Seen{Answers: true, Version: "2", Want: want, Services: []Service{full[0], {Name: "scraper", State: "starting"}, full[2]}}, Finding{Outcome: Failed, Reason: Services, About: "scraper"}},
		{"one is parked", under(), Seen{Answers: true, Version: "2", Want: want, Services: []Service{full[0], {Name: "scraper", State: "repair-required", Rests: true}, full[2]}}, Finding{Final: true, Outcome: Failed, Reason: Services, About: "scraper"}},
		{"the Jobs cannot be read", under(), Seen{Answers: true, Version: "2", Want: want, Services: full, Unread: "away"}, Finding{Outcome: Failed, Reason: Unknown}},
		{"nothing was under way", under(), Seen{Answers: true, Version: "2", Want: want, Services: full, Progress: &Progress{}}, Finding{Final: true, Outcome: Idle}},
		{"it stands", under(running), Seen{Answers: true, Version: "2", Want: want, Services: full, Progress: with(same)}, Finding{Outcome: Failed, Reason: Unmoved, About: "Job 7"}},
		{"its checkpoint is not readable", under(running), Seen{Answers: true, Version: "2", Want: want, Services: full, Progress: with(func(j *Job) { j.Fingerprint = "" })}, Finding{Outcome: Failed, Reason: Unmoved, About: "Job 7"}},
		{"it went on", under(running), Seen{Answers: true, Version: "2", Want: want, Services: full, Progress: with(func(j *Job) { j.Fingerprint = "b" })}, Finding{Final: true, Outcome: Resumed}},
		{"it is gone", under(running), Seen{Answers: true, Version: "2", Want: want, Services: full, Progress: &Progress{}}, Finding{Final: true, Outcome: Failed, Reason: SetAside, About: "Job 7"}},
		{"it was set aside", under(running), Seen{Answers: true, Version: "2", Want: want, Services: full, Progress: with(func(j *Job) { j.State, j.Class = "quarantined", "parser" })}, Finding{Final: true, Outcome: Failed, Reason: SetAside, About: "Job 7"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.r.Judge(tt.seen)
			if got.Said == "" {
				t.Error("it says nothing")
			}
			got.Said, got.Jobs = "", nil
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhatBecameOfAJob in each state it may be in.
func TestWhatBecameOfAJob(t *testing.T) {
	t.Parallel()
	before := Job{Job: 7, Site: "s", State: "downloading", Fingerprint: "a"}
	looked := Job{Job: 7, Site: "s", State: "inspecting"}
	for name, tt := range map[string]struct {
		before Job
		now    Progress
		want   Verdict
	}{
		"the same":                    {before, Progress{Jobs: []Job{before}}, Stands},
		"another fingerprint":         {before, Progress{Jobs: []Job{{Job: 7, State: "downloading", Fingerprint: "b"}}}, Moved},
		"moved, and then held":        {before, Progress{Jobs: []Job{{Job: 7, State: "paused", Fingerprint: "b"}}}, Moved},
		"done":                        {before, Progress{Jobs: []Job{{Job: 7, State: "done"}}}, Ended},
		"cancelled":                   {before, Progress{Jobs: []Job{{Job: 7, State: "cancelled"}}}, Ended},
		"no longer on its Site":       {before, Progress{Jobs: []Job{{Job: 7, State: "unavailable"}}}, Ended},
		"paused":                      {before, Progress{Jobs: []Job{{Job: 7, State: "paused", Fingerprint: "a"}}}, Held},
		"rests":                       {before, Progress{Jobs: []Job{{Job: 7, State: "retry_wait", Fingerprint: "a"}}}, Held},
		"a Hold":                      {before, Progress{Holds: []string{"queue"}, Jobs: []Job{{Job: 7, State: "queued", Fingerprint: "a"}}}, Held},
		"its Site refuses":            {before, Progress{Jobs: []Job{{Job: 7, State: "queued", Circuit: "paused", Fingerprint: "a"}}}, Held},
		"its Site is away":            {before, Progress{Jobs: []Job{{Job: 7, State: "queued", Circuit: "open", Fingerprint: "a"}}}, Held},
		"quarantined by its Site":     {before, Progress{Jobs: []Job{{Job: 7, State: "quarantined", Class: "network"}}}, Held},
		"quarantined as poison":       {before, Progress{Jobs: []Job{{Job: 7, State: "quarantined", Class: "unknown"}}}, Aside},
		"queued, the Lane is free":    {before, Progress{Jobs: []Job{{Job: 7, Site: "s", State: "queued", Circuit: "closed", Fingerprint: "a"}}}, Stands},
		"behind another":              {before, Progress{Jobs: []Job{{Job: 7, Site: "s", State: "queued", Fingerprint: "a"}, {Job: 9, Site: "s", State: "downloading"}}}, Waits},
		"another Site's is no reason": {before, Progress{Jobs: []Job{{Job: 7, Site: "s", State: "queued", Fingerprint: "a"}, {Job: 9, Site: "x", State: "downloading"}}}, Stands},
		"still inspected":             {looked, Progress{Jobs: []Job{{Job: 7, State: "inspecting"}}}, Stands},
		"asked for again":             {looked, Progress{Jobs: []Job{{Job: 7, State: "requested"}}}, Stands},
		"inspected":                   {looked, Progress{Jobs: []Job{{Job: 7, State: "ready"}}}, Moved},
		"inspected and begun":         {looked, Progress{Jobs: []Job{{Job: 7, State: "downloading"}}}, Moved},
		"unknown":                     {before, Progress{}, Gone},
	} {
		if got := judgeJob(tt.before, tt.now).Verdict; got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	p := Progress{Jobs: []Job{before, looked, {Job: 1, State: "queued"}, {Job: 2, State: "queued", Fingerprint: "x"}, {Job: 3, State: "retry_wait", Fingerprint: "x"}}}
	if got := UnderWayOf(p); len(got) != 3 || got[2].Job != 2 {
		t.Errorf("under way: %+v", got)
	}
}

// TestAThirdAttemptLikeTheTwoBefore is refused unless a note says why it will be
// different; anything that differs needs none (features H15).
func TestAThirdAttemptLikeTheTwoBefore(t *testing.T) {
	t.Parallel()
	failed := func(n int, version string, reason Reason, about string) Record {
		return Record{Number: n, Version: version, Outcome: Failed, Reason: reason, About: about}
	}
	for name, tt := range map[string]struct {
		before  []Record
		note    string
		refused bool
	}{
		"the first":               {nil, "", false},
		"one before":              {[]Record{failed(1, "2", Services, "scraper")}, "", false},
		"two alike":               {[]Record{failed(1, "2", Services, "scraper"), failed(2, "2", Services, "scraper")}, "", true},
		"with a note":             {[]Record{failed(1, "2", Services, "scraper"), failed(2, "2", Services, "scraper")}, "more memory", false},
		"after one with a note":   {[]Record{failed(1, "2", Services, "scraper"), failed(2, "2", Services, "scraper"), failed(3, "2", Services, "scraper")}, "", true},
		"another service":         {[]Record{failed(1, "2", Services, "scraper"), failed(2, "2", Services, "reader")}, "", false},
		"another reason":          {[]Record{failed(1, "2", Services, "scraper"), failed(2, "2", NoBackup, "")}, "", false},
		"another version before":  {[]Record{failed(1, "1", Services, "scraper"), failed(2, "2", Services, "scraper")}, "", false},
		"another version now":     {[]Record{failed(1, "1", Services, "scraper"), failed(2, "1", Services, "scraper")}, "", false},
		"one between that worked": {[]Record{failed(1, "2", Services, "scraper"), {Number: 2, Version: "2", Outcome: Idle}, failed(3, "2", Services, "scraper")}, "", false},
		"one that nobody judged":  {[]Record{failed(1, "2", NotVerified, ""), {Number: 2, Version: "2", Outcome: UnderWay}}, "", true},
	} {
		r, ended, err := Begin(tt.before, Record{Version: "2", Note: tt.note}, noon)
		if errors.Is(err, ErrNote) != tt.refused || err != nil && !tt.refused {
			t.Errorf("%s: %v, want refused %v", name, err, tt.refused)
		}
		if err == nil && (r.Number != len(tt.before)+1 || r.Outcome != UnderWay || r.Note != tt.note) {
			t.Errorf("%s: %+v", name, r)
		}
		unjudged := len(tt.before) > 0 && tt.before[len(tt.before)-1].Outcome == UnderWay
		if unjudged != (ended != nil) || unjudged && (ended.Outcome != Failed || ended.Reason != NotVerified) {
			t.Errorf("%s: ended %+v", name, ended)
		}
	}
}

// TestTheWayBack names what the version before needs: its programs alone only where the
// schema is still theirs, and after a second failure still the version that worked.
func TestTheWayBack(t *testing.T) {
	t.Parallel()
	first := under()
	first.Kept = "/opt/m"
	first.Fallback.Backup = &File{Path: "/b/one.tar.gz"}
	for schema, want := range map[int64]Rollback{31: Programs, 32: Downgrade, 0: Unsure} {
		ended := first.End(Finding{Outcome: Failed, Reason: Services}, Side{Schema: schema}, noon)
		if ended.Rollback != want {
			t.Errorf("schema %d: %s, want %s", schema, ended.Rollback, want)
		}
		way := strings.Join(ended.WayBack(), "\n")
		if !strings.Contains(way, "mv -f /opt/m/mangrove-reader.before /opt/m/mangrove-reader") || strings.Contains(way, "--down-to 31") != (want == Downgrade) || strings.Contains(way, "/b/one.tar.gz") == (want == Programs) {
			t.Errorf("schema %d:\n%s", schema, way)
		}
	}
	failed := first.End(Finding{Outcome: Failed, Reason: Services}, Side{Schema: 32}, noon)
	failed.Number = 1
	second, _, err := Begin([]Record{failed}, Record{Version: "2", Before: Side{Version: "2", Schema: 32}}, noon)
	if err != nil || second.Fallback.Version != "1" || second.Fallback.Schema != 31 || second.Fallback.Backup == nil {
		t.Errorf("after a failure the way back is to %+v (%v)", second.Fallback, err)
	}
	if got := second.End(Finding{Outcome: Failed, Reason: Services}, Side{Schema: 32}, noon).Rollback; got != Downgrade {
		t.Errorf("the second failure: %s", got)
	}
	// Gone back meanwhile: the old ones run, and are what there is to go back to.
	third, _, err := Begin([]Record{failed}, Record{Version: "2", Before: Side{Version: "1", Schema: 31}}, noon)
	if err != nil || third.Fallback.Version != "1" || third.Fallback.Backup != nil {
		t.Errorf("gone back: %+v (%v)", third.Fallback, err)
	}
	if got := first.Abandon(NotStarted, "x", noon).Rollback; got != Unsure {
		t.Errorf("not started: %s", got)
	}
}

// TestARecordIsKept whole, and one that cannot be believed stops the next attempt
// instead of counting for none.
func TestARecordIsKept(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	r := under(Job{Job: 7, Site: "s", Series: "x", State: "downloading", Fingerprint: "a"})
	r.Number, r.Begun, r.Outcome, r.Programs, r.Format = 1, noon, UnderWay, []File{{Path: "/p", Size: 1, SHA256: "00"}}, format
	second := r
	second.Number, second.Outcome, second.Reason = 2, Failed, Services
	for _, x := range []Record{second, r} {
		if err := x.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Records(data)
	if diff := cmp.Diff([]Record{r, second}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if info, err := os.Stat(r.File(data)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	whole, err := os.ReadFile(r.File(data))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty": "", "null": "null", "torn": string(whole[:len(whole)/2]), "another format": strings.Replace(string(whole), `"format": 1`, `"format": 2`, 1),
		"a stranger's field": strings.Replace(string(whole), `"number"`, `"x": 1, "number"`, 1), "no outcome": strings.Replace(string(whole), `"under-way"`, `"fine"`, 1),
		"failed for no reason": strings.Replace(string(whole), `"under-way"`, `"failed"`, 1),
	} {
		if err := os.WriteFile(r.File(data), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Records(data); err == nil {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
}

// TestTheTemplateIsARecord: what docs/upgrading.md shows is read as one, and shows
// every field there is.
func TestTheTemplateIsARecord(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "upgrading.md"))
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(text)
	if shown == nil {
		t.Fatal("docs/upgrading.md shows no record")
	}
	r, err := Read(shown[1])
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != Resumed || r.Backup == nil || r.Fallback.Backup == nil || r.After == nil || len(r.Programs) != 3 || len(r.Before.Jobs) != 1 || r.After.Jobs[0].Verdict != Moved {
		t.Errorf("the template lacks something: %+v", r)
	}
	if got := r.back(*r.After); got != r.Rollback {
		t.Errorf("its rollback is %s, and would be %s", r.Rollback, got)
	}
	words := string(text)
	for _, o := range []Outcome{UnderWay, Resumed, Idle, Failed} {
		if !strings.Contains(words, "`"+string(o)+"`") {
			t.Errorf("docs/upgrading.md does not say what %s is", o)
		}
	}
	for _, reason := range append(Steps(), NotVerified, Silent, WrongVersion, Services, Unknown, Unmoved, SetAside) {
		if !strings.Contains(words, "`"+string(reason)+"`") {
			t.Errorf("docs/upgrading.md does not say what %s is", reason)
		}
	}
	for _, way := range []Rollback{Programs, Downgrade, Unsure} {
		if !strings.Contains(words, "`"+string(way)+"`") {
			t.Errorf("docs/upgrading.md does not say what %s is", way)
		}
	}
}
