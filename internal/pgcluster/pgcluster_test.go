package pgcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// program makes an executable file.
func program(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	for _, p := range []string{"versions/9/bin", "versions/15/bin", "versions/14/bin", "own", "lone-home/bin"} {
		program(t, filepath.Join(dir, p, "postgres"))
		program(t, filepath.Join(dir, p, "initdb"))
	}
	// A newer version without initdb is a client package's leftover.
	program(t, filepath.Join(dir, "versions/16/bin/postgres"))
	program(t, filepath.Join(dir, "no-initdb/postgres"))
	if err := os.MkdirAll(filepath.Join(dir, "links"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "lone-home/bin/postgres"), filepath.Join(dir, "links/postgres")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, bin, path, versions, want string
		wantErr                         error
	}{
		{"the folder that was named", "own", "links", "versions", "own", nil},
		{"a named folder without programs is not replaced by another", "empty", "links", "versions", "", ErrNoPrograms},
		{"a link on the path leads to the programs", "", "no-initdb:links", "versions", "lone-home/bin", nil},
		{"the highest version by number", "", "no-initdb", "versions", "versions/15/bin", nil},
		{"nothing", "", "", "none", "", ErrNoPrograms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			abs := func(p string) string {
				if p == "" {
					return ""
				}
				return filepath.Join(dir, p)
			}
			var path []string
			for p := range strings.SplitSeq(tt.path, ":") {
				path = append(path, abs(p))
			}
			got, err := Find(Lookup{Bin: abs(tt.bin), Path: strings.Join(path, ":"), Versions: abs(tt.versions)})
			if !errors.Is(err, tt.wantErr) || got.Dir != abs(tt.want) {
				t.Errorf("Find = %v, %v; want %s, %v", got, err, abs(tt.want), tt.wantErr)
			}
		})
	}
}

func TestParseVersion(t *testing.T) {
	tests := []struct {
		output string
		want   int
	}{
		{"postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)", 15},
		{"postgres (PostgreSQL) 18beta1", 18},
		{"postgres (PostgreSQL) 13.1", 0},
		{"bash: postgres: not found", 0},
	}
	for _, tt := range tests {
		got, err := ParseVersion(tt.output)
		if got != tt.want || (err == nil) != (tt.want != 0) {
			t.Errorf("ParseVersion(%q) = %d, %v; want %d", tt.output, got, err, tt.want)
		}
	}
}

func TestCheckSocketAtTheLimit(t *testing.T) {
	for _, n := range []int{MaxSocketPath, MaxSocketPath + 1} {
		root := "/" + strings.Repeat("x", n-len("//run/"+socketName))
		l := Layout{Root: root}
		if len(l.Socket()) != n {
			t.Fatalf("the test's path is %d bytes, want %d", len(l.Socket()), n)
		}
		err := l.CheckSocket()
		if (err == nil) != (n <= MaxSocketPath) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "108") || !strings.Contains(err.Error(), "107")) {
			t.Errorf("the error names neither length: %v", err)
		}
	}
}

func TestCheckReachableNamesTheClosedFolder(t *testing.T) {
	top := t.TempDir()
	if err := os.Chmod(top, 0o711); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(top), 0o711); err != nil {
		t.Fatal(err)
	}
	closed := filepath.Join(top, "closed")
	if err := os.MkdirAll(filepath.Join(closed, "inner"), 0o711); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	stranger := Owner{Name: "stranger", UID: 4242, GID: 4242}
	if err := (Layout{Root: filepath.Join(top, "new", "db")}).CheckReachable(stranger); err != nil {
		t.Errorf("an open way: %v", err)
	}
	err := (Layout{Root: filepath.Join(closed, "inner", "db")}).CheckReachable(stranger)
	var f *FolderError
	if !errors.As(err, &f) || f.Folder != closed || !strings.Contains(f.Problem, "stranger") {
		t.Errorf("a closed way: %v, want the folder %s", err, closed)
	}
	me := Owner{Name: "me", UID: uint32(os.Geteuid()), GID: uint32(os.Getegid())}
	if err := (Layout{Root: filepath.Join(closed, "inner", "db")}).CheckReachable(me); err != nil {
		t.Errorf("the owner's way: %v", err)
	}
}

func TestCheckVersion(t *testing.T) {
	l := Layout{Root: t.TempDir()}
	if err := l.CheckVersion(15); err != nil {
		t.Errorf("no cluster: %v", err)
	}
	program(t, filepath.Join(l.Data(), "x"))
	if err := os.WriteFile(filepath.Join(l.Data(), "PG_VERSION"), []byte("14\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.CheckVersion(14); err != nil {
		t.Errorf("the same version: %v", err)
	}
	err := l.CheckVersion(15)
	if err == nil || !strings.Contains(err.Error(), "14") || !strings.Contains(err.Error(), "15") {
		t.Errorf("another version: %v, want both versions named", err)
	}
}

func TestIdent(t *testing.T) {
	got := strings.Split(strings.TrimSpace(Ident("mo", "postgres", "root", "mo", "", "a\"b")), "\n")[1:]
	want := []string{`mangrove "mo" mangrove_admin`, `mangrove "postgres" mangrove_admin`, `mangrove "root" mangrove_admin`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines differ (-want +got):\n%s", diff)
	}
}

func TestAdminURLEscapesTheFolder(t *testing.T) {
	got := Layout{Root: "/srv/a b&c"}.AdminURL("mangrove")
	if want := "postgres://mangrove_admin@/mangrove?host=/srv/a+b%26c/run"; got != want {
		t.Errorf("AdminURL = %q, want %q", got, want)
	}
}

func TestReady(t *testing.T) {
	l := Layout{Root: t.TempDir()}
	if err := os.MkdirAll(l.Data(), 0o700); err != nil {
		t.Fatal(err)
	}
	file := func(pid, status string) string {
		return strings.Join([]string{pid, l.Data(), "1", "5432", l.Run(), "", "1 2", status}, "\n") + "\n"
	}
	tests := []struct {
		name, content string
		want          bool
	}{
		{"ready", file("77", "ready   "), true},
		{"starting", file("77", "starting"), false},
		{"another server's", file("78", "ready   "), false},
		{"half written", "77\n", false},
		{"empty", "", false},
	}
	for _, tt := range tests {
		if err := os.WriteFile(l.PidFile(), []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := l.Ready(77); got != tt.want {
			t.Errorf("%s: Ready = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestSweep(t *testing.T) {
	tests := []struct {
		name, content string
		stays         bool
	}{
		{"empty", "", false},
		{"a number that is another program's", fmt.Sprintf("%d\nx\n", os.Getpid()), false},
		{"not a number", "garbage\n", false},
		{"a number that nobody has", "4194999\nx\n", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := Layout{Root: t.TempDir()}
			for _, dir := range []string{l.Data(), l.Run()} {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for _, file := range []string{l.PidFile(), l.Socket() + ".lock"} {
				if err := os.WriteFile(file, []byte(tt.content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Sweep(); err != nil {
				t.Fatal(err)
			}
			for _, file := range []string{l.PidFile(), l.Socket() + ".lock"} {
				if _, err := os.Stat(file); (err == nil) != tt.stays {
					t.Errorf("%s: stands %v, want %v", filepath.Base(file), err == nil, tt.stays)
				}
			}
		})
	}
}
