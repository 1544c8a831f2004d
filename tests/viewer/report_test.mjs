/* report_test.mjs - the report, opened in a real browser.
 *
 *     node report_test.mjs EVENTSPACE REPORT_TEST_RUN [PICTURES]
 *
 * EVENTSPACE is the command, REPORT_TEST_RUN the program that makes the run
 * directories. With PICTURES, screenshots are left in that folder.
 *
 * The exit code is 0 when all checks hold. */
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {deflateRawSync, inflateRawSync} from 'node:zlib';
import assert from 'node:assert/strict';
import {DOWN, UP, holds, openBrowser as open, openReport, pointer, startDriver, until, wheel} from
  './browser.mjs';

const [command, makeRun, pictures] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-report-'));
const openBrowser = (address, width, height, more) =>
  open(address, {folder, pictures, width, height, more});

/* How many pixels of a thread's row have each of the bars' colours. */
const countPixels = (browser, thread) => browser.run(`
  report.draw();
  const canvas = document.getElementById('es-bars');
  const ratio = canvas.width / canvas.clientWidth;
  const row = report.rowOf(arguments[0]);
  const y = Math.round((row.top + row.height * 0.4) * ratio);
  const data = canvas.getContext('2d')
    .getImageData(Math.round(148 * ratio), y, canvas.width - Math.round(162 * ratio), 1).data;
  const counts = {waiting: 0, transferring: 0, communicating: 0, computing: 0, runnable: 0,
    sleeping: 0,
    chosen: 0, 'chosen-waiting': 0, failed: 0, pending: 0};
  for (let i = 0; i < data.length; i += 4)
    for (const name in counts) {
      const c = report.colours[name];
      if (c.every((value, k) => Math.abs(value - data[i + k]) <= 2)) counts[name]++;
    }
  return counts;`, thread);

/* The stacks of a thread's row, column by column from `from`: how many lines
 * have each colour, and their order from the bottom. What has another colour is
 * `other`. The gap below the row is left out. */
const readStacks = (browser, thread, from, count) => browser.run(`
  report.draw();
  const [thread, from, count] = arguments;
  const row = report.rowOf(thread), top = Math.round(row.top);
  const lines = Math.round(row.top + row.height) - top;
  const data = document.getElementById('es-bars').getContext('2d')
    .getImageData(from, top, count, lines).data;
  const {waiting, transferring, computing, runnable, sleeping, idle, failed} = report.colours;
  const colours = {waiting, transferring, computing, runnable, sleeping, idle, failed, chosen: report.colours.chosen,
    'chosen-waiting': report.colours['chosen-waiting'],
    'chosen-computing': report.colours['chosen-computing']};
  const nameAt = (x, y) => Object.keys(colours).find((name) => colours[name].every(
    (value, k) => value === data[(y * count + x) * 4 + k])) || 'other';
  return Array.from({length: count}, (_, x) => {
    const stack = {order: [], lines: 0};
    let y = lines - 1;
    while (y >= 0 && nameAt(x, y) === 'idle') y--;
    for (; y >= 0; y--) {
      const name = nameAt(x, y);
      if (stack.order[stack.order.length - 1] !== name) stack.order.push(name);
      stack[name] = (stack[name] || 0) + 1;
      stack.lines++;
    }
    return stack;
  });`, thread, from, count);

/* How much of each column's time the operations of a thread wait and transfer,
 * by the times of its operations. */
const timesOfColumns = (browser, thread, from, count) => browser.run(`
  const [thread, from, count] = arguments;
  const operations = report.intervals(thread);
  return Array.from({length: count}, (_, x) => {
    const begin = report.nsAt(from + x), end = report.nsAt(from + x + 1);
    const within = (a, b) => Math.max(0, Math.min(b, end) - Math.max(a, begin)) / (end - begin);
    const sum = (f) => operations.reduce((all, op) => all + f(op), 0);
    const share = {waiting: sum((op) => within(op.startNs, op.releasedNs)),
      transferring: sum((op) => within(op.releasedNs, op.endNs)),
      operations: sum((op) => op.startNs < end && op.endNs > begin ? 1 : 0)};
    share.computing = 1 - share.waiting - share.transferring;
    return share;
  });`, thread, from, count);

/* --- the checks --- */

const checks = [];
const check = (name, run) => checks.push({name, run});

function reportOf(name, ...args) {
  const run = join(folder, name), file = join(folder, name + '.html');
  execFileSync(makeRun, [run, ...args.map(String)], {stdio: 'inherit'});
  execFileSync(command, ['report', run, '-o', file], {stdio: 'inherit'});
  return file;
}

const range = (browser) => browser.run('return report.visibleRange();');

const communicating = (seen) => seen.waiting + seen.transferring;
const chosen = (seen) => seen.chosen + seen['chosen-waiting'];

check('every thread has dark and light pixels in its row', async (browser) => {
  await openReport(browser, reportOf('eight', 8, 4, 50, 'hops'));
  assert.equal(await browser.run('return report.threads.length;'), 8);
  /* Near enough for the bars to be told apart. */
  await browser.run('report.setVisibleRange(1e8, 2e8);');
  for (let thread = 0; thread < 8; thread++) {
    const seen = await countPixels(browser, thread);
    assert.ok(seen.computing > 100, `thread ${thread} computes: ${seen.computing} pixels`);
    const least = thread === 4 ? 1 : 20; /* for it nobody has to be waited for */
    assert.ok(communicating(seen) >= least,
      `thread ${thread} communicates: ${communicating(seen)} pixels`);
    assert.equal(chosen(seen), 0);
  }
});

check('the pixels agree with the times', async (browser) => {
  const {wrong, looked} = await browser.run(`
    report.draw();
    const canvas = document.getElementById('es-bars'), wrong = [];
    const looked = {waiting: 0, transferring: 0};
    const context = canvas.getContext('2d');
    for (let t = 0; t < report.threads.length; t++) {
      const row = report.rowOf(t);
      const shown = report.visibleRange();
      const look = (name, op, from, to) => {
        const x0 = report.xOf(from), x1 = report.xOf(to);
        if (x1 - x0 < 3 || from < shown.startNs || to > shown.endNs) return;
        looked[name]++;
        const c = context.getImageData(Math.floor((x0 + x1) / 2),
          Math.round(row.top + row.height * 0.4), 1, 1).data;
        if (report.colours[name].some((v, k) => Math.abs(v - c[k]) > 2))
          wrong.push([t, op.step, name, [...c]]);
      };
      for (const op of report.intervals(t)) {
        look('waiting', op, op.startNs, op.releasedNs);
        look('transferring', op, op.releasedNs, op.endNs);
      }
    }
    return {wrong, looked};`);
  assert.deepEqual(wrong, []);
  assert.ok(looked.waiting > 20, `${looked.waiting} waited for long enough to be seen`);
});

