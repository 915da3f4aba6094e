package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestDefaults(t *testing.T) {
	tests := []struct {
		name, xdg, home, want string
		uid                   int
	}{
		{"root", "", "/root", "/var/lib/mangrove", 0},
		{"user", "", "/home/mo", "/home/mo/.local/share/mangrove", 1000},
		{"user with XDG", "/data", "/home/mo", "/data/mangrove", 1000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Load([]string{"PATH=/bin", "XDG_DATA_HOME=" + tt.xdg}, tt.uid, tt.home)
			if err != nil {
				t.Fatal(err)
			}
			if c.DataDir != tt.want || c.LibraryDir != tt.want+"/library" {
				t.Errorf("data %q library %q, want %q", c.DataDir, c.LibraryDir, tt.want)
			}
			for _, addr := range []string{c.HTTP, c.Health} {
				if !strings.HasPrefix(addr, "127.0.0.1:") {
					t.Errorf("listens outside loopback by default: %s", addr)
				}
			}
			if !c.Embedded() {
				t.Error("the embedded database is not the default")
			}
		})
	}
}

func TestWrongSettingIsNamed(t *testing.T) {
	tests := []struct{ env, setting, says string }{
		{"MANGROVE_LIBARY=/x", "MANGROVE_LIBARY", "did you mean MANGROVE_LIBRARY?"},
		{"MANGROVE_WHATEVER_ELSE=1", "MANGROVE_WHATEVER_ELSE", "no such setting"},
		{"MANGROVE_DATA=relative", Data, "absolute"},
		{"MANGROVE_DATA=/", Data, "root folder"},
		{"MANGROVE_HTTP=8484", HTTP, "host:port"},
		{"MANGROVE_HTTP=127.0.0.1:99999", HTTP, "port"},
		{"MANGROVE_HEALTH=example.org:1", Health, "IP address"},
		{"MANGROVE_LOG_LEVEL=loud", LogLevel, "debug"},
		{"MANGROVE_DATABASE_URL=mysql://x", DatabaseURL, "postgres://"},
		{"MANGROVE_DATABASE_URL=postgres://a/b\n", DatabaseURL, "line break"},
		{"MANGROVE_ALLOW_ADDRESSES=10.0.0.0/8,home", AllowAddresses, "home"},
		{"MANGROVE_HOSTS=https://a.example", Hosts, "host name"},
		{"MANGROVE_SAMPLE_URL=file:///etc/passwd", SampleURL, "http"},
		{"MANGROVE_CHROMIUM=chromium", Chromium, "absolute"},
		{"MANGROVE_BASE_PATH=books", BasePath, "/books"},
		{"MANGROVE_BASE_PATH=//evil", BasePath, "/books"},
		{"MANGROVE_BASE_PATH=/a/../b", BasePath, "/books"},
		{"MANGROVE_BASE_PATH=/a b", BasePath, "/books"},
		{"MANGROVE_BASE_PATH=/a\"b", BasePath, "/books"},
		{"MANGROVE_BASE_PATH=/{a}", BasePath, "/books"},
		{"MANGROVE_TRUSTED_PROXIES=caddy", TrustedProxies, "caddy"},
		{"MANGROVE_TRUSTED_PROXIES=0.0.0.0/0", TrustedProxies, "everybody"},
		{"MANGROVE_CLAIM_FROM=home", ClaimFrom, "home"},
		{"MANGROVE_PLAIN_HTTP=true", PlainHTTP, "yes or no"},
		{"MANGROVE_THUMBNAILS=1GB", Thumbnails, "MiB"},
		{"MANGROVE_THUMBNAILS=3", Thumbnails, "16 or more"},
		{"MANGROVE_CHROMIUM_UNSANDBOXED=1", ChromiumUnsandboxed, "yes or no"},
	}
	for _, tt := range tests {
		t.Run(tt.env, func(t *testing.T) {
			_, err := Load([]string{tt.env}, 1000, "/home/mo")
			var s *SettingError
			if !errors.As(err, &s) {
				t.Fatalf("got %v, want a SettingError", err)
			}
			if s.Name != tt.setting || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q, want one line naming %s and saying %q", err, tt.setting, tt.says)
			}
		})
	}
}

func TestBehindAProxy(t *testing.T) {
	c, err := Load([]string{"MANGROVE_BASE_PATH=/my/books/", "MANGROVE_TRUSTED_PROXIES=127.0.0.1, 172.18.0.9/16", "MANGROVE_PLAIN_HTTP=yes", "MANGROVE_CLAIM_FROM=fd00::/8"}, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	if c.BasePath != "/my/books" || fmt.Sprint(c.TrustedProxies) != "[127.0.0.1/32 172.18.0.0/16]" || !c.PlainHTTP || fmt.Sprint(c.ClaimFrom) != "[fd00::/8]" {
		t.Errorf("got %q, %v, %v, %v", c.BasePath, c.TrustedProxies, c.PlainHTTP, c.ClaimFrom)
	}
	if c, err := Load([]string{"MANGROVE_BASE_PATH=/"}, 0, ""); err != nil || c.BasePath != "" {
		t.Errorf("the root: %q, %v", c.BasePath, err)
	}
}

func TestSecretIsNeverPrinted(t *testing.T) {
	c, err := Load([]string{"MANGROVE_DATABASE_URL=postgres://mo:hunter2@db/m"}, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		if s := fmt.Sprintf(format, c); strings.Contains(s, "hunter2") {
			t.Errorf("%s prints the password", format)
		}
	}
	if !strings.Contains(c.DatabaseURL.Reveal(), "hunter2") {
		t.Error("Reveal lost the value")
	}
}

func TestRoleURLRefusesAWorldReadableFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "reader.url")
	if err := os.WriteFile(file, []byte("postgres://r@/m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := Config{DatabaseURLFile: file}
	if got, err := c.RoleURL("reader"); err != nil || got.Reveal() != "postgres://r@/m" {
		t.Errorf("RoleURL = %q, %v", got.Reveal(), err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.RoleURL("reader"); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file others can read was taken: %v", err)
	}
}
