/* diff_items.c - the items of a comparison and their samples. */
#include "scopes/compare/diff_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

static int no_memory(void)
{
    return pastset_no_memory("for comparing runs");
}

int scopes_diff_create(scopes_diff **out, const scopes_diff_options *options)
{
    *out = calloc(1, sizeof(**out));
    if (!*out)
        return no_memory();
    (*out)->options = *options;
    return 0;
}

static void item_destroy(scopes__diff_item *item)
{
    for (size_t i = 0; i < item->part_count; i++)
        free(item->parts[i].samples);
    for (size_t i = 0; i < item->wait_count; i++)
        free(item->waits[i].thread);
    free(item->parts);
    free(item->waits);
    free(item->common);
    free(item->reference);
    free(item->key);
    free(item);
}

void scopes_diff_destroy(scopes_diff *diff)
{
    scopes__diff_item *item, *next;

    if (!diff)
        return;
    HASH_ITER(hh, diff->items, item, next)
    {
        HASH_DEL(diff->items, item);
        item_destroy(item);
    }
    free(diff->sides);
    free(diff->runs_ns);
    free(diff->scheduling);
    free(diff->lost);
    free(diff->units);
    free(diff->memory);
    free(diff);
}

/* --- items --- */

#define TEXT_BYTES 700

/* Kind and texts, each with its end. Longer texts are cut: they differ before
 * that, or are one. */
static size_t make_key(char *out, scopes__diff_kind kind, const char *thread,
                       const char *path, const char *what)
{
    const char *texts[] = {thread, path, what};
    size_t bytes = 1;

    out[0] = (char)('a' + (int)kind);
    for (size_t i = 0; i < 3; i++) {
        size_t length = strnlen(texts[i], TEXT_BYTES);
        memcpy(out + bytes, texts[i], length);
        out[bytes + length] = '\0';
        bytes += length + 1;
    }
    return bytes;
}

static scopes__diff_item *item_create(const char *key, size_t bytes,
                                      scopes__diff_kind kind)
{
    scopes__diff_item *item = calloc(1, sizeof(*item));

    if (item)
        item->key = malloc(bytes);
    if (!item || !item->key) {
        free(item);
        return NULL;
    }
    memcpy(item->key, key, bytes);
    item->kind = kind;
    item->linear = kind == SCOPES__WAITING || kind == SCOPES__STEP;
    item->thread = item->key + 1;
    item->path = item->thread + strlen(item->thread) + 1;
    item->what = item->path + strlen(item->path) + 1;
    return item;
}

scopes__diff_item *scopes__diff_item_of(scopes_diff *diff,
                                        scopes__diff_kind kind,
                                        const char *thread, const char *path,
                                        const char *what)
{
    char key[3 * (TEXT_BYTES + 1) + 1];
    size_t bytes = make_key(key, kind, thread, path, what);
    scopes__diff_item *item;

    HASH_FIND(hh, diff->items, key, bytes, item);
    if (item)
        return item;
    item = item_create(key, bytes, kind);
    if (item) {
        HASH_ADD_KEYPTR(hh, diff->items, item->key, bytes, item);
        if (!item->hh.tbl) {
            item_destroy(item);
            item = NULL;
        }
    }
    if (!item)
        no_memory();
    return item;
}

/* The part of the run that is being taken, the last one. */
static scopes__diff_part *part_of(const scopes_diff *diff,
                                  scopes__diff_item *item)
{
    while (item->part_count <= diff->run_count) {
        scopes__diff_part *more =
            pastset_array_grow(item->parts, item->part_count, sizeof(*more));
        if (!more)
            return NULL;
        item->parts = more;
        item->parts[item->part_count++] = (scopes__diff_part){0};
    }
    return &item->parts[diff->run_count];
}

/* Murmur's last step: programs do things every so often, and what is kept must
 * not follow that. */
static uint32_t scattered(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ (x >> 16);
}

static bool is_kept(uint32_t ordinal, unsigned level)
{
    return (scattered(ordinal) & ((1u << level) - 1)) == 0;
}

size_t scopes__diff_kept(const scopes__diff_part *part, unsigned level)
{
    size_t kept = 0;

    for (size_t i = 0; i < part->count; i++)
        kept += is_kept(part->samples[i].ordinal, level);
    return kept;
}

/* Drops one half. */
static void thin_out(scopes__diff_part *part)
{
    size_t kept = 0;

    part->level++;
    for (size_t i = 0; i < part->count; i++)
        if (is_kept(part->samples[i].ordinal, part->level))
            part->samples[kept++] = part->samples[i];
    part->count = kept;
}

int scopes__diff_sample_add(scopes_diff *diff, scopes__diff_item *item,
                            uint64_t ordinal, unsigned gone, int64_t ns)
{
    scopes__diff_part *part = part_of(diff, item);
    uint32_t place = ordinal < UINT32_MAX ? (uint32_t)ordinal : UINT32_MAX;
    scopes__diff_sample *more;

    if (!part)
        return no_memory();
    part->seen++;
    part->latest = place;
    part->gone |= gone;
    part->total_ns += ns > 0 ? (double)ns : 0;
    if (part->count >= SCOPES__SAMPLES_MAX && part->level < 20)
        thin_out(part);
    if (!is_kept(place, part->level))
        return 0;
    more = pastset_array_grow(part->samples, part->count, sizeof(*more));
    if (!more)
        return no_memory();
    part->samples = more;
    part->samples[part->count++] =
        (scopes__diff_sample){place, ns > 0 ? (float)ns : 0};
    return 0;
}

int scopes__diff_for_add(scopes_diff *diff, scopes__diff_item *item,
                         const char *thread, int64_t ns)
{
    scopes__diff_for *more;
    size_t i = 0;

    while (i < item->wait_count && strcmp(item->waits[i].thread, thread) != 0)
        i++;
    if (i == item->wait_count) {
        more = pastset_array_grow(item->waits, i, sizeof(*more));
        if (!more)
            return no_memory();
        item->waits = more;
        item->waits[i] = (scopes__diff_for){.thread = strdup(thread)};
        if (!item->waits[i].thread)
            return no_memory();
        item->wait_count++;
    }
    item->waits[i].ns[diff->sides[diff->run_count]] += (double)ns;
    return 0;
}

/* --- numbers --- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void scopes__diff_sort(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare_doubles);
}

double scopes__diff_median(const double *sorted, size_t count)
{
    if (count == 0)
        return (double)NAN;
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}
