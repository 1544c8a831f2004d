/* element_order.c - the view "element-order": who read and wrote an element, in
 * which order (paper 004, section 4.5: EC5 and EC6 of figure 3).
 *
 * It is told by the collectors that stand last on the ways to an element. With
 * `each`, a row is an operation on the element, numbered in their order.
 * Otherwise a row says how many times an operation of this kind (thread and
 * verb) came directly after one of that kind; what it came after is blank for
 * an element's first. Operations that failed changed nothing: these rows pass
 * over them.
 *
 * The order is that of their ends, of equal ends that of their starts.
 * Operations that do not overlap took effect in this order. Of those that do,
 * collectors only know when they came up, and that may be in another order: a
 * write brings up the read that waits for it before it comes up itself.
 *
 * The series of the collectors are in the order of starts. They are merged by
 * that; operations that have begun are kept in a second heap, by their ends,
 * and leave it when all that begin before their end are in it. So both heaps
 * stay as small as the number of operations that are under way at once. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include <stdlib.h>

#include "pastset/array.h"
#include "pastset/request.h"
#include "pastset/status.h"
#include "scopes/reading/heap_internal.h"
#include "scopes/views/view_internal.h"

static const scopes_column columns[] = {
    {"element", "element", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"thread", "thread", SCOPES_TEXT},
    {"verb", "verb", SCOPES_TEXT},
    {"after_thread", "after thread", SCOPES_TEXT},
    {"after_verb", "after verb", SCOPES_TEXT},
    {"times", "times", SCOPES_COUNT},
};

static const scopes_column each_columns[] = {
    {"element", "element", SCOPES_TEXT},
    {"order", "order", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"sequence", "sequence", SCOPES_NUMBER},
    {"verb", "verb", SCOPES_TEXT},
    {"bytes", "bytes", SCOPES_COUNT},
    {"status", "status", SCOPES_TEXT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"end_ns", "end ms", SCOPES_TIME_NS},
};

/* How often one kind of operation came after another. A kind is
 * thread * PASTSET_ALL_VERBS + verb. */
typedef struct pair {
    UT_hash_handle hh;
    uint64_t key; /* kind << 32 | 1 + kind before; the latter is 0 if none */
    uint64_t times;
} pair;

/* An operation that has begun. */
typedef struct begun {
    const eventspace_trace *event;
    uint32_t process;
} begun;

typedef struct ordering {
    scopes_table *out;
    const scopes_view_input *view_input;
    uint32_t element;
    bool ticks; /* all collectors stand on one process: its ticks will do */
    const scopes_series **series;
    size_t *next; /* by series */
    uint32_t series_count;
    scopes__heap starts; /* of series, by the next one's start */
    scopes__heap ends;   /* of `begun`, by their ends */
    begun *begun;
    uint32_t *unused; /* places of `begun`; there is room for all of them */
    uint32_t begun_count, unused_count;
    uint64_t order;
    uint32_t before; /* kind of the last operation, plus one; 0: none */
    pair *pairs;     /* a hash table; NULL: none yet */
} ordering;

static int no_memory(void)
{
    return pastset_no_memory("for the view");
}

/* --- counting pairs --- */

static int count_pair(pair **all, uint64_t key)
{
    pair *found;

    HASH_FIND(hh, *all, &key, sizeof(key), found);
    if (!found) {
        found = calloc(1, sizeof(*found));
        if (!found)
            return no_memory();
        found->key = key;
        HASH_ADD(hh, *all, key, sizeof(found->key), found);
        if (!found->hh.tbl) {
            free(found);
            return no_memory();
        }
    }
    found->times++;
    return 0;
}

static int by_key(const pair *a, const pair *b)
{
    return (a->key > b->key) - (a->key < b->key);
}

static void free_pairs(pair **all)
{
    pair *p, *next;

    HASH_ITER(hh, *all, p, next)
    {
        HASH_DEL(*all, p);
        free(p);
    }
}

static void add_pair(const ordering *o, const pair *p)
{
    const scopes_topology *topology = o->view_input->topology;
    const paths_map_node *element = &o->view_input->map->nodes[o->element];
    uint32_t kind = (uint32_t)(p->key >> 32), before = (uint32_t)p->key;
    uint32_t thread = kind / PASTSET_ALL_VERBS;
    const char *before_thread = "", *before_verb = "";

    if (!scopes__has_thread(o->view_input, thread))
        return;
    if (before > 0) {
        before_thread = scopes_topology_thread_name(
            topology, (before - 1) / PASTSET_ALL_VERBS);
        before_verb = pastset_verb_name((before - 1) % PASTSET_ALL_VERBS);
    }
    scopes_table_text(o->out, element->name);
    scopes_table_text(o->out,
                      scopes_topology_process_name(topology, element->process));
    scopes_table_text(o->out, scopes_topology_thread_name(topology, thread));
    scopes_table_text(o->out, pastset_verb_name(kind % PASTSET_ALL_VERBS));
    scopes_table_text(o->out, before_thread);
    scopes_table_text(o->out, before_verb);
    scopes_table_integer(o->out, (int64_t)p->times);
}

/* Adds the rows, and leaves no pairs behind. */
static void add_pairs(ordering *o)
{
    HASH_SORT(o->pairs, by_key);
    for (const pair *p = o->pairs; p; p = p->hh.next)
        add_pair(o, p);
    free_pairs(&o->pairs);
}

/* --- the order --- */

