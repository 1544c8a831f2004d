/* charts.js - what all pictures of views share, and those made of bars.
 *
 * A picture is a function (box, options) that draws into an element as wide as
 * that is, and can be called again when the width has changed. It computes
 * nothing but where things go: each of its numbers is a cell of a row of a view,
 * which the table below the picture shows, too. What it cannot show for want of
 * room it says.
 *
 * Colours are classes, so that they follow the page: part-NAME (a state of a
 * thread) and series-0 to series-7. */

/* --- charts: what they share --- */

const BARS_MAX = 15, SERIES = 8, LEGEND_MAX = 12;

/* Texts of cells by the kind of their column. */
const cellTexts = {text: (value) => value, name: (value) => String(value),
  count: (value) => count(value), time: duration, share: percent,
  real: (value) => d3.format(',.6~g')(value)};

/* An axis has few letters: 20 ms, not 20.000 ms. */
const AXIS_UNITS = [[1e9, 's'], [1e6, 'ms'], [1e3, '\u00b5s'], [1, 'ns']];
function axisText(kind, most) {
  if (kind === 'share') return d3.format('.0%');
  if (kind !== 'time') return (value) => d3.format(value % 1 ? ',.3~g' : ',')(value);
  const [unit, name] = AXIS_UNITS.find(([ns]) => most >= 2 * ns) || AXIS_UNITS[3];
  return (ns) => d3.format(',.4~g')(ns / unit) + ' ' + name;
}

/* A new picture in `box`, instead of the one before. Its name is for those who
 * cannot see it. */
function picture(box, height, name) {
  const width = Math.max(240, Math.floor(box.clientWidth));
  const root = d3.select(box);
  root.selectAll('*').remove();
  return root.append('svg').attr('class', 'picture').attr('role', 'img')
    .attr('aria-label', name).attr('width', width).attr('height', height)
    .attr('viewBox', `0 0 ${width} ${height}`)
    .property('room', width);
}

function note(box, text) {
  if (text) d3.select(box).append('p').attr('class', 'keys').text(text);
}
const noteOfFirst = (shown, all, what) => shown < all ?
  `The first ${count(shown)} of ${plural(all, what)}; the table has the others.` : '';

/* About 0.55 em is a letter. */
const TEXT_SIZE = 12, LETTER = 6.4;
function fitted(text, room) {
  const letters = Math.floor(room / LETTER);
  return text.length <= letters ? text : letters < 2 ? '' :
    text.slice(0, letters - 1) + '\u2026';
}
/* Shows a text as far as there is room, and all of it to a pointer. */
function label(mark, text, room) {
  mark.text((d) => fitted(text(d), room)).append('title').text(text);
}
const longest = (texts) => d3.max(texts, (text) => text.length) || 0;

function axisX(svg, scale, {y, kind, name, ticks}) {
  const [from, to] = scale.range(), most = scale.domain()[1];
  const list = scale.ticks(ticks || Math.max(2, Math.floor((to - from) / 90)));
  const text = axisText(kind, most);
  const axis = svg.append('g').attr('class', 'axis');
  axis.append('line').attr('x1', from).attr('x2', to).attr('y1', y).attr('y2', y);
  const tick = axis.selectAll('g').data(list).enter().append('g')
    .attr('transform', (d) => `translate(${scale(d)},${y})`);
  tick.append('line').attr('y2', 5);
  tick.append('text').attr('y', 17).attr('text-anchor', 'middle').text(text);
  if (name) axis.append('text').attr('class', 'name').attr('x', to).attr('y', y + 32)
    .attr('text-anchor', 'end').text(name);
}
function axisY(svg, scale, {x, to, kind, name, powers}) {
  const [bottom, top] = scale.range();
  const text = powers ? (value) => axisText(kind, 2 * value)(value) :
    axisText(kind, scale.domain()[1]);
  const axis = svg.append('g').attr('class', 'axis');
  const tick = axis.selectAll('g').data(powers ? powersOf(scale) :
    scale.ticks(Math.max(2, Math.floor((bottom - top) / 40)))).enter().append('g')
    .attr('transform', (d) => `translate(${x},${scale(d)})`);
  tick.append('line').attr('class', 'grid').attr('x2', to - x);
  tick.append('text').attr('x', -7).attr('dy', '.35em').attr('text-anchor', 'end').text(text);
  if (name) axis.append('text').attr('class', 'name').attr('x', x - 7).attr('y', top - 8)
    .text(name);
}

/* names: [[class, text]]. */
function legend(box, names) {
  const list = d3.select(box).append('p').attr('class', 'legend');
  const shown = names.slice(0, LEGEND_MAX);
  const entry = list.selectAll('span').data(shown).enter().append('span');
  entry.append('span').attr('class', (d) => 'key ' + d[0]);
  entry.append('span').text((d) => ' ' + d[1]);
  if (names.length > shown.length)
    list.append('span').text(`and ${count(names.length - shown.length)} more`);
}

/* --- charts: bars --- */

/* Lying bars. options: rows, label(row), parts [{name, class, value(row)}], which
 * stand behind each other, kind (of the values), range(row): [low, high], the
 * interval that is certain, most, where the axis ends, and show(row): what a click
 * on a label does. */
