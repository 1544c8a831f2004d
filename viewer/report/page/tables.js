/* tables.js - the heading, and the tables of threads and paths. */

/* --- heading --- */

(function heading() {
  /* Of a thread: the least and the most, where they differ. */
  const range = ([least, most]) => least === most ? count(least || 0) :
    `${count(least)} to ${count(most)}`;
  const lasted = run.endNs - run.startNs;
  id('lead').textContent = run.directory + ' \u00b7 ' + run.began;
  const facts = [
    ['Processes', count(run.processes.length)],
    ['Threads', count(run.threads.length)],
    ['Steps', range(d3.extent(run.threads, (t) => t.steps))],
    [run.pending.length ? 'From the first operation to the end' :
      run.offKnown ? 'From beginning to end' : 'From first to last operation', duration(lasted)],
    ['Operations', count(d3.sum(run.threads, (t) => t.operations))],
    ['Events recorded', count(run.events.recorded)],
    ['Lost', count(run.events.lost), run.events.lost > 0],
  ];
  const fact = d3.select('#es-facts').selectAll('div').data(facts)
    .enter().append('div').classed('lost', (d) => d[2]);
  fact.append('dt').text((d) => d[0]);
  fact.append('dd').text((d) => d[1]);

  if (run.disturbed) {
    id('disturbed').hidden = false;
    id('disturbed').textContent = 'Disturbed: in ' + percent(run.disturbed) + ' of the time in ' +
      'which the threads computed, others had the processors, and some of the waiting comes ' +
      'from that. End other programs and run again, or compare \u201cComputing (all)\u201d minus ' +
      '\u201cof it runnable\u201d: that is what a thread really computed.';
  }

  const alerts = run.noEvents ? [run.noEvents] : [];
  /* Those that are gone come first: the others mostly failed for them. */
  const gone = (process) => process.state === 'failed' || process.state === 'finished' ? 1 : 0;
  for (const process of run.processes.slice().sort((a, b) => gone(a) - gone(b))) {
    const how = [process.text, process.problem].filter(Boolean).join('; ');
    if (isIll(process) || process.problem)
      alerts.push(`Process ${process.name}: ${process.state}${how ? ': ' + how : ''}. ` +
        `${plural(process.present, 'event')} of it ${process.present === 1 ? 'is' : 'are'} here.`);
  }
  if (run.events.lost > 0) {
    const where = run.processes.filter((h) => h.lost > 0)
      .map((h) => `${h.name} ${count(h.lost)}`).join(', ');
    alerts.push(`${plural(run.events.lost, 'event')} of ${count(run.events.recorded)} ` +
      `did not fit the trace elements and ${run.events.lost === 1 ? 'is' : 'are'} ` +
      `lost (${where}). Times before the first event of a thread cannot be shown.`);
  }
  if (underWay.length)
    alerts.push(`${plural(underWay.length, 'operation')} had not ended: see Under way.`);
  const guessed = run.threads.filter((t) => !t.stepsKnown);
  if (guessed.length)
    alerts.push(`Steps of ${plural(guessed.length, 'thread')} are counted from the first ` +
      'operation that is there, since earlier ones ' +
      (run.window ? 'are not in the window, or lost.' : 'are lost.'));
  d3.select('#es-alerts').selectAll('li').data(alerts)
    .enter().append('li').text((d) => d);
})();

/* --- tables --- */

/* A table whose columns sort; sortBy -1: not yet. columns: {head, value(row),
 * text(row) or fill(cell, row), words: true for texts}. */
function table(name, columns, rows, sortBy, descending) {
  const box = d3.select('#es-' + name);
  box.selectAll('*').remove();
  const heads = box.append('thead').append('tr').selectAll('th').data(columns)
    .enter().append('th').attr('scope', 'col').classed('text', (c) => c.words);
  heads.append('button').attr('type', 'button').text((c) => c.head)
    .on('click', (column) => {
      if (column === sorted) down = !down;
      else { sorted = column; down = !column.words; }
      fill();
    });
  const body = box.append('tbody');
  let sorted = columns[sortBy], down = descending;
  function fill() {
    const compare = down ? d3.descending : d3.ascending;
    if (sorted) rows.sort((a, b) => compare(sorted.value(a), sorted.value(b)));
    heads.attr('aria-sort', (c) =>
      c === sorted ? (down ? 'descending' : 'ascending') : null);
    body.selectAll('tr').remove();
    const line = body.selectAll('tr').data(rows).enter().append('tr');
    columns.forEach((column) => {
      const cell = line.append('td').classed('text', !!column.words);
      if (column.fill) cell.each(function (row) { column.fill(d3.select(this), row); });
      else cell.text(column.text || column.value);
    });
  }
  fill();
}

const lifeOf = (t) => t.communicatingNs + t.computingNs;
const shareOf = (t) => lifeOf(t) ? t.communicatingNs / lifeOf(t) : 0;

/* The time of a thread in the colours of the timeline. */
function addBar(cell, t) {
  const runnable = t.runnableNs || 0, sleeping = t.sleepingNs || 0;
  const parts = (run.waitsKnown ? [['waiting', t.waitingNs],
    ['transferring', t.communicatingNs - t.waitingNs]] :
    [['communicating', t.communicatingNs]]).concat([
    ['computing', t.computingNs - runnable - sleeping],
    ['runnable', runnable], ['sleeping', sleeping]]);
  cell.append('span').attr('class', 'share').attr('aria-hidden', 'true')
    .selectAll('i').data(parts.filter(([, ns]) => ns > 0)).enter().append('i')
    .attr('class', ([name]) => 'key ' + name)
    .style('width', ([, ns]) => ns / lifeOf(t) * 100 + '%');
}

