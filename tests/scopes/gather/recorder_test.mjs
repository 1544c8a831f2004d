/* recorder_test.mjs - a scope as a flight recorder: of a run with a slow round it
 * keeps what was around it, in all processes, exactly, and little else travels.
 *
 *     node recorder_test.mjs BIN ROUNDS_APP [RUNS [ROUNDS [NUMBER]]]
 *
 * Each run is gathered twice while it goes on: by a tree of processes, and by two
 * ends with a relay between them, which counts what travels. What they should have
 * is computed from all events of the run. The first has this NUMBER, by which the
 * slow round is chosen. A line of JSON for each run says how
 * many slow rounds there were, and the share that travelled; whether that is small
 * is for `./bootstrap validate recorder` to judge, as it takes a machine that makes
 * no other round slow. */
import assert from 'node:assert/strict';
import {execFileSync, spawn} from 'node:child_process';
import {existsSync, mkdtempSync, rmSync} from 'node:fs';
import {connect, createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';

const bin = resolve(process.argv[2]), app = resolve(process.argv[3]);
const runs = Number(process.argv[4] ?? 1), rounds = Number(process.argv[5] ?? 150);
const number = Number(process.argv[6] ?? 0);
const SLOWER = 3, AROUND_NS = 20e6, FEWEST = 20;
const NEAR = 0.05;     /* medians are right to 3 percent */
const NEAR_NS = 2000;  /* wall clocks of processes, to a microsecond */
const EVENT_BYTES = 36, THREADS = 16;
const folder = mkdtempSync(join(tmpdir(), 'recorder-'));
const environment = {...process.env, PATH: `${bin}:${process.env.PATH}`, TMPDIR: folder};

function command(...words) {
  return execFileSync(join(bin, 'eventspace'), words,
    {cwd: folder, env: environment, encoding: 'utf8', maxBuffer: 1 << 28});
}

function begin(...words) {
  const child = spawn(words[0], words.slice(1), {cwd: folder, env: environment});
  const begun = {child, said: ''};
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text) => { begun.said += text; });
  begun.over = new Promise((done) => child.on('close', done));
  return begun;
}

async function ends(begun) {
  assert.equal(await begun.over, 0, begun.said);
}

/* --- what travels --- */

function listening(server) {
  return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)));
}

async function freePort() {
  const server = createServer();
  const port = await listening(server);
  await new Promise((done) => server.close(done));
  return port;
}

/* Between a client and the server at a port. */
async function relay(port) {
  const counted = {bytes: 0};
  counted.server = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    server.on('data', (data) => { counted.bytes += data.length; });
    client.pipe(server).pipe(client);
    for (const socket of [client, server]) socket.on('error', () => {
      client.destroy();
      server.destroy();
    });
  });
  counted.port = await listening(counted.server);
  return counted;
}

/* --- what there is, and should be --- */

function eventsOf(directory) {
  const [, ...lines] = command('sql', directory, '--format=csv',
    'SELECT e.process, c.name, e.thread, e.sequence, start_ns, end_ns FROM event e ' +
    'JOIN collector c ON c.id = e.collector').trim().split('\n');
  return lines.map((line) => {
    const [itsProcess, collector, thread, sequence, start, end] = line.split(',');
    return {key: `${itsProcess} ${collector} ${thread} ${sequence}`, collector,
      start: Number(start), end: Number(end)};
  });
}

/* Times around slow operations of thread 0, and those that are slow or not within
 * what is known of the median. */
function surroundings(events) {
  const byCollector = new Map();
  for (const event of events)
    if (event.collector.startsWith('t0.total.'))
      byCollector.set(event.collector, [...byCollector.get(event.collector) ?? [], event]);
  const sure = [], unsure = [];
  for (const its of byCollector.values()) {
    const before = [];
    for (const event of its.sort((a, b) => a.start - b.start)) {
      const took = event.end - event.start;
      const times = before.length < FEWEST ? 0 : took / before[before.length >> 1];
      const at = before.findIndex((other) => other > took);
      before.splice(at < 0 ? before.length : at, 0, took);
      const around = [event.start - AROUND_NS, event.end + AROUND_NS];
      if (times > SLOWER * (1 + NEAR)) sure.push(around);
      else if (times > SLOWER * (1 - NEAR)) unsure.push(around);
    }
  }
  return {sure, unsure};
}

const meets = (event, times, margin) =>
  times.some(([from, to]) => event.end >= from - margin && event.start <= to + margin);

