/* timeline.js - one bar for each row of threads: drawing it, moving it, choosing
 * a step. What a bar shows is in bars.js, what is over it in arrows.js. */

/* --- timeline: what is shown --- */

const canvas = id('bars');
const context = canvas.getContext('2d');
const AXIS = 26, GUTTER = 148, RIGHT = 14, ROW_MIN = 1, ROW_MAX = 64;
const LEAST_SPAN = 1000; /* ns over the whole width */
const extent = [run.startNs, Math.max(run.endNs, run.startNs + LEAST_SPAN)];
const view = {t0: 0, t1: 1, top: 0, row: 10, chosen: 0};
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
  for (const name of ['waiting', 'transferring', 'communicating', 'computing', 'runnable',
    'sleeping', 'idle',
    'chosen', 'chosen-waiting', 'chosen-computing', 'failed', 'pending', 'stripe',
    'stripe-other', 'text', 'quiet', 'line', 'page', 'accent', 'arrow', 'critical', 'front'])
    colours[name] = pixels(name);
  /* What an operation is while it does not wait, as far as that is known. */
  colours.rest = colours[run.waitsKnown ? 'transferring' : 'communicating'];
  colours.packed = Uint32Array.from(PARTS, (name) => pack(colours[name]));
}
const css = (name) => `rgb(${colours[name].join(',')})`;

const rowsHeight = () => rows.length * view.row;
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
  const count = Math.max(1, rows.length);
  const most = Math.max(26, Math.min(60, 240 / count)) + 5 * regions.levels;
  return Math.max(ROW_MIN, Math.min(room / count, most));
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

/* What the page does not have operation by operation. */
if (inBins) {
  const all = d3.sum(run.threads, (t) => t.operations);
  id('bins').hidden = false;
  id('bins').textContent = `${count(inBins)} of ${plural(all, 'operation')} are here as sums ` +
    `only, each of ${duration(bins[0].width)} of a thread; the others are in the parts that the ` +
    'blue marks at the axis show: the beginning, the end, the longest operation, and where ' +
    'there was most waiting. For all of them: eventspace report --full, or --from and --to.';
}

/* --- timeline: drawing --- */

/* Between two rows. */
const gapOf = (row) => row >= 5 ? Math.max(row >= 14 ? RIBBON : 1, Math.round(row * 0.14)) : 0;

/* Room for the bars: of some megabytes, hence kept from frame to frame. */
let image = null;
function imageOf(wide, high) {
  if (!image || image.width !== wide || image.height !== high)
    image = context.createImageData(wide, high);
  return image;
}

function drawBars(ratio) {
  const lines = Math.round(height * ratio);
  const columns = columnsOf(Math.round(width * ratio), view.t0, view.t1);
  const one = columnsOf(columns.count, view.t0, view.t1);
  const pixel = new Uint32Array(imageOf(columns.count, lines).data.buffer);
  pixel.fill(pack(colours.idle)); /* the gaps between the rows too */
  const shares = new Float64Array(PARTS.length);
  const row = view.row * ratio, top = view.top * ratio;
  const gap = gapOf(row);
  const bands = Math.round(bandsOf(view.row) * ratio);
  const names = new Int32Array(columns.count);
  const first = Math.floor(top / row);
  for (let r = first; r < rows.length && r * row - top < lines; r++) {
    const {threads} = rows[r], alone = bands && threads.length === 1;
    const end = Math.round((r + 1) * row - top) - gap;
    const from = Math.max(0, Math.round(r * row - top));
    const to = Math.min(lines, end), below = Math.min(to, alone ? end - bands - 1 : end);
    if (below > from) {
      addRow(rows[r], columns, one, shares);
      paintRow(columns, pixel, from, below, shares);
      if (shown.critical) drawRibbon(columns, r, ratio);
    }
    if (alone)
      paintBands(run.threads[threads[0]], view.t0, columns.scale, pixel, names,
        [end - bands, end], [from, to]);
  }
  context.putImageData(image, Math.round(GUTTER * ratio), 0);
}

