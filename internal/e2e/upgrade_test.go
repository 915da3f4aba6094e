package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"mangrove/internal/fakesite"
)

// TestAnUpgradeIsSeenToWork puts another version in place while a chapter is half
// fetched, with deploy/release.sh: first one under which nothing goes on, which fails,
// says how to go back, and is gone back from by what it says; then one that goes on
// where the old one was (features H14, H15, D31).
func TestAnUpgradeIsSeenToWork(t *testing.T) {
	turn(t)
	chapters := shipped(t)
	site := startShelf(t, chapters)
	middle := chapters[1]
	gate := make(chan struct{})
	hold := func(n int) fakesite.Answer {
		held := site.image(middle, n)
		held.Hold, held.HoldAfter = gate, len(held.Body)/2
		return held
	}
	// The fourth page is held for the old version, for the new one, and for the old one
	// once more. A chapter that is resumed asks for the first page it lacks alone.
	site.On(imagePath(middle, 3), hold(3), hold(3), hold(3), site.image(middle, 3))
	site.On(imagePath(middle, 4), hold(4), site.image(middle, 4))
	defer close(gate)
	m := newMangrove(t, site.settings()...)
	m.programs = filepath.Join(m.top, "bin")
	next := filepath.Join(m.top, "next")
	buildAs(t, "e2e-next", next)
	if out, err := exec.Command("cp", "-r", programs, m.programs).CombinedOutput(); err != nil {
		t.Fatalf("copy the programs: %v\n%s", err, out)
	}
	m.start()
	before := versionIn(m.serving1())
	ada := m.visit("ada", desktop)
	ada.claim()
	ada.followTheSample()
	site.asked(middle, 3)
	site.asked(middle, 4)
	ada.until("three pages of chapter 2 are there", threeOfEight)

	code, out := m.release(next, "--within", "5s")
	record := m.record(1)
	if code != 1 || !strings.Contains(out, "FAILED (unmoved)") || !strings.Contains(record, `"outcome": "failed"`) || !strings.Contains(record, `"verdict": "stands"`) {
		t.Fatalf("nothing went on, and it ended with %d:\n%s\n%s", code, out, record)
	}
	if got := versionIn(m.serving1()); got != "e2e-next" {
		t.Errorf("version %q runs", got)
	}
	// What it says is done as it stands.
	if code := m.stop(); code != 0 {
		t.Errorf("the stop ended with %d", code)
	}
	back := regexp.MustCompile(`(?m)^ +\d+\. (mv -f .*)$`).FindAllStringSubmatch(out, -1)
	if len(back) != 3 || strings.Contains(out, "--down-to") {
		t.Fatalf("the way back is not three programs:\n%s", out)
	}
	for _, line := range back {
		if out, err := exec.Command("sh", "-c", line[1]).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line[1], err, out)
		}
	}
	m.start()
	if got := versionIn(m.serving1()); got != before {
		t.Errorf("gone back, version %q runs and not %q", got, before)
	}
	m.eventually("the old version is at page 4 again", func() (bool, string) {
		n := site.Ledger().Count(imagePath(middle, 3))
		return n == 3, fmt.Sprint(n)
	})

	code, out = m.release(next, "--within", patience.String())
	record = m.record(2)
	if code != 0 || !strings.Contains(out, "Jobs that were under way: 1") {
		t.Fatalf("it ended with %d:\n%s\n%s", code, out, record)
	}
	for _, want := range []string{`"outcome": "resumed"`, `"rollback": "programs"`, `"version": "e2e-next"`, `"state": "downloading"`, `"pages_done": 3`} {
		if !strings.Contains(record, want) {
			t.Errorf("the record lacks %s:\n%s", want, record)
		}
	}
	if kept, err := exec.Command(filepath.Join(m.programs, "mangrove.before"), "version").Output(); err != nil || strings.TrimSpace(string(kept)) != "mangrove "+before {
		t.Errorf("kept beside is %q (%v)", kept, err)
	}
	if tars, _ := filepath.Glob(filepath.Join(m.top, "backups", "*.tar.gz")); len(tars) != 2 {
		t.Errorf("backups: %q", tars)
	}
	ada.chaptersHere(3)
	ada.jobDone("Done, 3 chapters")
	m.holds(chapters)
	for name, s := range m.serving() {
		if s.failures != 0 {
			t.Errorf("the upgrade of %s counts as a failure", name)
		}
	}
	// Nothing that was accepted was asked for again.
	for n, want := range []int{1, 1, 1, 4, 2, 1, 1, 1} {
		if got := site.Ledger().Count(imagePath(middle, n)); got != want {
			t.Errorf("page %d was asked for %d times, want %d", n+1, got, want)
		}
	}

	code, out = m.release(next)
	if code != 0 || !strings.Contains(out, "nothing was being downloaded") || !strings.Contains(m.record(3), `"outcome": "idle"`) {
		t.Errorf("with nothing under way it ended with %d:\n%s", code, out)
	}
	if out, err := m.run("upgrade", "list"); err != nil || !regexp.MustCompile(`(?s)3 .* idle .*2 .* resumed .*1 .* failed .*unmoved`).MatchString(out) {
		t.Errorf("the list (%v):\n%s", err, out)
	}
	ada.contented(true)
}

