/* import_map.c - see import_map_internal.h. */
#include "viewer/import/import_map_internal.h"

#include <ctype.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

/* Of a name of a process, with room for a number behind it. */
#define NAME_BYTES 90

/* Any message of MPI; nothing is stored in these elements. */
#define TUPLE_TYPE "bytes[67108864]"

typedef struct making {
    paths_map *map;
    const otf2_trace *trace;
    const import_uses *uses;
    uint32_t *threads; /* nodes */
} making;

static int no_memory(void)
{
    return pastset_no_memory("for the map of a trace");
}

/* --- names --- */

static bool is_taken(const making *m, bool process, const char *name)
{
    return process ? paths_map_find_process(m->map, name) != PATHS_NONE
                   : paths_map_find_node(m->map, name) != PATHS_NONE;
}

/* Is the name with that number another's? False when memory is out, too. */
static bool is_number_taken(const making *m, bool process, const char *name,
                            unsigned number, char **numbered)
{
    free(*numbered);
    if (asprintf(numbered, process ? "%s-%u" : "%s (%u)", name, number) < 0)
        *numbered = NULL;
    return *numbered && is_taken(m, process, *numbered);
}

/* The name, or with a number behind it if another has it. Thousands may have
 * one name, and mostly got numbers one after the other: so the first that is
 * free is looked for by bisection. NULL: no memory. */
static char *free_name(const making *m, bool process, const char *name)
{
    unsigned taken = 1, unused = 2;
    char *out;

    if (!is_taken(m, process, name))
        return strdup(name);
    out = NULL;
    for (; is_number_taken(m, process, name, unused, &out); unused *= 2)
        taken = unused;
    while (out && unused - taken > 1) {
        unsigned middle = taken + (unused - taken) / 2;
        if (is_number_taken(m, process, name, middle, &out))
            taken = middle;
        else
            unused = middle;
    }
    if (out)
        is_number_taken(m, process, name, unused, &out);
    return out;
}

/* Adds a node of that name, or nearly. PATHS_NONE: no memory. */
static uint32_t node_add(making *m, uint32_t process, const char *type,
                         const char *name)
{
    char *own = name ? free_name(m, false, name) : NULL;
    uint32_t node =
        own ? paths_map_add_node(m->map, process, type, own) : PATHS_NONE;

    free(own);
    return node;
}

static int node_set(making *m, uint32_t node, const char *key,
                    const char *value)
{
    return paths_attributes_set(&m->map->nodes[node].attributes, key, value);
}

static int node_set_number(making *m, uint32_t node, const char *key,
                           uint32_t value)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", value);
    return node_set(m, node, key, text);
}

/* Files are named after processes: so they have 1 to 100 letters, digits, _, .
 * and -, and no . in front. NULL: no memory. */
static char *file_name(const char *name)
{
    char *out = strndup(*name ? name : "process", NAME_BYTES);

    for (char *at = out; at && *at; at++) {
        if (!isalnum((unsigned char)*at) && !strchr("_-", *at) &&
            (*at != '.' || at == out))
            *at = '_';
    }
    return out;
}

/* --- processes and threads --- */

static int processes_make(making *m)
{
    for (uint32_t i = 0; i < m->trace->process_count; i++) {
        char *plain = file_name(m->trace->processes[i].name);
        char *name = plain ? free_name(m, true, plain) : NULL;
        uint32_t added =
            name ? paths_map_add_process(m->map, name) : PATHS_NONE;
        free(plain);
        free(name);
        if (added == PATHS_NONE)
            return no_memory();
    }
    return 0;
}

static bool is_only_name(const making *m, uint32_t thread)
{
    for (uint32_t i = 0; i < m->trace->thread_count; i++)
        if (i != thread && strcmp(m->trace->threads[i].name,
                                  m->trace->threads[thread].name) == 0)
            return false;
    return true;
}

