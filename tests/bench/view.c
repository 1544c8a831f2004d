/* view.c - what views cost: of a run with 4.6 million events (long_run.h), from
 * its files in the page cache to the table, against one sequential read of as
 * many bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scopes/views/view.h"
#include "tests/bench/bench.h"
#include "tests/bench/long_run.h"

#define EVENTS 4600000
#define TURNS 5
#define VIEWS_MAX 64

static char scratch[BENCH_SCRATCH];

/* --- views --- */

typedef struct made {
    eventspace_run *run;
    scopes_source *source;
    scopes_event_table *event_table;
    scopes_topology *topology;
    scopes_clocks *clocks;
    uint64_t rows;
} made;

static void load(made *m)
{
    char directory[200];

    snprintf(directory, sizeof(directory), "%s/long", scratch);
    bench_check(eventspace_run_open(&m->run, directory), "open");
    bench_check(scopes_source_open(&m->source, m->run), "source");
    bench_check(scopes_event_table_load(&m->event_table, m->source, NULL),
                "load");
}

static void prepare(made *m)
{
    bench_check(scopes_topology_create(&m->topology, m->event_table->map),
                "ways");
    bench_check(scopes_clocks_create(&m->clocks, m->run, m->event_table,
                                     m->topology, SCOPES_CLOCK_HULL,
                                     PATHS_NONE),
                "clocks");
}

static scopes_view_input input_of(const made *m)
{
    return (scopes_view_input){.map = m->event_table->map,
                               .topology = m->topology,
                               .event_table = m->event_table,
                               .clocks = m->clocks};
}

/* `tuples` has a row for each event, and is for other programs to read. */
static bool is_standard(const scopes_view *view)
{
    return strcmp(view->name, "tuples") != 0;
}

static void view_make(made *m, const scopes_view *view)
{
    scopes_view_input view_input = input_of(m);
    scopes_table *table;

    bench_check(scopes_view_make(&table, view, &view_input), view->name);
    m->rows = scopes_table_rows(table);
    scopes_table_destroy(table);
}

static void views_make(made *m)
{
    scopes_view_input view_input = input_of(m);
    const scopes_view *views[VIEWS_MAX], *view;
    scopes_table *tables[VIEWS_MAX];
    size_t count = 0;

    for (size_t i = 0; (view = scopes_view_at(i)) && count < VIEWS_MAX; i++) {
        if (is_standard(view))
            views[count++] = view;
    }
    bench_check(scopes_views_make(tables, views, count, &view_input), "all");
    for (size_t i = 0; i < count; i++)
        scopes_table_destroy(tables[i]);
}

static void unload(made *m)
{
    scopes_clocks_destroy(m->clocks);
    scopes_topology_destroy(m->topology);
    scopes_event_table_destroy(m->event_table);
    scopes_source_close(m->source);
    eventspace_run_close(m->run);
}

typedef enum part { LOAD, CLOCKS, ONE_VIEW, ALL_VIEWS } part;

static double make_ms(part what, const scopes_view *view)
{
    made m = {0};
    double begin = bench_now_ns(), end;

    load(&m);
    if (what >= CLOCKS)
        prepare(&m);
    if (what == ONE_VIEW)
        view_make(&m, view);
    if (what == ALL_VIEWS)
        views_make(&m);
    end = bench_now_ns();
    unload(&m);
    return (end - begin) / 1e6;
}

static void measure(const char *name, part what, const scopes_view *view,
                    uint64_t events)
{
    double views[TURNS], limits[TURNS];
    char whole[64];

    for (int i = 0; i < TURNS; i++) {
        limits[i] = bench_long_run_read_ms(scratch, "long", events);
        views[i] = make_ms(what, view);
    }
    snprintf(whole, sizeof(whole), "view.%s", name);
    bench_print(whole, bench_median(views, TURNS), "ms",
                bench_median(limits, TURNS));
}

void bench_view(void)
{
    static char name[] = "view";
    uint64_t events;

    bench_long_run_process();
    bench_scratch_make(scratch);
    bench_short_run(scratch, name);
    events = bench_long_run(scratch, "long", EVENTS);
    measure("load", LOAD, NULL, events);
    measure("clocks", CLOCKS, NULL, events);
    for (size_t i = 0; scopes_view_at(i); i++)
        measure(scopes_view_at(i)->name, ONE_VIEW, scopes_view_at(i), events);
    measure("all", ALL_VIEWS, NULL, events);
    bench_scratch_remove(scratch);
}
