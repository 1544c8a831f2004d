// restart_kills.mjs - kills one process of a run whose map has restart=true, at any
// moment of it: does the run end with the right result?
//
//     restart_kills.mjs BIN COUNT SEED
//
// Runs sor and windtunnel in turns, on three processes, and kills one of them, the first
// included, at a random moment from its start to the end of the run. Each run has to end
// well, with the result that the program gives in one thread without any run. Prints a
// line of JSON for each kill and one for all; exits with 1 when one was not as it has to
// be. A moment is that of the machine, so a seed gives the same kills, but not the same
// outcome.
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join, resolve} from 'node:path';

const [binPath, countText, seedText] = process.argv.slice(2);
const bin = resolve(binPath), count = Number(countText);
assert.ok(count > 0 && seedText, 'usage: restart_kills.mjs BIN COUNT SEED');
const eventspace = join(bin, 'eventspace'), PROCESSES = 3, MAX_S = 120;
const folder = mkdtempSync(join(tmpdir(), 'es_restarts.'));

let state = BigInt(seedText) * 2n + 1n;
function chance() { // xorshift64*
  for (const [by, isLeft] of [[12n, false], [25n, true], [27n, false]])
    state ^= isLeft ? BigInt.asUintN(64, state << by) : state >> by;
  return Number(BigInt.asUintN(64, state * 2685821657736338717n) >> 11n) * 2 ** -53;
}
for (let i = 0; i < 10; i++)
  chance();

function output(input, program, ...words) {
  const done = spawnSync(program, words, {cwd: folder, input, maxBuffer: 1 << 26});
  assert.equal(done.status, 0, `${program} ${words.join(' ')}: ${done.stderr}`);
  return done.stdout;
}

const json = (directory, name) => JSON.parse(readFileSync(join(folder, directory, name)));
const programs = [{
  name: 'sor', mapping: ['--size=W', '--rounds=300', '--threads=6', '--commit=10'],
  single: ['--size=W', '--rounds=300'], options: [],
  result: directory => json(directory, 'sor.json').values.checksum,
}, {
  name: 'windtunnel', options: ['--steps=1500'],
  mapping: ['--width=512', '--height=256', '--threads=6', '--commit=50'],
  single: ['--width=512', '--height=256', '--steps=1500'],
  result: directory => {
    const {checksum, samples, particles_after: particles} = json(directory, 'windtunnel.json');
    return JSON.stringify({checksum, samples, particles});
  },
}];

function start(program, directory) {
  rmSync(join(folder, directory), {recursive: true, force: true});
  const child = spawn(eventspace, ['run', `${program.name}.dot`, `--output=${directory}`,
    '--', join(bin, program.name), 'run', ...program.options],
    {cwd: folder, stdio: ['ignore', 'pipe', 'pipe']});
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', data => { text += data; });
  const began = performance.now();
  const ended = new Promise(done => child.on('close', (code, signal) => done(
    {code: code ?? signal, text, seconds: (performance.now() - began) / 1000})));
  return {pid: child.pid, ended};
}

// The nth process that a launcher has started; undefined: there is none (yet).
function childOf(pid, nth) {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
      .split(' ').filter(Boolean).map(Number)[nth];
  } catch {
    return undefined;
  }
}

const nap = seconds => new Promise(done => setTimeout(done, seconds * 1000));
async function killed(program, victim, moment) {
  const run = start(program, 'run');
  let isOver = false, hit;
  run.ended.then(() => { isOver = true; });
  await nap(moment);
  while (!isOver && !(hit = childOf(run.pid, victim)))
    await nap(0.001);
  if (hit && !isOver)
    try { process.kill(hit, 'SIGKILL'); } catch { hit = undefined; }
  const slow = setTimeout(() => process.kill(run.pid, 'SIGTERM'), MAX_S * 1000);
  const done = await run.ended;
  clearTimeout(slow);
  return {...done, hit: Boolean(hit) && /killed by signal 9/.test(done.text)};
}

for (const program of programs) {
  const mapping = output('', join(bin, program.name), 'mapping', ...program.mapping);
  const map = output(mapping, eventspace, 'map', 'generate', '--application=-',
    `--processes=${PROCESSES}`);
  output(map, eventspace, 'map', 'instrument', '-', `--output=${program.name}.dot`);
  output('', join(bin, program.name), 'single', ...program.single,
    `--output=${program.name}.single`);
  program.wanted = program.result(`${program.name}.single`);
  const {code, text, seconds} = await start(program, 'run').ended;
  assert.equal(code, 0, text);
  assert.equal(program.result('run'), program.wanted);
  program.length = seconds;
}

let kills = 0, runs = 0, wrong = 0, restarted = 0;
const began = performance.now();
while (kills < count) {
  const program = programs[runs++ % programs.length];
  const victim = Math.floor(chance() * PROCESSES), moment = chance() * program.length;
  const done = await killed(program, victim, moment);
  let verdict = 'ok', result;
  if (!done.hit) { // it was over before
    program.length *= 0.98;
    continue;
  }
  const after = done.text.match(/go on after step (\d+)/);
  // Where all had ended, nothing is left to be done again; and nobody says that all is well.
  const isLate = !after && /: killed by signal 9/.test(done.text);
  try { result = program.result('run'); } catch (error) { result = String(error); }
  if (done.code !== 0 && !(isLate && done.code === 128 + 9))
    verdict = `ended with ${done.code}`;
  else if (result !== program.wanted)
    verdict = `result ${result}, and not ${program.wanted}`;
  wrong += verdict !== 'ok';
  restarted += Boolean(after);
  console.log(JSON.stringify({kill: ++kills, program: program.name, victim: `h${victim}`,
    moment_ms: Math.round(moment * 1000), step: after ? Number(after[1]) : null, verdict,
    ...(verdict === 'ok' ? {} : {text: done.text})}));
}
rmSync(folder, {recursive: true, force: true});
console.log(JSON.stringify({course: 'restart_kills', seed: Number(seedText), kills, runs,
  restarted, wrong, run_ms: programs.map(program => Math.round(program.length * 1000)),
  took_s: Math.round((performance.now() - began) / 1000)}));
process.exitCode = wrong ? 1 : 0;
