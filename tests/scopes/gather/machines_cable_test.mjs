/* machines_cable_test.mjs - of four machines, which are network namespaces, one
 * has its cable pulled: it closes no connection, and answers nothing. The run on
 * them says so and ends, and a scope has all of the others, to the last event.
 *
 *     node machines_cable_test.mjs BIN COUNTING_APP
 *
 * The kernel would wait a quarter of an hour for what is on its way; this test
 * waits for five minutes. Without the right to make namespaces it is skipped
 * (exit code 77). */
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {countsMake, countsRead, ip, until, withMachines} from '../../support/machines.mjs';

const bin = resolve(process.argv[2]), counting = resolve(process.argv[3]);
const MACHINES = 4, GONE = 2;
const names = Array.from({length: MACHINES}, (_, i) => `m${i}`);

function make(m) {
  m.star(['root', ...names], '10.99.0');
}

/* Two pairs: 0 and 1 play, and so do 2 and 3. */
function mapMake(m) {
  const lines = ['digraph pairs {'];
  for (let i = 0; i < MACHINES; i++)
    lines.push(`subgraph cluster_p${i} { address="10.99.0.${i + 2}:7000";`,
      ` t${i} [kind=thread, number=${i}]; x${i} [kind=proxy];`,
      ` e${i} [kind=element, type=u64, capacity=4]; }`,
      `t${i} -> x${i} [as=out, use=write]; x${i} -> e${i ^ 1};`,
      `t${i} -> e${i} [as=in, use=read];`);
  writeFileSync(join(m.folder, 'pairs.dot'), [...lines, '}', ''].join('\n'));
  m.command('eventspace', 'map', 'instrument', 'pairs.dot', '--output=traced.dot',
    '--trace-policy=grow', '--trace-size=4M');
  m.command('eventspace', 'key', 'key');
  writeFileSync(join(m.folder, 'machines.dot'), `digraph { ${names.join('; ')}; }\n`);
  for (const name of names)
    for (const file of ['traced.dot', 'key'])
      execFileSync('cp', [join(m.folder, file), join(m.folder, name)]);
}

await withMachines(bin, make, async (m) => {
  const counts = join(m.folder, 'counts');
  const least = (list) => Math.min(...list.map((i) => countsRead(counts, MACHINES)[i].in));
  mapMake(m);
  countsMake(counts);
  const runs = names.map((name, i) => m.begin(name, 'eventspace', 'run', 'traced.dot',
    `--process=p${i}`, '--key=key', '--output=RUN', '--', counting, counts));
  await until('they play', () => least([0, 1, 2, 3]) > 50 || 'not yet', runs);
  const scope = m.begin('root', 'eventspace', 'scope', join(m.here, 'RUN'),
    `--cluster=${join(m.folder, 'machines.dot')}`, `--remote=${m.enter}`, '--listen=10.99.0.1',
    '--interval=10ms', `--output=${join(m.here, 'mirror')}`);
  const gathered = () => {
    const found = m.processesOf(join(m.folder, 'root', 'mirror'));
    return names.map((_, i) => found[`p${i}`]?.events_recorded ?? 0);
  };
  await until('all are gathered', () => Math.min(...gathered()) > 500 || `${gathered()}`,
    [scope, ...runs]);

  ip('-n', m.space(names[GONE]), 'link set eth0 down');
  const pulled = Date.now();
  assert.notEqual(await runs[GONE ^ 1].over, 0);
  assert.match(runs[GONE ^ 1].said, /process p2 died/);
  console.log(`its partner ended after ${(Date.now() - pulled) / 1000} s`);
  for (const i of [0, 1, 3]) assert.match((await runs[i].over, runs[i].said), /process p2 died/);
  await scope.over;
  console.log(`and the scope ended after ${(Date.now() - pulled) / 1000} s: ${scope.ended}`);
  assert.notEqual(scope.ended, 0, scope.said);
  assert.match(scope.said, /p2|m2/);
  const found = m.processesOf(join(m.folder, 'root', 'mirror'));
  for (const i of [0, 1, 3]) {
    const its = m.processesOf(join(m.folder, names[i], 'RUN'))[`p${i}`];
    assert.equal(found[`p${i}`].events_recorded, its.events_recorded, `p${i}`);
    assert.equal(found[`p${i}`].events_lost, 0);
  }
});
