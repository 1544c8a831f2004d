/* link_frames.c - the requests and replies of a thread's link.
 *
 * The common case is one send and one recv, both of which block. With a
 * deadline neither may: a peer that was stopped takes no request and leaves
 * replies half said. Then the operation is given up and the link keeps its
 * place in the frame, for the next operation to go on from. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "paths/net/link_internal.h"
#include "paths/net/connect_internal.h"
#include "paths/net/request_frame_internal.h"

/* --- breaking --- */

void paths__link_drop(thread_link *link, operation *o)
{
    if (link->reading == o) {
        link->reading = NULL;
        link->target = NULL;
    }
    pending_take(&link->pending, o);
    o->on_link = NULL;
    link->thread->pending--;
}

/* Nothing comes from there any more: all that wait for it fail. */
static void link_break(thread_link *link, const char *why)
{
    paths_process *process = link->thread->process;

    link->broken = true;
    while (link->pending.first) {
        operation *o = link->pending.first;
        int status = PASTSET_EHOST;

        paths__link_drop(link, o);
        if (atomic_load(&process->failed))
            status = paths__process_failure(process);
        else if (link->broke[0])
            pastset_fail(status, "the connection to process %s is closed: %s",
                         process_name(process, link->process), link->broke);
        else
            status = paths__lost_why(process, link->process, why);
        o->op.status = status;
        paths__keep_text(o, status);
        paths__bring_up(o);
    }
}

/* What was begun cannot be ended: nothing that followed would be understood.
 * Reading finds the end, and link_break() those who wait. `why` NULL: the
 * other side ended it. */
static void link_close_off(thread_link *link, const char *why)
{
    link->broken = true;
    snprintf(link->broke, sizeof(link->broke), "%s", why ? why : "");
    shutdown(link->channel.fd, SHUT_RDWR);
}

/* --- waiting --- */

static int remaining_ms(int64_t deadline_ns)
{
    int64_t left;

    if (!deadline_ns)
        return -1;
    left = (deadline_ns - pastset_now_ns() + 999999) / 1000000;
    return left < 0 ? 0 : left > 1000000000 ? 1000000000 : (int)left;
}

int paths__link_poll(struct pollfd *fds, nfds_t count, int64_t deadline_ns)
{
    struct timespec turn = {.tv_nsec = 1000000};
    int ready = poll(fds, count, remaining_ms(deadline_ns));

    if (ready >= 0 || errno == EINTR)
        return ready < 0 ? 0 : ready;
    nanosleep(&turn, NULL);
    for (nfds_t i = 0; i < count; i++)
        fds[i].revents = fds[i].fd >= 0 ? fds[i].events : 0;
    return (int)count;
}

/* --- sending --- */

typedef struct output {
    struct iovec parts[2];
    size_t left;
} output;

static void output_move(output *out, size_t sent)
{
    out->left -= sent;
    for (size_t i = 0; i < 2; i++) {
        size_t take =
            sent < out->parts[i].iov_len ? sent : out->parts[i].iov_len;
        out->parts[i].iov_base = (char *)out->parts[i].iov_base + take;
        out->parts[i].iov_len -= take;
        sent -= take;
    }
}

/* False: the socket took nothing until the deadline. */
static bool wait_writable(const thread_link *link, int64_t deadline_ns)
{
    struct pollfd fd = {.fd = link->channel.fd, .events = POLLOUT};

    while (paths__link_poll(&fd, 1, deadline_ns) == 0) {
        if (deadline_ns && pastset_now_ns() >= deadline_ns)
            return false;
    }
    return true;
}

/* 0 when all of it went; else a negative errno (-EAGAIN: the deadline passed),
 * and some of it may have gone. */
