// The reading view: pages one after another, in pairs, from top to bottom or as a
// strip; the next ones loaded ahead; the place kept in the address and sent to the
// server, or kept on this device while it cannot be. Nothing here depends on the
// scraper.
'use strict';

const view = document.getElementById('read');
const stage = document.getElementById('stage');
const end = document.getElementById('chapter-end');
const slider = document.getElementById('slider');
const place = document.getElementById('place');
const percent = document.getElementById('percent');
const settings = document.getElementById('settings');
const zones = document.getElementById('zones');
const offline = document.getElementById('offline');
const say = document.getElementById('say');
const data = JSON.parse(view.dataset.read);
const total = data.sizes.length;
const icons = document.querySelector('.read-bar use').getAttribute('href').split('#')[0];
const wide = matchMedia('(min-width: 60rem)');
const calm = matchMedia('(prefers-reduced-motion: reduce)');
const motion = () => (calm.matches ? 'instant' : 'smooth');
pageKeys.push(readingKeys);

function recall(name, fallback) {
  try { return Object.assign({}, fallback, JSON.parse(localStorage.getItem(name) || '{}')); } catch { return Object.assign({}, fallback); }
}
function remember(name, value) {
  try { localStorage.setItem(name, JSON.stringify(value)); } catch { /* a full or forbidden store costs only the memory */ }
}

// ---- settings: remembered for each title on the server, and here while it is away
const settingsKey = 'mangrove:reading:' + data.user + ':' + data.title;
const chosen = recall(settingsKey, {});
// A page kept on this device may be older than what was chosen and read here since.
const old = view.hasAttribute('data-kept');
const opts = chosen.mode && (chosen.unsent || (old && chosen.changed > data.settings.changed)) ? chosen : Object.assign({}, data.settings);
const words = {
  mode: { auto: T('Auto'), single: T('Single'), double: T('Double'), vertical: T('Vertical'), strip: T('Strip') },
  dir: { ltr: T('Left to right'), rtl: T('Right to left') },
  fit: { both: T('Fit both'), width: T('Fit width'), height: T('Fit height'), original: T('Original') },
};
let bright = recall('mangrove:bright', { value: 100 }).value;

let settingsTimer = 0;
function set(name, value) {
  opts[name] = value;
  opts.unsent = true;
  remember(settingsKey, opts);
  apply();
  clearTimeout(settingsTimer);
  settingsTimer = setTimeout(() => sendSettings('series/' + data.title + '/reading'), 400);
}
async function sendSettings(to) {
  clearTimeout(settingsTimer);
  const { mode, dir, fit, bg, gap, cover } = opts;
  try {
    const answer = await fetch(at(to), {
      method: 'POST', keepalive: true, credentials: 'same-origin', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ mode, dir, fit, bg, gap, cover }),
    });
    if (!answer.ok) return false;
    const saved = await answer.json();
    if (['mode', 'dir', 'fit', 'bg', 'gap', 'cover'].every((name) => opts[name] === saved[name])) {
      opts.unsent = false;
      opts.changed = saved.changed;
      remember(settingsKey, opts);
    }
    return true;
  } catch { return false; /* sent when the reader answers again */ }
}
addEventListener('online', () => { if (opts.unsent) sendSettings('series/' + data.title + '/reading'); });

// ---- where to begin: the address, else what was read here and is not sent, else
// what this device or the server knows
const named = Number(new URL(location.href).searchParams.get('page'));
const unsent = places.of(data.book), last = old ? places.last(data.book) : null;
let cur = data.page;
if (named >= 1 && named <= total) cur = Math.floor(named) - 1;
else if (unsent) cur = unsent.page;
else if (last && last.version > data.place.version && last.page < total - 1) cur = last.page;
let shownLast = cur;   // the last page shown
let atEnd = false;
let turned = false;    // the person has turned a page here

// ---- pages: one slot each, which keeps the page's size whatever comes
const slots = new Map();
function size(n) { const [w, h] = data.sizes[n]; return w && h ? [w, h] : [1000, 1500]; }
// The library may live under a path: every address begins with it.
function at(address) { return document.documentElement.dataset.base + address.replace(/^[/]/, ''); }
function source(n) { return at('read/') + data.book + '/pages/' + (n + 1) + '?v=' + data.file; }

function svg(name, attributes) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [k, v] of Object.entries(attributes)) node.setAttribute(k, v);
  return node;
}
function picture(icon, more = '') {
  const node = svg('svg', { class: 'icon' + more, 'aria-hidden': 'true' });
  node.append(svg('use', { href: icons + '#i-' + icon }));
  return node;
}

