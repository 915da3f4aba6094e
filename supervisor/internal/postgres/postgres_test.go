package postgres

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"mangrove/internal/pgcluster"
	"mangrove/supervisor/internal/budget"
	"mangrove/supervisor/internal/child"
	"mangrove/supervisor/internal/service"
)

// log is a writer that several goroutines may use.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// newServer makes a server of a cluster that does not exist yet, in a folder
// that the database's user can reach.
func newServer(t *testing.T) (*Server, *log) {
	t.Helper()
	programs, err := pgcluster.Find(pgcluster.Lookup{Bin: os.Getenv("MANGROVE_POSTGRES_BIN"), Path: os.Getenv("PATH")})
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	owner, err := pgcluster.ChooseOwner(os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "mangrove-t-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	out := &log{}
	return &Server{Layout: pgcluster.Layout{Root: filepath.Join(dir, "postgres")}, Programs: programs, Owner: owner, Log: out}, out
}

// keep runs a keeper over s until the test ends or stop is called.
func keep(t *testing.T, s *Server, out *log) (k *service.Keeper, stop func()) {
	t.Helper()
	b, _ := budget.Open(t.TempDir(), Name, budget.Now)
	k = service.NewKeeper(s, b, nil)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); k.Run(ctx, nil) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			t.Log(out.String())
		}
	})
	return k, stop
}

func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
		<-time.After(10 * time.Millisecond)
	}
}

func serving(k *service.Keeper) func() bool {
	return func() bool { return k.Status().State == service.Serving }
}

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func mustExec(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func TestServesGuardedAndStopsFast(t *testing.T) {
	t.Parallel()
	s, out := newServer(t)
	k, stop := keep(t, s, out)
	eventually(t, "it serves", serving(k))

	admin := connect(t, s.Layout.AdminURL("postgres"))
	var listens string
	if err := admin.QueryRow(t.Context(), "SHOW listen_addresses").Scan(&listens); err != nil || listens != "" {
		t.Errorf("listens on %q (%v), want nothing but the socket", listens, err)
	}
	mustExec(t, admin, "CREATE DATABASE mangrove")
	mustExec(t, admin, "CREATE ROLE mangrove_reader LOGIN PASSWORD 'right'")
	mustExec(t, admin, "CREATE ROLE stranger LOGIN PASSWORD 'right'")
	tests := []struct {
		name, user, password, database string
		ok                             bool
	}{
		{"a service with its password", "mangrove_reader", "right", "mangrove", true},
		{"a service with a wrong password", "mangrove_reader", "wrong", "mangrove", false},
		{"a service without a password", "mangrove_reader", "", "mangrove", false},
		{"a service in another database", "mangrove_reader", "right", "postgres", false},
		{"another role", "stranger", "right", "mangrove", false},
	}
	for _, tt := range tests {
		conn, err := pgx.Connect(t.Context(), fmt.Sprintf("postgres://%s:%s@/%s?host=%s", tt.user, tt.password, tt.database, s.Layout.Run()))
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v, want admitted %v", tt.name, err, tt.ok)
		}
		if err == nil {
			_ = conn.Close(t.Context())
		}
	}
	for _, dir := range []string{s.Layout.Root, s.Layout.Data(), s.Layout.Run()} {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v, want mode 0700", dir, info.Mode(), err)
		}
	}

	// A session is open: the stop must not wait for it.
	began := time.Now()
	stop()
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the stop took %s", took)
	}
	if pids, err := s.Layout.Occupants(); err != nil || len(pids) > 0 {
		t.Errorf("left running: %v %v", pids, err)
	}
	if _, err := os.Stat(s.Layout.PidFile()); err == nil {
		t.Error("the lock file is left")
	}
	if strings.Contains(out.String(), "right") {
		t.Error("the log holds a password")
	}
}

