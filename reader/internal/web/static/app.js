// What the pages do beyond their forms: the theme, one live stream a tab, and a
// few keys. Everything works without this file; it only saves reloading.
'use strict';

// Finished HTML from our own server is the only HTML ever parsed here.
const policy = window.trustedTypes
  ? trustedTypes.createPolicy('mangrove', { createHTML: (html) => html })
  : { createHTML: (html) => html };

// ---- theme: kept in a cookie, so that the first paint is right
const root = document.documentElement;
document.addEventListener('click', (event) => {
  if (!event.target.closest('[data-theme-toggle]')) return;
  toggleTheme();
});
function toggleTheme() {
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  document.cookie = 'theme=' + root.dataset.theme + '; path=/; max-age=31536000; samesite=lax';
}

// ---- switches that are forms of their own
document.addEventListener('change', (event) => {
  const form = event.target.closest('form[data-autosubmit]');
  if (form) form.requestSubmit();
});

// ---- covers that do not exist: the mark behind them shows instead
document.addEventListener('error', (event) => {
  if (event.target.matches && event.target.matches('img[data-cover]')) event.target.hidden = true;
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
      text.textContent = 'Too many tries. Try again in ' + left + (left === 1 ? ' second.' : ' seconds.');
      return;
    }
    clearInterval(timer);
    text.textContent = 'You can try again now.';
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
  const open = () => {
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
      if (source.readyState === EventSource.CLOSED) setTimeout(() => { if (lost) { source.close(); open(); } }, 5000);
    };
  };
  // Without a stream the page itself is asked for, and the same elements taken from it.
  const ask = async () => {
    if (Date.now() - lost > 30000) {
      const at = new Date(lost);
      note.textContent = 'not live since ' + two(at.getHours()) + ':' + two(at.getMinutes());
      note.hidden = false;
    }
    try {
      const answer = await fetch(location.href, { credentials: 'same-origin', headers: { Accept: 'text/html' } });
      if (!answer.ok || answer.redirected) return;
      const page = new DOMParser().parseFromString(policy.createHTML(await answer.text()), 'text/html');
      for (const id of ['scraper-line', 'shelf', 'home', 'series-state', 'series-acts-wide', 'series-acts-phone', 'series-notices',
        'series-coverage', 'series-following', 'series-unread', 'chapters', 'wl-notices', 'wl-filters', 'wl-all', 'worklist', 'lanes',
        'q-holds', 'q-hold', 'q-tiles', 'q-parts', 'q-sites', 'q-settings', 'job-head', 'job-chapters',
        'side-worklist', 'side-lanes', 'side-scraper', 'tab-worklist', 'tab-lanes', 'tab-scraper', 'foot-running']) {
        const fresh = page.getElementById(id);
        if (fresh) replace(id, fresh.outerHTML);
      }
    } catch { /* still away; the next turn tries again */ }
  };
  open();
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
    if (field) field.select(); else location.assign('/search');
    return;
  }
  if (event.key === 'g') { went = Date.now(); return; }
  if (Date.now() - went < 1000) {
    went = 0;
    if (event.key === 'h') location.assign('/');
    if (event.key === 'l') location.assign('/library');
    if (event.key === 'w' && document.querySelector('a[href="/worklist"]')) location.assign('/worklist');
    return;
  }
  if (event.key === 't' && document.querySelector('[data-theme-toggle]')) toggleTheme();
});
