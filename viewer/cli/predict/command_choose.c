/* command_choose.c - eventspace choose PROFILE --cluster FILE: which machines
 * will run a program fastest. */
#include "viewer/cli/predict/predict_arguments.h"

#include "paths/generate/generate.h"
#include "pastset/status.h"
#include "viewer/tables/profile_table.h"
#include "predict/choose/choose.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEY_NODES = 256,
    KEY_BEST,
    KEY_PROFILED_LINK,
    KEY_TIME_LIMIT,
    KEY_MAX_PLACEMENTS,
    KEY_SEED,
    KEY_MAP,
};

#define BEFORE_MACHINES 5 /* columns */
#define TIME_LIMIT_MIN_NS 10000000u
#define TIME_LIMIT_MAX_NS (86400 * (uint64_t)1000000000)

typedef struct choose_arguments {
    const char *profile, *cluster, *map, *output;
    cli_conditions profiled_links;
    uint64_t nodes; /* 0: those of the profile */
    viewer_format format;
    predict_choose_options options;
} choose_arguments;

static const struct argp_option choose_options[] = {
    {"cluster", 'c', "FILE", 0,
     "Read machines, links and their present load from this cluster file; "
     "'eventspace load' writes it",
     0},
    {"nodes", KEY_NODES, "COUNT", 0,
     "Choose this many machines; must be the number of nodes of the profile",
     0},
    {"best", KEY_BEST, "COUNT", 0,
     "Print this many of the best placements (default 10)", 0},
    CLI_PROFILED_LINK_OPTION(KEY_PROFILED_LINK),
    {"time-limit", KEY_TIME_LIMIT, "TIME", 0,
     "Search for at most this long (default 8s)", 0},
    {"max-placements", KEY_MAX_PLACEMENTS, "COUNT", 0,
     "Try all placements if there are no more than this, however long it takes",
     0},
    {"seed", KEY_SEED, "N", 0,
     "Start the search with this random seed (default 0)", 0},
    {"map", KEY_MAP, "MAP", 0,
     "The path map of the profiled run; required by --output", 0},
    {"output", 'o', "FILE", 0,
     "Write the best placement to a file for 'eventspace map generate "
     "--placement'; requires --map",
     0},
    CLI_FORMAT_OPTION,
    {"seconds", EVENTSPACE_RENAMED, "TIME", OPTION_HIDDEN, "time-limit", 0},
    {"most", EVENTSPACE_RENAMED, "COUNT", OPTION_HIDDEN, "max-placements", 0},
    {"out", EVENTSPACE_RENAMED, "FILE", OPTION_HIDDEN, "output", 0},
    {0},
};

/* --- the table --- */

static const scopes_column first_columns[BEFORE_MACHINES] = {
    {"rank", "rank", SCOPES_NUMBER},
    {"time_s", "time s", SCOPES_REAL},
    {"slowdown", "times dedicated", SCOPES_REAL},
    {"lower_s", "bounds: from s", SCOPES_REAL},
    {"upper_s", "to s", SCOPES_REAL},
};

/* A column for each node, whose name is its head. The caller frees it. */
static scopes_column *columns_of(const predict_profile *profile)
{
    scopes_column *columns =
        calloc(BEFORE_MACHINES + profile->node_count, sizeof(*columns));

    if (!columns)
        return NULL;
    memcpy(columns, first_columns, sizeof(first_columns));
    for (size_t i = 0; i < profile->node_count; i++)
        columns[BEFORE_MACHINES + i] = (scopes_column){
            profile->nodes[i].name, profile->nodes[i].name, SCOPES_TEXT};
    return columns;
}

static void add_row(scopes_table *table, const predict_choice *choice,
                    const predict_cluster *cluster, uint32_t rank)
{
    const predict_placement *p = &choice->placements[rank];

    scopes_table_integer(table, rank + 1);
    scopes_table_real(table, p->time_s);
    scopes_table_real(
        table, choice->dedicated_s > 0 ? p->time_s / choice->dedicated_s : NAN);
    scopes_table_real(table, p->lower_s);
    scopes_table_real(table, p->upper_s);
    for (uint32_t i = 0; i < choice->nodes; i++)
        scopes_table_text(table, cluster->machines[p->machines[i]].name);
}

static const scopes_column choice_columns[] = {
    {"model", "model", SCOPES_TEXT},
    {"how", "how", SCOPES_TEXT},
    {"dedicated_s", "dedicated s", SCOPES_REAL},
    {"worst_s", "worst s", SCOPES_REAL},
    {"all", "all", SCOPES_REAL}, /* more than an integer holds, it may be */
    {"tried", "tried", SCOPES_COUNT},
    {"estimated", "estimated", SCOPES_COUNT},
};

