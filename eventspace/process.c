/* process.c - the processes of a run: starting, listening to and ending them.
 *
 * One libuv loop waits for all of it. When a process has failed, the others
 * go through these stages, each of which ends when no process is left:
 *
 *     RUNNING --a host fails--> GRACE --grace_ms--> TERM --1 s--> KILL
 *        |                                           ^             ^
 *        '------- SIGINT, SIGTERM, SIGHUP -----------'--- again ---'
 *
 * One that is killed, and is not the first, has not failed in that sense: the
 * others go on as long as they can without it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "eventspace/launch_internal.h"
#include "eventspace/run.h"
#include "eventspace/run_internal.h"
#include "pastset/status.h"

#define LINE_BYTES 16384      /* longer lines are broken */
#define LEFT_BYTES (1u << 20) /* most that a pipe holds */
#define TERM_MS 1000

/* The files of a child. */
enum { CHILD_LISTEN_FD = 3, CHILD_KEY_FD = 4, CHILD_FDS };

typedef enum stage { RUNNING, GRACE, TERM, KILL } stage;

typedef struct process process;

/* Standard output or error of a process: what has come of a line. */
typedef struct stream {
    uv_pipe_t pipe;
    process *from;
    FILE *to;
    bool open;
    size_t used;
    char line[LINE_BYTES];
} stream;

struct process {
    uv_process_t handle;
    struct processes *all;
    const char *name;
    bool running;
    int sent_signal; /* by the launcher; 0: none */
    stream streams[2];
};

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
#define CAUGHT (sizeof(caught) / sizeof(caught[0]))

typedef struct processes {
    const launch_plan *plan;
    uv_loop_t loop;
    uv_timer_t timer;
    uv_signal_t signals[CAUGHT];
    process *items;
    size_t started; /* of the items */
    size_t running;
    stage stage;
    char why[160]; /* the processes are ended: "host h2 failed" */
    bool failed;
} processes;

/* --- output --- */

static void line_print(const stream *s, const char *line, size_t bytes)
{
    fputs(s->from->name, s->to);
    fputs("| ", s->to);
    fwrite(line, 1, bytes, s->to);
    fputc('\n', s->to);
}

/* Prints the lines that are whole after `bytes` more have come. */
static void stream_take(stream *s, size_t bytes)
{
    char *from = s->line;
    char *seek = s->line + s->used;
    char *end = seek + bytes;
    char *newline;

    while ((newline = memchr(seek, '\n', (size_t)(end - seek))) != NULL) {
        line_print(s, from, (size_t)(newline - from));
        from = seek = newline + 1;
    }
    s->used = (size_t)(end - from);
    if (s->used == LINE_BYTES) {
        line_print(s, from, s->used);
        s->used = 0;
    }
    memmove(s->line, from, s->used);
    fflush(s->to);
}

static void stream_close(stream *s)
{
    if (!s->open)
        return;
    s->open = false;
    if (s->used > 0) {
        line_print(s, s->line, s->used);
        fflush(s->to);
    }
    uv_close((uv_handle_t *)&s->pipe, NULL);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
    stream *s = handle->data;

    (void)suggested;
    *out = uv_buf_init(s->line + s->used, (unsigned)(LINE_BYTES - s->used));
}

static void on_read(uv_stream_t *pipe, ssize_t bytes, const uv_buf_t *buffer)
{
    stream *s = pipe->data;

    (void)buffer;
    if (bytes > 0)
        stream_take(s, (size_t)bytes);
    else if (bytes < 0)
        stream_close(s);
}

/* The process has ended. What it wrote is in the pipe, and is printed before
 * it is said how the process ended. The pipe's end may never come, as
 * children of the process may hold it too. */
static void stream_finish(stream *s)
{
    size_t left = LEFT_BYTES;
    uv_os_fd_t fd;

    if (!s->open)
        return;
    if (uv_fileno((uv_handle_t *)&s->pipe, &fd) == 0) {
        while (left > 0) {
            ssize_t got = read(fd, s->line + s->used, LINE_BYTES - s->used);
            if (got <= 0)
                break;
            stream_take(s, (size_t)got);
            left -= (size_t)got < left ? (size_t)got : left;
        }
    }
    stream_close(s);
}

