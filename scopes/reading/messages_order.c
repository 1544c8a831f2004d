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
 * So they are where the process could not write all of its ends down.
 *
 * What began before an end that is there, and has not ended, is of that order
 * too. A receive of one source and tag has taken one of its messages, or will;
 * which one, of a receive that would take others, is not known: those after it
 * are ambiguous. */
#include <stdlib.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"
#include "scopes/reading/reading_internal.h"

/* An end of a message, or what has begun and not ended. */
typedef struct counted {
    scopes_message_key key; /* `ordinal`: as it was counted; `from` PATHS_NONE
                               and EVENTSPACE_MESSAGE_ANY_TAG: any */
    uint32_t thread, index; /* the how manieth of that thread */
    uint32_t counted_by;    /* the thread that sent it, or posted its receive */
    bool is_received;
    bool is_doubtful; /* it may be none */
    bool is_over;     /* what has begun */
    bool is_open;     /* it has begun: there is nothing to be numbered */
} counted;

typedef struct list {
    counted *items;
    size_t count;
} list;

typedef struct ordering {
    scopes_messages *messages;
    list ends;
    list begun; /* and at last those of which it is not known which message */
    bool *has_gaps; /* by thread */
} ordering;

static int no_room(void)
{
    return scopes__no_room("for the order of messages");
}

static int add(list *to, const counted *item)
{
    counted *more = scopes__array_grow(to->items, to->count, sizeof(*more));

    if (!more)
        return no_room();
    to->items = more;
    more[to->count++] = *item;
    return 0;
}

static int take(ordering *o, uint32_t thread)
{
    scopes_message_end end;
    uint32_t index = 0;
    int err = 0;

    while (!err && scopes__messages_next(o->messages, thread, &end)) {
        counted own = {.key = end.key,
                       .thread = thread,
                       .counted_by = end.counted_by,
                       .is_received = end.is_received,
                       .is_doubtful = end.status != 0};
        if (end.counted_by ==
            PATHS_NONE) /* a process writes down all in one way */
            return 0;
        own.is_open = end.kind != EVENTSPACE_MESSAGE_SENT &&
                      end.kind != EVENTSPACE_MESSAGE_RECEIVED;
        own.is_over = end.kind == EVENTSPACE_MESSAGE_WITHDRAWN;
        if (!own.is_open) {
            own.index = index++;
            own.is_doubtful = false;
        }
        err = add(own.is_open ? &o->begun : &o->ends, &own);
    }
    return err;
}

/* --- what has begun and not ended --- */

/* By the process, and by its order. */
static int by_beginning(const void *left, const void *right)
{
    const counted *a = left, *b = right;
    const uint32_t one[] = {a->is_received,
                            a->is_received ? a->key.to : a->key.from,
                            a->key.ordinal};
    const uint32_t other[] = {b->is_received,
                              b->is_received ? b->key.to : b->key.from,
                              b->key.ordinal};

    for (size_t i = 0; i < sizeof(one) / sizeof(*one); i++)
        if (one[i] != other[i])
            return one[i] < other[i] ? -1 : 1;
    return 0;
}

/* What several tuples say of one. */
static void begun_unite(list *begun)
{
    size_t kept = 0;

    qsort(begun->items, begun->count, sizeof(*begun->items), by_beginning);
    for (size_t i = 0; i < begun->count; i++) {
        counted *one = kept ? &begun->items[kept - 1] : NULL;
        const counted *next = &begun->items[i];
        if (!one || by_beginning(one, next) != 0) {
            begun->items[kept++] = *next;
            continue;
        }
        one->is_doubtful |= next->is_doubtful;
        one->is_over |= next->is_over;
    }
    begun->count = kept;
}

