/* advise_test.mjs - what `advise` and `whatif` say of a real run, where it is easy
 * to see that they must be wrong.
 *
 *     node advise_test.mjs BIN
 *
 * The barrier of the applications: thread 0 is late by design, and writes and
 * reads one path, in other numbers than the others. */
import {spawnSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import assert from 'node:assert/strict';

const [bin] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-advise-'));
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));

const command = (program, words, input) =>
  spawnSync(join(bin, program), words, {cwd: folder, input, encoding: 'utf8', maxBuffer: 1 << 28});
function run(program, words, input) {
  const done = command(program, words, input);
  assert.equal(done.status, 0, `${program} ${words.join(' ')}: ${done.stderr}`);
  return done.stdout;
}
const eventspace = (...words) => run('eventspace', words);
const json = (...words) => JSON.parse(eventspace(...words, '--format=json'));

const map = run('eventspace', ['map', 'generate', '--application=-', '--processes=2'],
  run('barrier', ['mapping', '--threads=4']));
run('eventspace', ['map', 'instrument', '-', '--collectors=all', '--output=map.dot'], map);
eventspace('run', 'map.dot', '--output=RUN', '--', join(bin, 'barrier'), 'run');

/* --- advise --- */

const advice = json('advise', 'RUN');
assert.ok(advice.rows.length > 0);
for (const row of advice.rows.filter(({gain_ns}) => gain_ns !== null)) {
  assert.ok(row.gain_ns > -0.02 * advice.took_ns, JSON.stringify(row));
  assert.equal(row.gain_ns + row.without_ns, advice.took_ns);
}
const shares = advice.rows.reduce((sum, row) => sum + row.waiting_share, 0);
assert.ok(Math.abs(shares - 1) < 0.01, `${shares} of all waiting`);
assert.deepEqual(json('advise', 'RUN', '--from=0ms', '--to=1us').rows, []);
/* Sentences have numbers that people read. */
assert.doesNotMatch(eventspace('advise', 'RUN'), /[0-9]e[-+]?[0-9]/);

/* --- whatif --- */

/* How long the run would take with these changes. */
function told(...changes) {
  const done = json('whatif', 'RUN', ...changes);
  return (done.rows ?? done).at(-1).run_ns;
}
const none = told('--thread=*:compute=1');
assert.equal(none, advice.took_ns);
assert.equal(told('--thread=0:compute=0.5', '--thread=0:compute=2'), none);
for (const change of ['--balance-steps', '--thread=0:compute=peers', '--hop=h0-h1:latency=0',
  '--thread=*:compute=0'])
  assert.equal(told(change, change), told(change), change);
/* Nothing is taken away twice: no set of changes beats that of all there is. */
const least = told('--thread=*:compute=0', '--thread=*:calls=0', '--thread=*:sleep=0',
  '--thread=*:runnable=0');
for (const changes of [['--thread=*:calls=0', '--hop=h0-h1:latency=0', '--hop=h1-h0:latency=0'],
  ['--balance-steps', '--thread=*:compute=0', '--thread=*:sleep=0.5'],
  ['--thread=*:compute=0.5', '--thread=0:compute=0.5', '--thread=0:compute=peers']])
  assert.ok(told(...changes) >= least, `${changes}: ${told(...changes)} of ${least}`);
for (const factor of ['1e18', '1e300', 'inf', 'nan', '-1', '1000001']) {
  const done = command('eventspace', ['whatif', 'RUN', `--thread=*:compute=${factor}`]);
  assert.notEqual(done.status, 0, factor);
  assert.match(done.stderr, /factor|is not of the form/, factor);
}
console.log('all is well');