function slot(n) {
  let s = slots.get(n);
  if (s) return s;
  const [w, h] = size(n);
  const box = document.createElement('div');
  box.className = 'slot';
  box.dataset.page = n + 1;
  box.style.setProperty('--ratio', w + ' / ' + h);
  const ghost = svg('svg', { viewBox: '0 0 ' + w + ' ' + h, width: w, height: h, 'aria-hidden': 'true' });
  ghost.append(svg('rect', { width: w, height: h }));
  const img = new Image(w, h);
  img.alt = T('Page %d of %d', n + 1, total);
  img.decoding = 'async';
  img.draggable = false;
  box.append(ghost, img);
  s = { box, img, tries: 0, n };
  img.addEventListener('load', () => { box.classList.add('loaded'); box.classList.remove('failed'); box.querySelector('.page-failed')?.remove(); });
  img.addEventListener('error', () => { if (img.getAttribute('src')) failed(s); });
  slots.set(n, s);
  return s;
}

// A page that is many screens tall is decoded away from the page's own thread and
// painted in slices, those that are near: shown as one image it would hold up the
// scrolling while it is decoded and drawn.
// Each reaches one row into the next, so that no line shows between two (S-070).
// Some phones refuse a canvas of more than 16 million pixels.
const sliceHeight = 1000;
const rows = (from, height) => Math.min(sliceHeight + 1, height - from);
const tall = (n) => { const [w, h] = size(n); return strip() && h > 4 * sliceHeight && h > 3 * w && w <= 4096 && 'createImageBitmap' in window; };
function slices(s) {
  const [w, h] = size(s.n);
  const box = document.createElement('div');
  box.className = 'slices';
  box.setAttribute('role', 'img');
  box.setAttribute('aria-label', s.img.alt);
  const near = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      entry.target.wanted = entry.isIntersecting;
      if (!entry.isIntersecting) entry.target.width = 0;
    }
    paint(s);
  }, { rootMargin: '75% 0px' });
  for (let y = 0; y < h; y += sliceHeight) {
    const canvas = document.createElement('canvas');
    canvas.width = 0;
    canvas.from = y;
    canvas.style.top = 100 * y / h + '%';
    canvas.style.height = 100 * rows(y, h) / h + '%';
    near.observe(canvas);
    box.append(canvas);
  }
  s.tall = { box, near, bitmap: null, turn: 0 };
  s.img.hidden = true;
  s.box.append(box);
}
// paint draws one slice a frame, as long as there are some.
function paint(s) {
  if (!s.tall?.bitmap || s.tall.turn) return;
  const next = [...s.tall.box.children].find((c) => c.wanted && c.width === 0);
  if (!next) return;
  s.tall.turn = requestAnimationFrame(() => {
    if (!s.tall) return;
    s.tall.turn = 0;
    if (s.tall.bitmap && next.wanted) {
      const b = s.tall.bitmap;
      next.width = b.width;
      next.height = rows(next.from, b.height);
      next.getContext('2d', { alpha: false }).drawImage(b, 0, -next.from);
    }
    paint(s);
  });
}
async function loadTall(s) {
  if (!s.tall) slices(s);
  if (s.stop) return;
  s.stop = new AbortController();
  const { signal } = s.stop;
  try {
    const answer = await fetch(source(s.n) + (s.tries > 1 ? '&try=' + s.tries : ''), { signal });
    if (!answer.ok) throw new Error(answer.status);
    const bytes = await answer.blob();
    // A device that cannot hold it so shows it as one image.
    const bitmap = await createImageBitmap(bytes).catch(() => null);
    if (signal.aborted) { bitmap?.close(); return; }
    if (!bitmap) { s.whole = true; unloadTall(s); load(s.n); return; }
    s.tall.bitmap = bitmap;
    s.box.classList.add('loaded');
    s.box.classList.remove('failed');
    s.box.querySelector('.page-failed')?.remove();
    paint(s);
  } catch {
    if (signal.aborted) return;
    s.stop = null;
    failed(s);
  }
}
function unloadTall(s) {
  s.stop?.abort();
  s.stop = null;
  if (!s.tall) return;
  s.tall.bitmap?.close();
  s.tall.near.disconnect();
  cancelAnimationFrame(s.tall.turn);
  s.tall.box.remove();
  s.tall = null;
  s.img.hidden = false;
}

function load(n) {
  if (n < 0 || n >= total) return null;
  const s = slot(n);
  if (tall(n) && !s.whole) { loadTall(s); return s; }
  if (s.tall) unload(s);
  if (!s.img.getAttribute('src')) s.img.src = source(n);
  return s;
}
// unload gives back what a far page of a strip takes; its place stays.
function unload(s) {
  if (!s.img.getAttribute('src') && !s.stop && !s.tall) return;
  s.img.removeAttribute('src');
  unloadTall(s);
  s.tries = 0;
  s.box.classList.remove('loaded', 'failed');
  s.box.querySelector('.page-failed')?.remove();
}

