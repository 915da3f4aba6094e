package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mangrove/internal/config"
	"mangrove/internal/fakesite"
	"mangrove/internal/grpcserver"
	scraperv1 "mangrove/proto/gen/scraper/v1"
)

// TestNoDescendantOutlivesTheSupervisor kills it ten times with kill -9 while Chromium
// reads a page: five seconds later nothing is left, the database, Chromium and its
// own children included (SUP-8, F40).
// It shows P4.
func TestNoDescendantOutlivesTheSupervisor(t *testing.T) {
	turn(t)
	site := fakesite.Start(t)
	m := newMangrove(t, config.AllowAddresses, "127.0.0.1")
	if err := os.MkdirAll(filepath.Join(m.data, "sites"), 0o700); err != nil {
		t.Fatal(err)
	}
	describe := fmt.Sprintf(`name: Scripted
hosts: ["%[1]s"]
languages: [en]
pacing: 500ms
browser: true
series:
  address: http://%[1]s/series/{id}
  landmark: main
  title: h1
chapters:
  item: li
pages:
  landmark: main
  image: img
search:
  read: http://%[1]s/find?q={query}
  item: li
  title: a
`, strings.TrimPrefix(site.URL, "http://"))
	if err := os.WriteFile(filepath.Join(m.data, "sites", "scripted.yaml"), []byte(describe), 0o600); err != nil {
		t.Fatal(err)
	}
	// A page that never comes keeps Chromium at work.
	site.On("/find", fakesite.Answer{ContentType: "text/html", Body: []byte("<ul><li>"), Hold: make(chan struct{}), HoldAfter: 4})
	for range 10 {
		m.start()
		ctx, giveUp := context.WithTimeout(context.Background(), patience)
		go m.search(ctx, "scripted")
		var kinds []string
		m.eventually("Chromium reads a page", func() (bool, string) {
			kinds = nil
			for _, line := range m.processes() {
				if strings.Contains(line, "chrom") {
					_, kind, _ := strings.Cut(line, "--type=")
					kind, _, _ = strings.Cut(kind, " ")
					kinds = append(kinds, kind)
				}
			}
			return strings.Contains(strings.Join(kinds, " "), "renderer"), strings.Join(kinds, " ") + "\n" + lastLines(m.log("scraper"), 5)
		})
		if err := m.up.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		<-m.ended
		m.up = nil
		m.eventually("nothing is left", func() (bool, string) { left := m.left(); return len(left) == 0, fmt.Sprint(left) })
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("it took %s, want at most five seconds; Chromium was %v", took, kinds)
		}
		giveUp()
	}
}

// search asks a Site through the scraper's own socket until ctx ends. Its Lane may
// not be worked yet.
func (m *mangrove) search(ctx context.Context, site string) {
	conn, err := grpcserver.DialUnix(filepath.Join(m.data, "run", "scraper.sock"))
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	for ctx.Err() == nil {
		_, _ = scraperv1.NewScraperServiceClient(conn).SearchSite(ctx, &scraperv1.SearchSiteRequest{Site: site, Query: "one"})
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}
