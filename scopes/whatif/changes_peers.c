/* changes_peers.c - threads that compute as long as the others do between the
 * same two calls: the n-th time as those do the n-th time, in the median.
 *
 * Calls are the same by the names of their paths, which threads that do the
 * same part of the work have in common, or of their places in the program.
 * Sleeping counts as computing; being runnable does not. */
#include "scopes/whatif/whatif_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"

/* A thread computes: between which calls, and for which time. */
typedef struct stretch {
    uint32_t after, before; /* names of paths */
    uint32_t time;
    uint32_t operation; /* before which it is */
    bool is_peer;
    int64_t ns;
} stretch;

typedef struct peers {
    scopes__costs *costs;
    const scopes__waiting *w;
    uint32_t *names; /* by path: the number of its name */
    uint32_t name_count;
    uint32_t *seen; /* by names after and before: times, of this thread */
    stretch *items;
    size_t count;
} peers;

static int no_memory(void)
{
    return scopes__no_room("for what threads have computed");
}

/* --- names --- */

typedef struct named {
    const char *name;
    uint32_t path;
} named;

static int by_name(const void *a, const void *b)
{
    const named *one = a, *two = b;

    return strcmp(one->name, two->name);
}

static int names_find(peers *p)
{
    size_t count = p->w->times->path_count;
    named *list = malloc((count + 1) * sizeof(*list));

    p->names = malloc((count + 1) * sizeof(*p->names));
    if (!list || !p->names) {
        free(list);
        return no_memory();
    }
    for (uint32_t i = 0; i < count; i++)
        list[i] = (named){p->w->times->paths[i].name, i};
    qsort(list, count, sizeof(*list), by_name);
    p->name_count = 1; /* 0: none, at the begin */
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(list[i].name, list[i - 1].name) != 0)
            p->name_count++;
        p->names[list[i].path] = p->name_count - 1;
    }
    p->name_count += p->w->line_count;
    free(list);
    return 0;
}

/* --- stretches --- */

static int by_place(const void *a, const void *b)
{
    const stretch *one = a, *two = b;

    if (one->after != two->after)
        return one->after < two->after ? -1 : 1;
    if (one->before != two->before)
        return one->before < two->before ? -1 : 1;
    if (one->time != two->time)
        return one->time < two->time ? -1 : 1;
    if (one->is_peer != two->is_peer)
        return one->is_peer ? -1 : 1; /* and by their times */
    return one->ns < two->ns ? -1 : one->ns > two->ns;
}

/* The line of the program, else the name of the path. */
static uint32_t call_of(const peers *p, uint32_t operation)
{
    uint32_t line = p->w->lines[scopes__waiting_top_number(p->w, operation)];

    return line == SCOPES_MISSING
               ? p->names[scopes__waiting_operation(p->w, operation)->path]
               : p->name_count - p->w->line_count + line;
}

static void forget_thread(peers *p, uint32_t number)
{
    const scopes_thread *thread = &p->w->times->threads[number];
    uint32_t after = 0;

    for (uint32_t i = (uint32_t)thread->operation;
         i < thread->operation + thread->operations; i++) {
        uint32_t before = call_of(p, i);
        p->seen[(size_t)after * p->name_count + before] = 0;
        after = before;
    }
}

static void take_thread(peers *p, uint32_t number, bool is_peer)
{
    const scopes_thread *thread = &p->w->times->threads[number];
    uint32_t after = 0;
    size_t at = 0;

    for (uint32_t i = (uint32_t)thread->operation;
         i < thread->operation + thread->operations; i++) {
        const scopes_operation *its = scopes__waiting_operation(p->w, i);
        uint32_t before = call_of(p, i);
        if (p->w->flags[i] & SCOPES__BEGINS) {
            int64_t gap_ns = scopes__waiting_gap_ns(p->w, thread, i);
            scopes__gap gap =
                scopes__gap_of(p->w, number, &at, gap_ns, its->start_ns);
            p->items[p->count++] =
                (stretch){after,
                          before,
                          p->seen[(size_t)after * p->name_count + before]++,
                          i,
                          is_peer,
                          gap.computing_ns + gap.sleeping_ns};
        }
        after = before;
    }
    forget_thread(p, number);
}

/* Of those of one place and time, peers come first, by how long they took. */
static void level(peers *p, const stretch *first, size_t count)
{
    size_t own = 0;

    while (own < count && first[own].is_peer)
        own++;
    for (size_t i = own; i < count && own > 0; i++) {
        int64_t *gap_ns = &p->costs->gap_ns[first[i].operation];
        int64_t ns = *gap_ns + first[own / 2].ns - first[i].ns;
        *gap_ns = ns > 0 ? ns : 0;
    }
}

static void level_all(peers *p)
{
    size_t from = 0;

    qsort(p->items, p->count, sizeof(*p->items), by_place);
    for (size_t i = 1; i <= p->count; i++) {
        if (i < p->count && p->items[i].after == p->items[from].after &&
            p->items[i].before == p->items[from].before &&
            p->items[i].time == p->items[from].time)
            continue;
        level(p, &p->items[from], i - from);
        from = i;
    }
}

#define NAMES_MAX 4096

int scopes__change_to_peers(scopes__costs *costs, const scopes__waiting *w,
                            const paths_number_list *threads)
{
    peers p = {.costs = costs, .w = w};
    int err = names_find(&p);

    if (!err && p.name_count > NAMES_MAX)
        err = pastset_fail(PASTSET_ELIMIT,
                           "threads open paths by %u names: with more than %d "
                           "they are not compared",
                           p.name_count - 1, NAMES_MAX - 1);
    if (!err) {
        p.seen = calloc((size_t)p.name_count * p.name_count, sizeof(*p.seen));
        p.items = scopes__allocate(((size_t)w->count + 1) * sizeof(*p.items));
        err = p.seen && p.items ? 0 : no_memory();
    }
    for (uint32_t i = 0; i < w->times->thread_count && !err; i++)
        take_thread(&p, i, !paths_number_list_has(threads, i));
    if (!err)
        level_all(&p);
    free(p.names);
    free(p.seen);
    scopes__free(p.items);
    return err;
}