function failed(s) {
  s.box.classList.remove('loaded');
  if (s.tries === 0) { s.tries = 1; setTimeout(() => { if (s.img.getAttribute('src') || s.tall) retry(s); }, 800); return; }
  if (s.box.querySelector('.page-failed')) return;
  const note = document.createElement('div');
  note.className = 'page-failed';
  s.box.classList.add('failed');
  const text = document.createElement('p');
  text.textContent = T('Page %d did not arrive.', s.n + 1);
  const again = document.createElement('button');
  again.type = 'button';
  again.className = 'btn';
  again.textContent = T('Try again');
  again.addEventListener('click', (event) => { event.stopPropagation(); note.remove(); retry(s); });
  note.append(text, again);
  s.box.append(note);
}
function retry(s) {
  s.tries += 1;
  if (s.tall) loadTall(s); else s.img.src = source(s.n) + '&try=' + s.tries;
}

// ---- which pages stand together
const strip = () => opts.mode === 'strip';
const vertical = () => opts.mode === 'vertical';
function pairing() {
  // On a phone held upright a pair is shown one page after the other.
  if (opts.mode === 'double') return innerWidth >= 544 || innerWidth > innerHeight;
  return opts.mode === 'auto' && wide.matches && innerWidth > innerHeight * 1.15;
}
function broad(n) { const [w, h] = size(n); return w > h; }
// The first page stands alone, as in a book, unless the person shifted it; a page
// that is a spread already always does.
let layout = { of: '', sheets: [], at: [] };
function sheets() {
  const of = pairing() + opts.cover;
  if (layout.of === of) return layout;
  layout = { of, sheets: [], at: [] };
  for (let n = 0; n < total;) {
    const two = pairing() && !broad(n) && n + 1 < total && !broad(n + 1) && (n > 0 || opts.cover === 'paired');
    const sheet = two ? [n, n + 1] : [n];
    for (const p of sheet) layout.at[p] = layout.sheets.length;
    layout.sheets.push(sheet);
    n += sheet.length;
  }
  return layout;
}
function spread(n) { const l = sheets(); return l.sheets[l.at[n]]; }

// ---- showing
function show(n, how) {
  n = Math.max(0, Math.min(total - 1, n));
  atEnd = false;
  view.classList.remove('at-end');
  if (!strip()) end.hidden = true;
  const pages = strip() ? [n] : spread(n);
  cur = pages[0];
  if (strip()) {
    if (how !== 'scroll') slot(n).box.scrollIntoView({ block: 'start', behavior: 'instant' });
  } else {
    zoom.reset();
    const boxes = pages.map((p) => load(p).box);
    stage.classList.toggle('pair', boxes.length === 2);
    stage.replaceChildren(...boxes);
    stage.scrollTop = how === 'back' ? stage.scrollHeight : 0;
    stage.scrollLeft = opts.dir === 'rtl' ? stage.scrollWidth : 0;
    ahead(pages.at(-1));
  }
  mark(pages.at(-1), how);
}

// The next three are fetched and decoded, and one behind; what is far is dropped.
function ahead(from) {
  for (const n of [from + 1, from + 2, from + 3, cur - 1]) {
    const s = load(n);
    if (s && s.img.decode) s.img.decode().catch(() => {});
  }
  for (const n of slots.keys()) if (n < cur - 6 || n > from + 8) slots.delete(n);
}
// The first pages of the next chapter come before its turn.
const nextPages = [];
function aheadOfEnd(from) {
  if (from < total - 3 || nextPages.length > 0) return;
  for (const src of data.ahead) {
    const img = new Image();
    img.src = src;
    nextPages.push(img);
  }
}

let addressTimer = 0;
function keepAddress() {
  clearTimeout(addressTimer);
  const address = new URL(location.href);
  address.searchParams.set('page', cur + 1);
  // Some browsers refuse when it is done too often; the next turn does it then.
  try { history.replaceState(null, '', address); } catch { /* not this time */ }
}

function mark(to, how) {
  shownLast = to;
  const text = to > cur ? (cur + 1) + '–' + (to + 1) : String(cur + 1);
  place.firstElementChild.textContent = text + ' / ' + total;
  place.setAttribute('aria-label', T('Page %s of %d', text, total));
  slider.value = cur + 1;
  slider.setAttribute('aria-valuetext', T('Page %s of %d', text, total));
  percent.textContent = Math.round((to + 1) * 100 / total) + ' %';
  if (how === 'scroll') { clearTimeout(addressTimer); addressTimer = setTimeout(keepAddress, 250); } else keepAddress();
  if (how === 'key') say.textContent = T('Page %s of %d', text, total);
  aheadOfEnd(to);
  save(to, how);
}

