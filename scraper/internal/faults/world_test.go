//go:build faults

package faults

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"google.golang.org/grpc"

	"mangrove/internal/grpcserver"
	"mangrove/internal/pgtest"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/job"
)

// patience bounds every wait.
const patience = 90 * time.Second

// program is the scraper as it is built with its points.
var program = sync.OnceValues(func() (string, error) { return build("mangrove-scraper-faults", "nodynamic faults") })

// build makes the scraper's program where every user may run it.
func build(name, tags string) (string, error) {
	dir, err := os.MkdirTemp("", "mangrove-faults")
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	note(func(s *score) { s.built = append(s.built, dir) })
	bin := filepath.Join(dir, name)
	if out, err := exec.Command("go", "build", "-tags", tags, "-o", bin, "mangrove/scraper/cmd/mangrove-scraper").CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return bin, nil
}

// world is one scraper with its own database, data folder, library and Site.
type world struct {
	t       *testing.T
	site    *stand
	data    string
	library string
	db      *pgxpool.Pool
	key     *scraperv1.SeriesKey
	conn    *grpc.ClientConn
	api     scraperv1.ScraperServiceClient
	queue   scraperv1.QueueServiceClient
	eye     *observer
	// uid is who the scraper runs as; 0 is whoever runs the test.
	uid uint32
	// umask is the scraper's, where a test sets one.
	umask string

	cmd    *exec.Cmd
	exited chan error
	// crashed is true once a run was killed: the supervisor tells the next one.
	crashed bool
	planted map[string]string
}

func newWorld(t *testing.T, chapters, pages int) *world {
	t.Helper()
	data, err := os.MkdirTemp("", "faults")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(data) })
	urls := pgtest.New(t)
	w := &world{
		t: t, site: newStand(t, chapters, pages), data: data, library: filepath.Join(data, "library"),
		db: pgtest.Pool(t, urls.Admin, "scraper", nil), key: &scraperv1.SeriesKey{Site: "sample", SeriesId: "pepper-and-carrot"},
	}
	if err := os.WriteFile(filepath.Join(data, "scraper.url"), []byte(urls.Scraper), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(w.library, 0o755); err != nil {
		t.Fatal(err)
	}
	if w.conn, err = grpcserver.DialUnix(filepath.Join(data, "run", "scraper.sock")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.conn.Close() })
	w.api, w.queue = scraperv1.NewScraperServiceClient(w.conn), scraperv1.NewQueueServiceClient(w.conn)
	t.Cleanup(w.stop)
	// Downloads may use the disk to its end: what others do on this machine is no fault of ours.
	if _, err := w.db.Exec(context.Background(), "INSERT INTO scraper.settings (key, value) VALUES ('free_space_floor', '0')"); err != nil {
		t.Fatal(err)
	}
	return w
}

// plant leaves stages of other releases in the library, which nobody may touch (F85).
func (w *world) plant() {
	w.planted = map[string]string{}
	for i := range 3 {
		name := filepath.Join(w.library, ".mangrove", "staging", fmt.Sprintf("%064x", i+1), "001.png")
		w.planted[name] = fmt.Sprint("old ", i)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(w.planted[name]), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

// command is the scraper's program with this world's settings.
func (w *world) command(fault string, args ...string) *exec.Cmd {
	w.t.Helper()
	bin, err := program()
	if err != nil {
		w.t.Fatal(err)
	}
	cmd := exec.Command(bin, args...)
	if w.umask != "" {
		cmd = exec.Command("/bin/sh", append([]string{"-c", "umask " + w.umask + `; exec "$0" "$@"`, bin}, args...)...)
	}
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "MANGROVE_DATA=" + w.data, "MANGROVE_LIBRARY=" + w.library, "MANGROVE_DATABASE_URL_FILE=" + filepath.Join(w.data, "scraper.url"),
		"MANGROVE_SAMPLE_URL=" + w.site.URL, "MANGROVE_ALLOW_ADDRESSES=127.0.0.1", "MANGROVE_LOG_LEVEL=error", "FAULT_POINT=" + fault,
	}
	if w.uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: w.uid, Gid: w.uid}}
	}
	return cmd
}

// start starts the scraper as the supervisor does, with one fault in it.
func (w *world) start(fault string) {
	w.t.Helper()
	var args []string
	if w.crashed {
		args = append(args, "after-crash")
	}
	w.cmd = w.command(fault, args...)
	w.cmd.Stderr = logged{w.t}
	if err := w.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	exited := make(chan error, 1)
	w.exited = exited
	cmd := w.cmd
	go func() { exited <- cmd.Wait() }()
	if w.eye == nil {
		w.eye = watch(w)
	}
}

// logged keeps what the scraper says for a test that fails.
type logged struct{ t *testing.T }

func (l logged) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if !strings.Contains(line, `"a Job's unit failed"`) {
			l.t.Log(strings.TrimSpace(line))
		}
	}
	return len(p), nil
}

// stop ends the scraper as an operator does.
func (w *world) stop() {
	if w.cmd != nil {
		_ = w.cmd.Process.Signal(syscall.SIGCONT)
		_ = w.cmd.Process.Signal(syscall.SIGTERM)
		_ = <-w.exited
		w.cmd, w.crashed = nil, false
	}
}

