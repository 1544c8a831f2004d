/* command_contract_watch.c - eventspace contract watch CONTRACT RUN: what
 * `check` says, while the run goes on.
 *
 * Each interval the run is looked at once more, the last part of it only. An
 * interval is judged when there is another one behind it. */
#include "viewer/cli/contract/command_contract.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "contracts/check/checker.h"
#include "pastset/status.h"
#include "pastset/waiter.h"
#include "scopes/parallel/parallel.h"
#include "viewer/cli/contract/absences.h"
#include "viewer/cli/contract/balancing.h"
#include "viewer/cli/contract/measured_run.h"
#include "viewer/cli/contract/promise.h"
#include "viewer/cli/contract/shown.h"
#include "viewer/cli/contract/started.h"
#include "viewer/live/top_terminal.h"
#include "viewer/tables/facts.h"

/* A look has the last interval that was judged, from which it is known who is
 * in a long operation (is_ripe); and so many times as long as a thread has been
 * silent before that: what is looked at then has its last operation, from which
 * its time is known. In all these are so many intervals at most. */
#define MARGIN_MAX 4
#define SILENCES 2
#define SILENT_PART 8 /* of an interval, at least */
#define SECOND_NS 1000000000
#define NOT_ASKED INT64_MIN

enum { KEY_COMMAND = 256, KEY_BALANCE };

typedef struct watch_arguments {
    cli_promise promise;
    const char *command;
    const char *balance; /* a tunable */
    bool is_json;
} watch_arguments;

static const struct argp_option watch_options[] = {
    {"on-violation", KEY_COMMAND, "COMMAND", 0,
     "Give this to the shell whenever a contract begins to be violated, with "
     "EVENTSPACE_PROCESS, EVENTSPACE_CONTRACT, EVENTSPACE_CAUSE, "
     "EVENTSPACE_OTHER, EVENTSPACE_LINK, EVENTSPACE_METRIC and "
     "EVENTSPACE_RATIO in its environment",
     0},
    {"balance", KEY_BALANCE, "TUNABLE", 0,
     "While performance is violated, set this number of the program, the share "
     "of the work of each process, so that all are busy for equally long",
     0},
    {"format", 'f', "table|json", 0,
     "Print a table for people, or JSON, a line for each process and interval "
     "(default table)",
     0},
    {0},
};

static error_t parse_watch(int key, char *text, struct argp_state *state)
{
    static const char *const formats[] = {"table", "json"};
    watch_arguments *a = state->input;

    switch (key) {
    case KEY_COMMAND:
        a->command = text;
        return 0;
    case KEY_BALANCE:
        a->balance = text;
        return 0;
    case 'f':
        a->is_json =
            cli_choice(text, CLI_LIST(formats),
                       "the format '%s' is not table or json", state) == 1;
        return 0;
    default:
        return cli_take_promise(&a->promise, key, text, state);
    }
}

/* --- ends --- */

static volatile sig_atomic_t ended;

static void note_end(int signal)
{
    (void)signal;
    ended = 1;
}

/* --- what is told --- */

typedef struct watcher {
    const watch_arguments *a;
    const contracts_contract *c;
    int64_t interval_ns;
    cli_measured m;
    contracts_checker *checker;
    uint32_t processes;              /* that the checker is of */
    int64_t next_ns;                 /* where the next interval begins */
    int64_t margin_ns;               /* before that, of a look */
    bool *violated[CONTRACTS_KINDS]; /* by row: in the last interval */
    bool *known; /* by process: something was, in the last interval */
    bool is_screen, has_violated, is_warned;
    eventspace_run *run;
    int64_t looked_ns; /* when */
    bool is_over;      /* nothing can be changed any more */
    cli_balancing balancing;
    cli_started started;
    cli_absences absences;
    uint64_t judged;
    struct stat file;            /* the contract's, as it was seen last */
    contracts_contract *renewed; /* NULL: it is that of the beginning */
} watcher;

static cli_shown shown(const watcher *w)
{
    return (cli_shown){w->checker, w->c, w->a->promise.run};
}

/* --- a command --- */

