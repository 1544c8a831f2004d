// mpi.mjs - what `eventspace predict` says of programs of MPI beside competitors,
// and how long they then take.
//
//     mpi.mjs BIN KERNELS_FOLDER FOLDER [RUNS [CELL ...]]
//
// KERNELS_FOLDER has kernels.openmpi and kernels.mpich (tests/bench/mpi/kernels.c).
// Two ranks, each on a processor of its own. A cell is
//
//   kernel    stencil, cg, alltoall, wavefront, workers
//   library   openmpi.spin, openmpi.yield (mpi_yield_when_idle), mpich, which spins
//   session   same, other: whether competitors are of the session from which the
//             program is started, or each of one of its own. (Ranks of MPICH are
//             sessions of their own in any case.)
//   where     one: a busy process on the first rank's processor; all: on both
//
// There are 20, which cover each two values of different kinds. Of each,
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
import {cpus} from 'node:os';
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

// Each kernel with each session and place; of the libraries, the next one each time.
const libraries = ['openmpi.spin', 'openmpi.yield', 'mpich'];
const cells = names.flatMap((kernel, k) => [0, 1, 2, 3].map(i => ({kernel,
  library: libraries[(k + i + (i >> 1)) % 3], session: ['same', 'other'][i & 1],
  where: ['one', 'all'][i >> 1]})));
// Who yields to others of its session takes ten times as long, and more.
const blocksOf = ({kernel, library, session}) => Math.ceil(blocks[kernel] /
  (library === 'openmpi.yield' && session === 'same' ? 10 : 1));
const nameOf = cell => Object.values(cell).join('.');
const isMpich = ({library}) => library === 'mpich';

// --- running ---

// Binds each rank to its processor.
const bound = join(folder, 'bound.sh');
writeFileSync(bound, `#!/bin/sh
exec taskset -c "\${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" "$@"
`, {mode: 0o755});

function command(cell, ...before) {
  const {kernel, library} = cell;
  const program = [...before, bound, join(kernels, `kernels.${library.split('.')[0]}`),
                   kernel, `${blocksOf(cell)}`];
  return isMpich(cell)
    ? ['mpirun.mpich', '-n', '2', '-bind-to', 'none', ...program]
    : ['mpirun.openmpi', '--allow-run-as-root', '--oversubscribe', '--bind-to', 'none',
       '--mca', 'mpi_yield_when_idle', library.endsWith('yield') ? '1' : '0', '-n', '2',
       ...program];
}

const environment = {...process.env, PATH: `${bin}:${process.env.PATH}`};

function run(words) {
  const from = performance.now();
  const done = spawnSync(words[0], words.slice(1), {cwd: folder, encoding: 'utf8',
    env: environment, timeout: 300e3});
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

// The base slice of Linux from 6.15 on, by the number of processors.
const slice = 0.7 * (1 + Math.floor(Math.log2(Math.min(8, cpus().length))));

// Two competitors of one session that is not the ranks' have half of its weight each.
function predicted(cell, profile) {
  const where = cell.where === 'one' ? 'rank_0' : '*';
  const isSame = cell.session === 'same';
  const load = isSame && isMpich(cell) && cell.where === 'all' ? 0.5 : 1;
  return JSON.parse(run([eventspace, 'predict', profile, '--format=json',
    `--law=eevdf:${slice.toFixed(1)}ms`,
    `--node=${where}:load=${load},session=${isSame && !isMpich(cell) ? 'same' : 'other'}`,
  ]).text);
}

function validate(cell) {
  const name = nameOf(cell), profile = join(folder, `${name}.profile`);
  const record = join(folder, 'RUN');
  rmSync(record, {recursive: true, force: true});
  run([eventspace, 'profile', `--output=${profile}`, '--',
    ...command(cell, eventspace, 'mpi', `--output=${record}`, '--')]);
  const told = predicted(cell, profile);
  appendFileSync(join(folder, 'told.jsonl'), JSON.stringify({name, told}) + '\n');
  const best = told.answers.find(answer => answer.best);
  const alone = [], shared = [];
  for (let i = 0; i < runs; i++) {
    alone.push(run(command(cell)).seconds);
    shared.push(beside(cell, () => run(command(cell)).seconds));
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
  library: libraries, session: ['same', 'other']}))
  for (const value of values) {
    const its = done().filter(line => line[kind] === value);
    if (its.length)
      console.log(`${kind}=${value}: ${its.length} cells, error ` +
        `${percent(mean(its.map(({error}) => Math.abs(error))))} in the mean, ` +
        `${percent(Math.max(...its.map(({error}) => Math.abs(error))))} at most; scaled ` +
        `${percent(mean(its.map(({scaled}) => Math.abs(scaled))))}, ` +
        `${percent(Math.max(...its.map(({scaled}) => Math.abs(scaled))))}`);
  }
