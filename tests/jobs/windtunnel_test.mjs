// windtunnel_test.mjs - the wind tunnel on 8 processes, as tasks of a launcher on
// four machines: what it computes is what one thread computes, and whoever of
// it is killed, the run ends, can be read, and leaves nothing behind.
//
//     alone.sh [--slurm] node windtunnel_test.mjs BIN openmpi|mpich|slurm
//
// EVENTSPACE_JOB_KILLS is how many are killed (3), by EVENTSPACE_TEST_SEED (1).
import assert from 'node:assert/strict';
import {readFileSync, readdirSync, writeFileSync} from 'fs';
import {join} from 'path';
import {infoOf, kills, start, succeed} from './course.mjs';
import {bin, folder, launcherOf, temporaryMake} from './launchers.mjs';
import {below} from './machine.mjs';

const tasks = 8, threads = 16;
const few = 300, many = 6000; // steps
const launcher = launcherOf(process.argv[3], tasks);
const count = Number(process.env.EVENTSPACE_JOB_KILLS ?? 3);
const command = join(bin, 'eventspace'), windtunnel = join(bin, 'windtunnel');
const tunnel = ['--width=256', '--height=128'];
const map = join(folder, 'map.dot'), run = join(folder, 'RUN');
const program = steps => [windtunnel, 'run', `--steps=${steps}`];
const task = steps => [command, 'run', map, '--output', run, '--',
                       ...program(steps)];

async function mapMake() {
  writeFileSync(join(folder, 'application.dot'), await succeed(
    windtunnel, 'mapping', `--threads=${threads}`, ...tunnel));
  await succeed(command, 'map', 'generate', '--application=application.dot',
                `--processes=${tasks}`, '--output=plain.dot');
  await succeed(command, 'map', 'instrument', 'plain.dot', '--collectors=all',
                `--output=${map}`);
}

// --- what it computes ---

function same(one, other, names) {
  for (const name of names)
    assert.ok(readFileSync(join(one, name)).equals(
      readFileSync(join(other, name))), `${other}: ${name}`);
}

async function checkSame(steps) {
  const single = join(folder, 'SINGLE'), alone = join(folder, 'ALONE');
  await succeed(windtunnel, 'single', ...tunnel, `--steps=${steps}`,
                '--output', single);
  await succeed(command, 'run', map, '--alone', '--output', alone, '--',
                ...program(steps));
  const job = start(launcher, task(steps));
  await job.ended;
  assert.equal(job.code, 0, job.said());
  same(single, alone, ['lattice.bin']); // a picture has threads and times, too
  same(alone, run, ['lattice.bin']);
  const [info, expected] = [await infoOf(command, run),
                            await infoOf(command, alone)];
  assert.deepEqual(info.processes.map(({process, state}) => [process, state]),
    Array.from({length: tasks}, (_, i) => [`h${i}`, 'finished']));
  assert.equal(info.total.events_lost, 0);
  const operations = ({threads}) =>
    threads.map(({thread, process, operations}) =>
      [thread, process, operations]);
  assert.deepEqual(operations(info), operations(expected));
  for (const view of ['communication', 'waits-for', 'critical-path', 'pending'])
    assert.ok((await succeed(command, 'view', run, view)).length > 0);
}

// --- who is killed ---

const isTask = ({words}) => words[0] === command && words[1] === 'run';
const isProcess = ({words}) => words[0] === windtunnel;
const each = list => list.map(one => [one]);
const roles = {
  process: all => each(all.filter(isProcess)),
  task: all => each(all.filter(isTask)),
  // Slurm has other ones, that have no tasks.
  daemon: all => each(all.filter(({pid, name, words}) =>
    name === launcher.daemon.slice(0, 15) ||
    words[0]?.startsWith(launcher.daemon))
    .filter(one => all.some(p => p.parent === one.pid && isTask(p)))),
};

// The processes of the map that it is, or that are below it.
function namesOf(all, chosen) {
  return chosen.flatMap(one => [one, ...below(all, one.pid)])
    .filter(isProcess).map(({pid}) => {
      try {
        return /\0EVENTSPACE_PROCESS=([^\0]*)/.exec(
          readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1];
      } catch {
        return undefined;
      }
    }).filter(Boolean);
}

// A file that is whole and replaces another one has a name of its own between
// two system calls: no more than that may be left by who is killed there.
const own = /^(h\d\.(space(\.settling)?|meta(\.tmp)?)|definitions|pathmap\.dot|lattice\.bin|flow\.png|windtunnel\.json)$/;

async function check({role, names, texts, info, at, said, about}) {
  assert.ok(info.total.events_recorded >= at, about);
  assert.equal(info.total.events_present + info.total.events_lost,
               info.total.events_recorded, about);
  assert.equal(info.total.damaged_processes, 0, about);
  for (const {process, state} of info.processes)
    assert.match(state, names.includes(process) ? /^(killed|failed)$/
      : /^(killed|failed|finished)$/, `${process}: ${about}`);
  if (role === 'process')
    assert.match(said, new RegExp(`process ${names[0]}: `), about);
  for (const view of ['communication', 'pending', 'waits-for'])
    await succeed(command, 'view', run, view);
  assert.deepEqual(readdirSync(run).filter(name => !own.test(name)), [], about);
}

temporaryMake();
await mapMake();
await checkSame(few);
console.log(`${launcher.name}: as by one thread`);
const events = (await infoOf(command, run)).total.events_recorded * many / few;
await kills({command, launcher, run, roles, namesOf, check, events,
             words: task(many)}, count);
