package standing

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "status.json")
	at := time.Date(2026, 8, 12, 14, 2, 0, 0, time.UTC)
	want := Report{Started: at, Version: "1", Limit: 3, Services: []Service{
		{Name: "scraper", State: "repair-required", Since: at, FreesAt: Moment(at.Add(time.Hour)), Reason: "3 failures", Next: "mangrove restart scraper",
			Exits: []Exit{{at, "exit code 2", []string{"panic: x"}}}},
		{Name: "reader", State: "serving", Since: at, Left: 3},
	}}
	if err := Write(path, want); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Report{}, "At", "Format"), cmpopts.EquateEmpty()); diff != "" || time.Since(got.At) > time.Minute {
		t.Errorf("written at %s (-want +got):\n%s", got.At, diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
}

func TestNoSecretIsTold(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "status.json")
	lines := []string{"postgres://reader:canary-1@db/x refused", "Cookie: sid=canary-2"}
	r := Report{Services: []Service{{Reason: "password=canary-3", Exits: []Exit{{What: "mail canary@example.org", LastLines: lines}}}}}
	if err := Write(path, r); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(path); err != nil || strings.Contains(string(data), "canary") {
		t.Errorf("it tells %s (%v)", data, err)
	}
	if lines[1] != "Cookie: sid=canary-2" {
		t.Error("the caller's own lines were changed")
	}
}

func TestWhatCannotBeBelievedIsNoReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty": "", "torn": `{"format":1,"at":"2026-`, "null": "null", "list": "[]", "another format": `{"format":2,"at":"2026-08-12T14:02:00Z"}`,
		"no time": `{"format":1}`, "many": `{"format":1,"at":"2026-08-12T14:02:00Z","services":[` + strings.Repeat("{},", maxServices) + `{}]}`,
		"long": `{"format":1,"at":"2026-08-12T14:02:00Z","version":"` + strings.Repeat("x", maxFile) + `"}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := Read(path); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _, err := Read(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
