/* cluster_read.c - reading cluster files.
 *
 * A cluster file is the cluster mapping of path maps, so it is read by the
 * same function (paths/generate/generate.h), which is safe against any text and
 * knows the lines. Attributes that are not known here are for others: an
 * address, a colour. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "paths/generate/generate.h"
#include "pastset/status.h"
#include "predict/cluster/cluster_internal.h"
#include "predict/profile/profile.h"

#define LOAD_MAX 1e6
#define PROCESSORS_MAX 65536

/* --- diagnostics --- */

static int no_memory(void)
{
    return pastset_no_memory("for a cluster");
}

/* What is wrong with the text of a graph is a PASTSET_EMAP to paths/. */
static int as_format(int err)
{
    char text[1024];

    if (err != PASTSET_EMAP)
        return err;
    snprintf(text, sizeof(text), "%s", pastset_error());
    return pastset_fail(PASTSET_EFORMAT, "%s", text);
}

/* --- machines --- */

typedef struct reader {
    const paths_map *map;
    predict_cluster *cluster;
    uint32_t *machines;  /* by node; PREDICT_NONE: a switch */
    const char **places; /* names; NULL: of one machine */
} reader;

/* A number without a unit, from 0 (or above 0) to `max`. */
static int take_number(const reader *r, const paths_map_node *node,
                       const char *key, bool zero, double max, double *out)
{
    const char *text = paths_attributes_get(&node->attributes, key);
    double value;

    if (!text)
        return 0;
    if (paths_parse_real(text, &value) != 0 || value > max ||
        (value == 0 && !zero))
        return predict__cluster_fail(
            r->map, node->line, node->name,
            "%s=\"%.60s\" is not a number from %s%g to %g", key, text,
            zero ? "" : "above ", 0.0, max);
    *out = value;
    return 0;
}

static int take_scheduler(const reader *r, const paths_map_node *node,
                          predict_scheduler *out)
{
    const char *text = paths_attributes_get(&node->attributes, "law");

    if (!text || predict_scheduler_parse(out, text) == 0)
        return 0;
    return predict__cluster_fail(r->map, node->line, node->name, "law: %s",
                                 pastset_error());
}

/* Processors are the place's: each machine of it may tell their number, but all
 * that do must tell the same. */
static int take_processors(reader *r, const paths_map_node *node,
                           uint32_t place)
{
    double value = 0;
    uint32_t *processors = &r->cluster->processors[place];
    int err = take_number(r, node, "processors", false, PROCESSORS_MAX, &value);

    if (err || value == 0)
        return err;
    if (value != floor(value))
        return predict__cluster_fail(r->map, node->line, node->name,
                                     "processors=%g is not a whole number",
                                     value);
    if (*processors && *processors != (uint32_t)value)
        return predict__cluster_fail(
            r->map, node->line, node->name,
            "says that the place %s has %g processors, and another machine "
            "of it says %u",
            r->places[place], value, *processors);
    *processors = (uint32_t)value;
    return 0;
}

static uint32_t find_place(reader *r, const char *name)
{
    uint32_t count = r->cluster->place_count;

    for (uint32_t i = 0; name && i < count; i++) {
        if (r->places[i] && strcmp(r->places[i], name) == 0)
            return i;
    }
    r->places[count] = name;
    return r->cluster->place_count++;
}

static int take_machine(reader *r, const paths_map_node *node)
{
    predict_machine *machine =
        &r->cluster->machines[r->cluster->machine_count++];
    int err;

    machine->name = strdup(node->name);
    machine->speed = 1;
    machine->scheduler = PREDICT_SCHEDULER_DEFAULT;
    machine->place =
        find_place(r, paths_attributes_get(&node->attributes, "place"));
    if (!machine->name)
        return no_memory();
    err = take_number(r, node, "load", true, LOAD_MAX, &machine->load);
    machine->split_load = machine->load;
    if (!err)
        err = take_number(r, node, "speed", false, LOAD_MAX, &machine->speed);
    if (!err)
        err = take_scheduler(r, node, &machine->scheduler);
    return err ? err : take_processors(r, node, machine->place);
}

