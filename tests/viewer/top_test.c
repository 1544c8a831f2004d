/* top_test.c - eventspace top from outside: a run that goes on, one that was
 * killed, one that has finished; printed, and on a terminal.
 *
 * The run is that of top_app, which has done all of its operations and stands
 * still where it is looked at, so that each number is known. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "eventspace/run/run.h"
#include "paths/net/address.h"
#include "tests/support/check.h"
#include "tests/support/command.h"
#include "tests/support/scratch.h"

#define EVENTSPACE TEST_BINARY_DIR "/eventspace"
#define PROGRAM TEST_BINARY_DIR "/../tests/top_app"
#define MAP TEST_SOURCE_DIR "/../examples/figure3/figure3.dot"

#define ROUNDS 300
#define THREADS 5
#define ROOT 10 /* the collector below the last sum */

#define LEAVES "\033[?1049l"

static command app;
static int done_pipe, go_pipe;
static bool app_runs;

/* --- the run --- */

static int pipe_make(const char *name)
{
    char file[256];
    int fd;

    snprintf(file, sizeof(file), "%s", scratch_file("%s", name));
    cr_assert_eq(mkfifo(file, 0600), 0, "%s: %s", file, strerror(errno));
    fd = open(file, O_RDWR | O_CLOEXEC);
    cr_assert_geq(fd, 0);
    return fd;
}

/* Waits until something can be read; the test fails when it takes too long. */
static void await(int fd, const char *what)
{
    struct pollfd input = {.fd = fd, .events = POLLIN};
    int ready = poll(&input, 1, (int)timeout(60) * 1000);

    cr_assert_eq(ready, 1, "waited for %s", what);
}

/* Starts the program, and waits until all threads stand still. */
static void setup(void)
{
    char rounds[16], byte;

    scratch_make();
    done_pipe = pipe_make("done");
    go_pipe = pipe_make("go");
    snprintf(rounds, sizeof(rounds), "%d", ROUNDS);
    command_start(&app, EVENTSPACE, "run", MAP, "--output", scratch_file("run"),
                  "--", PROGRAM, rounds, scratch_file("."), NULL);
    app_runs = true;
    for (int i = 0; i < THREADS; i++) {
        await(done_pipe, "a thread to do its rounds");
        cr_assert_eq(read(done_pipe, &byte, 1), 1);
    }
}

static void app_end(int exit_code)
{
    cr_assert_eq(write(go_pipe, "ggggg", THREADS), THREADS);
    command_wait(&app, 60);
    app_runs = false;
    cr_expect_eq(app.exit_code, exit_code, "%s", app.output);
    command_free(&app);
}

static void teardown(void)
{
    if (app_runs) {
        kill(-app.pid, SIGKILL);
        command_wait(&app, 60);
        command_free(&app);
    }
    close(done_pipe);
    close(go_pipe);
    scratch_remove();
}

TestSuite(top, .timeout = 600, .init = setup, .fini = teardown);

/* --- what top says --- */

static json_t *top_json(void)
{
    char *text = command_run(0, 60, EVENTSPACE, "top", scratch_file("run"),
                             "--format", "json", "--window", "3600s", NULL);
    json_error_t error;
    json_t *frame = json_loads(text, 0, &error);

    cr_assert(frame, "%s in:\n%s", error.text, text);
    free(text);
    return frame;
}

static json_t *row_of(json_t *frame, const char *list, const char *key,
                      const char *value)
{
    json_t *row;
    size_t i;

    json_array_foreach(json_object_get(frame, list), i, row)
    {
        const char *is = json_string_value(json_object_get(row, key));
        if (is && strcmp(is, value) == 0)
            return row;
    }
    cr_assert_fail("no %s \"%s\" in %s", key, value, list);
    return NULL;
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));

    cr_assert(text, "no text \"%s\"", key);
    return text;
}