static void environment_set(const watcher *w, uint32_t process,
                            contracts_kind kind, const contracts_judgement *j)
{
    const contracts_level *level = &j->levels[kind];
    char number[32] = "", link[CONTRACTS_LINK_BYTES];

    setenv("EVENTSPACE_PROCESS", contracts_checker_name(w->checker, process),
           1);
    setenv("EVENTSPACE_CONTRACT", contracts_kind_names[kind], 1);
    setenv("EVENTSPACE_CAUSE", contracts_cause_names[j->cause], 1);
    setenv("EVENTSPACE_OTHER", cli_shown_other(w->checker, j), 1);
    contracts_link_text(link, w->c, j->link);
    setenv("EVENTSPACE_LINK", link, 1);
    setenv("EVENTSPACE_METRIC",
           contracts_metric_name(w->c->metrics, level->metric), 1);
    if (level->expected > 0 && isfinite(level->value))
        snprintf(number, sizeof(number), "%.4g",
                 level->value / level->expected);
    setenv("EVENTSPACE_RATIO", number, 1);
}

static void start_command(watcher *w, uint32_t process, contracts_kind kind,
                          const contracts_judgement *j)
{
    environment_set(w, process, kind, j);
    cli_started_add(&w->started, w->a->command,
                    contracts_checker_name(w->checker, process));
}

/* --- intervals --- */

static int take(watcher *w, uint32_t process, const contracts_judgement *j,
                int64_t start_ns)
{
    const cli_shown s = shown(w);
    bool is_known = false;

    for (int kind = 0; kind < CONTRACTS_KINDS; kind++) {
        bool is = j->levels[kind].is_violated;
        bool *was = &w->violated[kind][process];
        is_known |= !isnan(j->levels[kind].level);
        if (isnan(j->levels[kind].level) || is == *was)
            continue;
        *was = is;
        w->has_violated |= is;
        if (!w->a->is_json && !w->is_screen)
            cli_show_change(&s, process, (contracts_kind)kind, j, start_ns);
        if (is && w->a->command)
            start_command(w, process, (contracts_kind)kind, j);
    }
    if (process < w->m.processes)
        w->known[process] = is_known;
    if (process < w->m.processes &&
        contracts_checker_knows(w->checker, process)) {
        int err = cli_absences_take(
            &w->absences, w->run, contracts_checker_name(w->checker, process),
            process, w->m.processes, is_known, start_ns);
        if (err)
            return err;
    }
    return w->a->is_json ? cli_show_json(&s, process, j, start_ns) : 0;
}

static bool is_slow(const watcher *w, const contracts_judgement *all)
{
    for (uint32_t p = 0; p < contracts_checker_rows(w->checker); p++)
        if (all[p].levels[CONTRACTS_PERFORMANCE].is_violated)
            return true;
    return false;
}

static int balance(watcher *w, size_t interval, int64_t start_ns, bool is_slow)
{
    char *told;
    int err = cli_balancing_take(&w->balancing, &told, w->run, &w->m, interval,
                                 w->c, is_slow, w->looked_ns);

    if (told && !w->a->is_json && !w->is_screen)
        printf("%9.3f s  %s: %s\n", 1e-9 * (double)start_ns, w->a->balance,
               told);
    free(told);
    return err;
}

static int judge(watcher *w, size_t interval, int64_t start_ns)
{
    const contracts_judgement *all;
    const cli_shown s = shown(w);
    int err = contracts_checker_next(w->checker, &all, w->m.course, interval);

    for (uint32_t p = 0; p < contracts_checker_rows(w->checker) && !err; p++)
        err = take(w, p, &all[p], start_ns);
    if (!err && w->a->balance && !w->is_over)
        err = balance(w, interval, start_ns, is_slow(w, all));
    if (w->is_screen && !err)
        cli_show_screen(&s, all, start_ns);
    w->judged++;
    return err;
}

/* Of an MPI program, more processes may have become known. */
static int checker_fit(watcher *w)
{
    int err;

    if (w->checker && w->processes == w->m.processes)
        return 0;
    contracts_checker_destroy(w->checker);
    w->checker = NULL;
    w->processes = w->m.processes;
    err =
        contracts_checker_create(&w->checker, w->c, w->m.names, w->m.processes);
    free(w->known);
    w->known = calloc((size_t)w->processes + 1, sizeof(*w->known));
    if (!err && !w->known)
        err = pastset_no_memory("for a contract");
    for (int k = 0; k < CONTRACTS_KINDS && !err; k++) {
        free(w->violated[k]);
        w->violated[k] =
            calloc(contracts_checker_rows(w->checker), sizeof(bool));
        if (!w->violated[k])
            err = pastset_no_memory("for a contract");
    }
    if (!err && !w->is_warned)
        cli_measured_warn_of_machines(&w->m, w->c);
    w->is_warned = true;
    return err;
}

#define PATIENCE 3 /* intervals that a process may be in one operation for */

