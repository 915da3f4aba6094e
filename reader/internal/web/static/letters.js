// The rail of letters beyond its links: one stop of Tab with arrow keys inside, and a
// finger that slides along it. library.js jumps.
'use strict';

(() => {
  const shelf = document.getElementById('shelf');
  const rail = () => document.getElementById('az');
  const links = () => [...rail().querySelectorAll('a')];
  const dwell = 250;   // milliseconds on a letter after which it is shown under the finger

  // ---- keys
  function rove(to) {
    for (const link of links()) link.tabIndex = link === to ? 0 : -1;
  }
  const roveToCurrent = () => { if (rail() && !rail().contains(document.activeElement)) rove(rail().querySelector('[aria-current]') || links()[0]); };
  shelf.addEventListener('current', roveToCurrent, true);
  shelf.addEventListener('keydown', (event) => {
    const at = rail() && rail().contains(event.target) ? links().indexOf(event.target) : -1;
    if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = links();
    const to = { ArrowDown: all[at + 1], ArrowUp: all[at - 1], Home: all[0], End: all[all.length - 1] }[event.key];
    if (!to) return;
    event.preventDefault();
    rove(to);
    to.focus();
  });

  // ---- a finger: where it is on the rail is where it is in the alphabet, also where the
  // rail is longer than the screen
  let from = null, slid = false, last = null, soon = 0, shown = null, slide = null;
  function letterAt(y) {
    const list = rail().querySelector('ul'), box = list.getBoundingClientRect();
    const part = Math.min(Math.max((y - box.top) / box.height, 0), .9999), all = links();
    list.scrollTop = part * (list.scrollHeight - list.clientHeight);
    return all[Math.floor(part * all.length)];
  }
  function show(link) {
    if (link === shown) return;
    document.dispatchEvent(new CustomEvent('letter', { detail: { link, slide } }));
    shown = link;
  }
  shelf.addEventListener('pointerdown', (event) => {
    if (!rail() || !event.target.closest('#az ul') || event.button !== 0) return;
    from = event.clientY;
    slid = false;
  });
  shelf.addEventListener('pointermove', (event) => {
    if (from === null) return;
    if (!slid && Math.abs(event.clientY - from) < 8) return;
    if (!slid) { slid = true; shown = null; last = null; slide = {}; rail().setPointerCapture(event.pointerId); }
    const link = letterAt(event.clientY), big = document.getElementById('az-big');
    if (link === last) return;
    last = link;
    big.textContent = link.textContent;
    big.style.top = Math.min(Math.max(event.clientY, 80), innerHeight - 140) + 'px';
    big.hidden = false;
    clearTimeout(soon);
    soon = setTimeout(() => show(link), dwell);
  });
  const end = (chosen) => {
    if (from === null) return;
    from = null;
    if (!slid) return;
    clearTimeout(soon);
    document.getElementById('az-big').hidden = true;
    if (chosen && last) show(last);
  };
  shelf.addEventListener('pointerup', () => end(true));
  shelf.addEventListener('pointercancel', () => end(false));
  // The click that ends a slide chooses nothing besides.
  shelf.addEventListener('click', (event) => {
    if (slid && event.target.closest('#az')) { event.preventDefault(); event.stopImmediatePropagation(); }
    slid = false;
  }, true);
  shelf.addEventListener('dragstart', (event) => { if (event.target.closest('#az')) event.preventDefault(); });

  roveToCurrent();
})();
