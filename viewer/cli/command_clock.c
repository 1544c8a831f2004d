/* command_clock.c - eventspace clock RUN: the clocks of a run's processes, and
 * how good they are. */
#include "viewer/cli/command.h"

#include "paths/map/map.h"
#include "pastset/status.h"
#include "scopes/clocks/clock.h"
#include "scopes/memory/memory.h"
#include "scopes/views/view.h"
#include "viewer/tables/facts.h"
#include "viewer/tables/view_print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND_NS 1000000000u
#define DAY_NS (86400 * (uint64_t)SECOND_NS)

enum {
    KEY_REFERENCE = 256,
    KEY_METHOD,
    KEY_ACCURACY,
    KEY_LAST,
    KEY_FOLLOW,
    KEY_MEMORY
};

typedef struct clock_arguments {
    const char *run, *reference;
    viewer_format format;
    scopes_clock_method method;
    bool accuracy;         /* CSV: the other list */
    uint64_t last_ns;      /* 0: all of the run */
    uint64_t follow_ns;    /* 0: once */
    uint64_t memory_bytes; /* 0: as much as it takes */
} clock_arguments;

/* What is gathered for one look. */
typedef struct snapshot {
    eventspace_run *run;
    scopes_source *source;
    scopes_topology *topology;
    bool *collectors;    /* around hops between processes */
    bool needs_all;      /* tuples of these, whatever is asked for */
    uint64_t *from, *to; /* by process */
    scopes_event_table *event_table;
    scopes_clocks *clocks[2]; /* by method */
} snapshot;

static const struct argp_option clock_options[] = {
    CLI_FORMAT_OPTION,
    {"reference", KEY_REFERENCE, "PROCESS", 0,
     "Align the clocks to that of this process (default: the one that the "
     "others reach by the fewest hops)",
     0},
    {"method", KEY_METHOD, "hull|average", 0,
     "Align the clocks by this method (default hull; average is that of the "
     "paper)",
     0},
    {"accuracy", KEY_ACCURACY, NULL, 0,
     "Print only the accuracy of both methods, as a table or CSV", 0},
    {"last", KEY_LAST, "TIME", 0,
     "Use only the events of the last TIME of the run, such as 10s", 0},
    {"follow", KEY_FOLLOW, "TIME", 0,
     "Print again every TIME until the run has ended", 0},
    CLI_MEMORY_OPTION(KEY_MEMORY),
    {0},
};

/* --- the processes --- */

static const scopes_column accuracy_columns[] = {
    {"method", "method", SCOPES_TEXT},
    {"operations", "operations", SCOPES_COUNT},
    {"correct", "correct", SCOPES_COUNT},
    {"correct_share", "share correct", SCOPES_SHARE},
    {"mean_ns", "misses: mean ms", SCOPES_TIME_NS},
    {"median_ns", "median ms", SCOPES_TIME_NS},
    {"deviation_ns", "deviation ms", SCOPES_TIME_NS},
    {"max_ns", "max ms", SCOPES_TIME_NS},
};

static int64_t rounded(double ns)
{
    return isfinite(ns) ? llround(ns) : SCOPES_BLANK;
}

static int processes_table(scopes_table **out, const snapshot *l,
                           const scopes_clocks *clocks)
{
    scopes_view_input view_input = {.map = eventspace_run_base(l->run),
                                    .topology = l->topology,
                                    .event_table = l->event_table,
                                    .clocks = clocks,
                                    .run = l->run};

    return scopes_view_make(out, scopes_view_find("clocks"), &view_input);
}

static int accuracy_table(scopes_table **out, const snapshot *l)
{
    int err = 0;
    *out = scopes_table_create(CLI_LIST(accuracy_columns));
    for (int i = 0; i < 2 && !err; i++) {
        scopes_accuracy a;
        err =
            scopes_clocks_check(&a, l->clocks[i], l->event_table, l->topology);
        if (err)
            break;
        scopes_table_text(*out, cli_methods[i]);
        scopes_table_integer(*out, (int64_t)a.operations);
        scopes_table_integer(*out, (int64_t)a.correct);
        scopes_table_real(*out, a.operations
                                    ? (double)a.correct / (double)a.operations
                                    : NAN);
        scopes_table_integer(*out, rounded(a.mean_ns));
        scopes_table_integer(*out, rounded(a.median_ns));
        scopes_table_integer(*out, rounded(a.deviation_ns));
        scopes_table_integer(*out, rounded(a.worst_ns));
    }
    return err;
}

