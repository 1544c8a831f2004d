// raw_run.mjs - a run as tests see it that compute for themselves: its tuples,
// raw, by process (raw_tuples.c); its map, read as text; and how to stop one
// that goes on, so that all who look see the same.
import {readFileSync, readdirSync} from 'node:fs';

// The tuples that `raw_tuples` printed of a process, and what its meta file
// says of the clock.
export function readTuples(process, text) {
  const [head, ...lines] = text.trimEnd().split('\n');
  const [, tick, wall, hz] = head.split(' ');
  const events = lines.filter((line) => line).map((line) => {
    const [collector, thread, sequence, verb, bytes, status, start, end] =
      line.split(',').map(Number);
    return {process, collector, thread, sequence, verb, bytes, status, start, end};
  });
  return {events, meta: {tick: Number(tick), wall: BigInt(wall), hz: Number(hz)}};
}

// The nodes of a map, each with its process, and its edges, by names.
export function readMap(file) {
  const nodes = [], edges = [];
  let process = '';
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    process = line.match(/subgraph "?cluster_(\w+)"?/)?.[1] ?? process;
    const edge = line.match(/^\s*"?([\w.~-]+)"? -> "?([\w.~-]+)"?/);
    const node = !edge && line.match(/^\s*"?([\w.~-]+)"? \[(.*)\]/);
    if (edge) edges.push([edge[1], edge[2]]);
    if (!node) continue;
    const get = (key) => node[2].match(new RegExp(`\\b${key}="?([^",\\]]*)`))?.[1];
    nodes.push({name: node[1], kind: get('kind'), id: Number(get('id')),
      number: Number(get('number')), process});
  }
  return {nodes, edges};
}

export async function until(what, condition) {
  for (const from = Date.now(); Date.now() - from < 60000;) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`never: ${what}`);
}

function isStopped(pid) {
  try {
    return readdirSync(`/proc/${pid}/task`).every((task) =>
      /\) T /.test(readFileSync(`/proc/${pid}/task/${task}/stat`, 'utf8')));
  } catch {
    return false;
  }
}

// Stops processes; they have stopped when it ends.
export async function stop(pids) {
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  await until('stopped', () => pids.every(isStopped));
}
