package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mangrove/internal/config"
)

func TestTheIssuerIsAPart(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	c := config.Config{Issuer: config.Issuer{Address: "https://auth.example.com", Name: "Harbour", Admit: config.AdmitLinked, SecretFile: file}}
	if p := issuerPart(c); p.Well || !strings.Contains(p.Said, config.OIDCClientSecretFile) {
		t.Errorf("without the file: %+v", p)
	}
	if err := os.WriteFile(file, []byte("between us"), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := issuerPart(c); !p.Well || !strings.Contains(p.Said, "Harbour (https://auth.example.com)") || strings.Contains(p.Said, "between us") {
		t.Errorf("with it: %+v", p)
	}
}

// TestCheck: a line a part, and an exit code that a script can go by (OBS-4).
// It shows features H3.
func TestCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	code, out := w.run("check")
	if code != exitNotRunning || !strings.Contains(out, "NOT  supervisor  none answers for "+w.data) || !strings.Contains(out, "ok   database    answers") {
		t.Errorf("nobody there: %d\n%s", code, out)
	}
	s := w.up().serving()
	code, out = w.run("check")
	for _, want := range []string{"ok  supervisor  ", "ok  postgres    serving since ", "ok  scraper     serving since ", "ok  reader      serving since ", "GiB are free for the data folder " + w.data, "ok  metrics     answered at http://127.0.0.1:", "/metrics", "ok  database    answers"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q (%d):\n%s", want, code, out)
		}
	}
	if code != 0 {
		t.Errorf("all is well: %d", code)
	}
	w.script("check.out", `{"part":"database","well":true,"said":"answers"}
{"part":"library","well":false,"said":"is the library\u001b[31m mounted?"}`)
	code, out = w.run("check", "--json")
	var answer struct {
		Well, Answers bool
		Parts         []part
	}
	if err := json.Unmarshal([]byte(out), &answer); err != nil || code != config.ExitFailure || answer.Well || !answer.Answers || len(answer.Parts) != 8 ||
		answer.Parts[7] != (part{"library", false, "is the library [31m mounted?"}) {
		t.Errorf("a part is not well: %d, %v\n%s", code, err, out)
	}
	if err := os.Remove(filepath.Join(w.data, "script", "check.out")); err != nil {
		t.Fatal(err)
	}
	w.run("stop", "scraper")
	w.eventually("the scraper is stopped", func() bool { return w.status("scraper").GetState() == "stopped" })
	if code, out := w.run("check"); code != config.ExitFailure || !strings.Contains(out, "NOT  scraper     stopped since") || !strings.Contains(out, "; next: mangrove start scraper") {
		t.Errorf("a service is stopped: %d\n%s", code, out)
	}
	_ = s
}