function clipped(text, room) {
  if (context.measureText(text).width <= room) return text;
  while (text.length > 1 && context.measureText(text + '\u2026').width > room)
    text = text.slice(0, -1);
  return text + '\u2026';
}

/* The process of all threads of a row; -1: they are of several. */
function processOfRow({threads}) {
  const {process} = run.threads[threads[0]];
  return threads.every((t) => run.threads[t].process === process) ? process : -1;
}

/* The processes: a stripe and a name for each run of rows of one process. */
function drawProcesses() {
  context.textBaseline = 'middle';
  const names = view.row >= 11;
  const room = names ? 50 : GUTTER - 22;
  for (let r = 0, runs = 0; r < rows.length; runs++) {
    const process = processOfRow(rows[r]);
    const from = r;
    while (r < rows.length && processOfRow(rows[r]) === process) r++;
    const y0 = Math.max(0, from * view.row - view.top);
    const y1 = Math.min(height, r * view.row - view.top);
    if (y1 <= y0) continue;
    const about = run.processes[process] || NO_PROCESS;
    const ill = isIll(about);
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
  if (names) drawRowNames();
}
/* A folded row begins with a sign that tells whether it is unfolded. */
function rowName({folded, key, name, threads, kind}) {
  if (!folded) return run.threads[threads[0]].name;
  const sign = folding.open.has(key) ? '\u25be ' : '\u25b8 ';
  return sign + (kind === 'process' ? plural(threads.length, 'thread') : name);
}
function drawRowNames() {
  context.font = '11px system-ui, sans-serif';
  context.textAlign = 'right';
  context.fillStyle = css('quiet');
  for (let r = Math.floor(view.top / view.row); r < rows.length; r++) {
    const y = (r + 0.5) * view.row - view.top;
    if (y > height) break;
    context.fillStyle = css(r === current ? 'text' : 'quiet');
    if (y > 5) context.fillText(clipped(rowName(rows[r]), 82), GUTTER - 13, y);
    if (r === current) context.fillRect(GUTTER - 3, y - view.row / 2, 2, view.row);
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

/* Below the axis: where every operation is told. */
function drawTold(ratio) {
  if (!bins) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = css('accent');
  for (const [from, to] of parts) {
    const x0 = Math.max(GUTTER, xOf(from)), x1 = Math.min(GUTTER + width, xOf(to));
    if (x1 > x0) context.fillRect(x0, height + 1, Math.max(2, x1 - x0), 3);
  }
}

let scheduled = 0;
function draw() {
  scheduled = 0;
  const ratio = canvas.width / (width + GUTTER + RIGHT);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, canvas.width, canvas.height);
  clearOver(ratio);
  drawBars(ratio);
  drawTold(ratio);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawProcesses();
  drawAxis();
  drawScrollbar();
  drawOver();
  id('range').textContent = `${moment(view.t0)} \u2013 ${moment(view.t1)} ` +
    `(${duration(view.t1 - view.t0)})`;
}
function schedule() {
  if (!scheduled) scheduled = requestAnimationFrame(draw);
}

/* --- timeline: what is under the pointer --- */

/* How much of a time some threads were in each state, and how many operations
 * began in it, if these are not told. */
function sumsOf(row, t0, t1) {
  const columns = columnsOf(1, t0, t1), one = columnsOf(1, t0, t1);
  const shares = new Float64Array(PARTS.length);
  addRow(row, columns, one, shares);
  takeShares(columns, 0, shares);
  return {t0, t1, shares, critical: columns.critical[0]};
}

/* The bin of a thread at a time. */
function binAt(number, ns) {
  const level = bins[0], k = Math.floor((ns - level.start) / level.width);
  if (k < 0 || k >= level.count) return null;
  const t0 = level.start + k * level.width, i = number * level.count + k;
  return {...sumsOf({threads: [number]}, t0, t0 + level.width), operations: level.of.operations[i],
    longest: level.of.longest[i], path: firstPath[number] + level.of.path[i],
    waitsFor: level.of.for[i] - 1};
}

/* The operation at a time, or else -1. One that is narrower than a pixel is
 * found from a pixel beside it. */
function operationAt(thread, ns, near) {
  let best = near, found = -1;
  for (let i = firstBeyond(thread, ns - near); i < thread.last; i++) {
    if (operations.start[i] > ns + near) break;
    const distance = Math.max(operations.start[i] - ns, ns - operations.end[i], 0);
    if (distance < best) {
      best = distance;
      found = i;
    }
  }
  return found;
}

/* The time in a region at a point of a band; else the operation there, else the
 * gap; of a folded row, or where operations are not told, the sums there; null
 * where there is none of these. */
function at(x, y) {
  const r = Math.floor((y + view.top) / view.row);
  if (x < GUTTER || x > GUTTER + width || y < 0 || y >= height ||
      r < 0 || r >= rows.length) return null;
  const {threads} = rows[r], number = threads[0], thread = run.threads[number];
  const ns = nsAt(x), near = (view.t1 - view.t0) / width * 1.5;
  const found = {row: rows[r], number, thread, ns, operation: -1, step: 0};
  if (threads.length > 1) {
    found.sums = sumsOf(rows[r], nsAt(Math.floor(x)), nsAt(Math.floor(x) + 1));
    return found;
  }
  const level = levelAt(y + view.top - r * view.row, view.row);
  if (level >= 0) {
    found.region = regionsAt(thread, ns).find(({depth}) => depth === level);
    return found.region ? found : null;
  }
  const pending = thread.pending;
  if (bins && !isTold(ns)) {
    found.sums = ns >= thread.startNs && ns <= thread.endNs ? binAt(number, ns) : null;
    if (found.sums) return found;
  } else found.operation = operationAt(thread, ns, near);
  if (found.operation >= 0) {
    found.step = operations.step[found.operation];
    return found;
  }
  if (pending && pending.verb && ns >= pending.startNs && ns <= pending.endNs) {
    found.pending = pending;
    return found;
  }
  if (bins && !isTold(ns)) return null;
  const next = firstBeyond(thread, ns), gap = gapBefore(thread, next);
  if (!thread.operations || ns < gap.from || ns > gap.to) return null;
  found.step = next > thread.first ? operations.step[next - 1] : operations.step[next];
  found.gap = gap;
  return found;
}

/* How a part is called. */
const partName = (p) => PARTS[p] === 'rest' ? (run.waitsKnown ? 'transferring' : 'communicating') :
  PARTS[p] === 'idle' ? 'not running' : PARTS[p].replace('chosen-', 'chosen step, ');

/* Sums: of a folded row, or of a bin. */
function describeSums({row, number, sums}) {
  const lines = [['from', moment(sums.t0)], ['to', moment(sums.t1)]];
  for (let p = 0; p < PARTS.length; p++)
    if (sums.shares[p] >= 0.0005) lines.push([partName(p), percent(sums.shares[p])]);
  if (sums.critical > 0.0005) lines.push(['on the critical path', percent(Math.min(1, sums.critical))]);
  if (row.threads.length > 1)
    return {who: row.name, what: plural(row.threads.length, 'thread') + ' together', lines};
  lines.push(['begins', plural(sums.operations, 'operation')]);
  if (sums.operations)
    lines.push(['longest', `${duration(sums.longest)}, ${run.paths[sums.path].name}`]);
  if (sums.waitsFor >= 0) lines.push(['waits for', run.threads[sums.waitsFor].name]);
  return {who: `${run.threads[number].name} on ${processOf(run.threads[number]).name}`,
    what: 'all of ' + duration(sums.t1 - sums.t0), lines};
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
  const {i, depth, summed} = found.region;
  const outer = regionsAt(found.thread, found.ns).filter((other) => other.depth < depth);
  const length = duration(regions.end[i] - regions.start[i]);
  const lines = summed ? [['in all', `${length} of ${duration(regions.stretchNs)}`],
    ['from', moment(stretchOf(regions.start[i]))]] :
    [['start', moment(regions.start[i])], ['end', moment(regions.end[i])], ['duration', length]];
  if (outer.length) lines.push(['within', namesOf(outer)]);
  return {who: `${found.thread.name} on ${processOf(found.thread).name}`,
    what: regions.names[regions.name[i]], lines};
}
/* The begin of the stretch in which a moment is. */
const stretchOf = (ns) => ns - (ns - run.startNs) % regions.stretchNs;
const namesOf = (found) => found.map(({i}) => regions.names[regions.name[i]]).join(' \u203a ');

function describe(found) {
  if (found.pending) return describePending(found);
  if (found.region) return describeRegion(found);
  if (found.sums) return describeSums(found);
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
  const operation = found ? found.operation : -1;
  if (operation !== pointed) {
    pointed = operation;
    schedule();
  }
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
  if (pointed >= 0) schedule();
  pointed = -1;
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
  const k = frontOf(view.chosen);
  if (k < 0)
    return `Step ${count(view.chosen)}: when threads were in it is told of every ` +
      `${count(fronts.every)}th step only.`;
  const there = d3.range(run.threads.length).filter((t) => !isNaN(fronts.start[t][k]));
  const first = d3.min(there, (t) => fronts.start[t][k]);
  const last = d3.max(there, (t) => fronts.end[t][k]);
  return `Step ${count(view.chosen)}: ${plural(there.length, 'thread')}, ` +
    (there.length ? `from ${moment(first)} to ${moment(last)}.` : 'none was in it.');
}

/* Rows have become others. */
function showRows() {
  makeRows();
  view.row = measure();
  keepInside();
  schedule();
  prepare();
}
function orderRows(by) {
  folding.order = by;
  showRows();
}
function foldRows(by) {
  folding.by = by;
  folding.open.clear();
  id('fold').value = by;
  current = -1;
  showRows();
}
/* Rows keep their height where they have become more. */
function unfold(r) {
  if (!toggleRow(r)) return false;
  view.row = Math.max(measure(), Math.min(view.row, 14));
  keepInside();
  schedule();
  id('said').textContent = `${rowName(rows[r]).slice(2)}: ` +
    (folding.open.has(rows[r].key) ? 'unfolded.' : 'folded.');
  return true;
}

let current = -1; /* the row that keys act upon */
function goRow(by) {
  current = Math.max(0, Math.min(rows.length - 1, current + by));
  view.top = Math.min(Math.max(view.top, (current + 1) * view.row - height), current * view.row);
  keepInside();
  schedule();
  id('said').textContent = rowName(rows[current]).replace(/^[\u25b8\u25be] /, '') +
    (rows[current].folded ? `, ${plural(rows[current].threads.length, 'thread')}` : '');
}

function showThread(number) {
  unfoldThread(number);
  measure();
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
  if (y < height && unfold(Math.floor((y + view.top) / view.row))) return;
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
    j: () => goRow(1),
    k: () => goRow(-1),
    Enter: () => unfold(current),
    f: () => foldRows(FOLD_NAMES[(FOLD_NAMES.indexOf(folding.by) + 1) % FOLD_NAMES.length]),
    c: () => toggleShown('critical'),
    a: () => toggleShown('arrows'),
    s: () => toggleShown('fronts'),
    Home: reset,
    Escape: () => selectStep(0),
  };
  if (!keys[event.key]) return;
  event.preventDefault();
  keys[event.key]();
});

const FOLD_NAMES = Object.keys(FOLDS);
id('fold').value = folding.by;
id('fold').addEventListener('change', (event) => foldRows(event.target.value));
function toggleShown(name) {
  shown[name] = id('show-' + name).checked = !shown[name];
  schedule();
}

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
/* At once: paper does not wait for the next frame. */
watchScheme(id('scheme'));
scheme.seen.push(() => { takeColours(); draw(); });
