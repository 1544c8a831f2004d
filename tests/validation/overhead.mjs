// overhead.mjs - what does it cost a program to be profiled?
//
//     node overhead.mjs BIN FOLDER [PAIRS]
//
// cg and lu in two processes, bound to a processor each, with all collectors:
// alone and under `eventspace profile`, in turn, the first one changing from pair
// to pair. By the program's own clock. One JSON object per line: the median of the
// pairs' ratios. Needs a quiet machine of two processors.
import {execFileSync} from 'node:child_process';
import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';

const [bin, folder, pairs = '20'] = process.argv.slice(2);
const eventspace = join(bin, 'eventspace');
const sizes = {
  cg: ['--size', 'A', '--rounds', '10'],
  lu: ['--size', 'A', '--rounds', '100'],
};

function map(program) {
  const cluster = join(folder, 'two.dot');
  writeFileSync(cluster, 'digraph two { h0 [affinity=0]; h1 [affinity=1]; }');
  const application = execFileSync(
    join(bin, program), ['mapping', '--threads', '2', ...sizes[program]]);
  const plain = execFileSync(
    eventspace,
    ['map', 'generate', '--application', '-', '--cluster', cluster],
    {input: application});
  const file = join(folder, `overhead.${program}.dot`);
  writeFileSync(file, execFileSync(
    eventspace, ['map', 'instrument', '-', '--collectors', 'all'],
    {input: plain}));
  return file;
}

function seconds(program, file, profiled) {
  const run = join(folder, 'overhead.run');
  const command = ['run', file, '--output', run, '--replace', '--',
                   join(bin, program), 'run'];
  const arguments_ = profiled
    ? ['profile', '-o', join(folder, 'overhead.profile'), '--table-file', '/dev/null',
       '--', eventspace, ...command]
    : command;
  execFileSync(eventspace, arguments_, {stdio: 'ignore'});
  return JSON.parse(readFileSync(join(run, `${program}.json`))).seconds;
}

const median = numbers => {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]
                           : (sorted[middle - 1] + sorted[middle]) / 2;
};

mkdirSync(folder, {recursive: true});
for (const program of Object.keys(sizes)) {
  const file = map(program);
  const alone = [], profiled = [];
  for (let i = 0; i < +pairs; i++)
    for (const which of i % 2 ? [true, false] : [false, true])
      (which ? profiled : alone).push(seconds(program, file, which));
  process.stdout.write(JSON.stringify({
    name: `profile.overhead.${program}`, value: median(profiled), unit: 's',
    limit: median(alone), ratio: median(profiled.map((s, i) => s / alone[i])),
    pairs: +pairs,
  }) + '\n');
}
