package notify_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"mangrove/internal/fault"
	"mangrove/internal/pgtest"
	"mangrove/reader/internal/notify"
	"mangrove/reader/internal/scraperclient"
	"mangrove/reader/internal/store"
)

// hook is a webhook that keeps what it is sent.
type hook struct {
	*httptest.Server
	mu     sync.Mutex
	got    []string
	status int
}

func startHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{status: http.StatusOK}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		defer h.mu.Unlock()
		h.got = append(h.got, string(body))
		w.WriteHeader(h.status)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) address() string {
	return "generic+" + h.URL + "/hooks/s3cr3t-path?template=json&disabletls=yes&@X-Token=t0k3n-value"
}

func (h *hook) sent() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := h.got
	h.got = nil
	return out
}

func (h *hook) answer(status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.status = status
}

// scraper says what the test says.
type scraper struct {
	failing  []scraperclient.Failing
	lanes    []scraperclient.LaneDetail
	jobs     []scraperclient.QueueJob
	holds    []scraperclient.Hold
	chapters []scraperclient.NewChapter
	away     bool
	asked    int
}

func (s *scraper) answer() error {
	s.asked++
	if s.away {
		return fault.New(fault.Away, "ask", "the scraper", nil)
	}
	return nil
}

func (s *scraper) ListWorklist(_ context.Context, q scraperclient.WorklistQuery) (out scraperclient.Worklist, err error) {
	for _, f := range s.failing {
		if f.Failure.Since.Before(q.Before) {
			out.Items = append(out.Items, f)
		}
	}
	return out, s.answer()
}

func (s *scraper) ListSites(context.Context) ([]scraperclient.LaneDetail, error) {
	return s.lanes, s.answer()
}

func (s *scraper) ListJobs(context.Context, scraperclient.JobsQuery) (scraperclient.Jobs, error) {
	return scraperclient.Jobs{Jobs: s.jobs}, s.answer()
}

func (s *scraper) ListHolds(context.Context) ([]scraperclient.Hold, error) {
	return s.holds, s.answer()
}

func (s *scraper) ListNewChapters(context.Context, int) ([]scraperclient.NewChapter, error) {
	return s.chapters, s.answer()
}

type bench struct {
	*notify.Service
	scraper *scraper
	store   *store.Store
	file    string
	now     time.Time
}

func setup(t *testing.T) *bench {
	t.Helper()
	b := &bench{scraper: &scraper{}, store: store.New(pgtest.Pool(t, pgtest.New(t).Reader, "reader", nil)), file: filepath.Join(t.TempDir(), "reader", "parked.json"), now: time.Now()}
	b.Service = notify.New(b.store, b.scraper, b.file, zap.NewNop())
	return b
}

func (b *bench) add(t *testing.T, address string, kinds ...notify.Kind) int64 {
	t.Helper()
	id, err := b.Add(t.Context(), notify.Destination{Name: "phone", Address: address, Kinds: kinds, FailingDays: 3})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// after lets time go by and takes a turn.
func (b *bench) after(t *testing.T, d time.Duration) {
	t.Helper()
	b.now = b.now.Add(d)
	if err := b.Turn(t.Context(), b.now); err != nil {
		t.Fatal(err)
	}
}

func failing(id string, since time.Time) scraperclient.Failing {
	return scraperclient.Failing{
		Series:  scraperclient.Series{Key: scraperclient.Key{Site: "t", SeriesID: id}, Title: "Title " + id, SiteName: "Test"},
		Failure: scraperclient.Failure{Outcome: "not_found", Since: since},
	}
}

// TestNothingIsAskedOrSentBeforeSomebodyIsNamed shows features G7.
func TestNothingIsAskedOrSentBeforeSomebodyIsNamed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.scraper.failing = []scraperclient.Failing{failing("a", b.now.AddDate(0, 0, -30))}
	b.after(t, 0)
	b.after(t, time.Hour)
	if b.scraper.asked != 0 {
		t.Errorf("the scraper was asked %d times", b.scraper.asked)
	}
	if _, err := os.Stat(b.file); err == nil {
		t.Error("there is a file of addresses")
	}
}