function bars(box, {name, rows, label: textOf, parts, kind = 'time', range, most: limit,
  show}) {
  const shown = rows.slice(0, BARS_MAX), height = 22;
  const svg = picture(box, shown.length * height + 40, name), room = svg.property('room');
  const left = Math.min(room * 0.45, longest(shown.map(textOf)) * LETTER + 12);
  const right = 78;
  const valueOf = (row, part) => Math.max(0, part.value(row) || 0);
  const totalOf = (row) => d3.sum(parts, (part) => valueOf(row, part));
  const most = limit ||
    d3.max(shown, (row) => Math.max(totalOf(row), range ? range(row)[1] || 0 : 0));
  const scale = d3.scaleLinear().domain([0, most || 1]).range([left, room - right]);
  const line = svg.selectAll('g.bar').data(shown).enter().append('g').attr('class', 'bar')
    .attr('transform', (d, i) => `translate(0,${i * height})`);
  const texts = line.append('text').attr('x', left - 8).attr('y', height / 2).attr('dy', '.35em')
    .attr('text-anchor', 'end');
  label(texts, textOf, left - 8);
  if (show) texts.attr('class', 'shows').on('click', show);
  line.each(function (row) {
    let at = 0;
    for (const part of parts) {
      const value = valueOf(row, part);
      if (!value) continue;
      d3.select(this).append('rect').attr('class', part.class).attr('x', scale(at))
        .attr('y', 3).attr('width', Math.max(1, scale(at + value) - scale(at)))
        .attr('height', height - 6).append('title')
        .text(`${textOf(row)}: ${part.name} ${cellTexts[kind](value)}`);
      at += value;
    }
    if (range) whisker(d3.select(this), scale, range(row), height / 2);
  });
  line.append('text').attr('class', 'value').attr('y', height / 2).attr('dy', '.35em')
    .attr('x', (row) => scale(Math.max(totalOf(row), range ? range(row)[1] || 0 : 0)) + 6)
    .text((row) => parts.length === 1 ? valueText(kind, parts[0].value(row)) : '');
  if (most) axisX(svg, scale, {y: shown.length * height + 4, kind});
  if (parts.length > 1) legend(box, parts.map((part) => [part.class, part.name]));
  note(box, noteOfFirst(shown.length, rows.length, 'row'));
}
const valueText = (kind, value) => value === null ? '' : cellTexts[kind](value);

/* From low to high, at height y. */
function whisker(mark, scale, [low, high], y) {
  if (low === null || high === null) return;
  mark.append('path').attr('class', 'whisker')
    .attr('d', `M${scale(low)},${y - 4}v8M${scale(low)},${y}H${scale(high)}M${scale(high)},${y - 4}v8`);
}

/* Of many times their mean as a bar, the median as a tick, least and most as
 * whiskers, on a scale of powers of ten. */
function samples(box, {name, rows, label: textOf}) {
  const known = rows.filter((row) => row.count > 0), shown = known.slice(0, BARS_MAX);
  const height = 22, svg = picture(box, shown.length * height + 40, name);
  const room = svg.property('room');
  const left = Math.min(room * 0.45, longest(shown.map(textOf)) * LETTER + 12);
  const least = Math.max(1, d3.min(shown, (row) => Math.max(1, row.min_ns)) || 1);
  const most = Math.max(10 * least, d3.max(shown, (row) => row.max_ns) || 10);
  const scale = d3.scaleLog().domain([least, most]).range([left, room - 24]).clamp(true);
  const x = (ns) => scale(Math.max(least, ns));
  const line = svg.selectAll('g.bar').data(shown).enter().append('g').attr('class', 'bar')
    .attr('transform', (d, i) => `translate(0,${i * height})`);
  label(line.append('text').attr('x', left - 8).attr('y', height / 2).attr('dy', '.35em')
    .attr('text-anchor', 'end'), textOf, left - 8);
  line.append('path').attr('class', 'whisker').attr('d', (row) =>
    `M${x(row.min_ns)},${height / 2 - 4}v8M${x(row.min_ns)},${height / 2}H${x(row.max_ns)}` +
    `M${x(row.max_ns)},${height / 2 - 4}v8`);
  line.append('rect').attr('class', 'series-0').attr('y', 4).attr('height', height - 8)
    .attr('x', (row) => x(row.median_ns) - 2).attr('width', 4);
  line.append('circle').attr('class', 'series-1').attr('cx', (row) => x(row.mean_ns))
    .attr('cy', height / 2).attr('r', 4);
  line.append('title').text((row) => `${textOf(row)}: ${count(row.count)} times, ` +
    `least ${duration(row.min_ns)}, median ${duration(row.median_ns)}, mean ` +
    `${duration(row.mean_ns)}, most ${duration(row.max_ns)}`);
  powersAxis(svg, scale, shown.length * height + 4);
  legend(box, [['series-0', 'median'], ['dot series-1', 'mean'], ['whisker', 'least to most']]);
  note(box, noteOfFirst(shown.length, known.length, 'row'));
}
/* A logarithmic axis of times: its powers of ten. */
function powersOf(scale) {
  const [least, most] = scale.domain();
  return d3.range(Math.ceil(Math.log10(least)), Math.floor(Math.log10(most)) + 1)
    .map((power) => Math.pow(10, power));
}
function powersAxis(svg, scale, y, name) {
  const [from, to] = scale.range(), powers = powersOf(scale);
  const axis = svg.append('g').attr('class', 'axis');
  axis.append('line').attr('x1', from).attr('x2', to).attr('y1', y).attr('y2', y);
  const tick = axis.selectAll('g').data(powers).enter().append('g')
    .attr('transform', (d) => `translate(${scale(d)},${y})`);
  tick.append('line').attr('y2', 5);
  tick.append('text').attr('y', 17).attr('text-anchor', 'middle')
    .text((ns) => axisText('time', 2 * ns)(ns));
  if (name) axis.append('text').attr('class', 'name').attr('x', to).attr('y', y + 32)
    .attr('text-anchor', 'end').text(name);
}