/* Is it known what all processes did in an interval? Some may be in an
 * operation that is not over. */
static bool is_ripe(const watcher *w, size_t interval)
{
    const contracts_course *c = w->m.course;

    if (c->intervals - interval > PATIENCE)
        return true;
    for (uint32_t p = 0; p < c->processes; p++) {
        const double *now = contracts_course_at(c, p, interval);
        const double *before =
            interval > 0 ? contracts_course_at(c, p, interval - 1) : NULL;
        if (isnan(now[0]) && (!before || !isnan(before[0])))
            return false;
        for (size_t k = CONTRACTS_QUANTITIES; k < c->width; k++)
            if (isnan(now[k]) && before && !isnan(before[k]))
                return false;
    }
    return true;
}

/* The next interval has begun since a process was known that is not any more:
 * it may have been silent for longer than ever before, so that its last
 * operation is not in what was looked at. */
static bool has_lost_sight(const watcher *w)
{
    const contracts_course *c = w->m.course;
    size_t next = 0;

    while (next < c->intervals &&
           c->from_ns + (int64_t)next * c->interval_ns < w->next_ns)
        next++;
    for (uint32_t p = 0; next + 1 < c->intervals && w->checker &&
                         p < c->processes && p < w->processes;
         p++)
        if (w->known[p] && isnan(contracts_course_at(c, p, next)[0]))
            return true;
    return false;
}

static int64_t margin_of(const watcher *w, int64_t silent_ns)
{
    int64_t least = w->interval_ns / SILENT_PART,
            most = (MARGIN_MAX - 1) * w->interval_ns, before = least;

    if (silent_ns > most / SILENCES)
        before = most;
    else if (SILENCES * silent_ns > least)
        before = SILENCES * silent_ns;
    return w->interval_ns + before;
}

/* Looks at what is new; at the end also at the last interval. */
static int look(watcher *w)
{
    const contracts_course *c;
    int err;

    w->looked_ns = (int64_t)pastset_now_ns();
    err = cli_measured_look(&w->m, w->run, w->c, w->next_ns, w->margin_ns);
    if (!err && w->m.course && w->margin_ns < MARGIN_MAX * w->interval_ns &&
        has_lost_sight(w))
        err = cli_measured_look(&w->m, w->run, w->c, w->next_ns,
                                MARGIN_MAX * w->interval_ns);
    c = w->m.course;
    if (err || !c) /* no events so far */
        return err;
    w->margin_ns = margin_of(w, c->longest_ns);
    err = checker_fit(w);
    for (size_t i = 0; i < c->intervals && !err; i++) {
        int64_t start_ns = c->from_ns + (int64_t)i * c->interval_ns;
        if (start_ns < w->next_ns)
            continue;
        if (!w->is_over && (i + 1 == c->intervals || !is_ripe(w, i)))
            break;
        w->next_ns = start_ns + c->interval_ns;
        err = judge(w, i, start_ns);
    }
    return err;
}

/* --- another contract --- */

/* What was violated still is, until it is known to be kept again: by name, as
 * groups may be others. */
static int violated_carry(watcher *w, const contracts_checker *checker)
{
    uint32_t rows = contracts_checker_rows(checker);
    uint32_t were = contracts_checker_rows(w->checker);

    for (int k = 0; k < CONTRACTS_KINDS; k++) {
        bool *violated = calloc(rows, sizeof(*violated));
        if (!violated)
            return pastset_no_memory("for a contract");
        for (uint32_t row = 0; row < rows; row++)
            for (uint32_t was = 0; was < were; was++)
                if (strcmp(contracts_checker_name(checker, row),
                           contracts_checker_name(w->checker, was)) == 0)
                    violated[row] = w->violated[k][was];
        free(w->violated[k]);
        w->violated[k] = violated;
    }
    return 0;
}

/* A checker of the contract that takes the place of the other one; NULL: there
 * is none so far. */
static int checker_renew(contracts_checker **out, watcher *w,
                         const contracts_contract *renewed)
{
    contracts_checker *checker = NULL;
    int err = renewed->interval_s == w->c->interval_s
                  ? 0
                  : pastset_fail(PASTSET_EINVAL,
                                 "%s: it has other intervals than before",
                                 w->a->promise.contract);

    if (!err && w->m.names)
        err = contracts_checker_create(&checker, renewed, w->m.names,
                                       w->m.processes);
    if (!err && w->checker && w->processes == w->m.processes)
        err = violated_carry(w, checker);
    if (!err && w->checker && w->processes == w->m.processes)
        contracts_checker_continue(checker, w->checker);
    else {
        contracts_checker_destroy(checker);
        checker = NULL;
    }
    *out = checker;
    return err;
}