check('waiting, transferring and computing are all the time of each thread', async (browser) => {
  const threads = await browser.run(`return report.threads.map((thread, t) =>
    ({...thread, operations: report.intervals(t)}));`);
  for (const t of threads) {
    const sum = (f) => t.operations.reduce((all, op) => all + f(op), 0);
    const waiting = sum((op) => op.releasedNs - op.startNs);
    const transferring = sum((op) => op.endNs - op.releasedNs);
    const rounding = t.operations.length;
    assert.ok(Math.abs(t.waitingNs - waiting) <= rounding, t.name);
    assert.ok(Math.abs(t.communicatingNs - waiting - transferring) <= rounding, t.name);
    assert.ok(Math.abs(t.endNs - t.startNs -
      (waiting + transferring + t.computingNs)) <= rounding, t.name);
  }
  const cells = await browser.run(`return [...document
    .querySelectorAll('#es-threads th button')].map((b) => b.textContent);`);
  assert.ok(cells.includes('Waiting') && cells.includes('Transferring'), cells.join());
});

check('a read waits for the neighbour that writes', async (browser) => {
  const all = await browser.run(
    'return report.threads.map((thread, t) => report.intervals(t));');
  const waits = all.map((operations) => operations.filter((op) => op.waitsFor >= 0));
  waits.forEach((operations, t) => {
    for (const op of operations) {
      assert.match(op.text, /^read_next/);
      assert.equal(op.waitsFor, t + (/from_above/.test(op.text) ? -1 : 1));
      /* The neighbour's write arrives while the read is under way. */
      assert.ok(all[op.waitsFor].some((w) => /^write/.test(w.text) &&
        w.step === op.step && op.releasedNs >= w.startNs && op.releasedNs <= w.startNs + 10000),
      `thread ${t}, step ${op.step}`);
    }
  });
  /* All come to wait for the one in the middle, and it for nobody. */
  const length = waits.map((operations) => operations.reduce((sum, op) =>
    sum + op.releasedNs - op.startNs, 0));
  assert.equal(Math.min(...length), length[4]);
  assert.ok(Math.max(...length) > 20 * length[4], length.join());
});

check('what is not recorded is in the legend and in the note on the table', async (browser) => {
  const legend = await browser.run(`return document.querySelector('.legend').innerText;`);
  assert.match(legend, /not running, or not recorded/);
  const [box, idle] = await browser.run(`return [getComputedStyle(document
    .querySelector('.key.idle')).backgroundColor, report.colours.idle];`);
  assert.equal(box, `rgb(${idle.join(', ')})`);
  const note = await browser.run(`return document
    .querySelector('#es-threads').closest('section').querySelector('p').innerText;`);
  assert.match(note, /computing before the first operation is not counted/);
});

check('there is no empty band below the rows', async (browser) => {
  const gap = () => browser.run(`report.draw();
    const canvas = document.getElementById('es-bars');
    const last = report.rowOf(report.threads.length - 1);
    return canvas.clientHeight - 26 - (last.top + last.height);`);
  await browser.run('report.reset();');
  assert.ok(Math.abs(await gap()) <= 1, `${await gap()} pixels`);
  for (let i = 0; i < 3; i++) {
    await browser.run(`document.getElementById('es-rows-out').click();`);
    assert.ok(Math.abs(await gap()) <= 1, `${await gap()} pixels`);
  }
  await browser.run('report.reset();');
});

check('the wheel zooms about the pointer', async (browser) => {
  await browser.run('report.reset();');
  const before = await range(browser);
  await pointer(browser, 500, 40);
  const held = await browser.run('return report.nsAt(500);');
  await wheel(browser, 500, 40, -600);
  await until('the range is smaller', async () => {
    const now = await range(browser);
    return now.endNs - now.startNs < (before.endNs - before.startNs) / 3;
  });
  const after = await browser.run('return report.nsAt(500);');
  const pixel = (before.endNs - before.startNs) / 1000;
  assert.ok(Math.abs(after - held) < 2 * pixel, `${held} became ${after}`);
});

check('dragging moves the range, and chooses no step', async (browser) => {
  const before = await range(browser);
  await pointer(browser, 600, 40, DOWN, {type: 'pointerMove', x: 500, y: 40},
    {type: 'pointerMove', x: 450, y: 40}, UP);
  await until('the range has moved', async () =>
    (await range(browser)).startNs > before.startNs);
  const after = await range(browser);
  assert.ok(Math.abs((after.endNs - after.startNs) - (before.endNs - before.startNs)) < 2);
  assert.equal(await browser.run('return report.selectedStep();'), 0);
});

check('a click on a bar highlights its step in all threads', async (browser) => {
  await browser.run('report.reset();');
  const x = await browser.run(`const op = report.intervals(2).find((o) => o.step === 20);
    return report.xOf((op.startNs + op.endNs) / 2);`);
  const y = await browser.run(`const r = report.rowOf(2); return r.top + r.height / 2;`);
  await pointer(browser, x, y, DOWN, UP);
  const step = await until('a step is chosen',
    () => browser.run('return report.selectedStep();'));
  assert.ok(Math.abs(step - 20) <= 1, `step ${step}`);
  for (let thread = 0; thread < 8; thread++) {
    const seen = await countPixels(browser, thread);
    assert.ok(chosen(seen) > 0, `thread ${thread} has the chosen step`);
  }
  await browser.picture('eight-step.png');
});

check('the number field, the keys and Escape choose a step', async (browser) => {
  const field = await browser.find('#es-step');
  await browser.run(`document.getElementById('es-step').value = '';`);
  await browser.type(field, '30\uE007');
  await until('step 30 is chosen',
    async () => await browser.run('return report.selectedStep();') === 30);
  const canvas = await browser.find('#es-bars');
  await browser.type(canvas, ']');
  await until('step 31 is chosen',
    async () => await browser.run('return report.selectedStep();') === 31);
  await browser.type(canvas, '\uE00C');
  await until('no step is chosen',
    async () => await browser.run('return report.selectedStep();') === 0);
  for (let thread = 0; thread < 8; thread++)
    assert.equal(chosen(await countPixels(browser, thread)), 0);
});

