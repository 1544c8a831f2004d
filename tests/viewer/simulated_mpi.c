/* simulated_mpi.c - see simulated_mpi.h. */
#include "tests/viewer/simulated_mpi.h"

#include <string.h>

typedef struct run {
    const simulated *program;
    const simulated_step *step;
    otf2_make *trace;
    simulated_truth *truth;
    bool is_ideal;
    uint32_t number; /* of the step */
    int64_t now_ns[SIMULATED_RANKS];
} run;

/* --- making --- */

static uint64_t state;

static int64_t chance(int64_t below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)below);
}

static void step_make(simulated_step *step, uint32_t ranks, int64_t noise_ns)
{
    step->kind = (step_kind)chance(STEP_KINDS);
    step->root = (uint32_t)chance(ranks);
    step->peer = (step->root + 1 + (uint32_t)chance(ranks - 1)) % ranks;
    step->latency_ns = 1000 + chance(20000);
    for (uint32_t r = 0; r < ranks; r++) {
        step->compute_ns[r] = 1000000 + chance(noise_ns);
        step->overhead_ns[r] = 300 + chance(3000);
    }
}

void simulated_make(simulated *out, uint64_t seed, int64_t noise_ns)
{
    state = seed * 2654435761u + 12345;
    out->ranks = 3 + (uint32_t)chance(SIMULATED_RANKS - 2);
    out->count = 20 + (uint32_t)chance(SIMULATED_STEPS - 19);
    for (uint32_t i = 0; i < out->count; i++)
        step_make(&out->steps[i], out->ranks, noise_ns);
}

/* --- running --- */

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t overhead(const run *s, uint32_t rank)
{
    return s->is_ideal ? 0 : s->step->overhead_ns[rank];
}

static int64_t latency(const run *s)
{
    return s->is_ideal ? 0 : s->step->latency_ns;
}

static uint32_t tag(const run *s)
{
    return s->number % 3;
}

/* It waits in a call from `from_ns` to `to_ns` for one that begins then. */
static void waits(run *s, true_kind kind, uint32_t rank, int64_t from_ns,
                  int64_t to_ns, uint32_t other, int64_t other_ns)
{
    int64_t ns = (other_ns < to_ns ? other_ns : to_ns) - from_ns;

    if (ns <= 0)
        return;
    s->truth->wait_ns[kind][rank][other] += ns;
    s->truth->all_wait_ns += ns;
}

/* A send that is seen to end after its receive has begun may have waited. */
static void send_waits(run *s, uint32_t rank, int64_t from_ns, int64_t to_ns,
                       uint32_t other, int64_t other_ns)
{
    if (other_ns < to_ns)
        waits(s, TRUE_LATE_RECEIVER, rank, from_ns, to_ns, other, other_ns);
}

/* The one that comes last. */
static uint32_t last_of(const run *s)
{
    uint32_t last = 0;

    for (uint32_t r = 1; r < s->program->ranks; r++)
        last = s->now_ns[r] > s->now_ns[last] ? r : last;
    return last;
}

static void call(run *s, uint32_t rank, int64_t end_ns, const char *name,
                 OTF2_CollectiveOp operation, uint32_t root)
{
    if (s->trace)
        otf2_call_collective(s->trace, rank, s->now_ns[rank], end_ns, name,
                             operation, root);
    s->now_ns[rank] = end_ns;
}

static void all_meet(run *s, true_kind kind, const char *name,
                     OTF2_CollectiveOp operation)
{
    uint32_t last = last_of(s);
    int64_t last_ns = s->now_ns[last];

    for (uint32_t r = 0; r < s->program->ranks; r++) {
        int64_t end_ns = last_ns + overhead(s, r);
        waits(s, kind, r, s->now_ns[r], end_ns, last, last_ns);
        call(s, r, end_ns, name, operation, OTF2_UNDEFINED_UINT32);
    }
}

static void broadcast(run *s)
{
    uint32_t root = s->step->root;
    int64_t root_ns = s->now_ns[root];

    for (uint32_t r = 0; r < s->program->ranks; r++) {
        int64_t end_ns = s->now_ns[r];
        if (r != root)
            end_ns = max(end_ns, root_ns + latency(s));
        end_ns += overhead(s, r);
        if (r != root)
            waits(s, TRUE_BROADCAST, r, s->now_ns[r], end_ns, root, root_ns);
        call(s, r, end_ns, "MPI_Bcast", OTF2_COLLECTIVE_OP_BCAST, root);
    }
}

