/* experiments_check.mjs - what the paper found in its experiments is found in
 * ours, and is what the programs themselves know.
 *
 *     node experiments_check.mjs BIN RAW_TUPLES
 *
 * 5.2  barrier     who came last: the threads log when they arrive
 * 5.3  river       for whom the others wait, as the raw trace tuples say: it is
 *                  the first strip that has the work, by the program's own
 *                  counts of wet cells
 * 5.1  windtunnel  when each thread finished each step: the steps that it has
 *                  run, in their order, and never two apart from a neighbour
 *
 * docs/experiments.md tells them in full. */
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import assert from 'node:assert/strict';

const [bin, rawTuples] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-experiments-'));

/* --- running --- */

const run_ = (program, args) => execFileSync(join(bin, program), args,
  {encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'inherit']});

/* Maps, instruments and runs a program; gives the run directory. */
function experiment(name, program, mapping, processes, args) {
  const application = join(folder, `${name}.app.dot`);
  const plain = join(folder, `${name}.dot`);
  const map = join(folder, `${name}.all.dot`), run = join(folder, name);
  writeFileSync(application, run_(program, ['mapping', ...mapping]));
  run_('eventspace', ['map', 'generate', '--application', application,
    '--processes', String(processes), '-o', plain]);
  run_('eventspace', ['map', 'instrument', plain, '--collectors', 'all',
    '-o', map]);
  run_('eventspace', ['run', map, '--output', run, '--', join(bin, program),
    ...args]);
  return run;
}

const view = (run, name, ...more) => JSON.parse(
  run_('eventspace', ['view', run, name, '--format', 'json', ...more])).rows;

/* --- 5.2 --- */

function readArrivals(run) {
  const rounds = [];
  const lines = readFileSync(join(run, 'arrivals.csv'), 'utf8').trimEnd();
  for (const line of lines.split('\n').slice(1)) {
    const [round, thread, process, arrived, left] = line.split(',');
    (rounds[round] ??= []).push({thread: Number(thread), process,
      arrived: BigInt(arrived), left: BigInt(left)});
  }
  for (const arrivals of rounds)
    arrivals.sort((a, b) => Number(a.arrived - b.arrived));
  return rounds;
}

/* A thread notes that it arrives just before it does: where the last two are
 * closer than this, it is not known which came last: it may have had to wait
 * for a processor in between. */
const APART_NS = 100000000n;

const isSure = (arrivals) =>
  arrivals.at(-1).arrived - arrivals.at(-2).arrived > APART_NS;

/* On a machine that is very busy with other things the late one is made later,
 * until it is known who came last in most rounds. */
function lateRun(late, threads, rounds, processes, waitMs) {
  const run = experiment(`barrier${waitMs}`, 'barrier',
    ['--threads', String(threads), `--late=${late}`, '--wait=20ms',
      `--late-wait=${waitMs}ms`, `--rounds=${rounds}`, '--unchecked'],
    processes, ['run']);
  const truth = readArrivals(run);
  assert.equal(truth.length, rounds);
  if (2 * truth.filter(isSure).length > rounds) return {run, truth};
  assert.ok(waitMs < 5000, 'in most rounds it is not known who came last');
  return lateRun(late, threads, rounds, processes, 3 * waitMs);
}

function barrier() {
  const late = 13, processes = 4, threads = 32, rounds = 20;
  const {run, truth} = lateRun(late, threads, rounds, processes, 400);
  const name = (thread) => `t${thread}`;

  /* Of all: in each round. */
  const all = view(run, 'last-arriver');
  const tree = all.filter((row) => row.wrapper === '(tree)');
  const last = new Map(tree.map((row) => [row.from, row.last]));
  assert.equal(tree.reduce((sum, row) => sum + row.last, 0), rounds);
  const sure = truth.filter(isSure);
  const unsure = rounds - sure.length;
  for (let thread = 0; thread < threads; thread++) {
    const logged = sure.filter((a) => a.at(-1).thread === thread).length;
    const seen = last.get(name(thread)) ?? 0;
    assert.ok(logged <= seen && seen <= logged + unsure,
      `${name(thread)} was last in ${seen} rounds, by its log in ${logged}`);
  }
  /* Q is the one who is last most often, by far. */
  const most = tree.find((row) => row.from === name(late));
  assert.ok(tree.every((row) => row === most || row.last < most.last),
    `${name(late)} was last in ${most.last} rounds`);
  assert.equal(most.process, truth[0].find((a) => a.thread === late).process);

  /* On its process, at the partial barrier there. */
  const there = view(run, 'last-arriver', '--detail')
    .filter((row) => row.from === name(late));
  const ownProcess = truth.map((arrivals) =>
    arrivals.filter((a) => a.process === most.process));
  const sureThere = ownProcess.filter(isSure);
  const loggedThere =
    sureThere.filter((a) => a.at(-1).thread === late).length;
  assert.ok(loggedThere <= there.length &&
    there.length <= loggedThere + rounds - sureThere.length,
    `Q came last on its process in ${there.length} rounds, by its log in ` +
    `${loggedThere}`);

  /* The signal of its process is the last one at the root. */
  const root = view(run, 'last-arriver', '--detail').filter((row) =>
    all.some((r) => r.wrapper === row.wrapper && r.process !== most.process));
  const rootName = all.find((row) =>
    row.wrapper !== '(tree)' && row.last > 0 && row.rounds === rounds &&
    all.some((r) => r.wrapper === row.wrapper &&
      r.process !== row.process))?.wrapper;
  const byProcess = root.filter((row) => row.wrapper === rootName);
  sure.forEach((arrivals) => assert.ok(arrivals.length === threads));
  const wanted = sure.filter((a) => a.at(-1).process === most.process).length;
  const found = byProcess.filter((row) => row.process === most.process).length;
  assert.ok(wanted <= found && found <= wanted + unsure,
    `process ${most.process} was last in ${found} rounds, by the log in ` +
    `${wanted}`);
  console.log(`barrier: ${most.from} of ${most.process} last in ` +
    `${most.last} of ${rounds} rounds, ${sure.length} of them sure; ` +
    `its process's signal in ${found}`);
}