static int print_json(const predict_choice *choice, const scopes_table *table)
{
    scopes_table *head = scopes_table_create(CLI_LIST(choice_columns));
    int err;

    scopes_table_text(head, choice->model);
    scopes_table_text(head, choice->how);
    scopes_table_real(head, choice->dedicated_s);
    scopes_table_real(head, choice->worst_s);
    scopes_table_real(head, choice->all);
    scopes_table_integer(head, (int64_t)choice->tried);
    scopes_table_integer(head, (int64_t)choice->estimated);
    putchar('{');
    err = viewer_table_print_members(head, 0, stdout);
    scopes_table_destroy(head);
    fputs(",\n\"placements\": ", stdout);
    if (!err)
        err = viewer_table_print(table, VIEWER_JSON, stdout);
    puts("}");
    return err;
}

/* Else machines that no link leads to would be missing in silence. */
static void tell_unlinked(const predict_cluster *cluster)
{
    uint32_t count = cluster->machine_count;

    for (uint32_t i = 0; i < count; i++) {
        bool linked = false;
        for (uint32_t j = 0; j < count && !linked; j++)
            linked = j != i && cluster->wires[i * count + j].bandwidth > 0;
        if (!linked)
            fprintf(stderr,
                    "eventspace: machine %s has no link in the cluster file; "
                    "no node that communicates was placed there\n",
                    cluster->machines[i].name);
    }
}

static int print(const choose_arguments *a, const predict_choice *choice,
                 const predict_profile *profile, const predict_cluster *cluster)
{
    scopes_column *columns = columns_of(profile);
    scopes_table *table;
    int err;

    if (!columns)
        return pastset_no_memory("to print");
    table = scopes_table_create(columns, BEFORE_MACHINES + profile->node_count);
    for (uint32_t i = 0; i < choice->count; i++)
        add_row(table, choice, cluster, i);
    if (a->format == VIEWER_JSON)
        err = print_json(choice, table);
    else
        err = viewer_table_print(table, a->format, stdout);
    if (a->format == VIEWER_TABLE && !err)
        printf("\nBy the %s: %s.\nMeasured alone %.3f s; the worst that was "
               "tried %.3f s.\n",
               choice->model, choice->how, choice->dedicated_s,
               choice->worst_s);
    scopes_table_destroy(table);
    free(columns);
    return err;
}

/* --- the placement file --- */

static int place_node(paths_map *placement, const char *name, uint32_t machine)
{
    uint32_t from = paths_map_add_node(placement, PATHS_NONE, "", name);

    if (from == PATHS_NONE ||
        paths_map_add_edge(placement, from, machine) == PATHS_NONE)
        return pastset_no_memory("for a placement");
    return 0;
}

/* Threads and elements of the process that was a node of the profile go to
 * the machine that was chosen for it. */
static int place_process(paths_map *placement, const paths_map *map,
                         const char *name, const char *to)
{
    uint32_t was = paths_map_find_process(map, name);
    uint32_t machine = paths_map_add_node(placement, PATHS_NONE, "", to);
    int err = 0;

    if (was == PATHS_NONE)
        return pastset_fail(PASTSET_ENOENT,
                            "%.250s: there is no process %s, which the profile "
                            "has: is this the map of the run that was "
                            "measured?",
                            map->file, name);
    if (machine == PATHS_NONE)
        return pastset_fail(PASTSET_EINVAL,
                            "machine %s: something else in the map has this "
                            "name, so a placement file would be ambiguous",
                            to);
    for (uint32_t i = 0; i < map->node_count && !err; i++) {
        const paths_map_node *node = &map->nodes[i];
        if (node->process == was && node->kind != PATHS_WRAPPER)
            err = place_node(placement, node->name, machine);
    }
    return err;
}

static int write_placement(const choose_arguments *a,
                           const predict_choice *choice,
                           const predict_profile *profile,
                           const predict_cluster *cluster)
{
    const uint32_t *machines = choice->placements[0].machines;
    paths_map *map, *placement = NULL;
    int err = paths_map_read(&map, cli_input(a->map));

    if (err)
        return err;
    err = paths_map_create(&placement, "placement");
    for (uint32_t i = 0; i < choice->nodes && !err; i++)
        err = place_process(placement, map, profile->nodes[i].name,
                            cluster->machines[machines[i]].name);
    if (!err)
        err = paths_map_save(placement, a->output);
    paths_map_destroy(map);
    paths_map_destroy(placement);
    return err;
}

