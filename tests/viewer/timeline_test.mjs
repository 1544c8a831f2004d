/* timeline_test.mjs - the timeline of the report, in a real browser: levels of
 * detail, folded rows, arrows, the critical path and steps, each against what
 * `eventspace view` tells.
 *
 *     node timeline_test.mjs EVENTSPACE REPORT_TEST_RUN [PICTURES]
 *
 * The exit code is 0 when all checks hold. */
import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import assert from 'node:assert/strict';
import {DOWN, UP, holds, openBrowser, openReport, pointer, startDriver} from './browser.mjs';

const [command, makeRun, pictures] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-timeline-'));
const BIG = 4e8; /* bytes that a command may print */

const runOf = (name) => join(folder, name);
function makeReport(name, ...args) {
  execFileSync(makeRun, [runOf(name), ...args.map(String)], {stdio: 'inherit'});
  return reportOf(name);
}
function reportOf(name, ...options) {
  const file = runOf(name) + '.html';
  execFileSync(command, ['report', runOf(name), '-o', file, ...options], {stdio: 'inherit'});
  return file;
}
/* The rows of a view, as programs get them. */
function viewOf(name, view, ...options) {
  const text = execFileSync(command, ['view', runOf(name), view, '--format=json', ...options],
    {maxBuffer: BIG, encoding: 'utf8'});
  return JSON.parse(text).rows;
}

const checks = [];
const check = (name, run) => checks.push({name, run});

/* --- every operation is there --- */

check('at full detail operations are the rows of the views', async (browser) => {
  await openReport(browser, makeReport('hops', 8, 4, 50, 'hops'));
  const threads = await browser.run('return report.threads.map((thread, t) => ' +
    '({name: thread.name, operations: report.intervals(t)}));');
  const rows = viewOf('hops', 'communication', '--detail');
  const told = threads.flatMap(({name, operations}) => operations.map((op) =>
    [name, op.startNs, op.endNs, op.step, op.bytes].join(' ')));
  assert.deepEqual(told.sort(), rows.map((row) =>
    [row.thread, row.start_ns, row.end_ns, row.step, row.bytes].join(' ')).sort());
  const waits = viewOf('hops', 'waits-for', '--detail').map((row) =>
    [row.thread, row.for_thread, row.start_ns, row.wait_ns].join(' '));
  assert.ok(waits.length > 100, `${waits.length} waits`);
  assert.deepEqual(threads.flatMap(({name, operations}) => operations
    .filter((op) => op.waitsFor >= 0).map((op) => [name, threads[op.waitsFor].name, op.startNs,
      op.releasedNs - op.startNs].join(' '))).sort(), waits.sort());
  assert.deepEqual(await browser.run('return [report.inBins, report.bins];'), [0, null]);
});

check('the critical path is that of the view critical-links', async (browser) => {
  const links = await browser.run(`const {links} = report;
    return [...links.thread].map((number, i) => [number, links.start[i], links.end[i]]);`);
  const rows = viewOf('hops', 'critical-links');
  assert.deepEqual(links, rows.map((row) => [row.number, row.start_ns, row.end_ns]));
  /* It is drawn below the bars of its threads, and of no others. */
  const drawn = await browser.run(`report.draw();
    const over = document.querySelectorAll('.timeline canvas')[1];
    return report.threads.map((thread, t) => {
      const row = report.rowOf(t), y = Math.round(row.top + row.height) - 2;
      const data = over.getContext('2d').getImageData(148, y, over.width - 162, 1).data;
      return data.filter((value, i) => i % 4 === 3 && value > 0).length;
    });`);
  const ns = drawn.map((_, t) => rows.filter((row) => row.number === t)
    .reduce((sum, row) => sum + row.time_ns, 0));
  drawn.forEach((columns, t) => assert.equal(columns > 0, ns[t] > 0, `thread ${t}`));
  assert.ok(drawn[ns.indexOf(Math.max(...ns))] > 800, drawn.join());
});

