package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-rod/rod/lib/input"
	"github.com/go-rod/rod/lib/proto"
)

// lettered are eight titles of each letter, and some in other scripts.
func lettered() (out []string) {
	for l := 'A'; l <= 'Z'; l++ {
		for n := range 8 {
			out = append(out, fmt.Sprintf("%c%c title %d", l, 'a'+n, n+1))
		}
	}
	return append(out, "7 Days", "魔女の手紙", "はな", "가을")
}

const firstTile = `document.querySelector('.block .item-title')?.textContent`

// A letter leads to the titles that begin with it: with a script on the same page, so
// that Back finds the place; without one as a page of its own; by key, by click, and by
// a finger that slides along.
func TestLettersLeadToTheirTitles(t *testing.T) {
	turn(t)
	m := newMangrove(t)
	titles := lettered()
	m.shelveNamed(titles...)
	m.start()
	mo := m.visit("mo", desktop)
	mo.readsAloud("dark")
	mo.claim()
	mo.seesAll(len(titles))
	mo.seen("library-letters", "/library")
	mo.says("the letters that there are stand there", `() => [...document.querySelectorAll('#az a')].map((a) => a.textContent).join('') === '#ABCDEFGHIJKLMNOPQRSTUVWXYZは馬ㄱ'`)
	mo.says("and nothing has moved while the page came", `async () => {
		const moved = await new Promise((done) => { new PerformanceObserver((list) => done(list.getEntries())).observe({ type: 'layout-shift', buffered: true }); setTimeout(() => done([]), 500); });
		return moved.every((s) => s.value < .001);
	}`)
	without, err := mo.ask(`async () => {
		const page = await (await fetch(document.querySelectorAll('#az a')[13].href)).text();
		return page.match(/class="item-title"[^>]*>(?:<[^>]*>)*([^<]*)/)[1] + ' under ' + page.match(/aria-current="true">([A-Z])</)[1];
	}`)
	if mo.ok("open a letter without script", err); without.Str() != "Ma title 1 under M" {
		t.Errorf("without script M leads to %q", without.Str())
	}

	_, err = mo.ask(`() => { window.stayed = true; scrollTo({ top: 700, behavior: 'instant' }) }`)
	mo.ok("scroll", err)
	mo.until("the place is kept", `() => history.state?.library && Math.abs(history.state.library.y - scrollY) < 1 && scrollY > 500`)
	mo.says("the rail says where the first title in sight is", `() => document.querySelector('#az [aria-current]').textContent === 'B'`)
	const there = `() => { const item = [...document.querySelectorAll('.pickable .item')].find((i) => i.getBoundingClientRect().top > 200); return item ? item.textContent + ' at ' + Math.round(item.getBoundingClientRect().top) : '' }`
	before := mo.until("a title stands there", there).Str()
	// As a click would, without bringing the link to the middle of the window first.
	_, err = mo.ask(`() => document.querySelector('#az li:nth-child(12) a').click()`)
	mo.ok("choose K", err)
	mo.until("K is on top, under the bar", `() => `+firstTile+` === 'Ka title 1' && new URLSearchParams(location.search).has('from') &&
		Math.abs(document.querySelector('.block').getBoundingClientRect().top - document.querySelector('#toolbar').getBoundingClientRect().bottom) < 80`)
	mo.says("the rail and a reader of screens say so", `() => document.querySelector('#az [aria-current]').textContent === 'K' && document.querySelector('#az-said').textContent === 'Titles from K'`)
	mo.stayed()
	mo.until("the library goes on from there", `() => { scrollTo(0, document.documentElement.scrollHeight); return !document.querySelector('#more') && [...document.querySelectorAll('.block:last-child .item-title')].pop()?.textContent === '가을' }`)
	mo.says("and the rail with it", `() => document.querySelector('#az [aria-current]').textContent === 'ㄱ' || document.querySelector('#az [aria-current]').textContent > 'V'`)
	_, err = mo.ask(`() => history.back()`)
	mo.ok("go back", err)
	m.eventually(before+" stands there again", func() (bool, string) {
		got, err := mo.ask(there)
		return err == nil && got.Str() == before, got.Str()
	})
	mo.stayed()
	_, err = mo.ask(`() => history.forward()`)
	mo.ok("go forward", err)
	mo.until("K is there again", `() => [...document.querySelectorAll('.block')][0]?.dataset.after !== '' && document.querySelector('.block') !== null`)

	// One stop of Tab, and arrow keys in it.
	mo.open("/library")
	mo.says("one letter takes Tab", `() => [...document.querySelectorAll('#az a')].filter((a) => a.tabIndex === 0).length === 1`)
	_, err = mo.ask(`() => document.querySelector('#az a[tabindex="0"]').focus()`)
	mo.ok("come to the rail", err)
	for range 3 {
		mo.press(input.ArrowDown)
	}
	mo.press(input.Enter)
	mo.until("the letter that the keys led to is shown", `() => `+firstTile+` === 'Ca title 1' && document.activeElement.textContent === 'C'`)
	mo.contented(false)

	lu := m.visit("lu", phone)
	lu.readsAloud("light")
	lu.signIn()
	lu.seen("library-letters", "/library")
	lu.stay()
	at := lu.until("the rail is in sight", `() => { const r = document.querySelector('#az ul').getBoundingClientRect(), bar = document.querySelector('.bottomnav').getBoundingClientRect(); return r.bottom <= bar.top && [r.x + r.width / 2, r.top, r.height] }`)
	x, top, height := at.Get("0").Num(), at.Get("1").Num(), at.Get("2").Num()
	finger := func(part float64) *proto.InputTouchPoint { return &proto.InputTouchPoint{X: x, Y: top + height*part} }
	lu.ok("put a finger on the rail", lu.page.Touch.Start(finger(.02)))
	for i := range 40 {
		lu.ok("slide it", lu.page.Touch.Move(finger(.02+.9*float64(i+1)/40)))
	}
	letter := lu.until("the letter under it is shown large", `() => {
		const big = document.getElementById('az-big'), all = [...document.querySelectorAll('#az a')];
		return !big.hidden && big.textContent === all[Math.floor(.92 * all.length)].textContent && big.textContent;
	}`).Str()
	lu.ok("lift it", lu.page.Touch.End())
	lu.until("its titles are there", `(letter) => document.getElementById('az-big').hidden && `+firstTile+`?.startsWith(letter) && document.querySelector('#az [aria-current]').textContent === letter`, letter)
	lu.stayed()
	_, err = lu.ask(`() => history.back()`)
	lu.ok("go back", err)
	lu.until("one step back is where the finger began", `() => `+firstTile+` === '7 Days' && document.querySelector('#az [aria-current]')?.textContent === '#'`)
	m.eventually("a tap leads to its letter too", func() (bool, string) {
		lu.tap(`#az li:nth-child(3) a`) // a browser with much to do may lose one
		got, err := lu.askFor(patience, `async () => { for (let n = 0; n < 40; n++) { if (`+firstTile+` === 'Ba title 1') return true; await new Promise((done) => setTimeout(done, 100)); } return false; }`)
		return err == nil && got.Bool(), fmt.Sprint(got, err)
	})
	lu.stayed()
	lu.contented(false)
}

