// planted_test.mjs - of programs that lose time for one cause that is known,
// the first row of the view causes names it, and where it is; and the run takes
// as long without it as that row says, within 5 %.
//
//     planted_test.mjs EVENTSPACE PLANTED
//
// planted_plans.mjs makes the programs up, planted.c is them. One seed of each
// cause is run, or EVENTSPACE_PLANTED of them from EVENTSPACE_PLANTED_FIRST on,
// with and without the cause; of these 97 in 100 have to be right.
//
// A machine that does other things may hold threads up. Runs of which the
// threads' own clocks say that they were not as planned are made again, and the
// views are not asked. A cause that is never as planned is told, and is no
// failure where it is one seed only; and that one may be right at any of five
// times, since what else the machine does is not all seen by threads' clocks.
import assert from 'node:assert/strict';
import {execFileSync} from 'child_process';
import {kinds as allKinds, plan} from './planted_plans.mjs';
import {asPlanned, percent, unplanned} from './planted_runs.mjs';

const [eventspace] = process.argv.slice(2);
const many = process.env.EVENTSPACE_PLANTED;
const seeds = Number(many ?? 1);
const first = Number(process.env.EVENTSPACE_PLANTED_FIRST ?? (many ? 0 : 3));
const kinds = process.env.EVENTSPACE_PLANTED_KINDS?.split(' ') ?? allKinds;
const near = 0.05, often = 0.97, tries = many ? 8 : 4;

// --- what the view says ---

function causesOf(run) {
  const {rows} = JSON.parse(execFileSync(
    eventspace, ['view', run, 'causes', '--format=json'],
    {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']}));
  return rows;
}

function isNamed(row, truth) {
  return row?.cause === truth.cause &&
    (truth.thread === undefined || row.thread === truth.thread) &&
    (truth.before === undefined || row.before === truth.before) &&
    (truth.where === undefined || row.where === truth.where) &&
    (truth.between ?? []).every(name => row.where.includes(name));
}

// Shares of all waiting add up to 1, and all of it is what threads were in
// calls for.
function addsUp(run, rows) {
  const sum = key => rows.reduce((all, row) => all + row[key], 0);
  const {rows: threads} = JSON.parse(execFileSync(
    eventspace, ['view', run, 'communication', '--format=json'],
    {encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore']}));
  const inCalls = threads.reduce((all, row) => all + row.communicating_ns, 0);
  return Math.abs(sum('waiting_share') - 1) < 0.01 &&
    Math.abs(sum('waiting_ns') / inCalls - 1) < 0.01;
}

// Without the cause: the median of runs, since each may be late by a few
// percent; null, if there is none.
function timeOf(its, name) {
  const times = Array.from({length: many ? 3 : 1}, () =>
    asPlanned(its, name, tries)?.took).filter(Boolean).sort((a, b) => a - b);
  return times[Math.floor(times.length / 2)] ?? null;
}

function check(kind, seed) {
  const its = plan(kind, seed, true), other = plan(kind, seed, false);
  const name = `${kind}.${seed}`;
  const run = asPlanned(its, name, tries, kind !== 'hop');
  const without = run && timeOf(other, `${name}.without`);

  if (!run || !without) {
    console.log(`${name}: never as planned in ${tries} runs`);
    return many ? {} : {named: true, near: true, adds: true};
  }
  const rows = causesOf(run.run), [row] = rows;
  const said = row ? run.took - row.gain_ns : NaN;
  const off = said / without - 1;
  const right = {named: isNamed(row, its.truth), near: Math.abs(off) <= near,
                 adds: addsUp(run.run, rows)};
  console.log(`${name}: ${its.threads} threads, took ${percent(run.took /
    without)} of the time without, told within ${percent(off)}; ${row?.says}`);
  for (const [what, isRight] of Object.entries(right))
    if (!isRight)
      console.log(`  WRONG ${what}: true is ${JSON.stringify(its.truth)}, said ` +
        JSON.stringify(rows.slice(0, 3)));
  return right;
}

const bad = [], all = {right: 0, of: 0};
for (const kind of kinds) {
  const right = {named: 0, near: 0, adds: 0, all: 0};
  for (let seed = first; seed < first + seeds; seed++) {
    let of = check(kind, seed);
    for (let time = 1; !many && time < 5 && Object.values(of).includes(false); time++)
      of = check(kind, seed);
    for (const what of ['named', 'near', 'adds'])
      right[what] += of[what] === true;
    right.all += of.named && of.near && of.adds ? 1 : 0;
  }
  const line = JSON.stringify({kind, seeds, ...right});
  console.log(line);
  all.right += right.all;
  all.of += seeds;
  if (right.all < Math.floor(0.9 * seeds))
    bad.push(line);
}
console.log(`runs that were not as planned, and made again: ${unplanned()}`);
if (all.right < Math.ceil(often * all.of))
  bad.push(JSON.stringify(all));
assert.deepEqual(bad, []);
