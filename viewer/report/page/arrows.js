/* arrows.js - what is drawn over the bars, on a canvas of its own: the critical
 * path as a ribbon below each bar, arrows from who released to who waited, and
 * steps as fronts.
 *
 * An arrow begins where the operation began that released (a write, or that of
 * the last one to arrive), and ends where the other one's waiting ended: rows of
 * the view waits-for. There are arrows for what is under the pointer, for the
 * chosen step, and for all where there are few in view. */

const over = document.createElement('canvas'); /* above the bars */
over.setAttribute('aria-hidden', 'true');
Object.assign(over.style, {position: 'absolute', left: 0, top: 0, pointerEvents: 'none'});
canvas.after(over);
const ink = over.getContext('2d');
const ARROWS_MAX = 200; /* in view, without being asked for */
const ARROWS_OF_ONE = 400; /* of an operation, or of a step */
const LINKS_MAX = 400; /* of which it is drawn how they hang together */
const shown = {critical: true, arrows: true, fronts: false};

/* --- which arrows --- */

/* The operations that waited for a thread, by when that ended. */
let released = null;
function releasedBy(number) {
  if (!released) {
    released = run.threads.map(() => []);
    for (let i = 0; i < operations.count; i++)
      if (operations.waitsFor[i] >= 0) released[operations.waitsFor[i]].push(i);
    for (const of of released)
      of.sort((a, b) => operations.released[a] - operations.released[b]);
  }
  return released[number];
}

function threadOf(i) {
  let low = 0, high = run.threads.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (run.threads[middle].last <= i) low = middle + 1; else high = middle;
  }
  return low;
}

/* The operation of a thread that was the last to begin until then; -1. */
function lastBegun(number, ns) {
  const thread = run.threads[number];
  let low = thread.first, high = thread.last;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (operations.start[middle] <= ns) low = middle + 1; else high = middle;
  }
  return low > thread.first ? low - 1 : -1;
}

/* Of an operation that waited. */
function arrowOf(i, number = threadOf(i)) {
  const by = operations.waitsFor[i], at = operations.released[i];
  const cause = lastBegun(by, at);
  const from = cause >= 0 && operations.end[cause] >= at ? operations.start[cause] : at;
  return {from: {thread: by, ns: from}, to: {thread: number, ns: at}, operation: i, cause};
}

/* To an operation, and from it. */
function arrowsOf(i) {
  const number = threadOf(i);
  const arrows = operations.waitsFor[i] >= 0 ? [arrowOf(i, number)] : [];
  for (const other of releasedBy(number)) {
    if (operations.released[other] < operations.start[i]) continue;
    if (operations.released[other] > operations.end[i] || arrows.length > ARROWS_OF_ONE) break;
    const arrow = arrowOf(other);
    if (arrow.cause === i) arrows.push(arrow);
  }
  return arrows;
}

function arrowsOfStep(step) {
  const arrows = [];
  for (let i = 0; i < operations.count && arrows.length < ARROWS_OF_ONE; i++)
    if (operations.step[i] === step && operations.waitsFor[i] >= 0) arrows.push(arrowOf(i));
  return arrows;
}

/* All in view, if they are few. */
function arrowsInView() {
  const arrows = [];
  let looked = 0;
  for (let t = 0; t < run.threads.length; t++) {
    const thread = run.threads[t];
    for (let i = firstBeyond(thread, view.t0);
      i < thread.last && operations.start[i] < view.t1; i++) {
      if (++looked > 20 * ARROWS_MAX || arrows.length > ARROWS_MAX) return [];
      if (operations.waitsFor[i] >= 0) arrows.push(arrowOf(i, t));
    }
  }
  return arrows;
}

/* --- arrows: drawing --- */

const middleOf = (number) =>
  (rowOfThread[number] + 0.5) * view.row - view.top - gapOf(view.row) / 2;

/* A line with a head, if its ends are in different rows. */
function drawArrow({from, to}) {
  if (rowOfThread[from.thread] === rowOfThread[to.thread]) return;
  const x0 = xOf(from.ns), y0 = middleOf(from.thread);
  const x1 = xOf(to.ns), y1 = middleOf(to.thread);
  const long = Math.hypot(x1 - x0, y1 - y0), head = Math.min(7, long / 2);
  const [ux, uy] = [(x1 - x0) / long, (y1 - y0) / long];
  ink.beginPath();
  ink.moveTo(x0, y0);
  ink.lineTo(x1 - ux * head, y1 - uy * head);
  ink.stroke();
  ink.beginPath();
  ink.moveTo(x1, y1);
  ink.lineTo(x1 - ux * head - uy * head / 2, y1 - uy * head + ux * head / 2);
  ink.lineTo(x1 - ux * head + uy * head / 2, y1 - uy * head - ux * head / 2);
  ink.fill();
}

