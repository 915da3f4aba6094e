package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/scraperclient"
)

// order is a Job as the scraper would answer it.
func order(id int64, state, title string, change func(*scraperv1.QueueJob)) *scraperv1.GetJobResponse {
	j := &scraperv1.QueueJob{
		Job:   &scraperv1.Job{Id: id, State: state, ChaptersTotal: 4, ChangedAt: timestamppb.New(time.Now().Add(-time.Hour))},
		Key:   &scraperv1.SeriesKey{Site: "alpha", SeriesId: fmt.Sprint("s", id)},
		Title: title, SiteName: "Alpha", Priority: "normal", RequestedAt: timestamppb.New(time.Now().Add(-2 * time.Hour)),
		Estimate: &scraperv1.Estimate{Chapters: 4, Pages: 88, Bytes: 61_400_000},
	}
	if change != nil {
		change(j)
	}
	return &scraperv1.GetJobResponse{Job: j}
}

// refused is the Lane of a Site that asked for quiet.
func refused(d *scraperv1.LaneDetail) {
	d.Lane.Circuit, d.Lane.CircuitReason, d.Lane.CircuitSince = "paused", "access", timestamppb.New(time.Now().Add(-time.Hour))
	d.RetryAfter, d.Jobs = timestamppb.New(time.Now().Add(time.Hour)), 3
}

// after follows the redirect of a form, as a browser without script does.
func (s *site) after(b *http.Client, path string, form url.Values) string {
	s.t.Helper()
	resp, body := s.post(b, path, form)
	if resp.StatusCode != http.StatusSeeOther {
		s.t.Fatalf("POST %s %v answers %d: %s", path, form, resp.StatusCode, body)
	}
	to, _, _ := strings.Cut(resp.Header.Get("Location"), "#")
	_, body = s.get(b, to)
	return body
}

// TestTheQueuePage shows features H2.
func TestTheQueuePage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	nine := 9.2
	s.scraper.SetLanes(time.Time{}, lane("alpha", 0, func(d *scraperv1.LaneDetail) { d.RequestsPerMinute, d.LeastPacingSeconds = &nine, 2 }), lane("beta", 0, refused))
	s.scraper.SetJobs(
		order(1, "ready", "Treehouse Tenants", nil), order(2, "ready", "Cloud Delivery", func(j *scraperv1.QueueJob) { j.Key.Site = "beta" }),
		order(3, "downloading", "House of Chaosah", func(j *scraperv1.QueueJob) {
			j.Job.ChaptersDone, j.Published = 1, 1
			j.Current = &scraperv1.Chapter{ChapterId: "x", Number: "31", PagesDone: 13, PagesTotal: 26}
		}),
		order(4, "retry_wait", "Dusk", func(j *scraperv1.QueueJob) {
			j.Job.RetryAt, j.Published = timestamppb.New(time.Now().Add(3*time.Minute+30*time.Second)), 2
		}),
		order(5, "quarantined", "Potion Shop", func(j *scraperv1.QueueJob) { j.Job.Class, j.Job.Reason = "parser", "read pages: <b>not understood</b>" }),
		order(6, "unavailable", "Ash", nil), order(7, "done", "Over", nil),
	)
	_, body := s.get(mo, "/settings/scraper")
	has(t, body, "Treehouse Tenants", "4 chapters, about 88 pages, 61 MB · Alpha", "Start all 2", "8 chapters, about 176 pages, 123 MB",
		"refused since", ": starts after that", "Chapter 31, page 14 of 26 · 2 of 4 · Alpha", `value="375" max="1000"`, "37 %", "Again in 3 min", "1 again in 3 min",
		"Connection lost, 2 chapters kept", "Read pages: &lt;b&gt;not understood&lt;/b&gt;", `href="/sites/alpha/s6/move"`, "Every 2 s at most · now 9 a minute",
		"It asked for quiet until", "3 downloads keep their place.", `action="/lanes/beta/probe"`, `<a href="/settings/scraper?show=ended">`, `value="03:00"`)
	hasNot(t, body, "Over", `action="/lanes/alpha/probe"`, "Show all")
	_, body = s.get(mo, "/settings/scraper?show=ended")
	has(t, body, "Over", "Show everything")
	hasNot(t, body, "Treehouse")
	for _, path := range []string{"?show=nothing", "?page=2", "?show=queue&page=0", "?show=queue&page=x", "?job=x", "?site=" + strings.Repeat("x", 600)} {
		if resp, _ := s.get(mo, "/settings/scraper"+path); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s answers %d", path, resp.StatusCode)
		}
	}
	if resp, _ := s.get(mo, "/settings/scraper?show=queue&page=7"); resp.Header.Get("Location") != "/settings/scraper?show=queue" {
		t.Errorf("a page that is no more leads to %q", resp.Header.Get("Location"))
	}
}

