/* link.c - a thread's own connection to another host.
 *
 * Only its thread reads and writes it. The reply to a request is read by the
 * thread that waits for it, so a remote operation wakes two threads, as a bare
 * ping-pong does: the server's loop and this one. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "paths/address.h"
#include "paths/host_internal.h"

#define LINK_BUFFER 4096

struct thread_link {
    paths_thread *thread;
    uint32_t host; /* the far one */
    int fd;
    bool broken;
    uint32_t next_id;
    pending_list pending;
    size_t begin, end; /* unread bytes in `buffer` */
    unsigned char buffer[LINK_BUFFER];
};

/* --- connecting --- */

void paths__socket_tune(int fd)
{
    int one = 1, idle = 1, interval = 1, count = 3;

    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    /* A machine that vanished is found out within some four seconds. */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

/* An address that nobody answers for is given up after a second, not after the
 * kernel's two minutes: the run may have failed meanwhile. */
static int socket_connect(const paths_address *address)
{
    struct timeval turn = {.tv_sec = 1};
    int fd = socket(address->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &turn, sizeof(turn));
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address->socket,
                           address->bytes) != 0) {
        int error = errno;
        close(fd);
        errno = error == EINPROGRESS ? ETIMEDOUT : error;
        return -1;
    }
    return fd;
}

static bool worth_retrying(int error)
{
    return error == ECONNREFUSED || error == EHOSTUNREACH ||
           error == ENETUNREACH || error == ETIMEDOUT || error == EINTR;
}

/* Connects, again and again while the other host is not up yet. */
static int dial(paths_host *host, const char *text, int64_t deadline_ns,
                int *out)
{
    paths_address address;
    int err = paths_address_parse(&address, text);

    if (!err && address.port == 0)
        err =
            pastset_fail(PASTSET_EMAP, "its address \"%s\" has no port", text);
    while (!err) {
        int error;

        *out = socket_connect(&address);
        if (*out >= 0)
            return 0;
        error = errno;
        if (!worth_retrying(error) || pastset_now_ns() > deadline_ns ||
            atomic_load(&host->failed))
            err = pastset_fail(PASTSET_EHOST, "%s: %s", text, strerror(error));
        else
            poll(NULL, 0, 20); /* it is not up yet */
    }
    return err;
}

static int write_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes) {
        ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return pastset_fail(PASTSET_EHOST, "%s", strerror(errno));
        at += sent;
        bytes -= (size_t)sent;
    }
    return 0;
}

/* A connection that is being made: reading from it ends with the run, or when
 * the other host does not answer until the deadline. */
typedef struct joining {
    paths_host *host;
    int fd;
    int64_t deadline_ns;
} joining;

static int read_all(const joining *j, void *data, size_t bytes)
{
    char *at = data;

    while (bytes) {
        ssize_t got = recv(j->fd, at, bytes, 0);
        if (got < 0 && (errno == EINTR || errno == EAGAIN)) {
            if (atomic_load(&j->host->failed))
                return paths__host_failure(j->host);
            if (pastset_now_ns() > j->deadline_ns)
                return pastset_fail(PASTSET_EHOST, "it does not answer");
            continue;
        }
        if (got == 0)
            return pastset_fail(PASTSET_EHOST, "it closed the connection");
        if (got < 0)
            return pastset_fail(PASTSET_EHOST, "%s", strerror(errno));
        at += got;
        bytes -= (size_t)got;
    }
    return 0;
}

static int greet(const joining *j)
{
    paths_host *host = j->host;
    int fd = j->fd;
    unsigned char greeting[GREETING_BYTES], challenge[32];
    unsigned char proof[PROOF_BYTES], answer[ANSWER_BYTES];
    int err = read_all(j, greeting, sizeof(greeting));

    if (!err)
        err = handshake_prove(host->key, greeting, challenge, proof);
    if (!err)
        err = write_all(fd, proof, sizeof(proof));
    if (!err) {
        err = read_all(j, answer, sizeof(answer));
        if (err)
            err = pastset_fail(PASTSET_EAUTH,
                               "it did not accept this host's key");
    }
    if (!err)
        err = handshake_confirm(host->key, greeting, challenge, answer);
    return err;
}

