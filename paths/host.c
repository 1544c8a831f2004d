/* host.c - starting, running and stopping a host. */
#include "paths/host.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "paths/address.h"
#include "paths/host_internal.h"

#define HELD_MAX 1000000
#define CONNECT_TIMEOUT_MS 60000
#define STRANGERS_MAX 512 /* connections that have not proven the key */
#define STRANGER_MS 5000  /* time that they have for it */
#define TIDY_MS 500
#define ACCEPTS_AT_ONCE 16 /* before the loop turns to the others */

/* --- failure --- */

static void failure_set(paths_host *host, int status, bool of_thread)
{
    pthread_mutex_lock(&host->failure_lock);
    if (of_thread && !host->thread_failure[0])
        snprintf(host->thread_failure, sizeof(host->thread_failure), "%s",
                 pastset_error());
    if (!atomic_load(&host->failed)) {
        if (of_thread)
            snprintf(host->failure, sizeof(host->failure), "host %s: %s",
                     paths_host_name(host), pastset_error());
        else
            snprintf(host->failure, sizeof(host->failure), "%s",
                     pastset_error());
        atomic_store(&host->failed, status);
    }
    pthread_mutex_unlock(&host->failure_lock);
    uv_async_send(&host->wakeup);
}

void paths_host_fail(paths_host *host, int status)
{
    failure_set(host, status, false);
}

void paths__host_fail_thread(paths_host *host, int status)
{
    failure_set(host, status, true);
}

int paths__host_failure(paths_host *host)
{
    int status;

    pthread_mutex_lock(&host->failure_lock);
    status = atomic_load(&host->failed);
    pastset_fail(status, "the run ends: %s", host->failure);
    pthread_mutex_unlock(&host->failure_lock);
    return status;
}

/* --- listening --- */

/* The one that has kept us waiting longest makes place: who knows the key
 * has long proven it, so that a crowd at the door keeps no host out. */
static void stranger_evict(paths_host *host)
{
    connection *oldest = NULL;

    for (connection *c = host->connections; c; c = c->next) {
        if (c->state != CONNECTION_OPEN)
            oldest = c; /* new ones stand in front */
    }
    if (oldest)
        connection_close(oldest, "too many want to come in");
}

static void accept_one(paths_host *host, int fd)
{
    unsigned char greeting[GREETING_BYTES];
    connection *c;

    if (host->strangers >= STRANGERS_MAX)
        stranger_evict(host);
    if (connection_open(&c, host, fd, CONNECTION_GREETING) != 0) {
        close(fd);
        return;
    }
    host->strangers++;
    handshake_greet(greeting, c->challenge);
    if (send(fd, greeting, sizeof(greeting), MSG_NOSIGNAL) !=
        (ssize_t)sizeof(greeting))
        connection_close(c, "it left");
}

static void on_accept(uv_poll_t *handle, int status, int events)
{
    paths_host *host = handle->data;

    (void)events;
    for (int i = 0; status == 0 && i < ACCEPTS_AT_ONCE; i++) {
        int fd =
            accept4(host->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
            /* The socket stays ready: look again at the next tidying. */
            uv_poll_stop(handle);
            host->listening = false;
        }
        if (fd < 0)
            return;
        paths__socket_tune(fd);
        accept_one(host, fd);
    }
}

static void listener_start(paths_host *host)
{
    host->listening = true;
    uv_poll_start(&host->listener, UV_READABLE, on_accept);
}

/* The coordinator: a host that never came would be waited for in vain. */
static void look_for_absent(paths_host *host)
{
    if (host->self != 0 || host->ended ||
        uv_now(&host->loop) - host->since_ms < host->connect_timeout_ms)
        return;
    for (uint32_t i = 1; i < host->host_count; i++) {
        if (!host->peers[i].came && !atomic_load(&host->failed)) {
            pastset_fail(PASTSET_EHOST, "host %s did not come within %u s",
                         host_name(host, i), host->connect_timeout_ms / 1000);
            paths_host_fail(host, PASTSET_EHOST);
        }
    }
}

