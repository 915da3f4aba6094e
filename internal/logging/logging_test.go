package logging

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/zap"
)

// TestSecretsNeverReachALine shows OBS-3, features D24 and H8.
func TestSecretsNeverReachALine(t *testing.T) {
	var buf bytes.Buffer
	log := New(&buf, "reader", "info").With(zap.String("session_token", "canary-1"))
	fields := []zap.Field{zap.String("Password", "canary-2"), zap.String("site", "sample"), zap.Any("set-cookie", []string{"canary-3"})}
	log.Info("signed in", fields...)
	if strings.Contains(buf.String(), "canary") {
		t.Errorf("a secret was logged: %s", buf.String())
	}
	if !strings.Contains(buf.String(), `"site":"sample"`) {
		t.Errorf("an ordinary field was lost: %s", buf.String())
	}
	if fields[0].String != "canary-2" {
		t.Error("the caller's own fields were changed")
	}
}

// TestHostileTextStaysOnOneLine shows OBS-3.
func TestHostileTextStaysOnOneLine(t *testing.T) {
	var buf bytes.Buffer
	log := New(&buf, "scraper", "info")
	log.Info("title", zap.String("title", "a\n{\"level\":\"error\"}\x1b[31m\xff"))
	if got := strings.Count(buf.String(), "\n"); got != 1 {
		t.Errorf("%d lines, want 1: %q", got, buf.String())
	}
	if !json.Valid(bytes.TrimSpace(buf.Bytes())) || bytes.ContainsRune(buf.Bytes(), 0x1b) {
		t.Errorf("not clean JSON: %q", buf.String())
	}
}

func TestURL(t *testing.T) {
	got := URL("https://mo:pw@img.example.org/p/1.jpg?token=canary#x")
	if want := "https://img.example.org/p/1.jpg"; got != want {
		t.Errorf("URL = %q, want %q", got, want)
	}
}
