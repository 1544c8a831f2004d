/* process.c - starting, running and stopping a process. */
#include "paths/engine/process.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "paths/engine/process_internal.h"
#include "paths/map/networks.h"
#include "paths/net/address.h"
#include "paths/net/connect_internal.h"
#include "paths/net/member_internal.h"
#include "paths/net/relay_internal.h"
#include "paths/net/serve_internal.h"
#include "paths/net/silence_internal.h"

#define HELD_MAX 1000000
#define CONNECT_TIMEOUT_MS 60000
#define TIDY_MS 500
/* How long a coordinator that failed waits for processes that have not come
 * yet, to tell them why. */
#define LINGER_MS 2000
#define ACCEPTS_AT_ONCE 16 /* before the loop turns to the others */

/* --- connections --- */

static void closed(connection *c, bool open, const char *why)
{
    paths__serve_abandon(c);
    paths__relay_lost(c);
    if (open) {
        paths__serve_lost(c, why);
        paths__member_lost(c, why);
    }
}

static const connection_handler handler = {
    .greeting = paths__unauthenticated_read,
    .payload_at = paths__serve_payload_at,
    .frame = paths__serve_frame,
    .broken = paths__member_broken,
    .closed = closed,
};

/* --- listening --- */

static void on_accept(uv_poll_t *handle, int status, int events)
{
    paths_process *process = handle->data;

    (void)events;
    for (int i = 0; status == 0 && i < ACCEPTS_AT_ONCE; i++) {
        int fd = accept4(process->listen_fd, NULL, NULL,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
                       errno == ENOMEM)) {
            /* The socket stays ready: look again at the next tidying. */
            uv_poll_stop(handle);
            process->listening = false;
        }
        if (fd < 0)
            return;
        paths__socket_tune(fd);
        paths__unauthenticated_accept(process, fd);
    }
}

static void listener_start(paths_process *process)
{
    process->listening = true;
    uv_poll_start(&process->listener, UV_READABLE, on_accept);
}

static void on_tidy(uv_timer_t *timer)
{
    paths_process *process = timer->data;

    paths__join_late(process);
    if (!process->listening && process->process_count > 1)
        listener_start(process);
    process->loop_executor.noted |= process->begun; /* a sign of life */
    paths__unauthenticated_tidy(process);
    paths__relays_tidy(process);
    paths__silence_tidy(process);
    paths__member_tidy(process);
    paths__member_turn(
        process); /* a failed coordinator does not wait for ever */
}

/* --- running the threads --- */

static int threads_start(paths_process *process)
{
    for (uint32_t i = 0; i < process->thread_count; i++) {
        paths_thread *thread = &process->threads[i];
        int error;

        atomic_fetch_add(&process->threads_running, 1);
        error = pthread_create(&thread->id, NULL, paths__thread_run, thread);
        if (error) {
            atomic_fetch_sub(&process->threads_running, 1);
            return pastset_fail(PASTSET_ELIMIT, "cannot start thread %s: %s",
                                thread->node->name, strerror(error));
        }
        thread->started = true;
    }
    return 0;
}

static void on_wakeup(paths_process *process)
{
    int joined;

    paths__connection_flush_all(process);
    joined = paths__join_turn(process);
    if (joined > 0 && !atomic_load(&process->failed))
        joined = threads_start(process);
    if (joined < 0)
        paths_process_fail(process, joined);
    paths__member_turn(process);
}

static void on_rest(uv_prepare_t *handle)
{
    paths_process *process = handle->data;

    paths__executor_goes_on(&process->loop_executor);
}

static void on_timer(uv_poll_t *handle, int status, int events)
{
    (void)status;
    (void)events;
    paths__timers_run(handle->data);
}

/* --- starting --- */

