// stochastic.mjs - draws the figures of docs/models.md that retell those of paper 002:
// its figures 1, 3, 5, 7 and 8, from what tests/validation/stochastic.mjs has measured.
//
//     node docs/figures/stochastic.mjs FOLDER docs/figures
//
// FOLDER is the one of the validation: stochastic.jsonl, and the histories of both
// platforms. Nothing is predicted here; densities are smoothed for the eye.
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {axes, bottom, left, number, page as pageOf, path, right, scale, steps, top, width}
  from './page.mjs';

const [folder, output] = process.argv.slice(2);
if (!output) {
  console.error('usage: node stochastic.mjs FOLDER OUTPUT');
  process.exit(2);
}
const page = (...words) => pageOf(output, ...words);
const mean = list => list.reduce((sum, value) => sum + value, 0) / list.length;
const deviation = list =>
  Math.sqrt(list.reduce((sum, value) => sum + (value - mean(list)) ** 2, 0) / list.length);

// --- densities ---

const normal = (x, m, s) => Math.exp(-(((x - m) / s) ** 2) / 2) / s / Math.sqrt(2 * Math.PI);

function cumulative(x, m, s) { // Abramowitz and Stegun 26.2.17
  const z = Math.abs(x - m) / s, t = 1 / (1 + 0.2316419 * z);
  const tail = normal(z, 0, 1) * t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 +
    t * (-1.821255978 + t * 1.330274429))));
  return x < m ? tail : 1 - tail;
}

// A density and a cumulative distribution, beside those of a normal one.
function distributions(name, title, values, unit) {
  const height = 280, m = mean(values), s = deviation(values);
  const sorted = [...values].sort((a, b) => a - b);
  const from = Math.min(sorted[0], m - 3 * s), to = Math.max(sorted.at(-1), m + 3 * s);
  const grid = Array.from({length: 200}, (_, i) => from + (to - from) * i / 199);
  const spread = Math.max(1.06 * s * values.length ** -0.2 / 2, (to - from) / 200);
  const density = x => mean(values.map(value => normal(x, value, spread)));
  const most = Math.max(...grid.map(density), normal(m, m, s)) * 1.1;
  const halves = [[left, width / 2 - 16], [width / 2 + 40, width - right]];
  const parts = halves.flatMap((half, i) => {
    const x = scale(from, to, ...half), y = scale(0, i ? 1 : most, height - bottom, top);
    return [
      ...axes(x, y, steps(from, to), i ? [0, 0.25, 0.5, 0.75, 1] : [], height, unit,
        i ? 'share below' : 'density', half),
      path('line', i ? sorted.map((value, k) => [x(value), y((k + 1) / sorted.length)]) :
        grid.map(value => [x(value), y(density(value))])),
      path('normal', grid.map(value => [x(value),
        y(i ? cumulative(value, m, s) : normal(value, m, s))])),
    ];
  });
  page(name, title, height, parts);
}

// --- what was measured ---

const file = join(folder, 'stochastic.jsonl');
const all = readFileSync(file, 'utf8').trim().split('\n').map(line => JSON.parse(line));
const rowsOf = (platform, size) => all.filter(row => row.platform === platform &&
  (!size || row.size === size)).sort((a, b) => a.run - b.run);

// Seconds since the history began, and shares of a processor.
function historyOf(platform, processor) {
  const name = join(folder, `histories.${platform}`);
  const begin = JSON.parse(readFileSync(join(name, 'begin.json'), 'utf8')).begin;
  const text = readFileSync(join(name, `availability.m${processor}.history`), 'utf8');
  return text.trim().split('\n').filter(line => !line.startsWith('#'))
    .map(line => line.split(',').map(Number))
    .map(([ms, value]) => ({second: ms / 1000 - begin, value}));
}

// --- figures ---

