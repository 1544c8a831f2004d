/* serve_test.mjs - eventspace serve, over sockets: what it answers to those who
 * may ask, and to those who may not.
 *
 *     node serve_test.mjs EVENTSPACE GSUM SERVE_APP
 *
 * Views are compared with `eventspace view`. The exit code is 0 when all checks
 * hold. */
import http from 'node:http';
import net from 'node:net';
import assert from 'node:assert/strict';
import {copyFileSync, cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync}
  from 'node:fs';
import {join} from 'node:path';
import {beginRun, command, gsum, output, serve, start, until} from './serve_run.mjs';

/* --- asking --- */

/* Not fetch: it would put right what is wrong on purpose. */
function ask(server, path, {method = 'GET', headers = {}, body} = {}) {
  return new Promise((resolve, reject) => {
    const request = http.request({host: server.hostname, port: server.port, path, method,
      headers, agent: false}, (answer) => {
      let text = '';
      answer.on('data', (part) => { text += part; });
      answer.on('end', () => resolve({status: answer.statusCode, headers: answer.headers, text}));
      answer.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}
const behind = (server, path, options) => ask(server, `/${server.token}/${path}`, options);

async function refused(answer, status, text) {
  const {status: got, text: said, headers} = await answer;
  assert.equal(got, status, said);
  assert.match(said, text);
  assert.equal(headers['x-content-type-options'], 'nosniff');
  return headers;
}

/* Reads server-sent events; `frames` has {id, data} of each, in order. */
function follow(server) {
  const follower = {frames: [], ended: false};
  const request = http.get(`${server.address}live`, {agent: false}, (answer) => {
    let text = '';
    follower.answer = answer;
    answer.on('data', (part) => {
      text += part;
      const events = text.split('\n\n');
      text = events.pop();
      for (const event of events) {
        const [, number, data] = /^id: (\d+)\nevent: frame\ndata: (.*)$/.exec(event);
        follower.frames.push({id: Number(number), data: JSON.parse(data)});
      }
    });
    answer.on('end', () => { follower.ended = true; });
    answer.on('error', () => { follower.ended = true; });
  });
  request.on('error', () => { follower.ended = true; });
  follower.close = () => request.destroy();
  follower.newest = () => follower.frames.at(-1)?.data.runs[0];
  return follower;
}

const hasSteps = (shown, steps) => shown && shown.threads.length === 3 &&
  shown.threads.every((thread) => thread.operations >= steps);

/* --- a run that goes on --- */

const run = beginRun('RUN');
await until('the run is there', () => {
  try {
    return JSON.parse(output(command, 'info', 'RUN', '--format=json')).processes
      .every(({state}) => state === 'running');
  } catch (error) {
    if (run.ended) throw new Error(`the run has ended: ${run.failed}`);
    return false;
  }
});
const server = await serve('RUN');
assert.match(server.address, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}\/$/);

const one = follow(server);
run.step(5);
await until('five steps are told', () => hasSteps(one.newest(), 5));
assert.equal(one.newest().frame.state, 'running');
/* It waits to be told: no further step is there. */
assert.ok(one.newest().threads.every((thread) => thread.operations === 5));
const early = JSON.parse((await behind(server, 'view/communication')).text);
assert.equal(early.rows.length, 3);
assert.ok(early.rows.every(({operations}) => operations >= 5));

/* Ten who follow, of whom one never reads. */
const ten = Array.from({length: 10}, () => follow(server));
await until('all have a frame', () => ten.every(({frames}) => frames.length > 0));
ten[0].answer.pause();
run.step(20);
await until('nine are told', () => ten.slice(1).every((f) => hasSteps(f.newest(), 25)));
/* All get the same, and numbers only grow. */
const told = new Map();
for (const {frames} of ten.slice(1)) {
  frames.forEach(({id}, i) => assert.ok(i === 0 || id > frames[i - 1].id));
  for (const {id, data} of frames) {
    if (told.has(id)) assert.deepEqual(data, told.get(id));
    told.set(id, data);
  }
}

/* Requests that never become whole keep nobody from asking, in any thread. */
const half = await Promise.all(Array.from({length: 40}, (none, i) => new Promise((resolve) => {
  const socket = net.connect(server.port, server.hostname, () => {
    socket.write(['G', 'GET /', `GET /${server.token}/report HTTP/1.1\r\nHost: `,
      'GET / HTTP/1.1\r\nX: '][i % 4]);
    resolve(socket);
  });
  socket.on('error', () => {});
})));
const asked = await Promise.all(Array.from({length: 10}, () => behind(server, 'report')));
for (const {status, text} of asked) {
  assert.equal(status, 200);
  assert.match(text, /^<!DOCTYPE html>/);
}
/* What is asked for at once is made once: it is the very same page. */
assert.equal(new Set(asked.map(({text}) => text.match(/nonce-([0-9a-f]+)/)[1])).size, 1);
half.forEach((socket) => socket.destroy());
ten.forEach((f) => f.close());

/* --- the end of the run --- */

run.step(5);
assert.deepEqual(await run.end(), {code: 0, signal: null});
await until('the end is told', () => one.newest().frame.state === 'over');
assert.ok(one.newest().threads.every((thread) => thread.operations === 31)); /* and the end */

const wholes = JSON.parse(output(command, 'view', 'RUN', 'all', '--format=json'));
const list = JSON.parse((await behind(server, 'views')).text);
assert.deepEqual(list.map(({view}) => view), wholes.map(({view}) => view));
for (const whole of wholes) {
  const {status, headers, text} = await behind(server, `view/${whole.view}`);
  assert.equal(status, 200, text);
  assert.equal(headers['content-type'], 'application/json');
  if (whole.view === 'pending') continue; /* it says for how long, until now */
  assert.deepEqual(JSON.parse(text), whole);
}
const same = async (path, ...words) => assert.equal((await behind(server, path)).text,
  output(command, 'view', 'RUN', ...words, '--format=json').trim());
await same('view/communication?detail=1&threads=0,t2', 'communication', '--detail', '--thread=0,t2');
await same('view/communication?last=1ms', 'communication', '--last=1ms');
await same('view/thread-wait?name=total', 'thread-wait', '--name=total');
const steps = JSON.parse(output(command, 'view', 'RUN', 'communication', '--detail', '--format=json'));
const [from, to] = [steps.rows[3].start_ns, steps.rows[20].start_ns].sort((a, b) => a - b);
await same(`view/communication?from=${from}ns&to=${to}ns&detail=1`,
  'communication', '--detail', `--from=${from}ns`, `--to=${to}ns`);

/* What threads did since the run began: each bin has what the operations of the
 * thread are in it, but for a nanosecond at each end of one. A history takes the
 * wall clock of the second process, a view its messages: what it did may be
 * earlier or later by a microsecond, which is seen at both ends of a bin. */
const CLOCKS_NS = [0, 0, 1000];
let history;
do {
  history = JSON.parse((await behind(server, 'history?run=0')).text);
} while (history.read_ns !== null);
assert.deepEqual(history.threads.map(({number}) => number), [0, 1, 2]);
for (const {number, communicating_ns: bins} of history.threads) {
  const rows = steps.rows.filter((row) => row.number === number);
  const allowed = 2 * (rows.length + CLOCKS_NS[number]);
  assert.equal(rows.length, 31);
  assert.ok(bins.length > 0 && bins.length <= 512);
  assert.ok(allowed < history.bin_ns / 10);
  bins.forEach((ns, i) => {
    const from = i * history.bin_ns, to = from + history.bin_ns;
    const within = rows.map(({start_ns: start, end_ns: end}) =>
      Math.max(0, Math.min(end, to) - Math.max(start, from)));
    const sum = within.reduce((all, part) => all + part, 0);
    assert.ok(Math.abs(ns - sum) <= allowed, `bin ${i} of thread ${number}: ${ns}, ${sum}`);
  });
}

/* --- those who may not, or ask for what is not there --- */

const {token} = server;
const wrong = (token[0] === '0' ? '1' : '0') + token.slice(1);
for (const path of ['/', '/report', `/${wrong}/`, `/${wrong}/report`, `/${token}`,
  `/${token.slice(1)}/`, `/${token}0/`, `//${token}/`, `/${token.toUpperCase().replace(/[A-F]/, 'G')}/`,
  `/../${token}/`, `/?${token}/`, '/%00/'])
  await refused(ask(server, path), 403, /token/);
for (const path of ['../', '..', '../../etc/passwd', '%2e%2e/%2e%2e/etc/passwd', 'page/live.js',
  'view', 'view/', 'view/nix', 'view/../report', 'report/', 'report.html', 'live.js/..'])
  await refused(behind(server, path), 404, /there is no/);
for (const [path, text] of [
  ['report?run=1', /no run 1/], ['report?run=-1', /not a number/],
  ['report?run=99999999999999999999', /not a number/], ['report?run=', /no value/],
  ['report?run=0&run=0', /twice/], ['report?from=5', /unit/], ['report?from=5s&to=1s', /later/],
  ['report?last=1s&from=0', /excludes/], ['report?last=0', /short/],
  ['report?to=99999999999999s', /long|unit/], ['report?detail=1', /no parameter/],
  ['live?run=0', /no parameter/], ['?x', /no parameter/], ['view/steps?detail=2', /neither/],
  ['view/efficiency?threads=%00', /zero byte/], [`view/steps?name=${'x'.repeat(600)}`, /longer/],
])
  await refused(behind(server, path), 400, text);
await refused(behind(server, 'view/steps?threads=t9'), 404, /t9/);
await refused(behind(server, `view/steps?name=${'x'.repeat(3000)}`), 414, /longer than/);
for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'BREW']) {
  const headers = await refused(behind(server, 'report', {method}), 405, /GET and HEAD/);
  assert.equal(headers.allow, 'GET, HEAD');
}
await refused(behind(server, '', {headers: {'content-length': '3'}, body: 'abc'}), 413, /body/);
await refused(behind(server, '', {headers: {'transfer-encoding': 'chunked'}, body: 'abc'}),
  413, /body/);
for (const host of ['example.com', 'localhost.example.com', '127.0.0.1.example.com', 'x@localhost',
  '127.0.0.1:80:80', '[::1', '127.0.0.1:x', 'a'.repeat(300)])
  await refused(behind(server, '', {headers: {host}}), 403, /not called that/);
const nameless = await new Promise((resolve) => {
  let text = '';
  net.connect(server.port, server.hostname, function () {
    this.write(`GET /${token}/ HTTP/1.0\r\n\r\n`);
  }).on('data', (part) => { text += part; }).on('close', () => resolve(text));
});
assert.match(nameless, /^HTTP\/1\.[01] 403 /);
for (const host of ['localhost', `localhost:${server.port}`, 'LOCALHOST:9', '[::1]:80', '10.1.2.3'])
  assert.equal((await behind(server, '', {headers: {host}})).status, 200, host);
const huge = await behind(server, '', {headers: {x: 'y'.repeat(60000)}})
  .catch(({code}) => ({status: code}));
assert.ok([431, 413, 400, 'ECONNRESET', 'EPIPE'].includes(huge.status), `${huge.status}`);

/* --- what all answers say --- */

const page = await behind(server, '');
assert.equal(page.headers['cache-control'], 'no-store');
assert.equal(page.headers['referrer-policy'], 'no-referrer');
assert.match(page.headers['content-security-policy'], /default-src 'none'.*frame-ancestors 'none'/);
const report = await behind(server, 'report');
assert.match(report.headers['content-security-policy'], /frame-ancestors 'self'/);
assert.equal(page.headers['access-control-allow-origin'], undefined);
const head = await behind(server, 'report', {method: 'HEAD'});
assert.equal(head.status, 200);
assert.equal(head.text, '');
assert.equal(Number(head.headers['content-length']), Buffer.byteLength(report.text));
const quiet = await behind(server, 'live', {method: 'HEAD'});
assert.deepEqual([quiet.status, quiet.text, quiet.headers['content-type']],
  [200, '', 'text/event-stream']);

/* --- addresses that cannot be listened at, and runs that are not there --- */

const second = start(command, 'serve', 'RUN', `--listen=127.0.0.1:${server.port}`);
assert.equal((await second.over).code, 1);
assert.match(second.failed, /127\.0\.0\.1:\d+: Address already in use: another program/);
for (const [words, code, text] of [
  [['serve', 'NIX'], 1, /NIX/], [['serve'], 2, /run directory is missing/],
  [['serve', 'RUN', '--listen=127.0.0.1'], 1, /ADDRESS:PORT/],
  [['serve', 'RUN', '--listen=127.0.0.1:70000'], 1, /ADDRESS:PORT/],
  [['serve', 'RUN', '--listen=::1:0'], 1, /ADDRESS:PORT/],
  [['serve', 'RUN', 'RUN', 'RUN', 'RUN', 'RUN'], 2, /more than 4/],
]) {
  const failed = start(command, ...words);
  assert.equal((await failed.over).code, code, words.join(' '));
  assert.match(failed.failed, text);
}

/* --- the end of the server: those who follow are told --- */

assert.deepEqual(await server.stop(), {code: 0, signal: null});
await until('the stream has ended', () => one.ended);
assert.equal(server.failed, '');

/* While somebody waits for an answer. */
const other = await serve('RUN', 'RUN', '--listen=[::1]:0');
assert.deepEqual(JSON.parse((await behind({...other, hostname: '::1'}, 'runs')).text),
  [{name: 'RUN'}, {name: 'RUN'}]);
const waits = behind({...other, hostname: '::1'}, 'report?run=1').catch((error) => error);
assert.deepEqual(await other.stop('SIGTERM'), {code: 0, signal: null});
await waits;

/* --- those who have gone --- */

/* Also while nothing is new, they give their places back. */
const slow = await serve('RUN', '--interval=3600s');
const many = Array.from({length: 64}, () => follow(slow));
await until('all follow', () => many.every(({frames}) => frames.length));
await refused(behind(slow, 'live'), 503, /64 pages follow already/);
for (const follower of many) follower.close();
await until('there is room again', async () => {
  const next = follow(slow);
  await until('it is told', () => next.answer);
  next.close();
  return next.answer.statusCode === 200;
});
/* What nobody waits for any more is not made: nor does it keep the server busy. */
const left = Array.from({length: 20}, (none, i) => new Promise((resolve) => {
  const request = http.get(`${slow.address}report?from=${i}ns`, {agent: false}, resolve);
  request.on('error', resolve);
  request.on('socket', (socket) => socket.on('connect', () => setImmediate(() => request.destroy())));
}));
await Promise.all(left);
assert.equal((await behind(slow, 'report')).status, 200);

/* Those who say nothing make room for who does. */
const idle = await Promise.all(Array.from({length: 190}, () => new Promise((resolve) => {
  const socket = net.connect(slow.port, slow.hostname, () => resolve(socket));
  socket.on('error', () => {});
})));
assert.equal((await behind(slow, 'runs')).status, 200);
assert.ok(idle.some((socket) => !socket.readableEnded && !socket.destroyed), 'it has waited');
for (const socket of idle) socket.destroy();
assert.deepEqual(await slow.stop(), {code: 0, signal: null});

/* --- the process that draws --- */

const drawerOf = ({child}) =>
  Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim());
