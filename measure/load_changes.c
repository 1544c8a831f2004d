/* load_changes.c - see load_changes.h. */
#include "measure/load_changes.h"

#include <stdio.h>
#include <stdlib.h>

#include "pastset/status.h"

/* Values move when the list grows, so the changes get them at the end only. */
static int grow(measure_changes *list)
{
    size_t room = list->room ? 2 * list->room : 16;
    void *items = realloc(list->items, room * sizeof(*list->items));
    void *values;
    if (items)
        list->items = items;
    values = items ? realloc(list->values, room * sizeof(*list->values)) : NULL;
    if (!values)
        return pastset_fail(PASTSET_ENOMEM, "no memory for a cluster's load");
    list->values = values;
    list->room = room;
    return 0;
}

/* Gives the place for the value, of 48 bytes; NULL when memory is out. */
static char *add(measure_changes *list, const char *host, const char *to,
                 const char *key)
{
    if (list->count == list->room && grow(list))
        return NULL;
    list->items[list->count] = (predict_cluster_change){host, to, key, NULL};
    return list->values[list->count++];
}

int measure_changes_host(measure_changes *list, const char *host,
                         const measure_load *load, const predict_law *law)
{
    char *value = add(list, host, NULL, "load");
    if (!value)
        return PASTSET_ENOMEM;
    snprintf(value, sizeof(*list->values), "%.2f", load->running);
    value = add(list, host, NULL, "processors");
    if (!value)
        return PASTSET_ENOMEM;
    snprintf(value, sizeof(*list->values), "%u", load->processors);
    if (!law)
        return 0;
    value = add(list, host, NULL, "law");
    if (!value)
        return PASTSET_ENOMEM;
    predict_law_text(*law, value, sizeof(*list->values));
    return 0;
}

int measure_changes_link(measure_changes *list, const char *from,
                         const char *to, const measure_link *link)
{
    char *value = add(list, from, to, "bandwidth");
    if (!value)
        return PASTSET_ENOMEM;
    measure_link_bandwidth_text(link->bandwidth, value, sizeof(*list->values));
    value = add(list, from, to, "latency");
    if (!value)
        return PASTSET_ENOMEM;
    measure_link_latency_text(link->latency_s, value, sizeof(*list->values));
    return 0;
}

int measure_changes_write(measure_changes *list, const char *file)
{
    for (size_t i = 0; i < list->count; i++)
        list->items[i].value = list->values[i];
    return list->count ? predict_cluster_update(file, list->items, list->count)
                       : 0;
}

void measure_changes_clear(measure_changes *list)
{
    free(list->items);
    free(list->values);
    *list = (measure_changes){0};
}
