/* children.c - the processes of a run: starting, listening to and ending them.
 *
 * One libuv loop waits for all of it. When a process has failed, the others
 * go through these stages, each of which ends when no process is left:
 *
 *     RUNNING --a process fails--> GRACE --grace_ms--> TERM --term_ms--> KILL
 *        |                                              ^             ^
 *        '--------- SIGINT, SIGTERM, SIGHUP ------------'--- again ---'
 *
 * In a map with restart=true all go to KILL when one has died, as they are to
 * be started again (restart.c). Otherwise one that is killed has not failed in
 * that sense: the others go on as long as they can without it, but for the
 * first process when not all had joined it, or when the map has it that nobody
 * takes its place.
 *
 * Ends are looked at in the order in which the kernel tells of them, so that
 * the first failure is the cause of the others. A process can still be quicker
 * to fail than the one whose death it has seen; it names that one, then. */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "eventspace/launch/launch_internal.h"
#include "eventspace/run/run.h"
#include "eventspace/run/run_internal.h"
#include "pastset/status.h"

#define LINE_BYTES 16384      /* longer lines are broken */
#define LEFT_BYTES (1u << 20) /* most that a pipe holds */
#define STOP_MS 200           /* one that cannot be stopped is not waited for */
#define LOOK_MS 100
#define NAMES 8      /* that are told of processes that were ended */
#define WAIT_MS 2000 /* before it is said what is waited for */

typedef enum stage { RUNNING, GRACE, TERM, KILL } stage;

typedef struct child child;

/* Standard output or error of a process: what has come of a line. */
typedef struct stream {
    uv_pipe_t pipe;
    child *from;
    FILE *to;
    bool open;
    size_t used;
    char line[LINE_BYTES];
} stream;

struct child {
    uv_poll_t ended; /* its pidfd */
    int pidfd;
    pid_t pid;
    struct children *all;
    const char *name;
    launch_notice notice;
    bool running;
    int sent_signal; /* by the launcher, the last one; 0: none */
    int obeyed;      /* the one of these, or of a terminal's, that it died of */
    int how;         /* it ended, as waitpid tells */
    child *next;     /* whose end is to be looked at, too */
    bool polled;     /* the loop has, once, since it ended */
    char failure[320]; /* of itself, not because it was to end; "": none */
    stream streams[2];
};

static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
#define CAUGHT (sizeof(caught) / sizeof(caught[0]))

/* For the calling thread. */
static void caught_mask(int how)
{
    sigset_t signals;

    sigemptyset(&signals);
    for (size_t i = 0; i < CAUGHT; i++)
        sigaddset(&signals, caught[i]);
    pthread_sigmask(how, &signals, NULL);
}

typedef struct children {
    const launch_plan *plan;
    uv_loop_t loop;
    uv_timer_t timer;
    uv_timer_t looks; /* whether it is to end */
    uv_signal_t signals[CAUGHT];
    child *items;
    paths_join *joins; /* of the map's processes, for each of these: also for
                          one that cannot be started, so that others are told */
    size_t started;    /* of the items */
    size_t running;
    size_t telling;       /* notices that are under way */
    uv_idle_t later;      /* is active while there are `ended` */
    child *ended, **last; /* processes whose end is to be looked at */
    child *first;         /* that failed; NULL: none */
    stage stage;
    char why[160]; /* the processes are ended: "process h2 failed" */
    bool failed;
    bool over;       /* one has ended well: all threads have ended */
    bool again;      /* all are to be started again */
    int interrupted; /* by this signal; 0: no */
} children;

/* --- output --- */

static bool is_hushed(const children *all)
{
    return all->plan->hushed && all->interrupted;
}