static void add_row(ordering *o, const begun *b)
{
    const scopes_view_input *view_input = o->view_input;
    const eventspace_trace *event = b->event;
    scopes_table *out = o->out;

    if (!scopes__has_thread(view_input, event->thread))
        return;
    scopes_table_text(out, view_input->map->nodes[o->element].name);
    scopes_table_integer(out, (int64_t)o->order);
    scopes_table_text(
        out, scopes_topology_thread_name(view_input->topology, event->thread));
    scopes_table_integer(out, event->sequence);
    scopes_table_text(out, pastset_verb_name(event->operation));
    scopes_table_integer(out, event->bytes);
    scopes_table_text(out,
                      event->status ? pastset_status_name(-event->status) : "");
    scopes_table_integer(
        out, scopes_clocks_ns(view_input->clocks, b->process, event->start));
    scopes_table_integer(
        out, scopes_clocks_ns(view_input->clocks, b->process, event->end));
}

static int take_effect(ordering *o, const begun *b)
{
    const eventspace_trace *event = b->event;
    uint32_t kind = event->thread * PASTSET_ALL_VERBS + event->operation;
    uint64_t key = (uint64_t)kind << 32 | o->before;

    o->order++;
    if (o->view_input->each) {
        add_row(o, b);
        return 0;
    }
    if (event->status != 0)
        return 0;
    o->before = kind + 1;
    return count_pair(&o->pairs, key);
}

static int64_t time_of(const ordering *o, uint32_t process, uint64_t ticks)
{
    return o->ticks ? (int64_t)ticks
                    : scopes_clocks_ns(o->view_input->clocks, process, ticks);
}

/* Of all that are under way the first comes up. */
static int end_first(ordering *o)
{
    uint32_t place = o->ends.keys[0].source;

    scopes__heap_drop(&o->ends);
    o->unused[o->unused_count++] = place;
    return take_effect(o, &o->begun[place]);
}

/* One more place of `begun`, which is unused. */
static int add_place(ordering *o)
{
    uint32_t place = o->begun_count;
    begun *more = pastset_array_grow(o->begun, place, sizeof(*more));
    uint32_t *places;

    if (!more)
        return no_memory();
    o->begun = more;
    places = pastset_array_grow(o->unused, place, sizeof(*places));
    if (!places)
        return no_memory();
    o->unused = places;
    o->begun_count++;
    o->unused[o->unused_count++] = place;
    return 0;
}

static int begin_one(ordering *o, const eventspace_trace *event,
                     uint32_t process, int64_t start)
{
    scopes__key key = {time_of(o, process, event->end), (uint64_t)start, 0};
    int err = o->unused_count == 0 ? add_place(o) : 0;

    if (err)
        return err;
    key.source = o->unused[--o->unused_count];
    o->begun[key.source] = (begun){event, process};
    return scopes__heap_add(&o->ends, key);
}

/* The next tuple of a series that can be of an operation of the run. */
static bool next_start(ordering *o, uint32_t source, scopes__key *out)
{
    const scopes_series *series = o->series[source];
    size_t at = o->next[source];

    while (
        at < series->count &&
        (scopes_event_at(series->events, at)->thread >=
             o->view_input->topology->thread_count ||
         scopes_event_at(series->events, at)->operation >= PASTSET_ALL_VERBS))
        at++;
    o->next[source] = at;
    if (at == series->count)
        return false;
    out->first =
        time_of(o, series->process, scopes_event_at(series->events, at)->start);
    out->second = scopes_event_at(series->events, at)->sequence;
    out->source = source;
    return true;
}

static int walk(ordering *o)
{
    scopes__key key;
    int err = 0;

    for (uint32_t i = 0; i < o->series_count && !err; i++)
        if (next_start(o, i, &key))
            err = scopes__heap_add(&o->starts, key);
    while (!err && o->starts.count > 0) {
        key = o->starts.keys[0];
        while (!err && o->ends.count > 0 && o->ends.keys[0].first <= key.first)
            err = end_first(o);
        if (err)
            break;
        err = begin_one(
            o,
            scopes_event_at(o->series[key.source]->events, o->next[key.source]),
            o->series[key.source]->process, key.first);
        o->next[key.source]++;
        if (next_start(o, key.source, &key))
            scopes__heap_replace(&o->starts, key);
        else
            scopes__heap_drop(&o->starts);
    }
    while (!err && o->ends.count > 0)
        err = end_first(o);
    return err;
}

/* --- elements --- */

static int order_element(ordering *o, uint32_t node)
{
    const scopes_view_input *view_input = o->view_input;
    const scopes_ids *lowest = &view_input->topology->lowest[node];
    int err;

    o->element = node;
    o->series_count = lowest->count;
    o->order = 0;
    o->before = 0;
    o->ticks = true;
    for (uint32_t i = 0; i < lowest->count; i++) {
        o->series[i] =
            scopes_event_series(view_input->event_table, lowest->ids[i]);
        o->next[i] = 0;
        o->ticks &= o->series[i]->process == o->series[0]->process;
    }
    err = walk(o);
    if (!err && !view_input->each)
        add_pairs(o);
    return err;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    ordering o = {.out = out, .view_input = view_input};
    uint32_t max = view_input->topology->collectors + 1;
    int err = 0;

    o.series = calloc(max, sizeof(*o.series));
    o.next = calloc(max, sizeof(*o.next));
    if (!o.series || !o.next)
        err = no_memory();
    for (uint32_t i = 0; i < view_input->map->node_count && !err; i++) {
        if (view_input->map->nodes[i].kind == PATHS_ELEMENT &&
            view_input->topology->lowest[i].count > 0 &&
            scopes__is_of(view_input, i))
            err = order_element(&o, i);
    }
    free(o.series);
    free(o.next);
    free(o.begun);
    free(o.unused);
    free_pairs(&o.pairs);
    scopes__heap_fini(&o.starts);
    scopes__heap_fini(&o.ends);
    return err;
}

const scopes_view scopes__view_element_order = {
    "element-order",
    "who read and wrote an element, in which order",
    "an operation on an element",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .make = make};
