/* unauthenticated.c - at the door of a process: connections that have not
 * proven that they belong to the run.
 *
 * Each has a few seconds for the handshake, and there may be some hundreds of
 * them; then the oldest gives way. What they send has one length, and changes
 * nothing until the proof: whatever comes before it may be an old message that
 * somebody has heard and sends again. One who does not know the key costs
 * a few hashes, one with an old message two multiplications on the curve. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "paths/net/connect_internal.h"
#include "paths/net/member_internal.h"

#define UNAUTHENTICATED_MAX 512
#define UNAUTHENTICATED_MS 5000 /* time that they have for the handshake */

/* The one that has kept us waiting longest makes place: who knows the key
 * has long proven it, so that a crowd at the door keeps no process out. */
static void evict(paths_process *process)
{
    connection *oldest = NULL;

    for (connection *c = process->connections; c; c = c->next) {
        if (c->state != CONNECTION_OPEN)
            oldest = c; /* new ones stand in front */
    }
    if (oldest)
        paths__connection_close(oldest,
                                "too many connections wait to be let in");
}

void paths__unauthenticated_accept(paths_process *process, int fd)
{
    connection *c;

    if (process->unauthenticated >= UNAUTHENTICATED_MAX)
        evict(process);
    if (paths__connection_open(&c, process, (channel){.fd = fd},
                               CONNECTION_GREETING) != 0)
        close(fd);
    else
        process->unauthenticated++;
}

void paths__unauthenticated_tidy(paths_process *process)
{
    connection *next;

    for (connection *c = process->connections; c; c = next) {
        next = c->next;
        if (c->state != CONNECTION_OPEN &&
            uv_now(&process->loop) - c->since_ms > UNAUTHENTICATED_MS)
            paths__connection_close(c, "it did not prove the key in time");
    }
}

/* --- the handshake --- */

static bool say(const connection *c, const void *data, size_t bytes)
{
    return send(c->channel.fd, data, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

/* It cannot be of this run; told if somebody does not come. */
static void turn_away(connection *c, const char *why)
{
    c->process->turned_away++;
    c->process->turned_away_why = why;
    paths__connection_close(c, why);
}

/* Whoever speaks another version is told which one is spoken here; what is not
 * of EventSpace at all is told nothing. False: it is closed. */
static bool opening_holds(connection *c)
{
    unsigned char own[HANDSHAKE_OPENING_BYTES];
    size_t magic = c->end < 4 ? c->end : 4;

    paths__handshake_opening(own);
    if (memcmp(c->small, own, magic) == 0) {
        if (c->end < sizeof(own) || memcmp(c->small, own, sizeof(own)) == 0)
            return true;
        say(c, own, sizeof(own));
        /* What is not read would take the answer away with it. */
        (void)!recv(c->channel.fd, c->small, sizeof(c->small), 0);
    }
    turn_away(c, "it speaks another protocol, or another version");
    return false;
}

static void answer(connection *c)
{
    const paths_process *process = c->process;
    unsigned char second[HANDSHAKE_MESSAGE_BYTES];

    if (paths__handshake_answer(&c->handshake, process->key,
                                paths_process_name(process), process->digest,
                                paths__connection_seals(process, c->channel.fd),
                                c->small, second) != 0 ||
        !say(c, second, sizeof(second)))
        turn_away(c, "it does not know the key");
    else
        c->state = CONNECTION_ANSWERED;
}

static void let_in(connection *c)
{
    c->buffer = malloc(CONNECTION_BUFFER);
    if (!c->buffer)
        paths__connection_close(c, "no memory for it");
    else if (paths__handshake_check(&c->handshake, c->small) != 0)
        turn_away(c, "it does not know the key");
    else if (paths__channel_begin(&c->channel, &c->handshake, false) != 0)
        paths__connection_close(c, "it cannot be encrypted");
    else if (!paths__member_come(c, &c->handshake.claim))
        paths__connection_close(c, "it was refused");
    paths__handshake_wipe(&c->handshake);
}

void paths__unauthenticated_read(connection *c)
{
    bool greets = c->state == CONNECTION_GREETING;
    size_t bytes = greets ? HANDSHAKE_MESSAGE_BYTES : HANDSHAKE_PROOF_BYTES;
    ssize_t got = recv(c->channel.fd, c->small + c->end, bytes - c->end, 0);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        paths__connection_close(c, "it left");
        return;
    }
    c->end += (size_t)got;
    if ((greets && !opening_holds(c)) || c->end < bytes)
        return;
    c->end = 0;
    if (greets)
        answer(c);
    else
        let_in(c);
}
