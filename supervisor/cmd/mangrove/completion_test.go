package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tree is every place of the command line.
func tree(t *testing.T) []place {
	t.Helper()
	p, err := newParser(&commands{}, console{&bytes.Buffer{}, &bytes.Buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	return places(p.Model.Node, "")
}

// TestEveryCommandCanBeCompleted, in each shell, and each shell there is reads its
// script without a word.
func TestEveryCommandCanBeCompleted(t *testing.T) {
	t.Parallel()
	all := tree(t)
	if len(all) < 25 {
		t.Fatalf("only %d places", len(all))
	}
	for shell, script := range map[string]string{"bash": bashScript(all), "zsh": zshScript(all), "fish": fishScript(all)} {
		for _, p := range all {
			for _, w := range p.words {
				if text := strings.TrimPrefix(w.text, "--"); !strings.Contains(script, text) {
					t.Errorf("%s: %q is not completed after %q", shell, w.text, p.path)
				}
			}
			if !strings.Contains(script, `"`+p.path+`"`) {
				t.Errorf("%s: nothing is completed after %q", shell, p.path)
			}
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		file := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(path, "-n", file).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s does not read its script: %v\n%s", shell, err, out)
		}
	}
}

// TestBashCompletes what is typed so far.
func TestBashCompletes(t *testing.T) {
	t.Parallel()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip(err)
	}
	script := bashScript(tree(t))
	for typed, want := range map[string]string{
		"rest": "restart", "restart s": "scraper", "incident s": "show save", "start --a": "--all", "completion f": "fish", "logs --f": "--follow", "restart scraper x": "", "nosuch x": "",
	} {
		words := append([]string{"mangrove"}, strings.Split(typed, " ")...)
		cmd := exec.Command(bash, "--norc", "-c", script+`COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mangrove; echo "${COMPREPLY[*]}"`, "x")
		cmd.Args = append(cmd.Args, words...)
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%q is completed to %q (%v), want %q", typed, got, err, want)
		}
	}
}

// TestEveryCommandHasHelpWithAnExample, one that begins with the command itself.
func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	t.Parallel()
	for _, p := range tree(t) {
		var out bytes.Buffer
		args := append(strings.Fields(p.path), "--help")
		code, err := run(args, &out, &out)
		_, example, found := strings.Cut(strings.Join(strings.Fields(out.String()), " "), "Example")
		if code != 0 || err != nil || !found || !strings.Contains(example, "mangrove "+p.path) {
			t.Errorf("mangrove %s (%d, %v) has no example of itself:\n%s", strings.Join(args, " "), code, err, out.String())
		}
	}
}
