/* rerun.c - see rerun_internal.h. As on the ideal network, threads that can go
 * on are in a list, and one that needs what has not arrived is put to that
 * operation or round. An operation begins in its turn, and ends when somebody
 * asks for that: the next one of its thread that begins after it. */
#include "scopes/waiting/rerun_internal.h"

#include <stdlib.h>
#include <string.h>

#include "scopes/memory/memory_internal.h"

/* In place of the time when an operation arrived: it has not, and so much more
 * is the thread that waits for that, or the first of them. */
#define NOT_YET INT64_MIN
#define WAITED_FOR (INT64_MIN + 1)
#define ARRIVED (WAITED_FOR + PATHS_NONE)

/* A thread that is replayed. */
typedef struct actor {
    uint32_t at, end; /* operations that have not begun */
    uint32_t ended;   /* all before this one have ended */
    uint32_t stuck;   /* the operation that waits, if it does */
    int64_t call_ns;  /* begin of the first of those that are under way */
    int64_t begun_ns; /* of the last one that began */
    int64_t busy_ns;  /* latest end so far */
    uint32_t next;    /* in the list that it is in */
    bool waits;
} actor;

typedef struct gathering {
    uint32_t missing; /* operations that have not arrived */
    uint32_t waiters; /* threads */
    int64_t last_ns;
} gathering;

struct scopes__rerun {
    const scopes__waiting *w;
    scopes__costs recorded;
    const scopes__costs *costs; /* of the replay */
    uint32_t *before;           /* by operation */
    int64_t *arrived_ns;        /* by operation; or who waits for it */
    int64_t *end_ns;            /* by operation; NOT_YET */
    gathering *rounds;
    actor *actors; /* by thread */
    uint32_t ready, blocked;
};

