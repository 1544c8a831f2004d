// foreign_test.mjs - programs of others, of Debian's scalapack-mpi-test, do the
// same when they are recorded, and what is recorded is what they do.
//
//     foreign_test.mjs BIN FOLDER
//
// Calls, messages and bytes are counted by counter.c in a run of the program
// without the recorder. What they do does not depend on who is faster, but for
// how often a rank asks whether something has come.
import assert from 'node:assert/strict';
import {existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync}
  from 'fs';
import {join} from 'path';
import * as counted from './counted.mjs';
import {command, counter, folder, here, launch, mpis, output, sql}
  from './support.mjs';

const SKIPPED = 77;
const polling = ['MPI_Test', 'MPI_Testall', 'MPI_Iprobe'];
// Ranks of MPICH spin while they wait.
const ranksOf = {openmpi: 4, mpich: 2};
// `time`: what the programs measure.
const programs = [
  // Linear equations: panels go along rows of a grid of processes, pivots along
  // its columns.
  {name: 'xdlu', passed: /^ +\d+ tests completed and passed/m,
    time: /( +\d+\.\d\d){3}(?= PASSED)/g},
  // What ScaLAPACK communicates by: sends, broadcasts and sums in the rows and
  // columns of grids, each of which is a communicator.
  {name: 'BLACS/xCbtest', passed: /THERE WERE NO FAILURES/, time: /$^/g},
];

function find(mpi, name) {
  const multiarch = output('gcc', '-print-multiarch').trim();
  return join('/usr/lib', multiarch, 'scalapack', `${mpi}-tests`, name);
}

// The grids in the programs' input are those of 4 processes.
function writeInput(cwd, ranks) {
  const from = join(here, 'foreign');
  for (const name of readdirSync(from)) {
    const text = readFileSync(join(from, name), 'utf8');
    writeFileSync(join(cwd, name), ranks < 4
      ? text.replace('\n1 2 2\n2 1 2\n', '\n1 2 1\n2 1 1\n') : text);
  }
}

function run(mpi, about, program, options, cwd) {
  const done = launch(mpi, ranksOf[mpi], options, program, {cwd});
  assert.equal(done.status, 0, `${program}: ${done.stderr} ${done.stdout}`);
  assert.match(done.stdout, about.passed);
  return done.stdout.replace(about.time, '');
}

// Who has met how often, as the view has it.
function checkRounds(directory, logs, ranks) {
  for (const call of ['MPI_Allreduce', 'MPI_Barrier']) {
    const rounds = sql(directory, 'select "from" as rank, sum(rounds) as rounds ' +
      `from last_arriver where element like '${call} %' group by 1`);
    const wanted = Array.from({length: ranks}, (_, rank) =>
      counted.counted(logs, rank).call[call]?.[0] ?? 0);
    const found = wanted.map((_, rank) =>
      Number(rounds.find(row => row.rank === `rank_${rank}`)?.rounds ?? 0));
    assert.deepEqual(found, wanted, call);
  }
}

function checkViews(directory, ranks) {
  const view = name => output(command, 'view', directory, '--format=csv', name)
    .trim().split('\r\n').slice(1);
  assert.deepEqual(view('unmatched'), []);
  assert.equal(view('communication').length, ranks);
  assert.ok(view('wait-states').length > 0);
  const ends = sql(directory, 'select state, count(*) as count from process ' +
                              'group by state');
  assert.deepEqual(ends, [{state: 'finished', count: String(ranks)}]);
  assert.match(output(command, 'info', directory), / present .*, 0 lost$/m);
}

function test(mpi, about) {
  const program = find(mpi, about.name), ranks = ranksOf[mpi];
  const name = `${mpi}, ${about.name}`;
  const cwd = join(folder, name.replace(/\W+/g, '.'));
  const logs = join(cwd, 'logs'), directory = join(cwd, 'run');
  mkdirSync(logs, {recursive: true});
  writeInput(cwd, ranks);
  const plain = run(mpi, about, [...counter(mpi, logs), program], null, cwd);
  const seen = run(mpi, about, [program], ['--output', directory], cwd);
  assert.equal(seen, plain, name);
  const found = counted.check(name, directory, logs, ranks, {except: polling});
  checkRounds(directory, logs, ranks);
  checkViews(directory, ranks);
  console.log(`${name}: ${found.calls} calls by name, ${found.messages} messages`);
}

for (const mpi of mpis) {
  for (const about of programs) {
    if (!existsSync(find(mpi, about.name))) {
      console.log(`${find(mpi, about.name)} is not here: install ` +
                  'scalapack-mpi-test');
      process.exit(SKIPPED);
    }
    test(mpi, about);
  }
}
