// The places that could not be sent yet, in the order in which they were read:
// kept on this device for the person who is signed in, and sent when the reader
// answers again, whatever page is open then.
'use strict';

const places = (() => {
  const user = document.body.dataset.user || '';
  const listKey = 'mangrove:places:' + user, lastKey = 'mangrove:last:' + user;
  const read = (key, empty) => { try { return JSON.parse(localStorage.getItem(key)) || empty; } catch { return empty; } };
  const write = (key, value) => {
    try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* a full or forbidden store costs only the memory */ }
  };
  const list = () => read(listKey, []);
  const keep = (marks) => { write(listKey, marks); document.dispatchEvent(new CustomEvent('places')); };

  // add queues a mark. Of one book at most two stay: the last, and the furthest
  // before it, which may have been the page that finishes the chapter.
  function add(mark) {
    const all = list();
    const same = all.filter((m) => m.book === mark.book);
    const far = same.reduce((best, m) => (m.page > mark.page && (!best || m.page > best.page) ? m : best), null);
    const rest = all.filter((m) => m.book !== mark.book);
    if (far) rest.push(far);
    rest.push({ ...mark, id: Date.now() + ':' + Math.random() });
    keep(rest);
  }

  // post sends one mark; it throws when the reader is away.
  function post(mark) {
    return fetch(document.documentElement.dataset.base + 'read/' + mark.book + '/progress', {
      method: 'POST', keepalive: true, credentials: 'same-origin', headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ page: mark.page, asked: mark.asked, known: mark.known }),
      signal: AbortSignal.timeout ? AbortSignal.timeout(15000) : undefined,
    });
  }
  // settled tells an answer that sending again would not change.
  const settled = (status) => status < 300 || status === 400 || status === 404;

  async function send() {
    for (let mark = list()[0]; mark; mark = list()[0]) {
      const answer = await post(mark);
      if (!settled(answer.status)) return;
      const place = answer.ok ? await answer.json() : null;
      keep(list().filter((m) => m.id !== mark.id).map((m) => (
        // What was read after it on this device goes on from it.
        place && m.book === mark.book && place.page === mark.page && m.known === mark.known ? { ...m, known: place.version } : m)));
      if (place) document.dispatchEvent(new CustomEvent('place', { detail: { mark, place } }));
    }
  }
  // Two windows do not send the same places at once.
  async function drain() {
    if (!user || list().length === 0) return;
    try {
      if (navigator.locks) await navigator.locks.request('mangrove:places', { ifAvailable: true }, (lock) => (lock ? send() : null));
      else await send();
    } catch { /* still away */ }
  }
  addEventListener('online', drain);
  setInterval(drain, 15000);
  drain();

  return {
    add, post, settled, drain, list,
    of: (book) => list().findLast((m) => m.book === book),
    // last is the place this device knows of a book: where a chapter that is kept
    // here opens while nobody can be asked.
    last: (book) => read(lastKey, {})[book],
    setLast: (book, page, version) => {
      const all = read(lastKey, {});
      delete all[book];
      all[book] = { page, version };
      const names = Object.keys(all);
      if (names.length > 300) delete all[names[0]];
      write(lastKey, all);
    },
  };
})();
