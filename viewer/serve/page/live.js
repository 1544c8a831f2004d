/* live.js - the live page: what each thread does now, and below it the report
 * of the run so far, or of a part of it, made again as the run goes on.
 *
 * Frames come as server-sent events; see viewer/serve/serve_live.c. The report
 * is a page of its own in a frame of this one. The next one is loaded behind
 * the one that is seen, and takes its place when it is drawn: nothing flickers,
 * and what one has chosen in it (its address says that) and where one has
 * scrolled to stay as they are.
 *
 * Who looks at a part of the timeline does not want it to be replaced by
 * another one: while a report is zoomed, none takes its place.
 *
 * For tests and for the console, `window.eventspaceLive` has
 *   frame       the newest frame, as it came
 *   frames      how many have come
 *   reports(r)  how many reports of run r have been shown
 *   report(r)   `eventspaceReport` of the one that is shown; undefined: none
 *   history(r)  what threads did since the run began, as it came
 *   choosePart(r, startNs, endNs)  shows the report of that part
 *   paused, connected */
'use strict';

const id = (name) => document.getElementById(name);
const runs = [];
const live = {frame: null, frames: 0, paused: false, connected: false};

/* --- numbers as texts --- */

const number = new Intl.NumberFormat('en');
const count = (value) => number.format(value);
const share = (value) => (100 * value).toFixed(value < 0.1 ? 1 : 0) + ' %';
function duration(ns) {
  if (ns >= 60e9) return `${Math.floor(ns / 60e9)} min ${Math.round(ns % 60e9 / 1e9)} s`;
  return ns >= 1e9 ? (ns / 1e9).toFixed(1) + ' s' : (ns / 1e6).toFixed(1) + ' ms';
}

function element(parent, tag, className, text = '') {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.textContent = text;
  parent.append(made);
  return made;
}

/* --- the report of a run --- */

const REPORT_MS = 2000; /* between two, at least */

function partOf(run) {
  const last = id('last').value;
  if (last === 'part') return run.part && `from=${run.part[0]}ns&to=${run.part[1]}ns`;
  return last && `last=${last}`;
}

function addressOf(run) {
  const part = partOf(run);
  return `report?run=${run.number}${part ? '&' + part : ''}`;
}

/* The window of the report that is seen; null while there is none. */
const reportOf = (run) => run?.shown?.contentWindow?.eventspaceReport;
const hashOf = (run) => run.shown?.contentWindow?.location.hash || '';
/* Of this, what holds for any other report, too: light or dark. */
function schemeOf(run) {
  const scheme = new URLSearchParams(hashOf(run).slice(1)).get('scheme');
  return scheme ? `#scheme=${scheme}` : '';
}

function isZoomed(run) {
  const report = reportOf(run);
  if (!report || !run.whole) return false;
  const now = report.visibleRange();
  return now.startNs !== run.whole.startNs || now.endNs !== run.whole.endNs;
}

function showNext(run, next) {
  const scrolled = run.shown?.contentWindow?.scrollY || 0;
  run.shown?.remove();
  next.className = '';
  next.contentWindow.scrollTo(0, scrolled);
  run.shown = next;
  run.next = null;
  run.whole = reportOf(run)?.visibleRange();
  run.reports++;
  run.loaded = performance.now();
  run.say.hidden = true;
  id('closer').disabled = false;
}

function failNext(run, next) {
  run.say.textContent = next.contentDocument?.body?.textContent || 'The report did not come.';
  run.say.hidden = false;
  run.shown?.remove();
  run.shown = null;
  next.remove();
  run.next = null;
  run.over = false; /* it is asked for again */
  run.loaded = performance.now();
}

/* It has scripts that go on after it is loaded. What is not a report is a line
 * of text that says why. */
function lookAt(run, next) {
  if (run.next !== next) return;
  const report = next.contentDocument?.getElementById('es-data');
  if (!report) failNext(run, next);
  else if (next.contentWindow.eventspaceReport?.ready) showNext(run, next);
  else setTimeout(() => lookAt(run, next), 20);
}

