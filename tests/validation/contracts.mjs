// contracts.mjs - does `contract check` accuse whom it should? As paper 003, 7.1: a
// program on twelve machines of three clusters, one of which others come to use.
//
//     contracts.mjs BIN FOLDER [SEEDS [UNDISTURBED]]
//
// A machine is a network namespace, and a group of processes (cgroup) that may have a
// part of the processors: four of each cluster, of which one is the slowest. Each
// cluster has a switch, whose uplink to the others, of UPLINK, its machines share. sor
// has a process on each machine. Of BASES runs with nobody else a contract is made; then
//
//   undisturbed  UNDISTURBED runs (default 30): how many intervals of each process are
//                violated, though nothing is wrong
//   load         SEEDS runs (default 10): a busy process comes to one machine, and goes
//                again; which, and when, is drawn by the seed, and not known to the
//                check. How many intervals of that time are violated at the victim, of
//                performance and (wrongly) intrinsic; how many before and after, of anybody; whom
//                the others are said to wait for; and after how many intervals the
//                victim is first accused
//   uplink       SEEDS runs: somebody sends, or gets, as much as he can over the uplink
//                of one cluster for a while. How many intervals are violated of the
//                processes that exchange rows over it, in how many one of these names
//                the link to the other one, or waits for one that does, and in how many
//                somebody names anything else; how many of the links that are named
//                by the cluster file are that uplink; and what is said of all
//
// The contract is about operations in a second, as `contract make` has it, and about the
// processor time that a process gets in a second. All machines are one here, which is by
// itself slower for half a minute now and then, by up to 30 %: then an operation takes
// more processor time as well, and the second metric changes by half as much as the
// first one.
//
// Needs root, ip and tc, and the controller cpu of cgroups of either version. FOLDER
// keeps the runs, and in runs.jsonl what was done to them, so that it can be gone on
// with, and judged again; contracts.jsonl has a line for each run, and three that sum it
// up. Nothing else should run at the same time: a second in which anything else had more
// than OTHERS of a processor is disturbed, and the intervals that it touches and those
// after them are not counted, whatever was found in them; but how soon a culprit is found
// is counted in all intervals. A run that is disturbed for more than DISTURBED of its time
// is made again, and one of the BASES for more than BASE_DISTURBED.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync,
  rmdirSync, statSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';

const [binPath, folderPath, seedText = '10', undisturbedText = '30'] = process.argv.slice(2);
const bin = resolve(binPath), folder = resolve(folderPath);
mkdirSync(folder, {recursive: true});
const eventspace = join(bin, 'eventspace');
const machines = Array.from({length: 12}, (_, i) => `h${i}`);
const shares = [0.08, 0.085, 0.09]; // of a processor, by cluster
const INTERVAL = 1, VIOLATED = 3, ROUNDS = 1800, SIZE = 'B', UPLINK = '60mbit';
const BASES = 3; // to see enough of what is done at the end

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
const clusterOf = i => Math.floor(i / 4);
machines.forEach((machine, i) => machineMake(machine, shares[clusterOf(i)]));

const spaceOf = machine => `escon-${machine}`;
const addressOf = i => `10.77.0.${i + 1}`;
const OUTSIDE = 99; // a machine behind the uplinks that is none of the run's
function command(...words) {
  const done = spawnSync(words[0], words.slice(1), {encoding: 'utf8'});
  assert.equal(done.status, 0, `${words.join(' ')}: ${done.stderr}`);
}
const inSpace = (name, ...words) =>
  command('nsenter', `--net=/run/netns/${spaceOf(name)}`, ...words);
