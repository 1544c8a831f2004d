/* signature.js - the page of a signature: the way of a process through two of its
 * metrics, interval by interval, with the classes that are promised (paper 003,
 * figures 1 to 3), and each metric over time (figure 5).
 * viewer/report/signature_page.c says what is in the data. */
'use strict';

const data = JSON.parse(document.getElementById('es-data').textContent);
const WIDE = 760, HIGH = 320, SMALL_WIDE = 460, SMALL_HIGH = 190;
const edge = {left: 62, right: 12, top: 10, bottom: 34};
const told = d3.format('.4~g'), si = d3.format('.4~s');
const secondOf = (interval) => data.from_s + interval * data.interval_s;

/* --- what is known --- */

/* Half the width of a class: the tolerance, or three standard deviations. */
const apart = (one, metric) => Math.max(3 * one.factors[metric] * one.deviation[metric],
  data.tolerance * Math.abs(one.factors[metric] * one.centroid[metric]));
const centre = (one, metric) => one.factors[metric] * one.centroid[metric];
const isOf = (one, metric) => one.kind === data.metrics[metric].kind;
const isIn = (one, metric, value) =>
  Math.abs(value - centre(one, metric)) <= apart(one, metric) * (1 + 1e-9);
/* It is outside of all classes of that metric; performance may be better. */
function isOff(process, metric, value) {
  const classes = process.classes.filter((one) => isOf(one, metric));
  const most = d3.max(classes, (one) => centre(one, metric));
  return classes.length > 0 && !classes.some((one) => isIn(one, metric, value)) &&
    !(data.metrics[metric].kind === 'performance' && value > most);
}
const known = (process, metrics) => process.values.map((values, interval) => ({values, interval}))
  .filter(({values}) => metrics.every((metric) => values[metric] !== null));

/* --- pictures --- */

function picture(parent, width, height, caption, says) {
  const figure = parent.append('figure');
  const svg = figure.append('svg').attr('viewBox', `0 0 ${width} ${height}`)
    .attr('role', 'img').attr('aria-label', says);
  figure.append('figcaption').html(caption);
  return svg;
}
function axes(svg, {x, y, width, height, across, upwards}) {
  svg.append('g').attr('transform', `translate(0,${height - edge.bottom})`)
    .call(d3.axisBottom(x).ticks(6).tickSizeOuter(0).tickFormat(si));
  svg.append('g').attr('transform', `translate(${edge.left},0)`)
    .call(d3.axisLeft(y).ticks(5).tickSizeOuter(0).tickFormat(si));
  svg.append('text').attr('x', width - edge.right).attr('y', height - 4)
    .attr('text-anchor', 'end').text(across);
  if (upwards)
    svg.append('text').attr('x', edge.left + 4).attr('y', edge.top + 8).text(upwards);
}
/* From 0, such that how much differs is seen for what it is. */
const scaleOf = (values, range) =>
  d3.scaleLinear([Math.min(0, d3.min(values)), Math.max(0, d3.max(values)) || 1], range).nice();
const widths = (width) => [edge.left, width - edge.right];
const heights = (height) => [height - edge.bottom, edge.top];

const classKeys = (process) => '<span class="is-class">class, and its tolerance</span>' +
  (process.classes.some((one) => one.factors.some((factor) => factor !== 1)) ?
    '<span class="is-before">before it was projected</span>' : '');

/* One metric across and another upwards: classes of both are boxes, of one of them
 * bands. */
function drawClasses(svg, process, {x, y, across, upwards}, isBefore) {
  const of = isBefore ? process.classes.filter((one) => one.factors.some((k) => k !== 1))
    .map((one) => ({...one, factors: one.factors.map(() => 1)})) : process.classes;
  const shown = of.filter((one) => isOf(one, across) || isOf(one, upwards));
  const side = (one, scale, metric) => {
    const [low, high] = d3.extent(scale.range());
    if (!isOf(one, metric)) return [low, high];
    return d3.extent([scale(centre(one, metric) - apart(one, metric)),
      scale(centre(one, metric) + apart(one, metric))])
      .map((place) => Math.max(low, Math.min(high, place)));
  };
  svg.selectAll(null).data(shown).enter().append('rect')
    .attr('class', isBefore ? 'class is-before' : 'class')
    .attr('x', (one) => side(one, x, across)[0])
    .attr('width', (one) => Math.max(2, side(one, x, across)[1] - side(one, x, across)[0]))
    .attr('y', (one) => side(one, y, upwards)[0])
    .attr('height', (one) => Math.max(2, side(one, y, upwards)[1] - side(one, y, upwards)[0]))
    .append('title').text((one) => `${one.kind}, ${one.seen} intervals`);
}

