/* command_view.c - eventspace view: the views of scopes/views/view.h, of a run
 * or a window of it, once or again and again. */
#include "viewer/cli/command_sql.h"
#include "viewer/cli/command_window.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "paths/generate/generate.h"
#include "paths/map/nearest_word.h"
#include "pastset/status.h"
#include "scopes/causality/communication_times.h"
#include "scopes/memory/memory.h"
#include "scopes/reading/snapshot.h"
#include "scopes/views/view.h"
#include "viewer/sql/script.h"
#include "viewer/tables/facts.h"
#include "viewer/tables/view_print.h"

typedef struct view_arguments {
    const char *run, *name;
    const char *of, *reference;
    const char *thread_list; /* of --thread; NULL: all */
    const scopes_view *view; /* NULL: all, or a script */
    char *script;            /* its file; NULL: a view, or all */
    int err;                 /* of looking for it */
    cli_parameters parameters;
    scopes_snapshot_options snapshot;
    paths_number_list threads; /* those in it; empty: all */
    viewer_format format;
    bool detail, list;
    uint64_t follow_ns;    /* 0: once */
    uint64_t memory_bytes; /* 0: as much as it takes */
} view_arguments;

#define MS_NS 1000000
#define VIEWS_MAX 64

enum {
    KEY_THREAD = 256,
    KEY_REFERENCE,
    KEY_METHOD,
    KEY_FOLLOW,
    KEY_LIST,
    KEY_MEMORY,
    KEY_PARAM
};

static const struct argp_option view_options[] = {
    CLI_FORMAT_OPTION,
    {"thread", KEY_THREAD, "LIST", 0,
     "Show only these threads: numbers, names and patterns, such as 0,3-5 or "
     "'w*'",
     0},
    {"name", 'n', "NAME", 0,
     "Show only the element, wrapper or proxy of this name", 0},
    {"of", EVENTSPACE_RENAMED, "NAME", OPTION_HIDDEN, "name", 0},
    {"detail", 'd', NULL, 0,
     "Print a row for each operation, round or step instead of sums", 0},
    {"each", EVENTSPACE_RENAMED, NULL, OPTION_HIDDEN, "detail", 0},
    {"reference", KEY_REFERENCE, "PROCESS", 0,
     "Align the clocks to that of this process (default: the one that the "
     "others reach by the fewest hops)",
     0},
    {"method", KEY_METHOD, "hull|average", 0,
     "Align the clocks by this method (default hull)", 0},
    {"follow", KEY_FOLLOW, "TIME", 0,
     "Print again every TIME until the run has ended", 0},
    CLI_MEMORY_OPTION(KEY_MEMORY),
    {"param", KEY_PARAM, "NAME=VALUE", 0,
     "Give the parameter :NAME of a view script this value; may be repeated",
     0},
    {"list", KEY_LIST, NULL, 0,
     "List the views and view scripts, with RUN also those in it, and end", 0},
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
    if (view->eventless)
        return;
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
    else if (view->when_empty)
        fprintf(stderr, "eventspace: %s\n", view->when_empty);
}

/* What is chosen of a look. */
static scopes_view_input choice_of(const view_arguments *a)
{
    return (scopes_view_input){
        .each = a->detail, .threads = asked_threads(a), .of = a->of};
}

static scopes_view_input input_of(const view_arguments *a,
                                  const scopes_snapshot *snapshot)
{
    scopes_view_input input = scopes_view_input_of(snapshot);

    input.each = a->detail;
    input.threads = asked_threads(a);
    input.of = a->of;
    return input;
}

static int print_table(const view_arguments *a, const scopes_view *view,
                       const scopes_table *table,
                       const scopes_snapshot *snapshot)
{
    return a->format == VIEWER_JSON
               ? viewer_view_print(table, view, snapshot, stdout)
               : viewer_table_print(table, a->format, stdout);
}

static int print_view(const view_arguments *a, const scopes_snapshot *snapshot)
{
    scopes_view_input view_input = input_of(a, snapshot);
    scopes_table *table;
    int err = scopes_view_make(&table, a->view, &view_input);

    if (err)
        return err;
    err = print_table(a, a->view, table, snapshot);
    if (!err && scopes_table_rows(table) == 0)
        tell_why_empty(a, a->view, snapshot);
    scopes_table_destroy(table);
    return err;
}

