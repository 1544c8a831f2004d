/* command_diff.c - eventspace diff: several runs compared with several others
 * (scopes/compare/diff.h says how).
 *
 * A folder of runs stands for all runs in it. Runs that have not finished are
 * left out while their side has others: they were cut off somewhere, and that
 * is no change of what they did before. */
#include "eventspace/run/run_map.h"
#include "viewer/cli/command.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "scopes/compare/diff.h"
#include "scopes/reading/snapshot.h"
#include "viewer/tables/facts.h"

#define COMMAND_CHANGED 3

enum {
    KEY_AGAINST = 256,
    KEY_CONFIDENCE,
    KEY_THRESHOLD,
    KEY_MIN_SHARE,
    KEY_ALL
};

/* Those of one side. */
typedef struct run_list {
    char **names;
    bool *finished;
    uint64_t *identities; /* 0: not known */
    uint64_t *damages;    /* a sum of what has been said of damaged files */
    size_t count;
} run_list;

typedef struct diff_arguments {
    const char **arguments; /* without options */
    size_t argument_count;
    const char **against; /* of --against */
    size_t against_count;
    scopes_diff_options options;
    viewer_format format;
    bool all;
    bool quiet; /* the runs are taken once more, and have been talked of */
    run_list sides[2];
    size_t left_out, damaged;
    uint64_t lost;
} diff_arguments;

static const struct argp_option options[] = {
    CLI_FORMAT_OPTION,
    {"against", KEY_AGAINST, "RUN", 0,
     "Compare with this run, or with all runs in this folder; may be repeated",
     0},
    {"threshold", KEY_THRESHOLD, "SHARE", 0,
     "Report no change that is smaller than this (default 0.01)", 0},
    {"confidence", KEY_CONFIDENCE, "SHARE", 0,
     "Report nothing with this probability when nothing has changed (default "
     "0.99)",
     0},
    {"min-share", KEY_MIN_SHARE, "SHARE", 0,
     "Test only what takes at least this share of a run (default 0.01)", 0},
    {"all", KEY_ALL, NULL, 0, "Print what has not changed, too", 0},
    {0},
};

/* --- arguments --- */

static double parse_share(const char *text, double min, double max,
                          struct argp_state *state)
{
    char *end;
    double share = strtod(text, &end);

    if (end != text && strcmp(end, "%") == 0)
        argp_error(state, "'%s' is not a share; write %g", text, share / 100);
    if (end == text || *end || !(share >= min && share <= max))
        argp_error(state, "'%s' is not a share from %g to %g", text, min, max);
    return share;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    diff_arguments *a = state->input;