static json_int_t number_of(const json_t *row, const char *key)
{
    const json_t *number = json_object_get(row, key);

    cr_assert(json_is_integer(number), "no number \"%s\"", key);
    return json_integer_value(number);
}

static double real_of(const json_t *row, const char *key)
{
    const json_t *number = json_object_get(row, key);

    cr_assert(json_is_number(number), "no number \"%s\"", key);
    return json_number_value(number);
}

/* --- the same from the raw tuples --- */

typedef struct truth {
    uint32_t rounds[THREADS]; /* of which this thread came last */
    uint64_t ticks[THREADS];  /* in operations */
    uint64_t longest[THREADS];
    double hz;
} truth;

static int count(const eventspace_trace *event, void *context)
{
    truth *t = context;
    uint64_t ticks = event->end - event->start;

    cr_assert_lt(event->thread, THREADS);
    t->rounds[event->thread] += event->collector == ROOT;
    if (event->collector > 6) /* 1 to 6 are at the tops of paths */
        return 0;
    t->ticks[event->thread] += ticks;
    if (ticks > t->longest[event->thread])
        t->longest[event->thread] = ticks;
    return 0;
}

static truth truth_take(void)
{
    eventspace_run *run;
    truth t = {0};

    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    for (size_t i = 0; i < eventspace_run_process_count(run); i++)
        check_status(eventspace_run_each(run, i, count, &t), 0);
    t.hz = eventspace_run_process_at(run, 0)->meta.tick_hz;
    eventspace_run_close(run);
    return t;
}

static void check_threads(json_t *frame)
{
    truth t = truth_take();

    for (int i = 0; i < THREADS; i++) {
        char name[16];
        json_t *row;
        double longest = (double)t.longest[i] / t.hz * 1e9;
        snprintf(name, sizeof(name), "thread%d", i + 1);
        row = row_of(frame, "threads", "thread", name);
        cr_expect_eq(number_of(row, "operations"), i == 3 ? 2 * ROUNDS : ROUNDS,
                     "%s", name);
        cr_expect_str_eq(text_of(row, "process"), i < 2 ? "A" : "B");
        cr_expect_str_eq(text_of(row, "last_path"), i < 3 ? "total" : "news");
        cr_expect_geq(number_of(row, "silent_ns"), 0);
        /* Each process has measured the rate of the counter for itself. */
        cr_expect_lt(fabs((double)number_of(row, "longest_ns") - longest),
                     1000 + 1e-5 * longest, "%s: %lld ns, not %.0f", name,
                     (long long)number_of(row, "longest_ns"), longest);
        cr_expect_gt(real_of(row, "operations_per_s"), 0);
        cr_expect_gt(real_of(row, "communicating_share"), 0);
        cr_expect_leq(real_of(row, "communicating_share"), 1);
        /* All of its tuples have 8 bytes; both are told in three digits. */
        cr_expect_lt(fabs(real_of(row, "bytes_per_s") /
                              real_of(row, "operations_per_s") -
                          8),
                     0.1);
    }
}

static void check_collective(json_t *frame)
{
    json_t *row = row_of(frame, "collectives", "wrapper", "sum3");
    truth t = truth_take();
    const char *last = text_of(row, "last_thread");
    uint32_t max = 0, his;

    for (int i = 0; i < THREADS; i++)
        if (t.rounds[i] > max)
            max = t.rounds[i];
    cr_assert_eq(strncmp(last, "thread", 6), 0);
    his = t.rounds[atoi(last + 6) - 1];
    cr_expect_eq(his, max, "%s was last %u times, not %u", last, his, max);
    cr_expect_str_eq(text_of(row, "element"), "element1");
    cr_expect_str_eq(text_of(row, "process"), "A");
    cr_expect_eq(number_of(row, "rounds"), ROUNDS);
    cr_expect_lt(fabs(real_of(row, "last_share") - (double)max / ROUNDS), 1e-6);
}