/* "Master thread" of each process has that in front of it. */
static int threads_make(making *m)
{
    for (uint32_t i = 0; i < m->trace->thread_count; i++) {
        const otf2_thread *t = &m->trace->threads[i];
        char *name;
        int err;
        if (asprintf(&name, "%s%s%s",
                     is_only_name(m, i) ? ""
                                        : m->map->processes[t->process].name,
                     is_only_name(m, i) ? "" : " ", t->name) < 0)
            return no_memory();
        m->threads[i] = node_add(m, t->process, "thread", name);
        free(name);
        if (m->threads[i] == PATHS_NONE)
            return no_memory();
        err = node_set_number(m, m->threads[i], "number", i);
        if (err)
            return err;
    }
    return 0;
}

/* --- what places are called --- */

static const char *collective_name(uint32_t operation)
{
    switch (operation) {
    case OTF2_COLLECTIVE_OP_BARRIER:
        return "MPI_Barrier";
    case OTF2_COLLECTIVE_OP_BCAST:
        return "MPI_Bcast";
    case OTF2_COLLECTIVE_OP_GATHER:
        return "MPI_Gather";
    case OTF2_COLLECTIVE_OP_GATHERV:
        return "MPI_Gatherv";
    case OTF2_COLLECTIVE_OP_SCATTER:
        return "MPI_Scatter";
    case OTF2_COLLECTIVE_OP_SCATTERV:
        return "MPI_Scatterv";
    case OTF2_COLLECTIVE_OP_ALLGATHER:
        return "MPI_Allgather";
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
        return "MPI_Allgatherv";
    case OTF2_COLLECTIVE_OP_ALLTOALL:
        return "MPI_Alltoall";
    case OTF2_COLLECTIVE_OP_ALLTOALLV:
        return "MPI_Alltoallv";
    case OTF2_COLLECTIVE_OP_ALLTOALLW:
        return "MPI_Alltoallw";
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
        return "MPI_Allreduce";
    case OTF2_COLLECTIVE_OP_REDUCE:
        return "MPI_Reduce";
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
        return "MPI_Reduce_scatter";
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
        return "MPI_Reduce_scatter_block";
    case OTF2_COLLECTIVE_OP_SCAN:
        return "MPI_Scan";
    case OTF2_COLLECTIVE_OP_EXSCAN:
        return "MPI_Exscan";
    default:
        return "collective";
    }
}

/* The wrapper that stands for it in the map. */
static const char *wrapper_type(uint32_t operation)
{
    switch (operation) {
    case OTF2_COLLECTIVE_OP_BARRIER:
        return "barrier";
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLGATHERV:
        return "gather";
    case OTF2_COLLECTIVE_OP_ALLTOALL:
    case OTF2_COLLECTIVE_OP_ALLTOALLV:
    case OTF2_COLLECTIVE_OP_ALLTOALLW:
        return "alltoall";
    default:
        return "reduce";
    }
}

static const char *process_name(const making *m, uint32_t thread)
{
    return m->map->processes[m->trace->threads[thread].process].name;
}

/* " on COMM", unless it is that of all. */
static const char *comm_name(const making *m, const place_key *key)
{
    const char *name = m->trace->comms[key->comm].name;

    return strcmp(name, "MPI_COMM_WORLD") == 0 ? "" : name;
}

static const char *call_name(const making *m, const place_key *key)
{
    return key->region == OTF2_NONE ? "outside of a call"
                                    : m->trace->regions[key->region].name;
}

/* " tag 7", if all messages of the place have it. */
static const char *tag_name(const making *m, uint32_t place, char *text,
                            size_t size)
{
    int32_t tag;

    *text = 0;
    if (viewer__import_place_tag(m->uses, place, &tag))
        snprintf(text, size, " tag %d", (int)tag);
    return text;
}

