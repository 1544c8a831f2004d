/* command_map.c - eventspace map generate|instrument|check|draw. */
#include "viewer/cli/command_map.h"

#include "eventspace/instrument.h"
#include "eventspace/launch/allocation.h"
#include "eventspace/launch/job.h"
#include "paths/generate/generate.h"

#include <string.h>

#define PROCESSES_MAX 10000

/* --- generate --- */

typedef int allocation_reader(eventspace_allocation *out);

typedef struct generate_arguments {
    const char *application, *cluster, *placement;
    const char *output;
    uint32_t processes;           /* 0: not said as a number */
    allocation_reader *allocated; /* NULL: not by an allocation */
    paths_spread spread;
    paths_home home;
    const char *shape; /* NULL: not said */
    unsigned fanout;   /* 0: not said */
} generate_arguments;

enum {
    KEY_PROCESSES = 256,
    KEY_PLACEMENT,
    KEY_SPREAD,
    KEY_ELEMENTS,
    KEY_SHAPE,
    KEY_FANOUT
};

static const struct argp_option generate_options[] = {
    {"application", 'a', "FILE", 0,
     "Read which threads use which elements from FILE; - is standard input", 0},
    {"cluster", 'c', "FILE", 0, "Read the machines and their links from FILE",
     0},
    {"hosts", EVENTSPACE_RENAMED, "N", OPTION_HIDDEN, "processes", 0},
    {"processes", KEY_PROCESSES, "N|slurm|mpirun", 0,
     "Without --cluster: use N processes h0, h1 ... on this machine (default "
     "1), or one for each task of Slurm's allocation or of mpirun",
     0},
    {"placement", KEY_PLACEMENT, "FILE", 0,
     "Read from FILE what lives on which process", 0},
    {"spread", KEY_SPREAD, "block|cyclic", 0,
     "Spread threads without a place over the processes in blocks or in turn "
     "(default block)",
     0},
    {"elements", KEY_ELEMENTS, "reader|writer", 0,
     "Put elements without a place with their reader or writer (default "
     "reader)",
     0},
    {"shape", KEY_SHAPE, "flat|hierarchical|binomial", 0,
     "Build collective trees in this shape, unless the element says otherwise "
     "(default hierarchical)",
     0},
    {"fanout", KEY_FANOUT, "N", 0,
     "Give each node of a tree at most N children (default: any number)", 0},
    {"output", 'o', "FILE", 0,
     "Write the map to FILE instead of standard output", 0},
    {0},
};

static paths_spread read_spread(const char *text, struct argp_state *state)
{
    static const char *const names[] = {
        [PATHS_BLOCK] = "block", [PATHS_CYCLIC] = "cyclic"};

    return (paths_spread)cli_choice(
        text, CLI_LIST(names), "the spread '%s' is neither block nor cyclic",
        state);
}

static paths_home read_home(const char *text, struct argp_state *state)
{
    static const char *const names[] = {
        [PATHS_WITH_READER] = "reader", [PATHS_WITH_WRITER] = "writer"};

    return (paths_home)cli_choice(
        text, CLI_LIST(names),
        "elements go with 'reader' or 'writer', not '%s'", state);
}

static const char *read_shape(const char *text, struct argp_state *state)
{
    static const char *const names[] = {"flat", "hierarchical", "binomial"};

    return names[cli_choice(
        text, CLI_LIST(names),
        "the shape '%s' is not one of flat, hierarchical, binomial", state)];
}

static void read_processes(generate_arguments *a, const char *text,
                           struct argp_state *state)
{
    a->processes = 0;
    a->allocated = strcmp(text, "slurm") == 0    ? eventspace_allocation_slurm
                   : strcmp(text, "mpirun") == 0 ? eventspace_allocation_mpirun
                                                 : NULL;
    if (!a->allocated)
        a->processes = (uint32_t)cli_number(text, 1, PROCESSES_MAX, state);
}

static void check_generate(const generate_arguments *a,
                           struct argp_state *state)
{
    if (!a->application)
        argp_error(state, "--application is missing");
    if (a->cluster && (a->processes || a->allocated))
        argp_error(state, "--cluster and --processes exclude each other");
    if (a->fanout && a->shape && strcmp(a->shape, "binomial") == 0)
        argp_error(state, "--shape binomial and --fanout exclude each other");
}

