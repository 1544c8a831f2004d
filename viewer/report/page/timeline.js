/* timeline.js - one bar per thread: drawing it, moving it, choosing a step.
 *
 * Each frame adds up, row by row, how much of each pixel column's time was
 * spent waiting, transferring and so on, and paints the column as a stack of
 * these parts: 265,000 operations on the screen cost as many additions, not as
 * many rectangles, and no colour is a mixture. What is out of sight is skipped
 * by bisection. */

/* --- timeline: what is shown --- */

const canvas = id('bars');
const context = canvas.getContext('2d');
const AXIS = 26, GUTTER = 148, RIGHT = 14, ROW_MIN = 1, ROW_MAX = 64;
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

/* What a column of a row can hold, from the bottom to the top. */
const PARTS = ['waiting', 'chosen-waiting', 'rest', 'chosen', 'failed', 'runnable',
  'sleeping', 'computing', 'chosen-computing', 'pending', 'idle'];
const [WAITING, CHOSEN_WAITING, REST, CHOSEN, FAILED, RUNNABLE, SLEEPING, COMPUTING,
  CHOSEN_COMPUTING, PENDING, IDLE] = PARTS.keys();
const pack = ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

function takeColours() {
  colours = {};
  for (const name of ['waiting', 'transferring', 'communicating', 'computing', 'runnable',
    'sleeping', 'idle',
    'chosen', 'chosen-waiting', 'chosen-computing', 'failed', 'pending', 'stripe',
    'stripe-other', 'text', 'quiet', 'line'])
    colours[name] = pixels(name);
  /* What an operation is while it does not wait, as far as that is known. */
  colours.rest = colours[run.waitsKnown ? 'transferring' : 'communicating'];
  colours.packed = Uint32Array.from(PARTS, (name) => pack(colours[name]));
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

/* Gives the best height of a row: few rows are higher, many shrink to fit, but
 * not below one pixel. */
function measure() {
  room = Math.max(200, window.innerHeight * 0.72) - AXIS;
  width = Math.max(50, Math.round(canvas.parentNode.clientWidth) - GUTTER - RIGHT);
  canvas.width = Math.round((width + GUTTER + RIGHT) * ratioOf());
  const rows = Math.max(1, order.length);
  const most = Math.max(26, Math.min(60, 240 / rows)) + 5 * regions.levels;
  return Math.max(ROW_MIN, Math.min(room / rows, most));
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

/* The columns of one row: of each the amounts of its parts, 1 being all of its
 * time, and which parts must not be overlooked (a bit each). */
function columnsOf(count) {
  return {count, amounts: new Float32Array(count * PARTS.length),
    noticed: new Uint16Array(count)};
}

/* Adds one stretch of time, in pixels, or a share of it, to a part of each
 * column. */
function cover(columns, part, from, to, share = 1) {
  const {count, amounts} = columns;
  const first = Math.floor(from), last = Math.floor(to);
  let at = first * PARTS.length + part;
  if (first === last) {
    if (first < count) amounts[at] += (to - from) * share;
    return;
  }
  amounts[at] += (first + 1 - from) * share;
  for (let x = first + 1; x < last; x++) amounts[at += PARTS.length] += share;
  if (last < count) amounts[at + PARTS.length] += (to - last) * share;
}
/* The same for what has to be seen however short it is: in two columns. */
function coverNoticed(columns, part, from, to) {
  cover(columns, part, from, to);
  const first = Math.floor(from);
  const last = Math.min(columns.count, Math.max(Math.ceil(to), first + 2));
  for (let x = first; x < last; x++) columns.noticed[x] |= 1 << part;
}

function addOperation(columns, i, from, released, to) {
  if (operations.status[i] && failed(i)) {
    coverNoticed(columns, FAILED, from, to);
  } else if (operations.step[i] === view.chosen && view.chosen) {
    if (released > from) cover(columns, CHOSEN_WAITING, from, released);
    coverNoticed(columns, CHOSEN, released, to);
  } else {
    if (released > from) cover(columns, WAITING, from, released);
    cover(columns, REST, released, to);
  }
}

/* A bar that is open at its end, since the operation had none. */
function addOpen(columns, from, to) {
  coverNoticed(columns, PENDING, from, to);
  const last = Math.min(columns.count, Math.ceil(to));
  for (let x = Math.max(Math.floor(from), last - 16); x < last; x++)
    if ((last - x) % 4 < 2) {
      columns.amounts[x * PARTS.length + IDLE] = 1;
      columns.amounts[x * PARTS.length + PENDING] = columns.noticed[x] = 0;
    }
}

/* The gap before operation i of a thread (thread.last: after all of them): its
 * times, and how long the thread was off the processor. */
function gapBefore(thread, i) {
  const from = i > thread.first ? operations.reach[i - 1] : thread.startNs;
  if (i < thread.last)
    return {from, to: operations.start[i], runnable: operations.runnable[i],
      sleeping: operations.sleeping[i]};
  return {from, to: thread.endNs, runnable: thread.runnableAfterNs,
    sleeping: thread.sleepingAfterNs};
}

/* What of a gap was off the processor: as a share of all of it, since a gap may
 * have many such times. */
function addGap(thread, i, columns, clip) {
  const gap = gapBefore(thread, i), from = clip(gap.from), to = clip(gap.to);
  if (to <= from) return;
  const long = gap.to - gap.from;
  if (gap.runnable) cover(columns, RUNNABLE, from, to, gap.runnable / long);
  if (gap.sleeping) cover(columns, SLEEPING, from, to, gap.sleeping / long);
}

function addThread(thread, columns, scale) {
  const t0 = view.t0, chosen = view.chosen;
  const clip = (ns) => Math.min(columns.count, Math.max(0, (ns - t0) * scale));
  columns.amounts.fill(0);
  columns.noticed.fill(0);
  let i = firstBeyond(thread, t0);
  if (chosen && i > thread.first) i--; /* its gap may reach into view */
  for (; i < thread.last && operations.start[i] < view.t1; i++) {
    const to = clip(operations.end[i]);
    addGap(thread, i, columns, clip);
    if (operations.end[i] > t0)
      addOperation(columns, i, clip(operations.start[i]), clip(operations.released[i]), to);
    if (chosen && operations.step[i] === chosen && i + 1 < thread.last) {
      const next = clip(operations.start[i + 1]);
      if (next > to) cover(columns, CHOSEN_COMPUTING, to, next);
    }
  }
  addGap(thread, i, columns, clip);
  const pending = thread.pending;
  if (thread.operations || pending) {
    const begin = thread.operations ? thread.startNs : pending.startNs;
    const end = pending ? pending.endNs : thread.endNs;
    cover(columns, IDLE, 0, clip(begin));
    if (end < view.t1) cover(columns, IDLE, clip(end), columns.count);
  } else {
    cover(columns, IDLE, 0, columns.count);
  }
  if (pending && pending.verb) addOpen(columns, clip(pending.startNs), clip(pending.endNs));
}

/* --- timeline: the stack of a column --- */

const TALL = 10; /* lines of a row in which each part can have one of its own */
const NOTICED = 1 / 3; /* of a row, for what must not be overlooked */
const NOTHING = 1 / 1024; /* of a column: what rounding may leave */
/* Which point of its height a line stands for. In lower rows it moves from
 * column to column, by the golden ratio, so that the shares are right over some
 * columns. */
const pointOf = (x, lines) => lines >= TALL ? 0.5 : (x * 0.618034) % 1;

/* Makes shares of the amounts of column x: operations that overlap do not count
 * twice, and what is left is computing. */
function takeShares(columns, x, shares) {
  const at = x * PARTS.length;
  let left = 1;
  for (let p = 0; p < PARTS.length; p++) {
    shares[p] = Math.min(columns.amounts[at + p], left);
    left -= shares[p];
  }
  shares[COMPUTING] = left > NOTHING ? left : 0;
  if (shares[IDLE] < NOTHING) shares[IDLE] = 0;
}

/* Raises what is there to the least that can be seen; the others give way in
 * proportion. */
function raiseShares(noticed, lines, shares) {
  const line = lines >= TALL ? 1 / lines : 0;
  let raised = 0, others = 0, fixed = 0;
  for (let p = 0; p < PARTS.length; p++) {
    const least = noticed >> p & 1 ? NOTICED : shares[p] > 0 ? line : 0;
    if (shares[p] < least) {
      shares[p] = least;
      raised += least;
      fixed |= 1 << p;
    } else others += shares[p];
  }
  if (!fixed) return;
  for (let p = 0; p < PARTS.length; p++)
    if (!(fixed >> p & 1)) shares[p] *= (1 - raised) / others;
}

/* Paints the rows' lines `from` to `to`: the lowest is the bottom of a stack. */
function paintRow(columns, pixel, from, to, shares) {
  const lines = to - from, {packed} = colours;
  for (let x = 0; x < columns.count; x++) {
    takeShares(columns, x, shares);
    raiseShares(columns.noticed[x], lines, shares);
    const point = pointOf(x, lines);
    let part = 0, until = shares[0] * lines;
    for (let k = 0; k < lines; k++) {
      while (k + point >= until && part < IDLE) until += shares[++part] * lines;
      pixel[(to - 1 - k) * columns.count + x] = packed[part];
    }
  }
}

/* Between two rows. */
const gapOf = (row) => row >= 5 ? Math.max(1, Math.round(row * 0.14)) : 0;

function drawBars(ratio) {
  const lines = Math.round(height * ratio);
  const columns = columnsOf(Math.round(width * ratio));
  const image = context.createImageData(columns.count, lines);
  const pixel = new Uint32Array(image.data.buffer);
  pixel.fill(pack(colours.idle)); /* the gaps between the rows too */
  const shares = new Float64Array(PARTS.length);
  const scale = columns.count / (view.t1 - view.t0);
  const row = view.row * ratio, top = view.top * ratio;
  const gap = gapOf(row);
  const bands = Math.round(bandsOf(view.row) * ratio);
  const names = new Int32Array(columns.count);
  const first = Math.floor(top / row);
  for (let r = first; r < order.length && r * row - top < lines; r++) {
    const thread = run.threads[order[r]];
    const end = Math.round((r + 1) * row - top) - gap;
    const from = Math.max(0, Math.round(r * row - top));
    const to = Math.min(lines, end), below = Math.min(to, bands ? end - bands - 1 : end);
    if (below > from) {
      addThread(thread, columns, scale);
      paintRow(columns, pixel, from, below, shares);
    }
    if (bands)
      paintBands(thread, view.t0, scale, pixel, names, [end - bands, end], [from, to]);
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

/* The time in a region at a point of a band; else the operation there, else the
 * gap; null where there is none of these. An operation narrower than a pixel is
 * found from a pixel beside it. */
function at(x, y) {
  const row = Math.floor((y + view.top) / view.row);
  if (x < GUTTER || x > GUTTER + width || y < 0 || y >= height ||
      row < 0 || row >= order.length) return null;
  const number = order[row], thread = run.threads[number];
  const ns = nsAt(x), near = (view.t1 - view.t0) / width * 1.5;
  const found = {number, thread, ns, operation: -1, step: 0};
  const level = levelAt(y + view.top - row * view.row, view.row);
  if (level >= 0) {
    found.region = regionsAt(thread, ns).find(({depth}) => depth === level);
    return found.region ? found : null;
  }
  let best = near;
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
  const next = firstBeyond(thread, ns), gap = gapBefore(thread, next);
  if (!thread.operations || ns < gap.from || ns > gap.to) return null;
  found.step = operations.step[Math.max(thread.first, next - 1)];
  found.gap = gap;
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

function describeRegion(found) {
  const {i, depth} = found.region;
  const outer = regionsAt(found.thread, found.ns).filter((other) => other.depth < depth);
  const lines = [['start', moment(regions.start[i])], ['end', moment(regions.end[i])],
    ['duration', duration(regions.end[i] - regions.start[i])]];
  if (outer.length) lines.push(['within', namesOf(outer)]);
  return {who: `${found.thread.name} on ${processOf(found.thread).name}`,
    what: regions.names[regions.name[i]], lines};
}
const namesOf = (found) => found.map(({i}) => regions.names[regions.name[i]]).join(' \u203a ');

function describe(found) {
  if (found.pending) return describePending(found);
  if (found.region) return describeRegion(found);
  const i = found.operation;
  const lines = [];
  const [start, end] = i < 0 ? [found.gap.from, found.gap.to]
    : [operations.start[i], operations.end[i]];
  const what = i < 0 ? 'computing' : operationText(i);
  lines.push(['step', count(found.step)], ['start', moment(start)], ['end', moment(end)],
    ['duration', duration(end - start)]);
  if (i < 0) {
    if (found.gap.runnable) lines.push(['runnable', duration(found.gap.runnable)]);
    if (found.gap.sleeping) lines.push(['sleeping', duration(found.gap.sleeping)]);
  } else {
    if (operations.waitsFor[i] >= 0)
      lines.push(['waits for', run.threads[operations.waitsFor[i]].name + ', ' +
        duration(operations.released[i] - start)]);
    if (run.waitsKnown)
      lines.push(['transfers, wakes up', duration(end - operations.released[i])]);
    lines.push(['bytes', count(operations.bytes[i])]);
    if (operations.status[i])
      lines.push(['status', run.statuses[operations.status[i]] || '?']);
  }
  const within = regionsAt(found.thread, found.ns);
  if (within.length) lines.push(['region', namesOf(within)]);
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
  if (found && !found.region) selectStep(found.step === view.chosen ? 0 : found.step);
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
