// contracts.mjs - does `contract check` accuse whom it should? As paper 003, 7.1: a
// program on twelve machines of three clusters, one of which others come to use.
//
//     contracts.mjs BIN FOLDER [SEEDS [UNDISTURBED]]
//
// A machine is a group of processes (cgroup) that may have a part of the processors:
// four of each cluster, of which one is the slowest. sor has a process on each. Of a
// run with nobody else a contract is made; then
//
//   undisturbed  UNDISTURBED runs (default 5): how many intervals of each process are
//                violated, though nothing is wrong
//   load         SEEDS runs (default 10): a busy process comes to one machine, and goes
//                again; which, and when, is drawn by the seed, and not known to the
//                check. How many intervals of that time are violated at the victim, of
//                performance and (wrongly) intrinsic; how many of others before; whom
//                the others are said to wait for; and after how many intervals the
//                victim is first accused
//
// Needs root, and the controller cpu of cgroups of either version. FOLDER keeps what is
// done, a line for each run, so that it can be gone on with. At the end two lines sum
// it up. Nothing else should run at the same time.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, rmdirSync, statSync,
  writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';

const [binPath, folderPath, seedText = '10', undisturbedText = '5'] = process.argv.slice(2);
const bin = resolve(binPath), folder = resolve(folderPath);
mkdirSync(folder, {recursive: true});
const eventspace = join(bin, 'eventspace');
const machines = Array.from({length: 12}, (_, i) => `h${i}`);
const shares = [0.08, 0.11, 0.14]; // of a processor, by cluster
const INTERVAL = 0.5, ROUNDS = 2700, SIZE = 'W';

const environment = {...process.env, PATH: `${bin}:${process.env.PATH}`};
function output(program, ...words) {
  const done = spawnSync(program, words, {cwd: folder, encoding: 'utf8',
    maxBuffer: 1 << 28, env: environment});
  assert.ok([0, 3].includes(done.status),
            `${program} ${words.join(' ')}: ${done.status} ${done.stderr}`);
  return done.stdout;
}
const nap = ms => new Promise(done => setTimeout(done, Math.max(0, ms)));

// --- machines ---

const isUnified = existsSync('/sys/fs/cgroup/cgroup.controllers');
const groupOf = machine =>
  `/sys/fs/cgroup/${isUnified ? '' : 'cpu/'}eventspace-${machine}`;
const PERIOD_US = 20000;
function machineMake(machine, share) {
  const group = groupOf(machine);
  mkdirSync(group, {recursive: true});
  if (isUnified) {
    writeFileSync(join(group, 'cpu.max'), `${Math.round(share * PERIOD_US)} ${PERIOD_US}`);
  } else {
    writeFileSync(join(group, 'cpu.cfs_period_us'), String(PERIOD_US));
    writeFileSync(join(group, 'cpu.cfs_quota_us'), String(Math.round(share * PERIOD_US)));
  }
}
machines.forEach((machine, i) => machineMake(machine, shares[Math.floor(i / 4)]));
process.on('exit', () => machines.forEach(machine => {
  try {
    rmdirSync(groupOf(machine));
  } catch { /* somebody is in it still */ }
}));
// Puts itself onto the machine that it is given, or of the process that it is.
const onMachine = join(folder, 'on_machine.sh');
writeFileSync(onMachine, `#!/bin/sh
machine=$1
shift
[ "$machine" = own ] && machine=$EVENTSPACE_PROCESS
echo $$ > ${isUnified ? '/sys/fs/cgroup' : '/sys/fs/cgroup/cpu'}/eventspace-$machine/cgroup.procs
exec "$@"
`);
chmodSync(onMachine, 0o755);

// --- the program ---

function prepare() {
  writeFileSync(join(folder, 'app.dot'), output(join(bin, 'sor'), 'mapping',
    `--threads=${machines.length}`, `--size=${SIZE}`, `--rounds=${ROUNDS}`));
  output(eventspace, 'map', 'generate', '--application=app.dot',
    `--processes=${machines.length}`, '--output=map.dot');
  output(eventspace, 'map', 'instrument', 'map.dot', '--output=all.dot');
}

// Beside what `load` does, which gets the moment when the run began.
async function run(directory, load = async () => {}) {
  const child = spawn(eventspace, ['run', 'all.dot', '--replace', `--output=${directory}`,
    '--', onMachine, 'own', join(bin, 'sor'), 'run'],
    {cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], env: environment});
  const ended = new Promise(done => child.on('exit', done));
  const space = join(folder, directory, 'h0.space');
  const before = existsSync(space) ? statSync(space).ino : 0;
  while (!existsSync(space) || statSync(space).ino === before)
    await nap(2);
  await load(statSync(space).birthtimeMs);
  assert.equal(await ended, 0);
}

const check = directory => JSON.parse(output(eventspace, 'contract', 'check',
  'sor.contract', directory, '--detail', '--format=json'));

// --- what is found ---

const file = join(folder, 'contracts.jsonl');
const rows = () => (existsSync(file) ? readFileSync(file, 'utf8') : '').trim().split('\n')
  .filter(Boolean).map(line => JSON.parse(line));