static int output_send(thread_link *link, output *out, int64_t deadline_ns)
{
    int flags = MSG_NOSIGNAL | (deadline_ns ? MSG_DONTWAIT : 0);

    while (out->left || paths__channel_owes(&link->channel)) {
        ssize_t sent = paths__channel_send(
            &link->channel, out->parts, out->parts[1].iov_len ? 2 : 1, flags);
        int error = sent < 0 ? errno : 0;

        if (sent >= 0)
            output_move(out, (size_t)sent);
        else if (error == EAGAIN && !wait_writable(link, deadline_ns))
            return -EAGAIN;
        else if (error != EINTR && error != EAGAIN)
            return -error;
    }
    return 0;
}

/* Given up in the middle: the rest of it still has to come before the next
 * request, and its tuple is its owner's again. */
static void rest_keep(thread_link *link, const output *out)
{
    size_t first = out->parts[0].iov_len, second = out->parts[1].iov_len;

    link->rest = malloc(out->left);
    if (!link->rest) {
        link_close_off(link, "no memory for the rest of a request that was "
                             "given up");
        return;
    }
    memcpy(link->rest, out->parts[0].iov_base, first);
    if (second)
        memcpy(link->rest + first, out->parts[1].iov_base, second);
    link->rest_bytes = out->left;
    link->rest_sent = 0;
}

static int rest_send(thread_link *link, int64_t deadline_ns)
{
    output out = {.left = link->rest_bytes - link->rest_sent};
    int r;

    out.parts[0] = (struct iovec){.iov_base = link->rest + link->rest_sent,
                                  .iov_len = out.left};
    r = output_send(link, &out, deadline_ns);
    link->rest_sent = link->rest_bytes - out.left;
    if (r)
        return r;
    free(link->rest);
    link->rest = NULL;
    return 0;
}

static int request_send(thread_link *link, operation *o,
                        const paths_stage *proxy)
{
    int64_t deadline_ns = o->op.deadline_ns;
    wire_header header;
    const void *payload;
    output out;
    size_t whole;
    int r = link->rest ? rest_send(link, deadline_ns) : 0;

    if (r)
        return r;
    payload = paths__request_header(&header, o, proxy);
    whole = sizeof(header) + header.bytes;
    out = (output){.parts = {{.iov_base = &header, .iov_len = sizeof(header)},
                             {.iov_base = (void *)(uintptr_t)payload,
                              .iov_len = header.bytes}},
                   .left = whole};
    r = output_send(link, &out, deadline_ns);
    if (r == -EAGAIN && out.left && out.left < whole)
        rest_keep(link, &out);
    return r;
}

/* Why a request did not go. */
static int unsent(thread_link *link, int error)
{
    paths_process *process = link->thread->process;
    const char *far = process_name(process, link->process);

    if (error == EAGAIN)
        return pastset_fail(PASTSET_ETIMEDOUT,
                            "process %s did not take the request in time", far);
    if (atomic_load(&process->failed))
        return paths__process_failure(process);
    if (link->broke[0])
        return pastset_fail(PASTSET_EHOST,
                            "the connection to process %s is closed: %s", far,
                            link->broke);
    return paths__lost_why(process, link->process, "the connection is closed");
}

int paths__link_send(thread_link *link, operation *o, const paths_stage *proxy)
{
    int r;

    if (link->broken)
        return unsent(link, 0);
    o->id = ++link->next_id;
    r = request_send(link, o, proxy);
    if (r && r != -EAGAIN)
        link_close_off(link, r == -EPIPE || r == -ECONNRESET
                                 ? NULL
                                 : paths__channel_error(-r));
    if (r)
        return unsent(link, -r);
    o->on_link = link;
    pending_add(&link->pending, o);
    link->thread->pending++;
    if (o->asynchronous)
        link_watch(link, o);
    return 0;
}

/* --- replies --- */

/* A header is there: where its payload goes. 0 or a negative errno. */
static int frame_begin(thread_link *link)
{
    const wire_header *header = &link->header;
    void *target = NULL;

    if (paths__wire_header_check(header, PASTSET_TUPLE_BYTES) != 0 ||
        (header->kind != WIRE_REPLY && header->kind != WIRE_FAILED))
        return -EPROTO;
    link->reading = NULL; /* given up, if it is not found: its time was up */
    if (header->kind == WIRE_REPLY)
        link->reading = pending_find(&link->pending, header->id);
    if (header->kind == WIRE_FAILED || header->reply.status < 0)
        target = link->text;
    else if (link->reading &&
             !paths__reply_target(link->reading, header->bytes, &target))
        return -EPROTO; /* it was told the room */
    link->target = target;
    link->filled = 0;
    link->in_payload = true;
    return 0;
}

