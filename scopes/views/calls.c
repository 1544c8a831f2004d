/* calls.c - the view "calls": how long operations of each kind took.
 *
 * A kind is a verb over a path, as the program names it: threads that use a
 * path of the same name do the same there. A row is a kind, those with the most
 * time first:
 *
 *   kind, path    the verb, and the path
 *   count ... max of the times from start to end of its operations
 *   p90, p99      90 % and 99 % of them took no longer
 *
 * With `each`: the histogram of each kind, a row for each bin that has some.
 * There are ten bins to a power of ten; a time belongs to a bin that begins
 * with it or before, and ends after it. `cumulative` is the share of the kind's
 * operations in this bin and in those before it. */
#include "scopes/views/view_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/request.h"
#include "pastset/status.h"
#include "scopes/causality/communication_times_internal.h"
#include "scopes/tables/sample_internal.h"

static const scopes_column columns[] = {
    {"kind", "kind", SCOPES_TEXT},
    {"path", "path", SCOPES_TEXT},
    SCOPES__SAMPLE_COLUMNS,
    {"p90_ns", "90 % ms", SCOPES_TIME_NS},
    {"p99_ns", "99 % ms", SCOPES_TIME_NS},
};

#define TOTAL_COLUMN 3

static const scopes_column each_columns[] = {
    {"kind", "kind", SCOPES_TEXT},
    {"path", "path", SCOPES_TEXT},
    {"from_ns", "from ms", SCOPES_TIME_NS},
    {"to_ns", "to ms", SCOPES_TIME_NS},
    {"count", "count", SCOPES_COUNT},
    {"cumulative_share", "cumulative", SCOPES_SHARE},
};

#define BINS 190 /* up to 2^63 ns; the first is that of 0 */
#define BINS_IN_TEN 10

/* Times by the name of the path, and by the verb. */
typedef struct kinds {
    const char **names; /* each once, sorted */
    size_t name_count;
    scopes__sample *samples; /* name by name, verb by verb */
} kinds;

static int compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static int kinds_init(kinds *k, const scopes_communication *view)
{
    *k = (kinds){.names = calloc(view->path_count + 1, sizeof(*k->names))};
    if (!k->names)
        return pastset_no_memory("for the view calls");
    for (size_t i = 0; i < view->path_count; i++)
        k->names[i] = view->paths[i].name;
    qsort(k->names, view->path_count, sizeof(*k->names), compare_names);
    for (size_t i = 0; i < view->path_count; i++)
        if (i == 0 || strcmp(k->names[i], k->names[k->name_count - 1]) != 0)
            k->names[k->name_count++] = k->names[i];
    k->samples =
        calloc((k->name_count + 1) * PASTSET_ALL_VERBS, sizeof(*k->samples));
    return k->samples ? 0 : pastset_no_memory("for the view calls");
}

static void kinds_fini(kinds *k)
{
    for (size_t i = 0; k->samples && i < k->name_count * PASTSET_ALL_VERBS; i++)
        scopes__sample_fini(&k->samples[i]);
    free(k->samples);
    free(k->names);
}

static scopes__sample *sample_of(const kinds *k, const char *path,
                                 unsigned verb)
{
    const char **name = bsearch(&path, k->names, k->name_count,
                                sizeof(*k->names), compare_names);

    return &k->samples[(size_t)(name - k->names) * PASTSET_ALL_VERBS + verb];
}

static int take(kinds *k, const scopes_view_input *view_input,
                const scopes_communication *view)
{
    int err = 0;

    for (size_t i = 0; i < view->operation_count && !err; i++) {
        const scopes_operation *op = &view->operations[i];
        const scopes_path *path = &view->paths[op->path];
        if (op->verb < PASTSET_ALL_VERBS &&
            scopes__has_thread(view_input, op->thread) &&
            scopes__way_is_of(view_input, path->edge))
            err = scopes__sample_add(sample_of(k, path->name, op->verb),
                                     op->end_ns - op->start_ns);
    }
    return err;
}

/* --- rows --- */

static void add_kind(scopes_table *out, const char *path, unsigned verb,
                     scopes__sample *sample)
{
    scopes_table_text(out, pastset_verb_name(verb));
    scopes_table_text(out, path);
    scopes__sample_row(out, sample);
    scopes_table_integer(out, scopes__sample_at(sample, 0.90));
    scopes_table_integer(out, scopes__sample_at(sample, 0.99));
}

/* Where a bin begins. The first ones would be narrower than a nanosecond: they
 * are empty. */
static int64_t bin_begin(int bin)
{
    return bin == 0 ? 0 : llround(pow(10, (bin - 1) / (double)BINS_IN_TEN));
}

static int bin_of(int64_t ns)
{
    int bin = ns <= 0 ? 0 : 1 + (int)floor(log10((double)ns) * BINS_IN_TEN);

    while (bin + 1 < BINS && bin_begin(bin + 1) <= ns)
        bin++;
    while (bin > 0 && bin_begin(bin) > ns)
        bin--;
    return bin;
}

static void add_bins(scopes_table *out, const char *path, unsigned verb,
                     const scopes__sample *sample)
{
    int64_t counts[BINS] = {0}, below = 0;

    for (size_t i = 0; i < sample->count; i++)
        counts[bin_of(sample->values[i])]++;
    for (int bin = 0; bin < BINS; bin++) {
        if (counts[bin] == 0)
            continue;
        below += counts[bin];
        scopes_table_text(out, pastset_verb_name(verb));
        scopes_table_text(out, path);
        scopes_table_integer(out, bin_begin(bin));
        scopes_table_integer(out, bin_begin(bin + 1));
        scopes_table_integer(out, counts[bin]);
        scopes_table_real(out, (double)below / (double)sample->count);
    }
}

static void add_rows(scopes_table *out, const kinds *k, bool each)
{
    for (size_t i = 0; i < k->name_count; i++) {
        for (unsigned verb = 0; verb < PASTSET_ALL_VERBS; verb++) {
            scopes__sample *sample = &k->samples[i * PASTSET_ALL_VERBS + verb];
            if (sample->count == 0)
                continue;
            if (each)
                add_bins(out, k->names[i], verb, sample);
            else
                add_kind(out, k->names[i], verb, sample);
        }
    }
    if (!each)
        scopes_table_sort(out, TOTAL_COLUMN);
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    scopes_communication *view;
    kinds k;
    int err = scopes_communication_create(
        &view, view_input->topology, view_input->event_table,
        view_input->clocks, view_input->scheduling, SCOPES_OPERATIONS);

    if (err)
        return err;
    err = kinds_init(&k, view);
    if (!err)
        err = take(&k, view_input, view);
    if (!err)
        add_rows(out, &k, view_input->each);
    kinds_fini(&k);
    scopes_communication_destroy(view);
    return err;
}

const scopes_view scopes__view_calls = {
    "calls",
    "how long operations of each kind took, with percentiles",
    "a bin of the histogram of a kind",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .turn = 1,
    .make = make};
