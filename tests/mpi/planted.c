/* planted.c - programs of MPI with a fault that is known, made up by a number.
 *
 *     planted SEED slow|delay|imbalance SCALE plan
 *     planted SEED slow|delay|imbalance SCALE FILE
 *
 * The first prints what the program does, as JSON; the second does it, as a
 * rank of MPI, and writes to FILE.RANK by its own clock when it did what:
 *
 *     w STEP PHASE BEGIN END         it computed
 *     c STEP PHASE LINE BEGIN END    it was in a call, which is in that line
 *
 * Steps count from 0. What was before them is that of number -1; it ends with a
 * barrier, which is in a line of its own and to which all come at once.
 *
 * A step has some phases, in each of which all ranks compute and then
 * communicate, and no two of which communicate alike. Computing is to sleep.
 *
 *   slow       a rank computes longer in one phase, by 1 to 50 % of a step. In
 *              half of the programs in which all ranks meet at the end of each
 *              step, that is so in two steps of three; in the third another
 *              rank is slow in some phase, but less
 *   delay      messages of one rank to another arrive later by so much
 *   imbalance  of one phase, a rank has twice as much as others; or, of odd
 *              SEEDs, ranks have the more the higher they are
 *
 * The fault takes SCALE milliseconds at least: steps are as long as that needs,
 * so that it can be told from what a busy machine does. */
#include <inttypes.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "patient.h"

#define MAX_RANKS 8
#define PHASES 3
#define MS INT64_C(1000000)
#define LIGHT_NS (40 * MS)
#define UNUSED_TAG 999

typedef enum pattern {
    RING,     /* MPI_Send to the right, MPI_Recv from the left */
    POSTED,   /* the same by MPI_Irecv, MPI_Send, MPI_Wait */
    SENDRECV, /* with both neighbours */
    WAITALL,  /* the same by MPI_Irecv, MPI_Isend, MPI_Waitall */
    BARRIER,
    ALLREDUCE,
    REDUCE, /* and MPI_Bcast of the result */
    PATTERNS
} pattern;

static const char *const names[] = {
    "ring", "posted", "sendrecv", "waitall", "barrier", "allreduce", "reduce"};

typedef enum fault { SLOW, DELAY, IMBALANCE, FAULTS } fault;

static const char *const faults[] = {"slow", "delay", "imbalance"};

static struct {
    fault fault;
    int ranks, steps, count, root;
    pattern phases[PHASES];
    int64_t work_ns[PHASES], extra_ns;
    int rank, phase, to; /* of the fault */
    int percent;
    int other_rank, other_phase; /* the lesser one; -1: there is none */
    bool grows;
} plan;

/* --- what it does --- */

static uint64_t state;

static int chance(int below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)below);
}

static bool is_meeting(pattern p)
{
    return p >= BARRIER;
}

static bool in_use(pattern p)
{
    for (int i = 0; i < plan.count; i++)
        if (plan.phases[i] == p)
            return true;
    return false;
}

/* Only one phase has messages that can be delayed. */
static void phases_make(void)
{
    int count = 1 + chance(PHASES);

    plan.phases[0] = (pattern)chance(plan.fault == DELAY ? BARRIER : PATTERNS);
    for (plan.count = 1; plan.count < count; plan.count++) {
        pattern p;
        do
            p = (pattern)chance(PATTERNS);
        while (in_use(p) || (plan.fault == DELAY && !is_meeting(p)));
        plan.phases[plan.count] = p;
    }
    plan.phase = plan.fault == DELAY ? 0 : chance(count);
}

static void times_make(int64_t least_ns)
{
    int64_t step_ns = (8 + chance(8)) * MS, left_ns;

    plan.percent = 1 + chance(50);
    if (step_ns * plan.percent < least_ns * 100)
        step_ns = least_ns * 100 / plan.percent;
    plan.extra_ns = step_ns * plan.percent / 100;
    left_ns = step_ns;
    for (int i = 0; i < plan.count; i++) {
        plan.work_ns[i] =
            i + 1 < plan.count ? step_ns * (2 + chance(3)) / 12 : left_ns;
        left_ns -= plan.work_ns[i];
    }
    if (plan.grows) /* there is less between neighbours */
        least_ns *= 3;
    if (plan.fault == IMBALANCE) /* what is uneven is long enough */
        plan.extra_ns = plan.work_ns[plan.phase] =
            plan.work_ns[plan.phase] > least_ns ? plan.work_ns[plan.phase]
                                                : least_ns;
}

