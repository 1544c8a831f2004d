/* command_top.c - eventspace top: a run, while it goes on.
 *
 * On a terminal a frame fills the screen and is drawn again and again; else
 * frames are printed one after the other. In between, the run is looked at
 * more often than is drawn, since small trace elements are soon overwritten.
 *
 * A run on other machines is mirrored by `eventspace scope`, a process of its
 * own, into a directory that is removed at the end. */
#include "viewer/cli/command.h"

#include "pastset/status.h"
#include "viewer/tables/facts.h"
#include "viewer/live/top.h"
#include "viewer/live/top_mirror.h"
#include "viewer/live/top_terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PULL_NS 200000000
#define SECOND_NS 1000000000
#define TIME_MIN_NS 10000000
#define TIME_MAX_NS (86400 * (uint64_t)SECOND_NS)
#define NO_FRAMES UINT64_MAX

typedef struct top_arguments {
    const char *run, *connect, *key;
    const char *name; /* of the run, as it was given */
    int64_t interval_ns, window_ns;
    uint64_t frames; /* 0: as long as the run lasts */
    viewer_top_sort sort;
    viewer_top_list list;
    viewer_format format;
} top_arguments;

typedef struct watcher {
    const top_arguments *arguments;
    viewer_top *top;
    viewer_mirror *mirror;
    viewer_top_sort sort;
    bool screen, colour;
    bool quit;
} watcher;

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * SECOND_NS + t.tv_nsec;
}

/* --- signals: they are let in only while it waits --- */

static volatile sig_atomic_t ended_by, stopped, resized;

static void note(int number)
{
    if (number == SIGWINCH)
        resized = 1;
    else if (number == SIGTSTP)
        stopped = 1;
    else
        ended_by = number;
}

/* It dies of it, but not without the terminal. */
static void give_back(int number)
{
    viewer_terminal_leave();
    raise(number); /* its action is the default one again */
}

static void watch_signals(sigset_t *open)
{
    static const int noted[] = {SIGINT,  SIGTERM,  SIGHUP,
                                SIGQUIT, SIGWINCH, SIGTSTP};
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE};
    struct sigaction action = {.sa_handler = note};
    sigset_t closed;

    sigemptyset(&closed);
    for (size_t i = 0; i < sizeof(noted) / sizeof(*noted); i++) {
        sigaction(noted[i], &action, NULL);
        sigaddset(&closed, noted[i]);
    }
    action.sa_handler = give_back;
    action.sa_flags = (int)SA_RESETHAND | SA_NODEFER;
    for (size_t i = 0; i < sizeof(deadly) / sizeof(*deadly); i++)
        sigaction(deadly[i], &action, NULL);
    sigprocmask(SIG_BLOCK, &closed, open);
}

/* --- a mirror --- */

static int mirror_wait(viewer_mirror *mirror, const sigset_t *open)
{
    struct timespec pause = {.tv_nsec = 20000000};
    int ready = 0;

    while (!ended_by && (ready = viewer_mirror_ready(mirror)) == 0)
        ppoll(NULL, 0, &pause, open);
    if (ready < 0)
        return ready;
    return ready ? 0
                 : pastset_fail(PASTSET_ECANCELED,
                                "ended before there was a mirror");
}

static int mirror_begin(viewer_mirror *mirror, const top_arguments *a,
                        const sigset_t *open)
{
    int err = viewer_mirror_open(mirror, a->connect, a->key);

    return err ? err : mirror_wait(mirror, open);
}

/* --- frames --- */

static int show(watcher *w)
{
    viewer_top_frame frame;
    unsigned rows, columns;
    char keys[64];
    int err = viewer_top_frame_init(&frame, w->top, w->sort);

    if (err)
        return err;
    if (w->screen) {
        viewer_terminal_size(&rows, &columns);
        snprintf(keys, sizeof(keys), "by %s  [q]uit [s]ort",
                 viewer_top_sort_name(w->sort));
        fputs("\033[H", stdout);
        err = viewer_top_draw(&frame, rows, columns, w->colour, keys, stdout);
    } else {
        err = viewer_top_print(&frame, w->arguments->list, w->arguments->format,
                               stdout);
    }
    viewer_top_frame_fini(&frame);
    if (fflush(stdout) != 0 && !err)
        err = pastset_fail(PASTSET_EIO, "standard output: %s", strerror(errno));
    return err;
}

/* Is it to be drawn at once? */
static bool press(watcher *w, char key)
{
    if (key == 'q' || key == 'Q')
        w->quit = true;
    if (key == 's')
        w->sort = (viewer_top_sort)((w->sort + 1) % VIEWER_TOP_SORTS);
    return key == 's' || key == ' ';
}

static bool read_keys(watcher *w)
{
    char keys[64];
    ssize_t count = read(STDIN_FILENO, keys, sizeof(keys));
    bool again = false;

    if (count <= 0) /* nobody can press anything any more */
        w->quit = true;
    for (ssize_t i = 0; i < count; i++)
        again |= press(w, keys[i]);
    return again;
}