check('keys move and zoom', async (browser) => {
  await browser.run('report.reset();');
  const canvas = await browser.find('#es-bars');
  const all = await range(browser);
  await browser.type(canvas, '+');
  await until('the range is smaller', async () => {
    const now = await range(browser);
    return now.endNs - now.startNs < all.endNs - all.startNs;
  });
  const before = await range(browser);
  await browser.type(canvas, '\uE014'); /* arrow right */
  await until('the range has moved',
    async () => (await range(browser)).startNs > before.startNs);
  await browser.type(canvas, '\uE011'); /* Home */
  await until('all is shown', async () => {
    const now = await range(browser);
    return now.startNs === all.startNs && now.endNs === all.endNs;
  });
});

check('the pointer tells step, times and thread', async (browser) => {
  await browser.run('report.setVisibleRange(1e8, 1.6e8);');
  const place = await browser.run(`
    const op = report.intervals(5).filter((o) => o.startNs > 1.1e8)
      .find((o) => o.endNs - o.startNs > 1e6);
    const row = report.rowOf(5);
    return {op, x: report.xOf((op.startNs + op.endNs) / 2), y: row.top + row.height / 2};`);
  await pointer(browser, place.x, place.y);
  const text = await until('the tip is shown', () => browser.run(`
    const tip = document.getElementById('es-tip');
    return tip.hidden ? '' : tip.innerText;`));
  assert.match(text, /t5 on h2/);
  assert.match(text, /read_next from_above/);
  const said = Object.fromEntries(text.split('\n').map((line) => line.split('\t')));
  const ms = (words) => parseFloat(words.replace(/,/g, ''));
  assert.equal(+said.step, place.op.step);
  assert.ok(Math.abs(ms(said.start) - place.op.startNs / 1e6) < 0.001, said.start);
  assert.ok(Math.abs(ms(said.end) - place.op.endNs / 1e6) < 0.001, said.end);
  await browser.picture('eight-tip.png');
});

check('names are shown as they are, and break nothing', async (browser) => {
  const name = 't1 </script><b>&"';
  assert.equal(await browser.run('return report.threads[1].name;'), name);
  assert.equal(await browser.run(`return document.querySelector('h1').textContent;`),
    'wind tunnel <!-- 8 x 4 -->');
  const cells = await browser.run(`return [...document
    .querySelectorAll('#es-threads td button')].map((b) => b.textContent);`);
  assert.ok(cells.includes(name), cells.join());
});

check('the table of threads sorts', async (browser) => {
  const heads = await browser.run(`return [...document
    .querySelectorAll('#es-threads th button')].map((b) => b.textContent);`);
  const place = heads.indexOf('Waiting');
  await browser.run(`document.querySelectorAll('#es-threads th button')[arguments[0]]
    .click();`, place);
  const first = await browser.run(`return document
    .querySelector('#es-threads tbody tr').innerText;`);
  const most = await browser.run(`return report.threads.slice()
    .sort((a, b) => b.waitingNs - a.waitingNs)[0].name;`);
  assert.ok(first.includes(most), first);
  assert.equal(await browser.run(`return document.querySelectorAll('#es-threads th')
    [arguments[0]].getAttribute('aria-sort');`, place), 'descending');
});

/* The texts of one column of the table of threads, by the thread's name. */
const columnOf = (browser, head) => browser.run(`
  const table = document.getElementById('es-threads');
  const place = [...table.querySelectorAll('th')].findIndex((th) =>
    th.innerText.trim() === arguments[0]);
  return place < 0 ? null : Object.fromEntries([...table.querySelectorAll('tbody tr')]
    .map((row) => [row.querySelector('button').textContent, row.cells[place].textContent]));`,
head);

check('the table says for whom each thread waits mostly', async (browser) => {
  const said = await columnOf(browser, 'Waits mostly for');
  const threads = await browser.run(`return report.threads.map((thread, t) =>
    ({name: thread.name, operations: report.intervals(t),
      lifeNs: thread.communicatingNs + thread.computingNs}));`);
  let several = 0, blank = 0;
  for (const {name, operations, lifeNs} of threads) {
    const sums = new Map();
    for (const op of operations)
      if (op.waitsFor >= 0)
        sums.set(op.waitsFor, (sums.get(op.waitsFor) || 0) + op.releasedNs - op.startNs);
    const all = [...sums.values()].reduce((sum, ns) => sum + ns, 0);
    const [most, ns] = [...sums].sort((a, b) => b[1] - a[1])[0] || [];
    assert.equal(said[name], all >= 0.05 * lifeNs ?
      `${threads[most].name}, ${(ns / all * 100).toFixed(0)}\u00a0%` : '', name);
    several += sums.size > 1;
    blank += all < 0.05 * lifeNs;
  }
  assert.ok(blank >= 1, 'one hardly waits');
  assert.ok(several >= 2, `${several} threads wait for more than one`);
});

check('the path map is there as a picture', async (browser) => {
  assert.ok(await browser.run(`return !!document.querySelector('#es-map svg g');`));
  await browser.run(`document.getElementById('es-map').scrollIntoView();`);
  await browser.picture('eight-map.png');
});

check('a killed process is marked, and its events are shown', async (browser) => {
  await openReport(browser, reportOf('killed', 8, 4, 50, 'killed'));
  const alerts = await browser.run(`return document.getElementById('es-alerts').innerText;`);
  assert.match(alerts, /Process h3: killed: killed by signal 9/);
  for (const thread of [0, 6, 7])
    assert.ok((await countPixels(browser, thread)).computing > 100);
  await browser.picture('killed.png');
});

