/* timeline.js - one bar per thread: drawing it, moving it, choosing a step.
 *
 * Each frame computes, row by row, how much of each pixel's time was spent
 * waiting and transferring, and writes pixels: 265,000 operations on the screen cost as
 * many additions, not as many rectangles. What is out of sight is skipped by
 * bisection. */

/* --- timeline: what is shown --- */

const canvas = id('bars');
const context = canvas.getContext('2d');
const AXIS = 26, GUTTER = 148, RIGHT = 14, ROW_MIN = 1, ROW_MAX = 64;
const SHADES = 64; /* from nothing of a colour to all of it */
const LEAST_SPAN = 1000; /* ns over the whole width */
const extent = [run.startNs, Math.max(run.endNs, run.startNs + LEAST_SPAN)];
const view = {t0: 0, t1: 1, top: 0, row: 10, chosen: 0};
let order = d3.range(run.threads.length); /* row -> thread */
let rowOfThread = order.slice();
let width = 0, height = 0, room = 0; /* of the bars, in CSS pixels */
let colours = {};

function pixels(name) {
  const text = getComputedStyle(document.documentElement)
    .getPropertyValue('--' + name).trim();
  const c = d3.rgb(text);
  return [c.r, c.g, c.b];
}
const pack = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

function takeColours() {
  colours = {};
  for (const name of ['waiting', 'transferring', 'communicating', 'computing', 'idle',
    'chosen', 'chosen-waiting', 'chosen-computing', 'failed', 'pending', 'stripe', 'stripe-other', 'text', 'quiet', 'line'])
    colours[name] = pixels(name);
  /* What an operation is while it does not wait, as far as that is known. */
  colours.rest = colours[run.waitsKnown ? 'transferring' : 'communicating'];
  colours.shades = new Uint32Array((SHADES + 1) * (SHADES + 1));
  for (let w = 0; w <= SHADES; w++)
    for (let r = 0; r + w <= SHADES; r++)
      colours.shades[w * (SHADES + 1) + r] = shade(w / SHADES, r / SHADES);
}
/* A pixel of which these shares are waiting and the rest of communicating. Any
 * communication at all stays visible in a pixel of computing. */
function shade(waiting, rest) {
  const sum = waiting + rest;
  const more = sum ? Math.max(sum, 0.15) / sum : 0;
  return pack(colours.computing.map((c, k) => Math.round(c +
    (colours.waiting[k] - c) * waiting * more + (colours.rest[k] - c) * rest * more)));
}
const css = (name) => `rgb(${colours[name].join(',')})`;

const rowsHeight = () => order.length * view.row;
const xOf = (ns) => GUTTER + (ns - view.t0) / (view.t1 - view.t0) * width;
const nsAt = (x) => view.t0 + (x - GUTTER) / width * (view.t1 - view.t0);

function keepInside() {
  let span = Math.min(Math.max(view.t1 - view.t0, LEAST_SPAN), extent[1] - extent[0]);
  view.t0 = Math.min(Math.max(view.t0, extent[0]), extent[1] - span);
  view.t1 = view.t0 + span;
  view.row = Math.min(Math.max(view.row, ROW_MIN), ROW_MAX);
  fit();
  view.top = Math.max(0, Math.min(view.top, rowsHeight() - height));
}

const ratioOf = () => window.devicePixelRatio || 1;

/* The bars take what the rows need, up to most of the window: there is no empty
 * band below them. */
function fit() {
  height = Math.round(Math.min(room, Math.max(20, rowsHeight())));
  const lines = Math.round((height + AXIS) * ratioOf());
  if (canvas.height === lines) return;
  canvas.style.height = height + AXIS + 'px';
  canvas.height = lines;
}

/* Gives the best height of a row: rows shrink to fit, but not below one
 * pixel. */
function measure() {
  room = Math.max(200, window.innerHeight * 0.72) - AXIS;
  width = Math.max(50, Math.round(canvas.parentNode.clientWidth) - GUTTER - RIGHT);
  canvas.width = Math.round((width + GUTTER + RIGHT) * ratioOf());
  return Math.min(26, Math.max(ROW_MIN, room / Math.max(1, order.length)));
}