// TestKilledServerLosesNothing ends the server as a power cut would, with a
// session that lives on for a while: the next server must neither start beside
// it nor lose what was committed, and the wait is nobody's failure.
func TestKilledServerLosesNothing(t *testing.T) {
	t.Parallel()
	s, out := newServer(t)
	k, _ := keep(t, s, out)
	eventually(t, "it serves", serving(k))
	first := connect(t, s.Layout.AdminURL("postgres"))
	mustExec(t, first, "CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n")

	busy := connect(t, s.Layout.AdminURL("postgres"))
	session := int(busy.PgConn().PID())
	go func() {
		// Turns without ever looking up, until it is ended below.
		_, _ = busy.Exec(context.Background(), "DO $$ BEGIN LOOP END LOOP; END $$")
	}()
	eventually(t, "the session is busy", func() bool {
		var active bool
		err := first.QueryRow(t.Context(), "SELECT state = 'active' FROM pg_stat_activity WHERE pid = $1", session).Scan(&active)
		return err == nil && active
	})
	// Held so that it outlives its server for certain.
	if err := syscall.Kill(session, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	pid := k.Status().PID
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it waits for the session", func() bool {
		now := k.Status()
		return now.State == service.Waiting && strings.Contains(now.Reason, fmt.Sprint(session))
	})
	if err := syscall.Kill(session, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it serves again", serving(k))
	now := k.Status()
	if now.PID == pid || now.Failures != 1 {
		t.Errorf("status %+v", now)
	}
	var n int
	if err := connect(t, s.Layout.AdminURL("postgres")).QueryRow(t.Context(), "SELECT count(*) FROM kept").Scan(&n); err != nil || n != 1000 {
		t.Errorf("%d rows (%v), want 1000", n, err)
	}
}

func TestStaleLockFilesAreNoObstacle(t *testing.T) {
	t.Parallel()
	s, out := newServer(t)
	k, stop := keep(t, s, out)
	eventually(t, "it serves", serving(k))
	stop()

	// A live process of the database's own user that is no PostgreSQL.
	spec := s.spec("/bin/sleep", []string{"1000"})
	spec.Log = nil
	other, err := child.Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Signal(syscall.SIGKILL); <-other.Done() })
	tests := []struct{ name, content string }{
		{"empty", ""},
		{"a number that is another program's now", fmt.Sprintf("%d\n%s\n1\n5432\n%s\n\n", other.PID(), s.Layout.Data(), s.Layout.Run())},
		{"a number that nobody has", fmt.Sprintf("4194999\n%s\n1\n5432\n%s\n\n", s.Layout.Data(), s.Layout.Run())},
	}
	for _, tt := range tests {
		for _, file := range []string{s.Layout.PidFile(), s.Layout.Socket() + ".lock"} {
			if err := os.WriteFile(file, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if os.Geteuid() == 0 {
				if err := os.Chown(file, int(s.Owner.UID), int(s.Owner.GID)); err != nil {
					t.Fatal(err)
				}
			}
		}
		k, stop := keep(t, s, out)
		eventually(t, tt.name+": it serves", serving(k))
		if n := k.Status().Failures; n != 0 {
			t.Errorf("%s: %d failures", tt.name, n)
		}
		stop()
	}
}

// TestASecondServerWaits makes sure that a server left over from before is
// never taken for ours, nor joined by a second one.
func TestASecondServerWaits(t *testing.T) {
	t.Parallel()
	s, out := newServer(t)
	first, stop := keep(t, s, out)
	eventually(t, "it serves", serving(first))
	again := *s
	second, _ := keep(t, &again, out)
	eventually(t, "the second waits", func() bool { return second.Status().State == service.Waiting })
	stop()
	eventually(t, "the second serves", serving(second))
	if n := second.Status().Failures; n != 0 {
		t.Errorf("%d failures", n)
	}
}

func TestAnUnfinishedClusterIsMadeAgain(t *testing.T) {
	t.Parallel()
	s, out := newServer(t)
	if err := s.Layout.MakeFolders(s.Owner); err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(s.Layout.Root, "making-1", "base")
	if err := os.MkdirAll(half, 0o700); err != nil {
		t.Fatal(err)
	}
	k, _ := keep(t, s, out)
	eventually(t, "it serves", serving(k))
	if _, err := os.Stat(filepath.Dir(half)); err == nil {
		t.Error("the unfinished cluster is left")
	}
}
