package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"mangrove/internal/config"
	"mangrove/internal/lifeline"
)

// health asks the TCP health service about name.
func health(t *testing.T, w *world, name string) string {
	t.Helper()
	conn, err := grpc.NewClient(w.env[config.Health], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	answer, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: name})
	if err != nil {
		return status.Code(err).String()
	}
	return answer.GetStatus().String()
}

// names returns the sorted names of the variables in a stand-in's environment.
func names(environ string) []string {
	var out []string
	for kv := range strings.Lines(environ) {
		name, _, _ := strings.Cut(kv, "=")
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func TestUpServesAndStopsInOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["TZ"] = "UTC"
	w.env[config.Hosts] = "manga.example"
	w.env[config.AllowAddresses] = "10.0.0.0/8"
	w.env[config.BasePath] = "/books"
	w.env[config.TrustedProxies] = "127.0.0.1"
	s := w.up().serving()
	address := "http://" + w.env[config.HTTP] + "/books/"
	w.eventually("the code is printed", func() bool { return strings.Contains(s.log.String(), "One-time code") })
	for _, line := range []string{"Mangrove is at " + address, "One-time code to claim the administrator: ABCD-EFGH-JKLM"} {
		if !slices.Contains(strings.Split(s.log.String(), "\n"), line) {
			t.Errorf("the console lacks the line %q:\n%s", line, s.log.String())
		}
	}
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()

	for name, want := range map[string]string{"": "SERVING", "postgres": "SERVING", "scraper": "SERVING", "reader": "SERVING", "other": codes.NotFound.String()} {
		if got := health(t, w, name); got != want {
			t.Errorf("health of %q: %s, want %s", name, got, want)
		}
	}
	code, out := w.run("status")
	if code != 0 || !slices.Contains(strings.Split(out, "\n"), "budget: 3 failures within an hour park a service") || strings.Count(out, "  serving  ") != 3 {
		t.Errorf("status ended with %d:\n%s", code, out)
	}

	shared := []string{"HOME", config.Data, config.DatabaseURLFile, config.Library, config.LogLevel, lifeline.Env, "PATH", "TZ"}
	with := func(more ...string) []string {
		out := append(slices.Clone(shared), more...)
		slices.Sort(out)
		return out
	}
	for file, want := range map[string][]string{
		"scraper.env": with(config.AllowAddresses),
		"reader.env":  with(config.BasePath, config.Hosts, config.HTTP, config.TrustedProxies),
	} {
		if diff := cmp.Diff(want, names(w.read("script/"+file))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
	if env := w.read("script/migrate.env"); !strings.Contains(env, config.DatabaseURL+"=postgres://mangrove_admin@/mangrove?host="+w.data+"/postgres/run\n") {
		t.Errorf("migrate was not given the private database:\n%s", env)
	}
	for _, dir := range []string{"run", "secrets", "logs", "postgres"} {
		if info, err := os.Stat(filepath.Join(w.data, dir)); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, want mode 0700", dir, err)
		}
	}

	if code := s.stop(); code != 0 {
		t.Errorf("the stop ended with %d", code)
	}
	if diff := cmp.Diff("reader\nscraper\n", w.read("script/order")); diff != "" {
		t.Errorf("order of the stop (-want +got):\n%s", diff)
	}
	if log := w.read("logs/postgres.log"); !strings.Contains(log, "received fast shutdown request") || !strings.Contains(log, "database system is shut down") {
		t.Errorf("the database was not stopped fast and whole:\n%s", log)
	}
	if left := w.running(); len(left) > 0 {
		t.Errorf("left running: %v", left)
	}
	for _, file := range []string{"supervisor", "reader", "scraper", "postgres"} {
		if strings.Contains(w.read("logs/"+file+".log"), "ABCD-EFGH") {
			t.Errorf("the log of %s holds the one-time code", file)
		}
	}
	if code, out := w.run("status"); code != exitNotRunning || strings.Count(out, "\n") != 1 {
		t.Errorf("status after the stop: %d %s", code, out)
	}
	// What was made once is used again.
	w.up().serving()
}

func TestAChangedCodeIsPrintedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.up().serving()
	file := filepath.Join(w.data, "reader", "claim-code")
	for _, code := range []string{"NEWX-CODE", "\x1b]0;pwned\a", "NEXT-CODE"} {
		if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		if code[0] != '\x1b' {
			w.eventually("the code is printed", func() bool { return strings.Contains(s.log.String(), "administrator: "+code+"\n") })
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	s.stop()
	if strings.Contains(s.log.String(), "pwned") || strings.Contains(s.log.String(), "\x1b") {
		t.Errorf("what is no code was printed: %q", s.log.String())
	}
}

// TestAServiceIsRestartedAlone shows SUP-1, features D1 and D21.
func TestAServiceIsRestartedAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.up().serving()
	scraper, reader := w.status("scraper"), w.status("reader")
	if err := syscall.Kill(int(scraper.GetPid()), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.eventually("the whole is not serving", func() bool { return health(t, w, "") == "NOT_SERVING" })
	w.eventually("the scraper serves again", func() bool {
		now := w.status("scraper")
		return now.GetState() == "serving" && now.GetPid() != scraper.GetPid()
	})
	now := w.status("scraper")
	if now.GetFailures() != 1 || now.GetLastExit() != "signal: killed" {
		t.Errorf("scraper: %v", now)
	}
	if got := w.status("reader"); got.GetPid() != reader.GetPid() || got.GetFailures() != 0 || !got.GetSince().AsTime().Equal(reader.GetSince().AsTime()) {
		t.Errorf("reader: %v, was %v", got, reader)
	}
	w.eventually("the whole serves", func() bool { return health(t, w, "") == "SERVING" })
	if code := s.stop(); code != 0 {
		t.Errorf("the stop ended with %d", code)
	}
}

// TestACrashOfTheDatabaseRestartsNoService shows SUP-3, features D35.
func TestACrashOfTheDatabaseRestartsNoService(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.up().serving()
	reader := w.status("reader")
	if err := syscall.Kill(int(w.status("postgres").GetPid()), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.eventually("the database serves again", func() bool {
		now := w.status("postgres")
		return now.GetState() == "serving" && now.GetFailures() == 1
	})
	if got := w.status("reader"); got.GetPid() != reader.GetPid() || got.GetFailures() != 0 {
		t.Errorf("a crash of the database restarted the reader: %v", got)
	}
}

func TestABlockedServiceIsNotRestarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.script("scraper.exit", "78 the schema is newer than this program")
	s := w.up()
	w.eventually("it is blocked", func() bool { return w.status("scraper").GetState() == "blocked" })
	now := w.status("scraper")
	if now.GetReason() != "the schema is newer than this program" || now.GetFailures() != 0 || now.GetNextStart() != nil {
		t.Errorf("scraper: %v", now)
	}
	w.eventually("the reader serves all the same", func() bool { return w.status("reader").GetState() == "serving" })
	if got := health(t, w, "scraper"); got != "NOT_SERVING" {
		t.Errorf("health of the scraper: %s", got)
	}
	if _, out := w.run("status"); !strings.Contains(out, "scraper: reason: the schema is newer than this program") {
		t.Errorf("status:\n%s", out)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("the stop ended with %d", code)
	}
}

// TestASecondInterruptSparesTheDatabase: services that do not end are cut
// short, the database is stopped whole all the same.
func TestASecondInterruptSparesTheDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.script("reader.deaf", "")
	w.script("scraper.deaf", "")
	s := w.up().serving()
	_ = syscall.Kill(s.PID(), syscall.SIGHUP) // is no stop
	s.interrupt()
	w.eventually("the reader is asked", func() bool { return w.read("script/order") != "" })
	began := time.Now()
	s.interrupt()
	s.interrupt()
	if code := s.wait(); code != 0 {
		t.Errorf("the stop ended with %d", code)
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("the stop took %s", took)
	}
	if log := w.read("logs/postgres.log"); !strings.Contains(log, "database system is shut down") {
		t.Errorf("the database was not stopped whole:\n%s", log)
	}
}

// TestAKilledSupervisorLeavesNothing and can be started again at once.
func TestAKilledSupervisorLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.up().serving()
	if err := syscall.Kill(s.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	w.eventually("nothing is left running", func() bool { return len(w.running()) == 0 })
	again := w.up().serving()
	if code := again.stop(); code != 0 {
		t.Errorf("the stop ended with %d", code)
	}
}

// TestOrphansAreReapedAndEnded: processes that left their service's group and
// session neither stay as zombies nor outlive the stop, a hundred of them and the
// reaper taking no program's own end away (SUP-8, F48, F49).
func TestOrphansAreReapedAndEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.script("scraper.orphans", "for i in $(seq 100); do setsid sh -c 'sleep 0.2; exit 3' & done; setsid sleep 1000 & exit 0")
	s := w.up().serving()
	sleeper := 0
	w.eventually("the dead orphans are reaped, the live one is ours", func() bool {
		zombies, others := 0, 0
		for _, pid := range childrenOf(t, s.PID()) {
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			switch {
			case strings.Contains(string(stat), ") Z "):
				zombies++
			case strings.HasPrefix(string(stat), fmt.Sprintf("%d (sleep)", pid)):
				sleeper = pid
			case strings.Contains(string(stat), "(sh)"):
				others++
			}
		}
		return zombies == 0 && others == 0 && sleeper != 0
	})
	if n := w.status("scraper").GetFailures(); n != 0 {
		t.Errorf("%d failures of the scraper", n)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("the stop ended with %d", code)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", sleeper)); err == nil {
		t.Error("the live orphan outlived the stop")
	}
}

// childrenOf lists the children of a process.
func childrenOf(t *testing.T, parent int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, file := range stats {
		stat, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == fmt.Sprint(parent) {
			pid, _, _ := strings.Cut(string(stat), " ")
			n, _ := strconv.Atoi(pid)
			out = append(out, n)
		}
	}
	return out
}

func TestAnOrdinaryUserNeedsNoRoot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.asNobody()
	s := w.up().serving()
	for _, name := range []string{"postgres", "scraper", "reader"} {
		if got := health(t, w, name); got != "SERVING" {
			t.Errorf("health of %s: %s", name, got)
		}
	}
	if code, out := w.run("status"); code != 0 {
		t.Errorf("status as the same user: %d %s", code, out)
	}
	w.uid = 0
	if code, out := w.run("status"); code != 0 {
		t.Errorf("status as root: %d %s", code, out)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("the stop ended with %d", code)
	}
}

func TestADatabaseOfTheOperatorsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env[config.DatabaseURL] = "postgres://mo:hunter2@db.example/mangrove"
	s := w.up().serving()
	if got := health(t, w, "postgres"); got != codes.NotFound.String() {
		t.Errorf("health of a database that is not ours: %s", got)
	}
	if got := health(t, w, ""); got != "SERVING" {
		t.Errorf("health of the whole: %s", got)
	}
	if !strings.Contains(w.read("script/migrate.env"), "hunter2") {
		t.Error("migrate was not given the address")
	}
	for _, file := range []string{"script/reader.env", "script/scraper.env", "logs/supervisor.log", "logs/migrate.log"} {
		if strings.Contains(w.read(file), "hunter2") {
			t.Errorf("%s holds the password", file)
		}
	}
	if _, err := os.Stat(filepath.Join(w.data, "postgres")); err == nil {
		t.Error("a private cluster was made all the same")
	}
	s.stop()
	if strings.Contains(s.log.String(), "hunter2") {
		t.Error("the console shows the password")
	}
}

// TestTheMonitorIsToldOfAChange without asking again.
// It shows SUP-6.
func TestTheMonitorIsToldOfAChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.up().serving()
	conn, err := grpc.NewClient(w.env[config.Health], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	stream, err := grpc_health_v1.NewHealthClient(conn).Watch(ctx, &grpc_health_v1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	next := func(want string) {
		t.Helper()
		answer, err := stream.Recv()
		if err != nil || answer.GetStatus().String() != want {
			t.Fatalf("the monitor hears %s (%v), want %s", answer.GetStatus(), err, want)
		}
	}
	next("SERVING")
	if err := syscall.Kill(int(w.status("reader").GetPid()), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	next("NOT_SERVING")
	next("SERVING")
}

func TestTheControlSocketIsPrivate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if os.Geteuid() != 0 {
		t.Skip("needs root to become another user")
	}
	w.up().serving()
	// Even with the folders opened, the kernel says who is at the other end.
	must(t, os.Chmod(filepath.Join(w.data, "run"), 0o711))
	socket := filepath.Join(w.data, "run", "supervisor.sock")
	if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, want mode 0600", err)
	}
	must(t, os.Chmod(socket, 0o666))
	w.uid = nobody
	if code, out := w.run("status"); code != exitNotRunning {
		t.Errorf("another user is answered: %d %s", code, out)
	}
}

func TestMigrateStartsThePrivateDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if code, out := w.run("migrate"); code != 0 {
		t.Errorf("with nothing running: %d %s", code, out)
	}
	if left := w.running(); len(left) > 0 {
		t.Errorf("left running: %v", left)
	}
	w.up().serving()
	if code, out := w.run("migrate"); code != 0 {
		t.Errorf("beside a running Mangrove: %d %s", code, out)
	}
	w.script("migrate.exit", "78 the database was migrated by a newer Mangrove")
	if code, out := w.run("migrate"); code != config.ExitConfig || out != "mangrove: the database was migrated by a newer Mangrove\n" {
		t.Errorf("a newer database: %d %q", code, out)
	}
}

// TestTheHeartbeat goes out while everything serves and stops with the first service
// that does not (SUP-10). No child hears of its address.
// It shows features G7.
func TestTheHeartbeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var beats atomic.Int32
	outside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { beats.Add(1) }))
	t.Cleanup(outside.Close)
	w.env[config.HeartbeatURL] = outside.URL + "/s3cr3t"
	w.up().serving()
	w.eventually("it beats", func() bool { return beats.Load() > 0 })
	if strings.Contains(w.read("script/scraper.env")+w.read("script/reader.env"), "s3cr3t") {
		t.Error("a service was given the address")
	}
	if strings.Contains(w.read("logs/supervisor.log"), "s3cr3t") {
		t.Error("the log tells the address")
	}
}