/* `keep`: what is chosen in the report that is seen stays. */
function loadReport(run, keep) {
  run.next?.remove();
  const next = run.next = element(run.pages, 'iframe', 'next');
  run.frames = live.frames;
  next.title = `Report of ${run.name}`;
  next.addEventListener('load', () => lookAt(run, next));
  next.src = addressOf(run) + (keep ? hashOf(run) : schemeOf(run));
}

function isOver(run) {
  return live.frame.runs[run.number].frame.state === 'over';
}

/* Is there something that the report does not show? A part that was chosen is
 * not made again. */
function isOld(run) {
  if (run.over || live.frames === run.frames || run.next) return false;
  if (id('last').value === 'part' && run.shown) return false;
  return performance.now() - run.loaded >= REPORT_MS;
}

function keepUp(run) {
  if (live.paused || document.hidden || !isOld(run) || isZoomed(run)) return;
  run.over = isOver(run); /* then this is the last one */
  loadReport(run, true);
}

/* Another run has taken its place. */
function beginAgain(run, again) {
  const isOther = run.again !== undefined && run.again !== again;
  run.again = again;
  if (!isOther) return;
  id('last').value = '';
  run.chosen = run.part = null;
  run.over = false;
  loadReport(run, false);
}

/* --- what it does now --- */

function stateText(run) {
  const {frame, processes} = run;
  const lost = processes.reduce((sum, process) => sum + process.events_lost, 0);
  const recorded = processes.reduce((sum, process) => sum + process.events_recorded, 0);
  const rate = processes.reduce((sum, process) => sum + process.events_per_s, 0);
  return `${frame.state === 'over' ? 'Over' : 'Running'}, ${duration(frame.lasted_ns)}; ` +
    `${count(recorded)} events, ${count(Math.round(rate))} a second, ${count(lost)} lost; ` +
    `watching takes ${share(frame.watching.processor_share)} of a processor`;
}

function illTexts(now) {
  const ill = now.processes.filter(({state}) => !['running', 'finished'].includes(state))
    .map(({process, state, problem}) => `${process}: ${state}${problem ? ', ' + problem : ''}`);
  for (const p of now.pending.slice(0, 3))
    ill.push(`${p.thread} is in ${p.verb} ${p.path} for ${duration(p.for_ns)}` +
      (p.waits_for ? `, waiting for ${p.waits_for}` : ''));
  return ill;
}

function showNow(run, now) {
  run.facts.textContent = stateText(now);
  run.ill.textContent = illTexts(now).join('; ');
}

/* --- all of it so far, in one strip --- */

const STRIP_MAX = 160; /* CSS pixels */
const REREAD_MS = 500; /* while a run that was long before is read */

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name);

/* The bins between the first and the last in which a thread did anything. */
function lifeOf(bins) {
  return [bins.findIndex((ns) => ns > 0), bins.findLastIndex((ns) => ns > 0)];
}

/* A bin is a stack: from the bottom communicating, then the rest of it. What
 * is not read yet is left out. */
function drawThread(context, bins, scale, top, height) {
  const [first, last] = lifeOf(bins);
  if (first < 0) return;
  context.fillStyle = css('computing');
  const until = Math.min(last + 1, scale.read);
  context.fillRect(first * scale.width, top, Math.max(0, until - first) * scale.width, height);
  context.fillStyle = css('communicating');
  for (let i = first; i <= last; i++) {
    const part = bins[i] / scale.bin_ns * height;
    context.fillRect(i * scale.width, top + height - part, scale.width + 0.5, part);
  }
}

function drawChosen(context, run, width, height) {
  if (!run.chosen) return;
  const [from, to] = run.chosen.map((ns) => ns / run.span * width);
  context.strokeStyle = css('chosen');
  context.lineWidth = 2;
  context.strokeRect(from, 1, Math.max(2, to - from), height - 2);
}