/* --- choosing --- */

static void tell_progress(void *context, uint64_t done, uint64_t all)
{
    uint64_t *last = context;
    uint64_t share = all ? 100 * done / all : 0;

    if (share == *last)
        return;
    *last = share;
    fprintf(stderr, "\reventspace choose: %" PRIu64 " of %" PRIu64 "   ", done,
            all);
    if (done == all)
        fprintf(stderr, "\r\033[K");
}

static int choose(choose_arguments *a, const predict_profile *profile,
                  const predict_cluster *cluster)
{
    bool terminal = isatty(STDERR_FILENO);
    uint64_t last = 101;
    predict_choice *choice;
    int err;

    if (a->nodes && a->nodes != profile->node_count)
        return pastset_fail(PASTSET_EINVAL,
                            "%s: the profile is of a run on %zu nodes; it "
                            "cannot predict a run on %" PRIu64,
                            a->profile, profile->node_count, a->nodes);
    if (terminal) {
        a->options.progress = tell_progress;
        a->options.context = &last;
    }
    err = predict_choose(&choice, profile, cluster, &a->options);
    if (terminal)
        fprintf(stderr, "\r\033[K");
    if (err)
        return err;
    if (profile->node_count > 1)
        tell_unlinked(cluster);
    err = print(a, choice, profile, cluster);
    if (!err && a->output)
        err = write_placement(a, choice, profile, cluster);
    predict_choice_destroy(choice);
    return err;
}

static int run(choose_arguments *a)
{
    predict_profile *profile = NULL;
    predict_cluster *cluster = NULL;
    int err = predict_profile_load(&profile, cli_input(a->profile));

    if (err)
        return err;
    viewer_profile_warn(profile, a->profile);
    err = cli_set_profiled_links(profile, &a->profiled_links);
    if (!err)
        err = predict_cluster_read(&cluster, a->cluster);
    if (!err)
        err = choose(a, profile, cluster);
    predict_cluster_destroy(cluster);
    predict_profile_destroy(profile);
    return err;
}

/* --- the command --- */

static void check_arguments(const choose_arguments *a, struct argp_state *state)
{
    if (!a->profile)
        argp_error(state, "the profile is missing: 'eventspace profile' makes "
                          "one");
    if (!a->cluster)
        argp_error(state, "--cluster=FILE is missing: 'eventspace load' "
                          "writes one");
    if (!a->map != !a->output)
        argp_error(state, "--map and --output need each other");
}

static error_t parse_number(int key, char *text, struct argp_state *state)
{
    choose_arguments *a = state->input;

    switch (key) {
    case KEY_NODES:
        a->nodes = cli_number(text, 1, 1000000, state);
        return 0;
    case KEY_BEST:
        a->options.keep = (uint32_t)cli_number(text, 1, 100000, state);
        return 0;
    case KEY_MAX_PLACEMENTS:
        a->options.max = cli_number(text, 1, 1000000000, state);
        return 0;
    case KEY_SEED:
        a->options.seed = cli_number(text, 0, UINT64_MAX, state);
        return 0;
    case KEY_TIME_LIMIT:
        a->options.seconds_s = (double)cli_time(text, TIME_LIMIT_MIN_NS,
                                                TIME_LIMIT_MAX_NS, state) /
                               1e9;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_choose(int key, char *text, struct argp_state *state)
{
    choose_arguments *a = state->input;

    switch (key) {
    case 'c':
        a->cluster = text;
        return 0;
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case KEY_MAP:
        a->map = text;
        return 0;
    case 'o':
        a->output = text;
        return 0;
    case KEY_PROFILED_LINK:
        cli_take_profiled_link(&a->profiled_links, text, state);
        return 0;
    case ARGP_KEY_ARG:
        cli_take(&a->profile, text, state);
        return 0;
    case ARGP_KEY_END:
        check_arguments(a, state);
        return 0;
    default:
        return parse_number(key, text, state);
    }
}

int cli_choose(int argc, char **argv)
{
    static const struct argp argp = {
        choose_options,
        parse_choose,
        "PROFILE",
        "Finds the machines of a cluster on which a program will run fastest "
        "under their present load. Predicts the time of each placement of the "
        "nodes of its profile, and prints the best ones."
        "\vIf there are too many placements to predict them all, the output "
        "says how they were searched. Make the profile with 'eventspace "
        "profile' and the cluster file with 'eventspace load'.",
        NULL,
        NULL,
        NULL};
    choose_arguments a = {0};
    int err;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    err = run(&a);
    cli_clear_conditions(&a.profiled_links);
    return cli_end_output(err);
}
