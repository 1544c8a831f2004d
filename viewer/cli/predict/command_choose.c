/* command_choose.c - eventspace choose PROFILE --cluster FILE: which machines
 * will run a program fastest. */
#include "viewer/cli/predict/command_outlook.h"
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
#define WITH_HISTORIES 8  /* the same with histories */
#define TIME_LIMIT_MIN_NS 10000000u
#define TIME_LIMIT_MAX_NS (86400 * (uint64_t)1000000000)

typedef struct choose_arguments {
    const char *profile, *cluster, *map, *output;
    cli_conditions profiled_links;
    uint64_t nodes; /* 0: those of the profile */
    viewer_format format;
    predict_choose_options options;
    cli_outlook_options outlook;
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
    CLI_OUTLOOK_OPTIONS,
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

static const scopes_column first_columns_with[WITH_HISTORIES] = {
    {"rank", "rank", SCOPES_NUMBER},
    {"time_s", "time s", SCOPES_REAL},
    {"range_s", "+- s", SCOPES_REAL},
    {"risk_s", "to count on s", SCOPES_REAL},
    {"slowdown", "times dedicated", SCOPES_REAL},
    {"lower_s", "bounds: from s", SCOPES_REAL},
    {"upper_s", "to s", SCOPES_REAL},
    {"cause", "least sure is", SCOPES_TEXT},
};

/* What a choice is printed from. `outlook` NULL: without histories. */
typedef struct chosen {
    const predict_choice *choice;
    const predict_profile *profile;
    const predict_cluster *cluster;
    const cli_outlook *outlook;
} chosen;

/* A column for each node, whose name is its head. The caller frees it. */
static scopes_column *columns_of(const chosen *c, size_t *count)
{
    size_t first = c->outlook ? WITH_HISTORIES : BEFORE_MACHINES;
    scopes_column *columns =
        calloc(first + c->profile->node_count, sizeof(*columns));

    if (!columns)
        return NULL;
    if (c->outlook)
        memcpy(columns, first_columns_with, sizeof(first_columns_with));
    else
        memcpy(columns, first_columns, sizeof(first_columns));
    for (size_t i = 0; i < c->profile->node_count; i++)
        columns[first + i] = (scopes_column){
            c->profile->nodes[i].name, c->profile->nodes[i].name, SCOPES_TEXT};
    *count = first + c->profile->node_count;
    return columns;
}

static const char *cause_of(const chosen *c, const predict_placement *p)
{
    return p->cause == PREDICT_NONE
               ? ""
               : c->outlook->given[p->cause].history->series;
}

static void add_row(scopes_table *table, const chosen *c, uint32_t rank)
{
    const predict_placement *p = &c->choice->placements[rank];
    double time_s = c->outlook ? p->sure.mean : p->time_s;
    double dedicated_s = c->choice->dedicated_s;

    scopes_table_integer(table, rank + 1);
    scopes_table_real(table, time_s);
    if (c->outlook) {
        scopes_table_real(table, p->sure.range);
        scopes_table_real(table, p->risk_s);
    }
    scopes_table_real(table, dedicated_s > 0 ? time_s / dedicated_s : NAN);
    scopes_table_real(table, p->lower_s);
    scopes_table_real(table, p->upper_s);
    if (c->outlook)
        scopes_table_copy(table, cause_of(c, p));
    for (uint32_t i = 0; i < c->choice->nodes; i++)
        scopes_table_text(table, c->cluster->machines[p->machines[i]].name);
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

/* The one with the least mean of those that are given. */
static uint32_t fastest(const predict_choice *choice)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < choice->count; i++)
        if (choice->placements[i].sure.mean <
            choice->placements[best].sure.mean)
            best = i;
    return best;
}

static uint32_t safest(const predict_choice *choice)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < choice->count; i++)
        if (predict_upper(choice->placements[i].sure) <
            predict_upper(choice->placements[best].sure))
            best = i;
    return best;
}

/* Which one is fastest on average, which one is safe, and why that is not the
 * same. */
