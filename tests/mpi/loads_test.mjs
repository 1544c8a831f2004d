// loads_test.mjs - programs that load MPI when they run: those that find its
// functions by name are recorded, and others are left as they are. And programs
// that are linked with a recorder.
//
//     loads_test.mjs BIN FOLDER
import assert from 'node:assert/strict';
import {existsSync} from 'fs';
import {join} from 'path';
import {bin, compile, folder, here, mpis, output, sql, succeed}
  from './support.mjs';

const libraries = {openmpi: 'libmpi.so.40', mpich: 'libmpich.so.12'};
const packages = {openmpi: 'ompi', mpich: 'mpich'};
const told = ['0 has 7', '1 has 7'];

// With the headers of MPI, and not with its library.
function without(mpi) {
  const to = join(folder, `plain.${mpi}`);
  const flags = output('pkg-config', '--cflags', packages[mpi]).trim().split(/\s+/);
  output('cc', '-std=gnu11', '-Wall', '-Werror', ...flags, join(here, 'loads.c'),
         '-ldl', '-o', to);
  return to;
}

// With a recorder in front of MPI: one that is loaded, or part of the program.
function linked(mpi, name, ...flags) {
  const to = join(folder, `${name}.${mpi}`);
  output(`mpicc.${mpi}`, '-std=gnu11', '-g', '-DLINKED', join(here, 'loads.c'),
         `-L${join(bin, '..', 'lib')}`, `-Wl,-rpath,${join(bin, '..', 'lib')}`,
         ...flags, '-o', to);
  return to;
}

function check(mpi, program, library, how, options, messages) {
  const run = join(folder, `${mpi}.${how}.${options.length}`);
  const done = succeed(mpi, 2, ['--output', run, ...options],
                       [program, library, how]);
  assert.deepEqual(done.stdout.trim().split('\n').sort(), told);
  const rows = messages ? sql(run, 'select * from message') : [];
  assert.equal(rows.length, messages, `${mpi}: ${how}`);
  for (const row of rows)
    assert.deepEqual([row.send_call, row.receive_call, row.status],
                     ['MPI_Send', 'MPI_Recv', ''], JSON.stringify(row));
}

for (const mpi of mpis) {
  const library = libraries[mpi], program = without(mpi);
  const module = compile(mpi, 'loads.c', '-DMODULE', '-shared', '-fPIC');
  const options = ['--preload', library];
  check(mpi, program, library, 'any', options, 1);
  check(mpi, program, module, 'module', options, 1);
  check(mpi, program, library, 'own', options, 0);
  check(mpi, program, library, 'any', [], 0);
  const loaded = linked(mpi, 'linked', `-leventspace_${mpi}`,
                        '-Wl,--no-as-needed'); // MPI is called by that
  check(mpi, loaded, '', 'linked', [], 1);
  if (existsSync(join(bin, '..', 'lib', `libeventspace_${mpi}.a`))) {
    const whole = linked(mpi, 'whole', `-l:libeventspace_${mpi}.a`,
      `-l:lib${mpi}.a`, ...output('pkg-config', '--libs', '--static', mpi)
        .trim().split(/\s+/).filter(flag => flag !== `-l${mpi}`),
      '-lmsgpackc', '-lm', '-Wl,--as-needed');
    assert.doesNotMatch(output('ldd', whole), /libmpich/);
    check(mpi, whole, '', 'whole', [], 1);
  }
  console.log(`${mpi}: as they should`);
}