func TestActsOfTheQueueWithoutScript(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.scraper.SetLanes(time.Time{}, lane("alpha", 0, nil))
	s.scraper.SetJobs(order(1, "ready", "Tenants", nil), order(2, "downloading", "Chaosah", nil), order(3, "quarantined", "Potion", nil), order(4, "ready", "Cloud", nil))
	back := url.Values{"back": {"/settings/scraper?show=ready"}}
	with := func(kv ...string) url.Values {
		f := url.Values{"back": back["back"]}
		for i := 0; i < len(kv); i += 2 {
			f.Set(kv[i], kv[i+1])
		}
		return f
	}
	has(t, s.after(mo, "/jobs/1", with("act", "start")), "Tenants is queued.", "Show everything")
	has(t, s.after(mo, "/jobs/1", with("act", "start")), "Job 1, Tenants, is already queued. Nothing was changed.")
	has(t, s.after(mo, "/jobs/2", with("act", "pause")), "Chaosah is paused. What has arrived is kept.")
	has(t, s.after(mo, "/jobs/2", with("act", "resume")), "Chaosah goes on.")
	has(t, s.after(mo, "/jobs/2", with("priority", "high")), "Chaosah goes first on its Site")
	has(t, s.after(mo, "/jobs/3", with("act", "retry")), "Potion is looked at again.")
	has(t, s.after(mo, "/jobs/2", with("act", "cancel", "back", "/jobs/2")), "Chaosah is cancelled. What is in the library stays.", "one order to fetch")
	has(t, s.after(mo, "/settings/scraper/jobs", with("act", "start", "seen", fmt.Sprint(time.Now().UnixMilli()))), "1 download is queued.")
	has(t, s.after(mo, "/settings/scraper/jobs", with("act", "start", "seen", "1")), "There was nothing left to start.")
	if d := cmp.Diff([]string{"start", "pause", "resume", "high", "retry", "cancel", "start all", "start all"}, s.scraper.Acts()); d != "" {
		t.Errorf("the scraper was asked (-want +got)\n%s", d)
	}
	for _, tt := range []struct {
		path string
		form url.Values
		want int
	}{
		{"/jobs/1", with("act", "explode"), 400}, {"/jobs/1", with("priority", "now"), 400}, {"/jobs/0", with("act", "pause"), 404}, {"/jobs/99", with("act", "pause"), 404},
		{"/settings/scraper/jobs", with("act", "cancel", "seen", "1"), 400}, {"/settings/scraper/jobs", with("act", "start"), 400},
		{"/settings/scraper/hold", with("release", "all"), 400}, {"/settings/scraper/discovery", with("on", "1", "at", "25:00"), 400},
		{"/lanes/alpha/pace", with("pace", "NaN"), 400}, {"/lanes/alpha/pace", with("pace", "-1"), 400}, {"/lanes/nosuch/pace", with("pace", "5"), 404},
	} {
		if resp, _ := s.post(mo, tt.path, tt.form); resp.StatusCode != tt.want {
			t.Errorf("POST %s %v answers %d, want %d", tt.path, tt.form, resp.StatusCode, tt.want)
		}
	}
	for _, evil := range []string{"https://evil.example/", "//evil.example", "/worklist", "/settings/scraper?show=x"} {
		resp, _ := s.post(mo, "/jobs/1", with("act", "pause", "back", evil))
		if to := resp.Header.Get("Location"); !strings.HasPrefix(to, "/settings/scraper?") {
			t.Errorf("back to %q leads to %q", evil, to)
		}
	}
}

