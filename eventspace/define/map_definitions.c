/* map_definitions.c - a path map to definitions and back. */
#include "eventspace/define/map_definitions.h"

#include <stdlib.h>
#include <string.h>

#include "eventspace/define/definition_internal.h"
#include "eventspace/define/known_ids_internal.h"
#include "pastset/status.h"

/* --- from a map --- */

typedef struct defining {
    eventspace_definition_each *each;
    void *context;
    eventspace_attributes attributes;
} defining;

/* `type`: of a wrapper; NULL. */
static int give(defining *d, eventspace_definition what, const char *type,
                const paths_attributes *attributes)
{
    int err = 0;

    d->attributes.bytes = 0;
    if (type && type[0])
        err = eventspace_attributes_add(&d->attributes, "kind", type, false);
    for (size_t i = 0; i < attributes->count && !err; i++) {
        const paths_attribute *item = &attributes->items[i];
        err = eventspace_attributes_add(&d->attributes, item->key, item->value,
                                        item->html);
    }
    what.attributes = d->attributes.text;
    what.attribute_bytes = d->attributes.bytes;
    return err ? err : d->each(&what, d->context);
}

static uint32_t kind_of(const paths_map_node *node)
{
    if (node->kind == PATHS_THREAD)
        return EVENTSPACE_DEFINES_THREAD;
    if (node->kind == PATHS_ELEMENT)
        return EVENTSPACE_DEFINES_ELEMENT;
    return strcmp(node->type, "collector") == 0 ? EVENTSPACE_DEFINES_COLLECTOR
                                                : EVENTSPACE_DEFINES_WRAPPER;
}

static int give_node(defining *d, const paths_map *map, uint32_t i)
{
    const paths_map_node *node = &map->nodes[i];
    uint32_t kind = kind_of(node);
    uint32_t parent =
        node->process == PATHS_NONE ? EVENTSPACE_NO_PARENT : node->process;

    return give(d,
                (eventspace_definition){kind, i, parent, node->name, NULL, 0},
                kind == EVENTSPACE_DEFINES_WRAPPER ? node->type : NULL,
                &node->attributes);
}

static int give_head(defining *d, const paths_map *map)
{
    const paths_attributes *nodes = &map->node_defaults;
    const paths_attributes *edges = &map->edge_defaults;
    uint32_t follow = map->process_count + map->node_count + map->edge_count +
                      (nodes->count > 0) + (edges->count > 0);
    eventspace_definition what = {EVENTSPACE_DEFINES_MAP,
                                  follow,
                                  EVENTSPACE_NO_PARENT,
                                  map->name,
                                  NULL,
                                  0};
    int err = give(d, what, NULL, &map->attributes);

    what.id = 0;
    what.name = "";
    what.kind = EVENTSPACE_DEFINES_NODE_DEFAULTS;
    if (!err && nodes->count)
        err = give(d, what, NULL, nodes);
    what.kind = EVENTSPACE_DEFINES_EDGE_DEFAULTS;
    if (!err && edges->count)
        err = give(d, what, NULL, edges);
    return err;
}

int eventspace_map_define(const paths_map *map,
                          eventspace_definition_each *each, void *context)
{
    defining d = {.each = each, .context = context};
    int err = give_head(&d, map);

    for (uint32_t i = 0; i < map->process_count && !err; i++)
        err = give(&d,
                   (eventspace_definition){EVENTSPACE_DEFINES_PROCESS, i,
                                           EVENTSPACE_NO_PARENT,
                                           map->processes[i].name, NULL, 0},
                   NULL, &map->processes[i].attributes);
    for (uint32_t i = 0; i < map->node_count && !err; i++)
        err = give_node(&d, map, i);
    for (uint32_t i = 0; i < map->edge_count && !err; i++) {
        const paths_map_edge *edge = &map->edges[i];
        err =
            give(&d,
                 (eventspace_definition){EVENTSPACE_DEFINES_EDGE, i, edge->from,
                                         map->nodes[edge->to].name, NULL, 0},
                 NULL, &edge->attributes);
    }
    free(d.attributes.text);
    return err;
}

/* --- to a map --- */

