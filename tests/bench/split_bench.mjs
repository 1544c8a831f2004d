// split_bench.mjs - what it gains to divide the work by what machines give:
// `choose --split` with sor, beside a competitor, against equal strips.
//
//     node split_bench.mjs BIN [RUNS]
//
// Two processes, each on a processor of its own; on one of them so many busy
// processes compete. Ten settings. What is possible: alone, both give 1, and equal
// strips take D; beside k competitors one gives 1/(k + 1), and nobody can be done
// before 2 D/(1 + 1/(k + 1)). A line of each setting has the share of that gain
// which the division had ("ratio"; at least 0.8 is wanted): the median of turns, in
// each of which it runs alone, with equal strips and divided, as a machine may be a
// third faster in one minute than in the next; the last line the least of all.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'fs';
import {tmpdir} from 'os';
import {join, resolve} from 'path';
import {bound} from './bound_map.mjs';

const bin = resolve(process.argv[2]), runs = Number(process.argv[3] ?? 7);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-split-'));
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));

function output(program, ...words) {
  const done = spawnSync(program.includes('/') ? program : join(bin, program), words,
    {cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28,
     env: {...process.env, PATH: `${bin}:${process.env.PATH}`}});
  assert.equal(done.status, 0, `${program} ${words.join(' ')}: ${done.stderr}`);
  return done.stdout;
}

const median = list => [...list].sort((a, b) => a - b)[(list.length - 1) >> 1];

// A map of two processes, each bound to its processor.
function mapOf(name, size, rounds, ...more) {
  const application = join(folder, `${name}.app.dot`), map = `${name}.dot`;
  writeFileSync(application, output('sor', 'mapping', '--threads=2', `--size=${size}`,
    `--rounds=${rounds}`, ...more));
  output('eventspace', 'map', 'generate', `--application=${application}`,
    '--processes=2', `--output=${map}`);
  writeFileSync(join(folder, map), bound(readFileSync(join(folder, map), 'utf8')));
  return map;
}

function secondsOf(map) {
  output('eventspace', 'run', map, '--replace', '--output=RUN', '--', join(bin, 'sor'),
    'run');
  return JSON.parse(readFileSync(join(folder, 'RUN/sor.json'), 'utf8')).seconds;
}

function beside(processor, count, what) {
  const others = Array.from({length: count}, () => spawn('taskset',
    ['-c', String(processor), 'sh', '-c', 'while :; do :; done']));
  try {
    return what();
  } finally {
    for (const other of others)
      other.kill('SIGKILL');
  }
}

// Shares for h0 on m0 and h1 on m1.
function sharesOf(profile, map, processor, count) {
  const cluster = join(folder, 'cluster.dot');
  writeFileSync(cluster, `digraph now { m0 [load=${processor === 0 ? count : 0}]; ` +
    `m1 [load=${processor === 1 ? count : 0}]; ` +
    'm0 -> m1 [latency="40us", bandwidth="10gbit"]; }');
  const {placements} = JSON.parse(output('eventspace', 'choose', profile,
    `--cluster=${cluster}`, `--map=${map}`, '--split=mean', '--format=json',
    '--profiled-link=latency=40us,bandwidth=10gbit'));
  return placements.find(p => p.h0 === 'm0' && p.h1 === 'm1').shares;
}

const sizes = {B: 150, C: 75};
const settings = [
  ['B', 0, 1], ['B', 1, 1], ['B', 0, 2], ['B', 1, 2], ['B', 0, 3],
  ['C', 0, 1], ['C', 1, 1], ['C', 0, 2], ['C', 1, 2], ['C', 1, 3],
];

const prepared = {};
for (const [size, rounds] of Object.entries(sizes)) {
  const map = mapOf(`equal${size}`, size, rounds), profile = `${size}.profile`;
  output('eventspace', 'map', 'instrument', map, `--output=${size}.all.dot`);
  output('eventspace', 'profile', `--output=${profile}`, '--', join(bin, 'eventspace'),
    'run', `${size}.all.dot`, '--replace', '--output=PROFILED', '--', join(bin, 'sor'),
    'run');
  prepared[size] = {map, profile};
}

let least = Infinity;
for (const [size, processor, count] of settings) {
  const {map, profile} = prepared[size];
  const shares = sharesOf(profile, map, processor, count);
  const divided = mapOf('split', size, sizes[size], `--shares=${shares}`);
  const turns = Array.from({length: runs}, () => {
    const alone = secondsOf(map);
    const equal = beside(processor, count, () => secondsOf(map));
    const split = beside(processor, count, () => secondsOf(divided));
    const best = 2 * alone / (1 + 1 / (count + 1));
    return {alone, equal, split, best, ratio: (equal - split) / (equal - best)};
  });
  const [alone, equal, split, best, ratio] = ['alone', 'equal', 'split', 'best', 'ratio']
    .map(what => median(turns.map(turn => turn[what])));
  least = Math.min(least, ratio);
  console.log(JSON.stringify({name: `split.${size}.${count}.m${processor}`,
    value: split, unit: 's', limit: best, ratio, equal, alone, shares}));
}
console.log(JSON.stringify({name: 'split.least', value: least, unit: 'of 1', limit: 0.8,
  ratio: least / 0.8}));