function drawStrip(run) {
  const {threads, bin_ns, read_ns} = run.history;
  const canvas = run.strip, ratio = window.devicePixelRatio || 1;
  const row = Math.max(2, Math.min(16, STRIP_MAX / threads.length));
  const width = canvas.clientWidth, height = Math.min(STRIP_MAX, row * threads.length);
  canvas.style.height = height + 'px';
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.fillStyle = css('nothing');
  context.fillRect(0, 0, width, height);
  run.span = bin_ns * Math.max(1, threads[0]?.communicating_ns.length || 0);
  const scale = {bin_ns, width: width / run.span * bin_ns,
    read: read_ns === null ? Infinity : read_ns / bin_ns};
  const each = height / threads.length;
  threads.forEach(({communicating_ns}, i) =>
    drawThread(context, communicating_ns, scale, i * each, each > 4 ? each - 1 : each));
  drawChosen(context, run, width, height);
}

async function takeHistory(run) {
  if (run.asks) return;
  run.asks = true;
  try {
    const answer = await fetch(`history?run=${run.number}`);
    if (!answer.ok) return;
    run.history = await answer.json();
    run.strip.hidden = !run.history.threads.length;
    if (!live.paused) drawStrip(run);
    if (run.history.read_ns !== null) setTimeout(takeHistory, REREAD_MS, run);
  } catch { /* there will be another one */
  } finally {
    run.asks = false;
  }
}

function choose(run, from, to) {
  const inside = (ns) => Math.max(0, Math.min(run.span, ns));
  run.chosen = [inside(Math.min(from, to)), inside(Math.max(from, to))];
  run.strip.setAttribute('aria-valuetext',
    `from ${duration(run.chosen[0])} to ${duration(run.chosen[1])}`);
  drawStrip(run);
}

/* Dragging chooses a part. */
function watchPointer(run) {
  const at = ({clientX}) => {
    const box = run.strip.getBoundingClientRect();
    return (clientX - box.left) / box.width * run.span;
  };
  let from = null;
  run.strip.addEventListener('pointerdown', (event) => {
    run.strip.setPointerCapture(event.pointerId);
    from = at(event);
  });
  run.strip.addEventListener('pointermove', (event) => {
    if (from !== null) choose(run, from, at(event));
  });
  run.strip.addEventListener('pointerup', (event) => {
    if (from === null) return;
    choose(run, from, at(event));
    from = null;
    if (run.chosen[1] - run.chosen[0] > run.span / 1000) choosePart(run, ...run.chosen);
  });
}

/* And so do the arrows: left and right move the part, up and down make it wider
 * and narrower. */
function watchKeys(run) {
  run.strip.addEventListener('keydown', (event) => {
    const step = run.span / 50;
    const [from, to] = run.chosen || [0, run.span / 10];
    const parts = {
      ArrowLeft: [from - step, to - step], ArrowRight: [from + step, to + step],
      ArrowUp: [from - step, to + step], ArrowDown: [from + step, to - step],
    };
    if (event.key === 'Enter' && run.chosen) choosePart(run, ...run.chosen);
    else if (parts[event.key] && parts[event.key][0] < parts[event.key][1])
      choose(run, ...parts[event.key]);
    else return;
    event.preventDefault();
  });
}

/* --- frames --- */

const EVENTS_MAX = 5e6; /* of a report that nobody has asked for */
const EVENTS_OF_END = 1e6; /* of one of the end of a run that has more */

/* Of what is over one wants to see all, unless that is so much that it takes
 * long: then the end of it is shown, and the strip has all. */
function chooseFirst() {
  if (!runs.every(isOver)) return;
  let small = true;
  for (const run of runs) {
    const {frame, processes} = live.frame.runs[run.number];
    const recorded = processes.reduce((sum, process) => sum + process.events_recorded, 0);
    small &&= recorded <= EVENTS_MAX;
    run.part = [Math.floor(frame.lasted_ns * Math.max(0, 1 - EVENTS_OF_END / recorded)),
      frame.lasted_ns];
  }
  id('last').value = small ? '' : 'part';
}