/* Connections that do not prove the key in time are closed. */
static void on_tidy(uv_timer_t *timer)
{
    paths_host *host = timer->data;
    connection *next;

    look_for_absent(host);
    if (!host->listening)
        listener_start(host);

    for (connection *c = host->connections; c; c = next) {
        next = c->next;
        if (c->state != CONNECTION_OPEN &&
            uv_now(&host->loop) - c->since_ms > STRANGER_MS)
            connection_close(c, "it did not prove the key in time");
    }
    paths__member_turn(host); /* a failed coordinator does not wait for ever */
}

/* --- joining the other hosts --- */

static bool needs_link(const paths_host *host, uint32_t to, uint16_t role)
{
    if (to == host->self)
        return false;
    return role == ROLE_MEMBER ? to == 0 : host->peers[to].loop_needs;
}

/* On a thread of its own, since the loop must answer meanwhile. */
static void *connector_run(void *argument)
{
    paths_host *host = argument;
    int state = 1;

    for (uint32_t i = 0; i < host->host_count && state == 1; i++) {
        for (uint16_t role = ROLE_LOOP; role <= ROLE_MEMBER && state == 1;
             role++) {
            int *fd = &host->connector_fds[2 * i + (role == ROLE_MEMBER)];
            if (needs_link(host, i, role) &&
                paths__connect(host, i, role, fd) != 0)
                state = -1;
        }
    }
    if (state < 0)
        snprintf(host->connector_text, sizeof(host->connector_text), "%s",
                 pastset_error());
    atomic_store(&host->connector_state, state);
    uv_async_send(&host->wakeup);
    return NULL;
}

static int link_adopt(paths_host *host, uint32_t to, uint16_t role, int *fd)
{
    connection *c;
    int err;

    fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) | O_NONBLOCK);
    err = connection_open(&c, host, *fd, CONNECTION_OPEN);
    if (err)
        return err;
    *fd = -1;
    c->peer = to;
    c->role = role;
    if (role == ROLE_MEMBER)
        host->peers[to].member = c;
    else
        paths__serve_linked(host, &host->peers[to], c);
    return 0;
}

static int links_adopt(paths_host *host)
{
    int err = 0;

    for (uint32_t i = 0; i < host->host_count; i++) {
        for (int k = 0; k < 2 && !err; k++) {
            int *fd = &host->connector_fds[2 * i + (uint32_t)k];
            if (*fd >= 0)
                err = link_adopt(host, i, k ? ROLE_MEMBER : ROLE_LOOP, fd);
        }
    }
    pthread_mutex_lock(&host->held_lock);
    host->links_adopted = true;
    pthread_mutex_unlock(&host->held_lock);
    return err;
}

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

/* The connector is done: take its connections over and begin. */
static void begin(paths_host *host)
{
    int err = 0;

    host->begun = true;
    if (atomic_load(&host->connector_state) < 0)
        err = pastset_fail(PASTSET_EHOST, "%s", host->connector_text);
    if (!err)
        err = links_adopt(host);
    if (!err && !atomic_load(&host->failed))
        err = threads_start(host);
    if (err)
        paths_host_fail(host, err);
}

static void on_wakeup(uv_async_t *handle)
{
    paths_host *host = handle->data;

    connection_flush_all(host);
    if (!host->begun && atomic_load(&host->connector_state) != 0)
        begin(host);
    paths__member_turn(host);
}

static void on_timer(uv_poll_t *handle, int status, int events)
{
    (void)status;
    (void)events;
    paths__timers_run(handle->data);
}

/* --- starting --- */

