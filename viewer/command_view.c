/* command_view.c - eventspace view RUN communication. */
#include "viewer/command.h"

#include "pastset/request.h"
#include "pastset/status.h"
#include "scopes/communication.h"

#include <string.h>

typedef struct view_arguments {
    const char *run, *view;
    viewer_format format;
    uint32_t thread; /* PATHS_NONE: all */
    bool steps;
} view_arguments;

enum { KEY_STEPS = 256 };

static const struct argp_option view_options[] = {
    {"format", 'f', "table|csv|json", 0, "How to print (default table)", 0},
    {"thread", 't', "N", 0, "The thread of this number only", 0},
    {"steps", KEY_STEPS, NULL, 0, "A row for each step of each thread", 0},
    {0},
};

/* --- totals --- */

static const scopes_column total_columns[] = {
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"host", "host", SCOPES_TEXT},
    {"operations", "operations", SCOPES_COUNT},
    {"steps", "steps", SCOPES_COUNT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"end_ns", "end ms", SCOPES_TIME_NS},
    {"communicating_ns", "communicating ms", SCOPES_TIME_NS},
    {"computing_ns", "computing ms", SCOPES_TIME_NS},
    {"share", "share", SCOPES_SHARE},
    {"missing", "missing", SCOPES_COUNT},
    {"longest_ns", "longest ms", SCOPES_TIME_NS},
    {"longest_verb", "of", SCOPES_TEXT},
    {"longest_path", "path", SCOPES_TEXT},
    {"longest_step", "in step", SCOPES_COUNT},
};

static double share_of(int64_t communicating_ns, int64_t computing_ns)
{
    int64_t all_ns = communicating_ns + computing_ns;
    return all_ns > 0 ? (double)communicating_ns / (double)all_ns : 0;
}

static void add_longest(scopes_table *table, const scopes_communication *view,
                        const scopes_thread *thread)
{
    static const scopes_operation nothing;
    bool any = thread->operations > 0;
    const scopes_operation *op =
        any ? &view->operations[thread->longest] : &nothing;
    scopes_table_integer(table, op->end_ns - op->start_ns);
    scopes_table_text(table, any ? pastset_verb_name(op->verb) : "");
    scopes_table_text(table, any ? view->paths[op->path].name : "");
    scopes_table_integer(table, op->step);
}

static void add_total(scopes_table *table, const scopes_communication *view,
                      uint32_t number)
{
    const scopes_thread *thread = &view->threads[number];
    const paths_map *map = view->map;
    scopes_table_integer(table, number);
    scopes_table_text(table, thread->name);
    scopes_table_text(table, thread->host < map->host_count
                                 ? map->hosts[thread->host].name
                                 : "");
    scopes_table_integer(table, (int64_t)thread->operations);
    scopes_table_integer(table, (int64_t)thread->steps);
    scopes_table_integer(table, thread->start_ns);
    scopes_table_integer(table, thread->end_ns);
    scopes_table_integer(table, thread->communicating_ns);
    scopes_table_integer(table, thread->computing_ns);
    scopes_table_real(table,
                      share_of(thread->communicating_ns, thread->computing_ns));
    scopes_table_integer(table, (int64_t)thread->missing);
    add_longest(table, view, thread);
}

/* --- steps --- */

static const scopes_column step_columns[] = {
    {"number", "no.", SCOPES_NUMBER},
    {"thread", "thread", SCOPES_TEXT},
    {"step", "step", SCOPES_NUMBER},
    {"operations", "operations", SCOPES_COUNT},
    {"start_ns", "start ms", SCOPES_TIME_NS},
    {"end_ns", "end ms", SCOPES_TIME_NS},
    {"communicating_ns", "communicating ms", SCOPES_TIME_NS},
    {"computing_ns", "computing ms", SCOPES_TIME_NS},
};

static void add_steps(scopes_table *table, const scopes_communication *view,
                      uint32_t number)
{
    const scopes_thread *thread = &view->threads[number];
    for (size_t i = 0; i < thread->steps; i++) {
        const scopes_step *step = &view->steps[thread->step + i];
        scopes_table_integer(table, number);
        scopes_table_text(table, thread->name);
        scopes_table_integer(table, step->step);
        scopes_table_integer(table, step->operations);
        scopes_table_integer(table, step->start_ns);
        scopes_table_integer(table, step->end_ns);
        scopes_table_integer(table, step->communicating_ns);
        scopes_table_integer(table, step->computing_ns);
    }
}

