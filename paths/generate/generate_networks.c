/* generate_networks.c - which processes of a generated map reach each other.
 *
 * What the nodes of the cluster mapping say themselves (`networks`) is theirs.
 * For the others, a cluster mapping with `reach=links` says that a process
 * reaches those to which its links lead, straight or over switches: each such
 * link is a network of two, and switches that are linked are one network. */
#include "paths/generate/generate_internal.h"

#include <stdlib.h>
#include <string.h>

#include "paths/map/map_internal.h"
#include "paths/map/nearest_word.h"
#include "paths/map/networks_internal.h"
#include "pastset/text.h"

typedef struct joint {
    const paths_map *cluster;
    uint32_t *switches; /* of each node: the first switch of its network;
                           PATHS_NONE: it is none */
} joint;

static bool is_switch(const joint *j, uint32_t node)
{
    return j->switches[node] != PATHS_NONE;
}

static uint32_t first_of(joint *j, uint32_t node)
{
    while (j->switches[node] != node)
        node = j->switches[node] = j->switches[j->switches[node]];
    return node;
}

static void switches_join(joint *j)
{
    const paths_map *cluster = j->cluster;

    for (uint32_t i = 0; i < cluster->node_count; i++)
        j->switches[i] =
            paths__generate_is_switch(&cluster->nodes[i]) ? i : PATHS_NONE;
    for (uint32_t i = 0; i < cluster->edge_count; i++) {
        uint32_t a = cluster->edges[i].from, b = cluster->edges[i].to;
        if (!is_switch(j, a) || !is_switch(j, b))
            continue;
        a = first_of(j, a);
        b = first_of(j, b);
        j->switches[a < b ? b : a] = a < b ? a : b;
    }
}

/* A link to a process is told once, whichever ways it is drawn; a network of
 * switches, too. */
static bool is_told(joint *j, const uint32_t *others, size_t count,
                    uint32_t other)
{
    for (size_t i = 0; i < count; i++) {
        if (others[i] == other ||
            (is_switch(j, other) && is_switch(j, others[i]) &&
             first_of(j, other) == first_of(j, others[i])))
            return true;
    }
    return false;
}

/* May it be a part of a network's name, and be told from the other parts? */
static bool is_plain(const char *name)
{
    return paths__networks_check(name) == 0 && !strpbrk(name, "=, \t\n") &&
           !strstr(name, "--");
}

static void name_print(joint *j, FILE *out, uint32_t node, uint32_t other)
{
    const paths_map_node *nodes = j->cluster->nodes;
    uint32_t low = node < other ? node : other;
    uint32_t high = node < other ? other : node;

    if (is_switch(j, other))
        low = high = first_of(j, other);
    if (!is_plain(nodes[low].name) || !is_plain(nodes[high].name))
        fprintf(out, "%u--%u", low, high);
    else if (low == high)
        fprintf(out, "%s", nodes[low].name);
    else
        fprintf(out, "%s--%s", nodes[low].name, nodes[high].name);
}

/* The networks of a node. */
static int names_print(joint *j, FILE *out, uint32_t index)
{
    const paths_map_node *node = &j->cluster->nodes[index];
    size_t links = (size_t)node->out_count + node->in_count, told = 0;
    uint32_t *others = malloc((links + 1) * sizeof(*others));

    if (!others)
        return paths__generate_no_memory();
    for (size_t i = 0; i < links; i++) {
        uint32_t other =
            i < node->out_count
                ? j->cluster->edges[node->out[i]].to
                : j->cluster->edges[node->in[i - node->out_count]].from;
        if (other == index || is_told(j, others, told, other))
            continue;
        fprintf(out, "%s", told ? " " : "");
        name_print(j, out, index, other);
        others[told++] = other;
    }
    free(others);
    return 0;
}

static int process_say(joint *j, paths__generator *g, uint32_t process)
{
    paths_attributes *own = &g->map->processes[process].attributes;
    uint32_t node =
        (uint32_t)(paths__generate_machine(g, process) - j->cluster->nodes);
    char *text;
    size_t bytes;
    FILE *out;
    int err;

    if (paths_attributes_get(own, "networks"))
        return 0;
    if (j->cluster->nodes[node].out_count + j->cluster->nodes[node].in_count ==
        0)
        return paths__fail_at(j->cluster, j->cluster->nodes[node].line,
                              j->cluster->nodes[node].name,
                              "has no link, and with reach=links it reaches "
                              "nobody: draw one");
    out = pastset_text_begin(&text, &bytes);
    if (!out)
        return paths__generate_no_memory();
    err = names_print(j, out, node);
    if (!pastset_text_end(out) && !err)
        err = paths__generate_no_memory();
    if (!err)
        err = paths_attributes_set(own, "networks", text);
    free(text);
    return err;
}

static int links_say(paths__generator *g)
{
    joint j = {.cluster = g->options->cluster};
    int err = 0;

    j.switches =
        malloc(((size_t)j.cluster->node_count + 1) * sizeof(*j.switches));
    if (!j.switches)
        return paths__generate_no_memory();
    switches_join(&j);
    for (uint32_t i = 0; i < g->map->process_count && !err; i++)
        err = process_say(&j, g, i);
    free(j.switches);
    return err;
}

int paths__generate_networks(paths__generator *g)
{
    static const char *const known[] = {"reach", "encrypt"};
    const paths_map *cluster = g->options->cluster;
    const char *reach =
        cluster ? paths_attributes_get(&cluster->attributes, "reach") : NULL;
    int err = 0;

    for (size_t i = 0; cluster && i < cluster->attributes.count; i++) {
        const char *key = cluster->attributes.items[i].key;
        const char *meant = paths_word_within(key, known, 2, 1);
        if (meant && strcmp(meant, key) != 0)
            return paths__fail_at(cluster, 0, "",
                                  "has an attribute %s; did you mean %s?", key,
                                  meant);
    }
    if (reach && strcmp(reach, "all") != 0 && strcmp(reach, "links") != 0)
        return paths__fail_at(cluster, 0, "",
                              "reach=%s: choose all, for processes that all "
                              "reach each other, or links",
                              reach);
    if (reach && strcmp(reach, "links") == 0)
        err = links_say(g);
    return err ? err : paths__networks_create(&g->networks, g->map);
}