function reset() {
  view.row = measure();
  view.t0 = extent[0];
  view.t1 = extent[1];
  view.top = 0;
  keepInside();
  schedule();
}

function zoomTime(factor, x) {
  const fixed = nsAt(x === undefined ? GUTTER + width / 2 : x);
  const span = Math.min(Math.max((view.t1 - view.t0) * factor, LEAST_SPAN),
    extent[1] - extent[0]);
  const share = (fixed - view.t0) / (view.t1 - view.t0);
  view.t0 = fixed - share * span;
  view.t1 = view.t0 + span;
  keepInside();
  schedule();
}
function zoomRows(factor, y) {
  const at = y === undefined ? height / 2 : y;
  const row = (view.top + at) / view.row;
  view.row = Math.min(Math.max(view.row * factor, ROW_MIN), ROW_MAX);
  view.top = row * view.row - at;
  keepInside();
  schedule();
}
function move(dx, dy) {
  const ns = dx / width * (view.t1 - view.t0);
  view.t0 -= ns;
  view.t1 -= ns;
  view.top -= dy;
  keepInside();
  schedule();
}

/* --- timeline: drawing --- */

/* Adds one stretch of time, in pixels, to what each pixel holds of it. */
function cover(line, from, to) {
  const first = Math.floor(from), last = Math.floor(to);
  if (first === last) {
    line[first] += to - from;
    return;
  }
  line[first] += first + 1 - from;
  for (let x = first + 1; x < last; x++) line[x] += 1;
  if (last < line.length) line[last] += to - last;
}
/* Marks whole pixels, at least `least` of them. */
function mark(line, from, to, least, value) {
  const first = Math.floor(from);
  const last = Math.min(line.length, Math.max(Math.ceil(to), first + least));
  for (let x = first; x < last; x++) if (line[x] < value) line[x] = value;
}
const CHOSEN_COMPUTING = 1, CHOSEN = 2, CHOSEN_WAITING = 3, FAILED = 4, PENDING = 5,
  OPEN = 6;

/* A bar that is open at its end: it had none. */
function markOpen(line, from, to) {
  mark(line, from, to, 2, PENDING);
  const last = Math.min(line.length, Math.ceil(to));
  for (let x = Math.max(Math.floor(from), last - 16); x < last; x++)
    if ((last - x) % 4 < 2) line[x] = OPEN;
}

/* One row of pixels for a thread: shares of waiting and of the rest of
 * communicating, and marks. */
function fillRow(thread, waiting, rest, marks, line, scale) {
  const columns = line.length;
  const t0 = view.t0, chosen = view.chosen;
  const clip = (ns) => Math.min(columns, Math.max(0, (ns - t0) * scale));
  waiting.fill(0);
  rest.fill(0);
  marks.fill(0);
  let i = firstBeyond(thread, t0);
  if (chosen && i > thread.first) i--; /* its gap may reach into view */
  for (; i < thread.last && operations.start[i] < view.t1; i++) {
    const from = clip(operations.start[i]), to = clip(operations.end[i]);
    const released = clip(operations.released[i]);
    if (operations.end[i] > t0 && from < columns) {
      cover(waiting, from, released);
      if (released < columns) cover(rest, released, to);
    }
    if (operations.step[i] === chosen) {
      if (operations.end[i] > t0) mark(marks, from, to, 2, CHOSEN);
      if (released > from) mark(marks, from, released, 1, CHOSEN_WAITING);
      if (i + 1 < thread.last)
        mark(marks, to, clip(operations.start[i + 1]), 0, CHOSEN_COMPUTING);
    }
    if (operations.status[i] && failed(i) && operations.end[i] > t0)
      mark(marks, from, to, 2, FAILED);
  }
  const pending = thread.pending;
  if (pending && pending.verb) markOpen(marks, clip(pending.startNs), clip(pending.endNs));
  const last = pending ? pending.endNs : thread.endNs;
  const known = thread.operations || pending;
  const begin = Math.floor(clip(thread.operations || !pending ? thread.startNs : pending.startNs));
  const end = known ? Math.max(Math.ceil(clip(last)), begin) : 0;
  const idle = pack(colours.idle);
  const marked = [0, pack(colours['chosen-computing']), pack(colours.chosen),
    pack(colours['chosen-waiting']),
    pack(colours.failed), pack(colours.pending), idle];
  for (let x = 0; x < columns; x++) {
    if (marks[x]) line[x] = marked[marks[x]];
    else if (x < begin || x >= end) line[x] = idle;
    else {
      const w = Math.round(Math.min(1, waiting[x]) * SHADES);
      const r = Math.min(SHADES - w, Math.round(rest[x] * SHADES));
      line[x] = colours.shades[w * (SHADES + 1) + r];
    }
  }
}

