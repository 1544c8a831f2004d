// diff.mjs - whether `eventspace diff` finds a planted change, and nothing where
// there is none.
//
//     node diff.mjs BIN PLANTED FOLDER [RUNS [CASES]]
//
// RUNS runs (40) of the program planted.c as it is, and as many with 3 % more
// work of one thread before one of its paths, are made in turn, in a random
// order of each pair. Then CASES (50) times 10 runs of either kind are drawn
// and compared: in half of the cases both sides from the runs as they are
// (without the change), in the others one side from each. No run is in a case
// twice, but cases share runs, so they are not independent of each other.
//
// FOLDER/diff.jsonl gets what is predicted, before anything has run; a line for
// each case; and a line with the sums. Runs and cases that are there are not
// made again, so a course that was cut short goes on.
import {execFileSync, spawnSync} from 'node:child_process';
import {appendFileSync, existsSync, mkdirSync, readFileSync} from 'node:fs';
import {loadavg} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const [bin, planted, folder, runsText = '40', casesText = '50'] =
  process.argv.slice(2);
const runs = Number(runsText), cases = Number(casesText), side = 10;
const change = {path: 'flux', thread: 't1', scale: 1.03};
const steps = 200, work = 200000;
const here = dirname(fileURLToPath(import.meta.url));
const eventspace = join(bin, 'eventspace');
const results = join(folder, 'diff.jsonl');
const map = join(folder, 'planted.dot');

if (!(runs >= 2 * side && cases >= 1)) {
  process.stderr.write(`diff.mjs: give at least ${2 * side} runs\n`);
  process.exit(2);
}

mkdirSync(folder, {recursive: true});
for (const kind of ['base', 'new'])
  mkdirSync(join(folder, kind), {recursive: true});

const lines = existsSync(results)
  ? readFileSync(results, 'utf8').trim().split('\n').filter(Boolean)
    .map(line => JSON.parse(line))
  : [];
function tell(line) {
  lines.push(line);
  appendFileSync(results, JSON.stringify(line) + '\n');
}

if (!lines.some(line => line.what === 'prediction'))
  tell({what: 'prediction', runs, cases, side, ...change,
        found: 0.96 * cases, quiet: 0.96 * cases});

// --- random numbers that are the same each time ---

// Mulberry32, by Tommy Ettinger, in the public domain.
function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
}

function drawn(random, count) {
  const all = Array.from({length: runs}, (_, i) => i + 1);
  for (let i = 0; i < count; i++) {
    const k = i + Math.floor(random() * (runs - i));
    [all[i], all[k]] = [all[k], all[i]];
  }
  return all.slice(0, count);
}

// --- the runs ---

function makeMap() {
  const plain = execFileSync(eventspace, [
    'map', 'generate', `--application=${join(here, 'planted.dot')}`,
    '--processes=1']);
  execFileSync(eventspace, ['map', 'instrument', '-', `--output=${map}`],
               {input: plain});
}

function isFinished(run) {
  const done = spawnSync(eventspace, ['info', run, '--format=json'],
                         {encoding: 'utf8'});
  return done.status === 0 && JSON.parse(done.stdout).total.state === 'finished';
}

function makeRun(kind, number) {
  const run = join(folder, kind, String(number));
  if (isFinished(run))
    return;
  const words = kind === 'new' ? [change.path, String(change.scale)] : [];
  execFileSync(eventspace, [
    'run', map, `--output=${run}`, '--replace', '--', planted, String(steps),
    String(work), ...words]);
}

if (!existsSync(map))
  makeMap();
const order = generator(1);
for (let i = 1; i <= runs; i++) {
  const kinds = order() < 0.5 ? ['base', 'new'] : ['new', 'base'];
  for (const kind of kinds)
    makeRun(kind, i);
}

// --- the cases ---

function compare(base, other) {
  const done = spawnSync(eventspace, [
    'diff', '--format=json', ...base, ...other.map(run => `--against=${run}`)],
    {encoding: 'utf8', maxBuffer: 1 << 26});
  if (done.status !== 0 && done.status !== 3)
    throw new Error(`diff: ${done.status}\n${done.stderr}`);
  return {code: done.status, ...JSON.parse(done.stdout)};
}

function makeCase(number, isPlanted) {
  const random = generator(1000 * (isPlanted ? 1 : 2) + number);
  const named = (kind, numbers) =>
    numbers.map(n => join(folder, kind, String(n)));
  let base, other;
  if (isPlanted) {
    base = named('base', drawn(random, side));
    other = named('new', drawn(random, side));
  } else {
    const both = drawn(random, 2 * side);
    base = named('base', both.slice(0, side));
    other = named('base', both.slice(side));
  }
  const result = compare(base, other);
  const changed = result.rows.filter(row =>
    row.decision === 'slower' || row.decision === 'faster');
  const [first] = changed;
  const isIt = row => row.kind === 'computing' && row.thread === change.thread &&
    row.path === change.path && row.decision === 'slower';
  tell({what: 'case', planted: isPlanted, number, code: result.code,
        found: changed.some(isIt), first: first !== undefined && isIt(first),
        changed: changed.length,
        change: changed.find(isIt)?.change_share ?? null,
        detectable: result.detectable_share, load: loadavg()[0]});
}

for (let i = 1; i <= cases; i++) {
  for (const isPlanted of [true, false]) {
    if (!lines.some(line => line.what === 'case' && line.number === i &&
                    line.planted === isPlanted))
      makeCase(i, isPlanted);
  }
}

// --- the sums ---

const all = lines.filter(line => line.what === 'case');
const withChange = all.filter(line => line.planted);
const without = all.filter(line => !line.planted);
const found = withChange.filter(line => line.found).length;
const quiet = without.filter(line => line.changed === 0).length;
if (!lines.some(line => line.what === 'sums'))
  tell({what: 'sums', cases, found,
        first: withChange.filter(line => line.first).length, quiet});
process.stdout.write(
  `found: ${found} of ${withChange.length}; ` +
  `nothing reported where nothing had changed: ${quiet} of ${without.length}\n`);
process.exitCode = found >= 0.96 * cases && quiet >= 0.96 * cases ? 0 : 1;