// What happens together is one message, what lasts is told once, and what ends and
// begins again is told again.
// It shows features G6.
func TestOneMessageForWhatHappensTogether(t *testing.T) {
	t.Parallel()
	h, b := startHook(t), setup(t)
	b.add(t, h.address(), notify.Kinds()...)
	old := b.now.AddDate(0, 0, -5)
	for i := range 30 {
		b.scraper.failing = append(b.scraper.failing, failing(fmt.Sprintf("s%02d", i), old))
	}
	b.scraper.failing = append(b.scraper.failing, failing("young", b.now.AddDate(0, 0, -1)))
	b.scraper.lanes = []scraperclient.LaneDetail{
		{Lane: scraperclient.Lane{Site: "r", SiteName: "Refuser", Circuit: "paused", CircuitReason: "access", CircuitSince: old, Trouble: "refused", TroubleSince: old}},
		{Lane: scraperclient.Lane{Site: "w", SiteName: "Well", Circuit: "closed"}, Canary: &scraperclient.Canary{State: "doubtful", FailingSince: old, Key: scraperclient.Key{SeriesID: "doubt"}}},
		{Lane: scraperclient.Lane{Site: "c", SiteName: "Changed", Circuit: "closed"}, Canary: &scraperclient.Canary{State: "failing", FailingSince: old, Key: scraperclient.Key{SeriesID: "long\x1brunner"}}},
	}
	b.scraper.jobs = []scraperclient.QueueJob{{Job: scraperclient.Job{ID: 7, Reason: "no list\nin the page\x1b[31m", ChangedAt: old}, Title: "Chaosah", SiteName: "Test"}}
	b.scraper.holds = []scraperclient.Hold{{Kind: "storage", Since: old, Detail: "no space left"}, {Kind: "queue", Since: old}}
	b.after(t, 0)
	if got := h.sent(); len(got) != 0 {
		t.Errorf("sent before it could gather: %q", got)
	}
	b.after(t, 3*time.Minute)
	got := h.sent()
	if len(got) != 1 {
		t.Fatalf("%d messages, want one", len(got))
	}
	for _, want := range []string{"34 things wait for you", "Downloads are on hold", "no space left", "A Site refuses", "Refuser refuses since", "A Site is no longer understood", "Changed: longrunner has not been understood since", "A download is set aside", "Chaosah (Test): no list in the page[31m",
		"30 Series fail", "Title s00 (Test): not found since", "and 22 more"} {
		if !strings.Contains(got[0], want) {
			t.Errorf("the message does not say %q:\n%s", want, got[0])
		}
	}
	for _, hidden := range []string{"young", "Well", "doubt", "\\u001b"} {
		if strings.Contains(got[0], hidden) {
			t.Errorf("the message says %q:\n%s", hidden, got[0])
		}
	}
	for range 5 {
		b.after(t, time.Hour)
	}
	if got := h.sent(); len(got) != 0 {
		t.Errorf("what lasts is told again: %q", got)
	}
	// It recovers and fails again: that is another failure.
	b.scraper.failing = []scraperclient.Failing{failing("s00", b.now.AddDate(0, 0, -4))}
	b.after(t, time.Hour)
	b.after(t, 3*time.Minute)
	if got := h.sent(); len(got) != 1 || !strings.Contains(got[0], "one thing waits for you") {
		t.Errorf("a new failure is told as %q", got)
	}
}

