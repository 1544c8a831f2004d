/* serve_callers.c - connections over which nothing sensible comes.
 *
 * libmicrohttpd ends those that are silent. One that sends a byte of a request
 * now and then is not silent, and would keep its place for ever; so it is ended
 * when a whole request takes it too long. */
#include "viewer/serve/run_server_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#define REQUEST_NS (20 * (int64_t)VIEWER__SECOND_NS)
#define IDLE_MAX (VIEWER__CONNECTIONS_MAX / 2)

int64_t viewer__serve_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * VIEWER__SECOND_NS + t.tv_nsec;
}

bool viewer__caller_has_gone(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    char byte;
    ssize_t got =
        info ? recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) : 1;

    return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK &&
                        errno != EINTR);
}

/* Of many that ask for nothing, whoever came first makes room: a request is
 * there milliseconds after its connection. */
static void make_room(viewer_server *server)
{
    viewer__caller *oldest = NULL;
    unsigned idle = 0;

    for (viewer__caller *c = server->callers; c; c = c->next) {
        if (c->busy || c->ended)
            continue;
        idle++;
        if (!oldest || c->since_ns < oldest->since_ns)
            oldest = c;
    }
    if (idle <= IDLE_MAX)
        return;
    oldest->ended = true;
    shutdown(oldest->fd, SHUT_RDWR);
}

static void caller_begin(viewer_server *server,
                         struct MHD_Connection *connection, void **context)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    viewer__caller *caller = info ? calloc(1, sizeof(*caller)) : NULL;

    *context = caller;
    if (!caller)
        return;
    caller->fd = info->connect_fd;
    caller->since_ns = viewer__serve_now_ns();
    caller->next = server->callers;
    if (caller->next)
        caller->next->before = caller;
    server->callers = caller;
    make_room(server);
}

static void caller_end(viewer_server *server, void **context)
{
    viewer__caller *caller = *context;

    if (!caller)
        return;
    if (caller->next)
        caller->next->before = caller->before;
    if (caller->before)
        caller->before->next = caller->next;
    else
        server->callers = caller->next;
    free(caller);
    *context = NULL;
}

/* The end is noted before the descriptor is closed. */
void viewer__callers_note(void *context, struct MHD_Connection *connection,
                          void **place,
                          enum MHD_ConnectionNotificationCode code)
{
    viewer_server *server = context;

    pthread_mutex_lock(&server->callers_lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        caller_begin(server, connection, place);
    else
        caller_end(server, place);
    pthread_mutex_unlock(&server->callers_lock);
}

void viewer__caller_busy(viewer_server *server,
                         struct MHD_Connection *connection, bool busy)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    viewer__caller *caller = info ? info->socket_context : NULL;

    if (!caller)
        return;
    pthread_mutex_lock(&server->callers_lock);
    caller->busy = busy;
    caller->since_ns = viewer__serve_now_ns();
    pthread_mutex_unlock(&server->callers_lock);
}

void viewer__callers_look(viewer_server *server)
{
    int64_t now_ns = viewer__serve_now_ns();

    pthread_mutex_lock(&server->callers_lock);
    for (viewer__caller *c = server->callers; c; c = c->next)
        if (!c->busy && now_ns - c->since_ns > REQUEST_NS)
            shutdown(c->fd, SHUT_RDWR);
    pthread_mutex_unlock(&server->callers_lock);
}
