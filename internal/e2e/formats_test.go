package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-rod/rod/lib/input"

	"mangrove/internal/picture"
)

// TestEveryFormat reads five real episodes from the first page to the last: in
// baseline and progressive JPEG, WebP and AVIF, each as the Site had it.
func TestEveryFormat(t *testing.T) {
	folder := filepath.Join(root, "..", "shared", "data", "pages", "pepper-and-carrot", "en")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("the five English episodes are not beside this checkout (../shared/data/pages/pepper-and-carrot/en)")
	}
	turn(t)
	chapters := episodes(t, folder)
	if len(chapters) != 5 {
		t.Fatalf("%d episodes, want 5", len(chapters))
	}
	site := startShelf(t, chapters)
	m := newMangrove(t, site.settings()...)
	m.start()
	ada := m.visit("ada", upright)
	ada.claim()
	ada.followTheSample()
	ada.chaptersHere(5)
	ada.jobDone("Done, 5 chapters")
	ada.stayed()
	m.holds(chapters)
	site.askedOnce()

	types := map[string]int{}
	ada.openChapter("1")
	for i, c := range chapters {
		ada.until("chapter "+c.number+" is open", `(title) => document.querySelector('.read-bar small')?.textContent.includes(title)`, c.title)
		words := ada.shown()
		for n := range c.files {
			info, err := picture.Check(c.read(t, n))
			if err != nil {
				t.Fatal(err)
			}
			types[info.MediaType]++
			if want := fmt.Sprintf("%d / %d", n+1, len(c.files)); words != want {
				t.Errorf("chapter %s shows %q, want %q", c.number, words, want)
			}
			size, err := ada.ask(`() => { const i = document.querySelector('#stage .slot img'); return [i.naturalWidth, i.naturalHeight]; }`)
			ada.ok("measure the page", err)
			if w, h := size.Get("0").Int(), size.Get("1").Int(); w != info.Width || h != info.Height {
				t.Errorf("chapter %s page %d is shown as %d x %d, want %d x %d", c.number, n+1, w, h, info.Width, info.Height)
			}
			// Many pages are of one size; what is shown is this very file.
			if got, want := ada.digest(), fmt.Sprintf("%x", sha256.Sum256(c.read(t, n))); got != want {
				t.Errorf("chapter %s page %d shows bytes of digest %s, want %s", c.number, n+1, got, want)
			}
			if n < len(c.files)-1 {
				words = ada.next(words)
			}
		}
		ada.press(input.ArrowRight)
		ada.until("the chapter is at its end", `() => !document.querySelector('#chapter-end').hidden`)
		if i < len(chapters)-1 {
			ada.press(input.ArrowRight)
		}
	}
	if types["image/jpeg"] == 0 || types["image/webp"] == 0 || types["image/avif"] == 0 {
		t.Errorf("the episodes came as %v, want JPEG, WebP and AVIF", types)
	}
	// The last place may still be on its way when Home is asked for.
	m.eventually("all is read", func() (bool, string) {
		ada.open("/")
		read, err := ada.ask(`() => document.querySelector('a.hero') === null`)
		return err == nil && read.Bool(), fmt.Sprint(read, err)
	})
	ada.contented(false)
}

// digest is the SHA-256 in hex of the image that is shown.
func (v *visitor) digest() string {
	v.t.Helper()
	return v.until("the image has bytes", `async () => {
		const answer = await fetch(document.querySelector('#stage .slot img').src);
		const sum = await crypto.subtle.digest('SHA-256', await answer.arrayBuffer());
		return answer.ok && [...new Uint8Array(sum)].map((b) => b.toString(16).padStart(2, '0')).join('');
	}`).Str()
}
