// The keys of a page, shown by ?, and the switch that turns single keys off.
'use strict';

// pageKeys are this page's own; its scripts add theirs.
const pageKeys = [];
const readingKeys = { title: T('Reading'), keys: [
  ['← →', T('Turn, the way the pages run')], ['Space', T('On; with Shift, back')], ['Home End', T('First page, last page')], ['n b', T('Next chapter, chapter before')],
  ['m', T('Menu')], ['d c', T('Double page; shift the cover')], ['v s', T('Vertical; strip')], ['r', T('Direction')], ['w h o', T('Fit width, height, original')], ['+ - 0', T('Zoom in, out, none')],
  ['f', T('Full screen')],
] };

(() => {
  const everywhere = { title: T('Everywhere'), keys: [['/', T('Search')], ['g h', T('Home')], ['g l', T('Library')], ['g w', T('Worklist')], ['g s', T('Service health')], ['t', T('Dark or light')], ['Esc', T('Close, or back')], ['?', T('These keys')]] };
  const off = () => { try { return localStorage.getItem('mangrove:keys') === 'off'; } catch { return false; } };
  const typing = (el) => el.closest('input:not([type=checkbox], [type=radio], [type=range]), select, textarea, [contenteditable]');

  const make = (tag, attributes, ...children) => {
    const el = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes)) el.setAttribute(k, v);
    el.append(...children);
    return el;
  };
  let groups = 0;
  function group(g, first) {
    const id = 'keys-' + (groups += 1);
    const list = make('dl', { class: 'keys' });
    for (const [keys, what] of g.keys) {
      const dt = make('dt', {});
      for (const key of keys.split(' ')) dt.append(make('kbd', {}, key), ' ');
      list.append(make('div', {}, dt, make('dd', {}, what)));
    }
    return make('section', { 'aria-labelledby': id }, make('h3', { id }, first ? T('On this page: %s', g.title) : g.title), list);
  }

  let dialog = null;
  function show() {
    if (dialog) return;
    const came = document.activeElement;
    const close = make('button', { class: 'btn plain square', type: 'button', 'aria-label': T('Close') });
    const icon = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    const use = document.createElementNS('http://www.w3.org/2000/svg', 'use');
    icon.setAttribute('class', 'icon');
    icon.setAttribute('aria-hidden', 'true');
    use.setAttribute('href', document.querySelector('use').getAttribute('href').split('#')[0] + '#i-x');
    icon.append(use);
    close.append(icon);
    const columns = make('div', { class: 'key-cols' });
    for (const g of pageKeys) columns.append(group(g, true));
    // The reading view is not under the frame: what leads elsewhere is not there.
    columns.append(group(document.getElementById('read') ? { title: T('Everywhere'), keys: everywhere.keys.slice(-2) } : everywhere));
    if (!pageKeys.includes(readingKeys)) columns.append(group(readingKeys));
    const box = make('input', { type: 'checkbox', role: 'switch' });
    box.checked = !off();
    box.addEventListener('change', () => {
      try { if (box.checked) localStorage.removeItem('mangrove:keys'); else localStorage.setItem('mangrove:keys', 'off'); } catch { /* only this visit then */ }
    });
    const label = make('span', {}, T('Single keys'), make('small', {}, T('On this device. They are off while you type.')));
    dialog = make('dialog', { class: 'dialog', 'aria-labelledby': 'keys-title' },
      make('div', { class: 'sheet-head' }, make('h2', { id: 'keys-title' }, T('Keys')), close), columns,
      make('div', { class: 'dialog-foot' }, make('label', { class: 'switch' }, box, label)));
    const end = () => { dialog.remove(); dialog = null; if (came && came !== document.body) came.focus({ preventScroll: true }); };
    close.addEventListener('click', () => dialog.close());
    dialog.addEventListener('close', end);
    dialog.addEventListener('click', (event) => { event.stopPropagation(); if (event.target === dialog) dialog.close(); });
    // The page behind hears none of it.
    dialog.addEventListener('keydown', (event) => { event.stopPropagation(); if (event.key === '?') dialog.close(); });
    document.body.append(dialog);
    dialog.showModal();
    close.focus();
  }

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (dialog && dialog.contains(event.target)) return;
    const single = event.key.length === 1 && event.key !== ' ';
    if (single && off()) { event.stopImmediatePropagation(); return; }
    if (event.key === '?') { event.preventDefault(); event.stopImmediatePropagation(); show(); }
  }, true);
  document.addEventListener('click', (event) => { if (event.target.closest('[data-keys]')) show(); });
})();
