// contracts.mjs - draws the figures of docs/contracts.md that retell those of paper 003:
// its figures 5 to 10, from runs that tests/validation/contracts.mjs has made.
//
//     node docs/figures/contracts.mjs BIN FOLDER docs/figures [LOAD [UPLINK]]
//
// FOLDER is the one of the validation, with its runs; LOAD and UPLINK are the numbers of
// those that are drawn (default 0).
import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join, resolve} from 'node:path';
import {left, number, page, path, right, scale, steps, width} from './page.mjs';

const [binPath, folder, output, load = '0', uplink = '0'] = process.argv.slice(2);
if (!output) {
  console.error('usage: node contracts.mjs BIN FOLDER OUTPUT [LOAD [UPLINK]]');
  process.exit(2);
}
const lines = text => text.trim().split('\n').map(line => JSON.parse(line));
const runs = lines(readFileSync(join(folder, 'runs.jsonl'), 'utf8'));
const runOf = (kind, index) => runs.find(run => run.kind === kind && run.number === index);

function asked(...words) {
  const done = spawnSync(join(resolve(binPath), 'eventspace'), [...words, '--format=json'],
    {cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28});
  if (![0, 3].includes(done.status))
    throw new Error(`eventspace ${words.join(' ')}: ${done.stderr}`);
  return JSON.parse(done.stdout);
}
// [second, value] of a process; what is not known is left out.
const pointsOf = (rows, process, key) => rows.filter(row =>
  row.process === process && row[key] !== null).map(row => [row.start_ns / 1e9, row[key]]);
const ratesOf = directory => asked('signature', directory, '--metrics=sor.contract', '--detail');
const levelsOf = directory => asked('contract', 'check', 'sor.contract', directory, '--detail');
const contract = readFileSync(join(folder, 'sor.contract'), 'utf8');
const interval = Number(contract.match(/^interval ([\d.]+);/m)[1]);
// What is promised of a process, with what it does most of the time.
function promisedOf(process) {
  const found = contract.match(new RegExp(
    `^class performance of "${process}" \\(([\\d.]+)[,)].*? deviates \\(([\\d.]+)[,)]`, 'm'));
  return {mean: Number(found[1]), apart: Math.max(Number(found[2]), 0.1 / 3 * found[1]) * 4.5};
}

// Rows below each other, over one time: {label, series: [{points, isMain}], most, band,
// isCalm}; between `during` something was done, but in rows that are calm.
function rowsDraw(name, title, rows, during) {
  const HIGH = 96, GAP = 34, from = 64, height = 56 + rows.length * (HIGH + GAP) + 12;
  const end = Math.max(...rows.flatMap(row => row.series.flatMap(one =>
    one.points.map(point => point[0])))) + interval;
  const x = scale(0, end, left, width - right);
  const parts = rows.flatMap((row, i) => {
    const low = from + i * (HIGH + GAP) + HIGH, y = scale(0, row.most, low, low - HIGH);
    const marks = row.most === 1 ? [0, 0.5, 1] : steps(0, row.most);
    return [
      ...(!row.isCalm ? [`<rect class="during" x="${number(x(during[0]))}" ` +
        `y="${low - HIGH}" width="${number(x(during[1]) - x(during[0]))}" height="${HIGH}"/>`] : []),
      ...(row.band ? [`<rect class="promised" x="${left}" ` +
        `y="${number(y(Math.min(row.most, row.band[1])))}" width="${width - right - left}" ` +
        `height="${number(y(row.band[0]) - y(Math.min(row.most, row.band[1])))}"/>`] : []),
      ...marks.map(value => `<line class="grid" x1="${left}" x2="${width - right}" ` +
        `y1="${number(y(value))}" y2="${number(y(value))}"/><text class="small" x="${left - 6}" ` +
        `y="${number(y(value) + 3)}" text-anchor="end">${value}</text>`),
      ...row.series.map(one => path(one.isMain ? 'line' : 'aside',
        one.points.flatMap(([at, value]) => [[x(at), y(Math.min(value, row.most))],
          [x(at + interval), y(Math.min(value, row.most))]]))),
      `<line class="axis" x1="${left}" x2="${width - right}" y1="${low}" y2="${low}"/>`,
      `<text class="small" x="${left}" y="${low - HIGH - 7}">${row.label}</text>`,
      ...steps(0, end).map(value => `<text class="small" x="${number(x(value))}" ` +
        `y="${low + 13}" text-anchor="middle">${value}${value === 0 ? ' s' : ''}</text>`),
    ];
  });
  page(output, name, title, height, parts);
}

const processes = Array.from({length: 12}, (_, i) => `h${i}`);
const loaded = runOf('load', Number(load)), crowded = runOf('uplink', Number(uplink));
const rates = {quiet: ratesOf('undisturbed.0'), load: ratesOf(`load.${load}`)};
// As shares of what is promised: those at both ends have half as many.
const sharesOf = (rows, process) => pointsOf(rows, process, 'operation_rate')
  .map(([at, rate]) => [at, rate / promisedOf(process).mean]);
const rateRow = (label, rows, main) => {
  const promised = promisedOf(main);
  return {label, most: 1.2, band: [1 - promised.apart / promised.mean, 1.2],
    series: [...processes.filter(one => one !== main)
      .map(one => ({points: sharesOf(rows, one)})),
    {points: sharesOf(rows, main), isMain: true}]};
};
const {victim} = loaded, at = Number(victim.slice(1));
// Somebody of another cluster, who waits in the end, as processor 9 of the paper.
const waits = `h${(at + 6) % 12}`;
rowsDraw('contracts-5', 'Operations of each process in a second, as a share of the promised', [
  {...rateRow(`nobody else is there; dark ${victim}, green what is promised (003, figure 5)`,
    rates.quiet, victim), isCalm: true},
  rateRow(`a busy process shares the processor of ${victim} in the blue time (figure 6)`,
    rates.load, victim),
], [loaded.begin, loaded.end]);
const levels = levelsOf(`load.${load}`), during = [loaded.begin, loaded.end];
const levelRow = (label, rows, process, kind) => ({label, most: 1,
  series: [{points: pointsOf(rows, process, `${kind}_level`), isMain: true}]});
rowsDraw('contracts-7', `Levels while ${victim} shares its processor: 0 is kept, 1 violated`, [
  levelRow(`performance of ${victim}, whose processor it is (003, figure 7)`, levels, victim,
    'performance'),
  levelRow(`performance of ${waits}, which waits (figure 8)`, levels, waits, 'performance'),
  levelRow(`intrinsic contract of ${victim}: the program is the same (figure 9)`, levels,
    victim, 'intrinsic'),
  levelRow('performance of all', levels, 'all', 'performance'),
], during);
if (crowded) {
  const behind = {0: 'h3', 1: 'h4', 2: 'h8'}[crowded.cluster];
  const network = levelsOf(`uplink.${uplink}`);
  rowsDraw('contracts-10',
    `Levels while others use the uplink of h${4 * crowded.cluster} to h${4 * crowded.cluster + 3}`, [
      levelRow(`performance of ${behind}, which exchanges rows over it (003, figure 10)`, network,
        behind, 'performance'),
      levelRow('performance of all', network, 'all', 'performance'),
      levelRow(`intrinsic contract of ${behind}`, network, behind, 'intrinsic'),
    ], [crowded.begin, crowded.end]);
}
