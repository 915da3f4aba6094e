package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhereTheMetricsAreTold(t *testing.T) {
	tests := []struct {
		env  []string
		want string
		// says is part of the error; "" wants none.
		says string
	}{
		{nil, "127.0.0.1:8486", ""},
		{[]string{"MANGROVE_METRICS="}, "", ""},
		{[]string{"MANGROVE_METRICS=localhost:1"}, "localhost:1", ""},
		{[]string{"MANGROVE_METRICS=[::1]:1"}, "[::1]:1", ""},
		{[]string{"MANGROVE_METRICS=127.9.9.9:1"}, "127.9.9.9:1", ""},
		{[]string{"MANGROVE_METRICS=0.0.0.0:1", "MANGROVE_METRICS_TOKEN_FILE=/etc/token"}, "0.0.0.0:1", ""},
		{[]string{"MANGROVE_METRICS=0.0.0.0:1"}, "", "MANGROVE_METRICS_TOKEN_FILE"},
		{[]string{"MANGROVE_METRICS=:1"}, "", "MANGROVE_METRICS_TOKEN_FILE"},
		{[]string{"MANGROVE_METRICS=192.168.1.2:1"}, "", "can be reached from other machines"},
		{[]string{"MANGROVE_METRICS=8486"}, "", "host:port"},
		{[]string{"MANGROVE_METRICS_TOKEN_FILE=token"}, "", "absolute"},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.env, " "), func(t *testing.T) {
			c, err := Load(tt.env, 1000, "/home/mo")
			var s *SettingError
			switch {
			case tt.says == "" && (err != nil || c.Metrics != tt.want):
				t.Errorf("%q, %v, want %q", c.Metrics, err, tt.want)
			case tt.says != "" && (!errors.As(err, &s) || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "\n")):
				t.Errorf("%v, want one line that says %q", err, tt.says)
			}
		})
	}
}

func TestTheTokenOfTheMetrics(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string, mode os.FileMode) {
		t.Helper()
		if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
	}
	c := Config{MetricsTokenFile: file}
	if _, err := c.MetricsToken(); err == nil || !strings.Contains(err.Error(), MetricsTokenFile) {
		t.Errorf("a file that is not there: %v", err)
	}
	write("0123456789abcdef\n", 0o644)
	if _, err := c.MetricsToken(); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others may read: %v", err)
	}
	write("short\n", 0o600)
	if _, err := c.MetricsToken(); err == nil || !strings.Contains(err.Error(), "fewer than 16") || strings.Contains(err.Error(), "short") {
		t.Errorf("a token that can be guessed: %v", err)
	}
	write("0123456789abcdef\n", 0o600)
	if token, err := c.MetricsToken(); err != nil || token.Reveal() != "0123456789abcdef" {
		t.Errorf("%v, %v", token, err)
	}
	if token, err := (Config{}).MetricsToken(); err != nil || token != "" {
		t.Errorf("without a file: %v, %v", token, err)
	}
}
