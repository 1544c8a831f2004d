// counts_test.mjs - a run has each call and message that a program has counted.
//
//     counts_test.mjs BIN FOLDER
//
// counts.c makes nearly all calls of MPI, and rarer.c others, whose bytes it
// counts too. That they print the same with and without the interposer is
// tested, too.
import assert from 'node:assert/strict';
import {mkdirSync, readFileSync} from 'fs';
import {basename, join} from 'path';
import {compile, folder, mpis, sql, succeed} from './support.mjs';

function counted(logs, rank) {
  const own = {call: {}, sent: {}, received: {}};
  const text = readFileSync(join(logs, `${rank}.counts`), 'utf8').trim();
  for (const [kind, what, ...numbers] of text.split('\n').map(l => l.split(' ')))
    if (numbers[0] !== '0')
      own[kind][what] = numbers.map(Number).filter(number => number >= 0);
  return own;
}

// Calls that complete several receives have an event for each of them, and those
// in which all take part another one at their site.
function callsOf(run, ranks) {
  const rows = sql(run, 'select distinct e.thread as thread, e.start_ticks as ' +
    "start, e.bytes as bytes, substr(c.name, instr(c.name, 'MPI_')) as name " +
    'from event e join ' +
    'collector c on c.id = e.collector');
  const all = Array.from({length: ranks}, () => ({}));
  const seen = new Set();
  for (const {thread, start, bytes, name} of rows) {
    const call = /^\w+/.exec(name)[0], key = `${thread} ${start} ${call}`;
    if (seen.has(key))
      continue;
    seen.add(key);
    const own = all[thread][call] ??= [0, 0];
    own[0]++;
    own[1] += Number(bytes);
  }
  return all;
}

function messagesOf(rows, own, peer, bytes) {
  const by = {};
  for (const row of rows) {
    const to = by[row[peer]] ??= [0, 0];
    to[0]++;
    to[1] += Number(row[bytes]);
  }
  return by;
}

function check(mpi, program, ranks) {
  const name = `${basename(program)}.${ranks}`;
  const run = join(folder, `${name}.run`), logs = join(folder, `${name}.logs`);
  mkdirSync(logs);
  const plain = succeed(mpi, ranks, null, [program, logs]).stdout;
  const seen = succeed(mpi, ranks, ['--output', run], [program, logs]).stdout;
  assert.equal(seen, plain);
  assert.ok(plain);
  const calls = callsOf(run, ranks), messages = sql(run, 'select * from message');
  let kinds = 0, number = 0;
  for (let rank = 0; rank < ranks; rank++) {
    const wanted = counted(logs, rank);
    kinds = Object.keys(wanted.call).length;
    for (const [call, numbers] of Object.entries(calls[rank])) // that it counts
      numbers.length = wanted.call[call]?.length ?? 2;
    assert.deepEqual(calls[rank], wanted.call, `${name}, rank ${rank}: calls`);
    const about = end => messages.filter(row =>
      row[`${end}_thread`] === String(rank));
    assert.deepEqual(messagesOf(about('send'), rank, 'to_thread', 'bytes'),
                     wanted.sent, `${name}, rank ${rank}: sent`);
    assert.deepEqual(
      messagesOf(about('receive'), rank, 'from_thread', 'bytes_received'),
      wanted.received, `${name}, rank ${rank}: received`);
    number += about('send').length;
  }
  for (const row of messages)
    assert.equal(row.status, '', JSON.stringify(row));
  console.log(`${name}: ${kinds} calls by name, ${number} messages`);
}

for (const mpi of mpis)
  for (const source of ['counts.c', 'rarer.c']) {
    const program = compile(mpi, source);
    for (const ranks of [2, 4])
      check(mpi, program, ranks);
  }
