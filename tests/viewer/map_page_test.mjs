/* map_page_test.mjs - the path map of the report, in a real browser: its
 * figures, and the ways from it to tables and timeline and back.
 *
 *     map_page_test.mjs EVENTSPACE REPORT_TEST_RUN [PICTURES] */
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readdirSync, rmSync, truncateSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import assert from 'node:assert/strict';
import {openBrowser, openReport, startDriver, until} from './browser.mjs';

const [command, makeRun, pictures] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-map-page-'));
const eventspace = (...words) =>
  execFileSync(command, words, {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 1 << 28});

function reportOf(name, ...how) {
  const run = join(folder, name);
  execFileSync(makeRun, [run, ...how]);
  eventspace('report', run, `--output=${run}.html`);
  return {run, file: `${run}.html`};
}

/* --- what a person does --- */

const told = (browser) => browser.run(
  `return document.getElementById('es-map-figures').innerText;`);
const chosen = (browser) => browser.run(`return report.map.chosen();`);
const scale = (browser) => browser.run(`return
  d3.zoomTransform(document.querySelector('#es-map svg')).k;`.replace('\n', ' '));

/* The middle of what stands for a name, on the screen. */
async function placeOf(browser, name) {
  return browser.run(`
    document.getElementById('es-map').scrollIntoView({block: 'center'});
    const node = report.map.shapeOf(arguments[0]).querySelector('ellipse, polygon');
    const box = node.getBoundingClientRect();
    return [Math.round(box.left + box.width / 2), Math.round(box.top + box.height / 2)];`, name);
}

async function pointAt(browser, name, ...then) {
  const [x, y] = await placeOf(browser, name);
  await browser.act({type: 'pointer', id: 'mouse', parameters: {pointerType: 'mouse'},
    actions: [{type: 'pointerMove', duration: 0, x: 2, y: 2},
      {type: 'pointerMove', duration: 0, x, y}, ...then]});
}
const click = [{type: 'pointerDown', button: 0}, {type: 'pointerUp', button: 0}];

async function press(browser, ...keys) {
  await browser.run(`document.getElementById('es-map').focus();`);
  await browser.act({type: 'key', id: 'keys', actions: keys.flatMap((value) =>
    [{type: 'keyDown', value}, {type: 'keyUp', value}])});
}
const ENTER = '\uE007', ESCAPE = '\uE00C', HOME = '\uE011', RIGHT = '\uE014';

/* Names in the first cells of rows that are marked. */
const marked = (browser, table) => browser.run(`return [...document.querySelectorAll(
  '#es-' + arguments[0] + ' tr.in-map')].map((row) => row.cells[0].textContent);`, table);

/* --- checks --- */

async function checkFigures(browser, run) {
  const data = await browser.run(`return JSON.parse(
    document.getElementById('map-data').textContent);`);
  const rows = JSON.parse(eventspace('view', run, 'communication', '--format=json')).rows;
  const threads = Object.values(data.nodes).filter(({kind}) => kind === 'thread');
  assert.equal(threads.length, rows.length);
  for (const {thread, communicating_ns: ns, operations} of rows) {
    const node = threads.find(({names}) => names[0] === thread);
    assert.equal(node.time.total, ns);
    assert.equal(node.operations.total, operations);
  }
}

async function checkPointer(browser) {
  await pointAt(browser, 't3');
  const text = await told(browser);
  assert.match(text, /^thread t3, process h0/);
  for (const word of ['Time', 'Waiting', 'Traffic', 'Operations'])
    assert.ok(text.includes(word), text);
  assert.deepEqual(await chosen(browser), []);

  await pointAt(browser, 't3', ...click);
  assert.deepEqual(await chosen(browser), ['t3']);
  assert.deepEqual(await marked(browser, 'threads'), ['t3']);
  await browser.picture('map-chosen.png');
  await pointAt(browser, 't3', ...click);
  assert.deepEqual(await chosen(browser), []);
  assert.deepEqual(await marked(browser, 'threads'), []);
}

/* From a table to the map; and rows keep their mark when they are sorted. */
async function checkTables(browser) {
  await browser.run(`[...document.querySelectorAll('#es-threads button')]
    .find((button) => button.textContent === 't5').click();`);
  assert.deepEqual(await chosen(browser), ['t5']);
  assert.ok(await browser.run(
    `return report.map.shapeOf('t5').classList.contains('chosen');`));
  await browser.run(`document.querySelector('#es-threads thead button').click();`);
  assert.deepEqual(await marked(browser, 'threads'), ['t5']);
}

