// What the Worklist and the Lanes do beyond their forms and links: answering in
// place, single keys, and one Pass under the pointer. All of it works without.
'use strict';

// The chosen tab is in sight, however narrow the row is.
for (const tab of document.querySelectorAll('.subnav [aria-current]')) tab.parentElement.scrollLeft = tab.offsetLeft - tab.parentElement.offsetLeft - 64;

// ---- Worklist: the bar of the selected rows, and Poll again without a new page
const list = document.querySelector('[data-worklist]');
if (list) {
  const said = document.getElementById('wl-said');
  const say = (text, tone) => {
    said.className = 'wl-said' + (tone ? ' tone-' + tone : '');
    said.textContent = text;
  };
  const counted = () => {
    const bar = list.querySelector('[data-selected]');
    const n = list.querySelectorAll('.check:checked').length;
    const text = T('%d selected', n);
    // Only when it differs: the list is watched, and this stands in it.
    if (bar && bar.textContent !== text) bar.textContent = text;
  };
  list.addEventListener('change', counted);
  list.addEventListener('reset', () => setTimeout(counted));
  counted();

  // The chosen filter is in sight, however narrow the row of chips is.
  for (const chip of document.querySelectorAll('#wl-filters .chips [aria-current]')) chip.parentElement.scrollLeft = chip.offsetLeft - chip.parentElement.offsetLeft - 32;

  const pieces = ['wl-notices', 'wl-filters', 'wl-all', 'worklist'];
  // Rows that were muted or unfollowed here leave without having been read.
  const away = new Set();
  const ask = async (submitter) => {
    const other = submitter && submitter.dataset.said;
    if (submitter && submitter.dataset.confirm && !confirm(submitter.dataset.confirm)) return;
    const body = new URLSearchParams(new FormData(list, submitter));
    const one = submitter && submitter.name === 'one' ? submitter.closest('.wl').id : '';
    const title = one ? document.querySelector('#' + one + ' .row-title').textContent : '';
    let answer;
    if (other) for (const box of list.querySelectorAll('.check:checked')) away.add(box.closest('.wl').id);
    try {
      answer = await fetch(other ? submitter.formAction : list.action, { method: 'POST', body, credentials: 'same-origin' });
    } catch {
      say(T('Mangrove did not answer, so nothing was asked for. Try again.'), 'warn');
      return;
    }
    const page = new DOMParser().parseFromString(policy.createHTML(await answer.text()), 'text/html');
    if (!answer.ok) {
      const heading = page.querySelector('h1'), text = page.querySelector('h1 + p');
      say(heading ? heading.textContent + '. ' + (text ? text.textContent : '') : T('That did not work; nothing was changed.'), 'warn');
      return;
    }
    const n = list.querySelectorAll('.check:checked').length;
    if (other && n === 0) return;
    const at = [...list.querySelectorAll('.wl')].findIndex((row) => row.contains(document.activeElement));
    if (!one) list.reset();
    for (const id of pieces) {
      const fresh = page.getElementById(id);
      if (fresh) replace(id, fresh.outerHTML);
    }
    const all = submitter && submitter.name === 'all';
    if (other) {
      say(other === 'muted' ? T('%d Series are muted until read well again.', n) : other === 'again' ? T('%d Series are shown again.', n)
        : T('%d Series are no longer followed by you. What is in the library stays.', n));
      counted();
      // The keys go on where the row was.
      const names = list.querySelectorAll('.row-title');
      if (at >= 0 && names.length > 0) names[Math.min(at, names.length - 1)].focus({ preventScroll: true });
      return;
    }
    say(one ? T('%s: asked for. It stays here until a good read takes it off.', title)
      : all ? T('All are asked for. They stay here until a good read takes them off.') : T('%d Series are asked for. They stay here until a good read takes them off.', n));
    const row = one && document.querySelector('#' + one + ' .row-title');
    if (row) row.focus({ preventScroll: true });
    counted();
  };
  document.addEventListener('submit', (event) => {
    if (event.target !== list) return;
    event.preventDefault();
    ask(event.submitter);
  });

  // A row that was asked for and has left the list was read well.
  let here = new Map();
  const look = () => {
    const now = new Map();
    for (const row of list.querySelectorAll('.wl')) now.set(row.id, row.classList.contains('asked') && row.querySelector('.row-title').textContent);
    const read = [...here].filter(([id, name]) => name && !now.has(id) && !away.has(id)).map(([, name]) => name);
    if (read.length > 0 && !/[?&](outcome|page)=/.test(location.search) && document.getElementById('worklist').childElementCount > 0) {
      say(T('Read again just now: %s', read.join(T(', '))), 'ok');
      setTimeout(() => { if (said.classList.contains('tone-ok')) say(''); }, 10000);
    }
    here = now;
  };
  look();
  new MutationObserver(() => { look(); counted(); }).observe(list, { childList: true, subtree: true });

  // ---- keys: off while typing; a tick box is not typing
  pageKeys.push({ title: T('Worklist'), keys: [['j k', T('Down, up')], ['p', T('Poll again')], ['x', T('Select')], ['m', T('Mute or unmute')], ['o', T('Open')]] });
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest('input:not([type=checkbox]), select, textarea, [contenteditable]')) return;
    const rows = [...list.querySelectorAll('.wl')];
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    const move = (to) => {
      const row = rows[Math.max(0, Math.min(rows.length - 1, to))];
      if (row) row.querySelector('.row-title').focus();
    };
    const row = rows[at];
    switch (event.key) {
      case 'j': move(at + 1); break;
      case 'k': move(at < 0 ? rows.length - 1 : at - 1); break;
      case 'x': if (row) row.querySelector('.check').click(); break;
      case 'p': {
        const chosen = list.querySelector('.check:checked') && list.querySelector('.bulk .primary');
        const button = row ? row.querySelector('[name=one]') : chosen;
        if (button) button.click();
        break;
      }
      case 'm': {
        if (!list.querySelector('.check:checked') && row) row.querySelector('.check').click();
        const button = list.querySelector('.check:checked') && list.querySelector('.bulk [formaction$=mute]');
        if (button) button.click();
        break;
      }
      case 'o': {
        const site = row && row.querySelector('a.site');
        if (site) site.click();
        break;
      }
      default: return;
    }
    event.preventDefault();
  });
}

