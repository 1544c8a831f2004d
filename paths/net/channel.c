/* channel.c - see channel_internal.h.
 *
 * A record is sealed when it is sent, from what there is, so that a small frame
 * is one record and one send, and a large one some records at a time. What is
 * received is opened where it goes, if it fits there, and else where it has
 * come, to be taken from there. */
#include "paths/net/channel_internal.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "paths/net/address.h"
#include "paths/net/records_internal.h"
#include "pastset/status.h"

#define IN_BYTES (2 * RECORD_BYTES)
/* Of much that is to be sent, so many records go at once: a send of one would
 * cost as much as sealing it. */
#define RECORDS_AT_ONCE 4

struct channel_seals {
    records *to, *from;
    /* Sealed, and not sent: [out_begin, out_end) of out_room. */
    size_t out_begin, out_end, out_room;
    unsigned char *out;
    /* Received: [in_begin, in_end), of which the first `open` bytes are text.
     * Their record's seal comes behind them. */
    size_t in_begin, in_end, open;
    bool is_broken; /* nothing can be understood any more */
    unsigned char in[IN_BYTES];
};

static void seals_destroy(channel_seals *s)
{
    paths__records_destroy(s->to);
    paths__records_destroy(s->from);
    free(s->out); /* has nothing that others have not seen */
    explicit_bzero(s, sizeof(*s));
    free(s);
}

int paths__channel_begin(channel *c, const handshake *h, bool is_dialler)
{
    bool is_aes = h->seals & HANDSHAKE_AES;
    channel_seals *s;
    int err;

    if (!(h->seals & HANDSHAKE_SEALED))
        return 0;
    s = malloc(sizeof(*s));
    if (!s)
        return pastset_no_memory("for an encrypted connection");
    memset(s, 0, offsetof(channel_seals, in));
    s->out = malloc(RECORD_BYTES);
    s->out_room = RECORD_BYTES;
    err = s->out ? 0 : pastset_no_memory("for an encrypted connection");
    if (!err)
        err = paths__records_create(
            &s->to, is_dialler ? &h->dialler : &h->process, is_aes, true);
    if (!err)
        err = paths__records_create(
            &s->from, is_dialler ? &h->process : &h->dialler, is_aes, false);
    if (err)
        seals_destroy(s);
    else
        c->seals = s;
    return err;
}

void paths__channel_unseal(channel *c)
{
    if (c->seals)
        seals_destroy(c->seals);
    c->seals = NULL;
}

void paths__channel_close(channel *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    paths__channel_unseal(c);
}

/* --- sending --- */

static ssize_t parts_send(int fd, const struct iovec *parts, size_t count,
                          int flags)
{
    struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)parts,
                             .msg_iovlen = count};

    return sendmsg(fd, &message, flags);
}

/* False: not all of it went; see errno. */
static bool owed_send(const channel *c, int flags)
{
    channel_seals *s = c->seals;

    while (s->out_begin < s->out_end) {
        ssize_t sent = send(c->fd, s->out + s->out_begin,
                            s->out_end - s->out_begin, flags);
        if (sent < 0)
            return false;
        s->out_begin += (size_t)sent;
    }
    return true;
}

/* Room for as many records as may go at once, if that is worth it; without
 * memory, they go one by one. */
static void out_grow(channel_seals *s, size_t bytes)
{
    unsigned char *more;

    if (bytes <= RECORD_TEXT_BYTES || s->out_room > RECORD_BYTES)
        return;
    more = malloc(RECORDS_AT_ONCE * RECORD_BYTES);
    if (!more)
        return;
    free(s->out);
    s->out = more;
    s->out_room = RECORDS_AT_ONCE * RECORD_BYTES;
}

static size_t bytes_of(const struct iovec *parts, size_t count)
{
    size_t all = 0;

    for (size_t i = 0; i < count; i++)
        all += parts[i].iov_len;
    return all;
}

/* Where as much text as a record takes lies, from there on: all in one part, or
 * copied to where it goes. */
static const void *text_take(unsigned char *to, size_t *bytes,
                             const struct iovec *parts, size_t count,
                             size_t from)
{
    *bytes = 0;
    for (size_t i = 0; i < count && *bytes < RECORD_TEXT_BYTES; i++) {
        const unsigned char *text = parts[i].iov_base;
        size_t there = parts[i].iov_len, room = RECORD_TEXT_BYTES - *bytes;
        if (from >= there) {
            from -= there;
            continue;
        }
        text += from;
        there -= from;
        from = 0;
        if (*bytes == 0 && there >= RECORD_TEXT_BYTES) {
            *bytes = RECORD_TEXT_BYTES;
            return text;
        }
        there = there < room ? there : room;
        memcpy(to + *bytes, text, there);
        *bytes += there;
    }
    return to;
}

