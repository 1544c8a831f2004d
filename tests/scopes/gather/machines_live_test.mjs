/* machines_live_test.mjs - a scope over eight machines, which are network
 * namespaces with links of their own and no directory in common, gathers a run
 * while it goes on.
 *
 *     node machines_live_test.mjs BIN COUNTING_APP
 *
 * Four clients come: the first stays, the second is killed, the third is late, and
 * the fourth is interrupted.
 * What they have at the end is held against what each machine has of its
 * processes, and against the program's own counts. Gatherers are in the middle:
 * how many bytes came to the root from which machine, its kernel says. Without
 * the right to make namespaces the test is skipped (exit code 77). */
import assert from 'node:assert/strict';
import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {chmodSync, closeSync, existsSync, ftruncateSync, mkdirSync, mkdtempSync, openSync,
  readFileSync, readSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';

const bin = resolve(process.argv[2]), counting = resolve(process.argv[3]);
const MACHINES = 8, PROCESSES = 9; /* the last machine has two */
const PATIENCE_MS = 300000;
const prefix = `es${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), 'machines-'));
const here = join(folder, 'here'), run = join(here, 'RUN');
const environment = {...process.env, PATH: `${bin}:${process.env.PATH}`, TMPDIR: here};
const names = Array.from({length: MACHINES}, (_, i) => `m${i + 1}`);
const machineOf = (process) => names[Math.min(process, MACHINES - 1)];
const space = (name) => `${prefix}-${name}`;
const children = new Set();

function ip(...words) {
  execFileSync('ip', words.join(' ').split(' '), {stdio: ['ignore', 'ignore', 'pipe']});
}

function command(name, ...words) {
  return execFileSync(join(bin, name), words, {cwd: folder, env: environment, encoding: 'utf8',
    maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore']});
}

/* A program, on a machine; its directory is seen by no other. */
function begin(machine, ...words) {
  const child = spawn(join(folder, 'enter'), [machine, ...words],
    {cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true});
  const begun = {child, said: '', ended: null};
  children.add(child);
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => { begun.said += text; });
  begun.over = new Promise((done) => child.on('close', (code, signal) => {
    children.delete(child);
    begun.ended = signal ?? code;
    done(begun.ended);
  }));
  return begun;
}

async function until(what, holds, alive = []) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const text = holds();
    if (text === true) return;
    for (const begun of alive)
      assert.equal(begun.ended, null, `${what}: one has ended: ${begun.said}`);
    assert(Date.now() < end, `${what}: ${text}`);
    await pause(20);
  }
}

/* --- the machines --- */

function machinesMake() {
  const sw = space('switch');
  ip('netns add', sw);
  ip('-n', sw, 'link add br0 type bridge');
  ip('-n', sw, 'link set br0 up');
  ['root', ...names].forEach((name, i) => {
    ip('netns add', space(name));
    ip('-n', sw, `link add p${i} type veth peer name eth0 netns`, space(name));
    ip('-n', sw, `link set p${i} master br0 up`);
    ip('-n', space(name), `address add 10.97.0.${i + 1}/24 dev eth0`);
    ip('-n', space(name), 'link set lo up');
    ip('-n', space(name), 'link set eth0 up');
    execFileSync('ip', ['netns', 'exec', space(name), 'tc', 'qdisc', 'add', 'dev', 'eth0', 'root',
      'tbf', 'rate', '200mbit', 'burst', '64kb', 'latency', '100ms']);
    mkdirSync(join(folder, name));
  });
  mkdirSync(here);
  writeFileSync(join(folder, 'enter'), `#!/bin/sh
machine=$1
shift
exec ip netns exec ${prefix}-$machine unshare -m sh -c '
    mount --bind "$0" ${here} && cd ${here} && exec "$@"' ${folder}/$machine "$@"
`);
  chmodSync(join(folder, 'enter'), 0o755);
}

function machinesEnd() {
  for (const child of children)
    try { process.kill(-child.pid, 'SIGKILL'); } catch { /* it has ended */ }
  for (const name of ['switch', 'root', ...names]) {
    const pids = spawnSync('ip', ['netns', 'pids', space(name)], {encoding: 'utf8'}).stdout ?? '';
    for (const pid of pids.split('\n').filter(Boolean))
      try { process.kill(Number(pid), 'SIGKILL'); } catch { /* it has ended */ }
    spawnSync('ip', ['netns', 'del', space(name)], {stdio: 'ignore'});
  }
  rmSync(folder, {recursive: true, force: true});
}

/* --- the run: a ring of threads, each on a process of its own --- */

function mapMake() {
  const lines = ['digraph ring {'];
  for (let i = 0; i < PROCESSES; i++) {
    const next = (i + 1) % PROCESSES;
    const machine = Math.min(i, MACHINES - 1);
    lines.push(`subgraph cluster_p${i} { address="10.97.0.${machine + 2}:${7000 + i}";`,
      ` t${i} [kind=thread, number=${i}]; x${i} [kind=proxy];`,
      ` e${i} [kind=element, type=u64, capacity=4]; }`,
      `t${i} -> x${i} [as=out, use=write]; x${i} -> e${next};`,
      `t${i} -> e${i} [as=in, use=read];`);
  }
  writeFileSync(join(folder, 'ring.dot'), [...lines, '}', ''].join('\n'));
  command('eventspace', 'map', 'instrument', 'ring.dot', '--output=traced.dot',
    '--trace-policy=grow', '--trace-size=4M');
  command('eventspace', 'key', 'key');
  writeFileSync(join(folder, 'machines.dot'), `digraph { ${names.join('; ')}; }\n`);
  for (const name of names)
    for (const file of ['traced.dot', 'key'])
      execFileSync('cp', [join(folder, file), join(folder, name)]);
}

/* tests/support/counting_app.h */
const counts = join(folder, 'counts'), COUNTS_BYTES = 8 + 16 * 24;
function counted() {
  const bytes = Buffer.alloc(COUNTS_BYTES), fd = openSync(counts, 'r');
  readSync(fd, bytes, 0, COUNTS_BYTES, 0);
  closeSync(fd);
  return Array.from({length: PROCESSES}, (_, i) => ({
    out: Number(bytes.readBigUInt64LE(8 + 24 * i + 8)),
    in: Number(bytes.readBigUInt64LE(8 + 24 * i + 16))}));
}

const made = () => counted().map(({out, in: got}) => 2 * out + got);

/* --- what is there --- */

function facts(directory) {
  const text = spawnSync(join(bin, 'eventspace'), ['info', directory, '--format=json'],
    {env: environment, encoding: 'utf8', maxBuffer: 1 << 28});
  return text.status === 0 ? JSON.parse(text.stdout) : null;
}

const processesOf = (directory) =>
  Object.fromEntries((facts(directory)?.processes ?? []).map((p) => [p.process, p]));

function client(mirror) {
  return begin('root', 'eventspace', 'scope', run, `--cluster=${join(folder, 'machines.dot')}`,
    `--remote=${join(folder, 'enter')}`, '--listen=10.97.0.1', '--fanout=2', '--interval=10ms',
    `--output=${join(here, mirror)}`);
}

const mirrorOf = (name) => join(folder, 'root', name);

function reached(mirror, least) {
  const found = processesOf(mirrorOf(mirror));
  for (let i = 0; i < PROCESSES; i++) {
    const count = found[`p${i}`]?.events_recorded ?? 0;
    if (count < least) return `p${i} has ${count} of ${least}`;
  }
  return true;
}

function agentsOn(machine) {
  const pids = execFileSync('ip', ['netns', 'pids', space(machine)], {encoding: 'utf8'});
  return pids.split('\n').filter(Boolean).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--agent');
    } catch { return false; }
  }).length;
}

/* Bytes that came to the root, by machine. */
function cameToRoot() {
  const text = execFileSync('ip', ['netns', 'exec', space('root'), 'ss', '-tinH'],
    {encoding: 'utf8'});
  const bytes = new Map(names.map((name) => [name, 0]));
  let from;
  for (const line of text.split('\n')) {
    const peer = line.match(/10\.97\.0\.1\S*:\d+\s+\S*?10\.97\.0\.(\d+)\]?:\d+/);
    if (peer) from = names[Number(peer[1]) - 2];
    const got = line.match(/bytes_received:(\d+)/);
    if (got && from) bytes.set(from, bytes.get(from) + Number(got[1]));
  }
  return bytes;
}

/* --- the test --- */

async function test() {
  mapMake();
  const fd = openSync(counts, 'w');
  ftruncateSync(fd, COUNTS_BYTES);
  closeSync(fd);
  const runs = Array.from({length: PROCESSES}, (_, i) => begin(machineOf(i), 'eventspace', 'run',
    'traced.dot', `--process=p${i}`, '--key=key', '--output=RUN', '--', counting, counts));
  await until('the ring goes round', () => Math.min(...made()) > 100 || 'not yet', runs);

  const first = client('first');
  await until('the first client gathers', () => reached('first', 2000), [first, ...runs]);
  assert.equal(agentsOn('m3'), 1);
  const second = client('second');
  await until('the second client gathers', () => reached('second', 2000), [second, ...runs]);
  assert.equal(agentsOn('m3'), 2);
  process.kill(-second.child.pid, 'SIGKILL');
  await second.over;
  await until('what the killed one has started is gone',
    () => agentsOn('m3') === 1 || `${agentsOn('m3')} agents`, [first, ...runs]);
  const fourth = client('fourth');
  await until('the fourth gathers', () => reached('fourth', 2000), [fourth, ...runs]);
  process.kill(fourth.child.pid, 'SIGINT');
  assert.equal(await fourth.over, 0, fourth.said);
  assert.match(fourth.said, /interrupted; .*fourth holds what was gathered/);
  assert.match(fourth.said, /, 0 lost/);
  const third = client('third');
  const before = Math.min(...made());
  await until('the late one has it all', () => reached('third', before), [third, ...runs]);
  await until('the first goes on', () => reached('first', before), [first, ...runs]);

  const came = [...cameToRoot().entries()].sort((a, b) => b[1] - a[1]);
  const all = came.reduce((sum, [, bytes]) => sum + bytes, 0);
  assert(came.slice(0, 2).every(([, bytes]) => bytes > 0.1 * all),
    `two machines send to the root: ${JSON.stringify(came)}`);
  assert(came.slice(2).every(([, bytes]) => bytes < 0.02 * all),
    `the others do not: ${JSON.stringify(came)}`);

  for (const begun of runs) process.kill(begun.child.pid, 'SIGTERM');
  for (const begun of runs) await begun.over;
  for (const [begun, mirror] of [[first, 'first'], [third, 'third']]) {
    await begun.over;
    assert.equal(begun.ended, 0, begun.said);
    const found = processesOf(mirrorOf(mirror)), program = made();
    let sum = 0;
    for (let i = 0; i < PROCESSES; i++) {
      const its = processesOf(join(folder, machineOf(i), 'RUN'))[`p${i}`];
      assert.equal(found[`p${i}`].events_recorded, its.events_recorded, `${mirror}: p${i}`);
      assert.equal(found[`p${i}`].events_lost, 0);
      sum += its.events_recorded;
    }
    const made_sum = program.reduce((all, its) => all + its); /* and those cut off at the end */
    assert(sum >= made_sum && sum <= made_sum + 3 * PROCESSES, `${sum} events of ${made_sum}`);
    assert.match(begun.said, new RegExp(`events: ${sum} recorded, ${sum} read, 0 lost`));
    for (const view of ['calls', 'communication'])
      command('eventspace', 'view', mirrorOf(mirror), view, '--format=csv');
  }
  for (const name of ['root', ...names])
    assert.deepEqual(readdirSync(join(folder, name)).filter((file) => /^eventspace-/.test(file)),
      [], `temporary files on ${name}`);
}

let skipped = false;
try {
  try {
    machinesMake();
  } catch (problem) {
    if (/not permitted|must be root/i.test(String(problem.stderr ?? problem))) skipped = true;
    else throw problem;
  }
  if (!skipped) await test();
} finally {
  machinesEnd();
}
if (skipped) {
  console.log('network namespaces cannot be made here');
  process.exit(77);
}