static int print_all(const view_arguments *a, const scopes_snapshot *snapshot)
{
    scopes_view_input view_input = input_of(a, snapshot);
    const scopes_view *views[VIEWS_MAX];
    scopes_table *tables[VIEWS_MAX];
    size_t count = 0;
    int err;

    while (count < VIEWS_MAX && (views[count] = scopes_view_at(count)))
        count++;
    err = scopes_views_make(tables, views, count, &view_input);
    if (err)
        return err;
    for (size_t i = 0; i < count; i++) {
        if (a->format == VIEWER_JSON)
            fputs(i ? ",\n" : "[", stdout);
        else
            printf("%s%s: %s\n", i ? "\n" : "", views[i]->name,
                   views[i]->summary);
        if (!err)
            err = print_table(a, views[i], tables[i], snapshot);
        scopes_table_destroy(tables[i]);
    }
    if (a->format == VIEWER_JSON)
        putchar(']');
    return err;
}

static int print(const view_arguments *a, const scopes_snapshot *snapshot)
{
    int err = a->view ? print_view(a, snapshot) : print_all(a, snapshot);

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

static int list_views(viewer_format format, const char *run)
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
    err = cli_script_list(table, run);
    if (!err)
        err = viewer_table_print(table, format, stdout);
    if (format == VIEWER_JSON)
        putchar('\n');
    scopes_table_destroy(table);
    return err;
}

/* --- what a person should know of the run --- */

static void warn(const scopes_snapshot *snapshot, const char *name)
{
    cli_warn_of_run(snapshot->run, name);
    cli_warn_of_strange(snapshot->event_table->strange);
}

/* The times of operations are then also the work of others. */
static int warn_of_others(const scopes_snapshot *snapshot, const char *name)
{
    scopes_communication *view;
    double share;
    int err = scopes_communication_create(
        &view, snapshot->topology, snapshot->event_table, snapshot->clocks,
        snapshot->scheduling, SCOPES_THREADS);

    if (err)
        return err;
    share = scopes_communication_runnable_share(view);
    scopes_communication_destroy(view);
    if (share > SCOPES_DISTURBED)
        fprintf(
            stderr,
            "eventspace: disturbed: in %.0f %% of the computing time others "
            "had the processors, which makes threads wait; run again with "
            "less else running, or compare computing minus runnable in "
            "`eventspace view %s communication`\n",
            100 * share, name);
    return 0;
}

/* The others say themselves who had the processors, or show events as they are.
 * NULL: all views. */
