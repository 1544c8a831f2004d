// sparing.mjs - what to put into the environment of MPI programs, so that tests which
// measure nothing take less of the processors: ranks of MPICH give way while they wait
// (gives_way.c), and no process looks at each core and cache of the machine, which
// takes a third of a start of Open MPI.
import {resolve} from 'path';

export const sparingWith = bin => ({HWLOC_COMPONENTS: 'no_os,stop',
  LD_PRELOAD: resolve(bin, '../tests/libgives_way.so')});
