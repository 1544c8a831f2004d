// crowd.mjs - a run of hundreds of processes on this machine, gathered while it goes
// on by a tree with a fan-out of 8.
//
//     crowd.mjs BIN CROWD_APP FOLDER [PROCESSES [THREADS [ROUNDS]]]
//
// All threads of 256 processes, 4 on each, do 100 rounds of a sum and a barrier.
// They begin when the tree has heard of all processes. Each event must come, and
// each process must have as many in the mirror as in its own files. A line of JSON
// says how long everything took, and goes to FOLDER/crowd.jsonl.
import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';

const [bin, app, folder] = process.argv.slice(2).map(word => resolve(word));
const [PROCESSES, THREADS, ROUNDS] = [256, 4, 100].map((n, i) => Number(process.argv[5 + i] ?? n));
const FANOUT = 8, PATIENCE_S = 600;
mkdirSync(folder, {recursive: true});
for (const name of ['RUN', 'mirror', 'go'])
  rmSync(join(folder, name), {recursive: true, force: true});

const command = (...words) => execFileSync(join(bin, 'eventspace'), words,
  {cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28});
function begin(...words) {
  const child = spawn(join(bin, 'eventspace'), words, {cwd: folder});
  const begun = {child, said: ''};
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', text => { begun.said += text; });
  begun.over = new Promise(done => child.on('close', done));
  return begun;
}
const seconds = since => (Date.now() - since) / 1000;
async function until(what, holds, ...alive) {
  for (const began = Date.now(); !holds(); await pause(100)) {
    for (const {child, said} of alive) assert.equal(child.exitCode, null, said);
    assert(seconds(began) < PATIENCE_S, what);
  }
}
const count = (directory, suffix) => existsSync(join(folder, directory)) ?
  readdirSync(join(folder, directory)).filter(name => name.endsWith(suffix)).length : 0;
const eventsOf = directory => new Map(JSON.parse(command('info', directory, '--format=json'))
  .processes.map(its => [its.process, its.events_recorded]));

const names = Array.from({length: PROCESSES * THREADS}, (_, i) => `t${i}`);
writeFileSync(join(folder, 'app.dot'), ['digraph crowd {',
  'total [kind=element, type="f64", capacity=2]; gate [kind=element];',
  ...names.map((name, i) => `${name} [kind=thread, number=${i}];
    ${name} -> total [use=sum]; ${name} -> gate [use=barrier];`), '}'].join('\n'));
command('map', 'generate', '--application=app.dot', `--processes=${PROCESSES}`,
  '--output=plain.dot');
command('map', 'instrument', 'plain.dot', '--output=map.dot');

const began = Date.now();
const run = begin('run', 'map.dot', '--output=RUN', '--', app, String(ROUNDS), join(folder, 'go'));
await until('all processes run', () => count('RUN', '.meta') === PROCESSES, run);
const started_s = seconds(began), scoped = Date.now();
const scope = begin('scope', 'RUN', '--output=mirror', `--fanout=${FANOUT}`);
await until('the tree hears of all of them', () => count('mirror', '.meta') === PROCESSES, run,
  scope);
const tree_s = seconds(scoped), went = Date.now();
writeFileSync(join(folder, 'go'), '');
await until('events come while the run goes on', () => count('mirror', '.archive') === PROCESSES,
  scope);
const live = run.child.exitCode === null;
assert.equal(await run.over, 0, run.said);
const run_s = seconds(went);
assert.equal(await scope.over, 0, scope.said);

const here = eventsOf('RUN'), there = eventsOf('mirror');
for (const [name, events] of here) assert.equal(there.get(name), events, name);
const events = [...here.values()].reduce((sum, n) => sum + n);
assert(events >= 2 * ROUNDS * PROCESSES * THREADS, `${events} events`);
assert.match(scope.said, new RegExp(`${events} recorded, ${events} read, 0 lost`));
const line = JSON.stringify({name: 'crowd', processes: PROCESSES, threads: PROCESSES * THREADS,
  rounds: ROUNDS, fanout: FANOUT, events, live, started_s, tree_s, run_s, gathered_s: seconds(went)});
appendFileSync(join(folder, 'crowd.jsonl'), `${line}\n`);
console.log(line);
for (const name of ['RUN', 'mirror', 'go'])
  rmSync(join(folder, name), {recursive: true, force: true});
