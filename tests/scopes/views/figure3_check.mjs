/* figure3_check.mjs - the views of paper 004, computed once more.
 *
 *     node figure3_check.mjs EVENTSPACE RAW_TUPLES FIGURE3 MAP
 *
 * Runs examples/figure3 and computes each view of the paper from the raw trace
 * tuples, as the paper defines it, knowing nothing but which of EC1 to EC10
 * stands where. That is compared with what `eventspace view` says: for a run
 * that has ended, for one that was killed, and for a window of one that goes
 * on. RAW_TUPLES prints what stands in a process's space file. The runs keep
 * all events, however long the checks take.
 *
 * Times are compared to 2 ns: a view rounds each stamp to nanoseconds. So two
 * may have come at the same time for it, of whom one came less than that before
 * the other. */
import {spawn, spawnSync, execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';
import assert from 'node:assert/strict';

const DEADLINE_MS = 240000;
const ROUNDED_NS = 2;
const [command, rawTuples, program, figure] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-figure3-'));
const map = join(folder, 'figure3.dot');
writeFileSync(map, readFileSync(figure, 'utf8').replace('digraph figure3 {',
  '$& graph [trace_policy=grow, trace_capacity=100000000];'));

const THREADS = ['thread1', 'thread2', 'thread3', 'thread4', 'thread5'];
const PROCESS_OF = {thread1: 'A', thread2: 'A', thread3: 'B', thread4: 'B',
  thread5: 'B'};
/* What stands where: the partial sums, with the collectors of their ways in
 * and below them, and by which of the ways each thread comes. */
const SUMS = [
  {name: 'sum1', inputs: [1, 2], below: 7, left: [1, 2], ways: [0, 1]},
  {name: 'sum2', inputs: [3, 4], below: 9, left: [3, 4],
    ways: [undefined, undefined, 0, 1]},
  {name: 'sum3', inputs: [7, 8], below: 10, left: [7, 9], ways: [0, 0, 1, 1]},
];

/* --- raw tuples --- */

function readProcess(run, process) {
  const text = execFileSync(rawTuples, [run, process],
    {encoding: 'utf8', maxBuffer: 1 << 30});
  const lines = text.trimEnd().split('\n');
  const [, start, wall, hz] = lines.shift().split(' ');
  return {process, start: BigInt(start), wall: BigInt(wall), hz: Number(hz),
    lines};
}

/* Both processes are on one machine and count the same ticks: times are told by
 * the counter of the one that started first, from its start. */
function readRun(run) {
  const processes = ['A', 'B'].map((process) => readProcess(run, process));
  const first =
    processes[0].wall <= processes[1].wall ? processes[0] : processes[1];
  const ns = (ticks) => Number(BigInt(ticks) - first.start) * 1e9 / first.hz;
  const ec = Array.from({length: 11}, () => []);
  for (const {lines} of processes) {
    for (const line of lines) {
      const [collector, thread, sequence, verb, bytes, status, start, end] =
        line.split(',');
      ec[collector].push({ec: Number(collector), thread: Number(thread),
        sequence: Number(sequence), verb: Number(verb), bytes: Number(bytes),
        status: Number(status), start: ns(start), end: ns(end)});
    }
  }
  ec.reference = first.process;
  ec.lives = readLives(run, ns);
  for (const events of ec)
    events.sort((a, b) => a.start - b.start || a.sequence - b.sequence);
  return ec;
}

/* When each thread began and ended, and when it was off the processor. */
function readLives(run, ns) {
  const lives = THREADS.map(() => ({offs: []}));
  for (const process of ['A', 'B']) {
    const text = execFileSync(rawTuples, [run, process, 'scheduling'],
      {encoding: 'utf8', maxBuffer: 1 << 30});
    for (const line of text.trimEnd().split('\n').filter(Boolean)) {
      const [kind, thread, start, end, runnable, sleeping, operations] =
        line.split(',');
      const life = lives[thread];
      if (kind === '0') life.begin = ns(start);
      else if (kind === '3')
        Object.assign(life, {end: ns(start), operations: Number(operations)});
      else if (kind === '1')
        life.offs.push({start: ns(start), end: ns(end),
          runnable: (ns(end) - ns(start)) * Number(runnable) / (end - start),
          sleeping: (ns(end) - ns(start)) * Number(sleeping) / (end - start)});
    }
  }
  return lives;
}

const within = (ec, from, to) => Object.assign(
  ec.map((events) => events.filter((e) => e.start <= to && e.end >= from)),
  {reference: ec.reference, lives: ec.lives});

/* Of a run that goes on: what began before some time, and all of that. Streams
 * are read one after the other while they are written, so of the last events
 * some are there and some are not. But a thread has left all the tuples of an
 * operation when it begins the next: those of operations that began before the
 * last one that was seen of each thread are there for a second look. */
function readLive(run) {
  const seen = readRun(run);
  const until = Math.min(...[1, 2, 3, 4, 5, 6].map(
    (id) => seen[id].at(-1)?.start ?? -Infinity));
  return within(readRun(run), -Infinity, until);
}

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
    min_ns: sorted[0], max_ns: sorted.at(-1),
  };
}