static void print_why(const chosen *c)
{
    uint32_t fast = fastest(c->choice), safe = safest(c->choice);
    const predict_placement *f = &c->choice->placements[fast],
                            *s = &c->choice->placements[safe];

    if (fast == safe) {
        printf("\nFastest on average, and safe: number %u, %.4g s +- %.2g.\n",
               fast + 1, f->sure.mean, f->sure.range);
        return;
    }
    printf("\nFastest on average: number %u, %.4g s +- %.2g, up to %.4g s.\n"
           "Safe: number %u, %.4g s +- %.2g, up to %.4g s.\n",
           fast + 1, f->sure.mean, f->sure.range, predict_upper(f->sure),
           safe + 1, s->sure.mean, s->sure.range, predict_upper(s->sure));
    if (f->cause != PREDICT_NONE)
        printf("Number %u is less sure by the %s, whose range adds %.2g s.\n",
               fast + 1, cause_of(c, f), f->cause_s);
}

static int print_histories(const cli_outlook *outlook)
{
    scopes_table *table = cli_outlook_table(outlook, false, true);
    int err;

    putchar('\n');
    err = viewer_table_print(table, VIEWER_TABLE, stdout);
    scopes_table_destroy(table);
    return err;
}

static int print(const choose_arguments *a, const chosen *c)
{
    const predict_choice *choice = c->choice;
    size_t count = 0;
    scopes_column *columns = columns_of(c, &count);
    scopes_table *table;
    int err;

    if (!columns)
        return pastset_no_memory("to print");
    table = scopes_table_create(columns, count);
    for (uint32_t i = 0; i < choice->count; i++)
        add_row(table, c, i);
    if (a->format == VIEWER_JSON)
        err = print_json(choice, table);
    else
        err = viewer_table_print(table, a->format, stdout);
    if (a->format == VIEWER_TABLE && !err && c->outlook)
        print_why(c);
    if (a->format == VIEWER_TABLE && !err)
        printf("\nBy the %s: %s.\nMeasured alone %.3f s; the worst that was "
               "tried %.3f s.\n",
               choice->model, choice->how, choice->dedicated_s,
               choice->worst_s);
    if (a->format == VIEWER_TABLE && !err && c->outlook)
        err = print_histories(c->outlook);
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

/* --- with histories --- */

static void cluster_set(predict_cluster *cluster, const double *values,
                        void *context)
{
    const cli_outlook *o = context;
    uint32_t n = cluster->machine_count;

    for (size_t i = 0; i < o->count; i++) {
        const cli_given *g = &o->given[i];
        predict_machine *machine = &cluster->machines[g->a];
        size_t there = (size_t)g->a * n + g->b, back = (size_t)g->b * n + g->a;
        if (g->kind == MEASURE_AVAILABILITY)
            machine->load = predict_load_of_share(
                values[i], cluster->processors[machine->place]);
        else if (g->kind == MEASURE_LATENCY)
            cluster->wires[there].latency_s = cluster->wires[back].latency_s =
                values[i];
        else
            cluster->wires[there].bandwidth = cluster->wires[back].bandwidth =
                values[i];
        if (g->kind != MEASURE_AVAILABILITY && cluster->flows)
            cluster->flows[there] = cluster->flows[back] =
                (predict_flow){0, 0, 0};
    }
}

typedef struct unsure_context {
    const cli_outlook *outlook;
    const predict_cluster *cluster;
} unsure_context;

static void unsure_set(predict_cluster *cluster, const double *values,
                       void *context)
{
    const unsure_context *c = context;

    cluster_set(cluster, values, (void *)(uintptr_t)c->outlook);
}

/* Of a machine: all of its place, whose processors they share. */
static bool unsure_matters(size_t i, const uint32_t *machines, uint32_t nodes,
                           void *context)
{
    const unsure_context *c = context;
    const cli_given *g = &c->outlook->given[i];
    bool has_a = false, has_b = g->kind == MEASURE_AVAILABILITY;

    for (uint32_t n = 0; n < nodes; n++) {
        has_a |=
            machines[n] == g->a || (g->kind == MEASURE_AVAILABILITY &&
                                    c->cluster->machines[machines[n]].place ==
                                        c->cluster->machines[g->a].place);
        has_b |= machines[n] == g->b;
    }
    return has_a && has_b;
}

static int means_set(predict_cluster *cluster, cli_outlook *o)
{
    double *values = calloc(o->count + 1, sizeof(*values));

    if (!values)
        return pastset_no_memory("to choose");
    for (size_t i = 0; i < o->count; i++)
        values[i] = fmin(fmax(o->varied[i].value.mean, o->varied[i].least),
                         o->varied[i].most);
    cluster_set(cluster, values, o);
    free(values);
    return 0;
}

/* As `predict --with` does: how long the best takes by what comes next says
 * which part of the histories counts. */
static int outlook_make(cli_outlook *o, choose_arguments *a,
                        const predict_profile *profile,
                        predict_cluster *cluster)
{
    predict_choice *choice = NULL;
    predict_choose_options quick = a->options;
    int err = cli_outlook_make(o, &a->outlook, 0);

    quick.seconds_s = (quick.seconds_s > 0 ? quick.seconds_s : 8) / 4;
    quick.keep = 1;
    quick.progress = NULL;
    if (!err)
        err = means_set(cluster, o);
    if (!err)
        err = predict_choose(&choice, profile, cluster, &quick);
    if (!err)
        err = cli_outlook_make(
            o, &a->outlook,
            (int64_t)fmax(1, choice->placements[0].time_s * 1000));
    predict_choice_destroy(choice);
    return err;
}

static int outlook_read(cli_outlook *o, const choose_arguments *a,
                        const predict_cluster *cluster)
{
    const char **names = calloc(cluster->machine_count + 1, sizeof(*names));
    int err;

    if (!names)
        return pastset_no_memory("to choose");
    for (uint32_t i = 0; i < cluster->machine_count; i++)
        names[i] = cluster->machines[i].name;
    err = cli_outlook_read(o, &a->outlook, names, cluster->machine_count);
    free(names);
    return err;
}

static int choose_with(predict_choice **out, cli_outlook *o,
                       choose_arguments *a, const predict_profile *profile,
                       predict_cluster *cluster)
{
    unsure_context context = {o, cluster};
    predict_unsure unsure = {.set = unsure_set,
                             .matters = unsure_matters,
                             .context = &context,
                             .risk = a->outlook.risk};
    int err = outlook_read(o, a, cluster);

    if (!err)
        err = outlook_make(o, a, profile, cluster);
    unsure.varied = o->varied;
    unsure.count = o->count;
    return err ? err
               : predict_choose_surely(out, profile, cluster, &a->options,
                                       &unsure);
}

/* --- one choice --- */

static int choose(choose_arguments *a, const predict_profile *profile,
                  predict_cluster *cluster)
{
    bool terminal = isatty(STDERR_FILENO);
    bool is_with = a->outlook.path_count > 0;
    uint64_t last = 101;
    predict_choice *choice = NULL;
    cli_outlook outlook = {0};
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
    err = is_with ? choose_with(&choice, &outlook, a, profile, cluster)
                  : predict_choose(&choice, profile, cluster, &a->options);
    if (terminal)
        fprintf(stderr, "\r\033[K");
    if (!err && profile->node_count > 1)
        tell_unlinked(cluster);
    if (!err)
        err = print(
            a, &(chosen){choice, profile, cluster, is_with ? &outlook : NULL});
    if (!err && a->output)
        err = write_placement(a, choice, profile, cluster);
    predict_choice_destroy(choice);
    cli_outlook_clear(&outlook);
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
    cli_outlook_check(&a->outlook, state);
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
        return cli_outlook_parse(&a->outlook, key, text, state);
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
    cli_outlook_options_clear(&a.outlook);
    return cli_end_output(err);
}
