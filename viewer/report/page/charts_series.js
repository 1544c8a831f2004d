/* charts_series.js - pictures with an axis of time, of steps or of lengths:
 * lines, stacks of each second, and how many operations took how long.
 *
 * A picture of lines is read by pointing at it or, when it has the focus, by the
 * arrow keys: a line of text below says what the lines are there. */

/* --- charts: lines --- */

const LINES_HEIGHT = 240;

const LINES_MAX = 24;

/* options: lines [{name, class, points [[x, y]]}], x and y {kind, name}; y.powers:
 * by powers of ten, where some times are much longer than others: what is 0 lies
 * at the bottom; most, where the axis ends; dots: at each point. */
function lines(box, {name, lines: all, x, y, most, dots}) {
  /* Of a part of a run it may not be known which steps or rounds these are. */
  const placed = all.map((line) => ({...line, points: line.points.filter((p) => p[0] !== null)}));
  const there = placed.filter((line) => line.points.length), shown = there.slice(0, LINES_MAX);
  if (!shown.length) {
    note(box, `It is not known which ${x.name} each of these is.`);
    return;
  }
  const svg = picture(box, LINES_HEIGHT + 44, name), room = svg.property('room');
  const points = d3.merge(shown.map((line) => line.points));
  const textY = axisText(y.kind, d3.max(points, (p) => p[1]) || 1);
  const left = Math.max(44, longest([textY(d3.max(points, (p) => p[1]) || 1)]) * LETTER + 22);
  const scaleX = d3.scaleLinear().domain(d3.extent(points, (p) => p[0])).range([left, room - 14]);
  const top = most || d3.max(points, (p) => p[1]) || 1;
  const bottom = y.powers ? d3.min(points, (p) => p[1] > 0 ? p[1] : Infinity) : 0;
  const scaleY = (y.powers ? d3.scaleLog().clamp(true) : d3.scaleLinear())
    .domain([Math.min(bottom, top / 10), top]).range([LINES_HEIGHT, 24]);
  axisY(svg, scaleY, {x: left, to: room - 14, kind: y.kind, name: y.name, powers: y.powers});
  axisX(svg, scaleX, {y: LINES_HEIGHT, kind: x.kind, name: x.name});
  const path = d3.line().defined((p) => p[1] !== null)
    .x((p) => scaleX(p[0])).y((p) => scaleY(y.powers ? Math.max(bottom, p[1]) : p[1]));
  svg.selectAll('path.line').data(shown).enter().append('path')
    .attr('class', (line) => 'line ' + line.class)
    .attr('d', (line) => path(line.points)).append('title').text((line) => line.name);
  if (dots)
    svg.selectAll('g.dots').data(shown).enter().append('g')
      .attr('class', (line) => 'dots ' + line.class).selectAll('circle')
      .data((line) => line.points).enter().append('circle').attr('r', 2.5)
      .attr('cx', (p) => scaleX(p[0])).attr('cy', (p) => scaleY(p[1]));
  legend(box, shown.map((line) => ['line ' + line.class, line.name]));
  readout(box, svg, {lines: shown, scaleX, scaleY, x, y});
  note(box, noteOfFirst(shown.length, there.length, 'line'));
}

/* Says the points nearest to the pointer, or to where the arrow keys went. */
function readout(box, svg, {lines: all, scaleX, scaleY, x, y}) {
  const said = d3.select(box).append('p').attr('class', 'keys readout')
    .attr('aria-live', 'polite').text('Point at the picture, or use the arrow keys in it, to read it.');
  const mark = svg.append('line').attr('class', 'hair').attr('y1', 24).attr('y2', LINES_HEIGHT)
    .style('display', 'none');
  const places = d3.merge(all.map((line) => line.points.map((p) => p[0]))).sort(d3.ascending)
    .filter((place, i, list) => i === 0 || place !== list[i - 1]);
  let at = -1;
  function tell(place) {
    at = Math.max(0, Math.min(places.length - 1, place));
    const value = places[at];
    mark.style('display', null).attr('x1', scaleX(value)).attr('x2', scaleX(value));
    const nearest = all.map((line) => [line, line.points[
      Math.min(line.points.length - 1, d3.bisector((p) => p[0]).left(line.points, value))]])
      .filter(([, p]) => p && p[0] === value && p[1] !== null);
    const most = 8;
    said.text(`${x.name} ${axisTell(x.kind, value)}: ` + nearest.slice(0, most)
      .map(([line, p]) => `${line.name} ${cellTexts[y.kind](p[1])}`).join(', ') +
      (nearest.length > most ? ` and ${nearest.length - most} more` : ''));
  }
  svg.attr('tabindex', 0)
    .on('pointermove', function () {
      const value = scaleX.invert(d3.mouse(this)[0]);
      const next = d3.bisectLeft(places, value);
      tell(next > 0 && value - places[next - 1] < places[next] - value ? next - 1 : next);
    })
    .on('keydown', () => {
      const step = {ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20,
        Home: -Infinity, End: Infinity}[d3.event.key];
      if (step === undefined) return;
      d3.event.preventDefault();
      tell(at < 0 ? 0 : at + step);
    });
}
const axisTell = (kind, value) => kind === 'time' ? duration(value) : count(value);

