// calls_test.mjs - the recorder has every call of both MPIs.
//
//     calls_test.mjs BIN FOLDER
//
// Compares the functions that each mpi.h declares with those that the interposer
// for it exports. Only those that the head of mpi/calls.def names are missing.
import assert from 'node:assert/strict';
import {readFileSync, writeFileSync} from 'fs';
import {join, resolve} from 'path';
import {bin, folder, mpis, output} from './support.mjs';

// What the head of calls.def says of them.
const reckoning = ['MPI_Wtime', 'MPI_Wtick', 'MPI_Aint_add', 'MPI_Aint_diff'];
const is_left_out = name => reckoning.includes(name) ||
  /^MPI_T_/.test(name) || // by which tools look into MPI
  /_(f2c|c2f|f082c|c2f08|f2f08|f082f|toint|fromint)$/.test(name); // handles
const table = resolve(process.argv[3], '../../mpi/calls.def');
const head = readFileSync(table, 'utf8').match(/^\/\*[^]*?\*\//)[0];
for (const name of [...reckoning, 'MPI_T_', 'between C and Fortran'])
  assert.ok(head.replace(/\n \*/g, '').includes(name),
            `the head of calls.def does not speak of ${name}`);

// Declared as functions, after the preprocessor.
function declared(mpi) {
  const source = join(folder, 'all.c');
  writeFileSync(source, '#include <mpi.h>\n');
  return new Set(output(`mpicc.${mpi}`, '-E', '-P', source)
    .match(/\bMPI_[A-Z]\w*(?=\s*\((?!\s*\*|QMPI))/g));
}

function exported(mpi) {
  const library = join(bin, '..', 'lib', `libeventspace_${mpi}.so`);
  return new Set(output('nm', '-D', '--defined-only', library)
    .match(/(?<= [TW] )MPI_\w+$/gm));
}

for (const mpi of mpis) {
  const wanted = [...declared(mpi)].filter(name => !is_left_out(name));
  const has = exported(mpi);
  assert.ok(wanted.length > 300);
  assert.deepEqual(wanted.filter(name => !has.has(name)), [],
                   `${mpi} has these, and the interposer does not`);
  assert.deepEqual([...has].filter(name => !wanted.includes(name)), [],
                   `the interposer for ${mpi} has these, and it does not`);
  console.log(`${mpi}: ${wanted.length} calls`);
}
