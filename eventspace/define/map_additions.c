/* map_additions.c - see map_additions.h. */
#include "eventspace/define/map_additions.h"

#define HASH_NONFATAL_OOM 1
#define uthash_nonfatal_oom(item) ((item)->value = PATHS_NONE)
#include <uthash.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/define/definition_internal.h"
#include "eventspace/define/known_ids_internal.h"
#include "pastset/array.h"
#include "pastset/status.h"

#define IDS_KEY "collector_ids"

/* Most threads of a process that were defined and cannot be read, where later
 * ones are there. */
#define MISSING_MAX 16

/* Most nodes from a node down to the end of its path, where that is looked at:
 * an edge to it may not close a circle. */
#define DEPTH_MAX 4096

/* By a text: a node that several processes define, or the number behind the
 * last node of that name. */
typedef struct by_text {
    UT_hash_handle hh;
    uint32_t value;
    char text[];
} by_text;

struct eventspace_map_additions {
    paths_map *map;
    uint32_t process, rank;
    known_ids own; /* of the process: its ids, and the nodes */
    by_text *keyed, *names;
    uint32_t base;       /* threads that the map had */
    uint32_t threads;    /* of the process: the number of the next, as n */
    uint32_t *processes; /* by rank */
    uint32_t *numbers;   /* of threads that were added */
    size_t thread_count;
};

bool eventspace_is_addition(uint32_t kind)
{
    return kind == EVENTSPACE_DEFINES_THREAD ||
           kind == EVENTSPACE_DEFINES_WRAPPER ||
           kind == EVENTSPACE_DEFINES_COLLECTOR ||
           kind == EVENTSPACE_DEFINES_ELEMENT ||
           kind == EVENTSPACE_DEFINES_EDGE;
}

uint32_t eventspace_map_ids(const paths_map *map)
{
    const char *text = paths_attributes_get(&map->attributes, IDS_KEY);
    uint64_t max = (uint64_t)EVENTSPACE_DEFINITIONS_MAX * map->process_count;
    uint64_t ids;

    if (!text || paths_parse_number(text, &ids) || ids <= map->node_count ||
        ids > map->node_count + max || ids >= PATHS_NONE)
        return map->node_count;
    return (uint32_t)ids;
}

static int no_memory(void)
{
    return pastset_no_memory("for a path map");
}

static int refuse(const eventspace_definition *what, const char *why)
{
    return pastset_fail(PASTSET_EFORMAT,
                        "definition %u of kind %u, \"%.60s\": %s", what->id,
                        what->kind, what->name, why);
}

/* Finds a text, or adds it with the value. PASTSET_EEXIST: it was there. */
static int text_know(by_text **texts, const char *text, uint32_t value,
                     by_text **out)
{
    size_t length = strlen(text);

    HASH_FIND(hh, *texts, text, length, *out);
    if (*out)
        return PASTSET_EEXIST;
    *out = calloc(1, sizeof(**out) + length + 1);
    if (!*out)
        return no_memory();
    memcpy((*out)->text, text, length);
    (*out)->value = value;
    HASH_ADD(hh, *texts, text, length, *out);
    if ((*out)->value == PATHS_NONE) {
        free(*out);
        return no_memory();
    }
    return 0;
}

static void texts_free(by_text *texts)
{
    by_text *t, *next;

    HASH_ITER(hh, texts, t, next)
    {
        HASH_DEL(texts, t);
        free(t);
    }
}

/* --- threads --- */

static int thread_check(eventspace_map_additions *a,
                        const eventspace_definition *what)
{
    const char *text = eventspace_definition_get(what, "number");
    uint32_t processes = a->map->process_count, *more;
    uint64_t number, n;

    if (!text || paths_parse_number(text, &number) || number < a->base ||
        number >= PATHS_NONE)
        return refuse(what, "its number is none of a thread");
    n = (number - a->base) / processes;
    if ((number - a->base) % processes != a->rank || n < a->threads ||
        n > a->threads + MISSING_MAX)
        return refuse(what, "its number is not the next of its process");
    more = pastset_array_grow(a->numbers, a->thread_count, sizeof(*more));
    if (!more)
        return no_memory();
    a->numbers = more;
    more[a->thread_count++] = (uint32_t)number;
    a->threads = (uint32_t)n + 1;
    return 0;
}

/* --- nodes --- */