static void line_print(const stream *s, const char *line, size_t bytes)
{
    if (s->to == stderr && is_hushed(s->from->all))
        return;
    if (!s->from->all->plan->in_job) {
        fputs(s->from->name, s->to);
        fputs("| ", s->to);
    }
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

static void signal_each(children *all, int number)
{
    for (size_t i = 0; i < all->started; i++) {
        child *p = &all->items[i];
        if (p->running)
            kill(p->pid, number);
    }
}

static bool are_stopped(const children *all)
{
    for (size_t i = 0; i < all->started; i++) {
        const child *p = &all->items[i];
        siginfo_t info = {.si_pid = 0};
        if (p->running &&
            waitid(P_PID, (id_t)p->pid, &info, WSTOPPED | WNOHANG | WNOWAIT) ==
                0 &&
            info.si_pid == 0)
            return false;
    }
    return true;
}

/* Stopped first, so that none is left to see how another one dies: what its
 * threads were in is what people want to know of a run that they end. */
static void signal_all(children *all, int number)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    for (size_t i = 0; i < all->started; i++) {
        if (all->items[i].running)
            all->items[i].sent_signal = number;
    }
    signal_each(all, SIGSTOP);
    for (int i = 0; i < STOP_MS && !are_stopped(all); i++)
        nanosleep(&pause, NULL);
    signal_each(all, number);
    signal_each(all, SIGCONT);
}

static void on_timer(uv_timer_t *timer);
static void end_look(children *all);

/* Goes on to a stage; never back to one. */
static void stage_enter(children *all, stage to)
{
    if (to <= all->stage)
        return;
    all->stage = to;
    uv_timer_stop(&all->timer);
    if (to == GRACE) {
        uv_timer_start(&all->timer, on_timer, all->plan->grace_ms, 0);
    } else if (to == TERM) {
        signal_all(all, SIGTERM);
        uv_timer_start(&all->timer, on_timer, all->plan->term_ms, 0);
    } else {
        signal_all(all, SIGKILL);
    }
}

static void on_timer(uv_timer_t *timer)
{
    children *all = timer->data;
    stage_enter(all, all->stage == GRACE ? TERM : KILL);
}

static void on_signal(uv_signal_t *handle, int number)
{
    children *all = handle->data;

    all->failed = true;
    all->interrupted = number;
    if (all->plan->signal)
        *all->plan->signal = number;
    if (all->stage < TERM)
        snprintf(all->why, sizeof(all->why),
                 "the launcher received signal %d (%s)", number,
                 strsignal(number));
    stage_enter(all, all->stage < TERM ? TERM : KILL);
    end_look(all);
}

/* Launchers of jobs end what they have started, but one that was killed cannot,
 * and its tasks would stay. */
static const char *end_reason(const launch_plan *plan)
{
    if (plan->parent && getppid() != plan->parent)
        return "the parent process of the launcher died";
    return plan->end ? atomic_load(plan->end) : NULL;
}

static void on_look(uv_timer_t *timer)
{
    children *all = timer->data;
    const char *why = end_reason(all->plan);

    if (!why || all->stage >= TERM)
        return;
    all->failed = true;
    snprintf(all->why, sizeof(all->why), "%s", why);
    stage_enter(all, TERM);
    end_look(all);
}

/* Without a handle that waits, the loop comes to its end. */
static void loop_let_go(children *all)
{
    uv_close((uv_handle_t *)&all->timer, NULL);
    uv_close((uv_handle_t *)&all->looks, NULL);
    uv_close((uv_handle_t *)&all->later, NULL);
    for (size_t i = 0; i < CAUGHT; i++)
        uv_close((uv_handle_t *)&all->signals[i], NULL);
    for (size_t i = 0; i < all->started; i++)
        eventspace__notice_close(&all->items[i].notice);
}

static void notices_cancel(children *all)
{
    for (size_t i = 0; i < all->started; i++)
        eventspace__notice_cancel(&all->items[i].notice);
}

static void on_wait(uv_timer_t *timer)
{
    children *all = timer->data;
    fprintf(stderr,
            "process %s: waiting for the other processes, to report that it "
            "has ended\n",
            all->items[0].name);
}

/* Have all ended, and do all know that have to? Without processes elsewhere
 * nobody is left who would have to. */
static void end_look(children *all)
{
    if (all->running > 0)
        return;
    uv_timer_stop(&all->timer);
    if (all->telling == 0)
        loop_let_go(all);
    else if (all->plan->process_count == all->plan->map->process_count ||
             all->stage >= TERM)
        notices_cancel(all);
    else
        uv_timer_start(&all->timer, on_wait, WAIT_MS, 0);
}

static void process_tell(const children *all, const char *name, const char *how)
{
    if (is_hushed(all))
        return;
    fprintf(stderr, "process %s: %s\n", name, how);
    fflush(stderr);
}