static bool shows_times(const scopes_view *view)
{
    return !view || (!view->eventless && strcmp(view->name, "tuples") != 0);
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

    while (!err && viewer_is_running(snapshot->run)) {
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

#define NEVER_NS (INT64_C(1) << 60)

/* What threads are in now no event says, and there may be very many. */
static bool is_of_now(const scopes_view *view)
{
    return view && (strcmp(view->name, "deadlocks") == 0 ||
                    strcmp(view->name, "pending") == 0);
}

static int view_run(eventspace_run *run, view_arguments *a)
{
    scopes_snapshot *snapshot;
    scopes_view_input choice;
    waiting w;
    int err = cli_find_process(run, a->reference, &a->snapshot.reference);

    if (!err && a->thread_list)
        err = eventspace_node_list_read(&a->threads, a->thread_list,
                                        &eventspace_kind_threads,
                                        eventspace_run_map(run), a->run);
    if (err)
        return err;
    choice = choice_of(a);
    viewer_view_narrow(&a->snapshot, a->view, &choice,
                       cli_has_window(&a->snapshot));
    if (is_of_now(a->view) && !cli_has_window(&a->snapshot))
        a->snapshot.from_ns = NEVER_NS;
    begin_waiting(&w);
    err = scopes_snapshot_take(&snapshot, run, &a->snapshot);
    end_waiting(&w);
    if (err)
        return err;
    warn(snapshot, a->run);
    if (!a->view || !a->view->eventless)
        err = viewer_require_events(snapshot, a->run);
    if (!err)
        err = print(a, snapshot);
    if (!err && shows_times(a->view))
        err = warn_of_others(snapshot, a->run);
    if (!err && a->follow_ns > 0)
        err = follow(a, snapshot);
    scopes_snapshot_destroy(snapshot);
    return err;
}

/* --- the command --- */

static void take_argument(view_arguments *a, char *text,
                          struct argp_state *state)
{
    if (!a->run)
        a->run = text;
    else
        cli_take(&a->name, text, state);
}

static void refuse_view(const char *name, struct argp_state *state)
{
    const char *names[VIEWS_MAX], *nearest;
    const scopes_view *view;
    size_t count = 0;

    if (strcmp(name, "host") == 0)
        argp_error(state, "the view host is called process now");
    while (count < VIEWS_MAX && (view = scopes_view_at(count)))
        names[count++] = view->name;
    nearest = paths_nearest_word(name, names, count);
    if (nearest)
        argp_error(state, "there is no view '%s'; did you mean '%s'?", name,
                   nearest);
    argp_error(state, "there is no view '%s': see `eventspace view --list`",
               name);
}

static void refuse_name(const char *name, struct argp_state *state)
{
    if (strstr(name, VIEWER_SCRIPT_SUFFIX))
        argp_error(state, "%s", pastset_error());
    refuse_view(name, state);
}

/* A name that is no view is that of a script. Its parameters take the place of
 * the options that choose a part of a run. */
static void check_script(view_arguments *a, struct argp_state *state)
{
    const scopes_snapshot_options *o = &a->snapshot;
    const char *run = cli_is_packed(a->run) ? NULL : a->run;

    a->err = viewer_script_find(&a->script, a->name, run);
    if (a->err == PASTSET_ENOENT)
        refuse_name(a->name, state);
    if (a->thread_list || a->of || a->detail || a->reference || a->follow_ns ||
        o->method != SCOPES_CLOCK_HULL || cli_has_window(o))
        argp_error(state,
                   "the view script %s takes no options but --format and "
                   "--param",
                   a->name);
}

static void check_view(view_arguments *a, struct argp_state *state)
{
    if (a->list)
        return;
    if (!a->run)
        argp_error(state, "the run directory is missing");
    else if (!a->name)
        argp_error(state, "the view is missing: see `eventspace view --list`");
    else if (strcmp(a->name, "all") != 0) {
        a->view = scopes_view_find(a->name);
        if (!a->view)
            check_script(a, state);
        else if (a->parameters.count > 0)
            argp_error(state,
                       "the view %s has no parameters: --param is for "
                       "view scripts",
                       a->name);
        else if (a->detail && !a->view->each)
            argp_error(state, "the view %s has no --detail", a->name);
    } else if (a->format == VIEWER_CSV)
        argp_error(state, "CSV is one table: name one view");
}

static error_t parse_view(int key, char *text, struct argp_state *state)
{
    view_arguments *a = state->input;

    switch (key) {
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case KEY_THREAD:
        a->thread_list = cli_nodes(text, &eventspace_kind_threads, state);
        return 0;
    case 'n':
        a->of = text;
        return 0;
    case 'd':
        a->detail = true;
        return 0;
    case KEY_REFERENCE:
        a->reference = text;
        return 0;
    case KEY_METHOD:
        a->snapshot.method = cli_method(text, state);
        return 0;
    case KEY_FOLLOW:
        a->follow_ns = cli_time(text, MS_NS, INT64_MAX / 4, state);
        return 0;
    case KEY_MEMORY:
        a->memory_bytes = cli_memory(text, state);
        return 0;
    case KEY_PARAM:
        cli_parameter(&a->parameters, text, state);
        return 0;
    case KEY_LIST:
        a->list = true;
        return 0;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &a->snapshot;
        return 0;
    case ARGP_KEY_ARG:
        take_argument(a, text, state);
        return 0;
    case ARGP_KEY_END:
        check_view(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cli_view(int argc, char **argv)
{
    static const struct argp_child children[] = {{&cli_window, 0, NULL, 0},
                                                 {0}};
    static const struct argp argp = {
        view_options,
        parse_view,
        "RUN VIEW\nRUN all\nRUN FILE.sql\n[RUN] --list",
        "Prints a view of a run, or all of them: a table computed from the "
        "run's map, its events and the clocks of its processes. FILE.sql is a "
        "view that is written in SQL.\vTimes of a "
        "run count from the start of its first process; they are in "
        "milliseconds in tables, in nanoseconds in CSV and JSON. The run may "
        "still be going on, and its processes may have been killed.",
        children,
        NULL,
        NULL};
    view_arguments a = {.snapshot = SCOPES_SNAPSHOT_ALL};
    eventspace_run *run;
    int code, err = 0;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    if (a.err)
        return cli_fail();
    if (a.list)
        return cli_end_output(list_views(a.format, a.run));
    if (scopes_memory_limit(a.memory_bytes))
        return cli_fail();
    run = cli_open_run(a.run);
    if (run)
        err = a.script ? cli_script_view(run, a.run, a.script, &a.parameters,
                                         a.format)
                       : view_run(run, &a);
    code = run ? cli_end_output(err) : COMMAND_FAILED;
    eventspace_run_close(run);
    free(a.script);
    paths_number_list_fini(&a.threads);
    return code;
}
