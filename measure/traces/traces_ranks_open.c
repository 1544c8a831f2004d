/* traces_ranks_open.c - the calls of processes that communicate by other means
 * than paths, in the order of each thread, and whose message is whose.
 *
 * A receive has exactly the message of its send (scopes/causality/cause.h).
 * Whether a send has waited for its receive its times tell: one of a message
 * that libraries may keep back, that lasted until its receive began. */
#include "measure/traces/traces_ranks_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/request.h"
#include "pastset/status.h"

#define UNASKED 2048 /* bytes that go along without being asked for */

/* --- messages --- */

int measure__ranks_messages(traces *t, uint32_t *first, size_t count)
{
    *first = (uint32_t)t->message_capacity;
    if (t->message_capacity + count >= TRACES_NONE)
        return pastset_fail(PASTSET_ELIMIT, "%zu messages are too many",
                            t->message_capacity + count);
    for (size_t i = 0; i < count; i++) {
        void *more = pastset_array_grow(t->messages, t->message_capacity,
                                        sizeof(*t->messages));
        if (!more)
            return measure__traces_no_memory();
        t->messages = more;
        t->messages[t->message_capacity++] =
            (traces_message){.next = TRACES_NONE};
    }
    return 0;
}

/* --- operations --- */

static int by_sequence(const void *left, const void *right)
{
    const ranks_operation *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

/* Those of one collector; only counts them while there is no room. */
static void take(ranks *r, uint32_t id)
{
    const traces *t = r->t;
    const traces_stream *l = &t->streams[id];

    for (uint32_t e = 0; e < l->count; e++) {
        const eventspace_trace *event = scopes_event_at(l->events, e);
        if (event->thread >= t->topology->thread_count ||
            !t->processes[l->process].known)
            continue;
        if (r->operations)
            r->operations[r->count] =
                (ranks_operation){.start_ns = measure__traces_start(t, id, e),
                                  .end_ns = measure__traces_end(t, id, e),
                                  .stream = id,
                                  .event = e,
                                  .process = l->process,
                                  .thread = event->thread,
                                  .sequence = event->sequence,
                                  .message = TRACES_NONE,
                                  .ready = TRACES_NONE,
                                  .meeting = TRACES_NONE};
        r->count++;
    }
}

static void take_all(ranks *r)
{
    const scopes_topology *topology = r->t->topology;

    r->count = 0;
    for (uint32_t i = 0; i < topology->top_count; i++)
        take(r, topology->tops[i].collector);
}

static int find_threads(ranks *r)
{
    uint32_t count = r->t->topology->thread_count;
    size_t at = 0;

    r->threads = calloc((size_t)count + 1, sizeof(*r->threads));
    if (!r->threads)
        return measure__traces_no_memory();
    for (uint32_t i = 0; i <= count; i++) {
        while (at < r->count && r->operations[at].thread < i)
            at++;
        r->threads[i] = at;
    }
    return 0;
}

static int collect(ranks *r)
{
    traces *t = r->t;

    take_all(r);
    r->operations = malloc((r->count + 1) * sizeof(*r->operations));
    r->due = malloc((r->count + 1) * sizeof(*r->due));
    if (!r->operations || !r->due)
        return measure__traces_no_memory();
    take_all(r);
    if (r->count >= TRACES_NONE)
        return pastset_fail(PASTSET_ELIMIT, "%zu calls are too many", r->count);
    if (r->count)
        qsort(r->operations, r->count, sizeof(*r->operations), by_sequence);
    for (uint32_t id = 0; id < t->topology->collectors; id++) {
        size_t bytes = (t->streams[id].count + 1u) * sizeof(uint32_t);
        t->streams[id].below = malloc(bytes);
        if (!t->streams[id].below)
            return measure__traces_no_memory();
        memset(t->streams[id].below, 0xff, bytes);
    }
    for (size_t i = 0; i < r->count; i++) {
        const ranks_operation *o = &r->operations[i];
        t->streams[o->stream].below[o->event] = (uint32_t)i;
        if (o->end_ns > t->last_ns)
            t->last_ns = o->end_ns;
    }
    return find_threads(r);
}

uint32_t measure__ranks_find(const ranks *r, uint32_t thread, uint32_t sequence)
{
    const ranks_operation wanted = {.thread = thread, .sequence = sequence};
    const ranks_operation *found = NULL;

    if (r->count)
        found = bsearch(&wanted, r->operations, r->count, sizeof(wanted),
                        by_sequence);
    return found ? (uint32_t)(found - r->operations) : TRACES_NONE;
}

/* Collectors are called "rank_0: MPI_Send to rank_1 at ...". What is behind the
 * name if it begins like this; NULL: it does not. */
static const char *behind(const ranks *r, const ranks_operation *o,
                          const char *begin)
{
    const scopes_topology *topology = r->t->topology;
    const char *name =
        scopes_topology_node_name(topology, topology->nodes[o->stream]);
    const char *call = strstr(name, ": ");

    return call && strncmp(call + 2, begin, strlen(begin)) == 0
               ? call + 2 + strlen(begin)
               : NULL;
}

bool measure__ranks_is_like(const ranks *r, const ranks_operation *o,
                            const char *begin)
{
    return behind(r, o, begin) != NULL;
}

bool measure__ranks_is_call(const ranks *r, const ranks_operation *o,
                            const char *name)
{
    const char *rest = behind(r, o, name);

    return rest && (*rest == '\0' || *rest == ' ');
}

/* --- messages between two --- */

static bool may_wait(const ranks *r, const ranks_operation *sent)
{
    if (measure__ranks_is_like(r, sent, "MPI_I") ||
        measure__ranks_is_like(r, sent, "MPI_Start"))
        return false; /* who began it did not wait */
    return measure__ranks_bytes(r, sent) > UNASKED ||
           measure__ranks_is_like(r, sent, "MPI_Ssend");
}

static bool has_waited(const ranks *r, const ranks_operation *sent,
                       const ranks_operation *received)
{
    return sent->start_ns < received->start_ns &&
           received->start_ns <= sent->end_ns && may_wait(r, sent);
}

/* What goes there and back after the receiver has come is halved. */
static int64_t half_way(const ranks_operation *sent,
                        const ranks_operation *received)
{
    int64_t end_ns =
        sent->end_ns < received->end_ns ? sent->end_ns : received->end_ns;

    return end_ns > received->start_ns ? (end_ns - received->start_ns) / 2 : 0;
}

static int pair(ranks *r, ranks_operation *sent, ranks_operation *received)
{
    bool waited = has_waited(r, sent, received);
    uint32_t first;
    int err = measure__ranks_messages(r->t, &first, waited ? 2 : 1);

    if (err)
        return err;
    sent->kind = RANKS_SENDS;
    received->kind = RANKS_RECEIVES;
    sent->message = received->message = first;
    r->t->messages[first].at_ns = sent->start_ns;
    r->t->messages[first].to = received->process;
    if (waited) {
        sent->ready = received->ready = first + 1;
        r->t->messages[first].at_ns =
            received->start_ns + half_way(sent, received);
        r->t->messages[first + 1].at_ns = received->start_ns;
        r->t->messages[first + 1].to = sent->process;
    }
    return 0;
}

static int pair_all(ranks *r)
{
    traces *t = r->t;
    int err = scopes_causes_create(
        &t->causes, t->topology, t->snapshot->event_table, t->snapshot->clocks);

    for (size_t i = 0; i < r->count && !err; i++) {
        ranks_operation *o = &r->operations[i];
        const eventspace_trace *event =
            scopes_event_at(t->streams[o->stream].events, o->event);
        scopes_cause cause;
        uint32_t other;
        if (event->operation != PASTSET_TAKE || event->status)
            continue;
        cause = scopes_causes_of(t->causes, o->stream, o->event);
        if (cause.collector == PATHS_NONE)
            continue;
        other = t->streams[cause.collector].below[cause.event];
        if (other != TRACES_NONE && other != i &&
            r->operations[other].message == TRACES_NONE)
            err = pair(r, &r->operations[other], o);
    }
    return err;
}

/* --- all of it --- */

int measure__ranks_open(ranks *r, traces *t)
{
    int err;

    *r = (ranks){.t = t};
    err = collect(r);
    if (!err)
        err = pair_all(r);
    if (!err)
        err = measure__ranks_find_meetings(r);
    for (size_t i = 0; i < r->meeting_count && !err; i++)
        err = measure__ranks_model(r, &r->meetings[i]);
    return err;
}

void measure__ranks_close(ranks *r)
{
    free(r->operations);
    free(r->threads);
    free(r->members);
    free(r->meetings);
    free(r->completions);
    free(r->due);
}