const spaces = [...machines, 'outside', 'core', ...shares.map((_, i) => `switch${i}`)];
function spacesRemove() {
  for (const name of spaces)
    spawnSync('ip', ['netns', 'del', spaceOf(name)], {stdio: 'ignore'});
}
const MTU = 9000; // as clusters have it: less of a processor's time for each byte
// A cable from one to the other; gives the names of its ends.
function cable(a, b, number) {
  const ends = [`ec${number}a`, `ec${number}b`];
  command('ip', 'link', 'add', ends[0], 'netns', spaceOf(a), 'mtu', `${MTU}`, 'type', 'veth',
    'peer', 'name', ends[1], 'netns', spaceOf(b), 'mtu', `${MTU}`);
  inSpace(a, 'ip', 'link', 'set', ends[0], 'up');
  inSpace(b, 'ip', 'link', 'set', ends[1], 'up');
  return ends;
}
function networkMake() {
  let number = 0;
  spacesRemove();
  for (const name of spaces) {
    command('ip', 'netns', 'add', spaceOf(name));
    inSpace(name, 'ip', 'link', 'set', 'lo', 'up');
    if (machines.includes(name) || name === 'outside')
      continue;
    inSpace(name, 'ip', 'link', 'add', 'hub', 'type', 'bridge');
    inSpace(name, 'ip', 'link', 'set', 'hub', 'up');
  }
  const into = (hub, end) => inSpace(hub, 'ip', 'link', 'set', end, 'master', 'hub');
  machines.forEach((machine, i) => {
    const hub = `switch${clusterOf(i)}`, [own, theirs] = cable(machine, hub, number++);
    inSpace(machine, 'ip', 'address', 'add', `${addressOf(i)}/24`, 'dev', own);
    into(hub, theirs);
  });
  const [outside, port] = cable('outside', 'core', number++);
  inSpace('outside', 'ip', 'address', 'add', `${addressOf(OUTSIDE)}/24`, 'dev', outside);
  into('core', port);
  shares.forEach((_, i) => {
    const [own, theirs] = cable(`switch${i}`, 'core', number++);
    into(`switch${i}`, own);
    into('core', theirs);
    for (const [hub, end] of [[`switch${i}`, own], ['core', theirs]])
      inSpace(hub, 'tc', 'qdisc', 'add', 'dev', end, 'root', 'tbf', 'rate', UPLINK,
        'burst', `${2 * MTU}`, 'latency', '30ms');
  });
}
networkMake();
const children = new Set(); // what is left of them when this ends is ended
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => process.exit(1));
process.on('exit', () => {
  for (const child of children)
    child.kill('SIGKILL');
  spacesRemove();
  for (const machine of machines) {
    try {
      rmdirSync(groupOf(machine));
    } catch { /* somebody is in it still */ }
  }
});
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

// --- others ---

const OTHERS = 0.25, DISTURBED = 0.2, BASE_DISTURBED = 0.03, TRIES = 10;
// Seconds that processors were busy or given to other machines, but for interrupts, which
// are those of this network; and that each process under this one has had.
function timesNow() {
  const [user, nice, system, , , , , steal] = readFileSync('/proc/stat', 'utf8')
    .split('\n')[0].trim().split(/ +/).slice(1).map(Number);
  const all = new Map();
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
      all.set(pid, {parent: fields[1], ticks: Number(fields[11]) + Number(fields[12])});
    } catch { /* it has ended */ }
  }
  const isOwn = pid => pid === String(process.pid) ||
    (all.has(pid) && isOwn(all.get(pid).parent));
  const own = new Map([...all].filter(([pid]) => isOwn(pid)).map(([pid, {ticks}]) => [pid, ticks]));
  return {at: Date.now(), busy: user + nice + system + steal, own};
}
// What anybody else had at most, in a second, as a share of a processor, and the seconds
// in which it was more than OTHERS, in ms of the clock. Gives a function that ends it.
function othersWatch() {
  let before = timesNow(), most = 0;
  const began = before.at, disturbed = [];
  const timer = setInterval(() => {
    const now = timesNow();
    let own = 0;
    for (const [pid, ticks] of now.own)
      own += ticks - (before.own.get(pid) ?? 0);
    const share = (now.busy - before.busy - own) / 100 / ((now.at - before.at) / 1000);
    most = Math.max(most, share);
    if (share > OTHERS)
      disturbed.push([before.at, now.at]);
    before = now;
  }, 1000);
  return () => {
    clearInterval(timer);
    return {others: Number(most.toFixed(3)), disturbed, length: Date.now() - began};
  };
}