// ---- Lanes: one Pass under the pointer or the arrow keys
const tell = (cell) => {
  const strip = cell.closest('[data-strip]');
  const text = document.getElementById(strip.dataset.strip);
  if (text) text.textContent = cell.getAttribute('aria-label');
};
const cellOf = (target) => target.closest && target.closest('[data-strip] .cell');
for (const kind of ['pointerover', 'focusin']) {
  document.addEventListener(kind, (event) => {
    const cell = cellOf(event.target);
    if (cell) tell(cell);
  });
}
// A bar opens in place; its address is for those who keep or send it.
document.addEventListener('click', (event) => {
  const cell = cellOf(event.target);
  if (!cell || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  for (const other of document.querySelectorAll('[data-strip] .cell[aria-current]')) other.removeAttribute('aria-current');
  cell.setAttribute('aria-current', 'true');
  tell(cell);
  history.replaceState(null, '', cell.getAttribute('href').replace(/#.*/, ''));
});
document.addEventListener('keydown', (event) => {
  const cell = cellOf(event.target);
  if (!cell) return;
  const cells = [...cell.closest('[data-strip]').querySelectorAll('.cell')];
  const at = cells.indexOf(cell);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: cells.length - 1 }[event.key];
  if (to === undefined || !cells[to]) return;
  event.preventDefault();
  cell.setAttribute('tabindex', '-1');
  cells[to].setAttribute('tabindex', '0');
  cells[to].focus({ preventScroll: true });
});

// ---- Scraper: the forms of the queue answer in place
document.addEventListener('submit', async (event) => {
  const form = event.target.closest('form[data-queue]');
  if (!form || event.defaultPrevented) return;
  event.preventDefault();
  if (form.getAttribute('aria-busy')) return;
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const say = (tone, text) => {
    const line = document.createElement('p');
    line.className = 'q-said tone-' + tone;
    line.textContent = text;
    document.getElementById('q-said').replaceChildren(line);
  };
  form.setAttribute('aria-busy', 'true');
  if ('slow' in form.dataset) say('info', T('Trying one read. That takes as long as the Site does.'));
  const failed = T('Mangrove did not answer, so it is not known what was done. Look again.');
  try {
    const answer = await fetch(form.action, { method: 'POST', body, credentials: 'same-origin' });
    const page = new DOMParser().parseFromString(policy.createHTML(await answer.text()), 'text/html');
    if (!answer.ok) {
      const heading = page.querySelector('h1'), text = page.querySelector('h1 + p');
      say('warn', heading ? heading.textContent + '. ' + (text ? text.textContent : '') : failed);
      return;
    }
    const to = new URL(answer.url);
    if (to.pathname !== location.pathname) {
      location.assign(to);
      return;
    }
    for (const id of ['q-said', 'q-hold', 'q-holds', 'q-tiles', 'q-parts', 'q-sites', 'job-head', 'job-chapters']) {
      const fresh = page.getElementById(id);
      if (fresh) replace(id, fresh.outerHTML);
    }
    for (const result of document.querySelectorAll('[data-result]')) {
      result.dataset.asking = '';
      setTimeout(() => delete result.dataset.asking, 10000);
    }
    const said = document.getElementById('q-said');
    if (said.firstElementChild && !form.isConnected) said.focus({ preventScroll: true });
  } catch {
    say('warn', failed);
  } finally {
    form.removeAttribute('aria-busy');
  }
});