static int loop_open(paths_host *host, int listen_fd)
{
    const char *address = paths_attributes_get(
        &host->map->hosts[host->self].attributes, "address");
    char actual[PATHS_ADDRESS_TEXT];
    int err = 0;

    host->listen_fd = listen_fd;
    host->timer_fd =
        timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (host->timer_fd < 0 || uv_loop_init(&host->loop) != 0)
        return pastset_fail(PASTSET_EIO, "cannot make a network loop: %s",
                            strerror(errno));
    host->loop_open = true;
    uv_async_init(&host->loop, &host->wakeup, on_wakeup);
    host->wakeup.data = host;
    uv_timer_init(&host->loop, &host->tidy);
    host->tidy.data = host;
    uv_poll_init(&host->loop, &host->timer, host->timer_fd);
    host->timer.data = host;
    uv_poll_start(&host->timer, UV_READABLE, on_timer);
    if (host->host_count == 1)
        return 0;
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
    uv_timer_start(&host->tidy, on_tidy, TIDY_MS, TIDY_MS);
    return 0;
}

static int identify(paths_host *host, const paths_host_options *options)
{
    const char *polling;

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
    paths_complaints complaints = {NULL, 0};
    int err = paths_map_check(map, &complaints);

    paths_complaints_clear(&complaints);
    return err;
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
    host = calloc(1, sizeof(*host));
    if (!host)
        return pastset_fail(PASTSET_ENOMEM, "no memory for a host");
    host->map = options->map;
    host->host_count = options->map->host_count;
    host->listen_fd = host->timer_fd = -1;
    host->held_max = options->held_max ? options->held_max : HELD_MAX;
    host->connect_timeout_ms = options->connect_timeout_ms
                                   ? options->connect_timeout_ms
                                   : CONNECT_TIMEOUT_MS;
    pthread_mutex_init(&host->held_lock, NULL);
    pthread_mutex_init(&host->failure_lock, NULL);
    err = identify(host, options);
    if (!err)
        err = loop_open(host, options->listen_fd);
    if (!err)
        err = pastset_space_create(&host->space, &space);
    if (!err)
        err = paths__bind(host);
    if (err) {
        pastset_fail_while(err, "host %s", options->host);
        paths_host_stop(host);
        return err;
    }
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
        connection_close(host->connections, "this host ends");
    connection_flush_all(host);
    paths__end_all(host); /* of whoever had left before */
}

static int connector_start(paths_host *host)
{
    int error;

    host->connector_fds = malloc(2 * host->host_count * sizeof(int));
    if (!host->connector_fds)
        return pastset_fail(PASTSET_ENOMEM, "no memory for the connections");
    for (uint32_t i = 0; i < 2 * host->host_count; i++)
        host->connector_fds[i] = -1;
    error = pthread_create(&host->connector, NULL, connector_run, host);
    if (error)
        return pastset_fail(PASTSET_ELIMIT, "cannot start a thread: %s",
                            strerror(error));
    return 0;
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
static void loop_run(paths_host *host)
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
        err = connector_start(host);
    if (err)
        return err;
    paths__current_set(&host->loop_executor);
    uv_update_time(&host->loop); /* it may be long since the start */
    host->since_ms = uv_now(&host->loop);
    loop_run(host);
    pthread_join(host->connector, NULL);
    for (uint32_t i = 0; i < host->thread_count; i++) {
        if (host->threads[i].started)
            pthread_join(host->threads[i].id, NULL);
    }
    /* Now rather than in stop, since it ends the operations that others have
     * left here, and their collectors still write. */
    connections_close(host);
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
    paths__unbind(host);
    pastset_space_close(host->space);
    paths__timers_fini(host);
    pthread_mutex_destroy(&host->held_lock);
    pthread_mutex_destroy(&host->failure_lock);
    sodium_memzero(host->key, sizeof(host->key));
    free(host);
}

pastset_space *paths_host_space(paths_host *host)
{
    return host->space;
}

uint32_t paths_host_executors(const paths_host *host)
{
    return host->thread_count + 1;
}

const char *paths_host_name(const paths_host *host)
{
    return host_name(host, host->self);
}

const paths_map *paths_host_map(const paths_host *host)
{
    return host->map;
}
