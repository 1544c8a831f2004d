/* views.js - which view is drawn how.
 *
 * PICTURES has for each view its title, what its picture is, and where it is
 * not the summary that says it, how to read it. `draw` gets the box to draw
 * into, the rows (objects by the columns' keys) and those in detail. A view that
 * is not in it has its table only, or, if it tells of many times, what these
 * have in common.
 *
 * GROUPS says in which order the panels stand: by what they are asked. */

const GROUPS = [
  ['What the time went to', ['efficiency', 'critical-path', 'causes', 'delay-costs', 'delays',
    'waits-for', 'wait-states']],
  ['Operations and messages', ['calls', 'communication', 'messages', 'stages', 'remote-overhead',
    'element-order']],
  ['Steps and parts of the program', ['steps', 'regions']],
  ['Collective operations', ['last-arriver', 'hops', 'performance', 'thread-wait',
    'signal-arrival', 'signal-departure']],
  ['Processes, processors and clocks', ['process', 'scheduling', 'clocks']],
  ['What was left open, and all in detail', ['pending', 'deadlocks', 'unmatched', 'critical-links', 'tuples']],
];

/* --- helpers --- */

const unique = (rows, key) => [...new Set(rows.map((row) => row[key]))];
/* Of the first ones the lines are solid, of others dashed. */
const seriesClass = (i) => 'series-' + i % SERIES + (i < SERIES ? '' : ' dashed-' + (i >> 3) % 3);
const sumPart = (name, key, className) => ({name, class: className, value: (row) => row[key]});

/* Elements, those with the most rows first. */
const elementsOf = (rows) => d3.nest().key((row) => row.element).entries(rows)
  .sort((a, b) => b.values.length - a.values.length).map((element) => element.key);

/* A choice above a picture; what is chosen stays when it is drawn again. */
function choose(box, {name, list, draw, text = (item) => item}) {
  if (list.length < 2) {
    if (list.length) draw(box, list[0]);
    return;
  }
  const part = d3.select(box);
  const chosen = () => list.find((item) => text(item) === box.dataset.chosen) || list[0];
  const select = part.append('label').attr('class', 'choice').text(name + ' ').append('select');
  select.selectAll('option').data(list).enter().append('option').text(text)
    .property('selected', (item) => item === chosen());
  const below = part.append('div').node();
  select.on('change', function () {
    box.dataset.chosen = text(list[this.selectedIndex]);
    draw(below, chosen());
  });
  draw(below, chosen());
}
/* Several pictures below each other. */
function part(box) {
  return d3.select(box).append('div').attr('class', 'part').node();
}

/* --- pictures of more than one call --- */

function drawRounds(box, {rows, detail}, key, what, of = 'input') {
  if (!detail.length) {
    samples(box, {name: what, rows, label: (row) => row[of]});
    return;
  }
  choose(box, {name: 'Wrapper', list: unique(detail, 'wrapper'), draw: (below, wrapper) => {
    const own = detail.filter((row) => row.wrapper === wrapper);
    lines(below, {name: what, x: {kind: 'count', name: 'round'},
      y: {kind: 'time', name: 'after the first', powers: true},
      lines: unique(own, of).sort(collator.compare).map((input, i) => ({name: input,
        class: seriesClass(i), points: own.filter((row) => row[of] === input)
          .map((row) => [row.round, row[key]])}))});
  }});
}

function drawWaits(box, {rows, detail}) {
  samples(part(box), {name: 'How long each thread waited', rows,
    label: (row) => `${row.thread} ${row.path}`});
  if (!detail.length) return;
  choose(part(box), {name: 'Element', list: unique(detail, 'element'), draw: (below, element) => {
    const own = detail.filter((row) => row.element === element);
    lines(below, {name: `Time of each round of ${element}`, x: {kind: 'count', name: 'round'},
      y: {kind: 'time', name: 'time of the operation', powers: true},
      lines: unique(own, 'thread').map((thread, i) => ({name: thread, class: seriesClass(i),
        points: own.filter((row) => row.thread === thread).map((row) => [row.round, row.wait_ns])}))});
  }});
}