/* Stopped by the keyboard: the shell gets the terminal as it was. */
static void stop(watcher *w)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, ours;
    sigset_t mask, before;

    viewer_terminal_leave();
    sigaction(SIGTSTP, &usual, &ours);
    sigemptyset(&mask);
    sigaddset(&mask, SIGTSTP);
    sigprocmask(SIG_UNBLOCK, &mask, &before);
    raise(SIGTSTP); /* goes on here */
    sigprocmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGTSTP, &ours, NULL);
    stopped = 0;
    if (w->screen)
        viewer_terminal_enter();
}

/* Until `until`, a key that asks for a frame, a new size, or the end. */
static bool wait_for(watcher *w, int64_t until, const sigset_t *open)
{
    int64_t left = until - now_ns();
    struct timespec time = {.tv_sec = left > 0 ? left / SECOND_NS : 0,
                            .tv_nsec = left > 0 ? left % SECOND_NS : 0};
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    bool keys = w->screen && isatty(STDIN_FILENO);
    int ready = ppoll(&input, keys ? 1 : 0, &time, open);
    bool again = resized || stopped;

    if (stopped)
        stop(w);
    resized = 0;
    if (ready > 0)
        again |= read_keys(w);
    w->quit |= ended_by != 0;
    return again;
}

/* A mirror is whole when its scope has ended. */
static bool is_over(watcher *w)
{
    return w->arguments->connect ? viewer_mirror_ended(w->mirror)
                                 : viewer_top_over(w->top);
}

/* Looks, several times, until the next frame is due. */
static int follow(watcher *w, int64_t due, const sigset_t *open)
{
    bool again = false;
    int err = 0;

    while (!err && !w->quit && !again && now_ns() < due) {
        int64_t next = now_ns() + PULL_NS;
        again = wait_for(w, next < due ? next : due, open);
        if (!w->quit)
            err = viewer_top_pull(w->top);
        if (is_over(w))
            return err;
    }
    return err;
}

static int watch(watcher *w, const sigset_t *open)
{
    uint64_t frames = w->screen ? 0 : w->arguments->frames;
    uint64_t shown = 0;
    bool over;
    int err = 0;

    if (w->arguments->connect) /* at first a mirror is empty */
        err = follow(w, now_ns() + w->arguments->interval_ns, open);
    while (!err && !w->quit) {
        over = is_over(w);
        if (over && w->arguments->connect)
            err = viewer_top_pull(w->top);
        if (!err)
            err = show(w);
        if (!err && over && w->arguments->connect)
            err = viewer_mirror_status(w->mirror);
        if (err || over || ++shown == frames)
            break;
        err = follow(w, now_ns() + w->arguments->interval_ns, open);
    }
    return err;
}

/* The last frame of a run that has ended stays. */
static int end_screen(watcher *w, int err)
{
    viewer_terminal_leave();
    w->screen = false;
    return !err && !w->quit ? show(w) : err;
}

static int top_run(const top_arguments *a, viewer_mirror *m)
{
    viewer_top_options options = {.window_ns = a->window_ns,
                                  .mirror = a->connect != NULL,
                                  .name = a->connect ? a->connect : a->name};
    const char *plain = getenv("NO_COLOR");
    watcher w = {.arguments = a, .mirror = m, .sort = a->sort};
    sigset_t open;
    int err = 0;

    watch_signals(&open);
    if (a->connect)
        err = mirror_begin(m, a, &open);
    if (err)
        return err;
    options.helper = m->pid;
    options.event_cost_ns = viewer_event_cost_ns();
    err = viewer_top_open(&w.top, a->connect ? m->run : a->run, &options);
    if (err)
        return err;
    w.colour = !plain || !*plain;
    w.screen = a->frames == NO_FRAMES && a->format == VIEWER_TABLE &&
               isatty(STDOUT_FILENO);
    if (w.screen) {
        err = viewer_terminal_enter();
        if (!err)
            err = watch(&w, &open);
        err = end_screen(&w, err);
    } else {
        err = watch(&w, &open);
    }
    viewer_top_close(w.top);
    return err;
}

/* --- the command --- */

enum { KEY_WINDOW = 256, KEY_SORT, KEY_FRAMES, KEY_TABLE, KEY_CONNECT };

