// contract_watch_bench.mjs - what it costs a program of many processes to be held
// against a contract while it runs.
//
//     node contract_watch_bench.mjs BIN [PAIRS [PROCESSES]]
//
// In each pair the same run is made with `contract watch` beside it and without, in turn
// first. "contract.watch" is how long it took with, "limit" without (medians);
// "contract.watch.processor" is the processor time of the watch, beside that of all
// processors while it watched. The watch must have judged every process, or this
// fails.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {existsSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {availableParallelism} from 'node:os';
import {join, resolve} from 'node:path';
import {inFolder, median, nap} from './in_folder.mjs';

const bin = resolve(process.argv[2]), pairs = Number(process.argv[3] ?? 10);
const processes = Number(process.argv[4] ?? 64);
// Some tens of operations of a process in each interval of half a second, as
// eventspace-contract(1) asks for.
const COMPUTE = '500us', ROUNDS = 600;
const {folder, environment, output} = inFolder(bin, 'contract');

writeFileSync(join(folder, 'app.dot'), output('gsum', 'mapping', `--threads=${processes}`,
  `--compute=${COMPUTE}`, `--rounds=${ROUNDS}`));
output('eventspace', 'map', 'generate', '--application=app.dot',
  `--processes=${processes}`, '--output=plain.dot');
output('eventspace', 'map', 'instrument', 'plain.dot', '--output=map.dot');

// How long from the first operation to the last, in seconds.
function took(directory) {
  const text = output('eventspace', 'sql', directory, '--format=csv',
    'SELECT max(end_ns) - min(start_ns) FROM event');
  return 1e-9 * Number(text.trim().split('\n')[1]);
}

const TICK = Number(spawnSync('getconf', ['CLK_TCK'], {encoding: 'utf8'}).stdout);
function processorOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICK;
}

async function run(directory, watched) {
  const child = spawn(join(bin, 'eventspace'), ['run', 'map.dot', '--replace',
    `--output=${directory}`, '--', join(bin, 'gsum'), 'run'],
    {cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], env: environment});
  let over = false, watch, share;
  const ended = new Promise(done => child.on('exit', code => { over = true; done(code); }));
  if (watched) {
    rmSync(join(folder, directory, 'h0.meta'), {force: true});
    while (!over && !existsSync(join(folder, directory, 'h0.meta')))
      await nap(5);
    watch = spawn(join(bin, 'eventspace'), ['contract', 'watch', 'gsum.contract', directory,
      '--format=json'], {cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], env: environment});
    const judged = new Set();
    watch.stdout.on('data', text => {
      for (const [, name] of String(text).matchAll(/"process": ?"([^"]*)"/g))
        judged.add(name);
    });
    const gone = new Promise(done => watch.on('exit', done));
    const from = Date.now();
    while (!over) {
      try {
        share = processorOf(watch.pid) / ((Date.now() - from) / 1000) / availableParallelism();
      } catch { /* it has ended */ }
      await nap(100);
    }
    await gone;
    assert.equal(judged.size, processes + 1, `${judged.size} were judged`);
  }
  assert.equal(await ended, 0);
  return {seconds: took(directory), share};
}

await run('RUN', false);
output('eventspace', 'contract', 'make', 'RUN', '--output=gsum.contract');
const plain = [], watched = [], shares = [];
for (let i = 0; i < pairs; i++)
  for (const beside of i % 2 ? [true, false] : [false, true]) {
    const {seconds, share} = await run('RUN', beside);
    (beside ? watched : plain).push(seconds);
    if (beside) shares.push(share);
  }
const ratio = median(watched.map((seconds, i) => seconds / plain[i]));
const print = (name, value, unit, limit, ratio, limitOf) =>
  console.log(JSON.stringify({name, value: Number(value.toFixed(4)), unit,
    limit: Number(limit.toFixed(4)), ratio: Number(ratio.toFixed(4)), limit_of: limitOf}));
print(`contract.watch.${processes}`, median(plain) * ratio, 's', median(plain), ratio,
  'nobody watches');
print(`contract.watch.processor.${processes}`, median(shares), 's/s', 1, median(shares),
  'all processors');
