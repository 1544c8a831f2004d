// loads_test.mjs - programs that load MPI when they run: those that find its
// functions by name are recorded, and others are left as they are.
//
//     loads_test.mjs BIN FOLDER
import assert from 'node:assert/strict';
import {join} from 'path';
import {compile, folder, here, mpis, output, sql, succeed}
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
  console.log(`${mpi}: as they should`);
}
