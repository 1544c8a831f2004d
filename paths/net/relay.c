/* relay.c - see relay_internal.h. */
#include "paths/net/relay_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "paths/map/networks_internal.h"
#include "paths/net/address.h"
#include "paths/net/connect_internal.h"
#include "paths/net/silence_internal.h"

#define FLOW_BYTES 65536
#define MOVES_AT_ONCE 16   /* before the loop turns to the others */
#define CONNECTING_MS 1000 /* as connect.c does */
#define LINGER_MS 3000

/* What one of them has said, and the other has not got. */
typedef struct flow {
    unsigned char *data; /* [begin, end) of FLOW_BYTES */
    size_t begin, end;
    bool is_over; /* nothing more comes, or it cannot go on */
} flow;

typedef struct side {
    uv_poll_t poll;
    int fd;
    bool is_watched; /* `poll` is libuv's */
} side;

/* Side 0 has asked for it, side 1 was asked for. Flow i comes from side i. */
struct relay {
    side sides[2];
    flow flows[2];
    paths_process *process;
    relay *next, *previous;
    connection *from; /* who has asked, while it is being made; else NULL */
    uint32_t to;
    uint64_t since_ms;
    int handles; /* of libuv's, that are not closed */
};

/* --- the end of one --- */

static void relay_free(relay *r)
{
    free(r->flows[0].data);
    free(r->flows[1].data);
    free(r);
}

static void handle_closed(uv_handle_t *handle)
{
    relay *r = handle->data;

    if (--r->handles == 0)
        relay_free(r);
}

static void relay_close(relay *r)
{
    paths_process *process = r->process;
    bool has_handles = r->handles > 0;

    if (r->previous)
        r->previous->next = r->next;
    else
        process->relays = r->next;
    if (r->next)
        r->next->previous = r->previous;
    for (int i = 0; i < 2; i++) {
        if (r->sides[i].is_watched)
            uv_close((uv_handle_t *)(void *)&r->sides[i].poll, handle_closed);
        if (r->sides[i].fd >= 0)
            close(r->sides[i].fd);
    }
    if (!has_handles)
        relay_free(r);
    /* It may have stayed for this one. */
    if (!process->relays && (process->ended || atomic_load(&process->failed)))
        uv_stop(&process->loop);
}

/* --- passing on --- */

static bool is_empty(const flow *f)
{
    return f->begin == f->end;
}

/* Passes on what there is of one direction. Of a side that is gone, what it has
 * said before still is. */
static void flow_move(relay *r, int from)
{
    flow *f = &r->flows[from];
    int in = r->sides[from].fd, out = r->sides[1 - from].fd;

    for (int i = 0; i < MOVES_AT_ONCE && !(f->is_over && is_empty(f)); i++) {
        ssize_t moved;
        if (!is_empty(f)) {
            moved =
                send(out, f->data + f->begin, f->end - f->begin, MSG_NOSIGNAL);
            if (moved < 0 && (errno == EAGAIN || errno == EINTR))
                return;
            if (moved < 0) {
                f->begin = f->end = 0;
                f->is_over = true;
                return;
            }
            f->begin += (size_t)moved;
        } else {
            f->begin = f->end = 0;
            moved = recv(in, f->data, FLOW_BYTES, 0);
            if (moved < 0 && (errno == EAGAIN || errno == EINTR))
                return;
            f->is_over = moved <= 0;
            f->end = moved > 0 ? (size_t)moved : 0;
            if (f->is_over)
                shutdown(out, SHUT_WR);
        }
    }
}

static void on_event(uv_poll_t *poll, int status, int events);

/* A side is read from when all that it has said is passed on, and written to
 * when there is something for it. */
static void watch(relay *r)
{
    for (int i = 0; i < 2; i++) {
        const flow *out = &r->flows[i], *in = &r->flows[1 - i];
        int events = (is_empty(out) && !out->is_over ? UV_READABLE : 0) |
                     (is_empty(in) ? 0 : UV_WRITABLE);
        if (events)
            uv_poll_start(&r->sides[i].poll, events, on_event);
        else
            uv_poll_stop(&r->sides[i].poll);
    }
}

static bool is_over(const flow *f)
{
    return f->is_over && is_empty(f);
}

/* An error is found again by what is done with the socket. */
static void on_event(uv_poll_t *poll, int status, int events)
{
    relay *r = poll->data;

    (void)status;
    (void)events;
    flow_move(r, 0);
    flow_move(r, 1);
    if (is_over(&r->flows[0]) && is_over(&r->flows[1]))
        relay_close(r);
    else
        watch(r);
}

/* --- making one --- */

static void refuse(relay *r, const char *why)
{
    char text[WIRE_TEXT_BYTES];
    wire_header header = {.kind = WIRE_FAILED};

    snprintf(text, sizeof(text), "process %s cannot reach process %s: %s",
             paths_process_name(r->process), process_name(r->process, r->to),
             why);
    header.bytes = (uint32_t)strlen(text);
    paths__connection_send(r->from, &header, text);
    relay_close(r);
}

