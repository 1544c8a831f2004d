/* series.js - the page of series: of each what it is like in numbers, as it went
 * with what it was between, its density with the normal distribution of the same
 * mean and range and with the mixture of its modes, and the same as a cumulative
 * distribution. viewer/report/series_page.c says what is in the data. */
'use strict';

const all = JSON.parse(document.getElementById('es-data').textContent);
const WIDE = 640, NARROW = 320, HIGH = 210;
const edge = {left: 52, right: 10, top: 8, bottom: 22};

/* --- numbers --- */

const digits = d3.format('.4~g'), parts = d3.format('.0%'), si = d3.format('.4~s');
function told(value, unit) {
  if (unit === 'share' || value === 0) return digits(value);
  return `${si(value).replace(/([\d.])([a-zA-Z\u00b5])$/, '$1 $2')}${/[a-zA-Z\u00b5]$/.test(si(value)) ? '' : ' '}${unit}`;
}
const when = d3.utcFormat('%Y-%m-%d %H:%M:%S');
const counted = (count, one) => `${d3.format(',')(count)} ${one}${count === 1 ? '' : 's'}`;

/* A range is two standard deviations. */
function density(value, {mean, range}) {
  const deviation = range / 2;
  return deviation > 0 ?
    Math.exp(-(((value - mean) / deviation) ** 2) / 2) / (deviation * Math.sqrt(2 * Math.PI)) : 0;
}
/* Abramowitz and Stegun, 7.1.26: to 1.5e-7. */
function below(value, {mean, range}) {
  if (range === 0) return value < mean ? 0 : 1;
  const x = (value - mean) / (range / 2 * Math.SQRT2), t = 1 / (1 + 0.3275911 * Math.abs(x));
  const tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 +
    t * (-1.453152027 + t * 1.061405429)))) * Math.exp(-x * x) / 2;
  return x < 0 ? tail : 1 - tail;
}
const mixed = (of, value, modes) => d3.sum(modes, (mode) => mode.share * of(value, mode));

/* --- pictures --- */

function picture(parent, width, caption, says) {
  const figure = parent.append('figure');
  const svg = figure.append('svg').attr('viewBox', `0 0 ${width} ${HIGH}`)
    .attr('role', 'img').attr('aria-label', says);
  figure.append('figcaption').html(caption);
  return svg;
}

function axes(svg, x, y, bottom, left) {
  svg.append('g').attr('transform', `translate(0,${HIGH - edge.bottom})`)
    .call(bottom.ticks(5).tickSizeOuter(0));
  svg.append('g').attr('transform', `translate(${edge.left},0)`)
    .call(left.ticks(5).tickSizeOuter(0));
}

const across = (width) => [edge.left, width - edge.right];
const upwards = [HIGH - edge.bottom, edge.top];
/* Of values that are all the same there is something around them, too. */
function around(least, most) {
  const apart = most > least ? 0 : Math.abs(least) / 2 || 1;
  return [least - apart, most + apart];
}
const hour = d3.utcFormat('%H:%M'), day = d3.utcFormat('%m-%d');
const moment = (time) => (d3.utcDay(time) < time ? hour : day)(time);
const unitAxis = (axis, scale, unit) => axis(scale).tickFormat((value) => told(value, unit));

function drawWent(parent, s) {
  const svg = picture(parent, WIDE, '<span class="key"><span>mean, and between what</span>' +
    '<span class="is-normal">forecast</span></span>',
  `${s.series} from ${when(s.points[0][0])} to ${when(s.to_ms)}`);
  const there = s.points.filter((point) => point);
  const x = d3.scaleUtc([there[0][0], s.to_ms], across(WIDE));
  const least = d3.min([...there.map((p) => p[2]), s.next - s.next_range]);
  const most = d3.max([...there.map((p) => p[3]), s.next + s.next_range]);
  const y = d3.scaleLinear(around(least, most), upwards).nice();
  axes(svg, x, y, d3.axisBottom(x).tickFormat(moment), unitAxis(d3.axisLeft, y, s.unit));
  const defined = (point) => point !== null;
  svg.append('path').attr('class', 'spread').attr('d', d3.area().defined(defined)
    .x((p) => x(p[0])).y0((p) => y(p[2])).y1((p) => y(p[3]))(s.points));
  svg.append('path').attr('class', 'went').attr('d', d3.line().defined(defined)
    .x((p) => x(p[0])).y((p) => y(p[1]))(s.points));
  svg.append('line').attr('class', 'next').attr('x1', WIDE - edge.right + 4)
    .attr('x2', WIDE - edge.right + 4).attr('y1', y(s.next - s.next_range))
    .attr('y2', y(s.next + s.next_range));
}