/* --- the command --- */

#define COLUMNS(list) list, sizeof(list) / sizeof(*(list))

static int print_view(const scopes_communication *view, const view_arguments *a)
{
    scopes_table *table = a->steps
                              ? scopes_table_create(COLUMNS(step_columns))
                              : scopes_table_create(COLUMNS(total_columns));
    for (uint32_t i = 0; i < view->thread_count; i++) {
        if (a->thread != PATHS_NONE && a->thread != i)
            continue;
        if (a->steps)
            add_steps(table, view, i);
        else
            add_total(table, view, i);
    }
    int err = viewer_table_print(table, a->format, stdout);
    if (a->format == VIEWER_JSON)
        putchar('\n');
    scopes_table_destroy(table);
    return err;
}

/* A view without operations is no error, but a person should know why. */
static void warn(const scopes_communication *view)
{
    bool guessed = false;
    for (uint32_t i = 0; i < view->thread_count; i++)
        guessed |= !view->threads[i].steps_known;
    if (view->path_count == 0)
        fputs("eventspace: no thread of this run has a collector: see "
              "`eventspace map instrument`\n",
              stderr);
    if (guessed)
        fputs("eventspace: events are lost, and the steps of some threads are "
              "counted from the first event that is there\n",
              stderr);
}

/* Hosts that still run need no word: there will be more to see. */
static void warn_of_hosts(const eventspace_run *run)
{
    size_t count = eventspace_run_host_count(run), bad = 0;
    for (size_t i = 0; i < count; i++) {
        const eventspace_run_host *host = eventspace_run_host_at(run, i);
        bad += !host->has_meta || (host->meta.state != EVENTSPACE_RUNNING &&
                                   host->meta.state != EVENTSPACE_FINISHED);
    }
    if (bad)
        fprintf(stderr,
                "eventspace: %zu of %zu hosts are missing or did not "
                "end well; their threads are shown as far as there are events: "
                "see `eventspace info`\n",
                bad, count);
}

static int view_communication(eventspace_run *run, const view_arguments *a)
{
    scopes_communication *view;
    int err = scopes_communication_read(&view, run);
    if (err)
        return err;
    if (a->thread != PATHS_NONE && a->thread >= view->thread_count)
        err = pastset_fail(PASTSET_ENOENT,
                           "there is no thread %u: the run has %u, numbered "
                           "from 0",
                           a->thread, view->thread_count);
    if (!err) {
        warn_of_hosts(run);
        warn(view);
        err = print_view(view, a);
    }
    scopes_communication_destroy(view);
    return err;
}

static void take_argument(view_arguments *a, char *text,
                          struct argp_state *state)
{
    if (!a->run)
        a->run = text;
    else
        command_take(&a->view, text, state);
}

static void check_view(const view_arguments *a, struct argp_state *state)
{
    if (!a->run)
        argp_error(state, "the run directory is missing");
    else if (!a->view)
        argp_error(state, "the view is missing: communication");
    else if (strcmp(a->view, "communication") != 0)
        argp_error(state, "there is no view '%s'; there is: communication",
                   a->view);
}

static error_t parse_view(int key, char *text, struct argp_state *state)
{
    view_arguments *a = state->input;
    switch (key) {
    case 'f':
        a->format = command_format(text, state);
        return 0;
    case 't':
        a->thread = (uint32_t)command_number(text, 0, UINT32_MAX - 1, state);
        return 0;
    case KEY_STEPS:
        a->steps = true;
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

int command_view(int argc, char **argv)
{
    static const struct argp argp = {
        view_options,
        parse_view,
        "RUN communication",
        "Tells for each thread when it communicated and when it computed."
        "\vStep k of a thread holds the k-th operation on each of its paths, "
        "from 1; a gap between operations is computation of the step before "
        "it. CSV and JSON give times in nanoseconds.",
        NULL,
        NULL,
        NULL};
    view_arguments a = {.thread = PATHS_NONE};
    eventspace_run *run;
    if (argp_parse(&argp, argc, argv, 0, NULL, &a))
        return COMMAND_USAGE;
    if (eventspace_run_open(&run, a.run))
        return command_fail();
    int err = view_communication(run, &a);
    eventspace_run_close(run);
    return command_end_output(err);
}