/* The operations are rows of `communication --detail`, which the timeline has. */
function drawStepTimes(box, number) {
  const thread = run.threads[number], byPath = new Map();
  for (let i = thread.first; i < thread.last; i++) {
    const text = operationText(i);
    if (!byPath.has(text)) byPath.set(text, []);
    byPath.get(text).push([operations.step[i], operations.end[i] - operations.start[i]]);
  }
  lines(box, {name: `Time of each operation of ${thread.name}`, x: {kind: 'count', name: 'step'},
    y: {kind: 'time', name: 'time of the operation', powers: true},
    lines: [...byPath].map(([text, points], i) => ({name: text, class: seriesClass(i), points}))});
}
function drawCommunication(box, {rows}) {
  bars(part(box), {name: 'Time of each thread', rows, label: (row) => row.thread,
    parts: [sumPart('communicating', 'communicating_ns', 'part-transferring'),
      sumPart('computing', 'computing_ns', 'part-computing')],
    show: (row) => showThread(row.number)});
  const list = run.threads.filter((thread) => thread.operations > 0 && thread.last > thread.first);
  if (!list.length) return;
  d3.select(box).append('h4').text('How long each operation of a thread took, step by step');
  choose(part(box), {name: 'Thread', list, text: (thread) => thread.name,
    draw: (below, thread) => drawStepTimes(below, run.threads.indexOf(thread))});
}

const KIND_CLASS = {computing: 'part-computing', runnable: 'part-runnable',
  sleeping: 'part-sleeping', hop: 'part-transferring', element: 'part-waiting'};
function drawCriticalPath(box, {rows, detail}) {
  bars(part(box), {name: 'What the run waited for', rows,
    label: (row) => [row.thread, row.kind, row.what].filter(Boolean).join(' '),
    parts: [...new Set(rows.map((row) => row.kind))].map((kind) => ({name: kind,
      class: KIND_CLASS[kind], value: (row) => row.kind === kind ? row.total_ns : 0}))});
  if (unique(detail, 'second').length < 2) return;
  d3.select(box).append('h4').text('Second by second');
  stacks(part(box), {name: 'What the run waited for in each second', rows: detail,
    x: {key: 'second', name: 'second'}, value: 'time_ns', kindOf: (row) => row.kind,
    classOf: (row) => KIND_CLASS[row.kind] || 'series-7'});
}

const EFFICIENCIES = [['parallel efficiency', 'parallel_share'],
  ['load balance', 'load_balance_share'], ['serialisation', 'serialisation_share'],
  ['transfer', 'transfer_share']];
function drawEfficiency(box, {rows, detail}) {
  const whole = EFFICIENCIES.map(([name, key]) => ({name, share: rows[0][key]}));
  bars(part(box), {name: 'Efficiencies of the run', rows: whole, label: (row) => row.name,
    kind: 'share', most: 1, parts: [sumPart('share', 'share', 'series-0')]});
  if (detail.length < 2) return;
  lines(part(box), {name: 'Efficiencies over time', most: 1, dots: true,
    x: {kind: 'time', name: 'time'}, y: {kind: 'share', name: '100 % is best'},
    lines: EFFICIENCIES.map(([name, key], i) => ({name, class: seriesClass(i),
      points: detail.map((row) => [row.from_ns, row[key]])}))});
}

function drawLastArriver(box, {rows}) {
  const nameOf = (row) => row.wrapper === '(tree)' ? `all of ${row.element}` : row.wrapper;
  choose(box, {name: 'Wrapper', list: [...new Set(rows.map(nameOf))], draw: (below, wrapper) => {
    bars(below, {name: `Who came last to ${wrapper}`, kind: 'share', label: (row) => row.from,
      rows: rows.filter((row) => nameOf(row) === wrapper)
        .sort((a, b) => b.last_share - a.last_share),
      parts: [sumPart('last in', 'last_share', 'part-waiting')]});
  }});
}

/* Phases of a wrapper, as a bar with a part for each. */
function drawPerformance(box, {rows}) {
  const phases = unique(rows, 'phase');
  const wrappers = d3.nest().key((row) => row.wrapper).entries(rows);
  bars(box, {name: 'Where the time of each wrapper goes', rows: wrappers,
    label: (wrapper) => wrapper.key,
    parts: phases.map((phase, i) => ({name: phase, class: seriesClass(i),
      value: (wrapper) => (wrapper.values.find((row) => row.phase === phase) || {}).mean_ns}))});
}

