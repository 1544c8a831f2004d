// models.mjs - predictions against real runs, as in paper 000's section 4 and
// paper 001's: eight programs, five kinds of sharing.
//
//     node models.mjs BIN FOLDER [RUNS [PROGRAM ...]]
//     node models.mjs --check [RUNS [PROGRAM ...]]
//
// --check says whether RUNS and the names can be taken, and runs nothing.
// BIN has the programs, FOLDER gets what `eventspace experiment` says of each
// (JSON) and its profile; the summary, one JSON object per line and kind of
// sharing, goes to standard output. Needs a quiet machine of two processors,
// and root for the links.
import {execFileSync, spawnSync} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const checkOnly = process.argv[2] === '--check';
const [bin, folder, runs = '5', ...only] =
  checkOnly ? ['', '', ...process.argv.slice(3)] : process.argv.slice(2);

// A second or two each, alone: `nodes` where processors are shared, `links` where
// links are, which makes them several times as long.
const size = (letter, rounds) =>
  ['--size', letter, ...(rounds ? ['--rounds', String(rounds)] : [])];
const programs = {
  ep: {nodes: size('A'), links: size('A')},
  is: {nodes: size('A', 15), links: size('S', 60)},
  cg: {nodes: size('A', 10), links: size('S', 6)},
  mg: {nodes: size('A', 8), links: size('W', 6)},
  lu: {nodes: size('A', 100), links: size('W', 30)},
  adi: {nodes: size('A', 150), links: size('W', 30)},
  sor: {nodes: size('A', 600), links: size('W', 300)},
  windtunnel: {nodes: ['--width', '2048', '--height', '1024'],
               links: ['--width', '1024', '--height', '512']},
};
const arguments_ = {windtunnel: {nodes: ['--steps', '2500'],
                                 links: ['--steps', '1200']}};

function refuse(why) {
  process.stderr.write(`validation: ${why}\n`);
  process.exit(2);
}

if (bin === undefined || folder === undefined)
  refuse('models.mjs needs BIN, where the programs are, and FOLDER, where ' +
         'the results go');
if (!/^[1-9][0-9]{0,3}$/.test(runs))
  refuse(`the number of runs is '${runs}'; give one from 1 to 9999`);
for (const program of only)
  if (!Object.hasOwn(programs, program))
    refuse(`there is no program '${program}'; those that can be validated ` +
           `are ${Object.keys(programs).join(', ')}`);
if (checkOnly)
  process.exit(0);
const eventspace = join(bin, 'eventspace');

// The papers' own errors, mean and maximum, where they tell them: 000, 4.
const kinds = [
  {name: 'one node', processes: 2, case: 'h0:load=1', papers: [2.3, 7.8]},
  {name: 'all nodes', processes: 2, case: '*:load=1'},
  {name: 'one link', processes: 4, testbed: true, case: 'h0-h1:bandwidth=10mbit',
   papers: [2.0, 7.4]},
  {name: 'all links', processes: 4, testbed: true, case: '*:bandwidth=10mbit'},
  {name: 'node and link', processes: 2, testbed: true,
   case: 'h0:load=1 h0-h1:bandwidth=10mbit', papers: [5.7, 11.8]},
];

function map(program, processes, what) {
  const application = execFileSync(
    join(bin, program),
    ['mapping', '--threads', String(processes), ...programs[program][what]]);
  const file = join(folder, `${program}.${processes}.${what}.dot`);
  writeFileSync(file, execFileSync(
    eventspace,
    ['map', 'generate', '--application', '-', '--processes', String(processes)],
    {input: application}));
  return file;
}

function experiment(program, processes, testbed) {
  const what = testbed ? 'links' : 'nodes';
  const name = `${program}.${processes}${testbed ? '.testbed' : ''}`;
  const of = kinds.filter(k => k.processes === processes && !k.testbed === !testbed);
  const done = spawnSync(eventspace, [
    'experiment', '--format', 'json', '--runs', runs,
    '--profile', join(folder, `${name}.profile`),
    ...(testbed ? ['--testbed=esval', '--base-rate=100mbit'] : []),
    ...of.flatMap(k => ['--scenario', k.case]),
    map(program, processes, what), '--', join(bin, program), 'run',
    ...(arguments_[program]?.[what] ?? []),
  ], {stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 26});
  writeFileSync(join(folder, `${name}.json`), done.stdout);
  if (done.status !== 0)
    throw new Error(`eventspace experiment of ${name} failed`);
  const rows = JSON.parse(done.stdout);
  return of.map(k => ({
    kind: k.name, program,
    rows: rows.filter(row => row.scenario === k.case),
  }));
}

// The model that was named before, and the papers' (law `credit`; where a kind
// has several, by phases, the one that 000 and 001 print first).
function errors(rows) {
  const best = rows.find(row => row.best === 'best');
  const papers = rows.find(row => row.model !== 'replay' &&
                                  row.law === 'credit') ??
                 rows.find(row => row.model !== 'replay' && row.law === '') ??
                 rows.find(row => row.model !== 'replay');
  return {best, papers, replay: rows.find(row => row.model === 'replay')};
}

// An error that is no number is a failure, and not 0.
const percent = (rows, key) => {
  const all = rows.map(row => {
    if (!Number.isFinite(row[key]))
      throw new Error(`${row.scenario}, ${row.model}: its ${key} is no number`);
    return Math.abs(row[key]) * 100;
  });
  return {
    mean: +(all.reduce((a, b) => a + b, 0) / all.length).toFixed(2),
    max: +Math.max(...all).toFixed(2),
  };
};

mkdirSync(folder, {recursive: true});
const chosen = only.length ? only : Object.keys(programs);
const results = [];
for (const program of chosen)
  for (const [processes, testbed] of [[2, false], [4, true], [2, true]]) {
    try {
      results.push(...experiment(program, processes, testbed));
    } catch (error) {
      process.stderr.write(`${error.message}\n`);
      process.exitCode = 1;
    }
  }

for (const {kind, program, rows} of results) {
  const {best, papers, replay} = errors(rows);
  process.stdout.write(JSON.stringify({
    kind, program, measured_s: best.measured_s, slowdown: best.slowdown,
    best: best.model, best_error: best.error,
    papers: papers?.model, papers_lower_s: papers?.lower_s,
    papers_upper_s: papers?.upper_s, papers_error: papers?.error,
    replay_s: replay?.lower_s, replay_error: replay?.error,
    replay_scaled_error: replay?.scaled_error,
  }) + '\n');
}
for (const kind of kinds) {
  const of = results.filter(r => r.kind === kind.name)
    .map(r => errors(r.rows));
  if (of.length)
    process.stdout.write(JSON.stringify({
      name: `validation.${kind.name.replaceAll(' ', '_')}`, unit: '%',
      // As they were told before the runs; and scaled by the dedicated runs
      // of the same experiment, as the papers tell theirs.
      best: percent(of.map(e => e.best), 'error'),
      replay: percent(of.map(e => e.replay).filter(Boolean), 'error'),
      papers_model: percent(of.map(e => e.papers).filter(Boolean), 'error'),
      scaled_best: percent(of.map(e => e.best), 'scaled_error'),
      scaled_replay: percent(of.map(e => e.replay).filter(Boolean),
                             'scaled_error'),
      scaled_papers_model: percent(of.map(e => e.papers).filter(Boolean),
                                   'scaled_error'),
      papers_report: kind.papers ?? null, programs: of.length,
    }) + '\n');
}
