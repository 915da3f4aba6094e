package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mangrove/internal/config"
	"mangrove/supervisor/internal/child"
	"mangrove/supervisor/internal/chronicle"
	"mangrove/supervisor/internal/trial"
)

// keeps makes the world one whose listen address was kept, and not given.
func (w *world) keeps() (address string) {
	w.t.Helper()
	address = w.env[config.HTTP]
	delete(w.env, config.HTTP)
	must(w.t, trial.FileOf(w.data).Write(trial.Settings{Kept: map[string]string{config.HTTP: address}}))
	return address
}

// external leaves the database to somebody else, for a test that needs none.
func (w *world) external() *world {
	w.env[config.DatabaseURL] = "postgres://mo@127.0.0.1:1/m"
	return w
}

// kept is the address in the file; it fails while something is on trial there.
func (w *world) kept() string {
	w.t.Helper()
	s, err := trial.FileOf(w.data).Read()
	must(w.t, err)
	if s.Trial != nil {
		w.t.Errorf("on trial on disk: %+v", *s.Trial)
	}
	return s.Kept[config.HTTP]
}

// answers asks the reader.
func answers(address string) bool {
	answer, err := http.Get("http://" + address + "/")
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return true
}

// happened are the events of a setting in the chronicle.
func (w *world) happened() (out []string) {
	w.t.Helper()
	for line := range strings.Lines(w.read(filepath.Base(chronicle.Path(w.data)))) {
		var e chronicle.Event
		must(w.t, json.Unmarshal([]byte(line), &e))
		if e.Event == "setting" {
			out = append(out, e.To)
		}
	}
	return out
}

// unspent fails when a service has a failure in its budget.
func (w *world) unspent(names ...string) {
	w.t.Helper()
	for _, name := range names {
		if now := w.status(name); now.GetBudgetLeft() != 3 || now.GetState() != "serving" {
			w.t.Errorf("%s: %v", name, now)
		}
	}
}

// TestAListenAddressIsTriedAndKept: only the reader is restarted, and the next start
// begins with what was kept (features H20).
func TestAListenAddressIsTriedAndKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.keeps()
	s := w.up().serving()
	next := freePort(t)
	scraper, reader, postgres := w.status("scraper"), w.status("reader"), w.status("postgres")
	code, out := w.run("settings", "try", config.HTTP, next)
	if code != 0 || !strings.Contains(out, config.HTTP+" is on trial until") {
		t.Fatalf("try: %d %s", code, out)
	}
	if !answers(next) || answers(before) {
		t.Errorf("the reader answers at %s: %v, at %s: %v", next, answers(next), before, answers(before))
	}
	if w.status("scraper").GetPid() != scraper.GetPid() || w.status("postgres").GetPid() != postgres.GetPid() || w.status("reader").GetPid() == reader.GetPid() {
		t.Error("another service than the reader was restarted")
	}
	if _, out := w.run("status"); !strings.Contains(out, "setting: "+config.HTTP+" is on trial until") || !strings.Contains(out, "address: http://"+next+"/") {
		t.Errorf("status:\n%s", out)
	}
	if code, out := w.run("settings", "try", config.HTTP, freePort(t)); code != config.ExitFailure || !strings.Contains(out, "keep it or wait") {
		t.Errorf("a second: %d %s", code, out)
	}
	if code, out := w.run("settings", "keep"); code != 0 || !strings.Contains(out, "is kept") {
		t.Errorf("keep: %d %s", code, out)
	}
	if code, out := w.run("settings", "keep"); code != config.ExitFailure || !strings.Contains(out, "nothing is on trial") {
		t.Errorf("keep twice: %d %s", code, out)
	}
	w.unspent("scraper", "reader", "postgres")
	if code, out := w.run("restart", "scraper"); code != 0 || !strings.Contains(w.read("supervisor-events.log"), `"event":"operator","name":"scraper","to":"restart"`) {
		t.Errorf("restart: %d %s\n%s", code, out, w.read("supervisor-events.log"))
	}
	if _, out := w.run("settings"); !strings.Contains(out, config.HTTP) || !strings.Contains(out, "kept") || strings.Contains(out, next) {
		t.Errorf("settings:\n%s", out)
	}
	if code, out := w.run("settings", "forget", config.HTTP); code != config.ExitLock {
		t.Errorf("forget while it runs: %d %s", code, out)
	}
	s.stop()
	if got := w.kept(); got != next {
		t.Errorf("kept: %s, want %s", got, next)
	}
	if s := w.up().serving(); !strings.Contains(s.log.String(), "Mangrove is at http://"+next+"/") {
		t.Errorf("console:\n%s", s.log.String())
	} else {
		s.stop()
	}
	// A kept value with which nothing starts is named, with the way out.
	take(t, next)
	if code, out := w.run("up"); code != config.ExitSettings || !strings.Contains(out, "taken by another program") || !strings.Contains(out, "mangrove settings forget "+config.HTTP) {
		t.Errorf("up at a taken address: %d %s", code, out)
	}
	if code, out := w.run("settings", "forget", config.HTTP); code != 0 || w.kept() != "" {
		t.Errorf("forget: %d %s", code, out)
	}
}

