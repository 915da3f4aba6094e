// The reading view: pages one after another, in pairs or as a strip; the next
// ones loaded ahead; the place kept in the address and sent to the server, or
// kept on this device while it cannot be. Nothing here depends on the scraper.
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

// ---- settings: remembered for each title on this device
const key = 'mangrove:read:' + data.title;
const defaults = { mode: data.direction === 'strip' ? 'strip' : 'auto', dir: data.direction === 'rtl' ? 'rtl' : 'ltr', fit: 'both', bg: 'black', bright: 100 };
function recall(name, fallback) {
  try { return Object.assign({}, fallback, JSON.parse(localStorage.getItem(name) || '{}')); } catch { return Object.assign({}, fallback); }
}
function remember(name, value) {
  try { localStorage.setItem(name, JSON.stringify(value)); } catch { /* a full or forbidden store costs only the memory */ }
}
const opts = recall(key, defaults);

let cur = data.page;   // the first page shown, from 0
let atEnd = false;
let turned = false;    // the person has turned a page here

// ---- pages: one slot each, which keeps the page's size whatever comes
const slots = new Map();
function size(n) { const [w, h] = data.sizes[n]; return w && h ? [w, h] : [1000, 1500]; }
// The library may live under a path: every address begins with it.
function at(address) { return document.documentElement.dataset.base + address.replace(/^[/]/, ''); }
function source(n) { return at('read/') + data.book + '/pages/' + (n + 1) + '?v=' + data.version; }

function svg(name, attributes) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [k, v] of Object.entries(attributes)) node.setAttribute(k, v);
  return node;
}

function slot(n) {
  let s = slots.get(n);
  if (s) return s;
  const [w, h] = size(n);
  const box = document.createElement('div');
  box.className = 'slot';
  const ghost = svg('svg', { viewBox: '0 0 ' + w + ' ' + h, width: w, height: h, 'aria-hidden': 'true' });
  ghost.append(svg('rect', { width: w, height: h }));
  const img = new Image(w, h);
  img.alt = 'Page ' + (n + 1) + ' of ' + total;
  img.decoding = 'async';
  img.draggable = false;
  box.append(ghost, img);
  s = { box, img, tries: 0, n };
  img.addEventListener('load', () => { box.classList.add('loaded'); box.classList.remove('failed'); box.querySelector('.page-failed')?.remove(); });
  img.addEventListener('error', () => failed(s));
  slots.set(n, s);
  return s;
}

function load(n, later) {
  if (n < 0 || n >= total) return null;
  const s = slot(n);
  if (!s.img.getAttribute('src')) {
    if (later) s.img.loading = 'lazy';
    s.img.src = source(n);
  }
  return s;
}

function failed(s) {
  s.box.classList.remove('loaded');
  if (s.tries === 0) { s.tries = 1; setTimeout(() => retry(s), 800); return; }
  if (s.box.querySelector('.page-failed')) return;
  const note = document.createElement('div');
  note.className = 'page-failed';
  s.box.classList.add('failed');
  const text = document.createElement('p');
  text.textContent = 'Page ' + (s.n + 1) + ' did not arrive.';
  const again = document.createElement('button');
  again.type = 'button';
  again.className = 'btn';
  again.textContent = 'Try again';
  again.addEventListener('click', (event) => { event.stopPropagation(); note.remove(); retry(s); });
  note.append(text, again);
  s.box.append(note);
}
function retry(s) { s.tries += 1; s.img.src = source(s.n) + '&try=' + s.tries; }

// ---- which pages stand together
function pairing() {
  return opts.mode === 'double' || (opts.mode === 'auto' && wide.matches && innerWidth > innerHeight * 1.15);
}
function broad(n) { const [w, h] = size(n); return w > h; }
// The first page stands alone, as in a book, and so does a page that is a spread already.
function spread(n) {
  if (!pairing() || broad(n) || n === 0) return [n];
  let at = 1, first = n;
  while (at <= n) {
    const two = !broad(at) && at + 1 < total && !broad(at + 1);
    if (n === at || (two && n === at + 1)) { first = at; break; }
    at += two ? 2 : 1;
  }
  return !broad(first) && first + 1 < total && !broad(first + 1) ? [first, first + 1] : [first];
}