check('an operation that has not ended is a bar that is open at its end', async (browser) => {
  await openReport(browser, reportOf('hanging', 4, 2, 20, 'hanging'));
  const shown = await range(browser);
  assert.equal(shown.endNs, 1e10); /* the interrupt */
  const waits = await countPixels(browser, 0), computes = await countPixels(browser, 3);
  assert.ok(waits.pending > 500, `${waits.pending} pixels wait`);
  assert.equal(computes.pending, 0);
  assert.ok(computes.computing > 500, `${computes.computing} pixels compute`);
  assert.equal((await countPixels(browser, 1)).pending, 0);
  const said = await browser.run(`const row = report.rowOf(0);
    return report.at(report.xOf(9e9), row.top + row.height / 2);`);
  assert.match(said.what, /read_next from_below/);
  assert.match(said.who, /t0 on h0/);
  assert.deepEqual(said.lines.find(([name]) => name === 'at'), ['at', 'up_1']);
  assert.match(said.lines.find(([name]) => name === 'waits for')[1], /t1/);
  const table = await browser.run(`return document.getElementById('es-pending').innerText;`);
  assert.match(table, /t0\s+h0\s+killed\s+waiting/);
  assert.match(table, /t3\s+h1\s+killed\s+computing/);
  const alerts = await browser.run(`return document.getElementById('es-alerts').innerText;`);
  assert.match(alerts, /1 operation had not ended/);
  await browser.picture('hanging.png');
});

/* The bar of each thread in the table: its parts, and how wide they are. */
async function checkBars(browser) {
  const threads = await browser.run('return report.threads;');
  const bars = await browser.run(`return [...document
    .querySelectorAll('#es-threads tbody tr')].map((row) => {
      const all = row.querySelector('.share').getBoundingClientRect().width;
      return Object.fromEntries([...row.querySelectorAll('.share i')].map((part) => {
        const colour = getComputedStyle(part).backgroundColor.match(/\\d+/g).map(Number);
        const name = part.className.replace('key ', '');
        return [name, {share: part.getBoundingClientRect().width / all,
          right: String(colour) === String(report.colours[name])}];
      }));
    });`);
  threads.forEach((t, i) => {
    const all = t.communicatingNs + t.computingNs;
    const wanted = {waiting: t.waitingNs, transferring: t.communicatingNs - t.waitingNs,
      computing: t.computingNs - t.runnableNs - t.sleepingNs, runnable: t.runnableNs,
      sleeping: t.sleepingNs};
    for (const [name, ns] of Object.entries(wanted)) {
      const {share, right} = bars[i][name] ?? {share: 0, right: true};
      assert.ok(right && Math.abs(share - ns / all) < 0.02,
        `${t.name}: ${name}: ${share}, not ${ns / all}`);
    }
  });
}

/* t0 is runnable for 2 ms of 5 ms and more that it computes in a step, t1 sleeps
 * for 1 ms; each begins 20 ms before its first operation. */
check('being off the processor is told apart from computing', async (browser) => {
  await openReport(browser, reportOf('off', 4, 2, 100, 'off'));
  const threads = await browser.run(`return report.threads.map((thread, t) =>
    ({...thread, operations: report.intervals(t)}));`);
  assert.deepEqual(threads.map((t) => [t.runnableNs, t.sleepingNs]),
    [[2e8, 0], [0, 1e8], [0, 0], [0, 0]]);
  for (const t of threads) {
    const [first, last] = [t.operations[0], t.operations.at(-1)];
    assert.ok(Math.abs(first.startNs - t.startNs - 2e7) < 1e6, t.name);
    assert.ok(t.endNs - last.endNs > 1e7 && t.endNs - last.endNs < 2e7, t.name);
    const communicating = t.operations.reduce((sum, op) => sum + op.endNs - op.startNs, 0);
    assert.ok(Math.abs(t.endNs - t.startNs - communicating - t.computingNs) <= 1000, t.name);
  }
  /* One gap of each, near enough for all of its columns to be of it. */
  for (const [t, name, ns] of [[0, 'runnable', 2e6], [1, 'sleeping', 1e6], [2, null, 0]]) {
    const reads = threads[t].operations.filter((op) => /^read/.test(op.text));
    const from = reads.at(t ? 21 : 10).endNs;
    const to = threads[t].operations.find((op) => op.startNs > from).startNs;
    await browser.run(`report.setVisibleRange(${from - 1e5}, ${to + 1e5});`);
    const x = await browser.run(`return report.xOf(${(from + to) / 2});`);
    const stacks = await readStacks(browser, t, Math.floor(x) - 20, 40);
    for (const stack of stacks) {
      const where = `thread ${t}: ` + JSON.stringify(stack);
      assert.deepEqual(stack.order, name ? [name, 'computing'] : ['computing'], where);
      if (name)
        assert.ok(Math.abs(stack[name] - ns / (to - from) * stack.lines) <= 2, where);
    }
    const said = await browser.run(`const row = report.rowOf(${t});
      return report.at(${x}, row.top + row.height / 2);`);
    assert.equal(said.what, 'computing');
    assert.deepEqual(said.lines.filter(([what]) => /runnable|sleeping/.test(what)),
      name ? [[name, `${ns / 1e6}.000 ms`]] : []);
  }
  const heads = await browser.run(`return [...document
    .querySelectorAll('#es-threads th button')].map((b) => b.textContent);`);
  assert.ok(['Computing (all)', 'of it runnable', 'of it sleeping'].every((h) => heads.includes(h)), heads.join());
  const legend = await browser.run(`return document.querySelector('.legend').innerText;`);
  assert.match(legend, /runnable: others have the processor/);
  assert.doesNotMatch(legend, /or off the processor/);
  const notes = () => browser.run(`return document.querySelector('main section details')
    .innerText.replace(/\\s+/g, ' ').trim();`);
  assert.equal(await notes(), 'How to read this');
  await browser.click(await browser.find('main section summary'));
  assert.match(await notes(), /^How to read this Between two operations it is known how long/);
  await checkBars(browser);
  await browser.run('report.reset();');
  await browser.picture('off.png');
});

check('colours that do not occur are not in the legend', async (browser) => {
  const legend = () => browser.run(`return document.querySelector('.legend').innerText;`);
  assert.doesNotMatch(await legend(), /failed operation|under way/);
  await openReport(browser, join(folder, 'hanging.html'));
  assert.match(await legend(), /under way at the end/);
  assert.match(await legend(), /waiting for another thread/);
  assert.doesNotMatch(await legend(), /failed operation|runnable|sleeping/);
});

check('few rows are higher than many', async (browser) => {
  const rowHeight = async () => (await range(browser)).rowHeight;
  assert.equal(await rowHeight(), 60); /* of 4 threads */
  await openReport(browser, join(folder, 'eight.html'));
  assert.equal(await rowHeight(), 30);
});

const disturbedText = (browser) =>
  browser.run(`return document.getElementById('es-disturbed').innerText;`);