// buildAs builds the three programs once more, as of another version.
func buildAs(t *testing.T, version, folder string) {
	t.Helper()
	build := exec.Command("go", "build", "-tags", "nodynamic", "-buildvcs=false", "-ldflags", "-X main.version="+version, "-o", folder+"/",
		"./supervisor/cmd/mangrove", "./scraper/cmd/mangrove-scraper", "./reader/cmd/mangrove-reader")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the programs: %v\n%s", err, out)
	}
}

// serving1 waits until everything serves and returns what status says.
func (m *mangrove) serving1() string {
	m.t.Helper()
	m.serving()
	_, out := m.status()
	return out
}

func versionIn(status string) string {
	found := regexp.MustCompile(`^Mangrove (\S+), running`).FindStringSubmatch(status)
	if found == nil {
		return ""
	}
	return found[1]
}

// record is what the n-th attempt left.
func (m *mangrove) record(n int) string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.data, "upgrades", fmt.Sprintf("%04d.json", n)))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

// release runs deploy/release.sh, for which this test is what stops and starts.
func (m *mangrove) release(next string, more ...string) (int, string) {
	m.t.Helper()
	asked, told := filepath.Join(m.top, "asked"), filepath.Join(m.top, "told")
	for _, pipe := range []string{asked, told} {
		if err := os.RemoveAll(pipe); err != nil {
			m.t.Fatal(err)
		}
		if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
			m.t.Fatalf("mkfifo: %v\n%s", err, out)
		}
	}
	ask := func(what string) string {
		return fmt.Sprintf("echo %s > %s && read -r done < %s && [ \"$done\" = done ]", what, asked, told)
	}
	cmd := exec.Command(filepath.Join(root, "deploy", "release.sh"), append([]string{
		"--new", next, "--installed", m.programs, "--backups", filepath.Join(m.top, "backups"), "--stop", ask("stop"), "--start", ask("start"),
	}, more...)...)
	for k, v := range m.env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	said := &console{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	for range 2 {
		word := make(chan string, 1)
		go func() { // a pipe that nobody opens is left behind by the end of the test
			text, _ := os.ReadFile(asked)
			word <- strings.TrimSpace(string(text))
		}()
		select {
		case <-ended:
			return cmd.ProcessState.ExitCode(), said.String()
		case what := <-word:
			switch what {
			case "stop":
				if code := m.stop(); code != 0 {
					m.t.Errorf("the stop ended with %d", code)
				}
			case "start":
				m.start()
			}
		}
		if err := os.WriteFile(told, []byte("done\n"), 0o600); err != nil {
			m.t.Fatal(err)
		}
	}
	<-ended
	return cmd.ProcessState.ExitCode(), said.String()
}