    switch (key) {
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case KEY_AGAINST:
        a->against[a->against_count++] = text;
        return 0;
    case KEY_THRESHOLD:
        a->options.threshold = parse_share(text, 0, 1, state);
        return 0;
    case KEY_CONFIDENCE:
        a->options.confidence = parse_share(text, 0.5, 0.9999, state);
        return 0;
    case KEY_MIN_SHARE:
        a->options.min_share = parse_share(text, 0, 1, state);
        return 0;
    case KEY_ALL:
        a->all = true;
        return 0;
    case ARGP_KEY_ARG:
        a->arguments[a->argument_count++] = text;
        return 0;
    case ARGP_KEY_END:
        if (a->argument_count == 0)
            argp_error(state, "the runs are missing: give BASE and NEW");
        if (a->against_count == 0 && a->argument_count == 1)
            argp_error(state, "NEW is missing: compare '%s' with what?",
                       a->arguments[0]);
        if (a->against_count == 0 && a->argument_count > 2)
            argp_error(state,
                       "which of the %zu runs are new? Name these by "
                       "--against=RUN, or put the runs of each side into a "
                       "folder",
                       a->argument_count);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* --- the runs of a side --- */

static int add_run(run_list *side, const char *folder, const char *name)
{
    char **more = pastset_array_grow(side->names, side->count, sizeof(*more));
    bool *states =
        pastset_array_grow(side->finished, side->count, sizeof(*states));
    uint64_t *identities =
        pastset_array_grow(side->identities, side->count, sizeof(*identities));
    uint64_t *damages =
        pastset_array_grow(side->damages, side->count, sizeof(*damages));
    char *path;

    if (more)
        side->names = more;
    if (states)
        side->finished = states;
    if (identities)
        side->identities = identities;
    if (damages)
        side->damages = damages;
    if (!more || !states || !identities || !damages ||
        asprintf(&path, "%s%s%s", folder ? folder : "", folder ? "/" : "",
                 name) < 0)
        return pastset_no_memory("for the names of runs");
    side->names[side->count++] = path;
    return 0;
}

static bool has_map(const char *folder, const char *name)
{
    char directory[PATH_MAX];

    return (size_t)snprintf(directory, sizeof(directory), "%s/%s", folder,
                            name) < sizeof(directory) &&
           eventspace_run_is_there(directory) == 0;
}

static bool is_packed_name(const char *name)
{
    size_t bytes = strlen(name), end = strlen(CLI_PACKED_SUFFIX);

    return bytes > end && strcmp(name + bytes - end, CLI_PACKED_SUFFIX) == 0;
}

static int add_folder(run_list *side, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, versionsort), err = 0;
    size_t before = side->count;

    if (count < 0)
        return pastset_fail_errno(folder);
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        if (!err && name[0] != '.' &&
            (is_packed_name(name) || has_map(folder, name)))
            err = add_run(side, folder, name);
        free(entries[i]);
    }
    free(entries);
    if (!err && side->count == before)
        err = pastset_fail(PASTSET_ENOENT,
                           "%s is neither a run nor a folder of runs", folder);
    return err;
}

static int add_given(run_list *side, const char *name)
{
    struct stat status;

    if (stat(name, &status) == 0 && S_ISDIR(status.st_mode) &&
        !has_map(name, "."))
        return add_folder(side, name);
    return add_run(side, NULL, name);
}

static int add_all(diff_arguments *a)
{
    size_t bases = a->against_count ? a->argument_count : 1;
    int err = 0;

    for (size_t i = 0; i < a->argument_count && !err; i++)
        err = add_given(&a->sides[i >= bases], a->arguments[i]);
    for (size_t i = 0; i < a->against_count && !err; i++)
        err = add_given(&a->sides[SCOPES_DIFF_NEW], a->against[i]);
    return err;
}

/* --- which are the same --- */

/* FNV-1a. */
#define FNV_START UINT64_C(14695981039346656037)

static uint64_t add_bytes(uint64_t sum, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < count; i++)
        sum = (sum ^ at[i]) * UINT64_C(1099511628211);
    return sum;
}

/* When its processes began and ended, to the nanosecond: also copies and packed
 * runs have that. */
static uint64_t identity_of(const eventspace_run *run)
{
    uint64_t sum = FNV_START;

    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        const uint64_t times[] = {process->meta.start_tick,
                                  process->meta.start_wall_ns,
                                  process->meta.end_tick};
        if (!process->has_meta)
            return 0;
        sum = add_bytes(sum, process->name, strlen(process->name) + 1);
        sum = add_bytes(sum, times, sizeof(times));
    }
    return sum;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

static bool is_same(const run_list *a, size_t i, const run_list *b, size_t k)
{
    return is_same_file(a->names[i], b->names[k]) ||
           (a->identities[i] && a->identities[i] == b->identities[k]);
}

/* A run that is given twice would count as two that agree with each other. */
static bool is_given_twice(const run_list *side)
{
    for (size_t i = 0; i < side->count; i++) {
        for (size_t k = 0; k < i; k++) {
            if (!is_same(side, i, side, k))
                continue;
            fprintf(stderr,
                    "eventspace: %s and %s are one run, which counts once; "
                    "leave one of them out\n",
                    side->names[k], side->names[i]);
            return true;
        }
    }
    return false;
}

