// shifts.mjs - whether `eventspace contract check` finds that one process does a few
// percent more or less of one thing, and nothing where none does.
//
//     node shifts.mjs BIN SHIFTED FOLDER [RUNS]
//
// Of five runs of the program shifted.c as it is a contract is made: of the first, and
// the others must keep it, or it is made with the next larger tolerance of TOLERANCES.
// That is before anything is predicted. Then RUNS runs (200), half of them as it is, in
// a random order; in the others one process of four does 3 to 10 % more or less of one
// thing: it sends more messages, or larger ones, or counts more cells. (Processor time of
// a round is none of these: in a virtual machine half a second of it differs by 3 % from
// the next, whatever the program does.)
//
// A run is told by the exit code alone: 3, the contract was broken. That the row with
// the highest level names the process and the metric is counted besides.
//
// FOLDER/shifts.jsonl gets what is predicted, a line for each run, and at the end a
// line with the sums. What is there is not made again, so a course that was cut short
// goes on.
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import {appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';

const [binPath, shiftedPath, folderPath, runsText = '200'] = process.argv.slice(2);
const bin = resolve(binPath), shifted = resolve(shiftedPath), folder = resolve(folderPath);
const runs = Number(runsText), eventspace = join(bin, 'eventspace');
const THREADS = 4, ROUNDS = 5000, TOLERANCES = [0.01, 0.015];
const METRICS = {messages: 'round_messages', bytes: 'message_bytes', cells: 'round_cells'},
  KINDS = Object.keys(METRICS);
const PREDICTED = {name: 'shifts.predicted', false_alarms: 0.01, missed: 0.02};
mkdirSync(folder, {recursive: true});
const results = join(folder, 'shifts.jsonl'), contract = join(folder, 'contract');
const options = {cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28,
  stdio: ['ignore', 'pipe', 'pipe']};
const output = (...words) => execFileSync(eventspace, words, options);

// --- the program ---

const nodes = Array.from({length: THREADS}, (_, i) => `
    t${i} [kind=thread, number=${i}];
    box${i} [kind=element, type="bytes[2000]", policy=discard, capacity=16];
    t${i} -> total [use=sum];
    t${i} -> box${i} [as=box, use=write];`);
writeFileSync(join(folder, 'app.dot'),
  `digraph shifted {\n    total [kind=element, type="f64[1]"];${nodes.join('')}\n}\n`);
output('map', 'generate', '--application=app.dot', `--processes=${THREADS}`, '--output=plain.dot');
output('map', 'instrument', 'plain.dot', '--output=map.dot');
writeFileSync(join(folder, 'metrics'), `interval 0.5;
violated 3;
metric intrinsic round_messages = messages / rounds;
metric intrinsic message_bytes = (bytes - 8 * rounds) / messages;
metric intrinsic round_cells = program("cells") / rounds;
`);

function run(directory, ...shift) {
  execFileSync(eventspace, ['run', 'map.dot', '--replace', `--output=${directory}`, '--',
    shifted, String(ROUNDS), ...shift.map(String)], options);
}
function check(directory) {
  const done = spawnSync(eventspace, ['contract', 'check', contract, directory,
    '--format=json'], options);
  assert.ok([0, 3].includes(done.status), done.stderr);
  const rows = JSON.parse(done.stdout).filter(row => row.process !== 'all')
    .sort((a, b) => b.level - a.level);
  return {broken: done.status === 3, first: rows[0]};
}

// --- the contract ---

if (!existsSync(contract)) {
  for (let i = 0; i < 5; i++)
    run(`BASE${i}`);
  const kept = TOLERANCES.find(tolerance => {
    output('contract', 'make', 'BASE0', '--metrics=metrics', `--tolerance=${tolerance}`,
      `--output=${contract}`);
    return [1, 2, 3, 4].every(i => !check(`BASE${i}`).broken);
  });
  console.log(`tolerance: ${kept ?? `${TOLERANCES.at(-1)}, and not kept by all`}`);
}

// --- runs ---

const lines = () => (existsSync(results) ? readFileSync(results, 'utf8') : '').split('\n')
  .filter(Boolean).map(line => JSON.parse(line));
const put = line => {
  appendFileSync(results, JSON.stringify(line) + '\n');
  console.log(JSON.stringify(line));
};
if (!lines().some(({name}) => name === PREDICTED.name)) put(PREDICTED);

let state = 20261129n;
function random() { // the same each time
  state = state * 6364136223846793005n + 1442695040888963407n & (1n << 64n) - 1n;
  return Number(state >> 40n) / 2 ** 24;
}
const order = Array.from({length: runs}, (_, i) => i);
for (let i = runs - 1; i > 0; i--) {
  const k = Math.floor(random() * (i + 1));
  [order[i], order[k]] = [order[k], order[i]];
}
const shifts = order.map(number => {
  const percent = 3 + 7 * random(), less = random() < 0.5;
  const shift = {metric: KINDS[Math.floor(random() * KINDS.length)],
    thread: Math.floor(random() * THREADS), factor: 1 + (less ? -1 : 1) * percent / 100};
  return number < runs / 2 ? null : shift;
});
for (const [i, shift] of shifts.entries()) {
  const name = `shifts.run.${i}`;
  if (lines().some(line => line.name === name)) continue;
  run('RUN', ...(shift ? [shift.thread, shift.metric, shift.factor] : []));
  const {broken, first} = check('RUN');
  put({name, ...shift ?? {metric: 'none'}, broken, told: first && {process: first.process,
    metric: first.metric, level: first.level},
    named: !!(shift && first && first.process === `h${shift.thread}` &&
      first.metric === METRICS[shift.metric])});
}
const all = lines().filter(({name}) => name.startsWith('shifts.run.'));
const plain = all.filter(({metric}) => metric === 'none'),
  changed = all.filter(({metric}) => metric !== 'none');
const share = (list, is) => list.filter(is).length / list.length;
put({name: 'shifts.sums', runs: all.length, false_alarms: share(plain, ({broken}) => broken),
  missed: share(changed, ({broken}) => !broken), named: share(changed, ({named}) => named),
  missed_by_metric: Object.fromEntries(KINDS.map(name => [name,
    share(changed.filter(({metric}) => metric === name), ({broken}) => !broken)]))});