static void check_frame(json_t *frame, const char *state, const char *processes)
{
    const json_t *head = json_object_get(frame, "frame");

    cr_expect_str_eq(text_of(head, "state"), state);
    cr_expect_eq(number_of(head, "events_strange"), 0);
    cr_expect_geq(number_of(json_object_get(head, "watching"), "events_read"),
                  10 * ROUNDS);
    for (int i = 0; i < 2; i++) {
        json_t *row = row_of(frame, "processes", "process", i ? "B" : "A");
        cr_expect_str_eq(text_of(row, "state"), processes);
        cr_expect_eq(number_of(row, "events_recorded"), 5 * ROUNDS);
        cr_expect_eq(number_of(row, "events_lost"), 0);
    }
    check_threads(frame);
    check_collective(frame);
}

/* --- printed --- */

Test(top, tells_of_a_run_that_goes_on_what_its_threads_did)
{
    json_t *frame = top_json();

    check_frame(frame, "running", "running");
    json_decref(frame);
}

Test(top, tells_the_same_of_a_run_that_has_finished)
{
    json_t *frame;

    app_end(0);
    frame = top_json();
    check_frame(frame, "over", "finished");
    json_decref(frame);
}

Test(top, tells_the_same_of_a_run_that_was_killed)
{
    eventspace_run *run;
    json_t *frame;

    check_status(eventspace_run_open(&run, scratch_file("run")), 0);
    for (size_t i = 0; i < eventspace_run_process_count(run); i++)
        kill((pid_t)eventspace_run_process_at(run, i)->meta.pid, SIGKILL);
    eventspace_run_close(run);
    command_wait(&app, 60);
    app_runs = false;
    command_free(&app);
    frame = top_json();
    check_frame(frame, "over", "killed");
    json_decref(frame);
}

Test(top, prints_frames_until_the_run_is_over)
{
    command top;

    command_start(&top, EVENTSPACE, "top", scratch_file("run"), "--frames", "0",
                  "--interval", "20ms", NULL);
    app_end(0);
    command_wait(&top, 60);
    cr_expect_eq(top.exit_code, 0, "%s", top.output);
    check_says(top.output, ": over, ");
    check_says(top.output, "finished");
    command_free(&top);
}

/* One at which nobody listens, nor comes to: that of this process alone in
 * 127.0.0.0/8. */
static const char *address_free(void)
{
    static char address[PATHS_ADDRESS_TEXT];
    unsigned pid = (unsigned)getpid();

    snprintf(address, sizeof(address), "127.%u.%u.%u:7001",
             128 + (pid >> 16 & 63), pid >> 8 & 255, pid & 255);
    return address;
}

/* The last one of several objects. */
static json_t *last_json(const char *text)
{
    json_t *last = NULL;
    json_error_t error;

    while (*text) {
        json_t *next = json_loads(text, JSON_DISABLE_EOF_CHECK, &error);
        cr_assert(next, "%s in:\n%s", error.text, text);
        json_decref(last);
        last = next;
        text += error.position;
        text += strspn(text, "\n");
    }
    cr_assert(last);
    return last;
}

Test(top, watches_a_run_over_the_network)
{
    const char *address = address_free();
    command server, top;
    json_t *frame;

    free(command_run(0, 60, EVENTSPACE, "key", scratch_file("key"), NULL));
    command_start(&server, EVENTSPACE, "scope", scratch_file("run"), "--serve",
                  "--listen", address, "--key", scratch_file("key"),
                  "--clients=1", NULL);
    command_start(&top, EVENTSPACE, "top", "--connect", address, "--key",
                  scratch_file("key"), "--frames", "0", "--interval", "50ms",
                  "--window", "3600s", "--format", "json", NULL);
    app_end(0);
    command_wait(&top, 60);
    cr_assert_eq(top.exit_code, 0, "%s", top.output);
    command_wait(&server, 60);
    frame = last_json(top.output);
    check_frame(frame, "over", "finished");
    json_decref(frame);
    command_free(&server);
    command_free(&top);
}

