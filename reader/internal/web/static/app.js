// What the pages do beyond their forms: the theme, one live stream a tab, and a
// few keys. Everything works without this file; it only saves reloading.
'use strict';

// Finished HTML from our own server is the only HTML ever parsed here.
const policy = window.trustedTypes
  ? trustedTypes.createPolicy('mangrove', { createHTML: (html) => html })
  : { createHTML: (html) => html };

// ---- theme: kept in a cookie, so that the first paint is right
const root = document.documentElement;
// The library may live under a path: every address begins with it.
function at(address) { return root.dataset.base + address; }
document.addEventListener('click', (event) => {
  if (!event.target.closest('[data-theme-toggle]')) return;
  toggleTheme();
});
function toggleTheme() {
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  document.cookie = 'theme=' + root.dataset.theme + '; path=' + root.dataset.base + '; max-age=31536000; samesite=lax';
}

// ---- switches that are forms of their own
document.addEventListener('change', (event) => {
  const form = event.target.closest('form[data-autosubmit]');
  if (form) form.requestSubmit();
});

// ---- what cannot be undone asks once
document.addEventListener('submit', (event) => {
  const text = event.target.dataset.confirm;
  if (text && !confirm(text)) event.preventDefault();
});

// ---- a secret that is shown once can be copied, where the browser lets us
if (navigator.clipboard) {
  for (const button of document.querySelectorAll('[data-copy]')) button.hidden = false;
}
document.addEventListener('click', async (event) => {
  const button = event.target.closest('[data-copy]');
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.setAttribute('aria-label', T('Copied'));
  button.replaceChildren(T('Copied'));
});

// ---- a code behind the "#" of a link: no log on the way has seen it
const coded = document.querySelector('form[data-from-hash]');
if (coded && location.hash.length > 1) {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const name of ['name', 'code']) {
    const field = coded.elements[name];
    if (given.get(name) && !field.value) field.value = given.get(name);
  }
  history.replaceState(null, '', location.pathname);
  if (coded.elements.name.value && coded.elements.code.value) coded.elements.password.focus();
}

// ---- covers that are not there: the mark behind them shows instead, and those that
// are being made are asked for again a few times
const tries = new WeakMap();
document.addEventListener('error', (event) => {
  const img = event.target;
  if (!img.matches || !img.matches('img[data-cover]')) return;
  img.hidden = true;
  const n = (tries.get(img) || 0) + 1;
  tries.set(img, n);
  if (n > 6) return;
  setTimeout(() => {
    if (!img.isConnected) return;
    // Where the picture is written again, it is fetched again.
    const set = img.getAttribute('srcset');
    img.loading = 'eager';
    if (set) img.setAttribute('srcset', set); else img.setAttribute('src', img.getAttribute('src'));
  }, 400 * 2 ** n);
}, true);
document.addEventListener('load', (event) => {
  if (event.target.matches && event.target.matches('img[data-cover]')) event.target.hidden = false;
}, true);
for (const img of document.querySelectorAll('img[data-cover]')) {
  if (img.complete && img.naturalWidth === 0 && img.loading !== 'lazy') img.hidden = true;
}

// ---- counting down to the next try
const waiting = document.querySelector('[data-wait]');
if (waiting) {
  const until = Date.now() + Number(waiting.dataset.wait) * 1000;
  const text = waiting.querySelector('span');
  const timer = setInterval(() => {
    const left = Math.ceil((until - Date.now()) / 1000);
    if (left > 0) {
      text.textContent = T('Too many tries. Try again in %s.', T('%d seconds', left));
      return;
    }
    clearInterval(timer);
    text.textContent = T('You can try again now.');
  }, 1000);
}

// ---- live: each event names an element and carries its finished HTML
// What a finger or the mouse is just pressing is replaced after it is let go: a
// click on an element that is gone meanwhile would be lost.
let pressed = null;
const later = new Map();
addEventListener('pointerdown', (event) => { pressed = event.target; }, true);
for (const end of ['pointerup', 'pointercancel']) {
  addEventListener(end, () => setTimeout(() => {
    pressed = null;
    for (const [id, html] of later) replace(id, html);
    later.clear();
  }, 100), true);
}
const focusable = 'a[href], button, input, select, summary, [tabindex]';
function replace(id, html) {
  const old = document.getElementById(id);
  if (!old) return;
  later.delete(id);
  if (pressed && old.contains(pressed)) {
    later.set(id, html);
    return;
  }
  const box = document.createElement(old.tagName === 'LI' ? 'ol' : 'div');
  box.innerHTML = policy.createHTML(html);
  const fresh = box.firstElementChild;
  if (!fresh || fresh.outerHTML === old.outerHTML) return;
  // What the person opened or holds stays opened and held.
  for (const details of fresh.querySelectorAll('details[id]')) {
    const was = document.getElementById(details.id);
    if (was) details.open = was.open;
  }
  // A half-filled form stays as the person left it.
  for (const box of old.querySelectorAll('input[type=checkbox]:is([name=key], [name=book]):checked')) {
    for (const again of fresh.querySelectorAll('input[type=checkbox][name=' + box.name + ']')) again.checked = again.checked || again.value === box.value;
  }
  for (const field of old.querySelectorAll('input[type=text][id]')) {
    const again = fresh.querySelector('#' + CSS.escape(field.id));
    if (again && field.value !== field.defaultValue) again.value = field.value;
  }
  // Pictures that are there already are moved, so that none blinks.
  const images = new Map();
  for (const img of old.querySelectorAll('img')) images.set(img.getAttribute('src'), img);
  for (const img of fresh.querySelectorAll('img')) {
    const was = images.get(img.getAttribute('src'));
    if (was && was.className === img.className && !was.hidden) img.replaceWith(was);
  }
  const held = old.contains(document.activeElement) ? [...old.querySelectorAll(focusable)].indexOf(document.activeElement) : -1;
  old.replaceWith(fresh);
  if (held >= 0) {
    const again = fresh.querySelectorAll(focusable)[held] || fresh;
    again.focus({ preventScroll: true });
  }
}

