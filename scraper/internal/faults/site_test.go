//go:build faults

package faults

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"mangrove/internal/fakesite"
	"mangrove/scraper/internal/source/sample/samplesite"
)

// pacing and images are what the sample Site's adapter declares.
const (
	pacing = 200 * time.Millisecond
	images = 2
)

// slack is how much nearer requests may arrive than they were sent: the delays of
// a machine that does other work too.
const slack = 3 * pacing / 4

// stand is a stand-in Site of one Series and its ledger.
type stand struct {
	*fakesite.Server
	content fstest.MapFS
	series  samplesite.Series
	// pacing is the Site's, or what the operator chose.
	pacing time.Duration
	// digests are those of each chapter's pages, in order.
	digests map[string][]string
}

// newStand makes a Site of so many chapters of so many pages.
func newStand(t *testing.T, chapters, pages int) *stand {
	t.Helper()
	s := &stand{Server: fakesite.Start(t), content: fstest.MapFS{}, pacing: pacing, digests: map[string][]string{}}
	s.series = samplesite.Series{ID: "pepper-and-carrot", Title: "Kill Bill & Co: \"Don't\"", Status: "ongoing", Language: "en", Direction: "ltr", Cover: "cover.png"}
	s.content["cover.png"] = &fstest.MapFile{Data: noise(t, "cover")}
	for c := range chapters {
		s.add(t, fmt.Sprintf("c-%d", c+1), fmt.Sprint(c+1), pages)
	}
	s.serve()
	return s
}

// add puts one more chapter on the Site, for the next serve.
func (s *stand) add(t *testing.T, id, number string, pages int) {
	t.Helper()
	ch := samplesite.Chapter{ID: id, Number: number, Title: "T", Language: "en", Group: "North", Published: time.Date(2020, 1, len(s.series.Chapters)+1, 0, 0, 0, 0, time.UTC)}
	for p := range pages {
		name := fmt.Sprintf("%s/p%02d.png", id, p)
		s.content[name] = &fstest.MapFile{Data: noise(t, name)}
		sum := sha256.Sum256(s.content[name].Data)
		s.digests[id] = append(s.digests[id], hex.EncodeToString(sum[:]))
		ch.Pages = append(ch.Pages, name)
	}
	s.series.Chapters = append(s.series.Chapters, ch)
}

// serve lets the Site show its Series as it is now.
func (s *stand) serve() {
	s.Handle("/*", s.pages())
}

// pages serves the Series as it is now.
func (s *stand) pages() http.Handler {
	catalogue := samplesite.Catalogue{Title: "Stand-in", Series: []samplesite.Series{s.series}}
	catalogue.Series[0].Chapters = slices.Clone(s.series.Chapters)
	return samplesite.SiteHandler(s.content, catalogue)
}

// noise is an image of some kilobytes whose bytes differ by name.
func noise(t *testing.T, name string) []byte {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	r := rand.NewChaCha8(seed)
	img := image.NewGray(image.Rect(0, 0, 96, 96))
	for i := range img.Pix {
		img.Pix[i] = byte(r.Uint64())
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func imagePath(chapter string, page int) string {
	return fmt.Sprintf("/images/%s/p%02d.png", chapter, page)
}

// again counts the pages that were asked for more than once, by how often.
func (s *stand) again() (n int) {
	asked := map[string]int{}
	for _, r := range s.Ledger().Requests {
		if strings.HasPrefix(r.Path, "/images/c-") {
			asked[r.Path]++
		}
	}
	for _, times := range asked {
		n += times - 1
	}
	return n
}

// manners looks at the whole ledger: never more in flight than declared, never
// faster than the pacing over any stretch, and one identity (INV7, INV13). A
// request may arrive late and the next one in time; over a stretch that is one
// slack, however long it is.
func (s *stand) manners() (wrong []string, nearest time.Duration) {
	nearest = time.Hour
	visitors := map[string]bool{}
	requests := s.Ledger().Requests
	for i, r := range requests {
		visitors[r.Header.Get("User-Agent")] = true
		if most := map[bool]int{true: images, false: 1}[strings.HasPrefix(r.Path, "/images/")]; r.InFlight > most {
			wrong = append(wrong, fmt.Sprintf("%s was asked for with %d in flight", r.Path, r.InFlight))
		}
		for j, before := range requests[:i] {
			took, least := r.At.Sub(before.At), time.Duration(i-j)*s.pacing
			if took < least-slack {
				wrong = append(wrong, fmt.Sprintf("%d requests within %s, from %s to %s", i-j+1, took, before.Path, r.Path))
			}
			if j == i-1 {
				nearest = min(nearest, took)
			}
		}
	}
	if len(visitors) != 1 {
		wrong = append(wrong, fmt.Sprintf("%d identities were shown: %v", len(visitors), visitors))
	}
	return wrong, nearest
}
