/* data.js - the data of the page, and how its numbers are told.
 *
 * The data is the JSON text of #es-data; viewer/report/report_data.c says what is in
 * it, and viewer/timeline/timeline_json.c what there is of the timeline. That is
 * unpacked into typed arrays: operations by thread and start; bins by thread and
 * time.
 *
 * The scripts of this folder stand behind each other in one async function of
 * the page, this one first. */
'use strict';

const run = JSON.parse(document.getElementById('es-data').textContent);
const id = (name) => document.getElementById('es-' + name);
const NO_PROCESS = {name: '(no process)', state: '', text: ''};
/* One that goes on is not. */
const isIll = ({state}) => state !== 'finished' && state !== 'running';
const processOf = (thread) => run.processes[thread.process] || NO_PROCESS;

/* --- numbers --- */

async function inflate(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  const raw = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(raw).arrayBuffer());
}

/* Gives one number after the other. */
async function numbersOf(base64) {
  const packed = await inflate(base64);
  let at = 0;
  return function number() { /* LEB128; products, as numbers pass 32 bits */
    let byte = packed[at++], value = byte & 127, weight = 128;
    while (byte & 128) {
      byte = packed[at++];
      value += (byte & 127) * weight;
      weight *= 128;
    }
    return value;
  };
}
const signed = (number) => number % 2 ? -(number + 1) / 2 : number / 2;

/* The numbers of an object's texts with these names, each a function. */
async function textsOf(object, names) {
  const read = await Promise.all(names.map((name) => numbersOf(object[name])));
  return Object.fromEntries(names.map((name, i) => [name, read[i]]));
}

/* --- operations --- */

const firstPath = new Uint32Array(run.threads.length);
for (let p = run.paths.length - 1; p >= 0; p--)
  firstPath[run.paths[p].thread] = p;

/* Those that are told: `first` to `last` of a thread are its. */
async function operationsOf(told) {
  const next = await textsOf(told, ['start', 'length', 'path', 'step', 'bytes', 'verb',
    'status', 'waiting', 'for', 'runnable', 'sleeping']);
  const count = d3.sum(told.counts);
  const all = {
    count,
    start: new Float64Array(count), end: new Float64Array(count),
    reach: new Float64Array(count), /* latest end of the thread so far */
    path: new Uint32Array(count), step: new Uint32Array(count),
    bytes: new Uint32Array(count),
    verb: new Uint16Array(count), status: new Uint16Array(count),
    released: new Float64Array(count), /* until when it waited; start: it did not */
    waitsFor: new Int32Array(count), /* for which thread; -1 */
    /* Between the one before (the thread's begin) and it: ns off the processor. */
    runnable: new Float64Array(count), sleeping: new Float64Array(count),
  };
  let i = 0;
  run.threads.forEach((thread, t) => {
    let start = told.baseNs, step = 0, reach = -Infinity;
    thread.first = i;
    for (const last = i + told.counts[t]; i < last; i++) {
      start += next.start();
      const end = start + next.length();
      reach = Math.max(reach, end);
      all.start[i] = start;
      all.end[i] = end;
      all.reach[i] = reach;
      all.path[i] = firstPath[t] + next.path();
      step += signed(next.step());
      all.step[i] = step;
      all.bytes[i] = next.bytes();
      all.verb[i] = next.verb();
      all.status[i] = next.status();
      all.released[i] = start + next.waiting();
      all.waitsFor[i] = next.for() - 1;
      all.runnable[i] = next.runnable();
      all.sleeping[i] = next.sleeping();
    }
    thread.last = i;
  });
  return all;
}

/* --- bins --- */

/* States of a thread that bins tell of, and how much of its time is on the
 * critical path. */
const BIN_STATES = ['waiting', 'failed', 'transferring', 'runnable', 'sleeping', 'critical'];

/* Bins of several lengths, each twice as long as the one before: of each thread
 * `count`, in `of` the amounts in ns. */
async function binsOf(told) {
  if (!told) return null;
  const names = [...BIN_STATES, 'operations', 'longest', 'path', 'for'];
  const next = await textsOf(told, names);
  const first = {start: told.startNs, width: told.binNs, count: told.count, of: {}};
  for (const name of names) {
    const all = first.of[name] = new Float64Array(told.count * run.threads.length);
    for (let i = 0, number = next[name]; i < all.length; i++) all[i] = number();
  }
  const levels = [first];
  while (levels[levels.length - 1].count > 256)
    levels.push(longerBins(levels[levels.length - 1]));
  return levels;
}
function longerBins(bins) {
  const count = Math.ceil(bins.count / 2), of = {};
  for (const name of BIN_STATES) {
    const from = bins.of[name], to = of[name] = new Float64Array(count * run.threads.length);
    for (let t = 0; t < run.threads.length; t++)
      for (let k = 0; k < bins.count; k++)
        to[t * count + (k >> 1)] += from[t * bins.count + k];
  }
  return {start: bins.start, width: bins.width * 2, count, of};
}

