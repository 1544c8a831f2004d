/* load_changes.c - see load_changes.h. */
#include "measure/load/load_changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "paths/generate/generate.h"
#include "paths/map/map.h"

#define PLACE "place"
#define RATE_MIN 1 /* bytes per second: files hold no less */

/* Values move when the list grows, so the changes get them at the end only. */
static int grow(measure_changes *list)
{
    void *grown =
        pastset_array_grow(list->items, list->count, sizeof(*list->items));
    if (!grown)
        return pastset_no_memory("for a cluster's load");
    list->items = grown;
    grown =
        pastset_array_grow(list->values, list->count, sizeof(*list->values));
    if (!grown)
        return pastset_no_memory("for a cluster's load");
    list->values = grown;
    return 0;
}

/* Gives where the value is to be written, MEASURE_PLACE_BYTES; NULL when memory
 * is out. */
static char *add(measure_changes *list, const char *machine, const char *to,
                 const char *key)
{
    if (grow(list))
        return NULL;
    list->items[list->count] = (predict_cluster_change){machine, to, key, NULL};
    return list->values[list->count++];
}

int measure_changes_machine(measure_changes *list, const char *machine,
                            const measure_load *load,
                            const predict_scheduler *scheduler)
{
    char *value = add(list, machine, NULL, "load");
    if (!value)
        return PASTSET_ENOMEM;
    snprintf(value, sizeof(*list->values), "%.2f", load->load);
    value = add(list, machine, NULL, "processors");
    if (!value)
        return PASTSET_ENOMEM;
    snprintf(value, sizeof(*list->values), "%u", load->processors);
    if (load->place[0]) {
        value = add(list, machine, NULL, PLACE);
        if (!value)
            return PASTSET_ENOMEM;
        snprintf(value, sizeof(*list->values), "%s", load->place);
    }
    if (!scheduler)
        return 0;
    value = add(list, machine, NULL, "law");
    if (!value)
        return PASTSET_ENOMEM;
    predict_scheduler_text(*scheduler, value, sizeof(*list->values));
    return 0;
}

/* Without a flow what the file tells of an earlier one is taken out. */
static int add_flow(measure_changes *list, const char *from, const char *to,
                    const measure_link *link)
{
    static const char *const keys[] = {"rate", "burst", "alone"};
    char *values[3];
    for (int i = 0; i < 3; i++) {
        if (!add(list, from, to, keys[i]))
            return PASTSET_ENOMEM;
    }
    for (size_t i = 0; i < 3; i++) {
        values[i] = list->values[list->count - 3 + i];
        values[i][0] = 0;
    }
    if (link->rate < RATE_MIN)
        return 0;
    paths_rate_text(link->rate, values[0], sizeof(*list->values));
    snprintf(values[1], sizeof(*list->values), "%.0f", link->burst);
    paths_duration_text(link->alone_s, values[2], sizeof(*list->values));
    return 0;
}

int measure_changes_link(measure_changes *list, const char *from,
                         const char *to, const measure_link *link)
{
    char *value = add(list, from, to, "bandwidth");
    if (!value)
        return PASTSET_ENOMEM;
    paths_rate_text(link->bandwidth, value, sizeof(*list->values));
    value = add(list, from, to, "latency");
    if (!value)
        return PASTSET_ENOMEM;
    paths_duration_text(link->latency_s, value, sizeof(*list->values));
    return add_flow(list, from, to, link);
}

/* --- places that are there already --- */

/* A name that is none of ours is the user's. */
static bool has_place(const paths_map *map, const char *machine)
{
    uint32_t node = paths_map_find_node(map, machine);
    const char *place =
        node == PATHS_NONE ? NULL : paths_node_get(&map->nodes[node], PLACE);
    return place && strncmp(place, MEASURE_PLACE_BEGINS,
                            strlen(MEASURE_PLACE_BEGINS)) != 0;
}

/* Takes those out that the file tells. What is wrong with it is told when it is
 * changed. */
static void leave_places(measure_changes *list, const char *file)
{
    size_t kept = 0;
    paths_map *map;
    if (access(file, F_OK) != 0 || paths_mapping_read(&map, file) != 0)
        return;
    for (size_t i = 0; i < list->count; i++) {
        predict_cluster_change *item = &list->items[i];
        if (!item->to && strcmp(item->key, PLACE) == 0 &&
            has_place(map, item->machine))
            continue;
        list->items[kept] = *item;
        memmove(list->values[kept++], list->values[i], sizeof(*list->values));
    }
    list->count = kept;
    paths_map_destroy(map);
}

int measure_changes_write(measure_changes *list, const char *file)
{
    leave_places(list, file);
    for (size_t i = 0; i < list->count; i++)
        list->items[i].value = list->values[i][0] ? list->values[i] : NULL;
    return list->count ? predict_cluster_update(file, list->items, list->count)
                       : 0;
}

void measure_changes_clear(measure_changes *list)
{
    free(list->items);
    free(list->values);
    *list = (measure_changes){0};
}