/* A node of the graph that forwards, and is no machine. */
static bool is_switch(const paths_map_node *node)
{
    return strcmp(node->type, "switch") == 0;
}

static int count_machines(const paths_map *map, uint32_t *out)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < map->node_count; i++) {
        const paths_map_node *node = &map->nodes[i];
        if (is_switch(node))
            continue;
        if (strcmp(node->type, "host") == 0)
            return predict__cluster_fail(
                map, node->line, node->name,
                "kind=host is called kind=machine now, and can be left out");
        if (node->type[0] && strcmp(node->type, "machine") != 0)
            return predict__cluster_fail(map, node->line, node->name,
                                         "kind=%.60s: in a cluster there are "
                                         "machines, which need no kind, and "
                                         "kind=switch; is this a path map?",
                                         node->type);
        count++;
    }
    if (count == 0)
        return pastset_fail(PASTSET_EFORMAT,
                            "%.250s: there is no machine in it: write one node "
                            "for each",
                            map->file);
    if (count > PREDICT__MACHINES_MAX)
        return pastset_fail(
            PASTSET_EFORMAT,
            "%.250s: it has %u machines; at most %d are supported", map->file,
            count, PREDICT__MACHINES_MAX);
    *out = count;
    return 0;
}

static int take_machines(reader *r)
{
    int err = 0;

    for (uint32_t i = 0; i < r->map->node_count && !err; i++) {
        const paths_map_node *node = &r->map->nodes[i];
        r->machines[i] = PREDICT_NONE;
        if (is_switch(node))
            continue;
        r->machines[i] = r->cluster->machine_count;
        err = take_machine(r, node);
    }
    for (uint32_t i = 0; i < r->cluster->place_count && !err; i++) {
        if (r->cluster->processors[i] == 0)
            r->cluster->processors[i] = 1;
    }
    return err;
}

static int convert(predict_cluster *cluster, const paths_map *map,
                   uint32_t machines)
{
    reader r = {.map = map, .cluster = cluster};
    int err = 0;

    cluster->machines = calloc(machines, sizeof(*cluster->machines));
    cluster->processors = calloc(machines, sizeof(*cluster->processors));
    cluster->wires =
        calloc((size_t)machines * machines, sizeof(*cluster->wires));
    r.machines = calloc(map->node_count, sizeof(*r.machines));
    r.places = calloc(machines, sizeof(*r.places));
    if (!cluster->machines || !cluster->processors || !cluster->wires ||
        !r.machines || !r.places)
        err = no_memory();
    if (!err)
        err = take_machines(&r);
    if (!err)
        err = predict__cluster_routes(cluster, map, r.machines);
    free(r.machines);
    free(r.places);
    return err;
}

static int from_map(predict_cluster **out, const paths_map *map)
{
    predict_cluster *cluster;
    uint32_t machines = 0;
    int err = count_machines(map, &machines);

    if (err)
        return err;
    cluster = calloc(1, sizeof(*cluster));
    if (!cluster)
        return no_memory();
    err = convert(cluster, map, machines);
    if (err)
        predict_cluster_destroy(cluster);
    else
        *out = cluster;
    return err;
}

/* --- public --- */

int predict__cluster_parse(predict_cluster **out, const char *text,
                           size_t bytes, const char *file)
{
    paths_map *map;
    int err = as_format(paths_map_parse(&map, text, bytes, file));

    *out = NULL;
    if (err)
        return err;
    err = from_map(out, map);
    paths_map_destroy(map);
    return err;
}

int predict_cluster_read(predict_cluster **out, const char *file)
{
    paths_map *map;
    int err;

    *out = NULL;
    if (strcmp(file, "-") == 0)
        file = "/dev/stdin";
    err = as_format(paths_mapping_read(&map, file));
    if (err)
        return err;
    err = from_map(out, map);
    paths_map_destroy(map);
    return err;
}