static char *place_name(const making *m, uint32_t place)
{
    const place_key *key = &viewer__import_uses_place(m->uses, place)->key;
    const char *comm = key->kind == PLACE_CALLS ? "" : comm_name(m, key);
    const char *on = *comm ? " on " : "";
    char *name = NULL, tag[32];
    int length = -1;

    switch (key->kind) {
    case PLACE_CHANNEL:
        length = asprintf(&name, "%s to %s%s%s%s", process_name(m, key->from),
                          process_name(m, key->to),
                          tag_name(m, place, tag, sizeof(tag)), on, comm);
        break;
    case PLACE_ROOTED:
        length = asprintf(
            &name, "%s %s to %s%s%s", collective_name(key->operation),
            process_name(m, key->from), process_name(m, key->to), on, comm);
        break;
    case PLACE_COLLECTIVE:
        length = asprintf(&name, "%s%s%s", collective_name(key->operation), on,
                          comm);
        break;
    default:
        length = asprintf(&name, "%s of %s", call_name(m, key),
                          m->map->processes[key->from].name);
    }
    return length < 0 ? NULL : name;
}

/* What its thread calls the path. */
static char *path_name(const making *m, const import_use *use)
{
    const place_key *key = &viewer__import_uses_place(m->uses, use->place)->key;
    const char *comm = key->kind == PLACE_CALLS ? "" : comm_name(m, key);
    const char *on = *comm ? " on " : "";
    bool writes = use->role == USE_WRITES;
    char *name = NULL, tag[32];
    int length = -1;

    switch (key->kind) {
    case PLACE_CHANNEL:
        length =
            asprintf(&name, "%s %s%s%s%s", writes ? "send to" : "receive from",
                     process_name(m, writes ? key->to : key->from),
                     tag_name(m, use->place, tag, sizeof(tag)), on, comm);
        break;
    case PLACE_ROOTED:
        length =
            asprintf(&name, "%s %s %s%s%s", collective_name(key->operation),
                     writes ? "to" : "from",
                     process_name(m, writes ? key->to : key->from), on, comm);
        break;
    case PLACE_COLLECTIVE:
        return place_name(m, use->place);
    default:
        return strdup(call_name(m, key));
    }
    return length < 0 ? NULL : name;
}

/* --- places --- */

/* The nodes at which a place is used: written or joined, and taken from. */
typedef struct place_nodes {
    uint32_t upper, taken;
} place_nodes;

static int element_make(making *m, uint32_t process, const char *name,
                        uint32_t *out)
{
    int err;

    *out = node_add(m, process, "element", name);
    if (*out == PATHS_NONE)
        return no_memory();
    err = node_set(m, *out, "type", TUPLE_TYPE);
    return err ? err : node_set(m, *out, "policy", "grow");
}

/* What is written and what is read, if any is, without saying that the one is
 * the other. */
static int apart_make(making *m, const import_place *place, uint32_t home,
                      const char *name, place_nodes *out)
{
    const struct {
        const char *what;
        bool is_needed;
        uint32_t *node;
    } two[] = {{"sent", place->writers > 0, &out->upper},
               {"received", place->takers > 0, &out->taken}};
    int err = 0;

    for (int i = 0; i < 2 && !err; i++) {
        char *own;
        if (!two[i].is_needed)
            continue;
        if (asprintf(&own, "%s (%s)", name, two[i].what) < 0)
            return no_memory();
        err = element_make(m, home, own, two[i].node);
        free(own);
    }
    return err;
}

static int channel_make(making *m, const import_place *place, const char *name,
                        place_nodes *out)
{
    uint32_t home = m->trace->threads[place->key.to].process;
    int err;

    if (!viewer__import_place_is_matched(place))
        return apart_make(m, place, home, name, out);
    err = element_make(m, home, name, &out->upper);
    out->taken = out->upper;
    if (!err && place->key.kind == PLACE_ROOTED)
        err = node_set(m, out->upper, "collective",
                       collective_name(place->key.operation));
    return err;
}

