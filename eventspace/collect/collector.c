/* collector.c - the event collector: one more wrapper on a path.
 *
 * Down: take a stamp. Up: take a stamp, fill in 36 bytes in place, publish
 * them with one store. Two stamps and 36 bytes take 17 ns by themselves; added
 * to an operation it is some 10 ns, since the processor does other work while
 * it takes them.
 *
 * Where several threads come through one collector, each writes to a stream of
 * its own (a trace element of that thread, see collector_internal.h). Measured
 * with two threads on two processors, that beats one shared ring with an
 * atomic add by a factor of two to three: the contended line is what costs. */
#include <string.h>

#include "eventspace/collect/collector_internal.h"
#include "eventspace/collect/detail_internal.h"
#include "eventspace/collect/ticks.h"
#include "eventspace/collect/trace_elements_internal.h"
#include "eventspace/collect/trace.h"
#include "paths/map/map.h"

#define OFF UINT64_MAX /* in place of a stamp: nothing is recorded */

typedef struct collector {
    trace_element *trace;
    eventspace__detail *detail;
    uint64_t level; /* 0: it always records */
    uint32_t id;
} collector;

/* --- the wrapper --- */

static void fill(eventspace_trace *event, uint64_t start, uint64_t end,
                 uint32_t id, const paths_operation *op)
{
    event->start = start;
    event->end = end;
    event->collector = id;
    event->thread = op->thread;
    event->sequence = op->sequence;
    event->bytes = (uint32_t)op->bytes;
    event->operation = op->verb;
    event->status = (uint16_t)-op->status;
}

static int collector_down(paths_stage *stage, paths_operation *op,
                          uint64_t *note)
{
    (void)stage;
    (void)op;
    *note = eventspace_ticks();
    return PATHS_PASS;
}

static int collector_up(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    uint64_t end = eventspace_ticks();
    const collector *c = paths_stage_state(stage);
    trace_stream *stream = &c->trace->streams[paths_executor()];
    pastset_appender *appender = stream->appender;
    unsigned char *slot = appender ? pastset_append_begin(appender) : NULL;
    eventspace_trace event;

    if (__builtin_expect(slot != NULL, 1)) {
        /* Filled in by copy, which the compiler turns into stores to the
         * slot: its address need not be aligned for the u64. */
        fill(&event, *note, end, c->id, op);
        eventspace__trace_measure(stream, &event);
        pastset_append_store(slot, &event, sizeof(event));
        pastset_append_end(appender);
        return PATHS_PASS;
    }
    fill(&event, *note, end, c->id, op);
    eventspace__trace_write_slowly(c->trace, stream, &event);
    return PATHS_PASS;
}

/* Of those that record on demand: the others do not pay for that. */
static int on_demand_down(paths_stage *stage, paths_operation *op,
                          uint64_t *note)
{
    const collector *c = paths_stage_state(stage);

    *note = eventspace__detail_is_on(c->detail, c->level, op)
                ? eventspace_ticks()
                : OFF;
    return PATHS_PASS;
}

static int on_demand_up(paths_stage *stage, paths_operation *op, uint64_t *note)
{
    return *note == OFF ? PATHS_PASS : collector_up(stage, op, note);
}

static int collector_init(paths_stage *stage)
{
    collector *c = paths_stage_state(stage);
    const paths_map_node *node = paths_stage_node(stage);
    const char *trace = paths_node_get(node, "trace");
    uint64_t id;
    int err =
        paths_node_number(paths_stage_map(stage), node, "id", UINT32_MAX, &id);

    c->detail = paths_stage_process_state(stage);
    if (!err)
        err = eventspace__detail_open(c->detail, &c->level, stage);
    if (err)
        return err;
    if (c->level)
        paths_stage_does(stage, on_demand_down, on_demand_up);
    c->id = (uint32_t)id;
    return eventspace__trace_ref(&c->trace, stage, trace ? trace : node->name);
}

static void collector_fini(paths_stage *stage)
{
    collector *c = paths_stage_state(stage);

    if (c->trace)
        eventspace__trace_unref(c->trace);
}

/* --- checking --- */

static void check_policy(const paths_map_node *node, const char *key,
                         const char *policy, paths_diagnostics *diagnostics)
{
    pastset_policy found;

    if (policy && pastset_policy_parse(&found, policy) != 0)
        paths_node_diagnose(
            diagnostics, node,
            "%s=\"%s\" of its trace element: choose grow, discard "
            "or block",
            key, policy);
}

/* What the graph says for all collectors, at the first one. */
static void check_graph(const paths_map *map, const paths_map_node *node,
                        paths_diagnostics *diagnostics)
{
    uint64_t detail;

    check_policy(node, "the graph's trace_policy",
                 paths_attributes_get(&map->attributes, "trace_policy"),
                 diagnostics);
    if (eventspace__detail_initial(&detail, map) != 0)
        paths_node_diagnose(diagnostics, node, "%s", pastset_error());
}

static bool names_element(const paths_map *map, const char *name)
{
    uint32_t node = paths_map_find_node(map, name);

    return node != PATHS_NONE && map->nodes[node].kind == PATHS_ELEMENT;
}

static void collector_check(const paths_map *map, const paths_map_node *node,
                            paths_diagnostics *diagnostics)
{
    const char *trace = paths_node_get(node, "trace");
    uint64_t value;

    if (!paths_node_get(node, "id") ||
        paths_node_number(map, node, "id", 0, &value) != 0 ||
        value >= map->node_count)
        paths_node_diagnose(diagnostics, node,
                            "a collector needs a number of its own: id=0 ... "
                            "%u; `eventspace map instrument` assigns them",
                            map->node_count - 1);
    if (trace && names_element(map, trace))
        paths_node_diagnose(diagnostics, node,
                            "trace=%s is an element of the application: choose "
                            "another name",
                            trace);
    if (paths_node_number(map, node, "capacity", 1, &value) != 0 || value == 0)
        paths_node_diagnose(diagnostics, node,
                            "capacity of its trace element: a number of tuples "
                            "above 0");
    if (strlen(trace ? trace : node->name) >= PASTSET_NAME_BYTES - 8)
        paths_node_diagnose(diagnostics, node,
                            "the name of its trace element is longer than %d",
                            PASTSET_NAME_BYTES - 9);
    if (paths_node_number(map, node, "detail", 0, &value) != 0 ||
        value > EVENTSPACE__DETAIL_MAX)
        paths_node_diagnose(diagnostics, node,
                            "detail: how much is to be asked for until it "
                            "records, a number from 0 to %d",
                            EVENTSPACE__DETAIL_MAX);
    check_policy(node, "policy", paths_node_get(node, "policy"), diagnostics);
    if (paths_node_number(map, node, "id", 1, &value) == 0 && value == 0)
        check_graph(map, node, diagnostics);
}

static const char *const collector_attributes[] = {
    "id", "trace", "detail", "capacity", "policy", "prefault", NULL};

const paths_wrapper_type eventspace__collector_type = {
    .name = "collector",
    .state_bytes = sizeof(collector),
    .process_bytes = sizeof(eventspace__detail),
    .attributes = collector_attributes,
    .check = collector_check,
    .init = collector_init,
    .fini = collector_fini,
    .down = collector_down,
    .up = collector_up,
    .observes = true,
    .element_prefix = "trace.",
};
