package deploytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// setting is the last value that a unit gives name.
func setting(unit, name string) (value string) {
	for line := range strings.Lines(unit) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			value = v
		}
	}
	return value
}

// TestTheUnit: what the supervisor needs, what makes no storm, and what Chromium's
// sandbox and PostgreSQL cannot do without.
func TestTheUnit(t *testing.T) {
	unit := string(shipped(t, "deploy/systemd/mangrove.service"))
	for name, want := range map[string]string{
		"Restart": "on-failure", "RestartPreventExitStatus": "2 75 78", "StartLimitIntervalSec": "1h", "StartLimitBurst": "5", "OOMPolicy": "continue", "KillMode": "mixed",
		"User": "mangrove", "StandardOutput": "null", "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "NoNewPrivileges": "yes", "CapabilityBoundingSet": "",
		"RestrictNamespaces": "user pid net", "SystemCallFilter": "@system-service chroot seccomp",
		// These would break it.
		"MemoryDenyWriteExecute": "", "ProcSubset": "", "PrivateUsers": "", "PrivateNetwork": "",
	} {
		if got := setting(unit, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	systemd, err := exec.LookPath("systemd-analyze")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("run deploy/install.sh --test first: ", err)
	}
	// The programs are not installed on the machine that tests.
	file := filepath.Join(t.TempDir(), "mangrove.service")
	if err := os.WriteFile(file, []byte(strings.Replace(unit, "ExecStart=/usr/local/bin/mangrove up", "ExecStart=/bin/true up", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(systemd, "verify", "--man=no", file).CombinedOutput(); err != nil || strings.Contains(string(out), "mangrove.service") {
		t.Errorf("systemd does not understand it (%v): %s", err, out)
	}
	// Of ten, in tenths; below what systemd calls "OK".
	if out, err := exec.Command(systemd, "security", "--offline=yes", "--no-pager", "--threshold=25", file).CombinedOutput(); err != nil {
		t.Errorf("it is open for more than it needs (%v): %s", err, out)
	}
}
