// draw_run_test.mjs - the picture of a run shows who communicated with whom.
//
//     draw_run_test.mjs BIN FOLDER TRACE_MAKER [mpi]
//
// What programs and traces have sent is counted by themselves (patterns.c,
// patterns_trace.c), and read from the picture by its DOT.
import assert from 'node:assert/strict';
import {cpSync, mkdirSync, readFileSync, readdirSync, statSync,
        truncateSync} from 'fs';
import {join, resolve} from 'path';
import {command, compile, folder, output, spawn, succeed}
  from '../mpi/support.mjs';

const maker = resolve(process.argv[4]);
const has_mpi = process.argv[5] === 'mpi';

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

// `counts`: [from, to, messages, bytes], of ranks.
function checkLinks(picture, counts, prefix) {
  const drawn = [];
  for (const link of picture.links) {
    const [a, b] = [link.from, link.to].map(name => +name.slice(prefix.length));
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

function checkNodes(picture, ranks, prefix) {
  assert.deepEqual([...picture.nodes.keys()],
                   Array.from({length: ranks}, (_, i) => `${prefix}${i}`));
  for (const {communicating_ns, computing_ns} of picture.nodes.values())
    assert.ok(+communicating_ns >= 0 && +computing_ns >= 0);
}

const at = (picture, name) => picture.nodes.get(name).pos.split(',').map(Number);

// Rows and columns: places that differ by one have one distance everywhere.
function checkGrid(picture, prefix, columns) {
  const [[x, y], [right]] = [0, 1].map(i => at(picture, `${prefix}${i}`));
  picture.nodes.forEach((_, name) => {
    const i = +name.slice(prefix.length), [px, py] = at(picture, name);
    assert.ok(Math.abs(px - x - (right - x) * (i % columns)) < 1);
    assert.ok(Math.abs(y - py - (right - x) * Math.floor(i / columns)) < 1);
  });
}

// All on one circle, but for `hub`.
function checkCircle(picture, hub, is_two) {
  const far = [...picture.nodes.keys()].filter(name => name !== hub)
    .map(name => Math.hypot(...at(picture, name)).toFixed(0));
  assert.ok(new Set(far).size <= (is_two ? 2 : 1), far.join(' '));
  if (hub)
    assert.deepEqual(at(picture, hub), [0, 0]);
}

function checkPattern(picture, pattern, ranks, prefix) {
  const of = {stencil: 'grid', ring: 'ring', all: 'dense', workers: 'star'};
  const sides = {4: 2, 16: 4, 64: 8, 256: 16};

  assert.equal(picture.graph.pattern, of[pattern]);
  if (pattern === 'stencil')
    checkGrid(picture, prefix, sides[ranks]);
  else
    checkCircle(picture, pattern === 'workers' ? `${prefix}0` : undefined,
                ranks > 40 && pattern === 'workers');
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
  checkNodes(picture, ranks, 'rank_');
  checkLinks(picture, counts, 'rank_');
  checkWidths(picture);
  checkPattern(picture, pattern, ranks, 'rank_');
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
  checkNodes(picture, ranks, 'P_');
  checkLinks(picture, pairsOf(pattern, ranks), 'P_');
  checkPattern(picture, pattern, ranks, 'P_');
  console.log(`${pattern}, trace of ${ranks} ranks: ` +
              `${picture.links.length} lines`);
}

// Too many lines: several processes are one node, and nothing is left out.
function checkFolded() {
  const run = traceRun('all', 256), picture = pictureOf(run);
  const svg = svgOf(run, 2e6), fold = 6;
  const sum = new Map();
  let inside = 0;
  for (const [a, b, , count] of pairsOf('all', 256)) {
    const [x, y] = [a, b].map(i => Math.floor(i / fold));
    if (x === y)
      inside++;
    else
      sum.set(`${Math.min(x, y)} ${Math.max(x, y)}`,
              (sum.get(`${Math.min(x, y)} ${Math.max(x, y)}`) ?? 0) + count);
  }
  assert.equal(picture.graph.pattern, 'dense');
  assert.equal(picture.nodes.size, Math.ceil(256 / fold));
  assert.equal(picture.links.length, sum.size);
  for (const {from, to, bytes, bytes_back} of picture.links) {
    const [x, y] = [from, to].map(name => +name.slice(2) / fold);
    assert.equal(+bytes + +bytes_back, sum.get(`${x} ${y}`));
  }
  assert.ok(svg.includes(`a node is ${fold} processes`));
  assert.ok(svg.includes(`not drawn: ${inside} messages`));
  console.log(`all, trace of 256 ranks: ${svg.length} bytes of SVG`);
}

/* --- names and damage --- */

function checkNames() {
  const hostile = '"]; x [href="http://a/" <b>&\\N\n';
  const run = traceRun('ring', 4, hostile, hostile);
  const picture = pictureOf(run), svg = svgOf(run, 1e5);
  assert.equal(picture.nodes.size, 4);
  checkLinks(picture, [], 'process ').toString;
}

function refused(run, ...says) {
  const done = spawn(command, ['map', 'draw', run, '--output',
                               join(folder, 'refused.svg')]);
  assert.equal(done.status, 1, done.stdout);
  for (const text of says)
    assert.ok(done.stderr.includes(text), done.stderr);
}

function checkRefusals(run) {
  mkdirSync(join(folder, 'empty'));
  refused(join(folder, 'empty'), 'empty');
  refused(join(folder, 'nowhere'), 'nowhere');
}

checkTrace('stencil', 256);
checkTrace('ring', 256);
checkTrace('all', 16);
checkFolded();
if (has_mpi) {
  const program = compile('openmpi', 'patterns.c');
  for (const ranks of [4, 16, 64])
    for (const pattern of ['stencil', 'ring', 'all', 'workers'])
      checkProgram(program, pattern, ranks, ranks < 64 ? 20 : 3);
}
checkNames();
checkRefusals();
