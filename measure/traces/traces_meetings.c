/* traces_meetings.c - which calls are of one collective.
 *
 * All calls of one lead to a wrapper or element of their communicator and kind,
 * and all processes make them in the same order: the n-th of each are of one.
 * If their times say that it was not so (who needs another one has ended before
 * that one began), they count as calls that concern nobody else. So do calls
 * like MPI_Finalize, of which the standard does not say whether they wait for
 * each other.
 *
 * Where processes have not as many calls as others, some are missing (lost, or
 * hidden by MPI_Pcontrol): then those that others have of that collective are
 * passed over, as far as times tell. */
#include "measure/traces/traces_ranks_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/request.h"

/* --- adding --- */

static int add_member(ranks *r, uint32_t operation)
{
    void *more =
        pastset_array_grow(r->members, r->member_count, sizeof(*r->members));

    if (!more)
        return measure__traces_no_memory();
    r->members = more;
    r->members[r->member_count++] = operation;
    return 0;
}

/* Of all members that were added since `first`; one alone meets nobody. */
static int add_meeting(ranks *r, ranks_meeting meeting, size_t first)
{
    void *more;

    meeting.first = (uint32_t)first;
    meeting.count = (uint32_t)(r->member_count - first);
    if (meeting.count < 2) {
        r->member_count = first;
        return 0;
    }
    more = pastset_array_grow(r->meetings, r->meeting_count, sizeof(meeting));
    if (!more)
        return measure__traces_no_memory();
    r->meetings = more;
    r->meetings[r->meeting_count] = meeting;
    for (uint32_t i = 0; i < meeting.count; i++) {
        ranks_operation *o = &r->operations[r->members[first + i]];
        o->kind = RANKS_MEETS;
        o->meeting = (uint32_t)r->meeting_count;
        o->member = i;
    }
    r->meeting_count++;
    return 0;
}

/* --- the n-th of each --- */

/* Operations at one place, those of one process behind each other. */
typedef struct gathering {
    uint32_t *items;
    size_t count;
    size_t *starts; /* by process that has some, and one more */
    size_t *next;   /* by process: the first that was not taken so far */
    uint32_t processes;
    bool is_even; /* all have as many */
} gathering;

static void divide(gathering *g, const ranks *r)
{
    g->processes = 0;
    g->is_even = true;
    for (size_t i = 0; i < g->count; i++) {
        if (i == 0 || r->operations[g->items[i]].process !=
                          r->operations[g->items[i - 1]].process)
            g->starts[g->processes++] = i;
    }
    g->starts[g->processes] = g->count;
    for (uint32_t p = 0; p < g->processes; p++) {
        g->next[p] = g->starts[p];
        g->is_even &=
            (g->starts[p + 1] - g->starts[p]) * g->processes == g->count;
    }
}

/* The next one of a process; NULL: there are no more. */
static const ranks_operation *next_of(const ranks *r, const gathering *g,
                                      uint32_t p)
{
    return g->next[p] < g->starts[p + 1] ? &r->operations[g->items[g->next[p]]]
                                         : NULL;
}

/* The next one of each process, beginning with that of process number `from`.
 */
static int add_next(ranks *r, gathering *g, uint32_t from)
{
    int err = 0;

    for (uint32_t i = 0; i < g->processes && !err; i++) {
        uint32_t p = (from + i) % g->processes;
        if (next_of(r, g, p))
            err = add_member(r, g->items[g->next[p]++]);
    }
    return err;
}

/* Those that had ended when the last of them began: it is of a later
 * collective. */
static void pass_over(const ranks *r, gathering *g)
{
    int64_t last_ns = INT64_MIN;
    bool again = true;

    while (again) {
        again = false;
        for (uint32_t p = 0; p < g->processes; p++) {
            const ranks_operation *o = next_of(r, g, p);
            if (o && o->start_ns > last_ns)
                last_ns = o->start_ns;
        }
        for (uint32_t p = 0; p < g->processes; p++) {
            while (next_of(r, g, p) && next_of(r, g, p)->end_ns < last_ns) {
                g->next[p]++;
                again = true;
            }
        }
    }
}

/* When the last of them began; `only_root`: the first of them. */
static int64_t last_start(const ranks *r, size_t first, bool only_root)
{
    size_t end =
        only_root && first < r->member_count ? first + 1 : r->member_count;
    int64_t last_ns = INT64_MIN;

    for (size_t i = first; i < end; i++) {
        int64_t ns = r->operations[r->members[i]].start_ns;
        last_ns = ns > last_ns ? ns : last_ns;
    }
    return last_ns;
}

