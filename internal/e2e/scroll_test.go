package e2e

import (
	"archive/zip"
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// shelve puts titles of one small chapter into the library folder, as another
// program would.
func (m *mangrove) shelve(count int) {
	m.t.Helper()
	var names []string
	for n := range count {
		names = append(names, fmt.Sprintf("Title %d", n+1))
	}
	m.shelveNamed(names...)
}

func (m *mangrove) shelveNamed(names ...string) {
	m.t.Helper()
	var page bytes.Buffer
	if err := png.Encode(&page, image.NewGray(image.Rect(0, 0, 40, 60))); err != nil {
		m.t.Fatal(err)
	}
	for _, name := range names {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		w, err := z.CreateHeader(&zip.FileHeader{Name: "1.png", Method: zip.Store})
		if err == nil {
			_, err = w.Write(page.Bytes())
		}
		if err == nil {
			err = z.Close()
		}
		if err == nil {
			err = os.MkdirAll(filepath.Join(m.library(), name), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(m.library(), name, name+" 1.cbz"), out.Bytes(), 0o644)
		}
		if err != nil {
			m.t.Fatal(err)
		}
	}
}

// seesAll waits until the library page comes with so many titles.
func (v *visitor) seesAll(titles int) {
	v.t.Helper()
	v.m.eventually("all titles are in the library", func() (bool, string) {
		v.open("/library")
		// What the page came with, and not what arrived since.
		got, err := v.ask(`() => document.querySelector('.chip[aria-current] span')?.textContent`)
		return err == nil && got.Str() == fmt.Sprint(titles), got.Str()
	})
}

// The library goes on as it is scrolled, in order and without a gap; Back finds the
// title where it was; and what was selected far away is selected still.
func TestTheLibraryScrollsAndBackFindsThePlace(t *testing.T) {
	turn(t)
	const titles = 300
	m := newMangrove(t)
	m.shelve(titles)
	m.start()
	mo := m.visit("mo", desktop)
	mo.claim()
	mo.seesAll(titles)
	_, err := mo.ask(`() => document.querySelector('.pickable .pick').click()`)
	mo.ok("select the first title", err)
	mo.until("the end is reached", `() => { scrollTo(0, document.documentElement.scrollHeight); return !document.querySelector('#more') && document.querySelectorAll('.block').length === 7 }`)
	mo.until("the last title stands there", `() => [...document.querySelectorAll('.block:last-child .item-title')].pop()?.textContent === 'Title 300'`)
	mo.until("the first block is put aside", `() => document.querySelector('.block').hasAttribute('data-aside')`)
	mo.until("what was selected there counts", `() => document.querySelector('#picked-said').textContent === '1 selected'`)
	_, err = mo.ask(`() => { document.querySelector('#unpick').click(); scrollTo(0, document.documentElement.scrollHeight / 2) }`)
	mo.ok("scroll to the middle", err)
	mo.until("the place stands in the address, and nothing moves any more", `() => {
		const was = window.stood, now = scrollY + ' ' + document.documentElement.scrollHeight;
		window.stood = now;
		return was === now && location.search.includes('from=') && history.state && Math.abs(history.state.library.y - scrollY) < 1 && !document.querySelector('.block[aria-busy]');
	}`)
	const middle = `() => {
		const y = innerHeight / 2, item = [...document.querySelectorAll('.pickable .item')].find((i) => i.getBoundingClientRect().top > y);
		const top = item ? Math.round(item.getBoundingClientRect().top) : innerHeight;
		return top < innerHeight ? item.querySelector('.item-title').textContent + ' at ' + top : '';
	}`
	before := mo.until("a title stands in the middle", middle).Str()
	_, err = mo.ask(`() => [...document.querySelectorAll('.pickable .item')].find((i) => i.getBoundingClientRect().top > innerHeight / 2).click()`)
	mo.ok("open it", err)
	mo.until("it is opened", `() => document.querySelector('.series') !== null`)
	_, err = mo.ask(`() => { setTimeout(() => history.back(), 0) }`)
	mo.ok("go back", err)
	m.eventually(before+" stands there again", func() (bool, string) {
		got, err := mo.ask(middle)
		return err == nil && got.Str() == before, got.Str()
	})
	mo.until("and the library goes on from there", `() => { scrollTo(0, 0); return document.querySelector('.block .item-title')?.textContent === 'Title 1' }`)
}

// While the shelf flies past, covers of blocks that arrive wait; where it slows down they
// come, also those of blocks that were put aside meanwhile.
func TestCoversWaitWhileTheShelfFlies(t *testing.T) {
	turn(t)
	const titles = 300
	m := newMangrove(t)
	m.shelve(titles)
	m.start()
	mo := m.visit("mo", desktop)
	mo.claim()
	mo.seesAll(titles)
	// Up and down around the end, faster than anybody reads, until all blocks are there.
	held, err := mo.askFor(patience, `async () => {
		let most = 0;
		while (document.querySelector('#more')) {
			const end = document.documentElement.scrollHeight;
			scrollTo({ top: scrollY > end - innerHeight - 900 ? end - innerHeight - 1800 : end, behavior: 'instant' });
			await new Promise(requestAnimationFrame);
			most = Math.max(most, document.querySelectorAll('.block img[data-src]').length);
		}
		return most;
	}`)
	mo.ok("fly through the library", err)
	if held.Int() == 0 {
		t.Error("no cover waited")
	}
	for _, part := range []float64{1, 0.5, 0} {
		_, err = mo.ask(`(part) => scrollTo({ top: document.documentElement.scrollHeight * part, behavior: 'instant' })`, part)
		mo.ok("stop somewhere", err)
		mo.until("the covers come", `() => {
			const seen = [...document.querySelectorAll('.block img[data-cover]')].filter((i) => { const r = i.parentElement.getBoundingClientRect(); return r.bottom > 0 && r.top < innerHeight; });
			return seen.length >= 8 && seen.every((i) => i.hasAttribute('src') && i.complete && i.naturalWidth > 0);
		}`)
	}
	mo.contented(true)
}
