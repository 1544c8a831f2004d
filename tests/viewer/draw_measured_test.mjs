// draw_measured_test.mjs - the path map of a run, with what was measured laid
// over it.
//
//     draw_measured_test.mjs BIN FOLDER RUN_MAKER
//
// Figures are compared with sums over the rows that `view` prints and over the
// events themselves; sizes, places and texts are read from the SVG.
import assert from 'node:assert/strict';
import {mkdirSync, readFileSync} from 'fs';
import {join, resolve} from 'path';
import {command, folder, output, spawn} from '../mpi/support.mjs';

const maker = resolve(process.argv[4]);
const measures = ['time', 'waiting', 'traffic', 'operations'];
const sum = (rows, of) => rows.reduce((all, row) => all + of(row), 0);

/* --- runs and pictures --- */

function sh(script) {
  const done = spawn('sh', ['-ec', script], {env: {...process.env,
    PATH: `${join(command, '..')}:${process.env.PATH}`}});
  assert.equal(done.status, 0, done.stderr);
}

const unescaped = text => text.replace(/&lt;/g, '<').replace(/&gt;/g, '>')
  .replace(/&quot;/g, '"').replace(/&amp;/g, '&');
const numberOf = (text, key) => Number(new RegExp(` ${key}="([\\d.-]+)`).exec(text)[1]);

// The box around the shape of a node.
function boxOf(shape) {
  const round = /<ellipse[^>]*/.exec(shape);
  if (round) {
    const [cx, cy, rx, ry] =
      ['cx', 'cy', 'rx', 'ry'].map(key => numberOf(round[0], key));
    return [cx - rx, cy - ry, cx + rx, cy + ry];
  }
  const points = [.../<polygon[^>]* points="([^"]*)"/.exec(shape)[1]
    .matchAll(/([\d.-]+),([\d.-]+)/g)].map(([, x, y]) => [+x, +y]);
  const [xs, ys] = [0, 1].map(i => points.map(point => point[i]));
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

// {width, height, fonts, shapes, data}: shapes by their ids.
function pictureOf(drawn, ...options) {
  const file = join(folder, 'measured.svg');
  output(command, 'map', 'draw', drawn, '--output', file, ...options);
  const text = readFileSync(file, 'utf8');
  const data = /<metadata id="map-data">(.*)<\/metadata>/.exec(text);
  const shapes = new Map();
  for (const [, id, kind, shape] of
       text.matchAll(/<g id="([^"]*)" class="(node|edge)[^"]*">(.*?)\n<\/g>/gs))
    shapes.set(id, {kind, text: shape,
      title: unescaped(/<title>(.*?)<\/title>/s.exec(shape)[1])});
  return {text, shapes, width: numberOf(text, 'width'),
    height: numberOf(text, 'height'), data: data && JSON.parse(unescaped(data[1])),
    fonts: [...text.matchAll(/font-size="([\d.]+)"/g)].map(([, size]) => +size)};
}

// Rows of views, which are asked for more than once.
const known = new Map();
function rowsOf(run, view) {
  const key = `${run} ${view}`;
  if (!known.has(key))
    known.set(key, JSON.parse(output(command, 'view', run, view,
                                     '--format=json')).rows);
  return known.get(key);
}

/* --- figures --- */

