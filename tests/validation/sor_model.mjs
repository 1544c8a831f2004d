// sor_model.mjs - does a structural model tell how long sor takes? As paper 002, 3:
// alone, on machines that nobody else uses.
//
//     node sor_model.mjs BIN [RUNS]
//
// Two machines are two processors here. The model is examples/models/sor.model. L and
// B are what `eventspace netbench` measures between the processors; what a point
// takes is told by two short runs of the same size, of a twentieth and a tenth of the
// iterations; the rest of a run (its start, and the grid that is collected) by the
// longer one of them. Then `eventspace model` says how long a whole run takes, before
// it is made, and RUNS of them follow (default 5). A line for each size.
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {bound} from '../bench/bound_map.mjs';

const bin = resolve(process.argv[2]), runs = Number(process.argv[3] ?? 5);
const model = resolve(import.meta.dirname, '../../examples/models/sor.model');
const folder = mkdtempSync(join(tmpdir(), 'eventspace-sor-'));
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));
const sizes = {W: {points: 600, rounds: 12000}, A: {points: 1600, rounds: 2000},
  B: {points: 2800, rounds: 600}};
const median = list => [...list].sort((a, b) => a - b)[(list.length - 1) >> 1];

function output(program, ...words) {
  const done = spawnSync(join(bin, program), words, {cwd: folder, encoding: 'utf8',
    maxBuffer: 1 << 28, env: {...process.env, PATH: `${bin}:${process.env.PATH}`}});
  assert.equal(done.status, 0, `${program} ${words.join(' ')}: ${done.stderr}`);
  return done.stdout;
}

function mapOf(size, rounds) {
  const map = `${size}.${rounds}.dot`;
  writeFileSync(join(folder, 'app.dot'), output('sor', 'mapping', '--threads=2',
    `--size=${size}`, `--rounds=${rounds}`));
  output('eventspace', 'map', 'generate', '--application=app.dot', '--processes=2',
    `--output=${map}`);
  writeFileSync(join(folder, map), bound(readFileSync(join(folder, map), 'utf8')));
  return map;
}

function secondsOf(map) {
  output('eventspace', 'run', map, '--replace', '--output=RUN', '--', join(bin, 'sor'),
    'run');
  return JSON.parse(readFileSync(join(folder, 'RUN/sor.json'), 'utf8')).seconds;
}

const timeOf = (...defined) => JSON.parse(output('eventspace', 'model', model,
  '--format=json', ...defined.map(text => `--set=${text}`))).mean;

for (const [size, {points, rounds}] of Object.entries(sizes)) {
  const short = [rounds / 20, rounds / 10].map(count => ({count, map: mapOf(size, count)}));
  const took = short.map(({map}) => median([1, 2, 3, 4, 5].map(() => secondsOf(map))));
  const link = JSON.parse(output('eventspace', 'netbench', '--format=json')).link;
  const [, latency, bandwidth] = /latency=([^,]+),bandwidth=([^,]+)/.exec(link);
  const defined = [`points = ${points}`, `latency(h0-h1) = ${latency}`,
    `bandwidth(h0-h1) = ${bandwidth}`];
  // What an iteration takes, without what its two exchanges do.
  const exchanges = timeOf(...defined, 'iterations = 1', 'element = 0s');
  const iteration = (took[1] - took[0]) / (short[1].count - short[0].count);
  const element = (iteration - exchanges) / (points * points / 2);
  const whole = [...defined, `element = ${(element * 1e9).toFixed(6)}ns`];
  const rest = took[1] - timeOf(...whole, `iterations = ${short[1].count}`);
  const told = timeOf(...whole, `iterations = ${rounds}`) + rest;
  const map = mapOf(size, rounds);
  const measured = Array.from({length: runs}, () => secondsOf(map));
  console.log(JSON.stringify({name: `sor_model.${size}`, told_s: told, element_ns:
    element * 1e9, exchanges_us: exchanges * 1e6, rest_s: rest, median_s: median(measured),
    least_s: Math.min(...measured), most_s: Math.max(...measured),
    error: told / median(measured) - 1}));
}
