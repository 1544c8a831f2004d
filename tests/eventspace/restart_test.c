/* restart_test.c - a process of a run is killed, and all are started again and
 * go on after the last step that all have committed. At random moments:
 * restart_kills.mjs. */
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventspace/run/meta.h"
#include "eventspace/run/run.h"
#include "paths/engine/process.h"
#include "pastset/waiter.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define BIN TEST_BINARY_DIR "/"
#define EVENTSPACE BIN "eventspace"
#define SECONDS 100
#define PROCESSES "3"

static command run;

TestSuite(restart, .init = scratch_make, .fini = scratch_remove,
          .timeout = 300);

/* --- runs --- */

static char *shell(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
static char *shell(const char *format, ...)
{
    char text[2000];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return command_run(0, SECONDS, "sh", "-c", text, NULL);
}

/* map.dot of a program's mapping. */
static void map_make(const char *program, const char *options)
{
    free(shell(BIN "%s mapping --threads=4 %s | " EVENTSPACE
                   " map generate --application=- --processes=" PROCESSES
                   " | " EVENTSPACE " map instrument - --output=%s",
               program, options, scratch_file("map.dot")));
}

static void start(const char *program, const char *options)
{
    free(shell("rm -rf %s", scratch_file("run")));
    command_start(&run, EVENTSPACE, "run", scratch_file("map.dot"), "--output",
                  scratch_file("run"), "--", program, "run", options, NULL);
}

/* What all threads of a process have committed; 0: nothing, also where there is
 * no process yet. */
static uint64_t committed(const char *process)
{
    uint64_t step = 0;
    paths_map *map;

    if (access(scratch_file("run/pathmap.dot"), F_OK) != 0 ||
        paths_map_read(&map, scratch_file("run/pathmap.dot")) != 0)
        return 0;
    if (paths_process_committed(&step, map, process,
                                scratch_file("run/%s.space", process)) != 0)
        step = 0;
    paths_map_destroy(map);
    return step;
}

/* Whether the launcher has ended; it can still be waited for. */
static bool is_over(void)
{
    siginfo_t info = {.si_pid = 0};

    return waitid(P_PID, (id_t)run.pid, &info, WEXITED | WNOHANG | WNOWAIT) ==
               0 &&
           info.si_pid != 0;
}

/* 0: it has not been started. */
static pid_t pid_of(const char *process)
{
    eventspace_meta meta;

    return eventspace_meta_load(&meta, scratch_file("run/%s.meta", process))
               ? 0
               : (pid_t)meta.pid;
}

/* The process, started again `restarts` times, once it has committed the step;
 * 0: the run was over before. Files of the last time are moved before any is
 * started again. */
static pid_t reach(const char *process, uint64_t step, int restarts)
{
    int64_t deadline = pastset_deadline_ns((int)timeout(SECONDS) * 1000);
    pid_t pid = 0;

    for (; !is_over(); poll(NULL, 0, 1)) {
        cr_assert_lt(pastset_now_ns(), deadline, "%s stands still", process);
        if (restarts > 0 &&
            access(scratch_file("run/before.%d/%s.meta", restarts, process),
                   F_OK) != 0)
            continue;
        pid = pid_of(process);
        if (pid > 0 && committed(process) >= step)
            return pid;
    }
    return 0;
}

/* The value of a result file, as text. */
static char *value_of(const char *file, const char *name)
{
    json_t *all = json_load_file(file, 0, NULL), *values;
    char *text;

    cr_assert_not_null(all, "%s", file);
    values = json_object_get(all, "values");
    text =
        strdup(json_string_value(json_object_get(values ? values : all, name)));
    json_decref(all);
    return text;
}

/* It ended with the result that one thread has without any run. */
static void check_result(const char *program, const char *options)
{
    char *own, *wanted;

    free(shell(BIN "%s single %s --output=%s", program, options,
               scratch_file("single")));
    own = value_of(scratch_file("run/%s.json", program), "checksum");
    wanted = value_of(scratch_file("single/%s.json", program), "checksum");
    cr_expect_str_eq(own, wanted);
    free(own);
    free(wanted);
}

static int times_told(void)
{
    int times = 0;

    for (const char *at = run.output; (at = strstr(at, "go on after step "));
         at++)
        times++;
    return times;
}

typedef struct death {
    const char *process;
    uint64_t step; /* from which on it is killed */
} death;

/* Kills them one after the other, of a run that does so many steps that none of
 * them comes when it is over; it ends well, with the right result. `option` is
 * how the program is told how many. */
static void kill_each(const char *program, const char *option,
                      const char *single, const death *deaths, int count)
{
    char text[40], file[100], all[100];

    snprintf(file, sizeof(file), BIN "%s", program);
    for (unsigned steps = 400;; steps *= 4) {
        snprintf(text, sizeof(text), "%s%u", option, steps);
        start(file, text);
        for (int i = 0; i < count; i++) {
            pid_t pid = reach(deaths[i].process, deaths[i].step, i);
            if (pid > 0)
                kill(pid, SIGKILL);
        }
        command_wait(&run, SECONDS);
        cr_assert_eq(run.exit_code, 0, "%s", run.output);
        if (times_told() == count)
            break;
        command_free(&run);
    }
    snprintf(all, sizeof(all), "%s %s", single, text);
    check_result(program, all);
}

/* After which step they went on, the nth time. */
static unsigned step_told(int nth)
{
    const char *at = run.output;
    unsigned step = 0;

    for (int i = 0; i < nth && at; i++)
        at = (at = strstr(at, "go on after step ")) ? at + 1 : NULL;
    cr_assert(at && sscanf(at, "o on after step %u", &step) == 1, "%s",
              run.output);
    return step;
}

/* --- they go on --- */

static void kill_in_sor(const char *process)
{
    const death one = {process, 30};
    char says[100];

    map_make("sor", "--size=W --commit=10");
    kill_each("sor", "--rounds=", "--size=W", &one, 1);
    snprintf(says, sizeof(says), "process %s: killed by signal 9 (Killed)\n",
             process);
    check_says(run.output, says);
    cr_expect_geq(step_told(1), 20);
    cr_expect_not(strstr(run.output, "the first to fail"), "%s", run.output);
}

Test(restart, after_the_first_process_has_died)
{
    kill_in_sor("h0");
    command_free(&run);
}

Test(restart, after_the_last_process_has_died)
{
    kill_in_sor("h2");
    command_free(&run);
}

/* What was done before is a run like any other. */
Test(restart, keeps_the_events_of_before)
{
    eventspace_events before, after;
    eventspace_run *of;

    kill_in_sor("h1");
    command_free(&run);
    check_status(eventspace_run_open(&of, scratch_file("run/before.1")), 0);
    check_status(eventspace_run_events(of, 1, &before), 0);
    eventspace_run_close(of);
    check_status(eventspace_run_open(&of, scratch_file("run")), 0);
    check_status(eventspace_run_events(of, 1, &after), 0);
    eventspace_run_close(of);
    cr_expect_gt(before.recorded, 0);
    cr_expect_gt(after.recorded, 0);
    free(shell(EVENTSPACE " view %s stages >%s", scratch_file("run/before.1"),
               scratch_file("view")));
    /* Another run in its place takes that with it. */
    free(shell(EVENTSPACE " run %s --replace --output %s -- " BIN "sor run "
                          "--rounds=10",
               scratch_file("map.dot"), scratch_file("run")));
    cr_expect_neq(access(scratch_file("run/before.1"), F_OK), 0);
}

/* Strikes h1 of a sor after step 20, which is so long that it is not over
 * before; gives how many rounds that were. It ends well. */
static unsigned strike_h1(void (*strike)(pid_t pid))
{
    map_make("sor", "--size=W --commit=10");
    for (unsigned rounds = 400;; rounds *= 4) {
        char text[40];
        pid_t pid;
        snprintf(text, sizeof(text), "--rounds=%u", rounds);
        start(BIN "sor", text);
        pid = reach("h1", 20, 0);
        if (pid > 0)
            strike(pid);
        command_wait(&run, SECONDS);
        cr_assert_eq(run.exit_code, 0, "%s", run.output);
        if (times_told() > 0)
            return rounds;
        command_free(&run);
    }
}

static void kill_beside_another_directory(pid_t pid)
{
    free(shell("mkdir %s && touch %s", scratch_file("run/before.1"),
               scratch_file("run/before.1/mine")));
    kill(pid, SIGKILL);
}

/* Nobody sees it yet, and the others cannot go on. */
static void kill_with_half_a_space(pid_t pid)
{
    kill(pid, SIGSTOP);
    free(shell("head -c 100000 %s >%s && mv %s %s",
               scratch_file("run/h1.space"), scratch_file("half"),
               scratch_file("half"), scratch_file("run/h1.space")));
    kill(pid, SIGKILL);
}

/* Somebody has something of that name. */
Test(restart, takes_the_next_number_that_is_free)
{
    strike_h1(kill_beside_another_directory);
    check_says(run.output, "run/before.2\n");
    cr_expect_eq(access(scratch_file("run/before.2/pathmap.dot"), F_OK), 0);
    command_free(&run);
    free(shell(EVENTSPACE " run %s --replace --output %s -- " BIN "sor run "
                          "--rounds=10",
               scratch_file("map.dot"), scratch_file("run")));
    cr_expect_neq(access(scratch_file("run/before.2"), F_OK), 0);
    cr_expect_eq(access(scratch_file("run/before.1/mine"), F_OK), 0);
}

/* Each goes on from where the last one came to. */
Test(restart, again_and_again)
{
    const death deaths[] = {{"h1", 30}, {"h0", 100}, {"h2", 200}};

    map_make("sor", "--size=W --commit=10");
    kill_each("sor", "--rounds=", "--size=W", deaths, 3);
    cr_expect_geq(step_told(2), 90);
    cr_expect_geq(step_told(3), 190);
    command_free(&run);
}

/* Before anybody has committed anything: from the beginning. */
Test(restart, from_the_beginning)
{
    const death one = {"h1", 0};

    map_make("sor", "--size=W --commit=2000000");
    kill_each("sor", "--rounds=", "--size=W", &one, 1);
    cr_expect_eq(step_told(1), 0);
    command_free(&run);
}

/* What it had kept cannot be read: nobody goes on with half of it. */
Test(restart, from_further_back_where_files_are_damaged)
{
    char single[40];

    snprintf(single, sizeof(single), "--size=W --rounds=%u",
             strike_h1(kill_with_half_a_space));
    check_says(run.output, "process h1: all go back further: ");
    check_says(run.output, "h1.space is damaged: ");
    cr_expect_eq(step_told(1), 0);
    check_result("sor", single);
    command_free(&run);
}

Test(restart, a_program_whose_threads_know_their_neighbours_only)
{
    const death deaths[] = {{"h1", 100}, {"h0", 300}};

    map_make("windtunnel", "--width=256 --height=128 --commit=20");
    kill_each("windtunnel", "--steps=", "--width=256 --height=128", deaths, 2);
    cr_expect_geq(step_told(2), 280);
    command_free(&run);
}

/* --- they do not --- */

/* It is the program, then. */
Test(restart, is_given_up_when_nothing_comes_of_it)
{
    map_make("sor", "--size=W --commit=10");
    command_start(&run, EVENTSPACE, "run", scratch_file("map.dot"), "--output",
                  scratch_file("run"), "--", "sh", "-c", "kill -KILL $$", NULL);
    command_wait(&run, SECONDS);
    cr_expect_eq(run.exit_code, 128 + SIGKILL, "%s", run.output);
    check_says(run.output,
               "the processes cannot be started again: that was done 3 times "
               "without another step that all threads have committed\n");
    cr_expect_eq(access(scratch_file("run/before.3"), F_OK), 0);
    cr_expect_neq(access(scratch_file("run/before.4"), F_OK), 0);
    cr_expect_eq(access(scratch_file("run/pathmap.dot"), F_OK), 0);
    command_free(&run);
}

Test(restart, not_of_a_program_that_has_failed)
{
    map_make("sor", "--size=W --commit=10");
    command_start(&run, EVENTSPACE, "run", scratch_file("map.dot"), "--output",
                  scratch_file("run"), "--grace", "100ms", "--", "sh", "-c",
                  "exit 3", NULL);
    command_wait(&run, SECONDS);
    cr_expect_eq(run.exit_code, 1, "%s", run.output);
    cr_expect_not(strstr(run.output, "started again"), "%s", run.output);
    command_free(&run);
}

Test(restart, not_of_a_run_that_was_ended)
{
    map_make("sor", "--size=W --commit=10");
    start(BIN "sor", "--rounds=1000000");
    cr_assert_gt(reach("h1", 20, 0), 0);
    kill(run.pid, SIGTERM);
    command_wait(&run, SECONDS);
    cr_expect_eq(run.exit_code, 128 + SIGTERM, "%s", run.output);
    cr_expect_not(strstr(run.output, "started again"), "%s", run.output);
    command_free(&run);
}

Test(restart, needs_one_launcher_and_no_archive)
{
    char *said;

    map_make("sor", "--size=W --commit=10");
    said = command_run(1, 20, EVENTSPACE, "run", scratch_file("map.dot"),
                       "--output", scratch_file("run"), "--archive", "--",
                       BIN "sor", "run", NULL);
    check_says(said,
               "cannot be archived while it goes on: leave out --archive");
    free(said);
    said = command_run(1, 20, EVENTSPACE, "run", scratch_file("map.dot"),
                       "--output", scratch_file("run"), "--process", "h0",
                       "--key", "none", "--", BIN "sor", "run", NULL);
    check_says(said, "needs a launcher that starts all processes");
    free(said);
}

/* --- maps --- */

Test(restart, maps_that_keep_what_cannot_be_kept_are_refused)
{
    static const struct {
        const char *graph, *element, *edges, *why;
    } maps[] = {
        {"restart=true;", "kept=true, policy=discard",
         "t -> e [as=a, use=write];", NULL},
        {"restart=yes;", "", "t -> e [as=a];", "restart=yes: choose true or"},
        {"restarts=true;", "", "t -> e [as=a];", "did you mean restart?"},
        {"", "kept=2", "t -> e [as=a];", "kept=2: choose true or false"},
        {"", "kept=true", "t -> e [as=a];", "write policy=discard"},
        {"", "kept=true, policy=block", "t -> e [as=a];",
         "with policy=block its writer would wait for that: write "
         "policy=discard"},
        {"", "kept=true, policy=discard",
         "t -> e [as=a]; u -> e [as=a, use=read];", NULL},
        {"", "kept=true, policy=discard", "t -> e [as=a]; u -> e [as=a];",
         "e is kept=true, and t writes it already"},
        {"", "kept=true, policy=discard",
         "t -> e [as=a]; v -> p [as=a]; p -> e;",
         "it has to be in the process of the thread that writes it"}};

    for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
        paths_diagnostics found = {NULL, 0};
        char text[600];
        paths_map *map;
        bool has_others = strchr(maps[i].edges, 'v') != NULL;
        snprintf(text, sizeof(text),
                 "digraph g { %s subgraph cluster_a {"
                 " t [kind=thread, number=0]; u [kind=thread, number=1];"
                 " e [kind=element, type=u8%s%s]; f [kind=element, type=u8]; }"
                 "%s t -> f [as=f]; u -> f [as=f]; %s }",
                 maps[i].graph, *maps[i].element ? ", " : "", maps[i].element,
                 has_others ? "subgraph cluster_b { v [kind=thread, number=2]; "
                              "p [kind=proxy]; }"
                            : "",
                 maps[i].edges);
        check_status(paths_map_parse(&map, text, strlen(text), "map.dot"), 0);
        cr_expect_eq(paths_map_check(map, &found),
                     maps[i].why ? PASTSET_EMAP : 0, "%s: %s", text,
                     pastset_error());
        cr_assert_eq(found.count, maps[i].why ? 1 : 0, "%s", text);
        if (maps[i].why)
            check_says(found.items[0].text, maps[i].why);
        paths_diagnostics_clear(&found);
        paths_map_destroy(map);
    }
}

