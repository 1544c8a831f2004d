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
import {mkdirSync, readFileSync} from 'fs';
import {basename, join, resolve} from 'path';
import {callsOf, folder, output} from './fortran_tools.mjs';

const [bin, compiler, launcher, ranks, counts, source, option] =
  process.argv.slice(2);
const eventspace = resolve(bin, 'eventspace');
const program = join(folder, 'program');

// Lines are long, and arguments of all types are passed as one. gfortran 12
// says of a call that sets a variable of the stack that it stands where its
// procedure begins or ends; so there are none of these.
output([compiler, '-g', '-O0', '-fno-automatic',
  '-ffree-line-length-none', '-ffixed-line-length-none',
  '-fallow-argument-mismatch', '-w',
  ...(option ? [option] : []), resolve(counts), resolve(source), '-o',
  program]);

function run(name, before) {
  const cwd = join(folder, name);
  mkdirSync(cwd);
  output([launcher, '-n', ranks, ...before, program], cwd);
  return what => Array.from({length: Number(ranks)}, (_, rank) =>
    readFileSync(join(cwd, `${what}.${rank}`), 'utf8'));
}

const plain = run('plain', []);
const recorded =
  run('recorded', [eventspace, 'mpi', '--output', join(folder, 'run'), '--']);
/* --- results --- */

assert.deepEqual(recorded('results'), plain('results'));

/* --- calls --- */

const seen = callsOf(eventspace, join(folder, 'run'));
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

const messages = JSON.parse(output([eventspace, 'sql', '--format=json',
  join(folder, 'run'), 'select * from message']));
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
console.log(
  `${total} calls in ${made.size} places, ${messages.length} messages`);