func TestSitesOfTheQueue(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.scraper.SetLanes(time.Time{}, lane("alpha", 0, refused), lane("beta", 0, func(d *scraperv1.LaneDetail) { d.LeastPacingSeconds = 2 }))
	s.scraper.SetProbe(&scraperv1.ProbeSiteResponse{Reason: "status 429"})
	back := url.Values{"back": {"/settings/scraper"}}
	sure := url.Values{"back": {"/settings/scraper"}, "confirmed": {"yes"}}
	body := s.after(mo, "/lanes/alpha/probe", back)
	has(t, body, "ALPHA asked for quiet until", "Try one read now?", `action="/lanes/alpha/probe"`, `name="confirmed" value="yes"`)
	has(t, s.after(mo, "/lanes/beta/pause", back), "Paused by an operator", "Nothing is sent to it until you resume.", `action="/lanes/beta/resume"`)
	has(t, s.after(mo, "/lanes/alpha/resume", back), "Resume now?", `action="/lanes/alpha/resume"`)
	has(t, s.after(mo, "/lanes/alpha/probe", sure), "Refused again: still paused.", "Refused since")
	s.scraper.SetProbe(&scraperv1.ProbeSiteResponse{Resumed: true})
	body = s.after(mo, "/lanes/alpha/probe", sure)
	has(t, body, "Read well: resumed.")
	hasNot(t, body, "Refused since")
	body = s.after(mo, "/lanes/beta/pace", url.Values{"back": {"/settings/scraper"}, "pace": {"10"}})
	has(t, body, "Saved. It holds from the next request on.", "Every 10 s at most", `<option value="10" selected>10 s</option>`, `<option value="0">2 s (own)</option>`)
	hasNot(t, body, `<option value="1"`)
	body = s.after(mo, "/settings/scraper/discovery", url.Values{"on": {"1"}, "at": {"02:30"}})
	has(t, body, `name="on" value="1" checked`, `value="02:30"`)
	hasNot(t, s.after(mo, "/settings/scraper/discovery", url.Values{"at": {"02:30"}}), `name="on" value="1" checked`)
	body = s.after(mo, "/settings/scraper/hold", back)
	has(t, body, "Downloads are on hold since", `name="release" value="queue"`)
	hasNot(t, body, "Pause all downloads")
	has(t, s.after(mo, "/settings/scraper/hold", url.Values{"release": {"queue"}}), "Pause all downloads")
	s.scraper.SetHolds(&scraperv1.Hold{Kind: "storage", Since: timestamppb.Now(), Detail: "write: no space left on device"})
	has(t, func() string { _, b := s.get(mo, "/settings/scraper"); return b }(), "No room to store", "Write: no space left on device. Nothing is downloaded since")
}

func TestTheQueueWithoutTheScraper(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.scraper.Stop()
	resp, body := s.get(mo, "/settings/scraper")
	if resp.StatusCode != http.StatusOK {
		t.Errorf("the page answers %d", resp.StatusCode)
	}
	has(t, body, "Scraper: unreachable since", `aria-disabled="true" aria-describedby="away"`)
	resp, body = s.get(mo, "/jobs/12")
	if resp.StatusCode != http.StatusOK {
		t.Errorf("a Job's page answers %d", resp.StatusCode)
	}
	has(t, body, "Scraper: unreachable since", "Job 12")
	if resp, _ := s.post(mo, "/jobs/12", url.Values{"act": {"pause"}}); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("an act answers %d", resp.StatusCode)
	}
}

func TestAJobsPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.scraper.SetLanes(time.Time{}, lane("alpha", 0, nil))
	j := order(12, "quarantined", "Potion Shop", func(j *scraperv1.QueueJob) {
		j.Job.Class, j.Job.Reason, j.Published, j.SetAside, j.Retries = "network", "get alpha.example: time-out", 1, 1, 1
	})
	j.Chapters = []*scraperv1.JobChapter{
		{Chapter: &scraperv1.Chapter{ChapterId: "a", Number: "1"}, State: "published", Pages: 22},
		{Chapter: &scraperv1.Chapter{ChapterId: "b", Number: "2"}, State: "set_aside", Class: "page", Reason: "page 14 is no whole image"},
		{Chapter: &scraperv1.Chapter{ChapterId: "c", Title: "Interlude"}, State: "waiting"},
	}
	s.scraper.SetJobs(j)
	_, body := s.get(mo, "/jobs/12")
	has(t, body, "<h1>Potion Shop</h1>", "Job 12: one order", "Set aside until you decide", "Get alpha.example: time-out. The connection failed again after its one retry.",
		`value="retry"`, `value="cancel"`, "In the library, 22 p.", "Page 14 is no whole image", "Interlude", "1 in the library, 1 set aside, 1 to come", `href="/sites/alpha/s12"`, "Retried by itself")
	if strings.Index(body, "Chapter 2") > strings.Index(body, "Chapter 1") {
		t.Error("what was set aside does not stand first")
	}
	hasNot(t, body, `value="pause"`, `name="priority"`)
	s.scraper.SetJobs(order(12, "cancelled", "Potion Shop", nil))
	has(t, s.after(mo, "/jobs/12", url.Values{"act": {"retry"}, "back": {"/jobs/12"}}), "Potion Shop is looked at again.", "Job 13: one order")
}

func TestEveryJobStateHasWordsAndWays(t *testing.T) {
	t.Parallel()
	a, err := loadAssets()
	if err != nil {
		t.Fatal(err)
	}
	sprite, now := string(a["icons.svg"].data), noon()
	for _, state := range []string{"requested", "inspecting", "ready", "queued", "downloading", "paused", "retry_wait", "unavailable", "quarantined", "done", "cancelled"} {
		j := scraperclient.QueueJob{Job: scraperclient.Job{ID: 1, State: state, ChaptersTotal: 3}, Priority: "normal"}
		v := english.jobViewOf(j, nil, nil, now)
		if len(v.Acts) == 0 || v.Row.State.Word == "" {
			t.Errorf("%s: %+v", state, v)
		}
		for _, act := range v.Acts {
			if !strings.Contains(sprite, `id="i-`+act.Icon+`"`) {
				t.Errorf("%s: no icon %q", state, act.Icon)
			}
		}
		for _, act := range jobActWords() {
			for _, changed := range []string{"yes", "no", "other"} {
				if said := english.saidOf(j, told{did: act, job: 1, changed: changed}); said == nil || said.Text == "" || !strings.Contains(sprite, `id="i-`+said.Icon+`"`) {
					t.Errorf("%s of a Job that is %s, changed %s: %+v", act, state, changed, said)
				}
			}
		}
	}
	for bytes, want := range map[int64]string{61_400_000: "61 MB", 1_340_000_000: "1.3 GB", 900_000: "900 kB", 5_000_000_000_000_000: "5,000 TB"} {
		if got := english.sizeWords(bytes); got != want {
			t.Errorf("%d bytes are %q, want %q", bytes, got, want)
		}
	}
	fast, slow, none := 41.4, 0.42, 0.0
	for _, tt := range []struct {
		rate *float64
		want string
	}{{nil, ""}, {&fast, "now 41 a minute"}, {&slow, "now 0.4 a minute"}, {&none, "nothing in the last 10 min"}} {
		if got := english.rate(tt.rate); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestCoverageStandsApartFromTheJob(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(func(st *scraperv1.SeriesState) {
		st.Job = &scraperv1.Job{Id: 12, State: "done", ChaptersTotal: 2, ChaptersDone: 2}
		st.Chapters[0].DownloadState, st.Chapters[0].SetAsideReason = "set_aside", "page 3 is no whole image"
	})
	mo := s.claim()
	s.publish("c1", "1", 2)
	_, body := s.get(mo, "/series/1")
	has(t, body, "The Site lists 2, the library has 1; 1 set aside.", "Done, 2 chapters", `href="/jobs/12"`)
}

func TestAChapterIsTakenWithoutItsPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.scraper.SetLanes(time.Time{}, lane("alpha", 0, nil))
	j := order(12, "done", "Potion Shop", nil)
	j.Chapters = []*scraperv1.JobChapter{
		{Chapter: &scraperv1.Chapter{ChapterId: "b", Number: "2"}, State: "set_aside", Class: "page", Reason: "page 14 is no whole image"},
		{Chapter: &scraperv1.Chapter{ChapterId: "c", Number: "3"}, State: "set_aside", Class: "conflict", Reason: "another file"},
	}
	s.scraper.SetJobs(j)
	_, body := s.get(mo, "/jobs/12")
	if n := strings.Count(body, "Take it without them"); n != 1 {
		t.Errorf("%d chapters may be taken, want the one whose pages are missing", n)
	}
	has(t, s.after(mo, "/jobs/12/accept", url.Values{"chapter": {"b"}, "back": {"/jobs/12"}}), "It is published without them, and marked so")
	if got := s.scraper.Accepted(); len(got) != 1 || got[0] != "12 b" {
		t.Errorf("taken: %v", got)
	}
	if resp, _ := s.post(mo, "/jobs/12/accept", url.Values{"chapter": {""}}); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("no chapter: %d", resp.StatusCode)
	}
}

