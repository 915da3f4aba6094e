// Chapters kept on this device for reading without the reader: saved whole or not
// at all, listed with their size, removed by hand, and forgotten when somebody
// signs out. The worker serves them; nothing kept is shown while the reader answers.
'use strict';

const keep = (() => {
  const root = document.documentElement.dataset.base;
  const user = document.body.dataset.user || '';
  const store = 'mangrove-kept';
  const possible = isSecureContext && 'caches' in window && 'serviceWorker' in navigator;
  const metaOf = (book) => root + 'kept/' + book + '.json';
  const pageOf = (book) => root + 'read/' + book;

  if (possible) {
    const trusted = window.trustedTypes ? trustedTypes.createPolicy('mangrove-worker', { createScriptURL: (url) => url }) : { createScriptURL: (url) => url };
    navigator.serviceWorker.register(trusted.createScriptURL(root + 'worker.js'), { updateViaCache: 'none' }).catch(() => { /* refused: then nothing is kept */ });
    // A new worker under an open page means that Mangrove was renewed.
    let before = navigator.serviceWorker.controller;
    navigator.serviceWorker.addEventListener('controllerchange', () => {
      const note = document.getElementById('not-live');
      if (before && note) {
        const again = document.createElement('a');
        again.href = location.href;
        again.textContent = T('Load it again');
        note.replaceChildren(T('Mangrove was renewed.') + ' ', again);
        note.hidden = false;
      }
      before = navigator.serviceWorker.controller;
    });
  }

  async function list() {
    if (!possible || !await caches.has(store)) return [];
    const cache = await caches.open(store);
    const found = [];
    for (const request of await cache.keys()) {
      if (!new URL(request.url).pathname.startsWith(root + 'kept/')) continue;
      found.push(await (await cache.match(request)).json());
    }
    return found.sort((a, b) => a.name.localeCompare(b.name) || a.order - b.order);
  }
  const forget = () => caches.delete(store);

  // remove takes away what only this chapter needs: its pages and its page. What it
  // shares with others goes with the last of them.
  async function remove(book) {
    const cache = await caches.open(store);
    const meta = await cache.match(metaOf(book));
    await cache.delete(metaOf(book));
    await cache.delete(pageOf(book), { ignoreSearch: true });
    if (meta) for (const src of (await meta.json()).pages) await cache.delete(src);
    if ((await list()).length === 0) await forget();
    document.dispatchEvent(new CustomEvent('kept'));
  }

  const get = async (url) => {
    const answer = await fetch(url, { credentials: 'same-origin' });
    if (!answer.ok || answer.redirected) throw new Error('answered ' + answer.status);
    return answer;
  };

  // save keeps one chapter; tell hears how many of its pages are here. What fails
  // leaves nothing behind.
  async function save(book, tell = () => {}) {
    if (!possible) throw new Error('this browser keeps nothing for this address');
    const plan = await (await get(pageOf(book) + '/keep')).json();
    if (navigator.storage && navigator.storage.persist) await navigator.storage.persist().catch(() => false);
    const cache = await caches.open(store);
    try {
      const page = await get(pageOf(book));
      const text = await page.text();
      const files = new Set(text.match(new RegExp(root.replace(/[.*+?^${}()|[\]\\]/g, '\\$&') + 'static/[0-9a-f]+/[\\w.-]+', 'g')) || []);
      for (const file of files) if (!await cache.match(file)) await cache.put(file, await get(file));
      let done = 0;
      const waiting = [...plan.pages];
      const work = async () => {
        for (let src = waiting.shift(); src; src = waiting.shift()) {
          if (!await cache.match(src)) await cache.put(src, await get(src));
          tell(++done, plan.pages.length);
        }
      };
      await Promise.all([work(), work(), work()]);
      // The page knows that it may be older than what was read since.
      await cache.put(pageOf(book), new Response(text.replace('<main ', '<main data-kept '), { headers: page.headers }));
      // Last of all: what has no such line is not kept.
      await cache.put(metaOf(book), new Response(JSON.stringify({ ...plan, user, at: Date.now() }), { headers: { 'Content-Type': 'application/json' } }));
    } catch (problem) {
      for (const src of plan.pages) await cache.delete(src);
      await remove(book);
      throw problem;
    }
    document.dispatchEvent(new CustomEvent('kept'));
    return plan;
  }

  const size = (bytes) => (bytes >= 1e9 ? (bytes / 1e9).toFixed(1) + ' GB' : bytes >= 1e6 ? Math.round(bytes / 1e6) + ' MB' : Math.max(1, Math.round(bytes / 1e3)) + ' kB');

  // What another person kept here is not for this one.
  if (possible && user) list().then((all) => { if (all.some((meta) => meta.user !== user)) forget(); });
  return { possible, list, save, remove, has: async (book) => (await list()).some((meta) => meta.book === book), size };
})();

// ---- the list of what is kept, on the pages that show it
(() => {
  const shelf = document.getElementById('kept');
  const make = (tag, attributes, ...children) => {
    const el = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes)) el.setAttribute(k, v);
    el.append(...children);
    return el;
  };
  async function draw() {
    const all = await keep.list();
    for (const link of document.querySelectorAll('[data-kept-link]')) link.hidden = all.length === 0;
    if (!shelf) return;
    const total = document.getElementById('kept-total');
    document.getElementById('kept-none').hidden = all.length > 0;
    total.hidden = all.length === 0;
    total.textContent = T('%d chapters, %s on this device', all.length, keep.size(all.reduce((sum, meta) => sum + meta.bytes, 0)));
    shelf.replaceChildren(...all.map((meta) => {
      const remove = make('button', { class: 'btn sm', type: 'button', 'aria-label': T('Remove %s, %s', meta.name, meta.chapter) }, T('Remove'));
      remove.addEventListener('click', async () => { await keep.remove(meta.book); document.getElementById('kept-title').focus(); });
      return make('li', { class: 'row snug' },
        make('span', { class: 'cover' }, make('img', { src: meta.pages[0], alt: '', width: '96', height: '144', loading: 'lazy' })),
        make('div', {}, make('a', { class: 'row-title', href: meta.href }, meta.name),
          make('p', { class: 'row-meta' }, meta.chapter + ' · ' + T('%d pages, %s', meta.pages.length, keep.size(meta.bytes)))),
        make('div', { class: 'end' }, remove));
    }));
  }
  document.addEventListener('kept', draw);
  draw();
})();
