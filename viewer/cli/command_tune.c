/* command_tune.c - eventspace tune: the numbers that the program of a run lets
 * be changed while it goes on (eventspace/tunable.h). */
#include "viewer/cli/command.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/run/tunables.h"
#include "pastset/array.h"
#include "pastset/status.h"
#include "viewer/cli/tunable_check.h"
#include "viewer/tables/table_print.h"

enum { KEY_PROCESS = 256 };

/* NAME=VALUE */
typedef struct setting {
    const char *text;
    size_t name_bytes;
    double value;
} setting;

typedef struct tune_arguments {
    const char *run, *processes; /* pattern; NULL: all */
    setting *settings;
    size_t setting_count;
    viewer_format format;
} tune_arguments;

static const struct argp_option options[] = {
    {"process", KEY_PROCESS, "NAME", 0,
     "Only in this process of the run, or in those whose names match, as in "
     "'h*' (default all)",
     0},
    CLI_FORMAT_OPTION,
    {0},
};

/* Whole numbers, fractions and exponents; no other words of strtod. */
static bool value_read(double *value, const char *text)
{
    char *end;

    if (!*text || strspn(text, "+-.0123456789eE") != strlen(text))
        return false;
    *value = strtod(text, &end);
    return !*end && isfinite(*value);
}

static void setting_take(tune_arguments *a, const char *text,
                         struct argp_state *state)
{
    const char *equals = strchr(text, '=');
    setting *settings =
        pastset_array_grow(a->settings, a->setting_count, sizeof(*settings));
    setting *one;

    if (!settings) {
        argp_failure(state, COMMAND_FAILED, 0, "out of memory");
        return;
    }
    a->settings = settings;
    one = &settings[a->setting_count];
    if (!equals || equals == text || !value_read(&one->value, equals + 1)) {
        argp_error(state, "'%s' is not NAME=VALUE with a number", text);
        return;
    }
    one->text = text;
    one->name_bytes = (size_t)(equals - text);
    a->setting_count++;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    tune_arguments *a = state->input;

    switch (key) {
    case KEY_PROCESS:
        a->processes = text;
        return 0;
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case ARGP_KEY_ARG:
        if (a->run)
            setting_take(a, text, state);
        else
            a->run = text;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "the run directory is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- all of them --- */

typedef struct found {
    const eventspace_run_process *process;
    eventspace_tunable_seen seen;
} found;

typedef struct all_found {
    found *items;
    size_t count;
    bool any_process;
} all_found;

static bool is_chosen(const tune_arguments *a, const char *process)
{
    return !a->processes || fnmatch(a->processes, process, 0) == 0;
}

static int process_find(all_found *all, const eventspace_run_process *process)
{
    size_t elements = process->space ? pastset_space_count(process->space) : 0;

    for (size_t i = 0; i < elements; i++) {
        eventspace_tunable_seen seen;
        found *items;
        if (!eventspace_tunable_at(&seen, process->space, i))
            continue;
        items = pastset_array_grow(all->items, all->count, sizeof(*items));
        if (!items)
            return pastset_no_memory("for tunables");
        all->items = items;
        items[all->count++] = (found){process, seen};
    }
    return 0;
}

static int all_find(all_found *all, const eventspace_run *run,
                    const tune_arguments *a)
{
    int err = 0;

    for (size_t i = 0; i < eventspace_run_process_count(run) && !err; i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        if (!is_chosen(a, process->name))
            continue;
        all->any_process = true;
        err = process_find(all, process);
    }
    if (!err && !all->any_process)
        err = pastset_fail(PASTSET_ENOENT, "no process matches '%s'",
                           a->processes);
    return err;
}

/* --- changing --- */

static bool is_of(const found *f, const setting *s)
{
    return strlen(f->seen.name) == s->name_bytes &&
           strncmp(f->seen.name, s->text, s->name_bytes) == 0;
}

static int setting_check(const setting *s, const all_found *all)
{
    bool is_there = false;
    int err = 0;

    for (size_t i = 0; i < all->count && !err; i++)
        if (is_of(&all->items[i], s)) {
            is_there = true;
            err = cli_tunable_check(all->items[i].process, &all->items[i].seen,
                                    s->value);
        }
    if (!err && !is_there)
        err = pastset_fail(PASTSET_ENOENT,
                           "the program has no tunable %.*s (yet): 'eventspace "
                           "tune RUN' lists what it has",
                           (int)s->name_bytes, s->text);
    return err;
}

static int setting_do(const setting *s, all_found *all)
{
    int err = 0;

    for (size_t i = 0; i < all->count && !err; i++) {
        found *f = &all->items[i];
        if (!is_of(f, s))
            continue;
        err = pastset_element_tell(f->seen.element,
                                   eventspace_tunable_bits(s->value));
        if (!err)
            f->seen.value = s->value;
    }
    return err;
}

/* All of them, or none. */
static int change(const tune_arguments *a, all_found *all)
{
    int err = 0;

    for (size_t i = 0; i < a->setting_count && !err; i++)
        err = setting_check(&a->settings[i], all);
    for (size_t i = 0; i < a->setting_count && !err; i++)
        err = setting_do(&a->settings[i], all);
    return err;
}

/* --- telling --- */

static const scopes_column columns[] = {
    {"process", "process", SCOPES_TEXT}, {"tunable", "tunable", SCOPES_TEXT},
    {"value", "value", SCOPES_REAL},     {"initial", "initial", SCOPES_REAL},
    {"least", "least", SCOPES_REAL},     {"most", "most", SCOPES_REAL},
};

static bool is_told(const tune_arguments *a, const found *f)
{
    bool is = a->setting_count == 0;

    for (size_t i = 0; i < a->setting_count && !is; i++)
        is = is_of(f, &a->settings[i]);
    return is;
}

static int print(const tune_arguments *a, const all_found *all)
{
    scopes_table *table = scopes_table_create(CLI_LIST(columns));
    int err;

    for (size_t i = 0; i < all->count; i++) {
        const found *f = &all->items[i];
        if (!is_told(a, f))
            continue;
        scopes_table_text(table, f->process->name);
        scopes_table_text(table, f->seen.name);
        scopes_table_real(table, f->seen.value);
        scopes_table_real(table, f->seen.bounds.initial);
        scopes_table_real(table, f->seen.bounds.least);
        scopes_table_real(table, f->seen.bounds.most);
    }
    err = viewer_table_print(table, a->format, stdout);
    scopes_table_destroy(table);
    return err;
}

static int tune(const tune_arguments *a)
{
    eventspace_run *run = cli_open_run(a->run);
    all_found all = {0};
    int err;

    if (!run)
        return COMMAND_FAILED;
    err = all_find(&all, run, a);
    if (!err)
        err = change(a, &all);
    if (!err)
        err = print(a, &all);
    free(all.items);
    eventspace_run_close(run);
    return cli_end_output(err);
}

int cli_tune(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        "RUN [NAME=VALUE...]",
        "Changes numbers that a program has made tunable "
        "(eventspace_tunable_open), while it runs on this machine; without "
        "any, "
        "lists them."
        "\vAll of the values are changed or, if one of them cannot be, none. A "
        "thread sees the new number when it asks for it, and leaves a mark in "
        "its trace.",
        NULL,
        NULL,
        NULL};
    tune_arguments a = {0};
    int code = COMMAND_USAGE;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a) == 0)
        code = tune(&a);
    free(a.settings);
    return code;
}
