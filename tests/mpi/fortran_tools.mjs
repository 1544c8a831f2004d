// fortran_tools.mjs - what the tests of programs in Fortran share: a folder
// that goes with the test, programs that must succeed in it, and what calls a
// run has.
import assert from 'node:assert/strict';
import {spawnSync} from 'child_process';
import {mkdtempSync, rmSync} from 'fs';
import {tmpdir} from 'os';
import {join} from 'path';

export const folder = mkdtempSync(join(tmpdir(), 'eventspace-fortran-'));
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));

// What it prints on standard output.
export function output(words, cwd = folder) {
  const done = spawnSync(words[0], words.slice(1), {cwd, encoding: 'utf8',
    maxBuffer: 1 << 28, timeout: 120000, env: {...process.env,
      OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
      OMPI_MCA_rmaps_base_oversubscribe: '1',
      OMPI_MCA_mpi_yield_when_idle: '1'}});
  assert.equal(done.status, 0,
               `${words.join(' ')}: ${done.stderr} ${done.stdout}`);
  return done.stdout;
}

// How often each thread made each call at each place. An event is at the
// collector of a place or at that of a site, which has one of the same call. A
// call that receives several messages has an event for each of them. One place
// may have several collectors, which are numbered.
export function callsOf(eventspace, run) {
  const seen = new Map();
  const rows = JSON.parse(output([eventspace, 'sql', '--format=json', run,
    `select thread, name, count(*) count from
       (select e.thread, min(c.name) name from event e
        join collector c on c.id = e.collector
        where c.name not like '%: at MPI_%'
        group by e.thread, e.start_ticks)
     group by thread, name`]));
  for (const {thread, name, count} of rows) {
    const [, call, place] =
      /^rank_\d+: (MPI_\w+).*?(?: at (\S+))?(?: \(\d+\))?$/.exec(name);
    const key = `${thread} ${call.toLowerCase()} ${place}`;
    seen.set(key, (seen.get(key) ?? 0) + count);
  }
  return seen;
}