/* --- ending --- */

static void signal_all(processes *all, int number)
{
    for (size_t i = 0; i < all->started; i++) {
        process *p = &all->items[i];
        if (p->running && uv_process_kill(&p->handle, number) == 0)
            p->sent_signal = number;
    }
}

static void on_timer(uv_timer_t *timer);

/* Goes on to a stage; never back to one. */
static void stage_enter(processes *all, stage to)
{
    if (to <= all->stage)
        return;
    all->stage = to;
    uv_timer_stop(&all->timer);
    if (to == GRACE) {
        uv_timer_start(&all->timer, on_timer, all->plan->grace_ms, 0);
    } else if (to == TERM) {
        signal_all(all, SIGTERM);
        uv_timer_start(&all->timer, on_timer, TERM_MS, 0);
    } else {
        signal_all(all, SIGKILL);
    }
}

static void on_timer(uv_timer_t *timer)
{
    processes *all = timer->data;
    stage_enter(all, all->stage == GRACE ? TERM : KILL);
}

static void on_signal(uv_signal_t *handle, int number)
{
    processes *all = handle->data;

    all->failed = true;
    if (all->stage < TERM)
        snprintf(all->why, sizeof(all->why), "the launcher got signal %d (%s)",
                 number, strsignal(number));
    stage_enter(all, all->stage < TERM ? TERM : KILL);
}

/* All have ended: without a handle that waits, the loop comes to its end. */
static void loop_let_go(processes *all)
{
    uv_close((uv_handle_t *)&all->timer, NULL);
    for (size_t i = 0; i < CAUGHT; i++)
        uv_close((uv_handle_t *)&all->signals[i], NULL);
}

static void host_failed(processes *all, const char *name, const char *how)
{
    fprintf(stderr, "host %s: %s\n", name, how);
    fflush(stderr);
    all->failed = true;
    if (all->stage == RUNNING) {
        snprintf(all->why, sizeof(all->why), "host %.100s failed", name);
        stage_enter(all, GRACE);
    }
}

/* The others may go on without it, and see for themselves. Without the first
 * one, which keeps them together, they cannot. */
static void host_died(processes *all, const char *name, const char *how)
{
    fprintf(stderr, "host %s: %s\n", name, how);
    fflush(stderr);
    all->failed = true;
}

/* Puts how a host ended into its meta file, when it did not do so itself; then
 * it is true. A host without meta never came up; there is nothing to keep, and
 * the times of its events are not known. */
static bool meta_finish(const process *p, eventspace_state state,
                        const char *how)
{
    char file[EVENTSPACE_PATH_BYTES];
    eventspace_meta meta;

    if (eventspace_run_file(file, sizeof(file), p->all->plan->directory,
                            p->name, ".meta") != 0 ||
        eventspace_meta_load(&meta, file) != 0 ||
        meta.state != EVENTSPACE_RUNNING)
        return false;
    meta.state = state;
    snprintf(meta.text, sizeof(meta.text), "%s", how);
    if (eventspace_meta_save(&meta, file) != 0)
        fprintf(stderr, "host %s: %s\n", p->name, pastset_error());
    return true;
}

static void on_exit_of(uv_process_t *handle, int64_t code, int number)
{
    process *p = handle->data;
    processes *all = p->all;
    char how[300], line[320];
    bool cut_short;

    p->running = false;
    all->running--;
    uv_close((uv_handle_t *)handle, NULL);
    stream_finish(&p->streams[0]);
    stream_finish(&p->streams[1]);
    if (number) {
        int length = snprintf(how, sizeof(how), "signal %d (%s)", number,
                              strsignal(number));
        if (number == p->sent_signal)
            snprintf(how + length, sizeof(how) - (size_t)length,
                     ", sent because %s", all->why);
        snprintf(line, sizeof(line), "killed by %s", how);
        cut_short = meta_finish(p, EVENTSPACE_KILLED, how);
    } else {
        snprintf(how, sizeof(how), "exit code %d, before its run was finished",
                 (int)code);
        cut_short = meta_finish(p, EVENTSPACE_FAILED, how);
        snprintf(line, sizeof(line), "exit code %d%s", (int)code,
                 cut_short ? ", before its run was finished" : "");
    }
    if (number && p != all->items && all->stage == RUNNING)
        host_died(all, p->name, line);
    else if (number || code || cut_short)
        host_failed(all, p->name, line);
    if (all->running == 0)
        loop_let_go(all);
}

