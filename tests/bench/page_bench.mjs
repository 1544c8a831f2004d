/* page_bench.mjs - what a page of 5 million operations costs in Chromium.
 *
 *     node page_bench.mjs EVENTSPACE REPORT_TEST_RUN
 *
 * Prints a line of JSON for each figure, with its limit, measured in the same
 * run: for the size, 36 bytes an event; for opening, a page of as many bytes
 * that does nothing; for a zoom, one copy of as many pixels to the canvas. Zooms
 * begin when the page has prepared for them, which it does in idle moments: how
 * soon after its rows were folded, or unfolded, that is, is told too. What is
 * wanted: below 10 MB, 3 s and 50 ms. */
import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {openBrowser, openReport, startDriver, until} from '../viewer/browser.mjs';

const [command, makeRun] = process.argv.slice(2);
const THREADS = 64, PROCESSES = 8, STEPS = 20000, TURNS = 5;
const folder = mkdtempSync(join(tmpdir(), 'eventspace-page-'));

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
function tell(name, value, unit, limit) {
  console.log(JSON.stringify({name, value: +value.toPrecision(4), unit,
    limit: +limit.toPrecision(4), ratio: +(value / limit).toPrecision(4)}));
}

function makePage() {
  const run = join(folder, 'run'), page = join(folder, 'page.html');
  execFileSync(makeRun, [run, THREADS, PROCESSES, STEPS].map(String));
  execFileSync(command, ['report', run, '-o', page]);
  return page;
}

/* As many bytes, in a script that is not run. */
function makeEmpty(bytes) {
  const page = join(folder, 'empty.html');
  writeFileSync(page, `<!DOCTYPE html><script type="application/json">${'x'.repeat(bytes)}</script>
    <script>window.eventspaceReport = {ready: true, loadMs: performance.now()};</script>`);
  return page;
}

async function openMs(browser, page) {
  await openReport(browser, page);
  return browser.run('return report.loadMs;');
}

/* In times, from all of the run to a 10,000th of it and back, at three places;
 * a pixel is read back, so that all is painted. */
const ZOOMS = `
  const {startNs, endNs} = report.visibleRange(), times = [];
  const canvas = document.getElementById('es-bars'), context = canvas.getContext('2d');
  for (const place of [0.01, 0.4, 0.83])
    for (let k = 0; k <= 26; k++) {
      const span = (endNs - startNs) * Math.pow(0.5, k <= 13 ? k : 26 - k);
      const middle = startNs + (endNs - startNs) * place;
      const begin = performance.now();
      report.setVisibleRange(middle - span / 2, middle + span / 2);
      report.draw();
      context.getImageData(200, 10, 1, 1);
      times.push(performance.now() - begin);
    }
  report.reset();
  return times;`;
/* The mean of many, since a clock of the browser goes by tenths of milliseconds. */
const COPY = `
  const canvas = document.getElementById('es-bars'), context = canvas.getContext('2d');
  const image = context.createImageData(canvas.width, canvas.height), turns = 200;
  const begin = performance.now();
  for (let k = 0; k < turns; k++) {
    context.putImageData(image, 0, 0);
    context.getImageData(200, 10, 1, 1);
  }
  const ms = (performance.now() - begin) / turns;
  report.draw();
  return ms;`;

async function main() {
  const page = makePage(), bytes = statSync(page).size;
  const events = (4 * THREADS - 4) * STEPS, empty = makeEmpty(bytes);
  tell('page.size', bytes / 1e6, 'MB', events * 36 / 1e6);
  const {driver, address} = await startDriver();
  const browser = await openBrowser(address, {folder, width: 1500, height: 1000});
  try {
    const opens = [], empties = [];
    for (let turn = 0; turn < TURNS; turn++) {
      empties.push(await openMs(browser, empty));
      opens.push(await openMs(browser, page));
    }
    tell('page.open', median(opens), 'ms', median(empties));
    for (const fold of ['process', 'thread']) {
      await openReport(browser, page);
      await browser.run('report.foldRows(arguments[0]);', fold);
      const begin = performance.now();
      await until('zooms are prepared', () => browser.run('return report.prepared;'));
      tell(`page.prepared.${fold}`, performance.now() - begin, 'ms', median(opens));
      const times = await browser.run(ZOOMS), limit = await browser.run(COPY);
      tell(`page.zoom.${fold}`, median(times), 'ms', limit);
      tell(`page.zoom.${fold}.worst`, Math.max(...times), 'ms', limit);
    }
  } finally {
    await browser.close();
    process.kill(-driver.pid);
  }
}

try {
  await main();
} finally {
  rmSync(folder, {recursive: true, force: true, maxRetries: 20});
}
