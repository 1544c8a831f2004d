/* report_regions.c - see report_regions_internal.h.
 *
 * A level is what a thread was in at one depth. Where a run has more times in
 * regions than a browser should have, it is divided into stretches, so many
 * that all levels have room. A level with more times than that is told by
 * stretches: how long its thread was in which region, in the order in which it
 * came to them, one behind the other from the begin of the stretch. These times
 * are exact; of a stretch with more than NAMES_MAX regions the others are left
 * out.
 */
#include "viewer/report/report_regions_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "viewer/tables/table_print.h"
#include "viewer/timeline/pack_numbers_internal.h"

#define BANDS_MAX 250000 /* of a page, some bytes each */
#define NAMES_MAX 4      /* of a stretch */
#define STRETCHES_MIN 64

/* Columns of the view regions in detail. */
enum { REGION, KIND, NUMBER, THREAD, DEPTH, START_NS, END_NS };

typedef struct band {
    const char *name;
    int64_t thread, depth, start_ns, end_ns;
    bool summed; /* from the begin of a stretch; so are all of its level */
} band;

typedef struct bands {
    band *all;
    size_t count;
    const char **names; /* each once, sorted */
    size_t name_count;
    int64_t *sums;      /* of all times in each of these */
    int64_t start_ns;   /* of the first stretch */
    int64_t stretch_ns; /* 0: nothing is summed */
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

static json_t *sums_of(const bands *b)
{
    json_t *sums = json_array();

    for (size_t i = 0; i < b->name_count; i++)
        json_array_append_new(sums, json_integer(b->sums[i]));
    return sums;
}

static void sum_up(bands *b)
{
    for (size_t i = 0; i < b->count; i++)
        b->sums[number_of(b, b->all[i].name)] +=
            b->all[i].end_ns - b->all[i].start_ns;
}

/* --- levels --- */

/* Behind the last one of the level that begins at `i`. */
static size_t level_end(const bands *b, size_t i)
{
    const band *first = &b->all[i];

    while (i < b->count && b->all[i].thread == first->thread &&
           b->all[i].depth == first->depth)
        i++;
    return i;
}

static size_t count_levels(const bands *b)
{
    size_t levels = 0;

    for (size_t i = 0; i < b->count; i = level_end(b, i))
        levels++;
    return levels;
}

/* [thread, depth, how many, by stretches?] of each level. */
static json_t *levels_of(const bands *b)
{
    json_t *levels = json_array();

    for (size_t i = 0, next; i < b->count; i = next) {
        const band *first = &b->all[i];
        next = level_end(b, i);
        json_array_append_new(
            levels, json_pack("[I, I, I, b]", (json_int_t)first->thread,
                              (json_int_t)first->depth, (json_int_t)(next - i),
                              first->summed));
    }
    return levels;
}

/* --- stretches --- */

/* How long a thread was in which regions in one stretch. */
typedef struct stretch {
    int64_t start_ns;
    size_t count;
    struct {
        const char *name;
        int64_t ns;
    } of[NAMES_MAX];
} stretch;

static void add(stretch *s, const char *name, int64_t ns)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->of[i].name, name) == 0) {
            s->of[i].ns += ns;
            return;
        }
    if (s->count == NAMES_MAX)
        return;
    s->of[s->count].name = name;
    s->of[s->count++].ns = ns;
}

/* Behind `kept`; gives where the next ones go. */
static band *put(band *kept, const band *like, stretch *s)
{
    int64_t at_ns = s->start_ns;

    for (size_t i = 0; i < s->count; i++) {
        *kept = *like;
        kept->summed = true;
        kept->name = s->of[i].name;
        kept->start_ns = at_ns;
        kept->end_ns = at_ns += s->of[i].ns;
        kept++;
    }
    s->count = 0;
    return kept;
}

/* The part of a band that is in its first stretch is cut off and given. */
static band cut(const bands *b, band *rest, int64_t *stretch_start_ns)
{
    band part = *rest;

    *stretch_start_ns =
        part.start_ns - (part.start_ns - b->start_ns) % b->stretch_ns;
    if (part.end_ns > *stretch_start_ns + b->stretch_ns)
        part.end_ns = *stretch_start_ns + b->stretch_ns;
    rest->start_ns = part.end_ns;
    return part;
}

