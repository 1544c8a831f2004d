// choose.mjs - is the placement that `eventspace choose` picks the fastest?
//
//     node choose.mjs BIN TESTBED FOLDER [SETTINGS [RUNS [SEED]]]
//
// Six machines, simulated by network namespaces, three on each of two processors,
// with links of random rates; other load on one of the processors; a program on
// two of the machines. In each setting all 15 pairs are predicted, and then all
// are run. TESTBED is the program built from testbed.c. One JSON object per line:
// each setting, then the sum. Needs root and a quiet machine.
import {spawn, spawnSync} from 'node:child_process';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {createInterface} from 'node:readline';
import {join} from 'node:path';

const [bin, testbed, folder, settings = '10', runs = '2', seed = '1'] =
  process.argv.slice(2);
const eventspace = join(bin, 'eventspace');
const PROGRAM = 'adi', SIZE = ['--size', 'W', '--rounds', '30'];
const MACHINES = 6, PROCESSORS = 2;

// Numbers that are the same every time (mulberry32).
let state = +seed;
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}

function call(command, args, input) {
  const done = spawnSync(command, args, {input, maxBuffer: 1 << 26});
  if (done.status !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${done.stderr}`);
  return done.stdout.toString();
}

// --- the testbed ---

const child = spawn(testbed, ['eschoose', String(MACHINES)],
                    {stdio: ['pipe', 'pipe', 'inherit']});
const lines = createInterface({input: child.stdout})[Symbol.asyncIterator]();
const next = async () => (await lines.next()).value;
async function order(text) {
  child.stdin.write(text + '\n');
  const answer = await next();
  if (answer !== 'ok')
    throw new Error(`${text}: ${answer}`);
}
const machines = [];
const servers = [];
for (let line = await next(); line !== 'ready'; line = await next()) {
  if (line === undefined)
    process.exit(1);
  const [, number, space, address] = line.split(' ');
  machines.push({name: `n${number}`, space, address,
                 processor: +number < MACHINES / 2 ? 0 : PROCESSORS - 1});
}

for (const h of machines)
  servers.push(spawn('ip', ['netns', 'exec', h.space, eventspace, 'netbench',
                            '--serve', `--listen=${h.address}:4004`],
                     {stdio: 'ignore'}));

// --- measuring ---

// `eventspace load` on a machine, which writes what it finds into the cluster file.
function load(cluster, machine, to) {
  call('ip', ['netns', 'exec', machine.space, eventspace, 'load', '--cluster',
              cluster, '--machine', machine.name, '--processor',
              String(machine.processor), '--duration=500ms',
              ...to.map(h => `--measure-link=${h.name}=${h.address}`)]);
}

// What is known before: who shares a processor.
function begin(cluster) {
  writeFileSync(cluster, 'digraph now {\n' + machines.map(h =>
    `${h.name} [place="p${h.processor}"];\n`).join('') + '}\n');
}

// The path map of the program on two of the machines.
function map(pair, instrumented) {
  const [a, b] = pair;
  const cluster = 'digraph c { ' + pair.map((h, i) =>
    `h${i} [address="${h.address}", netns="${h.space}", ` +
    `affinity="${h.processor}"]; `).join('') + '}';
  const clusterFile = join(folder, 'pair.dot');
  writeFileSync(clusterFile, cluster);
  const application = call(join(bin, PROGRAM),
                           ['mapping', '--threads', '2', ...SIZE]);
  let text = call(eventspace, ['map', 'generate', '--application', '-',
                               '--cluster', clusterFile], application);
  if (instrumented)
    text = call(eventspace,
                ['map', 'instrument', '-', '--collectors', 'all'], text);
  const file = join(folder, `${a.name}-${b.name}.dot`);
  writeFileSync(file, text);
  return file;
}

const command = file => ['run', file, '--output', join(folder, 'run'),
                         '--replace', '--', join(bin, PROGRAM), 'run'];

function time(file) {
  const from = process.hrtime.bigint();
  call(eventspace, command(file));
  return Number(process.hrtime.bigint() - from) / 1e9;
}

const median = numbers => {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]
                           : (sorted[middle - 1] + sorted[middle]) / 2;
};

const pairs = machines.flatMap((a, i) => machines.slice(i + 1).map(b => [a, b]));

async function limit(rates) {
  for (const [i, [a, b]] of pairs.entries())
    await order(`limit ${machines.indexOf(a)} ${machines.indexOf(b)} ` +
                `${Math.round(rates[i] * 1e6 / 8)}`);
}

async function setting(profile, number) {
  const rates = pairs.map(() => 5 * 20 ** random()); // 5 to 100 Mbit/s
  const loaded = Math.floor(random() * PROCESSORS);
  const load_ = 1 + Math.floor(random() * 2);
  await limit(rates);
  const cluster = join(folder, `cluster${number}.dot`);
  begin(cluster);
  machines.forEach((machine, i) => load(cluster, machine, machines.slice(i + 1)));
  await order(`load ${loaded * (PROCESSORS - 1)} ${load_}`);
  machines.forEach(machine => load(cluster, machine, []));
  const {placements: predicted} = JSON.parse(call(eventspace, [
    'choose', profile, '--cluster', cluster, '--best', '1000',
    '--format', 'json']));
  // Of both orders of a pair, the one that is predicted to be faster.
  const best = new Map();
  for (const row of predicted) {
    const pair = [row.h0, row.h1];
    const key = [...pair].sort().join('-');
    if (!best.has(key))
      best.set(key, {pair, predicted_s: row.time_s,
                     times: []});
  }
  const placements = [...best.values()];
  for (const p of placements)
    p.map = map(p.pair.map(name => machines.find(h => h.name === name)), false);
  for (let run = 0; run < +runs; run++)
    for (const p of placements)
      p.times.push(time(p.map));
  for (const p of placements)
    p.measured_s = median(p.times);
  const fastest = placements.reduce((a, b) =>
    a.measured_s <= b.measured_s ? a : b);
  const picked = placements[0];
  await order(`load ${loaded * (PROCESSORS - 1)} 0`);
  return {
    name: 'choose.setting', number, loaded, load: load_, pairs: placements.length,
    picked: picked.pair.join('-'), fastest: fastest.pair.join('-'),
    picked_s: picked.measured_s, fastest_s: fastest.measured_s,
    ratio: picked.measured_s / fastest.measured_s,
    placements: placements.map(p => ({
      pair: p.pair.join('-'), predicted_s: p.predicted_s,
      measured_s: p.measured_s})),
  };
}

mkdirSync(folder, {recursive: true});
let well = 0;
try {
  // Profiled once: machines of their own processors, a link of 100 Mbit/s.
  const first = [machines[0], machines[MACHINES - 1]];
  await order(`limit 0 ${MACHINES - 1} ${100e6 / 8}`);
  const profile = join(folder, 'choose.profile');
  const cluster = join(folder, 'quiet.dot');
  begin(cluster);
  load(cluster, first[0], [first[1]]);
  const link = readFileSync(cluster, 'utf8');
  const of = key => new RegExp(`${key}="?([0-9.]+[a-z]+)`).exec(link)[1];
  call(eventspace, ['profile', '-o', profile, '--profiled-link',
                    `latency=${of('latency')},bandwidth=${of('bandwidth')}`,
                    '--', eventspace, ...command(map(first, true))]);
  for (let i = 0; i < +settings; i++) {
    const result = await setting(profile, i);
    well += result.ratio <= 1.05;
    process.stdout.write(JSON.stringify(result) + '\n');
  }
  process.stdout.write(JSON.stringify({
    name: 'choose.within_5_percent', value: well, unit: 'settings',
    limit: +settings, ratio: well / +settings}) + '\n');
} finally {
  servers.forEach(server => server.kill());
  child.stdin.end();
}
