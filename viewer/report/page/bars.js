/* bars.js - what each pixel column of a row shows, and painting it.
 *
 * Each frame adds up, row by row, how much of each pixel column's time was
 * spent waiting, transferring and so on, and paints the column as a stack of
 * these parts: 265,000 operations on the screen cost as many additions, not as
 * many rectangles, and no colour is a mixture. What is out of sight is skipped
 * by bisection. Where bins are no longer than a column, they are added up
 * instead of operations; and where operations are not told. */

/* What a column of a row can hold, from the bottom to the top. */
const PARTS = ['waiting', 'chosen-waiting', 'rest', 'chosen', 'failed', 'runnable',
  'sleeping', 'computing', 'chosen-computing', 'pending', 'idle'];
const [WAITING, CHOSEN_WAITING, REST, CHOSEN, FAILED, RUNNABLE, SLEEPING, COMPUTING,
  CHOSEN_COMPUTING, PENDING, IDLE] = PARTS.keys();
const PART_OF_BIN = {waiting: WAITING, failed: FAILED, transferring: REST,
  runnable: RUNNABLE, sleeping: SLEEPING};

/* The columns of one row, for the times from t0 to t1: of each the amounts of
 * its parts, 1 being all of its time; which parts must not be overlooked (a bit
 * each); and how much of it was on the critical path. */
function columnsOf(count, t0, t1) {
  return {count, t0, t1, scale: count / (t1 - t0),
    amounts: new Float32Array(count * PARTS.length),
    noticed: new Uint16Array(count), critical: new Float32Array(count)};
}
function clearColumns(columns, from = 0, to = columns.count) {
  columns.amounts.fill(0, from * PARTS.length, to * PARTS.length);
  columns.noticed.fill(0, from, to);
  columns.critical.fill(0, from, to);
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
function coverNoticed(columns, part, from, to, share = 1) {
  cover(columns, part, from, to, share);
  const first = Math.floor(from);
  const last = Math.min(columns.count, Math.max(Math.ceil(to), first + 2));
  for (let x = first; x < last; x++) columns.noticed[x] |= 1 << part;
}
function coverCritical(columns, from, to, share) {
  const {count, critical} = columns;
  for (let x = Math.floor(from); x < to && x < count; x++)
    critical[x] += (Math.min(to, x + 1) - Math.max(from, x)) * share;
}

/* --- operation by operation --- */

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

/* The operations of a thread from one time to another. */
function addTold(thread, number, columns, t0, t1) {
  const {scale} = columns, low = (t0 - columns.t0) * scale, high = (t1 - columns.t0) * scale;
  const clip = (ns) => Math.min(high, Math.max(low, (ns - columns.t0) * scale));
  const {chosen} = view;
  let i = firstBeyond(thread, t0);
  if (chosen && i > thread.first) i--; /* its gap may reach into view */
  for (; i < thread.last && operations.start[i] < t1; i++) {
    const to = clip(operations.end[i]);
    if (operations.runnable[i] || operations.sleeping[i]) addGap(thread, i, columns, clip);
    if (operations.end[i] > t0)
      addOperation(columns, i, clip(operations.start[i]), clip(operations.released[i]), to);
    if (chosen && operations.step[i] === chosen && i + 1 < thread.last) {
      const next = clip(operations.start[i + 1]);
      if (next > to) cover(columns, CHOSEN_COMPUTING, to, next);
    }
  }
  addGap(thread, i, columns, clip);
  addChain(number, columns, t0, t1, clip);
}

/* The first link of a thread on the critical path that ends after a time. */
function firstLink(of, ns) {
  let low = 0, high = of.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (links.end[of[middle]] <= ns) low = middle + 1; else high = middle;
  }
  return low;
}
function addChain(number, columns, t0, t1, clip) {
  const of = links.byThread[number];
  for (let k = firstLink(of, t0); k < of.length && links.start[of[k]] < t1; k++)
    coverCritical(columns, clip(links.start[of[k]]), clip(links.end[of[k]]), 1);
}

/* --- bin by bin --- */

/* The longest bins that are no longer than a column; else the shortest. */
const binsFor = (ns) => bins.slice().reverse().find(({width}) => width <= ns) || bins[0];