/* --- one process, that is stopped and started --- */

static const char one_text[] =
    "digraph one { restart=true; subgraph cluster_a {\n"
    "t [kind=thread, number=0];\n"
    "e [kind=element, type=u64, capacity=4, policy=discard, kept=true];\n"
    "f [kind=element, type=u64, capacity=4, policy=discard]; }\n"
    "t -> e [as=e]; t -> f [as=f]; }\n";

typedef struct steps {
    paths_map *map;
    uint64_t from, to, each;
    uint64_t every; /* steps in which it writes; 0: each */
    bool half;      /* the last one is written, and not committed */
    uint64_t restored, last;
    int found; /* what a read of e gave at first */
} steps;

static int steps_run(paths_thread *self, void *argument)
{
    steps *s = argument;
    paths_path *e, *f;
    uint64_t tuple;
    paths_arguments a = {.verb = PASTSET_READ_LAST,
                         .tuple = &s->last,
                         .bytes = sizeof(s->last),
                         .timeout_ms = PASTSET_NOWAIT};
    int err = paths_open(&e, self, "e");

    if (!err)
        err = paths_open(&f, self, "f");
    s->restored = paths_restored(self);
    s->found = paths_call(e, &a);
    for (uint64_t step = s->from; step <= s->to && !err; step++) {
        bool writes = !s->every || step % s->every == 0;
        for (uint64_t i = 0; i < s->each && writes && !err; i++) {
            tuple = step * 10 + i;
            err = paths_write(e, &tuple, sizeof(tuple));
            if (!err)
                err = paths_write(f, &tuple, sizeof(tuple));
        }
        if (!err && !(s->half && step == s->to))
            err = paths_commit(self, step);
    }
    return err;
}