/* --- rounds ---
 *
 * No event is lost, so the r-th event of each collector on the way of the sum
 * belongs to round r. (The views tell it from what lies within what.) */

function numberRounds(ec) {
  for (const id of [1, 2, 3, 4, 7, 8, 9, 10])
    ec[id].forEach((e, i) => { e.round = i; });
}

/* The rounds of a partial sum, of which there may be less at the edges of a
 * window, and at the end of a run that was killed: there the last one's event
 * below the sum may stand alone, and still says who it was. */
function rounds(ec, sum) {
  const found = new Map();
  const round = (number) => {
    if (!found.has(number)) found.set(number, {inputs: sum.inputs.map(() => undefined)});
    return found.get(number);
  };
  for (const e of ec[sum.below]) round(e.round).below = e;
  sum.inputs.forEach((id, i) => {
    for (const e of ec[id]) round(e.round).inputs[i] = e;
  });
  for (const r of found.values())
    r.last = r.below ? sum.ways[r.below.thread] : -1;
  return [...found.entries()].sort((a, b) => a[0] - b[0]).map(([, r]) => r);
}

/* --- the views, as the paper has them --- */

const duration = (e) => e.end - e.start;
const full = (list) => list.every((value) => value !== undefined);

/* EC1 to EC4: how long each thread waits for the sum to be complete. */
function threadWait(ec) {
  return [1, 2, 3, 4].map((id) => ({thread: THREADS[id - 1],
    element: 'element1', ...sample(ec[id].map(duration))}));
}

/* EC9 less EC8, of the same operation. */
function remoteOverhead(ec) {
  const there = new Map(ec[8].map((e) => [`${e.thread} ${e.sequence}`, e]));
  const overheads = [];
  for (const e of ec[9]) {
    const below = there.get(`${e.thread} ${e.sequence}`);
    if (below) overheads.push(duration(e) - duration(below));
  }
  return [{proxy: 'proxy', above: 'EC9', below: 'EC8', ...sample(overheads)}];
}

/* How long after the first of a round each contribution came. */
function signalArrival(ec) {
  return SUMS.flatMap((sum) => {
    const all = rounds(ec, sum);
    return sum.inputs.map((id, i) => ({
      wrapper: sum.name, input: `EC${id}`,
      last: all.filter((r) => r.last === i && r.inputs[i]).length,
      ...sample(all.filter((r) => full(r.inputs)).map((r) =>
        r.inputs[i].start - Math.min(...r.inputs.map((e) => e.start)))),
    }));
  });
}

/* How long after the first each had the result; for sum 3 at the far side of
 * the proxy. */
function signalDeparture(ec) {
  const far = new Map(ec[9].map((e) => [`${e.thread} ${e.sequence}`, e]));
  return SUMS.flatMap((sum) => {
    const times = sum.inputs.map(() => []), first = sum.inputs.map(() => 0);
    let together = 0; /* within the rounding: either may be the first */
    for (const r of rounds(ec, sum)) {
      const ends = r.inputs.map((e, i) => sum.left[i] === 9
        ? e && far.get(`${e.thread} ${e.sequence}`)?.end : e?.end);
      if (!full(ends)) continue;
      const least = Math.min(...ends);
      first[ends.indexOf(least)]++;
      together += ends.filter((end) => end <= least + ROUNDED_NS).length > 1;
      ends.forEach((end, i) => times[i].push(end - least));
    }
    return sum.left.map((id, i) => ({wrapper: sum.name, input: `EC${id}`,
      first: first[i], together, ...sample(times[i])}));
  });
}