/* Adds what lies from one time to another: `states` are [part, amounts in ns],
 * and those of this row begin at `base`. */
function addBins({states, critical, base}, level, columns, t0, t1) {
  const {scale, amounts, count} = columns, {width} = level;
  const first = Math.max(0, Math.floor((t0 - level.start) / width));
  const end = Math.min(level.count, Math.ceil((t1 - level.start) / width));
  for (let k = first; k < end; k++) {
    const begin = level.start + k * width;
    const from = Math.max(0, (Math.max(t0, begin) - columns.t0) * scale);
    const to = Math.min(count, (Math.min(t1, begin + width) - columns.t0) * scale);
    const x = Math.floor(from), whole = to <= x + 1; /* of one column */
    for (let i = 0; i < states.length; i++) {
      const ns = states[i][1][base + k];
      if (!ns) continue;
      const part = states[i][0];
      if (part === FAILED) coverNoticed(columns, part, from, to, ns / width);
      else if (whole && x < count) amounts[x * PARTS.length + part] += (to - from) * ns / width;
      else cover(columns, part, from, to, ns / width);
    }
    if (critical[base + k]) coverCritical(columns, from, to, critical[base + k] / width);
  }
}

/* Of a thread. */
function binsOfThread(number, level) {
  level.states = level.states ||
    Object.entries(PART_OF_BIN).map(([name, part]) => [part, level.of[name]]);
  return {states: level.states, critical: level.of.critical, base: number * level.count};
}

/* A loop that does nothing else: there are as many turns as bins and threads. */
function addTo(sums, amounts, base, parts) {
  for (let k = 0; k < sums.length; k++) sums[k] += amounts[base + k] / parts;
}

/* Of all threads of a row, as shares of their time; kept, since a folded row may
 * have hundreds. */
const binsOfRows = new Map();
function binsOfRow({key, threads}, level) {
  const name = `${key} ${level.width}`;
  if (binsOfRows.has(name)) return binsOfRows.get(name);
  const states = [...Object.values(PART_OF_BIN), IDLE].map((part) =>
    [part, new Float64Array(level.count)]);
  const critical = new Float64Array(level.count);
  const idle = states[states.length - 1][1];
  for (const number of threads) {
    const own = binsOfThread(number, level), {startNs, endNs} = run.threads[number];
    own.states.forEach(([, ns], i) => addTo(states[i][1], ns, own.base, threads.length));
    addTo(critical, own.critical, own.base, 1);
    for (let k = 0; k < level.count; k++) {
      const begin = level.start + k * level.width, end = begin + level.width;
      if (begin >= startNs && end <= endNs) continue;
      const there = Math.max(0, Math.min(end, endNs) - Math.max(begin, startNs));
      idle[k] += (level.width - there) / threads.length;
    }
  }
  const all = {states, critical, base: 0};
  binsOfRows.set(name, all);
  return all;
}

/* The chosen step, where its operations are not told. */
function addFront(number, columns) {
  const k = frontOf(view.chosen);
  if (k < 0 || isNaN(fronts.start[number][k])) return;
  const at = (ns) => Math.min(columns.count, Math.max(0, (ns - columns.t0) * columns.scale));
  const from = at(fronts.start[number][k]), to = at(fronts.end[number][k]);
  if (fronts.end[number][k] >= columns.t0 && from < columns.count)
    coverNoticed(columns, CHOSEN, from, Math.max(from, to));
}

/* --- a thread, and several --- */

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

/* Where a thread was not from one time to another, and what was under way at its
 * end. */
function addEnds(thread, columns, t0, t1) {
  const at = (ns) => Math.min(columns.count, Math.max(0, (ns - columns.t0) * columns.scale));
  const low = at(t0), high = at(t1), clip = (ns) => Math.min(high, Math.max(low, at(ns)));
  const pending = thread.pending;
  if (thread.operations || pending) {
    const begin = thread.operations ? thread.startNs : pending.startNs;
    const end = pending ? pending.endNs : thread.endNs;
    cover(columns, IDLE, low, clip(begin));
    if (end < t1) cover(columns, IDLE, clip(end), high);
  } else {
    cover(columns, IDLE, low, high);
  }
  if (pending && pending.verb) addOpen(columns, clip(pending.startNs), clip(pending.endNs));
}

