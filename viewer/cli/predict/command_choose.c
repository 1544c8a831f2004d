/* command_choose.c - eventspace choose PROFILE --cluster FILE: which machines
 * will run a program fastest. */
#include "viewer/cli/predict/command_choose.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "pastset/status.h"
#include "viewer/tables/profile_table.h"

enum {
    KEY_NODES = 256,
    KEY_BEST,
    KEY_PROFILED_LINK,
    KEY_TIME_LIMIT,
    KEY_MAX_PLACEMENTS,
    KEY_SEED,
    KEY_MAP,
    KEY_SPLIT,
};

#define TIME_LIMIT_MIN_NS 10000000u
#define TIME_LIMIT_MAX_NS (86400 * (uint64_t)1000000000)

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
     "The path map of the profiled run; required by --output and --split", 0},
    {"split", KEY_SPLIT, "mean|careful|bold", 0,
     "Divide the work by what machines give, and print how, for --shares of a "
     "program. With histories: by their means; carefully, by the lower ends of "
     "their ranges; or boldly, by the upper ones. Requires --map",
     0},
    {"output", 'o', "FILE", 0,
     "Write the best placement to a file for 'eventspace map generate "
     "--placement'; requires --map",
     0},
    CLI_OUTLOOK_OPTIONS("forecast|modes", ""),
    CLI_FORMAT_OPTION,
    {"seconds", EVENTSPACE_RENAMED, "TIME", OPTION_HIDDEN, "time-limit", 0},
    {"most", EVENTSPACE_RENAMED, "COUNT", OPTION_HIDDEN, "max-placements", 0},
    {"out", EVENTSPACE_RENAMED, "FILE", OPTION_HIDDEN, "output", 0},
    {0},
};

/* --- choosing --- */

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

static int check_nodes(const choose_arguments *a,
                       const predict_profile *profile)
{
    if (!a->nodes || a->nodes == profile->node_count)
        return 0;
    return pastset_fail(PASTSET_EINVAL,
                        "%s: the profile is of a run on %zu nodes; it cannot "
                        "predict a run on %" PRIu64,
                        a->profile, profile->node_count, a->nodes);
}

static int find(predict_choice **out, cli_outlook *outlook, choose_arguments *a,
                const predict_profile *profile, predict_cluster *cluster)
{
    bool terminal = isatty(STDERR_FILENO);
    uint64_t last = 101;
    int err;

    if (terminal) {
        a->options.progress = tell_progress;
        a->options.context = &last;
    }
    err = a->outlook.path_count
              ? cli_choose_with(out, outlook, a, profile, cluster)
              : predict_choose(out, profile, cluster, &a->options);
    if (terminal)
        fprintf(stderr, "\r\033[K");
    return err;
}

static int choose(choose_arguments *a, const predict_profile *profile,
                  predict_cluster *cluster)
{
    predict_choice *choice = NULL;
    cli_outlook outlook = {0};
    chosen c = {.a = a, .profile = profile, .cluster = cluster};
    int err = check_nodes(a, profile);

    if (!err && a->split)
        err = cli_choose_threads_read(a, profile);
    a->options.threads = a->threads_on;
    if (!err)
        err = find(&choice, &outlook, a, profile, cluster);
    c.choice = choice;
    c.outlook = a->outlook.path_count ? &outlook : NULL;
    if (!err && profile->node_count > 1)
        tell_unlinked(cluster);
    if (!err)
        err = cli_choose_print(&c);
    if (!err && a->output)
        err = cli_choose_placement_write(&c);
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
    if (a->map && !a->output && !a->split)
        argp_error(state, "--map is for --output and --split");
    if (!a->map && a->output)
        argp_error(state, "--output needs --map");
    if (!a->map && a->split)
        argp_error(state, "--split needs --map");
    if (a->split > SPLIT_MEAN && a->outlook.path_count == 0)
        argp_error(state, "--split=careful and --split=bold need --with");
    cli_outlook_check(&a->outlook, false, state);
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
    static const char *const splits[] = {"mean", "careful", "bold"};
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
    case KEY_SPLIT:
        a->split =
            (choose_split)(SPLIT_MEAN +
                           cli_choice(
                               text, CLI_LIST(splits),
                               "--split=%s is not one of mean, careful, bold",
                               state));
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
    free(a.node_of);
    free(a.threads_on);
    return cli_end_output(err);
}