static void plan_make(int seed, int64_t least_ns)
{
    state = (uint64_t)seed * 2654435761u + 4711 * (plan.fault + 1u);
    for (int i = 0; i < 8; i++)
        chance(2);
    plan.grows = plan.fault == IMBALANCE && seed % 2;
    plan.ranks = 4 + chance(MAX_RANKS - 3);
    plan.steps = 10 + chance(5);
    plan.root = chance(plan.ranks);
    plan.rank = chance(plan.ranks);
    phases_make();
    times_make(least_ns);
    plan.to = (plan.rank + 1) % plan.ranks;
    if (plan.phases[plan.phase] >= SENDRECV && chance(2))
        plan.to = (plan.rank + plan.ranks - 1) % plan.ranks;
    plan.other_rank = plan.other_phase = -1;
    if (plan.fault == SLOW && is_meeting(plan.phases[plan.count - 1]) &&
        chance(2)) {
        plan.other_rank = (plan.rank + 1 + chance(plan.ranks - 1)) % plan.ranks;
        plan.other_phase = chance(plan.count);
    }
    if (plan.grows)
        plan.rank = plan.ranks - 1;
}

/* What a rank computes longer than its work, as it is planned. */
static int64_t extra_of(int rank, int step, int phase)
{
    bool is_other = plan.other_rank >= 0 && step % 3 == 2;

    if (plan.fault == DELAY)
        return 0;
    if (is_other)
        return rank == plan.other_rank && phase == plan.other_phase
                   ? plan.extra_ns * 4 / 5
                   : 0;
    if (phase != plan.phase)
        return 0;
    if (plan.grows)
        return plan.extra_ns * rank / (plan.ranks - 1);
    return rank == plan.rank ? plan.extra_ns : 0;
}

static void plan_print(void)
{
    printf("{\"ranks\": %d, \"steps\": %d, \"root\": %d, \"rank\": %d, "
           "\"phase\": %d, \"to\": %d, \"percent\": %d, \"extra\": %" PRId64
           ", \"other\": %d, \"grows\": %s,\n \"phases\": [",
           plan.ranks, plan.steps, plan.root, plan.rank, plan.phase, plan.to,
           plan.percent, plan.extra_ns, plan.other_rank,
           plan.grows ? "true" : "false");
    for (int i = 0; i < plan.count; i++)
        printf("%s{\"name\": \"%s\", \"work\": %" PRId64 "}", i ? ", " : "",
               names[plan.phases[i]], plan.work_ns[i]);
    printf("],\n \"extras\": [");
    for (int s = 0; s < plan.steps; s++)
        for (int i = 0; i < plan.count; i++)
            for (int r = 0; r < plan.ranks; r++)
                printf("%s%" PRId64, s || i || r ? ", " : "",
                       extra_of(r, s, i));
    printf("]}\n");
}

/* --- doing it --- */

static int me, step, phase;
static FILE *file;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (1000 * MS) + now.tv_nsec;
}

static void sleep_until(int64_t ns)
{
    struct timespec to = {ns / (1000 * MS), ns % (1000 * MS)};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &to, NULL))
        ;
}

/* What MPI needs is not touched for as long as a rank sleeps; it takes a
 * machine that looks for such memory a millisecond to have that ready again, of
 * one rank after the other. So it is touched, by what does nothing and is not
 * recorded. */
static void sleep_lightly(int64_t until_ns)
{
    int64_t at_ns;
    int found;

    for (at_ns = now_ns() + LIGHT_NS; at_ns < until_ns - LIGHT_NS / 2;
         at_ns += LIGHT_NS) {
        sleep_until(at_ns);
        PMPI_Iprobe(MPI_ANY_SOURCE, UNUSED_TAG, MPI_COMM_WORLD, &found,
                    MPI_STATUS_IGNORE);
    }
    sleep_until(until_ns);
}

static void compute(void)
{
    int64_t from_ns = now_ns();

    sleep_lightly(from_ns + plan.work_ns[phase] + extra_of(me, step, phase));
    fprintf(file, "w %d %d %" PRId64 " %" PRId64 "\n", step, phase, from_ns,
            now_ns());
}

#define CALL(...)                                                              \
    do {                                                                       \
        int64_t from_ns = now_ns();                                            \
        __VA_ARGS__;                                                           \
        fprintf(file, "c %d %d %d %" PRId64 " %" PRId64 "\n", step, phase,     \
                __LINE__, from_ns, now_ns());                                  \
    } while (0)