// ---- turning
function next(how) {
  if (atEnd) { if (data.next) leave(data.next); return; }
  if (strip()) { scrollBy({ top: innerHeight * 0.85, behavior: motion() }); return; }
  const shown = spread(cur);
  if (shown.at(-1) >= total - 1) { finish(); return; }
  turn(shown.at(-1) + 1, how);
}
function prev(how) {
  if (strip()) { scrollBy({ top: -innerHeight * 0.85, behavior: motion() }); return; }
  if (atEnd) { turn(cur, how); return; }
  if (cur > 0) turn(spread(cur - 1)[0], how); else bars(true);
}
function turn(n, how) {
  turned = true;
  passed();
  show(n, how || 'turn');
}
function finish() {
  atEnd = true;
  turned = true;
  view.classList.add('at-end');
  end.hidden = false;
  // Going on from the last page is what says that it was seen.
  save(total - 1, 'turn');
  (document.getElementById('next-chapter') || end).focus({ preventScroll: true });
}
// leave goes to another chapter; from the last page on, this one was read.
function leave(address) {
  if (shownLast >= total - 1) { turned = true; save(total - 1, 'turn'); }
  flush();
  location.assign(at(address));
}
end.addEventListener('click', (event) => { if (event.target.closest('#next-chapter')) { event.preventDefault(); leave(data.next); } });
const forward = (side) => (side === 'right') === (opts.dir === 'ltr');
function sideways(side, how) { if (forward(side)) next(how); else prev(how); }

// ---- bars, settings, zones
let fade = 0;
function bars(on) {
  view.classList.toggle('bars', on === undefined ? !view.classList.contains('bars') : on);
  clearTimeout(fade);
}
let byKey = false;     // the sheet was opened from the keyboard, so its focus goes back there
function sheet(on, key) {
  const open = on === undefined ? settings.hidden : on;
  if (settings.hidden !== open) return;
  settings.hidden = !open;
  if (open) { byKey = Boolean(key); askKept(); }
  for (const b of document.querySelectorAll('[data-do="settings"][aria-expanded]')) b.setAttribute('aria-expanded', String(open));
  if (open) settings.querySelector('input:checked, button')?.focus({ preventScroll: true });
  else if (byKey) document.querySelector('.read-bar [data-do="settings"]').focus({ preventScroll: true });
  else document.activeElement?.blur();
}

// ---- a strip keeps only what is near
let watching = null;
function watch(boxes) {
  watching?.disconnect();
  watching = null;
  if (!strip()) return;
  watching = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const n = Number(entry.target.dataset.page) - 1;
      if (entry.isIntersecting) load(n); else unload(slot(n));
    }
  }, { rootMargin: '150% 0px' });
  for (const box of boxes) watching.observe(box);
}

function dim() { stage.style.filter = bright < 100 ? 'brightness(' + bright / 100 + ')' : ''; }
function apply(first) {
  const was = cur;
  zoom.reset();
  view.classList.toggle('strip-mode', strip());
  for (const b of ['black', 'grey', 'paper', 'white']) view.classList.toggle('bg-' + b, opts.bg === b);
  stage.className = (strip() ? 'strip-pages gap-' + opts.gap : 'stage') + ' fit-' + opts.fit + (opts.dir === 'rtl' ? ' rtl' : '') + (vertical() ? ' vertical' : '');
  stage.style.setProperty('--natural', Math.max(...data.sizes.map((s) => s[0])) + 'px');
  dim();
  slider.dir = opts.dir;
  percent.hidden = !strip();
  const [l, r] = [view.querySelector('[data-do="left"]'), view.querySelector('[data-do="right"]')];
  l.setAttribute('aria-label', forward('left') ? T('Next page') : T('Page before'));
  r.setAttribute('aria-label', forward('right') ? T('Next page') : T('Page before'));
  document.getElementById('mode-word').textContent = strip() || vertical() ? words.mode[opts.mode] : words.dir[opts.dir];
  document.getElementById('fit-word').textContent = words.fit[opts.fit];
  for (const name of ['mode', 'dir', 'fit', 'bg', 'gap', 'cover']) {
    for (const input of settings.querySelectorAll('input[name="' + name + '"]')) input.checked = input.value === opts[name];
  }
  document.getElementById('set-gap').hidden = !strip();
  document.getElementById('set-cover').hidden = strip() || vertical() || opts.mode === 'single';
  document.getElementById('bright').value = bright;
  if (strip()) {
    end.hidden = false;
    const boxes = [];
    for (let n = 0; n < total; n++) boxes.push(slot(n).box);
    stage.replaceChildren(...boxes);
    watch(boxes);
    for (const n of [was - 1, was, was + 1]) load(n);
  } else watch([]);
  show(was, first ? 'open' : 'apply');
}

settings.addEventListener('change', (event) => {
  if (event.target.type === 'radio') set(event.target.name, event.target.value);
});
document.getElementById('bright').addEventListener('input', (event) => {
  bright = Number(event.target.value);
  remember('mangrove:bright', { value: bright });
  dim();
});
slider.addEventListener('input', () => turn(Number(slider.value) - 1, 'slider'));
slider.addEventListener('pointerup', () => slider.blur());

