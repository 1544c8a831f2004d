// ring_test.mjs - an MPI program of 8 ranks, recorded by `eventspace mpi`:
// whoever of it is killed, the run can be read, has every message that had been
// sent or received, and nothing is left behind.
//
//     alone.sh node ring_test.mjs BIN openmpi|mpich
//
// EVENTSPACE_JOB_KILLS is how many are killed (3), by EVENTSPACE_TEST_SEED (1).
import assert from 'node:assert/strict';
import {readFileSync, readdirSync, writeFileSync} from 'fs';
import {join} from 'path';
import {infoOf, kills, start, succeed} from './course.mjs';
import {bin, folder, launcherOf, temporaryMake} from './launchers.mjs';

const ranks = 8, bytes = 1000;
const launcher = launcherOf(process.argv[3], ranks, 'one');
// Rounds; there is a second or more to kill somebody in.
const few = 500, many = launcher.name === 'mpich' ? 8000 : 4000;
const count = Number(process.env.EVENTSPACE_JOB_KILLS ?? 3);
const command = join(bin, 'eventspace'), ring = join(folder, 'ring');
const run = join(folder, 'RUN'), counts = join(folder, 'counts');
const words = rounds => [command, 'mpi', '--output', run, '--', ring, counts,
                         `${rounds}`];

const prepare = () => writeFileSync(counts, Buffer.alloc(16 * ranks));

// Sends and receives that had ended, by rank.
function doneOf() {
  const bytes = readFileSync(counts);
  return Array.from({length: ranks}, (_, i) => ({
    sends: Number(bytes.readBigUInt64LE(16 * i)),
    receives: Number(bytes.readBigUInt64LE(16 * i + 8))}));
}

async function sql(statement) {
  const [head, ...rows] = (await succeed(command, 'sql', run, '--format=csv',
    statement)).trim().split('\r\n').map(line => line.split(','));
  return rows.map(row =>
    Object.fromEntries(head.map((name, i) => [name, row[i]])));
}

// The nth message of a rank is the one of round n, on both sides. One more than
// it had counted may be there: it was killed before it could count.
async function checkMessages(about) {
  const rows = await sql('select from_thread as f, to_thread as t, ordinal as n, ' +
    'bytes as b, bytes_received as r, send_call as s, receive_call as c, ' +
    'status from message where tag = 1');
  const sent = Array(ranks).fill(0), received = Array(ranks).fill(0);
  for (const {f, t, n, b, r, s, c, status} of rows) {
    const text = `${f} to ${t}, ${n}: ${b} ${r} ${status}: ${about}`;
    assert.equal(Number(t), (Number(f) + 1) % ranks, text);
    for (const got of [s && b, c && r])
      assert.ok(!got || Number(got) === n % bytes + 1, text);
    sent[f] += s !== '';
    received[t] += c !== '';
  }
  doneOf().forEach(({sends, receives}, i) => {
    const text = `rank ${i}: ${sent[i]} ${received[i]} for ${sends} ` +
      `${receives}: ${about}`;
    assert.ok(sent[i] === sends || sent[i] === sends + 1, text);
    assert.ok(received[i] === receives || received[i] === receives + 1, text);
  });
}

// --- who is killed ---

const isRank = ({words}) => words[0] === ring;
const ranksOf = all => all.filter(isRank);
const roles = {
  rank: all => ranksOf(all).map(one => [one]),
  all: all => ranksOf(all).length ? [ranksOf(all)] : [],
  launcher: (all, job) => all.filter(({pid}) => pid === job.pid)
    .map(one => [one]),
};

function namesOf(all, chosen) {
  return chosen.filter(isRank).map(({pid}) => /\0(?:OMPI_COMM_WORLD|PMI)_RANK=(\d+)/
    .exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1])
    .map(rank => `rank_${rank}`);
}

// A file that is whole and replaces another one has a name of its own between
// two system calls: no more than that may be left by who is killed there.
const own = /^(rank_\d\.(space|meta(\.tmp)?)|definitions|pathmap\.dot)$/;

async function check({role, names, info, at, about}) {
  assert.ok(info.total.events_recorded >= at, about);
  assert.equal(info.total.events_present, info.total.events_recorded, about);
  assert.equal(info.total.events_lost, 0, about);
  for (const {process, state} of info.processes)
    assert.match(state, names.includes(process) ? /^(killed|failed)$/
      : /^(killed|failed|finished)$/, `${process}: ${about}`);
  for (const view of ['communication', 'deadlocks', 'pending', 'unmatched'])
    await succeed(command, 'view', run, view);
  await checkMessages(about);
  assert.deepEqual(readdirSync(run).filter(name => !own.test(name)), [], about);
}

await succeed(`mpicc.${launcher.name}`, '-std=gnu11', '-O1', '-Wall', '-Werror',
              join(import.meta.dirname, 'ring.c'), '-o', ring);
temporaryMake();
prepare();
const whole = start(launcher, words(few));
await whole.ended;
assert.equal(whole.code, 0, whole.said());
const info = await infoOf(command, run);
assert.equal(info.total.state, 'finished');
await checkMessages('left alone');
console.log(`${launcher.name}: all messages of a run that is left alone`);
await kills({command, launcher, run, roles, namesOf, check, prepare,
             words: words(many),
             events: info.total.events_recorded * many / few}, count);
