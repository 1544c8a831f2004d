/* connection.c - framed, non-blocking connections of the network loop.
 *
 * Input is read by the loop alone. A payload that is not there whole with its
 * header is received straight into its place. Output may come from any
 * thread: it is sent at once when the socket takes it, and only what it does
 * not take is queued for the loop. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "paths/net/connection_internal.h"

/* Reads of one connection before the loop turns to the next. */
#define READS_AT_ONCE 16

/* Looks for the next piece of a large payload before the loop goes to sleep:
 * some 20 us, which is what it takes to wake it again. The pieces of a tuple of
 * 1 MiB come faster than that, and waking for each would cost a third more. */
#define LOOKS 128

void paths__connection_ref(connection *c)
{
    atomic_fetch_add_explicit(&c->references, 1, memory_order_relaxed);
}

void paths__connection_unref(connection *c)
{
    /* Release and acquire: what each holder did happens before the free. */
    if (atomic_fetch_sub_explicit(&c->references, 1, memory_order_acq_rel) != 1)
        return;
    while (c->out) {
        connection_output *next = c->out->next;
        free(c->out);
        c->out = next;
    }
    pthread_mutex_destroy(&c->lock);
    paths__handshake_wipe(&c->handshake);
    free(c->buffer);
    free(c);
}

static void closed(uv_handle_t *handle)
{
    connection *c = (connection *)(void *)handle;
    paths__connection_unref(c);
}

void paths__connection_close(connection *c, const char *why)
{
    paths_process *process = c->process;
    connection_state state = c->state;

    if (state == CONNECTION_CLOSED)
        return;
    c->state = CONNECTION_CLOSED;
    if (state != CONNECTION_OPEN && !c->outgoing)
        process->unauthenticated--;
    if (c->previous)
        c->previous->next = c->next;
    else
        process->connections = c->next;
    if (c->next)
        c->next->previous = c->previous;
    pthread_mutex_lock(&c->lock);
    c->broken = true;
    /* Before its number can be that of another file: libuv still uses it. */
    uv_close((uv_handle_t *)(void *)&c->poll, closed);
    paths__channel_close(&c->channel);
    pthread_mutex_unlock(&c->lock);
    process->handler->closed(c, state == CONNECTION_OPEN, why);
}

/* --- input --- */

/* Works off what is in the buffer. */
static void parse(connection *c)
{
    while (c->state == CONNECTION_OPEN) {
        size_t here = c->end - c->begin;

        if (!c->in_payload) {
            if (here < sizeof(c->header))
                return;
            memcpy(&c->header, c->buffer + c->begin, sizeof(c->header));
            c->begin += sizeof(c->header);
            if (paths__wire_header_check(&c->header,
                                         c->process->largest_bytes) != 0) {
                paths__connection_close(c, "it broke the protocol");
                return;
            }
            c->filled = 0;
            c->away = false;
            c->target = c->process->handler->payload_at(c);
            c->in_payload = c->target != NULL;
            if (!c->target) {
                paths__connection_close(c, "it broke the protocol");
                return;
            }
            continue;
        }
        if (here > c->header.bytes - c->filled)
            here = c->header.bytes - c->filled;
        if (!c->away)
            memcpy(c->target + c->filled, c->buffer + c->begin, here);
        c->begin += here;
        c->filled += here;
        if (c->filled < c->header.bytes)
            return;
        c->in_payload = false;
        c->process->handler->frame(c);
    }
}

/* Why there is nothing to read any more. */
static const char *why_ended(connection *c, int error)
{
    const char *why;

    pthread_mutex_lock(&c->lock);
    why = c->broke;
    pthread_mutex_unlock(&c->lock);
    if (why)
        return why;
    return error ? paths__channel_error(error) : "it closed the connection";
}

