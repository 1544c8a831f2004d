/* host.c - starting, running and stopping a host. */
#include "paths/engine/host.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "paths/engine/host_internal.h"
#include "paths/net/address.h"
#include "paths/net/connect_internal.h"
#include "paths/net/member_internal.h"
#include "paths/net/serve_internal.h"

#define HELD_MAX 1000000
#define CONNECT_TIMEOUT_MS 60000
#define TIDY_MS 500
/* How long a coordinator that failed waits for hosts that have not come yet,
 * to tell them why. */
#define LINGER_MS 2000
#define ACCEPTS_AT_ONCE 16 /* before the loop turns to the others */

/* --- connections --- */

static void closed(connection *c, bool open, const char *why)
{
    paths__serve_abandon(c);
    if (open) {
        paths__serve_lost(c, why);
        paths__member_lost(c, why);
    }
}

static const connection_handler handler = {
    .greeting = paths__unauthenticated_read,
    .payload_at = paths__serve_payload_at,
    .frame = paths__serve_frame,
    .closed = closed,
};

/* --- listening --- */

static void on_accept(uv_poll_t *handle, int status, int events)
{
    paths_host *host = handle->data;

    (void)events;
    for (int i = 0; status == 0 && i < ACCEPTS_AT_ONCE; i++) {
        int fd =
            accept4(host->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
                       errno == ENOMEM)) {
            /* The socket stays ready: look again at the next tidying. */
            uv_poll_stop(handle);
            host->listening = false;
        }
        if (fd < 0)
            return;
        paths__socket_tune(fd);
        paths__unauthenticated_accept(host, fd);
    }
}

static void listener_start(paths_host *host)
{
    host->listening = true;
    uv_poll_start(&host->listener, UV_READABLE, on_accept);
}

static void on_tidy(uv_timer_t *timer)
{
    paths_host *host = timer->data;

    paths__join_late(host);
    if (!host->listening && host->host_count > 1)
        listener_start(host);
    host->loop_executor.noted |= host->begun; /* a sign of life */
    paths__unauthenticated_tidy(host);
    paths__member_turn(host); /* a failed coordinator does not wait for ever */
}

/* --- running the threads --- */

static int threads_start(paths_host *host)
{
    for (uint32_t i = 0; i < host->thread_count; i++) {
        paths_thread *thread = &host->threads[i];
        int error;

        atomic_fetch_add(&host->threads_running, 1);
        error = pthread_create(&thread->id, NULL, paths__thread_run, thread);
        if (error) {
            atomic_fetch_sub(&host->threads_running, 1);
            return pastset_fail(PASTSET_ELIMIT, "cannot start thread %s: %s",
                                thread->node->name, strerror(error));
        }
        thread->started = true;
    }
    return 0;
}

static void on_wakeup(uv_async_t *handle)
{
    paths_host *host = handle->data;
    int joined;

    paths__connection_flush_all(host);
    joined = paths__join_turn(host);
    if (joined > 0 && !atomic_load(&host->failed))
        joined = threads_start(host);
    if (joined < 0)
        paths_host_fail(host, joined);
    paths__member_turn(host);
}

static void on_rest(uv_prepare_t *handle)
{
    paths_host *host = handle->data;

    paths__executor_goes_on(&host->loop_executor);
}

static void on_timer(uv_poll_t *handle, int status, int events)
{
    (void)status;
    (void)events;
    paths__timers_run(handle->data);
}

/* --- starting --- */

/* The loop, and what it watches from its first moment. */
static int loop_make(paths_host *host)
{
    int error;

    host->timer_fd =
        timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (host->timer_fd < 0)
        return pastset_fail(pastset_status_from_errno(errno),
                            "cannot make a timer: %s", strerror(errno));
    error = uv_loop_init(&host->loop);
    if (error == 0) {
        host->loop_open = true;
        uv_timer_init(&host->loop, &host->tidy); /* cannot fail */
        host->tidy.data = host;
        error = uv_async_init(&host->loop, &host->wakeup, on_wakeup);
        host->wakeup.data = host;
    }
    if (error == 0)
        error = uv_poll_init(&host->loop, &host->timer, host->timer_fd);
    if (error)
        return pastset_fail(pastset_status_from_errno(-error),
                            "cannot make a network loop: %s",
                            uv_strerror(error));
    host->timer.data = host;
    uv_poll_start(&host->timer, UV_READABLE, on_timer);
    uv_timer_start(&host->tidy, on_tidy, TIDY_MS, TIDY_MS);
    uv_prepare_init(&host->loop, &host->rest);
    host->rest.data = host;
    uv_prepare_start(&host->rest, on_rest);
    return 0;
}

