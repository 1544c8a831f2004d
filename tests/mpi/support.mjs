// support.mjs - what the tests of the recorder for MPI programs share: a folder,
// programs of both MPIs, and runs of them.
import assert from 'node:assert/strict';
import {spawnSync} from 'child_process';
import {existsSync, mkdtempSync, rmSync} from 'fs';
import {tmpdir} from 'os';
import {basename, join, resolve} from 'path';
import {sparingWith} from './sparing.mjs';

export const [bin, here] = process.argv.slice(2, 4).map(path => resolve(path));
// Those that EventSpace was built with, or of EVENTSPACE_MPI.
export const mpis = process.env.EVENTSPACE_MPI?.split(' ') ??
  ['openmpi', 'mpich'].filter(mpi =>
    existsSync(join(bin, `../lib/libeventspace_${mpi}.so`)));
export const command = join(bin, 'eventspace');
const milliseconds = Number(process.env.EVENTSPACE_MPI_SECONDS ?? 180) * 1000;
export const folder = mkdtempSync(join(tmpdir(), 'eventspace-mpi-'));
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));

// Root may start Open MPI, and more processes than there are cores; these give
// way to each other. Messages go by what it chooses itself where there is no network
// of its own kind; to look for one would take 0.2 s of each start (jobs/ has it look).
export const environment = {...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1',
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1', OMPI_MCA_rmaps_base_oversubscribe: '1',
  OMPI_MCA_mpi_yield_when_idle: '1', OMPI_MCA_pml: 'ob1', TMPDIR: folder};
// For most tests; programs in Fortran and deadlocks have what users have.
export const sparing = {...environment, ...sparingWith(bin)};

export function spawn(program, words, options = {}) {
  return spawnSync(program, words, {cwd: folder, encoding: 'utf8',
    maxBuffer: 1 << 29, timeout: milliseconds, env: environment, ...options});
}

// Of one that has not ended as it should.
const said = ({error, signal, stderr, stdout}) =>
  [error, signal, stderr, stdout].filter(Boolean).join(' ');

export function output(program, ...words) {
  const done = spawn(program, words);
  assert.equal(done.status, 0, `${program} ${words.join(' ')}: ${said(done)}`);
  return done.stdout;
}

export function compile(mpi, source, ...flags) {
  const to = join(folder, `${basename(source, '.c')}.${mpi}`);
  output(`mpicc.${mpi}`, '-std=gnu11', '-O1', '-g', '-pthread', '-Wall',
         '-Werror', '-Wno-stringop-overflow', '-Wno-deprecated-declarations',
         join(here, source), ...flags, '-o', to);
  return to;
}

// What to put in front of a program for its calls to be counted in `logs`.
export function counter(mpi, logs) {
  const library = join(folder, `counter.${mpi}.so`);
  if (!existsSync(library))
    output(`mpicc.${mpi}`, '-std=gnu11', '-O1', '-shared', '-fPIC', '-Wall',
           '-Werror', '-I', resolve(here, '../..'), join(here, 'counter.c'),
           '-o', library);
  return ['env', `LD_PRELOAD=${library}:${sparing.LD_PRELOAD}`, `COUNTER_FOLDER=${logs}`];
}

// Behind a launcher; `options` are those of `eventspace mpi`, and without them
// the program is started as it is.
export function launch(mpi, ranks, options, words, more = {}) {
  const own = options ? [command, 'mpi', ...options, '--', ...words] : words;
  return spawn(`mpirun.${mpi}`, ['-n', String(ranks), ...own],
               {env: sparing, ...more});
}

export function succeed(...about) {
  const done = launch(...about);
  assert.equal(done.status, 0, `${about.join(' ')}: ${said(done)}`);
  return done;
}

// Of a statement, as objects with texts.
export function sql(run, statement) {
  const [head, ...rows] = output(command, 'sql', run, '--format=csv', statement)
    .trim().split('\r\n').map(line => line.split(','));
  return rows.map(row =>
    Object.fromEntries(head.map((name, i) => [name, row[i]])));
}