function takeFrame(event) {
  live.frame = JSON.parse(event.data);
  if (live.frames++ === 0) chooseFirst();
  if (live.paused) return;
  for (const run of runs) {
    beginAgain(run, live.frame.again[run.number]);
    showNow(run, live.frame.runs[run.number]);
    if (!document.hidden) takeHistory(run);
    keepUp(run);
  }
}

const AGAIN_MS = 5000;
function connect() {
  const source = new EventSource('live');
  source.addEventListener('open', () => { live.connected = true; sayState(); });
  source.addEventListener('error', () => {
    live.connected = false;
    sayState();
    /* A browser does not try again by itself what was refused. */
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, AGAIN_MS);
  });
  source.addEventListener('frame', takeFrame);
}

function sayState() {
  id('state').textContent = !live.connected
    ? 'No connection to eventspace serve: what is shown stays. Trying again.'
    : live.paused ? 'Paused.' : 'Following.';
}

/* --- what one can press --- */

function reloadAll() {
  for (const run of runs) {
    run.over = false;
    loadReport(run, false);
  }
}

function pause() {
  live.paused = !live.paused;
  id('pause').setAttribute('aria-pressed', live.paused);
  sayState();
  if (live.paused || !live.frame) return;
  for (const run of runs) {
    beginAgain(run, live.frame.again[run.number]);
    showNow(run, live.frame.runs[run.number]);
    if (isZoomed(run)) loadReport(run, false);
    else keepUp(run);
  }
}

/* The report of just what is seen of the timeline, with all its detail. */
function lookCloser() {
  for (const run of runs) {
    const range = reportOf(run)?.visibleRange();
    if (range) choosePart(run, range.startNs, range.endNs);
  }
}

function choosePart(run, startNs, endNs) {
  run.part = [Math.max(0, Math.floor(startNs)), Math.max(0, Math.ceil(endNs))];
  id('last').value = 'part';
  run.over = false;
  loadReport(run, false);
}

id('pause').addEventListener('click', pause);
id('last').addEventListener('change', reloadAll);
id('closer').addEventListener('click', lookCloser);

/* --- begin --- */

function addRun({name}, number) {
  const box = element(id('runs'), 'section', 'run');
  const now = element(box, 'div', 'now');
  element(now, 'h2', '', name);
  const run = {
    name, number, reports: 0, loaded: -Infinity, frames: 0,
    facts: element(now, 'p', 'facts'),
    ill: element(now, 'p', 'ill'),
    strip: element(now, 'canvas', 'strip'),
    pages: element(box, 'div', 'pages'),
  };
  Object.entries({role: 'slider', tabindex: 0, 'aria-valuetext': 'no part is chosen',
    'aria-valuenow': 0, 'aria-label': `All of ${name} so far: drag to choose a part, or use ` +
      'the arrows and Enter'}).forEach(([key, value]) => run.strip.setAttribute(key, value));
  run.strip.hidden = true;
  watchPointer(run);
  watchKeys(run);
  const legend = element(now, 'p', 'legend');
  for (const [key, text] of [['communicating', 'in operations that have ended'],
    ['computing', 'between them'], ['nothing', 'before, after, or not ended yet']]) {
    element(legend, 'span', `key ${key}`);
    legend.append(text);
  }
  legend.append('. Drag to choose a part.');
  run.say = element(run.pages, 'p', '', 'The report is being made\u2026');
  runs.push(run);
}

async function begin() {
  try {
    const answer = await fetch('runs');
    (await answer.json()).forEach(addRun);
  } catch {
    sayState();
    setTimeout(begin, AGAIN_MS);
    return;
  }
  connect();
}

window.eventspaceLive = {
  get frame() { return live.frame; },
  get frames() { return live.frames; },
  get paused() { return live.paused; },
  get connected() { return live.connected; },
  reports: (number) => runs[number].reports,
  report: (number) => reportOf(runs[number]),
  history: (number) => runs[number]?.history,
  choosePart: (number, startNs, endNs) => choosePart(runs[number], startNs, endNs),
};
begin();
