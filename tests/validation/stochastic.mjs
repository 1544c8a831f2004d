// stochastic.mjs - are the ranges that `predict --with` tells right? As paper 002, 3:
// a program on machines whose load stays in one mode, and on machines whose load
// changes modes.
//
//     stochastic.mjs BIN FOLDER [PLATFORM [SIZE [RUNS [SECONDS]]]]
//
// Two machines are two processors here, and sor has a process on each. What others
// do there is a schedule, made from a fixed seed: so many busy processes at a time.
// First the schedule runs alone for SECONDS (default 900), and `eventspace watch`
// samples both processors. Then sor runs RUNS times (default 40), each time beside
// the schedule from another moment on, and what was sampled before that moment says
// how long it will take. Nothing that comes later is used, and no sample has sor in
// it.
//
//   one    processor 0 beside one competitor that rests now and then
//   modes  both beside 0, 1 or 2 of them, for some seconds each
//
// FOLDER keeps what is done (samples, and a line for each run), so that it can be
// gone on with, by the same arguments. At the end a line for each way to look ahead
// (forecast and modes; their means alone are points) has: how many runs were within, the
// largest miss, the largest error of the mean, and how wide the ranges were against
// what 95 % of the runs would have needed.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {bound} from '../bench/bound_map.mjs';

const [binPath, folderPath, platform = 'modes', size = 'W', runText = '40',
  secondText = '900'] = process.argv.slice(2);
const bin = resolve(binPath), folder = resolve(folderPath);
const runs = Number(runText), seconds = Number(secondText);
const rounds = {W: 12000, A: 1800, B: 540}; // 6 s each with nobody beside it
const BEFORE = Math.floor(Math.min(300, seconds / 3)); // seconds of samples that each run has, at least
assert.ok(['one', 'modes'].includes(platform), platform);
assert.ok(rounds[size], size);
mkdirSync(folder, {recursive: true});

const eventspace = join(bin, 'eventspace');
const nap = ms => new Promise(done => setTimeout(done, Math.max(0, ms)));
function output(program, ...words) {
  const done = spawnSync(program, words, {cwd: folder, encoding: 'utf8',
    maxBuffer: 1 << 28, env: {...process.env, PATH: `${bin}:${process.env.PATH}`}});
  assert.equal(done.status, 0, `${program} ${words.join(' ')}: ${done.stderr}`);
  return done.stdout;
}

// --- the schedule ---

function randomOf(seed) {
  let state = BigInt(seed) * 0x9e3779b97f4a7c15n & (1n << 64n) - 1n;
  return () => {
    state ^= state >> 12n;
    state = (state ^ state << 25n) & (1n << 64n) - 1n;
    state ^= state >> 27n;
    return Number(state * 0x2545f4914f6cdd1dn >> 11n & (1n << 53n) - 1n) / 2 ** 53;
  };
}

// Of a processor: [{from, count}] in seconds, by time.
function scheduleOf(processor) {
  const random = randomOf(1000 + processor), parts = [];
  for (let at = 0; at < seconds + 600;) {
    if (platform === 'one') {
      parts.push({from: at, count: processor === 0 ? 1 : 0});
      at += 4 + 4 * random();
      parts.push({from: at, count: 0});
      at += 0.2 + 0.4 * random();
    } else {
      parts.push({from: at, count: Math.floor(random() * 3)});
      at += 2 - 12 * Math.log(1 - random());
    }
  }
  return parts;
}
const schedules = [0, 1].map(scheduleOf);

// Competitors as the schedule has them from that second on; gives what ends them.
function loadFrom(second) {
  const begin = performance.now();
  const others = schedules.map((_, processor) => [0, 1].map(() => spawn('taskset',
    ['-c', String(processor), 'sh', '-c', 'while :; do :; done'])));
  let over = false;
  const set = (processor, count) => others[processor].forEach((other, i) =>
    other.kill(i < count ? 'SIGCONT' : 'SIGSTOP'));
  schedules.forEach(async (parts, processor) => {
    let next = parts.findIndex(part => part.from > second);
    set(processor, parts[next - 1].count);
    for (; !over; next++) {
      await nap((parts[next].from - second) * 1000 - (performance.now() - begin));
      if (!over)
        set(processor, parts[next].count);
    }
  });
  return () => {
    over = true;
    for (const other of others.flat())
      other.kill('SIGKILL');
  };
}

// --- samples ---

const histories = join(folder, `histories.${platform}`);
const noted = join(histories, 'begin.json');