/* Seals as much as there is room for, and gives how much that is; or -1. */
static ssize_t records_make(channel_seals *s, const struct iovec *parts,
                            size_t count)
{
    size_t all = 0, left = bytes_of(parts, count);

    s->out_begin = s->out_end = 0;
    out_grow(s, left);
    while (left && s->out_room - s->out_end >= RECORD_BYTES) {
        unsigned char *sealed = s->out + s->out_end;
        size_t bytes;
        const void *text =
            text_take(sealed + RECORD_HEAD_BYTES, &bytes, parts, count, all);
        if (paths__record_seal(s->to, sealed, text, bytes) != 0) {
            errno = EIO;
            return -1;
        }
        s->out_end += bytes + RECORD_EXTRA_BYTES;
        all += bytes;
        left -= bytes;
    }
    return (ssize_t)all;
}

ssize_t paths__channel_send(channel *c, const struct iovec *parts, size_t count,
                            int flags)
{
    ssize_t bytes;

    if (!c->seals)
        return parts_send(c->fd, parts, count, flags);
    if (!owed_send(c, flags))
        return -1;
    bytes = records_make(c->seals, parts, count);
    if (bytes > 0 && !owed_send(c, flags) && errno != EAGAIN && errno != EINTR)
        return -1;
    return bytes;
}

bool paths__channel_owes(const channel *c)
{
    return c->seals && c->seals->out_begin < c->seals->out_end;
}

/* --- receiving --- */

/* Of the record that comes next; see paths__record_length. */
static int next_length(const channel_seals *s)
{
    return paths__record_length(s->in + s->in_begin, s->in_end - s->in_begin);
}

static bool has_record(const channel_seals *s)
{
    int length = next_length(s);

    return length > 0 && (size_t)length <= s->in_end - s->in_begin;
}

static ssize_t broken(channel_seals *s)
{
    s->is_broken = true;
    errno = EBADMSG;
    return -1;
}

/* Text that was opened before. */
static size_t open_take(channel_seals *s, void *to, size_t capacity)
{
    size_t bytes = s->open < capacity ? s->open : capacity;

    memcpy(to, s->in + s->in_begin, bytes);
    s->in_begin += bytes;
    s->open -= bytes;
    if (s->open == 0)
        s->in_begin += NOISE_SEAL_BYTES;
    return bytes;
}

/* A record that is there whole. */
static ssize_t record_take(channel_seals *s, void *to, size_t capacity)
{
    unsigned char *sealed = s->in + s->in_begin;
    size_t bytes = (size_t)next_length(s) - RECORD_EXTRA_BYTES;
    bool fits = bytes <= capacity;
    void *text = fits ? to : sealed + RECORD_HEAD_BYTES;

    if (paths__record_open(s->from, text, sealed) != 0)
        return broken(s);
    if (fits) {
        s->in_begin += bytes + RECORD_EXTRA_BYTES;
        return (ssize_t)bytes;
    }
    s->in_begin += RECORD_HEAD_BYTES;
    s->open = bytes;
    return (ssize_t)open_take(s, to, capacity);
}

ssize_t paths__channel_receive(channel *c, void *to, size_t capacity, int flags)
{
    channel_seals *s = c->seals;

    if (!s)
        return recv(c->fd, to, capacity, flags);
    if (s->open)
        return (ssize_t)open_take(s, to, capacity);
    for (;;) {
        ssize_t got;
        if (s->is_broken || next_length(s) < 0)
            return broken(s);
        if (has_record(s))
            return record_take(s, to, capacity);
        memmove(s->in, s->in + s->in_begin, s->in_end - s->in_begin);
        s->in_end -= s->in_begin;
        s->in_begin = 0;
        got = recv(c->fd, s->in + s->in_end, IN_BYTES - s->in_end, flags);
        if (got <= 0)
            return got;
        s->in_end += (size_t)got;
    }
}

bool paths__channel_has(const channel *c)
{
    const channel_seals *s = c->seals;

    return s && (s->open || s->is_broken || has_record(s) ||
                 next_length(s) < 0); /* to be told of */
}

const char *paths__channel_error(int error)
{
    if (error == EBADMSG)
        return "what came was changed, repeated or left out on the way: its "
               "seal is broken";
    return error == EIO ? "OpenSSL cannot seal what is said" : strerror(error);
}

/* --- exposed? --- */

bool paths__channel_is_exposed(int fd, const char *encrypt)
{
    struct sockaddr_storage address = {0};
    socklen_t bytes = sizeof(address);

    if (encrypt && strcmp(encrypt, "always") == 0)
        return true;
    if (encrypt && strcmp(encrypt, "never") == 0)
        return false;
    return getpeername(fd, (struct sockaddr *)&address, &bytes) != 0 ||
           !paths_address_is_loopback(&address);
}
