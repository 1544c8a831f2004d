/* figure3_check.mjs - the views of paper 004, computed once more.
 *
 *     node figure3_check.mjs EVENTSPACE RAW_TUPLES FIGURE3 MAP
 *
 * Runs examples/figure3 and computes each view of the paper from the raw trace
 * tuples, as the paper defines it, knowing nothing but which of EC1 to EC10
 * stands where. That is compared with what `eventspace view` says: for a run
 * that has ended, for one that was killed, and for a window of one that goes
 * on. RAW_TUPLES prints what stands in a host's space file.
 *
 * Times are compared to 2 ns: a view rounds each stamp to nanoseconds. */
import {spawn, spawnSync, execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import assert from 'node:assert/strict';

const DEADLINE_MS = 240000;
const [command, rawTuples, program, map] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-figure3-'));

const THREADS = ['thread1', 'thread2', 'thread3', 'thread4', 'thread5'];
const HOST_OF = {thread1: 'A', thread2: 'A', thread3: 'B', thread4: 'B',
  thread5: 'B'};
/* What stands where: the partial sums, with the collectors of their ways in
 * and below them. */
const SUMS = [
  {name: 'sum1', inputs: [1, 2], below: 7, left: [1, 2]},
  {name: 'sum2', inputs: [3, 4], below: 9, left: [3, 4]},
  {name: 'sum3', inputs: [7, 8], below: 10, left: [7, 9]},
];
const VERBS = {1: 'write'};

/* --- raw tuples --- */

function readHost(run, host) {
  const text = execFileSync(rawTuples, [run, host],
    {encoding: 'utf8', maxBuffer: 1 << 30});
  const lines = text.trimEnd().split('\n');
  const [, start, wall, hz] = lines.shift().split(' ');
  return {start: BigInt(start), wall: BigInt(wall), hz: Number(hz), lines};
}

/* Both hosts are on one machine and count the same ticks: times are told by
 * the counter of the one that started first, from its start. */
function readRun(run) {
  const hosts = ['A', 'B'].map((host) => readHost(run, host));
  const first = hosts[0].wall <= hosts[1].wall ? hosts[0] : hosts[1];
  const ns = (ticks) => Number(BigInt(ticks) - first.start) * 1e9 / first.hz;
  const ec = Array.from({length: 11}, () => []);
  for (const {lines} of hosts) {
    for (const line of lines) {
      const [collector, thread, sequence, verb, bytes, status, start, end] =
        line.split(',');
      ec[collector].push({ec: Number(collector), thread: Number(thread),
        sequence: Number(sequence), verb: Number(verb), bytes: Number(bytes),
        status: Number(status), start: ns(start), end: ns(end)});
    }
  }
  for (const events of ec)
    events.sort((a, b) => a.start - b.start || a.sequence - b.sequence);
  return ec;
}

const within = (ec, from, to) =>
  ec.map((events) => events.filter((e) => e.start <= to && e.end >= from));

/* --- statistics --- */

function sample(values) {
  if (values.length === 0) return {count: 0};
  const sorted = [...values].sort((a, b) => a - b);
  const total = values.reduce((sum, value) => sum + value, 0);
  const mean = total / values.length;
  const squares = values.reduce((sum, v) => sum + (v - mean) ** 2, 0);
  return {
    count: values.length, total_ns: total, mean_ns: mean,
    median_ns: sorted[Math.floor((sorted.length - 1) / 2)],
    deviation_ns: Math.sqrt(squares / values.length),
    least_ns: sorted[0], most_ns: sorted.at(-1),
  };
}

const sameOperation = (a, b) =>
  a.thread === b.thread && a.sequence === b.sequence;

/* --- rounds: by what lies within what, and not by a merge --- */

/* The event of `events` within which `inner` lies. */
function around(events, inner) {
  let low = 0, high = events.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (events[middle].start <= inner.start) low = middle + 1;
    else high = middle;
  }
  const e = events[low - 1];
  return e && e.end >= inner.end ? e : undefined;
}

