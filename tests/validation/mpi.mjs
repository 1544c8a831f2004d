// mpi.mjs - what `eventspace predict` says of programs of MPI beside competitors and
// with a slow link, and how long they then take.
//
//     mpi.mjs BIN KERNELS_FOLDER FOLDER [RUNS [CELL ...]]
//
// KERNELS_FOLDER has kernels.openmpi and kernels.mpich (tests/bench/mpi/kernels.c), and
// fortran.openmpi and fortran.mpich (kernels.f90). Two ranks, each on a processor of
// its own. A cell is
//
//   kernel    stencil, cg, alltoall, wavefront, workers
//   language  c, fortran
//   library   openmpi.spin, openmpi.yield (mpi_yield_when_idle), mpich, which spins
//   session   same, other: whether competitors are of the session from which the
//             program is started, or each of one of its own. (Ranks of MPICH are
//             sessions of their own in any case.)
//   where     one: a busy process on the first rank's processor; all: on both;
//             link: none, but ranks are on two nodes, with a slow link between them;
//             both: such a link, and a busy process on the first rank's processor
//   link      of these: 100mbit, 20mbit
//
// There are 40, which cover each two values of different kinds (of `link`, with the
// places that have one). Nodes are network
// namespaces (tests/bench/mpi/nodes.sh; needs root), with TCP between them, and their
// link is slow by tc tbf; what `eventspace netbench` says of it, before and after, is
// told to `predict`. Of each,
// the program is profiled once, alone; then what `predict` says is written down; and
// then it runs RUNS times (default 5) alone and as it was asked, in turn. The
// error is that of the predicted time against the median that was measured, "scaled"
// after the prediction was multiplied by what the program took alone / as profiled.
//
// FOLDER keeps what is done (a line for each cell, and the profiles), so that it can
// be gone on with.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
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
const blocks = {stencil: 400, cg: 600, alltoall: 600, wavefront: 1200, workers: 360};
// With a slow link, so that a run takes some seconds there.
const linkBlocks = {
  '100mbit': {stencil: 200, cg: 200, alltoall: 20, wavefront: 800, workers: 360},
  '20mbit': {stencil: 80, cg: 80, alltoall: 4, wavefront: 300, workers: 300}};

// Each kernel with each session and place; of libraries and languages, the next one
// each time.
const libraries = ['openmpi.spin', 'openmpi.yield', 'mpich'];
const languages = ['c', 'fortran'];
const cells = names.flatMap((kernel, k) => [0, 1, 2, 3].map(i => ({kernel,
  language: languages[(k + (i >> 1)) & 1],
  library: libraries[(k + i + (i >> 1)) % 3], session: ['same', 'other'][i & 1],
  where: ['one', 'all'][i >> 1]})));
const linkCells = names.flatMap((kernel, k) => [0, 1, 2, 3].map(i => ({kernel,
  language: languages[(k + i + (i >> 1)) & 1],
  library: libraries[(k + i + 1 + (i >> 1)) % 3], session: ['same', 'other'][(i ^ k) & 1],
  where: ['link', 'both'][i >> 1], link: ['100mbit', '20mbit'][i & 1]})));
const all = [...cells, ...linkCells];
// Who yields to others of its session takes ten times as long, and more.
function blocksOf({kernel, library, session, where, link}) {
  const isSlow = library === 'openmpi.yield' && session === 'same' && where !== 'link';
  return Math.ceil((link ? linkBlocks[link] : blocks)[kernel] / (isSlow ? 10 : 1));
}
const nameOf = cell => Object.values(cell).join('.');
const isMpich = ({library}) => library === 'mpich';

// --- running ---

// Binds each rank to its processor.
const bound = join(folder, 'bound.sh');
writeFileSync(bound, `#!/bin/sh
exec taskset -c "\${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" "$@"
`, {mode: 0o755});

const scripts = resolve(import.meta.dirname, '../bench/mpi');
const nodeScript = join(scripts, 'node.sh');

// As on a node: each word is one again there.
const onNode = (number, words) => ['sh', nodeScript, `node${number}`,
                                   words.map(word => `'${word}'`).join(' ')];