const address = document.body.dataset.live;
if (address && window.EventSource) {
  const note = document.getElementById('not-live');
  let source, lost = 0, poll = 0, lastWord = Date.now();
  const two = (n) => String(n).padStart(2, '0');
  const back = () => { lost = 0; lastWord = Date.now(); note.hidden = true; clearInterval(poll); poll = 0; };
  // A browser holds six connections to a host, over HTTP/1.1, and a stream takes
  // one for good: four tabs have a stream, and of more the longest unused ask now
  // and then. A tab is counted once, however often it loads a page.
  const together = 4;
  const newer = new Set();
  const tabs = window.BroadcastChannel ? new BroadcastChannel('mangrove-live') : null;
  const me = sessionStorage.getItem('mangrove:tab') || Math.random().toString(36).slice(2);
  sessionStorage.setItem('mangrove:tab', me);
  const open = () => {
    newer.clear();
    clearInterval(poll);
    poll = 0;
    if (tabs) tabs.postMessage(me);
    source = new EventSource(address);
    source.onopen = back;
    source.onmessage = (event) => {
      back();
      const piece = JSON.parse(event.data);
      // A question is not taken away before it is answered, nor an answer before it is read.
      const shown = document.getElementById(piece.id);
      if (!shown || !shown.querySelector('[data-asking]')) replace(piece.id, piece.html);
    };
    source.onerror = () => {
      lost = lost || Date.now();
      if (!poll) poll = setInterval(ask, 15000);
      // A refused stream is not tried again by the browser.
      if (source.readyState === EventSource.CLOSED) setTimeout(() => { if (lost && !document.hidden) { source.close(); open(); } }, 5000);
    };
  };
  // Without a stream the page itself is asked for, and the same elements taken from it.
  const ask = async () => {
    if (lost && Date.now() - lost > 30000) {
      const at = new Date(lost);
      note.textContent = T('not live since %s', two(at.getHours()) + ':' + two(at.getMinutes()));
      note.hidden = false;
    }
    try {
      const answer = await fetch(location.href, { credentials: 'same-origin', headers: { Accept: 'text/html' } });
      if (!answer.ok || answer.redirected) return;
      const page = new DOMParser().parseFromString(policy.createHTML(await answer.text()), 'text/html');
      for (const id of ['scraper-line', 'shelf-empty', 'shelf-head', 'home', 'series-state', 'series-acts-wide', 'series-acts-phone', 'series-notices',
        'series-coverage', 'series-following', 'series-unread', 'chapters', 'wl-notices', 'wl-filters', 'wl-all', 'worklist', 'lanes',
        'q-holds', 'q-hold', 'q-tiles', 'q-parts', 'q-sites', 'q-settings', 'job-head', 'job-chapters',
        'side-worklist', 'side-lanes', 'side-scraper', 'tab-worklist', 'tab-lanes', 'tab-scraper', 'foot-running']) {
        const fresh = page.getElementById(id);
        if (fresh) replace(id, fresh.outerHTML);
      }
    } catch { /* still away; the next turn tries again */ }
  };
  const rest = (asking) => {
    source.close();
    clearInterval(poll);
    poll = asking ? setInterval(ask, 15000) : 0;
    lost = 0;
  };
  const wake = () => { if (!document.hidden && source.readyState === EventSource.CLOSED) open(); };
  if (document.hidden) source = { readyState: EventSource.CLOSED, close() {} };
  else open();
  // A tab that nobody looks at asks nothing, and catches up when it is looked at.
  document.addEventListener('visibilitychange', () => { if (document.hidden) rest(false); else wake(); });
  addEventListener('focus', wake);
  if (tabs) tabs.onmessage = (event) => {
    newer.add(event.data);
    if (newer.size >= together && source.readyState !== EventSource.CLOSED) rest(!document.hidden);
  };
  addEventListener('pagehide', () => source.close());
  addEventListener('pageshow', (event) => { if (event.persisted) open(); });
}

// ---- keys: /, g h, g l, t; off while typing
let went = 0;
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea, [contenteditable]')) return;
  if (event.key === '/') {
    event.preventDefault();
    const field = document.getElementById('q');
    if (field) field.select(); else location.assign(at('search'));
    return;
  }
  if (event.key === 'g') { went = Date.now(); return; }
  if (Date.now() - went < 1000) {
    went = 0;
    if (event.key === 'h') location.assign(at(''));
    if (event.key === 'l') location.assign(at('library'));
    if (event.key === 'w' && document.querySelector('a[href="' + at('worklist') + '"]')) location.assign(at('worklist'));
    if (event.key === 's' && document.querySelector('a[href="' + at('settings/health') + '"]')) location.assign(at('settings/health'));
    return;
  }
  if (event.key === 't' && document.querySelector('[data-theme-toggle]')) toggleTheme();
});
