// What the search page does beyond its links: each Site is asked on its own and
// fills its group where it stands. All of it works without.
'use strict';

// A browser holds six connections to one host; pictures and the next page need some.
const together = 4;
const queue = [];
let asking = 0;
const said = document.getElementById('search-said');

const word = (group, text) => { group.querySelector('[data-state] > span').textContent = text; };
const show = (group, waits) => {
  group.querySelector('[data-skeleton]').hidden = !waits;
  group.querySelector('[data-idle]').hidden = waits;
};

async function ask(group, mine) {
  const control = new AbortController();
  const began = Date.now();
  const button = group.querySelector('[data-stop]');
  const stop = () => control.abort();
  button.addEventListener('click', stop);
  const state = group.querySelector('[data-state]');
  state.className = 'word tone-info end';
  const tick = () => word(group, T('Still searching, %d s', Math.round((Date.now() - began) / 1000)));
  word(group, T('Searching'));
  show(group, true);
  // The link that was pressed is hidden now; the focus goes to what took its place.
  if (mine) button.focus({ preventScroll: true });
  const timer = setInterval(tick, 1000);
  const rest = (text) => {
    state.className = 'word tone-quiet end';
    word(group, text);
    show(group, false);
  };
  try {
    const answer = await fetch(group.dataset.search, { credentials: 'same-origin', headers: { 'X-Requested-With': 'mangrove' }, signal: control.signal });
    const page = new DOMParser().parseFromString(policy.createHTML(await answer.text()), 'text/html');
    const fresh = page.getElementById(group.id);
    if (fresh) {
      const held = group.contains(document.activeElement);
      replace(group.id, fresh.outerHTML);
      const now = document.getElementById(group.id);
      // Who waited at this group goes on from what came of it.
      if (held) {
        const to = now.querySelector('a.row-title, [data-again]') || now.querySelector('h2');
        if (to.tagName === 'H2') to.tabIndex = -1;
        to.focus({ preventScroll: true });
      }
      said.textContent = now.querySelector('h2').textContent + ': ' + now.querySelector('[data-state] > span').textContent;
    } else {
      rest(answer.redirected ? T('Not asked: sign in again') : T('That did not work'));
    }
  } catch {
    rest(control.signal.aborted ? T('Stopped') : T('Mangrove did not answer'));
    if (mine || control.signal.aborted) group.querySelector('[data-again]').focus({ preventScroll: true });
  } finally {
    clearInterval(timer);
    button.removeEventListener('click', stop);
  }
}

function next() {
  while (asking < together && queue.length > 0) {
    asking++;
    const [group, mine] = queue.shift();
    ask(group, mine).finally(() => { asking--; next(); });
  }
}

for (const group of document.querySelectorAll('[data-search][data-start]')) {
  word(group, T('Waiting its turn'));
  queue.push([group, false]);
}
next();

document.addEventListener('click', (event) => {
  const link = event.target.closest('[data-again]');
  const group = link && link.closest('[data-search]');
  if (!group || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  queue.unshift([group, true]);
  next();
});
