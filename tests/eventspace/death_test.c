/* death_test.c - a process dies, at each moment of a run, and so does a
 * launcher.
 *
 * The process kills itself, or its launcher, when it has come to the moment
 * (support/dying_app.c), so nothing here goes by time. How long the others took
 * to end is printed, and not looked at: what they say can come by no other way
 * than the one that takes no time. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/dying_app.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define PROCESSES 3
#define SECONDS 50 /* for a run; less than what ends what nothing ends */
#define APP TEST_BINARY_DIR "/dying_app"

/* One run, by one launcher or one for each process. */
typedef struct course {
    const char *victim, *phase, *how;
    bool apart; /* a launcher for each process */
    bool late;  /* the others are started when the victim has ended */
    bool alien; /* all but the victim run a program that knows nothing */
    bool script;
    char *text; /* what all have said */
    double seconds;
    int exit_codes[PROCESSES]; /* of the launchers */
} course;

static const char *const names[PROCESSES] = {"h0", "h1", "h2"};

static void setup(void)
{
    scratch_make();
    /* What is left of a run becomes a child of this process. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

TestSuite(death, .init = setup, .fini = scratch_remove, .timeout = 900);

/* --- a run --- */

/* An address of this process alone. */
static void address_make(char *out, size_t capacity, int process, bool apart)
{
    unsigned pid = (unsigned)getpid();

    out[0] = 0;
    if (apart)
        snprintf(out, capacity, "address=\"127.%u.%u.%u:%d\";",
                 128 + (pid >> 16 & 63), pid >> 8 & 255, pid & 255,
                 7101 + process);
}

static char map[512];

static void map_make(bool apart)
{
    char text[4000] = "digraph ring {\n", address[64];

    for (int i = 0; i < PROCESSES; i++) {
        size_t used = strlen(text);
        address_make(address, sizeof(address), i, apart);
        snprintf(text + used, sizeof(text) - used,
                 "subgraph cluster_h%d { %s t%d [kind=thread, number=%d];"
                 " p%d [kind=proxy]; e%d [kind=element, type=u64]; }\n"
                 "t%d -> p%d [as=out, use=write]; p%d -> e%d;"
                 "t%d -> e%d [as=in, use=read];\n",
                 i, address, i, i, i, i, i, i, i, (i + 1) % PROCESSES, i, i);
    }
    strcat(text, "}\n");
    snprintf(map, sizeof(map), "%s", scratch_write("map.dot", text));
}

static const char *program_of(const course *c)
{
    if (c->script)
        return "sh -c '" APP "; exit $?'";
    if (c->alien)
        return "sh -c '[ $EVENTSPACE_PROCESS = h1 ] && exec " APP
               "; exec sleep 100'";
    return APP;
}

/* In a shell, for the number of the launcher. */
static void launch(command *p, const course *c, const char *process)
{
    const char *program = program_of(c);
    char line[2000];

    if (process)
        snprintf(
            line, sizeof(line),
            "LAUNCHER=$$ exec %s/eventspace run %s --output %s --process %s "
            "--key %s -- %s",
            TEST_BINARY_DIR, map, scratch_file("run_%s", process), process,
            scratch_file("key"), program);
    else
        snprintf(line, sizeof(line),
                 "LAUNCHER=$$ exec %s/eventspace run %s --output %s -- %s",
                 TEST_BINARY_DIR, map, scratch_file("run"), program);
    command_start(p, "sh", "-c", line, NULL);
}

static void clean(void)
{
    char line[600];

    snprintf(line, sizeof(line), "rm -rf %s %s_h? %s %s %s",
             scratch_file("run"), scratch_file("run"), scratch_file("key"),
             scratch_file("died"), scratch_file("lived"));
    free(command_run(0, 30, "sh", "-c", line, NULL));
}

static void settings(const course *c)
{
    setenv("DYING_PROCESS", c->victim, 1);
    setenv("DYING_PHASE", c->phase, 1);
    setenv("DYING_HOW", c->how, 1);
    setenv("DYING_FILE", scratch_file("died"), 1);
    setenv("DYING_LIVED", scratch_file("lived"), 1);
}

static void wait_for_death(void)
{
    struct timespec pause = {0, 5000000};
    while (access(scratch_file("died"), F_OK) != 0)
        nanosleep(&pause, NULL);
}

static double since_death(void)
{
    struct timespec now;
    long long died = 0;
    FILE *in = fopen(scratch_file("died"), "r");

    cr_assert_not_null(in, "it has not come to that");
    cr_assert_eq(fscanf(in, "%lld", &died), 1);
    fclose(in);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9 -
           (double)died * 1e-9;
}

/* Whatever is left of the run is a child of this process now. */
static void check_nobody_lives(const course *c)
{
    int status;

    while (wait(&status) > 0)
        cr_expect_not(c->alien && status == 0, "a program has lived on");
    cr_expect_neq(access(scratch_file("lived"), F_OK), 0,
                  "%s, %s, %s: a process has lived on", c->victim, c->phase,
                  c->how);
}

static void go(course *c)
{
    command all[PROCESSES];
    int count = c->apart ? PROCESSES : 1, first = c->victim[1] - '0';
    size_t used = 0;

    map_make(c->apart);
    clean();
    settings(c);
    if (c->apart)
        free(command_run(0, 30, TEST_BINARY_DIR "/eventspace", "key",
                         scratch_file("key"), NULL));
    if (c->apart && c->late) {
        launch(&all[first], c, names[first]);
        wait_for_death();
    }
    for (int i = 0; i < count; i++) {
        if (!c->apart || !c->late || i != first)
            launch(&all[i], c, c->apart ? names[i] : NULL);
    }
    c->text = calloc(1, 100000);
    for (int i = 0; i < count; i++) {
        command_wait(&all[i], SECONDS);
        c->exit_codes[i] = all[i].exit_code;
        used += (size_t)snprintf(c->text + used, 100000 - used, "%s",
                                 all[i].output);
        command_free(&all[i]);
    }
    c->seconds = since_death();
    check_nobody_lives(c);
    fprintf(stderr, "%-10s %s %-9s %s: %.2f s\n", c->how, c->victim, c->phase,
            c->late    ? "late, apart"
            : c->apart ? "apart"
                       : "together",
            c->seconds);
}

/* --- what is to come of it --- */

/* Has a line of this process that part? */
static bool process_says(const char *text, const char *process,
                         const char *part)
{
    char *copy = strdup(text), *rest = copy, *line;
    bool says = false;

    while ((line = strsep(&rest, "\n")) != NULL)
        says |= strncmp(line, process, 2) == 0 &&
                strncmp(line + 2, "| ", 2) == 0 && strstr(line, part) != NULL;
    free(copy);
    return says;
}

static void check_cause(const course *c, const char *cause)
{
    for (int i = 0; i < PROCESSES; i++) {
        if (strcmp(names[i], c->victim) != 0)
            cr_expect(process_says(c->text, names[i], cause),
                      "%s, %s, %s: process %s does not say \"%s\":\n%s",
                      c->victim, c->phase, c->how, names[i], cause, c->text);
    }
    cr_expect_not(strstr(c->text, "did not come"), "%s", c->text);
}

/* The launcher of a process that was killed says so, as a shell would. For the
 * others it is a failure like any. */
static void check_codes(const course *c)
{
    for (int i = 0; i < (c->apart ? PROCESSES : 1); i++) {
        bool its_own = !c->apart || strcmp(names[i], c->victim) == 0;
        int want = its_own && strcmp(c->how, "killed") == 0 ? 128 + SIGKILL : 1;
        cr_expect_eq(c->exit_codes[i], want, "launcher %d: exit code %d:\n%s",
                     i, c->exit_codes[i], c->text);
    }
}

/* Whatever else was said, the last line names who was first. */
static void check_last(const course *c)
{
    char line[200];
    size_t length, all = strlen(c->text);

    snprintf(line, sizeof(line),
             "\neventspace: the first to fail was process %s: killed by signal "
             "9 (Killed)\n",
             c->victim);
    length = strlen(line);
    if (c->apart)
        check_says(c->text, line);
    else
        cr_expect(all > length && strcmp(c->text + all - length, line) == 0,
                  "%s, %s: the last line is another one:\n%s", c->victim,
                  c->phase, c->text);
}

/* Nobody has seen anything of it. Later it may have taken a connection of
 * another process, which breaks, though it has not joined. */
static bool is_unseen(const char *phase)
{
    return strcmp(phase, "main") == 0 || strcmp(phase, "started") == 0;
}

static void check_death(course *c)
{
    char cause[200];

    go(c);
    if (is_unseen(c->phase))
        snprintf(cause, sizeof(cause),
                 "process %s died before %s: killed by signal 9 (Killed)",
                 c->victim,
                 strcmp(c->victim, "h0") == 0 ? "all others had joined it"
                                              : "it had joined the others");
    else
        snprintf(cause, sizeof(cause), "process %s died", c->victim);
    check_cause(c, cause);
    check_codes(c);
    check_last(c);
    snprintf(cause, sizeof(cause), "process %s: killed by signal 9 (Killed)\n",
             c->victim);
    check_says(c->text, cause);
    cr_expect_not(strstr(c->text, "sent because"), "%s", c->text);
    free(c->text);
}

static const char *const needed[] = {"main",      "started", "dialling",
                                     "connected", "joined",  "running"};
#define NEEDED (sizeof(needed) / sizeof(needed[0]))
/* Between two of the messages by which it lets a process in. */
static const char *const of_first[] = {"joining", "welcomed"};

static void check_deaths(const char *victim, bool apart)
{
    size_t count = NEEDED + (strcmp(victim, "h0") == 0 ? 2 : 0);

    for (size_t i = 0; i < count; i++) {
        course c = {.victim = victim,
                    .phase = i < NEEDED ? needed[i] : of_first[i - NEEDED],
                    .how = "killed",
                    .apart = apart};
        check_death(&c);
    }
}

/* --- processes --- */

Test(death, of_a_process_is_named_at_any_moment)
{
    check_deaths("h1", false);
}

Test(death, of_the_first_process_is_named_at_any_moment)
{
    check_deaths("h0", false);
}

Test(death, of_a_process_is_named_to_those_on_other_machines)
{
    check_deaths("h1", true);
}

Test(death, of_the_first_process_is_named_to_those_on_other_machines)
{
    check_deaths("h0", true);
}

Test(death, is_named_to_those_who_are_started_after_it)
{
    for (int i = 0; i < 2; i++) {
        course c = {.victim = names[i],
                    .phase = "main",
                    .how = "killed",
                    .apart = true,
                    .late = true};
        check_death(&c);
    }
}

/* Nobody needs it any more: the others may say that it died, and need not. */
Test(death, near_the_end_of_a_run_holds_nobody_up)
{
    static const char *const phases[] = {"done", "end", "finished"};

    for (int k = 0; k < 2 * 2 * 3; k++) {
        course c = {.victim = names[k % 2],
                    .phase = phases[k / 4],
                    .how = "killed",
                    .apart = k / 2 % 2};
        char line[80];
        go(&c);
        snprintf(line, sizeof(line),
                 "process %s: killed by signal 9 (Killed)\n", c.victim);
        check_says(c.text, line);
        cr_expect_not(strstr(c.text, "sent because"), "%s", c.text);
        cr_expect_not(strstr(c.text, "did not come"), "%s", c.text);
        free(c.text);
    }
}

Test(death, by_an_exit_before_joining_is_named_too)
{
    for (int k = 0; k < 4; k++) {
        course c = {.victim = names[k % 2],
                    .phase = "main",
                    .how = "exits",
                    .apart = k / 2};
        char cause[120];
        go(&c);
        snprintf(cause, sizeof(cause),
                 "process %s ended before %s: exit code 3", c.victim,
                 k % 2 ? "it had joined the others"
                       : "all others had joined it");
        check_cause(&c, cause);
        check_codes(&c);
        cr_expect_not(strstr(c.text, "sent because"), "%s", c.text);
        free(c.text);
    }
}

/* --- launchers --- */

static const char *const all_phases[] = {"main",      "started", "dialling",
                                         "connected", "joined",  "running",
                                         "done",      "end",     "finished"};
#define PHASES (sizeof(all_phases) / sizeof(all_phases[0]))

Test(death, of_the_launcher_ends_its_processes_at_any_moment)
{
    for (size_t i = 0; i < 2 * PHASES; i++) {
        course c = {.victim = names[i % 2],
                    .phase = all_phases[i / 2],
                    .how = "orphaned"};
        go(&c);
        cr_expect_eq(c.exit_codes[0], -SIGKILL);
        free(c.text);
    }
}

/* The shell dies with its launcher, and what it has started sees that it has
 * none any more. */
Test(death, of_the_launcher_ends_processes_that_a_script_has_started)
{
    course c = {
        .victim = "h1", .phase = "running", .how = "orphaned", .script = true};

    go(&c);
    cr_expect_eq(c.exit_codes[0], -SIGKILL);
    free(c.text);
}

/* Whom it had joined sees that the connection breaks. */
Test(death, of_a_launcher_is_that_of_its_process_for_those_elsewhere)
{
    for (int k = 0; k < 2; k++) {
        course c = {.victim = names[k],
                    .phase = "running",
                    .how = "orphaned",
                    .apart = true};
        char cause[40];
        go(&c);
        snprintf(cause, sizeof(cause), "process %s died", c.victim);
        check_cause(&c, cause);
        free(c.text);
    }
}

Test(death, of_the_launcher_ends_programs_that_know_nothing_of_it)
{
    course c = {
        .victim = "h1", .phase = "main", .how = "orphaned", .alien = true};

    go(&c);
    cr_expect_eq(c.exit_codes[0], -SIGKILL);
    free(c.text);
}
