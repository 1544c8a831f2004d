// changes_plans.mjs - programs, and changes of them, made up from a number.
//
//   thread    one thread takes longer or shorter for all it does
//   threads   two of them
//   balance   work that is spread over threads by chance is divided equally
//   peers     a thread that takes longer in one phase takes as long as others
//   hop       a slow link becomes faster
//   room      a full element gets room
//
// planOf(kind, seed) gives two plans, and the options of `eventspace whatif` for
// what is between them.
import {generator, planFrom} from './planted_plans.mjs';

const MS = 1e6;

export const changes = ['thread', 'threads', 'balance', 'peers', 'hop', 'room'];

const pathOf = {barrier: 'gate', sum: 'total', ring: 'right'};

function programOf(random, patterns) {
  const within = (low, high) => low + Math.floor(random() * (high - low + 1));
  const threads = within(4, 7), steps = within(14, 20);
  const phases = patterns.map(name => ({name, path: pathOf[name]}));
  const work = Array.from({length: threads}, () =>
    Array.from({length: steps}, () =>
      phases.map(() => within(8 * MS, 16 * MS))));
  return {within, threads, steps, phases, processes: within(1, 2), work};
}

const scaled = (work, by) => work.map((steps, t) =>
  steps.map(phases => phases.map(ns => Math.round(ns * by(t)))));

const makers = {
  thread(random) {
    const b = programOf(random, ['ring', 'sum', 'barrier']);
    const thread = b.within(0, b.threads - 1), factor = b.within(3, 18) / 10;
    return {b, options: [`--thread=t${thread}:sleep=${factor}`],
            work: scaled(b.work, t => t === thread ? factor : 1)};
  },

  threads(random) {
    const b = programOf(random, ['barrier', 'ring']);
    const one = b.within(0, b.threads - 1);
    const other = (one + b.within(1, b.threads - 1)) % b.threads;
    const factors = [b.within(2, 8) / 10, b.within(10, 16) / 10];
    return {b, options: [`--thread=t${one}:sleep=${factors[0]}`,
                         `--thread=t${other}:sleep=${factors[1]}`],
            work: scaled(b.work, t => t === one ? factors[0]
              : t === other ? factors[1] : 1)};
  },

  balance(random) {
    const b = programOf(random, ['sum']);
    const work = b.work.map(steps => steps.map(phases => [...phases]));
    for (let s = 0; s < b.steps; s++) {
      const mean = b.work.reduce((sum, steps) => sum + steps[s][0], 0) / b.threads;
      work.forEach(steps => steps[s][0] = Math.round(mean));
    }
    return {b, options: ['--balance=total'], work};
  },

  peers(random) {
    const b = programOf(random, ['sum', 'ring']);
    const thread = b.within(0, b.threads - 1), phase = b.within(0, 1);
    const extra = b.within(6 * MS, 20 * MS);
    const work = b.work.map(steps => steps.map(() => [12 * MS, 10 * MS]));
    b.work = work.map((steps, t) => steps.map(phases => phases.map((ns, p) =>
      t === thread && p === phase ? ns + extra : ns)));
    return {b, options: [`--thread=t${thread}:compute=peers`], work};
  },

  hop(random) {
    const b = programOf(random, ['barrier', 'sum']);
    const before = b.within(40, 80) / 10, factor = b.within(2, 7) / 10;
    const link = ms => `h0 -> h1 [latency="${ms.toFixed(3)}ms", simulate=true];`;
    b.processes = 2;
    return {b, options: [`--hop=h0-h1:latency=${factor}`],
            work: b.work, links: [link(before), link(before * factor)]};
  },

  room(random) {
    const b = programOf(random, ['burst', 'barrier']);
    const writer = b.within(0, b.threads - 1);
    const reader = (writer + b.within(1, b.threads - 1)) % b.threads;
    const count = b.within(5, 8), pause = b.within(16, 28) * MS / count;
    const after = pause * count * (0.7 + 0.5 * random());
    b.burst = {writer, reader, count, pause: Math.round(pause)};
    b.work = b.work.map((steps, t) => steps.map(() =>
      [MS, Math.round(t === writer ? after : t === reader ? MS : pause * count)]));
    return {b, options: ['--element=box:room=unlimited'], work: b.work,
            capacities: [1, 64]};
  },
};

export function planOf(kind, seed) {
  const random = generator(seed * 16 + changes.indexOf(kind) + 7);
  const {b, options, work, links = [], capacities = []} = makers[kind](random);
  const plan = (its, i) => planFrom(b, {work: its, burst: b.burst,
                                        cluster: links[i],
                                        capacity: capacities[i]});
  return {base: plan(b.work, 0), changed: plan(work, 1), options};
}
