/* serve_run.mjs - runs that make steps when told to, and servers of them; what
 * serve_test.mjs and serve_page_test.mjs share.
 *
 * Nothing sleeps for a fixed time: conditions are polled until a deadline. */
import {spawn, spawnSync} from 'node:child_process';
import {openSync, closeSync, mkdtempSync, rmSync, writeFileSync, writeSync, constants} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';

export const DEADLINE_MS = 120000;
export const [command, gsum, application] = process.argv.slice(2);
export const folder = mkdtempSync(join(tmpdir(), 'eventspace-serve-'));
process.chdir(folder);

const children = new Set(), all = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, {recursive: true, force: true});
});

/* What has become of a child, for who reads that something has failed. */
function tellOf({words, said, failed, ended}) {
  return `${words}: ${ended ? JSON.stringify(ended) : 'goes on'}; has said "${said.slice(-300)}"` +
    (failed ? `, and of errors\n${failed.slice(-2000)}` : '');
}

export async function until(what, condition) {
  const deadline = Date.now() + DEADLINE_MS;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > deadline)
      throw new Error([`waited in vain until ${what}`, ...[...all].map(tellOf)].join('\n'));
    await pause(20);
  }
}

export function output(program, ...words) {
  const done = spawnSync(program, words, {encoding: 'utf8', maxBuffer: 1 << 28});
  if (done.status !== 0)
    throw new Error(`${program} ${words.join(' ')}: ${done.status}\n${done.stderr}`);
  return done.stdout;
}

/* A child and what it says; `ended` is there when it is over. Signals that whoever
 * started the test does not want (nohup) are wanted here. */
export function start(program, ...words) {
  const child = spawn('env', ['--default-signal', program, ...words],
    {stdio: ['ignore', 'pipe', 'pipe']});
  const started = {child, words: [program, ...words].join(' '), said: '', failed: '', ended: null};
  children.add(child);
  all.add(started);
  child.stdout.on('data', (text) => { started.said += text; });
  child.stderr.on('data', (text) => { started.failed += text; });
  started.over = new Promise((resolve) => child.on('close', (code, signal) => {
    children.delete(child);
    started.ended = {code, signal};
    resolve(started.ended);
  }));
  return started;
}

/* --- runs --- */

writeFileSync('app.dot', output(gsum, 'mapping', '--threads', '3'));
output(command, 'map', 'generate', '--application=app.dot', '--processes=2', '--output=plain.dot');
output(command, 'map', 'instrument', 'plain.dot', '--output=map.dot');

/* A run that waits to be told. */
let runs = 0;
export function beginRun(name, ...options) {
  const pipe = `${++runs}.steps`;
  output('mkfifo', pipe);
  const launched = start(command, 'run', 'map.dot', `--output=${name}`, ...options, '--',
    application, join(folder, pipe));
  const fd = openSync(pipe, constants.O_RDWR); /* never waits for the other end */
  return {
    name, ...launched, get ended() { return launched.ended; },
    step: (count) => { writeSync(fd, Buffer.alloc(count)); },
    /* Closing is the end for the reader, once it has opened the pipe itself. */
    end: async () => { closeSync(fd); return launched.over; },
    kill: (signal) => launched.child.kill(signal),
  };
}

/* --- servers --- */

export async function serve(...words) {
  const server = start(command, 'serve', '--interval=100ms', ...words);
  await until('the server tells its address or ends', () =>
    server.said.includes('\n') || server.ended);
  if (server.ended) throw new Error(`serve has ended: ${server.failed}`);
  server.address = server.said.trim();
  const {hostname, port, pathname} = new URL(server.address);
  return Object.assign(server, {hostname, port: Number(port), token: pathname.split('/')[1],
    stop: (signal = 'SIGINT') => { server.child.kill(signal); return server.over; }});
}