/* --- starting --- */

static bool is_ours(const char *variable)
{
    static const char *const names[] = {
        "EVENTSPACE_RUN=", "EVENTSPACE_HOST=", "EVENTSPACE_LISTEN_FD=",
        "EVENTSPACE_KEY_FD="};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strncmp(variable, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

/* The environment of a host: ours, and what is said in launch.h. The four
 * strings stand in `text`; the array is to be freed. */
static char **environment_make(const processes *all, const char *host,
                               char *text, size_t room)
{
    size_t count = 0, used = 0;
    char **environment;

    while (environ[count])
        count++;
    environment = calloc(count + 5, sizeof(environment[0]));
    if (!environment)
        return NULL;
    for (char **from = environ; *from; from++) {
        if (!is_ours(*from))
            environment[used++] = *from;
    }
    for (int i = 0; i < 4; i++) {
        int length = 0;
        environment[used++] = text;
        if (i == 0)
            length =
                snprintf(text, room, "EVENTSPACE_RUN=%s", all->plan->directory);
        else if (i == 1)
            length = snprintf(text, room, "EVENTSPACE_HOST=%s", host);
        else if (i == 2)
            length = snprintf(text, room, "EVENTSPACE_LISTEN_FD=%d",
                              CHILD_LISTEN_FD);
        else
            length = snprintf(text, room, "EVENTSPACE_KEY_FD=%d", CHILD_KEY_FD);
        text += length + 1;
        room -= (size_t)length + 1;
    }
    return environment;
}

/* A pipe with the key in it, whose writing end is closed: it holds more than
 * that, so nobody needs to wait. */
static int key_pipe_open(int *fd, const uint8_t *key)
{
    uv_file ends[2];
    int err = uv_pipe(ends, 0, 0);

    *fd = -1;
    if (err)
        return err;
    if (write(ends[1], key, EVENTSPACE_KEY_BYTES) != EVENTSPACE_KEY_BYTES)
        err = UV_EIO;
    close(ends[1]);
    if (err)
        close(ends[0]);
    else
        *fd = ends[0];
    return err;
}

/* Opens the pipe of a stream, and stores its writing end. A pipe rather than
 * libuv's pair of sockets, so that programs may open /dev/stdout. */
static int stream_open(stream *s, process *from, FILE *to, int *child_fd)
{
    uv_file ends[2];
    int err = uv_pipe(ends, UV_NONBLOCK_PIPE, 0);

    *child_fd = -1;
    if (err)
        return err;
    *child_fd = ends[1];
    s->from = from;
    s->to = to;
    s->pipe.data = s;
    uv_pipe_init(&from->all->loop, &s->pipe, 0);
    s->open = true;
    err = uv_pipe_open(&s->pipe, ends[0]);
    if (err)
        close(ends[0]);
    else
        err = uv_read_start((uv_stream_t *)&s->pipe, on_room, on_read);
    return err;
}

static int spawn(process *p, const launch_host *host, const int fds[3])
{
    const launch_plan *plan = p->all->plan;
    char text[2 * EVENTSPACE_PATH_BYTES + 512];
    uv_stdio_container_t files[CHILD_FDS] = {
        {.flags = UV_IGNORE},
        {.flags = UV_INHERIT_FD, .data.fd = fds[0]},
        {.flags = UV_INHERIT_FD, .data.fd = fds[1]},
        [CHILD_LISTEN_FD] = {.flags = UV_INHERIT_FD,
                             .data.fd = host->listen_fd},
        [CHILD_KEY_FD] = {.flags = UV_INHERIT_FD, .data.fd = fds[2]},
    };
    uv_process_options_t options = {
        .exit_cb = on_exit_of,
        .file = plan->argv[0],
        .args = (char **)(uintptr_t)plan->argv, /* libuv does not change it */
        .stdio = files,
        .stdio_count = CHILD_FDS,
    };
    launch_place place;
    int err;

    options.env = environment_make(p->all, p->name, text, sizeof(text));
    if (!options.env)
        return UV_ENOMEM;
    p->handle.data = p;
    /* It was well when the sockets were opened. */
    err = eventspace__place_enter(&place, host->host) ? UV_EPERM : 0;
    if (!err) {
        err = uv_spawn(&p->all->loop, &p->handle, &options);
        eventspace__place_leave(&place);
    } else {
        free(options.env);
        return err;
    }
    free(options.env);
    if (err)
        uv_close((uv_handle_t *)&p->handle, NULL);
    return err;
}

/* Starts one process. Returns an error of libuv. */
static int process_start(processes *all, size_t index)
{
    const launch_host *host = &all->plan->hosts[index];
    process *p = &all->items[index];
    int fds[3] = {-1, -1, -1}; /* of the child: output, errors, key */
    int err;

    p->all = all;
    p->name = host->name;
    all->started++;
    err = stream_open(&p->streams[0], p, stdout, &fds[0]);
    if (!err)
        err = stream_open(&p->streams[1], p, stderr, &fds[1]);
    if (!err)
        err = key_pipe_open(&fds[2], all->plan->key);
    if (!err)
        err = spawn(p, host, fds);
    for (int i = 0; i < 3; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    if (err) {
        stream_close(&p->streams[0]);
        stream_close(&p->streams[1]);
        return err;
    }
    p->running = true;
    all->running++;
    return 0;
}

/* Starts them one after the other. When that fails for the first one nothing
 * has happened yet; for another it is a failed host like any. */
static int start_all(processes *all)
{
    const launch_plan *plan = all->plan;

    for (size_t i = 0; i < plan->host_count; i++) {
        char how[256];
        int err = process_start(all, i);
        if (!err)
            continue;
        snprintf(how, sizeof(how), "%.180s cannot be started: %s%s",
                 plan->argv[0], uv_strerror(err),
                 err == UV_ENOENT && !strchr(plan->argv[0], '/')
                     ? " (for a program in this folder, write ./ in front)"
                     : "");
        if (i == 0)
            return pastset_fail(pastset_status_from_errno(-err), "%s", how);
        host_failed(all, plan->hosts[i].name, how);
        break;
    }
    return 0;
}

static int loop_make(processes *all)
{
    int err = uv_loop_init(&all->loop);

    if (err)
        return pastset_fail(pastset_status_from_errno(-err),
                            "the launcher's event loop: %s", uv_strerror(err));
    uv_timer_init(&all->loop, &all->timer);
    all->timer.data = all;
    for (size_t i = 0; i < CAUGHT; i++) {
        struct sigaction now;
        uv_signal_init(&all->loop, &all->signals[i]);
        all->signals[i].data = all;
        /* What the caller has chosen to ignore (nohup) stays ignored. */
        if (sigaction(caught[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            uv_signal_start(&all->signals[i], on_signal, caught[i]);
    }
    return 0;
}

int eventspace__processes_run(const launch_plan *plan, int *exit_code)
{
    processes all = {.plan = plan};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    int err;

    all.items = calloc(plan->host_count, sizeof(all.items[0]));
    if (!all.items)
        return pastset_fail(PASTSET_ENOMEM, "no memory for %zu processes",
                            plan->host_count);
    err = loop_make(&all);
    if (!err) {
        /* Whoever reads our output may go away; the run goes on. */
        sigaction(SIGPIPE, &ignore, &before);
        err = start_all(&all);
        if (err)
            loop_let_go(&all);
        else if (plan->started)
            plan->started(plan->context);
        uv_run(&all.loop, UV_RUN_DEFAULT);
        uv_loop_close(&all.loop);
        sigaction(SIGPIPE, &before, NULL);
    }
    *exit_code = err || all.failed ? 1 : 0;
    free(all.items);
    return err;
}
