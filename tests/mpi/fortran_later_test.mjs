// fortran_later_test.mjs - a program in C that loads a library in Fortran when
// MPI has begun, for itself only; and PMPI_, which is not recorded.
//
//     fortran_later_test.mjs BIN CC FC LAUNCHER
import assert from 'node:assert/strict';
import {writeFileSync} from 'fs';
import {join, resolve} from 'path';
import {callsOf, folder, output} from './fortran_tools.mjs';

const [bin, cc, fc, launcher] = process.argv.slice(2);
const eventspace = resolve(bin, 'eventspace');

writeFileSync(join(folder, 'later.c'), `#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>
int main(void)
{
    void (*ring)(void);
    int size;
    MPI_Init(NULL, NULL);
    void *library = dlopen("./libring.so", RTLD_NOW | RTLD_LOCAL);
    ring = library ? (void (*)(void))dlsym(library, "ring_") : NULL;
    if (!ring)
        return 1;
    ring();
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Barrier(MPI_COMM_WORLD);
    ring();
    MPI_Finalize();
    return 0;
}
`);
writeFileSync(join(folder, 'ring.f90'), `subroutine ring
  use mpi_f08
  integer, save :: r, n
  call MPI_Comm_rank(MPI_COMM_WORLD, r)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  call MPI_Bcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
end subroutine
`);
output([fc, '-g', '-shared', '-fPIC', 'ring.f90', '-o', 'libring.so']);
output([cc, '-g', 'later.c', '-ldl', '-o', 'later']);
output([launcher, '-n', '2', eventspace, 'mpi', '--output=RUN', '--',
  './later']);

// Where it stands is not compared: it is not known of each library that is
// loaded later.
const calls = new Map();
for (const [key, count] of callsOf(eventspace, 'RUN')) {
  const [thread, call] = key.split(' ');
  calls.set(`${thread} ${call}`, (calls.get(`${thread} ${call}`) ?? 0) + count);
}
assert.deepEqual([...calls].sort(), ['0', '1'].flatMap(thread => [
  [`${thread} mpi_bcast`, 2], [`${thread} mpi_comm_rank`, 2],
  [`${thread} mpi_comm_size`, 3], [`${thread} mpi_finalize`, 1],
  [`${thread} mpi_init`, 1]]));