/* The columns' time in pieces, by turns what is told operation by operation, and
 * what is not. */
function piecesOf({t0, t1, scale}, level) {
  if (!bins) return [{from: t0, to: t1, told: true}];
  const pieces = [];
  let at = t0;
  for (const [from, to] of level.width * scale > 1 ? parts : []) {
    if (to <= at || from >= t1) continue;
    if (from > at) pieces.push({from: at, to: from, told: false});
    pieces.push({from: Math.max(at, from), to: Math.min(to, t1), told: true});
    at = Math.min(to, t1);
  }
  if (at < t1) pieces.push({from: at, to: t1, told: false});
  return pieces;
}

function addThread(number, columns, level, pieces) {
  const thread = run.threads[number], {from} = pieces[0], {to} = pieces[pieces.length - 1];
  for (const piece of pieces)
    if (piece.told) addTold(thread, number, columns, piece.from, piece.to);
    else addBins(binsOfThread(number, level), level, columns, piece.from, piece.to);
  if (bins && view.chosen && level.width * columns.scale <= 1) addFront(number, columns);
  addEnds(thread, columns, from, to);
}

/* These threads' share of the columns that the pieces are in, in which `one` has
 * room for a thread. */
function addThreads(threads, columns, level, pieces, one, shares) {
  const part = 1 / threads.length, at = (ns) => (ns - columns.t0) * columns.scale;
  const first = Math.max(0, Math.floor(at(pieces[0].from)));
  const end = Math.min(columns.count, Math.ceil(at(pieces[pieces.length - 1].to)) + 1);
  for (const number of threads) {
    clearColumns(one, first, end);
    addThread(number, one, level, pieces);
    for (let x = first; x < end; x++) {
      takeShares(one, x, shares);
      for (let p = 0; p < PARTS.length; p++)
        if (p !== COMPUTING) columns.amounts[x * PARTS.length + p] += shares[p] * part;
      columns.noticed[x] |= one.noticed[x];
      columns.critical[x] += one.critical[x];
    }
  }
  for (let x = first; x < end; x++) columns.noticed[x] &= 1 << FAILED;
}

/* All threads of a row: what is told of several thread by thread, and their bins
 * together, if that is all there is of them. */
function addRow(row, columns, one, shares) {
  const {threads} = row, level = bins && binsFor(1 / columns.scale);
  const pieces = piecesOf(columns, level);
  clearColumns(columns);
  if (threads.length === 1)
    addThread(threads[0], columns, level, pieces);
  else if (!level || view.chosen ||
      threads.some((t) => !run.threads[t].operations || run.threads[t].pending))
    addThreads(threads, columns, level, pieces, one, shares);
  else
    for (const piece of pieces)
      if (piece.told) addThreads(threads, columns, level, [piece], one, shares);
      else addBins(binsOfRow(row, level), level, columns, piece.from, piece.to);
}

/* --- the stack of a column --- */

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
  if (!noticed && !line) return;
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

/* --- beforehand --- */

/* What the first zooms would else wait for: browsers compile what they have run
 * for a while only, and bins of folded rows are made when they are first seen. */
function* firstZooms() {
  const {length} = run.threads;
  for (const [t0, t1] of parts) {
    const columns = columnsOf(1024, t0, t1);
    for (let t = 0; t < length; t++) {
      addTold(run.threads[t], t, columns, t0, t1);
      yield addBins(binsOfThread(t, bins[0]), bins[0], columns, t0, t1);
    }
  }
  for (const row of rows)
    for (const level of row.threads.length > 1 ? bins : []) yield binsOfRow(row, level);
}

/* Does that while there is nothing else to do. */
let preparing = null;
function prepare() {
  if (!bins) return;
  const steps = preparing = firstZooms();
  later(function some(deadline) {
    do {
      if (preparing !== steps) return;
      if (steps.next().done) preparing = null;
    } while (preparing && deadline.timeRemaining() > 2);
    if (preparing) later(some);
  });
}
