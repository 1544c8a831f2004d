// export_test.mjs - exports, read by programs that are not ours, against a
// computation of its own from raw tuples (raw_tuples.c): for a run that goes on,
// one that was killed, one that has ended, one of which only the archives are
// left, and runs that are hard to export (export_test_run.c).
//
//     export_test.mjs BIN TESTS SOURCE
//
// While the run that goes on is looked at, its processes are stopped, so that
// all see the same.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, unlinkSync,
        writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';
import {readMap, readTuples, stop, until} from './raw_run.mjs';

const [bin, tests, source] = process.argv.slice(2).map((path) => resolve(path));
const folder = mkdtempSync(join(tmpdir(), 'eventspace-export-'));
const processes = ['h0', 'h1'];
let failures = 0, exported = 0;
let launched; // the launcher of the run that goes on
process.on('exit', () => {
  launched?.kill('SIGKILL');
  rmSync(folder, {recursive: true, force: true});
});

function start(program, words, more = {}) {
  return spawnSync(program, words, {
    cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28, ...more});
}

function output(program, words, more) {
  const done = start(program, words, more);
  assert.equal(done.status, 0, `${program} ${words.join(' ')}: ${done.stderr}`);
  return done.stdout;
}

const eventspace = (...words) => output(join(bin, 'eventspace'), words);
const fails = (code, ...words) => {
  const done = start(join(bin, 'eventspace'), words);
  assert.equal(done.status, code, `${words.join(' ')}: ${done.stderr}`);
  return done.stderr;
};