static const struct argp_option top_options[] = {
    {"interval", 'i', "TIME", 0, "Show a new frame every TIME (default 1s)", 0},
    {"window", KEY_WINDOW, "TIME", 0,
     "Show in each frame what happened in the last TIME (default 5s)", 0},
    {"sort", KEY_SORT, "share|rate|bytes|silent|longest|number", 0,
     "Sort the threads by this column (default share)", 0},
    {"frames", KEY_FRAMES, "N", 0,
     "Print N frames as plain tables and end; 0 continues until the run has "
     "ended (default 1, unless standard output is a terminal)",
     0},
    {"batch", EVENTSPACE_RENAMED, "FRAMES", OPTION_HIDDEN, "frames", 0},
    CLI_FORMAT_OPTION,
    {"table", KEY_TABLE, "TABLE", 0,
     "With --format=csv, print this table: threads, processes, collectives or "
     "pending (default threads)",
     0},
    {"hosts", EVENTSPACE_RENAMED, NULL, OPTION_HIDDEN, "table=processes", 0},
    {"processes", EVENTSPACE_RENAMED, NULL, OPTION_HIDDEN, "table=processes",
     0},
    {"collectives", EVENTSPACE_RENAMED, NULL, OPTION_HIDDEN,
     "table=collectives", 0},
    {"pending", EVENTSPACE_RENAMED, NULL, OPTION_HIDDEN, "table=pending", 0},
    {"connect", KEY_CONNECT, "ADDRESS:PORT", 0,
     "Watch the run that `eventspace scope --serve` gives at ADDRESS:PORT", 0},
    {"key", 'k', "FILE", 0,
     "Read the key for --connect from FILE, written by `eventspace key`", 0},
    {0},
};

static int64_t read_time(const char *text, struct argp_state *state)
{
    return (int64_t)cli_time(text, TIME_MIN_NS, TIME_MAX_NS, state);
}

static viewer_top_list read_table(const char *text, struct argp_state *state)
{
    static const char *const names[] = {[VIEWER_TOP_THREADS] = "threads",
                                        [VIEWER_TOP_COLLECTIVES] =
                                            "collectives",
                                        [VIEWER_TOP_PROCESSES] = "processes",
                                        [VIEWER_TOP_PENDING] = "pending"};

    return (viewer_top_list)cli_choice(
        text, CLI_LIST(names),
        "the table '%s' is not one of threads, processes, collectives, pending",
        state);
}

static void check_arguments(const top_arguments *a, struct argp_state *state)
{
    if (!a->run && !a->connect)
        argp_error(state, "the run directory is missing");
    if (a->run && a->connect)
        argp_error(state, "give either RUN or --connect, not both");
    if (a->connect && !a->key)
        argp_error(state, "--key is missing; `eventspace key` makes one");
    if (a->key && !a->connect)
        argp_error(state, "--key is for --connect");
}

static error_t parse_top(int key, char *text, struct argp_state *state)
{
    top_arguments *a = state->input;

    switch (key) {
    case 'i':
        a->interval_ns = read_time(text, state);
        return 0;
    case KEY_WINDOW:
        a->window_ns = read_time(text, state);
        return 0;
    case KEY_SORT:
        a->sort = viewer_top_sort_find(text);
        if (a->sort == VIEWER_TOP_SORTS)
            argp_error(state,
                       "'%s' is not one of share, rate, bytes, silent, "
                       "longest, number",
                       text);
        return 0;
    case KEY_FRAMES:
        a->frames = cli_number(text, 0, UINT32_MAX, state);
        return 0;
    case 'f':
        a->format = cli_format(text, state);
        return 0;
    case KEY_TABLE:
        a->list = read_table(text, state);
        return 0;
    case KEY_CONNECT:
        a->connect = text;
        return 0;
    case 'k':
        a->key = text;
        return 0;
    case ARGP_KEY_ARG:
        cli_take(&a->run, text, state);
        return 0;
    case ARGP_KEY_END:
        check_arguments(a, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cli_top(int argc, char **argv)
{
    static const struct argp argp = {
        top_options,
        parse_top,
        "RUN\n--connect ADDRESS:PORT --key FILE",
        "Watches a run while it goes on: how much each thread communicates, "
        "how long it has been silent, who comes last to collectives, which "
        "operations do not end and for whom they wait, how many events are "
        "lost, and what watching costs. Press q to quit, s to sort by another "
        "column.\vA thread records an event when its operation ends. One that "
        "is silent computes, or waits inside an operation, which is listed "
        "after a second.",
        NULL,
        NULL,
        NULL};
    top_arguments a = {.interval_ns = SECOND_NS,
                       .window_ns = 5 * (int64_t)SECOND_NS,
                       .frames = NO_FRAMES};
    viewer_mirror m = {0};
    int err;

    if (eventspace_options_parse(&argp, argc, argv, 0, EVENTSPACE_NO_PROGRAM,
                                 &a))
        return COMMAND_USAGE;
    if (a.frames == NO_FRAMES &&
        (a.format != VIEWER_TABLE || !isatty(STDOUT_FILENO)))
        a.frames = 1;
    a.name = a.run;
    if (a.run && !(a.run = cli_run_directory(a.run)))
        return COMMAND_FAILED;
    if (a.run)
        cli_warn_of_definitions(a.run);
    err = top_run(&a, &m);
    viewer_terminal_leave();
    viewer_mirror_close(&m);
    return cli_end_output(err);
}