// --- the program ---

function prepare() {
  writeFileSync(join(folder, 'app.dot'), output(join(bin, 'sor'), 'mapping',
    `--threads=${machines.length}`, `--size=${SIZE}`, `--rounds=${ROUNDS}`));
  output(eventspace, 'map', 'generate', '--application=app.dot',
    `--processes=${machines.length}`, '--output=map.dot');
  const map = readFileSync(join(folder, 'map.dot'), 'utf8').replace(
    /(subgraph "?cluster_h(\d+)"? \{)/g, (_, begin, i) =>
      `${begin} netns="${spaceOf(`h${i}`)}"; address="${addressOf(Number(i))}";`);
  assert.equal(map.match(/netns=/g)?.length, machines.length);
  writeFileSync(join(folder, 'cluster.dot'), `digraph cluster {
  core [kind=switch]; ${shares.map((_, i) => `switch${i} [kind=switch];`).join(' ')}
  edge [latency="20us", bandwidth="10gbit"];
  ${machines.map((name, i) => `${name} -> switch${clusterOf(i)};`).join(' ')}
  edge [bandwidth="${UPLINK}"];
  ${shares.map((_, i) => `switch${i} -> core;`).join(' ')}
}\n`);
  writeFileSync(join(folder, 'metrics'), `interval ${INTERVAL};
violated ${VIOLATED};
cluster "cluster.dot";
metric intrinsic operation_bytes = bytes / operations;
metric intrinsic message_share = (messages + rounds) / operations;
metric performance operation_rate = operations / seconds;
metric performance processor_share = cpu / seconds;
`);
  writeFileSync(join(folder, 'map.dot'), map);
  output(eventspace, 'map', 'instrument', 'map.dot', '--output=all.dot');
}

// Beside what `load` does, which gets the moment when the run began, as this gives it.
async function run(directory, load = async () => {}) {
  rmSync(join(folder, directory), {recursive: true, force: true}); // it was broken off
  const child = spawn(eventspace, ['run', 'all.dot', `--output=${directory}`,
    '--', onMachine, 'own', join(bin, 'sor'), 'run'],
    {cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], env: environment});
  children.add(child);
  const ended = new Promise(done => child.on('exit', done));
  const space = join(folder, directory, 'h0.space');
  while (!existsSync(space))
    await nap(2);
  const zero = statSync(space).birthtimeMs;
  await load(zero);
  assert.equal(await ended, 0);
  return zero;
}

const check = directory => JSON.parse(output(eventspace, 'contract', 'check',
  'sor.contract', directory, '--detail', '--format=json'));

// --- what is found ---

const isViolated = (row, kind) => row.violated === 'both' || row.violated === kind;
// What violates a contract by those intervals that follow has no cause: `watch` would
// not have told of it.
const isTold = row => row.cause !== '';
const known = (list, kind) => list.filter(row => row[`${kind}_level`] !== null);

// A kind of run: `make` runs it, and gives when it began and what it did then; `judge`
// gives what is found in those rows that count, and how soon, of all rows.
const undisturbed = {
  make: async directory => ({zero: await run(directory)}),
  judge: found => {
    const list = found.filter(row => row.process !== 'all');
    return {intervals: known(list, 'performance').length,
      violated: list.filter(row => isViolated(row, 'performance')).length,
      intrinsic_intervals: known(list, 'intrinsic').length,
      intrinsic_violated: list.filter(row => isViolated(row, 'intrinsic')).length};
  },
};