const mapOf = (text) => text.match(/id="es-map"[^]*?<svg[^]*?<\/svg>/)[0];
const drawn = await serve('RUN');
const map = mapOf((await behind(drawn, 'report')).text);
assert.match(map, /total/);
/* It has nothing of its server but what it is told. */
assert.deepEqual(readdirSync(`/proc/${drawerOf(drawn)}/fd`).length, 4);
/* When it is gone, pages come as before. */
process.kill(drawerOf(drawn), 'SIGKILL');
assert.equal(mapOf((await behind(drawn, 'report?from=1ns')).text), map);
assert.equal(mapOf((await behind(drawn, 'report?from=2ns')).text), map);
assert.deepEqual(await drawn.stop(), {code: 0, signal: null});
/* Standard files that are closed, and a process that is stopped, keep no server
 * from its end. */
for (const closed of ['<&-', '<&- 2>&-', '']) {
  const odd = start('sh', '-c', `exec "${command}" serve RUN ${closed}`);
  await until('it tells its address', () => odd.said.includes('\n') || odd.ended);
  assert.equal(odd.ended, null, odd.failed);
  const {hostname, port, pathname} = new URL(odd.said.trim());
  const there = {hostname, port: Number(port), token: pathname.split('/')[1]};
  assert.equal(mapOf((await behind(there, 'report')).text), map);
  if (!closed) process.kill(drawerOf(odd), 'SIGSTOP');
  odd.child.kill('SIGINT');
  assert.deepEqual(await odd.over, {code: 0, signal: null});
}
/* It ends with its server, whatever that one dies of. */
const shot = await serve('RUN'), drawer = drawerOf(shot);
await shot.stop('SIGKILL');
await until('it has ended', () => {
  try {
    return /^State:\s+[ZX]/m.test(readFileSync(`/proc/${drawer}/status`, 'utf8'));
  } catch {
    return true;
  }
});

