package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mangrove/internal/config"
	"mangrove/internal/grpcserver"
	"mangrove/internal/pgtest"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/reader/internal/backup/backuptest"
	"mangrove/reader/internal/scraperclient/scrapertest"
)

// The command line runs beside a reader that serves, on the same tables.
func TestMovingOnTheCommandLine(t *testing.T) {
	urls := pgtest.New(t)
	r := start(t, urls.Reader)
	eventually(t, "ready", func() bool { return r.serving(grpcserver.Readiness) })
	pool := pgtest.Pool(t, urls.Reader, "reader", nil)
	if _, err := pool.Exec(t.Context(), "INSERT INTO users (name, name_key, role) VALUES ('Mo', 'mo', 'administrator'), ('Ada', 'ada', 'member')"); err != nil {
		t.Fatal(err)
	}
	scraper := scrapertest.New(t)
	scraper.Recognise("/title/1", &scraperv1.RecognisedSeries{Word: "read", Key: &scraperv1.SeriesKey{Site: "sample", SeriesId: "1"}, Url: "https://sample.example/1", SiteName: "Sample"})
	file := filepath.Join(t.TempDir(), "library.tachibk")
	data := backuptest.Mihon(t, []backuptest.Manga{{Source: 5, URL: "/title/1", Title: "Pepper"}, {Source: 6, URL: "/x", Title: "Nowhere\x1b[2J"}}, nil, map[int64]string{5: "Sample", 6: "Some Site"})
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	ask := func(args ...string) (string, int) {
		var out bytes.Buffer
		err := move(context.Background(), args[0], args[1:], &out)
		if err != nil {
			out.WriteString(err.Error())
		}
		return out.String(), moveCode(err)
	}
	says := func(want string, code int, args ...string) string {
		t.Helper()
		said, got := ask(args...)
		if got != code || !strings.Contains(said, want) {
			t.Errorf("%q ends in %d and says %q, want %d and %q", args, got, said, code, want)
		}
		return said
	}
	says("the scraper does not answer", config.ExitFailure, "import", file, "mo")
	// The sockets of the data folder are the real one's; the scripted scraper takes its place.
	if err := os.Symlink(scraper.Socket(), filepath.Join(r.data, "run", "scraper.sock")); err != nil {
		t.Fatal(err)
	}
	scraper.Start(t)
	said := says("This was a dry run", config.ExitOK, "import", file, "MO")
	for _, want := range []string{"library.tachibk for Mo: 2 Series", "matched     1", "no-adapter  1", "Nowhere [2J: Nothing here reads Some Site."} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q: %s", want, said)
		}
	}
	says(`"people": []`, config.ExitOK, "export", "")
	says("2 Series adopted for Mo", config.ExitOK, "import", file, "mo", "adopt")
	all := says(`"series_id": "/x"`, config.ExitOK, "export", "")
	says(`"name": "Ada"`, config.ExitOK, "export", "ada")
	out := filepath.Join(t.TempDir(), "all.json")
	if err := os.WriteFile(out, []byte(strings.Replace(all, `"name": "Mo"`, `"name": "ada"`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	says("2 Series adopted for Ada", config.ExitOK, "import", out, "", "adopt")
	says("nobody here is called", config.ExitFailure, "import", file, "bob")
	says("only a file of mangrove export", config.ExitFailure, "import", file, "")
	says("no such file", config.ExitFailure, "import", file+"x", "mo")
	says("usage", config.ExitSettings, "import", file)
	r.stop()
	t.Setenv(config.DatabaseURLReader, "postgres://127.0.0.1:1/none")
	says("the database does not answer", config.ExitDatabase, "export", "mo")
}