/* The others may go on without it, and see for themselves. */
static void process_died(child *p, const char *how)
{
    children *all = p->all;

    process_tell(all, p->name, how);
    all->failed = true;
    if (all->stage >= TERM)
        return;
    snprintf(p->failure, sizeof(p->failure), "%s", how);
    if (!all->first)
        all->first = p;
}

static void process_failed(child *p, const char *how)
{
    children *all = p->all;

    process_died(p, how);
    if (all->stage == RUNNING) {
        snprintf(all->why, sizeof(all->why), "process %.100s failed", p->name);
        stage_enter(all, GRACE);
    }
}

/* Is it the death of a process for which all start again? Not when one has
 * ended well: then the run was over. */
static bool is_restart(const child *p, int number)
{
    const children *all = p->all;

    return all->plan->restarts && number && all->stage < TERM &&
           !all->interrupted && !all->over;
}

static void all_again(child *p, const char *how)
{
    children *all = p->all;

    process_died(p, how);
    all->again = true;
    caught_mask(SIG_BLOCK); /* they are for those who are started again */
    snprintf(all->why, sizeof(all->why),
             "process %.60s died and all are started again", p->name);
    stage_enter(all, KILL);
}

/* Puts how a process ended into its meta file, when it did not do so itself;
 * then it is true. A process without meta never came up; there is nothing to
 * keep, and the times of its events are not known. */
static bool meta_finish(const child *p, eventspace_state state, const char *how)
{
    char file[EVENTSPACE_PATH_BYTES];
    eventspace_meta meta;

    if (eventspace_run_file(file, sizeof(file), p->all->plan->directory,
                            p->name, ".meta") != 0 ||
        eventspace_meta_load(&meta, file) != 0 ||
        meta.state != EVENTSPACE_RUNNING)
        return false;
    meta.state = state;
    meta.end_tick = eventspace_meta_now(&meta);
    snprintf(meta.text, sizeof(meta.text), "%s", how);
    if (eventspace_meta_save(&meta, file) != 0)
        fprintf(stderr, "process %s: %s\n", p->name, pastset_error());
    return true;
}

/* What it said itself of how it failed. */
static bool meta_says(const child *p, char *text, size_t capacity)
{
    char file[EVENTSPACE_PATH_BYTES];
    eventspace_meta meta;

    if (eventspace_run_file(file, sizeof(file), p->all->plan->directory,
                            p->name, ".meta") != 0 ||
        eventspace_meta_load(&meta, file) != 0 ||
        meta.state != EVENTSPACE_FAILED || !meta.text[0])
        return false;
    snprintf(text, capacity, "%s", meta.text);
    return true;
}

static void on_told(void *context)
{
    children *all = context;
    all->telling--;
    end_look(all);
}

/* Those who wait for it cannot see that it has ended before it joined them. If
 * the first process has ended, it is that which they have to be told. */
static void others_tell(child *p, launch_end end, const char *how)
{
    children *all = p->all;
    bool first = p->notice.self == 0;

    if (all->stage >= TERM || !eventspace__notice_is_due(&p->notice))
        return;
    if (first)
        notices_cancel(all);
    else if (all->items[0].notice.self == 0 && !all->items[0].running)
        return;
    p->notice.over = on_told;
    p->notice.context = all;
    if (eventspace__notice_send(&p->notice, end, how) == 0)
        all->telling++;
    else
        fprintf(
            stderr,
            "process %s: cannot report its end to the other processes: %s\n",
            p->name, pastset_error());
}

/* Do the others end because it was killed? */
static bool is_needed(child *p)
{
    return p->notice.self == 0 &&
           (eventspace__notice_is_due(&p->notice) ||
            !paths_map_has_succession(p->all->plan->map));
}

/* What a terminal, or srun, sends to the launcher and its processes alike. */
static bool is_for_all(const children *all, int number)
{
    return number == SIGINT || number == SIGQUIT || number == SIGHUP ||
           (number == all->interrupted && all->plan->in_job);
}

/* SIGKILL is sent after SIGTERM, also to one that is dying of that. */
static bool was_sent(const child *p, int number)
{
    return number == p->sent_signal ||
           (number == SIGTERM && p->sent_signal == SIGKILL);
}

