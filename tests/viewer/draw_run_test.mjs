// draw_run_test.mjs - the picture of a run shows who communicated with whom.
//
//     draw_run_test.mjs BIN FOLDER TRACE_MAKER [mpi [long]]
//
// What programs and traces have sent is counted by themselves (patterns.c,
// patterns_trace.c), and read from the picture by its DOT.
import assert from 'node:assert/strict';
import {cpSync, mkdirSync, readFileSync, readdirSync, truncateSync}
  from 'fs';
import {join, resolve} from 'path';
import {command, compile, folder, output, spawn, succeed}
  from '../mpi/support.mjs';

const maker = resolve(process.argv[4]);
const has_mpi = process.argv[5] === 'mpi';
const is_slow = process.env.EVENTSPACE_TEST_SLOW; // with a sanitizer

/* --- pictures --- */

// {graph, nodes, links}: attributes by name, and by both ends.
function pictureOf(run, ...options) {
  const file = join(folder, 'picture.dot');
  output(command, 'map', 'draw', run, '--output', file, ...options);
  const picture = {graph: {}, nodes: new Map(), links: []};
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const found = /^ {4}("[^"]*"|graph|node)(?: -> ("[^"]*"))? \[(.*)$/.exec(line);
    if (!found)
      continue;
    const [, from, to, rest] = found;
    const attributes = Object.fromEntries(
      [...rest.matchAll(/(\w+)=("(?:[^"\\]|\\.)*"|[^,\]]*)/g)]
        .map(([, key, value]) => [key, value.replace(/^"|"$/g, '')]));
    const name = text => text.slice(1, -1);
    if (to)
      picture.links.push({from: name(from), to: name(to), ...attributes});
    else if (from === 'graph')
      picture.graph = attributes;
    else if (from !== 'node')
      picture.nodes.set(name(from), attributes);
  }
  return picture;
}