/* In `file`, from what is in `before`. The status is that of the start, or of
 * the run. */
static int once(steps *s, const char *file, const char *before, uint64_t step)
{
    paths_process_options options = {.map = s->map,
                                     .process = "a",
                                     .space_file = file,
                                     .listen_fd = -1,
                                     .restored_space = before,
                                     .restored_step = step};
    paths_process *process;
    int err = paths_process_start(&process, &options);

    if (err)
        return err;
    check_status(paths_process_program(process, "*", steps_run, s), 0);
    err = paths_process_run(process);
    paths_process_stop(process);
    return err;
}

static void one_map(steps *s)
{
    check_status(
        paths_map_parse(&s->map, one_text, sizeof(one_text) - 1, "one.dot"), 0);
}

Test(restart, a_thread_has_what_it_kept_with_its_last_step)
{
    steps s = {.from = 1, .to = 7, .each = 2, .half = true};
    const char *first = scratch_file("1.space"), *second, *third;
    uint64_t step;

    one_map(&s);
    check_status(once(&s, first, NULL, 0), 0);
    cr_expect_eq(s.restored, 0);
    cr_expect_eq(s.found, PASTSET_EAGAIN);
    check_status(paths_process_committed(&step, s.map, "a", first), 0);
    cr_assert_eq(step, 6);

    /* The step that was not committed is gone, and what was restored is
     * committed. */
    second = scratch_file("2.space");
    s = (steps){.map = s.map, .from = 1, .to = 0};
    check_status(once(&s, second, first, step), 0);
    cr_expect_eq(s.restored, 6);
    cr_expect_eq(s.found, 0);
    cr_expect_eq(s.last, 61);
    check_status(paths_process_committed(&step, s.map, "a", second), 0);
    cr_expect_eq(step, 6);

    third = scratch_file("3.space");
    s = (steps){.map = s.map, .from = 7, .to = 8, .each = 2};
    check_status(once(&s, third, second, step), 0);
    cr_expect_eq(s.last, 61);
    check_status(paths_process_committed(&step, s.map, "a", third), 0);
    cr_expect_eq(step, 8);
    paths_map_destroy(s.map);
}