/* The collectors directly around a partial sum. */
function performance(ec) {
  return SUMS.flatMap((sum) => {
    const phases = {arriving: [], down: [], below: [], 'up-first': [],
      'up-last': []};
    for (const r of rounds(ec, sum)) {
      if (r.below) phases.below.push(duration(r.below));
      if (!full(r.inputs)) continue;
      const starts = r.inputs.map((e) => e.start);
      const ends = r.inputs.map((e) => e.end);
      phases.arriving.push(Math.max(...starts) - Math.min(...starts));
      if (!r.below) continue;
      phases.down.push(r.below.start - Math.max(...starts));
      phases['up-first'].push(Math.min(...ends) - r.below.end);
      phases['up-last'].push(Math.max(...ends) - r.below.end);
    }
    return Object.entries(phases).map(([phase, times]) =>
      ({wrapper: sum.name, phase, ...sample(times)}));
  });
}

/* Who came last at each partial sum, and of all (EC10). */
function lastArriver(ec) {
  const tree = THREADS.slice(0, 4).map((from, i) => ({wrapper: '(tree)', from,
    last: ec[10].filter((e) => e.thread === i).length}));
  return [...tree, ...SUMS.flatMap((sum) => {
    const all = rounds(ec, sum);
    return sum.inputs.map((id, i) => ({wrapper: sum.name, input: `EC${id}`,
      last: all.filter((r) => r.last === i).length}));
  })];
}

/* EC5 and EC6: who wrote and read element 2, in which order. */
function elementOrder(ec) {
  return [...ec[5], ...ec[6]].sort((a, b) => a.end - b.end || a.start - b.start)
    .map((e, i) => ({order: i + 1, thread: THREADS[e.thread],
      sequence: e.sequence, bytes: e.bytes, verb: e.ec === 5 ? 'write' : 'observe',
      start_ns: e.start, end_ns: e.end}));
}

/* What of an amount of time off the processor must lie between two times. */
function offBetween(life, from, to) {
  const sum = {runnable: 0, sleeping: 0};
  for (const off of life.offs) {
    if (off.end <= from || off.start >= to) continue;
    const outside = Math.max(0, from - off.start) + Math.max(0, off.end - to);
    sum.runnable += Math.max(0, off.runnable - outside);
    sum.sleeping += Math.max(0, off.sleeping - outside);
  }
  return sum;
}

/* EC1 to EC6: where and when each thread uses the communication system; from
 * its begin to its end, where no operation is missing next to these. */
function communication(ec) {
  return THREADS.map((thread, number) => {
    const events = [1, 2, 3, 4, 5, 6].flatMap((id) => ec[id])
      .filter((e) => e.thread === number).sort((a, b) => a.start - b.start);
    const life = ec.lives[number];
    const begins = events.some((e) => e.sequence === 1);
    const ends = events.some((e) => e.sequence === life.operations);
    const gaps = [];
    let communicating_ns = 0;
    let until = begins ? life.begin ?? events[0].start : events[0]?.start;
    const start_ns = until ?? 0;
    for (const e of events) {
      if (e.start > until) gaps.push([until, e.start]);
      communicating_ns += Math.max(0, e.end - Math.max(until, e.start));
      until = Math.max(until, e.end);
    }
    if (ends) gaps.push([until, until = life.end]);
    const offs = gaps.map(([from, to]) => offBetween(life, from, to));
    return {number, thread, process: PROCESS_OF[thread],
      operations: events.length, start_ns,
      end_ns: until ?? 0, communicating_ns,
      computing_ns: gaps.reduce((sum, [from, to]) => sum + to - from, 0),
      runnable_ns: offs.reduce((sum, off) => sum + off.runnable, 0),
      sleeping_ns: offs.reduce((sum, off) => sum + off.sleeping, 0),
      bytes: events.reduce((sum, e) => sum + e.bytes, 0)};
  });
}

/* The threads of each process together. */
function processes(ec) {
  return ['A', 'B'].map((process) => {
    const threads = communication(ec).filter((t) => t.process === process);
    const sum = (key) => threads.reduce((all, t) => all + t[key], 0);
    return {process, threads: threads.length, operations: sum('operations'),
      bytes: sum('bytes'), communicating_ns: sum('communicating_ns'),
      computing_ns: sum('computing_ns')};
  });
}