static int hello(const joining *j, uint16_t role)
{
    paths_host *host = j->host;
    wire_hello h = {.role = role, .digest = host->digest};
    unsigned char frame[sizeof(wire_header) + WIRE_HELLO_BYTES];
    wire_header header = {.kind = WIRE_HELLO};
    char text[WIRE_TEXT_BYTES + 1];
    int err;

    snprintf(h.host, sizeof(h.host), "%s", paths_host_name(host));
    header.bytes = (uint32_t)wire_hello_encode(&h, frame + sizeof(header),
                                               WIRE_HELLO_BYTES);
    memcpy(frame, &header, sizeof(header));
    err = write_all(j->fd, frame, sizeof(header) + header.bytes);
    if (!err)
        err = read_all(j, &header, sizeof(header));
    if (!err)
        err = wire_header_check(&header, 0);
    if (err)
        return err;
    if (header.kind == WIRE_FAILED) {
        err = read_all(j, text, header.bytes);
        if (err)
            return err;
        text[header.bytes] = 0;
        return pastset_fail(PASTSET_EHOST, "%s", text);
    }
    if (header.kind != WIRE_WELCOME || header.bytes)
        return pastset_fail(PASTSET_EPROTO, "it did not say welcome");
    return 0;
}

/* A host that does not let us in may have ended because the run has failed.
 * Then that is being told to us too, and is what should be reported. */
static bool cause_comes(paths_host *host)
{
    for (int i = 0; i < 25 && !atomic_load(&host->failed); i++)
        poll(NULL, 0, 20);
    return atomic_load(&host->failed) != 0;
}

int paths__connect(paths_host *host, uint32_t to, uint16_t role, int *out)
{
    const char *address =
        paths_attributes_get(&host->map->hosts[to].attributes, "address");
    int64_t deadline =
        pastset_now_ns() + (int64_t)host->connect_timeout_ms * 1000000;
    struct timeval turn = {.tv_usec = 100000}, none = {0, 0};
    joining j = {.host = host, .fd = -1, .deadline_ns = deadline};
    int err = dial(host, address ? address : "", deadline, &j.fd);

    if (!err) {
        paths__socket_tune(j.fd);
        setsockopt(j.fd, SOL_SOCKET, SO_RCVTIMEO, &turn, sizeof(turn));
        err = greet(&j);
    }
    if (!err)
        err = hello(&j, role);
    if (err) {
        if (j.fd >= 0)
            close(j.fd);
        if (cause_comes(host))
            return paths__host_failure(host);
        return pastset_fail_while(err, "cannot join host %s",
                                  host_name(host, to));
    }
    setsockopt(j.fd, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof(none));
    setsockopt(j.fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none));
    *out = j.fd;
    return 0;
}

int paths__link_open(paths_thread *thread, uint32_t host)
{
    thread_link *link = calloc(1, sizeof(*link));
    int err;

    if (!link)
        return pastset_fail(PASTSET_ENOMEM, "no memory for a link");
    link->thread = thread;
    link->host = host;
    link->fd = -1;
    err = paths__connect(thread->host, host, ROLE_THREAD, &link->fd);
    if (err) {
        free(link);
        return err;
    }
    /* The loop walks the links when the run fails. */
    pthread_mutex_lock(&thread->host->failure_lock);
    thread->links[host] = link;
    pthread_mutex_unlock(&thread->host->failure_lock);
    if (atomic_load(&thread->host->failed))
        return paths__host_failure(thread->host);
    return 0;
}

void paths__link_close(thread_link *link)
{
    close(link->fd);
    free(link);
}

void paths__link_interrupt(thread_link *link)
{
    shutdown(link->fd, SHUT_RDWR);
}

/* --- breaking --- */

static void pending_remove(thread_link *link, operation *o)
{
    pending_take(&link->pending, o);
    o->on_link = NULL;
    link->thread->pending--;
}

/* Nothing comes from there any more: all that wait for it fail. */
static void link_break(thread_link *link, const char *why)
{
    paths_host *host = link->thread->host;

    link->broken = true;
    while (link->pending.first) {
        operation *o = link->pending.first;
        int status = PASTSET_EHOST;

        pending_remove(link, o);
        if (atomic_load(&host->failed))
            status = paths__host_failure(host);
        else
            pastset_fail(status, "host %s died: %s",
                         host_name(host, link->host), why);
        o->op.status = status;
        paths__keep_text(o, status);
        paths__thread_bring_up(link->thread, o);
    }
}

/* --- requests --- */

static uint32_t timeout_of(const operation *o)
{
    int64_t left;

    if (o->op.nowait)
        return 0;
    if (!o->op.deadline_ns)
        return WIRE_FOREVER;
    left = (o->op.deadline_ns - pastset_now_ns() + 999999) / 1000000;
    if (left < 1)
        return 1;
    return left < WIRE_FOREVER ? (uint32_t)left : WIRE_FOREVER - 1;
}

