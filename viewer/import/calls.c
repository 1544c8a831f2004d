/* calls.c - see calls_internal.h. */
#include "viewer/import/calls_internal.h"

#include <stdlib.h>
#include <string.h>

/* Out of memory is no end of the program. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(item) ((item)->request = 0)
#include <uthash.h>

#include "pastset/array.h"
#include "pastset/status.h"

typedef struct entered {
    uint32_t region;
    uint64_t start;
} entered;

/* MPI_Irecv that has begun. */
typedef struct begun {
    uint64_t request, posted;
    UT_hash_handle hh;
} begun;

typedef struct walk {
    const otf2_trace *trace;
    call_visit *visit;
    void *context;
    calls_odd *odd;
    entered *stack;
    size_t depth;
    size_t mpi;           /* depth above the outermost MPI region; 0: in none */
    uint32_t plain;       /* regions that are not of MPI, in the stack */
    uint64_t last;        /* ticks of the last event */
    otf2_event *partners; /* of the call that is under way */
    size_t partner_count;
    bool lives;
    uint64_t begin;
    begun *requests;
    uint64_t posted; /* receives */
} walk;

static bool is_mpi(const walk *w, uint32_t region)
{
    return region != OTF2_NONE && w->trace->regions[region].is_mpi;
}

static call_what what_of(const otf2_event *event)
{
    return event->kind == OTF2_SEND      ? CALL_SENDS
           : event->kind == OTF2_RECEIVE ? CALL_RECEIVES
                                         : CALL_JOINS;
}

static int enter(walk *w, const otf2_event *event)
{
    entered *more = pastset_array_grow(w->stack, w->depth, sizeof(*more));

    if (!more)
        return pastset_no_memory("for the regions of a thread");
    w->stack = more;
    w->stack[w->depth++] = (entered){event->region, event->ticks};
    if (w->mpi)
        return 0;
    if (is_mpi(w, event->region)) {
        w->odd->joined_groups |= w->trace->regions[event->region].joins_groups;
        w->mpi = w->depth;
        w->partner_count = 0;
    } else {
        w->plain++;
    }
    return 0;
}

/* The outermost MPI region was left. */
static int call_end(walk *w, uint32_t thread, const entered *top, uint64_t end)
{
    mpi_call c = {.what = CALL_ALONE,
                  .start = top->start,
                  .end = end,
                  .region = top->region};
    int err = 0;

    w->mpi = 0;
    if (w->partner_count == 0) {
        w->odd->silent +=
            top->region != OTF2_NONE && w->trace->regions[top->region].receives;
        return w->visit(thread, &c, w->context);
    }
    for (size_t i = 0; i < w->partner_count && !err; i++) {
        c.event = &w->partners[i];
        c.what = what_of(c.event);
        err = w->visit(thread, &c, w->context);
    }
    return err;
}

static int region_end(walk *w, uint32_t thread, const entered *top,
                      uint64_t end)
{
    mpi_call c = {.what = CALL_REGION,
                  .start = top->start,
                  .end = end,
                  .region = top->region,
                  .depth = --w->plain};

    return w->visit(thread, &c, w->context);
}

/* The regions of some processes may have one name. */
static bool are_alike(const walk *w, uint32_t a, uint32_t b)
{
    return a == b ||
           (a != OTF2_NONE && b != OTF2_NONE &&
            strcmp(w->trace->regions[a].name, w->trace->regions[b].name) == 0);
}

static void note_unpaired(walk *w, uint32_t region)
{
    if (w->odd->unpaired++ == 0)
        w->odd->unpaired_first = region;
    w->odd->unpaired_alike += are_alike(w, region, w->odd->unpaired_first);
}

static int leave(walk *w, uint32_t thread, const otf2_event *event)
{
    const entered *top = w->depth ? &w->stack[w->depth - 1] : NULL;

    if (!top || top->region != event->region) {
        note_unpaired(w, event->region);
        return 0;
    }
    w->depth--;
    if (w->mpi)
        return w->mpi == w->depth + 1 ? call_end(w, thread, top, event->ticks)
                                      : 0;
    return region_end(w, thread, top, event->ticks);
}