check('a run that was disturbed says so, and what to do', async (browser) => {
  await openReport(browser, reportOf('disturbed', 2, 2, 100, 'off'));
  const threads = await browser.run('return report.threads;');
  const [runnableNs, computingNs] = ['runnableNs', 'computingNs']
    .map((key) => threads.reduce((sum, t) => sum + t[key], 0));
  assert.ok(runnableNs > 0.1 * computingNs, `${runnableNs} of ${computingNs}`);
  const said = await disturbedText(browser);
  assert.match(said, /^Disturbed: in \d+\.\d% of the time in which the threads computed/);
  assert.equal(said.match(/in ([\d.]+)%/)[1], (runnableNs / computingNs * 100).toFixed(1));
  assert.match(said, /End other programs and run again, or compare/);
  await openReport(browser, reportOf('undisturbed', 4, 2, 100, 'off'));
  assert.equal(await disturbedText(browser), '');
});

check('a column of several operations is a stack of their shares', async (browser) => {
  await openReport(browser, reportOf('dense', 4, 2, 2000, 'hops'));
  const kinds = ['waiting', 'transferring', 'computing'];
  let looked = 0;
  for (let thread = 0; thread < 4; thread++) {
    const stacks = await readStacks(browser, thread, 400, 150);
    const times = await timesOfColumns(browser, thread, 400, 150);
    stacks.forEach((stack, x) => {
      const where = `thread ${thread}, column ${400 + x}: ` + JSON.stringify([stack, times[x]]);
      assert.ok(stack.lines >= 10 && times[x].operations > 1, where);
      assert.deepEqual(stack.order, kinds.filter((name) => stack[name]), where);
      for (const name of kinds) {
        const lines = times[x][name] * stack.lines, drawn = stack[name] || 0;
        assert.ok(Math.abs(drawn - lines) <= 2, `${name}, ${where}`);
        if (times[x][name] > 0.01) assert.ok(drawn > 0, `${name}, ${where}`);
      }
      looked += stack.order.length === 3;
    });
  }
  assert.ok(looked > 300, `${looked} columns of all three`);
});

check('rows of few lines have these shares over some columns', async (browser) => {
  for (let i = 0; i < 11; i++)
    await browser.run(`document.getElementById('es-rows-out').click();`);
  for (let thread = 0; thread < 4; thread++) {
    const stacks = await readStacks(browser, thread, 400, 400);
    const times = await timesOfColumns(browser, thread, 400, 400);
    const lines = stacks.reduce((all, stack) => all + stack.lines, 0);
    assert.ok(lines <= 3 * stacks.length, `${lines} lines`);
    for (const name of ['waiting', 'transferring', 'computing']) {
      const drawn = stacks.reduce((all, stack) => all + (stack[name] || 0), 0) / lines;
      const share = times.reduce((all, time) => all + time[name], 0) / times.length;
      assert.ok(Math.abs(drawn - share) < 0.03, `thread ${thread}: ${name} ${share}, drawn ${drawn}`);
    }
  }
  await browser.run('report.reset();');
});

check('the chosen step is seen among many in its column', async (browser) => {
  await browser.run('report.selectStep(1000);');
  for (let thread = 0; thread < 4; thread++) {
    const x = Math.round(await browser.run(`const op = report.intervals(arguments[0])
      .find((o) => o.step === 1000); return report.xOf(op.startNs);`, thread));
    const stacks = await readStacks(browser, thread, x - 3, 8);
    const most = Math.max(...stacks.map((stack) => (stack.chosen || 0) / stack.lines));
    assert.ok(most > 0.25 && most < 0.75, JSON.stringify(stacks));
    assert.ok(stacks.every((stack) => stack.computing > 0), JSON.stringify(stacks));
  }
  await browser.run('report.selectStep(0);');
});

/* A copy of a report in which the first thread's operation number `index` has
 * failed. Statuses are a text of their own, a byte each while they are small:
 * see viewer/timeline/timeline_json.c. */