func TestWhatTheDiscoveryDid(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.scraper.SetLanes(time.Time{}, lane("alpha", 0, nil))
	_, body := s.get(mo, "/settings/scraper")
	hasNot(t, body, "Last looked", "Passed over")
	series := &scraperv1.Series{Key: &scraperv1.SeriesKey{Site: "alpha", SeriesId: "s1"}, Title: "Potion Shop <b>"}
	s.scraper.SetLastDiscovery(&scraperv1.Discovery{
		StartedAt: timestamppb.Now(), EndReason: "complete", LookedAt: 14, Requested: 3, Skipped: 11,
		Skips: []*scraperv1.DiscoverySkip{{Series: series, Why: "quarantined", JobId: 12}},
	})
	_, body = s.get(mo, "/settings/scraper")
	has(t, body, "14 Series are lacking chapters, 3 downloads asked for.", "Potion Shop &lt;b&gt;", "its download was set aside and waits for you", `href="/jobs/12"`, "and 10 others")
	s.scraper.SetLastDiscovery(&scraperv1.Discovery{StartedAt: timestamppb.Now(), EndReason: "no_inventory"})
	_, body = s.get(mo, "/settings/scraper")
	has(t, body, "in vain: what the library holds could not be seen")
	has(t, s.after(mo, "/settings/scraper/floor", url.Values{"floor": {"2048"}}), "Saved. It holds from the next chapter on.", `name="floor" value="2048"`)
	for _, mb := range []string{"", "-1", "x", "1.5", "99999999999999999999"} {
		if resp, _ := s.post(mo, "/settings/scraper/floor", url.Values{"floor": {mb}}); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%q MB: %d", mb, resp.StatusCode)
		}
	}
}

func TestPreferredGroups(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	s.series(func(st *scraperv1.SeriesState) {
		st.Chapters = []*scraperv1.Chapter{{ChapterId: "a", Number: "1", Groups: []string{"South"}}, {ChapterId: "b", Number: "1", Groups: []string{"North", "South"}}}
	})
	_, body := s.get(mo, "/sites/sample/s")
	has(t, body, "Preferred groups", "Seen here: North, South", `name="groups" value=""`)
	resp, _ := s.post(mo, "/sites/sample/s/groups", url.Values{"groups": {" South ,, North\n"}})
	if to := resp.Header.Get("Location"); to != "/sites/sample/s#groups" {
		t.Errorf("the form leads to %q", to)
	}
	_, body = s.get(mo, "/sites/sample/s")
	has(t, body, `name="groups" value="South, North"`, `id="groups" open`)
	if resp, _ := s.post(mo, "/sites/sample/s/groups", url.Values{"groups": {strings.Repeat("x,", 21)}}); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("21 groups: %d", resp.StatusCode)
	}
	if _, err := s.pool.Exec(t.Context(), "UPDATE users SET role = 'member'"); err != nil {
		t.Fatal(err)
	}
	_, body = s.get(mo, "/sites/sample/s")
	hasNot(t, body, "Preferred groups")
	if resp, _ := s.post(mo, "/sites/sample/s/groups", url.Values{"groups": {"x"}}); resp.StatusCode != http.StatusNotFound {
		t.Errorf("a member prefers: %d", resp.StatusCode)
	}
}
