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
import {execFileSync} from 'node:child_process';
import {readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {countsMake, countsRead, until, withMachines} from '../../support/machines.mjs';

const bin = resolve(process.argv[2]), counting = resolve(process.argv[3]);
const MACHINES = 8, PROCESSES = 9; /* the last machine has two */
const names = Array.from({length: MACHINES}, (_, i) => `m${i + 1}`);
const machineOf = (process) => names[Math.min(process, MACHINES - 1)];

function make(m) {
  m.star(['root', ...names], '10.97.0');
  for (const name of ['root', ...names])
    m.shape(name, 'eth0', 'rate', '200mbit', 'burst', '64kb', 'latency', '100ms');
}

/* A ring of threads, each on a process of its own. They do not write as often as they
 * can, for as long as this lasts: on two processors that is not what it is about. */
function mapMake(m) {
  const lines = ['digraph ring {'];
  for (let i = 0; i < PROCESSES; i++) {
    const next = (i + 1) % PROCESSES;
    const machine = Math.min(i, MACHINES - 1);
    lines.push(`subgraph cluster_p${i} { address="10.97.0.${machine + 2}:${7000 + i}";`,
      ` t${i} [kind=thread, number=${i}]; x${i} [kind=proxy];`,
      ` d${i} [kind=delay, latency="1ms"];`,
      ` e${i} [kind=element, type=u64, capacity=4]; }`,
      `t${i} -> d${i} [as=out, use=write]; d${i} -> x${i}; x${i} -> e${next};`,
      `t${i} -> e${i} [as=in, use=read];`);
  }
  writeFileSync(join(m.folder, 'ring.dot'), [...lines, '}', ''].join('\n'));
  m.command('eventspace', 'map', 'instrument', 'ring.dot', '--output=traced.dot',
    '--trace-policy=grow', '--trace-size=4M');
  m.command('eventspace', 'key', 'key');
  writeFileSync(join(m.folder, 'machines.dot'), `digraph { ${names.join('; ')}; }\n`);
  for (const name of names)
    for (const file of ['traced.dot', 'key'])
      execFileSync('cp', [join(m.folder, file), join(m.folder, name)]);
}

function agentsOn(m, machine) {
  const pids = execFileSync('ip', ['netns', 'pids', m.space(machine)], {encoding: 'utf8'});
  return pids.split('\n').filter(Boolean).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--agent');
    } catch { return false; }
  }).length;
}

/* Bytes that came to the root, by machine. */
function cameToRoot(m) {
  const text = execFileSync('ip', ['netns', 'exec', m.space('root'), 'ss', '-tinH'],
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

await withMachines(bin, make, async (m) => {
  const counts = join(m.folder, 'counts');
  const counted = () => countsRead(counts, PROCESSES);
  const made = () => counted().map(({out, in: got}) => 3 * out + got);
  const client = (mirror) => m.begin('root', 'eventspace', 'scope', join(m.here, 'RUN'),
    `--cluster=${join(m.folder, 'machines.dot')}`, `--remote=${m.enter}`, '--listen=10.97.0.1',
    '--fanout=2', '--interval=10ms', `--output=${join(m.here, mirror)}`);
  const mirrorOf = (name) => join(m.folder, 'root', name);
  const reached = (mirror, least) => {
    const found = m.processesOf(mirrorOf(mirror));
    for (let i = 0; i < PROCESSES; i++) {
      const count = found[`p${i}`]?.events_recorded ?? 0;
      if (count < least) return `p${i} has ${count} of ${least}`;
    }
    return true;
  };

  mapMake(m);
  countsMake(counts);
  const runs = Array.from({length: PROCESSES}, (_, i) => m.begin(machineOf(i), 'eventspace', 'run',
    'traced.dot', `--process=p${i}`, '--key=key', '--output=RUN', '--', counting, counts));
  await until('the ring goes round', () => Math.min(...made()) > 100 || 'not yet', runs);

  const first = client('first');
  await until('the first client gathers', () => reached('first', 2000), [first, ...runs]);
  assert.equal(agentsOn(m, 'm3'), 1);
  const second = client('second');
  await until('the second client gathers', () => reached('second', 2000), [second, ...runs]);
  assert.equal(agentsOn(m, 'm3'), 2);
  process.kill(-second.child.pid, 'SIGKILL');
  await second.over;
  await until('what the killed one has started is gone',
    () => agentsOn(m, 'm3') === 1 || `${agentsOn(m, 'm3')} agents`, [first, ...runs]);
  const fourth = client('fourth');
  await until('the fourth gathers', () => reached('fourth', 2000), [fourth, ...runs]);
  process.kill(fourth.child.pid, 'SIGINT');
  assert.equal(await fourth.over, 0, fourth.said);
  assert.match(fourth.said, /interrupted; .*fourth holds what was gathered/);
  const [, recorded, read, , unread] = fourth.said.match(
    /events: (\d+) recorded, (\d+) read, ((\d+) unread, )?0 lost/) ?? assert.fail(fourth.said);
  assert.equal(Number(recorded), Number(read) + Number(unread ?? 0));
  const third = client('third');
  const before = Math.min(...made());
  await until('the late one has it all', () => reached('third', before), [third, ...runs]);
  await until('the first goes on', () => reached('first', before), [first, ...runs]);

  const came = [...cameToRoot(m).entries()].sort((a, b) => b[1] - a[1]);
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
    const found = m.processesOf(mirrorOf(mirror)), program = made();
    let sum = 0;
    for (let i = 0; i < PROCESSES; i++) {
      const its = m.processesOf(join(m.folder, machineOf(i), 'RUN'))[`p${i}`];
      assert.equal(found[`p${i}`].events_recorded, its.events_recorded, `${mirror}: p${i}`);
      assert.equal(found[`p${i}`].events_lost, 0);
      sum += its.events_recorded;
    }
    const made_sum = program.reduce((all, its) => all + its); /* and those cut off at the end */
    assert(sum >= made_sum && sum <= made_sum + 4 * PROCESSES, `${sum} events of ${made_sum}`);
    assert.match(begun.said, new RegExp(`events: ${sum} recorded, ${sum} read, 0 lost`));
    for (const view of ['calls', 'communication'])
      m.command('eventspace', 'view', mirrorOf(mirror), view, '--format=csv');
  }
  for (const name of ['root', ...names])
    assert.deepEqual(readdirSync(join(m.folder, name)).filter((file) => /^eventspace-/.test(file)),
      [], `temporary files on ${name}`);
});
