/* listen.c - the listening sockets of hosts.
 *
 * The launcher opens them all before it starts anything, so that a host can
 * connect to any other from its first moment on. */
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "eventspace/launch_internal.h"
#include "pastset/status.h"

#define LOOPBACK "127.0.0.1"

/* An address of a map, taken apart: "10.0.0.4:7000", "[::1]:7000", "::1". */
typedef struct address {
    char node[64];
    char port[8]; /* "" when none is given */
} address;

static int fail_address(const char *text)
{
    return pastset_fail(PASTSET_EMAP,
                        "address=\"%s\" is not an address such as 10.0.0.4, "
                        "10.0.0.4:7000 or [::1]:7000",
                        text);
}

static int address_split(address *out, const char *text)
{
    const char *node = text;
    const char *colon = strrchr(text, ':');
    const char *close = strchr(text, ']');
    size_t length = strlen(text);

    out->port[0] = 0;
    if (*text == '[') {
        if (!close || (close[1] && close[1] != ':'))
            return fail_address(text);
        node = text + 1;
        length = (size_t)(close - node);
        colon = close[1] ? close + 1 : NULL;
    } else if (colon && strchr(text, ':') == colon) {
        length = (size_t)(colon - text);
    } else {
        colon = NULL; /* the colons of an IPv6 address */
    }
    if (colon) {
        size_t digits = strspn(colon + 1, "0123456789");
        if (digits == 0 || digits > 5 || colon[1 + digits])
            return fail_address(text);
        memcpy(out->port, colon + 1, digits + 1);
    }
    if (length == 0 || length >= sizeof(out->node))
        return fail_address(text);
    memcpy(out->node, node, length);
    out->node[length] = 0;
    return 0;
}

int eventspace__address_port(const char *text, bool *given)
{
    address a;
    int err = address_split(&a, text);
    *given = !err && a.port[0] && strspn(a.port, "0") != strlen(a.port);
    return err;
}

static int fail_socket(const char *text)
{
    int error = errno;
    const char *advice = "";

    if (error == EADDRNOTAVAIL)
        advice = " on this machine; to start only the hosts that belong here, "
                 "run each with --host";
    return pastset_fail(
        error == EMFILE || error == ENFILE ? PASTSET_ELIMIT : PASTSET_EIO,
        "cannot listen at %s: %s%s", text, strerror(error), advice);
}

/* Writes the address that the socket got, as a map has it. */
static int address_actual(int fd, const char *text, char *actual, size_t room)
{
    struct sockaddr_storage bound;
    socklen_t bytes = sizeof(bound);
    address a;
    int length;

    if (getsockname(fd, (struct sockaddr *)&bound, &bytes) != 0)
        return fail_socket(text);
    if (getnameinfo((struct sockaddr *)&bound, bytes, a.node, sizeof(a.node),
                    a.port, sizeof(a.port),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return fail_address(text);
    length = snprintf(actual, room, strchr(a.node, ':') ? "[%s]:%s" : "%s:%s",
                      a.node, a.port);
    return length < 0 || (size_t)length >= room ? fail_address(text) : 0;
}

static int socket_open(int *fd, const struct addrinfo *at, const char *text)
{
    int on = 1;

    *fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd < 0)
        return fail_socket(text);
    /* A port of the map may still be closing from the run before. */
    setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(*fd, at->ai_addr, at->ai_addrlen) != 0 ||
        listen(*fd, SOMAXCONN) != 0)
        return fail_socket(text);
    return 0;
}

int eventspace__listen(int *fd, const char *text, char *actual, size_t room)
{
    struct addrinfo hints = {
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
    };
    struct addrinfo *at;
    address a;
    int err;

    *fd = -1;
    if (!text)
        text = LOOPBACK;
    err = address_split(&a, text);
    if (err)
        return err;
    if (getaddrinfo(a.node, a.port[0] ? a.port : "0", &hints, &at) != 0)
        return fail_address(text);
    err = socket_open(fd, at, text);
    freeaddrinfo(at);
    if (!err)
        err = address_actual(*fd, text, actual, room);
    if (err && *fd >= 0) {
        close(*fd);
        *fd = -1;
    }
    return err;
}