// TestAListenAddressGoesBack when its time is up, and when the reader does not serve
// with it: then at once, and without spending anything.
func TestAListenAddressGoesBack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, w *world, next string)
		why  string
	}{
		{"its time is up", func(t *testing.T, w *world, next string) {
			if code, out := w.run("settings", "try", config.HTTP, next, "--for", "10s"); code != 0 {
				t.Errorf("try: %d %s", code, out)
			}
			if !answers(next) {
				t.Error("it does not serve with the new value")
			}
		}, "it was not kept within 10s"},
		{"it does not start", func(t *testing.T, w *world, next string) {
			w.script("reader.refuses", next+" "+w.data+"/library")
			if code, out := w.run("settings", "try", config.HTTP, next); code != config.ExitFailure || !strings.Contains(out, "went back to the value before: reader ended (exit code 1)") {
				t.Errorf("try: %d %s", code, out)
			}
		}, "reader ended (exit code 1)"},
		{"it ends", func(t *testing.T, w *world, next string) {
			if code, out := w.run("settings", "try", config.HTTP, next); code != 0 {
				t.Errorf("try: %d %s", code, out)
			}
			must(t, syscall.Kill(int(w.status("reader").GetPid()), syscall.SIGKILL))
		}, "reader ended (signal: killed)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).external()
			before := w.keeps()
			s := w.up().serving()
			tt.do(t, w, freePort(t))
			w.eventually("it went back", func() bool {
				_, out := w.run("status")
				return strings.Contains(out, "setting: "+config.HTTP+" went back at") && strings.Contains(out, tt.why) && w.status("reader").GetState() == "serving"
			})
			if !answers(before) {
				t.Error("the reader does not answer where it did")
			}
			w.unspent("reader", "scraper")
			if got := w.kept(); got != before {
				t.Errorf("kept: %s, want %s", got, before)
			}
			if got := fmt.Sprint(w.happened()); !strings.HasPrefix(got, "[begin ") || !strings.HasSuffix(got, " back]") {
				t.Errorf("events: %s", got)
			}
			if !strings.Contains(s.log.String(), config.HTTP+" went back to the value before: ") || !strings.Contains(w.read("logs/supervisor.log"), `"act":"back"`) {
				t.Errorf("console:\n%s", s.log.String())
			}
			// What fails from now on counts again.
			must(t, syscall.Kill(int(w.status("reader").GetPid()), syscall.SIGKILL))
			w.eventually("the failure is counted", func() bool { return w.status("reader").GetBudgetLeft() == 2 })
		})
	}
}

// TestAKillEndsATrial at whatever point: the next start is with the value before, at
// once, and the kept one once it was kept.
func TestAKillEndsATrial(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"applying", "trying", "returning", "kept"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).external()
			before, next := w.keeps(), freePort(t)
			s := w.up().serving()
			within := time.Hour
			if point == "returning" {
				within = trial.Least
			}
			if point == "applying" || point == "returning" {
				w.script("reader.mute", "") // it starts and does not serve
			}
			tried := make(chan struct{})
			go func() {
				defer close(tried)
				code, out := w.run("settings", "try", config.HTTP, next, "--for", within.String())
				if served := point == "trying" || point == "kept"; served != (code == 0) {
					t.Errorf("try: %d %s", code, out)
				}
			}()
			state := trial.State(point)
			if point == "trying" || point == "kept" {
				<-tried
			}
			if point == "kept" {
				if code, out := w.run("settings", "keep"); code != 0 {
					t.Errorf("keep: %d %s", code, out)
				}
			} else {
				w.eventually("it is "+point, func() bool {
					_, out := w.run("status")
					words := map[trial.State]string{trial.Applying: "is being put on trial", trial.Trying: "is on trial until", trial.Returning: "is going back"}
					return strings.Contains(out, words[state])
				})
			}
			must(t, syscall.Kill(s.PID(), syscall.SIGKILL))
			<-s.Done()
			<-tried
			w.eventually("nothing is left running", func() bool { return len(w.running()) == 0 })
			if point != "kept" {
				if s, err := trial.FileOf(w.data).Read(); err != nil || s.Trial == nil || s.Kept[config.HTTP] != before {
					t.Errorf("on disk after the kill: %+v, %v", s, err)
				}
			}
			_ = os.Remove(filepath.Join(w.data, "script", "reader.mute"))
			want := before
			if point == "kept" {
				want = next
			}
			again := w.up().serving()
			if !answers(want) || w.kept() != want || !strings.Contains(again.log.String(), "Mangrove is at http://"+want+"/") {
				t.Errorf("it answers at %s: %v; kept %s; console:\n%s", want, answers(want), w.kept(), again.log.String())
			}
			if said := strings.Contains(again.log.String(), "went back to the value before: it was on trial when Mangrove ended"); said != (point != "kept") {
				t.Errorf("console:\n%s", again.log.String())
			}
			w.unspent("reader")
		})
	}
}

