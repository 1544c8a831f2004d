// import_mpi_test.mjs - an MPI program that knows nothing of EventSpace, traced
// by EZTrace under both MPIs, imported, and its critical path compared with the
// one worked out by hand.
//
//     import_mpi_test.mjs BIN MPI_TOKEN.c MPI_MESSAGES.c
//
// A token goes around the ranks, and only the one that has it works. Which way
// the path took also depends on who was preempted when, so it is worked out here
// from the events that `otf2-print` prints, by the rule alone: backwards from
// the thread that ended last, at each operation on to whoever came later, the
// sender of a message or the last rank of a collective.
import assert from 'node:assert/strict';
import {spawnSync} from 'child_process';
import {existsSync, mkdtempSync, readdirSync, rmSync} from 'fs';
import {tmpdir} from 'os';
import {join, resolve} from 'path';

const [bin, source, messages] = process.argv.slice(2).map(path => resolve(path));
const folder = mkdtempSync(join(tmpdir(), 'eventspace-import-'));
process.on('exit', () => rmSync(folder, {recursive: true, force: true}));
const ranks = 3, rounds = 10;

function output(program, ...words) {
  const done = spawnSync(program, words, {cwd: folder, encoding: 'utf8',
    maxBuffer: 1 << 28, timeout: 120000, env: {...process.env,
      OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1',
      OMPI_MCA_rmaps_base_oversubscribe: '1'}});
  assert.equal(done.status, 0,
               `${program} ${words.join(' ')}: ${done.stderr} ${done.stdout}`);
  return done.stdout;
}

const eventspace = (...words) => output(join(bin, 'eventspace'), ...words);
const rows = (...words) =>
  JSON.parse(eventspace('view', ...words, '--format=json')).rows;

/* --- the trace, by otf2-print --- */

// By location: [{kind, time, rest}], in the order of the file.
function eventsOf(trace) {
  const by = new Map();
  for (const line of output('otf2-print', trace).split('\n')) {
    const found = /^([A-Z_]+) +(\d+) +(\d+) +(.*)$/.exec(line);
    if (!found)
      continue;
    const [, kind, location, time, rest] = found;
    if (!by.has(location))
      by.set(location, []);
    by.get(location).push({kind, time: Number(time), rest});
  }
  return [...by.entries()].sort((a, b) => a[0] - b[0]).map(([, list]) => list);
}

// The calls of MPI of a rank: {start, end, send, receive, collective}, the
// ranks of its peers; and when its thread began and ended.
function callsOf(events) {
  const calls = [];
  const when = kind => events.find(event => event.kind === kind).time;
  const life = {begin: when('THREAD_BEGIN'), end: when('THREAD_END')};
  let call;
  for (const {kind, time, rest} of events) {
    const name = /^Region: "(MPI_\w+)"/.exec(rest)?.[1];
    const peer = Number(/^(?:Sender|Receiver): (\d+)/.exec(rest)?.[1]);
    const about = {tag: Number(/Tag: (-?\d+)/.exec(rest)?.[1]),
      bytes: Number(/Length: (\d+)/.exec(rest)?.[1]), at: time};
    if (kind === 'ENTER' && name)
      call = {name, start: time};
    else if (kind === 'MPI_SEND')
      Object.assign(call, {send: peer, about});
    else if (kind === 'MPI_RECV')
      Object.assign(call, {receive: peer, about});
    else if (kind === 'MPI_COLLECTIVE_END')
      call.collective = true;
    else if (kind === 'LEAVE' && name)
      calls.push({...call, end: time});
  }
  return {calls, life};
}

/* --- the path, by hand --- */