// Runs from left to right, with what was told of each.
function runs(name, title, rows, outlook, labelOf) {
  const height = 320;
  const most = Math.max(...rows.map(row => Math.max(row.took,
    row[outlook].mean + row[outlook].range))) * 1.05;
  const x = scale(-0.5, rows.length - 0.5, left, width - right);
  const y = scale(0, most, height - bottom, top);
  const half = Math.min(8, (x(1) - x(0)) * 0.4);
  const parts = axes(x, y, [], steps(0, most), height,
    'run; the bar is the range that was told before it', 's');
  rows.forEach((row, i) => {
    const {mean: told, range} = row[outlook], low = Math.max(0, told - range);
    const isWithin = Math.abs(row.took - told) <= range;
    parts.push(`<rect class="range" x="${number(x(i) - half)}" width="${number(2 * half)}" ` +
      `y="${number(y(told + range))}" height="${number(y(low) - y(told + range))}"><title>` +
      `${told.toFixed(2)} s ± ${range.toFixed(2)}</title></rect>`,
    `<line class="mean" x1="${number(x(i) - half)}" x2="${number(x(i) + half)}" ` +
      `y1="${number(y(told))}" y2="${number(y(told))}"/>`,
    `<circle class="${isWithin ? 'within' : 'outside'}" cx="${number(x(i))}" ` +
      `cy="${number(y(row.took))}" r="3"><title>${row.took.toFixed(2)} s</title></circle>`);
    const label = labelOf(row, i);
    if (label)
      parts.push(`<text class="small" x="${number(x(i))}" y="${height - bottom + 14}" ` +
        `text-anchor="middle">${label}</text>`);
  });
  page(name, title, height, parts);
}

function histogram(name, title, values) {
  const height = 280, bins = 50, x = scale(0, 1.02, left, width - right);
  const counts = Array(bins).fill(0);
  values.forEach(value => counts[Math.min(bins - 1, Math.floor(value / 1.02 * bins))]++);
  const most = Math.max(...counts) / values.length * 1.1;
  const y = scale(0, most, height - bottom, top);
  page(name, title, height, [
    ...axes(x, y, [0, 0.2, 0.4, 0.6, 0.8, 1], steps(0, most), height,
      'share of a processor', 'share of the samples'),
    ...counts.map((count, i) => `<rect class="bar" x="${number(x(i / bins * 1.02) + 1)}" ` +
      `width="${number(x(1.02 / bins) - x(0) - 2)}" y="${number(y(count / values.length))}" ` +
      `height="${number(y(0) - y(count / values.length))}"/>`)]);
}

function series(name, title, samples) {
  const height = 240, last = samples.at(-1).second;
  const x = scale(0, last, left, width - right), y = scale(0, 1.05, height - bottom, top);
  page(name, title, height, [
    ...axes(x, y, steps(0, last), [0, 0.25, 0.5, 0.75, 1], height, 's', 'share'),
    path('line', samples.map(({second, value}) => [x(second), y(value)]))]);
}

const sizes = ['W', 'A', 'B'];
if (rowsOf('one').length) {
  const size = sizes.find(letter => rowsOf('one', letter).length);
  distributions('stochastic-1', `Run times of sor, size ${size}, platform 1, beside a normal ` +
    'distribution', rowsOf('one', size).map(row => row.took), 's');
  const shown = sizes.flatMap(letter => rowsOf('one', letter).filter((_, i) => i % 3 === 0));
  runs('stochastic-5', 'Platform 1: load that stays in one mode', shown, 'forecast',
    (row, i) => i === 0 || shown[i - 1].size !== row.size ? `size ${row.size}` : '');
}
if (rowsOf('modes').length) {
  const samples = historyOf('modes', 0);
  histogram('stochastic-3', 'What processor 0 of platform 2 gave',
    samples.map(({value}) => value));
  const size = sizes.find(letter => letter === 'A' && rowsOf('modes', letter).length) ??
    sizes.find(letter => rowsOf('modes', letter).length);
  runs('stochastic-7', `Platform 2: load that changes modes, size ${size}`,
    rowsOf('modes', size), 'modes', (_, i) => (i % 5 === 0 ? `${i + 1}` : ''));
  series('stochastic-8', 'What processor 0 of platform 2 gave, second by second', samples);
}
