// counts_test.mjs - a run has each call and message that a program has counted.
//
//     counts_test.mjs BIN FOLDER
//
// counts.c makes nearly all calls of MPI, and rarer.c others, whose bytes it
// counts too. That they print the same with and without the interposer is
// tested, too.
import assert from 'node:assert/strict';
import {mkdirSync} from 'fs';
import {basename, join} from 'path';
import * as counted from './counted.mjs';
import {compile, folder, mpis, succeed} from './support.mjs';

function test(mpi, program, ranks) {
  const name = `${basename(program)}.${ranks}`;
  const run = join(folder, `${name}.run`), logs = join(folder, `${name}.logs`);
  mkdirSync(logs);
  const plain = succeed(mpi, ranks, null, [program, logs]).stdout;
  const seen = succeed(mpi, ranks, ['--output', run], [program, logs]).stdout;
  assert.equal(seen, plain);
  assert.ok(plain);
  const found = counted.check(name, run, logs, ranks);
  console.log(`${name}: ${found.calls} calls by name, ${found.messages} messages`);
}

for (const mpi of mpis)
  for (const source of ['counts.c', 'rarer.c']) {
    const program = compile(mpi, source);
    for (const ranks of [2, 4])
      test(mpi, program, ranks);
  }
