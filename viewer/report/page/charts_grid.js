/* charts_grid.js - pictures of who with whom, and of what is within what. */

/* --- charts: matrix --- */

const CELLS_MAX = 400; /* rows or columns that a matrix shows */
const WIDE = 40; /* from so many columns on its panel is as wide as the page */

/* A square for each pair that has a row, the darker the larger its value, of
 * `most` or the most that there is. With `inOrder`, `across` is in the order of rows. Rows
 * with the same pair stand in the same square, and the last is on top: a view
 * that has several says by `pick` which of them is shown. */
function matrix(box, {name, rows, down, across, value, kind = 'time', downName, acrossName,
  acrossText = String, downText = String, inOrder, most: mostOf}) {
  const unique = (key) => [...new Set(rows.map(key))];
  const allDown = orderNames(unique(down));
  const allAcross = inOrder ? unique(across) : orderNames(unique(across));
  const downs = allDown.slice(0, CELLS_MAX), acrosses = allAcross.slice(0, CELLS_MAX);
  const letters = Math.min(22, longest(acrosses.map(acrossText))), letteredDown = Math.min(26, longest(downs.map(downText)));
  const left = letteredDown * LETTER + 26, top = letters * LETTER * 0.72 + 34;
  const panel = box.closest('.panel');
  if (panel) panel.classList.toggle('wide', acrosses.length > WIDE);
  const wide = Math.max(240, Math.floor(box.clientWidth)) - left - 24;
  const size = Math.max(2, Math.min(34, Math.floor(wide / acrosses.length),
    Math.floor(700 / downs.length)));
  const svg = picture(box, top + downs.length * size + 30, name);
  const cellX = (d) => left + acrosses.indexOf(across(d)) * size;
  const cellY = (d) => top + downs.indexOf(down(d)) * size;
  const most = mostOf || d3.max(rows, value) || 1;
  svg.append('text').attr('class', 'name').attr('x', 2).attr('y', 12)
    .text(`${downName} \u2193  ${acrossName} \u2192`);
  const cells = rows.filter((row) => downs.includes(down(row)) && acrosses.includes(across(row)) &&
    value(row) !== null);
  svg.append('rect').attr('class', 'field').attr('x', left).attr('y', top)
    .attr('width', acrosses.length * size).attr('height', downs.length * size);
  svg.append('g').selectAll('rect').data(cells).enter().append('rect').attr('class', 'cell')
    .attr('x', cellX).attr('y', cellY).attr('width', size - (size > 4)).attr('height', size - (size > 4))
    .attr('fill-opacity', (row) => Math.max(0.06, Math.sqrt(value(row) / most)))
    .append('title').text((row) => `${downText(down(row))}, ${acrossText(across(row))}: ${cellTexts[kind](value(row))}`);
  const leap = Math.ceil(13 / size);
  const names = (list) => list.map((text, i) => [text, i]).filter(([, i]) => i % leap === 0);
  label(svg.append('g').selectAll('text').data(names(downs)).enter().append('text')
    .attr('x', left - 6).attr('text-anchor', 'end').attr('dy', '.35em')
    .attr('y', ([, i]) => top + (i + 0.5) * size), ([text]) => downText(text), left - 8);
  label(svg.append('g').selectAll('text').data(names(acrosses)).enter().append('text')
    .attr('transform', ([, i]) => `translate(${left + (i + 0.6) * size},${top - 6})rotate(-45)`),
  ([text]) => acrossText(text), letters * LETTER + 4);
  scaleKey(svg, left, top + downs.length * size + 18, most, kind);
  note(box, allDown.length > downs.length || allAcross.length > acrosses.length ?
    `The first ${CELLS_MAX} of ${count(allDown.length)} and ${count(allAcross.length)}; ` +
    'the table has the others.' : '');
}

/* t2 before t10. */
const collator = new Intl.Collator('en', {numeric: true});
function orderNames(names) {
  return names.sort(collator.compare);
}

/* From nothing to the most. */
function scaleKey(svg, x, y, most, kind) {
  const key = svg.append('g').attr('transform', `translate(${x},${y})`);
  key.selectAll('rect').data(d3.range(10)).enter().append('rect').attr('class', 'cell')
    .attr('x', (d) => d * 12).attr('width', 12).attr('height', 8)
    .attr('fill-opacity', (d) => Math.sqrt((d + 1) / 10));
  key.append('text').attr('x', 126).attr('y', 8).text('up to ' + cellTexts[kind](most));
}

/* --- charts: icicle --- */

/* nodes: {id, parent (an id, or null), name, value, text}. A node is as wide as
 * its own value and those of all above which it hangs. The tree is drawn from
 * its root at the top. */
function icicle(box, {name, nodes}) {
  const root = d3.stratify().id((node) => node.id).parentId((node) => node.parent)(nodes)
    .sum((node) => node.value || 0).sort((a, b) => b.value - a.value);
  const height = 26, svg = picture(box, (root.height + 1) * height + 4, name);
  const room = svg.property('room');
  d3.partition().size([room, (root.height + 1) * height])(root);
  const node = svg.selectAll('g').data(root.descendants()).enter().append('g')
    .attr('transform', (d) => `translate(${d.x0},${d.y0})`);
  const most = d3.max(nodes, (one) => one.value) || 1;
  node.append('rect').attr('class', 'icicle')
    .attr('fill-opacity', (d) => 0.04 + 0.36 * (d.data.value || 0) / most)
    .attr('width', (d) => Math.max(0.5, d.x1 - d.x0 - 1)).attr('height', height - 1);
  node.append('text').attr('x', 5).attr('y', height / 2).attr('dy', '.35em')
    .text((d) => fitted(d.data.name, d.x1 - d.x0 - 8));
  node.append('title').text((d) => d.data.text);
}