static void warn_of_both(const diff_arguments *a)
{
    for (size_t i = 0; i < a->sides[0].count; i++)
        for (size_t k = 0; k < a->sides[1].count; k++)
            if (is_same(&a->sides[0], i, &a->sides[1], k))
                fprintf(stderr, "eventspace: %s is on both sides\n",
                        a->sides[0].names[i]);
}

/* --- taking them --- */

static bool is_finished(const eventspace_run *run)
{
    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        if (!process->has_meta || process->meta.state != EVENTSPACE_FINISHED)
            return false;
    }
    return true;
}

/* Each damage is said once, though each run is opened twice. */
static void note_damage(uint64_t *said, const eventspace_run *run)
{
    uint64_t sum = FNV_START;

    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        const eventspace_run_process *process =
            eventspace_run_process_at(run, i);
        if (eventspace_run_is_damaged(process))
            sum = add_bytes(sum, process->problem, strlen(process->problem));
    }
    if (sum != *said)
        cli_warn_of_damage(run);
    *said = sum;
}

static int look_at(run_list *side, size_t i)
{
    eventspace_run *run = cli_open_run(side->names[i]);

    if (!run)
        return COMMAND_FAILED;
    side->finished[i] = is_finished(run);
    side->identities[i] = identity_of(run);
    /* Whether it has finished may not have been seen for that. */
    side->damages[i] = 0;
    note_damage(&side->damages[i], run);
    eventspace_run_close(run);
    return COMMAND_OK;
}

/* Which have finished, and which are the same, is seen first, as it says which
 * of them count. */
static int look_at_all(diff_arguments *a)
{
    int code = COMMAND_OK;

    for (size_t side = 0; side < 2; side++)
        for (size_t i = 0; i < a->sides[side].count && code == COMMAND_OK; i++)
            code = look_at(&a->sides[side], i);
    return code;
}

static size_t count_finished(const run_list *side)
{
    size_t count = 0;

    for (size_t i = 0; i < side->count; i++)
        count += side->finished[i];
    return count;
}

static void note_losses(diff_arguments *a, const char *name, uint64_t *said,
                        const scopes_snapshot *snapshot)
{
    const scopes_ledger *ledger = &snapshot->event_table->ledger;
    size_t damaged = eventspace_run_damaged(snapshot->run);

    a->lost += ledger->lost;
    a->damaged += damaged;
    if (ledger->lost > 0)
        fprintf(stderr,
                "eventspace: %s: %" PRIu64 " of %" PRIu64
                " events are lost; the others are compared\n",
                name, ledger->lost, ledger->recorded);
    note_damage(said, snapshot->run);
    if (damaged > 0)
        fprintf(stderr,
                "eventspace: %s: what can be read of the files of its "
                "processes is compared\n",
                name);
}

static int take_run(diff_arguments *a, scopes_diff *diff, scopes_diff_side side,
                    size_t i)
{
    const char *name = a->sides[side].names[i];
    scopes_snapshot_options all = SCOPES_SNAPSHOT_ALL;
    scopes_snapshot *snapshot = NULL;
    eventspace_run *run = cli_open_run(name);
    int err;

    if (!run)
        return COMMAND_FAILED;
    err = scopes_snapshot_take(&snapshot, run, &all);
    if (!err)
        err = viewer_require_events(snapshot, name);
    if (!err && snapshot->event_table->ledger.read == 0)
        err = pastset_fail(PASTSET_ENOENT,
                           "%s: no event of it can be read: see `eventspace "
                           "info %s`",
                           name, name);
    if (!err) {
        if (!a->quiet)
            note_losses(a, name, &a->sides[side].damages[i], snapshot);
        err = scopes_diff_add(diff, side, snapshot);
    }
    if (err)
        cli_fail();
    scopes_snapshot_destroy(snapshot);
    eventspace_run_close(run);
    return err ? COMMAND_FAILED : COMMAND_OK;
}

