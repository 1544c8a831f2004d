/* damage_check.mjs - damaged spaces of a real run.
 *
 *     node damage_check.mjs EVENTSPACE GSUM
 *
 * Runs gsum on four processes and damages the space of one of them in many
 * ways. Whatever it is, `info` and `view` say so in a clear text, and show all
 * other processes as before, and the other trace elements of the damaged one.
 */
import {spawnSync, execFileSync} from 'node:child_process';
import {closeSync, copyFileSync, mkdtempSync, openSync, readFileSync,
  readSync, rmSync, statSync, truncateSync, writeFileSync, writeSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import assert from 'node:assert/strict';

const PAGE = 4096;
const COUNT_AT = 40; /* of the number of elements, in the space's header */
const [command, gsum] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-damage-'));
const run = join(folder, 'run');
const file = join(run, 'h1.space');
const whole = join(folder, 'whole.space');

/* --- a run --- */

function makeRun() {
  const at = (name) => join(folder, name);
  const call = (program, ...args) =>
    execFileSync(program, args, {encoding: 'utf8'});
  writeFileSync(at('app.dot'), call(gsum, 'mapping', '--threads', '8'));
  call(command, 'map', 'generate', '-a', at('app.dot'), '--processes', '4', '-o',
    at('plain.dot'));
  call(command, 'map', 'instrument', at('plain.dot'), '--collectors', 'all',
    '-o', at('map.dot'));
  call(command, 'run', at('map.dot'), '--output', run, '--', gsum, 'run',
    '--rounds', '1000');
  copyFileSync(file, whole);
}

/* --- what is said of it --- */

function call(what, ...args) {
  const done = spawnSync(command, [...args, '--format', 'json'],
    {encoding: 'utf8', timeout: 120000, maxBuffer: 1 << 28});
  assert.equal(done.status, 0, `${what}: eventspace ${args.join(' ')}: ` +
    `${done.status} ${done.signal} ${done.stderr}`);
  // Who else used the machine is no damage.
  return {said: JSON.parse(done.stdout),
    warned: done.stderr.replace(/^eventspace: disturbed: .*\n/gm, '')};
}

function look(what) {
  const info = call(what, 'info', run);
  const view = call(what, 'view', run, 'communication');
  call(what, 'view', run, 'all'); /* whatever they say */
  return {damaged: info.said.total.damaged_processes +
      view.said.damaged_processes,
    processes: new Map(info.said.processes.map((p) => [p.process, p])),
    threads: view.said.rows, warned: view.warned};
}

/* Facts of the threads of other processes are those of before. */
function checkOthers(what, before, after) {
  for (const [name, process] of before.processes) {
    if (name === 'h1') continue;
    assert.deepEqual(after.processes.get(name), process, `${what}: ${name}`);
  }
  const others = (seen) => seen.threads.filter((row) => row.process !== 'h1')
    .map(({thread, process, operations}) => ({thread, process, operations}));
  assert.ok(others(before).length >= 6, what);
  assert.deepEqual(others(after), others(before), what);
}

function check(what, before, {says, traces, events}) {
  const after = look(what);
  const process = after.processes.get('h1');
  checkOthers(what, before, after);
  assert.match(process.problem, says, what);
  assert.match(process.problem, /h1\.space/, what);
  assert.ok(after.warned.includes('process h1: '), `${what}: ${after.warned}`);
  /* What it had is not "0 lost". */
  assert.equal(before.damaged, 0, what);
  assert.equal(after.damaged, 2, what);
  assert.match(execFileSync(command, ['info', run], {encoding: 'utf8'}),
    /lost, and an unknown number in damaged files/, what);
  assert.match(after.warned, says, what);
  assert.equal(process.streams, traces, what);
  assert.ok(events(process.events_present),
    `${what}: ${process.events_present}`);
}

/* --- damage --- */

function withFile(act) {
  const open = openSync(file, 'r+');
  try { act(open); } finally { closeSync(open); }
}

/* All elements of the whole space: where they are, by their number. Threads
 * make them at the same time, so that any may come before any other. */
function elementsOf(file) {
  const bytes = readFileSync(file);
  const count = bytes.readUInt32LE(COUNT_AT);
  return Array.from({length: count}, (_, number) => {
    const offset = Number(bytes.readBigUInt64LE(PAGE + 8 * number));
    const name = bytes.toString('latin1', offset, offset + 6);
    return {number, offset, isTrace: name === 'trace.'};
  });
}

function flip(at, mask) {
  const byte = Buffer.alloc(1);
  withFile((open) => {
    readSync(open, byte, 0, 1, at);
    byte[0] ^= mask;
    writeSync(open, byte, 0, 1, at);
  });
}

const zero = (from, count) =>
  withFile((open) => writeSync(open, Buffer.alloc(count), 0, count, from));

function checkKinds(before) {
  const {streams: traces, events_present: events} = before.processes.get('h1');
  const size = statSync(file).size;
  const none = {traces: 0, events: (n) => n === 0};
  const some = (left) =>
    ({traces: left, events: (n) => n > 0 && n < events});
  const elements = elementsOf(whole);
  const inFile = elements.filter(({isTrace}) => isTrace)
    .sort((a, b) => a.offset - b.offset);
  assert.equal(inFile.length, traces);
  assert.ok(traces >= 3);
  const behind = inFile[2].offset;
  const lost = (number) =>
    new RegExp(`element ${number} of \\d+: damaged.* lost`);
  const firstBehind = elements.find(({offset}) => offset >= behind).number;
  const kinds = [
    ['cut before its third trace', () => truncateSync(file, behind),
      {says: lost(firstBehind), ...some(2)}],
    ['zero from its third trace on', () => zero(behind, size - behind),
      {says: lost(firstBehind), ...some(2)}],
    ['cut within its header', () => truncateSync(file, 20),
      {says: /too short to be a space file/, ...none}],
    ['empty', () => truncateSync(file, 0), {says: /too short/, ...none}],
    ['zero', () => zero(0, size), {says: /is not a space file/, ...none}],
    ['a bit of its directory', () => flip(PAGE + 8 * inFile[1].number, 1),
      {says: lost(inFile[1].number), ...some(traces - 1)}],
    ['a bit of the number of its elements', () => flip(COUNT_AT + 3, 128),
      {says: /damaged: it claims \d+ elements/, traces,
        events: (n) => n === events}],
  ];
  for (const [what, act, wanted] of kinds) {
    copyFileSync(whole, file);
    act();
    check(what, before, wanted);
  }
}

/* Any bits: what comes of h1 is unknown, but others do not suffer, and
 * nothing crashes or takes for ever. */
function checkAnyBits(before) {
  let state = 20260101;
  const elements = elementsOf(whole);
  const random = (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
  for (let round = 0; round < 30; round++) {
    copyFileSync(whole, file);
    for (let i = 0; i < 8; i++) {
      const begin = round % 3 === 0 ? 0 :
        elements[random(elements.length)].offset;
      const span = [80, 700, 60000][round % 3];
      const size = statSync(file).size;
      flip(Math.min(begin % size + random(span), size - 1), 1 << random(8));
    }
    const what = `bits, round ${round}`;
    checkOthers(what, before, look(what));
  }
}

try {
  makeRun();
  const before = look('whole');
  assert.equal(before.warned, '');
  checkKinds(before);
  checkAnyBits(before);
  copyFileSync(whole, file);
  assert.deepEqual(look('whole again'), before);
} finally {
  rmSync(folder, {recursive: true, force: true});
}