/* One recv. True: there may be more. */
static bool frames_read(connection *c)
{
    bool straight = c->in_payload && !c->away && c->begin == c->end;
    unsigned char *to;
    size_t capacity;
    ssize_t got;

    if (straight) {
        to = c->target + c->filled;
        capacity = c->header.bytes - c->filled;
    } else {
        memmove(c->buffer, c->buffer + c->begin, c->end - c->begin);
        c->end -= c->begin;
        c->begin = 0;
        to = c->buffer + c->end;
        capacity = CONNECTION_BUFFER - c->end;
    }
    got = paths__channel_receive(&c->channel, to, capacity, 0);
    for (int i = 0; straight && got < 0 && errno == EAGAIN && i < LOOKS; i++)
        got = paths__channel_receive(&c->channel, to, capacity, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got <= 0) {
        int error = got == 0 ? 0 : errno;
        if (error == EBADMSG)
            c->process->handler->broken(c);
        paths__connection_close(c, why_ended(c, error));
        return false;
    }
    if (straight)
        c->filled += (size_t)got;
    else
        c->end += (size_t)got;
    parse(c);
    return straight || (size_t)got == capacity ||
           paths__channel_has(&c->channel);
}

static void readable(connection *c)
{
    /* What has come and was not taken, poll would not tell of. */
    for (int i = 0; i < READS_AT_ONCE || paths__channel_has(&c->channel); i++) {
        if (c->state == CONNECTION_CLOSED)
            return;
        if (c->state != CONNECTION_OPEN) {
            c->process->handler->greeting(c);
            return;
        }
        if (!frames_read(c))
            return;
    }
}

static void flush(connection *c);

static void on_event(uv_poll_t *handle, int status, int events)
{
    connection *c = (connection *)(void *)handle;

    if (status < 0) {
        /* It is broken, but what has come before that (a FAILED, which names
         * the cause) can still be read, and then what broke it. */
        for (int i = 0; i < READS_AT_ONCE && c->state != CONNECTION_CLOSED; i++)
            readable(c);
        paths__connection_close(c, uv_strerror(status));
        return;
    }
    if (events & UV_WRITABLE)
        flush(c);
    if (events & UV_READABLE)
        readable(c);
}

/* --- output --- */

/* Sends what the socket takes, and of sealed ones what a record takes besides;
 * moves the parts on, and returns the bytes taken, or -1. */
static ssize_t send_parts(connection *c, struct iovec *parts, size_t count)
{
    ssize_t all = 0, sent;

    if (!count && !c->channel.seals)
        return 0;
    do {
        sent = paths__channel_send(&c->channel, parts, count,
                                   MSG_NOSIGNAL | MSG_DONTWAIT);
        for (size_t i = 0, moved = sent > 0 ? (size_t)sent : 0; i < count;
             i++) {
            size_t take = moved < parts[i].iov_len ? moved : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + take;
            parts[i].iov_len -= take;
            moved -= take;
        }
        all += sent > 0 ? sent : 0;
    } while ((sent < 0 && errno == EINTR) || (sent > 0 && c->channel.seals));
    return sent < 0 && errno != EAGAIN ? -1 : all;
}

/* Keeps what was not sent; under the lock. */
static int queue(connection *c, const wire_header *header,
                 const unsigned char *payload, size_t sent)
{
    size_t whole = sizeof(*header) + header->bytes;
    connection_output *o = malloc(sizeof(*o) + whole);

    if (!o)
        return pastset_no_memory("for a frame");
    o->next = NULL;
    o->bytes = whole;
    o->sent = sent;
    memcpy(o->data, header, sizeof(*header));
    if (header->bytes)
        memcpy(o->data + sizeof(*header), payload, header->bytes);
    if (c->out)
        c->out_last->next = o;
    else
        c->out = o;
    c->out_last = o;
    return 0;
}

/* Asks the loop to go on sending; under the lock. */
static void queue_flush(connection *c)
{
    paths_process *process = c->process;

    if (c->flush_queued)
        return;
    c->flush_queued = true;
    paths__connection_ref(c);
    c->flush_next = atomic_load(&process->flush);
    while (!atomic_compare_exchange_weak(&process->flush, &c->flush_next, c))
        ;
    paths__wake(&process->wakeup);
}

/* A frame, or the rest of one, is lost, and somebody may wait for it: better
 * that the connection ends. Under the lock; the loop finds out by reading, and
 * closes it. `why` NULL: the other side ended it. */
static void break_off(connection *c, const char *why)
{
    c->broken = true;
    c->broke = why;
    shutdown(c->channel.fd, SHUT_RDWR);
}

