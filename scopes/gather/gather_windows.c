/* gather_windows.c - statistics of all processes, put together by window. */
#include "scopes/gather/gather_message.h"
#include "scopes/gather/gather_sums.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROCESSES_MAX 65536 /* where the map is not known */

typedef struct windows_process {
    gather_sums sums;
    uint64_t newest; /* a window of which something has come */
    uint64_t over;   /* those before it are complete */
    bool came, ended;
} windows_process;

struct scopes_windows {
    uint64_t window_ns;
    const paths_map *app;
    windows_process *processes;
    uint32_t process_count;
    const char **names; /* of collectors, by id */
    uint32_t name_count;
};

static int no_memory(void)
{
    return pastset_no_memory("for statistics");
}

/* --- making --- */

static int names_take(scopes_windows *w)
{
    for (uint32_t i = 0; i < w->app->node_count; i++) {
        const paths_map_node *node = &w->app->nodes[i];
        const char **names;
        uint64_t id;
        if (strcmp(node->type, "collector") != 0 ||
            paths_node_number(w->app, node, "id", UINT64_MAX, &id) ||
            id >= UINT32_MAX / 2)
            continue;
        if (id >= w->name_count) {
            names = realloc(w->names, (id + 1) * sizeof(*names));
            if (!names)
                return no_memory();
            memset(names + w->name_count, 0,
                   (id + 1 - w->name_count) * sizeof(*names));
            w->names = names;
            w->name_count = (uint32_t)id + 1;
        }
        w->names[id] = node->name;
    }
    return 0;
}

int scopes_windows_create(scopes_windows **out, uint64_t window_ns,
                          const paths_map *app)
{
    scopes_windows *w = calloc(1, sizeof(*w));
    int err = 0;

    *out = NULL;
    if (!w)
        return no_memory();
    w->window_ns = window_ns ? window_ns : 1000000000;
    w->app = app;
    if (app)
        err = names_take(w);
    if (err)
        scopes_windows_destroy(w);
    else
        *out = w;
    return err;
}

void scopes_windows_destroy(scopes_windows *w)
{
    if (!w)
        return;
    for (uint32_t i = 0; i < w->process_count; i++)
        scopes__gather_sums_fini(&w->processes[i].sums);
    free(w->processes);
    free(w->names);
    free(w);
}

/* --- what comes --- */

static windows_process *process_of(scopes_windows *w, uint32_t process)
{
    windows_process *processes;

    if (process < w->process_count)
        return &w->processes[process];
    processes =
        realloc(w->processes, ((size_t)process + 1) * sizeof(*processes));
    if (!processes)
        return NULL;
    w->processes = processes;
    for (; w->process_count <= process; w->process_count++) {
        memset(&processes[w->process_count], 0, sizeof(*processes));
        scopes__gather_sums_init(&processes[w->process_count].sums,
                                 w->window_ns);
    }
    return &processes[process];
}

static int statistics_take(windows_process *h, const scopes_record *r)
{
    scopes_statistic item;
    int err = 0;

    for (uint32_t i = 0; i < r->count && !err; i++) {
        memcpy(&item, (const char *)r->body + i * sizeof(item), sizeof(item));
        err = scopes__gather_sums_merge(&h->sums, &item);
    }
    return err;
}

int scopes_windows_record(const scopes_record *r, void *context)
{
    scopes_windows *w = context;
    gather_part part = {.kind = (uint16_t)r->kind, .bytes = (uint32_t)r->bytes};
    eventspace_meta meta;
    windows_process *h;
    uint32_t before;
    int err = 0;

    if (r->process == PATHS_NONE)
        return 0;
    if (r->process >= (w->app ? w->app->process_count : PROCESSES_MAX))
        return pastset_fail(PASTSET_EPROTO, "a record of process %u",
                            r->process);
    h = process_of(w, r->process);
    if (!h)
        return no_memory();
    before = h->sums.used;
    if (scopes__gather_meta_take(&meta, &part, r->body))
        scopes__gather_sums_clock(&h->sums, &meta);
    else if (r->kind == SCOPES_RECORD_TUPLES)
        err = scopes__gather_sums_tuples(&h->sums, r->body, r->count);
    else if (r->kind == SCOPES_RECORD_STATISTICS)
        err = statistics_take(h, r);
    else if (r->kind == SCOPES_RECORD_LEDGER) {
        /* While it has more, one stream may be far ahead of the others. */
        h->ended = r->ended;
        if (!r->more)
            h->over = h->newest;
    }
    h->came = true;
    for (uint32_t i = before; i < h->sums.used; i++)
        if (h->sums.items[i].window > h->newest)
            h->newest = h->sums.items[i].window;
    return err;
}