/* A report of a run of which no process has begun is not the last one. */
mkdirSync('LATE');
copyFileSync('RUN/pathmap.dot', 'LATE/pathmap.dot');
const late = await serve('LATE', '--interval=50ms');
assert.match((await behind(late, 'report')).text, /"began":"no process has started"/);
for (const name of readdirSync('RUN').filter((file) => file !== 'pathmap.dot'))
  cpSync(join('RUN', name), join('LATE', name), {recursive: true});
await until('its processes are in the report', async () =>
  !(await behind(late, 'report')).text.includes('"began":"no process has started"'));
await late.stop();

/* --- a contract --- */

function slowRun(name, compute, rounds) {
  writeFileSync('slow.dot', output(gsum, 'mapping', '--threads=3', `--compute=${compute}`,
    `--rounds=${rounds}`));
  output(command, 'map', 'generate', '--application=slow.dot', '--processes=2', '--output=two.dot');
  output(command, 'map', 'instrument', 'two.dot', '--output=all.dot');
  output(command, 'run', 'all.dot', `--output=${name}`, '--', gsum, 'run');
}
slowRun('SLOW', '4ms', 200);
/* Rates that nobody has, on whatever machine. */
output(command, 'contract', 'make', 'SLOW', '--interval=50ms', '--output=learnt');
writeFileSync('gsum.contract', readFileSync('learnt', 'utf8').replace(/^class performance.*\n/gm, '') +
  ['h0', 'h1'].map((name) =>
    `class performance of "${name}" (1e9) deviates (1) seen 90;\n`).join(''));