/* Regions that were not left last as long as there are events. What MPI calls
 * that did not return were about is not known. */
static int leave_all(walk *w, uint32_t thread)
{
    int err = 0;

    while (w->depth > 0 && !err) {
        w->depth--;
        if (w->mpi) {
            note_unpaired(w, w->stack[w->depth].region);
            w->mpi = w->mpi == w->depth + 1 ? 0 : w->mpi;
            continue;
        }
        w->odd->open++;
        err = region_end(w, thread, &w->stack[w->depth], w->last);
    }
    return err;
}

static int partner(walk *w, uint32_t thread, const otf2_event *event)
{
    mpi_call c = {.what = what_of(event),
                  .start = event->ticks,
                  .end = event->ticks,
                  .region = OTF2_NONE,
                  .event = event};
    otf2_event *more;

    if (!w->mpi)
        return w->visit(thread, &c, w->context);
    more = pastset_array_grow(w->partners, w->partner_count, sizeof(*more));
    if (!more)
        return pastset_no_memory("for the messages of a call");
    w->partners = more;
    w->partners[w->partner_count++] = *event;
    return 0;
}

static int request(walk *w, const otf2_event *event)
{
    begun *r;

    HASH_FIND(hh, w->requests, &event->request, sizeof(event->request), r);
    if (!r) {
        uint32_t before = HASH_COUNT(w->requests);
        r = calloc(1, sizeof(*r));
        if (!r)
            return pastset_no_memory("for the requests of a thread");
        r->request = event->request;
        HASH_ADD(hh, w->requests, request, sizeof(r->request), r);
        if (HASH_COUNT(w->requests) == before) {
            free(r);
            return pastset_no_memory("for the requests of a thread");
        }
    }
    r->posted = ++w->posted;
    return 0;
}

/* MPI gives messages to receives in the order in which these began, but tracers
 * write receives down when they end. Another thread may have begun it. */
static int receive(walk *w, uint32_t thread, const otf2_event *event)
{
    otf2_event received = *event;
    begun *r = NULL;

    if (event->requested) {
        w->odd->received++;
        HASH_FIND(hh, w->requests, &event->request, sizeof(event->request), r);
    }
    w->odd->unbegun += event->requested && !r;
    received.posted = r                  ? r->posted
                      : event->requested ? UINT64_MAX
                                         : ++w->posted;
    if (r) {
        HASH_DEL(w->requests, r);
        free(r);
    }
    return partner(w, thread, &received);
}

static int take(uint32_t thread, const otf2_event *event, void *context)
{
    walk *w = context;
    mpi_call life = {.what = CALL_LIFE, .region = OTF2_NONE};

    w->last = event->ticks > w->last ? event->ticks : w->last;
    switch (event->kind) {
    case OTF2_ENTER:
        return enter(w, event);
    case OTF2_LEAVE:
        return leave(w, thread, event);
    case OTF2_RECEIVE:
        return receive(w, thread, event);
    case OTF2_SEND:
    case OTF2_COLLECTIVE:
        return partner(w, thread, event);
    case OTF2_RECEIVE_REQUEST:
        w->odd->requests++;
        return request(w, event);
    case OTF2_THREAD_BEGINS:
        w->lives = true;
        w->begin = event->ticks;
        return 0;
    case OTF2_THREAD_ENDS:
        if (!w->lives)
            return 0;
        w->lives = false;
        life.start = w->begin;
        life.end = event->ticks;
        return w->visit(thread, &life, w->context);
    default:
        return 0;
    }
}

int viewer__calls_walk(otf2_trace *trace, uint32_t thread, call_visit *visit,
                       void *context, calls_odd *odd)
{
    calls_odd none = {0};
    walk w = {.trace = trace,
              .visit = visit,
              .context = context,
              .odd = odd ? odd : &none};
    begun *r, *next;
    uint64_t others = 0;
    int err = viewer__otf2_trace_walk(trace, thread, take, &w, &others);

    if (!err)
        err = leave_all(&w, thread);
    HASH_ITER(hh, w.requests, r, next)
    {
        HASH_DEL(w.requests, r);
        free(r);
    }
    w.odd->others += others;
    free(w.stack);
    free(w.partners);
    return err;
}
