/* main.c - the arguments of `windtunnel`. */
#include "apps/windtunnel/windtunnel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/options/options.h"
#include "paths/map/units.h"
#include "pastset/status.h"

typedef enum mode {
    RUN,
    SINGLE,
    MAPPING,
    MODES,
} mode;

static const char *const mode_names[MODES] = {"run", "single", "mapping"};

typedef struct arguments {
    mode mode;
    bool has_mode;
    windtunnel_options options;
} arguments;

static const char about[] =
    "A wind tunnel: a lattice gas whose rows are shared by threads.\n"
    "\n"
    "  run      compute with the threads of a map; 'eventspace run' starts it\n"
    "  single   compute the same in one thread, for comparison\n"
    "  mapping  write the application mapping for 'eventspace map "
    "generate'\vGive --width and --height to mapping: a run takes the size of "
    "the tunnel from its map.\n"
    "\n"
    "Results are lattice.bin, flow.png and windtunnel.json, in the run "
    "directory or in that of --output.";

#define USAGE 2 /* exit code, as that of eventspace */

enum {
    KEY_WIDTH = 256,
    KEY_HEIGHT,
    KEY_STEPS,
    KEY_AVERAGE,
    KEY_SEED,
    KEY_OBSTACLE,
    KEY_DUMP,
    KEY_PICTURE,
    KEY_SHARES,
    KEY_COMMIT,
};

static const struct argp_option described[] = {
    {"width", KEY_WIDTH, "SITES", 0,
     "Sites in a row, a multiple of 64 (default 1024)", 0},
    {"height", KEY_HEIGHT, "ROWS", 0,
     "Rows, including both walls (default 512)", 0},
    {0, 0, NULL, 0, "mapping:", 1},
    {"threads", 't', "N", 0,
     "Number of threads that share the rows (default 4)", 1},
    {"shares", KEY_SHARES, "N,N...", 0,
     "Give each thread this much of the work (default: all equally much), as "
     "'eventspace choose --split' prints it",
     1},
    {"commit", KEY_COMMIT, "STEPS", 0,
     "Keep the lattice each time after STEPS steps, at least one for each "
     "thread; when a process dies, all are started again, and go on from there "
     "(default: never)",
     1},
    {0, 0, NULL, 0, "run and single:", 2},
    {"steps", KEY_STEPS, "N", 0, "Number of steps (default 6000)", 2},
    {"average", KEY_AVERAGE, "STEPS", 0,
     "Show the mean of this many last steps in the picture (default 400)", 2},
    {"seed", KEY_SEED, "N", 0, "Seed of the random numbers (default 1)", 2},
    {"obstacle", KEY_OBSTACLE, "WHAT", 0,
     "The obstacle: empty, plate (default) or disc", 2},
    {"dump", KEY_DUMP, "FILE", 0, "Write the lattice here, not to lattice.bin",
     2},
    {"picture", KEY_PICTURE, "FILE", 0,
     "Write the picture here, not to flow.png", 2},
    {0, 0, NULL, 0, "single:", 3},
    {"output", 'o', "DIR", 0,
     "Write the results to this directory, which is created if necessary "
     "(default: the current one)",
     3},
    {"out", EVENTSPACE_RENAMED, "DIR", OPTION_HIDDEN, "output", 3},
    {0, 0, NULL, 0, NULL, 0},
};

/* Ends the program unless `text` is a number from `min` to `max`. */
static uint64_t number(struct argp_state *state, const char *option,
                       const char *text, uint64_t min, uint64_t max)
{
    uint64_t value = 0;

    if (paths_parse_number(text, &value) || value < min || value > max)
        argp_error(state,
                   "--%s=%s: expected a number from %" PRIu64 " to %" PRIu64,
                   option, text, min, max);
    return value;
}

static lattice_obstacle obstacle(struct argp_state *state, const char *text)
{
    for (unsigned i = 0; i < LATTICE_OBSTACLES; i++)
        if (strcmp(text, lattice_obstacle_name((lattice_obstacle)i)) == 0)
            return (lattice_obstacle)i;
    argp_error(state, "--obstacle=%s: expected empty, plate or disc", text);
    return LATTICE_EMPTY;
}

static void mode_set(struct argp_state *state, arguments *a, const char *text)
{
    if (a->has_mode)
        argp_error(state, "%s: give only one command", text);
    a->has_mode = true;
    for (unsigned i = 0; i < MODES; i++) {
        if (strcmp(text, mode_names[i]) == 0) {
            a->mode = (mode)i;
            return;
        }
    }
    argp_error(state, "%s: expected run, single or mapping", text);
}

