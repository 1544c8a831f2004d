// watch_test.mjs - --watch tells of a deadlock, once, and of nothing else; with
// =end it ends the program.
//
//     watch_test.mjs BIN FOLDER
import assert from 'node:assert/strict';
import {spawn as spawnAside} from 'child_process';
import {existsSync, rmSync} from 'fs';
import {join} from 'path';
import {command, compile, folder, mpis, spawn, sparing} from './support.mjs';

const ranks = 3;
const told = text => text.split('\n').filter(line => /deadlock/.test(line));

function run(how, directory, words, ...options) {
  return spawn(command, ['run', `--mpi=${ranks}`, ...how, ...options,
                         `--output=${directory}`, '--', ...words],
               {env: sparing});
}

function checkEnds(mpi, program) {
  const ring = run(['--watch=end'], `ring.${mpi}`, [program, 'ring_of_receives']);
  assert.equal(ring.status, 4, ring.stderr);
  const [head, ...lines] = told(ring.stderr);
  assert.match(head, /none of these can ever go on/);
  lines.forEach((line, i) => assert.match(line, RegExp(
    `^eventspace: deadlock: rank_${i} waits in MPI_Recv from ` +
    `rank_${(i + ranks - 1) % ranks} at deadlocks.c:\\d+, tag 7, ` +
    `for rank_${(i + ranks - 1) % ranks} \\(in MPI_Recv from `)));
  assert.equal(lines.length, ranks);
}

// An older run that hung is no matter, and the exit code is the program's.
function checkSilent(mpi, program) {
  const slow = run(['--watch=end'], `ring.${mpi}`, [program, 'late_message'],
                   '--replace');
  assert.equal(slow.status, 0, slow.stderr);
  assert.deepEqual(told(slow.stderr), []);
  const none = run(['--watch'], `none.${mpi}`, [program, 'there_is_no_such']);
  assert.equal(none.status, 2, none.stderr);
}

// Behind a launcher; it is only told, and the program goes on until it is killed.
async function checkTells(mpi, program) {
  const job = spawnAside(`mpirun.${mpi}`,
    ['-n', String(ranks), command, 'mpi', '--watch', '--output', `told.${mpi}`,
     '--', program, 'polling'],
    {cwd: folder, env: sparing, stdio: ['ignore', 'ignore', 'pipe']});
  let said = '';
  const ended = new Promise(done => job.on('close', done));
  const isTold = new Promise(done => job.stderr.on('data', data => {
    said += data;
    if (told(said).length >= 3)
      done();
  }));
  await Promise.race([isTold, ended]);
  assert.equal(job.exitCode, null, said);
  job.kill('SIGTERM');
  await ended;
  assert.match(said, /rank_0 waits in MPI_Test.* for rank_1 \(in MPI_Test/);
  assert.match(said, /rank_1 waits in MPI_Test.* for rank_0 \(in MPI_Test/);
  assert.equal(told(said).length, 3, said);
}

// Who watches ends with the program also when the run is not there any more.
async function checkRemoved(mpi, program) {
  const gone = join(folder, `gone.${mpi}`);
  const job = spawnAside(`mpirun.${mpi}`,
    ['-n', String(ranks), command, 'mpi', '--watch', '--output', gone,
     '--', program, 'late_message'],
    {cwd: folder, env: sparing, timeout: 60000,
     stdio: ['ignore', 'ignore', 'pipe']});
  const ended = new Promise(done => job.on('close', done));
  const begun = () => Array.from({length: ranks}, (_, i) => `rank_${i}.meta`)
    .every(name => existsSync(join(gone, name)));
  job.stderr.resume();
  while (!begun() && job.exitCode === null)
    await new Promise(setImmediate);
  rmSync(gone, {recursive: true, force: true});
  assert.equal(await ended, 0);
}

for (const mpi of mpis) {
  const program = compile(mpi, 'deadlocks.c');
  checkEnds(mpi, program);
  checkSilent(mpi, program);
  await checkTells(mpi, program);
  await checkRemoved(mpi, program);
}
const wrong = run(['--watch=for'], 'wrong', ['program']);
assert.equal(wrong.status, 2);
assert.match(wrong.stderr, /--watch or --watch=end/);
const map = spawn(command, ['run', 'map.dot', '--watch', '--output=map', '--', 'x']);
assert.equal(map.status, 2);
assert.match(map.stderr, /--watch is for MPI programs/);
