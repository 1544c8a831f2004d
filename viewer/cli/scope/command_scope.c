/* command_scope.c - eventspace scope: gathers the events of a run over its
 * processes. Here are its arguments. */
#include "viewer/cli/scope/command_scope.h"

#include <stdlib.h>

#define INTERVAL_MAX_MS 3600000

enum {
    SCOPE_FANOUT = 256,
    SCOPE_BATCH,
    SCOPE_SHARE,
    SCOPE_LAG,
    SCOPE_COLLECTOR,
    SCOPE_THREAD,
    SCOPE_VERB,
    SCOPE_MIN,
    SCOPE_SLOWER,
    SCOPE_SLOW_COLLECTOR,
    SCOPE_AROUND,
    SCOPE_HOLD,
    SCOPE_STATISTICS,
    SCOPE_PRINT_MAP,
    SCOPE_SERVE,
    SCOPE_LISTEN,
    SCOPE_CLIENTS,
    SCOPE_CONNECT,
    SCOPE_REMOTE,
    SCOPE_AS_PROCESS,
    SCOPE_AGENT,
    SCOPE_PRINT,
};

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "Write the mirror to the run directory DIR", 0},
    {"out", EVENTSPACE_RENAMED, "DIR", OPTION_HIDDEN, "output", 0},
    {"fanout", SCOPE_FANOUT, "N", 0,
     "Give each node of the tree at most N children (default: any number)", 0},
    {"interval", 'i', "TIME", 0,
     "Look for new events every TIME (default "
     "100ms)",
     0},
    {"batch", SCOPE_BATCH, "EVENTS", 0,
     "Take at most EVENTS events at a time (default: as many as fit into 256 "
     "KiB)",
     0},
    {"share", SCOPE_SHARE, "SHARE", 0,
     "Let each leaf use at most this share of a processor (default 1)", 0},
    {"lag", SCOPE_LAG, "EVENTS", 0,
     "After falling more than EVENTS events of a trace element behind, skip "
     "the "
     "older ones and count them as lost (default: never)",
     0},
    {"collector", SCOPE_COLLECTOR, "LIST", 0,
     "Gather only the events of these collectors: ids, names and patterns, "
     "such as 0-3,'t0.*'",
     1},
    {"collectors", EVENTSPACE_RENAMED, "LIST", OPTION_HIDDEN, "collector", 1},
    {"thread", SCOPE_THREAD, "LIST", 0,
     "Gather only operations of these threads: numbers, names and patterns, "
     "such as 0,3-5 or 'w*'",
     1},
    {"threads", EVENTSPACE_RENAMED, "LIST", OPTION_HIDDEN, "thread", 1},
    {"verb", SCOPE_VERB, "LIST", 0,
     "Gather only operations with these verbs: write, read, observe ...", 1},
    {"verbs", EVENTSPACE_RENAMED, "LIST", OPTION_HIDDEN, "verb", 1},
    {"min-duration", SCOPE_MIN, "TIME", 0,
     "Gather only operations that took at least TIME", 1},
    {"least", EVENTSPACE_RENAMED, "TIME", OPTION_HIDDEN, "min-duration", 1},
    {"slower", SCOPE_SLOWER, "N", 0,
     "Gather only what was around operations that took more than N times the "
     "median of their collector",
     2},
    {"slow-collector", SCOPE_SLOW_COLLECTOR, "LIST", 0,
     "With --slower: look at these collectors (default: those of collectives)",
     2},
    {"around", SCOPE_AROUND, "TIME", 0,
     "With --slower: gather so much before and after (default 20ms)", 2},
    {"hold", SCOPE_HOLD, "TIME", 0,
     "With --slower: keep events at the leaves for TIME, to be asked for "
     "(default 5s)",
     2},
    {"statistics", SCOPE_STATISTICS, "TIME", 0,
     "Print a table of sums for each TIME of the run instead of writing a "
     "mirror",
     2},
    {"format", 'f', "table|csv|json", 0,
     "Print statistics in this format (default table)", 2},
    {"print-map", SCOPE_PRINT_MAP, NULL, 0,
     "Print the path map of the tree and end", 2},
    {"map", EVENTSPACE_RENAMED, NULL, OPTION_HIDDEN, "print-map", 2},
    {"serve", SCOPE_SERVE, NULL, 0,
     "Give the events of RUN to those that connect", 3},
    {"cluster", 'c', "FILE", 0,
     "Gather from the processes of the run on the machines of this cluster "
     "file; RUN is its directory there",
     3},
    {"remote", SCOPE_REMOTE, "COMMAND", 0,
     "With --cluster: start this program on a machine by this command, with "
     "{machine} replaced by its name (default 'ssh {machine}')",
     3},
    {"listen", SCOPE_LISTEN, "ADDRESS[:PORT]", 0,
     "With --serve or --cluster: listen at this address", 3},
    {"clients", SCOPE_CLIENTS, "N", 0,
     "With --serve: end after N clients (default: continue)", 3},
    {"once", EVENTSPACE_RENAMED, NULL, OPTION_HIDDEN, "clients=1", 3},
    {"connect", SCOPE_CONNECT, "ADDRESS:PORT", 0,
     "Gather from the `eventspace scope --serve` at ADDRESS:PORT", 3},
    {"key", 'k', "FILE", 0,
     "Read the key that both sides share from FILE, written by `eventspace "
     "key`",
     3},
    {"as-process", SCOPE_AS_PROCESS, NULL, OPTION_HIDDEN, NULL, 4},
    {"agent", SCOPE_AGENT, NULL, OPTION_HIDDEN, NULL, 4},
    {"print", SCOPE_PRINT, "FD", OPTION_HIDDEN, NULL, 4},
    {0},
};

