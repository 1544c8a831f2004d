/* command_scope.c - eventspace scope: gathers the events of a run over its
 * processes. Here are its arguments. */
#include "viewer/cli/command_scope.h"

#include <stdlib.h>
#include <string.h>

enum {
    SCOPE_FANOUT = 256,
    SCOPE_INTERVAL,
    SCOPE_BATCH,
    SCOPE_SHARE,
    SCOPE_LAG,
    SCOPE_COLLECTORS,
    SCOPE_THREADS,
    SCOPE_VERBS,
    SCOPE_MIN,
    SCOPE_STATISTICS,
    SCOPE_FORMAT,
    SCOPE_MAP,
    SCOPE_SERVE,
    SCOPE_ONCE,
    SCOPE_LISTEN,
    SCOPE_CONNECT,
    SCOPE_KEY,
    SCOPE_AS_PROCESS,
    SCOPE_PRINT,
};

static const struct argp_option options[] = {
    {"out", 'o', "DIR", 0, "Where the mirror goes: a run directory", 0},
    {"fanout", SCOPE_FANOUT, "N", 0,
     "Most children of a gatherer (default: any number, a flat tree)", 0},
    {"interval", SCOPE_INTERVAL, "TIME", 0, "Between two pulls (default 100ms)",
     0},
    {"batch", SCOPE_BATCH, "N", 0,
     "Most events of one pull (default: as many as go into 256 KiB)", 0},
    {"share", SCOPE_SHARE, "SHARE", 0,
     "Most of one processor that a leaf may take (default 1)", 0},
    {"lag", SCOPE_LAG, "N", 0,
     "Most events of a trace element that it may be behind; older ones are "
     "passed over, and counted (default: any number)",
     0},
    {"collectors", SCOPE_COLLECTORS, "LIST", 0,
     "Only these: ids and patterns of names", 1},
    {"threads", SCOPE_THREADS, "LIST", 0, "Only operations of these", 1},
    {"verbs", SCOPE_VERBS, "LIST", 0, "Only these: write, observe ...", 1},
    {"least", SCOPE_MIN, "TIME", 0, "Only operations that took as long", 1},
    {"statistics", SCOPE_STATISTICS, "WINDOW", 0,
     "Print a table of sums for each window of this length, and write no "
     "mirror",
     2},
    {"format", SCOPE_FORMAT, "FORMAT", 0, "Of statistics: table, csv, json", 2},
    {"map", SCOPE_MAP, NULL, 0, "Print the path map of the tree, and end", 2},
    {"serve", SCOPE_SERVE, "RUN", 0, "Give the run to whoever connects", 3},
    {"listen", SCOPE_LISTEN, "ADDRESS", 0, "With --serve: where", 3},
    {"once", SCOPE_ONCE, NULL, 0, "With --serve: end after the first one", 3},
    {"connect", SCOPE_CONNECT, "ADDRESS", 0, "Gather from one that serves", 3},
    {"key", SCOPE_KEY, "FILE", 0, "The key of both, by `eventspace key`", 3},
    {"as-process", SCOPE_AS_PROCESS, NULL, OPTION_HIDDEN, NULL, 4},
    {"print", SCOPE_PRINT, "FD", OPTION_HIDDEN, NULL, 4},
    {0},
};

/* --- arguments --- */

static uint64_t read_duration(const char *text, struct argp_state *state)
{
    uint64_t ns;
    if (paths_parse_duration(text, &ns) || !ns)
        argp_error(state, "'%s' is no time, such as 100ms", text);
    return ns;
}

static double read_share(const char *text, struct argp_state *state)
{
    char *end;
    double share = strtod(text, &end);
    if (end == text || *end || !(share > 0 && share <= 1))
        argp_error(state, "'%s' is no share above 0, up to 1", text);
    return share;
}