/* Step k of a thread is the k-th operation on each of its paths. */
function steps(ec) {
  const found = [];
  THREADS.forEach((thread, number) => {
    for (const id of [1, 2, 3, 4, 5, 6]) {
      ec[id].filter((e) => e.thread === number).forEach((e, k) => {
        found[k] ??= {};
        found[k][thread] = Math.max(found[k][thread] ?? 0, e.end);
      });
    }
  });
  return found.map((ends, k) => ({step: k + 1,
    threads: Object.keys(ends).length,
    first_end_ns: Math.min(...Object.values(ends)),
    last_end_ns: Math.max(...Object.values(ends))}));
}

/* Section 5.3: in the sum for the one who came last of all, at element 2 for
 * the one who writes what is read, or reads what makes room (4 tuples). */
function waitsFor(ec, inSumOnly) {
  const waits = new Map();
  const wait = (thread, whom, over, ns) => {
    if (ns <= 0) return; // who came even later has not waited
    const key = JSON.stringify([THREADS[thread], THREADS[whom], over]);
    if (!waits.has(key)) waits.set(key, []);
    waits.get(key).push(ns);
  };
  const ofRound = [1, 2, 3, 4].map(
    (id) => new Map(ec[id].map((e) => [e.round, e])));
  for (const below of ec[10]) {
    const tops = ofRound.map((events) => events.get(below.round));
    const last = tops[below.thread];
    tops.forEach((e, i) => {
      if (e && last && i !== below.thread)
        wait(i, below.thread, 'element1', last.start - e.start);
    });
  }
  ec[6].forEach((read, j) => {
    const write = ec[5][j], again = ec[5][j + 4];
    if (inSumOnly) return;
    if (write && write.start > read.start)
      wait(4, 3, 'element2', write.start - read.start);
    if (again && read.start > again.start)
      wait(3, 4, 'element2', read.start - again.start);
  });
  return [...waits.entries()].map(([key, times]) => {
    const [thread, for_thread, over] = JSON.parse(key);
    return {thread, for_thread, over, ...sample(times),
      times: times.sort((a, b) => a - b)};
  });
}

/* --- comparing --- */

/* Waits of which a view knows nothing if it rounds both of their stamps to the
 * same nanosecond. */
const unsure = (wait) => wait.times.filter((ns) => ns < ROUNDED_NS).length;
const isSure = (wait) => unsure(wait) < wait.count;

/* The waits, without as many unsure ones as a view has left out. */
function asSeen(wait, count) {
  const left = wait.count - count;
  return left > 0 && left <= unsure(wait)
    ? {...wait, ...sample(wait.times.slice(left))} : wait;
}

/* Of many roundings the sum may be off by as many. */
const slack = (key, row) => key === 'total_ns' ? 2 * row.count + 1
  : /^(communicating|computing|runnable|sleeping)_ns$/.test(key) ? 2 * 20000
    : ROUNDED_NS;

function compareRow(what, got, want) {
  for (const [key, value] of Object.entries(want)) {
    if (key === 'together' || key === 'times')
      continue;
    if (key === 'first')
      assert.ok(Math.abs(got.first - value) <= want.together,
        `${what}: ${got.first} times the first, not ${value}`);
    else if (!key.endsWith('_ns'))
      assert.equal(got[key], value, `${what}: ${key}`);
    else
      assert.ok(Math.abs(got[key] - value) <= slack(key, want),
        `${what}: ${key} is ${got[key]}, not ${value}`);
  }
}

/* Rows of the view that have nothing to tell may be missing there or here. */
function compare(what, got, want, keys, filter = () => true) {
  const name = (row) => keys.map((key) => row[key]).join(' ');
  const rows = new Map(got.filter(filter).map((row) => [name(row), row]));
  for (const row of want) {
    const found = rows.get(name(row));
    rows.delete(name(row));
    if (!found) {
      assert.ok(row.count === 0 || row.last === 0 || row.times && !isSure(row),
        `${what}: there is no row "${name(row)}"`);
      continue;
    }
    compareRow(`${what}: ${name(row)}`, found,
      row.times ? asSeen(row, found.count) : row);
  }
  for (const [left, row] of rows)
    assert.equal(row.count ?? row.last, 0, `${what}: "${left}" is not expected`);
}

