package incident

import (
	"archive/zip"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mangrove/internal/fault"
	"mangrove/scraper/internal/checkpoint"
	"mangrove/scraper/internal/source"
)

func sample() Incident {
	at := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	return Incident{
		ID: 12, Kind: fault.Parser, About: AboutJob, Key: source.Key{Site: "comic", SeriesID: "s"}, JobID: 3, ChapterID: "c1", Subject: "https://x.example/c1",
		Reason: "no list", At: at, LastAt: at, Seen: 1, Checkpoint: []byte(`{"job_id":3}`),
		Decided:  []Decision{{At: at, What: "job", ID: "3", To: "quarantined", Reason: "parser"}},
		Evidence: []Evidence{{At: at, Address: "https://x.example/c1", Status: 200, MediaType: "text/html", Headers: []source.Header{{Name: "etag", Value: "x"}}, Size: 6, Body: []byte("<html>")}},
	}
}

func TestABundleIsReadBack(t *testing.T) {
	t.Parallel()
	data, err := Bundle(sample(), "v1")
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range z.File {
		names = append(names, f.Name)
	}
	if d := cmp.Diff([]string{"README.txt", "incident.json", "checkpoint.json", "evidence-1.html"}, names); d != "" {
		t.Error(d)
	}
	readme, err := z.Open("README.txt")
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := text.ReadFrom(readme); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Incident 12 of Mangrove v1", "job 3 to quarantined (parser)", FixtureCommand + " incident-12.zip"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("README.txt does not say %q", want)
		}
	}
	r, bodies, err := Open(data)
	if err != nil || r.Site != "comic" || r.ChapterID != "c1" || string(bodies["evidence-1.html"]) != "<html>" || len(bodies) != 1 {
		t.Errorf("%+v, %v, %v", r, bodies, err)
	}
}

// The largest there can be, none of which can be compressed, still fits.
func TestTheLargestBundle(t *testing.T) {
	t.Parallel()
	in := sample()
	in.Reason, in.Subject = strings.Repeat("r", maxLine), strings.Repeat("s", maxLine)
	for range MaxDecisions - 1 {
		in.Decided = append(in.Decided, Decision{What: "job", ID: strings.Repeat("i", maxLine), To: "queued", Reason: strings.Repeat("x", 300)})
	}
	noise := func(n int) []byte {
		b := make([]byte, n)
		_, _ = rand.Read(b)
		return b
	}
	in.Checkpoint = noise(maxCheckpoint)
	in.Evidence = nil
	for range source.MaxSeen {
		in.Evidence = append(in.Evidence, Evidence{Body: noise(source.MaxBody), Address: string(noise(maxLine))})
	}
	data, err := Bundle(in, "v1")
	if err != nil || len(data) > MaxBundle || len(data) < MaxBundle/2 {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	if _, bodies, err := Open(data); err != nil || len(bodies) != 3 {
		t.Errorf("%d bodies, %v", len(bodies), err)
	}
}

// A bundle may come from anybody.
func TestHostileBundles(t *testing.T) {
	t.Parallel()
	made := func(files map[string]string) []byte {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		for name, body := range files {
			w, err := z.Create(name)
			if err == nil {
				_, err = w.Write([]byte(body))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	told := func(site, file string) string {
		return fmt.Sprintf(`{"format":1,"site":%q,"evidence":[{"file":%q}]}`, site, file)
	}
	for name, data := range map[string][]byte{
		"nothing":            nil,
		"no zip":             []byte("PK\x03\x04 nothing"),
		"an empty one":       made(nil),
		"another form":       made(map[string]string{"incident.json": `{"format":2,"site":"x"}`}),
		"no JSON":            made(map[string]string{"incident.json": `{`}),
		"a path for a name":  made(map[string]string{"incident.json": told("x", "../evidence-1.html"), "../evidence-1.html": "x"}),
		"another name":       made(map[string]string{"incident.json": told("x", "adapter.go"), "adapter.go": "x"}),
		"a path for a Site":  made(map[string]string{"incident.json": told("../..", "evidence-1.html"), "evidence-1.html": "x"}),
		"no Site":            made(map[string]string{"incident.json": told("", "evidence-1.html"), "evidence-1.html": "x"}),
		"what is not there":  made(map[string]string{"incident.json": told("x", "evidence-1.html")}),
		"a bomb":             made(map[string]string{"incident.json": told("x", "evidence-1.html"), "evidence-1.html": strings.Repeat("0", 64<<20)}),
		"a bomb of a report": made(map[string]string{"incident.json": `{"format":1,"site":"x"}` + strings.Repeat(" ", 64<<20)}),
		"four answers": made(map[string]string{
			"incident.json":  `{"format":1,"site":"x","evidence":[{"file":"evidence-1.txt"},{"file":"evidence-2.txt"},{"file":"evidence-3.txt"},{"file":"evidence-4.txt"}]}`,
			"evidence-1.txt": "", "evidence-2.txt": "", "evidence-3.txt": "", "evidence-4.txt": "",
		}),
	} {
		if _, _, err := Open(data); !errors.Is(err, ErrNoBundle) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACheckpointIsBounded(t *testing.T) {
	t.Parallel()
	library, site, key := t.TempDir(), source.Site{Key: "t"}, source.Key{Site: "t", SeriesID: "s"}
	read := Checkpoints(library, site)
	if got := read(key); got != nil {
		t.Errorf("none there, got %s", got)
	}
	c := checkpoint.Checkpoint{JobID: 1, Site: "t", SeriesID: "s"}
	for i := range 20_000 {
		c.Published = append(c.Published, fmt.Sprint("chapter-", i))
	}
	if err := checkpoint.Save(checkpoint.Path(library, site, key), c); err != nil {
		t.Fatal(err)
	}
	got := read(key)
	if len(got) > maxCheckpoint || !strings.Contains(string(got), "chapter-19999") || strings.Contains(string(got), `"chapter-0"`) {
		t.Errorf("%d bytes: %.200s", len(got), got)
	}
	if err := os.WriteFile(checkpoint.Path(library, site, key), []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := read(key); got != nil {
		t.Errorf("a torn one is %s", got)
	}
}