function withFailure(file, index) {
  const text = readFileSync(file, 'utf8');
  const [, before, base64] = text.match(/^([^]*"status":")([A-Za-z0-9+/=]+)"/);
  const bytes = inflateRawSync(Buffer.from(base64, 'base64'));
  assert.equal(bytes[index], 0);
  bytes[index] = 1;
  const failing = file.replace('.html', '-failing.html');
  const whole = before + deflateRawSync(bytes).toString('base64') +
    text.slice(before.length + base64.length);
  writeFileSync(failing, whole.replace(/"statuses":\{(\}?)/,
    (_, end) => '"statuses":{"1":"failed"' + (end || ',')));
  return failing;
}

check('a failed operation is seen among many in its column', async (browser) => {
  await openReport(browser, withFailure(join(folder, 'dense.html'), 3000));
  const [op, x, failures] = await browser.run(`const ops = report.intervals(0);
    return [ops[3000], report.xOf(ops[3000].startNs), ops.filter((o) => o.status).length];`);
  assert.equal(failures, 1);
  assert.ok(op.endNs > op.startNs);
  const stacks = await readStacks(browser, 0, Math.floor(x), 2);
  for (const {failed, computing, lines} of stacks)
    assert.ok(failed >= lines * 0.25 && computing > 0, JSON.stringify(stacks));
  assert.match(await browser.run(`return document.querySelector('.legend').innerText;`),
    /failed operation/);
});

/* The colour of a pixel of the picture that was drawn last. */
const pixelAt = (browser, x, y) => browser.run(`const c = document.getElementById('es-bars')
  .getContext('2d').getImageData(arguments[0], arguments[1], 1, 1).data;
  return [...c].slice(0, 3);`, Math.floor(x), Math.floor(y));

check('without regions there are no bands, and no word of them', async (browser) => {
  assert.deepEqual(await browser.run('return report.regionNames;'), []);
  assert.equal(await browser.run(`return [...document.querySelectorAll('[data-regions]')]
    .filter((part) => !part.hidden).length;`), 0);
  assert.equal(await browser.run('return report.bandOf(0, 0).height || 0;'), 0);
});

check('regions are bands below the bars, by their times', async (browser) => {
  await openReport(browser, reportOf('regions', 6, 2, 20, 'regions'));
  const names = await browser.run('return report.regionNames;');
  assert.deepEqual(names, ['main', 'solve </script><b>']);
  await browser.run('report.setVisibleRange(3e7, 8e7); report.draw();');
  const colours = await browser.run('return [0, 1].map(report.regionColour);');
  const shown = await range(browser);
  let looked = 0, blank = 0;
  for (let thread = 0; thread < 6; thread++) {
    const [times, bands, bar] = await browser.run(`return [report.regionsOf(arguments[0]),
      [0, 1].map((level) => report.bandOf(arguments[0], level)), report.rowOf(arguments[0])];`,
    thread);
    assert.equal(times.filter((t) => t.depth === 0).length, 1);
    assert.equal(times.filter((t) => t.depth === 1).length, 20);
    assert.ok(bands[0].top > bar.top + bar.height * 0.3 && bands[0].height > 3);
    assert.ok(bands[1].top + bands[1].height <= bar.top + bar.height);
    for (const time of times) {
      const from = Math.max(time.startNs, shown.startNs), to = Math.min(time.endNs, shown.endNs);
      if (to - from < 1e6) continue;
      const x = await browser.run('return report.xOf(arguments[0]);', (from + to) / 2);
      const band = bands[time.depth];
      assert.deepEqual(await pixelAt(browser, x, band.top + band.height / 2), colours[time.name],
        `thread ${thread}, ${names[time.name]} at ${time.startNs}`);
      looked++;
    }
    /* Between two times of "solve" the lower band is blank. */
    const solves = times.filter((t) => t.depth === 1 && t.startNs > shown.startNs);
    const gap = await browser.run('return report.xOf(arguments[0]);',
      (solves[0].endNs + solves[1].startNs) / 2);
    const idle = await browser.run('return report.colours.idle;');
    assert.deepEqual(await pixelAt(browser, gap, bands[1].top + bands[1].height / 2), idle);
    blank++;
  }
  assert.ok(looked > 40 && blank === 6, `${looked} ${blank}`);
  await browser.picture('regions.png');
});

check('the bars above the bands are as without them', async (browser) => {
  const seen = await browser.run(`const c = document.getElementById('es-bars').getContext('2d');
    const row = report.rowOf(2), band = report.bandOf(2, 0);
    const op = report.intervals(2).find((o) => o.startNs > 4e7);
    const at = (ns) => [...c.getImageData(Math.floor(report.xOf(ns)),
      Math.round(row.top + (band.top - row.top) / 2), 1, 1).data].slice(0, 3);
    return [at(op.startNs - 1e6), report.colours.computing];`);
  assert.deepEqual(seen[0], seen[1]);
});

check('the legend and the pointer name regions', async (browser) => {
  const legend = await browser.run(`const box = document.getElementById('es-regions');
    return [box.hidden, box.innerText, [...box.querySelectorAll('.key')].map((key) =>
      getComputedStyle(key).backgroundColor)];`);
  const colours = await browser.run('return [0, 1].map(report.regionColour);');
  assert.equal(legend[0], false);
  assert.match(legend[1], /Regions:\s+main\s+solve <\/script><b>/);
  assert.deepEqual(legend[2], colours.map((c) => `rgb(${c.join(', ')})`));
  const place = await browser.run(`const time = report.regionsOf(3)
    .filter((t) => t.depth === 1 && t.startNs > 4e7)[0], band = report.bandOf(3, 1);
    return {time, x: report.xOf((time.startNs + time.endNs) / 2),
      y: band.top + band.height / 2, bar: report.rowOf(3).top + 3};`);
  await pointer(browser, place.x, place.y);
  const tip = () => browser.run(`const tip = document.getElementById('es-tip');
    return tip.hidden ? '' : tip.innerText;`);
  const text = await until('the tip is shown', tip);
  const said = Object.fromEntries(text.split('\n').map((line) => line.split('\t')));
  assert.match(text, /^solve <\/script><b>\s+t3 on h1/);
  assert.equal(said.within, 'main');
  assert.ok(Math.abs(parseFloat(said.start) - place.time.startNs / 1e6) < 0.001, text);
  assert.ok(Math.abs(parseFloat(said.end) - place.time.endNs / 1e6) < 0.001, text);
  await browser.picture('regions-tip.png');
  await pointer(browser, place.x, place.y, DOWN, UP); /* chooses nothing */
  assert.equal(await browser.run('return report.selectedStep();'), 0);
  await pointer(browser, place.x, place.bar);
  assert.match(await until('the bar is told', async () =>
    /computing/.test(await tip()) && tip()), /region\s+main \u203a solve/);
});

check('low rows have no bands', async (browser) => {
  for (let i = 0; i < 8; i++)
    await browser.run(`document.getElementById('es-rows-out').click();`);
  assert.ok((await range(browser)).rowHeight < 10);
  assert.equal(await browser.run('report.draw(); return report.bandOf(0, 0).height;'), 0);
  await browser.run('report.reset();');
});

check('a short time in a region is seen', async (browser) => {
  await openReport(browser, reportOf('short-regions', 2, 1, 3000, 'regions'));
  await browser.run('report.reset(); report.draw();');
  const [top, colours, idle] = await browser.run(`const band = report.bandOf(0, 1);
    return [band.top + band.height / 2, [0, 1].map(report.regionColour), report.colours.idle];`);
  /* Each step takes less than a pixel, and most of it is "solve". */
  const data = await browser.run(`return [...document.getElementById('es-bars').getContext('2d')
    .getImageData(400, arguments[0], 400, 1).data];`, Math.floor(top));
  const like = (c, i) => c.every((v, k) => v === data[4 * i + k]);
  const solve = d(400).filter((i) => like(colours[1], i)).length;
  assert.equal(solve + d(400).filter((i) => like(idle, i)).length, 400);
  assert.ok(solve > 300, `${solve} of 400 columns`);
});
const d = (count) => Array.from({length: count}, (_, i) => i);

check('very many short times in regions are summed by stretches', async (browser) => {
  const file = reportOf('many-regions', 2, 1, 130000, 'regions');
  const rows = execFileSync(command, ['view', join(folder, 'many-regions'), 'regions', '--detail',
    '--format=csv'], {encoding: 'utf8', maxBuffer: 1 << 28}).trim().split('\n').slice(1)
    .map((line) => line.split(',')).filter((row) => row[2] === '1' && row[4] === '1');
  assert.equal(rows.length, 130000);
  await openReport(browser, file);
  const {names, bands, begin, last, ns} = await browser.run(`return {names: report.regionNames,
    bands: report.regionsOf(1), begin: report.visibleRange().startNs,
    last: report.visibleRange().endNs, ns: report.stretchNs};`);
  assert.equal(bands.filter(({depth}) => depth === 0).length, 1);
  const summed = bands.filter(({depth}) => depth === 1);
  assert.ok(summed.length < 40000 && ns > 0, `${summed.length} of ${ns} ns`);
  /* As the view has it, cut at the stretches, up to the end of the page. */
  const sums = new Map();
  for (const row of rows)
    for (let start = +row[5]; start < Math.min(+row[6], last);) {
      const stretch = Math.floor((start - begin) / ns);
      const end = Math.min(+row[6], last, begin + (stretch + 1) * ns);
      sums.set(stretch, (sums.get(stretch) ?? 0) + end - start);
      start = end;
    }
  assert.deepEqual(summed.map(({startNs}) => (startNs - begin) / ns), [...sums.keys()]);
  assert.deepEqual(summed.map(({startNs, endNs}) => endNs - startNs), [...sums.values()]);
  assert.ok(summed.every(({name}) => names[name] === 'solve </script><b>'));
  assert.match(await browser.run(`return document.getElementById('es-regions').innerText;`),
    /sums of each [0-9.]+ ms/);
  await browser.run(`report.setVisibleRange(arguments[0] + arguments[1] * 100,
    arguments[0] + arguments[1] * 110); report.draw();`, begin, ns);
  const place = await browser.run(`const band = report.bandOf(1, 1);
    return [report.xOf(arguments[0]), band.top + band.height / 2];`, begin + ns * 103.3);
  await pointer(browser, ...place);
  const tip = await until('the tip is shown', () => browser.run(`const tip =
    document.getElementById('es-tip'); return tip.hidden ? '' : tip.innerText;`));
  const [all] = tip.match(/in all.*/);
  assert.ok(Math.abs(all.match(/([0-9.]+) ms of/)[1] * 1e6 - sums.get(103)) < 1000,
    `${tip}: ${sums.get(103)}`);
});

check('without collectors at elements waiting is not told apart', async (browser) => {
  await openReport(browser, reportOf('tops', 4, 4, 20));
  assert.equal(await browser.run('return report.waitsKnown;'), false);
  await browser.run('report.setVisibleRange(2e7, 8e7);');
  const seen = await countPixels(browser, 0);
  assert.equal(communicating(seen), 0);
  assert.ok(seen.communicating > 10, `${seen.communicating} pixels`);
  const legend = await browser.run(`return document.querySelector('.legend').innerText;`);
  assert.match(legend, /communicating/);
  assert.doesNotMatch(legend, /waiting|transferring/);
});

/* The texts of a panel: its heading, its heads, its rows and its note. */
const panelOf = (browser, number) => browser.run(`
  const table = document.getElementById('es-panel-' + arguments[0]);
  const section = table.closest('section'), note = section.querySelector('details p');
  return {title: section.querySelector('h3').textContent,
    heads: [...table.querySelectorAll('th button')].map((head) => head.textContent),
    rows: [...table.querySelectorAll('tbody tr')].map((row) =>
      [...row.cells].map((cell) => cell.textContent)),
    note: note && note.textContent};`, number);

const SCRIPTS = {
  first: `-- title: Longest </script><b>
-- chart: bar
-- columns: thread, longest_ns
-- param: least=1
select thread, longest_ns, communicating_share, operations * 1000 as operations, number,
  case when number < 2 then 0.25 end as part_of
from communication where number >= :least order by number desc`,
  second: `select number as n from event e join thread t on t.number = e.thread
order by e.start_ns`,
  third: `-- chart: matrix
-- columns: at, one, two
-- title: Squares
with recursive i(n) as (select 0 union all select n + 1 from i where n < 299)
select n as at, n % 7 as one, case when n >= 150 then 3 end as two from i`,
};

check('view scripts are panels, in the order of the script', async (browser) => {
  for (const [name, text] of Object.entries(SCRIPTS))
    writeFileSync(join(folder, name + '.sql'), text);
  const run = join(folder, 'panels'), file = join(folder, 'panels.html');
  execFileSync(makeRun, [run, '4', '2', '200', 'hops'], {stdio: 'inherit'});
  const scripts = Object.keys(SCRIPTS).map((name) => '--script=' + join(folder, name + '.sql'));
  execFileSync(command, ['report', run, '-o', file, ...scripts], {stdio: 'inherit'});
  await openReport(browser, file);
  const first = await panelOf(browser, 0);
  assert.equal(first.title, 'Longest </script><b>');
  assert.deepEqual(first.heads, ['thread', 'longest', 'communicating share', 'operations', 'number',
    'part of']);
  assert.deepEqual(first.rows.map((row) => row[0]), ['t3', 't2', 't1 </script><b>&"']);
  const threads = await browser.run('return report.threads;');
  const nsOf = (text) => parseFloat(text) * (/ ms$/.test(text) ? 1e6 : / \u00b5s$/.test(text) ? 1e3 : NaN);
  first.rows.forEach((row, i) => {
    assert.ok(Math.abs(nsOf(row[1]) - threads[3 - i].longestNs) < 1000, row[1]);
    assert.equal(row[3], threads[3 - i].operations + ',000');
    assert.match(row[2], /^[0-9.]+%$/);
    assert.equal(row[4], String(3 - i));
    assert.equal(row[5], i === 2 ? '0.25' : '');
  });
  assert.equal(first.note, null);
  const second = await panelOf(browser, 1);
  assert.equal(second.title, 'second.sql');
  assert.equal(second.rows.length, 1000);
  assert.match(second.note, /^The first 1,000 of [1-9],[0-9]{3} rows\.$/);
  await browser.run(`document.querySelector('#es-panel-0 th button').click();`);
  const sorted = (await panelOf(browser, 0)).rows.map((row) => row[0]);
  assert.deepEqual(sorted, ['t1 </script><b>&"', 't2', 't3']);
  const cells = await browser.run(`
    report.drawPanels();
    const section = document.getElementById('es-panel-2').closest('section');
    return [...section.querySelectorAll('rect.cell title')].map((title) => title.textContent);`);
  /* Two rows in a square, the larger of them; what is not known has none. */
  assert.equal(cells.filter((text) => /^one, /.test(text)).length, 150);
  assert.equal(cells.filter((text) => /^two, .*: 3$/.test(text)).length, 75);
  assert.ok(cells.includes('one, 0: 1') && cells.includes('one, 6: 6'), cells.slice(0, 5).join());
  await browser.run(`document.getElementById('es-panels').scrollIntoView();`);
  await browser.picture('panels.png');
});

check('panels of a page of a window say that they are of all', async (browser) => {
  const run = join(folder, 'panels'), file = join(folder, 'panels-window.html');
  execFileSync(command, ['report', run, '-o', file, '--from=100ms', '--param=least=3',
    '--script=' + join(folder, 'first.sql')], {stdio: 'inherit'});
  await openReport(browser, file);
  const {rows, note} = await panelOf(browser, 0);
  assert.deepEqual(rows.map((row) => row[0]), ['t3']);
  assert.equal(note, 'Of the whole run.');
});

check('332 threads and 200 steps load and move (the times are told)', async (browser) => {
  await openReport(browser, reportOf('large', 332, 20, 200));
  const [loadMs, count] = await browser.run(
    'return [report.loadMs, report.operationCount];');
  const drawMs = await browser.run(`
    const start = performance.now();
    for (let i = 0; i < 10; i++) report.draw();
    return (performance.now() - start) / 10;`);
  console.log(`  ${count} operations, ready after ${Math.round(loadMs)} ms, ` +
    `${drawMs.toFixed(1)} ms a frame`);
  assert.equal(count, 331 * 4 * 200);
  await browser.run('report.selectStep(120);');
  await browser.picture('large.png');
  const chosen = await browser.run(`return report.threads.filter((t) => t.steps < 120).length;`);
  assert.equal(chosen, 0);
  await browser.run('report.setVisibleRange(4e8, 6e8);');
  await browser.picture('large-near.png');
});

/* What linear red, green and blue become for those who lack one kind of cones
 * (Machado, Oliveira and Fernandes 2009, severity 1). */
const SIGHTS = {
  all: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
    [-0.011820, 0.042940, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.303900]],
};

