/* pending_test.c - a run that hangs is seen from outside: who is in what, since
 * when and for whom; while it hangs, after an interrupt, and after everything
 * was killed.
 *
 * The run is that of hanging_app, whose threads all wait for t2, which waits
 * for this test. When they do is told by the view itself, which is asked until
 * it says so. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "eventspace/run/run.h"
#include "paths/engine/executor.h"
#include "pastset/waiter.h"
#include "scopes/views/view.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define PROGRAM TEST_BINARY_DIR "/../tests/hanging_app"
#define MAP TEST_SOURCE_DIR "/scopes/causality/hanging.dot"

#define THREADS 5

/* What each thread is in when nothing moves any more. */
typedef struct expected {
    const char *process, *state, *verb, *path, *stage, *element, *peer;
    const char *waits_for;
    int under_way, sequence;
} expected;

static const char *processes = "running"; /* all of them */

static const expected hanging[THREADS] = {
    {"h1", "waiting", "observe", "read", "e", "e", "", "t4 (at t4.proxy)", 2,
     1},
    {"h1", "waiting", "write", "meet", "meet", "all", "", "t2 (computing)", 0,
     2},
    {"h1", "computing", "", "", "", "", "", "", 0, -1},
    {"h2", "waiting", "write", "meet", "t3.proxy", "all", "h1",
     "t2 (computing)", 0, 2},
    {"h2", "waiting", "observe", "read", "t4.proxy", "f", "h1",
     "t2 (computing)", 0, 1},
};

static command app;
static int go_pipe;
static bool app_runs;

/* --- the run --- */

static void setup(void)
{
    char pipe[256];

    scratch_make();
    snprintf(pipe, sizeof(pipe), "%s", scratch_file("go"));
    cr_assert_eq(mkfifo(pipe, 0600), 0, "%s: %s", pipe, strerror(errno));
    go_pipe = open(pipe, O_RDWR | O_CLOEXEC);
    cr_assert_geq(go_pipe, 0);
    signal(SIGINT, SIG_DFL); /* a shell may have it ignored in the background */
    free(command_run(0, 60, EVENTSPACE, "map", "instrument", MAP, "-o",
                     scratch_file("map.dot"), NULL));
    command_start(&app, EVENTSPACE, "run", scratch_file("map.dot"), "--output",
                  scratch_file("run"), "--", PROGRAM, scratch_file("."), NULL);
    app_runs = true;
}

static void app_wait(void)
{
    command_wait(&app, 60);
    app_runs = false;
}

static void teardown(void)
{
    if (app_runs) {
        kill(-app.pid, SIGKILL);
        app_wait();
    }
    command_free(&app);
    close(go_pipe);
    scratch_remove();
}

TestSuite(pending, .timeout = 600, .init = setup, .fini = teardown);

/* --- what is said --- */

/* The JSON in an output behind warnings. */
static json_t *json_of(char *text)
{
    json_error_t error;
    char *from = text;
    json_t *json;

    while (*from && *from != '{')
        from += strcspn(from, "\n") + (strchr(from, '\n') != NULL);
    json = json_loads(from, 0, &error);
    cr_assert(json, "%s in:\n%s", error.text, text);
    free(text);
    return json;
}

static json_t *view(void)
{
    return json_of(command_run(0, 60, EVENTSPACE, "view", scratch_file("run"),
                               "pending", "--format", "json", NULL));
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));

    cr_assert(text, "no text %s", key);
    return text;
}

static int64_t number_of(const json_t *row, const char *key)
{
    const json_t *number = json_object_get(row, key);

    return json_is_null(number) ? -1 : json_integer_value(number);
}

static json_t *row_at(json_t *view, size_t row)
{
    return json_array_get(json_object_get(view, "rows"), row);
}

