/* ideal_network.c - see ideal_network_internal.h. Threads that can go on are in
 * a list; one that needs what has not begun is put to the operation or round,
 * and goes on when that has. So each operation is looked at once. */
#include "scopes/waiting/ideal_network_internal.h"

#include <stdlib.h>

#include "scopes/memory/memory_internal.h"

/* In place of the time when an operation began: it has not, and so much more is
 * the thread that waits for that, or the first of them. */
#define NOT_YET INT64_MIN
#define WAITED_FOR (INT64_MIN + 1)
#define BEGUN (WAITED_FOR + PATHS_NONE)

/* How many items of four bytes ahead memory is fetched: two lines. */
#define AHEAD 32

/* A thread that is replayed. */
typedef struct actor {
    uint32_t at, end;  /* operations of the part that are left */
    uint32_t call_end; /* of the call it is in: its operations end there */
    bool in_call;
    int64_t now_ns;   /* when it computes; in a call: when that ends */
    int64_t until_ns; /* as recorded: until when it has been replayed */
    uint32_t next;    /* in the list that it is in */
    bool waits, has_ended;
} actor;

/* A round, in the part. */
typedef struct gathering {
    uint32_t missing; /* operations that have not come */
    uint32_t waiters; /* threads */
    int64_t last_ns;
} gathering;

struct scopes__ideal {
    const scopes__waiting *w;
    int64_t from_ns, to_ns; /* what begins then or later is not of the part */
    bool whole;             /* all are of the part */
    int64_t *begun_ns;      /* by operation; or who waits for it */
    gathering *rounds;
    actor *actors; /* by thread */
    uint32_t ready;
    uint32_t blocked;
};

/* --- parts of what a thread did --- */

static const scopes_operation *operation_at(const scopes__waiting *w,
                                            uint32_t i)
{
    return scopes__waiting_operation(w, i);
}

