// sql_questions.mjs - questions in SQL, each answered by `eventspace sql` and by
// a computation of its own from raw tuples (raw_tuples.c), for a run that goes
// on, one that was killed, one that has ended, and one of which only the
// archives are left.
//
//     sql_questions.mjs BIN RAW_TUPLES
//
// While the run that goes on is asked, its processes are stopped, so that both
// see the same; what they would write next is in neither.
import {spawn, spawnSync} from 'child_process';
import {mkdtempSync, rmSync, unlinkSync, writeFileSync} from 'fs';
import {tmpdir} from 'os';
import {join, resolve} from 'path';

import {readMap, readTuples, stop, until} from './raw_run.mjs';

const [bin, raw_tuples] = process.argv.slice(2).map(path => resolve(path));
const folder = mkdtempSync(join(tmpdir(), 'eventspace-sql-'));
const processes = ['h0', 'h1'];
let failures = 0, asked = 0;
let launched; // the launcher of the run that goes on
process.on('exit', () => {
  launched?.kill('SIGKILL');
  rmSync(folder, {recursive: true, force: true});
});

function wrong(text) {
  console.log(text);
  failures++;
}

function output(program, ...words) {
  const done = spawnSync(program, words,
                         {cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28});
  if (done.status !== 0)
    throw new Error(`${program} ${words.join(' ')}: ${done.status}\n` +
                    done.stderr);
  return done.stdout;
}

const eventspace = (...words) => output(join(bin, 'eventspace'), ...words);

function sql(run, statement) {
  return JSON.parse(eventspace('sql', run, statement, '--format=json'));
}

// Of several statements at once: to open the run takes longer than to answer.
function sql_all(run, statements) {
  const printed = eventspace('sql', run, statements.join(';\n'), '--format=json');
  return JSON.parse(`[${printed.replaceAll('\n]\n[\n', '\n],\n[\n')}]`);
}

// --- raw tuples ---

const verbs = ['?', 'write', 'read', 'read_first', 'read_last', 'read_next',
               'read_match', 'observe', 'take', 'exchange'];

// The tuples of a run, and of each process what its meta file says.
function read_raw(run) {
  const events = [], meta = {};
  for (const process of processes) {
    const raw = readTuples(process, output(raw_tuples, run, process));
    meta[process] = raw.meta;
    events.push(...raw.events.map(e => ({...e, verb: verbs[e.verb]})));
  }
  return {events, meta};
}

// Nanoseconds since the first start, by the clock of one process: both have
// the same counter.
function align(raw, reference) {
  const {tick, wall, hz} = raw.meta[reference];
  const first = processes.map(name => raw.meta[name].wall)
      .reduce((a, b) => a < b ? a : b);
  const ns = ticks => Math.round((ticks - tick) / hz * 1e9) +
    Number(wall - first);
  for (const event of raw.events) {
    event.start_ns = ns(event.start);
    event.end_ns = ns(event.end);
    event.duration_ns = event.end_ns - event.start_ns;
  }
}

// --- the map, read as text ---

function read_map(run) {
  const {nodes, edges} = readMap(join(folder, run, 'pathmap.dot'));
  const of_kind = kind => nodes.filter(node => node.kind === kind);
  const collectors = of_kind('collector'), threads = of_kind('thread');
  for (const collector of collectors)
    collector.thread = threads.find(thread => edges.some(
      ([from, to]) => from === thread.name && to === collector.name));
  return {collectors, threads, edges};
}

// --- computing ---

const sum = numbers => numbers.reduce((a, b) => a + b, 0);
const mean = numbers => sum(numbers) / numbers.length;
const least = numbers => numbers.reduce((a, b) => a < b ? a : b, Infinity);
const most = numbers => numbers.reduce((a, b) => a > b ? a : b, -Infinity);