/* With an edge, so that they are seen on every colour. */
function drawArrows(arrows) {
  for (const [name, wide] of [['page', 3.5], ['arrow', 1.3]]) {
    ink.strokeStyle = ink.fillStyle = css(name);
    ink.lineWidth = wide;
    arrows.forEach(drawArrow);
  }
}

/* --- the critical path --- */

const RIBBON = 3; /* pixels */
const SHADES = 4;

/* The ribbon of a row, from the columns' shares: stretches of one shade. */
function drawRibbon(columns, r, ratio) {
  const y = Math.round((r + 1) * view.row - view.top) - Math.min(RIBBON, view.row / 3);
  const shade = (x) => Math.ceil(Math.min(1, columns.critical[x]) * SHADES - 1e-3);
  ink.fillStyle = css('critical');
  for (let x = 0, next; x < columns.count; x = next) {
    const dark = shade(x);
    for (next = x + 1; next < columns.count && shade(next) === dark;) next++;
    if (dark <= 0) continue;
    ink.globalAlpha = 0.25 + 0.75 * dark / SHADES;
    ink.fillRect(GUTTER + x / ratio, y, (next - x) / ratio, Math.min(RIBBON, view.row / 3));
  }
  ink.globalAlpha = 1;
}

/* Where it goes from a thread to another one. */
function drawJumps() {
  let i = 0, end;
  for (let low = 0, high = links.count; low < high;) {
    const middle = (low + high) >> 1;
    if (links.end[middle] <= view.t0) low = i = middle + 1; else high = middle;
  }
  for (end = i; end < links.count && links.start[end] < view.t1;)
    if (++end - i > LINKS_MAX) return;
  const edge = (number) => Math.round((rowOfThread[number] + 1) * view.row - view.top) - 1.5;
  ink.strokeStyle = css('critical');
  ink.lineWidth = 1.5;
  ink.beginPath();
  for (i++; i < end; i++) {
    const y0 = edge(links.thread[i - 1]), y1 = edge(links.thread[i]);
    if (y0 === y1 || links.start[i] !== links.end[i - 1]) continue;
    ink.moveTo(xOf(links.start[i]), y0);
    ink.lineTo(xOf(links.start[i]), y1);
  }
  ink.stroke();
}

/* --- fronts --- */

/* Through the starts of a step, row by row. */
function drawFront(k) {
  let begun = false;
  ink.beginPath();
  rows.forEach(({threads}, r) => {
    const start = d3.min(threads, (t) => fronts.start[t][k]);
    const y = (r + 0.5) * view.row - view.top;
    if (start === undefined || isNaN(start) || y < -view.row || y > height + view.row) return;
    if (begun) ink.lineTo(xOf(start), y); else ink.moveTo(xOf(start), y);
    begun = true;
  });
  ink.stroke();
}

/* Of all steps, no more than can be told apart. */
function drawFronts() {
  ink.lineWidth = 1;
  ink.strokeStyle = css('front');
  if (shown.fronts) {
    const steps = fronts.count * (view.t1 - view.t0) / (extent[1] - extent[0]);
    const every = Math.max(1, Math.ceil(steps / (width / 24)));
    for (let k = every - 1; k < fronts.count; k += every) drawFront(k);
  }
  ink.strokeStyle = css('chosen');
  ink.lineWidth = 2;
  if (frontOf(view.chosen) >= 0) drawFront(frontOf(view.chosen));
}

/* --- all of it --- */

let pointed = -1; /* the operation under the pointer */

function clearOver(ratio) {
  if (over.width !== canvas.width || over.height !== canvas.height) {
    over.width = canvas.width;
    over.height = canvas.height;
  }
  over.style.width = canvas.clientWidth + 'px';
  over.style.height = canvas.clientHeight + 'px';
  ink.setTransform(1, 0, 0, 1, 0, 0);
  ink.clearRect(0, 0, over.width, over.height);
  ink.setTransform(ratio, 0, 0, ratio, 0, 0);
}

/* What the ribbon needs was added up for the bars: it is drawn with them. */
function drawOver() {
  ink.save();
  ink.beginPath();
  ink.rect(GUTTER, 0, width, height);
  ink.clip();
  if (shown.critical) drawJumps();
  drawFronts();
  if (shown.arrows) {
    const some = pointed >= 0 ? arrowsOf(pointed) : [];
    drawArrows(some.length ? some : view.chosen ? arrowsOfStep(view.chosen) : arrowsInView());
  }
  ink.restore();
}

for (const name of Object.keys(shown)) {
  const box = id('show-' + name);
  if (!box) continue;
  box.checked = shown[name];
  box.addEventListener('change', () => { shown[name] = box.checked; schedule(); });
}

/* A picture of bars and all that is over them. */
function timelinePicture() {
  const picture = document.createElement('canvas');
  [picture.width, picture.height] = [canvas.width, canvas.height];
  const paper = picture.getContext('2d');
  paper.fillStyle = css('page');
  paper.fillRect(0, 0, picture.width, picture.height);
  paper.drawImage(canvas, 0, 0);
  paper.drawImage(over, 0, 0);
  return picture;
}
