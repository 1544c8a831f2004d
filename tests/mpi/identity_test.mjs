// identity_test.mjs - each message of a run is the one that was sent.
//
//     identity_test.mjs BIN FOLDER
//
// identity.c sends messages that say what they are, and its ranks write down
// which of them each receive got. EVENTSPACE_MPI_MESSAGES is how many there are
// (20,000 with one thread, as many with several), and EVENTSPACE_MPI_SECONDS how
// long a program may take (60).
import assert from 'node:assert/strict';
import {mkdirSync, readFileSync} from 'fs';
import {join} from 'path';
import {compile, folder, mpis, sql, succeed} from './support.mjs';

const ranks = 4, threads = 3;
const messages = Number(process.env.EVENTSPACE_MPI_MESSAGES ?? 20000);
const seed = process.env.EVENTSPACE_MPI_SEED ??
  String(Math.floor(Math.random() * 2 ** 31));
// Of identity.c: several threads post, or send, messages that nothing parts.
const BOTH_POST = 501, BOTH_SEND = 502;
console.log(`seed ${seed}`);

function linesOf(logs, name) {
  const text = readFileSync(join(logs, name), 'utf8').trim();
  return text ? text.split('\n').map(line => line.split(' ').map(Number)) : [];
}

// The rows of one end of each thread, in the order of its operations.
function endsOf(rows, end) {
  const by = new Map();
  for (const row of rows) {
    if (row[`${end}_thread`] === '')
      continue;
    const own = by.get(row[`${end}_thread`]) ?? [];
    by.set(row[`${end}_thread`], own);
    own.push(row);
  }
  for (const own of by.values())
    own.sort((a, b) => a[`${end}_sequence`] - b[`${end}_sequence`]);
  return by;
}

function check(mpi, program, threads) {
  const name = `${mpi}.${threads}`;
  const run = join(folder, `${name}.run`), logs = join(folder, `${name}.logs`);
  mkdirSync(logs);
  succeed(mpi, ranks, ['--output', run],
          [program, String(messages), seed, logs, String(threads)],
          {timeout: 120000 + messages});
  const rows = sql(run, 'select * from message');
  const [sent, received] = ['send', 'receive'].map(end => endsOf(rows, end));
  const count = threads > 1 ? threads + 1 : 1;
  let all = 0, exact = 0;
  for (let rank = 0; rank < ranks; rank++)
    for (let thread = 0; thread < count; thread++) {
      const number = String(thread * ranks + rank);
      const sends = sent.get(number) ?? [], receives = received.get(number) ?? [];
      const about = `${name}: rank ${rank}, thread ${thread}`;
      const sentLines = linesOf(logs, `${rank}.${thread}.sent`);
      const receivedLines = linesOf(logs, `${rank}.${thread}.received`);
      assert.equal(sends.length, sentLines.length, `${about}: sends`);
      assert.equal(receives.length, receivedLines.length, `${about}: receives`);
      sends.forEach((row, i) => {
        const [to, tag, bytes] = sentLines[i];
        row.is = `${rank} ${thread} ${i}`;
        assert.deepEqual([row.from_thread, row.to_thread, row.tag, row.bytes],
                         [rank, to, tag, bytes].map(String), about);
      });
      receives.forEach((row, i) => { row.got = receivedLines[i].join(' '); });
      all += sends.length;
    }
  for (const row of rows) {
    const {tag, status, is, got, bytes, bytes_received} = row;
    if (status === 'ambiguous') {
      assert.ok(threads > 1 && (tag === String(BOTH_POST) ||
                                tag === String(BOTH_SEND)), JSON.stringify(row));
      continue;
    }
    assert.equal(status, '', JSON.stringify(row));
    assert.equal(is, got, JSON.stringify(row));
    assert.equal(bytes, bytes_received);
    exact++;
  }
  // Which of two threads was first is for nobody to know.
  const unclear = tag => rows.filter(row => row.tag === String(tag)).length;
  assert.equal(exact + unclear(BOTH_POST) / 2 + unclear(BOTH_SEND) / 2, all);
  assert.equal(rows.length - exact, unclear(BOTH_POST) + unclear(BOTH_SEND));
  console.log(`${name}: ${all} messages, ${exact} are as they were sent, ` +
              `${all - exact} are ambiguous`);
}

for (const mpi of mpis) {
  const program = compile(mpi, 'identity.c');
  check(mpi, program, 1);
  check(mpi, program, threads);
}