const void *paths__request_header(wire_header *header, operation *o,
                                  const paths_stage *proxy)
{
    const pastset_pattern *pattern = o->op.pattern;

    memset(header, 0, sizeof(*header));
    header->id = o->id;
    header->kind = WIRE_REQUEST;
    header->status = (int16_t)o->op.verb;
    header->stage = proxy->host->numbers[proxy->node];
    header->thread = o->op.thread;
    header->sequence = o->op.sequence;
    header->index = o->asked = o->op.index;
    header->timeout_ms = timeout_of(o);
    if (o->op.status < 0) {
        const char *text =
            o->text ? o->text : pastset_status_text(o->op.status);
        header->kind = WIRE_SPOILT;
        header->room = (uint32_t)-o->op.status;
        header->bytes = (uint32_t)strnlen(text, WIRE_TEXT_BYTES);
        return text;
    }
    if (brings_tuple(&o->op)) {
        header->bytes = (uint32_t)o->op.bytes;
        header->room =
            o->op.room < UINT32_MAX ? (uint32_t)o->op.room : UINT32_MAX;
        return o->op.tuple;
    }
    header->room =
        o->op.bytes < UINT32_MAX ? (uint32_t)o->op.bytes : UINT32_MAX;
    if (!pattern)
        return NULL;
    header->lost = pattern->fields;
    header->bytes = pattern->bytes;
    return pattern->values;
}

static int send_frame(int fd, const wire_header *header, const void *payload)
{
    struct iovec parts[2] = {
        {.iov_base = (void *)(uintptr_t)header, .iov_len = sizeof(*header)},
        {.iov_base = (void *)(uintptr_t)payload, .iov_len = header->bytes}};
    struct msghdr message = {.msg_iov = parts,
                             .msg_iovlen = header->bytes ? 2 : 1};
    size_t left = sizeof(*header) + header->bytes;

    while (left) {
        ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return -1;
        left -= (size_t)sent;
        for (size_t i = 0; i < 2; i++) {
            size_t take = (size_t)sent < parts[i].iov_len ? (size_t)sent
                                                          : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + take;
            parts[i].iov_len -= take;
            sent -= (ssize_t)take;
        }
    }
    return 0;
}

int paths__link_send(thread_link *link, operation *o, const paths_stage *proxy)
{
    wire_header header;
    const void *payload;

    o->id = ++link->next_id;
    payload = paths__request_header(&header, o, proxy);
    if (link->broken || send_frame(link->fd, &header, payload) != 0) {
        if (atomic_load(&link->thread->host->failed))
            return paths__host_failure(link->thread->host);
        return pastset_fail(PASTSET_EHOST,
                            "host %s died: the connection is closed",
                            host_name(link->thread->host, link->host));
    }
    o->on_link = link;
    pending_add(&link->pending, o);
    link->thread->pending++;
    return 0;
}

void paths__links_forget(operation *o)
{
    if (o->on_link)
        pending_remove(o->on_link, o);
}

/* --- replies --- */

/* One recv; 0, or a negative errno (-ECONNRESET at the end of the stream). */
static ssize_t receive(thread_link *link, void *to, size_t room)
{
    bool polling = link->thread->host->polling;

    for (;;) {
        ssize_t got = recv(link->fd, to, room, polling ? MSG_DONTWAIT : 0);
        if (got > 0)
            return got;
        if (got == 0)
            return -ECONNRESET;
        if (errno == EINTR || (polling && errno == EAGAIN))
            continue;
        return -errno;
    }
}

/* Moves `bytes` from the link to `to` (NULL: away with them). */
static int take(thread_link *link, void *to, size_t bytes)
{
    unsigned char rest[1024];
    unsigned char *at = to;

    while (bytes) {
        size_t here = link->end - link->begin;
        ssize_t got;

        if (here) {
            here = here < bytes ? here : bytes;
            if (at)
                memcpy(at, link->buffer + link->begin, here);
            link->begin += here;
        } else {
            size_t room = at ? bytes : sizeof(rest);
            got = receive(link, at ? at : rest, room < bytes ? room : bytes);
            if (got < 0)
                return (int)got;
            here = (size_t)got;
        }
        if (at)
            at += here;
        bytes -= here;
    }
    return 0;
}

void paths__reply_take(operation *o, const wire_header *header)
{
    o->op.status = header->status;
    if (header->status)
        return;
    o->op.index = header->index;
    o->op.lost = header->lost;
    if (o->op.verb == PASTSET_EXCHANGE)
        o->op.room = header->bytes;
    else if (o->op.verb != PASTSET_WRITE)
        o->op.bytes = header->bytes;
}

bool paths__reply_target(const operation *o, size_t bytes, void **out)
{
    *out = NULL;
    if (o->op.verb == PASTSET_WRITE)
        return true;
    *out = o->op.verb == PASTSET_EXCHANGE ? o->op.result : o->op.tuple;
    return bytes <= (o->op.verb == PASTSET_EXCHANGE ? o->op.room : o->op.bytes);
}

