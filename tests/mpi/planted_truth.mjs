// planted_truth.mjs - what is true of a run of planted.c. Nothing of EventSpace
// is used.
//
// A run is replayed by what calls need: by its schedule, on a machine on which
// nothing else takes time; by what its ranks have measured with their own
// clocks, which gives the waiting as it was; and by that without the fault. What
// waiting the fault has caused is the difference of the last two.

// --- what calls need ---

// Who gets what from whom in a reduction: a binomial tree over numbers that each
// MPI gives to the ranks. By rank: all below it.
function below({ranks, root}, mpi) {
  const number = r => mpi === 'mpich' ? (r - root + ranks) % ranks
    : r === root ? 0 : r === 0 ? root : r;
  const rankOf = [];
  for (let r = 0; r < ranks; r++)
    rankOf[number(r)] = r;
  return Array.from({length: ranks}, (_, r) => {
    const own = number(r), list = [];
    for (let i = own + 1; i < ranks && (own === 0 || i < own + (own & -own)); i++)
      list.push(rankOf[i]);
    return list;
  });
}

// By pattern, for each of its calls: the calls of others, of the same phase,
// that must have begun before that of rank `r` can end. It waits for them, or is
// `held`, which the views do not call waiting: in a tree, until those below have
// come.
function patternsOf(plan, mpi) {
  const {ranks, root} = plan, tree = below(plan, mpi);
  const left = r => (r + ranks - 1) % ranks, right = r => (r + 1) % ranks;
  const others = r => Array.from({length: ranks}, (_, o) => o)
    .filter(o => o !== r);
  const nothing = () => [];
  const all = r => others(r).map(o => ({rank: o, call: 0}));
  const from = (rank, call) => r => [{rank: rank(r), call, isMessage: true}];
  const both = r => [...from(left, 2)(r), ...from(right, 3)(r)];

  return {
    ring: [nothing, from(left, 0)],
    posted: [nothing, nothing, from(left, 1)],
    sendrecv: [from(left, 0), from(right, 1)],
    waitall: [nothing, nothing, nothing, nothing, both],
    barrier: [all],
    allreduce: [all],
    reduce: [
      r => r === root ? all(r)
        : tree[r].map(o => ({rank: o, call: 0, isHeld: true})),
      r => r === root ? [] : [{rank: root, call: 1}],
    ],
  };
}

// --- replays ---

// All waiting. `pace` tells when ranks begin, and of phase `i` of all steps how
// long each computes, how long after that, or the call before, its call begins,
// and when it ends, which is no earlier than `ready`; and how long messages take.
function replay(plan, patterns, pace) {
  const ranks = Array.from({length: plan.ranks}, (_, r) => r);
  const now = ranks.map(pace.start);
  const count = plan.phases.length;
  let waited = 0;

  for (let i = 0; i < plan.steps * count; i++) {
    const begun = ranks.map(() => []);
    ranks.forEach(r => { now[r] += pace.compute(i, r); });
    patterns[plan.phases[i % count].name].forEach((needs, call) => {
      ranks.forEach(r => { begun[r][call] = now[r] + pace.gap(i, r, call); });
      ranks.forEach(r => {
        const needed = needs(r), begin = begun[r][call];
        const at = need => begun[need.rank][need.call];
        const ready = Math.max(begin, ...needed.map(need =>
          at(need) + (need.isMessage ? pace.delay(need.rank, r) : 0)));
        const until = Math.max(begin, ...needed.filter(n => !n.isHeld).map(at));
        now[r] = pace.end(i, r, call, ready);
        waited += Math.max(0, Math.min(now[r], until) - begin);
      });
    });
  }
  return waited;
}

const isFault = (plan, i, r) => {
  const step = Math.floor(i / plan.phases.length);
  return i % plan.phases.length === plan.phase &&
    (plan.grows || r === plan.rank) && !(plan.other >= 0 && step % 3 === 2);
};

const extraOf = (plan, i, r) => plan.extras[i * plan.ranks + r];

const link = (plan, kind) => (from, to) =>
  kind === 'delay' && from === plan.rank && to === plan.to ? plan.extra : 0;

