/* hop_messages.c - see hop_messages.h. */
#include "tests/measure/hop_messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/type.h"
#include "paths/map/map.h"
#include "tests/support/check.h"

#define HEADER 48

/* A line of the table. */
typedef struct tuple {
    char collector[128], thread[32], verb[16];
    unsigned sequence;
    uint64_t bytes, start, end;
} tuple;

typedef struct tuples {
    tuple *items;
    size_t count;
} tuples;

static void read_tuple(tuple *t, const char *line)
{
    char status[64] = "";
    unsigned id;
    unsigned long long bytes, start, end;
    int got = sscanf(line, "%u,%127[^,],%*[^,],%31[^,],%u,%15[^,],%llu,", &id,
                     t->collector, t->thread, &t->sequence, t->verb, &bytes);
    const char *rest = line;

    cr_assert_eq(got, 6, "%.80s", line);
    for (int i = 0; i < 7; i++)
        rest = strchr(rest, ',') + 1;
    if (*rest != ',')
        sscanf(rest, "%63[^,]", status);
    cr_assert_str_empty(status, "an operation failed: %.80s", line);
    got = sscanf(rest, ",%llu,%llu", &start, &end);
    cr_assert_eq(got, 2, "%.80s", line);
    t->bytes = bytes;
    t->start = start;
    t->end = end;
}

static int by_operation(const void *x, const void *y)
{
    const tuple *p = x, *q = y;
    int order = strcmp(p->collector, q->collector);

    if (!order)
        order = strcmp(p->thread, q->thread);
    if (order)
        return order;
    return (p->sequence > q->sequence) - (p->sequence < q->sequence);
}

/* A line at a time is a string: AddressSanitizer, which checks whole strings,
 * would go through the rest of the text for each of them. */
static tuples read_tuples(const char *csv)
{
    const char *end = csv + strlen(csv), *at = csv, *next;
    tuples all = {0};
    size_t lines = 0;

    for (; (at = memchr(at, '\n', (size_t)(end - at))); at++)
        lines++;
    all.items = calloc(lines + 1, sizeof(*all.items));
    cr_assert_not_null(all.items);
    at = memchr(csv, '\n', (size_t)(end - csv));
    for (; at && at[1]; at = next) {
        char line[512];
        size_t bytes;
        at++;
        next = memchr(at, '\n', (size_t)(end - at));
        bytes = (size_t)((next ? next : end) - at);
        cr_assert_lt(bytes, sizeof(line));
        memcpy(line, at, bytes);
        line[bytes] = '\0';
        read_tuple(&all.items[all.count++], line);
    }
    qsort(all.items, all.count, sizeof(*all.items), by_operation);
    return all;
}

static hop_way *find_way(hop_messages *out, const char *thread,
                         const paths_map_process *process, size_t capacity)
{
    const char *address = paths_attributes_get(&process->attributes, "address");
    hop_way *w;

    for (size_t i = 0; i < out->way_count; i++) {
        w = &out->ways[i];
        if (!strcmp(w->thread, thread) && !strcmp(w->process, process->name))
            return w;
    }
    cr_assert_lt(out->way_count, HOP_WAYS);
    w = &out->ways[out->way_count++];
    snprintf(w->thread, sizeof(w->thread), "%s", thread);
    snprintf(w->process, sizeof(w->process), "%s", process->name);
    cr_assert(address && strrchr(address, ':'));
    w->port = (unsigned)atoi(strrchr(address, ':') + 1);
    for (int i = 0; i < 2; i++) {
        w->messages[i] = calloc(capacity, sizeof(*w->messages[i]));
        cr_assert_not_null(w->messages[i]);
    }
    return w;
}

/* What an exchange brings back: all of the element where contributions are
 * gathered, else as much as was brought (docs/map.md). */
static uint64_t result_bytes(const paths_map *map, uint32_t node,
                             uint64_t written)
{
    bool gathers = false;
    pastset_type type;
    const char *text;

    while (map->nodes[node].kind != PATHS_ELEMENT) {
        gathers |= !strcmp(map->nodes[node].type, "gather");
        cr_assert_geq(map->nodes[node].out_count, 1);
        node = map->edges[map->nodes[node].out[0]].to;
    }
    text = paths_node_get(&map->nodes[node], "type");
    check_status(pastset_type_parse(&type, text), 0);
    return gathers ? type.max_bytes : written;
}

static void add(hop_messages *out, const paths_map *map, const tuples *all,
                const tuple *above, uint32_t below)
{
    const paths_map_node *node = &map->nodes[below];
    bool brings =
        strcmp(above->verb, "write") && strcmp(above->verb, "exchange");
    uint64_t reads = brings ? above->bytes : 0;
    tuple name = *above, *other;
    hop_way *w = find_way(out, above->thread, &map->processes[node->process],
                          all->count);

    snprintf(name.collector, sizeof(name.collector), "%s", node->name);
    other = bsearch(&name, all->items, all->count, sizeof(name), by_operation);
    cr_assert(other, "operation %u of %s was not seen at %s", above->sequence,
              above->thread, node->name);
    if (!strcmp(above->verb, "exchange"))
        reads = result_bytes(map, below, above->bytes);
    w->messages[0][w->count] =
        (hop_message){above->start, HEADER + (brings ? 0 : above->bytes)};
    w->messages[1][w->count++] = (hop_message){other->end, HEADER + reads};
}

static int by_ticks(const void *x, const void *y)
{
    const hop_message *p = x, *q = y;

    return (p->ticks > q->ticks) - (p->ticks < q->ticks);
}

void hop_messages_make(hop_messages *out, const char *map_file, const char *csv)
{
    tuples all = read_tuples(csv);
    paths_map *map;

    memset(out, 0, sizeof(*out));
    check_status(paths_map_read(&map, map_file), 0);
    for (size_t i = 0; i < all.count; i++) {
        uint32_t above = paths_map_find_node(map, all.items[i].collector);
        const paths_map_node *proxy;
        cr_assert_neq(above, PATHS_NONE);
        proxy = &map->nodes[map->edges[map->nodes[above].out[0]].to];
        if (!strcmp(proxy->type, "proxy"))
            add(out, map, &all, &all.items[i], map->edges[proxy->out[0]].to);
    }
    for (size_t i = 0; i < out->way_count; i++) {
        for (int d = 0; d < 2; d++)
            qsort(out->ways[i].messages[d], out->ways[i].count,
                  sizeof(hop_message), by_ticks);
    }
    paths_map_destroy(map);
    free(all.items);
}

void hop_messages_free(hop_messages *messages)
{
    for (size_t i = 0; i < messages->way_count; i++) {
        free(messages->ways[i].messages[0]);
        free(messages->ways[i].messages[1]);
    }
}