function rounds(ec, sum) {
  return ec[sum.below].map((below) => {
    const inputs = sum.inputs.map((id) => around(ec[id], below));
    const last = inputs.findIndex((e) => e && sameOperation(e, below));
    return {below, inputs, last};
  });
}

/* --- the views, as the paper has them --- */

const duration = (e) => e.end - e.start;
const by = (map_, key, value) => {
  if (!map_.has(key)) map_.set(key, []);
  map_.get(key).push(value);
};

/* EC1 to EC4: how long each thread waits for the sum to be complete. */
function threadWait(ec) {
  return [1, 2, 3, 4].map((id) => ({
    thread: THREADS[id - 1], element: 'element1',
    ...sample(ec[id].map(duration)),
  }));
}

/* EC9 less EC8, of the same operation. */
function remoteOverhead(ec) {
  const there = new Map(ec[8].map((e) => [`${e.thread} ${e.sequence}`, e]));
  const overheads = [];
  for (const e of ec[9]) {
    const below = there.get(`${e.thread} ${e.sequence}`);
    if (below) overheads.push(duration(e) - duration(below));
  }
  return [{proxy: 'proxy', ...sample(overheads)}];
}

/* For each way in: how long after the first of the round it came (its start),
 * or after the first it had its result (its end; at the far side of the proxy
 * for sum 3). */
function signals(ec, departure) {
  const rows = [];
  for (const sum of SUMS) {
    const times = sum.inputs.map(() => []), last = sum.inputs.map(() => 0);
    for (const round of rounds(ec, sum)) {
      const stamps = round.inputs.map((e, i) => {
        if (!e) return undefined;
        if (!departure) return e.start;
        if (sum.left[i] === sum.inputs[i]) return e.end;
        return ec[sum.left[i]].find((far) => sameOperation(far, e))?.end;
      });
      const known = stamps.filter((t) => t !== undefined);
      const first = Math.min(...known);
      stamps.forEach((t, i) => { if (t !== undefined) times[i].push(t - first); });
      if (round.last >= 0) last[round.last]++;
    }
    sum.inputs.forEach((id, i) => rows.push({
      wrapper: sum.name, input: `EC${departure ? sum.left[i] : id}`,
      ...(departure ? {} : {last: last[i]}), ...sample(times[i])}));
  }
  return rows;
}

/* Who came last at each partial sum, and of all (EC10). */
function lastArriver(ec) {
  const rows = [];
  for (const sum of SUMS) {
    const counts = sum.inputs.map(() => 0);
    for (const round of rounds(ec, sum))
      if (round.last >= 0) counts[round.last]++;
    sum.inputs.forEach((id, i) => rows.push(
      {wrapper: sum.name, input: `EC${id}`, last: counts[i]}));
  }
  THREADS.slice(0, 4).forEach((thread, i) => rows.push({wrapper: '(tree)',
    from: thread, last: ec[10].filter((e) => e.thread === i).length}));
  return rows;
}

/* EC5 and EC6: what followed what at element 2. */
function elementOrder(ec) {
  const all = [...ec[5], ...ec[6]].sort(
    (a, b) => a.end - b.end || a.start - b.start);
  return all.map((e, i) => ({element: 'element2', order: i + 1,
    thread: THREADS[e.thread], sequence: e.sequence, bytes: e.bytes,
    start_ns: e.start, end_ns: e.end}));
}

/* EC1 to EC6: where and when each thread uses the communication system. */
function communication(ec) {
  return THREADS.map((thread, number) => {
    const events = [1, 2, 3, 4, 5, 6].flatMap((id) => ec[id])
      .filter((e) => e.thread === number).sort((a, b) => a.start - b.start);
    let communicating = 0, computing = 0, until;
    for (const e of events) {
      if (until !== undefined && e.start > until) computing += e.start - until;
      const from = until === undefined ? e.start : Math.max(until, e.start);
      if (e.end > from) communicating += e.end - from;
      until = until === undefined ? e.end : Math.max(until, e.end);
    }
    return {number, thread, host: HOST_OF[thread], operations: events.length,
      start_ns: events.length ? events[0].start : 0, end_ns: until ?? 0,
      communicating_ns: communicating, computing_ns: computing};
  });
}