static int collective_make(making *m, const import_place *place,
                           const char *name, place_nodes *out)
{
    const otf2_comm *comm = &m->trace->comms[place->key.comm];
    uint32_t first = 0, home, element;
    char *above = NULL;
    int err;

    while (comm->members[first] == OTF2_NONE) /* somebody has joined it */
        first++;
    home = m->trace->threads[comm->members[first]].process;
    err = element_make(m, home, name, &element);
    if (!viewer__import_place_is_matched(place)) {
        out->upper = element;
        return err;
    }
    if (!err && asprintf(&above, "%s of all", name) < 0)
        err = no_memory();
    if (!err) {
        out->upper =
            node_add(m, home, wrapper_type(place->key.operation), above);
        free(above);
        if (out->upper == PATHS_NONE ||
            paths_map_add_edge(m->map, out->upper, element) == PATHS_NONE)
            err = no_memory();
    }
    return err;
}

static int place_make(making *m, uint32_t number, place_nodes *out)
{
    const import_place *place = viewer__import_uses_place(m->uses, number);
    char *name = place_name(m, number);
    int err = name ? 0 : no_memory();

    if (!err) {
        switch (place->key.kind) {
        case PLACE_COLLECTIVE:
            err = collective_make(m, place, name, out);
            break;
        case PLACE_CALLS:
            err = element_make(m, place->key.from, name, &out->upper);
            break;
        default:
            err = channel_make(m, place, name, out);
        }
    }
    free(name);
    return err;
}

/* --- uses --- */

static int use_make(making *m, uint32_t number, const place_nodes *places)
{
    const import_use *use = viewer__import_uses_at(m->uses, number);
    const place_nodes *at = &places[use->place];
    uint32_t thread = m->threads[use->thread];
    char *path = path_name(m, use), *name = NULL;
    char trace[32];
    uint32_t node, edge;
    int err = path ? 0 : no_memory();

    if (!err &&
        asprintf(&name, "%s: %s", m->map->nodes[thread].name, path) < 0) {
        name = NULL;
        err = no_memory();
    }
    if (err)
        goto done;
    snprintf(trace, sizeof(trace), IMPORT_TRACE_FORMAT, use->thread);
    node =
        node_add(m, m->trace->threads[use->thread].process, "collector", name);
    edge = node == PATHS_NONE ? PATHS_NONE
                              : paths_map_add_edge(m->map, thread, node);
    if (edge == PATHS_NONE ||
        paths_map_add_edge(m->map, node,
                           use->role == USE_TAKES ? at->taken : at->upper) ==
            PATHS_NONE) {
        err = no_memory();
        goto done;
    }
    err = node_set_number(m, node, "id", number);
    if (!err)
        err = node_set(m, node, "trace", trace);
    if (!err) /* as the node is called, which no other is */
        err = paths_attributes_set(&m->map->edges[edge].attributes, "as",
                                   m->map->nodes[node].name +
                                       strlen(m->map->nodes[thread].name) + 2);
    if (!err)
        err = paths_attributes_set(&m->map->edges[edge].attributes, "use",
                                   use->role == USE_TAKES ? "read" : "write");
done:
    free(path);
    free(name);
    return err;
}

/* --- all --- */

int viewer__import_map_make(paths_map **out, const otf2_trace *trace,
                            const import_uses *uses)
{
    uint32_t count = viewer__import_uses_places(uses);
    making m = {.trace = trace, .uses = uses};
    place_nodes *places = calloc(count + 1u, sizeof(*places));
    int err = paths_map_create(&m.map, "trace");

    m.threads = calloc(trace->thread_count + 1u, sizeof(*m.threads));
    if (!err && (!places || !m.threads))
        err = no_memory();
    if (!err)
        err = processes_make(&m);
    if (!err)
        err = threads_make(&m);
    for (uint32_t i = 0; i < count && !err; i++)
        err = place_make(&m, i, &places[i]);
    for (uint32_t i = 0; i < viewer__import_uses_count(uses) && !err; i++)
        err = use_make(&m, i, places);
    free(places);
    free(m.threads);
    if (err) {
        paths_map_destroy(m.map);
        return err;
    }
    *out = m.map;
    return 0;
}