/* A collective is a tree: each hop goes on to the one that begins where it ends. */
function hopNodes(rows, direction) {
  const own = rows.filter((row) => row.direction === direction);
  const deep = direction === 'down' ? 'to' : 'from', high = direction === 'down' ? 'from' : 'to';
  const ids = new Map(own.map((row, i) => [row[high], 'hop' + i]));
  return [{id: 'root', parent: null, name: `${own[0].element}: ${direction}`, value: 0,
    text: `All hops ${direction}`}, ...own.map((row, i) => ({id: 'hop' + i,
    parent: row[deep] !== row[high] && ids.get(row[deep]) || 'root', value: row.total_ns,
    name: row.what, text: `${row.from} to ${row.to}: ${row.what}, ${count(row.count)} times, ` +
      `${duration(row.total_ns)} in all, mean ${duration(row.mean_ns)}, ` +
      `most ${duration(row.max_ns)}`}))];
}
function drawCollectives(box, {rows}) {
  choose(box, {name: 'Collective', list: unique(rows, 'element'), draw: (below, element) => {
    below.textContent = '';
    const own = rows.filter((row) => row.element === element);
    const rest = own.filter((row) => row.direction !== 'up' && row.direction !== 'down');
    for (const direction of ['down', 'up'])
      if (own.some((row) => row.direction === direction))
        icicle(part(below), {name: `Hops of ${element}, ${direction}`,
          nodes: hopNodes(own, direction)});
    note(below, 'At the top is the element; what hangs below is what leads to it, the threads at ' +
      'last. As wide as the time that was spent there and below, as dark as its own.');
    if (rest.length)
      bars(part(below), {name: 'The rest of the time of the collective', rows: rest,
        label: (row) => [row.direction, row.from].filter(Boolean).join(' '),
        parts: [sumPart('time', 'total_ns', 'part-waiting')]});
  }});
}

function drawCalls(box, {rows, detail}) {
  const kinds = rows.filter((row) => row.count > 0);
  samples(part(box), {name: 'How long operations took', rows: kinds, label: textOfKind});
  if (!detail.length) return;
  const shown = kinds.slice(0, SERIES);
  d3.select(box).append('h4').text('Which share took no longer');
  distribution(part(box), {name: 'Cumulative distribution of the times', rows: detail, kinds: shown});
  note(box, 'Dots: half, 90 % and 99 % of the operations took no longer.' +
    (kinds.length > SERIES ? ` The ${SERIES} kinds with the most time.` : ''));
  d3.select(box).append('h4').text('How many took how long');
  choose(part(box), {name: 'Kind', list: kinds.filter((kind) => detail.some((row) =>
    row.kind === kind.kind && row.path === kind.path)), text: textOfKind,
  draw: (below, kind) => histogram(below, {name: `Times of ${textOfKind(kind)}`,
    rows: detail.filter((row) => row.kind === kind.kind && row.path === kind.path)})});
}

function drawSteps(box, {rows, detail}) {
  if (detail.length > 1) front(part(box), {name: 'Which thread finished which step when', rows: detail});
  d3.select(box).append('h4').text('All threads together, step by step');
  lines(part(box), {name: 'Times of each step', x: {kind: 'count', name: 'step'},
    y: {kind: 'time', powers: true}, lines: [['communicating', 'communicating_ns'],
      ['computing', 'computing_ns'], ['from the first thread to the last', 'spread_ns']]
      .map(([name, key], i) => ({name, class: seriesClass(i),
        points: rows.map((row) => [row.step, row[key]])}))});
}

/* --- which view is drawn how --- */