function command(cell, ...before) {
  const {kernel, language, library, link} = cell;
  const file = language === 'c' ? 'kernels' : 'fortran';
  const program = [...before, bound, join(kernels, `${file}.${library.split('.')[0]}`),
                   kernel, `${blocksOf(cell)}`];
  const mpich = ['mpirun.mpich', '-n', '2', '-bind-to', 'none',
    ...(link ? ['-launcher', 'rsh', '-launcher-exec', nodeScript, '-iface', 'eth0',
                '-hosts', 'node0,node1'] : []), ...program];
  const openmpi = ['mpirun.openmpi', '--allow-run-as-root', '--oversubscribe',
    '--bind-to', 'none',
    '--mca', 'mpi_yield_when_idle', library.endsWith('yield') ? '1' : '0', '-n', '2',
    ...(link ? ['--mca', 'plm_rsh_agent', nodeScript, '--mca', 'pml', 'ob1',
                '--mca', 'btl', 'self,tcp', '--mca', 'btl_tcp_if_include', 'eth0',
                '--mca', 'oob_tcp_if_include', 'eth0', '--host', 'node0:1,node1:1'] : []),
    ...program];
  const words = isMpich(cell) ? mpich : openmpi;
  return link
    ? onNode(0, ['env', 'UCX_TLS=tcp,self', 'UCX_NET_DEVICES=eth0', ...words])
    : words;
}

const environment = {...process.env, PATH: `${bin}:${process.env.PATH}`};

// In a group of its own, so that nothing is left of one that does not end.
function start(words) {
  const from = performance.now();
  const done = spawnSync('timeout', ['--kill-after=5', '100', ...words], {cwd: folder,
    encoding: 'utf8', env: environment, stdio: ['ignore', 'pipe', 'pipe']});
  return {...done, seconds: (performance.now() - from) / 1e3};
}

// MPICH's launcher now and then does not end over `rsh` (without being recorded, too):
// that is told, and counted, and it is run again. Nothing else is.
let again = 0;
function run(words) {
  for (let tries = 0; ; tries++) {
    rmSync(join(folder, 'RUN'), {recursive: true, force: true});
    const done = start(words);
    if (done.status === 124 && tries < 3 && words.some(word => word.includes('mpich')) &&
        words.some(word => word.includes('-launcher-exec'))) {
      again++;
      console.error(`did not end within 100 s, and is run again: ${words.join(' ')}`);
      spawnSync('pkill', ['-9', '-f', `^${kernels}/[a-z]*\\.mpich `]);
      continue;
    }
    assert.equal(done.status, 0, `${words.join(' ')}: ${done.stderr}`);
    return {seconds: done.seconds, text: done.stdout};
  }
}

const busyAt = {one: [0], all: [0, 1], link: [], both: [0]};

function beside(cell, work) {
  const others = busyAt[cell.where].map(processor => spawn('taskset',
    ['-c', `${processor}`, 'sh', '-c', 'while :; do :; done'],
    {stdio: 'ignore', detached: cell.session === 'other'}));
  try {
    return work();
  } finally {
    others.forEach(other => other.kill('SIGKILL'));
  }
}

// --- links ---

const address = '10.77.77.2:4004';

// "" ends it.
function linkShape(rate) {
  for (const node of [0, 1])
    run(['nsenter', `--net=/run/netns/esbench-${node}`, 'tc', 'qdisc',
         ...(rate ? ['replace', 'dev', 'eth0', 'root', 'tbf', 'rate', rate, 'burst',
                     '16kb', 'latency', '100ms'] : ['del', 'dev', 'eth0', 'root'])]);
}

// What it carries, as text of a condition.
const linkMeasured = () => JSON.parse(run(onNode(0, [eventspace, 'netbench', address,
  '--duration=5s', '--format=json'])).text).link;

async function linkBegin() {
  run(['sh', join(scripts, 'nodes.sh'), 'up', '2']);
  const [word, ...words] = onNode(1, ['exec', eventspace, 'netbench', '--serve',
                                      `--listen=${address}`]);
  const server = spawn(word, words, {env: environment, stdio: ['ignore', 'pipe', 'inherit']});
  await once(server.stdout, 'data'); // it says where it listens
  return server;
}

// --- a cell ---