// What each name of the map must have, by rows.
function figuresOf(run) {
  const all = new Map();
  const add = (name, measure, value) => {
    const one = all.get(name) ?? {};
    one[measure] = (one[measure] ?? 0) + value;
    all.set(name, one);
  };
  const tops = JSON.parse(output(command, 'sql', run, '--format=json',
    'select c.above as thread, count(*) as operations, sum(e.bytes) as bytes ' +
    'from event e join collector c on c.id = e.collector ' +
    'where c.thread is not null group by 1'));
  for (const {thread, operations, bytes} of tops) {
    add(thread, 'operations', operations);
    add(thread, 'traffic', bytes);
    add(thread, 'waiting', 0);
  }
  // Who and what is not in the table of waits has waited 0.
  for (const {element} of JSON.parse(output(command, 'sql', run, '--format=json',
    'select distinct element from collector where thread is not null')))
    add(element, 'waiting', 0);
  for (const {thread, communicating_ns: ns} of rowsOf(run, 'communication'))
    add(thread, 'time', ns);
  for (const {thread, over, total_ns: ns} of rowsOf(run, 'wait-states')) {
    add(thread, 'waiting', ns);
    add(over, 'waiting', ns);
  }
  for (const {wrapper, phase, total_ns: ns} of rowsOf(run, 'performance'))
    if (phase === 'arriving')
      add(wrapper, 'waiting', ns);
  for (const {stage, operations, bytes, total_ns: ns} of rowsOf(run, 'stages')) {
    const end = stage.split(' > ').pop();
    add(end, 'time', ns);
    for (const name of stage.split(' > ')) {
      add(name, 'operations', operations);
      add(name, 'traffic', bytes);
    }
  }
  return all;
}

// A node or edge of the picture stands for these values.
function checkRange(range, values, names) {
  assert.equal(range.total, sum(values, value => value));
  assert.equal(range.min, Math.min(...values));
  assert.equal(range.max, Math.max(...values));
  if (values.length > 1)
    assert.equal(values[names.indexOf(range.most)], range.max);
  else
    assert.ok(!('most' in range));
}

function checkFigures(picture, figures, elements) {
  const seen = [];
  for (const node of Object.values(picture.data.nodes)) {
    seen.push(...node.names);
    for (const measure of measures) {
      const known = node.names.filter(name =>
        figures.get(name)?.[measure] !== undefined);
      if (known.length)
        checkRange(node[measure],
                   known.map(name => figures.get(name)[measure]), known);
      else // an element or wrapper that nothing is said of, or which waited 0
        assert.equal(node[measure]?.max ?? 0, 0, `${node.names} ${measure}`);
    }
  }
  assert.deepEqual(seen.sort(), elements.sort());
}

