// foreign.mjs - predictions for programs that are not ours: redis, iperf3 and an
// Open MPI program, alone and beside a competing process on each processor.
//
//     node foreign.mjs BIN FOLDER [RUNS]
//
// Each is profiled from outside and predicted before it is run again, with and
// without competitors. FOLDER/foreign.jsonl gets a line for each: what was
// measured, what was told before, and by how much that missed. A program that
// stands there is not run again, so a course that was cut short goes on. Needs
// a quiet machine and the right to capture packets.
import {execFileSync, spawnSync} from 'node:child_process';
import {appendFileSync, existsSync, mkdirSync, readFileSync, rmSync,
  writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const [bin, folder, runs = '5'] = process.argv.slice(2);
const eventspace = join(bin, 'eventspace');
const here = dirname(fileURLToPath(import.meta.url));
const file = join(folder, 'foreign.jsonl');
const MINUTES = 60;
mkdirSync(folder, {recursive: true});

const heat = join(folder, 'heat_mpi');
execFileSync('mpicc.openmpi', ['-std=c11', '-O2', '-Wall', '-Wextra', '-o',
                               heat, join(here, 'heat_mpi.c')]);

// Each takes two to five seconds alone, all of its processes together, and does
// the same work whoever else is there.
const programs = {
  redis: `redis-server --port 17401 --save '' --daemonize no >/dev/null &
    until redis-cli -p 17401 ping >/dev/null 2>&1; do sleep 0.05; done
    redis-benchmark -p 17401 -n 200000 -c 8 -t set,get -q >/dev/null
    redis-cli -p 17401 shutdown nosave; wait`,
  iperf3: `iperf3 -s -p 17402 -1 >/dev/null &
    until iperf3 -c 127.0.0.1 -p 17402 -n 20G >/dev/null 2>&1; do
    sleep 0.05; done; wait`,
  'Open MPI': `mpirun.openmpi --allow-run-as-root --oversubscribe \
    --mca mpi_yield_when_idle 1 --mca btl self,tcp -n 2 ${heat} 200000 6000 \
    >/dev/null`,
};

function experiment(name) {
  const script = join(folder, `${name.replace(' ', '_')}.sh`);
  const profile = join(folder, `${name.replace(' ', '_')}.profile`);
  writeFileSync(script, `${programs[name]}\n`);
  rmSync(profile, {force: true});
  const done = spawnSync(eventspace, [
    'experiment', '--command', '--format', 'json', '--runs', runs,
    '--profile', profile, '--scenario', '*:load=1', '--', 'sh', script],
    {stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 26});
  if (done.status !== 0)
    throw new Error(`${name}: eventspace experiment failed`);
  const rows = JSON.parse(done.stdout);
  const alone = rows.find(row => row.scenario === 'dedicated');
  return rows.filter(row => row.scenario !== 'dedicated').map(row => ({
    program: name, model: row.model, law: row.law, best: row.best === 'best',
    alone_s: alone.measured_s, measured_s: row.measured_s,
    predicted_s: row.lower_s, to_s: row.upper_s, error: row.error,
    scaled_error: row.scaled_error}));
}

const said = existsSync(file)
  ? readFileSync(file, 'utf8').trim().split('\n').filter(Boolean)
    .map(line => JSON.parse(line))
  : [];
const end = Date.now() + MINUTES * 60000;
for (const name of Object.keys(programs)) {
  if (said.some(line => line.program === name))
    continue;
  if (Date.now() > end) {
    process.stderr.write('the time is over; call it again\n');
    process.exitCode = 3;
    break;
  }
  try {
    for (const line of experiment(name)) {
      // An error that is no number is a failure, and not 0.
      if (line.best && !Number.isFinite(line.error))
        throw new Error(`${name}: the error of its prediction is no number`);
      appendFileSync(file, JSON.stringify(line) + '\n');
      process.stdout.write(JSON.stringify(line) + '\n');
    }
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