const PICTURES = {
  'efficiency': {title: 'Efficiency', draw: drawEfficiency},
  'critical-path': {title: 'Critical path', draw: drawCriticalPath},
  'causes': {title: 'Causes of waiting', draw: (box, {rows}) => bars(box, {
    name: 'What would be gained without each cause', rows,
    label: (row) => [row.cause, row.where].filter(Boolean).join(': '),
    parts: [sumPart('gained without it', 'gain_ns', 'part-waiting')],
    range: (row) => [row.low_ns, row.high_ns]}),
  more: 'How much shorter the run would be without each; the line is where that nearly certainly is.'},
  'delay-costs': {title: 'Delays', draw: (box, {rows}) => bars(box, {
    name: 'Which delays others waited for', rows,
    label: (row) => [row.thread, row.what, placeText(row)].filter(Boolean).join(' '),
    parts: [sumPart('waited for it', 'direct_ns', 'part-waiting'),
      sumPart('waited for those who did', 'propagated_ns', 'series-4')]})},
  'delays': {title: 'For whom the others waited', draw: (box, {rows, detail}) =>
    detail.length ? matrix(box, {name: 'Who waited for whom', rows: detail.slice().reverse(),
      down: (row) => row.delayed_thread, across: (row) => row.thread,
      value: (row) => row.total_ns, downName: 'this thread', acrossName: 'waited for'}) :
      bars(box, {name: 'For whom the others waited', rows, label: (row) => row.thread,
        parts: [sumPart('waited for it', 'total_ns', 'part-waiting')]})},
  'waits-for': {title: 'Who waits for whom', draw: (box, {rows}) => matrix(box, {
    name: 'Who waits for whom', rows: rows.slice().reverse(), down: (row) => row.thread,
    across: (row) => row.for_thread, value: (row) => row.total_ns, downName: 'this thread',
    acrossName: 'waits for'}), more: 'Over several elements: the largest of them is drawn.'},
  'wait-states': {title: 'Kinds of waiting', draw: (box, {rows}) => bars(box, {
    name: 'Waiting by its kind', rows,
    label: (row) => `${row.kind}: ${row.thread} for ${row.for_thread}`,
    parts: [sumPart('waited', 'total_ns', 'part-waiting')]})},
  'calls': {title: 'Times of operations', draw: drawCalls},
  'communication': {title: 'Times of threads', draw: drawCommunication},
  'messages': {title: 'Messages', draw: (box, {rows}) => matrix(box, {
    name: 'Bytes sent from thread to thread', rows: rows.slice().reverse(), kind: 'count',
    down: (row) => row.from_thread, across: (row) => row.to_thread, value: (row) => row.bytes,
    downName: 'from', acrossName: 'to'}), more: 'Bytes.'},
  'remote-overhead': {title: 'Ways to other processes and back'},
  'stages': {title: 'Stages of the paths', draw: (box, {rows}) => samples(box, {
    name: 'How long operations were in each stage', rows,
    label: (row) => [row.thread, row.stage].filter(Boolean).join(' ')})},
  'element-order': {title: 'Order at elements', draw: (box, {rows}) => choose(box, {
    name: 'Element', list: elementsOf(rows), draw: (below, element) => matrix(below, {
      name: `Who came after whom at ${element}`, kind: 'count',
      rows: rows.filter((row) => row.element === element),
      down: (row) => `${row.thread} ${row.verb}`, value: (row) => row.times,
      across: (row) => `${row.after_thread || ''} ${row.after_verb || ''}`.trim() || '(first)',
      downName: 'this', acrossName: 'came after'})})},
  'steps': {title: 'Steps', draw: drawSteps},
  'regions': {title: 'Regions', draw: (box, {rows}) => bars(box, {
    name: 'Time in regions', label: (row) => `${row.region} ${row.thread}`,
    rows: rows.filter((row) => row.kind === 'region')
      .sort((a, b) => b.total_ns - a.total_ns),
    parts: [sumPart('in the region', 'total_ns', 'part-computing')]})},
  'last-arriver': {title: 'Who came last', draw: drawLastArriver},
  'hops': {title: 'Hops of collectives', draw: drawCollectives},
  'performance': {title: 'Phases of collectives', draw: drawPerformance},
  'thread-wait': {title: 'Time in collectives', draw: drawWaits},
  'signal-arrival': {title: 'Arrivals', draw: (box, view) =>
    drawRounds(box, view, 'after_first_ns', 'When contributions came, round by round')},
  'signal-departure': {title: 'Departures', draw: (box, view) =>
    drawRounds(box, view, 'after_first_ns', 'When results left, round by round')},
  'process': {title: 'Processes', draw: (box, {rows}) => bars(box, {
    name: 'Time of the threads of each process', rows, label: (row) => row.process,
    parts: [sumPart('communicating', 'communicating_ns', 'part-transferring'),
      sumPart('computing', 'computing_ns', 'part-computing')]})},
  'scheduling': {title: 'Without a processor', draw: (box, {rows}) => bars(box, {
    name: 'How long each thread had no processor', rows, label: (row) => row.thread,
    parts: [sumPart('runnable: others had it', 'runnable_ns', 'part-runnable'),
      sumPart('sleeping', 'sleeping_ns', 'part-sleeping')],
    show: (row) => showThread(row.number)})},
  'clocks': {title: 'Clocks', draw: (box, {rows}) => bars(box, {
    name: 'How far off the clock of each process may be', rows,
    label: (row) => `${row.process} (${row.how})`,
    parts: [sumPart('certain to', 'certain_ns', 'series-0')]})},
  'pending': {title: 'Under way', draw: (box, {rows}) => bars(box, {
    name: 'For how long', rows, label: (row) => `${row.thread} ${row.state}`,
    parts: [sumPart('for', 'for_ns', 'part-pending')]})},
  'deadlocks': {title: 'Deadlocks', draw: (box, {rows}) => bars(box, {
    name: 'For how long', rows, label: (row) => `${row.thread} waits for ${row.waits_for}`,
    parts: [sumPart('for', 'for_ns', 'part-pending')]})},
  'unmatched': {title: 'Messages that do not match', draw: (box, {rows}) => matrix(box, {
    name: 'Messages that do not match', rows, kind: 'count', down: (row) => row.from_thread,
    across: (row) => row.to_thread, value: (row) => row.count, downName: 'from',
    acrossName: 'to'})},
  'critical-links': {title: 'Critical path, link by link', draw: null}, /* see the timeline */
  'tuples': {title: 'Trace tuples', draw: null},
};