Test(top, tells_why_a_run_cannot_be_reached)
{
    char *output;

    free(command_run(0, 60, EVENTSPACE, "key", scratch_file("key"), NULL));
    output = command_run(1, 60, EVENTSPACE, "top", "--connect", "nowhere:7",
                         "--key", scratch_file("key"), NULL);
    check_says(output, "nowhere");
    free(output);
}

Test(top, sorts_by_what_is_asked_for)
{
    char *text =
        command_run(0, 60, EVENTSPACE, "top", scratch_file("run"), "--format",
                    "csv", "--window", "3600s", "--sort", "number", NULL);
    const char *at = text;

    for (int i = 1; i <= THREADS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "\nthread%d,", i);
        at = strstr(at, name);
        cr_assert(at, "%s is not in its place:\n%s", name + 1, text);
    }
    free(text);
    text =
        command_run(0, 60, EVENTSPACE, "top", scratch_file("run"), "--format",
                    "csv", "--window", "3600s", "--sort", "rate", NULL);
    check_says(text, "\r\nthread"); /* behind the head, thread 4: it has two */
    cr_expect_eq(strncmp(strchr(text, '\n') + 1, "thread4,", 8), 0, "%s", text);
    free(text);
}

/* --- on a terminal --- */

typedef struct terminal {
    pid_t pid;
    int fd; /* the other end */
    char *text;
    size_t bytes;
} terminal;

static void terminal_start(terminal *t, unsigned short rows,
                           unsigned short columns)
{
    struct winsize size = {.ws_row = rows, .ws_col = columns};

    memset(t, 0, sizeof(*t));
    t->text = calloc(1, 1);
    t->pid = forkpty(&t->fd, NULL, NULL, &size);
    cr_assert_geq(t->pid, 0);
    if (t->pid)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* when the test fails */
    unsetenv("NO_COLOR");
    execl(EVENTSPACE, "eventspace", "top", scratch_file("run"), "--interval",
          "30ms", (char *)NULL);
    _exit(127);
}

/* Takes in what has been written; false at the end. */
static bool terminal_take(terminal *t)
{
    char part[4096];
    ssize_t count;

    await(t->fd, "the terminal");
    count = read(t->fd, part, sizeof(part));
    if (count <= 0) /* EIO: nobody has it open any more */
        return false;
    t->text = realloc(t->text, t->bytes + (size_t)count + 1);
    memcpy(t->text + t->bytes, part, (size_t)count);
    t->bytes += (size_t)count;
    t->text[t->bytes] = '\0';
    return true;
}

/* Waits until this has been written behind `from`. */
static void terminal_await(terminal *t, size_t from, const char *text)
{
    while (!strstr(t->text + from, text))
        cr_assert(terminal_take(t), "it ended without \"%s\":\n%s", text,
                  t->text);
}

static void terminal_await_end(terminal *t, int exit_code)
{
    while (terminal_take(t))
        ;
    cr_expect_eq(child_wait(t->pid, 60), exit_code);
    close(t->fd);
}

static bool is_cooked(const terminal *t)
{
    struct termios mode;

    cr_assert_eq(tcgetattr(t->fd, &mode), 0);
    return (mode.c_lflag & (ICANON | ECHO)) == (ICANON | ECHO);
}

/* What stays on the screen: behind the last sequence that gives it back. */
static const char *rest(const terminal *t)
{
    const char *left = strstr(t->text, LEAVES);

    cr_assert(left, "it did not give the terminal back:\n%s", t->text);
    return left + strlen(LEAVES);
}

/* The most lines between two times that the cursor went home, and the most
 * characters of a line, without escape sequences. */
