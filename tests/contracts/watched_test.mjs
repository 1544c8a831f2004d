// watched_test.mjs - what `contract watch` says of a run that goes on is what `contract
// check` says of it afterwards, also where a process stands still for a while: those
// who wait for it are in one operation for more than an interval.
//
//     node watched_test.mjs BIN
//
// An interval is judged without those who are in one operation for longer than three
// intervals, so a course in which the machine kept anybody for that long tells nothing,
// and another one is made.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {pairsWrite} from './pairs.mjs';

const bin = resolve(process.argv[2]);
const INTERVAL_MS = 400, STOP_MS = 600, PATIENCE = 3, TRIES = 10;
const folder = mkdtempSync(join(tmpdir(), 'eventspace-watched-'));
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));
process.chdir(folder);

function output(codes, program, ...words) {
  const done = spawnSync(join(bin, program), words, {encoding: 'utf8', maxBuffer: 1 << 28});
  assert.ok(codes.includes(done.status), `${program} ${words.join(' ')}: ${done.stderr}`);
  return done.stdout;
}
const nap = ms => new Promise(done => setTimeout(done, ms));
function start(...words) {
  const child = spawn(join(bin, 'eventspace'), words, {stdio: ['ignore', 'pipe', 'inherit']});
  const started = {child, said: '', over: false};
  child.stdout.on('data', text => { started.said += text; });
  started.ended = new Promise(done => child.on('close', code => { started.over = true; done(code); }));
  return started;
}

// Two pairs of processes, of which one goes on while the other stands still.
pairsWrite(output);

async function course(stops) {
  const run = start('run', 'map.dot', '--replace', '--output=RUN', '--', join(bin, 'metric_app'), '1500', '5');
  while (!run.over && ![0, 1, 2, 3].every(i => existsSync(`RUN/h${i}.meta`)))
    await nap(10);
  const watch = stops ? start('contract', 'watch', 'pairs.contract', 'RUN', '--format=json') : null;
  for (let i = 0; stops && i < 2 && !run.over; i++) {
    await nap(1000);
    const info = JSON.parse(output([0], 'eventspace', 'info', 'RUN', '--format=json'));
    const {pid, state} = info.processes.find(({process}) => process === 'h1');
    if (state !== 'running') break;
    process.kill(pid, 'SIGSTOP');
    await nap(STOP_MS);
    process.kill(pid, 'SIGCONT');
  }
  assert.equal(await run.ended, 0);
  await watch?.ended;
  return watch?.said;
}

// The longest that a thread was without an end of an operation, in intervals.
function longestSilence() {
  const text = output([0], 'eventspace', 'sql', 'RUN', '--format=csv',
    `SELECT max(gap) FROM (SELECT end_ns - lag(end_ns, 1, start_ns) OVER
      (PARTITION BY thread ORDER BY end_ns) AS gap FROM communication_detail)`);
  return Number(text.trim().split('\n')[1]) / 1e6 / INTERVAL_MS;
}

await course(false);
output([0], 'eventspace', 'contract', 'make', 'RUN', `--interval=${INTERVAL_MS}ms`,
  '--output=pairs.contract');
const LEVELS = ['intrinsic_level', 'performance_level'];
let silence;
for (let i = 0; i < TRIES; i++) {
  if (existsSync('RUN/h1.meta')) rmSync('RUN', {recursive: true});
  const watchedText = await course(true);
  silence = longestSilence();
  if (silence < 1 || silence > PATIENCE - 0.5) continue;
  const watched = new Map(watchedText.trim().split('\n').map(line => JSON.parse(line))
    .map(row => [`${row.process} at ${row.start_ns}`, row]));
  const checked = JSON.parse(output([0, 3], 'eventspace', 'contract', 'check', 'pairs.contract',
    'RUN', '--detail', '--format=json'));
  assert.ok(checked.some(row => row.performance_level !== null));
  for (const row of checked) {
    const other = watched.get(`${row.process} at ${row.start_ns}`);
    for (const level of LEVELS)
      if (row[level] !== null)
        assert.ok(other?.[level] != null && Math.abs(other[level] - row[level]) < 0.01,
          `${level} of ${row.process} at ${row.start_ns}: ${row[level]} by check, ` +
          `${other?.[level]} by watch`);
  }
  console.log(`${checked.length} rows are the same, after ${i + 1} courses`);
  process.exit(0);
}
throw new Error(`in ${TRIES} courses nobody stood still as long as he was to: ${silence}`);