/* The loop, and what it watches from its first moment. */
static int loop_make(paths_process *process)
{
    int error;

    process->timer_fd =
        timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (process->timer_fd < 0)
        return pastset_fail(pastset_status_from_errno(errno),
                            "cannot make a timer: %s", strerror(errno));
    error = uv_loop_init(&process->loop);
    if (error == 0) {
        process->loop_open = true;
        uv_timer_init(&process->loop, &process->tidy); /* cannot fail */
        process->tidy.data = process;
        error = paths__wakeup_open(&process->wakeup, &process->loop, process,
                                   on_wakeup);
    }
    if (error == 0)
        error =
            uv_poll_init(&process->loop, &process->timer, process->timer_fd);
    if (error)
        return pastset_fail(pastset_status_from_errno(-error),
                            "cannot make a network loop: %s",
                            uv_strerror(error));
    process->timer.data = process;
    uv_poll_start(&process->timer, UV_READABLE, on_timer);
    uv_timer_start(&process->tidy, on_tidy, TIDY_MS, TIDY_MS);
    uv_prepare_init(&process->loop, &process->rest);
    process->rest.data = process;
    uv_prepare_start(&process->rest, on_rest);
    return 0;
}

int paths__loop_open(paths_process *process, int listen_fd)
{
    const paths_attributes *own =
        &process->map->processes[process->self].attributes;
    char actual[PATHS_ADDRESS_TEXT];
    int err;

    process->listen_fd = listen_fd;
    err = loop_make(process);
    if (err || process->process_count == 1)
        return err;
    if (process->listen_fd < 0)
        err = paths_address_listen(&process->listen_fd,
                                   paths_attributes_get(own, "address"),
                                   paths_networks_several(own), actual);
    if (err)
        return err;
    fcntl(process->listen_fd, F_SETFL,
          fcntl(process->listen_fd, F_GETFL) | O_NONBLOCK);
    /* A program that this one starts must not keep the address alive. */
    fcntl(process->listen_fd, F_SETFD, FD_CLOEXEC);
    if (uv_poll_init(&process->loop, &process->listener, process->listen_fd) !=
        0)
        return pastset_fail(PASTSET_EINVAL,
                            "descriptor %d is not a listening socket",
                            process->listen_fd);
    process->listener.data = process;
    listener_start(process);
    return 0;
}

static uint64_t monotonic_ns(void)
{
    return (uint64_t)pastset_now_ns();
}

static int identify(paths_process *process,
                    const paths_process_options *options)
{
    const char *polling;

    /* Without a file nobody could read the notes. */
    if (options->space_file)
        process->ticks = options->ticks ? options->ticks : monotonic_ns;
    process->thread_begins = options->thread_begins;
    process->thread_ends = options->thread_ends;
    process->loop_executor.process = process;
    process->self = paths_map_find_process(process->map, options->process);
    if (process->self == PATHS_NONE)
        return pastset_fail(PASTSET_ENOENT, "%s has no process \"%s\"",
                            process->map->file, options->process);
    if (process->process_count > 1 && !options->key)
        return pastset_fail(PASTSET_EINVAL,
                            "a run of several processes needs a key");
    if (sodium_init() < 0)
        return pastset_fail(PASTSET_EIO, "cannot initialize libsodium");
    if (options->key)
        memcpy(process->key, options->key, PATHS_KEY_BYTES);
    process->digest = paths_map_digest(process->map);
    process->has_succession = paths_map_has_succession(process->map);
    polling = paths_attributes_get(
        &process->map->processes[process->self].attributes, "polling");
    process->polling = polling && strcmp(polling, "true") == 0;
    return 0;
}

static int check_map(const paths_map *map)
{
    paths_diagnostics diagnostics = {NULL, 0};
    int err = paths_map_check(map, &diagnostics);

    paths_diagnostics_clear(&diagnostics);
    return err;
}

