// order_test.mjs - a message is the one that was sent, or is said to be ambiguous:
// in processes that are killed, of communicators that come and go, and where
// recording is switched off meanwhile.
//
//     order_test.mjs BIN FOLDER
//
// order.c writes down which messages there were.
import assert from 'node:assert/strict';
import {mkdirSync, readFileSync, readdirSync, rmSync} from 'fs';
import {join} from 'path';
import {compile, folder, launch, mpis, sql} from './support.mjs';

const ranks = 3;
// How many rows there are with each status; '' is a message with both ends. One
// that is ambiguous has a row for each of its ends.
const wanted = {
  // The first is on its way to a receive that nobody waits for.
  same: {'': 1, 'not received': 1},
  any_tag: {ambiguous: 3},
  any_source: {ambiguous: 3},
  other_tag: {'': 1, 'not received': 1},
  other_source: {'': 1, 'not received': 1},
  persistent: {'': 3, 'not received': 1},
  matched: {'': 1, 'not received': 1},
  cancelled: {'': 3},
  threads: {ambiguous: 3},
  too_long: {ambiguous: 5},
  too_long_later: {ambiguous: 15},
  too_long_again: {ambiguous: 3},
  wrong_matched: {'': 4},
  // Of two, one is received where nobody sees it.
  within: {'': 3, 'not received': 3},
  freed_within: {'': 6},
  cancelled_freed: {'': 3},
  freed: {'': 5},
  // Of four, one has both ends, two have one and one has none. Of the next two,
  // one was posted while it was off and has both; the other one was sent and
  // received while it was off. The last one has both.
  quiet: {'': 1 + 1 + 1, 'other end not recorded': 2},
  quiet_comms: {'': 3},
  between: {'': 4},
  deep: {'': 60 + 8},
};

function linesOf(logs, name) {
  const text = readFileSync(join(logs, name), 'utf8').trim();
  return text ? text.split('\n') : [];
}

// Says of each row which messages its ends are of, by what was written down.
function identify(rows, end, other, logs, about) {
  for (let rank = 0; rank < ranks; rank++) {
    const own = rows.filter(row => row[`${end}_thread`] === String(rank))
      .sort((a, b) => a[`${end}_sequence`] - b[`${end}_sequence`]);
    const lines = linesOf(logs, `${rank}.${end === 'send' ? 'sent' : 'received'}`);
    assert.equal(own.length, lines.length, `${about}: rank ${rank}, ${end}`);
    own.forEach((row, i) => {
      const [peer, tag, number] = lines[i].split(' ');
      assert.deepEqual([row[`${other}_thread`], row.tag], [peer, tag], about);
      row[end] = `${end === 'send' ? rank : peer} ${number}`;
    });
  }
}

function check(mpi, program, how) {
  const about = `${mpi}: ${how}`;
  const run = join(folder, `${mpi}.${how}.run`), logs = `${run}.logs`;
  mkdirSync(logs);
  const done = launch(mpi, ranks, ['--output', run], [program, how, logs]);
  assert.equal(done.error, undefined, about);
  const rows = sql(run, 'select * from message');
  identify(rows, 'send', 'to', logs, about);
  identify(rows, 'receive', 'from', logs, about);
  const counts = {};
  for (const row of rows) {
    counts[row.status] = (counts[row.status] ?? 0) + 1;
    if (row.status === '')
      assert.equal(row.send, row.receive, `${about}: ${JSON.stringify(row)}`);
  }
  assert.deepEqual(counts, wanted[how], about);
}

// What one process has recorded is gone, as of a machine whose part of a run is
// missing: what others have sent to it is left out, and nothing else is.
function checkMissing(mpi, program) {
  const run = join(folder, `${mpi}.missing.run`), logs = `${run}.logs`;
  mkdirSync(logs);
  launch(mpi, ranks, ['--output', run], [program, 'freed_within', logs]);
  for (const file of readdirSync(run).filter(name => name.startsWith('rank_2.')))
    rmSync(join(run, file));
  assert.deepEqual(sql(run, 'select distinct status, receive_thread from message'),
                   [{status: '', receive_thread: '1'}], mpi);
}

for (const mpi of mpis) {
  const program = compile(mpi, 'order.c');
  for (const how of Object.keys(wanted))
    check(mpi, program, how);
  checkMissing(mpi, program);
  console.log(`${mpi}: ${Object.keys(wanted).length} ways`);
}