// TestATrialIsRefused in one line, and nothing is restarted.
func TestATrialIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	before := w.keeps()
	w.script("check.out", `{"part":"library","well":true,"said":"is marked"}`)
	w.up().serving()
	reader, scraper := w.status("reader").GetPid(), w.status("scraper").GetPid()
	full, file := filepath.Join(w.data, "full"), filepath.Join(w.data, "file")
	must(t, os.Mkdir(full, 0o755))
	must(t, os.WriteFile(filepath.Join(full, "a"), nil, 0o600))
	must(t, os.WriteFile(file, nil, 0o600))
	taken := freePort(t)
	take(t, taken)
	for name, tt := range map[string]struct {
		args []string
		code int
		want string
	}{
		"taken":             {[]string{config.HTTP, taken}, 1, "is taken by another program"},
		"no address":        {[]string{config.HTTP, "here"}, 1, "is not host:port"},
		"another machine's": {[]string{config.HTTP, "192.0.2.1:8484"}, 1, "not an address of this machine"},
		"health's":          {[]string{config.HTTP, w.env[config.Health]}, 1, config.Health},
		"the same":          {[]string{config.HTTP, before}, 1, "has that value already"},
		"too short":         {[]string{config.HTTP, freePort(t), "--for", "1s"}, 1, "from 10s to 1h"},
		"nothing":           {[]string{config.HTTP}, 2, "name a value"},
		"two":               {[]string{config.HTTP, taken, "--default"}, 2, "name a value"},
		"another setting":   {[]string{config.Data, "/x"}, 2, "MANGROVE_HTTP"},
		"no folder":         {[]string{config.Library, filepath.Join(w.data, "none")}, 1, "is not there"},
		"a file":            {[]string{config.Library, file}, 1, "is not a folder"},
		"no library":        {[]string{config.Library, full}, 1, "is no library"},
		"a password":        {[]string{config.DatabaseURL, "postgres://mo:hunter2@127.0.0.1:1/m"}, 2, "standard input"},
	} {
		code, out := w.run(append([]string{"settings", "try"}, tt.args...)...)
		if code != tt.code || !strings.Contains(out, tt.want) || strings.Count(out, "\n") != 1 || strings.Contains(out, "hunter2") {
			t.Errorf("%s: %d %s, want %d with %q", name, code, out, tt.code, tt.want)
		}
	}
	empty := filepath.Join(w.data, "empty")
	must(t, os.Mkdir(empty, 0o755))
	w.script("check.out", `{"part":"library","well":false,"said":"has no marker file"}`)
	if code, out := w.run("settings", "try", config.Library, empty); code != 1 || !strings.Contains(out, "has no marker file") {
		t.Errorf("another library: %d %s", code, out)
	}
	w.script("database.exit", "78 that database holds no Mangrove")
	if code, out := w.run("settings", "try", config.DatabaseURL, "postgres://mo@127.0.0.1:1/m"); code != 1 || !strings.Contains(out, "holds no Mangrove") {
		t.Errorf("a strange database: %d %s", code, out)
	}
	if w.status("reader").GetPid() != reader || w.status("scraper").GetPid() != scraper || len(w.happened()) > 0 || w.kept() != before {
		t.Errorf("something was changed: %v", w.happened())
	}
	// Nobody there to ask.
	other := newWorld(t)
	if code, out := other.run("settings", "try", config.HTTP, freePort(t)); code != exitNotRunning || !strings.Contains(out, "no Mangrove answers") {
		t.Errorf("without a supervisor: %d %s", code, out)
	}
}