/* --- 5.3 --- */

/* The raw tuples of the collectors next to the threads, and of one below a
 * collective: they are on one machine, and count the same ticks. */
function readTuples(run, processes) {
  const tuples = new Map(), lives = new Map();
  let hz;
  for (const process of processes) {
    const scheduling = execFileSync(rawTuples, [run, process, 'scheduling'],
      {encoding: 'utf8', maxBuffer: 1 << 30}).trimEnd().split('\n');
    for (const line of scheduling) {
      const [kind, thread, start] = line.split(',');
      if (kind === '0' || kind === '3')
        lives.set(`t${thread}`,
          [...lives.get(`t${thread}`) ?? [], BigInt(start)]);
    }
    const lines = execFileSync(rawTuples, [run, process],
      {encoding: 'utf8', maxBuffer: 1 << 30}).trimEnd().split('\n');
    hz ??= Number(lines[0].split(' ')[3]);
    for (const line of lines.slice(1)) {
      const [collector, thread, , , , , start, end] = line.split(',').map(BigInt);
      if (!tuples.has(collector)) tuples.set(collector, []);
      tuples.get(collector).push({thread: Number(thread), start, end});
    }
  }
  for (const list of tuples.values())
    list.sort((a, b) => Number(a.start - b.start));
  const ids = new Map([...readFileSync(join(run, 'pathmap.dot'), 'utf8')
    .matchAll(/"([^"]+)" \[kind=collector, id=(\d+)/g)]
    .map(([, name, id]) => [name, BigInt(id)]));
  return {lives, ns: (ticks) => Number(ticks) * 1e9 / hz, names: [...ids.keys()],
    of: (name) => tuples.get(ids.get(name)) ?? []};
}

/* The first strip has more than half of the work, so that its thread comes last
 * to most steps; where others use the processors it may take another try. */
const CULPRIT = 0;

function riverRun(count, tries) {
  const run = experiment(`river${tries}`, 'river',
    ['--threads', String(count), '--size', 'W'], count, ['run']);
  const raw = readTuples(run, ['h0', 'h1', 'h2', 'h3']);
  const last = raw.of('step.min.ec').map(({thread}) => thread);
  if (2 * last.filter((thread) => thread === CULPRIT).length > last.length)
    return {run, raw, last};
  assert.ok(tries > 1, 'the strip with the most work is not late');
  return riverRun(count, tries - 1);
}

/* What the program measured itself around the operations of its steps is at
 * least what was recorded in them; and what it computed there is at most what it
 * computed in all. Its times are cut to ms. */
function checkTold(raw, threads, values) {
  const told = (name) => values[name].split(' ').map(Number);
  const computing = told('strips_computing_ms');
  const communicating = told('strips_communicating_ms');
  threads.forEach(({thread, computing_ns}, i) => {
    const inSteps = raw.names.filter((name) => name.startsWith(`${thread}.`) &&
      name.endsWith('.ec1') && !/\.(strips|rows)\.ec1$/.test(name));
    let recorded = 0n;
    for (const {start, end} of inSteps.flatMap(raw.of)) recorded += end - start;
    assert.ok(communicating[i] + 1 > raw.ns(recorded) / 1e6 * 0.999,
      `${thread} was ${communicating[i]} ms in operations`);
    assert.ok(computing[i] < computing_ns / 1e6 * 1.001,
      `${thread} computed for ${computing[i]} ms`);
  });
}