const doing = {
  left: () => sideways('left'), right: () => sideways('right'), settings: (key) => sheet(undefined, key),
  fullscreen: () => { if (document.fullscreenElement) document.exitFullscreen(); else document.documentElement.requestFullscreen?.().catch(() => {}); },
  fit: () => { const order = ['both', 'width', 'height', 'original']; set('fit', order[(order.indexOf(opts.fit) + 1) % order.length]); },
  every: async () => {
    const done = await sendSettings('reading');
    document.getElementById('settings-say').textContent = done ? T('Every title without settings of its own is shown like this.') : T('The reader cannot be reached just now.');
  },
  keep: () => keepThis(),
};
view.addEventListener('click', (event) => {
  const button = event.target.closest('[data-do]');
  if (button) {
    // A button pressed by pointer keeps no focus: Space goes on turning pages.
    doing[button.dataset.do](event.detail === 0);
    if (event.detail > 0 && button.dataset.do !== 'settings') button.blur();
    return;
  }
  // A finger's tap was acted on when it was lifted, a drag when it was moved.
  if (Date.now() - tapped < 700 || dragged) return;
  press(event.target, event.clientX, event.clientY);
});

// press acts on a tap or click that met no control: turn, bars, zoom, or away with
// what lies over the page. Only where a second tap would mean something else does
// the first one wait for it; the edges turn at once.
let first = null;
function press(target, x, y) {
  if (!zones.hidden) { hint(false); return; }
  if (target.closest('a, button, input, label, .sheet, .read-bar, .read-foot, .chapter-end, .read-ask')) return;
  if (!settings.hidden) { sheet(false); return; }
  if (swiped || (window.visualViewport && visualViewport.scale > 1.05)) return;
  const part = vertical() ? y / innerHeight : x / innerWidth;
  if (!zoom.on() && !strip() && (part <= 0.3 || part >= 0.7)) {
    if (vertical()) { if (part <= 0.3) prev(); else next(); } else sideways(part <= 0.3 ? 'left' : 'right');
    return;
  }
  if (first && Date.now() - first.at < 300 && Math.hypot(x - first.x, y - first.y) < 40) {
    clearTimeout(first.timer);
    first = null;
    if (zoom.on()) zoom.to(1, x, y); else zoom.to(2.5, x, y);
    return;
  }
  first = { x, y, at: Date.now(), timer: setTimeout(() => bars(), 260) };
}

// ---- the hint with tap zones: once for each direction
function zone(icon, text, small) {
  const div = document.createElement('div');
  const more = document.createElement('small');
  more.textContent = small;
  div.append(picture(icon), text, more);
  return div;
}
function hint(on) {
  if (!on) { zones.hidden = true; zones.replaceChildren(); bars(false); return; }
  const rtl = opts.dir === 'rtl', down = vertical();
  zones.classList.toggle('upright', down);
  const forwardText = down ? T('you read from top to bottom') : rtl ? T('you read right to left') : T('you read left to right');
  zones.setAttribute('aria-label', down ? T('Where to tap: lower edge for the next page, middle for the menu, the other edge for the page before') : rtl ? T('Where to tap: left edge for the next page, middle for the menu, the other edge for the page before') : T('Where to tap: right edge for the next page, middle for the menu, the other edge for the page before'));
  const before = zone(rtl && !down ? 'next' : 'back', T('Page before'), down ? T('the upper edge') : rtl ? T('the right edge') : T('the left edge'));
  const after = zone(rtl && !down ? 'back' : 'next', T('Next page'), forwardText);
  const menu = zone('hand', T('Menu'), T('tap anywhere to begin'));
  zones.replaceChildren(...(rtl && !down ? [after, menu, before] : [before, menu, after]));
  zones.hidden = false;
}