async function sampleAll() {
  if (existsSync(noted)) {
    const before = JSON.parse(readFileSync(noted, 'utf8'));
    assert.equal(before.seconds ?? seconds, seconds,
      `${histories} has samples of ${before.seconds} s: go on with as many`);
    return before.begin;
  }
  const begin = Math.ceil(Date.now() / 1000) + 1;
  await nap(begin * 1000 - Date.now());
  const end = loadFrom(0);
  const watchers = [0, 1].map(processor => spawn(eventspace, ['watch',
    `--machine=m${processor}`, `--processor=${processor}`, '--interval=1s',
    `--output=${histories}`], {stdio: ['ignore', 'ignore', 'inherit']}));
  await nap(seconds * 1000);
  for (const watcher of watchers)
    watcher.kill();
  end();
  writeFileSync(noted, JSON.stringify({begin, seconds}));
  return begin;
}

// --- the program ---

function prepare() {
  const map = `sor.${size}.dot`, profile = `sor.${size}.profile`;
  if (existsSync(join(folder, profile)))
    return {map, profile};
  writeFileSync(join(folder, 'app.dot'), output(join(bin, 'sor'), 'mapping', '--threads=2',
    `--size=${size}`, `--rounds=${rounds[size]}`));
  output(eventspace, 'map', 'generate', '--application=app.dot', '--processes=2',
    `--output=${map}`);
  writeFileSync(join(folder, map), bound(readFileSync(join(folder, map), 'utf8')));
  output(eventspace, 'map', 'instrument', map, '--output=all.dot');
  output(eventspace, 'profile', `--output=${profile}`, '--', eventspace, 'run', 'all.dot',
    '--replace', '--output=PROFILED', '--', join(bin, 'sor'), 'run');
  return {map, profile};
}

function run(map) {
  return new Promise((done, failed) => {
    const child = spawn(eventspace, ['run', map, '--replace', '--output=RUN', '--',
      join(bin, 'sor'), 'run'], {cwd: folder, stdio: 'ignore'});
    child.on('exit', code => code === 0 ?
      done(JSON.parse(readFileSync(join(folder, 'RUN/sor.json'), 'utf8')).seconds) :
      failed(new Error(`sor: ${code}`)));
  });
}

function predicted(profile, at, outlook) {
  const {time, histories: given} = JSON.parse(output(eventspace, 'predict', profile,
    `--with=${histories}`, `--at=${at}`, `--outlook=${outlook}`, '--on=h0=m0',
    '--on=h1=m1', '--format=json'));
  return {mean: time.time_s, range: time.range_s,
    shares: given.map(({value, range, method}) => [value, range, method])};
}

// --- all of it ---

const file = join(folder, 'stochastic.jsonl');
const rows = () => (existsSync(file) ? readFileSync(file, 'utf8') : '').trim().split('\n')
  .filter(Boolean).map(line => JSON.parse(line))
  .filter(row => row.platform === platform && row.size === size && (row.of ?? runs) === runs);

const program = prepare();
const begin = await sampleAll();
const done = new Set(rows().map(row => row.run));
for (let i = 0; i < runs; i++) {
  const second = BEFORE + Math.floor((seconds - BEFORE) * i / runs);
  if (done.has(i))
    continue;
  // Told before the run.
  const told = Object.fromEntries(['forecast', 'modes'].map(outlook =>
    [outlook, predicted(program.profile, begin + second, outlook)]));
  const end = loadFrom(second);
  const took = await run(program.map);
  end();
  appendFileSync(file, JSON.stringify({platform, size, run: i, of: runs, second, took, ...told}) + '\n');
}

const all = rows();
const quantile = (list, share) => list[Math.min(list.length - 1,
  Math.ceil(share * list.length) - 1)];
for (const outlook of ['forecast', 'modes']) {
  const off = all.map(row => Math.abs(row.took - row[outlook].mean)).sort((a, b) => a - b);
  const wide = all.map(row => row[outlook].range);
  const within = all.filter(row =>
    Math.abs(row.took - row[outlook].mean) <= row[outlook].range).length;
  const misses = all.map(row => Math.max(0,
    Math.abs(row.took - row[outlook].mean) - row[outlook].range) / row.took);
  console.log(JSON.stringify({name: `stochastic.${platform}.${size}.${outlook}`,
    runs: all.length, within: within / all.length, largest_miss: Math.max(...misses),
    largest_error_of_mean: Math.max(...all.map(row =>
      Math.abs(row.took - row[outlook].mean) / row.took)),
    mean_s: all.reduce((sum, row) => sum + row.took, 0) / all.length,
    range_s: wide.reduce((a, b) => a + b, 0) / wide.length,
    needed_s: quantile(off, 0.95)}));
}
process.exit(0);