/* A reply whose header was read; 0 or a negative errno. */
static int reply_read(thread_link *link, const wire_header *header)
{
    operation *o = pending_find(&link->pending, header->id);
    char text[WIRE_TEXT_BYTES + 1] = "";
    void *target;
    int r;

    if (!o) /* given up: its deadline passed */
        return take(link, NULL, header->bytes);
    if (header->status < 0) {
        r = take(link, text, header->bytes);
        text[header->bytes] = 0;
    } else if (!paths__reply_target(o, header->bytes, &target)) {
        return -EPROTO; /* it was told the room */
    } else {
        r = take(link, target, header->bytes);
    }
    if (r)
        return r;
    pending_remove(link, o);
    paths__reply_take(o, header);
    if (header->status < 0) {
        pastset_fail(header->status, "host %s: %s",
                     host_name(link->thread->host, link->host), text);
        paths__replace_text(o, header->status);
    }
    paths__thread_bring_up(link->thread, o);
    return 0;
}

static int failed_read(thread_link *link, const wire_header *header)
{
    char text[WIRE_TEXT_BYTES + 1];
    int r = take(link, text, header->bytes);

    if (r)
        return r;
    text[header->bytes] = 0;
    pastset_fail(PASTSET_EHOST, "%s", text);
    paths_host_fail(link->thread->host, PASTSET_EHOST);
    return -ECONNRESET;
}

/* One frame; waits for it unless some of it is there. */
static int frame_read(thread_link *link)
{
    wire_header header;
    int r;

    while (link->end - link->begin < sizeof(header)) {
        ssize_t got;
        memmove(link->buffer, link->buffer + link->begin,
                link->end - link->begin);
        link->end -= link->begin;
        link->begin = 0;
        got = receive(link, link->buffer + link->end, LINK_BUFFER - link->end);
        if (got < 0)
            return (int)got;
        link->end += (size_t)got;
    }
    memcpy(&header, link->buffer + link->begin, sizeof(header));
    link->begin += sizeof(header);
    r = wire_header_check(&header, PASTSET_TUPLE_BYTES);
    if (r)
        return -EPROTO;
    if (header.kind == WIRE_REPLY)
        return reply_read(link, &header);
    if (header.kind == WIRE_FAILED)
        return failed_read(link, &header);
    return -EPROTO;
}

/* Reads frames until none is there whole any more. */
static void link_read(thread_link *link)
{
    do {
        int r = frame_read(link);
        if (r) {
            link_break(link, r == -ECONNRESET ? "it closed the connection"
                                              : strerror(-r));
            return;
        }
    } while (link->end - link->begin >= sizeof(wire_header));
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

static bool satisfied(const paths_thread *thread, const operation *o)
{
    if (o ? o->done : thread->finished != NULL)
        return true;
    return atomic_load(&thread->mailbox) != NULL;
}

/* Waits on all links with pending operations and on the mailbox's bell. */
static int poll_all(paths_thread *thread, const operation *o,
                    int64_t deadline_ns)
{
    uint32_t hosts = thread->host->host_count;
    struct pollfd *fds;
    uint64_t rings;
    int ready = 0;

    if (thread->event_fd < 0)
        thread->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (thread->event_fd < 0)
        return pastset_fail(PASTSET_ELIMIT, "cannot wait: %s", strerror(errno));
    fds = calloc(hosts + 1, sizeof(*fds));
    if (!fds)
        return pastset_fail(PASTSET_ENOMEM, "no memory to wait");
    fds[hosts] = (struct pollfd){.fd = thread->event_fd, .events = POLLIN};
    for (uint32_t i = 0; i < hosts; i++) {
        thread_link *link = thread->links[i];
        fds[i] =
            (struct pollfd){.fd = link && link->pending.first ? link->fd : -1,
                            .events = POLLIN};
    }
    atomic_store(&thread->in_poll, true);
    if (!satisfied(thread, o))
        ready = poll(fds, hosts + 1, remaining_ms(deadline_ns));
    atomic_store(&thread->in_poll, false);
    for (uint32_t i = 0; i < hosts && ready > 0; i++) {
        if (fds[i].revents)
            link_read(thread->links[i]);
    }
    if (fds[hosts].revents && read(thread->event_fd, &rings, sizeof(rings)) < 0)
        rings = 0;
    free(fds);
    if (ready == 0 && deadline_ns && pastset_now_ns() >= deadline_ns)
        return PASTSET_ETIMEDOUT;
    return 0;
}

int paths__links_wait(paths_thread *thread, operation *o, int64_t deadline_ns)
{
    int r = 0;

    while (!r && !satisfied(thread, o)) {
        if (thread->pending == 0)
            return 0; /* it is not a link that it waits for any more */
        if (o && o->on_link && !deadline_ns && !thread->under_way)
            link_read(o->on_link); /* the common case: one reply, one recv */
        else
            r = poll_all(thread, o, deadline_ns);
    }
    return r;
}
