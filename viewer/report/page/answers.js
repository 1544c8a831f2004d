/* answers.js - what a person wants to know first: what the run lost its time to,
 * in the order of what would be gained; then how far this can be trusted.
 *
 * The sentences are those of the view causes, as `eventspace advise` prints them.
 * Of a run without such rows, those of the view delay-costs are told. */

const ANSWERS_MAX = 5;
const LITTLE_OBSERVING = 0.0001; /* of the time of threads: nobody needs to know less */

/* Where a cause is seen. */
const SEEN_IN = {'slow thread': 'delay-costs', 'imbalance': 'efficiency',
  'late arriver': 'last-arriver', 'shared processor': 'scheduling', 'small element': 'waits-for',
  'delayed hop': 'remote-overhead', 'transfer': 'remote-overhead', 'late begin': 'communication',
  'dependency': 'critical-path'};

const viewNamed = (name) => (panels.get(name) || {view: {rows: []}}).view.rows;

/* A row of either view: {says, ns, share, low, high, panel, thread, where}. */
function answersOf() {
  const causes = viewNamed('causes');
  if (causes.length)
    return causes.map((row) => ({says: row.says + '.', ns: row.gain_ns, share: row.gain_share,
      low: row.low_ns, high: row.high_ns, panel: SEEN_IN[row.cause] || 'delay-costs',
      thread: row.thread, where: row.where}));
  return viewNamed('delay-costs').map((row) => ({
    says: `${row.thread} ${row.what}${placeText(row) ? ` (${placeText(row)})` : ''}: ` +
      `others waited ${duration(row.total_ns)} for it.`,
    ns: row.total_ns, share: row.delays_share, low: null, high: null, panel: 'delay-costs',
    thread: row.thread}));
}

/* A sentence; what stands between backquotes is a name. */
function addWords(mark, text) {
  text.split('`').forEach((words, i) => mark.append(i % 2 ? 'code' : 'span').text(words));
}

/* How much it is, next to the largest, and how sure. */
function addGain(item, answer, most) {
  const width = 150, scale = d3.scaleLinear().domain([0, most]).range([0, width - 8]);
  const svg = item.append('svg').attr('class', 'gain').attr('aria-hidden', 'true')
    .attr('width', width).attr('height', 16);
  svg.append('rect').attr('class', 'field').attr('y', 3).attr('width', width).attr('height', 10);
  svg.append('rect').attr('class', 'part-waiting').attr('y', 3).attr('height', 10)
    .attr('width', Math.max(2, scale(Math.max(0, answer.ns))));
  whisker(svg, scale, [answer.low, answer.high], 8);
  item.append('span').attr('class', 'amount').text(answer.low === null ?
    `${percent(answer.share)} of all waiting` :
    `nearly certain: ${duration(answer.low)} to ${duration(answer.high)} would be saved`);
}

function addPlaces(item, answer) {
  const panel = panels.get(answer.panel) || panels.get('delay-costs');
  if (panel)
    item.append('a').attr('href', '#view-' + panel.name).text(panel.title)
      .attr('aria-label', `${panel.title}: the panel that shows it`);
  const number = run.threads.findIndex((thread) => thread.name === answer.thread);
  if (number >= 0)
    item.append('button').attr('type', 'button').attr('class', 'plain')
      .text(`${answer.thread} in the timeline`).on('click', () => showThread(number));
  const node = mapNodes.find(([name]) => name === answer.where);
  if (node)
    item.append('button').attr('type', 'button').attr('class', 'plain')
      .text(`${answer.where} in the map`).on('click', () => showNode(node[1]));
}

(function answers() {
  const all = answersOf().filter((answer) => answer.ns > 0), shown = all.slice(0, ANSWERS_MAX);
  const most = d3.max(shown, (answer) => Math.max(answer.ns, answer.high || 0));
  if (!shown.length) {
    d3.select('#es-answers').append('li').text(run.noEvents ? 'There is nothing to tell.' :
      'No thread is seen to have waited for another one.');
    return;
  }
  const item = d3.select('#es-answers').selectAll('li').data(shown).enter().append('li');
  item.append('p').attr('class', 'says').each(function (answer) {
    addWords(d3.select(this), answer.says);
  });
  item.each(function (answer) {
    const line = d3.select(this).append('p').attr('class', 'how');
    addGain(line, answer, most);
    addPlaces(line, answer);
  });
})();

/* --- how far it can be trusted --- */

function lostText() {
  const {recorded, lost} = run.events;
  return lost ? `${count(lost)} of ${plural(recorded, 'event')} are lost.` :
    `None of ${plural(recorded, 'event')} is lost.`;
}
function clocksText() {
  const rows = viewNamed('clocks');
  if (!rows.length) return '';
  const unknown = rows.filter((row) => row.how === 'none' || row.certain_ns === null);
  if (unknown.length)
    return `It is not known how the clocks of ${unknown.map((row) => row.process).slice(0, 5)
      .join(', ')} and of the others agree.`;
  const worst = rows.reduce((a, b) => b.certain_ns > a.certain_ns ? b : a);
  return worst.certain_ns === 0 ? 'All processes share one clock.' :
    `Times of different processes are certain to ${duration(worst.certain_ns)} ` +
    `(${worst.process}).`;
}

const sentenceOf = (text) => text[0].toUpperCase() + text.slice(1) + '.';

(function trust() {
  const facts = [['Alone', run.trust.alone && run.trust.alone + '.'],
    ['Processors', run.trust.processors && sentenceOf(run.trust.processors)],
    ['Lost', lostText()],
    ['Clocks', clocksText()]];
  if (run.processes.some((process) => process.state === 'running'))
    facts.unshift(['So far', 'The run goes on: this is what it was when the page was made.']);
  if (run.trust.observing !== null)
    facts.push(['Observing', (run.trust.observing < LITTLE_OBSERVING ? 'Less than 0.01%' :
      'About ' + d3.format('.2~p')(run.trust.observing)) + ' of the time of threads, ' +
      `${d3.format('.0f')(run.trust.eventCostNs)} ns for an event.`]);
  const entry = d3.select('#es-trust').selectAll('div').data(facts.filter(([, text]) => text))
    .enter().append('div');
  entry.append('dt').text((d) => d[0]);
  entry.append('dd').text((d) => d[1]);
})();