function randomOf(seed) {
  let state = BigInt(seed + 1) * 0x9e3779b97f4a7c15n & (1n << 64n) - 1n;
  const next = () => {
    state ^= state >> 12n;
    state = (state ^ state << 25n) & (1n << 64n) - 1n;
    state ^= state >> 27n;
    return Number(state * 0x2545f4914f6cdd1dn >> 11n & (1n << 53n) - 1n) / 2 ** 53;
  };
  for (let i = 0; i < 20; i++) // the first numbers of seeds that are near are near, too
    next();
  return next;
}

async function loadMake(directory, seed) {
  const random = randomOf(seed);
  const victim = machines[Math.floor(random() * machines.length)];
  const from = 4 + 8 * random(), length = 30 + 10 * random();
  let begin, end;
  const zero = await run(directory, async zero => {
    await nap(from * 1000 - (Date.now() - zero));
    const other = spawn(onMachine, [victim, 'sh', '-c', 'while :; do :; done']);
    children.add(other);
    begin = (Date.now() - zero) / 1000;
    await nap(length * 1000);
    other.kill('SIGKILL');
    end = (Date.now() - zero) / 1000;
  });
  return {zero, victim, begin, end};
}
function loadJudge(list, {victim, begin, end}, every) {
  const isDuring = row => row.at >= begin && row.at + INTERVAL <= end;
  const during = list.filter(isDuring);
  const outside = list.filter(row => row.process !== 'all' &&
    (row.at + INTERVAL <= begin || row.at >= end));
  const own = during.filter(row => row.process === victim);
  const others = during.filter(row => row.process !== victim && row.process !== 'all');
  const first = every.filter(row => isDuring(row) && row.process === victim)
    .findIndex(row => isViolated(row, 'performance') && row.cause === 'processor');
  const count = (what, kind) => what.filter(row => isViolated(row, kind)).length;
  return {intervals: known(own, 'performance').length,
    violated: count(own, 'performance'),
    told: own.filter(isTold).length,
    intrinsic_intervals: known(own, 'intrinsic').length,
    intrinsic_violated: count(own, 'intrinsic'),
    outside: known(outside, 'performance').length,
    outside_violated: count(outside, 'performance'),
    accused: own.filter(row => row.cause === 'processor').length,
    first_after: first < 0 ? null : first + 1,
    others_told: others.filter(isTold).length,
    others_wait_for_victim: others.filter(row => isViolated(row, 'performance') &&
      row.cause === 'waits' && row.other === victim).length,
    all_violated: count(during.filter(row => row.process === 'all'), 'performance')};
}

// Sends as much as it can over the uplink of a cluster, between one of its machines and
// one outside, in either direction, by several connections: each gets as much as one of
// the program's.
const STREAMS = 4;
const SENDER = `for (let i = 0; i < ${STREAMS}; i++)
  require('net').connect({host: process.argv[1], port: 7077}, function () {
    const more = () => { while (this.write(Buffer.alloc(65536))); };
    this.on('drain', more); more(); }).on('error', () => process.exit(0))`;
const RECEIVER = `require('net').createServer(s => s.resume().on('error', () => {}))
  .listen(7077, process.argv[1], () => console.log('listens'))`;
function node(name, code, address) {
  const child = spawn('nsenter',
    [`--net=/run/netns/${spaceOf(name)}`, process.execPath, '-e', code, address],
    {stdio: ['ignore', 'pipe', 'inherit']});
  children.add(child);
  return child;
}
async function flood(machine, isUp) {
  const own = addressOf(machines.indexOf(machine));
  const [to, from] = isUp ? ['outside', machine] : [machine, 'outside'];
  const address = isUp ? addressOf(OUTSIDE) : own;
  const receiver = node(to, RECEIVER, address);
  await new Promise(done => receiver.stdout.once('data', done));
  const sender = node(from, SENDER, address);
  return () => [sender, receiver].forEach(child => child.kill('SIGKILL'));
}