// The n-th message from a to b is received by the n-th receive, and the n-th
// collective of each is one. Times have been aligned.
function pathOf(all) {
  const found = {computing: all.map(() => 0), operations: 0, links: 0};
  const nth = (rank, is) => all[rank].calls.filter(is);
  const sent = (a, b) => nth(a, call => call.send === b);
  const got = (a, b) => nth(b, call => call.receive === a);
  const joined = rank => nth(rank, call => call.collective);
  const cameLater = (rank, call) => {
    if (call.receive !== undefined) {
      const at = got(call.receive, rank).indexOf(call);
      const send = sent(call.receive, rank)[at];
      return send.start > call.start ? [call.receive, send.start] : undefined;
    }
    if (!call.collective)
      return undefined;
    const at = joined(rank).indexOf(call);
    const starts = all.map((_, other) => joined(other)[at].start);
    const last = starts.indexOf(Math.max(...starts));
    return last === rank ? undefined : [last, starts[last]];
  };
  const ends = all.map(({life}) => life.end);
  let rank = ends.indexOf(Math.max(...ends)), now = ends[rank];
  for (;;) {
    const call = all[rank].calls.filter(({end}) => end <= now).at(-1);
    found.links++;
    if (!call) {
      found.computing[rank] += now - all[rank].life.begin;
      return found;
    }
    found.computing[rank] += now - call.end;
    const [other, since] = cameLater(rank, call) ?? [rank, call.start];
    found.operations += call.end - Math.min(since, call.end);
    [rank, now] = [other, Math.min(since, call.end)];
  }
}

/* --- messages --- */

// Each is there once: the n-th that was sent is the n-th that was received, as
// all have one tag here.
function checkMessages(run, traced) {
  const found = JSON.parse(eventspace('sql', run, '--format=json',
    'select m.*, s.start_ticks as s, r.start_ticks as r from message m ' +
    'join event s on s.thread = m.send_thread and s.sequence = m.send_sequence ' +
    'join event r on r.thread = m.receive_thread ' +
    'and r.sequence = m.receive_sequence ' +
    "where s.verb <> 'region' and r.verb <> 'region'"));
  assert.equal(found.length, ranks * rounds);
  for (let from = 0; from < ranks; from++) {
    const to = (from + 1) % ranks;
    const sends = traced[from].calls.filter(call => call.send === to);
    const receives = traced[to].calls.filter(call => call.receive === from);
    sends.forEach((send, n) => {
      const one = found.filter(row => row.from_thread === from &&
                                      row.to_thread === to && row.ordinal === n);
      assert.equal(one.length, 1);
      const {tag, bytes, bytes_received, send_call, receive_call, s, r,
             status, communicator} = one[0];
      assert.deepEqual(
        {tag, bytes, bytes_received, send_call, receive_call, s, r, status,
         communicator},
        {tag: send.about.tag, bytes: send.about.bytes,
         bytes_received: receives[n].about.bytes, send_call: send.name,
         receive_call: receives[n].name, s: send.start, r: receives[n].start,
         status: '', communicator: 'MPI_COMM_WORLD'});
    });
  }
}

/* --- both --- */

// The trace of a program.
function traceOf(name, from, mpicc, mpirun, plugin) {
  const program = join(folder, name);
  output(mpicc, '-O1', '-o', program, from);
  output(mpirun, '-n', `${ranks}`, 'eztrace', '-t', plugin, '-o',
         join(folder, `${name}.traces`), program, `${rounds}`);
  const [inside] = readdirSync(join(folder, `${name}.traces`));
  const trace = join(folder, `${name}.traces`, inside, 'eztrace_log.otf2');
  assert.ok(existsSync(trace));
  return trace;
}

