/* command_view.c - eventspace view: the views of scopes/views/view.h, of a run
 * or a window of it, once or again and again. */
#include "viewer/cli/command.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "paths/generate/generate.h"
#include "pastset/status.h"
#include "scopes/reading/snapshot.h"
#include "scopes/views/view.h"

typedef struct view_arguments {
    const char *run, *name;
    const char *of, *reference;
    const scopes_view *view; /* NULL: all */
    scopes_snapshot_options snapshot;
    paths_number_list threads; /* empty: all */
    viewer_format format;
    bool detail, list;
    uint64_t follow_ns; /* 0: once */
} view_arguments;

#define MS_NS 1000000

enum {
    KEY_THREAD = 256,
    KEY_FROM,
    KEY_TO,
    KEY_LAST,
    KEY_REFERENCE,
    KEY_METHOD,
    KEY_FOLLOW,
    KEY_LIST
};

static const struct argp_option view_options[] = {
    CLI_FORMAT_OPTION,
    {"thread", KEY_THREAD, "LIST", 0,
     "Show only the threads with these numbers, such as 0,3-5", 0},
    {"name", 'n', "NAME", 0,
     "Show only the element, wrapper or proxy of this name", 0},
    {"of", EVENTSPACE_RENAMED, "NAME", OPTION_HIDDEN, "name", 0},
    {"detail", 'd', NULL, 0,
     "Print a row for each operation, round or step instead of sums", 0},
    {"each", EVENTSPACE_RENAMED, NULL, OPTION_HIDDEN, "detail", 0},
    {"from", KEY_FROM, "TIME", 0,
     "Start at this time of the run, such as 1.5s (default: its start)", 0},
    {"to", KEY_TO, "TIME", 0, "Stop at this time of the run (default: its end)",
     0},
    {"last", KEY_LAST, "TIME", 0,
     "Use only the events of the last TIME of the run, such as 300ms", 0},
    {"reference", KEY_REFERENCE, "PROCESS", 0,
     "Align the clocks to that of this process (default: the one that the "
     "others reach by the fewest hops)",
     0},
    {"method", KEY_METHOD, "hull|average", 0,
     "Align the clocks by this method (default hull)", 0},
    {"follow", KEY_FOLLOW, "TIME", 0,
     "Print again every TIME until the run has ended", 0},
    {"list", KEY_LIST, NULL, 0, "List the views and end", 0},
    {0},
};

static const paths_number_list *asked_threads(const view_arguments *a)
{
    return a->threads.count > 0 ? &a->threads : NULL;
}

/* --- a word on a terminal when reading takes long --- */

typedef struct waiting {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    bool is_over, is_running;
} waiting;

static void *tell_of_waiting(void *context)
{
    waiting *w = context;
    struct timespec next;
    unsigned seconds = 0;

    clock_gettime(CLOCK_REALTIME, &next);
    pthread_mutex_lock(&w->lock);
    while (!w->is_over) {
        next.tv_sec++;
        while (!w->is_over &&
               pthread_cond_timedwait(&w->over, &w->lock, &next) == 0)
            ;
        if (!w->is_over)
            fprintf(stderr, "\reventspace: reading events, %u s", ++seconds);
    }
    pthread_mutex_unlock(&w->lock);
    if (seconds > 0)
        fputs("\r\033[K", stderr);
    return NULL;
}

/* Without the thread there is no word, and nothing else is different. */
static void begin_waiting(waiting *w)
{
    *w = (waiting){.lock = PTHREAD_MUTEX_INITIALIZER,
                   .over = PTHREAD_COND_INITIALIZER};
    w->is_running = isatty(STDERR_FILENO) &&
                    pthread_create(&w->thread, NULL, tell_of_waiting, w) == 0;
}

static void end_waiting(waiting *w)
{
    if (!w->is_running)
        return;
    pthread_mutex_lock(&w->lock);
    w->is_over = true;
    pthread_cond_signal(&w->over);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
}

/* --- what was lost --- */

static void print_lost_where(const scopes_snapshot *snapshot, FILE *file)
{
    const char *before = " (";

    for (size_t i = 0; i < eventspace_run_process_count(snapshot->run); i++) {
        uint64_t lost = snapshot->event_table->ledgers[i].lost;
        if (lost == 0)
            continue;
        fprintf(file, "%s%s %" PRIu64, before,
                eventspace_run_process_at(snapshot->run, i)->name, lost);
        before = ", ";
    }
    if (*before == ',')
        putc(')', file);
}