/* A colour as [L, a, b] of CIELAB, by one of these sights. */
function seenColour(colour, sight) {
  const linear = colour.map((v) => v / 255 <= 0.04045 ? v / 255 / 12.92 :
    ((v / 255 + 0.055) / 1.055) ** 2.4);
  const [r, g, b] = sight.map((row) => Math.min(1, Math.max(0,
    row.reduce((sum, weight, k) => sum + weight * linear[k], 0))));
  const [x, y, z] = [(0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
    0.2126 * r + 0.7152 * g + 0.0722 * b,
    (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089]
    .map((t) => t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116);
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/* Differences of about 2 are just seen. */
async function checkHue(browser) {
  const colours = await browser.run(`return {...report.colours,
    page: getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)};`);
  for (const [name, sight] of Object.entries(SIGHTS))
    for (const one of ['computing', 'runnable', 'sleeping'])
      for (const other of ['waiting', 'transferring', 'communicating', 'computing', 'runnable',
        'sleeping', 'idle', 'page', 'chosen', 'chosen-waiting', 'chosen-computing', 'failed',
        'pending']) {
        if (one === other) continue;
        const a = seenColour(colours[one], sight), b = seenColour(colours[other], sight);
        const difference = Math.hypot(...a.map((v, k) => v - b[k]));
        assert.ok(difference > 18, `${one} and ${other}, ${name}: ${difference}`);
      }
}

check('what threads do between operations is told apart from all else by everybody', checkHue);

/* By lightness, so that nobody has to tell colours apart. */
async function checkLightness(browser) {
  const names = ['waiting', 'transferring', 'computing'];
  const light = await browser.run(`return arguments[0].map((name) => {
    const [r, g, b] = report.colours[name]; return 0.2126 * r + 0.7152 * g + 0.0722 * b; });`,
  names);
  assert.ok(light[0] + 60 < light[1] && light[1] + 50 < light[2], light.join());
  const [one, other] = await browser.run(
    'return [report.colours.communicating, report.colours.computing];');
  assert.ok(Math.max(...one) < Math.min(...other));
}

check('waiting is darker than transferring, and that than computing', checkLightness);

check('no script has reported an error', async (browser) => {
  const errors = (await browser.log()).filter((entry) => entry.level === 'SEVERE');
  assert.deepEqual(errors, []);
});

/* --- */

async function main() {
  let failures = 0, browser;
  const {driver, address} = await startDriver();
  try {
    browser = await openBrowser(address, 1500, 1000);
    for (const {name, run} of checks) failures += !await holds(name, () => run(browser));
    const others = [['no table scrolls sideways at 1300 pixels', fitNarrow],
      ['dark pages keep that order, and hue', drawDark]];
    for (const [name, run] of others) failures += !await holds(name, () => run(address));
  } finally {
    await browser?.close();
    process.kill(-driver.pid); /* the driver's own process group */
    rmSync(folder, {recursive: true, force: true, maxRetries: 20});
  }
  return failures ? 1 : 0;
}

async function fitNarrow(address) {
  const browser = await openBrowser(address, 1300, 1000);
  try {
    for (const name of ['eight', 'dense', 'tops', 'killed', 'large',
      'off', 'hanging', 'regions', 'panels']) {
      await openReport(browser, join(folder, name + '.html'));
      const wide = await browser.run(`
        const boxes = {page: document.documentElement};
        for (const table of ['threads', 'paths', 'pending'])
          boxes[table] = document.getElementById('es-' + table).parentNode;
        return Object.entries(boxes).filter(([, box]) => box.scrollWidth > box.clientWidth)
          .map(([name, box]) => [name, box.scrollWidth, box.clientWidth]);`);
      assert.deepEqual(wide, [], name);
      assert.ok(await browser.run('return window.innerWidth <= 1300;'));
    }
    await browser.picture('narrow.png');
  } finally {
    await browser.close();
  }
}

async function drawDark(address) {
  const browser = await openBrowser(address, 1500, 1000,
    ['--blink-settings=preferredColorScheme=0']);
  await openReport(browser, join(folder, 'killed.html'));
  await browser.run('report.selectStep(20); report.draw();');
  await browser.picture('dark.png');
  try {
    assert.ok(await browser.run(
      `return matchMedia('(prefers-color-scheme: dark)').matches;`));
    await checkLightness(browser);
    await checkHue(browser);
  } finally {
    await browser.close();
  }
}

process.exit(await main());