int paths__loop_open(paths_host *host, int listen_fd)
{
    const char *address = paths_attributes_get(
        &host->map->hosts[host->self].attributes, "address");
    char actual[PATHS_ADDRESS_TEXT];
    int err;

    host->listen_fd = listen_fd;
    err = loop_make(host);
    if (err || host->host_count == 1)
        return err;
    if (host->listen_fd < 0)
        err = paths_address_listen(&host->listen_fd, address, actual);
    if (err)
        return err;
    fcntl(host->listen_fd, F_SETFL,
          fcntl(host->listen_fd, F_GETFL) | O_NONBLOCK);
    /* A program that this one starts must not keep the address alive. */
    fcntl(host->listen_fd, F_SETFD, FD_CLOEXEC);
    if (uv_poll_init(&host->loop, &host->listener, host->listen_fd) != 0)
        return pastset_fail(PASTSET_EINVAL,
                            "descriptor %d is not a listening socket",
                            host->listen_fd);
    host->listener.data = host;
    listener_start(host);
    return 0;
}

static uint64_t monotonic_ns(void)
{
    return (uint64_t)pastset_now_ns();
}

static int identify(paths_host *host, const paths_host_options *options)
{
    const char *polling;

    /* Without a file nobody could read the notes. */
    if (options->space_file)
        host->ticks = options->ticks ? options->ticks : monotonic_ns;
    host->loop_executor.host = host;
    host->self = paths_map_find_host(host->map, options->host);
    if (host->self == PATHS_NONE)
        return pastset_fail(PASTSET_ENOENT, "%s has no host \"%s\"",
                            host->map->file, options->host);
    if (host->host_count > 1 && !options->key)
        return pastset_fail(PASTSET_EINVAL,
                            "a run of several hosts needs a key");
    if (sodium_init() < 0)
        return pastset_fail(PASTSET_EIO, "libsodium does not start");
    if (options->key)
        memcpy(host->key, options->key, PATHS_KEY_BYTES);
    host->digest = paths_map_digest(host->map);
    polling = paths_attributes_get(&host->map->hosts[host->self].attributes,
                                   "polling");
    host->polling = polling && strcmp(polling, "true") == 0;
    return 0;
}

static int check_map(const paths_map *map)
{
    paths_diagnostics diagnostics = {NULL, 0};
    int err = paths_map_check(map, &diagnostics);

    paths_diagnostics_clear(&diagnostics);
    return err;
}

int paths__host_make(paths_host **out, const paths_host_options *options)
{
    paths_host *host = calloc(1, sizeof(*host));

    *out = host;
    if (!host)
        return pastset_fail(PASTSET_ENOMEM, "no memory for a host");
    host->map = options->map;
    host->handler = &handler;
    host->host_count = options->map->host_count;
    host->listen_fd = host->timer_fd = host->launcher_fd = -1;
    host->contexts = options->contexts;
    host->held_max = options->held_max ? options->held_max : HELD_MAX;
    host->connect_timeout_ms = options->connect_timeout_ms
                                   ? options->connect_timeout_ms
                                   : CONNECT_TIMEOUT_MS;
    host->refused_ms =
        options->refused_ms ? options->refused_ms : host->connect_timeout_ms;
    atomic_init(&host->linger_ms, LINGER_MS);
    pthread_mutex_init(&host->held_lock, NULL);
    pthread_mutex_init(&host->failure_lock, NULL);
    return identify(host, options);
}

int paths_host_start(paths_host **out, const paths_host_options *options)
{
    pastset_space_options space = {.path = options->space_file};
    paths_host *host;
    int err;

    *out = NULL;
    err = check_map(options->map);
    if (err)
        return err;
    err = paths__host_make(&host, options);
    if (!err)
        err = paths__loop_open(host, options->listen_fd);
    if (!err)
        err = pastset_space_create(&host->space, &space);
    if (!err)
        err = paths__bind(host);
    if (!err && options->launcher_fd > 0)
        err = paths__launcher_open(host, options->launcher_fd);
    if (err) {
        pastset_fail_while(err, "host %s", options->host);
        paths_host_stop(host);
        return err;
    }
    host->contexts = NULL;
    *out = host;
    return 0;
}

