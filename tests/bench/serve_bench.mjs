/* serve_bench.mjs - what it costs a program that runs are followed in browsers.
 *
 *     taskset -c 1 node serve_bench.mjs BIN [TURNS [SECONDS]]
 *
 * One JSON object per line, as of `./bootstrap bench`.
 *
 *   serve.gsum         ns that gsum takes for an event on one processor, while ten
 *                      clients follow it on another one: frames, and each second
 *                      the strip and the report of the last five seconds; limit:
 *                      without a server
 *   serve.ten          how much of its processor the server takes with ten
 *                      clients; limit: with one
 *
 * On a virtual machine one run of gsum is a tenth or a third faster than another
 * one, so all is of one run: it goes on, and for some time in turn a server with
 * ten clients begins and ends, or there is none. With the server's begin, its
 * reading of what was before, and the first report, this is more than it costs
 * later on. The clients share the server's processor. The medians of the turns'
 * ratios are told. */
import {spawn, spawnSync} from 'node:child_process';
import http from 'node:http';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const [bin, ...rest] = process.argv.slice(2);
const eventspace = join(bin, 'eventspace'), gsum = join(bin, 'gsum');

function output(program, ...words) {
  const done = spawnSync(program, words, {encoding: 'utf8'});
  if (done.status !== 0) throw new Error(`${program} ${words.join(' ')}: ${done.stderr}`);
  return done.stdout;
}
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
function print(name, value, unit, limit) {
  console.log(JSON.stringify({name, value, unit, limit, ratio: value / limit}));
}

/* --- servers and clients --- */

function serve(run, ...before) {
  const [program, ...words] = [...before, eventspace, 'serve', run];
  const child = spawn(program, words, {stdio: ['ignore', 'pipe', 'inherit']});
  return new Promise((resolve, reject) => {
    let said = '';
    child.on('close', () => reject(new Error('the server has ended')));
    child.stdout.on('data', (text) => {
      said += text;
      if (said.includes('\n')) resolve({child, address: said.trim()});
    });
  });
}

function stop({child}) {
  return new Promise((resolve) => {
    child.removeAllListeners('close');
    child.on('close', resolve);
    child.kill('SIGTERM');
  });
}

const ask = (address) => new Promise((resolve) => {
  http.get(address, {agent: false}, (answer) => {
    answer.resume().on('end', resolve).on('error', resolve);
  }).on('error', resolve);
});

/* What a page does. */
function client({address}) {
  const request = http.get(`${address}live`, {agent: false}, (answer) => {
    answer.resume().on('error', () => {});
  });
  request.on('error', () => {});
  const timer = setInterval(() => {
    ask(`${address}history?run=0`);
    ask(`${address}report?run=0&last=5s`);
  }, 1000);
  return () => {
    clearInterval(timer);
    request.destroy();
  };
}

/* In hundredths of a second: user and system. */
function processorSeconds({child}) {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/* --- gsum --- */

const nap = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const recorded = () => JSON.parse(output('taskset', '-c', '1', eventspace, 'info', 'RUN',
  '--format=json')).total.events_recorded;

/* After a server has ended, nothing is measured for a moment. */
const SETTLES_MS = 500;

/* Of some time with so many clients: ns an event, and the server's share of a
 * processor. */
async function look(count, ms) {
  await nap(SETTLES_MS);
  const before = recorded(), begin = performance.now();
  const server = count ? await serve('RUN', 'taskset', '-c', '1') : null;
  const leave = Array.from({length: count}, () => client(server));
  await nap(begin + ms - performance.now());
  const events = recorded() - before, took = performance.now() - begin;
  const share = server ? processorSeconds(server) * 1000 / took : 0;
  leave.forEach((end) => end());
  if (server) await stop(server);
  return {ns: took * 1e6 / events, share};
}

/* Those with nobody and with ten change places from turn to turn. */
async function turn(i, ms) {
  const one = await look(1, ms);
  if (i % 2) {
    const alone = await look(0, ms);
    return {one, alone, ten: await look(10, ms)};
  }
  const ten = await look(10, ms);
  return {one, ten, alone: await look(0, ms)};
}

async function cost(turns, ms) {
  const seen = [];
  for (let i = 0; i < turns; i++) seen.push(await turn(i, ms));
  const alone = median(seen.map((here) => here.alone.ns));
  print('serve.gsum', alone * median(seen.map((here) => here.ten.ns / here.alone.ns)), 'ns',
    alone);
  print('serve.ten', median(seen.map((here) => here.ten.share)), 'of 1',
    median(seen.map((here) => here.one.share)));
}

const folder = mkdtempSync(join(tmpdir(), 'eventspace-serve-'));
process.chdir(folder);
const [turns, seconds] = rest.map(Number);
writeFileSync('app.dot', output(gsum, 'mapping', '--threads=4', '--rounds=1000000000'));
output(eventspace, 'map', 'generate', '--application=app.dot', '--processes=1', '--output=a.dot');
output(eventspace, 'map', 'instrument', 'a.dot', '--output=map.dot');
const launched = spawn('taskset', ['-c', '0', eventspace, 'run', 'map.dot', '--output=RUN',
  '--end-all', '--', gsum, 'run'], {stdio: 'ignore'});
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));
while (spawnSync(eventspace, ['info', 'RUN'], {stdio: 'ignore'}).status !== 0) await nap(10);
await cost(turns || 7, (seconds || 20) * 1000);
const over = new Promise((resolve) => launched.on('close', resolve));
launched.kill('SIGTERM');
await over;
process.exit(0);