static void measure(const char *text, size_t *lines, size_t *columns)
{
    size_t line = 1, column = 0;

    *lines = *columns = 0;
    for (const char *at = text; *at; at++) {
        if (strncmp(at, "\033[H", 3) == 0) {
            line = 1;
            column = 0;
        }
        if (*at == '\033') {
            while (!strchr("ABCDEFGHJKlhm", *at) && at[1])
                at++;
            continue;
        }
        if (*at == '\n')
            line++;
        column = *at == '\n' || *at == '\r' ? 0 : column + 1;
        if (line > *lines)
            *lines = line;
        if (column > *columns)
            *columns = column;
    }
}

Test(top, fills_the_screen_until_q_is_pressed)
{
    terminal t;
    size_t lines, columns;

    terminal_start(&t, 14, 60);
    terminal_await(&t, 0, "threads more"); /* some of five have no room */
    terminal_await(&t, t.bytes, "threads more");
    cr_expect_not(is_cooked(&t));
    measure(t.text, &lines, &columns);
    cr_expect_leq(lines, 14);
    cr_expect_leq(columns, 60);
    cr_assert_eq(write(t.fd, "q", 1), 1);
    terminal_await(&t, 0, LEAVES);
    terminal_await_end(&t, 0);
    cr_expect_eq(*rest(&t), '\0', "%s", rest(&t));
    free(t.text);
}

Test(top, follows_the_size_of_the_terminal)
{
    struct winsize size = {.ws_row = 40, .ws_col = 120};
    terminal t;

    terminal_start(&t, 12, 40);
    terminal_await(&t, 0, "threads more");
    cr_expect_not(strstr(t.text, "longest ms"));
    cr_assert_eq(ioctl(t.fd, TIOCSWINSZ, &size), 0);
    terminal_await(&t, t.bytes, "longest ms");
    cr_assert_eq(write(t.fd, "q", 1), 1);
    terminal_await_end(&t, 0);
    free(t.text);
}

Test(top, sorts_otherwise_when_s_is_pressed)
{
    terminal t;

    terminal_start(&t, 30, 100);
    terminal_await(&t, 0, "by share");
    cr_assert_eq(write(t.fd, "s", 1), 1);
    terminal_await(&t, 0, "by rate");
    cr_assert_eq(write(t.fd, "q", 1), 1);
    terminal_await_end(&t, 0);
    free(t.text);
}

Test(top, gives_the_terminal_back_when_it_is_ended)
{
    static const char interrupt = 3; /* Ctrl-C */
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    for (size_t i = 0; i < 3; i++) {
        terminal t;
        terminal_start(&t, 24, 80);
        terminal_await(&t, 0, "communicating");
        if (signals[i] == SIGINT)
            cr_assert_eq(write(t.fd, &interrupt, 1), 1);
        else
            kill(t.pid, signals[i]);
        terminal_await(&t, 0, LEAVES);
        terminal_await_end(&t, 0);
        free(t.text);
    }
}

/* A second descriptor keeps the terminal, so that its mode can be asked for
 * when the program has gone. */
Test(top, leaves_the_mode_of_the_terminal_as_it_was)
{
    terminal t;
    int kept;
    char name[128];

    terminal_start(&t, 24, 80);
    terminal_await(&t, 0, "communicating");
    cr_assert_eq(ptsname_r(t.fd, name, sizeof(name)), 0);
    kept = open(name, O_RDWR | O_NOCTTY);
    cr_assert_geq(kept, 0);
    cr_expect_not(is_cooked(&t));
    cr_assert_eq(write(t.fd, "q", 1), 1);
    cr_expect_eq(child_wait(t.pid, 60), 0);
    cr_expect(is_cooked(&t));
    close(kept);
    close(t.fd);
    free(t.text);
}

Test(top, ends_by_itself_and_leaves_the_last_frame)
{
    terminal t;

    terminal_start(&t, 24, 80);
    terminal_await(&t, 0, "communicating");
    app_end(0);
    terminal_await_end(&t, 0);
    check_says(rest(&t), ": over, ");
    check_says(rest(&t), "finished");
    check_says(rest(&t), "thread4");
    free(t.text);
}