static void print_ledger(const scopes_snapshot *snapshot, FILE *file)
{
    const scopes_ledger *ledger = &snapshot->event_table->ledger;

    cli_print_ledger(ledger, file);
    print_lost_where(snapshot, file);
    if (eventspace_run_damaged(snapshot->run))
        fputs(", and an unknown number in damaged files", file);
    putc('\n', file);
}

/* --- printing --- */

static bool has_collectors(const scopes_snapshot *snapshot)
{
    bool any = false;

    for (uint32_t i = 0; i < snapshot->topology->collectors && !any; i++)
        any = snapshot->topology->nodes[i] != PATHS_NONE;
    return any;
}

static int print_json(const scopes_table *table, const scopes_view *view,
                      const scopes_snapshot *snapshot)
{
    const scopes_ledger *ledger = &snapshot->event_table->ledger;
    int err;

    printf("{\"view\":\"%s\",", view->name);
    cli_print_ledger_json(ledger, stdout);
    printf(",\"damaged_processes\":%zu,\"rows\":",
           eventspace_run_damaged(snapshot->run));
    err = viewer_table_print(table, VIEWER_JSON, stdout);
    putchar('}');
    return err;
}

static bool has_collectives(const paths_map *map)
{
    for (uint32_t i = 0; i < map->node_count; i++) {
        if (paths_is_collective(map->nodes[i].type))
            return true;
    }
    return false;
}

/* A view without rows is no error, but a person should know why. */
static void tell_why_empty(const view_arguments *a, const scopes_view *view,
                           const scopes_snapshot *snapshot)
{
    if (!has_collectors(snapshot))
        return; /* that was said */
    if (snapshot->event_table->ledger.read == 0)
        fputs("eventspace: there are no such events\n", stderr);
    else if (view->collective && !has_collectives(snapshot->topology->map))
        fprintf(stderr,
                "eventspace: the view %s is about collective wrappers, and the "
                "map of this run has none\n",
                view->name);
    else if (view->collective && snapshot->topology->site_count == 0)
        fprintf(stderr,
                "eventspace: the view %s needs collectors around collective "
                "wrappers: see `eventspace map instrument --collectors=all`\n",
                view->name);
    else if (a->of || asked_threads(a))
        fprintf(stderr, "eventspace: the view %s has no rows for that choice\n",
                view->name);
}

static int print_view(const view_arguments *a, const scopes_view *view,
                      const scopes_snapshot *snapshot)
{
    scopes_view_input view_input = {
        .map = snapshot->topology->map,
        .topology = snapshot->topology,
        .event_table = snapshot->event_table,
        .clocks = snapshot->clocks,
        .each = a->detail && (a->view || view->each),
        .threads = asked_threads(a),
        .of = a->of,
        .pending = snapshot->pending,
    };
    scopes_table *table;
    int err = scopes_view_make(&table, view, &view_input);

    if (err)
        return err;
    if (!a->view && a->format == VIEWER_TABLE)
        printf("%s: %s\n", view->name, view->summary);
    err = a->format == VIEWER_JSON
              ? print_json(table, view, snapshot)
              : viewer_table_print(table, a->format, stdout);
    if (!err && a->view && scopes_table_rows(table) == 0)
        tell_why_empty(a, view, snapshot);
    scopes_table_destroy(table);
    return err;
}

static int print_all(const view_arguments *a, const scopes_snapshot *snapshot)
{
    const scopes_view *view;
    int err = 0;

    for (size_t i = 0; !err && (view = scopes_view_at(i)); i++) {
        if (a->format == VIEWER_JSON)
            fputs(i ? ",\n" : "[", stdout);
        else if (i)
            putchar('\n');
        err = print_view(a, view, snapshot);
    }
    if (a->format == VIEWER_JSON)
        putchar(']');
    return err;
}

static int print(const view_arguments *a, const scopes_snapshot *snapshot)
{
    int err =
        a->view ? print_view(a, a->view, snapshot) : print_all(a, snapshot);

    if (a->format == VIEWER_JSON)
        putchar('\n');
    if (a->format == VIEWER_TABLE && !err) {
        putchar('\n');
        print_ledger(snapshot, stdout);
    }
    if (a->format == VIEWER_CSV && snapshot->event_table->ledger.lost > 0) {
        fputs("eventspace: ", stderr);
        print_ledger(snapshot, stderr);
    }
    return err;
}