/* Ended those who need others after these had begun? */
static bool have_met(const ranks *r, size_t first, ranks_model model)
{
    int64_t last_ns = last_start(r, first, model == RANKS_FROM_ROOT);
    size_t end = model == RANKS_TO_ROOT && first < r->member_count
                     ? first + 1
                     : r->member_count;

    for (size_t i = first; i < end; i++)
        if (r->operations[r->members[i]].end_ns < last_ns)
            return false;
    return true;
}

static int add_rooted(ranks *r, gathering *g, uint32_t root)
{
    uint32_t from = 0;
    int err = 0;

    while (from < g->processes &&
           r->operations[g->items[g->starts[from]]].process != root)
        from++;
    if (from == g->processes)
        return 0;
    while (next_of(r, g, from) && !err) {
        const ranks_operation *o = next_of(r, g, from);
        const eventspace_trace *event =
            scopes_event_at(r->t->streams[o->stream].events, o->event);
        ranks_meeting meeting = {
            .model = event->operation == PASTSET_WRITE ? RANKS_FROM_ROOT
                                                       : RANKS_TO_ROOT,
            .is_growing = measure__ranks_is_like(r, o, "MPI_Scatter") ||
                          measure__ranks_is_like(r, o, "MPI_Gather")};
        size_t first = r->member_count;
        err = add_next(r, g, from);
        if (!err && have_met(r, first, meeting.model))
            err = add_meeting(r, meeting, first);
        else
            r->member_count = first;
    }
    return err;
}

/* Calls that begin a collective in which all need all, and do not wait. */
static bool is_started(const ranks *r, const ranks_operation *o)
{
    static const char *const names[] = {"MPI_Ibarrier", "MPI_Iall",
                                        "MPI_Ireduce_scatter"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (measure__ranks_is_like(r, o, names[i]))
            return true;
    return false;
}

static int find_waits(ranks *r)
{
    uint32_t next = TRACES_NONE;

    if (r->waits)
        return 0;
    r->waits = malloc((r->count + 1) * sizeof(*r->waits));
    if (!r->waits)
        return measure__traces_no_memory();
    for (size_t i = r->count; i-- > 0;) {
        const ranks_operation *o = &r->operations[i];
        if (i + 1 == r->threads[o->thread + 1])
            next = TRACES_NONE;
        if (measure__ranks_is_like(r, o, "MPI_Wait") ||
            measure__ranks_is_like(r, o, "MPI_Test"))
            next = (uint32_t)i;
        r->waits[i] = next;
    }
    return 0;
}

/* In which operation of its thread one that was started is done. */
static uint32_t find_completion(const ranks *r, uint32_t started,
                                int64_t last_ns)
{
    uint32_t thread = r->operations[started].thread;
    size_t at = measure__ranks_call_at(r, thread, last_ns);

    if (at <= started)
        at = started + 1u;
    return at < r->threads[thread + 1] ? r->waits[at] : TRACES_NONE;
}

static int add_completions(ranks *r, size_t first)
{
    int64_t last_ns = last_start(r, first, false);
    int err = find_waits(r);

    if (err)
        return err;
    for (size_t i = first; i < r->member_count; i++) {
        uint32_t done = find_completion(r, r->members[i], last_ns);
        void *more;
        if (done == TRACES_NONE)
            continue;
        more = pastset_array_grow(r->completions, r->completion_count,
                                  sizeof(*r->completions));
        if (!more)
            return measure__traces_no_memory();
        r->completions = more;
        r->completions[r->completion_count++] = (ranks_completion){
            done, (uint32_t)r->meeting_count, (uint32_t)(i - first)};
    }
    return 0;
}

/* `named`: one of them, which says what they are. */
static int add_started(ranks *r, const ranks_operation *named, size_t first)
{
    ranks_meeting meeting = {
        .model = RANKS_STARTED,
        .is_whole = !measure__ranks_is_like(r, named, "MPI_Ialltoall")};
    int err = 0;

    if (r->member_count > first + 1)
        err = add_completions(r, first);
    return err ? err : add_meeting(r, meeting, first);
}

static int add_all(ranks *r, gathering *g, ranks_meeting meeting)
{
    const ranks_operation *named = &r->operations[g->items[0]];
    bool starts_only = is_started(r, named), are_left = true;
    int err = 0;

    while (are_left && !err) {
        size_t first = r->member_count;
        if (!starts_only && !g->is_even)
            pass_over(r, g);
        err = add_next(r, g, 0);
        are_left = r->member_count > first;
        if (!err && starts_only)
            err = add_started(r, named, first);
        else if (!err && have_met(r, first, meeting.model))
            err = add_meeting(r, meeting, first);
        else
            r->member_count = first;
    }
    return err;
}

/* --- which places there are --- */

/* Calls of all processes, each of which has an element of its own for them. */
static const char *const together[] = {"MPI_Init", "MPI_Init_thread",
                                       "MPI_Finalize"};
#define TOGETHER (sizeof(together) / sizeof(*together))

/* Places are numbered: these, then nodes of the map. TRACES_NONE: none. */
static uint32_t place_of(const ranks *r, const ranks_operation *o)
{
    const scopes_topology *topology = r->t->topology;
    const scopes_hop *hop = &topology->hops[o->stream];
    const paths_map_node *node;

    if (hop->lower != PATHS_NONE &&
        topology->hops[hop->lower].collective != PATHS_NONE)
        return (uint32_t)TOGETHER + topology->hops[hop->lower].collective;
    if (o->kind != RANKS_ALONE || hop->element == PATHS_NONE)
        return TRACES_NONE;
    node = &topology->map->nodes[hop->element];
    for (uint32_t i = 0; i < TOGETHER; i++)
        if (measure__ranks_is_call(r, o, together[i]))
            return i;
    /* Who needs the root, or is it, is not known of others that are started,
     * and a scan needs only some. */
    if (!paths_node_get(node, "members") ||
        (measure__ranks_is_like(r, o, "MPI_I") && !is_started(r, o)) ||
        measure__ranks_is_like(r, o, "MPI_Scan") ||
        measure__ranks_is_like(r, o, "MPI_Exscan"))
        return TRACES_NONE;
    return (uint32_t)TOGETHER + hop->element;
}

typedef struct placed {
    uint32_t place, process, operation;
    int64_t start_ns;
} placed;

static int by_place(const void *left, const void *right)
{
    const placed *a = left, *b = right;

    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->operation > b->operation) - (a->operation < b->operation);
}