struct eventspace_map_builder {
    eventspace_definition_reader *reader;
    paths_map *map;
    known_ids processes, nodes;
    uint64_t taken, expected; /* definitions behind that of the map */
    uint32_t edges;           /* highest id + 1 */
    bool has[EVENTSPACE_DEFINES_EDGE_DEFAULTS + 1]; /* those that are once */
};

int eventspace_map_builder_create(eventspace_map_builder **out,
                                  eventspace_definition_reader *reader,
                                  const char *file)
{
    eventspace_map_builder *b = calloc(1, sizeof(*b));
    int err =
        b ? paths_map_create(&b->map, "") : pastset_no_memory("for a path map");

    *out = NULL;
    if (!err) {
        free(b->map->file);
        b->map->file = strdup(file);
        if (!b->map->file)
            err = pastset_no_memory("for a path map");
    }
    if (err) {
        eventspace_map_builder_destroy(b);
        return err;
    }
    b->reader = reader;
    *out = b;
    return 0;
}

void eventspace_map_builder_destroy(eventspace_map_builder *b)
{
    if (!b)
        return;
    if (b->map)
        paths_map_destroy(b->map);
    free(b->processes.items);
    free(b->nodes.items);
    free(b);
}

/* Whether it may be the next: ids ascend, and are not beyond what was read, so
 * that nobody reserves memory for them in vain. */
static bool is_next(eventspace_map_builder *b, const known_ids *ids,
                    const eventspace_definition *what)
{
    bool ascends = ids->count == 0 || ids->items[ids->count - 1].id < what->id;

    if (ascends && what->id < b->reader->seen && what->id < PATHS_NONE / 4)
        return true;
    eventspace_definition_damaged(b->reader,
                                  "definition %u of kind %u, \"%.60s\": its "
                                  "id cannot be right",
                                  what->id, what->kind, what->name);
    return false;
}

/* The first of a name counts. */
static int take_attribute(eventspace_map_builder *b, paths_attributes *out,
                          const eventspace_definition *what,
                          const eventspace_attribute *item)
{
    if (paths_attributes_get(out, item->key)) {
        eventspace_definition_damaged(
            b->reader,
            "definition %u of kind %u: its attribute \"%.60s\" is "
            "there twice",
            what->id, what->kind, item->key);
        return 0;
    }
    return item->html ? paths_attributes_set_html(out, item->key, item->value)
                      : paths_attributes_set(out, item->key, item->value);
}

/* Each is looked for among those that are there. */
static int take_attributes(eventspace_map_builder *b, paths_attributes *out,
                           const eventspace_definition *what)
{
    eventspace_attribute item;
    size_t at = 0;
    int err = 0;

    for (size_t i = 0; i < EVENTSPACE__ATTRIBUTES_MAX && !err &&
                       eventspace__definition_attribute(what, &at, &item);
         i++)
        err = take_attribute(b, out, what, &item);
    if (!err && at < what->attribute_bytes)
        eventspace_definition_damaged(
            b->reader, "definition %u of kind %u: more than %d attributes",
            what->id, what->kind, EVENTSPACE__ATTRIBUTES_MAX);
    return err;
}

static int take_map(eventspace_map_builder *b,
                    const eventspace_definition *what)
{
    char *name = strdup(what->name);

    if (!name)
        return pastset_no_memory("for a path map");
    free(b->map->name);
    b->map->name = name;
    b->expected = what->id;
    return take_attributes(b, &b->map->attributes, what);
}

/* Of a name that is there already. */
static int refuse(eventspace_map_builder *b, const eventspace_definition *what)
{
    eventspace_definition_damaged(b->reader,
                                  "definition %u of kind %u: \"%.60s\" is "
                                  "defined twice",
                                  what->id, what->kind, what->name);
    return 0;
}

static int take_process(eventspace_map_builder *b,
                        const eventspace_definition *what)
{
    uint32_t index;
    int err;

    if (!is_next(b, &b->processes, what))
        return 0;
    if (paths_map_find_process(b->map, what->name) != PATHS_NONE)
        return refuse(b, what);
    index = paths_map_add_process(b->map, what->name);
    if (index == PATHS_NONE)
        return pastset_no_memory("for a path map");
    err = eventspace__id_know(&b->processes, what->id, index);
    return err ? err
               : take_attributes(b, &b->map->processes[index].attributes, what);
}