static void reduce(run *s)
{
    uint32_t root = s->step->root, last = last_of(s);
    int64_t last_ns = s->now_ns[last];

    for (uint32_t r = 0; r < s->program->ranks; r++) {
        int64_t end_ns = s->now_ns[r];
        if (r == root && last != root)
            end_ns = max(end_ns, last_ns + latency(s));
        end_ns += overhead(s, r);
        if (r == root && last != root)
            waits(s, TRUE_REDUCE, r, s->now_ns[r], end_ns, last, last_ns);
        call(s, r, end_ns, "MPI_Reduce", OTF2_COLLECTIVE_OP_REDUCE, root);
    }
}

/* Each waits for the rank below. */
static void scan(run *s)
{
    int64_t below_ns = 0;

    for (uint32_t r = 0; r < s->program->ranks; r++) {
        int64_t own_ns = s->now_ns[r], end_ns = own_ns;
        if (r > 0)
            end_ns = max(end_ns, below_ns + latency(s));
        end_ns += overhead(s, r);
        if (r > 0)
            waits(s, TRUE_SCAN, r, own_ns, end_ns, r - 1, below_ns);
        call(s, r, end_ns, "MPI_Scan", OTF2_COLLECTIVE_OP_SCAN,
             OTF2_UNDEFINED_UINT32);
        below_ns = own_ns;
    }
}

static void irecv(run *s, uint32_t rank)
{
    int64_t end_ns = s->now_ns[rank] + overhead(s, rank);

    if (s->trace) {
        otf2_enter(s->trace, rank, s->now_ns[rank], "MPI_Irecv");
        otf2_request(s->trace, rank, end_ns, s->number);
        otf2_leave(s->trace, rank, end_ns, "MPI_Irecv");
    }
    s->now_ns[rank] = end_ns;
}

static void send(run *s, uint32_t rank, uint32_t to)
{
    int64_t end_ns = s->now_ns[rank] + overhead(s, rank);

    if (s->trace)
        otf2_call_send(s->trace, rank, s->now_ns[rank], end_ns, to, tag(s));
    s->now_ns[rank] = end_ns;
}

static void ring(run *s, bool requests)
{
    uint32_t ranks = s->program->ranks;
    int64_t sent_ns[SIMULATED_RANKS], begun_ns[SIMULATED_RANKS];

    for (uint32_t r = 0; r < ranks; r++) {
        if (requests)
            irecv(s, r);
        sent_ns[r] = s->now_ns[r];
        send(s, r, (r + 1) % ranks);
        begun_ns[r] = s->now_ns[r];
    }
    for (uint32_t r = 0; r < ranks; r++) {
        uint32_t left = (r + ranks - 1) % ranks;
        int64_t end_ns =
            max(begun_ns[r], sent_ns[left] + latency(s)) + overhead(s, r);
        waits(s, TRUE_LATE_SENDER, r, begun_ns[r], end_ns, left, sent_ns[left]);
        send_waits(s, left, sent_ns[left], begun_ns[left], r, begun_ns[r]);
        if (s->trace && requests)
            otf2_call_wait(s->trace, r, begun_ns[r], end_ns, left, tag(s),
                           s->number);
        else if (s->trace)
            otf2_call_receive(s->trace, r, begun_ns[r], end_ns, left, tag(s));
        s->now_ns[r] = end_ns;
    }
}

static void synchronous(run *s)
{
    uint32_t from = s->step->root, to = s->step->peer;
    int64_t sent_ns = s->now_ns[from], begun_ns = s->now_ns[to];
    int64_t both_ns = max(sent_ns, begun_ns);
    int64_t sender_ns = both_ns + overhead(s, from);
    int64_t end_ns = max(begun_ns, sent_ns + latency(s)) + overhead(s, to);

    waits(s, TRUE_LATE_SENDER, to, begun_ns, end_ns, from, sent_ns);
    send_waits(s, from, sent_ns, sender_ns, to, begun_ns);
    if (s->trace) {
        otf2_enter(s->trace, from, sent_ns, "MPI_Ssend");
        otf2_send(s->trace, from, sent_ns, to, tag(s));
        otf2_leave(s->trace, from, sender_ns, "MPI_Ssend");
        otf2_call_receive(s->trace, to, begun_ns, end_ns, from, tag(s));
    }
    s->now_ns[from] = sender_ns;
    s->now_ns[to] = end_ns;
}