static int list_views(viewer_format format)
{
    static const scopes_column columns[] = {
        {"view", "view", SCOPES_TEXT},
        {"summary", "tells", SCOPES_TEXT},
        {"detail", "a row with --detail", SCOPES_TEXT},
    };
    scopes_table *table = scopes_table_create(columns, 3);
    const scopes_view *view;
    int err;

    for (size_t i = 0; (view = scopes_view_at(i)); i++) {
        scopes_table_text(table, view->name);
        scopes_table_text(table, view->summary);
        scopes_table_text(table, view->each ? view->each : "");
    }
    err = viewer_table_print(table, format, stdout);
    if (format == VIEWER_JSON)
        putchar('\n');
    scopes_table_destroy(table);
    return err;
}

/* --- what a person should know of the run --- */

/* Processes that still run need no word: there will be more to see. */
static void warn_of_processes(const eventspace_run *run)
{
    size_t count = eventspace_run_process_count(run), bad = 0;

    for (size_t i = 0; i < count; i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        bad +=
            !process->has_meta || (process->meta.state != EVENTSPACE_RUNNING &&
                                   process->meta.state != EVENTSPACE_FINISHED);
    }
    if (bad)
        fprintf(stderr,
                "eventspace: %zu of %zu processes are missing or did not "
                "end well; they are shown as far as there are events: "
                "see `eventspace info`\n",
                bad, count);
}

/* What could not be read is in no view, and no count of it may be known. */
static void warn_of_damage(const eventspace_run *run)
{
    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        if (eventspace_run_is_damaged(process))
            fprintf(stderr, "eventspace: process %s: %s\n", process->name,
                    process->problem);
    }
}

static void warn(const scopes_snapshot *snapshot)
{
    warn_of_processes(snapshot->run);
    warn_of_damage(snapshot->run);
    if (!has_collectors(snapshot))
        fputs("eventspace: the map of this run has no collectors: see "
              "`eventspace map instrument`\n",
              stderr);
    if (snapshot->event_table->strange > 0)
        fprintf(stderr,
                "eventspace: %" PRIu64 " events are of collectors that the map "
                "does not have\n",
                snapshot->event_table->strange);
}

/* --- looking --- */

static void pause_ns(uint64_t ns)
{
    struct timespec rest = {(time_t)(ns / 1000000000u),
                            (long)(ns % 1000000000u)};

    while (nanosleep(&rest, &rest))
        ;
}

/* The states of the processes are those from before the events were read, so
 * what is printed last is all there is. */
static int follow(const view_arguments *a, scopes_snapshot *snapshot)
{
    int err = 0;

    while (!err && cli_is_running(snapshot->run)) {
        if (fflush(stdout))
            return 0; /* told at the end of the output */
        pause_ns(a->follow_ns);
        err = scopes_snapshot_again(snapshot);
        if (!err && a->format == VIEWER_TABLE)
            putchar('\n');
        if (!err)
            err = print(a, snapshot);
    }
    return err;
}

/* Of a window, only the tuples that the view is made from are read. */
static void narrow(view_arguments *a)
{
    const char *name = a->view ? a->view->name : "";
    bool of_threads = strcmp(name, "communication") == 0;
    bool of_tops = of_threads || strcmp(name, "steps") == 0 ||
                   strcmp(name, "process") == 0;

    a->snapshot.numbered = a->detail;
    a->snapshot.tops_only =
        of_tops && (a->snapshot.from_ns != INT64_MIN ||
                    a->snapshot.to_ns != INT64_MAX || a->snapshot.last_ns > 0);
    if (of_threads || strcmp(name, "tuples") == 0)
        a->snapshot.threads = asked_threads(a);
}

static int view_run(eventspace_run *run, view_arguments *a)
{
    scopes_snapshot *snapshot;
    waiting w;
    int err = cli_find_process(run, a->reference, &a->snapshot.reference);

    if (err)
        return err;
    narrow(a);
    begin_waiting(&w);
    err = scopes_snapshot_take(&snapshot, run, &a->snapshot);
    end_waiting(&w);
    if (err)
        return err;
    warn(snapshot);
    err = print(a, snapshot);
    if (!err && a->follow_ns > 0)
        err = follow(a, snapshot);
    scopes_snapshot_destroy(snapshot);
    return err;
}

