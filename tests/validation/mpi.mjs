// mpi.mjs - what `eventspace predict` says of programs of MPI beside competitors,
// and how long they then take.
//
//     mpi.mjs BIN KERNELS_FOLDER FOLDER [RUNS [CELL ...]]
//
// KERNELS_FOLDER has kernels.openmpi and kernels.mpich (tests/bench/mpi/kernels.c).
// Two ranks, each on a processor of its own. A cell is
//
//   kernel    stencil, cg, alltoall, wavefront, workers
//   mpi       openmpi, mpich
//   waiting   spin, yield: told to the library
//   session   same, other: the competitors', beside the program's
//   where     one: a busy process on the first rank's processor; all: on both
//
// There are 20, in an order that covers each two values of different kinds. Of each,
// the program is profiled once, alone; then what `predict` says is written down; and
// then it runs RUNS times (default 5) alone and beside competitors, in turn. The
// error is that of the predicted time against the median that was measured, "scaled"
// after the prediction was multiplied by what the program took alone / as profiled.
//
// FOLDER keeps what is done (a line for each cell, and the profiles), so that it can
// be gone on with.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync}
  from 'node:fs';
import {join, resolve} from 'node:path';

const [binPath, kernelsPath, folderPath, runText = '5', ...only] = process.argv.slice(2);
const bin = resolve(binPath), kernels = resolve(kernelsPath), folder = resolve(folderPath);
const runs = Number(runText);
mkdirSync(folder, {recursive: true});
const eventspace = join(bin, 'eventspace');
const median = values => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

// --- cells ---

const names = ['stencil', 'cg', 'alltoall', 'wavefront', 'workers'];
const blocks = {stencil: 40, cg: 60, alltoall: 60, wavefront: 120, workers: 60};

// Each kernel with four of the 16 others, so that each value of one kind meets each
// of another one.
const halves = [[0, 0, 0, 0], [1, 1, 0, 1], [0, 1, 1, 1], [1, 0, 1, 0]];
const cells = names.flatMap((kernel, k) => halves.map(half => {
  const [mpi, waiting, session, where] = half.map((bit, i) => bit ^ (k >> i % 3 & 1));
  return {kernel, mpi: ['openmpi', 'mpich'][mpi], waiting: ['spin', 'yield'][waiting],
          session: ['same', 'other'][session], where: ['one', 'all'][where]};
}));
const nameOf = cell => Object.values(cell).join('.');

// --- running ---

// Binds each rank to its processor.
const bound = join(folder, 'bound.sh');
writeFileSync(bound, `#!/bin/sh
exec taskset -c "\${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" "$@"
`, {mode: 0o755});

function command({kernel, mpi, waiting}, ...before) {
  const program = [...before, bound, join(kernels, `kernels.${mpi}`), kernel,
                   `${blocks[kernel]}`];
  return mpi === 'openmpi'
    ? ['mpirun.openmpi', '--allow-run-as-root', '--oversubscribe', '--bind-to', 'none',
       '--mca', 'mpi_yield_when_idle', waiting === 'yield' ? '1' : '0', '-n', '2',
       ...program]
    : ['mpirun.mpich', '-n', '2', '-bind-to', 'none', ...program];
}

const environment = {...process.env, PATH: `${bin}:${process.env.PATH}`,
                     OMPI_MCA_rmaps_base_oversubscribe: '1'};
const settings = ({mpi, waiting}) => mpi === 'mpich'
  ? {...environment, MPIR_CVAR_POLLS_BEFORE_YIELD: waiting === 'yield' ? '1' : '0'}
  : environment;

function run(cell, words) {
  const from = performance.now();
  const done = spawnSync(words[0], words.slice(1), {cwd: folder, encoding: 'utf8',
    env: settings(cell), timeout: 300e3});
  assert.equal(done.status, 0, `${words.join(' ')}: ${done.signal ?? ''} ${done.stderr}`);
  return {seconds: (performance.now() - from) / 1e3, text: done.stdout};
}

function beside(cell, work) {
  const others = (cell.where === 'one' ? [0] : [0, 1]).map(processor => spawn('taskset',
    ['-c', `${processor}`, 'sh', '-c', 'while :; do :; done'],
    {stdio: 'ignore', detached: cell.session === 'other'}));
  try {
    return work();
  } finally {
    others.forEach(other => other.kill('SIGKILL'));
  }
}

// --- a cell ---

function predicted(cell, profile) {
  const where = cell.where === 'one' ? 'rank_0' : '*';
  const {text} = run(cell, [eventspace, 'predict', profile, '--format=json',
    `--node=${where}:load=1,session=${cell.session}`]);
  const answer = JSON.parse(text);
  return answer;
}

function validate(cell) {
  const name = nameOf(cell), profile = join(folder, `${name}.profile`);
  const record = join(folder, 'RUN');
  rmSync(record, {recursive: true, force: true});
  run(cell, [eventspace, 'profile', `--output=${profile}`, '--',
    ...command(cell, eventspace, 'mpi', `--output=${record}`, '--')]);
  const told = predicted(cell, profile);
  appendFileSync(join(folder, 'told.jsonl'), JSON.stringify({name, told}) + '\n');
  const best = told.answers.find(answer => answer.best);
  const alone = [], shared = [];
  for (let i = 0; i < runs; i++) {
    alone.push(run(cell, command(cell)).seconds);
    shared.push(beside(cell, () => run(cell, command(cell)).seconds));
  }
  const took = median(shared), dedicated = median(alone);
  const line = {name, ...cell, profiled_s: told.dedicated_s, alone_s: dedicated,
    shared_s: took, least_s: Math.min(...shared), most_s: Math.max(...shared),
    predicted_s: best.upper_s, error: best.upper_s / took - 1,
    scaled: best.upper_s * dedicated / told.dedicated_s / took - 1};
  appendFileSync(join(folder, 'cells.jsonl'), JSON.stringify(line) + '\n');
  console.log(JSON.stringify(line));
}

const file = join(folder, 'cells.jsonl');
const done = () => existsSync(file)
  ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean).map(line => JSON.parse(line))
  : [];
const wanted = cells.filter(cell => !only.length || only.includes(nameOf(cell)));
for (const cell of wanted)
  if (!done().some(({name}) => name === nameOf(cell)))
    validate(cell);

// --- sums ---

const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;
const percent = value => `${(100 * value).toFixed(1)} %`;
for (const [kind, values] of Object.entries({where: ['one', 'all'],
  waiting: ['spin', 'yield'], session: ['same', 'other'], mpi: ['openmpi', 'mpich']}))
  for (const value of values) {
    const its = done().filter(line => line[kind] === value);
    if (its.length)
      console.log(`${kind}=${value}: ${its.length} cells, error ` +
        `${percent(mean(its.map(({error}) => Math.abs(error))))} in the mean, ` +
        `${percent(Math.max(...its.map(({error}) => Math.abs(error))))} at most; scaled ` +
        `${percent(mean(its.map(({scaled}) => Math.abs(scaled))))}, ` +
        `${percent(Math.max(...its.map(({scaled}) => Math.abs(scaled))))}`);
  }
