// endings_test.mjs - runs of MPI programs that do not end as they should, or that
// cannot be recorded: a run that can be read, or a clear message; and the exit
// code and the output of the program are its own.
//
//     endings_test.mjs BIN FOLDER
import assert from 'node:assert/strict';
import {existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync} from 'fs';
import {join} from 'path';
import {setTimeout as sleep} from 'timers/promises';
import {command, compile, folder, launch, mpis, output, spawn, sql, succeed,
        sparing} from './support.mjs';

const ranks = 3, rounds = 200;
let number = 0;
const fresh = () => `run${++number}`;

// Whatever has been started with that run ends; what it leaves is in the run.
async function checkNothingIsLeft(run) {
  const until = Date.now() + 30000;
  const remain = () => readdirSync('/proc').filter(pid => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8')
        .includes(`EVENTSPACE_MPI_RUN=${join(folder, run)}\0`);
    } catch {
      return false; // it has ended
    }
  });
  while (remain().length) {
    assert.ok(Date.now() < until, `${run}: ${remain()} have not ended`);
    await sleep(20);
  }
  const names = readdirSync(folder).filter(name =>
    !/^(run\d+(\.begun)?|ending\..*|file|static.*|script|disk|ompi\..*|pmix.*)$/.test(name));
  assert.deepEqual(names, []);
  if (existsSync(join(folder, run)))
    assert.deepEqual(readdirSync(join(folder, run)).filter(name =>
      // .tmp: for who is killed between the two system calls that replace it
      !/^(rank_\d+\.(space|meta(\.tmp)?)|definitions|pathmap\.dot|.*\.json)$/.test(name)), []);
}

const infoOf = run =>
  JSON.parse(output(command, 'info', run, '--format=json'));
const linesOf = text => text.trim().split('\n').filter(Boolean).sort();
const told = Array.from({length: ranks}, (_, i) => `${i} of ${ranks}`);

// Those that are there are as they were sent; the n-th has n + 1 bytes.
function checkMessages(run, least) {
  const rows = sql(run, 'select * from message');
  for (const row of rows)
    if (row.status === '')
      assert.equal(row.bytes, row.bytes_received, JSON.stringify(row));
  const matched = rows.filter(({status}) => status === '').length;
  assert.ok(matched >= least, `${run}: ${matched} messages`);
  return rows;
}

async function checkDeaths(mpi, program) {
  // mpiexec of MPICH kills the others when the first one has left, and has its
  // exit code of those or of these, by who was quicker: without us as well.
  for (const [how, codes, state] of [['killed', null, null],
    ['aborted', [5], 'failed'], ['left', mpi === 'mpich' ? [3, 9] : [3], null]]) {
    const run = fresh(), words = [program, how];
    const plain = launch(mpi, ranks, null, words);
    const done = launch(mpi, ranks, ['--output', run], words);
    assert.notEqual(done.status, 0);
    for (const {status, stderr} of [plain, done])
      assert.ok((codes ?? [plain.status]).includes(status),
                `${how}: ${status} ${stderr}`);
    // What a launcher still reads of ranks that it kills depends on when, and
    // that of MPICH may say so.
    if (how === 'left')
      for (const line of linesOf(done.stdout))
        assert.ok(/leaves$/.test(line) || mpi === 'openmpi' ||
          /^(=|YOUR APPL|This typic|Please see)/.test(line), done.stdout);
    checkMessages(run, ranks * rounds);
    const one = infoOf(run).processes.find(({process}) => process === 'rank_1');
    if (state)
      assert.equal(one.state, state);
    else if (how === 'killed')
      assert.notEqual(one.state, 'finished');
    else // the first one at least, for whose code others are killed
      assert.ok(infoOf(run).processes.some(row => row.state === 'finished'));
    assert.ok(infoOf(run).processes.every(({events_recorded}) =>
      events_recorded >= rounds));
    await checkNothingIsLeft(run);
  }
  const run = fresh(), words = [program, 'failing'];
  const done = launch(mpi, ranks, ['--output', run], words);
  assert.equal(done.status, 4);
  checkMessages(run, ranks * rounds * 3 / 2);
}

async function checkPrograms(mpi, program) {
  const children = fresh();
  let done = succeed(mpi, ranks, ['--output', children],
                     [program, 'children', command, '--version']);
  assert.deepEqual(linesOf(done.stdout).filter(line => / of /.test(line)), told);
  assert.equal(done.stdout.match(/eventspace/gi).length, ranks);
  assert.doesNotMatch(done.stderr, /eventspace:/);
  checkMessages(children, ranks * rounds * 3 / 2);
  await checkNothingIsLeft(children);

  const script = join(folder, 'script'), scripted = fresh();
  writeFileSync(script, `#!/bin/sh\necho begun >/dev/null\n"$@"\nexit $?\n`,
                {mode: 0o755});
  done = succeed(mpi, ranks, ['--output', scripted], [script, program, 'plain']);
  assert.deepEqual(linesOf(done.stdout), told);
  checkMessages(scripted, ranks * rounds * 3 / 2);

  const elsewhere = fresh(); // and --output is relative
  succeed(mpi, ranks, ['--output', elsewhere], [program, 'elsewhere']);
  checkMessages(elsewhere, ranks * rounds * 3 / 2);

  const without = fresh();
  // Who ends with an error has others killed, also rank 0 while it still makes
  // the run: all wait until it has.
  done = launch(mpi, ranks, ['--output', without], ['sh', '-c',
    'case ${OMPI_COMM_WORLD_RANK-$PMI_RANK} in 0) : >"$0" ;; esac\n' +
    'until [ -e "$0" ]; do :; done; echo own; exit 7', `${without}.begun`]);
  assert.equal(done.status, 7);
  assert.match(done.stdout, /own/);
  assert.doesNotMatch(done.stderr, /eventspace:/);
  output(command, 'info', without);
  await checkNothingIsLeft(without);
}

