// Arrow keys among the titles of the library and of a collection: from one that is
// focused to those beside, above and below it, also in blocks that are put aside or not
// fetched yet. Tab goes from title to title as without this file.
'use strict';

(() => {
  if (!library) return;
  const tilesOf = (block) => [...block.querySelectorAll('.pickable, .ll')];
  const linkOf = (tile) => tile.querySelector('a.item, a.row-title');
  const columnsOf = (block) => {
    const grid = block.querySelector('.grid');
    return grid ? getComputedStyle(grid).gridTemplateColumns.split(' ').length : 1;
  };

  // beside is the block before or behind one, there to be looked at; null at an end.
  async function beside(block, step) {
    const find = () => { const all = library.blocks(); return all[all.findIndex((b) => b.id === block.id) + step]; };
    if (step < 0 && library.blocks()[0].id === block.id) return null;
    if (!find()) await library.more();
    const next = find();
    if (!next) return null;
    await library.bring(next);
    return document.getElementById(next.id);
  }

  // A place is a title's block and its number there.
  async function along(at, step) {
    const to = at.n + step;
    if (to >= 0 && to < tilesOf(at.block).length) return { block: at.block, n: to };
    const block = await beside(at.block, step);
    return block && { block, n: step > 0 ? 0 : tilesOf(block).length - 1 };
  }
  async function row(at, step) {
    const columns = columnsOf(at.block), tiles = tilesOf(at.block).length, column = at.n % columns, to = at.n + step * columns;
    if (to >= 0 && to < tiles) return { block: at.block, n: to };
    // A last row may be shorter.
    if (step > 0 && Math.floor(at.n / columns) < Math.floor((tiles - 1) / columns)) return { block: at.block, n: tiles - 1 };
    const block = await beside(at.block, step);
    if (!block) return null;
    const there = tilesOf(block).length;
    return { block, n: Math.min(step > 0 ? column : Math.floor((there - 1) / columns) * columns + column, there - 1) };
  }
  async function screen(at, step) {
    const tile = tilesOf(at.block)[at.n];
    const rows = Math.max(1, Math.floor(innerHeight * .75 / (tile.getBoundingClientRect().height + 16)));
    for (let i = 0; i < rows; i += 1) {
      const next = await row(at, step);
      if (!next) break;
      at = next;
    }
    return at;
  }
  function edge(at, step) {
    const columns = columnsOf(at.block), first = Math.floor(at.n / columns) * columns;
    return { block: at.block, n: step < 0 ? first : Math.min(first + columns, tilesOf(at.block).length) - 1 };
  }

  let going = false;
  async function go(way) {
    if (going) return;
    going = true;
    try {
      const to = await way;
      const link = to && linkOf(tilesOf(to.block)[to.n]);
      if (!link) return;
      link.focus({ preventScroll: true });
      link.scrollIntoView({ block: 'nearest', behavior: 'instant' });
    } finally { going = false; }
  }

  // onScreen is the first title that is wholly in sight, to begin with.
  function onScreen() {
    for (const block of library.blocks()) {
      if (block.getBoundingClientRect().bottom < 0) continue;
      const n = tilesOf(block).findIndex((tile) => { const at = tile.getBoundingClientRect(); return at.top >= 60 && at.bottom > 0; });
      if (n >= 0) return { block, n };
    }
    return null;
  }

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.defaultPrevented || document.querySelector('dialog[open]')) return;
    const on = getComputedStyle(document.getElementById('shelf')).direction === 'rtl' ? -1 : 1;
    const sideways = { ArrowRight: on, ArrowLeft: -on }[event.key];
    if (document.activeElement === document.body || !document.activeElement) {
      // Up and down scroll the page; to the side the first title is taken.
      if (sideways) { const to = onScreen(); if (to) { event.preventDefault(); go(to); } }
      return;
    }
    const tile = document.activeElement.closest('.block :is(.pickable, .ll)');
    if (!tile) return;
    const block = tile.closest('.block'), at = { block, n: tilesOf(block).indexOf(tile) };
    const ways = {
      ArrowRight: () => along(at, on), ArrowLeft: () => along(at, -on), ArrowDown: () => row(at, 1), ArrowUp: () => row(at, -1),
      Home: () => edge(at, -1), End: () => edge(at, 1), PageDown: () => screen(at, 1), PageUp: () => screen(at, -1),
    };
    if (!Object.hasOwn(ways, event.key)) return;
    event.preventDefault();
    go(ways[event.key]());
  });

  pageKeys.at(-1).keys.unshift(['← → ↑ ↓', T('From title to title')], ['Home End', T('First and last of the row')], ['PageUp PageDown', T('A screen up, a screen down')], ['Enter', T('Open the title')]);
})();
