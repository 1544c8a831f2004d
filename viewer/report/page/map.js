/* map.js - the path map: zoom, figures, and links to the rest of the page and
 * back.
 *
 * The picture is SVG of viewer/draw/draw_measured.h, with its figures in
 * #map-data; a picture without them can be zoomed all the same. A node or line
 * is *chosen* by a click, by the keys n, p and Enter, or by a click on its name
 * in a table; what is chosen is told below the map, and its rows in all tables
 * are marked. Other scripts choose by pathMap.choose(names) and
 * pathMap.chooseThread(number), and hear of it by the event `es-chosen` of the
 * document, whose detail is {names, numbers}. */

/* Shows a node; of a map that could not be drawn, nothing. */
let showNode = () => {};
let mapNodes = []; /* [name, what stands for it] */

const pathMap = (function pathMap() {
  const nothing = {choose() {}, chooseThread() {}, chosen: () => [], shapeOf() {}};
  const box = id('map'), svg = d3.select('#es-map svg');
  if (svg.empty()) {
    for (const name of ['in', 'out', 'fit']) id('map-' + name).disabled = true;
    return nothing;
  }
  let figures = {nodes: {}, edges: {}};
  const measures = [['time', 'Time', duration], ['waiting', 'Waiting', duration],
    ['traffic', 'Traffic', size], ['operations', 'Operations', count]];

  /* --- zoom --- */

  /* What Graphviz drew goes into a group of its own that the zoom moves. */
  const picture = svg.node();
  const group = document.createElementNS('http://www.w3.org/2000/svg', 'g');
  while (picture.firstChild) group.appendChild(picture.firstChild);
  picture.appendChild(group);
  svg.attr('width', '100%').attr('height', '100%');
  const view = picture.viewBox.baseVal;
  const zoom = d3.zoom().scaleExtent([0.5, 200])
    .extent(() => [[view.x, view.y], [view.x + view.width, view.y + view.height]])
    .on('zoom', () => d3.select(group).attr('transform', d3.event.transform));
  svg.call(zoom).on('dblclick.zoom', null);

  /* A picture that would be too small to read as a whole begins at its top,
   * as large as drawn or as wide as the page. */
  const READABLE = 0.65; /* of the size in which it is drawn */
  (function begin() {
    const across = picture.clientWidth / view.width, down = picture.clientHeight / view.height;
    if (Math.min(across, down) >= READABLE) return;
    const k = Math.min(1, across) / Math.min(across, down);
    if (!(k > 1)) return;
    const middle = view.x + view.width / 2;
    svg.call(zoom.transform,
      d3.zoomIdentity.translate(middle * (1 - k), view.y * (1 - k)).scale(k));
  })();
  const larger = () => svg.call(zoom.scaleBy, 1.5), smaller = () => svg.call(zoom.scaleBy, 1 / 1.5);
  const whole = () => svg.call(zoom.transform, d3.zoomIdentity);
  onClick('map-in', larger);
  onClick('map-out', smaller);
  onClick('map-fit', whole);
  function pan(x, y) {
    const {k} = d3.zoomTransform(picture);
    svg.call(zoom.translateBy, x / k, y / k);
  }

  /* Moves the picture until this is in the middle, no smaller than it is. */
  function centre(found) {
    const at = found.getBBox(), k = Math.max(1, d3.zoomTransform(picture).k);
    const drawn = found.parentNode.getCTM(), own = group.getCTM();
    const middle = picture.createSVGPoint();
    middle.x = at.x + at.width / 2;
    middle.y = at.y + at.height / 2;
    const place = middle.matrixTransform(own.inverse().multiply(drawn));
    svg.call(zoom.transform, d3.zoomIdentity
      .translate(view.x + view.width / 2 - place.x * k, view.y + view.height / 2 - place.y * k)
      .scale(k));
  }
  function isSeen(shape) {
    const own = shape.getBoundingClientRect(), all = picture.getBoundingClientRect();
    return own.left >= all.left && own.right <= all.right && own.top >= all.top &&
      own.bottom <= all.bottom;
  }
  showNode = ({getShape}) => {
    const found = getShape();
    box.scrollIntoView({block: 'center'});
    centre(found);
    box.focus({preventScroll: true});
    for (const shape of shapes.values()) shape.classList.toggle('chosen', shape === found);
    if (partOf(found.id)) chooseKeys([found.id]);
  };

  /* --- what there is, by its names --- */

  const shapes = new Map(); /* id -> its group in the picture */
  const byName = new Map(), byNumber = new Map();
  let known = []; /* ids of nodes with figures */
  function take() {
    const data = group.querySelector('#map-data');
    if (data) figures = JSON.parse(data.textContent);
    for (const all of [shapes, byName, byNumber]) all.clear();
    for (const shape of group.querySelectorAll('g.node, g.edge'))
      shapes.set(shape.id, shape);
    known = [...shapes.keys()].filter((key) => figures.nodes[key]);
    for (const [key, node] of Object.entries(figures.nodes)) {
      for (const name of node.names) byName.set(name, key);
      for (const number of node.numbers || []) byNumber.set(number, key);
    }
    for (const [key, edge] of Object.entries(figures.edges))
      for (const name of edge.collectors) byName.set(name, key);
  }
  take();
  const nodeOf = (name) => ({getShape: () => shapes.get(byName.get(name))});
  mapNodes = known.length ?
    known.flatMap((key) => figures.nodes[key].names.map((name) => [name, nodeOf(name)])) :
    [...group.querySelectorAll('g.node')].map((node) =>
      [node.querySelector('title').textContent, {getShape: () => node}]);

  /* The same map by another measure, which may be folded in another way. */
  const others = new Map([...document.querySelectorAll('template[id^=es-map-by-]')]
    .map((template) => [template.id.replace('es-map-by-', ''), template.content.firstElementChild]));
  if (others.size) others.set('time', picture.cloneNode(false)).get('time')
    .append(...[...group.childNodes].map((node) => node.cloneNode(true)));
  else id('map-choice').hidden = true;
  function drawBy(by) {
    const names = chosen.flatMap(namesOf), next = others.get(by).cloneNode(true);
    while (group.firstChild) group.firstChild.remove();
    while (next.firstChild) group.appendChild(next.firstChild);
    svg.attr('viewBox', next.getAttribute('viewBox'));
    take();
    pointed = '';
    choose(names);
  }
  const partOf = (key) => figures.nodes[key] || figures.edges[key];
  const namesOf = (key) => partOf(key).names || partOf(key).collectors;

  /* --- figures --- */

  const told = d3.select(box.parentNode).append('div')
    .attr('id', 'es-map-figures').attr('class', 'map-figures').attr('aria-live', 'polite');
  const hint = 'Point at a thread, wrapper, element or line for its figures; a click keeps them ' +
    'and marks its rows in the tables. Keys: n and p from one to the next, Enter to choose, ' +
    'Escape to let go, + and \u2212, arrows, Home.';

  function titleOf(key) {
    const part = partOf(key), names = namesOf(key);
    if (figures.edges[key])
      return `from ${titleOf(part.from)} to ${titleOf(part.to)}`;
    const first = names[0], last = names[names.length - 1];
    return names.length === 1 ? `${part.kind} ${first}` :
      `${plural(names.length, part.kind)}, ${first} \u2026 ${last}`;
  }

  function tell(key) {
    told.selectAll('*').remove();
    if (!key) {
      told.append('p').attr('class', 'keys').text(hint);
      return;
    }
    const part = partOf(key);
    told.append('b').text(titleOf(key) + (part.process ? `, ${part.process.includes('\u2026') ? 'processes' : 'process'} ${part.process}` : ''));
    const rows = told.append('table').selectAll('tr')
      .data(measures.filter(([name]) => part[name])).enter().append('tr');
    rows.append('th').attr('scope', 'row').text(([, head]) => head);
    rows.append('td').text(([name, , text]) => text(part[name].total));
    rows.append('td').text(([name, , text]) => {
      const {min, max, most} = part[name];
      if (most === undefined) return '';
      return min === max ? `each ${text(min)}` :
        `each ${text(min)} to ${text(max)}, most ${most}`;
    });
    if ((part.numbers || []).length)
      told.append('button').attr('type', 'button').text('Show in the timeline')
        .on('click', () => showThread(mostOf(part)));
  }

  /* Of several threads the one that is worst by what the map shows. */
  function mostOf(part) {
    const most = part[figures.by] && part[figures.by].most;
    const at = part.names.indexOf(most);
    return part.numbers[at < 0 ? 0 : at];
  }

  /* --- choosing --- */

  let chosen = [], pointed = '';
  /* And the lines at them, with their other ends. */
  function neighbours(keys) {
    const near = new Set(keys);
    for (const [key, {from, to}] of Object.entries(figures.edges))
      if ([key, from, to].some((one) => keys.includes(one)))
        for (const one of [key, from, to]) near.add(one);
    return near;
  }
  function show() {
    const near = neighbours(chosen);
    svg.classed('has-chosen', chosen.length > 0);
    for (const [key, shape] of shapes) {
      shape.classList.toggle('chosen', chosen.includes(key));
      shape.classList.toggle('near', near.has(key));
      shape.classList.toggle('pointed', key === pointed);
    }
    tell(pointed || chosen[0]);
  }

  /* Rows of tables in which something chosen has a cell of its own. */
  function mark() {
    const names = new Set(chosen.flatMap(namesOf));
    for (const row of document.querySelectorAll('.rows tbody tr'))
      row.classList.toggle('in-map',
        names.size > 0 && [...row.cells].some((cell) => names.has(cell.textContent)));
  }
  function chooseKeys(keys) {
    chosen = keys.filter((key, i) => key && keys.indexOf(key) === i);
    show();
    mark();
    document.dispatchEvent(new CustomEvent('es-chosen', {detail: {
      names: chosen.flatMap(namesOf),
      numbers: chosen.flatMap((key) => partOf(key).numbers || [])}}));
  }
  /* From elsewhere: it may be where one does not see it. */
  function chooseSeen(keys) {
    chooseKeys(keys);
    if (chosen.length && !isSeen(shapes.get(chosen[0]))) centre(shapes.get(chosen[0]));
  }
  const choose = (names) => chooseSeen(names.map((name) => byName.get(name)));

  /* --- pointer and keys --- */

  const keyAt = (target) => {
    const shape = target.closest && target.closest('g.node, g.edge');
    return shape && partOf(shape.id) ? shape.id : '';
  };
  picture.addEventListener('pointerover', (event) => {
    const key = keyAt(event.target);
    if (key === pointed) return;
    pointed = key;
    show();
  });
  picture.addEventListener('pointerleave', () => {
    pointed = '';
    show();
  });
  svg.on('click', () => {
    if (d3.event.defaultPrevented) return; /* the end of a drag */
    const key = keyAt(d3.event.target);
    chooseKeys(key && !chosen.includes(key) ? [key] : []);
  });

  /* A table may be sorted by the same click, and has other rows then. */
  document.addEventListener('click', (event) => {
    const cell = event.target.closest && event.target.closest('.rows tbody td');
    if (cell && byName.has(cell.textContent)) choose([cell.textContent]);
    else if (chosen.length && event.target.closest('.rows')) mark();
  });

  function step(by) {
    if (!known.length) return;
    const at = known.indexOf(pointed || chosen[0]);
    pointed = known[(at + by + known.length + (at < 0 && by < 0 ? 1 : 0)) % known.length];
    show();
  }
  const keys = {
    ArrowLeft: () => pan(60, 0), ArrowRight: () => pan(-60, 0),
    ArrowUp: () => pan(0, 60), ArrowDown: () => pan(0, -60),
    '+': larger, '=': larger, '-': smaller, Home: whole,
    n: () => step(1), p: () => step(-1),
    Enter: () => chooseKeys(pointed ? [pointed] : []),
    Escape: () => { pointed = ''; chooseKeys([]); },
  };
  box.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !keys[event.key]) return;
    keys[event.key]();
    event.preventDefault();
  });

  id('map-by').addEventListener('change', () => drawBy(id('map-by').value));
  tell('');
  return {
    choose,
    chooseThread: (number) => chooseSeen([byNumber.get(number)]),
    chosen: () => chosen.flatMap(namesOf),
    shapeOf: (name) => shapes.get(byName.get(name)),
  };
})();
