/* panels.js - a panel for each view that has rows, and for each view script: what
 * it tells, its picture, its tables, and files of them.
 *
 * Panels are drawn one after the other when the browser has nothing else to do,
 * so that the page can be used at once; tables when they are opened. */

/* --- tables of views --- */

/* Rows as objects by the columns' keys. */
const recordsOf = (table) => table ? table.rows.map((row) =>
  Object.fromEntries(table.columns.map((column, i) => [column.key, row[i]]))) : [];

/* A column of such a table; times have their units in the cells. Blanks are
 * first. */
function columnOf({head, kind}, i) {
  return {head: kind === 'time' ? head.replace(/ ms$/, '') : head, words: kind === 'text',
    value: (row) => row[i] === null ? (kind === 'text' ? '' : -Infinity) : row[i],
    text: (row) => row[i] === null ? '' : cellTexts[kind](row[i])};
}

/* What is not here of the rows that there are. */
function leftOut({rows, count: all, every}) {
  if (rows.length === all) return '';
  return every > 1 ? `${count(rows.length)} of ${count(all)} rows: of each ` +
    `${count(every)} steps or rounds one.` :
    `The first ${count(rows.length)} of ${count(all)} rows.`;
}

function addTable(section, {name, of, title, data, open, notes = []}) {
  const part = section.append('details').attr('class', 'table').property('open', !!open);
  part.append('summary').text(`${title}: ${plural(data.count, 'row')}`);
  const rows = part.append('div').attr('class', 'rows').attr('tabindex', 0)
    .attr('role', 'group').attr('aria-label', `${of}: ${title}`);
  rows.append('table').attr('id', 'es-' + name);
  const texts = [leftOut(data), ...notes].filter(Boolean);
  if (texts.length) part.append('p').attr('class', 'keys').text(texts.join(' '));
  let filled = false;
  function fill() {
    if (filled || !part.property('open')) return;
    filled = true;
    table(name, data.columns.map(columnOf), data.rows.slice(), -1, false);
  }
  part.on('toggle', fill);
  fill();
}

/* --- panels --- */

const panels = new Map(); /* by name */
const undrawn = [];

function redraw(panel) {
  const at = undrawn.indexOf(panel);
  if (at >= 0) undrawn.splice(at, 1);
  panel.width = panel.box.clientWidth;
  panel.box.textContent = '';
  panel.draw(panel.box, panel.view);
  if (panel.more) note(panel.box, panel.more);
}
function drawAll() {
  while (undrawn.length) redraw(undrawn[0]);
}
/* Some in each turn: what the browser has no time for waits. */
function drawSome(deadline) {
  for (let some = 0; undrawn.length && (!some || deadline.timeRemaining() > 8); some++)
    redraw(undrawn[0]);
  if (undrawn.length) later(drawSome);
}
const later = window.requestIdleCallback ?
  (call) => window.requestIdleCallback(call, {timeout: 300}) :
  (call) => setTimeout(() => call({timeRemaining: () => 10}), 0);

/* A button, with a name for those who do not see where it stands. */
function addButton(tools, text, title, action) {
  tools.append('button').attr('type', 'button').attr('aria-label', title).attr('title', title)
    .text(text).on('click', action);
}

function addPanel(parent, {name, table: tableName, title, summary, view, draw, more, notes, open}) {
  const section = parent.append('section').attr('class', 'panel').attr('id', 'view-' + name)
    .attr('aria-labelledby', `view-${name}-heading`);
  const head = section.append('div').attr('class', 'head');
  head.append('h3').attr('id', `view-${name}-heading`).attr('tabindex', -1).text(title);
  head.append('a').attr('class', 'anchor').attr('href', '#view-' + name)
    .attr('aria-label', `Link to ${title}`).text('#');
  const tools = head.append('div').attr('class', 'files');
  if (summary) {
    const tells = section.append('p').attr('class', 'tells');
    tells.append('code').text(name);
    tells.append('span').text(' ' + summary);
  }
  const box = section.append('div').attr('class', 'drawing').node();
  const panel = {name, title, box, draw, more, section: section.node(), data: view,
    view: {columns: view.sums.columns, rows: recordsOf(view.sums),
      detail: recordsOf(view.detail)}};
  if (draw) {
    addButton(tools, 'SVG', `${title} as SVG`, () =>
      save(name + '.svg', new Blob([svgOf(box)], {type: 'image/svg+xml'})));
    addButton(tools, 'PNG', `${title} as PNG`, () =>
      pngOf(svgOf(box)).then((blob) => save(name + '.png', blob)));
    undrawn.push(panel);
  }
  addButton(tools, 'CSV', `${title} as CSV`, () =>
    save(name + '.csv', new Blob([csvOf(view.sums)], {type: 'text/csv'})));
  addTable(section, {name: tableName, of: title, title: 'Table', data: view.sums, notes,
    open});
  if (view.detail) {
    addTable(section, {name: tableName + '-detail', of: title, title: `In detail (${view.each})`,
      data: view.detail});
    addButton(tools, 'CSV of detail', `${title}, CSV of detail`, () =>
      save(name + '-detail.csv', new Blob([csvOf(view.detail)], {type: 'text/csv'})));
  }
  panels.set(name, panel);
  return panel;
}

function addGroup(title) {
  const group = d3.select('#es-views').append('section').attr('class', 'group-of-views');
  group.append('h2').text(title);
  return group.append('div').attr('class', 'panels');
}

/* Groups of views, and behind them those that nobody has told where to put. */
(function addViews() {
  const byName = new Map(run.views.map((view) => [view.name, view]));
  const named = new Set(d3.merge(GROUPS.map(([, names]) => names)));
  const others = run.views.map((view) => view.name).filter((name) => !named.has(name));
  for (const [title, names] of [...GROUPS, ['Other views', others]]) {
    const there = names.filter((name) => byName.has(name));
    if (!there.length) continue;
    const group = addGroup(title);
    for (const name of there) {
      const view = byName.get(name), known = PICTURES[name] || {};
      addPanel(group, {name, table: 'view-' + name, title: known.title || name,
        summary: view.summary, view, draw: drawingOf(view), more: known.more});
    }
  }
})();

/* View scripts. */
(function addScripts() {
  if (!run.panels.length) return;
  const group = addGroup('View scripts').attr('id', 'es-panels');
  run.panels.forEach((panel, i) => {
    const draw = chartOf(panel);
    addPanel(group, {name: `script-${i}`, table: `panel-${i}`, title: panel.title, open: true,
      view: {sums: panel}, draw, notes: run.window ? ['Of the whole run.'] : []});
  });
})();

if (undrawn.length) later(drawSome);
window.addEventListener('beforeprint', drawAll);
/* Pictures are as wide as their panels. */
let redrawn = 0;
window.addEventListener('resize', () => {
  cancelAnimationFrame(redrawn);
  redrawn = requestAnimationFrame(() => {
    for (const panel of panels.values())
      if (panel.draw && !undrawn.includes(panel) && panel.box.clientWidth !== panel.width)
        redraw(panel);
  });
});

/* Goes to a panel, with its picture there. */
function showPanel(name) {
  const panel = panels.get(name);
  if (!panel) return;
  drawAll();
  panel.section.scrollIntoView({block: 'start'});
  panel.section.querySelector('h3').focus({preventScroll: true});
}