// New chapters wait longer for company, and only those count that were announced
// since somebody wants to hear of them.
func TestNewChapters(t *testing.T) {
	t.Parallel()
	h, b := startHook(t), setup(t)
	b.add(t, h.address(), notify.Chapters)
	chapter := func(n string, at time.Time) scraperclient.NewChapter {
		return scraperclient.NewChapter{Series: scraperclient.Series{Key: scraperclient.Key{Site: "t", SeriesID: "s"}, Title: "Pepper"}, Chapter: scraperclient.Chapter{ID: n, Number: n}, Announced: at}
	}
	b.scraper.chapters = []scraperclient.NewChapter{chapter("1", b.now.Add(-time.Hour)), chapter("2", b.now.Add(time.Minute))}
	b.after(t, 2*time.Minute)
	b.scraper.chapters = append(b.scraper.chapters, chapter("3", b.now))
	b.after(t, 10*time.Minute)
	if got := h.sent(); len(got) != 0 {
		t.Errorf("sent early: %q", got)
	}
	b.after(t, 6*time.Minute)
	got := h.sent()
	if len(got) != 1 || !strings.Contains(got[0], "2 new chapters") || strings.Contains(got[0], "chapter 1") || !strings.Contains(got[0], "Pepper: chapter 3") {
		t.Errorf("told as %q", got)
	}
}

// A message that is not taken is kept and tried again, later and later, and its
// reason holds nothing of the address.
func TestAMessageThatIsNotTaken(t *testing.T) {
	t.Parallel()
	h, b := startHook(t), setup(t)
	b.add(t, h.address(), notify.Storage)
	b.scraper.holds = []scraperclient.Hold{{Kind: "storage", Since: b.now, Detail: "read-only"}}
	h.answer(http.StatusTeapot)
	b.after(t, 0)
	var at []time.Duration
	began := b.now
	for range 240 {
		b.after(t, 3*time.Minute)
		for range h.sent() {
			at = append(at, b.now.Sub(began))
		}
	}
	if d := cmp.Diff([]time.Duration{3 * time.Minute, 9 * time.Minute, 24 * time.Minute, 84 * time.Minute, 444 * time.Minute}, at); d != "" {
		t.Errorf("tries (-want +got):\n%s", d)
	}
	to, err := b.Destinations(t.Context())
	if err != nil || len(to) != 1 || to[0].Failure == "" || to[0].Tries != 5 {
		t.Fatalf("%+v, %v", to, err)
	}
	if regexp.MustCompile(`s3cr3t|t0k3n|/hooks`).MatchString(to[0].Failure) {
		t.Errorf("the reason tells a secret: %s", to[0].Failure)
	}
	h.answer(http.StatusOK)
	b.after(t, 7*time.Hour)
	if got := h.sent(); len(got) != 1 || !strings.Contains(got[0], "read-only") {
		t.Errorf("told as %q", got)
	}
	if to, _ := b.Destinations(t.Context()); to[0].Failure != "" || to[0].SentAt.IsZero() {
		t.Errorf("after it went: %+v", to[0])
	}
	b.scraper.away = true
	if err := b.Turn(t.Context(), b.now); !fault.Is(err, fault.Away) {
		t.Errorf("without the scraper: %v", err)
	}
}

// Several readers over one database tell once.
func TestTwoReadersTellOnce(t *testing.T) {
	t.Parallel()
	h, b := startHook(t), setup(t)
	b.add(t, h.address(), notify.Storage)
	b.scraper.holds = []scraperclient.Hold{{Kind: "storage", Since: b.now}}
	b.after(t, 0)
	now := b.now.Add(5 * time.Minute)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			other := notify.New(b.store, &scraper{holds: b.scraper.holds}, filepath.Join(t.TempDir(), "f"), zap.NewNop())
			if err := other.Turn(t.Context(), now); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if got := h.sent(); len(got) != 1 {
		t.Errorf("%d messages, want one", len(got))
	}
}