static void has_ended(child *p, int code, int number)
{
    children *all = p->all;
    char how[300], line[320], said[1024];
    bool cut_short;

    stream_finish(&p->streams[0]);
    stream_finish(&p->streams[1]);
    if (number) {
        int length = snprintf(how, sizeof(how), "signal %d (%s)", number,
                              strsignal(number));
        if (was_sent(p, number))
            snprintf(how + length, sizeof(how) - (size_t)length,
                     ", sent because %s", all->why);
        snprintf(line, sizeof(line), "killed by %s", how);
        cut_short = meta_finish(p, EVENTSPACE_KILLED, how);
    } else {
        snprintf(how, sizeof(how), "exit code %d, before its run was finished",
                 code);
        cut_short = meta_finish(p, EVENTSPACE_FAILED, how);
        snprintf(line, sizeof(line), "exit code %d%s", code,
                 cut_short ? ", before its run was finished" : "");
    }
    all->over |= !number && !code && !cut_short;
    if (is_restart(p, number)) {
        all_again(p, line);
        return;
    }
    if (number)
        others_tell(p, LAUNCH_DIED, line);
    else if (code && !cut_short && meta_says(p, said, sizeof(said)))
        others_tell(p, LAUNCH_FAILED, said);
    else
        others_tell(p, code ? LAUNCH_FAILED : LAUNCH_ENDED_WELL, line);
    /* Who connects to it learns at once that it is not there; but it may be
     * started again there. */
    if (!all->plan->restarts && !eventspace__notice_is_due(&p->notice) &&
        p->notice.process->listen_fd >= 0)
        shutdown(p->notice.process->listen_fd, SHUT_RDWR);
    /* Whoever waits for it to join would not see the signal. */
    if (is_hushed(all) && all->stage == TERM &&
        eventspace__notice_is_due(&p->notice))
        stage_enter(all, KILL);
    if (number &&
        (was_sent(p, number) || (all->interrupted && is_for_all(all, number))))
        p->obeyed = number;
    else if (number && all->stage == RUNNING && !all->plan->end_all &&
             !is_needed(p))
        process_died(p, line);
    else if (number || code || cut_short)
        process_failed(p, line);
}

/* Has ended, and it is known why. */
static void ended_take(child *p)
{
    p->all->running--;
    has_ended(p, WIFEXITED(p->how) ? WEXITSTATUS(p->how) : 0,
              WIFSIGNALED(p->how) ? WTERMSIG(p->how) : 0);
    end_look(p->all);
}

/* Idle handles are called before the loop polls: the second time it has. */
static void on_later(uv_idle_t *idle)
{
    children *all = idle->data;

    while (all->ended && all->ended->polled) {
        child *p = all->ended;
        all->ended = p->next;
        ended_take(p);
    }
    for (child *p = all->ended; p; p = p->next)
        p->polled = true;
    if (!all->ended)
        uv_idle_stop(idle);
}

/* A terminal gives its signals to all of a group. When one of them has ended
 * the launcher has its own, but libuv, which polls for these too, calls for
 * them last: what comes of this end is known after one more poll. */
static void end_later(child *p)
{
    children *all = p->all;

    if (!all->ended)
        all->last = &all->ended;
    *all->last = p;
    all->last = &p->next;
    uv_idle_start(&all->later, on_later);
}

static void pidfd_closed(uv_handle_t *handle)
{
    child *p = handle->data;
    close(p->pidfd);
}

static void on_ended(uv_poll_t *handle, int status, int events)
{
    child *p = handle->data;
    int how = 0;
    pid_t got = waitpid(p->pid, &how, WNOHANG);

    (void)status;
    (void)events;
    if (got == 0 || (got < 0 && errno == EINTR))
        return;
    p->running = false;
    p->how = how;
    uv_close((uv_handle_t *)handle, pidfd_closed);
    end_later(p);
}

/* --- starting --- */

/* Opens the pipe of a stream, and stores its writing end. A pipe rather than
 * libuv's pair of sockets, so that programs may open /dev/stdout. */
static int stream_open(stream *s, child *from, FILE *to, int *child_fd)
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

/* Watches for its end. */
static int watch(child *p)
{
    int err;

    p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
    if (p->pidfd < 0)
        return -errno;
    err = uv_poll_init(&p->all->loop, &p->ended, p->pidfd);
    if (err) {
        close(p->pidfd);
        return err;
    }
    p->ended.data = p;
    return uv_poll_start(&p->ended, UV_READABLE, on_ended);
}

