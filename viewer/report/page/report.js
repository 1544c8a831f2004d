/* report.js - begins, when the other scripts have said what there is.
 *
 * For tests and for the console, `window.eventspaceReport` has
 *   ready            true once the first picture is there
 *   loadMs           from the start of the page to that moment
 *   threads          [{name, process, operations, startNs, endNs ...}]
 *   operationCount
 *   intervals(t)     the operations of thread number t, as objects
 *   selectStep(k)    chooses a step (0: none);  selectedStep() tells it
 *   visibleRange()   {startNs, endNs, firstRow, lastRow, rowHeight}
 *   setVisibleRange(startNs, endNs)
 *   reset()          shows everything
 *   rowOf(t)         {top, height}: the row of a thread, in CSS pixels of the
 *                    canvas;  xOf(ns), nsAt(x) likewise
 *   colours          the colours of the bars, as [r, g, b]
 *   at(x, y)         what the pointer would say there
 *   pending          what threads were in at the end
 *   waitsKnown       waiting is told apart from transferring
 *   draw()           draws now rather than in the next frame */

for (const part of document.querySelectorAll('[data-waits]'))
  part.hidden = (part.dataset.waits === 'known') !== run.waitsKnown;
takeColours();
reset();
draw();

window.eventspaceReport = {
  ready: true,
  loadMs: performance.now(),
  threads: run.threads,
  operationCount: operations.count,
  pending: run.pending,
  waitsKnown: run.waitsKnown,
  intervals(number) {
    const thread = run.threads[number];
    return d3.range(thread.first, thread.last).map((i) => ({
      startNs: operations.start[i], endNs: operations.end[i],
      step: operations.step[i], bytes: operations.bytes[i],
      status: operations.status[i], text: operationText(i),
      releasedNs: operations.released[i], waitsFor: operations.waitsFor[i],
    }));
  },
  selectStep,
  selectedStep: () => view.chosen,
  visibleRange: () => ({
    startNs: view.t0, endNs: view.t1,
    firstRow: Math.floor(view.top / view.row),
    lastRow: Math.min(order.length, Math.ceil((view.top + height) / view.row)) - 1,
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
  xOf,
  nsAt,
  get colours() { return colours; },
  at: (x, y) => {
    const found = at(x, y);
    return found && describe(found);
  },
  draw,
};