static void communicate(pattern p)
{
    int right = (me + 1) % plan.ranks;
    int left = (me + plan.ranks - 1) % plan.ranks;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Status *none = MPI_STATUS_IGNORE;
    MPI_Request r[4];
    double out[2] = {me, step}, in[2];

    switch (p) {
    case RING:
        CALL(MPI_Send(out, 1, MPI_DOUBLE, right, 1, world));
        CALL(MPI_Recv(in, 1, MPI_DOUBLE, left, 1, world, none));
        break;
    case POSTED:
        CALL(MPI_Irecv(in, 1, MPI_DOUBLE, left, 2, world, r));
        CALL(MPI_Send(out, 1, MPI_DOUBLE, right, 2, world));
        CALL(MPI_Wait(r, none));
        break;
    case SENDRECV:
        CALL(MPI_Sendrecv(out, 1, MPI_DOUBLE, right, 3, in, 1, MPI_DOUBLE, left,
                          3, world, none));
        CALL(MPI_Sendrecv(out, 1, MPI_DOUBLE, left, 4, in, 1, MPI_DOUBLE, right,
                          4, world, none));
        break;
    case WAITALL:
        CALL(MPI_Irecv(in, 1, MPI_DOUBLE, left, 5, world, r));
        CALL(MPI_Irecv(in + 1, 1, MPI_DOUBLE, right, 6, world, r + 1));
        CALL(MPI_Isend(out, 1, MPI_DOUBLE, right, 5, world, r + 2));
        CALL(MPI_Isend(out + 1, 1, MPI_DOUBLE, left, 6, world, r + 3));
        CALL(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
        break;
    case BARRIER:
        CALL(MPI_Barrier(world));
        break;
    case ALLREDUCE:
        CALL(MPI_Allreduce(out, in, 2, MPI_DOUBLE, MPI_SUM, world));
        break;
    default:
        CALL(MPI_Reduce(out, in, 2, MPI_DOUBLE, MPI_SUM, plan.root, world));
        CALL(MPI_Bcast(in, 2, MPI_DOUBLE, plan.root, world));
    }
}

/* In front of what else the machine does, if it may. */
static void prefer(bool so)
{
    struct sched_param how = {.sched_priority = so};

    sched_setscheduler(0, so ? SCHED_RR : SCHED_OTHER, &how);
    prctl(PR_SET_TIMERSLACK, so);
}

/* Nothing of this is recorded. */
static void meet(void)
{
    int64_t at_ns = now_ns() + 40 * MS;

    MPI_Pcontrol(0);
    MPI_Allreduce(MPI_IN_PLACE, &at_ns, 1, MPI_INT64_T, MPI_MAX,
                  MPI_COMM_WORLD);
    MPI_Pcontrol(1);
    sleep_until(at_ns);
}

/* The first call in each line takes longer; then all begin together. */
static void begin(void)
{
    step = phase = -1;
    meet();
    for (int i = 0; i < plan.count; i++)
        communicate(plan.phases[i]);
    if (plan.fault == DELAY && me == plan.rank)
        patient_delay(plan.to, plan.extra_ns);
    for (int i = 0; i < 2; i++) {
        meet();
        CALL(MPI_Barrier(MPI_COMM_WORLD));
    }
}

static void run(const char *to)
{
    char name[4096];

    snprintf(name, sizeof(name), "%s.%d", to, me);
    file = fopen(name, "w");
    if (!file)
        MPI_Abort(MPI_COMM_WORLD, 1);
    setvbuf(file, NULL, _IOFBF, 1 << 20); /* nothing is written meanwhile */
    prefer(true);
    begin();
    for (step = 0; step < plan.steps; step++) {
        for (phase = 0; phase < plan.count; phase++) {
            compute();
            communicate(plan.phases[phase]);
        }
    }
    MPI_Pcontrol(0);
    prefer(false);
    patient_end();
    fclose(file);
}

int main(int argc, char **argv)
{
    int provided;

    if (argc != 5)
        return 2;
    while (plan.fault < FAULTS && strcmp(faults[plan.fault], argv[2]) != 0)
        plan.fault++;
    plan_make(atoi(argv[1]), atoi(argv[3]) * MS);
    if (strcmp(argv[4], "plan") == 0) {
        plan_print();
        return 0;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    run(argv[4]);
    MPI_Finalize();
    return 0;
}
