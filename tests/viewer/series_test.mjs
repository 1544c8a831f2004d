/* series_test.mjs - the page of histories, in a real browser.
 *
 *     node series_test.mjs EVENTSPACE [AXE [PICTURES]]
 *
 * Series are made here, and what the page has of them is worked out here from the
 * same values. AXE and PICTURES: see page_test.mjs. */
import {execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import assert from 'node:assert/strict';
import {axeFindsNothing, holds, openBrowser, startDriver, until} from './browser.mjs';

const [command, axeFolder, pictures] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-series-'));
const axe = axeFolder && join(axeFolder, 'node_modules/axe-core/axe.min.js');
const START_MS = 1764216000000, STEP_MS = 5000, COUNT = 6000;

/* --- series --- */

let state = 12345;
function random() { /* from 0 to 1 */
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return (state + 0.5) / 2 ** 32;
}
const normal = () => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());

function write(file, series, unit, rows) {
  writeFileSync(join(folder, file), ['# eventspace history 1', `# series: ${series}`,
    `# unit: ${unit}`, `# interval: ${STEP_MS} ms`, ...rows, ''].join('\n'));
}

/* The load of 002: three modes, each for a while, with a gap of an hour, and a day
 * of means before. */
const MODES = [0.33, 0.49, 0.94];
const load = Array.from({length: COUNT}, (_, i) =>
  +(MODES[Math.floor(i / 500) % 3] + 0.012 * normal()).toFixed(6));
const old = Array.from({length: 200}, (_, i) =>
  `${START_MS - (200 - i) * 60000},0.5,60000,12,0.1,0.3,0.7`);
write('a.history', 'availability of n0', 'share', [...old,
  ...load.map((value, i) => `${START_MS + i * STEP_MS + (i >= 4000 ? 3600000 : 0)},${value}`)]);
/* A long tail below what the link can do, as of a shared Ethernet. */
write('b.history', 'bandwidth of n0-n1', 'B/s', Array.from({length: 2000}, (_, i) =>
  `${START_MS + i * STEP_MS},${Math.max(1e5, 1.2e6 + 1e5 * Math.log(random())).toFixed(0)}`));
write('c.history', 'latency of <script>alert(1)</script><!--<script>', 's',
  [`${START_MS},0.00015`, `${START_MS + STEP_MS},0.00015`]);

/* --- in the browser --- */

const page = join(folder, 'page.html');
const checks = [];
const check = (name, call) => checks.push({name, call});
const data = (browser) => browser.run('return eventspaceSeries.series;');

check('it shows each series', async (browser) => {
  await browser.go(`file://${page}`);
  await until('it is ready', () => browser.run('return !!window.eventspaceSeries?.ready;'));
  const heads = await browser.run(
    `return [...document.querySelectorAll('h2')].map((head) => head.textContent);`);
  assert.deepEqual(heads, ['availability of n0', 'bandwidth of n0-n1',
    'latency of <script>alert(1)</script><!--<script>']);
  const svgs = await browser.run(`return document.querySelectorAll('svg path').length;`);
  assert.ok(svgs >= 9, `${svgs} paths`);
  const broken = await browser.run(`return document.querySelectorAll(
    'path[d*=NaN], rect[x=NaN], line[y1=NaN]').length;`);
  assert.equal(broken, 0);
});

check('it is seen', (browser) => browser.picture('series.png'));

check('its numbers are those of the values', async (browser) => {
  const [s] = await data(browser);
  const mean = load.reduce((sum, value) => sum + value, 0) / COUNT;
  const range = 2 * Math.sqrt(load.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (COUNT - 1));
  assert.ok(Math.abs(s.mean - mean) < 1e-6 && Math.abs(s.range - range) < 1e-6);
  assert.equal(s.samples, COUNT);
  assert.equal(s.gaps, 1);
  assert.equal(s.modes.length, 3);
  s.modes.forEach((mode, i) => {
    assert.ok(Math.abs(mode.mean - MODES[i]) < 0.005, `mode ${mode.mean}`);
    assert.ok(Math.abs(mode.share - 1 / 3) < 0.01, `share ${mode.share}`);
  });
});

check('bars have each value once', async (browser) => {
  for (const [s, values] of [[(await data(browser))[0], load]]) {
    for (const [from, to, density] of s.bins) {
      const inside = values.filter((value) => value >= from - 1e-9 && value < to - 1e-9).length;
      const edge = values.filter((value) => Math.abs(value - to) < 2e-6 ||
        Math.abs(value - from) < 2e-6).length;
      const here = density * COUNT * (to - from);
      assert.ok(Math.abs(here - inside) <= edge + 0.02, `${here} of ${inside} in ${from}..${to}`);
    }
    const all = s.bins.reduce((sum, [from, to, density]) => sum + density * (to - from), 0);
    assert.ok(Math.abs(all - 1) < 1e-4, `${all}`);
  }
});

check('quantiles are those of the values', async (browser) => {
  const [s] = await data(browser), sorted = [...load].sort((a, b) => a - b);
  s.quantiles.forEach((value, i) => {
    const share = i / (s.quantiles.length - 1);
    assert.ok(Math.abs(value - sorted[Math.floor((COUNT - 1) * share)]) < 1e-6);
  });
});

check('what was not sampled has no line', async (browser) => {
  const [s] = await data(browser);
  const at = s.points.indexOf(null);
  assert.ok(at > 0 && s.points.lastIndexOf(null) === at);
  assert.ok(s.points[at + 1][0] - s.points[at - 1][0] >= 3600000);
  const line = await browser.run(`return document.querySelector('.went').getAttribute('d');`);
  assert.equal(line.split('M').length, 3); /* two pieces */
});

check('colours are chosen', async (browser) => {
  const scheme = () => browser.run('return document.documentElement.dataset.scheme;');
  await browser.run(`const select = document.getElementById('es-scheme');
    select.value = 'dark'; select.dispatchEvent(new Event('change'));`);
  assert.equal(await scheme(), 'dark');
  await browser.picture('series-dark.png');
});

check('axe-core finds nothing', (browser) => axeFindsNothing(browser, axe));

check('nothing has reported an error', async (browser) => {
  assert.deepEqual((await browser.log()).filter((entry) => entry.level === 'SEVERE'), []);
});

/* --- */

let failures = 0, browser;
if (pictures) mkdirSync(pictures, {recursive: true});
const {driver, address} = await startDriver();
try {
  execFileSync(command, ['history', folder, '-o', page]);
  browser = await openBrowser(address, {folder, pictures, width: 1500, height: 1300});
  for (const {name, call} of checks) failures += !await holds(name, () => call(browser));
} finally {
  await browser?.close();
  process.kill(-driver.pid);
  rmSync(folder, {recursive: true, force: true, maxRetries: 20});
}
process.exit(failures ? 1 : 0);
