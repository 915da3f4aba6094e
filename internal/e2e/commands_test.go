package e2e

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"mangrove/internal/config"
)

// TestEveryCommandAnswers while the database, the scraper and the reader are down, and
// again with nothing running at all: none hangs, and one that needs the database ends
// with 3 and names it.
func TestEveryCommandAnswers(t *testing.T) {
	turn(t)
	m := newMangrove(t)
	m.start()
	m.serving()
	bundle := filepath.Join(m.top, "support.zip")
	const noDatabase, noSupervisor = "the database does not answer", "no Mangrove answers"
	type answer struct {
		code int
		says string
	}
	commands := []struct {
		args       []string
		down, none answer // the three services down; nobody there
	}{
		{[]string{"status"}, answer{0, "stopped"}, answer{3, noSupervisor}},
		{[]string{"check"}, answer{1, "NOT  database    does not answer"}, answer{3, "NOT  supervisor"}},
		{[]string{"logs", "-n", "5"}, answer{0, ""}, answer{0, ""}},
		{[]string{"doctor", bundle}, answer{0, "support.zip is written"}, answer{1, "is there already"}},
		{[]string{"settings"}, answer{0, config.Data}, answer{0, config.Data}},
		{[]string{"settings", "list"}, answer{0, config.Data}, answer{0, config.Data}},
		{[]string{"settings", "try", config.HTTP, freePort(t)}, answer{1, "is set by the environment"}, answer{3, noSupervisor}},
		{[]string{"settings", "keep"}, answer{1, "nothing is on trial"}, answer{3, noSupervisor}},
		{[]string{"settings", "forget", config.HTTP}, answer{75, "process "}, answer{1, "no value of"}},
		{[]string{"upgrade", "begin", "--installed", m.programs}, answer{0, noDatabase}, answer{0, noDatabase}},
		{[]string{"upgrade", "backup", bundle}, answer{0, "its backup is"}, answer{0, "its backup is"}},
		{[]string{"upgrade", "verify", "--within", "0s"}, answer{1, "FAILED (services)"}, answer{1, "FAILED (no-answer)"}},
		{[]string{"upgrade", "fail", "no-backup"}, answer{1, "no attempt has begun"}, answer{1, "no attempt has begun"}},
		{[]string{"upgrade", "list"}, answer{0, "ATTEMPT"}, answer{0, "ATTEMPT"}},
		{[]string{"upgrade", "show", "1"}, answer{0, `"outcome": "failed"`}, answer{0, `"outcome": "failed"`}},
		{[]string{"archive", filepath.Join(m.top, "events.log")}, answer{75, "process "}, answer{0, "holds what was written until now"}},
		{[]string{"version"}, answer{0, "mangrove "}, answer{0, "mangrove "}},
		{[]string{"completion", "bash"}, answer{0, "complete "}, answer{0, "complete "}},
		{[]string{"site", "label"}, answer{0, ""}, answer{0, ""}},
		{[]string{"site", "check", "/nonexistent.yaml"}, answer{1, "there is no such file"}, answer{1, "there is no such file"}},
		{[]string{"queue"}, answer{3, noDatabase}, answer{3, noDatabase}},
		{[]string{"start", "12"}, answer{3, noDatabase}, answer{3, noDatabase}},
		{[]string{"pause", "12"}, answer{3, noDatabase}, answer{3, noDatabase}},
		{[]string{"resume", "sample"}, answer{3, noDatabase}, answer{3, noDatabase}},
		{[]string{"release", "queue"}, answer{3, noDatabase}, answer{3, noDatabase}},
		{[]string{"retry", "12"}, answer{3, noDatabase}, answer{3, noDatabase}},
		{[]string{"cancel", "12"}, answer{3, noDatabase}, answer{3, noDatabase}},
		{[]string{"import", bundle, "--user", "mo"}, answer{3, noDatabase}, answer{3, noDatabase}},
		{[]string{"export"}, answer{3, noDatabase}, answer{3, noDatabase}},
		{[]string{"library", "rebuild"}, answer{3, noDatabase}, answer{3, noDatabase}},
		{[]string{"library", "verify"}, answer{3, noDatabase}, answer{3, noDatabase}},
		{[]string{"library", "fetch-again", "sample", "s", "c"}, answer{3, noDatabase}, answer{3, noDatabase}},
		{[]string{"incident", "list"}, answer{3, noDatabase}, answer{3, noDatabase}},
		{[]string{"incident", "show", "1"}, answer{3, noDatabase}, answer{3, noDatabase}},
		{[]string{"incident", "save", "1", filepath.Join(m.top, "i.zip")}, answer{3, noDatabase}, answer{3, noDatabase}},
		{[]string{"up"}, answer{75, "process "}, answer{-1, ""}},
		{[]string{"stop", "scraper"}, answer{1, "is stopped already"}, answer{3, noSupervisor}},
		{[]string{"reset-budget", "scraper"}, answer{0, "full already"}, answer{3, noSupervisor}},
		// Under a running supervisor the private database is its own to start.
		{[]string{"migrate"}, answer{75, "process "}, answer{-1, ""}},
		// The last one: it starts what is stopped.
		{[]string{"restart", "reader"}, answer{0, "reader is started"}, answer{3, noSupervisor}},
	}
	script, err := m.run("completion", "bash")
	if err != nil {
		t.Fatal(err)
	}
	places := regexp.MustCompile(`(?m)^    "([a-z -]+)"\) words=`).FindAllStringSubmatch(script, -1)
	for _, p := range places {
		group := slices.ContainsFunc(places, func(o []string) bool { return strings.HasPrefix(o[1], p[1]+" ") })
		asked := slices.ContainsFunc(commands, func(c struct {
			args       []string
			down, none answer
		}) bool {
			return strings.HasPrefix(strings.Join(c.args, " ")+" ", p[1]+" ")
		})
		if !group && !asked {
			t.Errorf("%s is not asked here", p[1])
		}
	}
	try := func(args []string, want answer) {
		t.Helper()
		if want.code < 0 {
			return
		}
		cmd := m.command(args...)
		said := &console{}
		cmd.Stdout, cmd.Stderr = said, said
		began := time.Now()
		_ = cmd.Run()
		if took := time.Since(began); cmd.ProcessState.ExitCode() != want.code || !strings.Contains(said.String(), want.says) || took > 30*time.Second {
			t.Errorf("mangrove %s ended with %d after %s, want %d and %q:\n%s", strings.Join(args, " "), cmd.ProcessState.ExitCode(), took, want.code, want.says, said)
		}
	}
	for _, name := range []string{"reader", "scraper", "postgres"} {
		if out, err := m.run("stop", name); err != nil {
			t.Fatalf("stop %s: %v %s", name, err, out)
		}
	}
	m.eventually("all three are stopped", func() (bool, string) {
		all, out := m.status()
		n := 0
		for _, s := range all {
			if s.state == "stopped" {
				n++
			}
		}
		return n == 3, out
	})
	for _, c := range commands {
		try(c.args, c.down)
	}
	if code := m.stop(); code != 0 {
		t.Errorf("the stop ended with %d", code)
	}
	for _, c := range commands {
		try(c.args, c.none)
	}
	// A data folder on which nothing ever ran.
	m.env[config.Data] = filepath.Join(m.top, "empty")
	try([]string{"queue"}, answer{3, noDatabase})
	try([]string{"check"}, answer{3, "NOT  database"})
}
