// rebalance_bench.mjs - what it gains to divide the work anew while a program runs:
// `contract watch --balance` gives a process of `sor --rebalance` fewer rows when a
// competitor has come to its processor.
//
//     node rebalance_bench.mjs BIN [TURNS]
//
// Two processes, each on a processor of its own. In each turn it runs three times:
// alone; with a competitor that comes after a fifth of that time and stays; and the
// same with the contract watched. "limit" is what nobody could beat: the rest of the
// work at the speed of one and a half processors from that moment on. "ratio" is the
// share of the possible gain; the last line is the least of all turns. Results have
// the same checksum in each run, or this fails.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {existsSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {bound} from './bound_map.mjs';
import {inFolder, median, nap} from './in_folder.mjs';

const bin = resolve(process.argv[2]), turns = Number(process.argv[3] ?? 5);
const SIZE = 'B', ROUNDS = 1200;
const {folder, environment, output} = inFolder(bin, 'rebalance');

writeFileSync(join(folder, 'app.dot'), output('sor', 'mapping', '--threads=2',
  `--size=${SIZE}`, `--rounds=${ROUNDS}`, '--rebalance'));
output('eventspace', 'map', 'generate', '--application=app.dot', '--processes=2',
  '--output=plain.dot');
writeFileSync(join(folder, 'plain.dot'),
  bound(readFileSync(join(folder, 'plain.dot'), 'utf8')));
output('eventspace', 'map', 'instrument', 'plain.dot', '--output=map.dot');

// Beside what `beside` does, which is told when it has begun; it gives how to end.
async function run(directory, beside = () => () => {}) {
  const child = spawn(join(bin, 'eventspace'), ['run', 'map.dot', '--replace',
    `--output=${directory}`, '--', join(bin, 'sor'), 'run'],
    {cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], env: environment});
  const ended = new Promise(done => child.on('exit', done));
  const end = beside();
  const code = await ended;
  await end();
  assert.equal(code, 0);
  return JSON.parse(readFileSync(join(folder, directory, 'sor.json'), 'utf8'));
}

function competitor(after_ms) {
  let other;
  const timer = setTimeout(() => {
    other = spawn('taskset', ['-c', '0', 'sh', '-c', 'while :; do :; done']);
  }, after_ms);
  return () => {
    clearTimeout(timer);
    other?.kill('SIGKILL');
  };
}

function watch() {
  const child = spawn(join(bin, 'eventspace'), ['contract', 'watch', 'sor.contract', 'RUN',
    '--balance=share'], {cwd: folder, stdio: ['ignore', 'pipe', 'pipe'],
    env: environment});
  let said = '';
  child.stdout.on('data', text => { said += text; });
  child.stderr.on('data', text => { said += text; });
  return {said: () => said, ended: new Promise(done => child.on('exit', done))};
}

async function turn() {
  const alone = await run('RUN');
  const after = 200 * alone.seconds;
  const beside = await run('RUN', () => competitor(after));
  rmSync(join(folder, 'RUN'), {recursive: true});
  let watching;
  const divided = await run('RUN', () => {
    const end = competitor(after);
    const space = join(folder, 'RUN', 'h0.space');
    const begun = (async () => {
      while (!existsSync(space) || statSync(space).size === 0)
        await nap(2);
      watching = watch();
    })();
    return async () => {
      end();
      await begun;
      await watching.ended;
    };
  });
  assert.equal(new Set([alone, beside, divided].map(r => r.values.checksum)).size, 1);
  const limit = 0.2 * alone.seconds + 0.8 * alone.seconds * 2 / 1.5;
  return {alone: alone.seconds, beside: beside.seconds, value: divided.seconds, limit,
    ratio: (beside.seconds - divided.seconds) / (beside.seconds - limit),
    division: divided.values.division, divisions: divided.values.divisions,
    said: watching.said()};
}

await run('BASE');
output('eventspace', 'contract', 'make', 'BASE', '--interval=200ms',
  '--output=sor.contract');
const rows = [];
for (let i = 0; i < turns; i++) {
  rows.push(await turn());
  console.log(JSON.stringify({name: `rebalance.${i}`, unit: 's', ...rows[i]}));
}
console.log(JSON.stringify({name: 'rebalance.gain', unit: 'of the possible gain',
  value: median(rows.map(row => row.ratio)), least: Math.min(...rows.map(row => row.ratio)),
  limit: 1, ratio: median(rows.map(row => row.ratio))}));
