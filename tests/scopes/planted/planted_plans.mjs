// planted_plans.mjs - programs with one cause of lost time that is known, made
// up from a number; and the same programs without it.
//
//   slow       a thread computes longer than the others before one phase
//   imbalance  all threads compute for different times before one phase
//   late       a thread comes late to a collective, in one step of four
//   shared     two threads that need a processor have the same one
//   element    a writer waits for room in the middle of each step, while it
//              has other things to do
//   hop        between two of three processes there is a slow link
//
// plan(kind, seed, isPlanted) gives the text for planted.c, three mappings for
// `eventspace map generate`, attributes of processes, and what is true.

const MS = 1e6;

export const kinds = ['slow', 'imbalance', 'late', 'shared', 'element', 'hop'];

export function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = state;
    x = Math.imul(x ^ (x >>> 15), x | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
}

const pathOf = {barrier: 'gate', sum: 'total', ring: 'right'};

// The base that all kinds have in common: all threads compute alike.
function baseOf(random, kind) {
  const draw = (low, high) => low + Math.floor(random() * (high - low + 1));
  const shuffled = list => list.map(item => [random(), item])
    .sort((a, b) => a[0] - b[0]).map(([, item]) => item);
  const threads = draw(4, 7), steps = draw(14, 20);
  const patterns = kind === 'element' ? [shuffled(['barrier', 'sum'])[0]]
    : shuffled(['barrier', 'sum', 'ring']).slice(0, draw(1, 3));
  const meeting = patterns.findIndex(name => name !== 'ring');

  if (kind === 'late' && meeting < 0)
    patterns.push('barrier');
  return {
    draw, shuffled, threads, steps,
    phases: patterns.map(name => ({name, path: pathOf[name],
                                   work: draw(8, 16) * MS})),
    processes: kind === 'hop' || kind === 'shared' ? 3 : draw(1, 2),
  };
}

const works = (b, extra) => Array.from({length: b.threads}, (_, t) =>
  Array.from({length: b.steps}, (_, s) => b.phases.map((phase, p) =>
    Math.round(phase.work + extra(t, s, p)))));

const makers = {
  slow(b, random, isPlanted) {
    const thread = b.draw(0, b.threads - 1), phase = b.draw(0, b.phases.length - 1);
    const extra = Math.max(6 * MS, b.phases[phase].work * (0.3 + random()));
    return {
      work: works(b, (t, s, p) =>
        isPlanted && t === thread && p === phase ? extra : 0),
      truth: {cause: 'slow thread', thread: `t${thread}`,
              before: b.phases[phase].path},
    };
  },

  imbalance(b, random, isPlanted) {
    const phase = b.draw(0, b.phases.length - 1);
    const spread = Math.max(10 * MS, b.phases[phase].work * (0.7 + random()));
    const ranks = b.shuffled(Array.from({length: b.threads}, (_, t) => t));
    return {
      work: works(b, (t, s, p) => p !== phase ? 0
        : isPlanted ? spread * ranks[t] / (b.threads - 1) : spread / 2),
      truth: {cause: 'imbalance', before: b.phases[phase].path},
    };
  },

  late(b, random, isPlanted) {
    const thread = b.draw(0, b.threads - 1), turn = b.draw(0, 3);
    const phase = b.phases.findIndex(({name}) => name !== 'ring');
    const extra = b.phases.reduce((sum, {work}) => sum + work, 0) *
      (1 + random());
    return {
      work: works(b, (t, s, p) =>
        isPlanted && t === thread && p === phase && s % 4 === turn ? extra : 0),
      truth: {cause: 'late arriver', thread: `t${thread}`,
              before: b.phases[phase].path},
    };
  },

  shared(b, random, isPlanted) {
    const first = b.draw(0, 1);
    return {
      work: works(b, () => 0), busy: [0, 1], shares: isPlanted,
      places: ['t0 -> h1; t1 -> h2;',
               ...Array.from({length: b.threads - 2}, (_, i) =>
                 `t${i + 2} -> h0;`)],
      affinity: {h1: first, h2: isPlanted ? first : 1 - first},
      truth: {cause: 'shared processor'},
    };
  },

  // The reader is done with the burst at about the time when the writer is done
  // with what it has to do after it.
  element(b, random, isPlanted) {
    const [writer, reader] = b.shuffled(
      Array.from({length: b.threads}, (_, t) => t));
    const count = b.draw(5, 8), pause = b.draw(16, 28) * MS / count;
    const after = pause * count * (0.7 + 0.5 * random());
    const [{name, path}] = b.phases;
    b.phases = [{name: 'burst', work: MS}, {name, path, work: pause * count}];
    return {
      burst: {writer, reader, count, pause: Math.round(pause)},
      capacity: isPlanted ? 1 : 64,
      work: works(b, (t, s, p) => p === 1 && t === writer ? after - pause * count
        : p === 1 && t === reader ? MS - pause * count : 0),
      truth: {cause: 'small element', where: 'box'},
    };
  },

  hop(b, random, isPlanted) {
    const pairs = [[0, 1], [0, 2]];
    const [one, other] = pairs[b.draw(0, 1)];
    const latency = b.draw(30, 80) / 10;
    return {
      work: works(b, () => 0),
      cluster: isPlanted
        ? `h${one} -> h${other} [latency="${latency}ms", simulate=true];` : '',
      truth: {cause: 'delayed hop', between: [`h${one}`, `h${other}`]},
    };
  },
};