// ---- touch: a tap, a swipe, or two fingers
const fingers = (list) => {
  const [a, b] = [list[0], list[1]];
  return { x: (a.clientX + b.clientX) / 2, y: (a.clientY + b.clientY) / 2, apart: Math.max(1, Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY)) };
};
let start = null, swiped = false, tapped = 0, pinch = null;
view.addEventListener('touchstart', (event) => {
  swiped = false;
  start = null;
  if (!event.target.closest('#stage, #chapter-end')) return;
  if (event.touches.length === 2 && event.target.closest('#stage')) {
    pinch = Object.assign(fingers(event.touches), { factor: zoom.factor() });
  } else if (event.touches.length === 1) {
    start = { x: event.touches[0].clientX, y: event.touches[0].clientY, at: Date.now(), top: stage.scrollTop };
  }
}, { passive: true });
stage.addEventListener('touchmove', (event) => {
  if (!pinch || event.touches.length !== 2) return;
  if (event.cancelable) event.preventDefault();
  const now = fingers(event.touches);
  zoom.to(pinch.factor * now.apart / pinch.apart, pinch.x, pinch.y, now.x, now.y);
  pinch.x = now.x;
  pinch.y = now.y;
}, { passive: false });
// Safari has its own word for two fingers.
for (const name of ['gesturestart', 'gesturechange']) stage.addEventListener(name, (event) => event.preventDefault());
view.addEventListener('touchend', (event) => {
  if (pinch) {
    if (event.touches.length === 0) { pinch = null; tapped = Date.now(); }
    return;
  }
  // A browser that has just seen a flick gives the next tap no click, so a tap is
  // known by its touch alone.
  const touch = event.changedTouches[0];
  if (start && Date.now() - start.at < 500 && Math.hypot(touch.clientX - start.x, touch.clientY - start.y) < 10) {
    start = null;
    if (event.target.closest('a, button, input, label')) return;
    tapped = Date.now();
    press(event.target, touch.clientX, touch.clientY);
    return;
  }
  if (!start || strip() || zoom.on() || (window.visualViewport && visualViewport.scale > 1.05)) return;
  const dx = touch.clientX - start.x, dy = touch.clientY - start.y, scrolled = stage.scrollTop !== start.top;
  start = null;
  const [along, across] = vertical() ? [dy, dx] : [dx, dy];
  if (Math.abs(along) < 45 || Math.abs(along) < Math.abs(across) * 1.4) return;
  // A page larger than the screen is moved by the same gesture first.
  if (vertical() ? scrolled : stage.scrollWidth > stage.clientWidth + 4) return;
  swiped = true;
  if (vertical()) { if (dy < 0) next(); else prev('back'); } else sideways(dx < 0 ? 'right' : 'left');
  setTimeout(() => { swiped = false; }, 400);
}, { passive: true });

// ---- mouse: the wheel turns where nothing is left to scroll, with Ctrl it zooms
let wheeled = { at: 0, sum: 0, done: false };
stage.addEventListener('wheel', (event) => {
  if (event.ctrlKey) {
    event.preventDefault();
    zoom.by(Math.exp(-Math.max(-30, Math.min(30, event.deltaY)) / 100), event.clientX, event.clientY);
    return;
  }
  if (strip() || zoom.on()) return;
  const now = Date.now();
  // A gesture turns once, and one that has scrolled does not turn at all.
  if (now - wheeled.at > 150) wheeled = { at: now, sum: 0, done: false };
  wheeled.at = now;
  const d = event.deltaY;
  const room = d > 0 ? stage.scrollTop + stage.clientHeight < stage.scrollHeight - 2 : stage.scrollTop > 2;
  if (room || Math.abs(event.deltaX) > Math.abs(d)) { wheeled.done = true; return; }
  if (wheeled.done) return;
  wheeled.sum += event.deltaMode === 1 ? d * 40 : d;
  if (Math.abs(wheeled.sum) < 60) return;
  wheeled.done = true;
  if (wheeled.sum > 0) next(); else prev('back');
}, { passive: false });

// A page that is zoomed is also moved by holding it.
let dragged = false;
stage.addEventListener('pointerdown', (event) => {
  dragged = false;
  if (event.pointerType !== 'mouse' || event.button !== 0 || !zoom.on()) return;
  const box = strip() ? document.scrollingElement : stage;
  const from = { x: event.clientX, y: event.clientY, left: box.scrollLeft, top: box.scrollTop };
  const move = (e) => {
    if (Math.hypot(e.clientX - from.x, e.clientY - from.y) > 4) dragged = true;
    box.scrollTo({ left: from.left - e.clientX + from.x, top: from.top - e.clientY + from.y, behavior: 'instant' });
  };
  addEventListener('pointermove', move);
  addEventListener('pointerup', () => { removeEventListener('pointermove', move); setTimeout(() => { dragged = false; }); }, { once: true });
});

