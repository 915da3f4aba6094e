// What the library page does beyond its links: the next block is fetched before it
// is reached, blocks far away are put aside, Back finds the place again, and titles
// are selected across blocks. All of it works without, a block a page.
'use strict';

const library = (() => {
  const ahead = 1600;      // pixels before the end at which the next block is fetched
  const aside = 4000;      // pixels beyond which a block is put aside
  const shelf = document.getElementById('shelf');
  if (!shelf) return;
  let blocks, form, watch, fetching = null, picking = false;
  const picked = new Map();   // key to name, of blocks that are aside too

  // ---- blocks
  const parse = (html) => new DOMParser().parseFromString(policy.createHTML(html), 'text/html');
  async function get(address) {
    const answer = await fetch(address, { credentials: 'same-origin', headers: { 'X-Requested-With': 'mangrove' } });
    if (!answer.ok || answer.redirected) throw new Error(answer.status);
    const page = parse(await answer.text());
    await aFrame();
    return page;
  }
  // aFrame passes between reading a block, putting its first half into the page, and the
  // second: all in one would be felt while scrolling.
  const aFrame = () => new Promise((done) => setTimeout(done, 17));
  const all = () => [...blocks.querySelectorAll(':scope > .block')];
  const away = (block) => block.hasAttribute('data-aside');

  // more fetches the next block; whoever asks meanwhile waits for the same.
  function more() {
    const link = blocks.querySelector('#more > [data-fetch]');
    if (link && !fetching) fetching = fetchMore(link).finally(() => { fetching = null; });
    return fetching;
  }
  async function fetchMore(link) {
    link.setAttribute('aria-busy', 'true');
    try {
      const page = await get(link.dataset.fetch);
      const fresh = page.querySelector('.block');
      if (!link.isConnected) return;   // jumped away meanwhile
      link.parentElement.remove();
      if (flying) hold(fresh);
      const rest = halve(fresh), shelf = take(fresh).querySelector('.grid, .rows'), next = page.getElementById('more');
      if (next) blocks.append(next);
      await aFrame();
      if (!flying) release(rest);
      tick(rest);
      shelf.append(rest);
      if (next) watchEnd(next);
      remember();
    } catch {
      link.removeAttribute('aria-busy');
      link.textContent = T('More titles could not be fetched. Try again');
      setTimeout(() => watchEnd(link.parentElement), 5000);
    }
  }
  // halve takes the second half of its tiles out of a block.
  function halve(block) {
    const tiles = [...block.querySelector('.grid, .rows').children], rest = document.createDocumentFragment();
    rest.append(...tiles.slice(24));
    return rest;
  }
  // tick shows in what was fetched what was selected before.
  function tick(within) {
    for (const box of within.querySelectorAll('.pick')) box.checked = picked.has(box.value);
  }
  // take puts a fetched block at the end, or in the place of another.
  function take(fresh, old) {
    if (!fresh) return null;
    fresh = document.importNode(fresh, true);
    // Until it is drawn it is as high as the one it follows or replaces, so that
    // nothing on the screen moves.
    const like = old || all().pop();
    if (like) fresh.style.containIntrinsicSize = 'auto ' + like.offsetHeight + 'px';
    if (old) {
      const images = new Map([...old.querySelectorAll('img')].map((img) => [img.getAttribute('src'), img]));
      for (const img of fresh.querySelectorAll('img')) {
        const was = images.get(img.getAttribute('src'));
        if (was && !was.hidden) img.replaceWith(was);
      }
      watch.unobserve(old);
      const held = old.contains(document.activeElement) && document.activeElement.getAttribute('href');
      old.replaceWith(fresh);
      if (held) { const again = fresh.querySelector('a[href="' + CSS.escape(held) + '"]'); if (again) again.focus({ preventScroll: true }); }
    } else blocks.append(fresh);
    tick(fresh);
    watch.observe(fresh);
    return fresh;
  }

  // ---- covers wait while the shelf flies past: nobody sees them, and each is a request
  // and a picture to decode. They come when it slows down.
  const flight = 3;        // pixels a millisecond from which on titles cannot be read
  let flying = 0, at = { y: 0, time: 0 };
  function hold(block) {
    for (const img of block.querySelectorAll('img[data-cover]')) {
      for (const name of ['srcset', 'src']) {
        if (!img.hasAttribute(name)) continue;
        img.setAttribute('data-' + name, img.getAttribute(name));
        img.removeAttribute(name);
      }
    }
  }
  function release(within) {
    for (const img of within.querySelectorAll('img[data-src]')) {
      for (const name of ['srcset', 'src']) {
        if (!img.hasAttribute('data-' + name)) continue;
        img.setAttribute(name, img.getAttribute('data-' + name));
        img.removeAttribute('data-' + name);
      }
    }
  }
  function land() {
    flying = 0;
    release(blocks);
  }
  function fly(event) {
    const y = scrollY, far = Math.abs(y - at.y), time = event.timeStamp - at.time;
    at = { y, time: event.timeStamp };
    // A jump is one event: what it leads to is looked at.
    if (time <= 0 || time > 200 || far / time < flight) return;
    clearTimeout(flying);
    flying = setTimeout(land, 150);
  }

  // ---- blocks far away hold their height and nothing else
  const kept = new WeakMap();
  function put(block) {
    if (away(block) || block.contains(document.activeElement)) return;
    block.style.height = block.offsetHeight + 'px';
    block.setAttribute('data-aside', '');
    const nodes = document.createDocumentFragment();
    nodes.append(...block.childNodes);
    kept.set(block, nodes);
  }
  const coming = new WeakMap();
  // bring shows a block that is aside; one that is fetched anew takes its place.
  function bring(block) {
    if (!away(block)) return null;
    if (!coming.has(block)) coming.set(block, fetchAgain(block).finally(() => coming.delete(block)));
    return coming.get(block);
  }
  async function fetchAgain(block) {
    const nodes = kept.get(block);
    if (nodes) {
      kept.delete(block);
      if (!flying) release(nodes);
      block.append(nodes);
      block.removeAttribute('data-aside');
      block.style.height = '';
      return;
    }
    block.setAttribute('aria-busy', 'true');
    try {
      const page = await get(block.dataset.again);
      if (block.isConnected) { take(page.querySelector('.block'), block); letterHere(); }
    } catch { block.removeAttribute('aria-busy'); }
  }

  // ---- the end is watched apart: what is near it is fetched
  let end;
  function watchEnd(mark) {
    if (end) end.disconnect();
    if (!mark || !mark.isConnected) return;
    end = new IntersectionObserver((seen) => { if (seen.some((s) => s.isIntersecting)) more(); }, { rootMargin: ahead + 'px 0px' });
    end.observe(mark);
  }

  // ---- Back: the blocks, their heights and the place, kept in the history's entry
  const view = () => { const a = new URL(location.href); a.searchParams.delete('from'); a.searchParams.delete('said'); a.hash = ''; return a.pathname + a.search; };
  let soon = 0;
  function remember() {
    clearTimeout(soon);
    soon = setTimeout(() => { save(); letterHere(); }, 250);
  }
  function save() {
    clearTimeout(soon);
    if (!blocks || !blocks.isConnected) return;
    const list = all().map((b) => [b.id, b.dataset.after, b.dataset.until, b.dataset.again, b.offsetHeight]);
    const link = blocks.querySelector('#more > [data-fetch]');
    const top = all().find((b) => b.getBoundingClientRect().bottom > 0);
    const address = new URL(location.href);
    if (top && top.dataset.after) address.searchParams.set('from', top.dataset.after); else address.searchParams.delete('from');
    address.searchParams.delete('said');
    const state = { view: view(), list, more: link && [link.getAttribute('href'), link.dataset.fetch], y: scrollY, width: innerWidth };
    try { history.replaceState({ library: state }, '', address); } catch { /* too much to keep: Back finds the block */ }
  }
  function restore() {
    const was = history.state && history.state.library;
    if (!was || was.view !== view() || was.list.length === 0) return;
    const here = new Map(all().map((b) => [b.id, b]));
    const fill = was.list.map(([id, after, until, again, height]) => {
      const block = here.get(id);
      if (block) return block;
      const empty = document.createElement('section');
      Object.assign(empty, { className: 'block', id });
      Object.assign(empty.dataset, { after, until, again });
      empty.setAttribute('data-aside', '');
      empty.style.height = height + 'px';
      return empty;
    });
    const end = document.createElement('p');
    end.className = 'more';
    end.id = 'more';
    if (was.more) {
      const link = document.createElement('a');
      link.className = 'btn';
      link.href = was.more[0];
      link.dataset.fetch = was.more[1];
      link.textContent = T('More titles');
      end.append(link);
    }
    blocks.replaceChildren(...fill, ...(was.more ? [end] : []));
    earlier(was.list[0][1] !== '');
    history.scrollRestoration = 'manual';
    scrollTo(0, was.y);
    const again = () => { if (Math.abs(scrollY - was.y) > 2) scrollTo(0, was.y); };
    requestAnimationFrame(again);
  }

  // What begins behind the start says so.
  function earlier(on) { document.getElementById('earlier').hidden = !on; }
  // What is shown is looked after: what is far away is put aside, and what is near fetched.
  function attend() {
    watch.disconnect();
    for (const block of all()) watch.observe(block);
    watchEnd(document.getElementById('more'));
  }

  // ---- letters: the block that begins with one takes the place of what is shown, and
  // Back finds that again. Several letters under one finger are one step back.
  const railEdge = () => document.getElementById('toolbar').getBoundingClientRect().bottom;
  let jumps = 0, entered = null;   // the slide that has its step in the history
  async function jump(link, slide = null) {
    const mine = jumps += 1;
    link.setAttribute('aria-busy', 'true');
    try {
      const page = await get(link.dataset.fetch), fresh = page.querySelector('.block'), next = page.getElementById('more');
      if (mine !== jumps) return;
      const again = slide !== null && slide === entered;
      entered = slide;
      history.scrollRestoration = 'manual';
      if (!again) save();
      clearTimeout(soon);
      history[again ? 'replaceState' : 'pushState']({}, '', link.href);
      blocks.replaceChildren(...[fresh, next].filter(Boolean).map((n) => document.importNode(n, true)));
      tick(blocks);
      earlier(fresh.dataset.after !== '');
      // On the first screen nothing moves; further down the letter comes to the top.
      const above = railEdge() - form.getBoundingClientRect().top;
      if (above > 0) scrollBy({ top: -above, behavior: 'instant' });
      attend();
      current(link);
      document.getElementById('az-said').textContent = T('Titles from %s', link.textContent);
      save();
    } catch { if (mine === jumps) location.assign(link.href); } finally { link.removeAttribute('aria-busy'); }
  }
  document.addEventListener('click', (event) => {
    const link = event.target.closest('#az a');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    jump(link);
  });
  document.addEventListener('letter', (event) => jump(event.detail.link, event.detail.slide));
  addEventListener('popstate', () => {
    const was = history.state && history.state.library;
    if (!blocks || !was || was.view !== view()) return;
    jumps += 1;
    restore();
    attend();
    letterHere();
  });
  // current marks a letter on the rail, and keeps it in sight there.
  function current(link) {
    const rail = document.getElementById('az'), was = rail.querySelector('[aria-current]');
    if (was === link) return;
    if (was) was.removeAttribute('aria-current');
    link.setAttribute('aria-current', 'true');
    link.closest('ul').scrollTop = link.offsetTop - link.closest('ul').clientHeight / 2;
    rail.dispatchEvent(new CustomEvent('current'));
  }
  // letterHere is the letter of the first title in sight.
  function letterHere() {
    const rail = document.getElementById('az');
    if (!rail) return;
    const edge = railEdge(), block = all().find((b) => b.getBoundingClientRect().bottom > edge + 40);
    if (!block || away(block)) return;   // it is being fetched
    const begun = block.querySelectorAll('[data-az]'), row = [...block.querySelectorAll('.pickable, .ll')].find((tile) => tile.getBoundingClientRect().bottom > edge + 40);
    // Of the letters of this block, the last that begins at that title or before.
    const first = [...begun].findLast((tile) => tile === row || tile.compareDocumentPosition(row) & Node.DOCUMENT_POSITION_FOLLOWING);
    if (!first) return;
    const links = [...rail.querySelectorAll('a')];
    current(links.findLast((a) => Number(a.dataset.az) <= Number(first.dataset.az)) || links[0]);
  }

  // ---- selecting
  const said = () => document.getElementById('picked-said');
  function pick(on) {
    picking = on;
    form.classList.toggle('picking', on);
    const button = document.getElementById('select');
    button.setAttribute('aria-pressed', String(on));
    button.textContent = on ? T('Done') : T('Select');
    if (!on) { picked.clear(); for (const box of form.querySelectorAll('.pick:checked')) box.checked = false; last = null; }
    tell();
  }
  function tell() {
    said().textContent = T('%d selected', picked.size);
    form.classList.toggle('some', picked.size > 0);
  }
  let last = null;
  function turn(box, range) {
    const boxes = [...form.querySelectorAll('.pick')], at = boxes.indexOf(box), from = boxes.findIndex((b) => b.value === last);
    for (const b of range && from >= 0 ? boxes.slice(Math.min(at, from), Math.max(at, from) + 1) : [box]) {
      b.checked = box.checked;
      if (b.checked) picked.set(b.value, true); else picked.delete(b.value);
    }
    last = box.value;
    tell();
  }
  document.addEventListener('click', (event) => {
    if (!form || event.target.closest('summary, button')) return;
    const box = event.target.closest('.pick');
    if (box && form.contains(box)) { if (!picking) pickOn(); turn(box, event.shiftKey); return; }
    const tile = picking && event.target.closest('.pickable, .ll');
    const own = tile && form.contains(tile) && tile.querySelector('.pick');
    if (!own || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    own.checked = !own.checked;
    turn(own, event.shiftKey);
  });
  function pickOn() { picking = true; form.classList.add('picking'); const b = document.getElementById('select'); b.setAttribute('aria-pressed', 'true'); b.textContent = T('Done'); }
  document.addEventListener('keydown', (event) => {
    if (!form || event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input:not([type=checkbox]), select, textarea')) return;
    if (event.key === 'Escape') {
      const open = document.querySelector('.filters[open], .collect[open]');
      if (open) { open.open = false; open.querySelector('summary').focus(); return; }
      if (picking) pick(false);
      return;
    }
    const tile = document.activeElement.closest('.pickable, .ll');
    const box = tile && tile.querySelector('.pick');
    if (!box || (event.key !== 'x' && event.key !== 'X')) return;
    event.preventDefault();
    if (!picking) pickOn();
    box.checked = event.key === 'X' || !box.checked;
    turn(box, event.key === 'X');
  });
  pageKeys.push({ title: T('Library'), keys: [['x', T('Select the title, or take it back')], ['Shift x', T('Select up to here')], ['Esc', T('Select nothing')]] });

  // ---- the page comes to life, also where the library was empty before
  function start() {
    blocks = document.getElementById('blocks');
    form = document.getElementById('picked');
    const button = document.getElementById('select');
    if (!blocks || !form) return;
    form.classList.add('live');
    if (watch) watch.disconnect();
    watch = new IntersectionObserver((seen) => {
      for (const s of seen) if (s.isIntersecting) bring(s.target); else put(s.target);
    }, { rootMargin: aside + 'px 0px' });
    restore();
    attend();
    if (button) {
      button.hidden = false;
      button.addEventListener('click', () => pick(!picking));
    }
    const none = document.getElementById('unpick');
    none.hidden = false;
    none.addEventListener('click', () => pick(false));
    form.addEventListener('submit', () => {
      // What is selected in blocks that are aside goes along.
      const shown = new Set([...form.querySelectorAll('.pick')].map((b) => b.value));
      for (const key of picked.keys()) {
        if (shown.has(key)) continue;
        const field = document.createElement('input');
        Object.assign(field, { type: 'hidden', name: 'key', value: key });
        form.append(field);
      }
      save();
      form.elements.back.value = '/' + location.pathname.slice(root.dataset.base.length) + location.search;
    });
    tell();
  }
  // The order changes at once; the filters when they are asked for. What is not set
  // stays out of the address.
  document.addEventListener('change', (event) => { if (event.target.id === 'sort') event.target.form.requestSubmit(); });
  document.addEventListener('formdata', (event) => {
    if (event.target.id !== 'toolbar') return;
    for (const [name, value] of [...event.formData]) if (value === '' || (name === 'sort' && value === 'title')) event.formData.delete(name);
  });
  // A press elsewhere closes what is open.
  document.addEventListener('click', (event) => {
    for (const open of document.querySelectorAll('.filters[open], .collect[open]')) if (!open.contains(event.target)) open.open = false;
  });
  start();
  addEventListener('scroll', remember, { passive: true });
  addEventListener('scroll', fly, { passive: true });
  addEventListener('pagehide', save);

  // ---- live: what is on the screen is asked for again when the library changes
  new MutationObserver(async (changes) => {
    if (changes.some((c) => [...c.addedNodes].some((n) => n.dataset && n.dataset.filled !== undefined))) {
      try {
        const fresh = parse(await (await fetch(location.href, { credentials: 'same-origin' })).text()).getElementById('shelf');
        if (fresh) { shelf.replaceChildren(...document.importNode(fresh, true).childNodes); start(); }
      } catch { /* the next change tries again */ }
      return;
    }
    if (!blocks || !changes.some((c) => [...c.addedNodes].some((n) => n.id === 'shelf-head'))) return;
    refresh();
  }).observe(shelf, { childList: true, subtree: true });
  async function refresh() {
    for (const block of all()) {
      const at = block.getBoundingClientRect();
      // A block that is aside is asked for when it comes back.
      if (away(block)) { kept.delete(block); continue; }
      if (at.bottom < 0 || at.top > innerHeight) { put(block); kept.delete(block); continue; }
      try {
        const page = await get(block.dataset.again), next = page.getElementById('more');
        if (!block.isConnected || away(block)) continue;
        take(page.querySelector('.block'), block);
        if (next && !blocks.querySelector('#more')) { blocks.append(document.importNode(next, true)); watchEnd(blocks.querySelector('#more')); }
      } catch { return; }
    }
  }
  return { blocks: () => (blocks ? all() : []), bring, more };
})();
