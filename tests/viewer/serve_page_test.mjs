/* serve_page_test.mjs - the live page, in a real browser, of runs that make as
 * many steps as this test tells them to.
 *
 *     node serve_page_test.mjs EVENTSPACE GSUM SERVE_APP [PICTURES]
 *
 * With PICTURES, screenshots are left in that folder. The exit code is 0 when
 * all checks hold. */
import assert from 'node:assert/strict';
import {openBrowser, startDriver} from './browser.mjs';
import {beginRun, command, folder, output, serve, until} from './serve_run.mjs';

const pictures = process.argv[5];

async function isThere(run) {
  await until(`${run.name} is there`, () => {
    try {
      return JSON.parse(output(command, 'info', run.name, '--format=json')).processes
        .every(({state}) => state === 'running');
    } catch {
      assert.equal(run.ended, null, run.failed);
      return false;
    }
  });
}

const run = beginRun('RUN'), other = beginRun('OTHER');
await isThere(run);
await isThere(other);
const server = await serve('RUN');
const {driver, address} = await startDriver();
process.on('exit', () => {
  try { process.kill(-driver.pid, 'SIGKILL'); } catch { /* it has ended */ }
});
const browser = await openBrowser(address,
  {folder, pictures, width: 1300, height: 900, strategy: 'none'});

const live = (script, ...words) => browser.run(`const live = window.eventspaceLive; ${script}`,
  ...words);
const choose = (value) => browser.run(`const last = document.getElementById('last');
  last.value = arguments[0]; last.dispatchEvent(new Event('change'));`, value);
/* Operations of the report that is shown; -1: there is none. */
const shown = (number = 0) => live('return live.report(arguments[0])?.operationCount ?? -1;',
  number);
const trace = (what) => process.env.SERVE_TRACE && console.log(Math.round(performance.now()), what);
const told = (steps) => until(`${steps} steps are told`, () => live(
  'return live.frame?.runs[0].threads.every(({operations}) => operations >= arguments[0]);',
  steps));
const text = (css) => browser.run('return document.querySelector(arguments[0]).textContent;', css);

/* --- bars come while the run goes on --- */

run.step(10);
await browser.go(server.address);
await until('the page is connected', () => live('return live?.connected && live.frames > 0;'));
await choose('');
await until('ten steps are shown', async () => await shown() >= 30);
run.step(10);
await until('ten more are shown', async () => await shown() >= 60);
assert.match(await text('.facts'), /^Running, /);
/* Nobody is late more often than it comes. */
const said = await browser.run(`return document.querySelector('iframe:not(.next)').contentDocument
  .body.innerText;`);
for (const [, late, of] of said.matchAll(/ late in (\d+) of (\d+) times/g))
  assert.ok(+late <= +of, `${late} of ${of}`);
/* The strip has it all, too. */
await until('the strip has steps', () => live(`const history = live.history(0);
  return history?.threads.length === 3 &&
    history.threads.every(({communicating_ns}) => communicating_ns.some((ns) => ns > 0));`));
const orange = await browser.run(`const strip = document.querySelector('.strip');
  const {data} = strip.getContext('2d').getImageData(0, 0, strip.width, strip.height);
  let orange = 0;
  for (let i = 0; i < data.length; i += 4)
    orange += data[i] === 0xd5 && data[i + 1] === 0x5e && data[i + 2] === 0;
  return orange;`);
assert.ok(orange > 100, `${orange} pixels are in operations`);
await browser.picture('live.png');

/* --- pause --- */

const reports = () => live('return live.reports(0);');
const settled = () => until('no report is on its way', () => browser.run(
  `return !document.querySelector('iframe.next');`));
/* So many frames later nothing else is shown. */
async function staysFor(frames) {
  await settled();
  const [before, seen] = await live('return [live.reports(0), live.frames];');
  await until(`${frames} frames have come`, () => live('return live.frames >= arguments[0];',
    seen + frames));
  assert.equal(await reports(), before);
}
await browser.clickOn('#pause');
await settled();
run.step(10);
await told(30);
await staysFor(30);
assert.equal(await shown(), 60);
assert.equal(await text('#state'), 'Paused.');
await browser.clickOn('#pause');
await until('what came meanwhile is shown', async () => await shown() >= 90);

/* --- one who looks at a part is not disturbed --- */

await settled();
const part = await live(`const seen = live.report(0), {startNs, endNs} = seen.visibleRange();
  const part = [startNs + (endNs - startNs) / 4, startNs + (endNs - startNs) / 2];
  seen.setVisibleRange(...part); return part;`);
run.step(10);
await told(40);
await staysFor(30);
assert.equal(await shown(), 90);

/* The report of that part has just the operations in it. */
await browser.clickOn('#closer');
await until('the part is shown', async () => {
  const title = await live('return live.report(0) && document.querySelector("iframe:not(.next)").contentDocument.title;');
  return title && / from .* to /.test(title);
});
const rows = JSON.parse(output(command, 'view', 'RUN', 'communication', '--detail',
  '--format=json', `--from=${Math.floor(part[0])}ns`, `--to=${Math.ceil(part[1])}ns`)).rows;
assert.equal(await shown(), rows.length);
await choose('');
await until('all is shown', async () => await shown() >= 120);

/* --- by keyboard --- */

await browser.run(`document.getElementById('pause').focus();`);
await browser.press('\uE00D'); /* space */
assert.equal(await live('return live.paused;'), true);
await browser.press('\uE00D');
assert.equal(await live('return live.paused;'), false);

/* --- the end of the run --- */

assert.deepEqual(await run.end(), {code: 0, signal: null});
await until('the end is told', async () => (await text('.facts')).startsWith('Over, '));
await until('the last report is shown', async () => await shown() === 3 * 41);

/* --- the program is run again: it is followed from its begin --- */

const again = beginRun('RUN', '--replace');
await until('the other run is followed', async () =>
  await live('return live.frame.again[0] === 1;') && (await text('.facts')).startsWith('Running, '));
again.step(5);
await until('its steps are shown', async () => await shown() >= 15 && await shown() < 3 * 41);
await until('the strip is that of it', () => live(`return live.history(0)?.threads
  .every(({communicating_ns}) => communicating_ns.some((ns) => ns > 0));`));
assert.deepEqual(await again.end(), {code: 0, signal: null});
await until('its end is shown', async () => await shown() === 3 * 6);

/* --- two runs side by side; the server is killed --- */

const both = await serve('RUN', 'OTHER');
other.step(7);
await browser.go(both.address);
await until('both are followed', () => live('return live?.frame?.runs.length === 2;'));
await until('both are shown', async () => await shown(0) > 0 && await shown(1) >= 21);
assert.deepEqual(await browser.run(
  `return [...document.querySelectorAll('h2')].map(({textContent}) => textContent);`),
['RUN', 'OTHER']);
const titles = await browser.run(`return [...document.querySelectorAll('iframe:not(.next)')]
  .map(({contentDocument}) => contentDocument.querySelector('h1').textContent);`);
assert.deepEqual(titles, ['gsum, the last 10 s', 'gsum, the last 10 s']);
await browser.picture('two.png');
await both.stop('SIGKILL');
await until('the page says so', async () => /^No connection/.test(await text('#state')));
assert.ok(await shown(0) > 0); /* what was shown stays */

const wrong = (await browser.log()).filter(({level, message}) => level === 'SEVERE' &&
  !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_CONNECTION_RESET/.test(message));
assert.deepEqual(wrong, []);
await browser.close();
await other.end();
await server.stop();
console.log('all is well');
process.exit(0);
