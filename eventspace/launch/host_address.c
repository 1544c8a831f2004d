/* host_address.c - the address at which other machines reach this one, where
 * the map gives none: the one that its name stands for, if an interface has it
 * (Debian's 127.0.1.1 is of no use to others), else that of the first interface
 * that has one. */
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "eventspace/launch/launch_internal.h"
#include "pastset/status.h"

/* Of an interface that is up: not loopback, and not of one link only, which
 * would need the interface's name. */
static bool is_for_others(const struct ifaddrs *i)
{
    if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) ||
        (i->ifa_flags & IFF_LOOPBACK))
        return false;
    if (i->ifa_addr->sa_family == AF_INET)
        return true;
    return i->ifa_addr->sa_family == AF_INET6 &&
           !IN6_IS_ADDR_LINKLOCAL(
               &((const struct sockaddr_in6 *)(const void *)i->ifa_addr)
                    ->sin6_addr);
}

static bool is_same(const struct sockaddr *a, const struct sockaddr *b)
{
    if (a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)(const void *)b)->sin_addr.s_addr;
    return memcmp(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr,
                  &((const struct sockaddr_in6 *)(const void *)b)->sin6_addr,
                  sizeof(struct in6_addr)) == 0;
}

static const struct sockaddr *by_name(const struct ifaddrs *interfaces,
                                      const struct addrinfo *named)
{
    for (; named; named = named->ai_next) {
        for (const struct ifaddrs *i = interfaces; i; i = i->ifa_next) {
            if (is_for_others(i) && is_same(i->ifa_addr, named->ai_addr))
                return i->ifa_addr;
        }
    }
    return NULL;
}

static const struct sockaddr *by_family(const struct ifaddrs *i, int family)
{
    for (; i; i = i->ifa_next) {
        if (is_for_others(i) && i->ifa_addr->sa_family == family)
            return i->ifa_addr;
    }
    return NULL;
}

int eventspace__host_address(char out[PATHS_ADDRESS_TEXT])
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *named = NULL;
    struct ifaddrs *interfaces = NULL;
    const struct sockaddr *chosen = NULL;
    char host[256] = "";
    int err = 0;

    gethostname(host, sizeof(host) - 1);
    if (getifaddrs(&interfaces) == 0) {
        if (getaddrinfo(host, NULL, &hints, &named) == 0) {
            chosen = by_name(interfaces, named);
            freeaddrinfo(named);
        }
        if (!chosen)
            chosen = by_family(interfaces, AF_INET);
        if (!chosen)
            chosen = by_family(interfaces, AF_INET6);
    }
    if (!chosen ||
        getnameinfo(chosen,
                    chosen->sa_family == AF_INET ? sizeof(struct sockaddr_in)
                                                 : sizeof(struct sockaddr_in6),
                    out, PATHS_ADDRESS_TEXT, NULL, 0, NI_NUMERICHOST) != 0)
        err = pastset_fail(PASTSET_ENOENT,
                           "%s has no address at which the other machines of "
                           "the job could reach it: give each process an "
                           "address in the map",
                           host);
    if (interfaces)
        freeifaddrs(interfaces);
    return err;
}