static int take_side(diff_arguments *a, scopes_diff *diff,
                     scopes_diff_side side)
{
    const run_list *r = &a->sides[side];
    size_t finished = count_finished(r);
    int code = COMMAND_OK;

    for (size_t i = 0; i < r->count && code == COMMAND_OK; i++) {
        if (!r->finished[i] && !a->quiet) {
            fprintf(
                stderr,
                "eventspace: %s has not finished; it is %s: see `eventspace "
                "info %s`\n",
                r->names[i],
                finished ? "left out" : "compared as far as it came",
                r->names[i]);
            a->left_out += finished > 0;
        }
        if (r->finished[i] || !finished)
            code = take_run(a, diff, side, i);
    }
    return code;
}

/* --- printing --- */

/* As many runs on each side as are needed to decide. */
static unsigned needed_runs(double confidence)
{
    double ways = 2;
    unsigned count = 1;

    for (; 2 / ways > 1 - confidence + 1e-12; count++)
        ways *= (2.0 * count + 1) * 2 / (count + 1);
    return count;
}

static void warn(const diff_arguments *a, const scopes_diff_summary *s)
{
    if (!s->repeated)
        fprintf(stderr,
                "eventspace: %zu and %zu runs are too few to tell a change "
                "from noise; shown instead is what differs by more than the "
                "steps within the runs do. Give %u runs of each\n",
                s->runs[0], s->runs[1], needed_runs(a->options.confidence));
    if (s->partial)
        fprintf(stderr,
                "eventspace: %zu %s not in all runs, and %s not tested: see "
                "--all\n",
                s->partial, s->partial == 1 ? "item is" : "items are",
                s->partial == 1 ? "was" : "were");
}

static void print_summary(const diff_arguments *a, const scopes_diff_summary *s)
{
    if (s->slower + s->faster + s->unsure == 0)
        fputs("no change found\n", stdout);
    printf("runs: %zu with %zu; items: %zu on both sides, %zu tested, ",
           s->runs[0], s->runs[1], s->items, s->tested);
    if (s->repeated)
        printf("%zu slower, %zu faster", s->slower, s->faster);
    else
        printf("%zu perhaps slower or faster", s->unsure);
    printf(", %zu changed by less than %g%%; %zu only in base, %zu only in "
           "new\n",
           s->small, 100 * a->options.threshold, s->only[0], s->only[1]);
    if (isfinite(s->typical_detectable))
        printf("a change of %.1f%% would have been found (in half of what "
               "threads compute)\n",
               100 * s->typical_detectable);
}

static int print_json(const diff_arguments *a, const scopes_diff_summary *s,
                      const scopes_table *table)
{
    int err;

    printf("{\"base_runs\":%zu,\"new_runs\":%zu,\"left_out\":%zu,"
           "\"repeated\":%s,\"confidence\":%g,\"threshold\":%g,"
           "\"min_share\":%g,\"items\":%zu,\"tested\":%zu,\"slower\":%zu,"
           "\"faster\":%zu,\"unsure\":%zu,\"below_threshold\":%zu,"
           "\"only_base\":%zu,\"only_new\":%zu,\"not_in_all\":%zu,",
           s->runs[0], s->runs[1], a->left_out, s->repeated ? "true" : "false",
           a->options.confidence, a->options.threshold, a->options.min_share,
           s->items, s->tested, s->slower, s->faster, s->unsure, s->small,
           s->only[0], s->only[1], s->partial);
    if (isfinite(s->typical_detectable))
        printf("\"detectable_share\":%.6g,", s->typical_detectable);
    else
        fputs("\"detectable_share\":null,", stdout);
    printf("\"events_lost\":%" PRIu64 ",\"damaged_processes\":%zu,\"rows\":",
           a->lost, a->damaged);
    err = viewer_table_print(table, VIEWER_JSON, stdout);
    puts("}");
    return err;
}