/* How far the threads are: a line for each of some steps, a point for each
 * thread, at the time when it finished the step. Rows are those of steps. */
function front(box, {name, rows, most = 12}) {
  const steps = d3.nest().key((row) => row.step).entries(rows);
  /* Those in which most threads were: others only tell of a few that went on. */
  const mostThreads = d3.max(steps, (step) => step.values.length);
  const bySteps = steps.filter((step) => step.values.length * 2 > mostThreads);
  const every = Math.max(1, Math.ceil(bySteps.length / most));
  const shown = bySteps.filter((step, i) => (bySteps.length - 1 - i) % every === 0);
  const numbers = d3.extent(rows, (row) => row.number);
  const height = Math.max(140, Math.min(420, (numbers[1] - numbers[0]) * 14 + 60));
  const svg = picture(box, height + 44, name), room = svg.property('room'), left = 64;
  const scaleX = d3.scaleLinear().domain(d3.extent(rows, (row) => row.end_ns))
    .range([left, room - 14]);
  const scaleY = d3.scalePoint().domain(d3.range(numbers[0], numbers[1] + 1))
    .range([24, height - 10]);
  const threads = new Map(rows.map((row) => [row.number, row.thread]));
  const leap = Math.max(1, Math.ceil((numbers[1] - numbers[0] + 1) / (height / 16)));
  const names = [...threads].filter(([number]) => (number - numbers[0]) % leap === 0);
  label(svg.append('g').attr('class', 'axis').selectAll('text').data(names).enter()
    .append('text').attr('x', left - 8).attr('dy', '.35em').attr('text-anchor', 'end')
    .attr('y', ([number]) => scaleY(number)), ([, thread]) => thread, left - 10);
  axisX(svg, scaleX, {y: height, kind: 'time', name: 'time at which a thread finished the step'});
  const path = d3.line().x((row) => scaleX(row.end_ns)).y((row) => scaleY(row.number));
  const step = svg.selectAll('g.step').data(shown).enter().append('g')
    .attr('class', (d, i) => `step series-${i % SERIES}`);
  step.append('path').attr('class', (d, i) => `line series-${i % SERIES}`)
    .attr('d', (d) => path(d.values.slice().sort((a, b) => a.number - b.number)));
  const radius = names.length < threads.size ? 1.5 : 3;
  step.selectAll('circle').data((d) => d.values).enter().append('circle').attr('r', radius)
    .attr('cx', (row) => scaleX(row.end_ns)).attr('cy', (row) => scaleY(row.number))
    .append('title').text((row) => `step ${row.step}, ${row.thread}: ${duration(row.end_ns)}, ` +
      `${duration(row.after_first_ns)} after the first`);
  let free = -Infinity; /* where the next number has room */
  step.append('text').attr('class', 'value').attr('y', 14).attr('text-anchor', 'middle')
    .each(function (d) {
      const x = scaleX(d3.min(d.values, (row) => row.end_ns));
      if (x < free) return;
      free = x + (d.key.length + 1) * LETTER + 6;
      d3.select(this).attr('x', x).text(d.key);
    });
  note(box, 'A straight upright line: all threads finished that step at once. A slanted one is ' +
    `a front. The number above is the step; ${plural(shown.length, 'step')} of ` +
    `${count(steps.length)} are drawn.`);
}

/* --- charts: stacks --- */