/* NULL, or what differs. */
static const char *difference(json_t *view)
{
    static char text[400];

    if (json_array_size(json_object_get(view, "rows")) != THREADS)
        return "there are not as many rows as threads";
    for (size_t i = 0; i < THREADS; i++) {
        const expected *e = &hanging[i];
        const json_t *row = row_at(view, i);
        const struct {
            const char *key, *want;
        } texts[] = {{"process", e->process},
                     {"state", e->state},
                     {"process_state", processes},
                     {"verb", e->verb},
                     {"path", e->path},
                     {"stage", e->stage},
                     {"element", e->element},
                     {"peer", e->peer},
                     {"waits_for", e->waits_for}};
        for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); k++) {
            const char *got = text_of(row, texts[k].key);
            snprintf(text, sizeof(text), "t%zu: %s is \"%s\", not \"%s\"", i,
                     texts[k].key, got, texts[k].want);
            if (strcmp(got, texts[k].want) != 0)
                return text;
        }
        snprintf(text, sizeof(text), "t%zu: operation %d, %d under way", i,
                 (int)number_of(row, "sequence"),
                 (int)number_of(row, "under_way"));
        if (number_of(row, "number") != (int64_t)i ||
            number_of(row, "sequence") != e->sequence ||
            number_of(row, "under_way") != e->under_way)
            return text;
    }
    return NULL;
}

/* Asks until everything hangs. */
static json_t *await_hanging(void)
{
    int64_t end_ns = pastset_now_ns() + (int64_t)timeout(60) * 1000000000;

    while (access(scratch_file("run/h2.meta"), F_OK) != 0)
        cr_assert_lt(pastset_now_ns(), end_ns, "the run does not begin");
    for (;;) {
        json_t *now = view();
        const char *differs = difference(now);
        if (!differs)
            return now;
        cr_assert_lt(pastset_now_ns(), end_ns, "it does not hang: %s", differs);
        json_decref(now);
    }
}

/* The same operations, since the same moments, and for no less time. (A process
 * that got no processor for seconds gives no sign of life, until it does.) */
static void check_still(json_t *before)
{
    json_t *now = await_hanging();

    for (size_t i = 0; i < THREADS; i++) {
        cr_expect_eq(number_of(row_at(now, i), "since_ns"),
                     number_of(row_at(before, i), "since_ns"));
        cr_expect_geq(number_of(row_at(now, i), "for_ns"),
                      number_of(row_at(before, i), "for_ns"), "t%zu", i);
    }
    json_decref(now);
    json_decref(before);
}

/* --- the tests --- */

Test(pending, a_hang_is_seen_while_it_lasts)
{
    json_t *before = await_hanging();

    for (size_t i = 0; i < THREADS; i++) {
        cr_expect_gt(number_of(row_at(before, i), "since_ns"), 0);
        cr_expect_gt(number_of(row_at(before, i), "for_ns"), 0);
    }
    check_still(before);
}

Test(pending, nothing_is_pending_when_all_has_ended)
{
    json_t *after;

    json_decref(await_hanging());
    cr_assert_eq(write(go_pipe, "g", 1), 1);
    app_wait();
    cr_assert_eq(app.exit_code, 0, "%s", app.output);
    after = view();
    cr_expect_eq(json_array_size(json_object_get(after, "rows")), 0);
    json_decref(after);
}

/* How many rows of the view deadlocks say that of what was noted. */
static size_t stuck(const eventspace_run *run, const scopes_topology *topology,
                    const scopes_pending_list *noted)
{
    scopes_view_input view_input = {.map = eventspace_run_map(run),
                                    .topology = topology,
                                    .pending = noted,
                                    .run = run};
    scopes_table *table;
    size_t rows;

    check_status(
        scopes_view_make(&table, scopes_view_find("deadlocks"), &view_input),
        0);
    rows = scopes_table_rows(table);
    scopes_table_destroy(table);
    return rows;
}

/* Notes are taken one after the other: those of the others may be older than
 * that of t2. What has moved since then does not hang. */
Test(pending, who_has_moved_since_its_note_does_not_hang)
{
    eventspace_run *run;
    scopes_topology *topology;
    scopes_pending_list *noted;

    json_decref(await_hanging());
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    check_status(scopes_topology_create(&topology, eventspace_run_map(run)), 0);
    check_status(scopes_pending_take(&noted, run, topology), 0);
    for (size_t i = 0; i < noted->count; i++) {
        scopes_pending *p = &noted->items[i];
        p->lasts_ns = 1000000000;
        if (p->thread == 2)
            p->activity = PATHS_ENDED; /* without it nobody can go on */
        else if (p->thread != PATHS_NONE)
            cr_expect(scopes_pending_lasts(p, run), "t%u", p->thread);
    }
    cr_expect_eq(stuck(run, topology, noted), THREADS - 1);
    cr_assert_eq(write(go_pipe, "g", 1), 1);
    app_wait();
    for (size_t i = 0; i < noted->count; i++)
        cr_expect_not(scopes_pending_lasts(&noted->items[i], run));
    cr_expect_eq(stuck(run, topology, noted), 0);
    scopes_pending_destroy(noted);
    scopes_topology_destroy(topology);
    eventspace_run_close(run);
}

