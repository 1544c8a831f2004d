/* hostile_relay.c - see hostile_relay.h. */
#include "tests/paths/net/hostile_relay.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/paths/net/attacker.h"
#include "tests/support/check.h"
#include "tests/support/command.h"

void relay_forge(int fd)
{
    wire_header header = {.kind = WIRE_FAILED,
                          .bytes = sizeof(RELAY_FORGERY) - 1};

    attacker_say_frame(fd, header, RELAY_FORGERY);
}

/* What is a FAILED in clear becomes another. */
static bool is_failed(const void *data, size_t bytes)
{
    wire_header header;

    if (bytes < sizeof(header))
        return false;
    memcpy(&header, data, sizeof(header));
    return header.kind == WIRE_FAILED && header.bytes == bytes - sizeof(header);
}

static void do_deed(relay_deed deed, const relay_talk *talk, int side,
                    char *data, size_t bytes)
{
    if (deed == RELAY_FLIP)
        data[bytes / 2] ^= 4;
    if (deed == RELAY_BRING_BACK)
        attacker_say(talk->fds[side], data, bytes);
    attacker_say(talk->fds[1 - side], data, bytes);
    if (deed == RELAY_REPEAT)
        attacker_say(talk->fds[1 - side], data, bytes);
}

/* One recv from one side, for the other. `r` NULL: nothing is done to it.
 * False: it is closed. */
static bool pass_on(relay *r, relay_talk *talk, int side)
{
    char data[4096];
    ssize_t got = recv(talk->fds[side], data, sizeof(data), 0);
    size_t kept = talk->counts[side], capacity = RELAY_KEEPS - kept;

    if (got <= 0)
        return false;
    memcpy(talk->said[side] + kept, data,
           (size_t)got < capacity ? (size_t)got : capacity);
    talk->counts[side] += (size_t)got < capacity ? (size_t)got : capacity;
    talk->passed[side] += (size_t)got;
    if (side == 1 && talk->forges && is_failed(data, (size_t)got))
        relay_forge(talk->fds[0]);
    else if (r && r->deed != RELAY_NOTHING && side == r->deed_side &&
             talk->passed[side] > r->deed_at)
        do_deed((relay_deed)atomic_exchange(&r->deed, RELAY_NOTHING), talk,
                side, data, (size_t)got);
    else
        attacker_say(talk->fds[1 - side], data, (size_t)got);
    return true;
}

void relay_pass(relay_talk *talk)
{
    for (;;) {
        struct pollfd fds[2] = {{.fd = talk->fds[0], .events = POLLIN},
                                {.fd = talk->fds[1], .events = POLLIN}};

        cr_assert_gt(poll(fds, 2, (int)timeout(60) * 1000), 0,
                     "none of both closes it");
        for (int side = 0; side < 2; side++) {
            if (fds[side].revents && !pass_on(NULL, talk, side))
                return;
        }
    }
}

/* --- a thread that does so for all --- */

static void accept_one(relay *r)
{
    relay_talk *talk = &r->talks[r->count];

    talk->fds[0] = accept(r->door, NULL, NULL);
    if (talk->fds[0] < 0)
        return;
    talk->fds[1] = attacker_dial(r->port);
    r->count++;
}

static void talk_close(relay_talk *talk)
{
    for (int side = 0; side < 2; side++) {
        if (talk->fds[side] >= 0)
            close(talk->fds[side]);
        talk->fds[side] = -1;
    }
}

static void *relay_run(void *argument)
{
    relay *r = argument;

    while (!atomic_load(&r->stop)) {
        struct pollfd fds[2 * RELAY_MAX + 1];
        int count = r->count;

        for (int i = 0; i < 2 * count; i++)
            fds[i] = (struct pollfd){.fd = r->talks[i / 2].fds[i % 2],
                                     .events = POLLIN};
        fds[2 * count] = (struct pollfd){.fd = count < RELAY_MAX ? r->door : -1,
                                         .events = POLLIN};
        if (poll(fds, (nfds_t)(2 * count + 1), 50) <= 0)
            continue;
        for (int i = 0; i < 2 * count; i++) {
            relay_talk *talk = &r->talks[i / 2];
            if (fds[i].revents && talk->fds[i % 2] >= 0 &&
                !pass_on(r, talk, i % 2))
                talk_close(talk);
        }
        if (fds[2 * count].revents)
            accept_one(r);
    }
    return NULL;
}

void relay_start(relay *r, int door, int port)
{
    memset(r, 0, sizeof(*r));
    r->door = door;
    r->port = port;
    cr_assert_eq(pthread_create(&r->thread, NULL, relay_run, r), 0);
}

void relay_stop(relay *r)
{
    atomic_store(&r->stop, true);
    pthread_join(r->thread, NULL);
    for (int i = 0; i < r->count; i++)
        talk_close(&r->talks[i]);
}
