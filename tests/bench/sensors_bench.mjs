/* sensors_bench.mjs - what sensors and their histories cost.
 *
 *     node sensors_bench.mjs EVENTSPACE [SECONDS]
 *
 * One JSON object per line, as of `./bootstrap bench`.
 *
 *   watch.share     share of a processor that `watch` takes for 101 series: its own
 *                   processors every 5 s, and 50 links every 10 s; limit: what is
 *                   wanted, 0.005
 *   history.year    ms in which a year is read and its row is printed: two days of
 *                   samples every 5 s, a month of minutes, the rest of ten minutes;
 *                   limit: a copy of the file by cat
 *   history.dense   ms of the same for a year of samples every 5 s, as none are kept
 *                   in files; limit: as above */
import {spawn, spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const [eventspace, seconds] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'eventspace-sensors-'));
const DAY_MS = 86400000, END_MS = 1764216000000, LINKS = 50;
const nap = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const print = (name, value, unit, limit) =>
  console.log(JSON.stringify({name, value, unit, limit, ratio: value / limit}));

/* --- watch --- */

/* In hundredths of a second: user and system. */
function used({pid}) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function share(ms) {
  const port = 20000 + process.pid % 20000, address = `127.0.0.1:${port}`;
  const other = spawn(eventspace, ['netbench', '--serve', '--listen', address],
    {stdio: 'ignore'});
  const links = Array.from({length: LINKS}, (_, i) => `--measure-link=n${i + 1}=${address}`);
  const watch = spawn(eventspace, ['watch', '--machine=n0', `--output=${join(folder, 'w')}`,
    ...links], {stdio: ['ignore', 'ignore', 'inherit']});
  await nap(2000);
  const before = used(watch), begin = performance.now();
  await nap(ms);
  const value = (used(watch) - before) * 1000 / (performance.now() - begin);
  watch.kill();
  other.kill();
  return value;
}

/* --- histories --- */

const head = '# eventspace history 1\n# series: availability of n0\n# unit: share\n' +
  '# interval: 5000 ms\n';
const value = (i) => (0.5 + 0.4 * Math.sin(i / 900) + 0.05 * Math.sin(7.7 * i)).toPrecision(9);

function year() {
  const rows = [];
  let at = END_MS - 365 * DAY_MS;
  for (; at < END_MS - 30 * DAY_MS; at += 600000)
    rows.push(`${at},${value(at / 5000)},600000,120,0.01,0.01,0.99`);
  for (; at < END_MS - 2 * DAY_MS; at += 60000)
    rows.push(`${at},${value(at / 5000)},60000,12,0.01,0.01,0.99`);
  for (; at < END_MS; at += 5000) rows.push(`${at},${value(at / 5000)}`);
  return `${head}${rows.join('\n')}\n`;
}

function dense() {
  const rows = [];
  for (let at = END_MS - 365 * DAY_MS; at < END_MS; at += 5000)
    rows.push(`${at},${value(at / 5000)}`);
  return `${head}${rows.join('\n')}\n`;
}

function time(program, ...words) {
  return median(Array.from({length: 5}, () => {
    const begin = performance.now();
    const done = spawnSync(program, words, {stdio: ['ignore', 'ignore', 'inherit']});
    if (done.status !== 0) throw new Error(`${program} ${words.join(' ')}`);
    return performance.now() - begin;
  }));
}

function read(name, text) {
  const file = join(folder, `${name}.history`);
  writeFileSync(file, text);
  print(`history.${name}`, time(eventspace, 'history', '--last=60min', file), 'ms',
    time('cat', file));
}

try {
  read('year', year());
  read('dense', dense());
  print('watch.share', await share((seconds || 60) * 1000), 'of 1', 0.005);
} finally {
  rmSync(folder, {recursive: true, force: true});
}
