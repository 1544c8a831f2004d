/* pair_test.mjs - the page of two runs, in a real browser.
 *
 *     node pair_test.mjs BIN REPORT_TEST_RUN [AXE [PICTURES]]
 *
 * BIN has the programs. The same program runs twice, once with its work in one
 * strip and once balanced; what the page says of both is compared with what
 * other commands say of each. AXE and PICTURES: see page_test.mjs. */
import {execFileSync, spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import assert from 'node:assert/strict';
import {holds, openBrowser, startDriver, until} from './browser.mjs';

const [bin, makeRun, axeFolder, pictures] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-pair-'));
const axe = axeFolder && join(axeFolder, 'node_modules/axe-core/axe.min.js');
const hasAxe = axe && existsSync(axe);

const command = (program, words, input) =>
  spawnSync(program, words, {cwd: folder, input, encoding: 'utf8', maxBuffer: 1 << 28});
function run(program, words, input) {
  const done = command(program, words, input);
  assert.equal(done.status, 0, `${program} ${words.join(' ')}: ${done.stderr}`);
  return done.stdout;
}
const eventspace = (...words) => run(join(bin, 'eventspace'), words);

function river(name, mapping, rounds, collectors = '--collectors=all') {
  const program = join(bin, 'river');
  const map = run(join(bin, 'eventspace'),
    ['map', 'generate', '--application=-', '--processes=2'],
    run(program, ['mapping', '--threads=4', ...mapping]));
  run(join(bin, 'eventspace'), ['map', 'instrument', '-', collectors,
    `--output=${name}.dot`], map);
  eventspace('run', `${name}.dot`, `--output=${name}`, '--', program, 'run',
    `--rounds=${rounds}`);
}

const checks = [];
const check = (name, call) => checks.push({name, call});

/* --- in the browser --- */

const page = join(folder, 'pair.html');
async function open(browser, hash = '') {
  await browser.go('about:blank');
  await browser.go(`file://${page}${hash}`);
  await until('both reports are ready', () => browser.run(
    `return [...document.querySelectorAll('iframe')].filter((frame) =>
      frame.contentWindow.eventspaceReport?.ready).length === 2;`));
}
/* Of each side, what a script says that knows its window and its report. */
const ofBoth = (browser, script) => browser.run(
  `return [...document.querySelectorAll('iframe')].map((frame) => {
    const own = frame.contentWindow, report = own.eventspaceReport;
    ${script} });`);

/* A time as the page has it, in nanoseconds. */
function nsOf(text) {
  const [, number, unit] = text.match(/^([-+]?[0-9.]+) (ns|µs|ms|s)\b/);
  return number * {ns: 1, 'µs': 1e3, ms: 1e6, s: 1e9}[unit];
}
/* As exact as it is printed. */
const isAbout = (text, ns) => Math.abs(nsOf(text) - ns) <=
  (Math.abs(ns) >= 1e9 ? 5e5 : Math.abs(ns) >= 1e6 ? 500 : Math.abs(ns) >= 1e3 ? 5 : .5) * 1.01;

check('it says which took longer, as the commands see both', async (browser) => {
  const took = ['plain', 'balanced'].map((name) => {
    const [row] = JSON.parse(eventspace('sql', name, '--format=json',
      'select max(end_ns) - min(begin_ns) as took_ns from thread'));
    return row.took_ns;
  });
  await open(browser);
  const says = await browser.run(`return document.querySelector('h1').textContent;`);
  const [, time, , how] = says.match(/^balanced took ([^ ]+ [^ ]+)( \([0-9.]+ %\))? (longer|less) than plain$/);
  assert.equal(how, took[1] > took[0] ? 'longer' : 'less');
  assert.ok(isAbout(time, Math.abs(took[1] - took[0])), `${says}: ${took}`);
  const cells = await browser.run(`return [...document.querySelectorAll('.whole td')]
    .map((cell) => cell.textContent);`);
  assert.ok(isAbout(cells[0], took[0]) && isAbout(cells[1], took[1]) &&
    isAbout(cells[2], took[1] - took[0]), `${cells}: ${took}`);
});

check('below are differences that diff finds, what they cost in the run first', async (browser) => {
  const found = JSON.parse(eventspace('diff', 'plain', 'balanced', '--format=json')).rows
    .filter(({kind, run_ns}) => !['waiting', 'step', 'run'].includes(kind) && run_ns !== null);
  found.sort((a, b) => Math.abs(b.run_ns) - Math.abs(a.run_ns));
  const rows = await browser.run(`return [...document.querySelectorAll(
    '.differences tbody tr:not(.whole)')].map((row) => [...row.children]
      .map((cell) => cell.textContent));`);
  const all = JSON.stringify([rows, found], null, 1);
  /* On a machine that does much else nothing may be sure. */
  if (!found.length && !rows.length) {
    assert.match(await browser.run(`return document.querySelector('.pair .keys').textContent;`),
      /^Nothing else differs/);
    return;
  }
  assert.ok(rows.length === 5 || rows.length >= found.length, all);
  for (const [i, [name, base, other, change, inRun]] of rows.slice(0, found.length).entries()) {
    const {thread, path, what, base_ns, new_ns, run_ns} = found[i];
    for (const word of [thread, path, what]) assert.ok(name.includes(word), all);
    for (const [text, ns] of [[base, base_ns], [other, new_ns], [change, new_ns - base_ns],
      [inRun, run_ns]])
      assert.ok(isAbout(text, ns), `${name}: ${text} is not ${ns} ns\n${all}`);
  }
  /* The work that was moved: one thread has less of it. It may not be among the
   * rows: beside others one waits for more than that. */
  assert.ok(found.some(({thread, kind, run_ns}) =>
    thread === 't0' && kind === 'computing' && run_ns < 0), all);
});

check('each side is the page of its run', async (browser) => {
  const causes = ['plain', 'balanced'].map((name) =>
    JSON.parse(eventspace('advise', name, '--format=json')).rows[0]);
  assert.deepEqual(await ofBoth(browser, `report.drawPanels();
    return [own.document.querySelector('h1').textContent,
    own.document.getElementById('es-lead').textContent.includes(frame.dataset.side === 'first' ?
      'plain' : 'balanced'), own.document.querySelectorAll('svg.picture').length > 3,
    own.document.getElementById('es-scheme').offsetParent === null];`),
  [['river', true, true, true], ['river', true, true, true]]);
  const first = await ofBoth(browser, `return own.document.querySelector('#es-answers li')
    .textContent;`);
  for (const [i, {says}] of causes.entries())
    assert.ok(first[i].startsWith(says.replaceAll('`', '')), `${first[i]}: ${says}`);
  await browser.picture('pair.png');
});

check('the address restores what one sees on both sides', async (browser) => {
  const see = `report.setVisibleRange(report.visibleRange().startNs + SKIP,
    report.visibleRange().startNs + 5e6);`;
  await ofBoth(browser, see.replace('SKIP', `(frame.dataset.side === 'first' ? 1e6 : 2e6)`));
  const seen = () => ofBoth(browser, `return report.visibleRange().startNs;`);
  const before = await seen();
  const hash = await until('the address has both', () => browser.run(
    `return /first=from/.test(location.hash) && /second=from/.test(location.hash) &&
      location.hash;`));
  await open(browser, hash);
  const after = await seen();
  assert.ok(after.every((ns, i) => Math.abs(ns - before[i]) <= 1), `${after}: ${before}`);
  await open(browser, '#' + new URLSearchParams({second: new URLSearchParams(hash.slice(1))
    .get('second')}));
  const [first, second] = await seen();
  assert.ok(Math.abs(second - before[1]) <= 1 && first < before[0], `${first}, ${second}`);
});

check('light and dark are chosen for all of it', async (browser) => {
  const seen = async () => [await browser.run(
    `return document.documentElement.dataset.scheme;`), ...await ofBoth(browser,
    `return own.document.documentElement.dataset.scheme + (report.colours.page[0] < 128);`)];
  await open(browser);
  assert.deepEqual(await seen(), ['light', 'lightfalse', 'lightfalse']);
  await browser.run(`const select = document.getElementById('es-scheme');
    select.value = 'dark';
    select.dispatchEvent(new Event('change'));`);
  assert.deepEqual(await seen(), ['dark', 'darktrue', 'darktrue']);
  const hash = await browser.run('return location.hash;');
  assert.match(hash, /scheme=dark/);
  await open(browser, hash);
  assert.deepEqual(await seen(), ['dark', 'darktrue', 'darktrue']);
  await browser.picture('pair-dark.png');
});

check('nothing keeps people out, nor goes beyond a narrow page', async (browser) => {
  assert.ok(await browser.run(`return document.documentElement.scrollWidth <= innerWidth;`));
  if (!hasAxe) {
    console.log('SKIPPED  axe-core, which is not given, or not there');
    return;
  }
  const found = await browser.run(readFileSync(axe, 'utf8') + `;
    return axe.run(document, {iframes: false, resultTypes: ['violations']}).then(({violations}) =>
      violations.map(({id, nodes}) => [id, nodes[0].target.join(' '), nodes[0].failureSummary]));`);
  assert.deepEqual(found, []);
});

check('a run whose name is not HTML, and one without events', async (browser) => {
  const name = `a'b"<i>&amp;`;
  run('cp', ['-r', 'plain', name]);
  eventspace('report', name, name, `--output=${page}`);
  river('none', [], 20, '--collectors=none');
  const done = command(join(bin, 'eventspace'), ['report', 'plain', 'none', '--output=none.html']);
  assert.equal(done.status, 1);
  assert.match(done.stderr, /^eventspace: none: /);
  await open(browser);
  assert.equal(await browser.run(`return document.querySelector('h1').textContent;`),
    `${name} took as long as ${name}`);
});

check('what cannot be is said', async () => {
  const usage = command(join(bin, 'eventspace'), ['report', 'plain', 'balanced', 'plain']);
  assert.equal(usage.status, 2);
  assert.match(usage.stderr, /two runs at most/);
  const missing = command(join(bin, 'eventspace'), ['report', 'plain', 'nowhere']);
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /nowhere: No such file/);
  /* Of two different programs nothing is compared, and both are shown. */
  execFileSync(makeRun, [join(folder, 'other'), '2', '1', '50']);
  assert.equal(eventspace('report', 'plain', 'other'), 'other/compared.html\n');
  /* The page of a packed run alone is another one. */
  eventspace('pack', 'other', '--output=packed.tar.zst');
  assert.equal(eventspace('report', 'packed.tar.zst'), 'packed.html\n');
  const alone = readFileSync(join(folder, 'packed.html'));
  assert.equal(eventspace('report', 'plain', 'packed.tar.zst'), 'packed.compared.html\n');
  assert.ok(readFileSync(join(folder, 'packed.html')).equals(alone));
  writeFileSync(join(folder, 'full.sql'), '-- title: Threads\nselect name from thread;\n');
  assert.equal(eventspace('report', 'plain', 'balanced', '--script=full.sql', '--output=s.html'), '');
  assert.equal(readFileSync(join(folder, 's.html'), 'utf8').split('"Threads"').length, 3);
});

check('nothing has reported an error', async (browser) => {
  assert.deepEqual((await browser.log()).filter((entry) => entry.level === 'SEVERE'), []);
});

/* --- */

let failures = 0, browser;
if (pictures) mkdirSync(pictures, {recursive: true});
const {driver, address} = await startDriver();
try {
  river('plain', [], 600);
  river('balanced', ['--balanced'], 600);
  eventspace('report', 'plain', 'balanced', `--output=${page}`);
  browser = await openBrowser(address, {folder, pictures, width: 1700, height: 1000});
  for (const {name, call} of checks) failures += !await holds(name, () => call(browser));
} finally {
  await browser?.close();
  process.kill(-driver.pid);
  rmSync(folder, {recursive: true, force: true, maxRetries: 20});
}
process.exit(failures ? 1 : 0);
