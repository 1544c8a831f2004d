// machine.mjs - what is there besides this test: processes, sockets, shared
// memory, temporary files. Nothing is of others: see alone.sh.
import {readFileSync, readdirSync} from 'fs';

const text = name => {
  try {
    return readFileSync(name, 'utf8');
  } catch {
    return ''; // it has ended
  }
};

export function processes() {
  return readdirSync('/proc').filter(name => /^\d+$/.test(name)).map(pid => {
    const [, name, state, parent] =
      /^\d+ \((.*)\) (\S) (\d+)/s.exec(text(`/proc/${pid}/stat`)) ?? [];
    return {pid: Number(pid), name, state, parent: Number(parent),
            words: text(`/proc/${pid}/cmdline`).split('\0').slice(0, -1)};
  }).filter(({name}) => name);
}

// Those that a process has started, and they, and so on.
export function below(all, pid) {
  return all.filter(({parent}) => parent === pid)
    .flatMap(child => [child, ...below(all, child.pid)]);
}

// Does the process do something else when it gets this signal, or nothing?
export function ignores(pid, number) {
  const mask = /^SigIgn:\s*(\S+)$/m.exec(text(`/proc/${pid}/status`));
  return mask && (BigInt(`0x${mask[1]}`) >> BigInt(number - 1) & 1n) === 1n;
}

const listening = () => ['tcp', 'tcp6', 'udp', 'udp6'].flatMap(kind =>
  text(`/proc/net/${kind}`).split('\n').slice(1).map(l => l.trim().split(/\s+/))
    .filter(([, , , state]) => state === '0A' || state === '07')
    .map(([, at]) => `${kind} ${at}`));

function filesOf(folder, within = '') {
  return readdirSync(folder, {withFileTypes: true}).flatMap(entry => {
    const name = `${within}${entry.name}`;
    return entry.isDirectory()
      ? [name, ...filesOf(`${folder}/${entry.name}`, `${name}/`)] : [name];
  });
}

// A line for each thing.
export function things(temporary) {
  const lines = (name, skip) => text(name).trim().split('\n').slice(skip);
  return [
    ...processes().map(p => `process ${p.pid} ${p.state} ${p.words.join(' ') ||
                                                          p.name}`),
    ...listening().map(at => `socket ${at}`),
    ...lines('/proc/net/unix', 1).map(l => l.trim().split(/\s+/)[7])
      .filter(Boolean).map(name => `socket ${name}`),
    ...filesOf('/dev/shm').map(name => `shared memory ${name}`),
    ...lines('/proc/sysvipc/shm', 1).map(l => `shared memory ${l}`),
    ...filesOf(temporary).map(name => `file ${name}`),
  ];
}