static int print(const diff_arguments *a, const scopes_diff_summary *s,
                 const scopes_table *table)
{
    int err = 0;

    if (a->format == VIEWER_JSON)
        return print_json(a, s, table);
    if (a->format == VIEWER_CSV || scopes_table_rows(table) > 0)
        err = viewer_table_print(table, a->format, stdout);
    if (a->format == VIEWER_TABLE && !err) {
        if (scopes_table_rows(table) > 0)
            putchar('\n');
        print_summary(a, s);
    }
    return err;
}

static int compare(const diff_arguments *a, scopes_diff *diff)
{
    scopes_diff_summary summary;
    scopes_table *table = NULL;
    int code, err = scopes_diff_compare(diff, &summary);

    if (!err) {
        warn(a, &summary);
        err = scopes_diff_table(&table, diff, a->all);
    }
    if (!err)
        err = print(a, &summary, table);
    code = cli_end_output(err);
    scopes_table_destroy(table);
    return code == COMMAND_OK && summary.slower > 0 ? COMMAND_CHANGED : code;
}

static int take_all(diff_arguments *a, scopes_diff **diff)
{
    int code;

    if (scopes_diff_create(diff, &a->options) != 0)
        return cli_fail();
    code = take_side(a, *diff, SCOPES_DIFF_BASE);
    return code == COMMAND_OK ? take_side(a, *diff, SCOPES_DIFF_NEW) : code;
}

static int diff_runs(diff_arguments *a)
{
    scopes_diff *diff = NULL;
    int code;

    if (add_all(a) != 0)
        return cli_fail();
    code = look_at_all(a);
    if (code != COMMAND_OK)
        return code;
    for (size_t side = 0; side < 2; side++)
        if (is_given_twice(&a->sides[side]))
            return COMMAND_USAGE;
    warn_of_both(a);
    code = take_all(a, &diff);
    if (code == COMMAND_OK && scopes_diff_is_mixed(diff)) {
        fputs(
            "eventspace: not all runs recorded when threads had no processor; "
            "these times count as the threads' own\n",
            stderr);
        scopes_diff_destroy(diff);
        a->options.with_others = a->quiet = true;
        code = take_all(a, &diff);
    }
    if (code == COMMAND_OK)
        code = compare(a, diff);
    scopes_diff_destroy(diff);
    return code;
}

int cli_diff(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        parse,
        "BASE NEW\nBASE... --against=NEW",
        "Compares runs of a program before and after a change: which threads, "
        "operations and hops became slower, and by how much. BASE and NEW are "
        "runs, or folders that hold several runs.\vThe exit code is 3 when "
        "something became slower, 0 when nothing did. Give at least 5 runs of "
        "each, better 10, made in turn: fewer do not distinguish a change "
        "from noise.",
        NULL,
        NULL,
        NULL};
    size_t capacity = (size_t)argc + 1;
    diff_arguments a = {
        .arguments = calloc(capacity, sizeof(char *)),
        .against = calloc(capacity, sizeof(char *)),
        .options = {.confidence = 0.99, .threshold = 0.01, .min_share = 0.01}};
    int code = COMMAND_USAGE;

    if (!a.arguments || !a.against)
        code = cli_no_memory("for the names of runs");
    else if (eventspace_options_parse(&argp, argc, argv, 0,
                                      EVENTSPACE_NO_PROGRAM, &a) == 0)
        code = diff_runs(&a);
    for (size_t side = 0; side < 2; side++) {
        for (size_t i = 0; i < a.sides[side].count; i++)
            free(a.sides[side].names[i]);
        free(a.sides[side].names);
        free(a.sides[side].finished);
        free(a.sides[side].identities);
        free(a.sides[side].damages);
    }
    free(a.arguments);
    free(a.against);
    return code;
}
