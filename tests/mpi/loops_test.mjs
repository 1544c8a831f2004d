// loops_test.mjs - a run of the loops by which MPI is measured has each of their
// calls, bytes and messages.
//
//     loops_test.mjs BIN FOLDER
import assert from 'node:assert/strict';
import {mkdirSync} from 'fs';
import {hostname} from 'os';
import {join} from 'path';
import * as counted from './counted.mjs';
import {command, compile, folder, mpis, output, sql, succeed}
  from './support.mjs';

// Ranks of MPICH spin while they wait.
const ranksOf = {openmpi: 4, mpich: 2};

// In a window of the run, the rounds in the midst of it are what they are in the
// whole run.
function checkWindow(run) {
  const detail = (...window) => output(command, 'view', run, '--detail',
    '--format=csv', ...window, 'last-arriver').trim().split('\r\n').slice(1);
  const rounds = sql(run, 'select round, wrapper, arrived_first_ns as first, ' +
                          'arrived_last_ns as last from round')
    .map(row => ({...row, first: Number(row.first), last: Number(row.last)}));
  const sums = rounds.filter(row => row.wrapper.startsWith('MPI_Allreduce'))
    .map(row => row.last).sort((a, b) => a - b);
  const from = sums[Math.floor(sums.length / 3)];
  const to = sums[Math.floor(sums.length * 2 / 3)];
  const inside = new Set(rounds
    .filter(row => row.first > from && row.last < to)
    .map(row => `${row.round},${row.wrapper}`));
  const kept = rows => rows
    .filter(row => inside.has(row.split(',').slice(0, 2).join(',')));
  const window = kept(detail(`--from=${from}ns`, `--to=${to}ns`));
  assert.ok(window.length > sums.length / 4);
  assert.deepEqual(window, kept(detail()));
}

// What each process says of where and by what it ran.
function checkAbout(mpi, run) {
  const version = /\d+\.\d+\.\d+/.exec(output(`mpirun.${mpi}`, '--version'))[0];
  const library = `${{openmpi: 'Open MPI', mpich: 'MPICH'}[mpi]} ${version}`;
  assert.deepEqual(sql(run, 'select distinct machine, library from process'),
                   [{machine: hostname(), library}]);
}

for (const mpi of mpis) {
  const ranks = ranksOf[mpi], program = compile(mpi, 'loops.c');
  const run = join(folder, `${mpi}.run`), logs = join(folder, `${mpi}.logs`);
  mkdirSync(logs);
  const done = succeed(mpi, ranks, ['--output', run], [program, logs]);
  assert.equal(done.stdout, `${ranks} ranks, 0 wrong\n`);
  const found = counted.check(mpi, run, logs, ranks);
  assert.deepEqual(output(command, 'view', run, '--format=csv', 'unmatched')
    .trim().split('\r\n').slice(1), []);
  // Everybody has been at each round of what all do, and nowhere else.
  const own = counted.counted(logs, 0).call;
  for (const call of ['MPI_Allreduce', 'MPI_Alltoall', 'MPI_Barrier']) {
    const rounds = sql(run, 'select rounds from last_arriver where ' +
                            `element like '${call}%'`);
    assert.deepEqual(rounds, Array.from({length: ranks},
      () => ({rounds: String(own[call][0])})), call);
  }
  checkWindow(run);
  checkAbout(mpi, run);
  console.log(`${mpi}: ${found.calls} calls by name, ${found.messages} messages`);
}