int paths_host_program(paths_host *host, const char *pattern,
                       paths_main *program, void *argument)
{
    bool matched = false;

    for (uint32_t i = 0; i < host->map->node_count && !matched; i++)
        matched = host->map->nodes[i].kind == PATHS_THREAD &&
                  fnmatch(pattern, host->map->nodes[i].name, 0) == 0;
    if (!matched)
        return pastset_fail(PASTSET_ENOENT,
                            "no thread of the map matches \"%s\"", pattern);
    for (uint32_t i = 0; i < host->thread_count; i++) {
        paths_thread *thread = &host->threads[i];
        if (fnmatch(pattern, thread->node->name, 0) == 0) {
            thread->program = program;
            thread->argument = argument;
        }
    }
    return 0;
}

/* --- running --- */

static void connections_close(paths_host *host)
{
    host->closing = true;
    while (host->connections)
        paths__connection_close(host->connections, "this host ends");
    paths__connection_flush_all(host);
    paths__end_all(host); /* of whoever had left before */
}

/* Does the loop have work that somebody waits for? */
static bool loop_serves(const paths_host *host)
{
    for (uint32_t i = 0; i < host->map->node_count; i++) {
        if (host->stages[i] && host->stages[i]->entry)
            return true;
    }
    return false;
}

/* A host that polls answers sooner by what waking it would take, and keeps a
 * processor busy. One that serves nothing has only its threads poll. */
void paths__loop_run(paths_host *host)
{
    bool polls = host->polling && loop_serves(host);
    bool go_on = true;

    while (go_on) {
        if (polls)
            uv_run(&host->loop, UV_RUN_NOWAIT);
        else
            uv_run(&host->loop, UV_RUN_DEFAULT);
        go_on = !host->ended && !paths__member_gone(host);
    }
}

static int result(paths_host *host)
{
    int status;

    pthread_mutex_lock(&host->failure_lock);
    status = atomic_load(&host->failed);
    if (status)
        pastset_fail(status, "host %s: %s", paths_host_name(host),
                     host->thread_failure[0] ? host->thread_failure
                                             : host->failure);
    else if (host->loss[0] && host->self == 0)
        status = pastset_fail(PASTSET_EHOST,
                              "host %s: the others went on to their end, but "
                              "%s",
                              paths_host_name(host), host->loss);
    pthread_mutex_unlock(&host->failure_lock);
    return status;
}

int paths_host_run(paths_host *host)
{
    int err = 0;

    for (uint32_t i = 0; i < host->thread_count && !err; i++) {
        if (!host->threads[i].program)
            err = pastset_fail(PASTSET_EINVAL,
                               "host %s: thread %s has no program: give it one "
                               "with eventspace_program",
                               paths_host_name(host),
                               host->threads[i].node->name);
    }
    if (!err)
        err = paths__join_start(host);
    if (err)
        return err;
    paths__current_set(&host->loop_executor);
    uv_update_time(&host->loop); /* it may be long since the start */
    host->since_ms = uv_now(&host->loop);
    paths__loop_run(host);
    pthread_join(host->connector, NULL);
    for (uint32_t i = 0; i < host->thread_count; i++) {
        if (host->threads[i].started)
            pthread_join(host->threads[i].id, NULL);
    }
    /* Now rather than in stop, since it ends the operations that others have
     * left here, and their collectors still write. */
    connections_close(host);
    paths__executor_is(&host->loop_executor, PATHS_ENDED);
    paths__current_set(NULL);
    return result(host);
}

/* --- stopping --- */

static void close_handle(uv_handle_t *handle, void *argument)
{
    (void)argument;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

static void loop_close(paths_host *host)
{
    connections_close(host);
    uv_walk(&host->loop, close_handle, NULL);
    uv_run(&host->loop, UV_RUN_DEFAULT);
    uv_loop_close(&host->loop);
}

void paths_host_stop(paths_host *host)
{
    if (!host)
        return;
    if (host->loop_open)
        loop_close(host);
    for (uint32_t i = 0; host->connector_fds && i < 2 * host->host_count; i++) {
        if (host->connector_fds[i] >= 0)
            close(host->connector_fds[i]);
    }
    free(host->connector_fds);
    if (host->timer_fd >= 0)
        close(host->timer_fd);
    if (host->listen_fd >= 0)
        close(host->listen_fd);
    if (host->launcher_fd >= 0)
        close(host->launcher_fd);
    paths__unbind(host);
    pastset_space_close(host->space);
    paths__timers_fini(host);
    pthread_mutex_destroy(&host->held_lock);
    pthread_mutex_destroy(&host->failure_lock);
    sodium_memzero(host->key, sizeof(host->key));
    free(host);
}
