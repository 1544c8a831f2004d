/* serve_large_bench.mjs - how long it takes until a browser shows a run of 100
 * million events that `eventspace serve` was just started for.
 *
 *     node serve_large_bench.mjs EVENTSPACE REPORT_TEST_RUN
 *
 * Prints a line of JSON for each figure, from the start of the command: until
 * the page has drawn a first picture of what threads did, until that is all of
 * the run, and until the report of its end is shown. What is wanted: the first
 * picture in 5 s. The limit is what it takes to read as many bytes. */
import {execFileSync, spawn} from 'node:child_process';
import {closeSync, mkdtempSync, openSync, readSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {openBrowser, startDriver} from '../viewer/browser.mjs';

const [command, makeRun] = process.argv.slice(2);
const THREADS = 64, PROCESSES = 8, STEPS = 400000, TURNS = 3;
const folder = mkdtempSync(join(tmpdir(), 'eventspace-serve-'));
const run = join(folder, 'run');

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
function tell(name, value, limit) {
  console.log(JSON.stringify({name, value: +value.toPrecision(4), unit: 'ms',
    limit: +limit.toPrecision(4), ratio: +(value / limit).toPrecision(4)}));
}

function readAllMs() {
  const buffer = Buffer.alloc(1 << 20), begin = performance.now();
  for (const name of readdirSync(run)) {
    const file = openSync(join(run, name));
    while (readSync(file, buffer) > 0);
    closeSync(file);
  }
  return performance.now() - begin;
}

function serve() {
  const child = spawn(command, ['serve', run], {stdio: ['ignore', 'pipe', 'inherit']});
  return new Promise((resolve) => child.stdout.once('data', (text) =>
    resolve({child, address: String(text).trim()})));
}

async function one(driver) {
  const browser = await openBrowser(driver, {folder, width: 1500, height: 1000});
  const begin = performance.now(), times = {};
  const {child, address} = await serve();
  const until = async (name, what) => {
    while (!await browser.run(`const live = window.eventspaceLive; return !!(${what});`));
    times[name] = performance.now() - begin;
  };
  try {
    await browser.go(address);
    await until('first', 'live?.history(0)?.threads.some(({communicating_ns: ns}) => ns.some(Boolean))');
    await until('all', 'live.history(0).read_ns === null');
    await until('report', 'live.reports(0) > 0');
  } finally {
    child.kill();
    await browser.close();
  }
  return times;
}

try {
  execFileSync(makeRun, [run, THREADS, PROCESSES, STEPS].map(String));
  const {driver, address} = await startDriver();
  const turns = [], reads = [];
  for (let turn = 0; turn < TURNS; turn++) {
    reads.push(readAllMs());
    turns.push(await one(address));
  }
  process.kill(-driver.pid);
  for (const name of ['first', 'all', 'report'])
    tell(`serve.large.${name}`, median(turns.map((times) => times[name])), median(reads));
} finally {
  rmSync(folder, {recursive: true, force: true, maxRetries: 20});
}
