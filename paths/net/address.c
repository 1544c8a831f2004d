/* address.c - see address.h. */
#include "paths/net/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pastset/status.h"

/* Takes "[::1]:7000" apart; a port that is absent is "". */
static int split(const char *text, char *ip, size_t capacity, const char **port)
{
    const char *colon = strrchr(text, ':');
    const char *end = text + strlen(text);

    if (text[0] == '[') {
        end = strchr(text, ']');
        if (!end || (end[1] && end[1] != ':'))
            return PASTSET_EINVAL;
        colon = end[1] ? end + 1 : NULL;
        text++;
    } else if (colon && strchr(text, ':') == colon) {
        end = colon;
    } else {
        colon = NULL; /* none, or IPv6 without brackets and port */
    }
    if ((size_t)(end - text) >= capacity)
        return PASTSET_EINVAL;
    memcpy(ip, text, (size_t)(end - text));
    ip[end - text] = 0;
    *port = colon ? colon + 1 : "";
    return colon && !*port[0] ? PASTSET_EINVAL : 0;
}

static int port_parse(const char *text, uint16_t *out)
{
    size_t digits = strspn(text, "0123456789");
    long port = digits <= 5 ? strtol(text, NULL, 10) : 65536;

    if (text[digits] || port > 65535)
        return PASTSET_EINVAL;
    *out = (uint16_t)port;
    return 0;
}

int paths_address_parse(paths_address *out, const char *text)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    const char *port;
    char ip[PATHS_ADDRESS_TEXT];

    memset(out, 0, sizeof(*out));
    if (split(text, ip, sizeof(ip), &port) != 0 ||
        port_parse(port, &out->port) != 0)
        goto fail;
    v4.sin_port = v6.sin6_port = htons(out->port);
    if (inet_pton(AF_INET, ip, &v4.sin_addr) == 1) {
        out->bytes = sizeof(v4);
        memcpy(&out->socket, &v4, sizeof(v4));
        return 0;
    }
    if (inet_pton(AF_INET6, ip, &v6.sin6_addr) == 1) {
        out->bytes = sizeof(v6);
        memcpy(&out->socket, &v6, sizeof(v6));
        return 0;
    }
fail:
    return pastset_fail(PASTSET_EINVAL,
                        "\"%.100s\" is not an address: write one such as "
                        "127.0.0.1, 10.0.0.4:7000 or [::1]:7000",
                        text);
}

bool paths_address_is_loopback(const struct sockaddr_storage *address)
{
    const struct sockaddr_in *v4 = (const void *)address;
    const struct sockaddr_in6 *v6 = (const void *)address;

    switch (address->ss_family) {
    case AF_UNIX:
        return true;
    case AF_INET:
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    case AF_INET6:
        return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) ||
               (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) &&
                v6->sin6_addr.s6_addr[12] == 127);
    default:
        return false;
    }
}

void paths_address_set_port(paths_address *address, uint16_t port)
{
    address->port = port;
    if (address->socket.ss_family == AF_INET)
        ((struct sockaddr_in *)(void *)&address->socket)->sin_port =
            htons(port);
    else
        ((struct sockaddr_in6 *)(void *)&address->socket)->sin6_port =
            htons(port);
}

static int fail_socket(const char *text)
{
    int error = errno;
    const char *advice = "";

    if (error == EADDRNOTAVAIL)
        advice =
            ": no network interface of this machine has this address; "
            "what belongs to another machine is started there (`eventspace "
            "run --process`)";
    else if (error == EADDRINUSE)
        advice = ": another program or run listens there; end it, or write "
                 "another port in the map";
    return pastset_fail(
        error == EMFILE || error == ENFILE ? PASTSET_ELIMIT : PASTSET_EIO,
        "cannot listen at %s: %s%s", text, strerror(error), advice);
}

/* Writes the address that the socket got, as a map has it; of one that listens
 * at all addresses, with that of `a`. */
static int actual_write(int fd, const paths_address *a,
                        char actual[PATHS_ADDRESS_TEXT])
{
    struct sockaddr_storage bound;
    const struct sockaddr_in *v4 = (const void *)&bound;
    const struct sockaddr_in6 *v6 = (const void *)&bound;
    socklen_t bytes = sizeof(bound);
    char ip[INET6_ADDRSTRLEN];

    if (getsockname(fd, (struct sockaddr *)&bound, &bytes) != 0)
        return -1;
    if (bound.ss_family == AF_INET) {
        inet_ntop(
            AF_INET,
            &((const struct sockaddr_in *)(const void *)&a->socket)->sin_addr,
            ip, sizeof(ip));
        snprintf(actual, PATHS_ADDRESS_TEXT, "%s:%u", ip, ntohs(v4->sin_port));
    } else {
        inet_ntop(
            AF_INET6,
            &((const struct sockaddr_in6 *)(const void *)&a->socket)->sin6_addr,
            ip, sizeof(ip));
        snprintf(actual, PATHS_ADDRESS_TEXT, "[%s]:%u", ip,
                 ntohs(v6->sin6_port));
    }
    return 0;
}

/* The same port, at whatever address of this machine. */
static paths_address everywhere_of(const paths_address *a)
{
    paths_address out = *a;

    if (a->socket.ss_family == AF_INET)
        ((struct sockaddr_in *)(void *)&out.socket)->sin_addr.s_addr =
            htonl(INADDR_ANY);
    else
        ((struct sockaddr_in6 *)(void *)&out.socket)->sin6_addr = in6addr_any;
    return out;
}

int paths_address_listen(int *fd, const char *text, bool everywhere,
                         char actual[PATHS_ADDRESS_TEXT])
{
    const char *address = text ? text : PATHS_ADDRESS_LOOPBACK;
    int on = 1;
    paths_address a, at;
    int err = paths_address_parse(&a, address);

    *fd = -1;
    if (err)
        return err;
    at = everywhere ? everywhere_of(&a) : a;
    *fd = socket(a.socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* A port of the map may still be closing from the run before. */
    if (*fd < 0 ||
        setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(*fd, (struct sockaddr *)&at.socket, at.bytes) != 0 ||
        listen(*fd, SOMAXCONN) != 0 || actual_write(*fd, &a, actual) != 0) {
        err = fail_socket(address);
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
    }
    return err;
}
