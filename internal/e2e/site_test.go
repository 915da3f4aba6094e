package e2e

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"mangrove/internal/config"
	"mangrove/internal/fakesite"
	"mangrove/internal/picture"
)

// shelf is a stand-in Site of one Series in the markup that the sample adapter
// reads, with a ledger of what it was asked.
type shelf struct {
	*fakesite.Server
	t        *testing.T
	chapters []chapter
}

// startShelf serves chapters, oldest first.
func startShelf(t *testing.T, chapters []chapter) *shelf {
	t.Helper()
	s := &shelf{fakesite.Start(t), t, chapters}
	var rows strings.Builder
	for i := len(chapters) - 1; i >= 0; i-- { // newest first
		c := chapters[i]
		fmt.Fprintf(&rows, `<li data-chapter-id="%s" data-number="%s" data-volume="" data-language="en" data-group="" data-external="">
<a href="/series/pepper-and-carrot/%s"><span class="number">Episode %s</span> <span class="title">%s</span></a>
<time datetime="2014-0%d-01"></time></li>`, c.id, c.number, c.id, c.number, html.EscapeString(c.title), i+1)
		var pages strings.Builder
		for n := range c.files {
			fmt.Fprintf(&pages, `<li data-page="%d"><img src="%s" alt=""></li>`, n+1, html.EscapeString(imagePath(c, n)))
			s.On(imagePath(c, n), s.image(c, n))
		}
		s.On("/series/pepper-and-carrot/"+c.id, fakesite.HTML(fmt.Sprintf(`<!DOCTYPE html>
<main id="chapter" data-series-id="pepper-and-carrot" data-chapter-id="%s" data-number="%s" data-language="en" data-pages="%d">
<h1 class="title">%s</h1><ol class="pages">%s</ol></main>`, c.id, c.number, len(c.files), html.EscapeString(c.title), pages.String())))
	}
	s.On("/images/cover", s.image(chapters[0], 0))
	s.On("/series/pepper-and-carrot", fakesite.HTML(`<!DOCTYPE html>
<main id="series" data-series-id="pepper-and-carrot" data-status="ongoing" data-language="en" data-direction="ltr">
<h1 class="title">Pepper&amp;Carrot</h1><span class="author">David Revoy</span><img class="cover" src="/images/cover">
<p class="description">A stand-in.</p><ul class="tags"><li>Comedy</li></ul><p class="licence"><a rel="license" href="">CC BY 4.0</a></p>
<ol class="chapters">`+rows.String()+`</ol></main>`))
	return s
}

// settings are what lets an installation read this Site in place of the sample.
func (s *shelf) settings() []string {
	return []string{config.SampleURL, s.URL, config.AllowAddresses, "127.0.0.1"}
}

func imagePath(c chapter, n int) string {
	return (&url.URL{Path: "/images/" + c.id + "/" + filepath.Base(c.files[n])}).EscapedPath()
}

// image is the answer with a page, of the type that its bytes have.
func (s *shelf) image(c chapter, n int) fakesite.Answer {
	data := c.read(s.t, n)
	return fakesite.Bytes(picture.Sniff(data[:min(64, len(data))]), data)
}

// hold lets the next request for a page wait half-way until the returned
// function is called; requests after it are answered at once.
func (s *shelf) hold(c chapter, n int) (release func()) {
	gate := make(chan struct{})
	held := s.image(c, n)
	held.Hold, held.HoldAfter = gate, len(held.Body)/2
	s.On(imagePath(c, n), held, s.image(c, n))
	return func() { close(gate) }
}

// asked waits until a page was asked for.
func (s *shelf) asked(c chapter, n int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.WaitCount(ctx, imagePath(c, n), 1); err != nil {
		s.t.Fatalf("page %d of %s was never asked for: %v\nasked: %s", n+1, c.id, err, strings.Join(s.Ledger().Paths(), "\n"))
	}
}

// askedOnce fails unless every page was asked for once, and the ones that twice
// names at least that and at most twice.
func (s *shelf) askedOnce(twice ...string) {
	s.t.Helper()
	again := map[string]bool{}
	for _, p := range twice {
		again[p] = true
	}
	ledger := s.Ledger()
	for _, c := range s.chapters {
		for n := range c.files {
			want := 1
			if again[imagePath(c, n)] {
				want = 2
			}
			if got := ledger.Count(imagePath(c, n)); got != want {
				s.t.Errorf("page %d of %s was asked for %d times, want %d", n+1, c.id, got, want)
			}
		}
	}
	if ledger.Dropped > 0 {
		s.t.Errorf("the ledger dropped %d requests", ledger.Dropped)
	}
}