// ---- keys
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest('input, select, textarea');
  if (event.key === 'Escape') {
    if (!zones.hidden) hint(false);
    else if (!settings.hidden) sheet(false);
    else if (zoom.on()) zoom.to(1, innerWidth / 2, innerHeight / 2);
    else if (!document.fullscreenElement) bars();
    return;
  }
  if (typing && (typing.type !== 'radio' || event.key.startsWith('Arrow') || event.key === ' ')) return;
  if (event.target.closest('a, button') && (event.key === 'Enter' || (event.key === ' ' && !atEnd))) return;
  if (!zones.hidden) hint(false);
  const tall = !strip() && stage.scrollHeight > stage.clientHeight + 4;
  // A zoomed page is moved to its edge before it is turned.
  const pan = (x, y) => {
    if (!zoom.on() || strip()) return false;
    const [left, top] = [stage.scrollLeft, stage.scrollTop];
    stage.scrollBy({ left: x, top: y, behavior: 'instant' });
    return stage.scrollLeft !== left || stage.scrollTop !== top;
  };
  const keys = {
    ArrowLeft: () => { if (!pan(-80, 0)) sideways('left', 'key'); }, ArrowRight: () => { if (!pan(80, 0)) sideways('right', 'key'); },
    ArrowDown: () => { if (tall) stage.scrollBy(0, 80); else next('key'); },
    ArrowUp: () => { if (tall) stage.scrollBy(0, -80); else prev('key'); },
    PageDown: () => next('key'), PageUp: () => prev('key'),
    ' ': () => {
      const down = !event.shiftKey;
      if (tall && (down ? stage.scrollTop + stage.clientHeight < stage.scrollHeight - 4 : stage.scrollTop > 4)) {
        stage.scrollBy({ top: (down ? 0.85 : -0.85) * stage.clientHeight, behavior: motion() });
      } else if (down) next('key'); else prev('key');
    },
    Enter: () => { if (atEnd) next('key'); },
    Home: () => turn(0, 'key'), End: () => turn(total - 1, 'key'),
    n: () => data.next && leave(data.next), b: () => data.prev && leave(data.prev),
    m: () => bars(), f: doing.fullscreen, d: () => set('mode', opts.mode === 'double' ? 'single' : 'double'),
    c: () => set('cover', opts.cover === 'alone' ? 'paired' : 'alone'),
    v: () => set('mode', vertical() ? 'auto' : 'vertical'), s: () => set('mode', strip() ? 'auto' : 'strip'),
    r: () => set('dir', opts.dir === 'ltr' ? 'rtl' : 'ltr'),
    w: () => set('fit', 'width'), h: () => set('fit', 'height'), o: () => set('fit', 'original'),
    '+': () => zoom.by(1.25), '=': () => zoom.by(1.25), '-': () => zoom.by(0.8),
    '0': () => { if (zoom.on()) zoom.to(1, innerWidth / 2, innerHeight / 2); else set('fit', 'both'); },
  };
  const native = strip() && ['ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight'].includes(event.key);
  if (keys[event.key] && !native) { event.preventDefault(); keys[event.key](); }
});

// ---- a strip knows its page by what is on screen
let looking = 0;
addEventListener('scroll', () => {
  if (!strip() || looking) return;
  looking = requestAnimationFrame(() => {
    looking = 0;
    if (!strip()) return;
    // The last page that begins above the line; pages stand in order.
    const line = innerHeight * 0.6;
    let at = 0, high = total - 1;
    while (at < high) {
      const middle = Math.ceil((at + high) / 2);
      if (slot(middle).box.getBoundingClientRect().top <= line) at = middle; else high = middle - 1;
    }
    if (slot(total - 1).box.getBoundingClientRect().bottom <= innerHeight + 4) at = total - 1;
    if (at !== cur) { turned = true; passed(); cur = at; mark(at, 'scroll'); }
    const all = document.documentElement.scrollHeight - innerHeight;
    percent.textContent = Math.min(100, Math.round(scrollY * 100 / Math.max(1, all))) + ' %';
  });
}, { passive: true });

// ---- the place: sent soon after a turn, at the latest when the page is left
let known = Math.max(data.place.version, last ? last.version : 0);
let pending = null, sending = false, timer = 0;
function save(page, how) {
  // Opening an address shows a page, and shows the last one without reading it; only
  // the person's own turn goes backwards.
  const asked = turned && how !== 'apply';
  if (!asked && page >= total - 1) return;
  pending = { book: data.book, page, asked, known: asking() ? 0 : known };
  places.setLast(data.book, page, known);
  clearTimeout(timer);
  timer = setTimeout(flush, 350);
}
async function flush(leaving) {
  clearTimeout(timer);
  // One at a time, or the second would not know of the first.
  if (!pending || (sending && leaving !== true)) return;
  const mark = pending;
  pending = null;
  if (places.of(data.book)) { places.add(mark); places.drain(); return; }
  sending = true;
  try {
    const answer = await places.post(mark);
    if (!places.settled(answer.status)) throw new Error('not saved');
    if (answer.ok) heard(mark, await answer.json());
    places.drain();
  } catch {
    places.add(mark);
  }
  sending = false;
  if (pending) { pending.known = asking() ? 0 : known; flush(); }
}
// heard takes the place that stands. Where that is not the page just turned to,
// somebody read on elsewhere.
function heard(mark, stands) {
  if (stands.page > mark.page && stands.version !== known && (mark.asked || mark.looks)) { offer(stands); return; }
  if (stands.page === mark.page || stands.version === known) known = stands.version;
  places.setLast(data.book, shownLast, known);
}
function tell() {
  const n = places.list().length;
  offline.hidden = n === 0;
  const text = document.createElement('span');
  text.textContent = T('Saved on this device, %d places to send', n);
  offline.replaceChildren(...(n ? [picture('cloud'), text] : []));
}
document.addEventListener('places', tell);
document.addEventListener('place', (event) => { if (event.detail.mark.book === data.book) heard(event.detail.mark, event.detail.place); });
addEventListener('pagehide', () => flush(true));

