/* machines_line_test.mjs - a line of machines, which are network namespaces that
 * reach their neighbours only, and pass on no packets: a run on them, and a scope
 * that gathers it while it goes on, by gateways.
 *
 *     node machines_line_test.mjs BIN COUNTING_APP
 *
 * Each link is a network of its own, and a machine between two has an address in
 * each. A capture would show nothing of interest: what goes over a link is for
 * processes that are not at its ends, and encrypted between those who are. So it
 * is held against what each machine has of its processes, and against the
 * program's own counts. Without the right to make namespaces the test is skipped
 * (exit code 77). */
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import {readFileSync, writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {countsMake, countsRead, ip, until, withMachines} from '../../support/machines.mjs';

const bin = resolve(process.argv[2]), counting = resolve(process.argv[3]);
const MACHINES = 5;
const names = Array.from({length: MACHINES}, (_, i) => `g${i}`);
/* Of the machine to the left and to the right of link i. */
const left = (i) => `10.98.${i}.1`, right = (i) => `10.98.${i}.2`;
const addressOf = (i) => (i === 0 ? left(0) : right(i - 1));

function make(m) {
  for (const name of names) m.add(name);
  for (let i = 0; i + 1 < MACHINES; i++) {
    const [a, b] = [m.space(names[i]), m.space(names[i + 1])];
    ip('-n', a, 'link add east type veth peer name west netns', b);
    ip('-n', a, `address add ${left(i)}/24 dev east`);
    ip('-n', b, `address add ${right(i)}/24 dev west`);
    ip('-n', a, 'link set east up');
    ip('-n', b, 'link set west up');
    m.shape(names[i], 'east', 'rate', '200mbit', 'burst', '64kb', 'latency', '100ms');
    m.shape(names[i + 1], 'west', 'rate', '200mbit', 'burst', '64kb', 'latency', '100ms');
  }
  for (const name of names) {
    const kernel = execFileSync('ip', ['netns', 'exec', m.space(name), 'cat',
      '/proc/sys/net/ipv4/ip_forward'], {encoding: 'utf8'});
    assert.equal(kernel.trim(), '0', 'no packet is passed on');
  }
}

const networksOf = (i) => [i > 0 ? `l${i - 1}` : '', i + 1 < MACHINES ?
  `l${i}${i > 0 ? `=${left(i)}` : ''}` : ''].join(' ').trim();

/* A ring of threads: the last one's neighbour is at the other end of the line. */
function mapMake(m) {
  const all = names.map((_, i) => i);
  writeFileSync(join(m.folder, 'app.dot'), ['digraph ring {',
    ...all.map((i) => `t${i} [kind=thread, number=${i}]; e${i} [kind=element, type=u64,
      capacity=4];`),
    ...all.map((i) => `t${i} -> e${(i + 1) % MACHINES} [as=out, use=write];
      t${i} -> e${i} [as=in, use=read];`), '}', ''].join('\n'));
  writeFileSync(join(m.folder, 'cluster.dot'), ['digraph line {', ...all.map((i) =>
    `g${i} [address="${addressOf(i)}:7000", networks="${networksOf(i)}"];`), '}', ''].join('\n'));
  writeFileSync(join(m.folder, 'places.dot'), ['digraph places {',
    ...all.map((i) => `t${i} -> g${i}; e${i} -> g${i};`), '}', ''].join('\n'));
  m.command('eventspace', 'map', 'generate', '--application=app.dot', '--cluster=cluster.dot',
    '--placement=places.dot', '--output=ring.dot');
  m.command('eventspace', 'map', 'instrument', 'ring.dot', '--output=traced.dot',
    '--trace-policy=grow', '--trace-size=4M');
  const map = readFileSync(join(m.folder, 'ring.dot'), 'utf8');
  for (const process of ['g1', 'g2', 'g3']) assert(map.includes(`t4.out.proxy.${process}`), map);
  m.command('eventspace', 'key', 'key');
  for (const name of names)
    for (const file of ['traced.dot', 'key'])
      execFileSync('cp', [join(m.folder, file), join(m.folder, name)]);
}

await withMachines(bin, make, async (m) => {
  const counts = join(m.folder, 'counts');
  const made = () => countsRead(counts, MACHINES);
  const least = () => Math.min(...made().map(({out, in: got}) => out + got));
  const reach = spawnSync('ip', ['netns', 'exec', m.space('g0'), 'ip', 'route', 'get',
    addressOf(2)], {encoding: 'utf8'});
  assert.notEqual(reach.status, 0, `g0 does not reach g2: ${reach.stdout}`);

  mapMake(m);
  countsMake(counts);
  const begin = () => names.map((name) => m.begin(name, 'eventspace', 'run', 'traced.dot',
    `--process=${name}`, '--key=key', '--output=RUN', '--replace', '--', counting, counts));
  let runs = begin();
  await until('the ring goes round', () => least() > 50 || `${least()}`, runs);
  const scope = m.begin('g0', 'eventspace', 'scope', join(m.here, 'RUN'),
    `--cluster=${join(m.folder, 'cluster.dot')}`, `--remote=${m.enter}`, `--listen=${left(0)}`,
    '--fanout=2', '--interval=10ms', `--output=${join(m.here, 'mirror')}`);
  const mirror = join(m.folder, 'g0', 'mirror');
  await until('all of it is gathered while it goes on', () => {
    const found = m.processesOf(mirror);
    const counts = names.map((name) => found[name]?.events_recorded ?? 0);
    return Math.min(...counts) > 500 || `${counts}`;
  }, [scope, ...runs]);

  for (const begun of runs) process.kill(begun.child.pid, 'SIGTERM');
  for (const begun of runs) await begun.over;
  assert.equal(await scope.over, 0, scope.said);
  const found = m.processesOf(mirror);
  let sum = 0;
  for (const name of names) {
    const its = m.processesOf(join(m.folder, name, 'RUN'))[name];
    assert.equal(found[name].events_recorded, its.events_recorded, name);
    assert.equal(found[name].events_lost, 0);
    sum += its.events_recorded;
  }
  assert(sum > 500 * MACHINES);
  assert.match(scope.said, new RegExp(`events: ${sum} recorded, ${sum} read, 0 lost`));
  /* Each hop of the long way has its collector: so it says where the time goes. */
  const hops = m.command('eventspace', 'view', mirror, 'stages', '--format=csv');
  for (const process of ['g1', 'g2', 'g3']) assert(hops.includes(`t4.out.proxy.${process}`), hops);

  /* A gateway dies: those behind it are lost to the first, and it to them. */
  countsMake(counts);
  runs = begin();
  await until('it goes round again', () => least() > 50 || `${least()}`, runs);
  const pids = execFileSync('ip', ['netns', 'pids', m.space('g2')], {encoding: 'utf8'});
  for (const pid of pids.split('\n').filter(Boolean)) {
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(counting))
      process.kill(Number(pid), 'SIGKILL');
  }
  for (const begun of runs) assert.notEqual(await begun.over, 0, begun.said);
  for (const i of [0, 1]) assert.match(runs[i].said, /process g2 died/);
  for (const i of [3, 4]) /* which of both is heard first, is not said */
    assert.match(runs[i].said, /process g2 died|on the way to it \([^)]*g2/);
});
