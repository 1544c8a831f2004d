/* signature_test.mjs - the page of a signature, in a real browser.
 *
 *     node signature_test.mjs BIN [AXE [PICTURES]]
 *
 * A real run; what the page has of it is compared with what the command prints, and
 * what is in a class is worked out here once more. AXE and PICTURES: see
 * page_test.mjs. */
import {execFileSync, spawnSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import assert from 'node:assert/strict';
import {axeFindsNothing, holds, openBrowser, startDriver, until} from './browser.mjs';

const [bin, axeFolder, pictures] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-signature-'));
const axe = axeFolder && join(axeFolder, 'node_modules/axe-core/axe.min.js');
const command = join(bin, 'eventspace');
const output = (program, ...words) => execFileSync(join(bin, program), words,
  {cwd: folder, encoding: 'utf8', env: {...process.env, PATH: `${bin}:${process.env.PATH}`}});
const eventspace = (...words) => output('eventspace', ...words);

/* --- a run --- */

writeFileSync(join(folder, 'app.dot'),
  output('sor', 'mapping', '--threads=3', '--size=W', '--rounds=3000'));
eventspace('map', 'generate', '--application=app.dot', '--processes=3', '--output=map.dot');
eventspace('map', 'instrument', 'map.dot', '--output=all.dot');
eventspace('run', 'all.dot', '--output=RUN', '--', join(bin, 'sor'), 'run');
eventspace('contract', 'make', 'RUN', '--interval=50ms', '--output=made');
/* On a machine half as fast. */
writeFileSync(join(folder, 'half'), readFileSync(join(folder, 'made'), 'utf8') +
  'project "h1" operation_rate by 0.5;\n');

/* --- what is refused --- */

const refused = (...words) => spawnSync(command, words, {cwd: folder, encoding: 'utf8'});
const wrong = [];
function refuse(code, text, ...words) {
  const said = refused(...words);
  wrong.push(() => {
    assert.equal(said.status, code, said.stderr);
    assert.match(said.stderr, text);
  });
}
refuse(2, /--contract is for the page of --output/, 'signature', 'RUN', '--contract=made');
refuse(2, /with --contract metrics, intervals/, 'signature', 'RUN', '--contract=made',
  '--interval=1s', '-o', 'no.html');
refuse(2, /--detail and --format are not for the page/, 'signature', 'RUN', '--detail', '-o', 'no.html');
refuse(1, /No space left on device/, 'signature', 'RUN', '--interval=50ms', '-o', '/dev/full');
refuse(1, /more than a page can show/, 'signature', 'RUN', '--interval=50us', '-o', 'no.html');
refuse(1, /cannot open missing/, 'signature', 'RUN', '--contract=missing', '-o', 'no.html');
refuse(1, /no\/such\/page\.html/, 'signature', 'RUN', '-o', 'no/such/page.html');

/* --- in the browser --- */

const checks = [];
const check = (name, call) => checks.push({name, call});
const open = async (browser, page) => {
  await browser.go(`file://${join(folder, page)}`);
  await until('it is ready', () => browser.run('return !!window.eventspaceSignature?.ready;'));
};
const data = (browser) => browser.run('return eventspaceSignature.data;');
const choose = (browser, id, value) => browser.run(`const select = document.getElementById('${id}');
  select.value = ${value}; select.dispatchEvent(new Event('change'));`);
const countOf = (browser, what) =>
  browser.run(`return document.querySelectorAll(${JSON.stringify(what)}).length;`);

check('what cannot be is refused', async () => wrong.forEach((one) => one()));

check('it has the values that the command prints', async (browser) => {
  await open(browser, 'page.html');
  const page = await data(browser);
  const rows = JSON.parse(eventspace('signature', 'RUN', '--interval=50ms', '--detail',
    '--format=json'));
  const names = page.metrics.map((metric) => metric.name);
  assert.deepEqual(names, ['operation_bytes', 'message_share', 'operation_rate']);
  assert.deepEqual(page.processes.map((one) => one.name), ['h0', 'h1', 'h2', 'all']);
  let compared = 0;
  for (const one of page.processes) {
    const own = rows.filter((row) => row.process === one.name);
    assert.equal(own.length, one.values.length);
    own.forEach((row, i) => names.forEach((name, m) => {
      if (row[name] === null) return assert.equal(one.values[i][m], null);
      compared++;
      assert.ok(Math.abs(one.values[i][m] - row[name]) <= 1e-5 * Math.abs(row[name]));
    }));
  }
  assert.ok(compared > 100, `${compared} values`);
});

check('each interval of which both metrics are known is a point', async (browser) => {
  const page = await data(browser);
  for (const [process, one] of page.processes.entries()) {
    await choose(browser, 'es-process', process);
    const wanted = one.values.filter((values) => values[0] !== null && values[2] !== null).length;
    assert.equal(await countOf(browser, '#es-trajectory circle'), wanted, one.name);
  }
  assert.equal(await countOf(browser, '#es-metrics svg'), 3);
  assert.equal(await countOf(browser, '[d*=NaN], [x=NaN], [y=NaN], [width=NaN], [cx=NaN]'), 0);
});

check('points outside of all classes are marked', async (browser) => {
  const page = await data(browser);
  for (const [process, one] of page.processes.entries()) {
    await choose(browser, 'es-process', process);
    const isOff = (values, m) => {
      const classes = one.classes.filter((k) => k.kind === page.metrics[m].kind);
      const apart = (k) => Math.max(3 * k.deviation[m], page.tolerance * Math.abs(k.centroid[m]));
      return classes.length > 0 &&
        classes.every((k) => Math.abs(values[m] - k.centroid[m]) > apart(k) * (1 + 1e-9)) &&
        !(page.metrics[m].kind === 'performance' &&
          values[m] > Math.max(...classes.map((k) => k.centroid[m])));
    };
    const wanted = one.values.filter((values) => values[0] !== null && values[2] !== null &&
      (isOff(values, 0) || isOff(values, 2))).length;
    assert.equal(await countOf(browser, '#es-trajectory circle.is-off'), wanted, one.name);
  }
});

check('other metrics are chosen', async (browser) => {
  await choose(browser, 'es-across', 1);
  await choose(browser, 'es-upwards', 0);
  const says = await browser.run(
    `return document.querySelector('#es-trajectory svg').getAttribute('aria-label');`);
  assert.match(says, /^operation_bytes over message_share of all, \d+ intervals$/);
  await browser.picture('signature.png');
});

check('a contract has its classes projected', async (browser) => {
  await open(browser, 'promised.html');
  const page = await data(browser);
  assert.equal(page.contract, 'half');
  const h1 = page.processes.findIndex((one) => one.name === 'h1');
  const rate = page.processes[h1].classes.filter((one) => one.kind === 'performance');
  assert.ok(rate.length > 0);
  rate.forEach((one) => assert.deepEqual(one.factors, [1, 1, 0.5]));
  await choose(browser, 'es-process', h1);
  assert.equal(await countOf(browser, '#es-trajectory .class.is-before'),
    page.processes[h1].classes.length);
  await choose(browser, 'es-process', 0);
  assert.equal(await countOf(browser, '#es-trajectory .class.is-before'), 0);
});

check('without classes there are points', async (browser) => {
  await open(browser, 'one.html');
  assert.ok((await data(browser)).processes.every((one) => one.classes.length === 0));
  assert.equal(await countOf(browser, 'svg'), 4);
});

check('axe-core finds nothing', (browser) => axeFindsNothing(browser, axe));

check('nothing has reported an error', async (browser) => {
  assert.deepEqual((await browser.log()).filter((entry) => entry.level === 'SEVERE'), []);
});

/* --- */

let failures = 0, browser;
if (pictures) mkdirSync(pictures, {recursive: true});
eventspace('signature', 'RUN', '--interval=50ms', '-o', 'page.html');
eventspace('signature', 'RUN', '--contract=half', '-o', 'promised.html');
eventspace('signature', 'RUN', '--interval=10min', '-o', 'one.html');
const {driver, address} = await startDriver();
try {
  browser = await openBrowser(address, {folder, pictures, width: 1300, height: 1100});
  for (const {name, call} of checks) failures += !await holds(name, () => call(browser));
} finally {
  await browser?.close();
  process.kill(-driver.pid);
  rmSync(folder, {recursive: true, force: true, maxRetries: 20});
}
process.exit(failures ? 1 : 0);