check('arrows lead from who released to who waited', async (browser) => {
  const row = viewOf('hops', 'waits-for', '--detail').find((r) => r.thread === 't6' &&
    r.wait_ns > 1e6);
  const found = await browser.run(`const [start, wait] = arguments;
    const i = report.operationAt(6, start + wait / 2);
    return report.arrowsOf(i).filter((arrow) => arrow.operation === i);`,
  row.start_ns, row.wait_ns);
  assert.equal(found.length, 1);
  const [{from, to}] = found, names = await browser.run(
    'return report.threads.map((thread) => thread.name);');
  assert.equal(names[to.thread], 't6');
  assert.equal(to.ns, row.start_ns + row.wait_ns);
  assert.equal(names[from.thread], row.for_thread);
  /* It begins with the write that released it. */
  const writes = viewOf('hops', 'communication', '--detail').filter((r) =>
    r.thread === row.for_thread && r.start_ns <= to.ns && r.end_ns >= to.ns);
  assert.ok(writes.some((r) => r.start_ns === from.ns && /^write/.test(r.verb)),
    JSON.stringify([from, writes]));
  /* It is drawn: pixels of its colour are between the two rows. */
  const seen = await browser.run(`const [from, to] = arguments;
    report.show('critical', false);
    report.setVisibleRange(from.ns - 2e6, to.ns + 2e6);
    report.draw();
    const a = report.rowOf(from.thread), b = report.rowOf(to.thread);
    const y = Math.round((a.top + b.top + a.height) / 2), x = Math.round(report.xOf(to.ns));
    const over = document.querySelectorAll('.timeline canvas')[1];
    const data = over.getContext('2d').getImageData(x - 12, y, 24, 1).data;
    const [r, g, b2] = report.colours.arrow;
    let count = 0;
    for (let i = 0; i < data.length; i += 4)
      count += data[i + 3] > 100 && Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) +
        Math.abs(data[i + 2] - b2) < 90;
    report.show('critical', true);
    report.reset();
    return count;`, from, to);
  assert.ok(seen >= 1, `${seen} pixels`);
});

check('fronts are the rows of the view steps', async (browser) => {
  const rows = viewOf('hops', 'steps', '--detail');
  const fronts = await browser.run(`const {fronts} = report;
    return fronts.start.flatMap((starts, t) => [...starts].map((start, k) =>
      [t, (k + 1) * fronts.every, start, fronts.end[t][k]])).filter(([, , start]) => start > 0);`);
  assert.deepEqual(fronts, rows.map((row) => [row.number, row.step, row.start_ns, row.end_ns])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]));
});

/* --- folded rows --- */

check('hundreds of threads are folded, and unfold by click and key', async (browser) => {
  await openReport(browser, makeReport('many', 100, 5, 4));
  const rows = () => browser.run(`return report.rows.map(({threads, folded, level}) =>
    [threads.length, folded, level]);`);
  const folded = await rows();
  assert.equal(folded.reduce((sum, [threads]) => sum + threads, 0), 100);
  assert.ok(folded.length <= 20 && folded.every(([threads, is]) => is && threads > 1),
    JSON.stringify(folded));
  const row = await browser.run('return [report.rowOf(0), report.rows[0].threads];');
  await pointer(browser, 600, row[0].top + row[0].height / 2, DOWN, UP);
  const open = await rows();
  assert.equal(open.length, folded.length + row[1].length);
  assert.deepEqual(open.slice(1, 1 + row[1].length), row[1].map(() => [1, false, 1]));
  const canvas = await browser.find('#es-bars');
  await browser.type(canvas, 'j\uE007'); /* the first row, Enter */
  assert.deepEqual(await rows(), folded);
  for (const [by, count] of [['process', 5], ['machine', 1], ['thread', 100]]) {
    await browser.type(await browser.find('#es-bars'), 'f');
    assert.equal(await browser.run('return report.folding;'), by);
    assert.equal((await rows()).length, count, by);
  }
  await browser.picture('folded.png');
});

check('a folded row tells the share of its threads in each state', async (browser) => {
  await browser.run(`report.foldRows('machine'); report.reset(); report.draw();`);
  const [x0, x1] = [400, 900];
  const got = await browser.run(`const row = report.rowOf(0), sums = {};
    for (let x = arguments[0]; x < arguments[1]; x++)
      for (const [name, text] of report.at(x, row.top + 3).lines)
        if (/%/.test(text)) sums[name] = (sums[name] || 0) + parseFloat(text) / 100;
    return [sums, report.nsAt(arguments[0]), report.nsAt(arguments[1])];`, x0, x1);
  const [sums, from, to] = got;
  const rows = viewOf('many', 'communication', '--detail');
  const within = rows.reduce((sum, row) => sum +
    Math.max(0, Math.min(row.end_ns, to) - Math.max(row.start_ns, from)), 0);
  const share = within / (to - from) / 100;
  const told = ((sums.waiting || 0) + (sums.transferring || 0) + (sums.communicating || 0)) /
    (x1 - x0);
  assert.ok(share > 0.02 && Math.abs(told - share) < 0.003, `${told}, not ${share}`);
});

/* --- bins --- */

const THREADS = 16, STEPS = 6800;

