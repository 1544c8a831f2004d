/* data.js - the data of the page, and how its numbers are told.
 *
 * The data is the JSON text of #es-data; viewer/report/report_data.c says what is in
 * it. Operations are unpacked into typed arrays, ordered by thread and start.
 *
 * The scripts of this folder stand behind each other in one function of the
 * page, in the order data, regions, timeline, tables, report. */
'use strict';

const run = JSON.parse(document.getElementById('es-data').textContent);
const id = (name) => document.getElementById('es-' + name);
const NO_PROCESS = {name: '(no process)', state: '', text: ''};
const processOf = (thread) => run.processes[thread.process] || NO_PROCESS;

/* --- operations --- */

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/* Gives one number after the other. */
function numbersOf(base64) {
  const packed = bytesOf(base64);
  let at = 0;
  return function number() { /* LEB128; products, as numbers pass 32 bits */
    let value = 0, weight = 1, byte;
    do {
      byte = packed[at++];
      value += (byte & 127) * weight;
      weight *= 128;
    } while (byte & 128);
    return value;
  };
}
const signed = (number) => number % 2 ? -(number + 1) / 2 : number / 2;

const operations = (function unpack() {
  const number = numbersOf(run.operations);
  const count = run.threads.reduce((sum, t) => sum + t.operations, 0);
  const firstPath = new Uint32Array(run.threads.length);
  for (let p = run.paths.length - 1; p >= 0; p--)
    firstPath[run.paths[p].thread] = p;
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
    let start = run.startNs, step = 0, reach = -Infinity;
    thread.first = i;
    for (const last = i + thread.operations; i < last; i++) {
      start += number();
      const end = start + number();
      reach = Math.max(reach, end);
      all.start[i] = start;
      all.end[i] = end;
      all.reach[i] = reach;
      all.path[i] = firstPath[t] + number();
      step += signed(number());
      all.step[i] = step;
      all.bytes[i] = number();
      all.verb[i] = number();
      all.status[i] = number();
      all.released[i] = start + number();
      all.waitsFor[i] = all.released[i] > start ? number() : -1;
      const off = number();
      if (off) all.runnable[i] = number();
      all.sleeping[i] = off - all.runnable[i];
    }
    thread.last = i;
  });
  return all;
})();

/* The first operation of a thread that may reach beyond a time. */
function firstBeyond(thread, ns) {
  let low = thread.first, high = thread.last;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (operations.reach[middle] <= ns) low = middle + 1; else high = middle;
  }
  return low;
}

/* Statuses that a program asks for are no failures. */
const expected = new Set([0, run.wouldWait, run.deadlinePassed]);
const failed = (i) => !expected.has(operations.status[i]);

/* What threads were in at the end, or are in now: one row each at most. */
for (const row of run.pending) {
  row.startNs = row.since_ns;
  row.endNs = row.since_ns + row.for_ns;
  if (row.number !== null) run.threads[row.number].pending = row;
}
const underWay = run.pending.filter((row) => row.verb);

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
function operationText(i) {
  const path = run.paths[operations.path[i]];
  const verb = run.verbs[operations.verb[i]] || '?';
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