async function checkRefusals(mpi, program) {
  const run = fresh(), words = [program, 'plain'];
  succeed(mpi, ranks, ['--output', run], words);
  let done = launch(mpi, ranks, ['--output', run], words);
  assert.notEqual(done.status, 0);
  assert.match(done.stderr, new RegExp(`eventspace.*${run}.*--replace`, 's'));
  checkMessages(run, ranks * rounds * 3 / 2); // the older one is as it was
  done = succeed(mpi, ranks - 1, ['--output', run, '--replace'], words);
  assert.equal(infoOf(run).processes.filter(({process}) =>
    /^rank_/.test(process)).length, ranks - 1);
  checkMessages(run, (ranks - 1) * rounds * 3 / 2);
  await checkNothingIsLeft(run);

  // In front of the launcher it is a run of one process.
  const wrong = fresh();
  done = spawn(command, ['mpi', '--output', wrong, '--', `mpirun.${mpi}`, '-n',
                         String(ranks), program, 'failing']);
  assert.equal(done.status, 4);
  assert.deepEqual(linesOf(done.stdout), told);
  assert.match(done.stderr, /nothing is recorded: the run was prepared for 1 /);
  assert.equal(done.stderr.match(/nothing is recorded/g).length, 1);

  writeFileSync(join(folder, 'file'), '');
  done = launch(mpi, ranks, ['--output', 'file/run'], words);
  assert.notEqual(done.status, 0);
  assert.match(done.stderr, /eventspace.*file\/run/);

  const few = fresh();
  done = succeed(mpi, ranks, ['--output', few, '--events=10'], words);
  assert.deepEqual(linesOf(done.stdout), told);
  const {events_recorded, events_present, events_lost} = infoOf(few).total ??
    infoOf(few).processes.reduce((sum, row) => ({
      events_recorded: sum.events_recorded + row.events_recorded,
      events_present: sum.events_present + row.events_present,
      events_lost: sum.events_lost + row.events_lost}));
  assert.equal(events_present, 10 * ranks);
  assert.equal(events_present + events_lost, events_recorded);
  assert.ok(events_lost > 0);
  // What is not there may have been in front of what is.
  assert.ok(sql(few, 'select * from message').every(({status}) =>
    status === 'ambiguous'));
  const freed = fresh(); // by a receive of anything
  succeed(mpi, ranks, ['--output', freed], [program, 'freed']);
  assert.ok(checkMessages(freed, 0).every(({status}) => status === 'ambiguous'));
  done = launch(mpi, 1, ['--output', few, '--replace', '--events=0'], words);
  assert.notEqual(done.status, 0);
  assert.match(done.stderr, /--events=0: give a number/);
}

// A program that nothing can be loaded into.
function checkStatic(mpi) {
  writeFileSync(join(folder, 'static.c'), 'int main(void) { return 0; }\n');
  output('cc', '-static', join(folder, 'static.c'), '-o', join(folder, 'static'));
  const done = launch(mpi, 1, ['--output', fresh()], [join(folder, 'static')]);
  assert.notEqual(done.status, 0);
  assert.match(done.stderr, /static is linked statically/);
}

// The run is on a file system of so many kB, in a mount namespace of its own.
function checkFullDisk(mpi, program) {
  mkdirSync(join(folder, 'disk'), {recursive: true});
  const inside = process.getuid() === 0 ? ['--mount', '--propagation', 'unchanged']
    : ['--map-root-user', '--mount'];
  for (const kilobytes of [40, 400, 1700, 2150, 2200, 3000]) {
    const run = fresh();
    const done = spawn('unshare', [...inside, 'sh', '-c',
      'mount -t tmpfs -o size="$1"k disk disk || exit 99\n' +
      `mpirun.${mpi} -n ${ranks} "$2" mpi --output disk/run -- "$3" plain\n` +
      'code=$?\ncp -r disk/run "$4"; umount disk; exit $code', 'sh',
      String(kilobytes), command, program, run], {env: sparing});
    assert.notEqual(done.status, 99, done.stderr);
    const about = `${kilobytes} kB: ${done.status} ${done.stdout} ${done.stderr}`;
    if (done.status !== 0) { // not even the run directory could be made
      assert.match(done.stderr, /eventspace: .*[Nn]o (space|room)/, about);
      continue;
    }
    assert.deepEqual(linesOf(done.stdout), told, about);
    // What there was no room for is counted.
    for (const {process, events_recorded} of infoOf(run).processes)
      assert.ok(events_recorded >= rounds ||
        done.stderr.includes(`eventspace: ${process} is not recorded`), about);
    const rows = sql(run, 'select * from message');
    for (const row of rows)
      if (row.status === '')
        assert.equal(row.bytes, row.bytes_received, about);
    console.log(`${mpi}: ${kilobytes} kB: ${rows.length} ends of messages, ` +
      `${rows.filter(({status}) => status === '').length} matched; ` +
      done.stderr.trim().split('\n')[0]);
  }
}

for (const mpi of mpis) {
  const program = compile(mpi, 'ending.c');
  await checkDeaths(mpi, program);
  await checkPrograms(mpi, program);
  await checkRefusals(mpi, program);
  checkStatic(mpi);
  checkFullDisk(mpi, program);
  console.log(`${mpi}: as they should`);
}