function drawTrajectory(parent, process, across, upwards) {
  const points = known(process, [across, upwards]), names = data.metrics;
  const svg = picture(parent, WIDE, HIGH, '<span class="key"><span>intervals, one after ' +
    'the other</span><span class="is-off">outside of all classes</span>' +
    `${classKeys(process)}</span>`,
  `${names[upwards].name} over ${names[across].name} of ${process.name}, ` +
    `${points.length} intervals`);
  const centres = (metric) => process.classes.filter((one) => isOf(one, metric))
    .map((one) => centre(one, metric) + apart(one, metric));
  const x = scaleOf([...points.map((p) => p.values[across]), ...centres(across), 0],
    widths(WIDE));
  const y = scaleOf([...points.map((p) => p.values[upwards]), ...centres(upwards), 0],
    heights(HIGH));
  axes(svg, {x, y, width: WIDE, height: HIGH, across: names[across].name,
    upwards: names[upwards].name});
  for (const isBefore of [true, false])
    drawClasses(svg, process, {x, y, across, upwards}, isBefore);
  svg.append('path').attr('class', 'way').attr('d', d3.line()
    .x((p) => x(p.values[across])).y((p) => y(p.values[upwards]))(points));
  svg.append('g').attr('class', 'points').selectAll('circle').data(points).join('circle')
    .attr('r', 2.5).attr('cx', (p) => x(p.values[across])).attr('cy', (p) => y(p.values[upwards]))
    .classed('is-off', (p) => [across, upwards].some((m) => isOff(process, m, p.values[m])))
    .append('title').text((p) => `${told(secondOf(p.interval))} s: ` +
      `${told(p.values[across])}, ${told(p.values[upwards])}`);
}

const LINES_MAX = 100; /* more processes cannot be told apart */

function drawMetric(parent, process, metric) {
  const {name, kind} = data.metrics[metric];
  const others = data.processes.filter((one) => one !== process).slice(0, LINES_MAX);
  const svg = picture(parent, SMALL_WIDE, SMALL_HIGH, `<span class="key"><span>${kind}</span>` +
    '<span class="is-others">other processes</span><span class="is-class">classes</span></span>',
  `${name} of ${process.name} over time`);
  const classes = process.classes.filter((one) => isOf(one, metric));
  const values = [...others, process].flatMap((one) =>
    one.values.map((all) => all[metric]).filter((value) => value !== null));
  const x = d3.scaleLinear([data.from_s, secondOf(process.values.length)], widths(SMALL_WIDE));
  const y = scaleOf([...values, ...classes.map((one) => centre(one, metric)), 0],
    heights(SMALL_HIGH));
  axes(svg, {x, y, width: SMALL_WIDE, height: SMALL_HIGH, across: 's', upwards: name});
  const [top, bottom] = d3.extent(y.range());
  const inside = (value) => Math.max(top, Math.min(bottom, y(value)));
  svg.selectAll(null).data(classes).enter().append('rect').attr('class', 'class')
    .attr('x', x.range()[0]).attr('width', x.range()[1] - x.range()[0])
    .attr('y', (one) => inside(centre(one, metric) + apart(one, metric)))
    .attr('height', (one) => Math.max(1, inside(centre(one, metric) - apart(one, metric)) -
      inside(centre(one, metric) + apart(one, metric))));
  const line = d3.line().defined((all) => all[metric] !== null)
    .x((all, i) => x(secondOf(i) + data.interval_s / 2)).y((all) => y(all[metric]));
  svg.selectAll('path.others').data(others).enter().append('path').attr('class', 'others')
    .attr('d', (one) => line(one.values));
  svg.append('path').attr('class', 'went').attr('d', line(process.values));
}

/* --- what is chosen --- */

const choice = (id) => document.getElementById(id);
function fill(id, names, chosen) {
  d3.select(choice(id)).selectAll('option').data(names).join('option')
    .attr('value', (name, i) => i).property('selected', (name, i) => i === chosen)
    .text((name) => name);
}
function draw() {
  const process = data.processes[choice('es-process').value];
  const boxes = ['es-trajectory', 'es-metrics'].map((id) => d3.select(choice(id)));
  boxes.forEach((box) => box.selectAll('*').remove());
  drawTrajectory(boxes[0], process, Number(choice('es-across').value),
    Number(choice('es-upwards').value));
  data.metrics.forEach((metric, i) => drawMetric(boxes[1], process, i));
}
const last = data.metrics.findIndex((metric) => metric.kind === 'performance');
fill('es-process', data.processes.map((process) => process.name), 0);
fill('es-across', data.metrics.map((metric) => metric.name), 0);
fill('es-upwards', data.metrics.map((metric) => metric.name), last < 0 ?
  data.metrics.length - 1 : last);
for (const id of ['es-process', 'es-across', 'es-upwards'])
  choice(id).addEventListener('change', draw);
choice('es-says').textContent = data.run;
choice('es-lead').textContent = `Intervals of ${told(data.interval_s)} s. Classes are ` +
  (data.contract ? `those of the contract ${data.contract}.` : 'those of this run itself.');
draw();
watchScheme(choice('es-scheme'));
window.eventspaceSignature = {ready: true, data, isOff};