/* Those that remain are among the ends, or remain for all that they may be. */
static int begun_settle(ordering *o)
{
    list *begun = &o->begun;
    size_t kept = 0;
    int err = 0;

    if (!begun->count)
        return 0;
    begun_unite(begun);
    for (size_t i = 0; i < o->ends.count; i++) {
        counted *found = bsearch(&o->ends.items[i], begun->items, begun->count,
                                 sizeof(*begun->items), by_beginning);
        if (found)
            found->is_over = true;
    }
    for (size_t i = 0; i < begun->count && !err; i++) {
        const counted *one = &begun->items[i];
        if (one->is_over)
            continue;
        if (one->key.from == PATHS_NONE ||
            one->key.tag == EVENTSPACE_MESSAGE_ANY_TAG)
            begun->items[kept++] = *one;
        else
            err = add(&o->ends, one);
    }
    begun->count = kept;
    return err;
}

/* --- groups --- */

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

/* Might this receive have taken one of the group? */
static bool may_take(const counted *any, const scopes_message_key *group)
{
    const scopes_message_key *key = &any->key;

    return key->communicator == group->communicator && key->to == group->to &&
           (key->from == PATHS_NONE || key->from == group->from) &&
           (key->tag == EVENTSPACE_MESSAGE_ANY_TAG || key->tag == group->tag);
}

/* Whether one of those that nobody can place is before this end, or may be: of
 * another thread. */
static bool is_behind_any(const ordering *o, const counted *end)
{
    for (size_t i = 0; i < o->begun.count && end->is_received; i++) {
        const counted *any = &o->begun.items[i];
        if (may_take(any, &end->key) && (any->counted_by != end->counted_by ||
                                         any->key.ordinal < end->key.ordinal))
            return true;
    }
    return false;
}

/* Is each side of the group of one thread, and all there? */
static bool is_certain(const ordering *o, const counted *group, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if ((!group[i].is_open && o->has_gaps[group[i].thread]) ||
            (i > 0 && group[i].is_received == group[i - 1].is_received &&
             group[i].counted_by != group[i - 1].counted_by))
            return false;
    return true;
}

/* So many of the first messages are known. */
static uint32_t certain_count(const ordering *o, const counted *group,
                              size_t count)
{
    uint32_t least = EVENTSPACE_MESSAGE_UNKNOWN, next = 0;

    if (!is_certain(o, group, count))
        return 0;
    for (size_t i = 0; i < count; i++, next++) {
        if (i > 0 && group[i].is_received != group[i - 1].is_received)
            next = 0;
        if (next < least &&
            (group[i].is_doubtful || is_behind_any(o, &group[i])))
            least = next;
    }
    return least;
}

static void number(const ordering *o, const counted *group, size_t count)
{
    uint32_t certain = certain_count(o, group, count), next = 0;

    for (size_t i = 0; i < count; i++, next++) {
        if (i > 0 && group[i].is_received != group[i - 1].is_received)
            next = 0;
        if (!group[i].is_open)
            scopes__messages_number(
                o->messages, group[i].thread, group[i].index,
                next < certain ? next : EVENTSPACE_MESSAGE_UNKNOWN);
    }
}

/* --- all --- */

static int take_all(ordering *o, uint32_t threads)
{
    int err = 0;

    o->has_gaps = scopes__allocate((size_t)threads + 1);
    if (!o->has_gaps)
        return no_room();
    for (uint32_t i = 0; i < threads && !err; i++)
        err = take(o, i);
    for (uint32_t i = 0; i < threads && !err && o->ends.count; i++)
        o->has_gaps[i] = scopes__messages_has_gaps(o->messages, i);
    return err ? err : begun_settle(o);
}

static int order(scopes_messages *messages, uint32_t threads)
{
    ordering o = {.messages = messages};
    int err = take_all(&o, threads);
    const counted *all = o.ends.items;
    size_t to, count = o.ends.count;

    if (count)
        qsort(o.ends.items, count, sizeof(*all), by_group);
    if (!err && count)
        err = scopes__messages_numbers_make(messages);
    for (size_t from = 0; from < count && !err; from = to) {
        to = from + 1;
        while (to < count && compare_groups(&all[from], &all[to]) == 0)
            to++;
        number(&o, all + from, to - from);
    }
    scopes__free(o.ends.items);
    scopes__free(o.begun.items);
    scopes__free(o.has_gaps);
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