// All that stands in a map, but its collectors.
const nodesOf = run => [...readFileSync(join(run, 'pathmap.dot'), 'utf8')
  .matchAll(/^ {8}("(?:[^"\\]|\\.)*"|\w+) \[kind=(\w+)/gm)]
  .filter(([, , kind]) => kind !== 'collector')
  .map(([, name]) => name.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1'));

function checkEdges(picture, run) {
  const stages = new Map(rowsOf(run, 'stages').map(row => [row.collector, row]));
  let known = 0;
  for (const edge of Object.values(picture.data.edges)) {
    assert.ok(picture.data.nodes[edge.from] && picture.data.nodes[edge.to]);
    const rows = edge.collectors.map(name => stages.get(name)).filter(Boolean);
    if (!rows.length)
      continue;
    known += rows.length;
    assert.equal(edge.time.total, sum(rows, row => row.passing_ns));
    assert.equal(edge.traffic.total, sum(rows, row => row.bytes));
    assert.equal(edge.operations.total, sum(rows, row => row.operations));
    assert.equal(edge.operations.max, Math.max(...rows.map(row => row.operations)));
  }
  assert.equal(known, stages.size);
}

/* --- looks --- */

// Of #rrggbb, as bright as eyes see it.
const brightness = color => 0.2126 * parseInt(color.slice(1, 3), 16) +
  0.7152 * parseInt(color.slice(3, 5), 16) + 0.0722 * parseInt(color.slice(5, 7), 16);

// More of the measure is darker, and of a line wider, never the other way.
function checkLooks(picture) {
  const {by, nodes, edges} = picture.data;
  const looks = (parts, key) => Object.entries(parts).filter(([, part]) => part[by])
    .map(([id, part]) => ({max: part[by].max,
      color: new RegExp(`${key}="(#\\w{6})"`).exec(picture.shapes.get(id).text)?.[1],
      width: Number(/stroke-width="([\d.]+)"/.exec(picture.shapes.get(id).text)?.[1] ?? 1)}))
    .sort((a, b) => a.max - b.max);
  for (const [parts, key] of [[nodes, 'fill'], [edges, 'stroke']]) {
    const all = looks(parts, key).filter(({color}) => color);
    for (let i = 1; i < all.length; i++) {
      assert.ok(brightness(all[i].color) <= brightness(all[i - 1].color) + 0.5);
      if (parts === edges)
        assert.ok(all[i].width >= all[i - 1].width - 0.011);
    }
    if (all.length > 1 && all[all.length - 1].max > 2 * all[0].max)
      assert.ok(brightness(all[0].color) > 20 + brightness(all[all.length - 1].color));
  }
}

// Fitted to a page of 1200 pixels by those of A4, it can be read.
function checkReadable(picture) {
  const scale = Math.min(1200 / picture.width, 1700 / picture.height);
  const smallest = Math.min(...picture.fonts) * scale;
  assert.ok(smallest >= 7, `${smallest} pixels`);
  const boxes = [...picture.shapes].filter(([, {kind}]) => kind === 'node')
    .map(([id, {text}]) => [id, boxOf(text)]);
  for (const [id, a] of boxes)
    for (const [other, b] of boxes)
      assert.ok(id === other || a[2] <= b[0] || b[2] <= a[0] || a[3] <= b[1] ||
                b[3] <= a[1], `${id} lies on ${other}`);
}

// Ids are those of the shapes, the same for each measure.
function checkIds(picture, before) {
  const ids = [...picture.shapes.keys()].sort();
  assert.deepEqual(ids, [...Object.keys(picture.data.nodes),
                         ...Object.keys(picture.data.edges)].sort());
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids)
    assert.match(id, /^map_[ne]\d+$/);
  if (before && before.shapes.size === picture.shapes.size)
    assert.deepEqual(ids, [...before.shapes.keys()].sort());
}

const unitsOf = {time: /\b(s|ms|us)</, waiting: /\b(s|ms|us)</, traffic: /\d [kMG]?B</,
  operations: />\d+(\.\d)?[kM]?</};

function checkRun(run, list, ...options) {
  const figures = figuresOf(run), nodes = nodesOf(run);
  let before;
  for (const by of list) {
    const began = Date.now();
    const picture = pictureOf(run, `--by=${by}`, ...options);
    const took = Date.now() - began;
    assert.equal(picture.data.by, by);
    checkFigures(picture, figures, nodes);
    checkEdges(picture, run);
    checkLooks(picture);
    if (!options.includes('--fold=never'))
      checkReadable(picture);
    checkIds(picture, before);
    assert.match(picture.text, new RegExp(`>${by}<`));
    assert.match(picture.text, unitsOf[by]);
    before = picture;
    if (by === 'time')
      console.log(`${run.split('/').pop()}: ${nodes.length} nodes as ` +
        `${Object.keys(picture.data.nodes).length}, ${took} ms`);
  }
  return before;
}

/* --- programs --- */

function runOf(name, application, processes, program, collectors = 'all') {
  const run = join(folder, name);
  sh(`${application} >${run}.app; eventspace map generate --application=${run}.app ` +
     `--processes=${processes} | eventspace map instrument - ` +
     `--collectors=${collectors} --output=${run}.dot; ` +
     `eventspace run ${run}.dot --output=${run} -- ${program}`);
  return run;
}

function checkPrograms() {
  const river = runOf('river', 'river mapping --threads=4 --size=S', 4, 'river run');
  checkRun(river, measures);
  checkRun(river, ['waiting'], '--fold=always');
  const gsum = runOf('gsum', 'gsum mapping --threads=6', 2, 'gsum run --rounds=50');
  const picture = checkRun(gsum, measures, '--fold=never');
  assert.equal(picture.shapes.size, nodesOf(gsum).length +
    Object.keys(picture.data.edges).length);
  // Only at threads: what is below a sum was not seen, and is not made up.
  const tops = pictureOf(runOf('tops', 'gsum mapping --threads=4', 2,
                               'gsum run --rounds=20', 'threads'), '--by=operations');
  const byName = new Map(Object.values(tops.data.nodes)
    .flatMap(node => node.names.map(name => [name, node])));
  assert.equal(byName.get('total.sum.h0').operations.total, 40);
  assert.ok(!byName.get('total').operations);
  assert.ok(tops.text.includes('not measured there'));
}

/* --- sizes --- */

function checkSizes() {
  for (const [threads, processes, steps] of [[2, 1, 3], [8, 2, 3], [32, 4, 3],
       [100, 12, 3], [332, 41, 2], [1000, 1, 2], [1000, 100, 2]]) {
    const run = join(folder, `tunnel.${threads}.${processes}`);
    output(maker, run, `${threads}`, `${processes}`, `${steps}`, 'hops');
    const picture = checkRun(run, threads === 332 ? measures : ['time']);
    const groups = Object.values(picture.data.nodes)
      .filter(({kind}) => kind === 'thread');
    assert.equal(sum(groups, group => group.numbers.length), threads);
    assert.ok(groups.length <= 40);
    for (const {numbers} of groups)
      if (numbers.length > 1)
        assert.ok(picture.text.includes(`>${numbers.length} threads<`));
  }
}

// Maps alone are folded by the same rule.
function checkMaps() {
  for (const threads of [2, 32, 332, 1000])
    for (const shape of threads < 1000 ? ['flat', 'binomial'] : ['hierarchical']) {
      const map = join(folder, `sum.${threads}.dot`);
      sh(`gsum mapping --threads=${threads} | eventspace map generate --application=- ` +
         `--processes=${Math.ceil(threads / 9)} --shape=${shape} --output=${map}`);
      checkReadable(pictureOf(map));
    }
}

/* --- what is refused --- */

function refused(says, ...words) {
  const done = spawn(command, ['map', 'draw', ...words, '--output',
                               join(folder, 'refused.svg')]);
  assert.ok(done.status > 0, done.stdout);
  assert.ok(done.stderr.includes(says), done.stderr);
}

function checkRefused() {
  refused('is a map, in which nothing was measured', join(folder, 'gsum.dot'),
          '--by=time');
  refused("measure 'speed' is not one of time, waiting, traffic, operations",
          join(folder, 'gsum'), '--by=speed');
  const none = runOf('none', 'gsum mapping --threads=2', 1, 'gsum run --rounds=2',
                     'none');
  refused('has no collectors', none, '--by=time');
  mkdirSync(join(folder, 'empty'));
  refused('empty', join(folder, 'empty'), '--by=time');
}

// In other formats: pictures, or figures as attributes.
function checkFormats() {
  const run = join(folder, 'gsum');
  for (const [format, begin] of [['png', '\x89PNG'], ['pdf', '%PDF']]) {
    const file = join(folder, `gsum.${format}`);
    output(command, 'map', 'draw', run, '--by=time', '--output', file);
    assert.ok(readFileSync(file, 'latin1').startsWith(begin));
  }
  output(command, 'map', 'draw', run, '--by=traffic', '--fold=never', '--output',
         join(folder, 'traffic.dot'));
  const text = readFileSync(join(folder, 'traffic.dot'), 'utf8');
  for (const {thread, operations} of rowsOf(run, 'communication'))
    assert.match(text, new RegExp(
      `^ +${thread} \\[.*bytes=${8 * operations}.*operations=${operations}`, 'm'));
}

checkPrograms();
checkSizes();
checkMaps();
checkRefused();
checkFormats();
