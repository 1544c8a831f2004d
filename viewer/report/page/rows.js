/* rows.js - the rows of the timeline: a thread each, or several threads folded
 * into one.
 *
 * Hundreds of threads would be rows of a pixel. So threads that belong together
 * (a block of one process, a process, a machine) are folded: their row shows the
 * share of them in each state. A folded row unfolds: below it come its parts,
 * each a row. */

const BLOCK = 16; /* threads of a process that are folded into one row */
const ROWS_MANY = 40; /* of more they are folded at first */

/* The groups that a thread is in: a key each, that tells them apart, and a
 * name. */
const groupKeys = {
  machine: (t) => 'm' + machineOf(t),
  process: (t) => 'p' + run.threads[t].process,
  block: (t) => `p${run.threads[t].process} b${Math.floor(placeInProcess[t] / BLOCK)}`,
};
const FOLDS = {thread: [], block: ['block'], process: ['process', 'block'],
  machine: ['machine', 'process', 'block']};

const placeInProcess = (function places() {
  const next = new Map();
  return run.threads.map(({process}) => {
    const place = next.get(process) || 0;
    next.set(process, place + 1);
    return place;
  });
})();
function machineOf(t) {
  const process = run.processes[run.threads[t].process];
  return process ? process.machine : -1;
}

const folding = {by: firstFold(), open: new Set(), order: 'number'};
let rows = []; /* {key, threads, level, folded, name} */
let rowOfThread = []; /* the lowest that shows it */

function firstFold() {
  const threads = run.threads.length, processes = run.processes.length;
  if (threads <= ROWS_MANY) return 'thread';
  if (threads / processes > BLOCK) return 'block';
  return processes <= ROWS_MANY ? 'process' : 'machine';
}

function groupName(kind, threads) {
  const first = run.threads[threads[0]], last = run.threads[threads[threads.length - 1]];
  if (kind === 'machine') return `machine ${machineOf(threads[0])}`;
  if (kind === 'process') return processOf(first).name;
  return `${first.name} \u2013 ${last.name}`;
}

/* Adds rows for threads that are to be folded by kinds, the widest first. */
function addRows(threads, kinds, level) {
  if (threads.length === 1 || !kinds.length) {
    for (const t of threads) rows.push({key: 't' + t, threads: [t], level, folded: false});
    return;
  }
  const [kind, ...others] = kinds;
  for (const [key, group] of d3.nest().key(groupKeys[kind]).entries(threads)
    .map(({key, values}) => [key, values])) {
    if (group.length === 1 || (level && group.length === threads.length)) {
      addRows(group, others, level); /* it would be the same as the row above */
      continue;
    }
    rows.push({key: kind + key, threads: group, level, folded: true, kind,
      name: groupName(kind, group.slice().sort((a, b) => a - b))});
    if (folding.open.has(kind + key)) addRows(group, others, level + 1);
  }
}

function makeRows() {
  const keys = {
    number: (t) => t,
    process: (t) => run.threads[t].process,
    end: (t) => run.threads[t].endNs,
  };
  const by = keys[folding.order];
  const order = d3.range(run.threads.length).sort((a, b) => by(a) - by(b) || a - b);
  rows = [];
  addRows(order, FOLDS[folding.by], 0);
  rowOfThread = [];
  rows.forEach(({threads}, r) => threads.forEach((t) => { rowOfThread[t] = r; }));
}

/* Unfolds a row, or folds it again. */
function toggleRow(r) {
  const row = rows[r];
  if (!row || !row.folded) return false;
  if (!folding.open.delete(row.key)) folding.open.add(row.key);
  makeRows();
  return true;
}

/* Unfolds what hides a thread. */
function unfoldThread(t) {
  while (rows[rowOfThread[t]].folded && !folding.open.has(rows[rowOfThread[t]].key))
    toggleRow(rowOfThread[t]);
}
makeRows();
