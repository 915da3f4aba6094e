// The page without a connection: it stands at the address that was wanted, tries again
// when the device is connected and now and then besides, says when, and opens what was
// wanted as soon as Mangrove answers.
'use strict';

(() => {
  const root = document.documentElement.dataset.base;
  const said = document.getElementById('next-try');
  const first = 5, most = 60;   // seconds between two tries
  let wait = first, at = 0, trying = false;

  // What was wanted is at this address, unless somebody came to this very page.
  const wanted = () => (location.pathname === root + 'offline' ? root : location.href);

  async function reached() {
    // The worker leaves this one to the network; a proxy may answer for a reader that is away.
    try { return (await fetch(root + 'offline', { cache: 'no-store', signal: AbortSignal.timeout ? AbortSignal.timeout(10000) : undefined })).ok; } catch { return false; }
  }
  async function attempt() {
    if (trying) return;
    trying = true;
    said.textContent = T('Trying now');
    if (await reached()) { location.replace(wanted()); return; }
    trying = false;
    at = Date.now() + wait * 1000;
    wait = Math.min(wait * 2, most);
    tell();
  }
  function tell() {
    const left = Math.max(0, Math.ceil((at - Date.now()) / 1000));
    if (navigator.onLine === false) said.textContent = T('This device has no connection. It is tried again when it has one.');
    else said.textContent = T('Tried again in %s', T('%d seconds', left));
  }
  // A device that says it is not connected may be wrong; it is tried all the same, as
  // slowly. A page that nobody looks at waits.
  setInterval(() => {
    if (trying || document.hidden) return;
    if (Date.now() >= at) attempt(); else tell();
  }, 1000);
  const soon = () => { wait = first; if (!document.hidden) attempt(); };
  addEventListener('online', soon);
  addEventListener('offline', () => { if (!trying) tell(); });
  document.addEventListener('visibilitychange', () => { if (!document.hidden) soon(); });
  document.getElementById('try').addEventListener('click', (event) => { event.preventDefault(); attempt(); });

  at = Date.now() + wait * 1000;
  wait *= 2;
  tell();
})();