const panelsOf = (text) => text.match(/"panels":(\[.*?\]),"window":/)[1];
const judged = await serve('SLOW', '--contract=gsum.contract');
output(command, 'report', 'SLOW', '--contract=gsum.contract', '--output=slow.html');
const shown = panelsOf((await behind(judged, 'report')).text);
assert.equal(shown, panelsOf(readFileSync('slow.html', 'utf8')));
assert.match(shown, /gsum\.contract: who broke it, and why/);
assert.match(shown, /"performance"/);
assert.deepEqual(await judged.stop(), {code: 0, signal: null});
assert.equal(judged.failed, '');
/* Of one that is too short it says so, and has all else. */
writeFileSync('long.contract',
  readFileSync('gsum.contract', 'utf8').replace(/^interval.*$/m, 'interval 1000;'));
const tooShort = await serve('SLOW', '--contract=long.contract');
const {status, text} = await behind(tooShort, 'report');
assert.equal(status, 200);
assert.match(panelsOf(text), /SLOW: of no interval of 1000 s.*long\.contract: nothing is judged/);
assert.deepEqual(await tooShort.stop(), {code: 0, signal: null});
assert.equal(tooShort.failed, '');
const without = start(command, 'serve', 'SLOW', '--contract=missing');
assert.equal((await without.over).code, 1);
assert.match(without.failed, /missing: No such file/);

/* What was there when it was opened can be looked at, also when it is removed. */
const third = await serve('RUN');
rmSync('RUN', {recursive: true});
await refused(behind(third, 'report'), 404, /RUN/);
assert.equal((await behind(third, '')).status, 200);
await third.stop();
console.log('all is well');