const strip = () => opts.mode === 'strip';

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
    const boxes = pages.map((p) => load(p).box);
    stage.classList.toggle('pair', boxes.length === 2);
    stage.replaceChildren(...boxes);
    stage.scrollTop = 0;
    stage.scrollLeft = opts.dir === 'rtl' ? stage.scrollWidth : 0;
    ahead(pages.at(-1));
  }
  mark(pages.at(-1), how);
}

// The next three are fetched and decoded, and one behind; what is far is dropped.
function ahead(last) {
  for (const n of [last + 1, last + 2, last + 3, cur - 1]) {
    const s = load(n);
    if (s && s.img.decode) s.img.decode().catch(() => {});
  }
  for (const n of slots.keys()) if (n < cur - 6 || n > last + 8) slots.delete(n);
}

function mark(last, how) {
  const words = last > cur ? (cur + 1) + '–' + (last + 1) : String(cur + 1);
  place.firstElementChild.textContent = words + ' / ' + total;
  place.setAttribute('aria-label', 'Page ' + words + ' of ' + total);
  slider.value = cur + 1;
  slider.setAttribute('aria-valuetext', 'Page ' + words + ' of ' + total);
  percent.textContent = Math.round((last + 1) * 100 / total) + ' %';
  const address = new URL(location.href);
  address.searchParams.set('page', cur + 1);
  history.replaceState(null, '', address);
  if (how === 'key') say.textContent = 'Page ' + words + ' of ' + total;
  save(last, how);
}

// ---- turning
function next(how) {
  if (atEnd) { if (data.next) location.assign(at(data.next)); return; }
  if (strip()) { scrollBy({ top: innerHeight * 0.85, behavior: 'smooth' }); return; }
  const shown = spread(cur);
  if (shown.at(-1) >= total - 1) { finish(); return; }
  turn(shown.at(-1) + 1, how);
}
function prev(how) {
  if (strip()) { scrollBy({ top: -innerHeight * 0.85, behavior: 'smooth' }); return; }
  if (atEnd) { turn(cur, how); return; }
  if (cur > 0) turn(spread(cur - 1)[0], how); else bars(true);
}
function turn(n, how) {
  turned = true;
  closeAsk();
  show(n, how || 'turn');
}
function finish() {
  atEnd = true;
  view.classList.add('at-end');
  end.hidden = false;
  (document.getElementById('next-chapter') || end).focus({ preventScroll: true });
}
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
  if (open) byKey = Boolean(key);
  for (const b of document.querySelectorAll('[data-do="settings"][aria-expanded]')) b.setAttribute('aria-expanded', String(open));
  if (open) settings.querySelector('input:checked, button')?.focus({ preventScroll: true });
  else if (byKey) document.querySelector('.read-bar [data-do="settings"]').focus({ preventScroll: true });
  else document.activeElement?.blur();
}
const words = {
  fit: { both: 'Fit both', width: 'Fit width', height: 'Fit height', original: 'Original' },
  mode: () => strip() ? 'Strip' : opts.dir === 'rtl' ? 'Right to left' : 'Left to right',
};