static error_t parse_generate(int key, char *text, struct argp_state *state)
{
    generate_arguments *a = state->input;
    switch (key) {
    case 'a':
        a->application = text;
        return 0;
    case 'c':
        a->cluster = text;
        return 0;
    case KEY_PROCESSES:
        read_processes(a, text, state);
        return 0;
    case KEY_PLACEMENT:
        a->placement = text;
        return 0;
    case KEY_SPREAD:
        a->spread = read_spread(text, state);
        return 0;
    case KEY_ELEMENTS:
        a->home = read_home(text, state);
        return 0;
    case KEY_SHAPE:
        a->shape = read_shape(text, state);
        return 0;
    case KEY_FANOUT:
        a->fanout = (unsigned)cli_number(text, 2, UINT32_MAX, state);
        return 0;
    case 'o':
        a->output = text;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state,
                   "unexpected argument '%s': name the application mapping "
                   "with --application",
                   text);
        return 0;
    case ARGP_KEY_END:
        check_generate(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* NULL is no mapping and no error. */
static int read_mapping(paths_map **out, const char *file)
{
    *out = NULL;
    return file ? paths_mapping_read(out, cli_input(file)) : 0;
}

/* Tells all but the first diagnostic, which is the error. */
static int mapping_check(const paths_map *application)
{
    paths_diagnostics all = {0};
    int err = paths_mapping_check(application, &all);

    for (size_t i = 1; i < all.count; i++)
        fprintf(stderr, "eventspace: %s:%u: %s: %s\n", application->file,
                all.items[i].line, all.items[i].node, all.items[i].text);
    paths_diagnostics_clear(&all);
    return err;
}

/* Nothing lives in them: they are started, join the run, and end. */
static void warn_of_idle_processes(const paths_map *map)
{
    bool *used = calloc((size_t)map->process_count + 1, sizeof(*used));
    uint32_t idle = 0;

    for (uint32_t i = 0; used && i < map->node_count; i++)
        used[map->nodes[i].process] = true; /* each has one */
    for (uint32_t i = 0; used && i < map->process_count; i++) {
        if (!used[i])
            fprintf(stderr, "%s%s",
                    idle++ ? ", " : "eventspace: nothing runs in ",
                    map->processes[i].name);
    }
    if (idle)
        fprintf(stderr, ": the application has %u threads for %u processes\n",
                paths_map_threads(map), map->process_count);
    free(used);
}

/* A mapping of its tasks. */
static int read_allocation(paths_map **out, const generate_arguments *a,
                           eventspace_job *job)
{
    eventspace_allocation allocation;
    int err = job ? eventspace_allocation_job(&allocation, job)
                  : a->allocated(&allocation);

    if (!err) {
        err = eventspace_allocation_cluster(out, &allocation);
        eventspace_allocation_fini(&allocation);
    }
    return err;
}

/* `job`: whose tasks make the map together; NULL: this command alone. */
static int generate(const generate_arguments *a, eventspace_job *job)
{
    paths_map *application = NULL, *cluster = NULL, *placement = NULL;
    paths_map *map = NULL;
    int err = a->allocated ? read_allocation(&cluster, a, job)
                           : read_mapping(&cluster, a->cluster);
    if (err || (job && eventspace_job_rank(job) != 0))
        goto done;
    err = read_mapping(&application, a->application);
    if (err)
        goto done;
    err = read_mapping(&placement, a->placement);
    if (err)
        goto done;
    err = mapping_check(application);
    if (err)
        goto done;
    paths_generate_options options = {
        .application = application,
        .cluster = cluster,
        .processes = a->processes ? a->processes : 1,
        .placement = placement,
        .spread = a->spread,
        .home = a->home,
        .shape = a->shape,
        .fanout = a->fanout,
    };
    err = paths_generate(&map, &options);
    if (err)
        goto done;
    warn_of_idle_processes(map);
    err = cli_write_map(map, a->output);
done:
    paths_map_destroy(map);
    paths_map_destroy(placement);
    paths_map_destroy(cluster);
    paths_map_destroy(application);
    return err;
}

/* A job of one task is as good as none: it may be the shell of salloc. */
static int generate_in_job(const generate_arguments *a)
{
    eventspace_job *job;
    int err = eventspace_job_open(&job, 0);

    if (!err)
        err = generate(a, eventspace_job_size(job) > 1 ? job : NULL);
    err = err && eventspace_job_is_hushed(job) ? COMMAND_FAILED
                                               : cli_end_output(err);
    eventspace_job_close(job);
    return err;
}

static int map_generate(int argc, char **argv)
{
    static const struct argp argp = {
        generate_options,
        parse_generate,
        "--application FILE",
        "Makes a path map from mappings: which threads use which elements, "
        "which processes there are, and what lives where.",
        NULL,
        NULL,
        NULL};
    generate_arguments a = {.spread = PATHS_BLOCK, .home = PATHS_WITH_READER};
    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    if (a.allocated && eventspace_job_is_there())
        return generate_in_job(&a);
    return cli_end_output(generate(&a, NULL));
}

/* --- instrument --- */

typedef struct instrument_arguments {
    const char *map, *output;
    bool has_collectors; /* it was said which */
    eventspace_instrument_options options;
} instrument_arguments;

enum {
    KEY_COLLECTORS = 256,
    KEY_ON_DEMAND,
    KEY_SIZE,
    KEY_POLICY,
    KEY_PER,
    KEY_PREFAULT
};

static const struct argp_option instrument_options[] = {
    {"collectors", KEY_COLLECTORS, "none|threads|all", 0,
     "Put collectors nowhere, on each edge that leaves a thread, or before and "
     "after every wrapper (default all; with --on-demand the next less)",
     0},
    {"on-demand", KEY_ON_DEMAND, "threads|all", 0,
     "Put more collectors there, which record only while `eventspace tune RUN "
     "trace_detail=1` asks for it (default none)",
     0},
    {"trace-per", KEY_PER, "thread|collector", 0,
     "Give a trace element to each thread or to each collector (default "
     "thread)",
     0},
    {"trace-size", KEY_SIZE, "TUPLES", 0,
     "Make each trace element hold TUPLES tuples, such as 64k (64,000), 64Ki "
     "(65,536) or 4M",
     0},
    {"trace-policy", KEY_POLICY, "grow|discard|block", 0,
     "When a trace element is full, drop new tuples (grow), drop the oldest "
     "ones (discard), or move them to a file (block) (default discard)",
     0},
    {"prefault", KEY_PREFAULT, NULL, 0,
     "Touch all memory of a trace element at its first event", 0},
    {"output", 'o', "FILE", 0,
     "Write the map to FILE instead of standard output", 0},
    {0},
};

static eventspace_collectors read_collectors(const char *text,
                                             struct argp_state *state)
{
    static const char *const names[] = {[EVENTSPACE_NO_COLLECTORS] = "none",
                                        [EVENTSPACE_THREAD_COLLECTORS] =
                                            "threads",
                                        [EVENTSPACE_ALL_COLLECTORS] = "all"};

    return (eventspace_collectors)cli_choice(
        text, CLI_LIST(names),
        "the collectors '%s' are not one of none, threads, all", state);
}

static eventspace_trace_per read_per(const char *text, struct argp_state *state)
{
    static const char *const names[] = {
        [EVENTSPACE_TRACE_PER_THREAD] = "thread",
        [EVENTSPACE_TRACE_PER_COLLECTOR] = "collector"};

    return (eventspace_trace_per)cli_choice(
        text, CLI_LIST(names),
        "traces are per 'thread' or 'collector', not '%s'", state);
}

static const char *read_policy(const char *text, struct argp_state *state)
{
    static const char *const names[] = {"grow", "discard", "block"};

    return names[cli_choice(
        text, CLI_LIST(names),
        "the policy '%s' is not one of grow, discard, block", state)];
}

static error_t parse_instrument(int key, char *text, struct argp_state *state)
{
    instrument_arguments *a = state->input;
    switch (key) {
    case KEY_COLLECTORS:
        a->options.collectors = read_collectors(text, state);
        a->has_collectors = true;
        return 0;
    case KEY_ON_DEMAND:
        a->options.detail = read_collectors(text, state);
        return 0;
    case KEY_PER:
        a->options.trace_per = read_per(text, state);
        return 0;
    case KEY_SIZE:
        a->options.trace_capacity = cli_number(text, 1, UINT32_MAX, state);
        return 0;
    case KEY_POLICY:
        a->options.trace_policy = read_policy(text, state);
        return 0;
    case KEY_PREFAULT:
        a->options.prefault = true;
        return 0;
    case 'o':
        a->output = text;
        return 0;
    case ARGP_KEY_SUCCESS:
        if (a->options.detail && !a->has_collectors)
            a->options.collectors =
                (eventspace_collectors)(a->options.detail - 1);
        if (a->options.detail && a->options.detail <= a->options.collectors)
            argp_error(state, "--on-demand: these collectors are there anyway");
        return 0;
    default:
        return cli_take_one(&a->map, "the map", key, text, state);
    }
}

static int map_instrument(int argc, char **argv)
{
    static const struct argp argp = {
        instrument_options,
        parse_instrument,
        "MAP",
        "Puts event collectors into a path map (- is standard input), in place "
        "of those that it has.",
        NULL,
        NULL,
        NULL};
    instrument_arguments a = {.options.collectors = EVENTSPACE_ALL_COLLECTORS};
    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    paths_map *map = cli_read_map(a.map), *instrumented;
    if (!map)
        return COMMAND_FAILED;
    int err = eventspace_instrument(&instrumented, map, &a.options);
    if (!err) {
        err = cli_write_map(instrumented, a.output);
        paths_map_destroy(instrumented);
    }
    paths_map_destroy(map);
    return cli_end_output(err);
}

/* --- check --- */

static error_t parse_check(int key, char *text, struct argp_state *state)
{
    return cli_take_one(state->input, "the map", key, text, state);
}

static int map_check(int argc, char **argv)
{
    static const struct argp argp = {
        NULL,
        parse_check,
        "MAP",
        "Checks a path map (- is standard input) and prints every problem in "
        "it, one per line.\vThe exit code is 0 when there is none, else 1.",
        NULL,
        NULL,
        NULL};
    const char *file = NULL;
    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &file))
        return COMMAND_USAGE;
    paths_map *map = cli_read_map(file);
    if (!map)
        return COMMAND_FAILED;
    int err = cli_check_map(map, stdout);
    paths_map_destroy(map);
    return err ? COMMAND_FAILED : cli_end_output(0);
}

/* --- */

int cli_map(int argc, char **argv)
{
    static const command commands[] = {
        {"generate", "make a path map from mappings", map_generate},
        {"instrument", "put event collectors into a path map", map_instrument},
        {"check", "print every problem in a path map", map_check},
        {"draw", "draw a path map", cli_map_draw},
        {NULL, NULL, NULL},
    };

    cli_refuse_large_files();
    return cli_dispatch(commands, argc, argv);
}
