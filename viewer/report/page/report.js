/* report.js - begins, when the other scripts have said what there is.
 *
 * For tests and for the console, `window.eventspaceReport` has
 *   ready            true once the first picture is there
 *   loadMs           from the start of the page to that moment
 *   prepared         what the first zooms need has been made
 *   threads          [{name, process, operations, startNs, endNs ...}]
 *   operationCount
 *   intervals(t)     the operations of thread number t, as objects
 *   selectStep(k)    chooses a step (0: none);  selectedStep() tells it
 *   visibleRange()   {startNs, endNs, firstRow, lastRow, rowHeight}
 *   setVisibleRange(startNs, endNs)
 *   reset()          shows everything
 *   inBins           how many operations are in bins only; `parts`: [from, to]
 *                    of the others; `bins`, or null
 *   rows             [{threads, folded}]; `folding` tells by what, foldRows(by)
 *                    changes it, unfold(r) unfolds a row or folds it again
 *   arrowsOf(i)      to and from an operation: [{from, to}], {thread, ns} each;
 *                    operationAt(t, ns) finds it
 *   links            of the critical path;  fronts: when threads were in steps
 *   show(name, on)   critical, arrows or fronts
 *   takeTimeline(told)  shows what a server has told
 *                    (viewer/timeline/timeline_json.c)
 *   timelinePicture()  a canvas with all of it
 *   rowOf(t)         {top, height}: the row of a thread, in CSS pixels of the
 *                    canvas;  xOf(ns), nsAt(x) likewise
 *   colours          the colours of the bars, as [r, g, b]
 *   regionNames      names of regions
 *   regionsOf(t)     the times of thread t in regions, as objects
 *   bandOf(t, level) {top, height}: a band of a thread
 *   regionColour(name)  [r, g, b], of the place of a name
 *   at(x, y)         what the pointer would say there
 *   map              the path map: see map.js
 *   pending          what threads were in at the end
 *   waitsKnown       waiting is told apart from transferring
 *   offKnown         being off the processor is told apart from computing
 *   draw()           draws now rather than in the next frame
 *   panels           [{name, title, table, detail}]: those of views and scripts;
 *                    a table is {columns, rows, count, every}
 *   drawPanels()     draws all that are not drawn yet
 *   svgOf(name), csvOf(name), pngOf(name)  files of a panel, the last a promise
 *   find(words)      what a search finds: [{text, kind}] */

for (const part of document.querySelectorAll('[data-waits]'))
  part.hidden = (part.dataset.waits === 'known') !== run.waitsKnown;
for (const part of document.querySelectorAll('[data-off]'))
  part.hidden = (part.dataset.off === 'known') !== run.offKnown;
for (const part of document.querySelectorAll('[data-regions]'))
  part.hidden = !regions.names.length;
/* Colours that do not occur are not in the legend. */
for (const part of document.querySelectorAll('[data-occurs]'))
  part.hidden ||= !occurs[part.dataset.occurs];
takeColours();
reset();
draw();
restore();
prepare();

window.eventspaceReport = {
  ready: true,
  loadMs: performance.now(),
  get prepared() { return !preparing; },
  threads: run.threads,
  operationCount: operations.count,
  inBins,
  get parts() { return parts; },
  get bins() { return bins; },
  get rows() { return rows; },
  get folding() { return folding.by; },
  foldRows,
  unfold,
  arrowsOf,
  operationAt: (number, ns) => operationAt(run.threads[number], ns, 1),
  get links() { return links; },
  fronts,
  show(name, on) {
    if (shown[name] !== on) toggleShown(name);
  },
  takeTimeline: async (told) => {
    await takeTimeline(told);
    released = null;
    binsOfRows.clear();
    schedule();
  },
  timelinePicture,
  pending: run.pending,
  map: pathMap,
  waitsKnown: run.waitsKnown,
  offKnown: run.offKnown,
  intervals(number) {
    const thread = run.threads[number];
    return d3.range(thread.first, thread.last).map((i) => ({
      startNs: operations.start[i], endNs: operations.end[i],
      step: operations.step[i], bytes: operations.bytes[i],
      status: operations.status[i], text: operationText(i),
      releasedNs: operations.released[i], waitsFor: operations.waitsFor[i],
      runnableNs: operations.runnable[i], sleepingNs: operations.sleeping[i],
    }));
  },
  selectStep,
  selectedStep: () => view.chosen,
  visibleRange: () => ({
    startNs: view.t0, endNs: view.t1,
    firstRow: Math.floor(view.top / view.row),
    lastRow: Math.min(rows.length, Math.ceil((view.top + height) / view.row)) - 1,
    rowHeight: view.row,
  }),
  setVisibleRange(startNs, endNs) {
    view.t0 = startNs;
    view.t1 = endNs;
    keepInside();
    schedule();
  },
  reset,
  rowOf: (number) => ({top: rowOfThread[number] * view.row - view.top, height: view.row}),
  regionNames: regions.names,
  stretchNs: regions.stretchNs,
  regionsOf: (number) => run.threads[number].bands.flatMap((band) =>
    d3.range(band.first, band.last).map((i) => ({depth: band.depth, name: regions.name[i],
      startNs: regions.start[i], endNs: regions.end[i]}))),
  bandOf(number, level) {
    const height = bandsOf(view.row) / regions.levels;
    const top = rowOfThread[number] * view.row - view.top + barOf(view.row);
    return {top: top + level * height, height};
  },
  regionColour(name) {
    const {r, g, b} = regionColour(name);
    return [r, g, b];
  },
  xOf,
  nsAt,
  get colours() { return colours; },
  at: (x, y) => {
    const found = at(x, y);
    return found && describe(found);
  },
  draw,
  panels: [...panels.values()].map(({name, title, data}) =>
    ({name, title, table: data.sums, detail: data.detail})),
  drawPanels: drawAll,
  svgOf: (name) => svgOf(panels.get(name).box),
  pngOf: (name) => pngOf(svgOf(panels.get(name).box)),
  csvOf: (name) => csvOf(panels.get(name).data.sums),
  find: (words) => find(words).map(({text, kind}) => ({text, kind})),
};