function drawBars(ratio) {
  const columns = Math.round(width * ratio), lines = Math.round(height * ratio);
  const image = context.createImageData(columns, lines);
  const pixel = new Uint32Array(image.data.buffer);
  pixel.fill(pack(colours.idle)); /* the gaps between the rows too */
  const waiting = new Float32Array(columns), rest = new Float32Array(columns);
  const marks = new Uint8Array(columns);
  const line = new Uint32Array(columns);
  const scale = columns / (view.t1 - view.t0);
  const row = view.row * ratio, top = view.top * ratio;
  const gap = row >= 5 ? Math.max(1, Math.round(row * 0.14)) : 0;
  const first = Math.floor(top / row);
  for (let r = first; r < order.length && r * row - top < lines; r++) {
    const from = Math.max(0, Math.round(r * row - top));
    const to = Math.min(lines, Math.round((r + 1) * row - top) - gap);
    if (to <= from) continue;
    fillRow(run.threads[order[r]], waiting, rest, marks, line, scale);
    for (let y = from; y < to; y++) pixel.set(line, y * columns);
  }
  context.putImageData(image, Math.round(GUTTER * ratio), 0);
}

function clipped(text, room) {
  if (context.measureText(text).width <= room) return text;
  while (text.length > 1 && context.measureText(text + '\u2026').width > room)
    text = text.slice(0, -1);
  return text + '\u2026';
}

/* The processes: a stripe and a name for each run of rows of one process. */
function drawProcesses() {
  context.textBaseline = 'middle';
  const names = view.row >= 11;
  const room = names ? 62 : GUTTER - 22;
  for (let r = 0, runs = 0; r < order.length; runs++) {
    const process = run.threads[order[r]].process;
    const from = r;
    while (r < order.length && run.threads[order[r]].process === process) r++;
    const y0 = Math.max(0, from * view.row - view.top);
    const y1 = Math.min(height, r * view.row - view.top);
    if (y1 <= y0) continue;
    const about = run.processes[process] || NO_PROCESS;
    const ill = about.state !== 'finished';
    context.fillStyle = ill ? css('failed') : css(runs % 2 ? 'stripe' : 'stripe-other');
    context.fillRect(GUTTER - 8, y0, 5, Math.max(1, y1 - y0 - (y1 - y0 > 6 ? 1 : 0)));
    if (y1 - y0 < 11) continue;
    context.textAlign = 'left';
    context.font = '600 12px system-ui, sans-serif';
    context.fillStyle = ill ? css('failed') : css('text');
    context.fillText(clipped(about.name, room), 2, (y0 + y1) / 2);
    if (ill && y1 - y0 >= 26) {
      context.font = '11px system-ui, sans-serif';
      context.fillText(clipped(about.state, room), 2, (y0 + y1) / 2 + 13);
    }
  }
  if (names) drawThreadNames();
}
function drawThreadNames() {
  context.font = '11px system-ui, sans-serif';
  context.textAlign = 'right';
  context.fillStyle = css('quiet');
  for (let r = Math.floor(view.top / view.row); r < order.length; r++) {
    const y = (r + 0.5) * view.row - view.top;
    if (y > height) break;
    if (y > 5)
      context.fillText(clipped(run.threads[order[r]].name, 70), GUTTER - 13, y);
  }
}

