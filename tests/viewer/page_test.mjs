/* page_test.mjs - the panels of the report, its first sentences, search, links
 * and files, in a real browser.
 *
 *     node page_test.mjs BIN REPORT_TEST_RUN SOURCES [AXE [PICTURES]]
 *
 * BIN has the programs. Runs of several of them, one of MPI, one that was
 * imported and one of which a process was killed are opened; what panels show is
 * compared with what `eventspace view` prints. AXE is a folder into which `npm
 * install axe-core` was run, which looks for what keeps people out; without it
 * the test says that this was left out. */
import {execFileSync, spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import assert from 'node:assert/strict';
import {holds, openBrowser, openReport, startDriver, until} from './browser.mjs';

const [bin, makeRun, sources, axeFolder, pictures] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-page-'));
const axe = axeFolder && join(axeFolder, 'node_modules/axe-core/axe.min.js');
const hasAxe = axe && existsSync(axe);
const env = {...process.env, OMPI_ALLOW_RUN_AS_ROOT: '1',
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1', OMPI_MCA_rmaps_base_oversubscribe: '1'};

const checks = [];
const check = (name, run) => checks.push({name, run});

/* --- runs --- */

function run(program, words, input) {
  const done = spawnSync(program, words, {cwd: folder, env, input, encoding: 'utf8',
    maxBuffer: 1 << 28, timeout: 120000});
  assert.equal(done.status, 0, `${program} ${words.join(' ')}: ${done.stderr}`);
  return done.stdout;
}
const eventspace = (...words) => run(join(bin, 'eventspace'), words);

function runOf(app, threads, processes, mapping = [], options = []) {
  const program = join(bin, app);
  const application = run(program, ['mapping', `--threads=${threads}`, ...mapping]);
  const map = run(join(bin, 'eventspace'),
    ['map', 'generate', '--application=-', `--processes=${processes}`], application);
  run(join(bin, 'eventspace'), ['map', 'instrument', '-', '--collectors=all',
    `--output=${app}.dot`], map);
  eventspace('run', `${app}.dot`, `--output=${app}`, '--', program, 'run', ...options);
}

const RUNS = {
  gsum: () => runOf('gsum', 8, 4),
  barrier: () => runOf('barrier', 6, 2, [], ['--rounds=20']),
  river: () => runOf('river', 4, 2),
  windtunnel: () => runOf('windtunnel', 332, 4, ['--width=640', '--height=332'],
    ['--steps=12']),
  imported: () => {
    eventspace('export', 'gsum', '--format=otf2', '--output=trace');
    eventspace('import', 'trace/traces.otf2', '--output=imported');
  },
  killed: () => execFileSync(makeRun, [join(folder, 'killed'), '8', '4', '50', 'killed']),
};
/* The recorder of MPI programs is in no build with sanitizers. */
const recordsMpi = existsSync(join(bin, '../lib/libeventspace_mpi.so'));
if (recordsMpi)
  RUNS.mpi = () => {
    run('mpicc', ['-O1', '-o', 'messages', join(sources, 'tests/viewer/mpi_messages.c')]);
    run('mpirun', ['-n', '3', join(bin, 'eventspace'), 'mpi', '--output=mpi', '--', './messages',
      '5']);
  };

/* --- for everybody --- */

/* Whoever calls this is done with the page. What is in pictures is not looked at,
 * nor rows below the fourth of a table, which are as those above; they are taken
 * out, as only to walk over them takes most of the time. `rules`: only these. */
async function checkAxe(browser, ...rules) {
  if (!hasAxe) return;
  await browser.run(`document.getElementById('es-search').value = 't';
    document.getElementById('es-search').dispatchEvent(new Event('input'));
    report.drawPanels();
    for (const details of document.querySelectorAll('details')) details.open =
      !details.matches('.table') || /: [1-9] rows?$/.test(details.firstChild.textContent);
    for (const same of document.querySelectorAll('tbody > tr:nth-child(n+5)')) same.remove();
    for (const picture of document.querySelectorAll('svg.picture, #es-map > svg'))
      picture.replaceChildren();`);
  const found = await browser.run(readFileSync(axe, 'utf8') + `;
    return axe.run({resultTypes: ['violations'], ...arguments[0].length && {runOnly: arguments[0]}})
      .then(({violations}) => violations.map(({id, impact, nodes}) => [id, impact, nodes.length,
        nodes.slice(0, 3).map((node) => node.target.join(' ') + ': ' + node.failureSummary)]));`, rules);
  assert.deepEqual(found, []);
}

/* --- panels and views --- */

/* What a page has of the rows that a view has. */
function rowsInPage(rows, table) {
  if (table.every === 1) return rows.slice(0, table.rows.length);
  const key = rows[0].step === undefined ? 'round' : 'step';
  return rows.filter((row) => row[key] !== null && row[key] % table.every === 0);
}

function checkTable(what, table, rows) {
  assert.equal(table.count, rows.length, what);
  const keys = table.columns.map((column) => column.key);
  assert.deepEqual(table.rows, rowsInPage(rows, table).map((row) => keys.map((key) => row[key])),
    what);
  assert.ok(table.rows.length === rows.length || table.rows.length >= 500, what);
}

/* Rows of a view are under "rows" when one is asked for, as here. */
const viewOf = (name, view, ...more) =>
  JSON.parse(eventspace('view', name, view, '--format=json', ...more)).rows;

/* Who was alone, from when threads began and ended; [thread, how long] or nothing. */
function aloneOf(threads, key, sign) {
  const at = threads.map((thread) => [sign * thread[key], thread.name]).sort((a, b) => a[0] - b[0]);
  const took = Math.max(...threads.map(({end_ns}) => end_ns)) -
  Math.min(...threads.map(({begin_ns}) => begin_ns));
  const ns = at.length > 1 ? at[1][0] - at[0][0] : 0;
  return ns > took / 20 ? [at[0][1], ns] : ['', null];
}
async function checkAlone(browser, name) {
  const threads = JSON.parse(eventspace('sql', name, '--format=json', 'select * from thread'));
  const advice = JSON.parse(eventspace('advise', name, '--format=json'));
  const known = threads.every(({begin_ns, end_ns}) => begin_ns !== null && end_ns !== null);
  const [first, last] = known ? [aloneOf(threads, 'begin_ns', 1), aloneOf(threads, 'end_ns', -1)] :
    [['', null], ['', null]];
  assert.deepEqual([advice.alone_first_thread, advice.alone_first_ns], first);
  assert.deepEqual([advice.alone_last_thread, advice.alone_last_ns], last);
  const said = await browser.run(`return document.getElementById('es-trust').innerText;`);
  for (const [[thread], when] of [[first, 'first'], [last, 'last']])
    assert.equal(said.includes(`${thread} for the ${when} `), thread !== '', said);
  if (name === 'windtunnel') assert.equal(last[0], 't0', 'it draws the picture');
}

for (const name of Object.keys(RUNS))
  check(`${name}: each panel has the rows of its view, no script reports an error, and nothing keeps people out`,
    async (browser) => {
      RUNS[name]();
      eventspace('report', name, `--output=${name}.html`);
      await openReport(browser, join(folder, name + '.html'));
      const panels = await browser.run('report.drawPanels(); return report.panels;');
      const views = JSON.parse(eventspace('view', name, 'all', '--format=json'));
      const byName = new Map(panels.map((panel) => [panel.name, panel]));
      for (const {view, rows} of views) {
        assert.equal(byName.has(view), rows.length > 0, `${name} ${view}`);
        if (rows.length) checkTable(`${name} ${view}`, byName.get(view).table, rows);
      }
      for (const {name: view, detail} of panels.filter((panel) => panel.detail))
        checkTable(`${name} ${view} in detail`, detail, viewOf(name, view, '--detail'));
      const drawn = await browser.run(`return report.panels.map(({name}) => [name,
        document.querySelectorAll('#view-' + name + ' svg.picture').length]);`);
      for (const [view, pictures] of drawn)
        assert.ok(pictures > 0 || ['tuples', 'critical-links'].includes(view), `${name}: ${view} has no picture`);
      const errors = (await browser.log()).filter((entry) => entry.level === 'SEVERE');
      assert.deepEqual(errors, []);
      await browser.picture(name + '.png');
      await checkAlone(browser, name);
      await checkAxe(browser);
    });

check('long tables tell how many rows there are, and have some of all parts', async (browser) => {
  await openReport(browser, join(folder, 'windtunnel.html'));
  const steps = await browser.run(`return report.panels.find((p) => p.name === 'steps').detail;`);
  if (steps.every > 1) assert.ok(steps.rows.length <= 4000 && steps.count > 4000);
  const long = await browser.run(`const panel = report.panels.find((p) =>
      p.table.count > p.table.rows.length && p.name !== 'tuples');
    const section = document.getElementById('view-' + panel.name);
    section.querySelector('details').open = true;
    return [panel.table.count, section.querySelector('details p').textContent];`);
  assert.match(long[1], /^The first 1,000 of [1-9][0-9,]+ rows\.$/);
  assert.equal(+long[1].match(/of ([0-9,]+) rows/)[1].replace(/,/g, ''), long[0]);
});

/* --- pictures --- */

/* The marks of a picture, as wide (or high) as the page draws them. */
const marksOf = (browser, css, attribute) => browser.run(`report.drawPanels();
  return [...document.querySelectorAll(arguments[0])]
    .map((mark) => +mark.getAttribute(arguments[1]));`, css, attribute);

function checkInProportion(lengths, values, what) {
  assert.equal(lengths.length, values.length, what);
  const most = values.indexOf(Math.max(...values));
  values.forEach((value, i) => {
    const wanted = value / values[most] * lengths[most];
    assert.ok(Math.abs(lengths[i] - wanted) <= 1, `${what} ${i}: ${lengths[i]}, not ${wanted}`);
  });
}

check('bars are as long as the values of their rows', async (browser) => {
  await openReport(browser, join(folder, 'gsum.html'));
  const rows = viewOf('gsum', 'wait-states').slice(0, 15);
  checkInProportion(await marksOf(browser, '#view-wait-states g.bar rect', 'width'),
    rows.map((row) => row.total_ns), 'bar');
  const bins = viewOf('gsum', 'calls', '--detail').filter((row) => row.path === 'total');
  checkInProportion(await marksOf(browser,
    '#view-calls svg[aria-label^="Times of"] rect', 'height'),
  bins.map((row) => row.count), 'bin');
});

check('a matrix has a square for each pair, the darker the larger', async (browser) => {
  const rows = viewOf('gsum', 'waits-for');
  const cells = await browser.run(`return [...document.querySelectorAll(
      '#view-waits-for svg > g:nth-of-type(1) rect.cell')].map((cell) =>
    [cell.querySelector('title').textContent, +cell.getAttribute('fill-opacity')]);`);
  assert.equal(cells.length, rows.length);
  const byPair = new Map(cells.map(([title, shade]) => [title.split(':')[0], shade]));
  const sorted = rows.slice().sort((a, b) => a.total_ns - b.total_ns)
    .map((row) => byPair.get(`${row.thread}, ${row.for_thread}`));
  assert.ok(sorted.every((shade, i) => shade > 0 && (!i || shade >= sorted[i - 1])));
  assert.equal(sorted.at(-1), 1);
});

check('arrow keys read lines', async (browser) => {
  const svg = '#view-efficiency svg[tabindex]';
  await browser.run(`document.querySelector(arguments[0]).focus();`, svg);
  await browser.act({type: 'key', id: 'keys', actions: [
    {type: 'keyDown', value: '\uE014'}, {type: 'keyUp', value: '\uE014'},
    {type: 'keyDown', value: '\uE014'}, {type: 'keyUp', value: '\uE014'}]});
  const text = await until('it is told', () => browser.run(`const said = document
    .querySelector('#view-efficiency .readout').textContent;
    return /^time/.test(said) && said;`));
  const row = viewOf('gsum', 'efficiency', '--detail')[1];
  assert.equal(text.match(/parallel efficiency ([\d.]+)%/)[1],
    (row.parallel_share * 100).toFixed(1));
});

/* --- views that pictures need, worked out otherwise --- */

/* The least of sorted times that a share of them does not exceed. */
const timeAt = (sorted, share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];

check('calls are the operations of each kind', async () => {
  const kinds = new Map();
  for (const {verb, path, time_ns: ns} of viewOf('river', 'communication', '--detail')) {
    const key = `${verb} ${path}`;
    if (!kinds.has(key)) kinds.set(key, []);
    kinds.get(key).push(ns);
  }
  const rows = viewOf('river', 'calls'), bins = viewOf('river', 'calls', '--detail');
  assert.equal(rows.length, kinds.size);
  assert.ok(kinds.size >= 4);
  for (const row of rows) {
    const times = kinds.get(`${row.kind} ${row.path}`).sort((a, b) => a - b);
    const sum = times.reduce((a, b) => a + b, 0);
    assert.deepEqual([row.count, row.total_ns, row.min_ns, row.max_ns],
      [times.length, sum, times[0], times.at(-1)]);
    assert.deepEqual([row.p90_ns, row.p99_ns], [timeAt(times, 0.9), timeAt(times, 0.99)]);
    let below = 0;
    const own = bins.filter((bin) => bin.kind === row.kind && bin.path === row.path);
    for (const {from_ns: from, to_ns: to, count, cumulative_share: share} of own) {
      assert.equal(count, times.filter((ns) => ns >= from && ns < to).length);
      below += count;
      assert.ok(Math.abs(share - below / times.length) < 1e-5);
      assert.ok(to <= from + 1 || to / from < 1.6, `a bin from ${from} to ${to}`);
    }
    assert.equal(below, times.length);
  }
  assert.deepEqual(rows.map((row) => row.total_ns),
    rows.map((row) => row.total_ns).sort((a, b) => b - a));
});

if (recordsMpi)
  check('messages are those of the table message', async () => {
    const wanted = JSON.parse(eventspace('sql', 'mpi', '--format=json', `
      select f.name as from_thread, t.name as to_thread, count(*) as count,
        sum(coalesce(bytes, bytes_received)) as bytes, max(receive_ns - send_ns) as max_ns
      from message m join thread f on f.number = m.from_thread
        join thread t on t.number = m.to_thread
      group by 1, 2 order by 1, 2`));
    const rows = viewOf('mpi', 'messages').map(({mean_ns: mean, ...row}) => row)
      .sort((a, b) => a.from_thread < b.from_thread || a.from_thread === b.from_thread &&
        a.to_thread < b.to_thread ? -1 : 1);
    assert.ok(rows.length >= 3);
    assert.deepEqual(rows, wanted.rows || wanted);
  });

check('clocks are those of the command clock', async () => {
  assert.deepEqual(viewOf('gsum', 'clocks'),
    JSON.parse(eventspace('clock', 'gsum', '--format=json')).processes);
});

/* --- the answer first --- */

check('the page begins with what cost most, and leads to what shows it', async (browser) => {
  const items = await browser.run(`return [...document.querySelectorAll('#es-answers li')]
    .map((item) => [item.querySelector('.says').textContent,
      item.querySelector('a') && item.querySelector('a').getAttribute('href'),
      item.querySelector('svg rect:nth-of-type(2)').getBoundingClientRect().width]);`);
  assert.ok(items.length >= 1 && items.length <= 5);
  const views = await browser.run('return report.panels.map((panel) => "#view-" + panel.name);');
  for (const [says, link] of items) {
    assert.ok(says.length > 10);
    assert.ok(views.includes(link), link);
  }
  const causes = JSON.parse(eventspace('view', 'gsum', 'all', '--format=json'))
    .find(({view}) => view === 'causes');
  if (causes && causes.rows.length)
    assert.deepEqual(items.map(([says]) => says),
      causes.rows.slice(0, items.length).map(({says}) => says.replace(/`/g, '') + '.'));
  else
    assert.ok(items[0][0].startsWith(viewOf('gsum', 'delay-costs')[0].thread), items[0][0]);
  /* Gains that differ by less than a tenth are as good, and what names nobody
   * lets what is within its range go first (losses.c). */
  const named = items.filter(([says]) => !says.startsWith('Communication itself'))
    .map(([, , width]) => width);
  named.forEach((width, i) => assert.ok(named.slice(i).every((later) =>
    later <= width / 0.9 + 1), `${named}`));
  const trust = await browser.run(`return document.getElementById('es-trust').innerText;`);
  assert.match(trust, /None of 3,200 events is lost/);
  assert.match(trust, /All processes share one clock/);
  const top = await browser.run(`return document.getElementById('es-answers')
    .getBoundingClientRect().top + scrollY;`);
  assert.ok(top < 400, `${top} pixels from the top`);
});

/* --- search --- */

const keys = (browser, ...values) => browser.act({type: 'key', id: 'keys',
  actions: values.flatMap((value) => [{type: 'keyDown', value}, {type: 'keyUp', value}])});
const ENTER = '\uE007', DOWN = '\uE015', UP = '\uE013', ESCAPE = '\uE00C';

check('the search finds threads, views and what stands in the map, by keys', async (browser) => {
  await browser.run('document.activeElement.blur(); scrollTo(0, 0);');
  await keys(browser, '/');
  assert.equal(await browser.run('return document.activeElement.id;'), 'es-search');
  await keys(browser, 't', '3');
  const found = await browser.run(`return [...document.querySelectorAll('#es-found button')]
    .map((button) => button.textContent);`);
  assert.equal(found[0], 't3 thread');
  await keys(browser, ENTER);
  await until('the timeline has the focus',
    () => browser.run(`return document.activeElement.id === 'es-bars';`));
  await browser.run(`document.getElementById('es-search').focus();
    document.getElementById('es-search').select();`);
  await keys(browser, ...'who', DOWN, DOWN, UP);
  assert.match(await browser.run('return document.activeElement.textContent;'), /Who came last view/);
  await keys(browser, ENTER);
  await until('the panel has the focus', () => browser.run(
    `return document.activeElement.id === 'view-last-arriver-heading';`));
  await browser.run(`document.getElementById('es-search').focus();
    document.getElementById('es-search').select();`);
  await keys(browser, ...'total.sum.h1.proxy', ENTER);
  await until('the node is marked', () => browser.run(`const found =
    document.querySelectorAll('#es-map g.node.chosen');
    return found.length === 1 &&
      found[0].querySelector('title').textContent.includes('total.sum.h1.proxy');`));
  await browser.run(`document.getElementById('es-search').focus();`);
  await keys(browser, ESCAPE);
  assert.deepEqual(await browser.run(`return [document.getElementById('es-search').value,
    document.getElementById('es-found').hidden];`), ['', true]);
});

/* --- links --- */

check('the address restores what one sees', async (browser) => {
  await openReport(browser, join(folder, 'gsum.html'));
  await browser.run(`report.setVisibleRange(report.visibleRange().startNs + 1e6,
    report.visibleRange().startNs + 5e6); report.selectStep(7);
    document.querySelector('#view-calls details').open = true;
    document.querySelector('#view-steps details:nth-of-type(2)').open = true;
    const order = document.getElementById('es-order');
    order.value = 'end';
    order.dispatchEvent(new Event('change'));
    const search = document.getElementById('es-search');
    search.value = 't1';
    search.dispatchEvent(new Event('input'));`);
  const seen = () => browser.run(`return [report.visibleRange().startNs,
    report.visibleRange().endNs, report.selectedStep(), document.getElementById('es-order').value,
    [...document.querySelectorAll('details.table[open] table')].map((table) => table.id),
    document.getElementById('es-search').value];`);
  const before = await seen();
  const hash = await until('the address is right', () => browser.run(
    `return /open=calls%2Csteps-detail/.test(location.hash) && /search=t1/.test(location.hash) &&
      location.hash;`));
  await browser.go('about:blank');
  await openReport(browser, join(folder, 'gsum.html') + hash);
  const after = await seen();
  assert.deepEqual(after.slice(2), before.slice(2));
  assert.ok(Math.abs(after[0] - before[0]) <= 1 && Math.abs(after[1] - before[1]) <= 1);
  await browser.go('about:blank');
  await openReport(browser, join(folder, 'gsum.html') + '#view-last-arriver');
  const top = await browser.run(`return document.getElementById('view-last-arriver')
    .getBoundingClientRect().top;`);
  assert.ok(Math.abs(top) < 100, `the panel is ${top} pixels from the top`);
});

/* --- light and dark --- */

check('light and dark are chosen by keys and stand in the address; paper is light',
  async (browser) => {
    /* Of the page and of the timeline: is it dark? */
    const seen = () => browser.run(`const {backgroundColor} = getComputedStyle(document.body);
      return [+backgroundColor.match(/[0-9]+/)[0] < 128, report.colours.page[0] < 128,
        document.getElementById('es-scheme').value];`);
    await browser.go('about:blank');
    await openReport(browser, join(folder, 'gsum.html'));
    assert.deepEqual(await seen(), [false, false, 'system']);
    await browser.run(`document.getElementById('es-scheme').focus();`);
    await keys(browser, DOWN, DOWN);
    await until('it is dark', async () => (await seen())[1]);
    assert.deepEqual(await seen(), [true, true, 'dark']);
    const hash = await until('the address has it', () => browser.run(
      `return /scheme=dark/.test(location.hash) && location.hash;`));
    await browser.go('about:blank');
    await openReport(browser, join(folder, 'gsum.html') + hash);
    assert.deepEqual(await seen(), [true, true, 'dark']);
    await browser.run(`window.dispatchEvent(new Event('beforeprint'));`);
    assert.deepEqual(await seen(), [false, false, 'dark']);
    await browser.run(`window.dispatchEvent(new Event('afterprint'));`);
    assert.deepEqual(await seen(), [true, true, 'dark']);
    await browser.run(`document.getElementById('es-scheme').focus();`);
    await keys(browser, UP);
    await until('it is light', async () => !(await seen())[1]);
    await keys(browser, UP);
    await until('the address does not have it', () => browser.run(
      `return !/scheme/.test(location.hash);`));
  });

/* --- files --- */

const clickFile = async (browser, label) => browser.run(`[...document.querySelectorAll('button')]
  .find((button) => button.getAttribute('aria-label') === arguments[0]).click();`, label);

check('files: CSV as the command prints it, SVG and PNG that stand alone', async (browser) => {
  await clickFile(browser, 'Who came last as CSV');
  const csv = join(folder, 'last-arriver.csv');
  await until('the file is there', () => existsSync(csv) &&
    readFileSync(csv, 'utf8').endsWith('\r\n'));
  assert.equal(readFileSync(csv, 'utf8'), eventspace('view', 'gsum', 'last-arriver',
    '--format=csv'));
  await clickFile(browser, 'Who waits for whom as SVG');
  const svg = join(folder, 'waits-for.svg');
  await until('the file is there', () => existsSync(svg) && /<\/svg>$/.test(readFileSync(svg, 'utf8')));
  const text = readFileSync(svg, 'utf8');
  assert.match(text, /^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
  assert.doesNotMatch(text, /class=|var\(--/);
  assert.match(text, /fill: rgb\(/);
  await clickFile(browser, 'Who waits for whom as PNG');
  const png = join(folder, 'waits-for.png');
  const bytes = await until('the file is there', () => {
    const all = existsSync(png) && readFileSync(png);
    return all && all.includes('IEND') && all;
  });
  const width = +text.match(/width="(\d+)"/)[1];
  assert.equal(bytes.toString('latin1', 1, 4), 'PNG');
  assert.equal(bytes.readUInt32BE(16), 2 * width);
});

check('nothing has reported an error', async (browser) => {
  assert.deepEqual((await browser.log()).filter((entry) => entry.level === 'SEVERE'), []);
});

async function checkOthers(address) {
  const dark = await openBrowser(address, {folder, pictures, width: 1500, height: 1000,
    more: ['--blink-settings=preferredColorScheme=0']});
  try {
    await openReport(dark, join(folder, 'gsum.html'));
    await checkAxe(dark, 'color-contrast');
    await dark.picture('dark.png');
    await dark.run(`const select = document.getElementById('es-scheme');
      select.value = 'light';
      select.dispatchEvent(new Event('change'));`);
    assert.ok(await dark.run('return report.colours.page[0] > 128;'));
    await checkAxe(dark, 'color-contrast');
  } finally {
    await dark.close();
  }
}
async function checkNarrow(address) {
  /* The window of a headless browser is at least 500 pixels wide. */
  const narrow = await openBrowser(address, {folder, pictures, width: 500, height: 900});
  try {
    for (const name of ['gsum', 'windtunnel', Object.keys(RUNS).at(-1)]) {
      await openReport(narrow, join(folder, name + '.html'));
      await narrow.run('report.drawPanels();');
      const [page, window] = await narrow.run(`return [document.documentElement.scrollWidth,
        window.innerWidth];`);
      assert.ok(page <= window, `${name}: ${page} of ${window} pixels`);
    }
    await narrow.picture('narrow.png');
  } finally {
    await narrow.close();
  }
}

/* --- */

async function main() {
  let failures = 0, browser;
  if (pictures) mkdirSync(pictures, {recursive: true});
  if (!hasAxe) console.log('SKIPPED  axe-core, which is not given, or not there');
  const {driver, address} = await startDriver();
  const one = async (name, call) => { failures += !await holds(name, call); };
  try {
    browser = await openBrowser(address, {folder, pictures, width: 1500, height: 1000});
    for (const {name, run} of checks) await one(name, () => run(browser));
    await one('dark: nothing keeps people out', () => checkOthers(address));
    await one('narrow windows do not scroll sideways', () => checkNarrow(address));
  } finally {
    await browser?.close();
    process.kill(-driver.pid); /* the driver's own process group */
    rmSync(folder, {recursive: true, force: true, maxRetries: 20});
  }
  return failures ? 1 : 0;
}

process.exit(await main());