static void reply_end(thread_link *link, operation *o)
{
    const wire_reply *reply = &link->header.reply;

    paths__link_drop(link, o);
    paths__reply_take(o, reply);
    if (reply->status < 0) {
        pastset_fail(reply->status, "process %s: %s",
                     process_name(link->thread->process, link->process),
                     link->text);
        paths__replace_text(o, reply->status);
    }
    paths__bring_up(o);
}

/* The payload is there whole. */
static int frame_end(thread_link *link)
{
    link->in_payload = false;
    if (link->target == (void *)link->text)
        link->text[link->header.bytes] = 0;
    if (link->header.kind == WIRE_FAILED) {
        pastset_fail(PASTSET_EHOST, "%s", link->text);
        paths_process_fail(link->thread->process, PASTSET_EHOST);
        return -ECONNRESET;
    }
    if (link->reading)
        reply_end(link, link->reading);
    return 0;
}

/* Takes from the buffer what belongs to the payload. */
static void payload_take(thread_link *link)
{
    size_t here = link->end - link->begin;
    size_t missing = link->header.bytes - link->filled;

    here = here < missing ? here : missing;
    if (link->target && here)
        memcpy(link->target + link->filled, link->buffer + link->begin, here);
    link->begin += here;
    link->filled += here;
}

/* Works off the buffer; counts the frames that came to their end. */
static int parse(thread_link *link, int *frames)
{
    int r = 0;

    while (!r) {
        if (!link->in_payload) {
            if (link->end - link->begin < sizeof(link->header))
                return 0;
            memcpy(&link->header, link->buffer + link->begin,
                   sizeof(link->header));
            link->begin += sizeof(link->header);
            r = frame_begin(link);
            continue;
        }
        payload_take(link);
        if (link->filled < link->header.bytes)
            return 0;
        r = frame_end(link);
        ++*frames;
    }
    return r;
}

/* One recv; a negative errno (-ECONNRESET at the end of the stream). */
static ssize_t receive(thread_link *link, void *to, size_t capacity, bool wait)
{
    bool polling = wait && link->thread->process->polling;

    for (;;) {
        ssize_t got = paths__channel_receive(
            &link->channel, to, capacity, polling || !wait ? MSG_DONTWAIT : 0);
        if (got > 0)
            return got;
        if (got == 0)
            return -ECONNRESET;
        if (errno == EINTR || (polling && errno == EAGAIN))
            continue;
        return -errno;
    }
}

/* Receives into the buffer, or straight to where a payload goes. */
static int fill(thread_link *link, bool wait)
{
    size_t missing = link->header.bytes - link->filled;
    ssize_t got;

    if (link->in_payload && link->target) { /* then the buffer is empty */
        got = receive(link, link->target + link->filled, missing, wait);
        if (got > 0)
            link->filled += (size_t)got;
        return got < 0 ? (int)got : 0;
    }
    memmove(link->buffer, link->buffer + link->begin, link->end - link->begin);
    link->end -= link->begin;
    link->begin = 0;
    got =
        receive(link, link->buffer + link->end, LINK_BUFFER - link->end, wait);
    if (got > 0)
        link->end += (size_t)got;
    return got < 0 ? (int)got : 0;
}

void paths__link_read(thread_link *link, bool wait)
{
    int frames = 0, r = 0;

    while (!r && (!frames || paths__channel_has(&link->channel))) {
        r = fill(link, wait && !frames);
        if (!r)
            r = parse(link, &frames);
    }
    if (r && !(r == -EAGAIN && (!wait || frames)))
        link_break(link, r == -ECONNRESET ? "it closed the connection"
                                          : paths__channel_error(-r));
}