/* --- printing --- */

static int print_json(const snapshot *l, const clock_arguments *a,
                      const scopes_table *processes,
                      const scopes_table *accuracy)
{
    const paths_map *map = eventspace_run_base(l->run);
    uint32_t reference = scopes_clocks_reference(l->clocks[a->method]);
    json_t *name = viewer_json_text(
        reference < map->process_count ? map->processes[reference].name : "");
    int err;
    if (!name)
        return pastset_no_memory("to print");
    printf("{\"method\": \"%s\", \"reference\": ", cli_methods[a->method]);
    json_dumpf(name, stdout, JSON_ENCODE_ANY);
    json_decref(name);
    fputs(",\n", stdout);
    viewer_ledger_print(&l->event_table->ledger, stdout);
    fputs(",\n\"processes\": ", stdout);
    err = viewer_table_print(processes, VIEWER_JSON, stdout);
    printf(",\n\"accuracy\": ");
    if (!err)
        err = viewer_table_print(accuracy, VIEWER_JSON, stdout);
    printf("}\n");
    return err;
}

static int print_lists(const snapshot *l, const clock_arguments *a,
                       const scopes_table *processes,
                       const scopes_table *accuracy)
{
    bool table = a->format == VIEWER_TABLE;
    int err = 0;
    if (!a->accuracy)
        err = viewer_table_print(processes, a->format, stdout);
    if (table && !a->accuracy)
        putchar('\n');
    if (!err && (table || a->accuracy))
        err = viewer_table_print(accuracy, a->format, stdout);
    if (table) {
        putchar('\n');
        cli_print_ledger(&l->event_table->ledger, stdout);
        putchar('\n');
    }
    return err;
}

static int print_look(const snapshot *l, const clock_arguments *a)
{
    scopes_table *processes, *accuracy = NULL;
    int err = processes_table(&processes, l, l->clocks[a->method]);

    if (!err)
        err = accuracy_table(&accuracy, l);
    if (!err)
        err = a->format == VIEWER_JSON ? print_json(l, a, processes, accuracy)
                                       : print_lists(l, a, processes, accuracy);
    scopes_table_destroy(processes);
    scopes_table_destroy(accuracy);
    return err;
}

/* --- looking --- */

static void look_drop(snapshot *l)
{
    scopes_clocks_destroy(l->clocks[0]);
    scopes_clocks_destroy(l->clocks[1]);
    scopes_event_table_destroy(l->event_table);
    scopes_topology_destroy(l->topology);
    free(l->collectors);
    l->clocks[0] = l->clocks[1] = NULL;
    l->event_table = NULL;
    l->topology = NULL;
    l->collectors = NULL;
}

static void look_end(snapshot *l)
{
    look_drop(l);
    scopes_source_close(l->source);
    eventspace_run_close(l->run);
    free(l->from);
    free(l->to);
}

static int look_begin(snapshot *l)
{
    size_t processes = eventspace_run_process_count(l->run);
    int err = scopes_source_open(&l->source, l->run);
    if (err)
        return err;
    l->from = calloc(processes + 1, sizeof(*l->from));
    l->to = calloc(processes + 1, sizeof(*l->to));
    return l->from && l->to ? 0 : pastset_no_memory("to look at clocks");
}

/* Of the map as it is now: processes may add to it between two looks. */
static int collectors_choose(snapshot *l)
{
    int err = scopes_topology_create(&l->topology, eventspace_run_map(l->run));

    if (err)
        return err;
    l->collectors = calloc(l->topology->collectors + 1u, sizeof(bool));
    if (!l->collectors)
        return pastset_no_memory("to look at clocks");
    l->needs_all = scopes_clocks_choose(l->topology, l->collectors);
    return 0;
}

static int last_of(const scopes_batch *batch, void *context)
{
    uint64_t *last = context;
    uint64_t end = batch->events[batch->count - 1].end;
    if (end > *last)
        *last = end;
    return 0;
}

/* The end of a process that runs is now: by the wall clock of this machine, if
 * it is its own too, else by that of whoever asks. Of one that was killed only
 * its tuples tell when. */
