package samplesite

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// sharedEpisodes is a folder of five real episodes beside some checkouts.
const sharedEpisodes = "../../../../../../shared/data/pages/pepper-and-carrot/en"

func get(t testing.TB, h http.Handler, address string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func text(t testing.TB, h http.Handler, address string) string {
	t.Helper()
	resp := get(t, h, address)
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", address, resp.Status, err)
	}
	return string(body)
}

func all(body, pattern string) (out []string) {
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(body, -1) {
		out = append(out, strings.Join(m[1:], " "))
	}
	return out
}

// TestContract holds the pages against the markup that the package promises.
func TestContract(t *testing.T) {
	t.Parallel()
	h := Handler()
	for address, wants := range map[string][]string{
		"/": {`<main id="catalogue">`, `<ul class="titles">`, `<li data-series-id="pepper-and-carrot"><a href="/series/pepper-and-carrot">`, `<span class="title">Pepper&amp;Carrot</span>`},
		"/series/pepper-and-carrot": {
			`<main id="series" data-series-id="pepper-and-carrot" data-status="ongoing" data-language="en" data-direction="ltr">`,
			`<h1 class="title">Pepper&amp;Carrot</h1>`, `<span class="author">David Revoy</span>`, `<p class="description">Pepper is`,
			`<img class="cover" src="/images/ep01/`, `<li>Fantasy</li>`, `<a rel="license" href="https://creativecommons.org/licenses/by/4.0/">`,
			`<ol class="chapters"`, `data-volume="" data-language="en" data-group="" data-external=""`,
			`<a href="/series/pepper-and-carrot/episode-3"><span class="number">Episode 3</span> <span class="title">The secret ingredients</span></a>`,
			`<time datetime="2014-10-03">3 October 2014</time>`,
		},
		"/series/pepper-and-carrot/episode-1": {
			`<main id="chapter" data-series-id="pepper-and-carrot" data-chapter-id="episode-1" data-number="1" data-language="en" data-pages="6">`,
			`<h1 class="title">Potion of Flight</h1>`, `<ol class="pages">`, `<li data-page="1"><img src="/images/ep01/`, `<a rel="next" href="/series/pepper-and-carrot/episode-2">`,
		},
	} {
		body := text(t, h, address)
		for _, want := range wants {
			if !strings.Contains(body, want) {
				t.Errorf("%s lacks %s", address, want)
			}
		}
	}
	got := all(text(t, h, "/series/pepper-and-carrot"), `data-chapter-id="([^"]*)" data-number="([^"]*)"`)
	if want := []string{"episode-3 3", "episode-2 2", "episode-1 1"}; !slices.Equal(got, want) {
		t.Errorf("chapters %q, want %q", got, want)
	}
}

func TestEveryPageIsAnImageInOrder(t *testing.T) {
	t.Parallel()
	h := Handler()
	for n, pages := range map[int]int{1: 6, 2: 8, 3: 10} {
		images := all(text(t, h, fmt.Sprintf("/series/pepper-and-carrot/episode-%d", n)), `<img src="([^"]*)"`)
		if len(images) != pages {
			t.Errorf("episode %d has %d pages, want %d", n, len(images), pages)
		}
		for i, address := range images {
			if want := fmt.Sprintf("E%02dP%02d.jpg", n, i-1); i > 0 && !strings.HasSuffix(address, want) {
				t.Errorf("page %d of episode %d is %s, want %s", i+1, n, address, want)
			}
			resp := get(t, h, address)
			if resp.Header.Get("Content-Type") != "image/jpeg" {
				t.Errorf("%s: %s, %q", address, resp.Status, resp.Header.Get("Content-Type"))
			}
			if _, err := jpeg.Decode(resp.Body); err != nil {
				t.Errorf("%s: %v", address, err)
			}
		}
	}
}