static int take_node(eventspace_map_builder *b,
                     const eventspace_definition *what)
{
    uint32_t process = PATHS_NONE, index;
    paths_attributes *attributes;
    int err;

    if (!is_next(b, &b->nodes, what))
        return 0;
    if (paths_map_find_node(b->map, what->name) != PATHS_NONE)
        return refuse(b, what);
    if (what->parent != EVENTSPACE_NO_PARENT)
        process = eventspace__id_known(&b->processes, what->parent);
    if (what->parent != EVENTSPACE_NO_PARENT && process == PATHS_NONE) {
        eventspace_definition_damaged(b->reader,
                                      "node %.60s: its process %u is missing",
                                      what->name, what->parent);
        return 0;
    }
    index = paths_map_add_node(b->map, process,
                               eventspace__definition_type(what), what->name);
    if (index == PATHS_NONE)
        return pastset_no_memory("for a path map");
    attributes = &b->map->nodes[index].attributes;
    err = eventspace__id_know(&b->nodes, what->id, index);
    if (!err)
        err = take_attributes(b, attributes, what);
    return err ? err : paths_attributes_set(attributes, "kind", NULL);
}

static int take_edge(eventspace_map_builder *b,
                     const eventspace_definition *what)
{
    uint32_t from = eventspace__id_known(&b->nodes, what->parent);
    uint32_t to = paths_map_find_node(b->map, what->name);
    uint32_t index;

    if (from == PATHS_NONE || to == PATHS_NONE || what->id < b->edges) {
        eventspace_definition_damaged(
            b->reader, "the edge %u to %.60s: %s", what->id, what->name,
            from == PATHS_NONE ? "where it leaves from is missing"
            : to == PATHS_NONE ? "where it goes is missing"
                               : "its id is not the next");
        return 0;
    }
    b->edges = what->id + 1;
    index = paths_map_add_edge(b->map, from, to);
    if (index == PATHS_NONE)
        return pastset_no_memory("for a path map");
    return take_attributes(b, &b->map->edges[index].attributes, what);
}

int eventspace_map_builder_take(eventspace_map_builder *b,
                                const eventspace_definition *what)
{
    b->taken += what->kind != EVENTSPACE_DEFINES_MAP;
    if (what->kind >= EVENTSPACE_DEFINES_MAP &&
        what->kind <= EVENTSPACE_DEFINES_EDGE_DEFAULTS) {
        if (b->has[what->kind])
            return refuse(b, what);
        b->has[what->kind] = true;
    }
    switch (what->kind) {
    case EVENTSPACE_DEFINES_MAP:
        return take_map(b, what);
    case EVENTSPACE_DEFINES_NODE_DEFAULTS:
        return take_attributes(b, &b->map->node_defaults, what);
    case EVENTSPACE_DEFINES_EDGE_DEFAULTS:
        return take_attributes(b, &b->map->edge_defaults, what);
    case EVENTSPACE_DEFINES_PROCESS:
        return take_process(b, what);
    case EVENTSPACE_DEFINES_THREAD:
    case EVENTSPACE_DEFINES_WRAPPER:
    case EVENTSPACE_DEFINES_COLLECTOR:
    case EVENTSPACE_DEFINES_ELEMENT:
        return take_node(b, what);
    case EVENTSPACE_DEFINES_EDGE:
        return take_edge(b, what);
    default:
        eventspace_definition_damaged(b->reader,
                                      "definition %u of kind %u is none of a "
                                      "path map",
                                      what->id, what->kind);
        return 0;
    }
}

void eventspace_map_builder_finish(eventspace_map_builder *b, paths_map **out,
                                   uint32_t *nodes)
{
    eventspace__definition_end(b->reader);
    if (!b->has[EVENTSPACE_DEFINES_MAP])
        eventspace_definition_damaged(b->reader, "that of the map is missing");
    else if (b->taken < b->expected)
        eventspace_definition_damaged(
            b->reader, "%llu of %llu definitions are missing",
            (unsigned long long)(b->expected - b->taken),
            (unsigned long long)b->expected);
    else if (b->taken > b->expected)
        eventspace_definition_damaged(
            b->reader, "%llu definitions are too many",
            (unsigned long long)(b->taken - b->expected));
    *nodes = b->nodes.count ? b->nodes.items[b->nodes.count - 1].id + 1 : 0;
    *out = b->map;
    b->map = NULL;
}