async function checkKeys(browser) {
  await press(browser, ESCAPE);
  assert.deepEqual(await chosen(browser), []);
  await press(browser, 'n');
  const first = await told(browser);
  await press(browser, 'n');
  assert.notEqual(await told(browser), first);
  await press(browser, 'p');
  assert.equal(await told(browser), first);
  await press(browser, ENTER);
  assert.equal((await chosen(browser)).length, 1);
  await press(browser, HOME);
  assert.equal(await scale(browser), 1);
  await press(browser, '+');
  assert.ok(await scale(browser) > 1);
  const before = await placeOf(browser, 't3');
  await press(browser, RIGHT);
  assert.ok((await placeOf(browser, 't3'))[0] < before[0]);
  await press(browser, HOME, ESCAPE);
  assert.equal(await scale(browser), 1);
  assert.deepEqual(await chosen(browser), []);
}

async function checkTimeline(browser) {
  await browser.run(`report.map.chooseThread(6);`);
  assert.deepEqual(await chosen(browser), ['t6']);
  await browser.run(`document.querySelector('#es-map-figures button').click();`);
  const range = await browser.run('return report.visibleRange();');
  assert.ok(range.firstRow <= 6 && range.lastRow >= 6);
  const heard = await browser.run(`let heard;
    document.addEventListener('es-chosen', ({detail}) => { heard = detail; }, {once: true});
    report.map.choose(['t2']);
    return heard;`);
  assert.deepEqual(heard, {names: ['t2'], numbers: [2]});
}

/* Another measure has other shades and the same figures; what is chosen stays. */
async function checkMeasures(browser) {
  const look = () => browser.run(`return [document.getElementById('es-map-figures').innerText,
    report.map.shapeOf('up_4').querySelector('polygon').getAttribute('fill'),
    document.querySelector('#es-map svg').textContent];`);
  const by = (name) => browser.run(`const choice = document.getElementById('es-map-by');
    choice.value = arguments[0];
    choice.dispatchEvent(new Event('change'));`, name);
  await browser.run(`report.map.choose(['up_4']);`);
  const [figures, fill, text] = await look();
  await by('operations');
  const [others, other, otherText] = await look();
  assert.equal(others, figures);
  assert.notEqual(other, fill);
  assert.ok(/map by\s+time/.test(text) && /map by\s+operations/.test(otherText));
  assert.deepEqual(await chosen(browser), ['up_4']);
  await by('time');
  assert.deepEqual(await look(), [figures, fill, text]);
  /* What is below the pointer then tells its own figures. */
  await by('operations');
  await browser.run(`document.getElementById('es-map').scrollIntoView({block: 'center'});`);
  await browser.picture('map-operations.png');
  await by('time');
}

/* What is folded can be found by each of its names. */
async function checkFolded(browser) {
  const {file} = reportOf('many', '120', '15', '5', 'hops');
  await openReport(browser, file);
  await browser.run(`report.map.choose(['t17']);`);
  const names = await chosen(browser);
  assert.ok(names.length > 1 && names.includes('t17'));
  const text = await told(browser);
  assert.match(text, new RegExp(`^${names.length} threads, `));
  assert.match(text, /each .* to .*, most t\d+/);
  assert.deepEqual((await marked(browser, 'threads')).sort(), names.sort());
  /* It is in the picture as one sees it, though it was below that. */
  assert.ok(await browser.run(`
    const all = document.querySelector('#es-map svg').getBoundingClientRect();
    const own = report.map.shapeOf('t17').getBoundingClientRect();
    return own.top >= all.top && own.bottom <= all.bottom;`));
  await browser.run(`document.getElementById('es-map').scrollIntoView({block: 'center'});`);
  await browser.picture('map-folded.png');
}

/* Without events there is the map alone. */
async function checkBare(browser) {
  const {run} = reportOf('bare', '4', '2', '2');
  for (const name of readdirSync(run))
    if (name.endsWith('.space'))
      truncateSync(join(run, name), 0);
  try {
    eventspace('report', run, `--output=${run}.html`);
  } catch { /* says that there are no events, and writes the page */ }
  await openReport(browser, `${run}.html`);
  assert.ok(await browser.run(`return !!document.querySelector('#es-map svg g.node');`));
  await press(browser, '+');
  assert.ok(await scale(browser) > 0);
}

const {driver, address} = await startDriver();
let browser;
try {
  browser = await openBrowser(address, {folder, pictures, width: 1300, height: 1000});
  const {run, file} = reportOf('few', '8', '2', '6', 'hops');
  await openReport(browser, file);
  await checkFigures(browser, run);
  await checkPointer(browser);
  await checkTables(browser);
  await checkKeys(browser);
  await checkTimeline(browser);
  await checkMeasures(browser);
  await checkFolded(browser);
  await checkBare(browser);
  const severe = (await browser.log()).filter(({level}) => level === 'SEVERE');
  assert.deepEqual(severe, []);
  console.log('the map is linked with tables and timeline');
} finally {
  if (browser) await browser.close();
  process.kill(-driver.pid);
  rmSync(folder, {recursive: true, force: true});
}
