// The worker: chapters kept on this device while the reader cannot be reached.
// Pages always come from the reader while it answers; what is kept is shown only
// when it does not. Before this text stand `files`, what the page without a
// connection needs, and `shell`, the name of the cache that holds it.
'use strict';

const root = new URL(registration.scope).pathname;
const kept = 'mangrove-kept';

addEventListener('install', (event) => {
  event.waitUntil(caches.open(shell).then((cache) => cache.addAll(files)).then(() => skipWaiting()));
});
addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name.startsWith('mangrove-shell-') && name !== shell) await caches.delete(name);
    await clients.claim();
  })());
});

// Whoever signs out, or is found signed out, leaves nothing on the device.
const forget = () => caches.delete(kept);

// instead answers for the reader: the chapter if it is kept, else the page that
// says so and lists what is.
async function instead(url) {
  if (await caches.has(kept)) {
    const chapter = await (await caches.open(kept)).match(url.pathname, { ignoreSearch: true });
    if (chapter) return chapter;
  }
  return (await (await caches.open(shell)).match(root + 'offline')) || Response.error();
}

async function page(event, url) {
  let answer;
  try {
    answer = await fetch(event.request);
  } catch {
    return instead(url);
  }
  if (url.pathname === root + 'sign-in' && answer.status === 200) event.waitUntil(forget());
  // A proxy that answers for a reader that is away.
  return answer.status === 502 || answer.status === 504 ? instead(url) : answer;
}

async function still(request) {
  return (await caches.match(request)) || fetch(request);
}

addEventListener('fetch', (event) => {
  const { request } = event, url = new URL(request.url);
  if (url.origin !== location.origin || !url.pathname.startsWith(root)) return;
  const path = url.pathname.slice(root.length);
  if (request.method === 'POST' && path === 'sign-out') { event.waitUntil(forget()); return; }
  if (request.method !== 'GET') return;
  if (request.mode === 'navigate') event.respondWith(page(event, url));
  // These never change under their address.
  else if (path.startsWith('static/') || /^read\/\d+\/pages\/\d+$/.test(path)) event.respondWith(still(request));
});