function river() {
  const count = 4;
  const {run, raw, last} = riverRun(count, 10);
  const values = JSON.parse(readFileSync(join(run, 'river.json'))).values;
  const wet = values.strips_wet_start.split(' ').map(Number);
  assert.ok(wet[0] > 2 * Math.max(...wet.slice(1)), `wet cells: ${wet}`);

  /* What a thread computes lies between its operations, and before and after
   * them. */
  const threads = view(run, 'communication');
  assert.equal(threads.length, count);
  const close = (seen, wanted, within, what) => assert.ok(
    Math.abs(seen - wanted) <= within, `${what}: ${seen}, not ${wanted}`);
  threads.forEach(({thread, communicating_ns, computing_ns}) => {
    const own = raw.names
      .filter((name) => name.startsWith(`${thread}.`) && name.endsWith('.ec1'))
      .flatMap(raw.of).sort((a, b) => Number(a.start - b.start));
    let communicating = 0n;
    for (const {start, end} of own) communicating += end - start;
    const [begin, ended] = raw.lives.get(thread);
    const all = ended - begin;
    close(communicating_ns, raw.ns(communicating), 2 * own.length,
      `${thread} communicates`);
    close(computing_ns, raw.ns(all - communicating), 2 * own.length,
      `${thread} computes`);
  });
  checkTold(raw, threads, values);

  /* In each step all wait for the last one, who takes the minimum on. */
  const arrivals = threads.map(({thread}) => raw.of(`${thread}.step.ec1`));
  const waits = view(run, 'waits-for');
  threads.forEach((who, i) => threads.forEach((whom, k) => {
    if (i === k) return;
    const rounds = [...last.keys()].filter((round) => last[round] === k);
    const row = waits.find((w) => w.thread === who.thread &&
      w.for_thread === whom.thread && w.over === 'step');
    const what = `${who.thread} waits for ${whom.thread}`;
    const times = rounds.map((round) =>
      raw.ns(arrivals[k][round].start - arrivals[i][round].start));
    /* Those who came even later have not waited; times are rounded. */
    const count = row?.count ?? 0;
    assert.ok(count >= times.filter((ns) => ns > 2).length &&
      count <= times.filter((ns) => ns > -2).length, what);
    const waited = times.reduce((sum, ns) => sum + Math.max(0, ns), 0);
    close(row?.total_ns ?? 0, waited, 4 * rounds.length, what);
  }));

  const total = (whom) => waits.filter((row) => row.for_thread === whom)
    .reduce((sum, row) => sum + row.total_ns, 0);
  const most = threads.reduce((a, b) =>
    (total(a.thread) >= total(b.thread) ? a : b)).thread;
  assert.equal(most, threads[CULPRIT].thread);
  assert.equal(view(run, 'delays')[0].thread, most);
  console.log(`river: shares ${threads.map((t) => t.communicating_share.toFixed(2))}, ` +
    `waited for ${most} most, ${(total(most) / 1e6).toFixed(1)} ms`);
}

/* --- 5.1 --- */

function windtunnel() {
  const steps = 200, threads = 12;
  const run = experiment('windtunnel', 'windtunnel',
    ['--threads', String(threads), '--width', '256', '--height', '96'], 4,
    ['run', '--steps', String(steps)]);
  const finished = [];
  for (const row of view(run, 'steps', '--detail')) {
    if (row.step <= steps)
      (finished[row.step] ??= [])[row.number] = row.end_ns;
  }
  for (let step = 1; step <= steps; step++) {
    assert.equal(finished[step].filter((t) => t !== undefined).length, threads);
    for (let t = 0; step > 1 && t < threads; t++) {
      assert.ok(finished[step][t] > finished[step - 1][t]);
      /* It has read what its neighbours wrote in this step, so they had
       * finished the step before. */
      for (const n of [t - 1, t + 1]) {
        if (n >= 0 && n < threads)
          assert.ok(finished[step][t] >= finished[step - 1][n],
            `t${t} finished step ${step} before t${n} finished the one before`);
      }
    }
  }
  const summary = view(run, 'steps').filter((row) => row.step <= steps);
  for (const row of summary) {
    assert.equal(row.first_end_ns, Math.min(...finished[row.step]));
    assert.equal(row.last_end_ns, Math.max(...finished[row.step]));
  }
  console.log(`windtunnel: ${steps} steps of ${threads} threads, spread of ` +
    `step ${steps}: ${(summary.at(-1).spread_ns / 1e6).toFixed(2)} ms`);
}

try {
  barrier();
  river();
  windtunnel();
} finally {
  rmSync(folder, {recursive: true, force: true});
}
