package web

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheReadingViewFitsAPhone is S-071 and S-072: no height of a window whose bar
// may cover it, unless a dynamic one follows, and pages are plain pictures.
func TestTheReadingViewFitsAPhone(t *testing.T) {
	t.Parallel()
	all, err := loadAssets()
	if err != nil {
		t.Fatal(err)
	}
	heights := regexp.MustCompile(`([\w-]+): ([^;{}]*\b\d+vh[^;{}]*);`)
	found := 0
	for _, name := range []string{"app.css", "read.css"} {
		css := string(all[name].data)
		for _, m := range heights.FindAllStringSubmatchIndex(css, -1) {
			found++
			property, value := css[m[2]:m[3]], css[m[4]:m[5]]
			if !strings.HasPrefix(strings.TrimSpace(css[m[1]:]), property+": "+strings.ReplaceAll(value, "vh", "dvh")+";") {
				t.Errorf("%s: %q is not followed by its dynamic height", name, css[m[0]:m[1]])
			}
		}
	}
	if found < 3 {
		t.Errorf("only %d heights were looked at", found)
	}
	var script bytes.Buffer
	packed := gzip.NewWriter(&script)
	for _, name := range []string{"places.js", "keys.js", "keep.js", "zoom.js", "read.js"} {
		// read.js paints tall pages in slices: how large those are is seen in a browser.
		if name != "read.js" && bytes.Contains(all[name].data, []byte("canvas")) {
			t.Errorf("%s draws on a canvas, which some phones refuse for a tall page", name)
		}
		if _, err := packed.Write(all[name].data); err != nil {
			t.Fatal(err)
		}
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	if script.Len() > 120_000 {
		t.Errorf("the scripts of the reading view are %d bytes packed, over 120 kB", script.Len())
	}
}

// TestWhatTheWorkerKeeps is S-073: the worker keeps what exists, nothing of a
// person, and another Mangrove's worker is another one.
func TestWhatTheWorkerKeeps(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo := s.claim()
	s.publish("c1", "1", 2)
	resp, body := s.get(s.anyone, "/worker.js")
	if got := resp.Header.Get("Cache-Control"); got != "no-cache" {
		t.Errorf("the worker is kept by browsers: %s", got)
	}
	files := regexp.MustCompile(`"(/[^"]+)"`).FindAllStringSubmatch(strings.SplitN(body, "\n", 2)[0], -1)
	if len(files) != len(offlineFiles)+1 {
		t.Fatalf("the worker keeps %q", files)
	}
	for _, file := range files {
		if resp, _ := s.get(s.anyone, file[1]); resp.StatusCode != http.StatusOK {
			t.Errorf("a stranger's worker gets %d for %s", resp.StatusCode, file[1])
		}
	}
	_, mine := s.get(mo, "/offline")
	_, theirs := s.get(s.anyone, "/offline")
	if mine != theirs || strings.Contains(mine, "Mo") {
		t.Error("the page without a connection holds something of a person")
	}
	// Everything that the page names is among what is kept.
	for _, m := range regexp.MustCompile(`/static/[0-9a-f]+/[\w.-]+`).FindAllString(mine, -1) {
		if !slices.ContainsFunc(files, func(f []string) bool { return f[1] == m }) {
			t.Errorf("%s is shown without a connection and not kept", m)
		}
	}
	s.web.assets["app.css"] = asset{[]byte("x"), "text/css", "/static/000000000001/app.css"}
	if _, other := s.get(s.anyone, "/worker.js"); strings.SplitN(other, "\n", 2)[0] == strings.SplitN(body, "\n", 2)[0] {
		t.Error("a renewed Mangrove has the same worker")
	}
	if resp, got := s.get(mo, "/static/deadbeefdead/read.js"); resp.StatusCode != http.StatusNotFound || strings.Contains(resp.Header.Get("Content-Type"), "javascript") {
		t.Errorf("a script that is gone: %d %s %.40q", resp.StatusCode, resp.Header.Get("Content-Type"), got)
	}
	resp, _ = s.do(mo, s.request(http.MethodPost, "/sign-out", "", "Sec-Fetch-Site", "same-origin"))
	if got := resp.Header.Get("Clear-Site-Data"); got != `"cache", "storage"` {
		t.Errorf("signing out says %q to the browser", got)
	}
}

// TestThePlanOfAChapterToKeep names every page with its size.
func TestThePlanOfAChapterToKeep(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.series(nil)
	mo := s.claim()
	s.publish("c1", "1", 2)
	_, body := s.get(mo, "/read/1/keep")
	has(t, body, `"book":1`, `"name":"Pepper"`, `"chapter":"Chapter 1"`, `"/read/1/pages/1?v=`, `"/read/1/pages/2?v=`)
	hasNot(t, body, `"bytes":0`, "pages/3")
	if resp, _ := s.get(mo, "/read/9/keep"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("of no chapter: %d", resp.StatusCode)
	}
}

// A page that the worker asks for in a window's name is a page, also when it is one
// that says what went wrong; what a script asks for is a sentence.
func TestAFailureIsAPageThroughTheWorker(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	mo := s.claim()
	for accept, page := range map[string]bool{"text/html,application/xhtml+xml": true, "*/*": false} {
		resp, body := s.do(mo, s.request("GET", "/nowhere", "", "Sec-Fetch-Dest", "empty", "Accept", accept))
		if resp.StatusCode != 404 || strings.Contains(body, "<h1>There is no such page</h1>") != page {
			t.Errorf("%s: %d %.80q", accept, resp.StatusCode, body)
		}
		// Whoever is signed out meanwhile is led to where one signs in.
		want := map[bool]int{true: http.StatusSeeOther, false: http.StatusUnauthorized}[page]
		if resp, _ := s.do(s.anyone, s.request("GET", "/library", "", "Sec-Fetch-Dest", "empty", "Accept", accept)); resp.StatusCode != want {
			t.Errorf("%s, signed out: %d, want %d", accept, resp.StatusCode, want)
		}
	}
}