Test(pending, a_hang_is_seen_after_an_interrupt_up_to_that_moment)
{
    json_t *before = await_hanging();
    eventspace_run *run;

    kill(app.pid, SIGINT);
    app_wait();
    cr_assert_eq(app.exit_code, 128 + SIGINT, "%s", app.output);
    processes = "killed";
    check_still(before);
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        const eventspace_meta *meta = &eventspace_run_process_at(run, i)->meta;
        cr_expect_eq(meta->state, EVENTSPACE_KILLED);
        cr_expect_gt(meta->end_tick, meta->start_tick);
    }
    eventspace_run_close(run);
}

/* The last sign of life that is in the space of each process. */
static void signs_take(eventspace_run *run, uint64_t *signs)
{
    for (size_t i = 0; i < eventspace_run_process_count(run); i++) {
        paths_executor_note note;
        check_status(paths_executor_read(
                         eventspace_run_process_at(run, i)->space, 0, &note),
                     0);
        signs[i] = note.at;
    }
}

static bool is_stopped(pid_t pid)
{
    char name[64], line[512] = "";
    FILE *in;

    snprintf(name, sizeof(name), "/proc/%d/stat", (int)pid);
    in = fopen(name, "r");
    cr_assert_not_null(in);
    cr_assert(fgets(line, sizeof(line), in));
    fclose(in);
    return strstr(line, ") T ") != NULL;
}

/* All at once: none shall see how another one dies. */
static void processes_kill(eventspace_run *run)
{
    pid_t pids[2];

    for (size_t i = 0; i < 2; i++) {
        pids[i] = (pid_t)eventspace_run_process_at(run, i)->meta.pid;
        kill(pids[i], SIGSTOP);
    }
    while (!is_stopped(pids[0]) || !is_stopped(pids[1]))
        ;
    for (size_t i = 0; i < 2; i++)
        kill(pids[i], SIGKILL);
}

Test(pending, a_hang_is_seen_after_everything_was_killed)
{
    int64_t end_ns = pastset_now_ns() + (int64_t)timeout(60) * 1000000000;
    uint64_t first[2], signs[2];
    eventspace_run *run;
    json_t *after;
    const char *differs;

    json_decref(await_hanging());
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    signs_take(run, first);
    do { /* each loop gives a sign now and then, though nothing goes on */
        signs_take(run, signs);
        cr_assert_lt(pastset_now_ns(), end_ns, "there is no sign of life");
    } while (signs[0] <= first[0] || signs[1] <= first[1]);
    kill(app.pid, SIGSTOP); /* the launcher writes nothing down */
    processes_kill(run);
    kill(app.pid, SIGKILL);
    app_wait();
    processes = "killed";
    after = view();
    differs = difference(after);
    cr_assert(!differs, "%s", differs);
    for (size_t i = 0; i < 2; i++)
        cr_expect_geq(eventspace_run_end_ticks(run, i), signs[i]);
    for (size_t i = 0; i < THREADS; i++)
        cr_expect_gt(number_of(row_at(after, i), "for_ns"), 0);
    json_decref(after);
    eventspace_run_close(run);
}

/* The other one goes on: t2 waits for this test. */
Test(pending, threads_of_a_process_that_was_killed_are_told_from_others)
{
    int64_t end_ns = pastset_now_ns() + (int64_t)timeout(60) * 1000000000;
    eventspace_run *run;
    bool told = false;

    json_decref(await_hanging());
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    kill((pid_t)eventspace_run_process_at(run, 1)->meta.pid, SIGKILL);
    eventspace_run_close(run);
    while (!told) {
        json_t *now = view();
        json_t *rows = json_object_get(now, "rows"), *row;
        size_t i, killed = 0;
        json_array_foreach(rows, i, row)
        {
            bool on_h2 = strcmp(text_of(row, "process"), "h2") == 0;
            bool is_killed =
                strcmp(text_of(row, "process_state"), "killed") == 0;
            cr_expect(on_h2 || !is_killed, "%s", text_of(row, "thread"));
            killed += is_killed;
        }
        told = killed == 2;
        json_decref(now);
        cr_assert_lt(pastset_now_ns(), end_ns, "it is not told");
    }
}