int paths__connection_send(connection *c, const wire_header *header,
                           const void *payload)
{
    struct iovec parts[2] = {
        {.iov_base = (void *)(uintptr_t)header, .iov_len = sizeof(*header)},
        {.iov_base = (void *)(uintptr_t)payload, .iov_len = header->bytes}};
    size_t whole = sizeof(*header) + header->bytes;
    ssize_t sent = 0;
    int err = 0;

    pthread_mutex_lock(&c->lock);
    if (!c->broken && !c->out)
        sent = send_parts(c, parts, header->bytes ? 2 : 1);
    if (sent < 0)
        break_off(c, NULL);
    if (c->broken) {
        err = pastset_fail(PASTSET_EHOST, "the connection is closed");
    } else if ((size_t)sent < whole || paths__channel_owes(&c->channel)) {
        if ((size_t)sent < whole)
            err = queue(c, header, payload, (size_t)sent);
        if (!err)
            queue_flush(c);
        else
            break_off(c, "no memory for what was to be sent");
    }
    pthread_mutex_unlock(&c->lock);
    return err;
}

/* Loop: sends on, and watches for the socket's readiness while some is left. */
static void flush(connection *c)
{
    bool left;

    pthread_mutex_lock(&c->lock);
    if (!c->broken && send_parts(c, NULL, 0) < 0) /* what is owed */
        break_off(c, NULL);
    while (c->out && !c->broken && !paths__channel_owes(&c->channel)) {
        connection_output *o = c->out;
        struct iovec part = {.iov_base = o->data + o->sent,
                             .iov_len = o->bytes - o->sent};
        ssize_t sent = send_parts(c, &part, 1);

        if (sent < 0)
            break_off(c, NULL);
        if (sent <= 0)
            break;
        o->sent += (size_t)sent;
        if (o->sent < o->bytes)
            break;
        c->out = o->next;
        free(o);
    }
    left = (c->out || paths__channel_owes(&c->channel)) && !c->broken;
    pthread_mutex_unlock(&c->lock);
    if (c->state != CONNECTION_CLOSED)
        uv_poll_start(&c->poll, UV_READABLE | (left ? UV_WRITABLE : 0),
                      on_event);
}

void paths__connection_flush_all(paths_process *process)
{
    connection *c = atomic_exchange(&process->flush, NULL);

    while (c) {
        connection *next = c->flush_next;

        pthread_mutex_lock(&c->lock);
        c->flush_queued = false;
        pthread_mutex_unlock(&c->lock);
        if (c->state != CONNECTION_CLOSED)
            flush(c);
        if (paths__channel_has(&c->channel))
            readable(c);
        paths__connection_unref(c);
        c = next;
    }
}

/* --- opening --- */

int paths__connection_open(connection **out, paths_process *process,
                           channel over, connection_state state)
{
    connection *c = calloc(1, sizeof(*c));
    unsigned char *buffer =
        state == CONNECTION_OPEN ? malloc(CONNECTION_BUFFER) : NULL;

    *out = NULL;
    if (!c || (state == CONNECTION_OPEN && !buffer)) {
        free(c);
        free(buffer);
        return pastset_no_memory("for a connection");
    }
    c->process = process;
    c->channel = over;
    c->state = state;
    c->buffer = buffer;
    c->outgoing = state == CONNECTION_OPEN;
    c->peer = PATHS_NONE;
    c->since_ms = uv_now(&process->loop);
    atomic_store(&c->references, 1);
    pthread_mutex_init(&c->lock, NULL);
    if (uv_poll_init(&process->loop, &c->poll, over.fd) != 0) {
        pthread_mutex_destroy(&c->lock);
        free(c);
        free(buffer);
        return pastset_fail(PASTSET_EIO, "cannot watch a connection");
    }
    c->next = process->connections;
    if (c->next)
        c->next->previous = c;
    process->connections = c;
    uv_poll_start(&c->poll, UV_READABLE, on_event);
    /* What has come with the end of the handshake is read by the loop's next
     * turn, when it is known whose connection this is. */
    if (paths__channel_has(&c->channel)) {
        pthread_mutex_lock(&c->lock);
        queue_flush(c);
        pthread_mutex_unlock(&c->lock);
    }
    *out = c;
    return 0;
}