// Arrow keys go from title to title in rows and columns, through blocks that are not
// fetched yet or put aside, and the other way round where a language runs so.
func TestArrowKeysAmongTitles(t *testing.T) {
	turn(t)
	m := newMangrove(t)
	titles := lettered()
	m.shelveNamed(titles...)
	m.start()
	mo := m.visit("mo", desktop)
	mo.claim()
	mo.seesAll(len(titles))
	mo.stay()
	focused := func(want string) {
		t.Helper()
		mo.until(want+" has the focus, in sight", `(want) => {
			const a = document.activeElement, at = a.getBoundingClientRect();
			return a.matches('.item, .row-title') && (a.querySelector('.item-title') || a).textContent === want && at.top >= 0 && at.bottom <= innerHeight;
		}`, want)
	}
	columns := mo.until("there are columns", `() => getComputedStyle(document.querySelector('.block .grid')).gridTemplateColumns.split(' ').length`).Int()
	order := append([]string{"7 Days"}, titles[:len(titles)-4]...)
	mo.press(input.ArrowRight)
	focused(order[0])
	for _, step := range []struct {
		key  input.Key
		want int
	}{
		{input.ArrowRight, 1}, {input.ArrowDown, 1 + columns}, {input.ArrowLeft, columns}, {input.End, 2*columns - 1}, {input.ArrowRight, 2 * columns}, {input.ArrowUp, columns},
		{input.ArrowUp, 0}, {input.ArrowUp, 0}, {input.End, columns - 1}, {input.Home, 0},
	} {
		mo.press(step.key)
		focused(order[step.want])
	}
	// From the last row of a block into the next, in the same column, fetched or not.
	_, err := mo.ask(`() => document.querySelectorAll('.pickable .item')[45].focus()`)
	mo.ok("go to the last row of a block", err)
	mo.press(input.ArrowDown)
	focused(order[45+columns])
	mo.press(input.ArrowUp)
	focused(order[45])
	// Through all of it and back: blocks come, and those behind are put aside.
	presses := 0
	m.eventually("the last row is reached", func() (bool, string) {
		mo.press(input.PageDown)
		presses++
		got, err := mo.ask(`() => document.activeElement.querySelector('.item-title')?.textContent + ' ' + !!document.querySelector('#more') + ' ' + (document.activeElement.closest('.block') === [...document.querySelectorAll('.block')].pop())`)
		return err == nil && got.Str() != "" && got.Str()[len(got.Str())-10:] == "false true", got.Str()
	})
	if presses < 4 {
		t.Errorf("%d screens are the whole library", presses)
	}
	mo.until("the first block is aside", `() => document.querySelector('.block').hasAttribute('data-aside')`)
	m.eventually("the first row is reached again", func() (bool, string) {
		mo.press(input.PageUp)
		got, err := mo.ask(`() => document.activeElement.querySelector('.item-title')?.textContent`)
		return err == nil && slices.Contains(order[:columns], got.Str()), got.Str()
	})
	mo.press(input.Home)
	focused(order[0])
	mo.press(input.Tab)
	mo.says("Tab goes on to what it went to before", `() => document.activeElement.matches('.pickable:nth-child(2) .pick')`)
	mo.press(input.Tab)
	focused(order[1])
	mo.press('x')
	mo.says("x selects what has the focus", `() => document.querySelector('#picked-said').textContent === '1 selected'`)
	mo.press(input.Escape)
	mo.press('?')
	mo.says("the keys are listed", `() => document.querySelector('dialog[open]')?.textContent.includes('From title to title')`)
	mo.press(input.Escape)
	mo.stayed()
	mo.press(input.Enter)
	mo.until("Enter opens the title", `() => document.querySelector('.series h1')?.textContent === 'Aa title 1'`)

	mo.open("/library?view=list")
	mo.press(input.ArrowRight)
	focused(order[0])
	mo.press(input.ArrowDown)
	focused(order[1])
	mo.contented(false)

	nur := m.visit("nur", desktop)
	nur.asksFor("ar")
	nur.signIn()
	nur.open("/library")
	nur.press(input.ArrowLeft)
	nur.press(input.ArrowLeft)
	nur.until("left is on where the language runs to the left", `(want) => document.activeElement.querySelector('.item-title')?.textContent === want`, order[1])
	nur.press(input.ArrowRight)
	nur.until("and right is back", `(want) => document.activeElement.querySelector('.item-title')?.textContent === want`, order[0])
	nur.contented(false)
}