function drawAxis() {
  const span = view.t1 - view.t0;
  const unit = span > 2e9 ? [1e9, 's'] : span > 2e4 ? [1e6, 'ms'] : [1e3, '\u00b5s'];
  const scale = d3.scaleLinear().domain([view.t0 / unit[0], view.t1 / unit[0]])
    .range([GUTTER, GUTTER + width]);
  const ticks = Math.max(2, Math.floor(width / 110));
  const text = scale.tickFormat(ticks, ',f');
  context.font = '11px system-ui, sans-serif';
  context.textAlign = 'center';
  context.textBaseline = 'top';
  context.fillStyle = css('quiet');
  context.fillRect(GUTTER, height, width, 1);
  for (const tick of scale.ticks(ticks)) {
    const x = Math.round(scale(tick));
    context.fillRect(x, height, 1, 5);
    const label = text(tick) + ' ' + unit[1];
    const half = context.measureText(label).width / 2;
    context.fillText(label, Math.min(x, GUTTER + width + RIGHT - half), height + 8);
  }
  context.textAlign = 'left';
  context.fillText('time', 2, height + 8);
}

function drawScrollbar() {
  if (rowsHeight() <= height + 1) return;
  const long = Math.max(16, height * height / rowsHeight());
  const y = view.top / (rowsHeight() - height) * (height - long);
  context.fillStyle = css('line');
  context.fillRect(GUTTER + width + 4, 0, 7, height);
  context.fillStyle = css('stripe');
  context.fillRect(GUTTER + width + 4, y, 7, long);
}

