// deadlocks_test.mjs - the view "deadlocks" names who hangs, and nobody else.
//
//     deadlocks_test.mjs BIN FOLDER
//
// deadlocks.c has programs that hang, each of which has to be named, and
// programs that are slow, which are asked each 100 ms until they have ended and
// must never have a row. Several run at once (EVENTSPACE_DEADLOCKS_AT_ONCE).
// EVENTSPACE_DEADLOCKS=all runs each of them with both MPIs rather than with
// one, and =NAME only that one; then those that hang have to be named
// within a second, or EVENTSPACE_TEST_SLOW seconds on a machine that has other
// things to do.
import assert from 'node:assert/strict';
import {execFile, spawn} from 'child_process';
import {join} from 'path';
import {setTimeout as sleep} from 'timers/promises';
import {command, compile, environment, folder, mpis, output} from
  './support.mjs';

const which = process.env.EVENTSPACE_DEADLOCKS ?? 'some';
const atOnce = Number(process.env.EVENTSPACE_DEADLOCKS_AT_ONCE ??
  (process.env.EVENTSPACE_DEADLOCKS ? 2 : 4));
const late = which === 'some' ? Infinity
  : 1e9 * Number(process.env.EVENTSPACE_TEST_SLOW ?? 1);
const deadline = 120000, interval = 100;

function start({mpi, program, name, ranks}, run) {
  const child = spawn(`mpirun.${mpi}`,
    ['-n', String(ranks), command, 'mpi', '--output', run, '--', program, name],
    {cwd: folder, detached: true,
     env: environment,
     stdio: ['ignore', 'ignore', 'pipe']});
  const job = {child, said: ''};
  child.stderr.on('data', data => { job.said += data; });
  job.ended = new Promise(done => child.on('exit', code => {
    job.code = code;
    job.isOver = true;
    done();
  }));
  return job;
}

async function end(job) {
  if (!job.isOver)
    process.kill(-job.child.pid, 'SIGTERM');
  await Promise.race([job.ended, sleep(5000)]);
  if (!job.isOver)
    process.kill(-job.child.pid, 'SIGKILL');
}

// The rows of a view; null: the run is not there yet.
function rowsOf(run, view) {
  return new Promise(done => execFile(command,
    ['view', run, view, '--format=csv'], {maxBuffer: 1 << 26},
    (error, text) => {
      if (error)
        return done(null);
      const [head, ...rows] =
        text.trim().split('\r\n').map(line => line.split(','));
      done(rows.map(row => Object.fromEntries(row.map((t, i) =>
        [head[i], t]))));
    }));
}

const ranksOf = (rows, ranks) => rows.map(row => Number(row.number) % ranks)
  .sort().join(' ');

async function hangs(about, job, run, {stuck, ranks}) {
  const end = Date.now() + deadline;
  let rows = null, ages;

  do {
    await sleep(interval);
    rows = await rowsOf(run, 'deadlocks');
    if (rows && ranksOf(rows, ranks) === stuck) {
      ages = rows.map(row => Number(row.for_ns));
      const youngest = Math.min(...ages);
      assert.ok(youngest < late, `${about}: named after ${youngest / 1e6} ms`);
      return youngest / 1e6;
    }
  } while (Date.now() < end && !job.isOver);
  const pending = await rowsOf(run, 'pending');
  assert.fail(`${about}: ranks ${stuck} hang, but it is said of ` +
              `"${rows && ranksOf(rows, ranks)}": ${JSON.stringify(pending, null, 1)}` +
              `${job.said}`);
}

async function goesOn(about, job, run) {
  let asked = 0;

  while (!job.isOver) {
    const rows = await rowsOf(run, 'deadlocks');
    asked += rows !== null;
    assert.ok(!rows?.length, `${about}: ${JSON.stringify(rows, null, 1)}`);
    await sleep(interval);
  }
  assert.equal(job.code, 0, `${about}: ${job.said}`);
  assert.ok(asked > 0, `${about}: asked ${asked} times`);
  return asked;
}

async function check(what) {
  const {mpi, name, stuck} = what;
  const about = `${name} with ${mpi}`, run = join(folder, `${name}.${mpi}`);
  const job = start(what, run);

  try {
    if (stuck === 'none')
      console.log(`${about}: asked ${await goesOn(about, job, run)} times`);
    else
      console.log(`${about}: named when it had lasted for ` +
                  `${await hangs(about, job, run, what)} ms`);
  } finally {
    await end(job);
  }
}

const todo = [];
for (const mpi of mpis) {
  const program = compile(mpi, 'deadlocks.c');
  const names = output(program).trim().split('\n');
  names.forEach((line, i) => {
    const [name, ranks, ...stuck] = line.split(' ');
    if (which === 'all' || which === name ||
        (which === 'some' && i % mpis.length === mpis.indexOf(mpi)))
      todo.push({mpi, program, name, ranks: Number(ranks),
                 stuck: stuck.join(' ')});
  });
}

const failures = [];
async function work() {
  for (let next; (next = todo.shift());)
    await check(next).catch(error => {
      failures.push(error);
      console.error(error.message);
    });
}
await Promise.all(Array.from({length: atOnce}, work));
assert.equal(failures.length, 0,
             failures.map(error => error.message.split('\n')[0]).join('\n'));