/* Refuses options that the command would not heed. */
static void options_check(struct argp_state *state, arguments *a)
{
    windtunnel_options *o = &a->options;

    if (a->mode != MAPPING && o->threads)
        argp_error(state, "--threads is for mapping: a run has the threads "
                          "of its map, and single has one");
    if (a->mode != MAPPING && o->shares)
        argp_error(state, "--shares is for mapping: it is part of the map");
    if (a->mode != SINGLE && o->out)
        argp_error(state, "--output is for single: a run writes its results "
                          "to its run directory");
    if (!o->threads)
        o->threads = 4;
    if (!o->out)
        o->out = ".";
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    arguments *a = state->input;
    windtunnel_options *o = &a->options;

    switch (key) {
    case KEY_WIDTH:
        o->width = (uint32_t)number(state, "width", text, 64, LATTICE_SIDE_MAX);
        break;
    case KEY_HEIGHT:
        o->height =
            (uint32_t)number(state, "height", text, 3, LATTICE_SIDE_MAX);
        break;
    case 't':
        o->threads = (uint32_t)number(state, "threads", text, 1, UINT32_MAX);
        break;
    case KEY_SHARES:
        o->shares = text;
        break;
    case KEY_COMMIT:
        o->commit = (uint32_t)number(state, "commit", text, 1, UINT32_MAX);
        break;
    case KEY_STEPS:
        o->steps = (uint32_t)number(state, "steps", text, 0, UINT32_MAX);
        break;
    case KEY_AVERAGE:
        o->average = (uint32_t)number(state, "average", text, 0, 1000000);
        break;
    case KEY_SEED:
        o->seed = number(state, "seed", text, 0, UINT64_MAX);
        break;
    case KEY_OBSTACLE:
        o->obstacle = obstacle(state, text);
        break;
    case KEY_DUMP:
        o->dump = text;
        break;
    case KEY_PICTURE:
        o->picture = text;
        break;
    case 'o':
        o->out = text;
        break;
    case ARGP_KEY_ARG:
        mode_set(state, a, text);
        break;
    case ARGP_KEY_END:
        options_check(state, a);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* --- what run and single share --- */

int windtunnel_tunnel(lattice_tunnel *out, const windtunnel_options *options,
                      uint32_t width, uint32_t height)
{
    const char *problem;

    *out = (lattice_tunnel){
        .width = options->width ? options->width : width,
        .height = options->height ? options->height : height,
        .seed = options->seed,
        .obstacle = options->obstacle,
    };
    problem = lattice_tunnel_problem(out);
    if (problem)
        return pastset_fail(PASTSET_EINVAL,
                            "a tunnel of %" PRIu32 "x%" PRIu32 " sites: %s",
                            out->width, out->height, problem);
    return 0;
}

bool windtunnel_is_sampled(const windtunnel_options *options, uint64_t steps)
{
    uint64_t left = options->steps - steps;

    return left < options->average && left % 4 == 0;
}

void windtunnel_progress(const windtunnel_options *options, uint64_t steps)
{
    uint64_t percent = steps * 100 / options->steps;

    if (percent == (steps - 1) * 100 / options->steps || !isatty(STDERR_FILENO))
        return;
    fprintf(stderr,
            "\rwindtunnel: step %" PRIu64 " of %" PRIu32 ", %" PRIu64 " %%%s",
            steps, options->steps, percent,
            steps == options->steps ? "\n" : "");
}

int main(int argc, char **argv)
{
    static const struct argp parser = {
        described, parse, "[run|single|mapping]", about, NULL, NULL, NULL};
    arguments a = {
        .mode = RUN,
        .options = {.steps = 6000,
                    .average = 400,
                    .seed = 1,
                    .obstacle = LATTICE_PLATE},
    };
    int err;

    argp_err_exit_status = USAGE;
    eventspace_options_parse(&parser, argc, argv, 0, EVENTSPACE_NO_PROGRAM, &a);
    if (a.mode == RUN)
        return windtunnel_run(&a.options);
    err = a.mode == SINGLE ? windtunnel_single(&a.options)
                           : windtunnel_mapping(&a.options);
    if (err)
        fprintf(stderr, "windtunnel: %s\n", pastset_error());
    return err == PASTSET_EINVAL ? USAGE : err ? 1 : 0;
}
