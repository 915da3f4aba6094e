// Zoom of the pages shown: by pinch, wheel with Ctrl, double tap and keys. Pages
// grow in their place and are moved by scrolling, so that nothing is drawn twice
// and a page that is not zoomed is turned as ever.
'use strict';

const zoom = (() => {
  let k = 1, base = null;
  const most = 6;
  const stageOf = () => document.getElementById('stage');
  const long = () => stageOf().classList.contains('strip-pages');
  const scroller = () => (long() ? document.scrollingElement : stageOf());

  // measure notes how large the pages are without zoom.
  function measure() {
    const stage = stageOf();
    if (long()) return { width: stage.getBoundingClientRect().width };
    return { pages: [...stage.querySelectorAll('.slot')].map((box) => {
      const img = box.querySelector('img'), r = box.getBoundingClientRect();
      const w = img.width && img.naturalWidth ? img.naturalWidth : Number(img.getAttribute('width')), h = img.naturalHeight || Number(img.getAttribute('height'));
      const shown = img.getBoundingClientRect();
      const area = shown.width > 1 && shown.height > 1 ? shown : r;
      const scale = Math.min(area.width / w, area.height / h);
      return [w * scale, h * scale];
    }) };
  }
  function lay() {
    const stage = stageOf(), on = k > 1;
    stage.classList.toggle('zoomed', on);
    if (long()) { stage.style.width = on ? base.width * k + 'px' : ''; return; }
    [...stage.querySelectorAll('.slot')].forEach((box, i) => {
      const size = on && base.pages[i];
      box.style.width = size ? size[0] * k + 'px' : '';
      box.style.height = size ? size[1] * k + 'px' : '';
    });
  }
  // to zooms so that what is at (x, y) comes to stand at (toX, toY).
  function to(wanted, x, y, toX = x, toY = y) {
    wanted = Math.max(1, Math.min(most, wanted));
    if (wanted < 1.03) wanted = 1;
    if (wanted === k && x === toX && y === toY) return;
    if (k === 1 && wanted === 1) return;
    if (k === 1) base = measure();
    const boxes = [...stageOf().querySelectorAll('.slot')];
    const held = boxes.find((b) => { const r = b.getBoundingClientRect(); return x >= r.left && x <= r.right && y >= r.top && y <= r.bottom; }) || boxes[0];
    if (!held) return;
    // Where the picture is letterboxed the box is larger than the page.
    const inner = k === 1 && !long() ? base.pages[boxes.indexOf(held)] : null;
    const before = held.getBoundingClientRect();
    const [w, h] = inner || [before.width, before.height];
    const fx = Math.max(0, Math.min(1, (x - before.left - (before.width - w) / 2) / w)), fy = Math.max(0, Math.min(1, (y - before.top - (before.height - h) / 2) / h));
    k = wanted;
    lay();
    const after = held.getBoundingClientRect();
    scroller().scrollBy({ left: after.left + fx * after.width - toX, top: after.top + fy * after.height - toY, behavior: 'instant' });
    if (k === 1) base = null;
  }
  // reset forgets the zoom; other pages are shown, or the window has another size.
  function reset() {
    if (k === 1) return;
    k = 1;
    lay();
    base = null;
  }
  const middle = () => [innerWidth / 2, innerHeight / 2];
  return { on: () => k > 1, factor: () => k, to, reset, by: (factor, x, y) => to(k * factor, ...(x === undefined ? middle() : [x, y])) };
})();
