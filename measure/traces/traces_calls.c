/* traces_calls.c - the calls of processes that communicate by other means than
 * paths, in the order of each thread; and what is done with messages in all of
 * them. */
#include "measure/traces/traces_ranks_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

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

/* Those of one collector; only counts them while there is no room. In damaged
 * traces events may claim to be of a thread of another process. */
static void take(ranks *r, const scopes_top *top)
{
    const traces *t = r->t;
    const traces_stream *l = &t->streams[top->collector];

    if (!t->processes[l->process].known ||
        !measure__traces_is_of(t, top->thread, l->process))
        return;
    for (uint32_t e = 0; e < l->count; e++) {
        const eventspace_trace *event = scopes_event_at(l->events, e);
        if (event->thread != top->thread)
            continue;
        if (r->operations)
            r->operations[r->count] = (ranks_operation){
                .start_ns = measure__traces_start(t, top->collector, e),
                .end_ns = measure__traces_end(t, top->collector, e),
                .stream = top->collector,
                .event = e,
                .process = l->process,
                .thread = event->thread,
                .sequence = event->sequence,
                .message = TRACES_NONE,
                .ready = TRACES_NONE,
                .room = TRACES_NONE,
                .meeting = TRACES_NONE};
        r->count++;
    }
}

static void take_all(ranks *r)
{
    const scopes_topology *topology = r->t->topology;

    r->count = 0;
    for (uint32_t i = 0; i < topology->top_count; i++)
        take(r, &topology->tops[i]);
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

int measure__ranks_collect(ranks *r)
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

size_t measure__ranks_call_at(const ranks *r, uint32_t thread, int64_t ns)
{
    size_t low = r->threads[thread], high = r->threads[thread + 1];

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->operations[middle].end_ns >= ns)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* --- receiving --- */

static int by_time(const void *left, const void *right)
{
    const ranks_due *a = left, *b = right;

    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return (a->message > b->message) - (a->message < b->message);
}

/* The one that was sent last is waited for; for the others the receiver comes
 * when that has been sent. */
int64_t measure__ranks_receive(traces *t, ranks_due *due, size_t count,
                               int64_t from_ns)
{
    int64_t ready_ns = from_ns;

    if (count == 0)
        return from_ns;
    qsort(due, count, sizeof(*due), by_time);
    if (due[count - 1].at_ns > ready_ns)
        ready_ns = due[count - 1].at_ns;
    for (size_t i = 0; i + 1 < count; i++) {
        int64_t early_ns = ready_ns - due[i].at_ns;
        measure__traces_receive_early(t, due[i].message,
                                      early_ns > 0 ? early_ns : 1);
    }
    measure__traces_receive_early(t, due[count - 1].message,
                                  ready_ns - due[count - 1].at_ns);
    return ready_ns;
}
