/* delays.c - the view "delays": for whom the others waited, and how long.
 *
 * It sums up the rows of the view waits-for by the thread that was waited for:
 * which one held up the run, and where to look first.
 *
 *   total       how long the others waited for it, all together
 *   threads     how many did
 *   share       of all waiting of all threads for others
 *   over        the element over which most of it went
 *   longest     the thread that waited for it most
 *
 * The thread that was waited for need not be the cause: it may itself have
 * waited for another one, which critical-path shows.
 *
 * With `each`: a row for each two threads. `threads` chooses among those that
 * were waited for; `of` among the elements, and the share is then that of the
 * waiting over it. */
#include "scopes/views/view_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"

static const scopes_column columns[] = {
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"total_ns", "total ms", SCOPES_TIME_NS},
    {"delays_share", "share of all waiting", SCOPES_SHARE},
    {"threads", "threads delayed", SCOPES_COUNT},
    {"over", "mostly over element", SCOPES_TEXT},
    {"longest_thread", "mostly delayed", SCOPES_TEXT},
};

static const scopes_column each_columns[] = {
    {"thread", "thread", SCOPES_TEXT},
    {"process", "process", SCOPES_TEXT},
    {"total_ns", "total ms", SCOPES_TIME_NS},
    {"delays_share", "share of all waiting", SCOPES_SHARE},
    {"delayed_thread", "delayed", SCOPES_TEXT},
    {"delayed_process", "on process", SCOPES_TEXT},
    {"over", "mostly over element", SCOPES_TEXT},
};

#define TOTAL_COLUMN 2 /* of both */

/* A row of waits-for. */
typedef struct wait {
    const char *by, *by_process, *whom, *whom_process, *over;
    int64_t ns;
} wait;

typedef const char *key(const wait *);

static const char *by(const wait *w)
{
    return w->by;
}

static const char *whom(const wait *w)
{
    return w->whom;
}

static const char *over(const wait *w)
{
    return w->over;
}

static int compare_whom(const void *a, const void *b)
{
    const wait *x = a, *y = b;
    int order = strcmp(x->whom, y->whom);

    return order ? order : strcmp(x->by, y->by);
}

static int compare_over(const void *a, const void *b)
{
    const wait *x = a, *y = b;

    return strcmp(x->over, y->over);
}

/* How many of these, from the first on, have its key. */
static size_t alike(const wait *waits, size_t count, key *of)
{
    size_t n = 1;

    while (n < count && strcmp(of(&waits[n]), of(&waits[0])) == 0)
        n++;
    return n;
}

static int64_t sum(const wait *waits, size_t count)
{
    int64_t ns = 0;

    for (size_t i = 0; i < count; i++)
        ns = scopes__sum_ns(ns, waits[i].ns);
    return ns;
}

/* The key of these that has the longest time, and how many keys there are.
 * They are sorted by it. */
static const char *most(const wait *waits, size_t count, key *of, size_t *keys)
{
    const char *found = "";
    int64_t longest = -1;

    *keys = 0;
    for (size_t i = 0, n; i < count; i += n, ++*keys) {
        int64_t ns;
        n = alike(&waits[i], count - i, of);
        ns = sum(&waits[i], n);
        if (ns > longest) {
            longest = ns;
            found = of(&waits[i]);
        }
    }
    return found;
}

/* --- rows --- */

/* A row of those that waited for one thread; with `each` only one of them. */
static void add_row(scopes_table *out, const scopes_view_input *view_input,
                    wait *waits, size_t count, int64_t all_ns)
{
    size_t threads, elements;
    const char *longest = most(waits, count, by, &threads);
    int64_t ns = sum(waits, count);

    scopes_table_text(out, waits->whom);
    scopes_table_text(out, waits->whom_process);
    scopes_table_integer(out, ns);
    scopes_table_real(out, (double)ns / (double)all_ns);
    if (view_input->each) {
        scopes_table_text(out, longest);
        scopes_table_text(out, waits->by_process);
    } else {
        scopes_table_integer(out, (int64_t)threads);
    }
    qsort(waits, count, sizeof(*waits), compare_over);
    scopes_table_text(out, most(waits, count, over, &elements));
    if (!view_input->each)
        scopes_table_text(out, longest);
}

static bool is_wanted(const scopes_view_input *view_input, const char *thread)
{
    const scopes_topology *topology = view_input->topology;

    for (uint32_t i = 0; i < topology->thread_count; i++) {
        if (strcmp(scopes_topology_thread_name(topology, i), thread) == 0)
            return scopes__has_thread(view_input, i);
    }
    return false;
}

static void add_rows(scopes_table *out, const scopes_view_input *view_input,
                     wait *waits, size_t count)
{
    int64_t all_ns = sum(waits, count);

    qsort(waits, count, sizeof(*waits), compare_whom);
    for (size_t i = 0, n; i < count; i += n) {
        n = alike(&waits[i], count - i, whom);
        for (size_t k = 0, m; k < n && is_wanted(view_input, waits[i].whom);
             k += m) {
            m = view_input->each ? alike(&waits[i + k], n - k, by) : n;
            add_row(out, view_input, &waits[i + k], m, all_ns);
        }
    }
    scopes_table_sort(out, TOTAL_COLUMN);
}

/* --- the view waits-for --- */

/* Takes the rows that have waited. Returns how many there are. */
static size_t take(wait *waits, const scopes_table *table)
{
    size_t count = 0;

    for (size_t i = 0; i < scopes_table_rows(table); i++) {
        wait w = {.by = scopes_table_cell(table, i, 0).text,
                  .whom = scopes_table_cell(table, i, 2).text,
                  .by_process = scopes_table_cell(table, i, 1).text,
                  .whom_process = scopes_table_cell(table, i, 3).text,
                  .over = scopes_table_cell(table, i, 4).text,
                  .ns = scopes_table_cell(table, i, 6).integer};
        if (w.ns > 0)
            waits[count++] = w;
    }
    return count;
}

static int make(scopes_table *out, const scopes_view_input *view_input)
{
    scopes_view_input of_all = *view_input;
    scopes_table *table;
    wait *waits = NULL;
    int err;

    of_all.each = false;
    of_all.threads = NULL;
    table = scopes_table_create(scopes__view_waits_for.columns,
                                scopes__view_waits_for.column_count);
    err = scopes__view_waits_for.make(table, &of_all);
    if (!err)
        err = scopes_table_status(table);
    if (!err)
        waits =
            scopes__allocate((scopes_table_rows(table) + 1) * sizeof(*waits));
    if (waits)
        add_rows(out, view_input, waits, take(waits, table));
    else if (!err)
        err = pastset_no_memory("for the view delays");
    scopes__free(waits);
    scopes_table_destroy(table);
    return err;
}

const scopes_view scopes__view_delays = {
    "delays",
    "for whom the others waited, and how long",
    "a thread that waited for another",
    SCOPES__COLUMNS(columns),
    SCOPES__COLUMNS(each_columns),
    .make = make};
