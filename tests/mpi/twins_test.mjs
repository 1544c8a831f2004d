// twins_test.mjs - kernels of apps/ and the same as programs of MPI: the results
// agree, and so do the collectives, messages and bytes in both runs.
//
//     twins_test.mjs BIN FOLDER
import assert from 'node:assert/strict';
import {mkdirSync, readFileSync, writeFileSync} from 'fs';
import {join, resolve} from 'path';
import * as counted from './counted.mjs';
import {bin, command, compile, counter, folder, here, mpis, output, sql, succeed}
  from './support.mjs';

const root = resolve(here, '../..');
// Ranks of MPICH spin while they wait.
const ranksOf = {openmpi: 4, mpich: 2};
const rounds = {cg: 3, is: 5, sor: 40};
// Sums of real numbers are made in another order.
const real = ['zeta_first', 'zeta'];

// What runs have of each rank or thread: `operations`, by path or by call, as
// [count, bytes], and `rounds` of the collectives, by element.
function roundsOf(run, name) {
  const all = {};
  for (const row of sql(run, 'select element, "from" as thread, rounds from ' +
                             "last_arriver where wrapper = '(tree)'"))
    (all[name(row.element)] ??= {})[row.thread.replace(/^\D+/, '')] =
      Number(row.rounds);
  return all;
}

function runKernel(kernel, threads) {
  const name = join(folder, `${kernel}.${threads}`), run = `${name}.run`;
  writeFileSync(`${name}.dot`, output(join(bin, kernel), 'mapping',
    `--threads=${threads}`, '--size=S', `--rounds=${rounds[kernel]}`));
  output(command, 'map', 'generate', `--application=${name}.dot`,
         '--processes=2', '-o', `${name}.plain`);
  output(command, 'map', 'instrument', `${name}.plain`, '-o', `${name}.map`);
  output(command, 'run', `${name}.map`, '--output', run, '--',
         join(bin, kernel), 'run');
  const operations = Array.from({length: threads}, () => ({}));
  for (const row of sql(run, 'select e.thread as thread, c.path as path, ' +
      'count(*) as count, sum(e.bytes) as bytes from event e join collector c ' +
      "on c.id = e.collector where c.path <> '' group by 1, 2"))
    operations[row.thread][row.path] = [Number(row.count), Number(row.bytes)];
  const {values} = JSON.parse(readFileSync(join(run, `${kernel}.json`)));
  return {values, operations, rounds: roundsOf(run, element => element)};
}

function runTwin(mpi, kernel, ranks) {
  const name = join(folder, `${mpi}.${kernel}`), run = `${name}.run`;
  const logs = `${name}.logs`;
  mkdirSync(logs);
  const program = compile(mpi, `twins/${kernel}.c`, join(here, 'twins/twin.c'),
    join(root, 'apps', kernel, 'problem.c'), '-I', root, '-ffp-contract=off',
    '-lm');
  const words = [program, String(rounds[kernel])];
  const plain =
    succeed(mpi, ranks, null, [...counter(mpi, logs), ...words]).stdout;
  const seen = succeed(mpi, ranks, ['--output', run], words).stdout;
  assert.equal(seen, plain);
  counted.check(`${mpi}, ${kernel}`, run, logs, ranks);
  return {
    values: Object.fromEntries(seen.trim().split('\n').map(l => l.split(' '))),
    operations: counted.callsOf(run, ranks).map(({call, bytes}) =>
      Object.fromEntries(Object.keys(call).map(name =>
        [name, [call[name][0], bytes[name][0]]]))),
    rounds: roundsOf(run, element => /^MPI_\w+/.exec(element)[0]),
    messages: sql(run, 'select from_thread as "from", to_thread as "to", tag, ' +
      'count(*) as count, sum(bytes) as bytes from message group by 1, 2, 3')
      .map(row => Object.values(row).map(Number)),
  };
}

function checkValues(twin, own) {
  let compared = 0;
  for (const [name, value] of Object.entries(own.values)) {
    if (!(name in twin.values))
      continue;
    if (real.includes(name))
      assert.ok(Math.abs(Number(twin.values[name]) / value - 1) < 1e-12,
                `${name}: ${twin.values[name]}, not ${value}`);
    else if (typeof value === 'number')
      assert.equal(Number(twin.values[name]), value, name);
    else
      assert.equal(twin.values[name], value, name);
    compared++;
  }
  assert.ok(compared >= 3);
  return compared;
}

const plus = (a, b) => a.map((value, i) => value + b[i]);

// `calls`: which collectives of the kernel each call stands for.
function checkCollectives(twin, own, calls) {
  for (const [call, paths] of Object.entries(calls)) {
    for (const [rank, has] of twin.operations.entries())
      assert.deepEqual(has[call], paths.map(path => own.operations[rank][path])
        .reduce(plus), `rank ${rank}: ${call}`);
    for (const rank of twin.operations.keys())
      assert.equal(twin.rounds[call][rank], paths
        .reduce((sum, path) => sum + own.rounds[path][rank], 0),
                   `rank ${rank}: rounds of ${call}`);
  }
}

// Keys for others are in tuples that begin with 8 bytes; keys that stay are in
// the call only.
function checkKeys(twin, own) {
  const ranks = twin.operations.length;
  for (const [rank, has] of twin.operations.entries()) {
    let bytes = 4 * Number(twin.values[`stayed_${rank}`]);
    for (let to = 0; to < ranks; to++) {
      const [count, all] = own.operations[rank][`to_${to}`] ?? [0, 0];
      bytes += all - 8 * count;
    }
    assert.deepEqual(has.MPI_Alltoallv, [rounds.is, bytes], `rank ${rank}: keys`);
  }
}

// Border rows are the same. Rows of the result are in tuples that begin with 8
// bytes, and in one message.
function checkRows(twin, own) {
  const wanted = [], ranks = own.operations.length;
  for (const [rank, paths] of own.operations.entries()) {
    if (rank > 0) {
      const [count, bytes] = paths.rows;
      wanted.push([rank, rank - 1, 1, ...paths.to_above]);
      wanted.push([rank, 0, 2, 1, bytes - 8 * count]);
    }
    if (rank + 1 < ranks)
      wanted.push([rank, rank + 1, 1, ...paths.to_below]);
  }
  const order = (a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
  assert.deepEqual(twin.messages.sort(order), wanted.sort(order));
}

const kernels = {
  cg: (twin, own) => checkCollectives(twin, own,
    {MPI_Allgather: ['direction'], MPI_Allreduce: ['dot', 'norms']}),
  is: (twin, own) => {
    checkCollectives(twin, own, {MPI_Allreduce: ['counts', 'totals'],
      MPI_Alltoall: ['matrix'], MPI_Allgather: ['ends']});
    checkKeys(twin, own);
  },
  sor: (twin, own) => {
    checkCollectives(twin, own, {MPI_Allreduce: ['residual']});
    checkRows(twin, own);
  },
};

for (const mpi of mpis) {
  for (const [kernel, check] of Object.entries(kernels)) {
    const own = runKernel(kernel, ranksOf[mpi]);
    const twin = runTwin(mpi, kernel, ranksOf[mpi]);
    const values = checkValues(twin, own);
    check(twin, own);
    console.log(`${mpi}, ${kernel}: ${values} values`);
  }
}