static int window_make(snapshot *l, uint64_t last_ns, size_t process)
{
    const eventspace_run_process *h =
        eventspace_run_process_at(l->run, process);
    scopes_filter all = {0};
    uint64_t end = h->meta.end_tick;
    double span;
    int err = 0;
    l->from[process] = 0;
    l->to[process] = UINT64_MAX;
    if (!h->has_meta)
        return 0;
    if (h->meta.state == EVENTSPACE_RUNNING)
        end = eventspace_meta_now(&h->meta);
    else if (!end)
        err = scopes_source_each(l->source, process, &all, last_of, &end, NULL);
    span = (double)last_ns * h->meta.tick_hz / 1e9;
    if (span < (double)end)
        l->from[process] = end - (uint64_t)span;
    return err;
}

static int look_take(snapshot *l, const clock_arguments *a, uint32_t reference)
{
    scopes_filter filter = {0};
    int err = collectors_choose(l);
    if (err)
        return err;
    filter.collectors = l->collectors;
    filter.collector_count = l->topology->collectors;
    if (a->last_ns) {
        for (size_t i = 0; i < eventspace_run_process_count(l->run) && !err;
             i++)
            err = window_make(l, a->last_ns, i);
    }
    if (a->last_ns && !l->needs_all) {
        filter.from_ticks = l->from;
        filter.to_ticks = l->to;
    }
    if (!err)
        err = scopes_event_table_load(&l->event_table, l->source, &filter);
    if (!err && a->last_ns)
        err = scopes_event_table_set_part(l->event_table, l->from, l->to);
    for (int i = 0; i < 2 && !err; i++)
        err = scopes_clocks_create(&l->clocks[i], l->run, l->event_table,
                                   l->topology, (scopes_clock_method)i,
                                   reference);
    return err;
}

static void pause_for(uint64_t ns)
{
    struct timespec t = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};

    nanosleep(&t, NULL);
}

static int show(snapshot *l, const clock_arguments *a)
{
    uint32_t reference;
    int err = cli_find_process(l->run, a->reference, &reference);
    while (!err) {
        bool more = a->follow_ns > 0 && viewer_is_running(l->run);
        err = look_take(l, a, reference);
        if (!err) {
            cli_warn_of_damage(l->run);
            cli_warn_of_clocks(l->run, l->clocks[SCOPES_CLOCK_HULL]);
            err = print_look(l, a);
        }
        look_drop(l);
        if (err || !more)
            break;
        if (a->format != VIEWER_JSON)
            putchar('\n');
        fflush(stdout);
        pause_for(a->follow_ns);
        err = scopes_source_refresh(l->source);
    }
    return err;
}

/* --- the command --- */

static error_t parse_clock(int key, char *text, struct argp_state *state)
{
    clock_arguments *a = state->input;
    switch (key) {
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case KEY_REFERENCE:
        a->reference = text;
        return 0;
    case KEY_METHOD:
        a->method = cli_method(text, state);
        return 0;
    case KEY_MEMORY:
        a->memory_bytes = cli_memory(text, state);
        return 0;
    case KEY_ACCURACY:
        a->accuracy = true;
        return 0;
    case KEY_LAST:
        a->last_ns = cli_time(text, 1, INT64_MAX / 4, state);
        return 0;
    case KEY_FOLLOW:
        a->follow_ns = cli_time(text, 1000000, DAY_NS, state);
        return 0;
    default:
        return cli_take_one(&a->run, "the run directory", key, text, state);
    }
}

int cli_clock(int argc, char **argv)
{
    static const struct argp argp = {
        clock_options,
        parse_clock,
        "RUN",
        "Aligns the clocks of a run's processes by the traffic between them. "
        "Prints for each clock its offset, its rate and how certain they are, "
        "and counts the operations between processes that arrive after they "
        "were sent, as they must, once the clocks are aligned."
        "\vThe run may still be going on. Times are in nanoseconds in CSV and "
        "JSON.",
        NULL,
        NULL,
        NULL};
    clock_arguments a = {0};
    snapshot l = {0};
    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    if (scopes_memory_limit(a.memory_bytes))
        return cli_fail();
    l.run = cli_open_run(a.run);
    if (!l.run)
        return COMMAND_FAILED;
    int err = look_begin(&l);
    if (!err)
        err = show(&l, &a);
    look_end(&l);
    return cli_end_output(err);
}