async function uplinkMake(directory, seed) {
  const random = randomOf(seed + 1000);
  const cluster = Math.floor(random() * 3), isUp = random() < 0.5;
  const machine = machines[4 * cluster + Math.floor(random() * 4)];
  const from = 4 + 8 * random(), length = 30 + 10 * random();
  let begin, end;
  const zero = await run(directory, async zero => {
    await nap(from * 1000 - (Date.now() - zero));
    const stop = await flood(machine, isUp);
    begin = (Date.now() - zero) / 1000;
    await nap(length * 1000);
    stop();
    end = (Date.now() - zero) / 1000;
  });
  return {zero, cluster, machine, is_up: isUp, begin, end};
}
function uplinkJudge(list, {cluster, begin, end}, every) {
  // Who exchanges rows over it.
  const pairs = [[3, 4], [7, 8]].filter(pair => pair.some(i => clusterOf(i) === cluster));
  const behind = new Set(pairs.flat().map(i => machines[i]));
  const isUplink = row => row.link === `core -- switch${cluster}`;
  const isRight = row => row.cause === 'link' && pairs.some(pair =>
    pair.map(i => machines[i]).sort().join() === [row.process, row.other].sort().join());
  const isDuring = row => row.at >= begin && row.at + INTERVAL <= end;
  const timesOf = rows => [...new Set(rows.map(row => row.start_ns))].sort((a, b) => a - b);
  const during = list.filter(isDuring), everyDuring = every.filter(isDuring);
  const times = timesOf(during);
  const violated = during.filter(row => isViolated(row, 'performance'));
  // After how many intervals there is one with such a row.
  const firstAfter = isWanted => {
    const index = timesOf(everyDuring).findIndex(at => everyDuring.some(row =>
      row.start_ns === at && isViolated(row, 'performance') && isWanted(row)));
    return index < 0 ? null : index + 1;
  };
  const own = during.filter(row => behind.has(row.process));
  const rightAt = times.filter(at => violated.some(row => row.start_ns === at && isRight(row)));
  const told = violated.filter(isTold);
  const wrong = violated.filter(row => row.process !== 'all' &&
    ['processor', 'program', 'sleeps', 'link'].includes(row.cause) && !isRight(row));
  const all = violated.filter(row => row.process === 'all');
  return {times: times.length, right: rightAt.length,
    first_after: firstAfter(isRight),
    intervals: known(own, 'performance').length,
    violated: own.filter(row => isViolated(row, 'performance')).length,
    // The uplink itself is named by those who say that it is a link; and of all.
    links: violated.filter(row => row.link).length,
    right_links: violated.filter(isUplink).length,
    first_link_after: firstAfter(isUplink),
    wrong: wrong.length, wrong_of: told.length - all.filter(isTold).length,
    intrinsic_intervals: known(own, 'intrinsic').length,
    intrinsic_violated: own.filter(row => isViolated(row, 'intrinsic')).length,
    all_violated: all.length, all_told: all.filter(isTold).length,
    all_link: all.filter(row => row.cause === 'link').length};
}

// --- all of it ---

const kinds = {undisturbed, load: {make: loadMake, judge: loadJudge},
  uplink: {make: uplinkMake, judge: uplinkJudge}};
const file = join(folder, 'runs.jsonl');
const runs = () => (existsSync(file) ? readFileSync(file, 'utf8') : '').trim().split('\n')
  .filter(Boolean).map(line => JSON.parse(line));
const judged = ({kind, number, ...was}) => {
  const every = check(`${kind}.${number}`).map(row => ({...row, at: row.start_ns / 1e9}));
  // What could not be done then is done in the interval after.
  const isDisturbed = row => was.disturbed.some(([from, to]) =>
    row.at < to + INTERVAL && row.at + INTERVAL > from);
  const list = every.filter(row => !isDisturbed(row));
  return {name: `${kind}.${number}`, ...was, left_out: every.length - list.length,
    ...kinds[kind].judge(list, was, every)};
};