function check(name, ...with_) {
  const run = join(folder, `${name}.run`);
  const trace = traceOf(name, source, ...with_);
  const report = JSON.parse(eventspace('import', trace, '--output', run,
                                       '--format=json'));
  const count = what => report.find(row => row.what === what)?.count;
  const traced = eventsOf(trace).map(callsOf);

  assert.equal(count('processes'), ranks);
  assert.equal(count('messages'), ranks * rounds);
  assert.equal(count('collectives'), 2 * ranks);
  assert.equal(count('unmatched sends'), undefined);
  assert.equal(count('operations'),
               traced.reduce((sum, {calls}) => sum + calls.length, 0));

  // Every process's clock was aligned, or all are one.
  const clocks = JSON.parse(eventspace('clock', run, '--format=json'));
  for (const {how} of clocks.processes)
    assert.notEqual(how, 'wall clock');

  // The operations of the run are the calls of the trace, to the tick; and of
  // their times by one clock, what is a tick of each rank is known.
  const tuples = eventspace('view', run, 'tuples', '--format=csv').trim()
    .split('\r\n').map(line => line.split(','));
  const at = name => tuples[0].indexOf(name);
  const aligned = traced.map(({calls, life}, rank) => {
    const own = tuples.filter(row => row[at('process')] === `P_${rank}` &&
                                     row[at('verb')] !== 'region')
      .map(row => ['start_ticks', 'end_ticks', 'start_ns', 'end_ns']
        .map(name => Number(row[at(name)])))
      .sort((a, b) => a[0] - b[0]);
    assert.deepEqual(own.map(([start, end]) => [start, end]),
                     calls.map(({start, end}) => [start, end]));
    const [first, last] = [own[0], own.at(-1)];
    const slope = (last[3] - first[2]) / (last[1] - first[0]);
    const ns = ticks => first[2] + (ticks - first[0]) * slope;
    return {
      calls: calls.map((call, i) =>
        ({...call, start: own[i][2], end: own[i][3]})),
      life: {begin: ns(life.begin), end: ns(life.end)},
    };
  });

  checkMessages(run, traced);
  const wanted = pathOf(aligned);
  const path = rows(run, 'critical-path');
  const sum = list => list.reduce((all, row) => all + row.total_ns, 0);
  const near = (what, has, is) =>
    assert.ok(Math.abs(has - is) <= 5 * wanted.links,
              `${name}: ${what}: ${has} ns on the path, ${is} by hand`);
  wanted.computing.forEach((ns, rank) =>
    near(`rank ${rank}, computing`,
         sum(path.filter(row => row.kind === 'computing' &&
                                row.process === `P_${rank}`)), ns));
  near('operations', sum(path.filter(row => row.kind !== 'computing')),
       wanted.operations);
  console.log(`${name}: ${count('operations')} operations, as by hand`);
}

/* --- which is which --- */

// No message is taken for another, and those of which all is in the trace are
// known: at rank 0 and its answers, and two for each rank around the ring.
function checkKinds(name, ...with_) {
  const run = join(folder, `${name}.kinds.run`);
  eventspace('import', traceOf(`${name}.kinds`, messages, ...with_),
             '--output', run);
  const rows = JSON.parse(eventspace('sql', run, '--format=json',
    "select * from message where status = ''"));
  for (const {bytes, bytes_received, send_thread} of rows) {
    assert.equal(bytes, bytes_received);
    assert.equal(bytes % ranks, send_thread);
  }
  assert.equal(rows.filter(({tag}) => tag < 2000).length,
               2 * rounds * (ranks - 1) + 2 * rounds * ranks);
  assert.equal(rows.length, rows.filter(({tag}) => tag < 2000).length);
  assert.equal(new Set(rows.map(({communicator}) => communicator)).size, 2);
  const {number} = JSON.parse(eventspace('sql', run, '--format=json',
    "select count(*) as number from message where status = 'ambiguous'"))[0];
  assert.equal(number, 2 * rounds + 4 * rounds); // both ends
  console.log(`${name}: ${rows.length} messages, each as it was sent`);
}

for (const mpi of ['mpich', 'openmpi']) {
  check(mpi, `mpicc.${mpi}`, `mpirun.${mpi}`, mpi);
  checkKinds(mpi, `mpicc.${mpi}`, `mpirun.${mpi}`, mpi);
}