func TestWhatIsNoDestination(t *testing.T) {
	t.Parallel()
	b := setup(t)
	well := notify.Destination{Name: "x", Address: "ntfy://ntfy.example/topic", Kinds: []notify.Kind{notify.Failing}, FailingDays: 3}
	for name, change := range map[string]func(*notify.Destination){
		"no name": func(d *notify.Destination) { d.Name = " \n" }, "no kind": func(d *notify.Destination) { d.Kinds = nil }, "a strange kind": func(d *notify.Destination) { d.Kinds = []notify.Kind{"moon"} },
		"no days": func(d *notify.Destination) { d.FailingDays = -1 }, "no address": func(d *notify.Destination) { d.Address = "" }, "no service": func(d *notify.Destination) { d.Address = "gopher://hunter2@x/y" },
		"half an address": func(d *notify.Destination) { d.Address = "telegram://hunter2@telegram" }, "a log": func(d *notify.Destination) { d.Address = "logger://" }, "a long one": func(d *notify.Destination) { d.Address = "ntfy://x/" + strings.Repeat("y", 3000) },
	} {
		d := well
		change(&d)
		_, err := b.Add(t.Context(), d)
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the reason tells a secret: %v", name, err)
		}
	}
	if _, err := b.Add(t.Context(), well); err != nil {
		t.Error(err)
	}
	if err := b.Remove(t.Context(), 4711); !fault.Is(err, fault.NotFound) {
		t.Errorf("removing none: %v", err)
	}
}

func TestAnAddressIsShownWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"ntfy://user:hunter2@ntfy.example/topic":     "ntfy at ntfy.example",
		"gotify://gotify.example:8443/Aaa.bbb":       "gotify at gotify.example:8443",
		"generic+https://hooks.example/T0K3N?x=y":    "generic at hooks.example",
		"telegram://110201543:AAHdqTcvCH1@telegram?": "telegram",
		"discord://t0k3nt0k3n@8888":                  "discord",
		"pushover://shoutrrr:apiToken@userKey/":      "pushover",
		"slack://xoxbsecret-a-b":                     "slack",
		"smtp://u:p@mail.example:587/?to=a@b.c":      "smtp at mail.example:587",
		"nonsense":                                   "",
	} {
		got, host := (notify.Destination{Address: address}).Service()
		if host != "" {
			got += " at " + host
		}
		if got != want {
			t.Errorf("%s is shown as %q, want %q", address, got, want)
		}
	}
}

// The supervisor's last word needs neither database nor scraper.
func TestTellingOfAParkedService(t *testing.T) {
	t.Parallel()
	h, b := startHook(t), setup(t)
	if err := notify.TellParked(t.Context(), b.file, "scraper", "x"); err != nil {
		t.Errorf("nobody wants to know: %v", err)
	}
	b.add(t, h.address(), notify.Chapters)
	wanted := b.add(t, h.address(), notify.Parked)
	if info, err := os.Stat(b.file); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the file is %v, %v", info, err)
	}
	if err := notify.TellParked(t.Context(), b.file, "scraper", "panic: nil\nmap"); err != nil {
		t.Fatal(err)
	}
	if got := h.sent(); len(got) != 1 || !strings.Contains(got[0], "Repair required") || !strings.Contains(got[0], "scraper: panic: nil map") || !strings.Contains(got[0], "mangrove status") {
		t.Errorf("told as %q", got)
	}
	h.answer(http.StatusInternalServerError)
	if err := notify.TellParked(t.Context(), b.file, "scraper", "x"); err == nil || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("a message that is not taken: %v", err)
	}
	if err := b.Remove(t.Context(), wanted); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.file); err == nil {
		t.Error("the file is left behind")
	}
	if err := os.WriteFile(b.file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := notify.TellParked(t.Context(), b.file, "scraper", "x"); err == nil {
		t.Error("a torn file is no error")
	}
}

func TestTheDatabaseRepeatsTheKinds(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.New(t).Admin, "reader", nil)
	for _, check := range []string{"notify_destinations_kinds_check", "notifications_kind_check"} {
		var def string
		if err := pool.QueryRow(t.Context(), "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = $1", check).Scan(&def); err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, m := range regexp.MustCompile(`'([^']*)'::text`).FindAllStringSubmatch(def, -1) {
			got = append(got, m[1])
		}
		for _, k := range notify.Kinds() {
			want = append(want, string(k))
		}
		slices.Sort(got)
		slices.Sort(want)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", check, d)
		}
	}
}
