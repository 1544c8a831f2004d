/* command_window.c - see command_window.h. */
#include "viewer/cli/command_window.h"

/* Other than those of any parser above. */
enum { KEY_FROM = 0x1000, KEY_TO, KEY_LAST };

static const struct argp_option options[] = {
    {"from", KEY_FROM, "TIME", 0,
     "Start at this time of the run, such as 1.5s (default: its start)", 0},
    {"to", KEY_TO, "TIME", 0, "Stop at this time of the run (default: its end)",
     0},
    {"last", KEY_LAST, "TIME", 0,
     "Use only the events of the last TIME of the run, such as 300ms", 0},
    {0},
};

static int64_t read_time(const char *text, uint64_t min_ns,
                         struct argp_state *state)
{
    return (int64_t)cli_time(text, min_ns, INT64_MAX / 4, state);
}

static void check(const scopes_snapshot_options *o, struct argp_state *state)
{
    if (o->last_ns > 0 && (o->from_ns != INT64_MIN || o->to_ns != INT64_MAX))
        argp_error(state, "--last excludes --from and --to");
    else if (o->from_ns > o->to_ns)
        argp_error(state, "--from is later than --to");
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    scopes_snapshot_options *o = state->input;

    switch (key) {
    case KEY_FROM:
        o->from_ns = read_time(text, 0, state);
        return 0;
    case KEY_TO:
        o->to_ns = read_time(text, 0, state);
        return 0;
    case KEY_LAST:
        o->last_ns = read_time(text, 1, state);
        return 0;
    case ARGP_KEY_END:
        check(o, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp cli_window = {options, parse, NULL, NULL, NULL, NULL, NULL};

bool cli_has_window(const scopes_snapshot_options *o)
{
    return o->from_ns != INT64_MIN || o->to_ns != INT64_MAX || o->last_ns > 0;
}
