/* attacker.c - see attacker.h. */
#include "tests/paths/net/attacker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pastset/waiter.h"
#include "tests/support/check.h"
#include "tests/support/command.h"

/* Processes give an unauthenticated peer 5 s; how long they need for it on a
 * busy machine is not known. Who never closes is found out all the same. */
#define TIMEOUT_S 60

int attacker_dial(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    cr_assert_geq(fd, 0, "%s", strerror(errno));
    cr_assert_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0,
                 "%s", strerror(errno));
    return fd;
}

void attacker_say(int fd, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes) {
        ssize_t sent = send(fd, at, bytes, MSG_NOSIGNAL);
        if (sent < 0)
            return;
        at += sent;
        bytes -= (size_t)sent;
    }
}

void attacker_say_frame(int fd, wire_header header, const void *payload)
{
    attacker_say(fd, &header, sizeof(header));
    attacker_say(fd, payload, header.bytes);
}

bool attacker_hear(int fd, void *data, size_t bytes)
{
    char *at = data;

    while (bytes) {
        ssize_t got = recv(fd, at, bytes, 0);
        if (got <= 0)
            return false;
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

void attacker_is_closed(int fd)
{
    int64_t until = pastset_now_ns() + (int64_t)timeout(TIMEOUT_S) * 1000000000;
    char data[512];

    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int64_t left = (until - pastset_now_ns()) / 1000000;
        cr_assert(left > 0 && poll(&p, 1, (int)left) == 1,
                  "the connection is still open");
        if (recv(fd, data, sizeof(data), 0) <= 0)
            break;
    }
    close(fd);
}

handshake_claim attacker_claim(uint16_t role, const char *from, const char *to,
                               uint64_t digest)
{
    handshake_claim claim = {.role = role, .digest = digest};

    snprintf(claim.from, sizeof(claim.from), "%s", from);
    snprintf(claim.to, sizeof(claim.to), "%s", to);
    return claim;
}

bool attacker_shake_hands(int fd, const uint8_t key[32],
                          const handshake_claim *claim)
{
    unsigned char message[HANDSHAKE_MESSAGE_BYTES];
    unsigned char proof[HANDSHAKE_PROOF_BYTES];
    handshake h;

    check_status(paths__handshake_begin(&h, key, claim, message), 0);
    attacker_say(fd, message, sizeof(message));
    if (!attacker_hear(fd, message, sizeof(message)))
        return false;
    if (paths__handshake_finish(&h, claim, message, proof) != 0)
        return false;
    attacker_say(fd, proof, sizeof(proof));
    return true;
}

bool attacker_is_welcome(int fd)
{
    wire_header header;

    return attacker_hear(fd, &header, sizeof(header)) &&
           header.kind == WIRE_WELCOME && header.bytes == 0;
}

bool attacker_answer(int fd, const uint8_t key[32], const char *self,
                     uint64_t digest)
{
    unsigned char first[HANDSHAKE_MESSAGE_BYTES];
    unsigned char second[HANDSHAKE_MESSAGE_BYTES];
    unsigned char proof[HANDSHAKE_PROOF_BYTES];
    handshake h;

    if (!attacker_hear(fd, first, sizeof(first)))
        return false;
    check_status(
        paths__handshake_answer(&h, key, self, digest, 0, first, second), 0);
    attacker_say(fd, second, sizeof(second));
    return attacker_hear(fd, proof, sizeof(proof)) &&
           paths__handshake_check(&h, proof) == 0;
}
