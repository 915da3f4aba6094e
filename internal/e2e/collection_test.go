package e2e

import (
	"fmt"
	"testing"
)

// Selected titles are taken out of a collection, on a phone too and also from blocks
// that are far away, and one press puts them back where they stood.
func TestTitlesLeaveACollectionAndComeBack(t *testing.T) {
	turn(t)
	const titles = 120
	m := newMangrove(t)
	m.shelve(titles)
	m.start()
	ada := m.visit("ada", desktop)
	ada.readsAloud("dark")
	ada.claim()
	ada.seesAll(titles)
	_, err := ada.ask(`async () => {
		const keys = [];
		for (let page = '/library/block'; page;) {
			const text = await (await fetch(page, { headers: { 'X-Requested-With': 'mangrove' } })).text();
			keys.push(...[...text.matchAll(/name="key" value="([^"]+)"/g)].map((m) => m[1]));
			page = text.match(/data-fetch="([^"]+)"/)?.[1].replaceAll('&amp;', '&');
		}
		const form = new URLSearchParams({ collect: 'new', name: 'Night' });
		for (const key of keys) form.append('key', key);
		await fetch('/library/select', { method: 'POST', body: form });
	}`)
	ada.ok("collect all titles", err)
	mo := m.visit("mo", phone)
	mo.readsAloud("light")
	mo.signIn()
	for _, v := range []*visitor{ada, mo} {
		v.open("/collections/1")
		v.until("the collection is there", `(n) => document.querySelector('.coll-head p').textContent.startsWith(n + ' titles')`, fmt.Sprint(titles))
		v.click("#select")
		_, err := v.ask(`() => document.querySelectorAll('.pickable .pick')[1].click()`)
		v.ok("select the second", err)
		v.until("the last is reached", `() => { scrollTo(0, document.documentElement.scrollHeight); return !document.querySelector('#more') && [...document.querySelectorAll('.block:last-child .item-title')].pop()?.textContent === 'Title 120' }`)
		_, err = v.ask(`() => [...document.querySelectorAll('.pickable .pick')].pop().click()`)
		v.ok("select the last", err)
		v.says("both are selected", `() => document.querySelector('#picked-said').textContent === '2 selected'`)
		v.click(`.bulk [value="take"]`)
		v.until("they are out of it, and it says so", `() => document.readyState === 'complete' && document.querySelector('[role=status]')?.textContent === '2 titles taken out of the collection. They stay in the library.' &&
			document.querySelector('.coll-head p').textContent.startsWith('118 titles') && document.querySelectorAll('.item-title')[1].textContent === 'Title 3'`)
		v.axe("a collection that titles were taken out of")
		v.click(`[value="put"]`)
		v.until("they are back where they stood", `() => document.querySelector('.coll-head p').textContent.startsWith('120 titles') && document.querySelectorAll('.item-title')[1].textContent === 'Title 2' &&
			document.querySelector('.notice').textContent.includes('2 titles put back')`)
		v.contented(false)
	}
}