/* The thread's first operation that begins at this time or later. */
static uint32_t first_from(const scopes__waiting *w,
                           const scopes_thread *thread, int64_t ns)
{
    uint32_t low = (uint32_t)thread->operation;
    uint32_t high = low + (uint32_t)thread->operations;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (operation_at(w, middle)->start_ns < ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where the call that begins at `at` ends; and when, as it was recorded. */
static uint32_t call_end_of(const scopes__waiting *w, uint32_t at, uint32_t end,
                            int64_t *end_ns)
{
    *end_ns = operation_at(w, at)->end_ns;
    for (at++; at < end && !(w->flags[at] & SCOPES__BEGINS); at++)
        if (operation_at(w, at)->end_ns > *end_ns)
            *end_ns = operation_at(w, at)->end_ns;
    return at;
}

/* The first operation of the call that is under way, or comes next. */
static uint32_t first_within(const scopes__waiting *w,
                             const scopes_thread *thread, int64_t from_ns)
{
    uint32_t end = (uint32_t)(thread->operation + thread->operations);
    uint32_t next = first_from(w, thread, from_ns), at = next;
    int64_t end_ns;

    if (at == thread->operation)
        return at;
    for (at--; at > thread->operation && !(w->flags[at] & SCOPES__BEGINS);)
        at--;
    next = call_end_of(w, at, end, &end_ns);
    return end_ns > from_ns ? at : next;
}

static int64_t less(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t more(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t scopes__useful_time(const scopes__waiting *w, uint32_t number,
                            int64_t from_ns, int64_t to_ns)
{
    const scopes_thread *thread = &w->times->threads[number];
    uint32_t end = (uint32_t)(thread->operation + thread->operations);
    int64_t useful_ns = 0, last_ns;

    from_ns = more(from_ns, thread->start_ns);
    to_ns = less(to_ns, thread->end_ns);
    for (uint32_t at = first_within(w, thread, from_ns);
         at < end && from_ns < to_ns; from_ns = more(from_ns, last_ns)) {
        int64_t start_ns = operation_at(w, at)->start_ns;
        if (start_ns > from_ns)
            useful_ns += less(start_ns, to_ns) - from_ns;
        at = call_end_of(w, at, end, &last_ns);
    }
    return useful_ns + more(0, to_ns - from_ns);
}

/* --- who goes on --- */

static void go_on(scopes__ideal *d, uint32_t thread)
{
    d->actors[thread].next = d->ready;
    d->ready = thread;
}

static void go_on_all(scopes__ideal *d, uint32_t *waiters)
{
    while (*waiters != PATHS_NONE) {
        uint32_t thread = *waiters;
        *waiters = d->actors[thread].next;
        d->actors[thread].waits = false;
        d->blocked--;
        go_on(d, thread);
    }
}

static void wait_in(scopes__ideal *d, uint32_t *waiters, actor *a)
{
    a->next = *waiters;
    *waiters = (uint32_t)(a - d->actors);
    a->waits = true;
    d->blocked++;
}

/* --- what operations need --- */

static bool is_within(const scopes__ideal *d, uint32_t operation)
{
    int64_t ns;

    if (d->whole)
        return true;
    ns = operation_at(d->w, operation)->start_ns;
    return ns >= d->from_ns && ns < d->to_ns;
}

static gathering *round_of(scopes__ideal *d, uint32_t operation)
{
    uint32_t meeting = scopes__waiting_meeting(d->w, operation);

    return meeting == SCOPES_MISSING ? NULL : &d->rounds[meeting];
}

/* Threads that wait for an operation which has not begun. */
static uint32_t waiters_of(const scopes__ideal *d, uint32_t operation)
{
    int64_t begun_ns = d->begun_ns[operation];

    return begun_ns == NOT_YET ? PATHS_NONE : (uint32_t)(begun_ns - WAITED_FOR);
}

static void waiters_set(scopes__ideal *d, uint32_t operation, uint32_t waiters)
{
    d->begun_ns[operation] =
        waiters == PATHS_NONE ? NOT_YET : WAITED_FOR + waiters;
}

/* It begins: those who have waited for that go on. */
static void begin(scopes__ideal *d, uint32_t operation, int64_t now_ns)
{
    gathering *round = round_of(d, operation);
    uint32_t waiters;

    if (!is_within(d, operation))
        return;
    waiters = waiters_of(d, operation);
    d->begun_ns[operation] = now_ns;
    go_on_all(d, &waiters);
    if (!round)
        return;
    round->last_ns = more(round->last_ns, now_ns);
    if (--round->missing == 0)
        go_on_all(d, &round->waiters);
}

/* The one that has to begin first; SCOPES_MISSING. */
static uint32_t needed_by(const scopes__waiting *w, uint32_t operation)
{
    if ((w->flags[operation] & SCOPES__MAY_BLOCK) &&
        !(w->flags[operation] & SCOPES__BLOCKS))
        return SCOPES_MISSING;
    return scopes__waiting_other(w, operation);
}

/* False: the thread has to wait. */
static bool has_needed(scopes__ideal *d, actor *a, uint32_t operation)
{
    gathering *round = round_of(d, operation);
    uint32_t other = needed_by(d->w, operation);

    if (round) {
        if (round->missing) {
            wait_in(d, &round->waiters, a);
            return false;
        }
        a->now_ns = more(a->now_ns, round->last_ns);
        return true;
    }
    if (other == SCOPES_MISSING || !is_within(d, other))
        return true;
    if (d->begun_ns[other] < BEGUN) {
        uint32_t waiters = waiters_of(d, other);
        wait_in(d, &waiters, a);
        waiters_set(d, other, waiters);
        return false;
    }
    a->now_ns = more(a->now_ns, d->begun_ns[other]);
    return true;
}

/* --- a thread --- */

/* Has memory fetched that the thread needs soon: threads are replayed by turns,
 * and each has its own. */
static void fetch_ahead(const scopes__ideal *d, uint32_t operation)
{
    if (d->w->count - operation <= AHEAD)
        return;
    __builtin_prefetch(&d->w->times->operations[operation + AHEAD / 4]);
    __builtin_prefetch(&d->begun_ns[operation + AHEAD / 2], 1);
    __builtin_prefetch(&d->w->needs[operation + AHEAD]);
}

static void call_begin(scopes__ideal *d, actor *a)
{
    int64_t start_ns = operation_at(d->w, a->at)->start_ns, end_ns;

    if (start_ns > a->until_ns)
        a->now_ns += start_ns - a->until_ns;
    fetch_ahead(d, a->at);
    a->call_end = call_end_of(d->w, a->at, a->end, &end_ns);
    a->until_ns = more(a->until_ns, end_ns);
    a->in_call = true;
    for (uint32_t i = a->at; i < a->call_end; i++)
        begin(d, i, a->now_ns);
}

static void replay(scopes__ideal *d, uint32_t thread)
{
    actor *a = &d->actors[thread];
    int64_t end_ns = less(d->to_ns, d->w->times->threads[thread].end_ns);

    while (a->at < a->end) {
        if (!a->in_call)
            call_begin(d, a);
        for (; a->at < a->call_end; a->at++)
            if (!has_needed(d, a, a->at))
                return;
        a->in_call = false;
    }
    a->has_ended = true;
    if (end_ns > a->until_ns)
        a->now_ns += end_ns - a->until_ns;
}

static void take_out(const scopes__ideal *d, uint32_t *waiters, uint32_t thread)
{
    while (*waiters != thread)
        waiters = &d->actors[*waiters].next;
    *waiters = d->actors[thread].next;
}

/* Of those that need each other in a circle, the first no longer waits. */
static void let_go(scopes__ideal *d)
{
    uint32_t first = PATHS_NONE;
    gathering *round;

    for (uint32_t i = 0; i < d->w->times->thread_count; i++) {
        const actor *a = &d->actors[i];
        if (a->waits &&
            (first == PATHS_NONE || a->now_ns < d->actors[first].now_ns))
            first = i;
    }
    round = round_of(d, d->actors[first].at);
    if (round) {
        take_out(d, &round->waiters, first);
    } else {
        uint32_t other = needed_by(d->w, d->actors[first].at);
        uint32_t waiters = waiters_of(d, other);
        take_out(d, &waiters, first);
        waiters_set(d, other, waiters);
    }
    d->actors[first].waits = false;
    d->actors[first].at++;
    d->blocked--;
    go_on(d, first);
}

/* --- a part of the run --- */

static void actor_begin(scopes__ideal *d, uint32_t thread)
{
    const scopes_thread *its = &d->w->times->threads[thread];
    actor *a = &d->actors[thread];

    *a = (actor){.at = first_within(d->w, its, d->from_ns),
                 .end = first_from(d->w, its, d->to_ns),
                 .until_ns = more(d->from_ns, its->start_ns)};
    a->now_ns = more(0, its->start_ns - d->from_ns);
    if (a->end < a->at)
        a->end = a->at;
    for (uint32_t i = a->at; i < a->end; i++) {
        gathering *round = round_of(d, i);
        d->begun_ns[i] = NOT_YET;
        if (round && is_within(d, i))
            round->missing++;
    }
}

int64_t scopes__ideal_time(scopes__ideal *d, int64_t from_ns, int64_t to_ns)
{
    uint32_t threads = d->w->times->thread_count;
    int64_t longest_ns = 0;

    d->from_ns = from_ns;
    d->to_ns = to_ns == d->w->times->end_ns ? to_ns + 1 : to_ns;
    d->whole = from_ns <= d->w->times->start_ns && to_ns >= d->w->times->end_ns;
    d->ready = PATHS_NONE;
    d->blocked = 0;
    for (uint32_t i = 0; i < d->w->met_count; i++)
        d->rounds[i] = (gathering){0, PATHS_NONE, 0};
    for (uint32_t i = threads; i-- > 0;) {
        actor_begin(d, i);
        go_on(d, i);
    }
    while (d->ready != PATHS_NONE || d->blocked) {
        uint32_t thread = d->ready;
        if (thread == PATHS_NONE) {
            let_go(d);
            continue;
        }
        d->ready = d->actors[thread].next;
        replay(d, thread);
    }
    for (uint32_t i = 0; i < threads; i++) {
        if (d->w->times->threads[i].operations)
            longest_ns = more(longest_ns, d->actors[i].now_ns);
    }
    return less(longest_ns, to_ns - from_ns);
}

/* --- all of it --- */

int scopes__ideal_create(scopes__ideal **out, const scopes__waiting *waiting)
{
    scopes__ideal *d = calloc(1, sizeof(*d));
    size_t count = (size_t)waiting->count + 1;

    *out = NULL;
    if (!d)
        return scopes__no_room("for the ideal network");
    d->w = waiting;
    d->begun_ns = scopes__allocate(count * sizeof(*d->begun_ns));
    d->rounds =
        scopes__allocate(((size_t)waiting->met_count + 1) * sizeof(*d->rounds));
    d->actors = calloc(waiting->times->thread_count + 1u, sizeof(*d->actors));
    if (!d->begun_ns || !d->rounds || !d->actors) {
        scopes__ideal_destroy(d);
        return scopes__no_room("for the ideal network");
    }
    *out = d;
    return 0;
}

void scopes__ideal_destroy(scopes__ideal *d)
{
    if (!d)
        return;
    scopes__free(d->begun_ns);
    scopes__free(d->rounds);
    free(d->actors);
    free(d);
}