/* The name, or with a number behind it if another has it. NULL: no memory. */
static char *free_name(eventspace_map_additions *a, const char *name)
{
    char *out = strdup(name);
    by_text *last;
    int err;

    if (!out || paths_map_find_node(a->map, out) == PATHS_NONE)
        return out;
    err = text_know(&a->names, name, 1, &last);
    do {
        free(out);
        out = NULL;
        if ((err && err != PASTSET_EEXIST) ||
            asprintf(&out, "%s (%u)", name, ++last->value) < 0)
            return NULL;
    } while (paths_map_find_node(a->map, out) != PATHS_NONE);
    return out;
}

/* Of a node, all but what only the definition needs. */
static int attributes_take(paths_attributes *out,
                           const eventspace_definition *what)
{
    static const char *const other[] = {"key", "process", "kind", "to"};
    eventspace_attribute item;
    size_t at = 0;
    int err = 0;

    while (!err && eventspace__definition_attribute(what, &at, &item)) {
        bool is_other = false;
        for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++)
            is_other |= strcmp(item.key, other[i]) == 0;
        if (is_other || paths_attributes_get(out, item.key))
            continue; /* the first of a key counts, as for who checks it */
        err = item.html ? paths_attributes_set_html(out, item.key, item.value)
                        : paths_attributes_set(out, item.key, item.value);
    }
    return err;
}

static int node_add(eventspace_map_additions *a,
                    const eventspace_definition *what, uint32_t process,
                    uint32_t *out)
{
    char *name = free_name(a, what->name);

    *out = name ? paths_map_add_node(a->map, process,
                                     eventspace__definition_type(what), name)
                : PATHS_NONE;
    free(name);
    return *out == PATHS_NONE
               ? no_memory()
               : attributes_take(&a->map->nodes[*out].attributes, what);
}

static int keyed_add(eventspace_map_additions *a,
                     const eventspace_definition *what, const char *key,
                     uint32_t process, uint32_t *out)
{
    by_text *known;
    int err = text_know(&a->keyed, key, 0, &known);

    if (err == PASTSET_EEXIST) {
        *out = known->value;
        return strcmp(a->map->nodes[*out].type,
                      eventspace__definition_type(what)) == 0
                   ? 0
                   : refuse(what, "another process says that it is of another "
                                  "kind");
    }
    if (!err)
        err = node_add(a, what, process, out);
    if (!err)
        known->value = *out;
    return err;
}

/* What is checked where it is defined as what it is. */
static bool has_own_kind(const char *type)
{
    return strcmp(type, "thread") == 0 || strcmp(type, "element") == 0 ||
           strcmp(type, "collector") == 0;
}

static int take_node(eventspace_map_additions *a,
                     const eventspace_definition *what)
{
    const char *key = eventspace_definition_get(what, "key");
    const char *name = eventspace_definition_get(what, "process");
    uint32_t process = name ? paths_map_find_process(a->map, name) : a->process;
    uint32_t node = PATHS_NONE;
    int err = 0;

    if (!*what->name)
        return refuse(what, "it has no name");
    if (what->kind == EVENTSPACE_DEFINES_WRAPPER &&
        has_own_kind(eventspace__definition_type(what)))
        return refuse(what, "nodes of that type are defined by a kind of "
                            "their own");
    if (process == PATHS_NONE)
        return refuse(what, "the run has no process of the name that it says");
    if (process != a->process && (what->kind == EVENTSPACE_DEFINES_THREAD ||
                                  what->kind == EVENTSPACE_DEFINES_COLLECTOR))
        return refuse(what, "it is in another process");
    if (what->kind == EVENTSPACE_DEFINES_THREAD)
        err = thread_check(a, what);
    if (!err && key &&
        (what->kind == EVENTSPACE_DEFINES_ELEMENT ||
         what->kind == EVENTSPACE_DEFINES_WRAPPER))
        err = keyed_add(a, what, key, process, &node);
    else if (!err)
        err = node_add(a, what, process, &node);
    return err ? err : eventspace__id_know(&a->own, what->id, node);
}

/* --- edges --- */

/* Whether the way down from a node comes to an end, and not to another. */
static bool ends_without(const paths_map *map, uint32_t node, uint32_t other)
{
    for (int i = 0; i < DEPTH_MAX; i++) {
        const paths_map_node *n = &map->nodes[node];
        if (node == other)
            return false;
        if (!n->out_count)
            return true;
        node = map->edges[n->out[0]].to;
    }
    return false;
}