// Of XML: each tag is ended, and no sign stands alone.
function checkWellFormed(text) {
  const open = [];
  const plain = text.replace(/<!--.*?-->|<\?.*?\?>|<!DOCTYPE.*?>/gs, '');
  for (const [, ends, name, closed] of
       plain.matchAll(/<(\/?)([\w:]+)(?:\s+[\w:-]+="[^"<]*")*\s*(\/?)>/g)) {
    if (ends)
      assert.equal(open.pop(), name);
    else if (!closed)
      open.push(name);
  }
  assert.deepEqual(open, []);
  assert.ok(!/&(?!(amp|lt|gt|quot|#\d+|#x[0-9a-fA-F]+);)/.test(plain));
  assert.ok(!plain.replace(/<(\/?)([\w:]+)(?:\s+[\w:-]+="[^"<]*")*\s*(\/?)>/g, '')
    .includes('<'));
}

function svgOf(run, bytes_max) {
  const file = join(folder, 'picture.svg');
  output(command, 'map', 'draw', run, '--output', file);
  const text = readFileSync(file, 'utf8');
  assert.ok(text.length < bytes_max, `${run}: ${text.length} bytes of SVG`);
  checkWellFormed(text);
  return text;
}

/* --- what is in them --- */

const rankOf = name => Number(name.slice('rank_'.length));

// `counts`: [from, to, messages, bytes], of ranks.
function checkLinks(picture, counts) {
  const drawn = [];
  for (const link of picture.links) {
    const [a, b] = [link.from, link.to].map(name => rankOf(name));
    drawn.push([a, b, +link.messages, +link.bytes],
               [b, a, +link.messages_back, +link.bytes_back]);
  }
  const sorted = list => list.filter(([, , messages]) => messages > 0)
    .map(row => row.join(' ')).sort();
  assert.deepEqual(sorted(drawn), sorted(counts));
}

function checkWidths(picture) {
  const lines = picture.links
    .map(link => [+link.bytes + +link.bytes_back, +link.penwidth])
    .sort((a, b) => a[0] - b[0]);
  for (let i = 1; i < lines.length; i++) {
    assert.ok(lines[i][1] >= lines[i - 1][1]);
    if (lines[i][0] > 1.5 * lines[i - 1][0])
      assert.ok(lines[i][1] > lines[i - 1][1]);
  }
  assert.ok(lines[0][1] > 0);
}

// `eventspace mpi` makes all numbers as long as the last one.
const nameOf = (i, ranks) =>
  'rank_' + `${i}`.padStart(ranks ? `${ranks - 1}`.length : 1, '0');

function checkNodes(picture, ranks, is_padded) {
  const names = Array.from({length: ranks},
                           (_, i) => nameOf(i, is_padded ? ranks : 0));
  assert.deepEqual([...picture.nodes.keys()], names);
  for (const {communicating_ns, computing_ns} of picture.nodes.values())
    assert.ok(+communicating_ns >= 0 && +computing_ns >= 0);
}

const at = (picture, name) => picture.nodes.get(name).pos.split(',').map(Number);

// Rows and columns: places that differ by one have one distance everywhere.
function checkGrid(picture, columns) {
  const [[x, y], [right]] =
    [...picture.nodes.keys()].slice(0, 2).map(name => at(picture, name));
  picture.nodes.forEach((_, name) => {
    const i = rankOf(name), [px, py] = at(picture, name);
    assert.ok(Math.abs(px - x - (right - x) * (i % columns)) < 1);
    assert.ok(Math.abs(y - py - (right - x) * Math.floor(i / columns)) < 1);
  });
}

// All on one circle, or two in turn, but for `hub`.
function checkCircle(picture, hub, circles) {
  const far = [...picture.nodes.keys()].filter(name => name !== hub)
    .map(name => Math.hypot(...at(picture, name)));
  far.forEach((radius, i) =>
    assert.ok(Math.abs(radius - far[i % circles]) < 1, far.join(' ')));
  if (hub)
    assert.deepEqual(at(picture, hub), [0, 0]);
}

function checkPattern(picture, pattern, ranks) {
  const of = {stencil: 'grid', ring: 'ring', all: 'dense', workers: 'star'};
  const sides = {4: 2, 16: 4, 64: 8, 256: 16};

  assert.equal(picture.graph.pattern, of[pattern]);
  if (pattern === 'stencil')
    checkGrid(picture, sides[ranks]);
  else
    checkCircle(picture, pattern === 'workers' ? nameOf(0, ranks) : undefined,
                ranks > 40 && pattern === 'workers' ? 2 : 1);
}

/* --- programs --- */

function checkProgram(program, pattern, ranks, rounds) {
  const run = join(folder, `${pattern}.${ranks}.run`);
  const counted = join(folder, `${pattern}.${ranks}.counts`);
  mkdirSync(counted);
  succeed('openmpi', ranks, ['--output', run],
          [program, pattern, `${rounds}`, counted], {timeout: 240000});
  const counts = [];
  for (const from of readdirSync(counted))
    for (const line of readFileSync(join(counted, from), 'utf8').split('\n'))
      if (line)
        counts.push([+from, ...line.split(' ').map(Number)]);
  assert.ok(counts.length >= ranks - 1);

  const picture = pictureOf(run);
  checkNodes(picture, ranks, true);
  checkLinks(picture, counts);
  checkWidths(picture);
  checkPattern(picture, pattern, ranks);
  const svg = svgOf(run, 2e6);
  assert.equal(svg.includes('MPI_Allreduce'), pattern === 'stencil');
  console.log(`${pattern}, ${ranks} ranks: ${picture.links.length} lines, ` +
              `${svg.length} bytes of SVG`);
  return run;
}

/* --- traces --- */

function traceRun(pattern, ranks, ...names) {
  const name = `${pattern}.${ranks}.${names.length}`;
  output(maker, join(folder, `${name}.trace`), pattern, `${ranks}`, ...names);
  output(command, 'import', join(folder, `${name}.trace`, 'trace.otf2'),
         '--output', join(folder, name));
  return join(folder, name);
}

const bytes = (from, to) => 8 * (1 + (from + to) % 7);

function pairsOf(pattern, ranks) {
  const side = Math.sqrt(ranks), pairs = [];
  for (let a = 0; a < ranks; a++)
    for (let b = 0; b < ranks; b++) {
      const apart = Math.abs(a % side - b % side) +
                    Math.abs(Math.floor(a / side) - Math.floor(b / side));
      if (pattern === 'all' ? a !== b :
          pattern === 'ring' ? b === (a + 1) % ranks : apart === 1)
        pairs.push([a, b, 1, bytes(a, b)]);
    }
  return pairs;
}

function checkTrace(pattern, ranks) {
  const picture = pictureOf(traceRun(pattern, ranks));
  checkNodes(picture, ranks, false);
  checkLinks(picture, pairsOf(pattern, ranks));
  checkPattern(picture, pattern, ranks);
  console.log(`${pattern}, trace of ${ranks} ranks: ` +
              `${picture.links.length} lines`);
}

// Too many lines: several processes are one node, and nothing is left out.
function checkFolded(ranks) {
  const picture = pictureOf(traceRun('all', ranks)), sum = new Map();
  const text = readFileSync(join(folder, 'picture.dot'), 'utf8');
  const fold = Math.ceil(ranks / 48);
  let inside = 0;
  for (const [a, b, , count] of pairsOf('all', ranks)) {
    const [x, y] = [a, b].map(i => Math.floor(i / fold)).sort((i, j) => i - j);
    if (x === y)
      inside++;
    else
      sum.set(`${x} ${y}`, (sum.get(`${x} ${y}`) ?? 0) + count);
  }
  assert.equal(picture.graph.pattern, 'dense');
  assert.equal(picture.nodes.size, Math.ceil(ranks / fold));
  assert.equal(picture.links.length, sum.size);
  for (const {from, to, bytes, bytes_back} of picture.links) {
    const [x, y] = [from, to].map(name => rankOf(name) / fold);
    assert.equal(+bytes + +bytes_back, sum.get(`${x} ${y}`));
  }
  assert.ok(text.includes(`a node is ${fold} processes`));
  assert.ok(text.includes(`not drawn: ${inside} messages`));
  console.log(`all, trace of ${ranks} ranks: ${sum.size} lines`);
}

/* --- programs of EventSpace --- */

// What each process has written to elements that another one reads, by the
// events themselves.
function checkElements() {
  const script = [
    'river mapping --threads=4 --size=S >river.dot',
    'eventspace map generate --application=river.dot --processes=4 |' +
      ' eventspace map instrument - --output=map.dot',
    'eventspace run map.dot --output=river.run -- river run'].join(' && ');
  const done = spawn('sh', ['-c', script], {env: {...process.env,
    PATH: `${join(command, '..')}:${process.env.PATH}`}});
  assert.equal(done.status, 0, done.stderr);
  const run = join(folder, 'river.run'), by = new Map(), sum = new Map();
  for (const {element, process, verb, bytes} of JSON.parse(output(command, 'sql',
    run, '--format=json', 'select c.element, c.process, e.verb, ' +
    'sum(e.bytes) as bytes from event e join collector c on c.id = e.collector ' +
    "where c.thread is not null and e.verb <> 'exchange' group by 1, 2, 3"))) {
    const users = by.get(element) ?? {writes: [], readers: new Set()};
    if (verb === 'write')
      users.writes.push([process, bytes]);
    else
      users.readers.add(process);
    by.set(element, users);
  }
  for (const {writes, readers: [to]} of by.values())
    for (const [from, bytes] of writes)
      if (from !== to)
        sum.set(`${from} ${to}`, (sum.get(`${from} ${to}`) ?? 0) + bytes);
  const picture = pictureOf(run), drawn = new Map();
  for (const link of picture.links)
    for (const [from, to, bytes] of [[link.from, link.to, +link.bytes],
                                     [link.to, link.from, +link.bytes_back]])
      if (bytes > 0)
        drawn.set(`${from} ${to}`, bytes);
  assert.ok(sum.size >= 6);
  assert.deepEqual([...drawn].sort(), [...sum].sort());
  assert.equal(picture.graph.pattern, 'chain');
  console.log(`river: ${picture.links.length} lines`);
}

/* --- names and damage --- */

// What a name has in it is text, and nothing else.
function checkNames() {
  const hostile = 'x"]; a -> b [href="http://a/"] <b>&\\N\n\x01\uffff';
  const run = traceRun('ring', 4, hostile, hostile);
  const picture = pictureOf(run), svg = svgOf(run, 1e5);
  assert.equal(picture.nodes.size, 4);
  assert.equal(picture.links.length, 4);
  assert.ok(!svg.includes('href="http') && !svg.includes('<b>'));
  for (const format of ['png', 'pdf'])
    output(command, 'map', 'draw', run, '-o', join(folder, `hostile.${format}`));
}

function refused(run, ...says) {
  const done = spawn(command, ['map', 'draw', run, '--output',
                               join(folder, 'refused.svg')]);
  assert.equal(done.status, 1, done.stdout);
  for (const text of says)
    assert.ok(done.stderr.includes(text), done.stderr);
}

// A run without a process's events is drawn with what there is, and said.
function checkDamage() {
  const run = traceRun('ring', 5), wrong = join(folder, 'wrong.run');
  output(command, 'pack', run, '-o', `${run}.tar.zst`);
  assert.equal(pictureOf(`${run}.tar.zst`).links.length, 5);
  mkdirSync(join(folder, 'empty'));
  refused(join(folder, 'empty'), 'empty');
  refused(join(folder, 'nowhere'), 'nowhere');
  cpSync(run, wrong, {recursive: true});
  truncateSync(join(wrong, 'rank_2.space'), 100);
  const done = spawn(command, ['map', 'draw', wrong, '-o',
                               join(folder, 'wrong.svg')]);
  assert.equal(done.status, 0, done.stderr);
  assert.ok(done.stderr.includes('rank_2'), done.stderr);
  checkWellFormed(readFileSync(join(folder, 'wrong.svg'), 'utf8'));
  for (const file of readdirSync(wrong))
    truncateSync(join(wrong, file), 0);
  refused(wrong, 'wrong.run');
}

checkTrace('stencil', 256);
checkTrace('ring', is_slow ? 64 : 256);
checkTrace('all', 64);
checkFolded(is_slow ? 96 : 256);
checkElements();
checkNames();
checkDamage();
if (has_mpi) {
  const program = compile('openmpi', 'patterns.c');
  for (const ranks of process.argv[6] === 'long' ? [4, 16, 64] : [4, 16])
    for (const pattern of ['stencil', 'ring', 'all', 'workers'])
      checkProgram(program, pattern, ranks, ranks > 16 ? 2 : 20);
}
