// clocks_test.mjs - the clocks of a run whose ranks were on several machines are
// found from its messages and collectives: what is said to be certain is true, no
// message arrives before it was sent, and views say what they would say by one
// clock.
//
//     clocks_test.mjs BIN FOLDER OTHER_CLOCKS
//
// With one MPI, Open MPI unless EVENTSPACE_MPI says another. A run is recorded here, where all
// ranks have one clock. other_clocks writes a copy of it with the stamps that other
// counters would have made, and knows the truth.
import assert from 'node:assert/strict';
import {mkdirSync} from 'fs';
import {join} from 'path';
import {command, compile, folder, mpis, output, spawn, sql, succeed}
  from './support.mjs';

const otherClocks = process.argv[4];
const [mpi] = mpis;

// In ticks, billionths, and nanoseconds of the wall clock.
const counters = [
  ['rank_0', 5e9, 31_000, 0],
  ['rank_1', 21e9, -140_000, 700_000_000],
  ['rank_2', 1e9, 173_000, -2_000_000],
  ['rank_3', 9e9, -7_000, 40_000_000_000],
];
// By shape: ranks, rounds, and of those that are not the reference, what they are
// aligned by and from which sides that is bounded.
const found = ['exchanges both', 'exchanges both'];
const shapes = {
  both: [3, 300, found],
  shared: [3, 100, ['shared both', 'exchanges both']],
  few: [2, 3, ['exchanges both']],
  one: [2, 300, ['wall from']],
  back: [2, 300, ['wall to']],
  pairs: [4, 200, ['exchanges both', 'wall from', 'exchanges from']],
  around: [4, 200, ['exchanges both', 'wall both', 'exchanges both']],
  ring: [4, 200, ['wall both', 'wall both', 'wall both']],
  barrier: [3, 300, found],
  sums: [3, 300, found],
  rooted: [3, 300, found],
  empty: [2, 50, ['wall none']],
  nothing: [2, 50, ['wall none']],
  mixed: [2, 200, ['exchanges both']],
  threads: [2, 300, ['exchanges both']],
  freed: [2, 100, ['exchanges both']],
};

// What is run for a shape; in one, two ranks are on one machine.
const programOf = {few: 'both', shared: 'both'};
const isOn = (shape, process) => shape !== 'shared' || process === 'rank_2';

const viewOf = (run, name) => {
  const made = JSON.parse(output(command, 'view', run, '--format=json', name));
  return made.rows ?? made;
};

// Each process as other_clocks checked it.
function truthOf(copy, given) {
  const done = spawn(otherClocks, ['check', copy, ...given]);
  assert.equal(done.status, 0, done.stderr + done.stdout);
  return done.stdout.trim().split('\n').map(line => {
    const [process, how, error, wide, sides] = line.split(' ');
    return {process, how, error: Number(error), wide: Number(wide), sides};
  });
}

function checkCausality(copy, about) {
  const late = sql(copy, 'select count(*) as count, ' +
    "sum(receive_ns < send_ns and receive_call <> 'MPI_Request_free') " +
    'as early from message')[0];
  assert.equal(Number(late.early), 0, about);
  const {accuracy} = JSON.parse(output(command, 'clock', copy, '--format=json'));
  const hull = accuracy.find(row => row.method === 'hull');
  assert.equal(hull.correct, hull.operations, about);
  return hull.operations;
}

// Sums of rows that agree in all texts but those that say for whom it was waited,
// as of two who come at nearly one time either may be the last. They may differ by
// `each` for each wait, by `unclear`, and by what the rates make of them.
function checkRows(before, after, each, unclear, about) {
  const rows = {};
  for (const [side, list] of [before, after].entries()) {
    for (const row of list) {
      const key = Object.entries(row).filter(([name, value]) =>
        typeof value === 'string' && !name.startsWith('for_'))
        .map(([, value]) => value).join('|');
      const sum = (rows[key] ??= [{total: 0, count: 0}, {total: 0, count: 0}])[side];
      sum.total += row.total_ns;
      sum.count += row.count;
    }
  }
  for (const [key, [a, b]] of Object.entries(rows)) {
    const may = Math.max(a.count, b.count) * each + 3e-4 * a.total + 100 +
      (key.startsWith('late sender') ? 0 : unclear);
    assert.ok(Math.abs(a.total - b.total) <= may,
              `${about}: ${key}: ${a.total}, not ${b.total}, +- ${may}`);
  }
}

// A send that ended less than `each` before its receive began may have been held for
// it or not, by clocks that may be wrong by that. How long all these took.
const unclearOf = (run, each) => Number(sql(run,
  'select coalesce(sum(s.end_ns - s.start_ns), 0) as total from message m ' +
  'join event s on s.thread = m.send_thread and s.sequence = m.send_sequence ' +
  'join event r on r.thread = m.receive_thread and r.sequence = m.receive_sequence ' +
  `where m.send_call = 'MPI_Send' and r.start_ns - s.end_ns between 0 and ${each}`)[0]
  .total);

// `each`: by how much the time between two moments may be wrong. Of the critical
// path, both ends are of a rank that may be wrong by that; where two ranks come at
// nearly one time it may go on to the beginning of either.
function checkViews(run, copy, each, about) {
  const unclear = unclearOf(run, each);
  for (const name of ['waits-for', 'wait-states'])
    checkRows(viewOf(run, name), viewOf(copy, name), each, unclear, `${about}: ${name}`);
  const [before, after] = [run, copy].map(of => viewOf(of, 'critical-path')
    .reduce((sum, row) => sum + row.total_ns, 0));
  const begins = sql(run, 'select min(start_ns) as begin from event group by thread')
    .map(row => Number(row.begin));
  const misses = begins.flatMap(a => begins.map(b =>
    Math.abs(before + a - b - after)));
  assert.ok(Math.min(...misses) <= 2 * each + 3e-4 * before + 1000,
            `${about}: critical-path: ${before}, not ${after}`);
}

const program = compile(mpi, 'clocks.c');
for (const [shape, [ranks, rounds, wanted]] of Object.entries(shapes)) {
  const about = `${mpi}: ${shape}`, given = counters.slice(0, ranks)
    .filter(([process]) => isOn(shape, process))
    .map(([process, ...numbers]) => `${process}=${numbers}`);
  const run = join(folder, `${shape}.run`), copy = join(folder, `${shape}.copy`);
  succeed(mpi, ranks, ['--output', run],
          [program, programOf[shape] ?? shape, String(rounds)]);
  mkdirSync(copy);
  output(otherClocks, 'copy', run, copy, ...given);
  const processes = truthOf(copy, given);
  assert.deepEqual(processes.filter(p => p.how !== 'reference')
    .map(p => `${p.how} ${p.sides}`), wanted, about);
  const bounds = checkCausality(copy, about);
  const widest = processes.reduce((sum, p) => sum + p.wide, 0);
  const isFound = wanted.every(how => how.endsWith('both'));
  if (isFound)
    checkViews(run, copy, 2 * widest, about);
  const said = spawn(command, ['clock', copy]).stderr;
  for (const [text, how] of [['come to it', 'wall from'], ['go from it', 'wall to'],
    ['between any two', 'wall both'], ['were collected', 'wall none'],
    ['with rank_2', 'exchanges from']])
    assert.equal(said.includes(text), wanted.includes(how), said);
  const worst = Math.max(...processes.map(p => p.error));
  console.log(`${about}: ${bounds} bounds, wrong by ${worst} ns at most` +
    (isFound ? `, certain +- ${Math.round(widest)} ns` : ''));
}
