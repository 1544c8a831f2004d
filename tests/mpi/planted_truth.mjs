// planted_truth.mjs - what is true of a run of planted.c: by its schedule, on an
// ideal machine, and by the clocks of its own ranks. Nothing of EventSpace is
// used.

// Who gets what from whom in a reduction: a binomial tree over numbers that each
// MPI gives to the ranks. By rank: those who bring something to it.
function bringers({ranks, root}, mpi) {
  const number = r => mpi === 'mpich' ? (r - root + ranks) % ranks
    : r === root ? 0 : r === 0 ? root : r;
  const rankOf = [];
  for (let r = 0; r < ranks; r++)
    rankOf[number(r)] = r;
  return Array.from({length: ranks}, (_, r) => {
    const own = number(r), list = [];
    for (let bit = 1; own + bit < ranks && !(own & bit); bit *= 2)
      list.push(rankOf[own + bit]);
    return list;
  });
}

// Waits of a phase by when each rank began its calls; `move` is told when it
// ends on an ideal machine. A wait is that for a call that has not begun.
const ideal = {
  meet(s) {
    const last = Math.max(...s.now);
    s.now = s.now.map(now => (s.wait(now, last), last));
  },
  from(s, neighbours) {
    const begun = [...s.now];
    s.now = begun.map((now, r) => {
      const others = neighbours(r);
      s.wait(now, Math.max(...others.map(o => begun[o])));
      return Math.max(now, ...others.map(o => begun[o] + s.delay(o, r)));
    });
  },
  reduce(s) {
    const begun = [...s.now], {root} = s.plan;
    const end = r => Math.max(begun[r], ...s.bringers[r].map(end));
    s.wait(begun[root], Math.max(...begun.filter((_, r) => r !== root)));
    s.now = begun.map((_, r) => end(r));
    const came = s.now[root];
    s.now = s.now.map(now => (s.wait(now, came), Math.max(now, came)));
  },
};

function communicate(s, name) {
  const {ranks} = s.plan;
  const left = r => (r + ranks - 1) % ranks, right = r => (r + 1) % ranks;

  if (name === 'barrier' || name === 'allreduce')
    ideal.meet(s);
  else if (name === 'reduce')
    ideal.reduce(s);
  else if (name === 'waitall')
    ideal.from(s, r => [left(r), right(r)]);
  else
    ideal.from(s, r => [left(r)]);
  if (name === 'sendrecv')
    ideal.from(s, r => [right(r)]);
}

// All waiting, as planned: with the fault or without it.
function planned(plan, mpi, kind, isWithout) {
  const {ranks, steps, phases} = plan;
  const s = {plan, now: Array(ranks).fill(0), all: 0,
             bringers: bringers(plan, mpi)};

  s.wait = (from, to) => { s.all += Math.max(0, to - from); };
  s.delay = (from, to) => kind === 'delay' && !isWithout &&
    from === plan.rank && to === plan.to ? plan.extra : 0;
  for (let step = 0; step < steps; step++) {
    phases.forEach((phase, p) => {
      for (let r = 0; r < ranks; r++) {
        const extra = plan.extras[(step * phases.length + p) * ranks + r];
        const isFault = p === plan.phase && (plan.grows || r === plan.rank) &&
          !(plan.other >= 0 && step % 3 === 2);
        s.now[r] += phase.work + (isWithout && isFault ? 0 : extra);
      }
      communicate(s, phase.name);
    });
  }
  return s.all;
}

// Of the calls of all ranks in one phase of one step: by rank, {begin, end}.
// `over` is told by how much a call outlasted what it waited for.
function measuredIn(plan, name, calls, over) {
  const {ranks, root} = plan;
  const left = r => (r + ranks - 1) % ranks, right = r => (r + 1) % ranks;
  const begun = (r, call) => calls[r][call].begin;
  let all = 0;
  const wait = (r, call, ...others) => {
    const {begin, end} = calls[r][call];
    over(end - Math.max(begin, ...others), r);
    all += Math.max(0, Math.min(end, Math.max(...others)) - begin);
  };

  for (let r = 0; r < ranks; r++) {
    const others = call => calls.filter((_, o) => o !== r)
      .map(list => list[call].begin);
    if (name === 'barrier' || name === 'allreduce') {
      wait(r, 0, ...others(0));
    } else if (name === 'ring') {
      wait(r, 1, begun(left(r), 0));
    } else if (name === 'posted') {
      wait(r, 2, begun(left(r), 1));
    } else if (name === 'sendrecv') {
      wait(r, 0, begun(left(r), 0));
      wait(r, 1, begun(right(r), 1));
    } else if (name === 'waitall') {
      wait(r, 4, begun(left(r), 2), begun(right(r), 3));
    } else if (r === root) {
      wait(r, 0, ...others(0));
    } else {
      wait(r, 1, begun(root, 1));
    }
  }
  return all;
}

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

// How much longer a rank computed than planned, and what it lost between.
function lateIn(plan, files, i, over) {
  const count = plan.phases.length;

  files.forEach((list, r) => {
    const {begin, end, calls} = list[i];
    over(end - begin - plan.phases[i % count].work -
         plan.extras[i * plan.ranks + r], r);
    calls.reduce((before, call) => (over(call.begin - before, r), call.end),
                 end);
    if (i > 0)
      over(begin - list[i - 1].calls.at(-1).end, r);
  });
}

// Of the barrier to which all come before the first step.
const startOf = text =>
  Number(text.split('\n').findLast(line => line.startsWith('c -1')).split(' ')[3]);

// Which of a phase's calls waits for the link that is delayed.
const delayed = plan => ({
  ring: 1, posted: 2, waitall: 4,
  sendrecv: plan.to === (plan.rank + 1) % plan.ranks ? 0 : 1,
}[plan.phases[plan.phase].name]);

// `texts` are the files that the ranks have written. Times are nanoseconds.
// `uneven`: by how much more than others ranks were held up by the machine, in
// all steps, as a part of the fault.
export function truthOf(plan, mpi, kind, texts) {
  const count = plan.phases.length;
  const files = texts.map(text => phasesOf(text, count));
  const called = files[0].map(of => of.calls), {phase} = plan;
  let measured = 0, uneven = 0;

  for (let i = 0; i < plan.steps * count; i++) {
    const held = Array(plan.ranks).fill(0);
    const isDelayed = r => kind === 'delay' && r === plan.to &&
      i % count === phase;
    lateIn(plan, files, i, (ns, r) => { held[r] += ns; });
    measured += measuredIn(plan, plan.phases[i % count].name,
                           files.map(list => list[i].calls), (ns, r) => {
                             held[r] += Math.max(0, ns - (isDelayed(r) ? plan.extra : 0));
                           });
    uneven += Math.max(...held) - Math.min(...held);
  }
  const withFault = planned(plan, mpi, kind, false);
  return {
    uneven: uneven / plan.steps / plan.extra, measured, planned: withFault, start: startOf(texts[0]),
    share: (withFault - planned(plan, mpi, kind, true)) / measured,
    thread: `rank_${kind === 'delay' ? plan.to : plan.rank}`,
    what: kind === 'delay' ? 'communicating' : 'computing',
    after: kind === 'delay' ? '' : called[(phase + count - 1) % count].at(-1).line,
    before: called[phase][kind === 'delay' ? delayed(plan) : 0].line,
  };
}