// Makes a run, again if somebody else was busy for more than `most` of it.
async function makeQuietly(directory, most, make) {
  for (let i = 0; i < TRIES; i++) {
    const ended = othersWatch();
    const {zero, ...was} = await make();
    const {others, disturbed, length} = ended();
    console.log(JSON.stringify({run: directory, others, disturbed: disturbed.length}));
    if (disturbed.reduce((all, [from, to]) => all + to - from, 0) <= most * length)
      return {others, disturbed: disturbed.map(pair => pair.map(at => (at - zero) / 1000)),
        ...was};
  }
  assert.fail(`something else runs on this machine, while ${directory} is made`);
}

prepare();
const bases = Array.from({length: BASES}, (_, i) => `base.${i}`);
if (!existsSync(file))
  for (const base of bases)
    await makeQuietly(base, BASE_DISTURBED, async () => ({zero: await run(base)}));
output(eventspace, 'contract', 'make', ...bases, '--metrics=metrics',
  '--output=sor.contract');
appendFileSync(file, '');
for (const [kind, count] of [['undisturbed', undisturbedText], ['load', seedText],
  ['uplink', seedText]]) {
  for (let number = 0; number < Number(count); number++) {
    if (runs().some(run => run.kind === kind && run.number === number))
      continue;
    const name = `${kind}.${number}`;
    const was = await makeQuietly(name, DISTURBED, () => kinds[kind].make(name, number));
    appendFileSync(file, JSON.stringify({kind, number, ...was}) + '\n');
    console.log(JSON.stringify(judged(runs().at(-1))));
  }
}
const rows = runs().map(judged);

const sum = (list, key) => list.reduce((all, row) => all + row[key], 0);
const sums = [];
const quiet = rows.filter(row => row.name.startsWith('undisturbed'));
const loads = rows.filter(row => row.name.startsWith('load'));
sums.push({name: 'contracts.undisturbed', intervals: sum(quiet, 'intervals'),
  left_out: sum(rows, 'left_out'),
  false_alarms: sum(quiet, 'violated') / sum(quiet, 'intervals'),
  intrinsic_false_alarms: sum(quiet, 'intrinsic_violated') / sum(quiet, 'intrinsic_intervals')});
sums.push({name: 'contracts.load', runs: loads.length,
  violated: sum(loads, 'violated') / sum(loads, 'intervals'),
  intrinsic_kept: 1 - sum(loads, 'intrinsic_violated') / sum(loads, 'intrinsic_intervals'),
  right_cause: sum(loads, 'accused') / sum(loads, 'told'),
  victim_found: loads.filter(row => row.first_after !== null).length / loads.length,
  within_three: loads.filter(row => row.first_after !== null && row.first_after <= 3).length /
    loads.length,
  false_alarms: sum(loads, 'outside_violated') / sum(loads, 'outside'),
  others_wait_for_victim: sum(loads, 'others_wait_for_victim') / sum(loads, 'others_told'),
  all_violated: sum(loads, 'all_violated') / sum(loads, 'intervals')});
const links = rows.filter(row => row.name.startsWith('uplink'));
sums.push({name: 'contracts.uplink', runs: links.length,
  violated: sum(links, 'violated') / sum(links, 'intervals'),
  intrinsic_kept: 1 - sum(links, 'intrinsic_violated') / sum(links, 'intrinsic_intervals'),
  right_cause: sum(links, 'right') / sum(links, 'times'),
  wrong_cause: sum(links, 'wrong') / sum(links, 'wrong_of'),
  right_link: sum(links, 'right_links') / sum(links, 'links'),
  uplink_found: links.filter(row => 2 * row.right_links > row.links).length / links.length,
  link_found: links.filter(row => 2 * row.right > row.times).length / links.length,
  within_three: links.filter(row => row.first_after !== null && row.first_after <= 3).length /
    links.length,
  all_violated: sum(links, 'all_violated') / sum(links, 'times'),
  all_link: sum(links, 'all_link') / sum(links, 'all_told')});
for (const row of sums)
  console.log(JSON.stringify(row));
writeFileSync(join(folder, 'contracts.jsonl'),
  [...rows, ...sums].map(row => JSON.stringify(row) + '\n').join(''));
process.exit(0);
