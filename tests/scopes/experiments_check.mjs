/* experiments_check.mjs - what the paper found in its experiments is found in
 * ours, and is what the programs themselves know.
 *
 *     node experiments_check.mjs BIN
 *
 * 5.2  barrier     who came last: the threads log when they arrive
 * 5.3  river       for whom the others wait: the first strip has most work,
 *                  as the program's own counts of wet cells say
 * 5.1  windtunnel  when each thread finished each step: the steps that it has
 *                  run, in their order, and never two apart from a neighbour
 *
 * docs/experiments.md tells them in full. */
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import assert from 'node:assert/strict';

const [bin] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-experiments-'));

/* --- running --- */

const run_ = (program, args) => execFileSync(join(bin, program), args,
  {encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'inherit']});

/* Maps, instruments and runs a program; gives the run directory. */
function experiment(name, program, mapping, hosts, args) {
  const application = join(folder, `${name}.app.dot`);
  const plain = join(folder, `${name}.dot`);
  const map = join(folder, `${name}.all.dot`), run = join(folder, name);
  writeFileSync(application, run_(program, ['mapping', ...mapping]));
  run_('eventspace', ['map', 'generate', '--application', application,
    '--hosts', String(hosts), '-o', plain]);
  run_('eventspace', ['map', 'instrument', plain, '--collectors', 'all',
    '-o', map]);
  run_('eventspace', ['run', map, '--out', run, '--', join(bin, program),
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
    const [round, thread, host, arrived, left] = line.split(',');
    (rounds[round] ??= []).push({thread: Number(thread), host,
      arrived: BigInt(arrived), left: BigInt(left)});
  }
  for (const arrivals of rounds)
    arrivals.sort((a, b) => Number(a.arrived - b.arrived));
  return rounds;
}

/* A thread notes that it arrives just before it does: where the last two are
 * closer than this, it is not known which came last. */
const APART_NS = 20000000n;

function barrier() {
  const late = 13, hosts = 4, threads = 32, rounds = 30;
  const run = experiment('barrier', 'barrier', ['--threads', String(threads),
    `--late=${late}`, '--wait=10ms', '--late-wait=120ms',
    `--rounds=${rounds}`, '--unchecked'], hosts, ['run']);
  const truth = readArrivals(run);
  assert.equal(truth.length, rounds);
  const name = (thread) => `t${thread}`;

  /* Of all: in each round. */
  const all = view(run, 'last-arriver');
  const tree = all.filter((row) => row.wrapper === '(tree)');
  const last = new Map(tree.map((row) => [row.from, row.last]));
  assert.equal(tree.reduce((sum, row) => sum + row.last, 0), rounds);
  const sure = truth.filter((arrivals) =>
    arrivals.at(-1).arrived - arrivals.at(-2).arrived > APART_NS);
  assert.ok(sure.length > rounds / 2,
    `in ${sure.length} of ${rounds} rounds it is known who came last`);
  const unsure = rounds - sure.length;
  for (let thread = 0; thread < threads; thread++) {
    const logged = sure.filter((a) => a.at(-1).thread === thread).length;
    const seen = last.get(name(thread)) ?? 0;
    assert.ok(logged <= seen && seen <= logged + unsure,
      `${name(thread)} was last in ${seen} rounds, by its log in ${logged}`);
  }
  /* Q is the one who is last most often, by far. */
  const most = tree.reduce((a, b) => (a.last >= b.last ? a : b));
  assert.equal(most.from, name(late));
  assert.equal(most.host, truth[0].find((a) => a.thread === late).host);

  /* On its host, at the partial barrier there. */
  const there = view(run, 'last-arriver', '--each')
    .filter((row) => row.from === name(late));
  const ownHost = truth.map((arrivals) =>
    arrivals.filter((a) => a.host === most.host));
  const sureThere = ownHost.filter((a) =>
    a.at(-1).arrived - a.at(-2).arrived > APART_NS);
  const loggedThere =
    sureThere.filter((a) => a.at(-1).thread === late).length;
  assert.ok(loggedThere <= there.length &&
    there.length <= loggedThere + rounds - sureThere.length,
    `Q came last on its host in ${there.length} rounds, by its log in ` +
    `${loggedThere}`);

  /* The signal of its host is the last one at the root. */
  const root = view(run, 'last-arriver', '--each').filter((row) =>
    all.some((r) => r.wrapper === row.wrapper && r.host !== most.host));
  const rootName = all.find((row) =>
    row.wrapper !== '(tree)' && row.last > 0 && row.rounds === rounds &&
    all.some((r) => r.wrapper === row.wrapper && r.host !== row.host))?.wrapper;
  const byHost = root.filter((row) => row.wrapper === rootName);
  sure.forEach((arrivals) => assert.ok(arrivals.length === threads));
  const wanted = sure.filter((a) => a.at(-1).host === most.host).length;
  const found = byHost.filter((row) => row.host === most.host).length;
  assert.ok(wanted <= found && found <= wanted + unsure,
    `host ${most.host} was last in ${found} rounds, by the log in ${wanted}`);
  console.log(`barrier: ${most.from} of ${most.host} last in ${most.last} of ` +
    `${rounds} rounds, ${sure.length} of them sure; its host's signal ` +
    `in ${found}`);
}

/* --- 5.3 --- */

function river() {
  const run = experiment('river', 'river',
    ['--threads', '4', '--size', 'S'], 4, ['run']);
  const values = JSON.parse(readFileSync(join(run, 'river.json'))).values;
  const wet = values.strips_wet_start.split(' ').map(Number);
  assert.ok(wet[0] > 2 * Math.max(...wet.slice(1)), `wet cells: ${wet}`);

  const threads = view(run, 'communication');
  const shares = threads.map((row) => row.share);
  assert.equal(shares.indexOf(Math.min(...shares)), 0,
    `shares of communication: ${shares}`);
  const first = threads[0].thread;
  const waits = view(run, 'waits-for');
  const total = (whom) => waits.filter((row) => row.for_thread === whom)
    .reduce((sum, row) => sum + row.total_ns, 0);
  const most = threads.reduce((a, b) =>
    (total(a.thread) >= total(b.thread) ? a : b));
  assert.equal(most.thread, first);
  console.log(`river: shares ${shares.map((s) => s.toFixed(2))}, ` +
    `waited for ${first} ${(total(first) / 1e6).toFixed(1)} ms`);
}

/* --- 5.1 --- */

function windtunnel() {
  const steps = 200, threads = 12;
  const run = experiment('windtunnel', 'windtunnel',
    ['--threads', String(threads), '--width', '256', '--height', '96'], 4,
    ['run', '--steps', String(steps)]);
  const finished = [];
  for (const row of view(run, 'steps', '--each')) {
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