/* Between which calls. */
function placeText({after, before}) {
  if (!after && !before) return '';
  return after ? before ? `${after} \u2192 ${before}` : `after ${after}` : `\u2192 ${before}`;
}

/* What a view tells that nobody has told how to draw. */
function drawSamples(box, {rows, columns}) {
  const texts = columns.filter((column) => column.kind === 'text').map((column) => column.key);
  samples(box, {name: 'Times', rows, label: (row) =>
    texts.map((key) => row[key]).filter(Boolean).slice(0, 2).join(' ')});
}
const hasSamples = (table) => ['count', 'min_ns', 'median_ns', 'mean_ns', 'max_ns'].every((key) =>
  table.columns.some((column) => column.key === key));

function drawingOf(view) {
  const known = PICTURES[view.name];
  if (known && known.draw !== undefined) return known.draw;
  return hasSamples(view.sums) ? drawSamples : null;
}

/* --- the chart of a view script --- */

const SQUARES = 200; /* in a row */

/* A row of squares for each column of values; where there are too many, the
 * largest of those that follow each other stands for them. */
function squares(box, {panel, rows, x, columns}) {
  const each = Math.ceil(rows.length / SQUARES), cells = [];
  for (const one of columns)
    for (let i = 0; i < rows.length; i += each)
      cells.push({down: one.key, across: String(rows[i][x.key]),
        value: d3.max(rows.slice(i, i + each), (row) => row[one.key])});
  matrix(box, {name: panel.title, rows: cells, kind: columns[0].kind, down: (cell) => cell.down,
    across: (cell) => cell.across, value: (cell) => cell.value === undefined ? null : cell.value,
    downName: '', acrossName: x.head.replace(/ ms$/, ''), most: columns[0].kind === 'share' ? 1 : undefined,
    inOrder: true, downText: (key) => columns.find((one) => one.key === key).head,
    acrossText: (text) => x.kind === 'text' ? text : cellTexts[x.kind](Number(text))});
}

/* `-- chart: bar`, `line` or `matrix`, `-- columns: x, y ...`. */
function chartOf(panel) {
  const keys = panel.chartColumns || [];
  const column = (key) => panel.columns.find((one) => one.key === key);
  if (panel.chart === 'none' || keys.length < 2 || !panel.rows.length) return null;
  const values = keys.slice(1).filter((key) => column(key) && column(key).kind !== 'text');
  if (!values.length || !column(keys[0])) return null;
  const first = column(values[0]);
  if (panel.chart === 'bar')
    return (box, {rows}) => bars(box, {name: panel.title, rows, kind: first.kind,
      label: (row) => String(row[keys[0]]),
      parts: values.map((key, i) => sumPart(column(key).head, key, seriesClass(i)))});
  if (panel.chart === 'matrix')
    return (box, {rows}) => squares(box, {panel, rows, x: column(keys[0]),
      columns: values.map(column)});
  if (column(keys[0]).kind === 'text') return null;
  return (box, {rows}) => lines(box, {name: panel.title,
    x: {kind: column(keys[0]).kind, name: column(keys[0]).head}, y: {kind: first.kind},
    lines: values.map((key, i) => ({name: column(key).head, class: seriesClass(i),
      points: rows.map((row) => [row[keys[0]], row[key]])}))});
}
