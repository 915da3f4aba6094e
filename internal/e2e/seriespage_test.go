package e2e

import "testing"

// On a phone a Series opens on what is read: the button to go on and the chapters come
// first, and what is known of it is folded away below them, a tap from the top. On a
// computer it stands beside the chapters, unfolded.
func TestASeriesOpensOnItsChapters(t *testing.T) {
	turn(t)
	m := newMangrove(t)
	m.start()
	ada := m.visit("ada", desktop)
	ada.claim()
	ada.followTheSample()
	ada.chaptersHere(3)
	ada.jobDone("Done, 3 chapters")
	ada.says("facts stand beside the chapters", `() => {
		const facts = document.querySelector('#series-following'), at = facts.getBoundingClientRect(), list = document.querySelector('#chapters').getBoundingClientRect();
		return facts.checkVisibility() && at.left >= list.right && at.top < innerHeight && !document.querySelector('.series-fold > summary').checkVisibility();
	}`)
	ada.says("and can be used", `() => { const box = document.querySelector('#series-following [role=switch]'); box.focus(); return document.activeElement === box }`)

	mo := m.visit("mo", phone)
	mo.signIn()
	mo.open("/sites/sample/pepper-and-carrot")
	mo.says("a chapter and the button to read are on the first screen", `() => {
		const go = document.querySelector('#series-acts-phone .primary').getBoundingClientRect(), first = document.querySelector('#chapters li.ch').getBoundingClientRect();
		const bar = document.querySelector('.bottomnav').getBoundingClientRect();
		return go.bottom < first.top && first.bottom < bar.top;
	}`)
	mo.says("facts are folded below them", `() => {
		const fold = document.querySelector('.series-fold');
		return !document.querySelector('#series-following').checkVisibility() && fold.getBoundingClientRect().top >= document.querySelector('#chapters').getBoundingClientRect().bottom;
	}`)
	mo.tap(`#series-acts-phone a[href="#facts"]`)
	mo.until("they unfold and are in sight", `() => {
		const at = document.querySelector('#series-coverage').getBoundingClientRect();
		return document.querySelector('#series-following').checkVisibility() && at.top > 0 && at.top < innerHeight;
	}`)
	mo.fill("#coll-new", "For rainy days")
	mo.tap(`form[action$="/collections"] button`)
	mo.until("what was saved there is in sight again", `() => {
		const box = document.querySelector('form[action$="/collections"] input[name=collection]:checked');
		return box && box.checkVisibility() && box.getBoundingClientRect().top > 0 && box.getBoundingClientRect().bottom < innerHeight;
	}`)
	ada.contented(false)
	mo.contented(false)
}