function view(run, name, more) {
  const text = execFileSync(command,
    ['view', run, name, '--format', 'json', ...more],
    {encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe']});
  return JSON.parse(text).rows;
}

/* For whom the others waited: largest first, which one over what, whom most.
 * Who is within the slack of the largest may stand in its place. */
function checkDelays(what, rows, pairs, waits) {
  const slackOf = (some) => some.reduce((n, w) => n + 2 * w.count + 1, 1);
  const ns = (some) => some.reduce((sum, w) => sum + w.total_ns, 0);
  const those = (by) => waits.filter((w) =>
    Object.entries(by).every(([key, value]) => w[key] === value));
  const close = (got, some, text) => assert.ok(
    Math.abs(got - ns(some)) <= slackOf(some), `${what}: ${text}: ${got}`);
  const isMost = (some, key, got) => {
    const of = (value) => ns(some.filter((w) => w[key] === value));
    assert.ok(some.every((w) => of(w[key]) <= of(got) + slackOf(some)),
      `${what}: ${got} is not the most ${key}`);
  };
  const share = (row, all) => assert.ok(
    Math.abs(row.delays_share - row.total_ns / all) < 2e-6, what);
  const sum = (list) => list.reduce((n, row) => n + row.total_ns, 0);
  /* Who is in some of the waits may be there, and who is in a sure one is. */
  const has = (got, some, who) => {
    assert.equal(new Set(got).size, got.length, `${what}: ${got}`);
    for (const one of got)
      assert.ok(some.some((w) => who(w) === one), `${what}: why ${one}?`);
    for (const w of some.filter(isSure))
      assert.ok(got.includes(who(w)), `${what}: there is no ${who(w)}`);
  };

  has(rows.map((row) => row.thread), those({}), (w) => w.for_thread);
  for (const row of rows) {
    const all = those({for_thread: row.thread});
    close(row.total_ns, all, row.thread);
    assert.equal(row.process, PROCESS_OF[row.thread]);
    const delayed = (some) => new Set(some.map((w) => w.thread)).size;
    assert.ok(row.threads <= delayed(all) &&
      row.threads >= delayed(all.filter(isSure)), `${what}: ${row.threads}`);
    isMost(all, 'over', row.over);
    isMost(all, 'thread', row.longest_thread);
    share(row, sum(rows));
  }
  has(pairs.map((row) => `${row.thread} ${row.delayed_thread}`), those({}),
    (w) => `${w.for_thread} ${w.thread}`);
  for (const row of pairs) {
    const all = those({for_thread: row.thread, thread: row.delayed_thread});
    close(row.total_ns, all, `${row.thread} delays ${row.delayed_thread}`);
    assert.equal(row.delayed_process, PROCESS_OF[row.delayed_thread]);
    isMost(all, 'over', row.over);
    share(row, sum(rows));
  }
  for (const list of [rows, pairs])
    list.forEach((row, i) => assert.ok(
      i === 0 || row.total_ns <= list[i - 1].total_ns, `${what}: not sorted`));
}

function compareAll(what, run, ec, more, whole) {
  const look = (name, ...options) => view(run, name,
    ['--reference', ec.reference, ...more, ...options]);
  const check = (name, got, want, keys, filter) =>
    compare(`${what}: ${name}`, got, want, keys, filter);
  const way = ['wrapper', 'input'];

  check('thread-wait', look('thread-wait'), threadWait(ec), ['thread']);
  check('remote-overhead', look('remote-overhead'), remoteOverhead(ec), ['proxy']);
  check('signal-arrival', look('signal-arrival'), signalArrival(ec), way);
  check('signal-departure', look('signal-departure'), signalDeparture(ec), way);
  check('performance', look('performance'), performance(ec), ['wrapper', 'phase']);
  const arrivers = look('last-arriver'), wanted = lastArriver(ec);
  check('last-arriver', arrivers, wanted.filter((r) => r.input), way,
    (row) => row.input);
  check('last-arriver', arrivers, wanted.filter((r) => !r.input), ['from'],
    (row) => !row.input);
  check('element-order', look('element-order', '--detail', '--name', 'element2'),
    elementOrder(ec), ['order']);
  /* What is off the processor now is not told of for some milliseconds. */
  check('communication', look('communication'),
    communication(ec).map(({bytes, runnable_ns, sleeping_ns, ...row}) =>
      whole ? {...row, runnable_ns, sleeping_ns} : row), ['thread']);
  check('process', look('process'), processes(ec), ['process']);
  check('waits-for', look('waits-for'), waitsFor(ec, !whole),
    ['thread', 'for_thread', 'over'],
    (row) => whole || row.over === 'element1');
  const waits = look('waits-for').map((row) => row.total_ns);
  assert.deepEqual(waits, [...waits].sort((a, b) => b - a), what);
  for (const some of whole ? [[], ['--name', 'element1']]
    : [['--name', 'element1']])
    checkDelays(`${what}: delays ${some}`, look('delays', ...some),
      look('delays', '--detail', ...some), waitsFor(ec, some.length > 0));
  if (whole) /* in a window the first steps are not there */
    check('steps', look('steps'), steps(ec), ['step']);
  console.log(`${what}: ${ec.reduce((n, events) => n + events.length, 0)} events`);
}

/* --- runs --- */

function readAll(run) {
  const ec = readRun(run);
  numberRounds(ec);
  return ec;
}

const started = [];

/* To all processes of a run. */
function signal(name, {child}) {
  return spawnSync('pkill', [`-${name}`, '-s', String(child.pid)]).status;
}

function start(name, rounds_, computing_us) {
  const run = join(folder, name);
  const child = spawn(command, ['run', map, '--output', run, '--', program,
    String(rounds_), String(computing_us)], {stdio: 'ignore', detached: true});
  const ended = new Promise((resolve) => child.on('exit', resolve));
  started.push({run, child, ended});
  return started.at(-1);
}

async function untilRounds(run, count) {
  for (const deadline = Date.now() + DEADLINE_MS; Date.now() < deadline;) {
    const said = ['A', 'B'].map((process) => spawnSync(rawTuples,
      [run, process], {encoding: 'utf8', maxBuffer: 1 << 30}));
    if (said.every((s) => s.status === 0)) {
      const ec = readLive(run);
      numberRounds(ec);
      if (Math.min(ec[10].length, ec[6].length) >= count) return ec;
    }
    await pause(20);
  }
  throw new Error(`${run}: there never were ${count} rounds`);
}

async function finished() {
  const {run, ended} = start('finished', 500, 0);
  assert.equal(await ended, 0);
  const ec = readAll(run);
  for (let id = 1; id <= 10; id++) assert.equal(ec[id].length, 500);
  compareAll('finished', run, ec, [], true);
}

/* All of its processes at once, in the middle of it: they stand still before,
 * so that none goes on after another was killed. */
async function killed() {
  const all = start('killed', 100000000, 1000), {run, ended} = all;
  await untilRounds(run, 300);
  assert.equal(signal('STOP', all), 0);
  assert.equal(signal('KILL', all), 0);
  await ended;
  const ec = readAll(run);
  assert.ok(ec[10].length >= 300);
  compareAll('killed', run, ec, [], true);
}

/* A moment at which nobody was in an operation of the sum, nor began or ended
 * one on element 2; undefined if there was none as far as is known. */
function quietAfter(ec, round) {
  const isNear = (ns) => [...ec[5], ...ec[6]].some((e) =>
    [e.start, e.end].some((stamp) => Math.abs(stamp - ns) <= ROUNDED_NS));
  for (let r = round; [1, 2, 3, 4].every((id) => r + 1 < ec[id].length); r++) {
    const ends = [1, 2, 3, 4].map((id) => ec[id][r].end);
    const starts = [1, 2, 3, 4].map((id) => ec[id][r + 1].start);
    const from = Math.max(...ends), to = Math.min(...starts);
    const middle = Math.round((from + to) / 2);
    if (to - from > 2000 && !isNear(middle)) return middle;
  }
  return undefined;
}

/* The window has passed when it is asked for, and the run still goes on. */
async function live() {
  const {run, child, ended} = start('live', 100000000, 1000);
  let before, from, to;
  /* On a busy machine somebody may be late in every round for a while. */
  for (let count = 600; to === undefined; count += 300) {
    before = await untilRounds(run, count);
    from = quietAfter(before, 100);
    to = quietAfter(before, count - 200);
  }
  compareAll('live', run, within(before, from, to),
    ['--from', `${from}ns`, '--to', `${to}ns`], false);
  assert.equal(child.exitCode, null, 'it has ended meanwhile');
  process.kill(child.pid, 'SIGTERM');
  await ended;
}

try {
  await finished();
  await killed();
  await live();
} finally {
  for (const run of started)
    if (run.child.exitCode === null && run.child.signalCode === null)
      signal('KILL', run);
  rmSync(folder, {recursive: true, force: true});
}