Test(restart, what_is_gone_cannot_be_gone_back_to)
{
    steps s = {.from = 1, .to = 20, .each = 2};
    const char *first = scratch_file("1.space");
    const char *second = scratch_file("2.space");

    one_map(&s);
    check_status(once(&s, first, NULL, 0), 0);
    s.to = 0;
    check_status(once(&s, second, first, 19), 0); /* room for two of them */
    cr_expect_eq(s.last, 191);
    check_status(once(&s, second, first, 18), PASTSET_ENOENT);
    check_error("thread t cannot go back to step 18: element \"e\" has no room "
                "for so many steps");
    check_status(once(&s, second, first, 3), PASTSET_ENOENT);
    check_error("what it had kept then is not there any more");
    check_status(once(&s, second, scratch_file("none.space"), 3),
                 PASTSET_ENOENT);
    check_error("none.space");
    paths_map_destroy(s.map);
}

Test(restart, what_is_not_written_in_each_step_is_kept_as_well)
{
    steps s = {.from = 1, .to = 12, .each = 3, .every = 5};
    const char *first = scratch_file("1.space");
    const char *second = scratch_file("2.space");
    uint64_t step;

    one_map(&s);
    check_status(once(&s, first, NULL, 0), 0);
    s = (steps){.map = s.map, .from = 13, .to = 14, .each = 3, .every = 5};
    check_status(once(&s, second, first, 12), 0);
    cr_expect_eq(s.last, 102);
    s = (steps){.map = s.map, .from = 1, .to = 0};
    check_status(once(&s, scratch_file("3.space"), second, 14), 0);
    cr_expect_eq(s.last, 102);

    /* Another three tuples, not committed, have taken the room of what belongs
     * to step 9. */
    s = (steps){
        .map = s.map, .from = 1, .to = 10, .each = 3, .every = 5, .half = true};
    check_status(once(&s, first, NULL, 0), 0);
    check_status(paths_process_committed(&step, s.map, "a", first), 0);
    cr_assert_eq(step, 9);
    check_status(once(&s, second, first, step), PASTSET_ENOENT);
    check_error("element \"e\" has no room for so many steps");
    paths_map_destroy(s.map);
}