/* Watches the socket, as side 0 or 1. */
static bool side_take(relay *r, int i, int fd)
{
    r->sides[i].fd = fd;
    if (fd < 0 || uv_poll_init(&r->process->loop, &r->sides[i].poll, fd) != 0)
        return false;
    r->sides[i].poll.data = r;
    r->sides[i].is_watched = true;
    r->handles++;
    return true;
}

/* Whoever has asked is told, by the last frame of this connection; all that
 * comes behind it is for the other one. */
static bool hand_over(relay *r)
{
    wire_header header = {.kind = WIRE_WELCOME};
    connection *c = r->from;
    int fd = fcntl(c->channel.fd, F_DUPFD_CLOEXEC, 0);
    bool is_clean;

    paths__connection_send(c, &header, NULL);
    pthread_mutex_lock(&c->lock);
    is_clean = !c->out && !c->broken && !paths__channel_owes(&c->channel) &&
               c->begin == c->end && !paths__channel_has(&c->channel);
    pthread_mutex_unlock(&c->lock);
    r->from = NULL;
    /* Before the socket is watched again, under another number. */
    paths__connection_close(c, "it goes on with another process");
    return side_take(r, 0, fd) && is_clean;
}

static void on_connected(uv_poll_t *poll, int status, int events)
{
    relay *r = poll->data;
    int error = 0;
    socklen_t bytes = sizeof(error);

    (void)events;
    if (getsockopt(r->sides[1].fd, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0)
        error = errno;
    if (status < 0 && !error)
        error = -status;
    if (error) {
        refuse(r, strerror(error));
        return;
    }
    paths__socket_tune(r->sides[1].fd);
    if (hand_over(r))
        watch(r);
    else
        relay_close(r);
}

/* Begins to connect. Gives NULL, or why that is in vain. */
static const char *relay_connect(relay *r, const paths_address *address)
{
    if (!side_take(r, 1,
                   socket(address->socket.ss_family,
                          SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)))
        return "no socket for it";
    if (connect(r->sides[1].fd, (const struct sockaddr *)&address->socket,
                address->bytes) != 0 &&
        errno != EINPROGRESS)
        return strerror(errno);
    uv_poll_start(&r->sides[1].poll, UV_WRITABLE, on_connected);
    return NULL;
}

static int address_of(const paths_process *process, uint32_t to,
                      paths_address *out)
{
    char text[PATHS_ADDRESS_TEXT];
    paths__networks *networks;
    int err = paths__networks_create(&networks, process->map);

    if (err)
        return err;
    if (!paths__networks_reach(networks, process->self, to))
        err = pastset_fail(PASTSET_EMAP, "no network has both");
    if (!err)
        err = paths__networks_address(networks, process->map, process->self, to,
                                      text);
    if (!err)
        err = paths_address_parse(out, text);
    paths__networks_destroy(networks);
    return err;
}

static relay *relay_create(connection *c, uint32_t to)
{
    paths_process *process = c->process;
    relay *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->flows[0].data = malloc(FLOW_BYTES);
    r->flows[1].data = malloc(FLOW_BYTES);
    if (!r->flows[0].data || !r->flows[1].data) {
        relay_free(r);
        return NULL;
    }
    r->sides[0].fd = r->sides[1].fd = -1;
    r->process = process;
    r->from = c;
    r->to = to;
    r->since_ms = uv_now(&process->loop);
    r->next = process->relays;
    if (r->next)
        r->next->previous = r;
    process->relays = r;
    return r;
}

static relay *relay_for(const connection *c)
{
    relay *r = c->process->relays;

    while (r && r->from != c)
        r = r->next;
    return r;
}

bool paths__relay_ask(connection *c)
{
    paths_process *process = c->process;
    char name[HANDSHAKE_NAME_BYTES + 1];
    paths_address address;
    const char *why;
    uint32_t to;
    relay *r;

    snprintf(name, sizeof(name), "%.*s", (int)c->header.bytes,
             (const char *)c->small);
    to = paths_map_find_process(process->map, name);
    if (c->role != ROLE_RELAY || to == PATHS_NONE || to == process->self ||
        to == c->peer || relay_for(c))
        return false;
    r = relay_create(c, to);
    if (!r) {
        paths__connection_close(c, "no memory for it");
        return true;
    }
    why = address_of(process, to, &address) == 0 ? relay_connect(r, &address)
                                                 : pastset_error();
    if (why)
        refuse(r, why);
    return true;
}

void paths__relay_lost(const connection *c)
{
    relay *r = relay_for(c);

    if (r)
        relay_close(r);
}

/* --- turns of the loop --- */

void paths__relays_tidy(paths_process *process)
{
    relay *next;

    for (relay *r = process->relays; r; r = next) {
        next = r->next;
        if (r->from && uv_now(&process->loop) - r->since_ms > CONNECTING_MS)
            refuse(r, "it does not answer");
        else if (!r->from && (paths__socket_is_silent(r->sides[0].fd) ||
                              paths__socket_is_silent(r->sides[1].fd)))
            relay_close(r);
    }
}

bool paths__relays_linger(paths_process *process)
{
    uint64_t now = uv_now(&process->loop);

    if (!process->over_ms)
        process->over_ms = now ? now : 1;
    return process->relays && now - process->over_ms < LINGER_MS;
}

void paths__relays_close(paths_process *process)
{
    while (process->relays)
        relay_close(process->relays);
}