function check(directory, events, {sure, unsure}) {
  const kept = new Set(eventsOf(directory).map((event) => event.key));
  for (const event of events) {
    if (meets(event, sure, -NEAR_NS)) {
      assert(kept.has(event.key), `${directory} lacks ${event.key}: ${event.start} to ${event.end}, of ${sure}`);
      kept.delete(event.key);
    } else if (meets(event, sure, NEAR_NS) || meets(event, unsure, NEAR_NS)) {
      kept.delete(event.key);
    }
  }
  assert.deepEqual([...kept], [], `${directory} has what was around nothing slow`);
}

/* --- a run --- */

async function oneRun(number) {
  for (const name of ['RUN', 'tree', 'pair', 'stopped'])
    rmSync(join(folder, name), {recursive: true, force: true});
  const slow = 40 + (number * 37) % (rounds - 60), port = await freePort();
  const between = await relay(port);
  const recorder = [`--slower=${SLOWER}`, '--slow-collector=t0.total.*'];
  const run = begin(join(bin, 'eventspace'), 'run', 'map.dot', '--output=RUN', '--', app,
    String(rounds), String(slow));
  for (let i = 0; i < 4; i++)
    while (!existsSync(join(folder, 'RUN', `h${i}.meta`))) {
      assert.equal(run.child.exitCode, null, run.said);
      await pause(5);
    }
  const tree = begin(join(bin, 'eventspace'), 'scope', 'RUN', '--output=tree', '--fanout=2',
    ...recorder);
  const server = begin(join(bin, 'eventspace'), 'scope', 'RUN', '--serve', '--clients=1',
    `--listen=127.0.0.1:${port}`, '--key=key', ...recorder);
  while (!server.said.includes('listening at')) {
    assert.equal(server.child.exitCode, null, server.said);
    await pause(5);
  }
  const client = begin(join(bin, 'eventspace'), 'scope', `--connect=127.0.0.1:${between.port}`,
    '--key=key', '--output=pair', ...recorder);
  const stopped = begin(join(bin, 'eventspace'), 'scope', 'RUN', '--output=stopped',
    '--interval=20ms', ...recorder);
  await ends(run);
  /* It has what it will have, and holds it. */
  stopped.child.kill('SIGINT');
  const code = await stopped.over;
  for (const begun of [tree, server, client]) await ends(begun);
  between.server.close();

  const events = eventsOf('RUN'), times = surroundings(events);
  assert(times.sure.length > 0, 'no round was slow');
  const [recorded, read, filtered, unread] = (stopped.said.match(
    /(\d+) recorded, (\d+) read, (\d+) filtered, (?:(\d+) unread, )?0 lost/) ??
    assert.fail(stopped.said)).slice(1).map((number) => Number(number ?? 0));
  assert.equal(recorded, read + filtered + unread);
  if (code === 0 && recorded === events.length) check('stopped', events, times);
  else if (code !== 0) assert.match(stopped.said, /let go before it was asked for/);
  for (const [mirror, begun] of [['tree', tree], ['pair', client]]) {
    check(mirror, events, times);
    const kept = eventsOf(mirror).length;
    assert.match(begun.said, new RegExp(`events: ${events.length} recorded, ${kept} read, ` +
      `${events.length - kept} filtered, 0 lost`));
  }
  console.log(JSON.stringify({run: number, events: events.length,
    slow_rounds: times.sure.length + times.unsure.length,
    travelled: Number((between.bytes / (events.length * EVENT_BYTES)).toFixed(4))}));
}

try {
  const threads = ['digraph rounds {', 'total [kind=element, type="f64", capacity=2];',
    ...Array.from({length: THREADS}, (_, i) => `t${i} [kind=thread, number=${i}];
      n${i} [kind=element, type="f64", policy=discard]; t${i} -> total [use=sum];
      t${i} -> n${i} [as=notes, use=write];`), '}'].join('\n');
  const map = execFileSync(join(bin, 'eventspace'),
    ['map', 'generate', '--application=-', '--processes=4'], {input: threads, env: environment});
  execFileSync(join(bin, 'eventspace'), ['map', 'instrument', '-', '--trace-size=1M',
    `--output=${join(folder, 'map.dot')}`], {input: map, env: environment});
  command('key', 'key');
  for (let i = 0; i < runs; i++) await oneRun(number + i);
} finally {
  rmSync(folder, {recursive: true, force: true});
}