let scheduled = 0;
function draw() {
  scheduled = 0;
  const ratio = canvas.width / (width + GUTTER + RIGHT);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  drawBars(ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawProcesses();
  drawAxis();
  drawScrollbar();
  id('range').textContent = `${moment(view.t0)} \u2013 ${moment(view.t1)} ` +
    `(${duration(view.t1 - view.t0)})`;
}
function schedule() {
  if (!scheduled) scheduled = requestAnimationFrame(draw);
}

/* --- timeline: what is under the pointer --- */

/* The operation at a point, else the gap; null where there is neither. An
 * operation narrower than a pixel is found from a pixel beside it. */
function at(x, y) {
  const row = Math.floor((y + view.top) / view.row);
  if (x < GUTTER || x > GUTTER + width || y < 0 || y >= height ||
      row < 0 || row >= order.length) return null;
  const number = order[row], thread = run.threads[number];
  const ns = nsAt(x), near = (view.t1 - view.t0) / width * 1.5;
  const found = {number, thread, ns, operation: -1, step: 0};
  let best = near;
  let before = -1;
  for (let i = firstBeyond(thread, ns - near); i < thread.last; i++) {
    if (operations.start[i] > ns + near) break;
    const distance = Math.max(operations.start[i] - ns, ns - operations.end[i], 0);
    if (distance < best) {
      best = distance;
      found.operation = i;
    }
  }
  if (found.operation >= 0) {
    found.step = operations.step[found.operation];
    return found;
  }
  const pending = thread.pending;
  if (pending && pending.verb && ns >= pending.startNs && ns <= pending.endNs) {
    found.pending = pending;
    return found;
  }
  before = firstBeyond(thread, ns) - 1;
  if (before < thread.first || before + 1 >= thread.last) return null;
  found.step = operations.step[before];
  found.gap = [operations.reach[before], operations.start[before + 1]];
  return found;
}

function describePending(found) {
  const row = found.pending;
  const lines = [['since', moment(row.startNs)], ['for', duration(row.for_ns)],
    ['at', row.stage]];
  if (row.waits_for) lines.push(['waits for', row.waits_for]);
  return {who: `${found.thread.name} on ${processOf(found.thread).name}`,
    what: pendingText(row), lines};
}

function describe(found) {
  if (found.pending) return describePending(found);
  const i = found.operation;
  const lines = [];
  const [start, end] = i < 0 ? found.gap : [operations.start[i], operations.end[i]];
  const what = i < 0 ? 'computing' : operationText(i);
  lines.push(['step', count(found.step)], ['start', moment(start)], ['end', moment(end)],
    ['duration', duration(end - start)]);
  if (i >= 0) {
    if (operations.waitsFor[i] >= 0)
      lines.push(['waits for', run.threads[operations.waitsFor[i]].name + ', ' +
        duration(operations.released[i] - start)]);
    if (run.waitsKnown)
      lines.push(['transfers', duration(end - operations.released[i])]);
    lines.push(['bytes', count(operations.bytes[i])]);
    if (operations.status[i])
      lines.push(['status', run.statuses[operations.status[i]] || '?']);
  }
  return {who: `${found.thread.name} on ${processOf(found.thread).name}`, what, lines};
}

const tip = id('tip'), hairline = id('hairline');
function point(x, y) {
  const found = at(x, y);
  hairline.hidden = x < GUTTER || x > GUTTER + width || y > height;
  hairline.style.left = x + 'px';
  hairline.style.height = height + 'px';
  tip.hidden = !found;
  if (!found) return;
  const said = describe(found);
  tip.textContent = '';
  const box = d3.select(tip);
  box.append('b').text(said.what);
  box.append('div').text(said.who);
  const line = box.append('table').append('tbody').selectAll('tr').data(said.lines)
    .enter().append('tr');
  line.append('td').text((d) => d[0]);
  line.append('td').text((d) => d[1]);
  const right = x + 16 + tip.offsetWidth < canvas.clientWidth;
  tip.style.left = (right ? x + 16 : Math.max(0, x - 16 - tip.offsetWidth)) + 'px';
  tip.style.top = Math.max(0, Math.min(y + 12, height + AXIS - tip.offsetHeight)) + 'px';
}
function pointAway() {
  tip.hidden = hairline.hidden = true;
}

/* --- timeline: choosing a step --- */

const stepField = id('step'), stepSlider = id('step-slider');
stepField.max = stepSlider.max = run.lastStep;

function selectStep(step) {
  view.chosen = Math.min(run.lastStep, Math.max(0, Math.round(step) || 0));
  stepField.value = view.chosen || '';
  stepSlider.value = view.chosen;
  id('said').textContent = view.chosen ? stepSpread() : 'No step is chosen.';
  schedule();
}
/* How far the threads are apart in the chosen step. */
function stepSpread() {
  let first = Infinity, last = -Infinity, threads = 0;
  for (const thread of run.threads) {
    let begun = false;
    for (let i = thread.first; i < thread.last; i++) {
      if (operations.step[i] !== view.chosen) continue;
      if (!begun) first = Math.min(first, operations.start[i]);
      last = Math.max(last, operations.end[i]);
      begun = true;
    }
    threads += begun;
  }
  return `Step ${count(view.chosen)}: ${plural(threads, 'thread')}, ` +
    `from ${moment(first)} to ${moment(last)}.`;
}

function orderRows(by) {
  const keys = {
    number: (t) => t,
    process: (t) => run.threads[t].process,
    end: (t) => run.threads[t].endNs,
  };
  order = d3.range(run.threads.length)
    .sort((a, b) => keys[by](a) - keys[by](b) || a - b);
  rowOfThread = [];
  order.forEach((t, row) => { rowOfThread[t] = row; });
  schedule();
}

function showThread(number) {
  view.row = Math.max(view.row, 14);
  view.top = rowOfThread[number] * view.row - height / 2;
  keepInside();
  schedule();
  canvas.scrollIntoView({block: 'nearest'});
  canvas.focus({preventScroll: true});
}

/* --- timeline: wheel, pointer, keys --- */

function place(event) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

canvas.addEventListener('wheel', (event) => {
  event.preventDefault();
  const unit = event.deltaMode === 1 ? 24 : event.deltaMode === 2 ? height : 1;
  const dy = event.deltaY * unit, dx = event.deltaX * unit;
  const [x, y] = place(event);
  if (event.shiftKey) move(0, -(dy || dx));
  else if (event.altKey) zoomRows(Math.pow(2, -dy / 400), y);
  else {
    if (Math.abs(dx) > Math.abs(dy)) move(-dx, 0);
    else zoomTime(Math.pow(2, dy / 300), x);
  }
  point(x, y);
}, {passive: false});

/* Two pointers (fingers) zoom; one moves, or chooses when it did not move. */
const pointers = new Map();
let moved = 0, pinch = 0;
canvas.addEventListener('pointerdown', (event) => {
  if (event.button !== 0) return;
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, place(event));
  moved = 0;
  pinch = 0;
});
canvas.addEventListener('pointermove', (event) => {
  const [x, y] = place(event);
  const last = pointers.get(event.pointerId);
  if (!last) {
    point(x, y);
    return;
  }
  pointers.set(event.pointerId, [x, y]);
  moved += Math.abs(x - last[0]) + Math.abs(y - last[1]);
  if (pointers.size === 2) {
    const [a, b] = [...pointers.values()];
    const apart = Math.max(10, Math.abs(a[0] - b[0]));
    if (pinch) zoomTime(pinch / apart, (a[0] + b[0]) / 2);
    pinch = apart;
    moved = 100;
  } else if (moved > 3) {
    canvas.classList.add('moving');
    pointAway();
    move(x - last[0], y - last[1]);
  }
});
function release(event) {
  if (!pointers.delete(event.pointerId)) return;
  canvas.classList.remove('moving');
  const [x, y] = place(event);
  if (moved > 3 || event.type !== 'pointerup') return;
  const found = at(x, y);
  if (found) selectStep(found.step === view.chosen ? 0 : found.step);
}
canvas.addEventListener('pointerup', release);
canvas.addEventListener('pointercancel', release);
canvas.addEventListener('pointerleave', pointAway);

