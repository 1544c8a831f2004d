// fortran_symbols_test.mjs - the interposer has every function that a library
// has for calls of Fortran.
//
//     fortran_symbols_test.mjs INTERPOSER COMPILER
//
// In which libraries they are is known from a program that is linked with all.
import assert from 'node:assert/strict';
import {writeFileSync} from 'fs';
import {join} from 'path';
import {folder, output} from './fortran_tools.mjs';

const [interposer, compiler] = process.argv.slice(2);

// These are no calls (see mpi/calls.def), are called by MPI itself, or are
// extensions of one library.
const others = new RegExp('^mpi_(' + ['aint_(add|diff)', 'f_sync_reg', 'sizeof',
  'wtick', 'wtime', '\\w+_fn_', 'conversion_fn_null', 'delete_error_',
].join('|') + ')');

const functionsOf = library => output(['nm', '-D', '--defined-only', library])
  .split('\n')
  .map(line => /^\w+ [TW] (mpi_\w*[^_]_)(@|$)/.exec(line)?.[1])
  .filter(name => name && !others.test(name));

writeFileSync(join(folder, 'all.f90'), `program all
  use mpi_f08
  call MPI_Init()
end program
`);
output([compiler, '-Wl,--no-as-needed', 'all.f90', '-o', 'all']);
const libraries = output(['ldd', './all']).split('\n')
  .map(line => /=> (\S*\/libmpi\S*)/.exec(line)?.[1]).filter(path => path);
const theirs = new Set(libraries.flatMap(functionsOf));
const own = new Set(functionsOf(interposer));

assert.ok(theirs.size > 600, `${theirs.size} in ${libraries.join(', ')}`);
assert.deepEqual([...theirs].filter(name => !own.has(name)), []);
console.log(`${theirs.size} functions`);