function apply(first) {
  const was = cur;
  view.classList.toggle('strip-mode', strip());
  for (const b of ['black', 'grey', 'paper', 'white']) view.classList.toggle('bg-' + b, opts.bg === b);
  stage.className = strip() ? 'strip-pages' : 'stage fit-' + opts.fit + (opts.dir === 'rtl' ? ' rtl' : '');
  stage.style.filter = opts.bright < 100 ? 'brightness(' + opts.bright / 100 + ')' : '';
  slider.dir = opts.dir;
  percent.hidden = !strip();
  const [l, r] = [view.querySelector('[data-do="left"]'), view.querySelector('[data-do="right"]')];
  l.setAttribute('aria-label', forward('left') ? 'Next page' : 'Page before');
  r.setAttribute('aria-label', forward('right') ? 'Next page' : 'Page before');
  document.getElementById('mode-word').textContent = words.mode();
  document.getElementById('fit-word').textContent = words.fit[opts.fit];
  for (const name of ['mode', 'dir', 'fit', 'bg']) {
    for (const input of settings.querySelectorAll('input[name="' + name + '"]')) input.checked = input.value === opts[name];
  }
  document.getElementById('bright').value = opts.bright;
  if (strip()) {
    end.hidden = false;
    const boxes = [];
    for (let n = 0; n < total; n++) boxes.push(load(n, Math.abs(n - was) > 2).box);
    stage.replaceChildren(...boxes);
  }
  show(was, first ? 'open' : 'apply');
}
function set(name, value) { opts[name] = value; remember(key, opts); apply(); }

settings.addEventListener('change', (event) => {
  if (event.target.type === 'radio') set(event.target.name, event.target.value);
});
document.getElementById('bright').addEventListener('input', (event) => {
  opts.bright = Number(event.target.value);
  remember(key, opts);
  stage.style.filter = opts.bright < 100 ? 'brightness(' + opts.bright / 100 + ')' : '';
});
slider.addEventListener('input', () => turn(Number(slider.value) - 1, 'slider'));
slider.addEventListener('pointerup', () => slider.blur());

const doing = {
  left: () => sideways('left'), right: () => sideways('right'), settings: (key) => sheet(undefined, key),
  fullscreen: () => { if (document.fullscreenElement) document.exitFullscreen(); else document.documentElement.requestFullscreen?.().catch(() => {}); },
  mode: () => { if (strip()) set('mode', 'auto'); else set('dir', opts.dir === 'ltr' ? 'rtl' : 'ltr'); },
  fit: () => { const order = ['both', 'width', 'height', 'original']; set('fit', order[(order.indexOf(opts.fit) + 1) % order.length]); },
};
view.addEventListener('click', (event) => {
  const button = event.target.closest('[data-do]');
  if (button) {
    // A button pressed by pointer keeps no focus: Space goes on turning pages.
    doing[button.dataset.do](event.detail === 0);
    if (event.detail > 0 && button.dataset.do !== 'settings') button.blur();
    return;
  }
  // A finger's tap was acted on when it was lifted.
  if (Date.now() - tapped < 700) return;
  press(event.target, event.clientX);
});

// press acts on a tap or click that met no control: turn, bars, or away with
// what lies over the page.
function press(target, clientX) {
  if (!zones.hidden) { hint(false); return; }
  if (target.closest('a, button, input, label, .sheet, .read-bar, .read-foot, .chapter-end, .read-ask')) return;
  if (!settings.hidden) { sheet(false); return; }
  if (swiped || (window.visualViewport && visualViewport.scale > 1.05)) return;
  const x = clientX / innerWidth;
  if (strip() || (x > 0.3 && x < 0.7)) bars();
  else sideways(x <= 0.3 ? 'left' : 'right');
}

// ---- the hint with tap zones: once for each direction
function zone(icon, text, small) {
  const div = document.createElement('div');
  const picture = svg('svg', { class: 'icon', 'aria-hidden': 'true' });
  picture.append(svg('use', { href: icons + '#i-' + icon }));
  const more = document.createElement('small');
  more.textContent = small;
  div.append(picture, text, more);
  return div;
}
function hint(on) {
  if (!on) { zones.hidden = true; zones.replaceChildren(); bars(false); return; }
  const rtl = opts.dir === 'rtl';
  const forwardText = rtl ? 'you read right to left' : 'you read left to right';
  zones.setAttribute('aria-label', 'Where to tap: ' + (rtl ? 'left' : 'right') + ' edge for the next page, middle for the menu, the other edge for the page before');
  zones.replaceChildren(
    zone('back', rtl ? 'Next page' : 'Page before', rtl ? forwardText : 'the left edge'),
    zone('hand', 'Menu', 'tap anywhere to begin'),
    zone('next', rtl ? 'Page before' : 'Next page', rtl ? 'the right edge' : forwardText));
  zones.hidden = false;
}