// Rows [key, value] by key, of a value of each group.
function group(items, key, value) {
  const groups = new Map();
  for (const item of items) {
    const name = key(item);
    if (!groups.has(name))
      groups.set(name, []);
    groups.get(name).push(item);
  }
  return [...groups].map(([name, members]) => [name, value(members)])
      .sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
}

// Of each round of the sum, which is the n-th operation of each thread at the
// top of its path: the operations.
function rounds(e, map) {
  const by_thread = group(at_tops(e, map), x => x.thread,
                          all => all.sort((a, b) => a.sequence - b.sequence))
      .map(([, all]) => all);
  const count = least(by_thread.map(all => all.length));
  return Array.from({length: count}, (_, i) => by_thread.map(all => all[i]));
}

function at_tops(e, map) {
  const tops = new Set(map.collectors.filter(c => c.thread).map(c => c.id));
  return e.filter(x => tops.has(x.collector));
}

const last_of = round =>
  round.reduce((a, b) => b.start > a.start ? b : a);

// The nth operation of each thread, for questions about rounds. Where a run was
// cut some threads have one more: these are left out, as above.
const with_rounds = `with operation as (
    select e.*, row_number() over (partition by e.thread order by e.sequence)
      as round
    from event e join collector c on c.id = e.collector
    where c.thread is not null),
  whole as (select * from operation where round <= (select min(n) from
    (select count(*) n from operation group by thread))),
  last as (select * from (select *, row_number() over (partition by round
    order by start_ticks desc, thread) as place from whole) where place = 1) `;

const middle = e => e[Math.floor(e.length / 2)].start_ns;

