//go:build bench

package e2e

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mangrove/internal/benchtest"
)

func init() { keepFigures = benchtest.Keep }

// painted is a chapter of pages as a camera or a scan gives them: nothing in them
// is of one colour.
func painted(t *testing.T, number string, n, width, height int) chapter {
	t.Helper()
	c := chapter{id: "painted-" + number, number: number, title: "Painted " + number}
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(1, uint64(height)))
	for i := range n {
		img := image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420)
		for y := range height {
			for x := range width {
				img.Y[y*img.YStride+x] = uint8((x*7+y*3+i*40)/16) + uint8(rnd.IntN(24))
			}
		}
		for k := range img.Cb {
			img.Cb[k], img.Cr[k] = uint8(k>>9), uint8(100+i*10)
		}
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 75}); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, fmt.Sprintf("%s-%03d.jpg", number, i+1))
		if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		c.files = append(c.files, name)
	}
	return c
}

// TestFiguresOfPages measures in Chromium what a person waits for: the first paint
// and the bytes of the library and the reading view, and the frames of a strip of
// 800 x 20,000 pixels while it is scrolled.
func TestFiguresOfPages(t *testing.T) {
	turn(t)
	shelf := startShelf(t, []chapter{painted(t, "1", 10, 1200, 1700), painted(t, "2", 12, 800, 20000)})
	m := newMangrove(t, shelf.settings()...)
	m.start()
	ada := m.visit("ada", desktop)
	ada.claim()
	ada.followTheSample()
	ada.chaptersHere(2)
	books := map[string]string{}
	for _, number := range []string{"1", "2"} {
		books[number] = ada.until("chapter "+number+" has its address", `(head) => [...document.querySelectorAll('#chapters li.ch > a')]
			.find((a) => a.textContent.startsWith(head))?.getAttribute('href')`, "Chapter "+number).Str()
	}
	for _, page := range []struct{ name, path string }{{"library", "/library"}, {"reading view", books["1"]}} {
		for _, visit := range []string{"first", "again"} {
			v := ada
			if visit == "first" {
				v = m.visit("new", desktop)
				v.signIn()
				// The sign-in has brought what all pages share.
				if _, err := v.ask(`async () => { for (const name of await caches.keys()) await caches.delete(name); for (const w of await navigator.serviceWorker.getRegistrations()) await w.unregister(); }`); err != nil {
					t.Fatal(err)
				}
			}
			v.open(page.path)
			got := v.until("it is painted", `() => {
				const [paint] = performance.getEntriesByName('first-contentful-paint');
				if (!paint) return null;
				const [page] = performance.getEntriesByType('navigation'), parts = performance.getEntriesByType('resource');
				const ours = parts.filter((p) => p.initiatorType !== 'img' && !p.name.includes('/pages/') && !p.name.includes('/covers/'));
				const sum = (list, field) => list.reduce((n, p) => n + p[field], 0);
				return { paint: paint.startTime, bytes: page.encodedBodySize + sum(ours, 'encodedBodySize'),
					scripts: sum(parts.filter((p) => p.initiatorType === 'script'), 'encodedBodySize') };
			}`)
			benchtest.Report("first contentful paint, "+page.name+", "+visit, got.Get("paint").Num(), "ms", 0)
			if visit == "first" {
				benchtest.Report("bytes of "+page.name+" without pictures, compressed", got.Get("bytes").Num()/1000, "kB", 0)
				benchtest.Report("script bytes of "+page.name+", compressed", got.Get("scripts").Num()/1000, "kB", 120)
			}
		}
	}

	ada.begin(books["2"])
	ada.press('s')
	ada.says("it is a strip", `() => document.querySelectorAll('.strip-pages .slot').length === 12`)
	ada.until("its first page is there", `() => document.querySelector('.slot.loaded') !== null`)
	before := resident(t)
	_, err := ada.ask(`() => {
		window.frames_ = []; let last = performance.now(), y = 0;
		const step = (now) => {
			frames_.push(now - last); last = now; y += 120;
			scrollTo({ top: y, behavior: 'instant' });
			if (y < document.documentElement.scrollHeight - innerHeight) requestAnimationFrame(step); else window.scrolled = true;
		};
		requestAnimationFrame(step);
	}`)
	ada.ok("scroll", err)
	most := before
	m.eventually("the strip was scrolled", func() (bool, string) {
		most = max(most, resident(t))
		done, err := ada.ask(`() => window.scrolled === true`)
		return err == nil && done.Bool(), "still scrolling"
	})
	got := ada.until("the frames are counted", `() => { const f = frames_.slice(1).sort((a, b) => a - b); return { most: f[f.length - 1], late: f.filter((d) => d > 50).length, n: f.length, p99: f[Math.floor(f.length * .99)] }; }`)
	benchtest.Report("longest frame, strip of 12 x 800 x 20,000 px", got.Get("most").Num(), "ms", 50)
	benchtest.Report("99th percentile of frames, the same strip", got.Get("p99").Num(), "ms", 50)
	benchtest.Report("frames over 50 ms, the same strip", got.Get("late").Num(), fmt.Sprintf("of %d", got.Get("n").Int()), 0)
	benchtest.Report("Chromium's memory while scrolling it, above before", float64(most-before)/1e6, "MB", 0)
}

// resident is what all processes of the browser hold, in bytes.
func resident(t *testing.T) (total int64) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if !strings.Contains(string(line), browser.chromium.top) {
			continue
		}
		statm, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "statm"))
		if f := strings.Fields(string(statm)); len(f) > 1 {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			total += n * int64(os.Getpagesize())
		}
	}
	return total
}