function application(b, made) {
  const all = Array.from({length: b.threads}, (_, t) => t);
  const lines = all.map(t => `t${t} [kind=thread, number=${t}];`);
  const meet = (element, type, use) => {
    lines.push(`${element} [kind=element, type="${type}", policy=discard,` +
      ` waiting=sleep];`);
    all.forEach(t => lines.push(`t${t} -> ${element} [use=${use}];`));
  };

  meet('start', 'bytes[8]', 'barrier');
  for (const {name} of b.phases) {
    if (name === 'barrier')
      meet('gate', 'bytes[8]', 'barrier');
    else if (name === 'sum')
      meet('total', 'f64', 'sum');
    else if (name === 'ring')
      for (const t of all)
        lines.push(`ring${t} [kind=element, type="f64", capacity=64];`,
                   `t${t} -> ring${t} [use=write, as=right];`,
                   `t${(t + 1) % b.threads} -> ring${t} [use=read, as=left];`);
    else
      lines.push(`box [kind=element, type="f64", capacity=${made.capacity}];`,
                 `t${made.burst.writer} -> box [use=write];`,
                 `t${made.burst.reader} -> box [use=read];`);
  }
  return `digraph planted {\n${lines.join('\n')}\n}\n`;
}

function cluster(b, made) {
  const processes = Array.from({length: b.processes}, (_, i) => {
    const at = made.affinity?.[`h${i}`];
    return `h${i}${at === undefined ? '' : ` [affinity="${at}"]`};`;
  });
  return `digraph cluster {\n${processes.join(' ')}\n${made.cluster ?? ''}\n}\n`;
}

// Where collectives meet: in the first process.
function placement(b, made) {
  const meetings = ['start', ...b.phases
    .filter(({name}) => name === 'barrier' || name === 'sum')
    .map(({path}) => path)];
  return `digraph placement {\n${(made.places ?? []).join('\n')}\n` +
    `${meetings.map(name => `${name} -> h0;`).join(' ')}\n}\n`;
}

function text(b, made) {
  const phases = b.phases.map(({name}) => name !== 'burst' ? name
    : [name, made.burst.writer, made.burst.reader, made.burst.count,
       made.burst.pause].join(' '));
  const threads = made.work.map((steps, t) =>
    [made.busy?.includes(t) ? 'b' : 's', ...steps.flat()].join(' '));
  return [[b.threads, b.steps, b.phases.length].join(' '), ...phases,
          ...threads].join('\n') + '\n';
}

// How long the steps take where communicating takes no time. Threads that share
// a processor take turns.
function idealOf(b, made) {
  const at = made.work.map(() => 0);
  const share = t => made.shares && made.busy.includes(t) ? 2 : 1;
  const burst = () => {
    const {writer, reader, count, pause} = made.burst;
    const taken = [];
    for (let i = 0, written = at[writer]; i < count; i++) {
      if (i >= made.capacity)
        written = Math.max(written, taken[i - made.capacity]);
      at[writer] = written;
      taken.push(at[reader] = Math.max(at[reader], written));
      at[reader] += pause;
    }
  };

  for (let s = 0; s < b.steps; s++) {
    b.phases.forEach(({name}, p) => {
      made.work.forEach((steps, t) => at[t] += share(t) * steps[s][p]);
      if (name === 'burst')
        burst();
      else if (name === 'ring')
        at.map((own, t) => Math.max(own, at.at(t - 1)))
          .forEach((own, t) => at[t] = own);
      else
        at.fill(Math.max(...at));
    });
  }
  return Math.max(...at);
}

// Of a base of threads, steps, phases and processes, and what is made of it.
export function planFrom(b, made) {
  return {threads: b.threads, ideal: idealOf(b, made), busy: made.busy ?? [],
          truth: made.truth, processes: b.processes, text: text(b, made),
          application: application(b, made), cluster: cluster(b, made),
          placement: placement(b, made)};
}

export function plan(kind, seed, isPlanted) {
  const random = generator(seed * 16 + kinds.indexOf(kind) + 1);
  const b = baseOf(random, kind);
  return planFrom(b, makers[kind](b, random, isPlanted));
}