// [SQL, computation]. A computation gives rows; `e` are the events.
const questions = [
  ['select count(*) from event', e => [[e.length]]],
  ['select sum(bytes), max(bytes) from event',
   e => [[sum(e.map(x => x.bytes)), most(e.map(x => x.bytes))]]],
  ['select collector, count(*) from event group by 1 order by 1',
   e => group(e, x => x.collector, all => all.length)],
  ['select process, count(*) from event group by process order by process',
   e => group(e, x => x.process, all => all.length)],
  ['select thread, count(distinct sequence) from event group by 1 order by 1',
   e => group(e, x => x.thread, all => new Set(all.map(x => x.sequence)).size)],
  ['select verb, count(*) from event group by verb order by verb',
   e => group(e, x => x.verb, all => all.length)],
  ["select count(*) from event where status <> ''",
   e => [[e.filter(x => x.status).length]]],
  ['select min(start_ticks), max(end_ticks) from event',
   e => [[least(e.map(x => x.start)), most(e.map(x => x.end))]]],
  ['select sum(end_ticks - start_ticks) from event',
   e => [[sum(e.map(x => x.end - x.start))]]],
  ['select collector, max(end_ticks - start_ticks) from event group by 1 ' +
   'order by 1',
   e => group(e, x => x.collector, all => most(all.map(x => x.end - x.start)))],
  ['select min(start_ns), max(end_ns) from event',
   e => [[least(e.map(x => x.start_ns)), most(e.map(x => x.end_ns))]]],
  ['select collector, sum(duration_ns) from event group by 1 order by 1',
   e => group(e, x => x.collector, all => sum(all.map(x => x.duration_ns)))],
  ['select thread, avg(duration_ns) from event group by 1 order by 1',
   e => group(e, x => x.thread, all => mean(all.map(x => x.duration_ns)))],
  [e => `select count(*) from event where start_ticks >= ${at_half(e)}`,
   e => [[e.filter(x => x.start >= at_half(e)).length]]],
  [e => `select count(*), min(sequence) from event where start_ns > ` +
        `${gap_after(e)} and thread = 2`,
   e => {
     const late = e.filter(x => x.start_ns > gap_after(e) && x.thread === 2);
     return [[late.length, least(late.map(x => x.sequence))]];
   }],
  [e => `select count(*) from event where end_ns <= ${gap_after(e)}`,
   e => [[e.filter(x => x.end_ns <= gap_after(e)).length]]],
  ['select count(*) from event where thread in (0, 3)',
   e => [[e.filter(x => [0, 3].includes(x.thread)).length]]],
  ["select collector, count(*) from event where process = 'h1' group by 1 " +
   'order by 1',
   e => group(e.filter(x => x.process === 'h1'), x => x.collector,
              all => all.length)],
  ['select sequence, count(*) from event where thread = 1 and sequence < 9 ' +
   'group by 1 order by 1',
   e => group(e.filter(x => x.thread === 1 && x.sequence < 9), x => x.sequence,
              all => all.length)],
  ['select c.name, count(*) from event e join collector c on ' +
   'c.id = e.collector group by 1 order by 1',
   (e, map) => group(e, x => map.collectors.find(c => c.id === x.collector).name,
                     all => all.length)],
  ['select t.name, count(*) from event e join collector c on ' +
   'c.id = e.collector join thread t on t.number = c.thread group by 1 ' +
   'order by 1',
   (e, map) => group(at_tops(e, map),
                     x => map.threads.find(t => t.number === x.thread).name,
                     all => all.length)],
  ['select id, name, process from collector order by id',
   (e, map) => map.collectors.sort((a, b) => a.id - b.id)
       .map(c => [c.id, c.name, c.process])],
  ['select number, name, process from thread order by number',
   (e, map) => map.threads.sort((a, b) => a.number - b.number)
       .map(t => [t.number, t.name, t.process])],
  ['select "from", "to" from edge order by 1, 2',
   (e, map) => map.edges.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 :
                              a[1] < b[1] ? -1 : 1)],
  ['select count(*) from tuples', e => [[e.length]]],
  ['select process, events_read from process order by process',
   e => processes.map(p => [p, e.filter(x => x.process === p).length])],
  [with_rounds + 'select count(*), max(round) from whole',
   (e, map) => {
     const all = rounds(e, map);
     return [[sum(all.map(r => r.length)), all.length]];
   }],
  [with_rounds + 'select thread, count(*) from last group by 1 order by 1',
   (e, map) => group(rounds(e, map).map(last_of), x => x.thread,
                     all => all.length)],
  [with_rounds + 'select w.thread, last.thread as other, count(*), ' +
   'sum(last.start_ticks - w.start_ticks) from whole w join last on ' +
   'last.round = w.round where w.thread <> last.thread group by 1, 2 ' +
   'order by 1, 2',
   (e, map) => {
     const waits = rounds(e, map).flatMap(r => r.filter(x => x !== last_of(r))
         .map(x => ({by: x.thread, last: last_of(r).thread,
                     ticks: last_of(r).start - x.start})));
     return group(waits, x => x.by * 100 + x.last, all => all)
         .map(([, all]) => [all[0].by, all[0].last, all.length,
                            sum(all.map(x => x.ticks))]);
   }],
  [with_rounds + 'select thread, max(start_ticks - before) from (select ' +
   'thread, start_ticks, lag(end_ticks) over (partition by thread order by ' +
   'sequence) as before from whole) group by 1 order by 1',
   (e, map) => {
     const all = rounds(e, map);
     return all[0].map((x, i) => [x.thread, most(all.slice(1).map(
       (r, k) => r[i].start - all[k][i].end))]);
   }],
];

// A tick, and a time, in the middle of the run; the time is far from where any
// event begins or ends, so that rounding does not matter.
function at_half(e) {
  return e.map(x => x.start).sort((a, b) => a - b)[e.length >> 1];
}

function gap_after(e) {
  const times = e.flatMap(x => [x.start_ns, x.end_ns]).sort((a, b) => a - b);
  let best = times.length >> 1;
  for (let i = times.length >> 1; i < (times.length * 3) >> 2; i++)
    if (times[i + 1] - times[i] > times[best + 1] - times[best])
      best = i;
  return Math.round((times[best] + times[best + 1]) / 2);
}