// The base slice of Linux from 6.15 on, by the number of processors.
const slice = 0.7 * (1 + Math.floor(Math.log2(Math.min(8, cpus().length))));

// Two competitors of one session that is not the ranks' have half of its weight each.
function predicted(cell, profile, links) {
  const where = cell.where === 'all' ? '*' : 'rank_0';
  const isSame = cell.session === 'same';
  const load = isSame && isMpich(cell) && cell.where === 'all' ? 0.5 : 1;
  return JSON.parse(run([eventspace, 'predict', profile, '--format=json',
    `--law=eevdf:${slice.toFixed(1)}ms`,
    ...(links ? [`--profiled-link=${links.before}`,
                 `--link=rank_0-rank_1:${links.after}`] : []),
    ...(cell.where === 'link' ? [] :
      [`--node=${where}:load=${load},session=${isSame && !isMpich(cell) ? 'same' : 'other'}`]),
  ]).text);
}

function asAsked(cell) {
  if (cell.link)
    linkShape(cell.link);
  try {
    return beside(cell, () => run(command(cell)).seconds);
  } finally {
    if (cell.link)
      linkShape('');
  }
}

// As it is now, and as it will be.
function linksOf({link}) {
  const before = linkMeasured();
  linkShape(link);
  const after = linkMeasured();
  linkShape('');
  return {before, after};
}

function validate(cell) {
  const name = nameOf(cell), profile = join(folder, `${name}.profile`);
  const record = join(folder, 'RUN');
  const links = cell.link ? linksOf(cell) : null;
  rmSync(record, {recursive: true, force: true});
  run([eventspace, 'profile', `--output=${profile}`, `--run=${record}`, '--',
    ...command(cell, eventspace, 'mpi', `--output=${record}`, '--')]);
  const told = predicted(cell, profile, links);
  appendFileSync(join(folder, 'told.jsonl'), JSON.stringify({name, links, told}) + '\n');
  const best = told.answers.find(answer => answer.best);
  const alone = [], shared = [];
  again = 0;
  for (let i = 0; i < runs; i++) {
    alone.push(run(command(cell)).seconds);
    shared.push(asAsked(cell));
  }
  const took = median(shared), dedicated = median(alone);
  const line = {name, ...cell, profiled_s: told.dedicated_s, alone_s: dedicated,
    shared_s: took, least_s: Math.min(...shared), most_s: Math.max(...shared),
    run_again: again, predicted_s: best.upper_s, error: best.upper_s / took - 1,
    scaled: best.upper_s * dedicated / told.dedicated_s / took - 1};
  appendFileSync(join(folder, 'cells.jsonl'), JSON.stringify(line) + '\n');
  console.log(JSON.stringify(line));
}

const file = join(folder, 'cells.jsonl');
const done = () => existsSync(file)
  ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean).map(line => JSON.parse(line))
  : [];
const wanted = all.filter(cell => !only.length || only.includes(nameOf(cell)))
  .filter(cell => !done().some(({name}) => name === nameOf(cell)));
const hasLinks = wanted.some(({link}) => link);
let server;
try {
  server = hasLinks ? await linkBegin() : null;
  wanted.forEach(validate);
} finally {
  server?.kill();
  if (hasLinks)
    run(['sh', join(scripts, 'nodes.sh'), 'down']);
}

// --- sums ---

const mean = values => values.reduce((sum, value) => sum + value, 0) / values.length;
const percent = value => `${(100 * value).toFixed(1)} %`;
for (const [kind, values] of Object.entries({where: ['one', 'all', 'link', 'both'],
  language: languages, library: libraries, session: ['same', 'other']}))
  for (const value of values) {
    const its = done().filter(line => line[kind] === value);
    if (its.length)
      console.log(`${kind}=${value}: ${its.length} cells, error ` +
        `${percent(mean(its.map(({error}) => Math.abs(error))))} in the mean, ` +
        `${percent(Math.max(...its.map(({error}) => Math.abs(error))))} at most; scaled ` +
        `${percent(mean(its.map(({scaled}) => Math.abs(scaled))))}, ` +
        `${percent(Math.max(...its.map(({scaled}) => Math.abs(scaled))))}`);
  }