// A window that was away may have been overtaken.
let hiddenAt = 0;
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') { hiddenAt = Date.now(); flush(true); } else if (Date.now() - hiddenAt > 3000) look();
});
addEventListener('pageshow', (event) => { if (event.persisted) look(); });
async function look() {
  if (sending || pending || places.of(data.book) || shownLast >= total - 1) return;
  const mark = { book: data.book, page: shownLast, asked: false, known, looks: true };
  try {
    const answer = await places.post(mark);
    if (answer.ok) heard(mark, await answer.json());
  } catch { /* the next turn tells */ }
}

// ---- another place is further: asked once, never a jump
let ask = null;
const asking = () => ask !== null;
function closeAsk() {
  if (!ask) return;
  // To stay is to go on from here.
  known = ask.place.version;
  ask.box.remove();
  ask = null;
  if (turned) save(shownLast, 'turn');
}
// passed takes the question away after the second page turned.
function passed() { if (ask && ++ask.turns > 2) closeAsk(); }
function offer(stands) {
  const stayed = 'mangrove:stay:' + data.book + ':' + stands.version;
  try { if (sessionStorage.getItem(stayed)) { known = stands.version; return; } } catch { /* asked again then */ }
  if (ask) { if (ask.place.version === stands.version) return; ask.box.remove(); }
  // Two of a kind cannot be told apart, nor from this one read earlier.
  const other = stands.device !== data.device, page = stands.page + 1;
  const device = { phone: T('on the phone'), tablet: T('on the tablet'), computer: T('on the computer') }[stands.device] || T('on the other device');
  const box = document.createElement('aside');
  box.className = 'read-ask';
  box.setAttribute('aria-label', T('Another device is further'));
  const text = document.createElement('p'), strong = document.createElement('strong'), small = document.createElement('small');
  strong.textContent = stands.finished && page >= total
    ? (other ? T('Read to the end %s. Go there?', device) : T('Read to the end. Go there?'))
    : (other ? T('Continue from page %d %s?', page, device) : T('Continue from page %d?', page));
  small.textContent = other ? T('Read there %s. Here: page %d.', stands.when, shownLast + 1) : T('Last read %s. Here: page %d.', stands.when, shownLast + 1);
  text.append(strong, small);
  const actions = document.createElement('div');
  actions.className = 'actions';
  const button = (label, kind, action) => {
    const b = document.createElement('button');
    b.type = 'button';
    b.className = 'btn ' + kind;
    b.textContent = label;
    b.addEventListener('click', action);
    actions.append(b);
  };
  button(T('Go to page %d', page), 'primary', () => { known = stands.version; ask.box.remove(); ask = null; turned = true; show(stands.page, 'turn'); });
  button(T('Stay on %d', shownLast + 1), 'plain', () => { try { sessionStorage.setItem(stayed, '1'); } catch { /* asked again then */ } turned = true; closeAsk(); });
  box.append(picture(stands.device === 'computer' ? 'clock' : 'phone', ' icon-lg'), text, actions);
  ask = { box, place: stands, turns: 0 };
  view.append(box);
  say.textContent = strong.textContent;
}

// ---- this chapter on this device
async function askKept() {
  const row = document.getElementById('keep-row'), button = row.querySelector('button'), text = row.querySelector('span');
  row.hidden = !keep.possible;
  if (!keep.possible) return;
  const has = await keep.has(data.book);
  button.textContent = has ? T('Remove from this device') : T('Save on this device');
  button.dataset.has = has ? '1' : '';
  text.textContent = has ? T('This chapter can be read without a connection.') : '';
}
async function keepThis() {
  const row = document.getElementById('keep-row'), button = row.querySelector('button'), text = row.querySelector('span');
  if (button.getAttribute('aria-busy')) return;
  button.setAttribute('aria-busy', 'true');
  let problem = '';
  try {
    if (button.dataset.has) await keep.remove(data.book);
    else await keep.save(data.book, (done, of) => { text.textContent = T('%d of %d pages', done, of); });
  } catch { problem = T('It could not be saved. Nothing is left of it; try again.'); }
  button.removeAttribute('aria-busy');
  await askKept();
  if (problem) text.textContent = problem;
}

// ---- begin
let resized = innerWidth + ':' + pairing();
addEventListener('resize', () => {
  // A phone's bar that comes and goes is no other window.
  const now = innerWidth + ':' + pairing();
  if (strip() || now === resized) return;
  resized = now;
  show(cur, 'apply');
});
apply(true);
tell();
if (data.place.page > shownLast && !data.place.finished && !unsent) offer(data.place);
if (opts.unsent) sendSettings('series/' + data.title + '/reading');
const hinted = 'mangrove:hint:' + (strip() ? 'strip' : vertical() ? 'vertical' : opts.dir);
let seen = false;
try { seen = localStorage.getItem(hinted); localStorage.setItem(hinted, '1'); } catch { seen = true; }
if (!seen && !strip()) hint(true);
else fade = setTimeout(() => { if (settings.hidden && !view.contains(document.activeElement)) bars(false); }, 2500);