const isViolated = (row, kind) => row.violated === 'both' || row.violated === kind;
const known = (list, kind) => list.filter(row => row[`${kind}_level`] !== null);

async function undisturbed(number) {
  await run('RUN');
  const list = check('RUN').filter(row => row.process !== 'all');
  return {name: `undisturbed.${number}`,
    intervals: known(list, 'performance').length,
    violated: list.filter(row => isViolated(row, 'performance')).length,
    intrinsic_intervals: known(list, 'intrinsic').length,
    intrinsic_violated: list.filter(row => isViolated(row, 'intrinsic')).length};
}

function randomOf(seed) {
  let state = BigInt(seed + 1) * 0x9e3779b97f4a7c15n & (1n << 64n) - 1n;
  return () => {
    state ^= state >> 12n;
    state = (state ^ state << 25n) & (1n << 64n) - 1n;
    state ^= state >> 27n;
    return Number(state * 0x2545f4914f6cdd1dn >> 11n & (1n << 53n) - 1n) / 2 ** 53;
  };
}

async function loaded(seed) {
  const random = randomOf(seed);
  const victim = machines[Math.floor(random() * machines.length)];
  const from = 4 + 4 * random(), length = 6 + 4 * random();
  let begin, end;
  await run('RUN', async zero => {
    await nap(from * 1000 - (Date.now() - zero));
    const other = spawn(onMachine, [victim, 'sh', '-c', 'while :; do :; done']);
    begin = (Date.now() - zero) / 1000;
    await nap(length * 1000);
    other.kill('SIGKILL');
    end = (Date.now() - zero) / 1000;
  });
  const list = check('RUN').map(row => ({...row, at: row.start_ns / 1e9}));
  const during = list.filter(row => row.at >= begin && row.at + INTERVAL <= end);
  const before = list.filter(row => row.at + INTERVAL <= begin && row.process !== 'all');
  const own = during.filter(row => row.process === victim);
  const others = during.filter(row => row.process !== victim && row.process !== 'all');
  const first = own.findIndex(row => isViolated(row, 'performance') &&
                                     row.cause === 'processor');
  const count = (what, kind) => what.filter(row => isViolated(row, kind)).length;
  return {name: `load.${seed}`, victim, begin, end,
    intervals: known(own, 'performance').length,
    // Violated from the interval on in which as many have been as the contract says.
    violated: count(own, 'performance'),
    intrinsic_intervals: known(own, 'intrinsic').length,
    intrinsic_violated: count(own, 'intrinsic'),
    before: known(before, 'performance').length,
    before_violated: count(before, 'performance'),
    accused: own.filter(row => row.cause === 'processor').length,
    first_after: first < 0 ? null : first + 1,
    others_violated: count(others, 'performance'),
    others_wait_for_victim: others.filter(row => isViolated(row, 'performance') &&
      row.cause === 'waits' && row.other === victim).length,
    all_violated: count(during.filter(row => row.process === 'all'), 'performance')};
}

// --- all of it ---

prepare();
if (!existsSync(join(folder, 'sor.contract'))) {
  await run('BASE');
  output(eventspace, 'contract', 'make', 'BASE', `--interval=${INTERVAL * 1000}ms`,
    '--output=sor.contract');
}
const done = new Set(rows().map(row => row.name));
async function add(name, make) {
  if (done.has(name))
    return;
  const row = await make();
  appendFileSync(file, JSON.stringify(row) + '\n');
  console.log(JSON.stringify(row));
}
for (let i = 0; i < Number(undisturbedText); i++)
  await add(`undisturbed.${i}`, () => undisturbed(i));
for (let seed = 0; seed < Number(seedText); seed++)
  await add(`load.${seed}`, () => loaded(seed));

const sum = (list, key) => list.reduce((all, row) => all + row[key], 0);
const quiet = rows().filter(row => row.name.startsWith('undisturbed'));
const loads = rows().filter(row => row.name.startsWith('load'));
console.log(JSON.stringify({name: 'contracts.undisturbed', intervals: sum(quiet, 'intervals'),
  false_alarms: sum(quiet, 'violated') / sum(quiet, 'intervals'),
  intrinsic_false_alarms: sum(quiet, 'intrinsic_violated') / sum(quiet, 'intrinsic_intervals')}));
console.log(JSON.stringify({name: 'contracts.load', runs: loads.length,
  violated: sum(loads, 'violated') / sum(loads, 'intervals'),
  intrinsic_kept: 1 - sum(loads, 'intrinsic_violated') / sum(loads, 'intrinsic_intervals'),
  right_cause: sum(loads, 'accused') / sum(loads, 'violated'),
  victim_found: loads.filter(row => row.first_after !== null).length / loads.length,
  within_three: loads.filter(row => row.first_after !== null && row.first_after <= 3).length /
    loads.length,
  false_alarms: sum(loads, 'before_violated') / sum(loads, 'before'),
  others_wait_for_victim: sum(loads, 'others_wait_for_victim') / sum(loads, 'others_violated'),
  all_violated: sum(loads, 'all_violated') / sum(loads, 'intervals')}));
process.exit(0);
