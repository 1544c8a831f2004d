/* report_regions.c - see report_regions_internal.h. */
#include "viewer/report/report_regions_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "viewer/report/report_pack_internal.h"
#include "viewer/tables/table_print.h"

/* Columns of the view regions in detail. */
enum { REGION, KIND, NUMBER, THREAD, DEPTH, START_NS, END_NS };

#define NUMBERS 3 /* of a time in a region, in the page */

typedef struct band {
    const char *name;
    int64_t thread, depth, start_ns, end_ns;
} band;

typedef struct bands {
    band *all;
    size_t count;
    const char **names; /* each once, sorted */
    size_t name_count;
} bands;

static int compare_bands(const void *left, const void *right)
{
    const band *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* Marks have no length, and no band. */
static void take(bands *b, const scopes_table *table)
{
    for (size_t i = 0; i < scopes_table_rows(table); i++) {
        if (strcmp(scopes_table_cell(table, i, KIND).text, "region") != 0)
            continue;
        b->names[b->count] = scopes_table_cell(table, i, REGION).text;
        b->all[b->count] =
            (band){.name = b->names[b->count],
                   .thread = scopes_table_cell(table, i, NUMBER).integer,
                   .depth = scopes_table_cell(table, i, DEPTH).integer,
                   .start_ns = scopes_table_cell(table, i, START_NS).integer,
                   .end_ns = scopes_table_cell(table, i, END_NS).integer};
        b->count++;
    }
    qsort(b->all, b->count, sizeof(*b->all), compare_bands);
    qsort(b->names, b->count, sizeof(*b->names), compare_names);
    for (size_t i = 0; i < b->count; i++)
        if (i == 0 || strcmp(b->names[i], b->names[b->name_count - 1]) != 0)
            b->names[b->name_count++] = b->names[i];
}

static uint64_t number_of(const bands *b, const char *name)
{
    const char **found = bsearch(&name, b->names, b->name_count,
                                 sizeof(*b->names), compare_names);

    return (uint64_t)(found - b->names);
}

static json_t *names_of(const bands *b)
{
    json_t *names = json_array();

    for (size_t i = 0; i < b->name_count; i++)
        json_array_append_new(names, viewer_json_text(b->names[i]));
    return names;
}

/* [thread, depth, how many] of each level that has some. */
static json_t *levels_of(const bands *b)
{
    json_t *levels = json_array();

    for (size_t i = 0, next; i < b->count; i = next) {
        const band *first = &b->all[i];
        for (next = i + 1; next < b->count &&
                           b->all[next].thread == first->thread &&
                           b->all[next].depth == first->depth;)
            next++;
        json_array_append_new(levels,
                              json_pack("[I, I, I]", (json_int_t)first->thread,
                                        (json_int_t)first->depth,
                                        (json_int_t)(next - i)));
    }
    return levels;
}

static json_t *times_of(const bands *b, int64_t start_ns)
{
    uint8_t *packed = malloc(b->count * NUMBERS * VIEWER__PACK_MAX + 1);
    uint8_t *at = packed;
    json_t *json;

    for (size_t i = 0; i < b->count && packed; i++) {
        const band *one = &b->all[i];
        at = viewer__pack(at, viewer__zigzag(one->start_ns - start_ns));
        at = viewer__pack(at, one->end_ns > one->start_ns
                                  ? (uint64_t)(one->end_ns - one->start_ns)
                                  : 0);
        at = viewer__pack(at, number_of(b, one->name));
        start_ns = one->start_ns;
    }
    json = packed ? viewer__base64(packed, (size_t)(at - packed)) : NULL;
    free(packed);
    return json;
}

json_t *viewer__report_regions(const scopes_table *table, int64_t start_ns)
{
    size_t rows = scopes_table_rows(table);
    bands b = {.all = calloc(rows + 1, sizeof(*b.all)),
               .names = calloc(rows + 1, sizeof(*b.names))};
    json_t *json = NULL;

    if (b.all && b.names) {
        take(&b, table);
        json = json_pack("{s:o, s:o, s:o}", "names", names_of(&b), "levels",
                         levels_of(&b), "times", times_of(&b, start_ns));
    }
    free(b.all);
    free(b.names);
    return json;
}
