// offs_test.mjs - for how long ranks had no processor: as much as the kernel counts
// for the program itself; not known of one that was killed.
//
//     offs_test.mjs BIN FOLDER
import assert from 'node:assert/strict';
import {command, compile, environment, launch, mpis, output} from './support.mjs';

const ranks = 3;

for (const mpi of mpis) {
  const program = compile(mpi, 'offs.c');
  const made = (run, ...words) => {
    const done = launch(mpi, ranks, ['--output', run],
      ['taskset', '-c', '0', program, ...words], {env: environment});
    const own = Object.fromEntries(done.stdout.trim().split('\n')
      .filter(line => /^\d+ \d+$/.test(line)).map(line => line.split(' ').map(Number)));
    return {done, own, rows: JSON.parse(output(command, 'view', run, '--format=json',
      'scheduling')).rows};
  };

  const {done, own, rows} = made(`${mpi}.run`, '400');
  assert.equal(done.status, 0, done.stderr);
  assert.equal(rows.length, ranks);
  for (const row of rows) {
    const lasted = row.end_ns - row.start_ns;
    assert.equal(row.recorded, 'sum');
    assert.ok(own[row.number] > 0, done.stdout);
    // What it was without between the two looks of the program, and outside of these.
    assert.ok(row.runnable_ns >= own[row.number] - 20000, JSON.stringify({row, own}));
    assert.ok(row.runnable_ns + row.sleeping_ns <= lasted, JSON.stringify(row));
    assert.ok(row.involuntary_switches > 0, JSON.stringify(row));
    assert.equal(row.longest_runnable_ns, null);
  }
  const advice = JSON.parse(output(command, 'advise', `${mpi}.run`, '--format=json'));
  const all = rows.reduce((sum, row) => sum + row.runnable_ns, 0);
  assert.ok(advice.without_processor_share * rows.reduce((sum, row) =>
    sum + row.end_ns - row.start_ns, 0) >= all * 0.99, JSON.stringify(advice));
  const longest = rows.reduce((a, b) => b.runnable_ns > a.runnable_ns ? b : a).thread;
  assert.match(output(command, 'advise', `${mpi}.run`),
    new RegExp(`^processors: threads that call MPI lacked one for \\d+ % of their time, ${longest} longest`,
      'm'));

  const killed = made(`${mpi}.killed`, '100', 'killed').rows
    .find(row => row.thread === 'rank_0');
  assert.equal(killed.recorded, '');
  assert.equal(killed.runnable_ns, null);
  assert.equal(killed.involuntary_switches, null);
}