static error_t parse_gather(int key, char *text, struct argp_state *state)
{
    scope *s = state->input;
    scopes_gather_options *o = &s->gather;
    switch (key) {
    case SCOPE_FANOUT:
        o->fanout = (uint32_t)cli_number(text, 2, 1000000, state);
        return 0;
    case SCOPE_INTERVAL:
        o->throttle.interval_ms =
            (uint32_t)((read_duration(text, state) + 999999) / 1000000);
        return 0;
    case SCOPE_BATCH:
        o->throttle.batch = (uint32_t)cli_number(text, 1, 100000000, state);
        return 0;
    case SCOPE_SHARE:
        o->throttle.share = read_share(text, state);
        return 0;
    case SCOPE_LAG:
        o->throttle.lag = cli_number(text, 1, UINT32_MAX, state);
        return 0;
    case SCOPE_COLLECTORS:
        o->collectors = text;
        return 0;
    case SCOPE_THREADS:
        o->threads = text;
        return 0;
    case SCOPE_VERBS:
        o->verbs = text;
        return 0;
    case SCOPE_MIN:
        o->min_ns = read_duration(text, state);
        return 0;
    case SCOPE_STATISTICS:
        o->window_ns = read_duration(text, state);
        s->statistics = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void check_scope(const scope *s, struct argp_state *state)
{
    if (s->as_process)
        return;
    if (!s->run && !s->connect)
        argp_error(state, "the run is missing");
    if (s->run && s->connect)
        argp_error(state, "--connect gets the run from the other side");
    if ((s->serve || s->connect) && !s->key_file)
        argp_error(state, "--key is missing; make one by `eventspace key`");
    if (s->serve && !s->listen)
        argp_error(state, "--listen is missing: at which address?");
    if (s->serve && (s->out || s->map))
        argp_error(state, "--serve only gives the run to others");
    if (!s->serve && !s->map && !s->statistics && !s->out)
        argp_error(state, "--out is missing: where does the mirror go?");
    if (s->statistics && s->out)
        argp_error(state, "--statistics prints, and writes no mirror");
    if (s->listen && !s->serve)
        argp_error(state, "--listen is for --serve");
    if (s->once && !s->serve)
        argp_error(state, "--once is for --serve");
    if (s->key_file && !s->serve && !s->connect)
        argp_error(state, "--key is for --serve and --connect");
    if (s->format != VIEWER_TABLE && !s->statistics)
        argp_error(state, "--format is for --statistics");
    if (s->connect && s->map)
        argp_error(state, "--map is for trees beside the run's own processes");
    if ((s->serve || s->connect) && s->gather.fanout)
        argp_error(state,
                   "--fanout is for trees beside the run's own processes");
}

static error_t parse_scope(int key, char *text, struct argp_state *state)
{
    scope *s = state->input;
    switch (key) {
    case 'o':
        s->out = text;
        return 0;
    case SCOPE_FORMAT:
        s->format = cli_format(text, state);
        return 0;
    case SCOPE_MAP:
        s->map = true;
        return 0;
    case SCOPE_SERVE:
        s->serve = true;
        cli_take(&s->run, text, state);
        return 0;
    case SCOPE_ONCE:
        s->once = true;
        return 0;
    case SCOPE_LISTEN:
        s->listen = text;
        return 0;
    case SCOPE_CONNECT:
        if (s->connect)
            argp_error(state, "--connect is there twice: gather from each "
                              "machine by a scope of its own, and make one run "
                              "of them by `eventspace merge`");
        s->connect = text;
        return 0;
    case SCOPE_KEY:
        s->key_file = text;
        return 0;
    case SCOPE_AS_PROCESS:
        s->as_process = true;
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
        "RUN --out DIR\nRUN --statistics WINDOW\n--serve RUN --listen ADDRESS "
        "--key FILE\n--connect ADDRESS --key FILE --out DIR",
        "Gathers the events of a run that goes on, or is over, by a tree of "
        "other processes beside its own, until all of the run's have ended.\v"
        "The mirror is a run directory, for `eventspace view`, `info` and the "
        "others.",
        NULL,
        NULL,
        NULL};
    scope s = {.format = VIEWER_TABLE};
    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &s))
        return COMMAND_USAGE;
    if (s.as_process)
        return cli_scope_process(&s);
    if (s.run && !(s.run = cli_run_directory(s.run)))
        return COMMAND_FAILED;
    if (s.serve)
        return cli_scope_serve(&s);
    return s.connect ? cli_scope_connect(&s) : cli_scope_tree(&s);
}