static void exchange(run *s)
{
    const uint32_t both[] = {s->step->root, s->step->peer};
    const int64_t begun_ns[] = {s->now_ns[both[0]], s->now_ns[both[1]]};

    for (int i = 0; i < 2; i++) {
        uint32_t own = both[i], other = both[1 - i];
        int64_t end_ns =
            max(begun_ns[i], begun_ns[1 - i] + latency(s)) + overhead(s, own);
        waits(s, TRUE_LATE_SENDER, own, begun_ns[i], end_ns, other,
              begun_ns[1 - i]);
        if (s->trace) {
            otf2_enter(s->trace, own, begun_ns[i], "MPI_Sendrecv");
            otf2_send(s->trace, own, begun_ns[i], other, tag(s));
            otf2_receive(s->trace, own, end_ns, other, tag(s));
            otf2_leave(s->trace, own, end_ns, "MPI_Sendrecv");
        }
        s->now_ns[own] = end_ns;
    }
}

static void all_to_one(run *s)
{
    uint32_t root = s->step->root, last = root;
    int64_t begun_ns = s->now_ns[root], end_ns = begun_ns;
    int64_t sent_ns[SIMULATED_RANKS] = {0};

    for (uint32_t r = 0; r < s->program->ranks; r++) {
        if (r == root)
            continue;
        sent_ns[r] = s->now_ns[r];
        last = last == root || sent_ns[r] > sent_ns[last] ? r : last;
        end_ns = max(end_ns, sent_ns[r] + latency(s));
        send(s, r, root);
        send_waits(s, r, sent_ns[r], s->now_ns[r], root, begun_ns);
    }
    end_ns += overhead(s, root);
    waits(s, TRUE_LATE_SENDER, root, begun_ns, end_ns, last, sent_ns[last]);
    if (s->trace) {
        otf2_enter(s->trace, root, begun_ns, "MPI_Waitall");
        for (uint32_t r = 0; r < s->program->ranks; r++)
            if (r != root)
                otf2_receive(s->trace, root, end_ns, r, tag(s));
        otf2_leave(s->trace, root, end_ns, "MPI_Waitall");
    }
    s->now_ns[root] = end_ns;
}

static void communicate(run *s)
{
    switch (s->step->kind) {
    case STEP_BARRIER:
        all_meet(s, TRUE_BARRIER, "MPI_Barrier", OTF2_COLLECTIVE_OP_BARRIER);
        break;
    case STEP_ALLREDUCE:
        all_meet(s, TRUE_NXN, "MPI_Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE);
        break;
    case STEP_BROADCAST:
        broadcast(s);
        break;
    case STEP_REDUCE:
        reduce(s);
        break;
    case STEP_SCAN:
        scan(s);
        break;
    case STEP_RING:
    case STEP_RING_WAIT:
        ring(s, s->step->kind == STEP_RING_WAIT);
        break;
    case STEP_SYNCHRONOUS:
        synchronous(s);
        break;
    case STEP_EXCHANGE:
        exchange(s);
        break;
    default:
        all_to_one(s);
    }
}

void simulated_run(const simulated *program, bool is_ideal, otf2_make *trace,
                   simulated_truth *out)
{
    run s = {
        .program = program, .trace = trace, .truth = out, .is_ideal = is_ideal};

    memset(out, 0, sizeof(*out));
    for (uint32_t r = 0; r < program->ranks && trace; r++)
        otf2_thread(trace, r, 0, -1);
    for (s.number = 0; s.number < program->count; s.number++) {
        s.step = &program->steps[s.number];
        for (uint32_t r = 0; r < program->ranks; r++) {
            s.now_ns[r] += s.step->compute_ns[r];
            out->useful_ns[r] += s.step->compute_ns[r];
        }
        communicate(&s);
    }
    for (uint32_t r = 0; r < program->ranks; r++) {
        if (trace)
            otf2_thread(trace, r, 0, s.now_ns[r]);
        out->end_ns = max(out->end_ns, s.now_ns[r]);
    }
}