async function test(name, body) {
  try {
    await body();
    console.log(`ok      ${name}`);
  } catch (error) {
    failures++;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}

/* --- what is exported --- */

/* The tuples of a run: raw, by process. */
const rawOf = (run) => processes.flatMap((process) =>
  readTuples(process, output(join(tests, 'raw_tuples'), [run, process])).events);

/* Of the map, read as text: the collectors, and which one comes below each. */
function mapOf(run) {
  const map = readMap(join(folder, run, 'pathmap.dot'));
  const nodes = new Map(map.nodes.map((node) => [node.name, node]));
  const next = group(map.edges, ([from]) => from);
  const belowOf = (name) => {
    for (const [, to] of next.get(name) ?? []) {
      const node = nodes.get(to);
      if (node?.kind === 'collector') return to;
      const found = belowOf(to);
      if (found) return found;
    }
    return null;
  };
  const hops = [];
  for (const [name, node] of nodes) {
    const below = node.kind === 'collector' && belowOf(name);
    if (below)
      hops.push({upper: node.id, lower: nodes.get(below).id,
        remote: node.process !== nodes.get(below).process});
  }
  const tops = new Set([...nodes].filter(([, node]) => node.kind === 'thread')
    .flatMap(([name]) => next.get(name)).map(([, to]) => nodes.get(to).id));
  return {hops, tops};
}

/* Operations that go from one collector to the next, from raw tuples. */
function pairsOf(raw, map) {
  const at = new Map(raw.map((e) => [`${e.collector} ${e.thread} ${e.sequence}`, e]));
  const pairs = [];
  for (const event of raw)
    for (const hop of map.hops) {
      const lower = hop.upper === event.collector &&
        at.get(`${hop.lower} ${event.thread} ${event.sequence}`);
      if (lower) pairs.push({upper: event, lower, remote: hop.remote});
    }
  return pairs;
}

/* Rounds: as each thread is in each one, the n-th of all that are there. A
 * round has all threads' events, and all of these overlap. */
function roundsOf(raw, map) {
  const threads = new Map();
  for (const event of raw)
    if (map.tops.has(event.collector))
      threads.set(event.thread, [...threads.get(event.thread) ?? [], event]);
  const lists = [...threads.values()];
  const sequences = new Map();
  for (const event of lists.flat())
    sequences.set(event.sequence, [...sequences.get(event.sequence) ?? [], event]);
  return [...sequences.values()].filter((events) => events.length === lists.length)
    .length;
}

const key = (e) => [e.collector, e.thread, e.sequence, e.start, e.end, e.bytes].join(' ');
const sorted = (list) => [...list].sort();

function group(list, keyOf) {
  const groups = new Map();
  for (const item of list) {
    const key = keyOf(item);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(item);
  }
  return groups;
}

/* --- the checks --- */

function csvRows(text) {
  const rows = [[]];
  const cell = /("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n|$)/gy;
  for (let m; cell.lastIndex < text.length && (m = cell.exec(text));) {
    rows.at(-1).push(m[1].startsWith('"') ? m[1].slice(1, -1).replaceAll('""', '"') : m[1]);
    if (m[2] === '\r\n' && cell.lastIndex < text.length) rows.push([]);
  }
  const [head, ...rest] = rows;
  return rest.map((row) => {
    assert.equal(row.length, head.length, row.join());
    return Object.fromEntries(row.map((value, i) => [head[i], value]));
  });
}

function checkRows(run, raw, ...options) {
  const csv = csvRows(eventspace('export', run, '--format=csv', ...options));
  const lines = eventspace('export', run, '--format=jsonl', ...options)
    .split('\n').slice(0, -1).map((line) => JSON.parse(line));
  const row = (r) => ({collector: +r.collector, thread: +r.thread, sequence: +r.sequence,
    start: +r.start_ticks, end: +r.end_ticks, bytes: +r.bytes});
  assert.deepEqual(sorted(csv.map((r) => key(row(r)))), sorted(raw.map(key)));
  assert.deepEqual(lines.map((r) => key(row(r))), csv.map((r) => key(row(r))));
  for (const [i, line] of lines.entries())
    for (const name of Object.keys(line))
      assert.equal(String(line[name]), csv[i][name]);
  return csv;
}

/* The schema of Chrome's trace events, as far as they are used. */
function checkChrome(text) {
  const trace = JSON.parse(text);
  const ns = (ts) => Math.round(ts * 1000);
  const slices = [], starts = new Map(), ends = new Map(), counters = [], begins = [];
  for (const event of trace.traceEvents) {
    assert.ok('MXBisfC'.includes(event.ph), event.ph);
    assert.equal(typeof event.name, 'string');
    assert.ok(Number.isInteger(event.pid));
    if (event.ph === 'M') continue;
    assert.equal(typeof event.ts, 'number');
    if (event.ph !== 'C') assert.ok(Number.isInteger(event.tid));
    if (event.ph === 'X') {
      assert.ok(event.dur >= 0);
      slices.push({...event, start: ns(event.ts), end: ns(event.ts) + ns(event.dur)});
    }
    if (event.ph === 'B') begins.push(event);
    if (event.ph === 'C') counters.push(event);
    if (event.ph === 's' || event.ph === 'f') {
      const ids = event.ph === 's' ? starts : ends;
      assert.ok(!ids.has(event.id), `flow ${event.id} twice`);
      ids.set(event.id, event);
    }
  }
  const tracks = group(slices, (slice) => `${slice.pid} ${slice.tid}`);
  for (const [id, list] of tracks) {
    const open = [];
    list.sort((a, b) => a.start - b.start || b.end - a.end);
    for (const slice of list) {
      while (open.length && open.at(-1) <= slice.start) open.pop();
      if (open.length) assert.ok(slice.end <= open.at(-1), `track ${id}: overlap`);
      open.push(slice.end);
    }
  }
  const at = new Set([...slices, ...begins].map((s) => `${s.pid} ${s.tid} ${s.ts}`));
  assert.equal(starts.size, ends.size);
  for (const [id, from] of starts) {
    const to = ends.get(id);
    assert.ok(to, `flow ${id} has no finish`);
    assert.equal(to.bp, 'e');
    assert.ok(to.ts >= from.ts, `flow ${id} goes back`);
    for (const end of [from, to])
      assert.ok(at.has(`${end.pid} ${end.tid} ${end.ts}`), `flow ${id} is in no slice`);
  }
  const names = new Set(trace.traceEvents.filter((e) => e.name === 'thread_name')
    .map((e) => `${e.pid} ${e.tid}`));
  for (const id of tracks.keys()) assert.ok(names.has(id), `track ${id} has no name`);
  return {trace, slices, begins, flows: starts.size, counters,
    facts: trace.otherData};
}

function checkChromeOf(run, raw, map) {
  const chrome = checkChrome(eventspace('export', run, '--format=chrome'));
  const operations = chrome.slices.filter((s) => 'collector' in s.args);
  assert.deepEqual(
    sorted(operations.map((s) => `${s.args.collector} ${s.args.thread} ${s.args.sequence}`)),
    sorted(raw.map((e) => `${e.collector} ${e.thread} ${e.sequence}`)));
  // What is under way may be seen further down already.
  const under_way = chrome.begins.map((b) => b.args);
  assert.ok(chrome.flows >= pairsOf(raw, map).length);
  assert.ok(chrome.flows <= pairsOf([...raw, ...under_way], map).length);
  const last = group(chrome.counters, (c) => `${c.pid} ${c.name}`);
  for (const list of last.values())
    assert.equal(Object.values(list.at(-1).args)[0], 0);
  // Of what goes over a link, one value stands for all steps until the next.
  let bytes = 0;
  for (const list of last.values())
    for (const [i, c] of list.slice(0, -1).entries())
      bytes += (c.args.bytes ?? 0) *
        Math.round((list[i + 1].ts - c.ts) * 1000 / chrome.facts.counter_step_ns);
  const remote = new Set(map.hops.filter((h) => h.remote).map((h) => h.lower));
  assert.equal(bytes, raw.filter((e) => remote.has(e.collector))
    .reduce((all, e) => all + e.bytes, 0));
  return chrome;
}

function otf2Records(run, directory, ...options) {
  eventspace('export', run, '--format=otf2', `--output=${directory}`, ...options);
  const print = (...words) => {
    const done = start('otf2-print', [...words, join(directory, 'traces.otf2')]);
    assert.equal(done.status, 0, done.stderr);
    assert.equal(done.stderr, '', 'otf2-print complains');
    return done.stdout;
  };
  const definitions = print('-G');
  const records = [];
  for (const line of print().split('\n')) {
    const m = line.match(/^([A-Z_0-9]+) +(\d+) +(\d+) +(.*)$/);
    if (m) records.push({kind: m[1], location: +m[2], at: +m[3], text: m[4]});
  }
  return {definitions, records};
}

function checkOtf2(run, directory, ...options) {
  const {definitions, records} = otf2Records(run, directory, ...options);
  const of = (kind) => records.filter((r) => r.kind === kind);
  const open = new Map();
  for (const r of records) {
    const stack = open.get(r.location) ?? open.set(r.location, []).get(r.location);
    assert.ok(stack.every(({at}) => at <= r.at));
    if (r.kind === 'ENTER') stack.push(r);
    else if (r.kind === 'LEAVE') assert.equal(stack.pop()?.text, r.text);
    else assert.ok(stack.length > 0, `${r.kind} outside of a region`);
  }
  for (const stack of open.values()) assert.deepEqual(stack, []);
  const messages = new Map();
  for (const send of of('MPI_SEND')) {
    const [, to, tag, length] =
      send.text.match(/^Receiver: (\d+) .*Tag: (\d+), Length: (\d+)$/);
    const id = `${send.location} ${to} ${tag}`;
    assert.ok(!messages.has(id), `message ${id} twice`);
    messages.set(id, {...send, length});
  }
  for (const receive of of('MPI_RECV')) {
    const [, from, tag, length] =
      receive.text.match(/^Sender: (\d+) .*Tag: (\d+), Length: (\d+)$/);
    const id = `${from} ${receive.location} ${tag}`, send = messages.get(id);
    assert.ok(send, `nobody has sent ${id}`);
    assert.ok(send.at <= receive.at);
    assert.equal(length, send.length);
    messages.delete(id);
  }
  assert.equal(messages.size, 0, 'messages that nobody receives');
  for (const m of definitions.matchAll(/^LOCATION +(\d+) .*# Events: (\d+)/gm))
    assert.equal(records.filter((r) => r.location === +m[1]).length, +m[2]);
  return {definitions, slices: of('ENTER').length, sends: of('MPI_SEND').length,
    collectives: of('MPI_COLLECTIVE_END')};
}

function checkOtf2Of(run, raw, map, chrome) {
  const operations = [...raw, ...chrome.begins.map((b) => b.args)];
  const otf2 = checkOtf2(run, `otf2.${++exported}`);
  const pairs = pairsOf(operations, map).filter((pair) => pair.remote);
  assert.equal(otf2.slices, chrome.slices.length + chrome.begins.length);
  assert.equal(otf2.sends, 2 * pairs.length);
  assert.equal(otf2.collectives.length, 4 * roundsOf(raw, map));
  for (const c of otf2.collectives)
    assert.match(c.text, /Operation: ALLREDUCE, Communicator: "total.*Sent: 8/);
}

/* What protoc makes of a trace, as far as it is looked at. */
function checkPerfetto(run, file, ...options) {
  eventspace('export', run, '--format=perfetto', `--output=${file}`, ...options);
  const bytes = readFileSync(join(folder, file));
  output('protoc', ['--decode_raw'], {input: bytes});
  const text = output('protoc', ['--decode=EventSpaceTrace',
    `--proto_path=${join(source, 'viewer/export')}`, 'perfetto.proto'], {input: bytes});
  // What the schema does not have would stand there by its number.
  assert.doesNotMatch(text, /^ *\d+[: ]/m);
  const tracks = new Set(), known = new Set(), depth = new Map(), flows = new Map();
  const counts = {};
  for (const packet of text.split(/^}\n/m)) {
    for (const m of packet.matchAll(/event_names \{\s*iid: (\d+)/g)) known.add(m[1]);
    if (packet.includes('track_descriptor')) {
      const uuid = packet.match(/uuid: (\d+)/)[1];
      assert.ok(!tracks.has(uuid));
      tracks.add(uuid);
    }
    const type = packet.match(/type: TYPE_(\w+)/)?.[1];
    if (!type) continue;
    counts[type] = (counts[type] ?? 0) + 1;
    const uuid = packet.match(/track_uuid: (\d+)/)?.[1];
    assert.ok(packet.includes('name: "eventspace"') || tracks.has(uuid));
    assert.match(packet, /timestamp: \d+/);
    const name = packet.match(/^ {4}name_iid: (\d+)/m)?.[1];
    if (type === 'SLICE_BEGIN') assert.ok(known.has(name));
    const now = (depth.get(uuid) ?? 0) + (type === 'SLICE_BEGIN') - (type === 'SLICE_END');
    assert.ok(now >= 0);
    depth.set(uuid, now);
    for (const m of packet.matchAll(/flow_ids: (\d+)/g))
      flows.set(m[1], (flows.get(m[1]) ?? 0) + 1);
  }
  assert.match(text, /name: "eventspace"\n/);
  return {counts, flows, text};
}

function checkPerfettoOf(run, raw, chrome) {
  const perfetto = checkPerfetto(run, `${run}.pftrace`);
  // All slices of an operation have one flow.
  const operations = [...raw, ...chrome.begins.map((b) => b.args)];
  const at = group(operations, (e) => (BigInt(e.thread + 1) << 32n) + BigInt(e.sequence));
  assert.equal(perfetto.counts.SLICE_BEGIN, chrome.slices.length + chrome.begins.length);
  assert.equal(perfetto.counts.SLICE_END, chrome.slices.length);
  assert.deepEqual(sorted([...perfetto.flows].map((flow) => flow.join(' '))),
    sorted([...at].map(([flow, list]) => `${flow} ${list.length}`)));
}

function checkPrometheus(run, raw) {
  const text = eventspace('export', run, '--format=prometheus');
  const done = start('promtool', ['check', 'metrics'], {input: text});
  assert.equal(done.status, 0, done.stdout + done.stderr);
  assert.equal(done.stdout + done.stderr, '');
  const recorded = [...text.matchAll(/^eventspace_events_recorded_total.* (\d+)$/gm)]
    .reduce((all, m) => all + +m[1], 0);
  if (raw) assert.ok(recorded >= raw.length);
  return text;
}

async function checkAll(run, what) {
  const raw = rawOf(run), map = mapOf(run);
  await test(`${what}: CSV and JSON lines`, () => checkRows(run, raw));
  let chrome;
  await test(`${what}: Chrome`, () => { chrome = checkChromeOf(run, raw, map); });
  await test(`${what}: OTF2`, () =>
    checkOtf2Of(run, raw, map, chrome));
  await test(`${what}: Perfetto`, () => checkPerfettoOf(run, raw, chrome));
  await test(`${what}: Prometheus`, () => checkPrometheus(run, raw));
  return {raw, chrome};
}

/* --- the runs --- */

writeFileSync(join(folder, 'plain.dot'), output(join(bin, 'eventspace'),
  ['map', 'generate', '--application=-', '--processes=2'],
  {input: output(join(bin, 'gsum'), ['mapping', '--threads=4'])}));
eventspace('map', 'instrument', 'plain.dot', '--output=map.dot');
eventspace('map', 'instrument', 'plain.dot', '--output=small.dot', '--trace-size=500');
const gsum = join(bin, 'gsum');

eventspace('run', 'map.dot', '--output=ENDED', '--archive', '--', gsum, 'run', '--rounds=300');
const ended = await checkAll('ENDED', 'a run that has ended');

await test('parts of a run', () => {
  const ends = ended.chrome.slices.map((s) => s.end).sort((a, b) => a - b);
  const middle = ends[ends.length >> 1], to = `${middle}ns`;
  const end = ends.at(-1);
  const last = `--last=${Math.round((end - middle) / 2)}ns`;
  for (const options of [['--thread=t1,3'], ['--process=h1'], ['--collector=0,1'],
    [`--to=${to}`], [`--from=${to}`], [last], [last, '--thread=0']]) {
    const count = +eventspace('sql', 'ENDED', 'select count(*) as n from event',
      '--format=csv').split('\n')[1];
    const rows = csvRows(eventspace('export', 'ENDED', '--format=csv', ...options));
    assert.ok(rows.length > 0 && rows.length < count, options.join());
    const chrome = checkChrome(eventspace('export', 'ENDED', '--format=chrome', ...options));
    assert.equal(chrome.slices.filter((s) => 'collector' in s.args).length, rows.length);
    assert.equal(chrome.facts.events_read, rows.length);
    assert.equal(chrome.facts.events_filtered, count - rows.length);
    checkOtf2('ENDED', `part${options.join('')}.otf2`, ...options);
    checkPerfetto('ENDED', 'part.pftrace', ...options);
  }
  const view = eventspace('view', 'ENDED', 'tuples', `--from=${to}`, '--format=csv');
  const rows = csvRows(eventspace('export', 'ENDED', '--format=csv', `--from=${to}`));
  assert.equal(rows.length, view.trimEnd().split('\n').length - 1);
});

for (const file of readdirSync(join(folder, 'ENDED')))
  if (file.endsWith('.space')) unlinkSync(join(folder, 'ENDED', file));
await test('archives alone', () => {
  checkRows('ENDED', ended.raw);
  checkChromeOf('ENDED', ended.raw, mapOf('ENDED'));
});
eventspace('run', 'small.dot', '--output=LOST', '--', gsum, 'run', '--rounds=3000');
await checkAll('LOST', 'a run that has lost events');
await test('lost events are counted', () => {
  const done = start(join(bin, 'eventspace'), ['export', 'LOST', '--format=chrome']);
  const facts = JSON.parse(done.stdout).otherData;
  assert.ok(facts.events_lost > 0);
  assert.equal(facts.events_recorded, facts.events_read + facts.events_lost);
  assert.match(done.stderr, new RegExp(`${facts.events_lost} lost`));
});

/* A run that goes on, and then is killed. */
const pidsOf = (run) => JSON.parse(eventspace('info', run, '--format=json'))
  .processes.map((p) => p.pid).filter(Boolean);
launched = spawn(join(bin, 'eventspace'), ['run', 'small.dot', '--output=LIVE', '--',
  gsum, 'run', '--rounds=1000000000'], {cwd: folder, stdio: 'ignore'});
const over = new Promise((resolve) => launched.on('close', resolve));
await until('the run', () => {
  if (!existsSync(join(folder, 'LIVE/pathmap.dot'))) return false;
  const done = start(join(bin, 'eventspace'), ['export', 'LIVE', '--format=prometheus']);
  return [...done.stdout.matchAll(/recorded_total.* (\d+)$/gm)]
    .filter((m) => +m[1] > 2000).length === 2;
});
await test('a run that goes on, while it does', () => {
  checkChrome(eventspace('export', 'LIVE', '--format=chrome'));
  checkOtf2('LIVE', 'going.otf2');
  checkPerfetto('LIVE', 'going.pftrace');
});
const pids = pidsOf('LIVE');
await stop(pids);
await checkAll('LIVE', 'a run that goes on');
await test('gauges of a run that goes on', () => {
  const text = checkPrometheus('LIVE');
  assert.match(text, /^eventspace_process_running\{process="h1"\} 1$/m);
});
for (const pid of pids) process.kill(pid, 'SIGKILL');
launched.kill('SIGKILL');
await over;
launched = null;
const killed = await checkAll('LIVE', 'a run that was killed');
await test('what was under way when it was killed', () => {
  const text = eventspace('export', 'LIVE', '--format=prometheus');
  const count = [...text.matchAll(/^eventspace_operations_under_way.* (\d+)$/gm)]
    .reduce((all, m) => all + +m[1], 0);
  assert.equal(killed.chrome.begins.length, count);
  assert.ok(killed.chrome.facts.processes.some((p) => p.state === 'killed'));
});

/* Processes whose files are damaged. */
await test('a damaged process', () => {
  output('cp', ['-r', 'LOST', 'DAMAGED']);
  writeFileSync(join(folder, 'DAMAGED/h1.space'), 'this is no space');
  const done = start(join(bin, 'eventspace'), ['export', 'DAMAGED', '--format=chrome']);
  assert.equal(done.status, 0);
  assert.match(done.stderr, /process h1: .*h1\.space/);
  assert.equal(checkChrome(done.stdout).facts.damaged_processes, 1);
  checkOtf2('DAMAGED', 'damaged.otf2');
});

/* Runs that are hard to export. */
const hard = (what, name = what) => output(join(tests, 'export_test_run'), [name, what]);
await test('no event', () => {
  hard('none');
  assert.deepEqual(csvRows(eventspace('export', 'none', '--format=csv')), []);
  assert.equal(eventspace('export', 'none', '--format=jsonl'), '');
  assert.deepEqual(checkChrome(eventspace('export', 'none', '--format=chrome')).slices, []);
  assert.equal(checkOtf2('none', 'none.otf2').slices, 0);
  checkPerfetto('none', 'none.pftrace');
  checkPrometheus('none');
});
await test('one event', () => {
  hard('one');
  assert.equal(csvRows(eventspace('export', 'one', '--format=csv')).length, 1);
  assert.equal(checkChrome(eventspace('export', 'one', '--format=chrome')).slices.length, 1);
  assert.equal(checkOtf2('one', 'one.otf2').slices, 1);
  assert.equal(checkPerfetto('one', 'one.pftrace').counts.SLICE_END, 1);
});
await test('names and times that no tool likes', () => {
  hard('many');
  const rows = csvRows(eventspace('export', 'many', '--format=csv'));
  const names = rows.map((row) => row.collector_name);
  assert.ok(names.includes('a "b"\\\n\tc,d'));
  assert.ok(names.some((name) => / end$/.test(name)));
  const chrome = checkChrome(eventspace('export', 'many', '--format=chrome'));
  assert.equal(chrome.slices.length + 1, rows.length);
  assert.ok(chrome.slices.some((s) => s.name === 'a "b"\\\n\tc,d'));
  // What nothing names is told apart all the same.
  for (const name of ['region 5000', 'region 5001', 'collector 99999'])
    assert.equal(chrome.slices.filter((s) => s.name === name).length, 1, name);
  assert.ok(chrome.trace.traceEvents.some((e) => e.ph === 'i' && e.name === 'mark'));
  const otf2 = checkOtf2('many', 'many.otf2');
  assert.equal(otf2.slices, rows.length);
  assert.match(otf2.definitions, /a "b"/);
  const perfetto = checkPerfetto('many', 'many.pftrace');
  assert.equal(perfetto.counts.INSTANT, 2);
});
await test('a page that would break', () => {
  output(join(tests, 'report_test_run'), ['tunnel', '4', '2', '20', 'killed']);
  const chrome = checkChrome(eventspace('export', 'tunnel', '--format=chrome'));
  assert.ok(chrome.trace.traceEvents.some(
    (e) => e.args?.name === 't1 </script><b>&"'));
  checkOtf2('tunnel', 'tunnel.otf2');
  checkPerfetto('tunnel', 'tunnel.pftrace');
});

await test('an operation that never came back', () => {
  output(join(tests, 'report_test_run'), ['hangs', '4', '2', '20', 'hanging']);
  const chrome = checkChrome(eventspace('export', 'hangs', '--format=chrome'));
  const [begin, ...more] = chrome.begins;
  assert.deepEqual(more, []);
  assert.equal(begin.args.thread, 0);
  assert.match(begin.name, /^observe|^read|^take/);
  const perfetto = checkPerfetto('hangs', 'hangs.pftrace');
  assert.equal(perfetto.counts.SLICE_BEGIN, perfetto.counts.SLICE_END + 1);
  checkOtf2('hangs', 'hangs.otf2');
});

/* --- what goes wrong --- */

await test('wrong usage', () => {
  assert.match(fails(2, 'export', 'LOST'), /the format is missing/);
  assert.match(fails(2, 'export', 'LOST', '--format=pdf'), /'pdf' is not one of/);
  assert.match(fails(2, 'export', 'LOST', '--format=otf2'), /name a new one/);
  assert.match(fails(2, 'export', 'LOST', '--format=prometheus', '--thread=0'), /whole run/);
  assert.match(fails(1, 'export', 'LOST', '--format=csv', '--thread=t9'), /t9/);
  assert.match(fails(1, 'export', 'LOST', '--format=csv', '--process=h9'), /h9/);
  assert.match(fails(1, 'export', 'LOST', '--format=otf2', '--output=one.otf2'),
    /name a new directory/);
  assert.match(fails(1, 'export', 'LOST', '--format=csv', '--output=none/x/y'), /none\/x\/y/);
  assert.match(fails(1, 'export', 'LOST', '--format=otf2', '--output=none/x/y'),
    /none\/x\/y: No such file/);
});
await test('a reader that goes away', () => {
  for (const format of ['csv', 'jsonl', 'chrome', 'perfetto']) {
    const done = start('bash', ['-c', `"${join(bin, 'eventspace')}" export LOST ` +
      `--format=${format} 2>told | head -c 10 >/dev/null; echo "\${PIPESTATUS[0]}"`]);
    assert.equal(done.stdout, '1\n');
    assert.match(readFileSync(join(folder, 'told'), 'utf8'),
      /^eventspace: standard output: writing: Broken pipe$/m);
  }
});
await test('no half files', () => {
  writeFileSync(join(folder, 'kept.json'), 'before');
  const done = start('bash', ['-c', 'ulimit -f 20; trap "" XFSZ; ' +
    `"${join(bin, 'eventspace')}" export LOST --format=chrome -o kept.json`]);
  assert.equal(done.status, 1);
  assert.match(done.stderr, /kept\.json: .*File too large/);
  assert.equal(readFileSync(join(folder, 'kept.json'), 'utf8'), 'before');
  // libotf2 does not say itself that a file was cut when it was closed.
  for (const limit of [1, 4, 8]) {
    const half = start('bash', ['-c', `ulimit -f ${limit}; trap "" XFSZ; ` +
      `"${join(bin, 'eventspace')}" export LOST --format=otf2 -o half.otf2`]);
    assert.equal(half.status, 1, half.stderr);
  }
  assert.deepEqual(readdirSync(folder).filter((name) => /half|part$/.test(name)), []);
});

/* Whenever the signal comes, there is a whole file or none. */
await test('interrupted in the middle', async () => {
  hard('long');
  const halves = () => readdirSync(folder).filter((name) => /\.part$/.test(name));
  for (const format of ['chrome', 'csv', 'otf2']) {
    const words = ['export', 'long', `--format=${format}`, `--output=stopped.${format}`];
    const child = spawn('env', ['--default-signal', join(bin, 'eventspace'), ...words],
      {cwd: folder, stdio: ['ignore', 'ignore', 'pipe']});
    const ended = new Promise((resolve) =>
      child.on('close', (code, signal) => resolve({code, signal})));
    let told = '', isOver = false;
    child.stderr.on('data', (data) => { told += data; });
    ended.then(() => { isOver = true; });
    await until('the file', () => isOver || halves().length > 0);
    child.kill('SIGINT');
    const {code, signal} = await ended;
    assert.deepEqual(halves(), []);
    if (code === 0)
      continue;
    assert.equal(signal, 'SIGINT', told);
    assert.match(told, /interrupted$/m);
    assert.ok(!existsSync(join(folder, `stopped.${format}`)));
  }
});

console.log(failures ? `${failures} failed` : 'all passed');
process.exitCode = failures ? 1 : 0;