// TestWhatTheEnvironmentSaysIsNotTried, though the command's own environment lacks it:
// it is the supervisor's that counts.
func TestWhatTheEnvironmentSaysIsNotTried(t *testing.T) {
	t.Parallel()
	w := newWorld(t).external()
	w.up().serving()
	delete(w.env, config.HTTP)
	if code, out := w.run("settings", "try", config.HTTP, freePort(t)); code != 1 || !strings.Contains(out, "is set by the environment ("+config.HTTP+")") {
		t.Errorf("try: %d %s", code, out)
	}
}

// TestWhatRootForgetsStaysItsOwners: a command that root types leaves no file that the
// service's user could not read.
func TestWhatRootForgetsStaysItsOwners(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.asNobody()
	w.keeps()
	file := filepath.Join(w.data, "settings.json")
	w.own(w.data)
	w.uid = 0
	if code, out := w.run("settings", "forget", config.HTTP); code != 0 {
		t.Fatalf("forget: %d %s", code, out)
	}
	info, err := os.Stat(file)
	must(t, err)
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || st.Uid != nobody || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v %v", file, info.Sys(), info.Mode())
	}
}

// TestALibraryAndADatabaseAreTried: both that read them are restarted with them, and
// with the values before afterwards.
func TestALibraryAndADatabaseAreTried(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.keeps()
	w.script("check.out", `{"part":"library","well":true,"said":"is marked"}`)
	w.up().serving()
	library := filepath.Join(w.data, "manga")
	must(t, os.Mkdir(library, 0o755))
	must(t, os.WriteFile(filepath.Join(library, ".mangrove-library"), []byte("x\n"), 0o600))
	last := func(file, name string) string {
		value := ""
		for line := range strings.Lines(w.read("script/" + file)) {
			if v, ok := strings.CutPrefix(line, name+"="); ok {
				value = strings.TrimSpace(v)
			}
		}
		return value
	}
	if code, out := w.run("settings", "try", config.Library, library); code != 0 {
		t.Fatalf("try: %d %s", code, out)
	}
	for _, file := range []string{"scraper.env", "reader.env"} {
		if got := last(file, config.Library); got != library {
			t.Errorf("%s: %s", file, got)
		}
	}
	if code, out := w.run("settings", "keep"); code != 0 {
		t.Errorf("keep: %d %s", code, out)
	}

	embedded := last("migrate.env", config.DatabaseURL)
	address := "postgres://mo:hunter2@127.0.0.1:1/m"
	var said buffer
	spec := w.spec(&said, "settings", "try", config.DatabaseURL, "-", "--for", "10s")
	spec.Stdin = strings.NewReader(address + "\n")
	exit, _, err := child.Run(t.Context(), spec)
	must(t, err)
	if exit.Code != 0 || strings.Contains(said.String(), "hunter2") {
		t.Fatalf("try: %s %s", exit, said.String())
	}
	if got := last("migrate.env", config.DatabaseURL); got != address {
		t.Errorf("migrated: %s", got)
	}
	w.eventually("it went back", func() bool {
		_, out := w.run("status")
		return strings.Contains(out, config.DatabaseURL+" went back at")
	})
	if got := last("migrate.env", config.DatabaseURL); got != embedded {
		t.Errorf("gone back to %s, want %s", got, embedded)
	}
	if got := last("scraper.env", config.Library); got != library {
		t.Errorf("what was kept before went back too: %s", got)
	}
	w.unspent("reader", "scraper", "postgres")
	for _, file := range []string{"logs/supervisor.log", "supervisor-events.log", "run/status.json"} {
		if strings.Contains(w.read(file), "hunter2") {
			t.Errorf("%s holds the password of the database", file)
		}
	}
	if code, out := w.run("doctor", filepath.Join(w.data, "support.zip")); code != 0 {
		t.Errorf("doctor: %d %s", code, out)
	}
}

// TestTheSamePortForMoreThanThisMachine: ours holds the port, so only the host is tried.
func TestTheSamePortForMoreThanThisMachine(t *testing.T) {
	t.Parallel()
	w := newWorld(t).external()
	before := w.keeps()
	w.up().serving()
	_, port, err := net.SplitHostPort(before)
	must(t, err)
	if code, out := w.run("settings", "try", config.HTTP, "0.0.0.0:"+port); code != 0 {
		t.Errorf("try: %d %s", code, out)
	}
}
