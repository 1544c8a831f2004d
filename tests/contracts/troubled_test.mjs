// troubled_test.mjs - `contract watch` goes on when something else does not: a process
// stands still, and is killed; the command that is started fails; the wall clock jumps.
//
//     node troubled_test.mjs BIN [WALL_JUMPS]
//
// WALL_JUMPS is wall_jumps.c, a library that is put before the C library.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {pairsWrite} from './pairs.mjs';

const bin = resolve(process.argv[2]), jumps = process.argv[3] && resolve(process.argv[3]);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-troubled-'));
const children = [];
process.on('exit', () => {
  for (const child of children)
    try { process.kill(-child.pid, 'SIGKILL'); } catch { /* it has ended */ }
  rmSync(folder, {recursive: true, force: true});
});
process.chdir(folder);

function output(codes, program, ...words) {
  const done = spawnSync(join(bin, program), words, {encoding: 'utf8', maxBuffer: 1 << 28});
  assert.ok(codes.includes(done.status), `${program} ${words.join(' ')}: ${done.stderr}`);
  return done.stdout;
}
const nap = ms => new Promise(done => setTimeout(done, ms));
async function until(what, holds, started) {
  while (!holds()) {
    assert.ok(!started?.over, `${what}: it has ended. ${started?.said.slice(-600)} ${started?.warned}`);
    await nap(10);
  }
}
function start(program, ...words) {
  const child = spawn(join(bin, program), words, {stdio: ['ignore', 'pipe', 'pipe'], detached: true});
  const started = {child, said: '', warned: '', over: false};
  children.push(child);
  child.stdout.on('data', text => { started.said += text; });
  child.stderr.on('data', text => { started.warned += text; });
  started.ended = new Promise(done => child.on('close', code => { started.over = true; done(code); }));
  return started;
}
const rowsOf = watch => watch.said.split('\n').filter(line => line.endsWith('}'))
  .map(line => JSON.parse(line));
const known = (watch, process) => rowsOf(watch).filter(row => row.process === process &&
  row.performance_level !== null);

const processes = ['h0', 'h1', 'h2', 'h3'];
// Two pairs of processes, which have nothing to do with each other.
pairsWrite(output);
output([0], 'eventspace', 'run', 'map.dot', '--output=BASE', '--', join(bin, 'metric_app'), '1500', '5');
output([0], 'eventspace', 'contract', 'make', 'BASE', '--interval=100ms', '--violated=1',
  '--output=learnt');
// Whatever the machine does besides: with rates that all have, and that nobody has.
const promising = rate => readFileSync('learnt', 'utf8').replace(/^class performance.*\n/gm, '') +
  processes.map(name => `class performance of "${name}" (${rate}) deviates (1) seen 90;\n`).join('');
writeFileSync('pairs.contract', promising(1));
writeFileSync('strict.contract', promising(1e9));

// --- a wall clock that jumps ---

if (jumps) {
  const jumped = start('eventspace', 'run', 'map.dot', '--output=JUMPED', '--', 'env',
    `LD_PRELOAD=${jumps}`, join(bin, 'metric_app'), '4000', '5');
  await until('all are there', () => processes.every(name => existsSync(`JUMPED/${name}.meta`)), jumped);
  const seen = spawnSync(join(bin, 'eventspace'), ['contract', 'watch', 'pairs.contract', 'JUMPED',
    '--format=json'], {encoding: 'utf8', env: {...process.env, LD_PRELOAD: jumps}});
  assert.ok([0, 3].includes(seen.status), seen.stderr);
  assert.doesNotMatch(seen.stderr, /was killed|has failed/);
  assert.equal(await jumped.ended, 0);
  const intervals = name => seen.stdout.split('\n').filter(line => line.endsWith('}'))
    .map(line => JSON.parse(line)).filter(row => row.process === name).length;
  const checked = JSON.parse(output([0, 3], 'eventspace', 'contract', 'check', 'pairs.contract',
    'JUMPED', '--detail', '--format=json')).filter(row => row.process === 'h0').length;
  assert.equal(intervals('h0'), checked);
  assert.ok(checked > 10, `${checked} intervals`);
}

// --- a process that stands still, and is killed ---

const info = () => {
  const done = spawnSync(join(bin, 'eventspace'), ['info', 'RUN', '--format=json'], {encoding: 'utf8'});
  return done.status === 0 ? JSON.parse(done.stdout).processes : [];
};
const run = start('eventspace', 'run', 'map.dot', '--output=RUN', '--', join(bin, 'metric_app'),
  '100000', '5');
await until('all are there', () => processes.every(name => existsSync(`RUN/${name}.meta`)), run);
const watch = start('eventspace', 'contract', 'watch', 'pairs.contract', 'RUN', '--format=json');
const strict = start('eventspace', 'contract', 'watch', 'strict.contract', 'RUN', '--format=json',
  '--on-violation=exit 7');
await until('all are judged', () => processes.every(name => known(watch, name).length > 2), watch);
const {pid} = info().find(({process}) => process === 'h1');
process.kill(pid, 'SIGSTOP');
await until('it is told that h1 is not judged',
  () => /^eventspace: h1 is not judged since \d+\.\d{3} s: /m.test(watch.warned), watch);
// The other pair is judged while it stands still.
const before = known(watch, 'h2').length;
await until('h2 is judged', () => known(watch, 'h2').length > before + 3, watch);
assert.ok(known(watch, 'h3').length > 3);
process.kill(pid, 'SIGCONT');
await until('it is told that h1 is judged again',
  () => /^eventspace: h1 is judged again from /m.test(watch.warned), watch);
await until('it is told that the command failed',
  () => /^eventspace: h2: the command failed, exit code 7$/m.test(strict.warned), strict);
process.kill(pid, 'SIGKILL');
await until('it is told that h1 was killed',
  () => /^eventspace: h1 was killed.*: it is not judged any more$/m.test(watch.warned), watch);
try { process.kill(-run.child.pid, 'SIGTERM'); } catch { /* it has ended, too */ }
await run.ended;
assert.ok([0, 3].includes(await watch.ended), watch.warned);
assert.equal(await strict.ended, 3, strict.warned);
