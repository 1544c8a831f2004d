/* export_messages.c - messages (scopes/reading/messages.h) as flows between the
 * slices of the operations that sent and received them.
 *
 * Ends come by thread, in the order of its calls, and operations by time. What
 * has been read and not asked for waits until the time is past it; an end that
 * was placed waits for its counterpart. So what is in memory is what is under
 * way. */
#include "viewer/export/export_internal.h"

#include <stdlib.h>
#include <string.h>

/* Out of memory is no end of the program. */
#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(item) (*(item)->failed = true)
#include <uthash.h>

#include "pastset/array.h"
#include "pastset/status.h"

/* Of a thread: [first, count) were read and not asked for. */
typedef struct ahead {
    scopes_message_end *ends;
    size_t first, count;
    scopes_message_end next;
    bool has_next, has_begun;
} ahead;

/* An end whose counterpart has not come. */
typedef struct waiting {
    scopes_message_key key;
    viewer__message message;
    viewer__end at;
    bool *failed;
    UT_hash_handle hh;
} waiting;

struct viewer__messages {
    viewer__export *e;
    const viewer__sink *sink;
    void *context;
    uint64_t *flow_count;
    scopes_messages *all;
    ahead *threads;
    waiting *by_key;
    viewer__message *claimed; /* of the last operation */
    size_t claimed_count;
};

static int no_memory(void)
{
    return pastset_no_memory("for an export");
}

int viewer__messages_create(viewer__messages **out, viewer__export *e,
                            const viewer__sink *sink, void *context,
                            uint64_t *flow_count)
{
    viewer__messages *m = calloc(1, sizeof(*m));

    *out = m;
    if (!m)
        return no_memory();
    m->e = e;
    m->sink = sink;
    m->context = context;
    m->flow_count = flow_count;
    m->threads =
        calloc((size_t)e->topology->thread_count + 1, sizeof(*m->threads));
    return m->threads ? scopes_messages_open(&m->all, e->run, e->topology)
                      : no_memory();
}

void viewer__messages_destroy(viewer__messages *m)
{
    waiting *w, *next;

    if (!m)
        return;
    HASH_ITER(hh, m->by_key, w, next)
    {
        HASH_DEL(m->by_key, w);
        free(w);
    }
    for (uint32_t i = 0; m->threads && i < m->e->topology->thread_count; i++)
        free(m->threads[i].ends);
    scopes_messages_close(m->all);
    free(m->threads);
    free(m->claimed);
    free(m);
}

/* --- what an operation has sent or received --- */

static int64_t at_ns(const viewer__messages *m, const scopes_message_end *end)
{
    const scopes_topology *topology = m->e->topology;
    uint32_t node = topology->threads[end->thread];

    return scopes_clocks_ns(m->e->clocks, topology->map->nodes[node].process,
                            end->tick);
}

static void advance(viewer__messages *m, ahead *a, uint32_t thread)
{
    a->has_next = scopes_messages_next(m->all, thread, &a->next);
}

/* Reads on to the ends of an operation. Those that are earlier than its begin
 * are of others that have been, as operations come by their begins. */
static int read_to(viewer__messages *m, ahead *a, const viewer__event *event)
{
    if (!a->has_begun)
        advance(m, a, event->thread);
    a->has_begun = true;
    while (a->first < a->count &&
           at_ns(m, &a->ends[a->first]) < event->start_ns)
        a->first++;
    if (a->first == a->count)
        a->first = a->count = 0;
    for (; a->has_next && a->next.call <= event->sequence;
         advance(m, a, event->thread)) {
        scopes_message_end *more;
        if (at_ns(m, &a->next) < event->start_ns)
            continue;
        more = pastset_array_grow(a->ends, a->count, sizeof(*more));
        if (!more)
            return no_memory();
        a->ends = more;
        more[a->count++] = a->next;
    }
    return 0;
}

static int claim(viewer__messages *m, const scopes_message_end *end)
{
    viewer__message *more =
        pastset_array_grow(m->claimed, m->claimed_count, sizeof(*more));
    uint64_t id = UINT64_C(0xcbf29ce484222325); /* FNV-1a of its key */
    unsigned char bytes[sizeof(end->key)];

    if (!more)
        return no_memory();
    memcpy(bytes, &end->key, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        id = (id ^ bytes[i]) * UINT64_C(0x100000001b3);
    m->claimed = more;
    more[m->claimed_count++] = (viewer__message){
        *end, scopes_messages_communicator(m->all, end->key.communicator), id};
    return 0;
}

/* The first that is of no earlier call. */
static size_t find_call(const ahead *a, uint32_t call)
{
    size_t low = a->first, high = a->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (a->ends[middle].call < call)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int viewer__messages_claim(viewer__messages *m, const viewer__event *event,
                           const viewer__message **out, size_t *count)
{
    ahead *a;
    int err;

    *count = m->claimed_count = 0;
    if (event->thread >= m->e->topology->thread_count)
        return 0;
    a = &m->threads[event->thread];
    if (a->has_begun && !a->has_next && a->first == a->count)
        return 0;
    err = read_to(m, a, event);
    for (size_t i = find_call(a, event->sequence);
         i < a->count && a->ends[i].call == event->sequence && !err; i++)
        err = claim(m, &a->ends[i]);
    *out = m->claimed;
    *count = m->claimed_count;
    return err;
}

/* --- both ends --- */

/* An end that was placed. */
typedef struct placed {
    const viewer__message *message;
    const viewer__end *at;
} placed;

static int give(viewer__messages *m, placed sent, placed received)
{
    if (!m->sink->flow)
        return 0;
    return m->sink->flow(m->context,
                         &(viewer__flow){.id = ++*m->flow_count,
                                         .remote = true,
                                         .upper = *sent.at,
                                         .lower = *received.at,
                                         .message = sent.message,
                                         .received = received.message});
}

static int wait_for_other(viewer__messages *m, const viewer__message *message,
                          const viewer__end *at)
{
    bool failed = false;
    waiting *w = calloc(1, sizeof(*w));

    if (!w)
        return no_memory();
    *w = (waiting){.key = message->end.key,
                   .message = *message,
                   .at = *at,
                   .failed = &failed};
    HASH_ADD(hh, m->by_key, key, sizeof(w->key), w);
    if (failed) {
        free(w);
        return no_memory();
    }
    w->failed = NULL;
    return 0;
}

static int place(viewer__messages *m, const viewer__message *message,
                 const viewer__end *at)
{
    waiting *w;
    placed own, other;
    int err;

    if (message->end.key.ordinal == EVENTSPACE_MESSAGE_UNKNOWN)
        return 0;
    HASH_FIND(hh, m->by_key, &message->end.key, sizeof(w->key), w);
    if (!w)
        return wait_for_other(m, message, at);
    if (w->message.end.is_received == message->end.is_received)
        return 0; /* of a damaged file */
    HASH_DEL(m->by_key, w);
    own = (placed){message, at};
    other = (placed){&w->message, &w->at};
    err = message->end.is_received ? give(m, other, own) : give(m, own, other);
    free(w);
    return err;
}

int viewer__messages_place(viewer__messages *m, const viewer__end *at)
{
    int err = 0;

    for (size_t i = 0; i < m->claimed_count && !err; i++)
        err = place(m, &m->claimed[i], at);
    return err;
}
