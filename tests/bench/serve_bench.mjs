/* serve_bench.mjs - what it costs a program that runs are followed in browsers.
 *
 *     serve_bench.mjs BIN [TURNS [ROUNDS]]
 *
 * One JSON object per line, as of `./bootstrap bench`.
 *
 *   serve.gsum         seconds that gsum takes on one processor, while ten
 *                      clients follow it on another one: frames, and each second
 *                      the strip and the report of the last five seconds; limit:
 *                      without a server. The median of the ratios of turns, whose
 *                      order changes, as such a program's speed drifts; on a
 *                      virtual machine one turn is off by a tenth, so there
 *                      are many
 *   serve.ten          seconds of processor time of the server with ten clients;
 *                      limit: with one */
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

async function turn(clients) {
  const launched = spawn('taskset', ['-c', '0', eventspace, 'run', 'map.dot', '--output=RUN', '--',
    gsum, 'run'], {stdio: 'ignore'});
  const over = new Promise((resolve) => launched.on('close', resolve));
  let server = null, leave = [], used = 0;
  if (clients > 0) {
    while (spawnSync(eventspace, ['info', 'RUN'], {stdio: 'ignore'}).status !== 0)
      await new Promise((resolve) => setTimeout(resolve, 10));
    server = await serve('RUN', 'taskset', '-c', '1');
    leave = Array.from({length: clients}, () => client(server));
  }
  await over;
  if (server) {
    used = processorSeconds(server);
    leave.forEach((end) => end());
    await stop(server);
  }
  const {total} = JSON.parse(output(eventspace, 'info', 'RUN', '--format=json'));
  rmSync('RUN', {recursive: true});
  return {seconds: total.lasted_ns / 1e9, used};
}

async function cost(turns = 15) {
  const clients = [0, 1, 10], ratios = [], ten = [];
  const told = {0: [], 1: [], 10: []};
  for (let i = 0; i < turns; i++) {
    const here = {};
    for (let k = 0; k < clients.length; k++) {
      const count = clients[(i + k) % clients.length];
      here[count] = await turn(count);
      told[count].push(here[count].seconds);
    }
    ratios.push(here[10].seconds / here[0].seconds);
    ten.push([here[10].used, here[1].used]);
  }
  const bare = median(told[0]);
  print('serve.gsum', bare * median(ratios), 's', bare);
  print('serve.ten', median(ten.map(([used]) => used)), 's', median(ten.map(([, one]) => one)));
}

const folder = mkdtempSync(join(tmpdir(), 'eventspace-serve-'));
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));
process.chdir(folder);
const [turns, rounds] = rest.map(Number);
writeFileSync('app.dot', output(gsum, 'mapping', '--threads=4', `--rounds=${rounds || 300000}`));
output(eventspace, 'map', 'generate', '--application=app.dot', '--processes=1', '--output=a.dot');
output(eventspace, 'map', 'instrument', 'a.dot', '--output=map.dot');
await cost(turns);
process.exit(0);