/* Upright stacks: columns by x(row), in each the rows by class(row). */
function stacks(box, {name, rows, x, kindOf, value, classOf}) {
  const svg = picture(box, LINES_HEIGHT + 44, name), room = svg.property('room'), left = 60;
  const groups = d3.nest().key((row) => row[x.key]).entries(rows);
  const numbers = groups.map((group) => +group.key);
  const totals = groups.map((group) => d3.sum(group.values, (row) => row[value]));
  const scaleX = d3.scaleBand().domain(d3.range(d3.min(numbers), d3.max(numbers) + 1))
    .range([left, room - 14]).paddingInner(0.08);
  const scaleY = d3.scaleLinear().domain([0, d3.max(totals)]).range([LINES_HEIGHT, 24]);
  axisY(svg, scaleY, {x: left, to: room - 14, kind: 'time'});
  for (const group of groups) {
    let at = 0;
    const order = group.values.slice().sort((a, b) => d3.ascending(kindOf(a), kindOf(b)));
    svg.append('g').selectAll('rect').data(order).enter().append('rect')
      .attr('class', (row) => classOf(row)).attr('x', scaleX(+group.key))
      .attr('width', Math.max(1, scaleX.bandwidth()))
      .each(function (row) {
        const top = scaleY(at + row[value]);
        d3.select(this).attr('y', top).attr('height', Math.max(0, scaleY(at) - top));
        at += row[value];
      })
      .append('title').text((row) => `${x.name} ${group.key}: ${kindOf(row)} ` +
        `${row.thread || ''} ${row.what || ''} ${duration(row[value])}`);
  }
  const linear = d3.scaleLinear().domain([d3.min(numbers), d3.max(numbers) + 1])
    .range([left, room - 14]);
  axisX(svg, linear, {y: LINES_HEIGHT, kind: 'count', name: x.name});
  const kinds = d3.nest().key(kindOf).entries(rows).map((kind) =>
    [classOf(kind.values[0]), kind.key]);
  legend(box, kinds);
}

/* --- charts: how many took how long --- */

/* Rows of calls in detail: how many operations of a kind took from so long to so
 * long, and the share of all that took no longer. */
function distribution(box, {name, rows, kinds}) {
  const svg = picture(box, LINES_HEIGHT + 44, name), room = svg.property('room'), left = 56;
  const least = Math.max(1, d3.min(rows, (row) => row.from_ns) || 1);
  const most = Math.max(10 * least, d3.max(rows, (row) => row.to_ns));
  const scaleX = d3.scaleLog().domain([least, most]).range([left, room - 14]).clamp(true);
  const scaleY = d3.scaleLinear().domain([0, 1]).range([LINES_HEIGHT, 24]);
  axisY(svg, scaleY, {x: left, to: room - 14, kind: 'share', name: 'share that took no longer'});
  powersAxis(svg, scaleX, LINES_HEIGHT, 'time of an operation');
  const x = (ns) => scaleX(Math.max(least, ns));
  kinds.forEach((kind, i) => {
    const own = rows.filter((row) => row.kind === kind.kind && row.path === kind.path);
    if (!own.length) return;
    let d = `M${x(own[0].from_ns)},${scaleY(0)}`;
    for (const row of own) d += `L${x(row.to_ns)},${scaleY(row.cumulative_share)}`;
    svg.append('path').attr('class', `line series-${i}`).attr('d', d)
      .append('title').text(textOfKind(kind));
    const marks = [[0.5, 'median_ns'], [0.9, 'p90_ns'], [0.99, 'p99_ns']];
    svg.append('g').attr('class', `dots series-${i}`).selectAll('circle').data(marks).enter()
      .append('circle').attr('r', 3.5).attr('cx', ([, key]) => x(kind[key]))
      .attr('cy', ([share]) => scaleY(share)).append('title')
      .text(([share, key]) => `${textOfKind(kind)}: ${percent(share)} took no longer than ` +
        duration(kind[key]));
  });
  legend(box, kinds.map((kind, i) => [`line series-${i}`, textOfKind(kind)]));
}
const textOfKind = (kind) => `${kind.kind} ${kind.path}`.trim();

/* The same rows of one kind as upright bars: how many took about so long. */
function histogram(box, {name, rows}) {
  const height = 150, svg = picture(box, height + 44, name), room = svg.property('room');
  const left = 56, least = Math.max(1, rows[0].from_ns);
  const most = Math.max(10 * least, rows[rows.length - 1].to_ns);
  const scaleX = d3.scaleLog().domain([least, most]).range([left, room - 14]).clamp(true);
  const scaleY = d3.scaleLinear().domain([0, d3.max(rows, (row) => row.count)])
    .range([height, 24]);
  axisY(svg, scaleY, {x: left, to: room - 14, kind: 'count', name: 'operations'});
  powersAxis(svg, scaleX, height, 'time of an operation');
  const x = (ns) => scaleX(Math.max(least, ns));
  svg.selectAll('rect').data(rows).enter().append('rect').attr('class', 'series-0')
    .attr('x', (row) => x(row.from_ns)).attr('y', (row) => scaleY(row.count))
    .attr('width', (row) => Math.max(1, x(row.to_ns) - x(row.from_ns) - 1))
    .attr('height', (row) => height - scaleY(row.count)).append('title')
    .text((row) => `${duration(row.from_ns)} to ${duration(row.to_ns)}: ` +
      plural(row.count, 'operation'));
}