check('a long run is told in bins, and its sums are those of the views', async (browser) => {
  const file = makeReport('long', THREADS, 4, STEPS, 'off');
  assert.ok(statSync(file).size < 10e6, `${statSync(file).size} bytes`);
  await openReport(browser, file);
  const told = await browser.run(`const level = report.bins[0];
    return {inBins: report.inBins, there: report.operationCount, parts: report.parts,
      text: document.getElementById('es-bins').innerText, width: level.width,
      threads: report.threads.map((thread, t) => {
        const sum = (name) => level.of[name].subarray(t * level.count, (t + 1) * level.count)
          .reduce((all, ns) => all + ns, 0);
        return {name: thread.name, waiting: sum('waiting'), transferring: sum('transferring'),
          runnable: sum('runnable') - thread.runnableAfterNs,
          sleeping: sum('sleeping') - thread.sleepingAfterNs,
          failed: sum('failed'), operations: sum('operations')};
      })};`);
  const rows = viewOf('long', 'communication');
  for (const thread of told.threads) {
    const row = rows.find((r) => r.thread === thread.name);
    assert.equal(thread.operations, row.operations, thread.name);
    assert.equal(thread.waiting + thread.transferring, row.communicating_ns, thread.name);
    assert.equal(thread.failed, 0);
  }
  const all = rows.reduce((sum, row) => sum + row.operations, 0);
  assert.equal(all, (4 * THREADS - 4) * STEPS);
  assert.ok(told.inBins > 0.5 * all && told.inBins < all, `${told.inBins} of ${all}`);
  assert.match(told.text, new RegExp(`^${told.inBins.toLocaleString('en')} of `));
  assert.ok(told.there >= all - told.inBins && told.there < all - told.inBins + 1000);
});

check('bins of all lengths have the same sums', async (browser) => {
  const sums = await browser.run(`return report.bins.map((level) =>
    ['waiting', 'transferring', 'runnable', 'sleeping', 'critical'].map((name) =>
      level.of[name].reduce((all, ns) => all + ns, 0)));`);
  assert.ok(sums.length > 3);
  for (const level of sums) assert.deepEqual(level, sums[0]);
});

check('where operations are told, they are those of the views', async (browser) => {
  const parts = await browser.run('return report.parts;');
  assert.ok(parts.length >= 2);
  const [from, to] = parts[0];
  const rows = viewOf('long', 'communication', '--detail', `--to=${to}ns`)
    .filter((row) => row.start_ns >= from && row.start_ns < to);
  assert.ok(rows.length > 1000);
  const told = await browser.run(`const [from, to] = arguments;
    return report.threads.flatMap((thread, t) => report.intervals(t)
      .filter((op) => op.startNs >= from && op.startNs < to)
      .map((op) => [thread.name, op.startNs, op.endNs].join(' ')));`, from, to);
  assert.deepEqual(told.sort(),
    rows.map((row) => [row.thread, row.start_ns, row.end_ns].join(' ')).sort());
});

check('the pointer tells sums where operations are not told', async (browser) => {
  const said = await browser.run(`report.foldRows('thread');
    const [[, from], [to]] = report.parts, middle = (from + to) / 2;
    report.setVisibleRange(middle - 5e8, middle + 5e8);
    const row = report.rowOf(3);
    return report.at(report.xOf(middle), row.top + 3);`);
  assert.match(said.what, /^all of /);
  const lines = Object.fromEntries(said.lines);
  assert.match(lines.begins, /^\d+ operations?$/);
  await browser.run('report.reset();');
});

check('a folded row has the sums of its threads', async (browser) => {
  const {folded, mean} = await browser.run(`report.foldRows('machine');
    const level = report.bins[0], x = 700, from = report.nsAt(x), to = report.nsAt(x + 1);
    const said = Object.fromEntries(report.at(x, report.rowOf(0).top + 3).lines);
    report.foldRows('thread');
    const columns = report.threads.map((thread, t) => {
      let sum = 0;
      for (let k = 0; k < level.count; k++) {
        const begin = level.start + k * level.width, end = begin + level.width;
        const part = Math.max(0, Math.min(end, to) - Math.max(begin, from)) / level.width;
        sum += part * (level.of.waiting[t * level.count + k] +
          level.of.transferring[t * level.count + k]);
      }
      return sum / (to - from);
    });
    const share = (name) => parseFloat(said[name] || '0') / 100;
    return {folded: share('waiting') + share('transferring') + share('communicating'),
      mean: columns.reduce((all, one) => all + one, 0) / columns.length};`);
  assert.ok(mean > 0.02 && Math.abs(folded - mean) < 0.02, `${folded}, not ${mean}`);
});

check('with --full every operation is there', async (browser) => {
  await openReport(browser, reportOf('long', '--full'));
  const [inBins, there, bins] = await browser.run(
    'return [report.inBins, report.operationCount, report.bins !== null];');
  assert.deepEqual([inBins, there, bins], [0, (4 * THREADS - 4) * STEPS, true]);
});

/* --- running them --- */

async function main() {
  const {driver, address} = await startDriver();
  let browser, failures = 0;
  try {
    browser = await openBrowser(address, {folder, width: 1500, height: 1000, pictures});
    for (const {name, run} of checks) {
      failures += !await holds(name, async () => {
        await run(browser);
        const errors = (await browser.log()).filter(({level}) => level === 'SEVERE');
        assert.deepEqual(errors, [], 'errors of scripts');
      });
    }
  } finally {
    await browser?.close();
    process.kill(-driver.pid);
    rmSync(folder, {recursive: true, force: true, maxRetries: 20});
  }
  return failures ? 1 : 0;
}

process.exit(await main());