/* --- the critical path --- */

/* Its links by time; `byThread` are those of each thread. */
async function linksOf(told) {
  const next = await textsOf(told, ['thread', 'gap', 'length']);
  const all = {count: told.count, thread: new Uint32Array(told.count),
    start: new Float64Array(told.count), end: new Float64Array(told.count),
    byThread: run.threads.map(() => [])};
  let at = told.baseNs;
  for (let i = 0; i < told.count; i++) {
    all.thread[i] = next.thread();
    all.start[i] = at + next.gap();
    at = all.end[i] = all.start[i] + next.length();
    all.byThread[all.thread[i]].push(i);
  }
  return all;
}

/* --- steps --- */

/* When each thread was in every so many-th step; NaN: it was not. */
const fronts = await (async function unpack() {
  const {every, count} = run.fronts;
  const next = await textsOf(run.fronts, ['start', 'length']);
  const all = {every, count, start: [], end: []};
  run.threads.forEach(() => {
    const start = new Float64Array(count).fill(NaN), end = start.slice();
    for (let k = 0, at = run.startNs; k < count; k++) {
      const told = next.start(), length = next.length();
      if (!told) continue;
      at += signed(told - 1);
      start[k] = at;
      end[k] = at + length;
    }
    all.start.push(start);
    all.end.push(end);
  });
  return all;
})();
/* The place of a step in these; -1: it is not told. */
const frontOf = (step) => step && step % fronts.every === 0 ? step / fronts.every - 1 : -1;

/* --- what is shown: of the page, or of what a server has told later --- */

let operations, bins, parts, links, inBins;
async function takeTimeline(told) {
  const [some, levels, chain] = await Promise.all(
    [operationsOf(told.operations), binsOf(told.bins), linksOf(told.links)]);
  [operations, bins, links, parts, inBins] = [some, levels, chain, told.parts, told.inBins];
}
await takeTimeline(run.timeline);

/* The first operation of a thread that may reach beyond a time, of those that
 * are told. */
function firstBeyond(thread, ns) {
  let low = thread.first, high = thread.last;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (operations.reach[middle] <= ns) low = middle + 1; else high = middle;
  }
  return low;
}
/* Are the operations of this time told? */
const isTold = (ns) => parts.some(([from, to]) => from <= ns && ns < to);

/* Statuses that a program asks for are no failures. */
const expected = new Set([0, run.wouldWait, run.deadlinePassed]);
const failed = (i) => !expected.has(operations.status[i]);

/* What threads were in at the end, or are in now: one row each at most. */
for (const row of run.pending) {
  row.startNs = row.since_ns;
  row.endNs = row.since_ns + row.for_ns;
  if (row.number !== null) run.threads[row.number].pending = row;
}
/* What there is of each colour. */
const occurs = {
  waiting: run.threads.some((thread) => thread.waitingNs > 0),
  runnable: run.threads.some((thread) => thread.runnableNs > 0),
  sleeping: run.threads.some((thread) => thread.sleepingNs > 0),
  failed: Object.keys(run.statuses).some((status) => !expected.has(+status)),
};
const underWay = run.pending.filter((row) => row.verb);
occurs.pending = underWay.length > 0;

/* --- texts --- */

const count = d3.format(',');
const percent = d3.format('.1%');
function duration(ns) {
  const size = Math.abs(ns);
  if (size >= 1e9) return d3.format(',.3f')(ns / 1e9) + ' s';
  if (size >= 1e6) return d3.format(',.3f')(ns / 1e6) + ' ms';
  if (size >= 1e3) return d3.format(',.2f')(ns / 1e3) + ' \u00b5s';
  return d3.format(',.0f')(ns) + ' ns';
}
/* A point in time, fine enough to tell the pixels of the picture apart. */
function moment(ns) {
  const digits = view.t1 - view.t0 < 1e7 ? 6 : 3;
  return d3.format(',.' + digits + 'f')(ns / 1e6) + ' ms';
}
function size(bytes) {
  if (bytes < 10000) return count(bytes) + ' B';
  return d3.format(',.1f')(bytes / (bytes < 1e7 ? 1024 : 1048576)) +
    (bytes < 1e7 ? ' KiB' : ' MiB');
}
const operationText = (i) => verbText(operations.verb[i], run.paths[operations.path[i]]);
function verbText(number, path) {
  const verb = run.verbs[number] || '?';
  const element = path.element === path.name ? '' : ' \u2192 ' + path.element;
  return verb + ' ' + path.name + element;
}
function pendingText(row) {
  const element = row.element === row.path ? '' : ' \u2192 ' + row.element;
  return row.verb + ' ' + row.path + element;
}
function plural(number, one, many) {
  return count(number) + ' ' + (number === 1 ? one : many || one + 's');
}