/* Starts one process. Returns 0 or a negative errno. */
static int child_start(children *all, size_t index)
{
    const launch_process *process = &all->plan->processes[index];
    child *p = &all->items[index];
    int fds[3] = {-1, -1, -1}; /* of the child: output, errors, line */
    int err;

    p->all = all;
    p->name = process->name;
    all->started++;
    err = eventspace__notice_open(
        &p->notice, all->plan, process, &all->loop,
        &all->joins[index * all->plan->map->process_count], &fds[2]);
    if (!err)
        err = stream_open(&p->streams[0], p, stdout, &fds[0]);
    if (!err)
        err = stream_open(&p->streams[1], p, stderr, &fds[1]);
    if (!err)
        err = eventspace__spawn(all->plan, process, fds[0], fds[1], fds[2],
                                &p->pid);
    for (int i = 0; i < 3; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    if (!err) {
        err = watch(p);
        if (err) { /* it cannot be had without */
            kill(p->pid, SIGKILL);
            waitpid(p->pid, NULL, 0);
        }
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

/* Why a program could not be started, and what to do. */
static void start_explain(char *how, size_t capacity, const char *program,
                          int err)
{
    bool has_folder = strchr(program, '/') != NULL;
    struct stat status;
    bool is_here = stat(program, &status) == 0;
    const char *why = uv_strerror(err);

    if (err == UV_EACCES && is_here && S_ISDIR(status.st_mode))
        why = "it is a directory";
    else if (err == UV_EACCES && is_here && has_folder)
        why = "it is not executable; make it so by `chmod +x`";
    else if (err == UV_ENOENT && is_here && has_folder)
        why = "the interpreter or loader that it names is not there";
    else if (err == UV_ENOENT && is_here)
        why = "it is not in PATH; for the one in this folder, write ./ in "
              "front";
    else if (err == UV_ENOENT && !has_folder)
        why = "there is no such program in PATH, nor in this folder";
    snprintf(how, capacity, "cannot start %.120s: %s", program, why);
}

/* Starts them one after the other. When that fails for the first one nothing
 * has happened yet; for another it is a failed process like any. */
static int start_all(children *all)
{
    const launch_plan *plan = all->plan;

    for (size_t i = 0; i < plan->process_count; i++) {
        char how[256];
        int err = child_start(all, i);
        /* The first one may have much to say before the loop runs. */
        eventspace__notice_read(&all->items[0].notice);
        if (!err)
            continue;
        start_explain(how, sizeof(how), plan->argv[0], err);
        if (i == 0 && !plan->in_job)
            return pastset_fail(pastset_status_from_errno(-err), "%s", how);
        process_failed(&all->items[i], how);
        others_tell(&all->items[i], LAUNCH_FAILED, how);
        break;
    }
    return 0;
}

void eventspace__signals_release(void)
{
    caught_mask(SIG_UNBLOCK);
}

static int loop_make(children *all)
{
    int err = uv_loop_init(&all->loop);

    if (err)
        return pastset_fail(pastset_status_from_errno(-err),
                            "the launcher's event loop: %s", uv_strerror(err));
    uv_timer_init(&all->loop, &all->timer);
    all->timer.data = all;
    uv_timer_init(&all->loop, &all->looks);
    all->looks.data = all;
    if (all->plan->end || all->plan->parent)
        uv_timer_start(&all->looks, on_look, LOOK_MS, LOOK_MS);
    uv_unref((uv_handle_t *)&all->looks);
    uv_idle_init(&all->loop, &all->later);
    all->later.data = all;
    for (size_t i = 0; i < CAUGHT; i++) {
        struct sigaction now;
        uv_signal_init(&all->loop, &all->signals[i]);
        all->signals[i].data = all;
        /* What the caller has chosen to ignore (nohup) stays ignored. */
        if (sigaction(caught[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            uv_signal_start(&all->signals[i], on_signal, caught[i]);
    }
    if (all->plan->restarts)
        eventspace__signals_release();
    return 0;
}

/* Those that ended as they were told, on one line for each signal. */
static void obeyed_tell(const children *all, int number)
{
    size_t count = 0, told = 0;

    for (size_t i = 0; i < all->started; i++)
        count += all->items[i].obeyed == number;
    if (count == 0 || is_hushed(all))
        return;
    fputs(count == 1 ? "process" : "processes", stderr);
    for (size_t i = 0; i < all->started && told < NAMES; i++) {
        if (all->items[i].obeyed != number)
            continue;
        fprintf(stderr, "%s %s", told ? "," : "", all->items[i].name);
        told++;
    }
    if (count > told)
        fprintf(stderr, " and %zu more", count - told);
    if (is_for_all(all, number))
        fprintf(stderr, ": killed by signal %d (%s), as was the launcher\n",
                number, strsignal(number));
    else
        fprintf(stderr, ": killed by signal %d (%s), sent because %s\n", number,
                strsignal(number), all->why);
    fflush(stderr);
}

/* --- the first failure --- */

/* Another one that failed, and whose death or whose words this one gives as the
 * reason. */
static child *blamed_by(const child *p)
{
    children *all = p->all;
    static const char *const ends[] = {" died", " failed"};
    char said[1024], others[1024], words[320];

    if (!meta_says(p, said, sizeof(said)))
        return NULL;
    for (size_t i = 0; i < all->started; i++) {
        child *other = &all->items[i];
        if (other == p || !other->failure[0])
            continue;
        for (size_t k = 0; k < sizeof(ends) / sizeof(*ends); k++) {
            snprintf(words, sizeof(words), "process %.280s%s", other->name,
                     ends[k]);
            if (strstr(said, words))
                return other;
        }
        if (meta_says(other, others, sizeof(others)) &&
            strlen(others) < strlen(said) && strstr(said, others))
            return other;
    }
    return NULL;
}

/* Finds the one that failed first, and stores what it did, with its own words
 * if it left some. */
static const child *first_find(const children *all)
{
    const launch_plan *plan = all->plan;
    const child *p = all->first, *other;
    char said[1024], prefix[300];
    size_t skip;

    for (size_t i = 0; p && i < all->started; i++)
        p = (other = blamed_by(p)) ? other : p;
    if (!p || !plan->failure)
        return p;
    skip =
        (size_t)snprintf(prefix, sizeof(prefix), "process %.280s: ", p->name);
    if (!meta_says(p, said, sizeof(said)))
        snprintf(plan->failure, plan->failure_bytes, "process %s: %s", p->name,
                 p->failure);
    else
        snprintf(plan->failure, plan->failure_bytes, "process %s: %s: %s",
                 p->name, p->failure,
                 said + (strncmp(said, prefix, skip) == 0 ? skip : 0));
    return p;
}

static int code_of(const children *all)
{
    const child *first = first_find(all);

    if (first && WIFSIGNALED(first->how))
        return 128 + WTERMSIG(first->how);
    if (!first && all->interrupted)
        return 128 + all->interrupted;
    return all->failed;
}

int eventspace__processes_run(const launch_plan *plan, int *exit_code,
                              bool *again)
{
    children all = {.plan = plan};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    struct sigaction chld = {.sa_handler = SIG_DFL}, child_before;
    static const int told[] = {SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGKILL};
    int err;

    all.items = calloc(plan->process_count, sizeof(all.items[0]));
    all.joins = calloc(plan->process_count * plan->map->process_count,
                       sizeof(all.joins[0]));
    err = all.items && all.joins
              ? loop_make(&all)
              : pastset_no_memory("for %zu processes", plan->process_count);
    if (!err) {
        /* Whoever reads our output may go away; the run goes on. */
        sigaction(SIGPIPE, &ignore, &before);
        /* Were it ignored, nobody would be told how processes ended. */
        sigaction(SIGCHLD, &chld, &child_before);
        err = start_all(&all);
        if (err)
            loop_let_go(&all);
        else if (plan->started)
            plan->started(plan->context);
        uv_run(&all.loop, UV_RUN_DEFAULT);
        for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
            obeyed_tell(&all, told[i]);
        uv_loop_close(&all.loop);
        sigaction(SIGCHLD, &child_before, NULL);
        sigaction(SIGPIPE, &before, NULL);
    }
    *exit_code = err ? 1 : code_of(&all);
    *again = !err && all.again && !all.interrupted && !end_reason(plan);
    free(all.joins);
    free(all.items);
    return err;
}
