/* command_map_draw.c - eventspace map draw, of a map or of a run. */
#include "viewer/cli/command_map.h"

#include <string.h>
#include <sys/stat.h>

#include "pastset/status.h"
#include "viewer/draw/draw_measured.h"
#include "viewer/draw/draw_run.h"

typedef struct draw_arguments {
    const char *drawn; /* a map or a run */
    bool is_measured;  /* its path map, by: */
    viewer_measure by;
    viewer_draw_options options;
} draw_arguments;

enum { KEY_FOLD = 256, KEY_COLLECTOR_IDS, KEY_BY };

static const struct argp_option draw_options[] = {
    {"output", 'o', "FILE", 0,
     "Write the picture to FILE, in the format of its suffix: svg, png, pdf or "
     "dot (default: SVG to standard output)",
     0},
    {"fold", KEY_FOLD, "auto|never|always", 0,
     "Draw paths that are alike, or of a run processes that follow each other, "
     "as one (default auto: only when there is too much to see)",
     0},
    {"by", KEY_BY, "time|waiting|traffic|operations", 0,
     "Draw the path map of a run, with this measure laid over it, instead of "
     "who communicated with whom",
     0},
    {"collector-ids", KEY_COLLECTOR_IDS, NULL, 0,
     "Write the id of each collector into the picture of a map", 0},
    {0},
};

static viewer_fold read_fold(const char *text, struct argp_state *state)
{
    static const char *const names[] = {[VIEWER_FOLD_AUTO] = "auto",
                                        [VIEWER_FOLD_NEVER] = "never",
                                        [VIEWER_FOLD_ALWAYS] = "always"};

    return (viewer_fold)cli_choice(
        text, CLI_LIST(names), "fold '%s' is not one of auto, never, always",
        state);
}

static error_t parse_draw(int key, char *text, struct argp_state *state)
{
    draw_arguments *a = state->input;
    switch (key) {
    case 'o':
        a->options.file = text;
        a->options.format = NULL; /* as the file ends */
        return 0;
    case KEY_FOLD:
        a->options.fold = read_fold(text, state);
        return 0;
    case KEY_BY:
        a->is_measured = true;
        a->by = (viewer_measure)cli_choice(
            text, viewer_measure_names, VIEWER_MEASURES,
            "measure '%s' is not one of time, waiting, traffic, operations",
            state);
        return 0;
    case KEY_COLLECTOR_IDS:
        a->options.collector_ids = true;
        return 0;
    default:
        return cli_take_one(&a->drawn, "the map or run", key, text, state);
    }
}

/* A run is a directory, or a file as Zstandard begins it; a map is text, and
 * may come from a pipe. */
static bool is_run(const char *name)
{
    static const unsigned char begin[4] = {0x28, 0xb5, 0x2f, 0xfd};
    unsigned char found[sizeof(begin)] = {0};
    struct stat is;
    FILE *file;

    if (stat(name, &is) != 0 || !(S_ISDIR(is.st_mode) || S_ISREG(is.st_mode)))
        return false;
    file = S_ISREG(is.st_mode) ? fopen(name, "rbe") : NULL;
    if (file) {
        if (fread(found, 1, sizeof(found), file) < sizeof(found))
            found[0] = 0;
        fclose(file);
    }
    return S_ISDIR(is.st_mode) || memcmp(found, begin, sizeof(begin)) == 0;
}

static int draw_run(const draw_arguments *a)
{
    static const scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;
    eventspace_run *run = cli_open_run(a->drawn);
    scopes_snapshot *snapshot;
    bool is_measured;
    int err;

    if (!run)
        return COMMAND_FAILED;
    /* Within one process there is nobody else to communicate with. */
    is_measured = a->is_measured || eventspace_run_map(run)->process_count < 2;
    err = scopes_snapshot_take(&snapshot, run, &all);
    if (!err) {
        err = is_measured
                  ? viewer_draw_measured(snapshot, a->drawn, a->by, &a->options)
                  : viewer_draw_run(snapshot, a->drawn, &a->options);
        scopes_snapshot_destroy(snapshot);
    }
    if (!err)
        cli_warn_of_run(run, a->drawn);
    eventspace_run_close(run);
    return cli_end_output(err);
}

static int draw_map(const draw_arguments *a)
{
    paths_map *map;
    int err;

    if (a->is_measured) {
        pastset_fail(PASTSET_EINVAL,
                     "%s is a map, in which nothing was measured: give the run "
                     "to --by",
                     a->drawn);
        return cli_fail();
    }
    map = cli_read_map(a->drawn);
    if (!map)
        return COMMAND_FAILED;
    err = viewer_draw(map, &a->options);
    paths_map_destroy(map);
    return cli_end_output(err);
}

int cli_map_draw(int argc, char **argv)
{
    static const struct argp argp = {
        draw_options,
        parse_draw,
        "MAP|RUN",
        "Draws a path map (- is standard input), or who communicated with whom "
        "in a run, with Graphviz.",
        NULL,
        NULL,
        NULL};
    draw_arguments a = {.options.file = "/dev/stdout",
                        .options.format = "svg",
                        .options.fold = VIEWER_FOLD_AUTO};

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    return is_run(a.drawn) ? draw_run(&a) : draw_map(&a);
}
