/* trace_elements.c - the trace elements of this process, and their streams.
 *
 * Collectors whose trace elements have one name share one. It is made when the
 * first of them is bound, and its streams when their first tuples come. */
#include <stdlib.h>
#include <string.h>

#include "eventspace/collect/trace_elements_internal.h"
#include "eventspace/collect/trace.h"
#include "eventspace/collect/unmade_internal.h"
#include "paths/map/map.h"
#include "paths/map/units.h"
#include "paths/engine/process.h"
#include "pastset/element.h"

#define DEFAULT_CAPACITY 262144u

/* All trace elements of this process, and the lock of the list. */
static trace_element *traces;
static pthread_mutex_t traces_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- what the map says --- */

bool eventspace__is_archived(void)
{
    const char *text = getenv("EVENTSPACE_ARCHIVED");

    return text && (strcmp(text, "1") == 0 || strcmp(text, "wait") == 0);
}

bool eventspace__is_patient(void)
{
    const char *text = getenv("EVENTSPACE_ARCHIVED");

    return text && strcmp(text, "wait") == 0;
}

/* Where a trace element is, and what the map says of it. */
typedef struct place {
    paths_process *process;
    const paths_map *map;
    const paths_map_node *node; /* of its collector; NULL: it has none */
} place;

/* An attribute of the collector, else the graph's with "trace_" in front. */
static const char *setting(const place *at, const char *key)
{
    const char *value = at->node ? paths_node_get(at->node, key) : NULL;
    char name[64] = "trace_";

    if (value)
        return value;
    strncat(name, key, sizeof(name) - sizeof("trace_"));
    return paths_attributes_get(&at->map->attributes, name);
}

static int settings_read(const place *at, trace_element *trace)
{
    const char *capacity = setting(at, "capacity");
    const char *policy = setting(at, "policy");
    const char *prefault = setting(at, "prefault");

    trace->capacity = DEFAULT_CAPACITY;
    if (capacity && paths_parse_number(capacity, &trace->capacity) != 0)
        return pastset_fail_while(PASTSET_EMAP, "%.250s:%u: %.200s: capacity",
                                  at->map->file, at->node ? at->node->line : 1,
                                  at->node ? at->node->name : trace->name);
    trace->policy = PASTSET_DISCARD;
    if (policy)
        (void)pastset_policy_parse(&trace->policy, policy);
    if (eventspace__is_archived())
        trace->policy = PASTSET_BLOCK;
    trace->prefault = prefault && strcmp(prefault, "true") == 0;
    return 0;
}

/* --- the list --- */

static trace_element *trace_find(const paths_process *process, const char *name)
{
    trace_element *trace = traces;

    while (trace &&
           (trace->process != process || strcmp(trace->name, name) != 0))
        trace = trace->next;
    return trace;
}

static int trace_make(trace_element **out, const place *at, const char *name)
{
    trace_element *trace =
        calloc(1, sizeof(*trace) + paths_process_executors(at->process) *
                                       sizeof(trace->streams[0]));
    int err;

    *out = NULL;
    if (trace)
        trace->name = strdup(name);
    if (!trace || !trace->name) {
        free(trace);
        return pastset_no_memory("for a trace element");
    }
    trace->process = at->process;
    err = settings_read(at, trace);
    if (err) {
        free(trace->name);
        free(trace);
        return err;
    }
    trace->next = traces;
    traces = trace;
    *out = trace;
    return 0;
}

static int trace_ref(trace_element **out, const place *at, const char *name)
{
    int err = 0;

    pthread_mutex_lock(&traces_lock);
    *out = trace_find(at->process, name);
    if (!*out)
        err = trace_make(out, at, name);
    if (!err)
        (*out)->references++;
    pthread_mutex_unlock(&traces_lock);
    return err;
}

int eventspace__trace_ref(trace_element **out, paths_stage *stage,
                          const char *name)
{
    place at = {paths_stage_process(stage), paths_stage_map(stage),
                paths_stage_node(stage)};

    return trace_ref(out, &at, name);
}

int eventspace__trace_of_process(trace_element **out, paths_process *process,
                                 const paths_map *map, const char *name)
{
    place at = {process, map, NULL};

    return trace_ref(out, &at, name);
}

void eventspace__trace_unref(trace_element *trace)
{
    trace_element **at = &traces;

    pthread_mutex_lock(&traces_lock);
    if (--trace->references == 0) {
        while (*at != trace)
            at = &(*at)->next;
        *at = trace->next;
        free(trace->name);
        free(trace);
    }
    pthread_mutex_unlock(&traces_lock);
}

bool eventspace__has_traces(const paths_process *process)
{
    bool some = false;

    pthread_mutex_lock(&traces_lock);
    for (trace_element *trace = traces; trace && !some; trace = trace->next)
        some = trace->process == process;
    pthread_mutex_unlock(&traces_lock);
    return some;
}

void eventspace__traces_each(paths_process *process,
                             void (*each)(trace_element *trace, void *context),
                             void *context)
{
    pthread_mutex_lock(&traces_lock);
    for (trace_element *trace = traces; trace; trace = trace->next) {
        if (trace->process == process)
            each(trace, context);
    }
    pthread_mutex_unlock(&traces_lock);
}

/* --- streams --- */

void eventspace__stream_name(char out[PASTSET_NAME_BYTES],
                             const trace_element *trace, uint32_t number)
{
    if (number == 1)
        snprintf(out, PASTSET_NAME_BYTES, "%s", trace->name);
    else
        snprintf(out, PASTSET_NAME_BYTES, "%s~%u", trace->name, number);
}

int eventspace__stream_make(trace_element *trace, trace_stream *stream)
{
    char name[PASTSET_NAME_BYTES];
    pastset_type type;
    pastset_element_options options = {.name = name,
                                       .type = &type,
                                       .policy = trace->policy,
                                       .capacity = trace->capacity,
                                       .single_writer = true,
                                       .prefault = trace->prefault,
                                       .on_demand = true};
    pastset_element *element = NULL;
    int err = pastset_type_parse(&type, EVENTSPACE_TRACE_TYPE);

    if (!stream->number)
        stream->number = atomic_fetch_add(&trace->streams_made, 1) + 1;
    eventspace__stream_name(name, trace, stream->number);
    if (!err)
        err = pastset_element_create(
            &element, paths_process_space(trace->process), &options);
    if (err)
        return err;
    stream->element = element;
    stream->appender = pastset_element_appender(element);
    if (stream->lost) {
        pastset_element_refuse(element, (int64_t)stream->lost, PASTSET_ENOSPC);
        atomic_fetch_sub(&trace->lost, stream->lost);
        eventspace__unmade_add(-(int64_t)stream->lost);
        stream->lost = 0;
    }
    return 0;
}

/* --- ids --- */

uint32_t eventspace__collector_ids(const paths_map *map)
{
    uint32_t ids = 0;

    for (uint32_t i = 0; i < map->node_count; i++) {
        uint64_t id;
        if (strcmp(map->nodes[i].type, "collector") == 0 &&
            paths_node_number(map, &map->nodes[i], "id", UINT64_MAX, &id) ==
                0 &&
            id < map->node_count && id >= ids)
            ids = (uint32_t)id + 1;
    }
    return ids;
}