Test(restart, steps_go_up)
{
    steps s = {.from = 0, .to = 3, .each = 1};

    one_map(&s);
    check_status(once(&s, scratch_file("1.space"), NULL, 0), PASTSET_EINVAL);
    check_error("commits step 0 after step 0: steps go up, from 1");
    paths_map_destroy(s.map);
}

/* The file of another map, or one that is none. */
Test(restart, what_was_kept_must_fit)
{
    steps s = {.from = 1, .to = 2, .each = 1};
    const char *first = scratch_file("1.space");
    char text[sizeof(one_text)];
    paths_map *other;

    one_map(&s);
    check_status(once(&s, first, NULL, 0), 0);
    memcpy(text, one_text, sizeof(text));
    memcpy(strstr(text, "type=u64"), "type=i32", 8);
    check_status(paths_map_parse(&other, text, strlen(text), "one.dot"), 0);
    paths_map_destroy(s.map);
    s = (steps){.map = other, .from = 1, .to = 0};
    check_status(once(&s, scratch_file("2.space"), first, 2), PASTSET_EFORMAT);
    check_error("element \"e\" is of another map");
    check_status(once(&s, scratch_file("2.space"),
                      scratch_write("3.space", "no space"), 2),
                 PASTSET_EFORMAT);
    paths_map_destroy(other);
}
