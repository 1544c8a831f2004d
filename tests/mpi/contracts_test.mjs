// contracts_test.mjs - a contract of a program that is not ours: ScaLAPACK's LU
// factorization (paper 003, 7.1), of Debian's scalapack-mpi-test, unmodified. The same
// input keeps it; with smaller blocks it does something else, which is the program's
// fault and nobody else's.
//
//     contracts_test.mjs BIN FOLDER
import assert from 'node:assert/strict';
import {existsSync, mkdirSync, writeFileSync} from 'fs';
import {join} from 'path';
import {command, folder, launch, mpis, output, spawn} from './support.mjs';

const SKIPPED = 77, RANKS = 2, SIZE = 400;
const SIZES = 20, BLOCKS = 10; // one after another; it takes no more sizes than that
const INTERVALS = 16; // of a run
const multiarch = output('gcc', '-print-multiarch').trim();
const programOf = mpi => join('/usr/lib', multiarch, 'scalapack', `${mpi}-tests`, 'xdlu');

// One matrix after another, and a dozen in an interval, however long the machine takes
// for them, so that one interval is like the next. Without error bounds, as the program of Debian fails now and then with them,
// whoever looks on.
function writeInput(cwd, block) {
  const sizes = Array(SIZES).fill(SIZE).join(' '), blocks = Array(BLOCKS).fill(block).join(' ');
  mkdirSync(cwd, {recursive: true});
  writeFileSync(join(cwd, 'LU.dat'), ["'LU factorization'", "'MPI'", "'LU.out'", 6,
    SIZES, sizes, sizes, BLOCKS, blocks, 1, 1, 1, block, 1, 1, RANKS, '1.0', 'F', ''].join('\n'));
}

function run(mpi, name, block) {
  const cwd = join(folder, mpi, name), directory = join(cwd, 'run');
  writeInput(cwd, block);
  const done = launch(mpi, RANKS, ['--output', directory], [programOf(mpi)], {cwd});
  assert.equal(done.status, 0, `${mpi}, ${name}: ${done.stderr} ${done.stdout}`);
  assert.match(done.stdout, new RegExp(`^ +${SIZES * BLOCKS} tests completed and passed`, 'm'));
  return directory;
}

function check(contract, directory) {
  const done = spawn(command, ['contract', 'check', contract, directory, '--format=json']);
  assert.ok([0, 3].includes(done.status), done.stderr);
  return {status: done.status, rows: JSON.parse(done.stdout)};
}

const metrics = join(folder, 'metrics');
writeFileSync(metrics, `tolerance 0.2;
metric intrinsic operation_bytes = bytes / operations;
metric intrinsic message_bytes = bytes / (messages + rounds);
`);
let tested = 0;
for (const mpi of mpis) {
  if (!existsSync(programOf(mpi))) {
    console.log(`${programOf(mpi)} is not here: install scalapack-mpi-test`);
    continue;
  }
  tested++;
  const contract = join(folder, `${mpi}.contract`), begin = Date.now();
  const base = run(mpi, 'base', 64), interval = Math.ceil((Date.now() - begin) / INTERVALS);
  output(command, 'contract', 'make', base, `--metrics=${metrics}`, `--interval=${interval}ms`,
    `--output=${contract}`);
  const same = check(contract, run(mpi, 'same', 64));
  assert.deepEqual(same.rows, [], mpi);
  assert.equal(same.status, 0);
  const other = check(contract, run(mpi, 'other', 8));
  assert.equal(other.status, 3);
  for (let rank = 0; rank < RANKS; rank++)
    assert.ok(other.rows.some(row => row.process === `rank_${rank}` &&
      row.contract === 'intrinsic' && row.cause === 'program'), JSON.stringify(other.rows));
  assert.ok(other.rows.every(row => row.cause === 'program'));
  console.log(`${mpi}: kept by the same input, violated by the program with another one`);
}
process.exit(tested ? 0 : SKIPPED);
