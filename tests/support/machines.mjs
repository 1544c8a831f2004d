/* machines.mjs - machines for a test that are network namespaces of this one,
 * each with a directory that no other one sees.
 *
 * Without the right to make namespaces `withMachines` ends the test with exit
 * code 77. */
import assert from 'node:assert/strict';
import {execFileSync, spawn, spawnSync} from 'node:child_process';
import {chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as pause} from 'node:timers/promises';

const PATIENCE_MS = 300000;

export function ip(...words) {
  execFileSync('ip', words.join(' ').split(' '), {stdio: ['ignore', 'ignore', 'pipe']});
}

/* Until `holds` gives true and no text; those in `alive` must not end before. To look
 * takes no more than half of the time. */
export async function until(what, holds, alive = []) {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const began = Date.now(), text = holds();
    if (text === true) return;
    for (const begun of alive)
      assert.equal(begun.ended, null, `${what}: one has ended: ${begun.said}`);
    assert(Date.now() < end, `${what}: ${text}`);
    await pause(Math.max(20, Date.now() - began));
  }
}

export class Machines {
  constructor(bin) {
    this.bin = bin;
    this.prefix = `es${process.pid}`;
    this.folder = mkdtempSync(join(tmpdir(), 'machines-'));
    this.here = join(this.folder, 'here'); /* the directory, on each of them */
    this.enter = join(this.folder, 'enter'); /* MACHINE PROGRAM ... */
    this.environment = {...process.env, PATH: `${bin}:${process.env.PATH}`, TMPDIR: this.here};
    this.names = [];
    this.children = new Set();
    mkdirSync(this.here);
    writeFileSync(this.enter, `#!/bin/sh
machine=$1
shift
exec ip netns exec ${this.prefix}-$machine unshare -m sh -c '
    mount --bind "$0" ${this.here} && cd ${this.here} && exec "$@"' ${this.folder}/$machine "$@"
`);
    chmodSync(this.enter, 0o755);
  }

  space(name) { return `${this.prefix}-${name}`; }

  /* A namespace, with a directory. */
  add(name) {
    ip('netns add', this.space(name));
    this.names.push(name);
    ip('-n', this.space(name), 'link set lo up');
    mkdirSync(join(this.folder, name));
  }

  /* Machines at one switch; the first has address 1 of the network, and so on. */
  star(names, network) {
    const hub = this.space('switch');
    this.add('switch');
    ip('-n', hub, 'link add br0 type bridge');
    ip('-n', hub, 'link set br0 up');
    names.forEach((name, i) => {
      this.add(name);
      ip('-n', hub, `link add p${i} type veth peer name eth0 netns`, this.space(name));
      ip('-n', hub, `link set p${i} master br0 up`);
      ip('-n', this.space(name), `address add ${network}.${i + 1}/24 dev eth0`);
      ip('-n', this.space(name), 'link set eth0 up');
    });
  }

  shape(name, device, ...words) {
    execFileSync('ip', ['netns', 'exec', this.space(name), 'tc', 'qdisc', 'add', 'dev', device,
      'root', 'tbf', ...words]);
  }

  /* A program of ours, here and not on a machine. Gives what it prints. */
  command(name, ...words) {
    return execFileSync(join(this.bin, name), words, {cwd: this.folder, env: this.environment,
      encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore']});
  }

  /* A program, on a machine. */
  begin(machine, ...words) {
    const child = spawn(this.enter, [machine, ...words],
      {cwd: this.folder, env: this.environment, stdio: ['ignore', 'pipe', 'pipe'], detached: true});
    const begun = {child, said: '', ended: null};
    this.children.add(child);
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text) => { begun.said += text; });
    begun.over = new Promise((done) => child.on('close', (code, signal) => {
      this.children.delete(child);
      begun.ended = signal ?? code;
      done(begun.ended);
    }));
    return begun;
  }

  /* What `eventspace info` says of the processes of a run directory, by name. */
  processesOf(directory) {
    const text = spawnSync(join(this.bin, 'eventspace'), ['info', directory, '--format=json'],
      {env: this.environment, encoding: 'utf8', maxBuffer: 1 << 28});
    const facts = text.status === 0 ? JSON.parse(text.stdout) : null;
    return Object.fromEntries((facts?.processes ?? []).map((p) => [p.process, p]));
  }

  remove() {
    for (const child of this.children)
      try { process.kill(-child.pid, 'SIGKILL'); } catch { /* it has ended */ }
    for (const name of this.names) {
      const pids = spawnSync('ip', ['netns', 'pids', this.space(name)], {encoding: 'utf8'});
      for (const pid of (pids.stdout ?? '').split('\n').filter(Boolean))
        try { process.kill(Number(pid), 'SIGKILL'); } catch { /* it has ended */ }
      spawnSync('ip', ['netns', 'del', this.space(name)], {stdio: 'ignore'});
    }
    if (existsSync(this.folder)) rmSync(this.folder, {recursive: true, force: true});
  }
}

/* Makes machines, tests with them, and removes them. */
export async function withMachines(bin, make, test) {
  const machines = new Machines(bin);
  let skipped = false;
  try {
    try {
      make(machines);
    } catch (problem) {
      if (/not permitted|must be root/i.test(String(problem.stderr ?? problem))) skipped = true;
      else throw problem;
    }
    if (!skipped) await test(machines);
  } finally {
    machines.remove();
  }
  if (skipped) {
    console.log('network namespaces cannot be made here');
    process.exit(77);
  }
}

/* --- a program whose processes count what they do: counting_app.h --- */

import {closeSync, ftruncateSync, openSync, readSync} from 'node:fs';

const COUNTS_BYTES = 8 + 16 * 24;

export function countsMake(file) {
  const fd = openSync(file, 'w');
  ftruncateSync(fd, COUNTS_BYTES);
  closeSync(fd);
}

/* How many events each of so many processes must have made. */
export function countsRead(file, processes) {
  const bytes = Buffer.alloc(COUNTS_BYTES), fd = openSync(file, 'r');
  readSync(fd, bytes, 0, COUNTS_BYTES, 0);
  closeSync(fd);
  return Array.from({length: processes}, (_, i) => ({
    out: Number(bytes.readBigUInt64LE(8 + 24 * i + 8)),
    in: Number(bytes.readBigUInt64LE(8 + 24 * i + 16))}));
}
