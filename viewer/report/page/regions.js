/* regions.js - the regions of the program: a band below the bar of each thread,
 * those within others lower.
 *
 * A column of a band has the colour of the region in which the thread was at
 * one moment of that column's time. The moment moves from column to column, as
 * in low rows of bars (pointOf), so that the shares are right over some
 * columns. A time in a region that no moment falls into is seen all the same,
 * where nothing else is.
 *
 * Of a run with very many the file has, for some levels, how long a thread was in
 * which regions in each stretch of time, one behind the other (report_regions.c). */

/* --- regions: what there is --- */

const LEVELS_MAX = 4; /* deeper ones are told, and not drawn */
const BANDS_FROM = 10; /* pixels of a row: lower ones have no bands */
const COLOURS_MAX = d3.schemeTableau10.length - 1; /* the last is for the others */

const regions = await (async function unpack() {
  const {names, levels, sums, stretchNs} = run.regions;
  const total = d3.sum(levels, ([, , times]) => times);
  const all = {names, start: new Float64Array(total), end: new Float64Array(total),
    name: new Uint32Array(total), ns: sums, stretchNs, levels: 0};
  const next = await textsOf(run.regions, ['start', 'length', 'name']);
  let i = 0, start = run.startNs;
  for (const thread of run.threads) thread.bands = [];
  for (const [thread, depth, times, summed] of levels) {
    const band = {depth, first: i, last: i + times, summed};
    for (; i < band.last; i++) {
      start += signed(next.start());
      all.start[i] = start;
      all.end[i] = start + next.length();
      all.name[i] = next.name();
    }
    run.threads[thread].bands.push(band);
    all.levels = Math.max(all.levels, Math.min(LEVELS_MAX, depth + 1));
  }
  /* Those with the most time have colours of their own. */
  all.byTime = d3.range(names.length).sort((a, b) => all.ns[b] - all.ns[a] || a - b);
  all.rank = [];
  all.byTime.forEach((name, rank) => { all.rank[name] = Math.min(rank, COLOURS_MAX); });
  return all;
})();
const regionColours = d3.schemeTableau10.map((text) => d3.rgb(text));
const regionColour = (name) => regionColours[regions.rank[name]];

/* The first time of a band that ends behind a moment. */
function firstOfBand(band, ns) {
  let low = band.first, high = band.last;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (regions.end[middle] <= ns) low = middle + 1; else high = middle;
  }
  return low;
}

/* The times in regions in which a thread was at a moment, from the outermost. */
function regionsAt(thread, ns) {
  return thread.bands.map((band) => {
    const i = firstOfBand(band, ns);
    return {i, depth: band.depth, summed: band.summed, within: i < band.last && regions.start[i] <= ns};
  }).filter((found) => found.within);
}

/* --- regions: drawing --- */

/* How much of a row of this height the bands take. */
const bandsOf = (row) => !regions.levels || row < BANDS_FROM ? 0 :
  row * (0.2 + 0.1 * regions.levels);
/* From the top of the row to that of its bands. */
const barOf = (row) => row - gapOf(row) - bandsOf(row);
/* Which level a point of the row is in, y from its top; -1: in the bar. */
function levelAt(y, row) {
  const bands = bandsOf(row);
  if (!bands || y < barOf(row)) return -1;
  return Math.min(regions.levels - 1, Math.floor((y - barOf(row)) / bands * regions.levels));
}

/* The name in each column; -1: none. */
function takeBand(band, t0, scale, columns) {
  columns.fill(-1);
  for (let i = firstOfBand(band, t0); i < band.last; i++) {
    const from = Math.max(0, (regions.start[i] - t0) * scale);
    const to = Math.min(columns.length, (regions.end[i] - t0) * scale);
    if (from >= columns.length) break;
    const first = Math.floor(from);
    let seen = false;
    for (let x = first; x < to; x++) {
      const moment = x + pointOf(x, 0);
      if (moment < from || moment >= to) continue;
      columns[x] = regions.name[i];
      seen = true;
    }
    if (!seen && columns[first] < 0) columns[first] = regions.name[i];
  }
}

/* Paints the lines `from` to `to` of a picture, of which `begin` to `end` are
 * those of all bands. */
function paintBands(thread, t0, scale, pixel, columns, [begin, end], [from, to]) {
  const line = (level) => Math.round(begin + (end - begin) * level / regions.levels);
  const packed = regionColours.map(({r, g, b}) => pack([r, g, b]));
  for (const band of thread.bands) {
    if (band.depth >= regions.levels) continue;
    takeBand(band, t0, scale, columns);
    for (let y = Math.max(from, line(band.depth)); y < Math.min(to, line(band.depth + 1)); y++)
      for (let x = 0; x < columns.length; x++)
        if (columns[x] >= 0) pixel[y * columns.length + x] = packed[regions.rank[columns[x]]];
  }
}

/* --- regions: the legend --- */

(function legend() {
  const box = d3.select('#es-regions');
  const shown = regions.byTime.slice(0, COLOURS_MAX);
  for (const name of shown) add(regions.names[name], regionColour(name));
  const others = regions.names.length - shown.length;
  if (others) add(plural(others, 'other region'), regionColours[COLOURS_MAX]);
  if (regions.stretchNs) box.append('span').text(`where many are short: sums of each ` +
    `${duration(regions.stretchNs)}, one behind the other`);
  function add(text, colour) {
    const entry = box.append('span');
    entry.append('span').attr('class', 'key').style('background', colour);
    entry.append('span').text(' ' + text);
  }
})();
