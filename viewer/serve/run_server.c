/* run_server.c - a server from begin to end, and where it listens. */
#include "viewer/serve/run_server.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sodium.h>

#include "pastset/status.h"
#include "viewer/draw/draw_process.h"
#include "viewer/serve/run_server_internal.h"
#include "viewer/tables/facts.h"

#define HERE "127.0.0.1:0"
#define BACKLOG 64

/* --- the socket --- */

/* "ADDRESS:PORT", "[ADDRESS]:PORT": the address to `host`, the port returned;
 * NULL: it is neither. */
static const char *split(const char *listen, char *host, size_t room)
{
    const char *colon = strrchr(listen, ':');
    bool bracket = *listen == '[';
    size_t length;

    if (!colon || !colon[1] || strlen(colon + 1) > 5 ||
        colon[1 + strspn(colon + 1, "0123456789")] || atoi(colon + 1) > 65535)
        return NULL;
    length = (size_t)(colon - listen);
    if (bracket && listen[length - 1] != ']')
        return NULL;
    if (bracket)
        length -= 2;
    if (length == 0 || length >= room)
        return NULL;
    memcpy(host, listen + bracket, length);
    host[length] = 0;
    return bracket || !strchr(host, ':') ? colon + 1 : NULL;
}

static int listen_fail(const char *listen, int fd)
{
    const char *what = errno == EADDRINUSE
                           ? ": another program listens there; give another "
                             "port, or port 0 for any that is free"
                           : "";

    pastset_fail(PASTSET_EIO, "cannot listen at %s: %s%s", listen,
                 strerror(errno), what);
    if (fd >= 0)
        close(fd);
    return PASTSET_EIO;
}

static int listen_at(int *out, const char *listen_text,
                     const struct addrinfo *address)
{
    int one = 1;
    int fd = socket(address->ai_family,
                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
        bind(fd, address->ai_addr, address->ai_addrlen) != 0 ||
        listen(fd, BACKLOG) != 0)
        return listen_fail(listen_text, fd);
    *out = fd;
    return 0;
}

static int port_of(int fd)
{
    struct sockaddr_storage bound;
    socklen_t bytes = sizeof(bound);
    char port[NI_MAXSERV];

    if (getsockname(fd, (struct sockaddr *)&bound, &bytes) != 0 ||
        getnameinfo((struct sockaddr *)&bound, bytes, NULL, 0, port,
                    sizeof(port), NI_NUMERICSERV) != 0)
        return 0;
    return atoi(port);
}

static int socket_open(viewer_server *server, const char *listen_text, int *fd)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found;
    const char *port = split(listen_text, server->host, sizeof(server->host));
    bool is_v6 = strchr(server->host, ':');
    int err;

    if (!port)
        return pastset_fail(PASTSET_EINVAL,
                            "'%s' is not ADDRESS:PORT, such as 127.0.0.1:8080 "
                            "or [::1]:0",
                            listen_text);
    err = getaddrinfo(server->host, port, &hints, &found);
    if (err)
        return pastset_fail(PASTSET_EINVAL, "cannot listen at %s: %s",
                            listen_text, gai_strerror(err));
    err = listen_at(fd, listen_text, found);
    freeaddrinfo(found);
    if (!err)
        snprintf(server->address, sizeof(server->address),
                 "http://%s%s%s:%d/%s/", is_v6 ? "[" : "", server->host,
                 is_v6 ? "]" : "", port_of(*fd), server->token);
    return err;
}

/* --- begin and end --- */

static void locks_init(viewer_server *server)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    for (size_t i = 0; i < VIEWER__MAKERS; i++) {
        pthread_mutex_init(&server->makers[i].lock, NULL);
        pthread_cond_init(&server->makers[i].wanted, NULL);
    }
    pthread_mutex_init(&server->live.lock, NULL);
    pthread_mutex_init(&server->live.tops_lock, NULL);
    pthread_mutex_init(&server->live.tops_turn, NULL);
    pthread_cond_init(&server->live.end, &attributes);
    pthread_mutex_init(&server->callers_lock, NULL);
    pthread_condattr_destroy(&attributes);
}

static void locks_fini(viewer_server *server)
{
    for (size_t i = 0; i < VIEWER__MAKERS; i++) {
        pthread_mutex_destroy(&server->makers[i].lock);
        pthread_cond_destroy(&server->makers[i].wanted);
    }
    pthread_mutex_destroy(&server->live.lock);
    pthread_mutex_destroy(&server->live.tops_lock);
    pthread_mutex_destroy(&server->live.tops_turn);
    pthread_cond_destroy(&server->live.end);
    pthread_mutex_destroy(&server->callers_lock);
}

/* Runs have files of each of their processes open, and so has each report that
 * is made; libmicrohttpd takes nobody in any more after one that it could not
 * have. */
static void open_many_files(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

static int start(viewer_server *server, const char *listen_text)
{
    int fd = -1;
    int err = viewer_draw_process_start();

    if (!err)
        err = socket_open(server, listen_text ? listen_text : HERE, &fd);
    if (err)
        return err;
    err = viewer__live_start(server);
    if (!err)
        err = viewer__makers_start(server);
    if (!err)
        err = viewer__http_start(server, fd);
    if (err)
        close(fd);
    return err;
}

int viewer_server_open(viewer_server **out, const viewer_serve_run *runs,
                       size_t run_count, const viewer_serve_options *options)
{
    viewer_server *server = calloc(1, sizeof(*server));
    int err;

    *out = NULL;
    if (!server || sodium_init() < 0) {
        free(server);
        return pastset_no_memory("for a server");
    }
    memcpy(server->runs, runs, run_count * sizeof(*runs));
    server->run_count = run_count;
    server->interval_ns = options && options->interval_ns > 0
                              ? options->interval_ns
                              : VIEWER__SECOND_NS;
    if (options)
        server->panels = options->panels;
    server->event_cost_ns = viewer_event_cost_ns();
    viewer__token_make(server->token);
    locks_init(server);
    open_many_files();
    err = start(server, options ? options->listen : NULL);
    if (err) {
        viewer_server_close(server);
        return err;
    }
    *out = server;
    return 0;
}

const char *viewer_server_address(const viewer_server *server)
{
    return server->address;
}

/* Those that are suspended are resumed first, each by its thread: for HTTP to
 * end, nobody must be. */
void viewer_server_close(viewer_server *server)
{
    if (!server)
        return;
    viewer__makers_stop(server);
    viewer__live_stop(server);
    viewer__http_stop(server);
    viewer_draw_process_stop();
    viewer__live_fini(server);
    viewer__makers_fini(server);
    locks_fini(server);
    sodium_memzero(server->token, sizeof(server->token));
    free(server);
}