function asPlanned(plan, kind) {
  return {
    start: () => 0,
    compute: (i, r) =>
      plan.phases[i % plan.phases.length].work + extraOf(plan, i, r),
    gap: () => 0,
    end: (i, r, call, ready) => ready,
    delay: link(plan, kind),
  };
}

// `over` becomes how long each call took beyond what it needed.
function asMeasured(plan, kind, files, over) {
  const before = (i, r) => i === 0 ? files[r][0].begin
    : files[r][i - 1].calls.at(-1).end;

  return {
    start: r => files[r][0].begin,
    compute: (i, r) => files[r][i].end - before(i, r),
    gap: (i, r, call) => files[r][i].calls[call].begin -
      (call ? files[r][i].calls[call - 1].end : files[r][i].end),
    end: (i, r, call, ready) => {
      const {end} = files[r][i].calls[call];
      ((over[r] ??= [])[i] ??= [])[call] = end - ready;
      return end;
    },
    delay: link(plan, kind),
  };
}

function withoutFault(plan, measured, over) {
  return {
    ...measured,
    compute: (i, r) => measured.compute(i, r) -
      (isFault(plan, i, r) ? extraOf(plan, i, r) : 0),
    end: (i, r, call, ready) => ready + Math.max(0, over[r][i][call]),
    delay: () => 0,
  };
}

// --- what ranks have written ---

// Lines of a rank's file: by step and phase, when it computed, and its calls.
function phasesOf(text, phases) {
  const list = [];
  for (const line of text.split('\n')) {
    const [what, ...numbers] = line.split(' ');
    const [step, phase] = numbers.map(Number);
    const [at, begin, end] = numbers.slice(-3).map(Number);
    if (!(step >= 0))
      continue;
    if (what === 'w')
      list[step * phases + phase] = {begin, end, calls: []};
    else
      list[step * phases + phase].calls.push({line: at, begin, end});
  }
  return list;
}

// Of the barrier to which all come before the first step.
const startOf = text =>
  Number(text.split('\n').findLast(line => line.startsWith('c -1')).split(' ')[3]);

// By how much more than others ranks were held up by the machine, in all phases.
function unevenIn(plan, kind, measured, over) {
  const due = asPlanned(plan, kind);
  let all = 0;

  for (let i = 0; i < plan.steps * plan.phases.length; i++) {
    const held = over.map((of, r) => of[i].reduce((sum, ns, call) =>
      sum + Math.max(0, ns) + measured.gap(i, r, call),
      measured.compute(i, r) - due.compute(i, r)));
    all += Math.max(...held) - Math.min(...held);
  }
  return all / plan.steps / plan.extra;
}

// Which of a phase's calls waits for the link that is delayed.
const delayed = plan => ({
  ring: 1, posted: 2, waitall: 4,
  sendrecv: plan.to === (plan.rank + 1) % plan.ranks ? 0 : 1,
}[plan.phases[plan.phase].name]);

// `texts` are the files that the ranks have written. Times are nanoseconds;
// `share` is that of all waiting which the fault has caused.
export function truthOf(plan, mpi, kind, texts) {
  const count = plan.phases.length, {phase} = plan;
  const files = texts.map(text => phasesOf(text, count));
  const called = files[0].map(of => of.calls);
  const patterns = patternsOf(plan, mpi), over = [];
  const measured = asMeasured(plan, kind, files, over);
  const waited = replay(plan, patterns, measured);
  const without = replay(plan, patterns, withoutFault(plan, measured, over));

  return {
    measured: waited, share: (waited - without) / waited,
    planned: replay(plan, patterns, asPlanned(plan, kind)),
    uneven: unevenIn(plan, kind, measured, over), start: startOf(texts[0]),
    thread: `rank_${kind === 'delay' ? plan.to : plan.rank}`,
    what: kind === 'delay' ? 'communicating' : 'computing',
    after: kind === 'delay' ? '' : called[(phase + count - 1) % count].at(-1).line,
    before: called[phase][kind === 'delay' ? delayed(plan) : 0].line,
  };
}