static int64_t more(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* --- who goes on --- */

static void go_on(scopes__rerun *r, uint32_t thread)
{
    r->actors[thread].next = r->ready;
    r->ready = thread;
}

static void go_on_all(scopes__rerun *r, uint32_t waiters)
{
    while (waiters != PATHS_NONE) {
        uint32_t thread = waiters;
        waiters = r->actors[thread].next;
        r->actors[thread].waits = false;
        r->blocked--;
        go_on(r, thread);
    }
}

static void wait_in(scopes__rerun *r, uint32_t *waiters, actor *a,
                    uint32_t operation)
{
    a->next = *waiters;
    *waiters = (uint32_t)(a - r->actors);
    a->stuck = operation;
    a->waits = true;
    r->blocked++;
}

static uint32_t waiters_of(const scopes__rerun *r, uint32_t operation)
{
    int64_t ns = r->arrived_ns[operation];

    return ns == NOT_YET ? PATHS_NONE : (uint32_t)(ns - WAITED_FOR);
}

static void waiters_set(scopes__rerun *r, uint32_t operation, uint32_t waiters)
{
    r->arrived_ns[operation] =
        waiters == PATHS_NONE ? NOT_YET : WAITED_FOR + waiters;
}

static gathering *round_of(scopes__rerun *r, uint32_t operation)
{
    uint32_t meeting = scopes__waiting_meeting(r->w, operation);

    return meeting == SCOPES_MISSING ? NULL : &r->rounds[meeting];
}

/* --- an operation --- */

static void begin(scopes__rerun *r, actor *a, uint32_t operation, int64_t ns)
{
    uint32_t waiters = waiters_of(r, operation);
    int64_t arrived_ns = ns + r->costs->down_ns[operation];
    gathering *round = round_of(r, operation);

    a->begun_ns = ns;
    r->arrived_ns[operation] = more(arrived_ns, ARRIVED);
    go_on_all(r, waiters);
    if (!round)
        return;
    round->last_ns = more(round->last_ns, arrived_ns);
    if (--round->missing == 0) {
        go_on_all(r, round->waiters);
        round->waiters = PATHS_NONE;
    }
}

static void end(scopes__rerun *r, actor *a, uint32_t operation, int64_t ns)
{
    r->end_ns[operation] =
        more(ns, r->arrived_ns[operation] - r->costs->down_ns[operation]);
    a->busy_ns = more(a->busy_ns, r->end_ns[operation]);
}

static void end_alone(scopes__rerun *r, actor *a, uint32_t operation)
{
    end(r, a, operation,
        r->arrived_ns[operation] + r->costs->own_ns[operation]);
}

static bool ends_in_round(scopes__rerun *r, actor *a, uint32_t operation,
                          gathering *round)
{
    if (round->missing) {
        wait_in(r, &round->waiters, a, operation);
        return false;
    }
    end(r, a, operation, round->last_ns + r->costs->up_ns[operation]);
    return true;
}

static bool ends_after(scopes__rerun *r, actor *a, uint32_t operation,
                       uint32_t other)
{
    int64_t own_ns;

    if (r->arrived_ns[other] < ARRIVED) {
        uint32_t waiters = waiters_of(r, other);
        wait_in(r, &waiters, a, operation);
        waiters_set(r, other, waiters);
        return false;
    }
    own_ns = r->arrived_ns[operation] + r->costs->own_ns[operation];
    end(r, a, operation,
        more(own_ns, r->arrived_ns[other] + r->costs->up_ns[operation]));
    return true;
}

/* False: the thread has to wait. */
static bool ends(scopes__rerun *r, actor *a, uint32_t operation)
{
    gathering *round = round_of(r, operation);
    uint32_t other = scopes__waiting_other(r->w, operation);

    if (r->end_ns[operation] != NOT_YET)
        return true;
    if (r->costs->is_free[operation] || (!round && other == SCOPES_MISSING)) {
        end_alone(r, a, operation);
        return true;
    }
    return round ? ends_in_round(r, a, operation, round)
                 : ends_after(r, a, operation, other);
}

/* --- a thread --- */

static bool all_end(scopes__rerun *r, actor *a, uint32_t before)
{
    for (; a->ended < before; a->ended++)
        if (!ends(r, a, a->ended))
            return false;
    return true;
}

/* When the next operation begins. False: it is not known yet. */
static bool begin_of(scopes__rerun *r, actor *a, int64_t *ns)
{
    uint32_t at = a->at, before = r->before[at];
    int64_t gap_ns = r->costs->gap_ns[at];

    if (r->w->flags[at] & SCOPES__BEGINS) {
        if (!all_end(r, a, at))
            return false;
        a->call_ns = a->busy_ns + gap_ns;
        *ns = a->call_ns;
        return true;
    }
    if (before == at) {
        *ns = more(a->begun_ns, a->call_ns + gap_ns);
        return true;
    }
    if (!ends(r, a, before))
        return false;
    *ns = more(a->begun_ns, r->end_ns[before] + gap_ns);
    return true;
}

static void replay(scopes__rerun *r, uint32_t thread)
{
    actor *a = &r->actors[thread];
    int64_t ns;

    for (; a->at < a->end; a->at++) {
        if (!begin_of(r, a, &ns))
            return;
        begin(r, a, a->at, ns);
    }
    if (all_end(r, a, a->end))
        a->busy_ns += r->costs->tail_ns[thread];
}

static void take_out(const scopes__rerun *r, uint32_t *waiters, uint32_t thread)
{
    while (*waiters != thread)
        waiters = &r->actors[*waiters].next;
    *waiters = r->actors[thread].next;
}

/* Of those that need each other in a circle, the first no longer waits. */
static void let_go(scopes__rerun *r)
{
    uint32_t first = PATHS_NONE;
    gathering *round;
    actor *a;

    for (uint32_t i = 0; i < r->w->times->thread_count; i++) {
        a = &r->actors[i];
        if (a->waits &&
            (first == PATHS_NONE || a->begun_ns < r->actors[first].begun_ns))
            first = i;
    }
    a = &r->actors[first];
    round = round_of(r, a->stuck);
    if (round) {
        take_out(r, &round->waiters, first);
    } else {
        uint32_t other = scopes__waiting_other(r->w, a->stuck);
        uint32_t waiters = waiters_of(r, other);
        take_out(r, &waiters, first);
        waiters_set(r, other, waiters);
    }
    a->waits = false;
    r->blocked--;
    end_alone(r, a, a->stuck);
    go_on(r, first);
}

/* --- the run --- */

static void actor_begin(scopes__rerun *r, uint32_t thread)
{
    const scopes_thread *its = &r->w->times->threads[thread];
    actor *a = &r->actors[thread];
    uint32_t first = its->operations ? (uint32_t)its->operation : 0;

    *a = (actor){.at = first,
                 .ended = first,
                 .end = first + (uint32_t)its->operations,
                 .begun_ns = r->costs->begin_ns[thread],
                 .busy_ns = r->costs->begin_ns[thread]};
}

static void forget(scopes__rerun *r)
{
    for (uint32_t i = 0; i < r->w->met_count; i++)
        r->rounds[i] = (gathering){0, PATHS_NONE, INT64_MIN};
    for (uint32_t i = 0; i < r->w->count; i++) {
        gathering *round = round_of(r, i);
        r->arrived_ns[i] = NOT_YET;
        r->end_ns[i] = NOT_YET;
        if (round)
            round->missing++;
    }
    r->ready = PATHS_NONE;
    r->blocked = 0;
}

int64_t scopes__rerun_time(scopes__rerun *r, const scopes__costs *costs)
{
    uint32_t threads = r->w->times->thread_count;
    int64_t longest_ns = 0;

    r->costs = costs;
    forget(r);
    for (uint32_t i = threads; i-- > 0;) {
        actor_begin(r, i);
        go_on(r, i);
    }
    while (r->ready != PATHS_NONE || r->blocked) {
        uint32_t thread = r->ready;
        if (thread == PATHS_NONE) {
            let_go(r);
            continue;
        }
        r->ready = r->actors[thread].next;
        replay(r, thread);
    }
    for (uint32_t i = 0; i < threads; i++)
        if (r->w->times->threads[i].operations)
            longest_ns = more(longest_ns, r->actors[i].busy_ns);
    return longest_ns;
}

int64_t scopes__rerun_end_of(const scopes__rerun *r, uint32_t operation)
{
    return r->end_ns[operation];
}

/* --- all of it --- */

const scopes__costs *scopes__rerun_recorded(const scopes__rerun *rerun)
{
    return &rerun->recorded;
}

int scopes__rerun_create(scopes__rerun **out, const scopes__waiting *waiting)
{
    scopes__rerun *r = calloc(1, sizeof(*r));
    size_t count = (size_t)waiting->count + 1;
    int err;

    *out = NULL;
    if (!r)
        return scopes__no_room("to replay the run");
    r->w = waiting;
    r->before = scopes__allocate(count * sizeof(*r->before));
    r->arrived_ns = scopes__allocate(count * sizeof(*r->arrived_ns));
    r->end_ns = scopes__allocate(count * sizeof(*r->end_ns));
    r->rounds =
        scopes__allocate(((size_t)waiting->met_count + 1) * sizeof(*r->rounds));
    r->actors = calloc(waiting->times->thread_count + 1u, sizeof(*r->actors));
    err = !r->before || !r->arrived_ns || !r->end_ns || !r->rounds || !r->actors
              ? scopes__no_room("to replay the run")
              : scopes__costs_record(&r->recorded, waiting, r->before);
    if (err)
        scopes__rerun_destroy(r);
    else
        *out = r;
    return err;
}

void scopes__rerun_destroy(scopes__rerun *r)
{
    if (!r)
        return;
    scopes__costs_free(&r->recorded);
    scopes__free(r->before);
    scopes__free(r->arrived_ns);
    scopes__free(r->end_ns);
    scopes__free(r->rounds);
    free(r->actors);
    free(r);
}
