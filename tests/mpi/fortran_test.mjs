// fortran_test.mjs - a program in Fortran says itself what it has called, in
// which line, and what it has sent; what was recorded of it must say the same.
//
//     fortran_test.mjs BIN COMPILER LAUNCHER RANKS COUNTS.f90 PROGRAM [OPTION]
//
// It is compiled, run as it is and run again recorded. Then
// - what it has computed is the same in both runs,
// - each call is there once, by its name and line, in the thread that made it,
// - each message is there once, with both ends.
import assert from 'node:assert/strict';
import {spawnSync} from 'child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync} from 'fs';
import {tmpdir} from 'os';
import {basename, join, resolve} from 'path';

const [bin, compiler, launcher, ranks, counts, source, option] =
  process.argv.slice(2);
const eventspace = resolve(bin, 'eventspace');
const folder = mkdtempSync(join(tmpdir(), 'eventspace-fortran-'));
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));
const program = join(folder, 'program');

function output(cwd, words) {
  const done = spawnSync(words[0], words.slice(1), {cwd, encoding: 'utf8',
    maxBuffer: 1 << 28, timeout: 120000, env: {...process.env,
      OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
      OMPI_MCA_rmaps_base_oversubscribe: '1'}});
  assert.equal(done.status, 0,
               `${words.join(' ')}: ${done.stderr} ${done.stdout}`);
  return done.stdout;
}

// Lines are long, and arguments of all types are passed as one. gfortran 12 says
// of a call that it stands at the end of its procedure if that sets a variable
// of the stack; so there are none.
output(folder, [compiler, '-g', '-O0', '-fno-automatic',
  '-ffree-line-length-none', '-ffixed-line-length-none',
  '-fallow-argument-mismatch', '-w',
  ...(option ? [option] : []), resolve(counts), resolve(source), '-o',
  program]);

function run(name, before) {
  const cwd = join(folder, name);
  mkdirSync(cwd);
  output(cwd, [launcher, '-n', ranks, ...before, program]);
  return what => Array.from({length: Number(ranks)}, (_, rank) =>
    readFileSync(join(cwd, `${what}.${rank}`), 'utf8'));
}

const plain = run('plain', []);
const recorded =
  run('recorded', [eventspace, 'mpi', '--output', join(folder, 'run'), '--']);
const rows = statement => JSON.parse(output(folder,
  [eventspace, 'sql', '--format=json', join(folder, 'run'), statement]));

/* --- results --- */

assert.deepEqual(recorded('results'), plain('results'));

/* --- calls --- */

// A call that receives several messages has an event for each of them.
const seen = new Map();
const times = new Set();
for (const {thread, start_ticks: start, name} of
     rows(`select e.thread, e.start_ticks, c.name from event e
           join collector c on c.id = e.collector`)) {
  const [, call, place] = /^rank_\d+: (MPI_\w+)?.*?(?: at (\S+))?$/.exec(name);
  if (!call || times.has(`${thread} ${start}`))
    continue;
  times.add(`${thread} ${start}`);
  // Large counts have functions of their own in C.
  const key = `${thread} ${call.toLowerCase()} ${place}`;
  seen.set(key, (seen.get(key) ?? 0) + 1);
}
const made = new Map();
recorded('calls').forEach((text, rank) => {
  for (const line of text.trimEnd().split('\n')) {
    const [call, number, count] = line.split(' ');
    made.set(`${rank} ${call.toLowerCase()} ${basename(source)}:${number}`,
             Number(count));
  }
});
const sorted = map => [...map].map(pair => pair.join(': ')).sort();
assert.deepEqual(sorted(seen), sorted(made));

/* --- messages --- */

const messages = rows('select * from message');
for (const message of messages) {
  assert.ok(message.send_ns !== null && message.receive_ns !== null,
            JSON.stringify(message));
  assert.equal(message.bytes_received, message.bytes);
}
const sent = recorded('messages').flatMap((text, rank) =>
  text.trimEnd().split('\n').filter(line => line).map(
    line => `${rank} ${line}`));
assert.deepEqual(
  messages.filter(({communicator}) => communicator === 'MPI_COMM_WORLD')
    .map(({from_thread: from, to_thread: to, tag, bytes}) =>
      `${from} ${to} ${tag} ${bytes}`).sort(),
  sent.sort());

const total = [...made.values()].reduce((a, b) => a + b, 0);
console.log(`${total} calls in ${made.size} places, ${messages.length} messages`);
