// planted_runs.mjs - runs of planted.c by plans of planted_plans.mjs, that were
// as planned by the threads' own clocks.
//
// Whatever imports it is called with EVENTSPACE PLANTED. With
// EVENTSPACE_PLANTED_KEEP, runs are left in that folder.
import {execFileSync, spawn, spawnSync} from 'child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'fs';
import {tmpdir} from 'os';
import {dirname, join} from 'path';

const [eventspace, planted] = process.argv.slice(2);
const keep = process.env.EVENTSPACE_PLANTED_KEEP;
const offPlan = 0.05, latePlan = 0.1;

const folder = keep ?? mkdtempSync(join(tmpdir(), 'planted-'));
if (!keep)
  process.on('exit', () => rmSync(folder, {recursive: true, force: true}));

// Processors do not sleep meanwhile: how long one takes to wake is no matter of
// what is planted, and some are awake in one run and asleep in the other.
const awake = spawn(join(dirname(planted), 'scopes_awake'), {stdio: 'ignore'});
awake.unref();
process.on('exit', () => awake.kill('SIGKILL'));

export const percent = part => `${(100 * part).toFixed(1)} %`;

function makeMap(its, name) {
  const file = part => join(folder, `${name}.${part}`);
  for (const part of ['application', 'cluster', 'placement'])
    writeFileSync(file(part), its[part]);
  const plain = execFileSync(eventspace, [
    'map', 'generate', `--application=${file('application')}`,
    `--cluster=${file('cluster')}`, `--placement=${file('placement')}`]);
  execFileSync(eventspace, ['map', 'instrument', '-', `--output=${file('dot')}`],
               {input: plain});
  return file('dot');
}

// What the threads' own clocks say: how long the steps took, by how much of that
// the thread that was held up most computed longer than planned, and by how much
// of what was planned they took longer, where that is known.
function timesOf(its, files) {
  const threads = Array.from({length: its.threads}, (_, t) =>
    readFileSync(`${files}.${t}`, 'utf8').trim().split(' ').map(Number));
  const took = Math.max(...threads.map(([, end]) => end)) -
    Math.min(...threads.map(([begin]) => begin));
  const off = Math.max(...threads.map(([, , should, did], t) =>
    its.busy.includes(t) ? 0 : (did - should) / took));
  return {took, off, late: took / its.ideal - 1};
}

function makeRun(its, name) {
  const run = join(folder, name), files = join(folder, `${name}.times`);
  const text = join(folder, `${name}.plan`);
  const map = makeMap(its, name);
  writeFileSync(text, its.text);
  const done = spawnSync('setsid', ['--wait', eventspace, 'run', map,
                                    `--output=${run}`, '--replace', '--',
                                    planted, text, files],
                         {encoding: 'utf8', timeout: 120000});
  if (done.status !== 0) {
    throw new Error(`ended with ${done.status ?? done.signal}: ${done.stderr}`);
  }
  return {run, ...timesOf(its, files)};
}

let again = 0;

// How many runs were made again.
export const unplanned = () => again;

// A run that was as planned, of so many tries; or null. `isKnown`: how long it
// should take is known.
export function asPlanned(its, name, tries, isKnown = true) {
  for (let i = 0; i < tries; i++) {
    const made = makeRun(its, name);
    if (made.off <= offPlan && (!isKnown || made.late <= latePlan))
      return made;
    again++;
    console.log(`${name}: not as planned: a thread was held up for ` +
      `${percent(made.off)}, late by ${percent(made.late)}`);
  }
  return null;
}
