// replayed_test.mjs - profiles of MPI programs that are recorded, and what is
// predicted from them, against what can be computed without them: by the
// programs' own account of their processor time, and from the number of
// messages one after the other.
//
//     replayed_test.mjs BIN FOLDER
//
// What a program of 2 ms takes says nothing on a machine that does other things.
// So the processors are made a hundred times slower, and links take seconds: what
// happens otherwise is little beside that.
import assert from 'node:assert/strict';
import {writeFileSync} from 'fs';
import {join} from 'path';
import {command, compile, folder, mpis, output, spawn, sql}
  from './support.mjs';

const ranks = 2, rounds = 40;

function csv(...words) {
  const [head, ...rows] = output(command, ...words, '--format=csv').trim()
    .split('\r\n').map(line => line.match(/("[^"]*"|[^,]*)(,|$)/g)
      .map(cell => cell.replace(/,$/, '')));
  return rows.map(row =>
    Object.fromEntries(head.map((name, i) => [name, row[i]])));
}

// The command's output, and whether the kernel has told when it had a processor.
function profile(to, options, ...words) {
  const done = spawn(command,
    ['profile', `--output=${to}`, `--table-file=${to}.table`, ...options, '--',
     ...words]);
  assert.equal(done.status, 0, `${words.join(' ')}: ${done.stderr}`);
  return {said: done.stdout.trim(), exact: !done.stderr.includes('sampling')};
}

const nodes = of => csv('profile', `--show=${of}`).map(row => row.node);

function best(of, ...conditions) {
  const rows = csv('predict', of, ...conditions).filter(row => row.best);
  assert.equal(rows.length, 1);
  assert.equal(rows[0].model, 'replay');
  assert.equal(rows[0].lower_s, rows[0].upper_s);
  return Number(rows[0].lower_s);
}

function checkNodes(of, mpi) {
  assert.deepEqual(nodes(of), ['rank_0', 'rank_1'], mpi);
  const {answers} = JSON.parse(output(command, 'predict', of,
    '--node=*:load=1', '--format=json'));
  for (const answer of answers)
    for (const term of answer.terms ?? [])
      assert.ok(['', 'rank_0', 'rank_1'].includes(term.where), term.where);
  const chosen = csv('choose', of, `--cluster=${join(folder, 'cluster.dot')}`,
                     '--profiled-link=*:latency=1us,bandwidth=10gbit');
  assert.deepEqual(Object.keys(chosen[0]).filter(key => /^rank_/.test(key)),
                   ['rank_0', 'rank_1']);
  assert.equal(chosen.length, 6); // two of three machines
}

// All that was received is in the profile; collectives are more.
function checkMessages(of, run, all) {
  const [link] = csv('profile', `--show=${of}`, '--table=links');
  const [{count}] = sql(run, 'select count(*) as count from message');
  const messages = Number(link.messages_ab) + Number(link.messages_ba);
  assert.ok(messages >= Number(count), `${messages} of ${count}`);
  assert.ok(messages <= Number(count) + all, `${messages} for ${count}`);
}

// Only what is computed between calls becomes slower: that, and what comes
// before and after all rounds.
const MOST = 1.6; // of a run that others held up it is more: it is made again
function checkSpeed(of, {said, exact}, about, isAgain) {
  const {dedicated_s: alone} =
    JSON.parse(output(command, 'predict', of, '--format=json'));
  const more = best(of, '--node=*:speed=0.01') - alone;
  const share = more / (99 * Number(said) * 1e-9);
  assert.ok(share > 0.97, `${about}: ${share}`);
  assert.ok(!exact || isAgain || share < MOST, `${about}: ${share}`);
  return share;
}

// `deep` messages one after the other, and those of MPI_Init and MPI_Finalize if
// ranks wait for each other there.
function checkLatency(of, deep, about) {
  const at = seconds => best(of, '--profiled-link=*:latency=1us,bandwidth=1000gbit',
                             `--link=*:latency=${seconds}s,bandwidth=1000gbit`);
  const found = (at(30) - at(20)) / 10;
  assert.ok(found > deep - 0.01 * deep && found < 1.01 * deep + 2,
            `${about}: ${found} instead of ${deep}`);
  return found;
}

// Ranks of Open MPI were told to yield while they wait (support.mjs), those of
// MPICH do not; and there and back, each waits for the other one all the time.
function waitsAs(mpi, of) {
  const ways = csv('profile', `--show=${of}`).map(row => row.waiting);
  return ways.every(way => way === {openmpi: 'yield', mpich: 'spin'}[mpi]);
}

// How many messages of a round follow one another between two ranks, and how
// many are of its collectives.
const programs = {stencil: [1, 0], sums: [1, 2], trees: [2, 2],
                  there_and_back: [2, 0]};

function check(mpi, program) {
  const launcher = [`mpirun.${mpi}`, '-n', String(ranks)];

  for (const [name, [deep, all]] of Object.entries(programs))
    for (let tries = 3, isDone = false; !isDone; tries--) {
      const of = join(folder, `${mpi}.${name}.${tries}`), run = `${of}.run`;
      const about = `${mpi} ${name}`;
      const done = profile(of, [], ...launcher, command, 'mpi',
                           `--output=${run}`, '--', program, name,
                           String(rounds));
      checkNodes(of, about);
      checkMessages(of, run, all * rounds + 4);
      const share = Number(done.said) ? checkSpeed(of, done, about, tries > 1) : 0;
      const isWaiting = name !== 'there_and_back' || !done.exact || waitsAs(mpi, of);
      assert.ok(isWaiting || tries > 1, `${about}: it does not wait as it does`);
      isDone = !(done.exact && share >= MOST) && isWaiting;
      const found = checkLatency(of, deep * rounds, about);
      console.log(`${about}: ${share.toFixed(3)} of the processor time, ` +
                  `${found.toFixed(2)} messages one after the other`);
    }
}

// The master takes whoever comes: each answer is to the one that it is for.
function checkWorkers(mpi, program) {
  const of = join(folder, `${mpi}.workers`), run = `${of}.run`;

  profile(of, [], command, 'run', '--mpi=3', `--output=${run}`, '--', program,
          'workers', '12');
  assert.deepEqual(nodes(of), ['rank_0', 'rank_1', 'rank_2']);
  const pairs = sql(run, 'select from_thread, to_thread, count(*) as count ' +
                         'from message group by from_thread, to_thread');
  const links = csv('profile', `--show=${of}`, '--table=links');
  for (const {from_thread: from, to_thread: to, count} of pairs) {
    const there = links.find(l => l.a === `rank_${from}` &&
                                  l.b === `rank_${to}`);
    const back = links.find(l => l.b === `rank_${from}` && l.a === `rank_${to}`);
    const messages = Number(there ? there.messages_ab : back.messages_ba);
    assert.ok(messages >= Number(count), `${from} ${to} ${messages}`);
  }
  best(of, '--node=*:speed=2');
}

// In a script, and without a run.
function checkLaunchers(mpi, program) {
  const script = join(folder, `${mpi}.sh`), of = join(folder, `${mpi}.of`);
  const run = join(folder, `${mpi}.script.run`);

  writeFileSync(script, `mpirun.${mpi} -n 2 '${command}' mpi ` +
                        `--output='${run}' -- '${program}' sums 5\n`);
  profile(of, [`--run=${run}`], 'sh', script);
  assert.deepEqual(nodes(of), ['rank_0', 'rank_1']);
  writeFileSync(script, `mpirun.${mpi} -n 2 '${program}' sums 5\n`);
  profile(of, ['--no-packets'], 'sh', script);
  assert.deepEqual(nodes(of), ['rank0', 'rank1']);
}

writeFileSync(join(folder, 'cluster.dot'), `digraph cluster {
    x; y; z;
    x -> y [latency="50us", bandwidth="1gbit"];
    x -> z [latency="50us", bandwidth="1gbit"];
    y -> z [latency="50us", bandwidth="1gbit"];
}
`);
for (const mpi of mpis) {
  const program = compile(mpi, 'replayed.c');
  check(mpi, program);
  checkWorkers(mpi, program);
  checkLaunchers(mpi, program);
}
