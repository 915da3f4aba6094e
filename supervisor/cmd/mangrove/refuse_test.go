package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mangrove/internal/config"
	"mangrove/supervisor/internal/child"
)

// TestUpRefusesInOneLine: whatever is wrong before anything is spawned ends in
// one line that names the setting, with the exit code 2, and spawns nothing.
func TestUpRefusesInOneLine(t *testing.T) {
	t.Parallel()
	root := os.Geteuid() == 0
	tests := []struct {
		name string
		// set makes the world wrong; it may skip.
		set func(t *testing.T, w *world)
		// want are parts of the one line; DATA stands for the data folder.
		want []string
	}{
		{"an unknown setting", func(_ *testing.T, w *world) { w.env["MANGROVE_HTPP"] = "x" }, []string{"MANGROVE_HTPP", "MANGROVE_HTTP"}},
		{"a wrong log level", func(_ *testing.T, w *world) { w.env[config.LogLevel] = "loud" }, []string{config.LogLevel, "loud"}},
		{"a relative folder", func(_ *testing.T, w *world) { w.env[config.Data] = "data" }, []string{config.Data, "absolute"}},
		{"one port for two", func(_ *testing.T, w *world) { w.env[config.Health] = w.env[config.HTTP] }, []string{config.Health, config.HTTP}},
		{"metrics for everybody", func(_ *testing.T, w *world) { w.env[config.Metrics] = "0.0.0.0:8486" }, []string{config.Metrics, config.MetricsTokenFile}},
		{"metrics with a token that is not there", func(_ *testing.T, w *world) { w.env[config.MetricsTokenFile] = "/nonexistent" }, []string{config.MetricsTokenFile, "no such file"}},
		{"metrics at the reader's address", func(_ *testing.T, w *world) { w.env[config.Metrics] = w.env[config.HTTP] }, []string{config.Metrics, config.HTTP}},
		{"the metrics' port is taken", func(t *testing.T, w *world) { take(t, w.env[config.Metrics]) }, []string{config.Metrics, "taken"}},
		{"one role of three", func(_ *testing.T, w *world) { w.env[config.DatabaseURLOwner] = "postgres://o:hunter2@127.0.0.1:1/m" }, []string{"MANGROVE_DATABASE_URL_", "all three"}},
		{"the reader's port is taken", func(t *testing.T, w *world) { take(t, w.env[config.HTTP]) }, []string{config.HTTP, "taken"}},
		{"the health port is taken", func(t *testing.T, w *world) { take(t, w.env[config.Health]) }, []string{config.Health, "taken"}},
		{"a foreign address", func(_ *testing.T, w *world) { w.env[config.HTTP] = "192.0.2.1:8484" }, []string{config.HTTP, "not an address of this machine"}},
		{"a path too long for sockets", func(_ *testing.T, w *world) { w.env[config.Data] = w.data + "/" + strings.Repeat("x", 80) }, []string{config.Data, "at most 107"}},
		{"no programs in the named folder", func(_ *testing.T, w *world) { w.env[config.PostgresBin] = "/usr/share" }, []string{config.PostgresBin, "/usr/share", "initdb"}},
		{"the data folder is a file", func(t *testing.T, w *world) {
			w.env[config.Data] = filepath.Join(w.data, "file")
			if err := os.WriteFile(w.env[config.Data], nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{config.Data, "DATA/file", "not a folder"}},
		{"a cluster of another version", func(t *testing.T, w *world) {
			if code, out := w.run("migrate"); code != 0 {
				t.Fatalf("migrate: %d %s", code, out)
			}
			if err := os.WriteFile(filepath.Join(w.data, "postgres/data/PG_VERSION"), []byte("13\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, []string{config.Data, "PostgreSQL 13"}},
		{"an unreachable database", func(_ *testing.T, w *world) {
			w.env[config.DatabaseURL] = "postgres://mo:hunter2@127.0.0.1:1/m"
			w.script("migrate.exit", "3 connection refused")
		}, []string{config.DatabaseURL, "connection refused"}},
		{"a newer database", func(_ *testing.T, w *world) {
			w.env[config.DatabaseURL] = "postgres://mo:hunter2@127.0.0.1:1/m"
			w.script("migrate.exit", "78 the database was migrated by a newer Mangrove")
		}, []string{"newer Mangrove"}},
		{"a newer embedded database", func(_ *testing.T, w *world) {
			w.script("migrate.exit", "78 the database was migrated by a newer Mangrove")
		}, []string{"newer Mangrove"}},
		{"as an ordinary user: the data folder is root's", func(t *testing.T, w *world) {
			w.asNobody()
			must(t, os.Chown(w.data, 0, 0))
		}, []string{config.Data, "DATA belongs to root; run: sudo chown -R nobody DATA"}},
		{"as an ordinary user: root left files", func(t *testing.T, w *world) {
			w.asNobody()
			must(t, os.Mkdir(filepath.Join(w.data, "run"), 0o700))
		}, []string{config.Data, "DATA/run belongs to root; run: sudo chown -R nobody DATA"}},
		{"as an ordinary user: the database's folder is another's", func(t *testing.T, w *world) {
			w.asNobody()
			must(t, os.Mkdir(filepath.Join(w.data, "postgres"), 0o700))
			must(t, os.Chown(filepath.Join(w.data, "postgres"), 4242, 4242))
		}, []string{config.Data, "DATA/postgres belongs to 4242; run: sudo chown -R nobody DATA"}},
		{"as an ordinary user: the library is root's", func(t *testing.T, w *world) {
			w.asNobody()
			w.env[config.Library] = filepath.Join(filepath.Dir(w.data), "manga")
			must(t, os.Mkdir(w.env[config.Library], 0o755))
		}, []string{config.Library, "belongs to root; run: sudo chown -R nobody"}},
		{"as an ordinary user: a folder that cannot be made", func(t *testing.T, w *world) {
			w.asNobody()
			w.env[config.Data] = filepath.Join(filepath.Dir(w.data), "other")
		}, []string{config.Data, "sudo mkdir -p", "chown nobody"}},
		{"as an ordinary user: the way is closed", func(t *testing.T, w *world) {
			w.asNobody()
			must(t, os.Chmod(filepath.Dir(w.data), 0o700))
		}, []string{config.Data, "cannot be entered by the user nobody"}},
		{"as an ordinary user: a port of root's", func(t *testing.T, w *world) {
			w.asNobody()
			w.env[config.HTTP] = "127.0.0.1:84"
			if low, err := os.ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start"); err != nil || strings.TrimSpace(string(low)) == "0" {
				t.Skip("this machine lets everybody use low ports")
			}
		}, []string{config.HTTP, "above 1023"}},
		{"as root: the database's user cannot get in", func(t *testing.T, w *world) {
			if !root {
				t.Skip("needs root")
			}
			must(t, os.Chmod(filepath.Dir(w.data), 0o700))
		}, []string{config.Data, "cannot be entered by the user "}},
		{"as root: the database's folder is another's", func(t *testing.T, w *world) {
			if !root {
				t.Skip("needs root")
			}
			must(t, os.Mkdir(filepath.Join(w.data, "postgres"), 0o700))
			must(t, os.Chown(filepath.Join(w.data, "postgres"), 4242, 4242))
		}, []string{config.Data, "DATA/postgres belongs to 4242", "run: sudo chown -R ", " DATA/postgres"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tt.set(t, w)
			code, out := w.run("up")
			if tt.name == "a newer embedded database" {
				_, out, _ = strings.Cut(out, "\n") // the cluster was made first, and said so
			}
			if code != config.ExitSettings || strings.Count(out, "\n") != 1 {
				t.Errorf("ended with %d and %d lines, want 2 and 1:\n%s", code, strings.Count(out, "\n"), out)
			}
			for _, part := range tt.want {
				if !strings.Contains(out, strings.ReplaceAll(part, "DATA", w.data)) && !strings.Contains(out, part) {
					t.Errorf("the line lacks %q: %s", part, out)
				}
			}
			if strings.Contains(out, "hunter2") {
				t.Errorf("the line holds a password: %s", out)
			}
			if left := w.running(); len(left) > 0 {
				t.Errorf("left running: %v", left)
			}
		})
	}
}

// TestMissingProgramsNameTheCommand hides the installed programs from one run.
func TestMissingProgramsNameTheCommand(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("needs root to hide the installed programs")
	}
	w := newWorld(t)
	w.env["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
	var log buffer
	spec := w.spec(&log, "up")
	hide := "for d in /usr/lib/postgresql; do [ ! -d $d ] || mount -t tmpfs none $d || exit 99; done; exec " + spec.Path + " up"
	spec.Path, spec.Args = "/usr/bin/unshare", []string{"--mount", "/bin/sh", "-c", hide}
	exit, _, err := child.Run(t.Context(), spec)
	if err != nil || exit.Code == 99 || strings.Contains(log.String(), "unshare failed") {
		t.Skipf("nothing can be hidden here: %s, %v: %s", exit, err, log.String())
	}
	if exit.Code != config.ExitSettings || strings.Count(log.String(), "\n") != 1 ||
		!strings.Contains(log.String(), "run: sudo apt-get install --no-install-recommends postgresql") {
		t.Errorf("ended with %s: %s", exit, log.String())
	}
}

func TestASecondSupervisorIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.up().serving()
	w.env[config.HTTP], w.env[config.Health], w.env[config.Metrics] = freePort(t), freePort(t), freePort(t)
	code, out := w.run("up")
	if code != config.ExitLock || strings.Count(out, "\n") != 1 || !strings.Contains(out, w.data) || !strings.Contains(out, "process ") {
		t.Errorf("%d %s", code, out)
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tests := []struct {
		args []string
		code int
		want string
	}{
		{nil, 0, "up "},
		{[]string{"--help"}, 0, "Example: mangrove up"},
		{[]string{"up", "--help"}, 0, "Example: MANGROVE_DATA="},
		{[]string{"status", "--help"}, 0, "Example: "},
		{[]string{"migrate", "--help"}, 0, "Example: "},
		{[]string{"settings", "--help"}, 0, "Example: "},
		{[]string{"version", "--help"}, 0, "Example: "},
		{[]string{"version"}, 0, "mangrove "},
		{[]string{"status"}, exitNotRunning, "no Mangrove answers for the data folder " + w.data},
		{[]string{"fly"}, config.ExitSettings, "mangrove --help"},
	}
	for _, tt := range tests {
		code, out := w.run(tt.args...)
		if code != tt.code || !strings.Contains(out, tt.want) {
			t.Errorf("mangrove %v: %d, want %d and %q:\n%s", tt.args, code, tt.code, tt.want, out)
		}
	}
	_, out := w.run("settings")
	for _, name := range config.Names() {
		if !strings.Contains(out, "\n"+name+" ") {
			t.Errorf("settings lacks %s", name)
		}
	}
}

func take(t *testing.T, address string) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