static int add_place(ranks *r, gathering *g, uint32_t place)
{
    const paths_map *map = r->t->topology->map;
    const paths_map_node *node =
        place < TOGETHER ? NULL : &map->nodes[place - TOGETHER];
    ranks_meeting meeting = {.model = RANKS_ALL};

    divide(g, r);
    if (!node &&
        (g->count != map->process_count || g->processes != map->process_count))
        return 0; /* not one of each */
    if (node && paths_node_get(node, "rounds"))
        return add_rooted(r, g, node->process);
    if (node && node->kind == PATHS_WRAPPER) {
        meeting.is_growing = strcmp(node->type, "gather") == 0;
        if (strcmp(node->type, "alltoall") == 0)
            meeting.model = RANKS_EACH;
    }
    return add_all(r, g, meeting);
}

static size_t place_all(const ranks *r, placed *out)
{
    size_t count = 0;

    for (size_t i = 0; i < r->count; i++) {
        const ranks_operation *o = &r->operations[i];
        uint32_t place = place_of(r, o);
        if (place != TRACES_NONE)
            out[count++] =
                (placed){place, o->process, (uint32_t)i, o->start_ns};
    }
    qsort(out, count, sizeof(*out), by_place);
    return count;
}

static int add_places(ranks *r)
{
    gathering g = {0};
    placed *all = malloc((r->count + 1) * sizeof(*all));
    uint32_t *items = malloc((r->count + 1) * sizeof(*items));
    size_t processes = (size_t)r->t->topology->map->process_count + 1;
    size_t count = 0;
    int err = 0;

    g.starts = malloc(processes * sizeof(*g.starts));
    g.next = malloc(processes * sizeof(*g.next));
    if (!all || !items || !g.starts || !g.next)
        err = measure__traces_no_memory();
    else
        count = place_all(r, all);
    for (size_t i = 0; i < count; i++)
        items[i] = all[i].operation;
    for (size_t i = 0; i < count && !err; i += g.count) {
        g.items = &items[i];
        g.count = 1;
        while (i + g.count < count && all[i + g.count].place == all[i].place)
            g.count++;
        err = add_place(r, &g, all[i].place);
    }
    free(g.starts);
    free(g.next);
    free(items);
    free(all);
    return err;
}

static int by_operation(const void *left, const void *right)
{
    const ranks_completion *a = left, *b = right;

    if (a->operation != b->operation)
        return a->operation < b->operation ? -1 : 1;
    return (a->meeting > b->meeting) - (a->meeting < b->meeting);
}

int measure__ranks_find_meetings(ranks *r)
{
    int err = add_places(r);

    if (!err && r->completion_count)
        qsort(r->completions, r->completion_count, sizeof(*r->completions),
              by_operation);
    return err;
}