// ---- touch
let start = null, swiped = false, tapped = 0;
view.addEventListener('touchstart', (event) => {
  swiped = false;
  start = event.touches.length === 1 && event.target.closest('#stage, #chapter-end') ? { x: event.touches[0].clientX, y: event.touches[0].clientY, at: Date.now() } : null;
}, { passive: true });
view.addEventListener('touchend', (event) => {
  // A browser that has just seen a flick gives the next tap no click, so a tap is
  // known by its touch alone.
  if (start && Date.now() - start.at < 500 && Math.hypot(event.changedTouches[0].clientX - start.x, event.changedTouches[0].clientY - start.y) < 10) {
    start = null;
    if (event.target.closest('a, button, input, label')) return;
    tapped = Date.now();
    press(event.target, event.changedTouches[0].clientX);
    return;
  }
  if (!start || strip() || (window.visualViewport && visualViewport.scale > 1.05)) return;
  const dx = event.changedTouches[0].clientX - start.x, dy = event.changedTouches[0].clientY - start.y;
  start = null;
  if (Math.abs(dx) < 45 || Math.abs(dx) < Math.abs(dy) * 1.4) return;
  // A page wider than the screen is moved by the same gesture.
  if (stage.scrollWidth > stage.clientWidth + 4) return;
  swiped = true;
  sideways(dx < 0 ? 'right' : 'left');
  setTimeout(() => { swiped = false; }, 400);
}, { passive: true });

// ---- keys
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest('input, select, textarea');
  if (event.key === 'Escape') {
    if (!zones.hidden) hint(false);
    else if (!settings.hidden) sheet(false);
    else if (!document.fullscreenElement) bars();
    return;
  }
  if (typing && (typing.type !== 'radio' || event.key.startsWith('Arrow') || event.key === ' ')) return;
  if (event.target.closest('a, button') && (event.key === 'Enter' || (event.key === ' ' && !atEnd))) return;
  if (!zones.hidden) hint(false);
  const scrolls = !strip() && stage.scrollHeight > stage.clientHeight + 4;
  const keys = {
    ArrowLeft: () => strip() ? null : sideways('left', 'key'), ArrowRight: () => strip() ? null : sideways('right', 'key'),
    ArrowDown: () => { if (scrolls) stage.scrollBy(0, 80); else if (!strip()) next('key'); },
    ArrowUp: () => { if (scrolls) stage.scrollBy(0, -80); else if (!strip()) prev('key'); },
    PageDown: () => next('key'), PageUp: () => prev('key'),
    ' ': () => {
      const down = !event.shiftKey;
      if (scrolls && (down ? stage.scrollTop + stage.clientHeight < stage.scrollHeight - 4 : stage.scrollTop > 4)) {
        stage.scrollBy({ top: (down ? 0.85 : -0.85) * stage.clientHeight });
      } else if (down) next('key'); else prev('key');
    },
    Enter: () => { if (atEnd) next('key'); },
    Home: () => turn(0, 'key'), End: () => turn(total - 1, 'key'),
    n: () => data.next && location.assign(at(data.next)), b: () => data.prev && location.assign(at(data.prev)),
    m: () => bars(), f: doing.fullscreen, d: () => set('mode', opts.mode === 'double' ? 'single' : 'double'),
    r: () => set('dir', opts.dir === 'ltr' ? 'rtl' : 'ltr'),
    w: () => set('fit', 'width'), h: () => set('fit', 'height'), o: () => set('fit', 'original'), '0': () => set('fit', 'both'),
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
    let at = 0;
    const line = innerHeight * 0.6;
    for (let n = 0; n < total; n++) { if (slot(n).box.getBoundingClientRect().top <= line) at = n; else break; }
    if (at !== cur) { turned = true; cur = at; mark(at, 'scroll'); }
    const all = document.documentElement.scrollHeight - innerHeight;
    percent.textContent = Math.min(100, Math.round(scrollY * 100 / Math.max(1, all))) + ' %';
    if (at < total && slot(total - 1).box.getBoundingClientRect().bottom <= innerHeight + 4 && cur !== total - 1) { cur = total - 1; mark(cur, 'scroll'); }
  });
}, { passive: true });