/* --- tables --- */

static const scopes_column columns[] = {
    {"window", "window", SCOPES_TEXT}, /* when it begins, ISO 8601, UTC */
    {"process", "process", SCOPES_TEXT},
    {"id", "id", SCOPES_NUMBER},
    {"collector", "collector", SCOPES_TEXT},
    {"count", "count", SCOPES_COUNT},
    {"failed", "failed", SCOPES_COUNT},
    {"bytes", "bytes", SCOPES_COUNT},
    {"total_ns", "total ms", SCOPES_TIME_NS},
    {"mean_ns", "mean ms", SCOPES_TIME_NS},
    {"min_ns", "min ms", SCOPES_TIME_NS},
    {"max_ns", "max ms", SCOPES_TIME_NS},
};

static void window_text(scopes_table *table, uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;
    char text[64], whole[96];

    gmtime_r(&seconds, &tm);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(whole, sizeof(whole), "%s.%06uZ", text,
             (unsigned)(ns % 1000000000 / 1000));
    scopes_table_copy(table, whole);
}

static void row_add(scopes_table *table, const scopes_windows *w,
                    uint32_t process, const scopes_statistic *s)
{
    const char *name =
        s->collector < w->name_count ? w->names[s->collector] : NULL;

    window_text(table, s->window * w->window_ns);
    scopes_table_text(table, w->app && process < w->app->process_count
                                 ? w->app->processes[process].name
                                 : "");
    scopes_table_integer(table, s->collector);
    scopes_table_text(table, name ? name : "");
    scopes_table_integer(table, (int64_t)s->count);
    scopes_table_integer(table, s->failed);
    scopes_table_integer(table, (int64_t)s->bytes);
    scopes_table_integer(table, (int64_t)s->total_ns);
    scopes_table_integer(table, (int64_t)(s->total_ns / s->count));
    scopes_table_integer(table, (int64_t)s->min_ns);
    scopes_table_integer(table, (int64_t)s->max_ns);
}

static int by_collector(const void *a, const void *b)
{
    const scopes_statistic *x = a, *y = b;
    return (x->collector > y->collector) - (x->collector < y->collector);
}

/* The rows of a process's window; the sums of other windows stay. */
static int process_rows(scopes_table *table, const scopes_windows *w,
                        windows_process *h, uint64_t window)
{
    gather_sums left;
    uint32_t count = 0;
    scopes_statistic *found = calloc(h->sums.used + 1, sizeof(*found));
    int err = found ? 0 : no_memory();

    scopes__gather_sums_init(&left, w->window_ns);
    for (uint32_t i = 0; i < h->sums.used && !err; i++) {
        if (h->sums.items[i].window == window)
            found[count++] = h->sums.items[i];
        else
            err = scopes__gather_sums_merge(&left, &h->sums.items[i]);
    }
    if (!err) {
        scopes__gather_sums_clock(&left, &h->sums.meta);
        scopes__gather_sums_fini(&h->sums);
        h->sums = left;
        qsort(found, count, sizeof(*found), by_collector);
        for (uint32_t i = 0; i < count; i++)
            row_add(table, w, (uint32_t)(h - w->processes), &found[i]);
    } else {
        scopes__gather_sums_fini(&left);
    }
    free(found);
    return err;
}

/* False: there is none, or it may still be filled. */
static bool oldest(const scopes_windows *w, bool all, uint64_t *out)
{
    uint64_t over = UINT64_MAX;

    *out = UINT64_MAX;
    for (uint32_t i = 0; i < w->process_count; i++) {
        const windows_process *h = &w->processes[i];
        if (h->came && !h->ended && h->over < over)
            over = h->over;
        for (uint32_t k = 0; k < h->sums.used; k++)
            if (h->sums.items[k].window < *out)
                *out = h->sums.items[k].window;
    }
    return *out != UINT64_MAX && (all || *out < over);
}

int scopes_windows_take(scopes_windows *w, bool all, scopes_table **out)
{
    uint64_t window;
    int err = 0;

    *out = NULL;
    if (!oldest(w, all, &window))
        return 0;
    *out = scopes_table_create(columns, sizeof(columns) / sizeof(*columns));
    if (!*out)
        return no_memory();
    for (uint32_t i = 0; i < w->process_count && !err; i++)
        err = process_rows(*out, w, &w->processes[i], window);
    if (!err)
        err = scopes_table_status(*out);
    if (err) {
        scopes_table_destroy(*out);
        *out = NULL;
    }
    return err;
}