static int take_edge(eventspace_map_additions *a,
                     const eventspace_definition *what)
{
    const char *text = eventspace_definition_get(what, "to");
    uint32_t from = eventspace__id_known(&a->own, what->parent);
    uint32_t to = PATHS_NONE, edge;
    const paths_map_node *node;
    uint64_t id;

    if (text && paths_parse_number(text, &id) == 0 && id < PATHS_NONE)
        to = eventspace__id_known(&a->own, (uint32_t)id);
    if (from == PATHS_NONE || to == PATHS_NONE)
        return refuse(what, "an edge from or to what is not defined");
    node = &a->map->nodes[from];
    if (node->kind == PATHS_ELEMENT || a->map->nodes[to].kind == PATHS_THREAD)
        return refuse(what, "no path goes that way");
    if (node->kind == PATHS_WRAPPER && node->out_count > 0)
        return a->map->edges[node->out[0]].to == to
                   ? 0 /* another process has said so */
                   : refuse(what, "a path has one way down from a node");
    if (!ends_without(a->map, to, from))
        return refuse(what, "a path that goes in a circle, or through too many "
                            "nodes");
    edge = paths_map_add_edge(a->map, from, to);
    if (edge == PATHS_NONE)
        return no_memory();
    return attributes_take(&a->map->edges[edge].attributes, what);
}

/* --- all --- */

static int ranks_make(eventspace_map_additions *a)
{
    a->processes = calloc(a->map->process_count + 1u, sizeof(*a->processes));
    if (!a->processes)
        return no_memory();
    paths_map_rank_processes(a->map, a->processes);
    return 0;
}

int eventspace_map_additions_begin(eventspace_map_additions **out,
                                   paths_map *map)
{
    eventspace_map_additions *a = calloc(1, sizeof(*a));
    int err;

    *out = NULL;
    if (!a)
        return no_memory();
    a->map = map;
    a->base = paths_map_threads(map);
    err = ranks_make(a);
    if (err)
        eventspace_map_additions_destroy(a);
    else
        *out = a;
    return err;
}

void eventspace_map_additions_by(eventspace_map_additions *a, uint32_t rank)
{
    a->process = a->processes[rank];
    a->rank = rank;
    a->threads = 0;
    free(a->own.items);
    a->own = (known_ids){0};
}

static bool has_too_many_attributes(const eventspace_definition *what)
{
    eventspace_attribute item;
    size_t at = 0, count = 0;

    while (count <= EVENTSPACE__ATTRIBUTES_MAX &&
           eventspace__definition_attribute(what, &at, &item))
        count++;
    return count > EVENTSPACE__ATTRIBUTES_MAX;
}

int eventspace_map_additions_take(eventspace_map_additions *a,
                                  const eventspace_definition *what)
{
    if (has_too_many_attributes(what))
        return refuse(what, "it has too many attributes");
    return what->kind == EVENTSPACE_DEFINES_EDGE ? take_edge(a, what)
                                                 : take_node(a, what);
}

static int ascending(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* Stands for a thread that is not there. */
static int thread_absent(eventspace_map_additions *a, uint32_t number)
{
    char name[40], text[16];
    eventspace_attributes attributes = {0};
    eventspace_definition what = {.kind = EVENTSPACE_DEFINES_THREAD,
                                  .name = name};
    uint32_t rank = (number - a->base) % a->map->process_count, node;
    int err;

    snprintf(name, sizeof(name), "thread %u (absent)", number);
    snprintf(text, sizeof(text), "%u", number);
    err = eventspace_attributes_add(&attributes, "number", text, false);
    if (!err)
        err = eventspace_attributes_add(&attributes, "absent", "true", false);
    what.attributes = attributes.text;
    what.attribute_bytes = attributes.bytes;
    if (!err)
        err = node_add(a, &what, a->processes[rank], &node);
    free(attributes.text);
    return err;
}

int eventspace_map_additions_end(eventspace_map_additions *a, uint32_t ids)
{
    uint32_t next = a->base;
    char text[16];
    int err = 0;

    if (a->thread_count)
        qsort(a->numbers, a->thread_count, sizeof(*a->numbers), ascending);
    for (size_t i = 0; i < a->thread_count && !err; i++) {
        while (next < a->numbers[i] && !err)
            err = thread_absent(a, next++);
        next = a->numbers[i] + 1;
    }
    if (err || ids <= a->map->node_count)
        return err;
    snprintf(text, sizeof(text), "%u", ids);
    return paths_attributes_set(&a->map->attributes, IDS_KEY, text);
}

void eventspace_map_additions_destroy(eventspace_map_additions *a)
{
    if (!a)
        return;
    texts_free(a->keyed);
    texts_free(a->names);
    free(a->own.items);
    free(a->processes);
    free(a->numbers);
    free(a);
}