func TestConditionalRequests(t *testing.T) {
	t.Parallel()
	h := Handler()
	image := all(text(t, h, "/series/pepper-and-carrot/episode-2"), `<img src="([^"]*)"`)[0]
	for _, address := range []string{"/", "/series/pepper-and-carrot", "/series/pepper-and-carrot/episode-2", image} {
		first := get(t, h, address)
		tag, changed := first.Header.Get("ETag"), first.Header.Get("Last-Modified")
		if tag == "" || changed == "" {
			t.Errorf("%s: ETag %q, Last-Modified %q", address, tag, changed)
			continue
		}
		for _, header := range [][]string{{"If-None-Match", tag}, {"If-Modified-Since", changed}} {
			if resp := get(t, h, address, header...); resp.StatusCode != http.StatusNotModified {
				t.Errorf("%s with %s: %s, want 304", address, header[0], resp.Status)
			}
		}
		if resp := get(t, h, address, "If-None-Match", `"other"`); resp.StatusCode != http.StatusOK {
			t.Errorf("%s with another tag: %s, want 200", address, resp.Status)
		}
	}
	if resp := get(t, h, image, "Range", "bytes=0-9"); resp.StatusCode != http.StatusPartialContent {
		t.Errorf("a range of an image: %s, want 206", resp.Status)
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	h := Handler()
	for address, says := range map[string]string{
		"/series/other":                       "No such title",
		"/series/other/episode-1":             "No such title",
		"/series/pepper-and-carrot/episode-9": "No such episode",
		"/nowhere":                            "No such page",
		"/images/ep01/none.jpg":               "No such image",
		"/images/CREDITS.md":                  "No such image",
	} {
		resp := get(t, h, address)
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusNotFound || !bytes.Contains(body, []byte(says)) {
			t.Errorf("%s: %s, want 404 that says %q", address, resp.Status, says)
		}
	}
	if body := text(t, h, "/credits"); !strings.Contains(body, "David Revoy") || !strings.Contains(body, "https://creativecommons.org/licenses/by/4.0/") {
		t.Error("the credits name neither author nor licence")
	}
}

// TestSiteHandlerOfAnother serves a catalogue of hostile and unusual texts.
func TestSiteHandlerOfAnother(t *testing.T) {
	t.Parallel()
	content := fstest.MapFS{"a b/1.webp": {Data: []byte("x")}, "a b/secret": {Data: []byte("x")}}
	h := SiteHandler(content, Catalogue{Title: "T", Series: []Series{{
		ID: "s", Title: `<script>"`, Cover: "a b/1.webp", Chapters: []Chapter{
			{ID: "1", Number: "10.5", Volume: "2", Group: "A&B", Language: "ja", Pages: []string{"a b/1.webp"}},
			{ID: "2", Title: "elsewhere", External: "https://example.org/2"},
		},
	}}})
	body := text(t, h, "/series/s")
	for _, want := range []string{
		`&lt;script&gt;`, `data-number="10.5" data-volume="2" data-language="ja" data-group="A&amp;B"`,
		`data-external="https://example.org/2"`, `<a href="https://example.org/2">`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the Series lacks %s in\n%s", want, body)
		}
	}
	if strings.Contains(body, "<script>") {
		t.Error("a title is not escaped")
	}
	address := all(text(t, h, "/series/s/1"), `<img src="([^"]*)"`)[0]
	if resp := get(t, h, address); resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "image/webp" {
		t.Errorf("%s: %s, %q", address, resp.Status, resp.Header.Get("Content-Type"))
	}
	for _, gone := range []string{"/series/s/2", "/images/a%20b/secret", "/credits"} {
		if resp := get(t, h, gone); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s, want 404", gone, resp.Status)
		}
	}
}

func TestPepperAndCarrotOfAFolder(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(sharedEpisodes); err != nil {
		t.Skip("the shared episodes are not beside this checkout")
	}
	content := os.DirFS(sharedEpisodes)
	catalogue, err := PepperAndCarrot(content)
	if err != nil {
		t.Fatal(err)
	}
	h := SiteHandler(content, catalogue)
	for n, want := range map[int]string{4: "image/webp", 5: "image/avif"} {
		images := all(text(t, h, fmt.Sprintf("/series/pepper-and-carrot/episode-%d", n)), `<img src="([^"]*)"`)
		if len(images) < 5 {
			t.Fatalf("episode %d has %d pages", n, len(images))
		}
		if got := get(t, h, images[0]).Header.Get("Content-Type"); got != want {
			t.Errorf("episode %d is %q, want %q", n, got, want)
		}
	}
	if _, err := PepperAndCarrot(fstest.MapFS{"x": {Mode: fs.ModeDir}}); err == nil {
		t.Error("an empty folder makes a catalogue")
	}
}