Test(pending, a_process_that_is_stopped_is_named)
{
    int64_t end_ns = pastset_now_ns() + (int64_t)timeout(60) * 1000000000;
    eventspace_run *run;
    bool named = false;
    pid_t first;

    json_decref(await_hanging());
    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    first = (pid_t)eventspace_run_process_at(run, 0)->meta.pid;
    kill(first, SIGSTOP);
    while (!named) {
        json_t *now = view();
        named = strcmp(text_of(row_at(now, 4), "waits_for"),
                       "process h1 (no sign of life)") == 0;
        json_decref(now);
        cr_assert_lt(pastset_now_ns(), end_ns, "it is not named");
    }
    kill(first, SIGCONT);
    eventspace_run_close(run);
    json_decref(await_hanging());
}

Test(pending, can_be_asked_for_a_thread_or_an_element)
{
    json_t *rows, *some;

    json_decref(await_hanging());
    some = json_of(command_run(0, 60, EVENTSPACE, "view", scratch_file("run"),
                               "pending", "--thread", "3", "--format", "json",
                               NULL));
    rows = json_object_get(some, "rows");
    cr_assert_eq(json_array_size(rows), 1);
    cr_expect_str_eq(text_of(json_array_get(rows, 0), "thread"), "t3");
    json_decref(some);
    some = json_of(command_run(0, 60, EVENTSPACE, "view", scratch_file("run"),
                               "pending", "--name", "meet", "--format", "json",
                               NULL));
    rows = json_object_get(some, "rows");
    cr_assert_eq(json_array_size(rows), 2);
    cr_expect_str_eq(text_of(json_array_get(rows, 0), "thread"), "t1");
    cr_expect_str_eq(text_of(json_array_get(rows, 1), "thread"), "t3");
    json_decref(some);
}

/* --- the same elsewhere --- */

/* The operations that top lists, when it lists so many. */
static json_t *await_top(size_t count)
{
    int64_t end_ns = pastset_now_ns() + (int64_t)timeout(60) * 1000000000;

    for (;;) {
        json_t *frame =
            json_of(command_run(0, 60, EVENTSPACE, "top", scratch_file("run"),
                                "--frames", "1", "--format", "json", NULL));
        json_t *rows = json_object_get(frame, "pending");
        if (json_array_size(rows) == count)
            return frame;
        json_decref(frame);
        cr_assert_lt(pastset_now_ns(), end_ns, "top does not list them");
    }
}

static void check_top(json_t *frame)
{
    json_t *rows = json_object_get(frame, "pending");
    int64_t longest = INT64_MAX;
    size_t i;
    json_t *row;

    json_array_foreach(rows, i, row)
    {
        const expected *e = &hanging[atoi(text_of(row, "thread") + 1)];
        cr_expect_str_eq(text_of(row, "state"), "waiting");
        cr_expect_str_eq(text_of(row, "process"), e->process);
        cr_expect_str_eq(text_of(row, "verb"), e->verb);
        cr_expect_str_eq(text_of(row, "stage"), e->stage);
        cr_expect_str_eq(text_of(row, "peer"), e->peer);
        cr_expect_str_eq(text_of(row, "waits_for"), e->waits_for);
        cr_expect_leq(number_of(row, "for_ns"), longest);
        cr_expect_geq(number_of(row, "for_ns"), 1000000000);
        longest = number_of(row, "for_ns");
    }
    json_decref(frame);
}

Test(pending, top_lists_what_has_not_ended_for_a_second)
{
    char *text;

    json_decref(await_hanging());
    check_top(await_top(THREADS - 1));
    text = command_run(0, 60, EVENTSPACE, "top", scratch_file("run"), NULL);
    check_says(text, "t2 (computing)");
    free(text);
    text = command_run(0, 60, EVENTSPACE, "top", scratch_file("run"),
                       "--table=pending", "--format", "csv", NULL);
    check_says(text, "t3,h2,running,waiting,");
    free(text);
    kill(app.pid, SIGINT);
    app_wait();
    check_top(await_top(THREADS - 1));
}
