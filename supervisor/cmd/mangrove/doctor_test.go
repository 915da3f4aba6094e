package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mangrove/internal/config"
)

// TestDoctorLetsNoSecretOut: a canary in every place that a secret may stand in, and
// none of them in any file of the bundle (OBS-3, H8). The list of files is whole.
func TestDoctorLetsNoSecretOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["AWS_SECRET_ACCESS_KEY"] = "canary-of-the-shell"
	w.env[config.DatabaseURL] = "postgres://mangrove:canary-of-a-setting@127.0.0.1:1/mangrove?sslpassword=canary-of-a-query"
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(w.data, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("secrets/scraper.url", "postgres://mangrove_scraper:canaryofarole1@/mangrove?host=/run\n")
	write("secrets/other", "canary-of-a-secret\n")
	write("reader/claim-code", "CANA-RYOF-THECODE\n")
	write("logs/scraper.log", `{"level":"info","time":"2026-01-01T00:00:01Z","msg":"read https://ada:canary-login@comic.example/x?signature=canary-signature","series":"canary-of-a-series","cookie":"sid=canary-cookie"}
{"level":"warn","time":"2026-01-01T00:00:02Z","msg":"failed","error":"Authorization: Bearer canary0123456789abcdef, mail canary@example.org"}
panic: canary-of-a-secret
`)
	write("logs/reader.log", "the shell says canary-of-the-shell, the code is CANA-RYOF-THECODE\n")
	write("logs/postgres.log", "2026-01-01 00:00:02.000 UTC [1] STATEMENT:  ALTER ROLE x PASSWORD 'canaryofarole1'\n")
	write("sites/shelf.yaml", "password: canary-of-a-site\n")
	write("script/check.out", `{"part":"database","well":false,"said":"canary-of-a-setting was refused"}`)
	file := filepath.Join(w.data, "support.zip")
	if code, out := w.run("doctor", file); code != 0 {
		t.Fatalf("%d %s", code, out)
	}
	files := unpack(t, file)
	var names []string
	for name, text := range files {
		names = append(names, name)
		if i := strings.Index(strings.ToLower(text), "cana"); i >= 0 {
			t.Errorf("%s holds a secret: …%s…", name, text[max(0, i-60):min(len(text), i+60)])
		}
	}
	slices.Sort(names)
	want := []string{"about.txt", "check.txt", "logs/postgres.log", "logs/reader.log", "logs/scraper.log", "settings.txt", "status.txt"}
	if !slices.Equal(names, want) {
		t.Errorf("the bundle holds %v, want %v", names, want)
	}
	for name, say := range map[string]string{
		"settings.txt": config.DatabaseURL + ": set\n", "logs/scraper.log": "msg=read https://comic.example/x?signature=[removed]", "status.txt": "no supervisor answers",
		"about.txt": "memory ", "check.txt": "NOT  database",
	} {
		if !strings.Contains(files[name], say) {
			t.Errorf("%s does not say %q:\n%s", name, say, files[name])
		}
	}
	if code, out := w.run("doctor", file); code != config.ExitFailure || !strings.Contains(out, "is there already") {
		t.Errorf("a file that is there: %d %s", code, out)
	}
}

// TestTheBundleIsBounded whatever the logs hold.
func TestTheBundleIsBounded(t *testing.T) {
	t.Parallel()
	var noise bytes.Buffer
	random := rand.NewChaCha8([32]byte{1})
	for noise.Len() < 3<<20 {
		fmt.Fprintf(&noise, "%x\n", random.Uint64())
	}
	data, err := pack([]supportFile{{"a", noise.String()}, {"b", noise.String()}, {"c", "short"}})
	if err != nil || len(data) > maxSupport {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	file := filepath.Join(t.TempDir(), "x.zip")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := unpack(t, file); got["c"] != "short" || !strings.HasPrefix(got["a"], "(cut)\n") || !strings.HasSuffix(noise.String(), got["a"][10:]) {
		t.Error("the end of a log is not what stays")
	}
}

func unpack(t *testing.T, file string) map[string]string {
	t.Helper()
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }()
	out := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		_ = r.Close()
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = string(text)
	}
	return out
}