const fits = '<span class="is-normal">normal</span><span class="is-mixture">modes</span></span>';

function samplesOf([from, to]) {
  return d3.range(201).map((i) => from + (to - from) * i / 200);
}

function drawDensity(parent, s) {
  const svg = picture(parent, NARROW, `<span class="key"><span>density</span>${fits}`,
    `density of ${s.series}, the normal distribution and its modes`);
  const from = s.quantiles[0], to = s.quantiles.at(-1);
  const x = d3.scaleLinear(around(from, to), across(NARROW));
  const values = samplesOf(x.domain());
  const normal = values.map((value) => [value, density(value, s)]);
  const mixture = values.map((value) => [value, mixed(density, value, s.modes)]);
  const top = d3.max([...s.bins.map((bin) => bin[2]), ...mixture.map((p) => p[1])]) || 1;
  const y = d3.scaleLinear([0, top], upwards);
  axes(svg, x, y, unitAxis(d3.axisBottom, x, s.unit).ticks(3), d3.axisLeft(y).tickFormat(si));
  svg.append('g').attr('class', 'bars').selectAll('rect').data(s.bins).join('rect')
    .attr('x', (bin) => x(bin[0])).attr('width', (bin) => Math.max(0.5, x(bin[1]) - x(bin[0])))
    .attr('y', (bin) => y(bin[2])).attr('height', (bin) => y(0) - y(bin[2]));
  const line = d3.line().x((p) => x(p[0])).y((p) => y(Math.min(p[1], top)));
  svg.append('path').attr('class', 'normal').attr('d', line(normal));
  svg.append('path').attr('class', 'mixture').attr('d', line(mixture));
}

function drawCumulative(parent, s) {
  const svg = picture(parent, NARROW, `<span class="key"><span>share below</span>${fits}`,
    `cumulative distribution of ${s.series}, the normal distribution and its modes`);
  const from = s.quantiles[0], to = s.quantiles.at(-1);
  const x = d3.scaleLinear(around(from, to), across(NARROW));
  const y = d3.scaleLinear([0, 1], upwards), values = samplesOf(x.domain());
  axes(svg, x, y, unitAxis(d3.axisBottom, x, s.unit).ticks(3),
    d3.axisLeft(y).tickFormat(parts));
  const line = d3.line().x((p) => x(p[0])).y((p) => y(p[1]));
  svg.append('path').attr('class', 'went')
    .attr('d', line(s.quantiles.map((value, i) => [value, i / (s.quantiles.length - 1)])));
  svg.append('path').attr('class', 'normal')
    .attr('d', line(values.map((value) => [value, below(value, s)])));
  svg.append('path').attr('class', 'mixture')
    .attr('d', line(values.map((value) => [value, mixed(below, value, s.modes)])));
}

/* --- panels --- */

function facts(panel, s) {
  const range = (mean, wide) => `${told(mean, s.unit)} \u00b1 ${told(wide, s.unit)}`;
  const list = panel.append('dl').attr('class', 'facts');
  const fact = (name, text) => {
    const one = list.append('div');
    one.append('dt').text(name);
    one.append('dd').text(text);
  };
  fact('last', told(s.last, s.unit));
  fact(`next, by the ${s.method}`, range(s.next, s.next_range));
  fact('mean', `${range(s.mean, s.range)}, ${parts(s.within)} within`);
  fact('modes', s.modes.map((mode) =>
    `${range(mode.mean, mode.range)} (${parts(mode.share)})`).join(', '));
  fact('samples', `${counted(s.samples, 'sample')} since ${when(s.from_ms)}` +
    (s.gaps ? `, ${counted(s.gaps, 'gap')}` : ''));
}

for (const s of all) {
  const panel = d3.select('#es-series').append('section').attr('class', 'panel');
  panel.append('h2').text(s.series);
  facts(panel, s);
  const charts = panel.append('div').attr('class', 'charts');
  drawWent(charts, s);
  drawDensity(charts, s);
  drawCumulative(charts, s);
}
document.getElementById('es-says').textContent = `${all.length} series sampled`;
watchScheme(document.getElementById('es-scheme'));
window.eventspaceSeries = {ready: true, series: all};
