// Chapters of a Series picked together: Shift picks the range from the one picked
// last; marking and keeping act on all of them. Ticking and marking work without
// this file.
'use strict';

(() => {
  const list = () => document.getElementById('chapters');
  const form = document.getElementById('mark');
  if (!form) return;
  const button = document.getElementById('pick'), said = document.getElementById('picked');
  const boxes = () => [...list().querySelectorAll('.pick')];
  const ticked = () => boxes().filter((box) => box.checked);
  let from = null;   // the chapter picked last, by its book

  pageKeys.push({ title: T('Series'), keys: [['x', T('Select the chapter, or take it back')], ['Shift x', T('Select up to here')], ['Esc', T('Select nothing')]] });

  let picking = false;
  function pick(on) {
    picking = on;
    list().classList.toggle('picking', on);
    button.setAttribute('aria-pressed', String(on));
    button.textContent = on ? T('Done') : T('Select');
    if (!on) { for (const box of ticked()) box.checked = false; from = null; }
    count();
  }
  function count() {
    const n = ticked().length;
    said.textContent = T('%d chapters selected', n);
  }
  button.hidden = document.getElementById('unpick').hidden = false;
  button.addEventListener('click', () => pick(!picking));
  document.getElementById('unpick').addEventListener('click', () => { pick(false); button.focus(); });

  // A click on a box has turned it already; the range becomes as it is now.
  function range(box, all) {
    const every = boxes(), at = every.indexOf(box), start = every.findIndex((b) => b.value === from);
    if (all && start >= 0) {
      for (const b of every.slice(Math.min(at, start), Math.max(at, start) + 1)) b.checked = box.checked;
    }
    from = box.value;
    count();
  }
  document.addEventListener('click', (event) => {
    const box = event.target.closest('#chapters .pick');
    if (box) { range(box, event.shiftKey); return; }
    // While picking, a tap on the row picks it.
    const row = picking && event.target.closest('#chapters li.ch');
    const own = row && row.querySelector('.pick');
    if (!own || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    own.checked = !own.checked;
    range(own, event.shiftKey);
  });
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input:not([type=checkbox]), select, textarea')) return;
    if (event.key === 'Escape' && (picking || ticked().length > 0)) { pick(false); return; }
    const row = document.activeElement.closest('#chapters li.ch');
    const box = row && row.querySelector('.pick');
    if (!box || (event.key !== 'x' && event.key !== 'X')) return;
    event.preventDefault();
    box.checked = event.key === 'X' ? true : !box.checked;
    range(box, event.key === 'X');
  });

  // The list is replaced as chapters arrive; what was picked stays picked.
  new MutationObserver((changes) => {
    if (!changes.some((c) => c.target.closest('#chapters') || [...c.addedNodes].some((n) => n.id === 'chapters'))) return;
    if (list().classList.contains('picking') !== picking) list().classList.toggle('picking', picking);
    markKept();
  }).observe(document.querySelector('.series'), { childList: true, subtree: true });

  // ---- chapters on this device
  const keepButton = document.getElementById('keep-picked');
  keepButton.hidden = !keep.possible;
  let here = new Set();
  function markKept() {
    for (const box of boxes()) {
      const row = box.closest('.ch'), is = here.has(box.value), sign = row.querySelector('.kept-sign');
      if (is && !sign) {
        const word = document.createElement('span');
        word.className = 'kept-sign';
        word.textContent = T('On this device') + ' · ';
        row.querySelector('.state').prepend(word);
      } else if (!is && sign) sign.remove();
    }
  }
  async function readKept() {
    here = new Set((await keep.list()).map((meta) => String(meta.book)));
    markKept();
  }
  document.addEventListener('kept', readKept);
  readKept();
  keepButton.addEventListener('click', async () => {
    if (keepButton.getAttribute('aria-busy')) return;
    keepButton.setAttribute('aria-busy', 'true');
    const wanted = ticked().map((box) => [Number(box.value), box.closest('.ch').querySelector('a, .ch-text').firstChild.textContent]).reverse();
    let bytes = 0, done = 0, failed = '';
    for (const [book, name] of wanted) {
      try {
        bytes += (await keep.save(book, (n, of) => { said.textContent = T('%s: %d of %d pages', name, n, of); })).bytes;
        done++;
      } catch { failed = T('%s could not be saved.', name) + ' '; break; }
    }
    keepButton.removeAttribute('aria-busy');
    said.textContent = failed + T('%d chapters saved on this device, %s', done, keep.size(bytes));
  });
})();