/* For which thread each thread waits most, and its share of all waiting for
 * somebody; of those that wait for less of their time it says nothing. */
const LITTLE = 0.05;
const waitsMostly = (t) => t.waitsFor >= 0 && t.waitingNs >= LITTLE * lifeOf(t);
function waitsForText(t) {
  return waitsMostly(t) ? `${run.threads[t.waitsFor].name}, ${
    d3.format('.0f')(Math.min(1, t.waitsForNs / t.waitingNs) * 100)}\u00a0%` : '';
}

table('threads', [
  {head: 'Thread', value: (t) => t.number, words: true, fill: (cell, t) => {
    cell.append('button').attr('type', 'button').text(t.name)
      .on('click', () => showThread(t.number));
  }},
  {head: 'Process', value: (t) => processOf(t).name, words: true},
  {head: 'Operations', value: (t) => t.operations, text: (t) => count(t.operations)},
  {head: 'Steps', value: (t) => t.steps, text: (t) => count(t.steps)},
].concat(run.waitsKnown ? [
  {head: 'Waiting', value: (t) => t.waitingNs, text: (t) => duration(t.waitingNs)},
  {head: 'Waits mostly for', words: true, text: waitsForText,
   value: (t) => waitsMostly(t) ? t.waitsFor : Infinity},
  {head: 'Transferring', value: (t) => t.communicatingNs - t.waitingNs,
   text: (t) => duration(t.communicatingNs - t.waitingNs)},
] : [
  {head: 'In operations', value: (t) => t.communicatingNs,
   text: (t) => duration(t.communicatingNs)},
], [
  {head: run.offKnown ? 'Computing (all)' : 'Computing', value: (t) => t.computingNs, text: (t) => duration(t.computingNs)},
], run.offKnown ? [
  {head: 'of it runnable', value: (t) => t.runnableNs, text: (t) => duration(t.runnableNs)},
  {head: 'of it sleeping', value: (t) => t.sleepingNs, text: (t) => duration(t.sleepingNs)},
] : [], [
  {head: 'Communicating', value: shareOf, fill: (cell, t) => {
    cell.append('span').text(percent(shareOf(t)));
    addBar(cell, t);
  }},
  {head: 'Longest', value: (t) => t.longestNs, text: (t) => duration(t.longestNs)},
  {head: 'of operation', words: true, value: (t) => t.longestPath < 0 ? '' :
    verbText(t.longestVerb, run.paths[t.longestPath])},
], run.threads.some((t) => t.lost) ? [
  {head: 'Lost', value: (t) => t.lost, text: (t) => count(t.lost)},
] : []), run.threads.map((t, number) => Object.assign(t, {number})), 0, false);

if (run.pending.length) id('pending-section').hidden = false;
table('pending', [
  {head: 'Thread', value: (p) => p.number === null ? Infinity : p.number, words: true,
   fill: (cell, p) => {
     if (p.number === null) cell.text(p.thread);
     else cell.append('button').attr('type', 'button').text(p.thread)
       .on('click', () => showThread(p.number));
   }},
  {head: 'Process', value: (p) => p.process, words: true},
  {head: 'Process is', value: (p) => p.process_state, words: true},
  {head: 'State', value: (p) => p.state, words: true},
  {head: 'Since', value: (p) => p.startNs, text: (p) => moment(p.startNs)},
  {head: 'For', value: (p) => p.for_ns, text: (p) => duration(p.for_ns)},
  {head: 'Operation', value: (p) => p.verb ? pendingText(p) : '', words: true},
  {head: 'At', value: (p) => p.stage, words: true},
  {head: 'Waits for', value: (p) => p.waits_for, words: true},
], run.pending.slice(), 0, false);

function pathsByName() {
  const names = new Map();
  for (const path of run.paths) {
    const sum = names.get(path.name) ||
      {name: path.name, threads: 0, operations: 0, bytes: 0, totalNs: 0, longestNs: 0};
    sum.threads++;
    sum.operations += path.operations;
    sum.bytes += path.bytes;
    sum.totalNs += path.totalNs;
    sum.longestNs = Math.max(sum.longestNs, path.longestNs);
    names.set(path.name, sum);
  }
  return [...names.values()];
}
const mean = (p) => p.operations ? p.totalNs / p.operations : 0;
const pathColumns = [
  {head: 'Path', value: (p) => p.name, words: true},
  {head: 'Operations', value: (p) => p.operations, text: (p) => count(p.operations)},
  {head: 'Bytes', value: (p) => p.bytes, text: (p) => size(p.bytes)},
  {head: 'Time', value: (p) => p.totalNs, text: (p) => duration(p.totalNs)},
  {head: 'Mean', value: mean, text: (p) => duration(mean(p))},
  {head: 'Longest', value: (p) => p.longestNs, text: (p) => duration(p.longestNs)},
];
function showPaths() {
  const every = id('every-path').checked;
  const threadOf = (p) => run.threads[p.thread].name;
  const more = every ? [
    {head: 'Thread', value: (p) => p.thread, text: threadOf},
    {head: 'Element', value: (p) => p.element, words: true},
  ] : [{head: 'Threads', value: (p) => p.threads, text: (p) => count(p.threads)}];
  const columns = [pathColumns[0], ...more, ...pathColumns.slice(1)];
  table('paths', columns, every ? run.paths.slice() : pathsByName(),
    columns.findIndex((c) => c.head === 'Time'), true);
}
id('every-path').addEventListener('change', showPaths);
showPaths();
