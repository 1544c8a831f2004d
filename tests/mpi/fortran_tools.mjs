// fortran_tools.mjs - what the tests of programs in Fortran share: a folder that
// goes with the test, and programs that must succeed in it.
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

// Names of collectors, with the call of each event at them once: an event at a
// collector of a place, so without those of sites, of which each call has one
// more. A call that receives several messages has an event for each of them. One
// place may have several collectors, which are numbered.
export function callsOf(eventspace, run) {
  const seen = new Map();
  const times = new Set();
  const rows = JSON.parse(output([eventspace, 'sql', '--format=json', run,
    `select e.thread, e.start_ticks, c.name from event e
     join collector c on c.id = e.collector`]));
  for (const {thread, start_ticks: start, name} of rows) {
    const [, call, place] =
      /^rank_\d+: (MPI_\w+)?.*?(?: at (\S+))?(?: \(\d+\))?$/.exec(name);
    if (!call || times.has(`${thread} ${start}`))
      continue;
    times.add(`${thread} ${start}`);
    const key = `${thread} ${call.toLowerCase()} ${place}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  return seen;
}