/* When resources change, what is promised is projected anew
 * (`contract project`): the run is held against that from then on. */
static void contract_renew(watcher *w)
{
    contracts_contract *renewed = cli_promise_again(&w->a->promise, &w->file);
    contracts_checker *checker;

    if (!renewed)
        return;
    if (checker_renew(&checker, w, renewed)) {
        cli_promise_complain();
        contracts_contract_destroy(renewed);
        return;
    }
    fprintf(stderr, "eventspace: %s has changed\n", w->a->promise.contract);
    contracts_checker_destroy(w->checker);
    w->checker = checker;
    contracts_contract_destroy(w->renewed);
    w->c = w->renewed = renewed;
}

static void rest(int64_t ns)
{
    struct timespec time = {ns / SECOND_NS, ns % SECOND_NS};

    ppoll(NULL, 0, &time, NULL); /* or until a signal */
}

/* Processes that have not come up are not over. */
static bool has_ended(const eventspace_run *run)
{
    for (size_t i = 0; i < eventspace_run_process_count(run); i++)
        if (eventspace_run_process_at(run, i)->has_meta)
            return !viewer_is_running(run);
    return false;
}

static int watch(watcher *w)
{
    int err = 0;

    while (!err && !w->is_over && !ended) {
        w->is_over = has_ended(w->run);
        contract_renew(w);
        err = look(w);
        cli_started_reap(&w->started);
        if (fflush(stdout) != 0 && !err)
            err = pastset_fail(PASTSET_EIO, "standard output: %s",
                               strerror(errno));
        if (!err && !w->is_over && !ended) {
            /* What comes from now on is little, and the processors are the
             * program's. */
            scopes_parallel_leave();
            rest(w->interval_ns);
        }
    }
    return err;
}

static int follow(watcher *w)
{
    struct sigaction action = {.sa_handler = note_end};
    int err = 0, kept = -1;

    cli_catch(&action);
    signal(SIGCHLD, SIG_DFL); /* somebody may ignore it who started this */
    w->is_screen = !w->a->is_json && isatty(STDOUT_FILENO);
    if (w->is_screen)
        err = viewer_terminal_enter();
    if (!err && w->is_screen)
        kept = viewer_terminal_keep_errors();
    if (!err)
        err = watch(w);
    cli_started_end(&w->started);
    if (w->is_screen)
        viewer_terminal_leave();
    viewer_terminal_release_errors(kept);
    if (!err && w->judged == 0 && !ended)
        err =
            pastset_fail(PASTSET_EINVAL, "%s: it had no whole interval of %g s",
                         w->a->promise.run, w->c->interval_s);
    return err;
}

/* Gives the exit code. */
static int watch_run(const contracts_contract *c, eventspace_run *run,
                     const void *arguments)
{
    const watch_arguments *a = arguments;
    watcher w = {.a = a,
                 .c = c,
                 .interval_ns = llround(c->interval_s * SECOND_NS),
                 .run = run,
                 .file = a->promise.seen,
                 .balancing = {.tunable = a->balance, .from_ns = INT64_MIN},
                 .next_ns = NOT_ASKED,
                 .margin_ns = MARGIN_MAX * llround(c->interval_s * SECOND_NS)};
    int code = cli_end_output(follow(&w));

    for (int k = 0; k < CONTRACTS_KINDS; k++)
        free(w.violated[k]);
    free(w.known);
    cli_balancing_end(&w.balancing);
    cli_absences_fini(&w.absences);
    contracts_checker_destroy(w.checker);
    contracts_contract_destroy(w.renewed);
    cli_measured_end(&w.m);
    return code == COMMAND_OK && w.has_violated ? CLI_CONTRACT_VIOLATED : code;
}

int cli_contract_watch(int argc, char **argv)
{
    static const struct argp argp = {
        watch_options,
        parse_watch,
        "CONTRACT RUN",
        "Says when, where and why a run does not do what a contract promises, "
        "while it goes on: on a terminal a table of levels, else a line "
        "whenever a contract begins to be violated, or is kept again."
        "\vIt ends when the run has ended. The exit code is 0 if the contract "
        "was kept, and 3 if it was violated.",
        NULL,
        NULL,
        NULL};
    watch_arguments a = {0};

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    return cli_use_promise(&a.promise, watch_run, &a);
}