canvas.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey) return;
  const rows = event.altKey;
  const keys = {
    ArrowLeft: () => move(width / 8, 0),
    ArrowRight: () => move(-width / 8, 0),
    ArrowUp: () => move(0, Math.max(view.row, height / 8)),
    ArrowDown: () => move(0, -Math.max(view.row, height / 8)),
    PageUp: () => move(0, height * 0.9),
    PageDown: () => move(0, -height * 0.9),
    '+': () => rows ? zoomRows(1.4) : zoomTime(1 / 1.5),
    '=': () => rows ? zoomRows(1.4) : zoomTime(1 / 1.5),
    '-': () => rows ? zoomRows(1 / 1.4) : zoomTime(1.5),
    '[': () => selectStep(Math.max(1, view.chosen - 1)),
    ']': () => selectStep(view.chosen + 1),
    Home: reset,
    Escape: () => selectStep(0),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

function onClick(name, action) {
  id(name).addEventListener('click', action);
}
onClick('step-back', () => selectStep(Math.max(1, view.chosen - 1)));
onClick('step-on', () => selectStep(view.chosen + 1));
onClick('step-clear', () => selectStep(0));
onClick('time-in', () => zoomTime(1 / 1.5));
onClick('time-out', () => zoomTime(1.5));
onClick('rows-in', () => zoomRows(1.4));
onClick('rows-out', () => zoomRows(1 / 1.4));
onClick('reset', reset);
stepField.addEventListener('change', () => selectStep(+stepField.value));
stepSlider.addEventListener('input', () => selectStep(+stepSlider.value));
id('order').addEventListener('change', (event) => orderRows(event.target.value));
window.addEventListener('resize', () => {
  const row = view.row;
  measure();
  view.row = row;
  keepInside();
  schedule();
});
const dark = window.matchMedia('(prefers-color-scheme: dark)');
dark.addEventListener('change', () => { takeColours(); schedule(); });
