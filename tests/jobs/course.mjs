// course.mjs - a course of random kills: a run, somebody in it who is killed at
// a random point of it, and what has to come of that.
import assert from 'node:assert/strict';
import {execFile, spawn} from 'child_process';
import {closeSync, openSync, readFileSync, rmSync} from 'fs';
import {constants} from 'os';
import {join} from 'path';
import {setTimeout as sleep} from 'timers/promises';
import {folder, temporaryMake} from './launchers.mjs';
import {ignores, processes, things} from './machine.mjs';

const SIGNALS = ['SIGKILL', 'SIGTERM', 'SIGSEGV'];
const MOST_MISSES = 10;
// From the kill to the end of the launcher, and then of all others.
const END_S = Number(process.env.EVENTSPACE_TEST_SLOW ?? 1) * 60;
const temporary = process.env.TMPDIR;

// --- chance ---

let state = BigInt(process.env.EVENTSPACE_TEST_SEED ?? 1) * 2n + 1n;
function chance(end) { // xorshift64*
  state ^= state >> 12n;
  state = (state ^ state << 25n) & 0xffffffffffffffffn;
  state ^= state >> 27n;
  return Number((state * 2685821657736338717n & 0xffffffffffffffffn) >> 11n) /
    2 ** 53 * end;
}
for (let i = 0; i < 10; i++)
  chance(1);

// --- a run ---

export function ask(...words) {
  return new Promise(done => execFile(words[0], words.slice(1),
    {cwd: folder, encoding: 'utf8', maxBuffer: 1 << 29, timeout: 120000},
    (error, out, err) => done({code: error ? error.code ?? error.signal : 0,
                               out, err})));
}

export async function succeed(...words) {
  const {code, out, err} = await ask(...words);
  assert.equal(code, 0, `${words.join(' ')}: ${code} ${out}${err}`);
  return out;
}

export function start(launcher, words) {
  const output = openSync(join(folder, 'output'), 'w');
  const child = spawn(launcher.front[0], [...launcher.front.slice(1), ...words],
    {cwd: folder, env: launcher.environment, stdio: ['ignore', output, output]});
  const job = {pid: child.pid, code: null};
  closeSync(output);
  job.ended = new Promise(done => child.on('exit', (code, signal) =>
    done(job.code = code ?? signal)));
  job.said = () => readFileSync(join(folder, 'output'), 'utf8');
  return job;
}

// null: it is not there yet.
export async function infoOf(command, run) {
  const {code, out} = await ask(command, 'info', run, '--format=json');
  return code === 0 ? JSON.parse(out) : null;
}

// Until that many events have been recorded; what there is then.
async function reach(command, run, job, events) {
  for (;;) {
    const info = await infoOf(command, run);
    if (job.code !== null)
      return null;
    if (info && info.total.events_recorded >= events)
      return info;
  }
}

// --- the end of it ---

// What was not there before. Those that have ended may take a moment.
async function remains(before, allowed) {
  const until = Date.now() + END_S * 1000;
  let left;
  do {
    left = things(temporary).filter(thing => !before.has(thing));
    const files = left.filter(thing => !thing.startsWith('process'));
    left = [...left.filter(thing => thing.startsWith('process')),
            ...files.filter(thing => !allowed(thing))];
    if (left.length)
      await sleep(20);
  } while (left.length && Date.now() < until);
  return left;
}

function killRest(before) {
  for (const {pid} of processes())
    if (![...before].some(thing => thing.startsWith(`process ${pid} `))) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch { /* it has ended */ }
    }
}

async function end(job, before) {
  await Promise.race([job.ended, sleep(END_S * 1000, null, {ref: false})]);
  if (job.code !== null)
    return;
  const left = things(temporary).filter(thing => !before.has(thing));
  killRest(before);
  assert.fail(`the launcher has not ended; there are\n${left.join('\n')}\n` +
              job.said());
}

// --- the course ---

// `roles`: for each a function that finds the processes to be killed, as lists
// of those that are killed together. `check` sees what came of it.
async function attempt(course, role, signal) {
  const {command, launcher, words, run, events} = course;
  const target = Math.floor(chance(events * 0.97)), pick = chance(1);
  rmSync(run, {recursive: true, force: true});
  temporaryMake();
  course.prepare?.();
  const before = new Set(things(temporary));
  const job = start(launcher, words);
  const seen = await reach(command, run, job, target);
  const all = processes(), found = seen ? course.roles[role](all, job) : [];
  const chosen = found[Math.floor(pick * found.length)];
  if (!chosen) {
    await end(job, before);
    return {missed: 'it was over'};
  }
  const victims = chosen.map(({pid}) => pid);
  const used = victims.some(pid => ignores(pid, constants.signals[signal]))
    ? 'SIGKILL' : signal;
  const result = {role, signal: used, names: course.namesOf(all, chosen),
                  at: seen.total.events_recorded};
  const begin = Date.now();
  for (const pid of victims) {
    try {
      process.kill(pid, used);
    } catch { /* it has ended: it is seen below whether all were well */ }
  }
  await end(job, before);
  result.seconds = (Date.now() - begin) / 1000;
  result.code = job.code;
  const left = await remains(before, thing =>
    ['daemon', 'launcher'].includes(role) && launcher.leaves.test(thing));
  result.none_left = (Date.now() - begin) / 1000;
  if (left.length)
    killRest(before);
  const info = await infoOf(command, run);
  assert.ok(info, `${run} cannot be read: ${job.said()}`);
  result.recorded = info.total.events_recorded;
  result.states = info.processes.map(({state}) => state).join(' ');
  result.texts = result.names.map(name => info.processes.find(
    ({process}) => process === name)?.text);
  const about = `${JSON.stringify(result)}\n${job.said()}`;
  // The daemon of a program that has just ended is missed by its launcher only,
  // as is a rank that has done all that it had to do, which leaves nothing.
  const isOver = ['rank', 'all'].includes(role) && left.length === 0 &&
    result.recorded >= 0.97 * events;
  if (info.total.state === 'finished' &&
      (job.code === 0 || role === 'daemon' || isOver))
    return {...result, missed: 'all was well'};
  // Nobody has finished while there was something left to do.
  if (result.at === result.recorded && / ?finished/.test(result.states))
    return {...result, missed: 'it was about to end'};
  assert.deepEqual(left, [], `left behind: ${about}`);
  assert.notEqual(job.code, 0, about);
  await course.check({...result, info, said: job.said(), about});
  return result;
}

// All pairs of roles and signals come, and neighbours differ in both.
export async function kills(course, count) {
  const roles = Object.keys(course.roles), failed = [];
  let hits = 0, misses = 0;

  while (hits < count) {
    const role = roles[hits % roles.length];
    const signal = SIGNALS[(hits + Math.floor(hits / roles.length) + misses) %
                           SIGNALS.length];
    const result = await attempt(course, role, signal)
      .catch(error => ({role, signal, wrong: error.message}));
    if (result.missed) {
      assert.ok(++misses < MOST_MISSES, `${role}: ${JSON.stringify(result)}`);
      console.log(`missed: ${JSON.stringify(result)}`);
      continue;
    }
    hits++;
    misses = 0;
    console.log(JSON.stringify({kill: hits, launcher: course.launcher.name,
                                ...result}));
    if (result.wrong)
      failed.push(`kill ${hits}: ${result.wrong}`);
  }
  assert.equal(failed.length, 0, failed.join('\n'));
}
