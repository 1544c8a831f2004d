/* messages_order.c - which message an end is of whose process has only counted
 * (EVENTSPACE_MESSAGE_COUNTED).
 *
 * MPI does not let messages overtake each other: of those from one process to
 * another in one communicator and with one tag, the one that was sent first is
 * received by the receive that was posted first, of all that receive one of
 * them, whatever they would have taken and when they end. So ends are sorted by
 * that, and numbered.
 *
 * Which of two threads was first nobody can tell, unless they say so to each
 * other; where several send, or receive, all of these messages are ambiguous.
 * So they are where the process could not write all of its ends down. */
#include <stdlib.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"
#include "scopes/reading/reading_internal.h"

/* An end of a message. */
typedef struct counted {
    scopes_message_key key; /* `ordinal`: as it was counted */
    uint32_t thread, index; /* the how manieth of that thread */
    uint32_t counted_by;    /* the thread that sent it, or posted its receive */
    bool is_received, has_gaps;
} counted;

typedef struct ordering {
    scopes_messages *messages;
    counted *all;
    size_t count;
} ordering;

static int no_room(void)
{
    return scopes__no_room("for the order of messages");
}

static int take(ordering *o, uint32_t thread)
{
    bool has_gaps = scopes__messages_has_gaps(o->messages, thread);
    scopes_message_end end;
    uint32_t index = 0;

    while (scopes_messages_next(o->messages, thread, &end)) {
        counted *more;
        if (end.counted_by ==
            PATHS_NONE) /* a process writes down all in one way */
            return 0;
        more = scopes__array_grow(o->all, o->count, sizeof(*more));
        if (!more)
            return no_room();
        o->all = more;
        more[o->count++] = (counted){end.key,        thread,          index++,
                                     end.counted_by, end.is_received, has_gaps};
    }
    return 0;
}

/* Without the ordinal. */
static int compare_groups(const counted *a, const counted *b)
{
    scopes_message_key left = a->key, right = b->key;

    left.ordinal = right.ordinal = 0;
    return scopes_message_compare(&left, &right);
}

static int by_group(const void *left, const void *right)
{
    const counted *a = left, *b = right;
    int order = compare_groups(a, b);

    if (order)
        return order;
    if (a->is_received != b->is_received)
        return a->is_received - b->is_received;
    return a->key.ordinal < b->key.ordinal ? -1
                                           : a->key.ordinal > b->key.ordinal;
}

/* Is each side of the group of one thread, and all there? */
static bool is_certain(const counted *group, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (group[i].has_gaps ||
            (i > 0 && group[i].is_received == group[i - 1].is_received &&
             group[i].counted_by != group[i - 1].counted_by))
            return false;
    return true;
}

static void number(scopes_messages *messages, const counted *group,
                   size_t count)
{
    bool certain = is_certain(group, count);
    uint32_t next = 0;

    for (size_t i = 0; i < count; i++) {
        if (i > 0 && group[i].is_received != group[i - 1].is_received)
            next = 0;
        scopes__messages_number(messages, group[i].thread, group[i].index,
                                certain ? next++ : EVENTSPACE_MESSAGE_UNKNOWN);
    }
}

static int order(scopes_messages *messages, uint32_t threads)
{
    ordering o = {.messages = messages};
    int err = 0;
    size_t to;

    for (uint32_t i = 0; i < threads && !err; i++)
        err = take(&o, i);
    if (o.count)
        qsort(o.all, o.count, sizeof(*o.all), by_group);
    if (!err && o.count)
        err = scopes__messages_numbers_make(messages);
    for (size_t from = 0; from < o.count && !err; from = to) {
        to = from + 1;
        while (to < o.count && compare_groups(&o.all[from], &o.all[to]) == 0)
            to++;
        number(messages, o.all + from, to - from);
    }
    scopes__free(o.all);
    scopes__messages_rewind(messages);
    return err;
}

int scopes_messages_open(scopes_messages **out, const eventspace_run *run,
                         const scopes_topology *topology)
{
    int err = scopes__messages_make(out, run, topology);

    if (err)
        return err;
    err = order(*out, topology->thread_count);
    if (err) {
        scopes_messages_close(*out);
        *out = NULL;
    }
    return err;
}