/* --- arguments --- */

static double slower(const char *text, struct argp_state *state)
{
    char *end;
    double times = strtod(text, &end);

    if (!(times > 1 && times < 1e9) || *end)
        argp_error(state, "--slower %s: give a number above 1", text);
    return times;
}

static error_t parse_gather(int key, char *text, struct argp_state *state)
{
    scope *s = state->input;
    scopes_gather_options *o = &s->gather;
    switch (key) {
    case SCOPE_FANOUT:
        o->fanout = (uint32_t)cli_number(text, 2, 1000000, state);
        return 0;
    case 'i':
        o->throttle.interval_ms = cli_time_ms(text, 1, INTERVAL_MAX_MS, state);
        return 0;
    case SCOPE_BATCH:
        o->throttle.batch = (uint32_t)cli_number(text, 1, 100000000, state);
        return 0;
    case SCOPE_SHARE:
        o->throttle.share = cli_share(text, state);
        return 0;
    case SCOPE_LAG:
        o->throttle.lag = cli_number(text, 1, UINT32_MAX, state);
        return 0;
    case SCOPE_COLLECTOR:
        o->collectors = cli_nodes(text, &eventspace_kind_collectors, state);
        return 0;
    case SCOPE_THREAD:
        o->threads = cli_nodes(text, &eventspace_kind_threads, state);
        return 0;
    case SCOPE_VERB:
        o->verbs = text;
        return 0;
    case SCOPE_MIN:
        o->min_ns = cli_time(text, 0, INT64_MAX / 4, state);
        return 0;
    case SCOPE_SLOWER:
        o->slower = slower(text, state);
        return 0;
    case SCOPE_SLOW_COLLECTOR:
        o->slow_collectors =
            cli_nodes(text, &eventspace_kind_collectors, state);
        return 0;
    case SCOPE_AROUND:
        o->around_ns = cli_time(text, 1, INT64_MAX / 4, state);
        return 0;
    case SCOPE_HOLD:
        o->hold_ns = cli_time(text, 1000000, INT64_MAX / 4, state);
        return 0;
    case SCOPE_STATISTICS:
        o->window_ns = cli_time(text, 1, INT64_MAX / 4, state);
        s->statistics = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void check_scope(const scope *s, struct argp_state *state)
{
    if (s->as_process || s->as_agent)
        return;
    if (!s->run && !s->connect)
        argp_error(state, "the run is missing");
    if (s->run && s->connect)
        argp_error(state, "give either RUN or --connect, not both");
    if ((s->serve || s->connect) && !s->key_file)
        argp_error(state, "--key is missing; `eventspace key` makes one");
    if (s->serve && !s->listen)
        argp_error(state, "--listen is missing: listen at which address?");
    if (s->cluster && (s->serve || s->connect))
        argp_error(state, "--cluster excludes --serve and --connect");
    if (s->remote && !s->cluster)
        argp_error(state, "--cluster is missing: which machines?");
    if (s->serve && (s->out || s->print_map))
        argp_error(state, "--serve excludes --output and --print-map");
    if (!s->serve && !s->print_map && !s->statistics && !s->out)
        argp_error(state, "--output is missing: write the mirror to which "
                          "directory?");
    if (s->statistics && s->out)
        argp_error(state,
                   "--statistics excludes --output: it writes no mirror");
    if (s->listen && !s->serve && !s->cluster)
        argp_error(state, "--listen is for --serve and --cluster");
    if (s->clients && !s->serve)
        argp_error(state, "--clients is for --serve");
    if (s->key_file && !s->serve && !s->connect)
        argp_error(state, "--key is for --serve and --connect");
    if (s->statistics && s->gather.slower > 0)
        argp_error(state, "--statistics excludes --slower");
    if (!(s->gather.slower > 0) &&
        (s->gather.slow_collectors || s->gather.around_ns || s->gather.hold_ns))
        argp_error(state, "--slow-collector, --around and --hold are for "
                          "--slower");
    if (s->format != VIEWER_TABLE && !s->statistics)
        argp_error(state, "--format is for --statistics");
    if (s->connect && s->print_map)
        argp_error(state, "--connect excludes --print-map");
    if ((s->serve || s->connect) && s->gather.fanout)
        argp_error(state, "--serve and --connect exclude --fanout: for a tree "
                          "over several machines use --cluster");
}

static error_t parse_scope(int key, char *text, struct argp_state *state)
{
    scope *s = state->input;
    switch (key) {
    case 'o':
        s->out = text;
        return 0;
    case 'f':
        s->format = cli_format(text, state);
        return 0;
    case SCOPE_PRINT_MAP:
        s->print_map = true;
        return 0;
    case SCOPE_SERVE:
        s->serve = true;
        return 0;
    case SCOPE_CLIENTS:
        s->clients = cli_number(text, 1, UINT32_MAX, state);
        return 0;
    case SCOPE_LISTEN:
        s->listen = text;
        return 0;
    case SCOPE_CONNECT:
        if (s->connect)
            argp_error(state, "--connect is given twice: gather from several "
                              "machines with --cluster");
        s->connect = text;
        return 0;
    case 'k':
        s->key_file = text;
        return 0;
    case 'c':
        s->cluster = text;
        return 0;
    case SCOPE_REMOTE:
        s->remote = text;
        return 0;
    case SCOPE_AS_PROCESS:
        s->as_process = true;
        return 0;
    case SCOPE_AGENT:
        s->as_agent = true;
        return 0;
    case SCOPE_PRINT:
        s->print_fd = atoi(text);
        return 0;
    case ARGP_KEY_ARG:
        cli_take(&s->run, text, state);
        return 0;
    case ARGP_KEY_END:
        check_scope(s, state);
        return 0;
    default:
        return parse_gather(key, text, state);
    }
}

int cli_scope(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse_scope,
        "RUN --output DIR\nRUN --statistics TIME\nRUN --serve "
        "--listen ADDRESS:PORT --key FILE\n--connect ADDRESS:PORT --key FILE "
        "--output DIR\nRUN --cluster FILE --output DIR",
        "Gathers the events of a run by a tree of processes of its own, until "
        "all processes of the run have ended.\vThe mirror that it writes is a "
        "run directory, for `eventspace view`, `info` and other commands.",
        NULL,
        NULL,
        NULL};
    scope s = {.format = VIEWER_TABLE};
    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &s))
        return COMMAND_USAGE;
    if (s.as_process)
        return cli_scope_process(&s);
    if (s.as_agent)
        return cli_scope_agent(&s);
    if (s.cluster)
        return cli_scope_machines(&s);
    if (s.run && !(s.run = cli_run_directory(s.run)))
        return COMMAND_FAILED;
    if (s.serve)
        return cli_scope_serve(&s);
    return s.connect ? cli_scope_connect(&s) : cli_scope_tree(&s);
}
