//go:build faults

package faults

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"mangrove/internal/cbz"
	"mangrove/internal/grpcserver"
	"mangrove/internal/pgtest"
	scraperv1 "mangrove/proto/gen/scraper/v1"
	"mangrove/scraper/internal/source/sample/samplesite"
)

var (
	kills = flag.Int("kills", 60, "how often the scraper is killed")
	seed  = flag.Uint64("seed", 1, "seed of the moments")
)

const (
	chapters = 12
	pages    = 8
)

// figure is one line of build/faults.json.
type figure struct {
	Figure string  `json:"figure"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Target float64 `json:"target"`
	Met    bool    `json:"met"`
}

// stand is the stand-in Site with a count of each image asked for.
type stand struct {
	url    string
	mu     sync.Mutex
	asked  map[string]int
	served map[string]string // digest by path in the content
}

func newStand(t *testing.T) *stand {
	t.Helper()
	content := fstest.MapFS{}
	s := &stand{asked: map[string]int{}, served: map[string]string{}}
	series := samplesite.Series{ID: "pepper-and-carrot", Title: "Kill Bill & Co: \"Don't\"", Status: "ongoing", Language: "en", Direction: "ltr"}
	for c := range chapters {
		ch := samplesite.Chapter{ID: fmt.Sprintf("c-%d", c+1), Number: fmt.Sprint(c + 1), Title: "T", Language: "en", Published: time.Date(2020, 1, c+1, 0, 0, 0, 0, time.UTC)}
		for p := range pages {
			img := image.NewGray(image.Rect(0, 0, 64, 64))
			img.Set(c, p, color.White)
			var buf bytes.Buffer
			if err := png.Encode(&buf, img); err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("c%02d/p%02d.png", c, p)
			content[name] = &fstest.MapFile{Data: buf.Bytes()}
			sum := sha256.Sum256(buf.Bytes())
			s.served[name] = hex.EncodeToString(sum[:])
			ch.Pages = append(ch.Pages, name)
		}
		series.Chapters = append(series.Chapters, ch)
	}
	series.Cover = series.Chapters[0].Pages[0]
	handler := samplesite.SiteHandler(content, samplesite.Catalogue{Title: "Stand-in", Series: []samplesite.Series{series}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked[strings.TrimPrefix(r.URL.Path, "/images/")]++
		s.mu.Unlock()
		// Slow enough that pages are on the wire when the kill comes.
		if strings.HasPrefix(r.URL.Path, "/images/") {
			time.Sleep(20 * time.Millisecond)
		}
		handler.ServeHTTP(w, r)
	})}
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	s.url = "http://" + l.Addr().String()
	return s
}

// look walks the library as a reader of the folder would and returns how many
// whole chapters are visible, and what is wrong with any.
func look(t *testing.T, library string, s *stand) (whole int, wrong []string) {
	t.Helper()
	err := filepath.WalkDir(library, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == ".mangrove" {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasPrefix(d.Name(), ".") {
			return nil
		}
		f, err := os.Open(path)
		if err != nil {
			wrong = append(wrong, path+": "+err.Error())
			return nil
		}
		defer func() { _ = f.Close() }()
		st, err := f.Stat()
		if err != nil {
			return err
		}
		a, err := cbz.Open(f, st.Size())
		if err != nil || a.Manifest == nil || len(a.Pages) != pages {
			wrong = append(wrong, fmt.Sprintf("%s: %d pages, %v", path, lenPages(a), err))
			return nil
		}
		for i := range a.Pages {
			p, err := a.OpenPage(i)
			if err != nil {
				wrong = append(wrong, path+": "+err.Error())
				return nil
			}
			h := sha256.New()
			_, err = io.Copy(h, p)
			_ = p.Close()
			if sum := hex.EncodeToString(h.Sum(nil)); err != nil || sum != a.Manifest.Pages[i].SHA256 || !servedDigest(s, sum) {
				wrong = append(wrong, fmt.Sprintf("%s: page %d is not what was served (%v)", path, i+1, err))
				return nil
			}
		}
		whole++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return whole, wrong
}

func lenPages(a *cbz.Archive) int {
	if a == nil {
		return 0
	}
	return len(a.Pages)
}

func servedDigest(s *stand, sum string) bool {
	for _, d := range s.served {
		if d == sum {
			return true
		}
	}
	return false
}

func TestKills(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "mangrove-scraper")
	build := exec.Command("go", "build", "-tags", "nodynamic", "-o", bin, "mangrove/scraper/cmd/mangrove-scraper")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := newStand(t)
	data, err := os.MkdirTemp("", "faults")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(data) })
	secret := filepath.Join(data, "scraper.url")
	if err := os.WriteFile(secret, []byte(pgtest.New(t).Scraper), 0o600); err != nil {
		t.Fatal(err)
	}
	library := filepath.Join(data, "library")
	start := func() *exec.Cmd {
		cmd := exec.Command(bin)
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "MANGROVE_DATA=" + data, "MANGROVE_LIBRARY=" + library, "MANGROVE_DATABASE_URL_FILE=" + secret,
			"MANGROVE_SAMPLE_URL=" + s.url, "MANGROVE_ALLOW_ADDRESSES=127.0.0.1", "MANGROVE_LOG_LEVEL=warn",
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	conn, err := grpcserver.DialUnix(filepath.Join(data, "run", "scraper.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	api := scraperv1.NewScraperServiceClient(conn)
	key := &scraperv1.SeriesKey{Site: "sample", SeriesId: "pepper-and-carrot"}
	follow := func() {
		for range 400 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := api.ApplyFollows(ctx, &scraperv1.ApplyFollowsRequest{Revision: 1, Whole: true, Follows: []*scraperv1.Follow{{Key: key, Download: true}}})
			cancel()
			if err == nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatal("the scraper never took the follow")
	}
	r := rand.New(rand.NewPCG(*seed, 0))
	var half, most int
	var said []string
	cmd := start()
	follow()
	killed := 0
	for ; killed < *kills; killed++ {
		time.Sleep(time.Duration(100+r.IntN(1500)) * time.Millisecond)
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		whole, wrong := look(t, library, s)
		half += len(wrong)
		said = append(said, wrong...)
		if whole < most {
			said = append(said, fmt.Sprintf("kill %d: %d chapters, were %d", killed+1, whole, most))
		}
		most = max(most, whole)
		cmd = start()
		if most == chapters {
			killed++
			break
		}
	}
	deadline := time.Now().Add(5 * time.Minute)
	whole, state := 0, ""
	for time.Now().Before(deadline) && (whole < chapters || state != "done") {
		time.Sleep(200 * time.Millisecond)
		var wrong []string
		whole, wrong = look(t, library, s)
		half += len(wrong)
		said = append(said, wrong...)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		got, err := api.GetSeries(ctx, &scraperv1.GetSeriesRequest{Key: key})
		cancel()
		if err == nil {
			state = got.GetState().GetJob().GetState()
		}
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	_ = cmd.Wait()
	refetched := 0
	s.mu.Lock()
	for name := range s.served {
		if name == "c00/p00.png" {
			continue // the cover too
		}
		refetched += max(s.asked[name]-1, 0)
	}
	s.mu.Unlock()
	inFlight := float64(2 * killed)
	figures := []figure{
		{"kills", float64(killed), "kill -9", 0, true},
		{"chapters unreadable, short or wrong, ever visible", float64(half), "chapters", 0, half == 0},
		{"chapters lost at the end", float64(chapters - whole), "chapters", 0, whole == chapters},
		{"pages fetched again", float64(refetched), "pages", inFlight, float64(refetched) <= inFlight},
	}
	for _, f := range figures {
		fmt.Printf("%-52s %8.0f %-10s target %6.0f met %v\n", f.Figure, f.Value, f.Unit, f.Target, f.Met)
		if !f.Met {
			t.Errorf("%s: %v", f.Figure, f.Value)
		}
	}
	if state != "done" {
		t.Errorf("the Job is %q", state)
	}
	for _, line := range said {
		t.Error(line)
	}
	out, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join("..", "..", "..", "build")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "faults.json"), out, 0o644); err != nil {
		t.Fatal(err)
	}
}