int paths__process_create(paths_process **out,
                          const paths_process_options *options)
{
    paths_process *process = calloc(1, sizeof(*process));

    *out = process;
    if (!process)
        return pastset_no_memory("for a process");
    process->map = options->map;
    process->handler = &handler;
    process->process_count = options->map->process_count;
    process->listen_fd = process->timer_fd = process->launcher_fd = -1;
    process->wakeup.fd = -1;
    process->contexts = options->contexts;
    process->held_max = options->held_max ? options->held_max : HELD_MAX;
    process->connect_timeout_ms = options->connect_timeout_ms
                                      ? options->connect_timeout_ms
                                      : CONNECT_TIMEOUT_MS;
    process->refused_ms =
        options->refused_ms ? options->refused_ms : process->connect_timeout_ms;
    atomic_init(&process->linger_ms, LINGER_MS);
    pthread_mutex_init(&process->held_lock, NULL);
    pthread_mutex_init(&process->failure_lock, NULL);
    return identify(process, options);
}

int paths_process_start(paths_process **out,
                        const paths_process_options *options)
{
    pastset_space_options space = {.path = options->space_file};
    paths_process *process;
    int err;

    *out = NULL;
    err = check_map(options->map);
    if (err)
        return err;
    err = paths__process_create(&process, options);
    if (err)
        goto failed;
    err = paths__loop_open(process, options->listen_fd);
    if (err)
        goto failed;
    err = pastset_space_create(&process->space, &space);
    if (err)
        goto failed;
    err = paths__bind(process);
    if (!err)
        err = paths__commits_make(process, options->restored_space,
                                  options->restored_step);
    if (err)
        goto failed;
    if (options->launcher_fd > 0)
        err = paths__launcher_open(process, options->launcher_fd);
    if (err)
        goto failed;
    process->contexts = NULL;
    *out = process;
    return 0;
failed:
    pastset_fail_while(err, "process %s", options->process);
    paths_process_stop(process);
    return err;
}

int paths_process_program(paths_process *process, const char *pattern,
                          paths_main *program, void *argument)
{
    bool matched = false;

    for (uint32_t i = 0; i < process->map->node_count && !matched; i++)
        matched = process->map->nodes[i].kind == PATHS_THREAD &&
                  fnmatch(pattern, process->map->nodes[i].name, 0) == 0;
    if (!matched)
        return pastset_fail(PASTSET_ENOENT,
                            "no thread of the map matches \"%s\"", pattern);
    for (uint32_t i = 0; i < process->thread_count; i++) {
        paths_thread *thread = &process->threads[i];
        if (fnmatch(pattern, thread->node->name, 0) == 0) {
            thread->program = program;
            thread->argument = argument;
        }
    }
    return 0;
}

/* --- running --- */

static void connections_close(paths_process *process)
{
    process->closing = true;
    while (process->connections)
        paths__connection_close(process->connections, "this process ends");
    paths__connection_flush_all(process);
    paths__end_all(process); /* of whoever had left before */
}

/* Does the loop have work that somebody waits for? */
static bool loop_serves(const paths_process *process)
{
    for (uint32_t i = 0; i < process->map->node_count; i++) {
        if (process->stages[i] && process->stages[i]->entry)
            return true;
    }
    return false;
}

/* A process that polls answers sooner by what waking it would take, and keeps a
 * processor busy. One that serves nothing has only its threads poll. */
void paths__loop_run(paths_process *process)
{
    bool polls = process->polling && loop_serves(process);
    bool go_on = true;

    while (go_on) {
        if (polls)
            uv_run(&process->loop, UV_RUN_NOWAIT);
        else
            uv_run(&process->loop, UV_RUN_DEFAULT);
        go_on = !process->ended && !paths__member_gone(process);
    }
}

/* Of what others have said why they failed, their names come first. */
static void fail_for_another(const paths_process *process, int status)
{
    const char *own = paths_process_name(process), *how;

    for (uint32_t i = 0; i < process->map->process_count; i++) {
        how = paths__failure_of(process->failure, process_name(process, i));
        if (!how)
            continue;
        if (i == process->self)
            pastset_fail(status, "%s", process->failure);
        else
            pastset_fail(status,
                         "process %s: ended because process %s failed: %s", own,
                         process_name(process, i), how);
        return;
    }
    pastset_fail(status, "process %s: %s", own, process->failure);
}