// ---- the place: sent soon after a turn, at the latest when the page is left
const queueKey = 'mangrove:queue';
let pending = null, timer = 0;
function save(page, how) {
  // Opening an address shows a page; only the person's own turn goes backwards.
  pending = { page, asked: turned && how !== 'apply' };
  clearTimeout(timer);
  timer = setTimeout(flush, 350);
}
async function post(book, body) {
  return fetch(at('read/') + book + '/progress', {
    method: 'POST', keepalive: true, credentials: 'same-origin', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
  });
}
async function flush() {
  clearTimeout(timer);
  const body = pending;
  if (!body) return;
  pending = null;
  try {
    const answer = await post(data.book, body);
    if (answer.status >= 500) throw new Error('not saved');
    await drain();
  } catch {
    const queue = recall(queueKey, {});
    queue[data.book] = Math.max(body.page, queue[data.book] ?? 0);
    remember(queueKey, queue);
    tell();
  }
}
async function drain() {
  const queue = recall(queueKey, {});
  for (const [book, page] of Object.entries(queue)) {
    const answer = await post(book, { page, asked: false });
    if (answer.status >= 500) return tell();
    delete queue[book];
    remember(queueKey, queue);
  }
  tell();
}
function tell() {
  const n = Object.keys(recall(queueKey, {})).length;
  offline.hidden = n === 0;
  offline.textContent = 'Saved on this device, ' + n + (n === 1 ? ' place to send' : ' places to send');
}
addEventListener('online', () => drain().catch(() => {}));
addEventListener('pagehide', flush);
document.addEventListener('visibilitychange', () => { if (document.visibilityState === 'hidden') flush(); });
setInterval(() => { if (!offline.hidden) drain().catch(() => {}); }, 15000);

// ---- another place is further: asked once, never a jump
let ask = null;
function closeAsk() { if (ask) { ask.remove(); ask = null; } }
function offer() {
  if (!data.asked || data.finished || data.stored <= data.page + 1) return;
  const stayed = 'mangrove:stay:' + data.book + ':' + data.stored;
  try { if (sessionStorage.getItem(stayed)) return; } catch { return; }
  ask = document.createElement('section');
  ask.className = 'read-ask';
  const text = document.createElement('p');
  text.textContent = 'Continue from page ' + (data.stored + 1) + '?';
  const small = document.createElement('small');
  small.textContent = 'Read on the ' + (data.device || 'other device') + ', ' + data.when;
  text.append(small);
  const actions = document.createElement('div');
  actions.className = 'actions';
  for (const [label, action] of [['Stay', () => { try { sessionStorage.setItem(stayed, '1'); } catch { /* asked again then */ } closeAsk(); }],
    ['Continue', () => turn(data.stored, 'turn')]]) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = label === 'Continue' ? 'btn primary' : 'btn';
    button.textContent = label;
    button.addEventListener('click', action);
    actions.append(button);
  }
  const picture = svg('svg', { class: 'icon', 'aria-hidden': 'true' });
  picture.append(svg('use', { href: icons + '#i-clock' }));
  ask.append(picture, text, actions);
  view.append(ask);
}

// ---- begin
addEventListener('resize', () => { if (!strip()) show(cur, 'apply'); });
apply(true);
tell();
offer();
drain().catch(() => {});
const hinted = 'mangrove:hint:' + (strip() ? 'strip' : opts.dir);
let seen = false;
try { seen = localStorage.getItem(hinted); localStorage.setItem(hinted, '1'); } catch { seen = true; }
if (!seen && !strip()) hint(true);
else fade = setTimeout(() => { if (settings.hidden && !view.contains(document.activeElement)) bars(false); }, 2500);