// killed waits until the fault has killed the scraper.
func (w *world) killed(fault string) {
	w.t.Helper()
	select {
	case err := <-w.exited:
		status, ok := w.cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !ok || status.Signal() != syscall.SIGKILL {
			w.t.Fatalf("%s: the scraper ended with %v, want it killed", fault, err)
		}
	case <-time.After(patience):
		w.t.Fatalf("%s was not reached; the Job is %+v", fault, w.jobs())
	}
	w.cmd, w.crashed = nil, true
	note(func(s *score) { s.kills++; s.hit[pointOf(fault)] = true })
}

// pointOf is the name in a fault.
func pointOf(fault string) string {
	name, _, _ := strings.Cut(fault, ":")
	name, _, _ = strings.Cut(name, "@")
	return name
}

// until asks until it is told yes, or the scraper has ended.
func (w *world) until(what string, ask func(ctx context.Context) bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(w.t.Context(), 2*time.Second)
		yes := ask(ctx)
		cancel()
		if yes {
			return
		}
	}
	w.t.Fatalf("not within %s: %s; Jobs %+v, Holds %v", patience, what, w.jobs(), w.holds())
}

// follow makes the Series followed, with its chapters downloaded.
func (w *world) follow() {
	w.t.Helper()
	w.until("the follow is taken", func(ctx context.Context) bool {
		_, err := w.api.ApplyFollows(ctx, &scraperv1.ApplyFollowsRequest{Revision: 1, Whole: true, Follows: []*scraperv1.Follow{{Key: w.key, Download: true}}})
		// The scraper may be killed for it before it can answer.
		return err == nil || len(w.jobs()) > 0
	})
}

// jobRow is one row of the queue.
type jobRow struct {
	ID                   int64
	State, Class, Reason string
}

func (w *world) jobs() (out []jobRow) {
	w.t.Helper()
	rows, err := w.db.Query(context.Background(), "SELECT id, state, class, reason FROM scraper.jobs ORDER BY id")
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var j jobRow
		if err := rows.Scan(&j.ID, &j.State, &j.Class, &j.Reason); err != nil {
			w.t.Fatal(err)
		}
		out = append(out, j)
	}
	return out
}

// holds maps the Holds to what they say.
func (w *world) holds() map[string]string {
	w.t.Helper()
	rows, err := w.db.Query(context.Background(), "SELECT kind, detail FROM scraper.holds")
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var kind, detail string
		if err := rows.Scan(&kind, &detail); err != nil {
			w.t.Fatal(err)
		}
		out[kind] = detail
	}
	return out
}

// rests waits until the newest Job is in a state.
func (w *world) rests(state job.State) jobRow {
	w.t.Helper()
	var last jobRow
	w.until("the newest Job is "+string(state), func(context.Context) bool {
		if all := w.jobs(); len(all) > 0 {
			last = all[len(all)-1]
		}
		return last.State == string(state)
	})
	return last
}

// held waits for the storage Hold and returns what it says.
func (w *world) held() string {
	w.t.Helper()
	said := ""
	w.until("there is a storage Hold", func(context.Context) bool {
		var there bool
		said, there = w.holds()["storage"]
		return there
	})
	return said
}

// release ends the storage Hold, as an operator does.
func (w *world) release() {
	w.t.Helper()
	w.until("the Hold is released", func(ctx context.Context) bool {
		_, err := w.queue.ReleaseHold(ctx, &scraperv1.ReleaseHoldRequest{Kind: "storage"})
		return err == nil
	})
}

// walk kills the scraper with one fault after the other.
func (w *world) walk(faults ...string) {
	w.t.Helper()
	for i, fault := range faults {
		w.start(fault)
		if i == 0 {
			w.follow()
		}
		w.killed(fault)
		w.eye.look()
	}
}

// done waits for the end of the Job, stops the scraper and looks at everything.
func (w *world) done(again int) {
	w.t.Helper()
	w.rests(job.Done)
	w.settled(again)
}

// settled stops the scraper and looks at everything once more: nothing is under
// way without an owner, and files, rows and chapters are the same (INV2, INV3).
func (w *world) settled(again int) {
	w.t.Helper()
	w.stop()
	w.eye.close()
	t := w.t
	outstanding := 0
	for _, j := range w.jobs() {
		if j.State == string(job.Downloading) || j.State == string(job.Inspecting) {
			t.Errorf("Job %d is %s and nobody works it", j.ID, j.State)
		}
		if job.State(j.State).Outstanding() {
			outstanding++
		}
	}
	if outstanding > 1 {
		t.Errorf("%d Jobs of one Series are outstanding", outstanding)
	}
	for _, line := range w.eye.said() {
		t.Error(line)
	}
	whole, rows := w.eye.look()
	if d := len(w.site.digests) - len(w.gone()); whole != d || rows != d {
		t.Errorf("%d chapters, %d rows and %d files", d, rows, whole)
		note(func(s *score) { s.lost += max(d-whole, 0) })
	}
	wrong, nearest := w.site.manners()
	for _, line := range wrong {
		t.Error(line)
	}
	n := w.site.again()
	if n > again {
		t.Errorf("%d pages were asked for again, want %d at most", n, again)
	}
	for name, want := range w.planted {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("a stage of somebody else's was touched: %q, %v", got, err)
		}
	}
	note(func(s *score) {
		s.half += len(w.eye.said())
		s.again += n
		s.inFlight += again
		s.rude += len(wrong)
		s.nearest = min(s.nearest, nearest)
	})
}

// gone are the chapters whose file another release has taken the place of.
func (w *world) gone() (ids []string) {
	w.t.Helper()
	rows, err := w.db.Query(context.Background(), "SELECT chapter_id FROM scraper.library_files WHERE state = 'removed'")
	if err != nil {
		w.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			w.t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}