static int result(paths_process *process)
{
    int status;

    pthread_mutex_lock(&process->failure_lock);
    status = atomic_load(&process->failed);
    if (status && process->thread_failure[0])
        pastset_fail(status, "process %s: %s", paths_process_name(process),
                     process->thread_failure);
    else if (status)
        fail_for_another(process, status);
    else if (process->loss[0] && process->self == process->first)
        status = pastset_fail(
            PASTSET_EHOST, "process %s: the other processes completed, but %s",
            paths_process_name(process), process->loss);
    pthread_mutex_unlock(&process->failure_lock);
    return status;
}

int paths_process_run(paths_process *process)
{
    int err = 0;

    for (uint32_t i = 0; i < process->thread_count && !err; i++) {
        if (!process->threads[i].program)
            err = pastset_fail(
                PASTSET_EINVAL,
                "process %s: thread %s has no program: give it one "
                "with eventspace_program",
                paths_process_name(process), process->threads[i].node->name);
    }
    if (!err)
        err = paths__join_start(process);
    if (err)
        return err;
    paths__current_set(&process->loop_executor);
    uv_update_time(&process->loop); /* it may be long since the start */
    process->since_ms = uv_now(&process->loop);
    paths__loop_run(process);
    pthread_join(process->connector, NULL);
    paths__rejoin_end(process);
    for (uint32_t i = 0; i < process->thread_count; i++) {
        if (process->threads[i].started)
            pthread_join(process->threads[i].id, NULL);
    }
    /* Now rather than in stop, since it ends the operations that others have
     * left here, and their collectors still write. */
    connections_close(process);
    /* Its own end first: two that pass on for each other would wait. */
    for (uint32_t i = 0; i < process->thread_count && process->relays; i++)
        paths__thread_interrupt(&process->threads[i]);
    while (paths__relays_linger(process))
        uv_run(&process->loop, UV_RUN_DEFAULT);
    paths__executor_is(&process->loop_executor, PATHS_ENDED);
    paths__current_set(NULL);
    return result(process);
}

/* --- stopping --- */

static void close_handle(uv_handle_t *handle, void *argument)
{
    (void)argument;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void loop_close(paths_process *process)
{
    connections_close(process);
    paths__relays_close(process);
    /* Threads of wrappers go on until their stages are given back. */
    pthread_mutex_lock(&process->failure_lock);
    process->loop_open = false;
    pthread_mutex_unlock(&process->failure_lock);
    uv_walk(&process->loop, close_handle, NULL);
    /* Until all are closed: closing what was passed on may have stopped it. */
    while (uv_run(&process->loop, UV_RUN_DEFAULT) != 0)
        ;
    uv_loop_close(&process->loop);
}

void paths_process_stop(paths_process *process)
{
    if (!process)
        return;
    if (process->loop_open)
        loop_close(process);
    for (uint32_t i = 0;
         process->connector_channels && i < 2 * process->process_count; i++)
        paths__channel_close(&process->connector_channels[i]);
    free(process->connector_channels);
    free(process->probes);
    paths__wakeup_close(&process->wakeup);
    if (process->timer_fd >= 0)
        close(process->timer_fd);
    if (process->listen_fd >= 0)
        close(process->listen_fd);
    if (process->launcher_fd >= 0)
        close(process->launcher_fd);
    paths__unbind(process);
    pastset_space_close(process->space);
    paths__timers_fini(process);
    pthread_mutex_destroy(&process->held_lock);
    pthread_mutex_destroy(&process->failure_lock);
    sodium_memzero(process->key, sizeof(process->key));
    free(process);
}
