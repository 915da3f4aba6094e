package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// typed is what stands on the line and what it is completed to.
var typed = map[string]string{
	"rest": "restart", "restart s": "scraper", "incident s": "save show", "start --a": "--all", "completion f": "fish", "logs --f": "--follow",
	"library v": "verify", "restart scraper x": "", "nosuch x": "",
}

// completes compares what a shell offers, in any order, with what was typed.
func completes(t *testing.T, shell string, offer func(path string, words []string) *exec.Cmd) {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	for line, want := range typed {
		out, err := offer(path, append([]string{"mangrove"}, strings.Split(line, " ")...)).CombinedOutput()
		got := strings.Fields(string(out))
		slices.Sort(got)
		if got := strings.Join(got, " "); err != nil || got != want {
			t.Errorf("%s completes %q to %q (%v), want %q", shell, line, got, err, want)
		}
	}
}

func TestBashCompletes(t *testing.T) {
	t.Parallel()
	script := bashScript(tree(t))
	completes(t, "bash", func(bash string, words []string) *exec.Cmd {
		return exec.Command(bash, append([]string{"--norc", "-c", script + `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mangrove; echo "${COMPREPLY[*]}"`, "x"}, words...)...)
	})
}

// TestZshCompletes: which of the words offered fit is for zsh itself to say, on a
// terminal; here they are put to its pattern matching.
func TestZshCompletes(t *testing.T) {
	t.Parallel()
	script := `compdef() { }; _files() { }; compadd() { shift; print -l -- ${(M)@:#${words[CURRENT]}*} };` + "\n" + zshScript(tree(t))
	completes(t, "zsh", func(zsh string, words []string) *exec.Cmd {
		return exec.Command(zsh, append([]string{"-f", "-c", script + `words=("$@"); CURRENT=$#; _mangrove`, "x"}, words...)...)
	})
}

func TestFishCompletes(t *testing.T) {
	t.Parallel()
	script := fishScript(tree(t))
	home := t.TempDir()
	completes(t, "fish", func(fish string, words []string) *exec.Cmd {
		// A word that nothing fits is completed to the files there are: none.
		cmd := exec.Command(fish, "--no-config", "-c", script+`function mangrove; end; complete -C "$argv" | string replace -r '\t.*' ''; true`, strings.Join(words, " "))
		cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
		return cmd
	})
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