static band *sum_level(band *kept, const bands *b, const band *first,
                       const band *end, int64_t end_ns)
{
    stretch now = {.count = 0};
    int64_t since_ns = b->start_ns; /* those of damaged traces may overlap */

    for (const band *next = first; next < end; next++) {
        band rest = *next;
        rest.start_ns = rest.start_ns > since_ns ? rest.start_ns : since_ns;
        rest.end_ns = rest.end_ns < end_ns ? rest.end_ns : end_ns;
        since_ns = rest.end_ns > since_ns ? rest.end_ns : since_ns;
        while (rest.start_ns < rest.end_ns) {
            int64_t start_ns;
            band part = cut(b, &rest, &start_ns);
            if (start_ns != now.start_ns)
                kept = put(kept, first, &now);
            now.start_ns = start_ns;
            add(&now, part.name, part.end_ns - part.start_ns);
        }
    }
    return put(kept, first, &now);
}

/* Where there are too many. A level that is summed has had more bands than it
 * then has. */
static int shorten(bands *b, int64_t end_ns)
{
    size_t levels = count_levels(b), at_most;
    band *kept, *last;

    if (b->count <= BANDS_MAX)
        return 0;
    kept = last = calloc(b->count, sizeof(*kept));
    if (!kept)
        return pastset_no_memory("for regions");
    at_most = BANDS_MAX / levels > STRETCHES_MIN * NAMES_MAX
                  ? BANDS_MAX / levels
                  : STRETCHES_MIN * NAMES_MAX;
    b->stretch_ns = (end_ns - b->start_ns) / (int64_t)(at_most / NAMES_MAX) + 1;
    for (size_t i = 0, next; i < b->count; i = next) {
        next = level_end(b, i);
        if (next - i > at_most) {
            last = sum_level(last, b, &b->all[i], &b->all[next], end_ns);
            continue;
        }
        memcpy(last, &b->all[i], (next - i) * sizeof(*last));
        last += next - i;
    }
    free(b->all);
    b->all = kept;
    b->count = (size_t)(last - kept);
    return 0;
}

/* Puts the times of all bands, as three texts. */
static json_t *put_times(json_t *json, const bands *b, int64_t start_ns)
{
    viewer__numbers start = {0}, length = {0}, name = {0};

    for (size_t i = 0; i < b->count; i++) {
        const band *one = &b->all[i];
        viewer__numbers_add(&start, viewer__zigzag(one->start_ns - start_ns));
        viewer__numbers_add(&length,
                            one->end_ns > one->start_ns
                                ? (uint64_t)(one->end_ns - one->start_ns)
                                : 0);
        viewer__numbers_add(&name, number_of(b, one->name));
        start_ns = one->start_ns;
    }
    json_object_set_new(json, "start", viewer__numbers_take(&start));
    json_object_set_new(json, "length", viewer__numbers_take(&length));
    json_object_set_new(json, "name", viewer__numbers_take(&name));
    return json;
}

static json_t *json_of(const bands *b)
{
    return put_times(json_pack("{s:o, s:o, s:o, s:I}", "names", names_of(b),
                               "sums", sums_of(b), "levels", levels_of(b),
                               "stretchNs", (json_int_t)b->stretch_ns),
                     b, b->start_ns);
}

json_t *viewer__report_regions(const scopes_table *table, int64_t start_ns,
                               int64_t end_ns, bool full)
{
    size_t rows = scopes_table_rows(table);
    bands b = {.all = calloc(rows + 1, sizeof(*b.all)),
               .names = calloc(rows + 1, sizeof(*b.names)),
               .sums = calloc(rows + 1, sizeof(*b.sums)),
               .start_ns = start_ns};
    json_t *json = NULL;

    if (b.all && b.names && b.sums) {
        take(&b, table);
        sum_up(&b);
        if (full || shorten(&b, end_ns) == 0)
            json = json_of(&b);
    }
    free(b.all);
    free(b.names);
    free(b.sums);
    return json;
}