// Each time may be rounded otherwise, and real numbers are printed with six
// digits.
function same(a, b, rows) {
  if (typeof a !== 'number' || typeof b !== 'number')
    return a === b;
  return a === b || Math.abs(a - b) <= 3 * rows.ns + Math.abs(b) * rows.relative;
}

function compare(name, statement, got, want, exact, count) {
  const rows = exact ? {ns: 0, relative: 0} : {ns: count, relative: 2e-6};
  const flat = got.map(row => Object.values(row));
  asked++;
  if (flat.length !== want.length || flat.length === 0 ||
      !flat.every((row, i) => row.length === want[i].length &&
                  row.every((cell, k) => same(cell, want[i][k], rows))))
    wrong(`${name}: ${statement}\n  is     ${JSON.stringify(flat).slice(0, 300)}` +
          `\n  not    ${JSON.stringify(want).slice(0, 300)}`);
}

function ask_all(name, run, raw) {
  const map = read_map(run);
  const [{process: reference}] =
    sql(run, "select process from clock where how = 'reference'");
  align(raw, reference);
  const statements = questions.map(([question]) =>
    typeof question === 'function' ? question(raw.events) : question);
  const answers = sql_all(run, statements);
  statements.forEach((statement, i) => {
    const exact = !/_ns\)/.test(statement);
    compare(name, statement, answers[i], questions[i][1](raw.events, map),
            exact, raw.events.length);
  });
  console.log(`${name}: ${raw.events.length} events`);
}

// --- the runs ---

function count_of(run) {
  try {
    return read_raw(run).events.length;
  } catch {
    return 0;
  }
}

writeFileSync(join(folder, 'app.dot'),
              output(join(bin, 'gsum'), 'mapping', '--threads', '4'));
eventspace('map', 'generate', '--application', 'app.dot', '--processes', '2',
           '--output', 'plain.dot');
eventspace('map', 'instrument', 'plain.dot', '--output', 'map.dot');

// One that has ended, and an archive without spaces.
eventspace('run', 'map.dot', '--archive', '--output', 'ENDED', '--',
           join(bin, 'gsum'), 'run', '--rounds', '100');
const ended = read_raw('ENDED');
output('cp', '-r', 'ENDED', 'ARCHIVED');
for (const process of processes) {
  unlinkSync(join(folder, 'ENDED', `${process}.archive`));
  unlinkSync(join(folder, 'ARCHIVED', `${process}.space`));
}
ask_all('ended', 'ENDED', ended);
ask_all('archived', 'ARCHIVED', ended);

// One that goes on.
launched = spawn(join(bin, 'eventspace'),
                 ['run', 'map.dot', '--output', 'LIVE', '--',
                  join(bin, 'gsum'), 'run', '--rounds', '1000000',
                  '--compute=500us'],
                 {cwd: folder, stdio: 'ignore'});
const over = new Promise(done => launched.on('exit', done));
await until('events', () => count_of('LIVE') > 800);
const pids = sql('LIVE', 'select pid from process').map(row => row.pid);
await stop(pids);
const states = sql('LIVE', 'select distinct state from process');
if (states.length !== 1 || states[0].state !== 'running')
  wrong(`live: the processes are ${JSON.stringify(states)}`);
ask_all('live', 'LIVE', read_raw('LIVE'));

// The same one, killed.
for (const pid of pids)
  process.kill(pid, 'SIGKILL');
await over;
launched = undefined;
const dead = sql('LIVE', "select count(*) n from process where state <> " +
                         "'running' and state <> 'finished'");
if (dead[0].n !== 2)
  wrong(`killed: ${JSON.stringify(dead)}`);
ask_all('killed', 'LIVE', read_raw('LIVE'));

console.log(`${questions.length} questions, ${asked} answers, ` +
            `${failures} wrong`);
process.exitCode = questions.length >= 30 && failures === 0 ? 0 : 1;