/* --- the command --- */

static int64_t read_time(const char *text, uint64_t min_ns,
                         struct argp_state *state)
{
    return (int64_t)cli_time(text, min_ns, INT64_MAX / 4, state);
}

static void take_argument(view_arguments *a, char *text,
                          struct argp_state *state)
{
    if (!a->run)
        a->run = text;
    else
        cli_take(&a->name, text, state);
}

#define VIEWS_MAX 64

static void refuse_view(const char *name, struct argp_state *state)
{
    const char *names[VIEWS_MAX], *nearest;
    const scopes_view *view;
    size_t count = 0;

    if (strcmp(name, "host") == 0)
        argp_error(state, "the view host is called process now");
    while (count < VIEWS_MAX && (view = scopes_view_at(count)))
        names[count++] = view->name;
    nearest = eventspace_options_nearest(name, names, count);
    if (nearest)
        argp_error(state, "there is no view '%s'; did you mean '%s'?", name,
                   nearest);
    argp_error(state, "there is no view '%s': see `eventspace view --list`",
               name);
}

static void check_view(view_arguments *a, struct argp_state *state)
{
    bool has_window =
        a->snapshot.from_ns != INT64_MIN || a->snapshot.to_ns != INT64_MAX;

    if (a->list)
        return;
    if (!a->run)
        argp_error(state, "the run directory is missing");
    else if (!a->name)
        argp_error(state, "the view is missing: see `eventspace view --list`");
    else if (has_window && a->snapshot.last_ns > 0)
        argp_error(state, "--last excludes --from and --to");
    else if (a->snapshot.from_ns > a->snapshot.to_ns)
        argp_error(state, "--from is later than --to");
    else if (strcmp(a->name, "all") != 0) {
        a->view = scopes_view_find(a->name);
        if (!a->view)
            refuse_view(a->name, state);
        else if (a->detail && !a->view->each)
            argp_error(state, "the view %s has no --detail", a->name);
    } else if (a->format == VIEWER_CSV)
        argp_error(state, "CSV is one table: name one view");
}

static error_t parse_window(int key, char *text, struct argp_state *state)
{
    view_arguments *a = state->input;

    switch (key) {
    case KEY_FROM:
        a->snapshot.from_ns = read_time(text, 0, state);
        return 0;
    case KEY_TO:
        a->snapshot.to_ns = read_time(text, 0, state);
        return 0;
    case KEY_LAST:
        a->snapshot.last_ns = read_time(text, 1, state);
        return 0;
    case KEY_REFERENCE:
        a->reference = text;
        return 0;
    case KEY_METHOD:
        a->snapshot.method = cli_method(text, state);
        return 0;
    case KEY_FOLLOW:
        a->follow_ns = (uint64_t)read_time(text, MS_NS, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_view(int key, char *text, struct argp_state *state)
{
    view_arguments *a = state->input;

    switch (key) {
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case KEY_THREAD:
        cli_list(&a->threads, text, state);
        return 0;
    case 'n':
        a->of = text;
        return 0;
    case 'd':
        a->detail = true;
        return 0;
    case KEY_LIST:
        a->list = true;
        return 0;
    case ARGP_KEY_ARG:
        take_argument(a, text, state);
        return 0;
    case ARGP_KEY_END:
        check_view(a, state);
        return 0;
    default:
        return parse_window(key, text, state);
    }
}

int cli_view(int argc, char **argv)
{
    static const struct argp argp = {
        view_options,
        parse_view,
        "RUN VIEW\nRUN all\n--list",
        "Prints a view of a run, or all of them: a table computed from the "
        "run's map, its events and the clocks of its processes.\vTimes of a "
        "run count from the start of its first process; they are in "
        "milliseconds in tables, in nanoseconds in CSV and JSON. The run may "
        "still be going on, and its processes may have been killed.",
        NULL,
        NULL,
        NULL};
    view_arguments a = {.snapshot = SCOPES_SNAPSHOT_ALL};
    eventspace_run *run;
    int err;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    if (a.list)
        return cli_end_output(list_views(a.format));
    run = cli_open_run(a.run);
    if (!run)
        return COMMAND_FAILED;
    err = view_run(run, &a);
    eventspace_run_close(run);
    paths_number_list_fini(&a.threads);
    return cli_end_output(err);
}
