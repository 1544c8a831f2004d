/* serve_guard.c - see serve_guard_internal.h. */
#include "viewer/serve/serve_guard_internal.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include <sodium.h>

#define HOST_BYTES 256

void viewer__token_make(char out[VIEWER__TOKEN_TEXT + 1])
{
    unsigned char bytes[VIEWER__TOKEN_TEXT / 2];

    randombytes_buf(bytes, sizeof(bytes));
    sodium_bin2hex(out, VIEWER__TOKEN_TEXT + 1, bytes, sizeof(bytes));
    sodium_memzero(bytes, sizeof(bytes));
}

const char *viewer__token_pass(const char *path, const char *token)
{
    /* Their number is no secret. */
    if (strlen(path) < VIEWER__TOKEN_TEXT + 2 || path[0] != '/' ||
        path[VIEWER__TOKEN_TEXT + 1] != '/' ||
        sodium_memcmp(path + 1, token, VIEWER__TOKEN_TEXT) != 0)
        return NULL;
    return path + VIEWER__TOKEN_TEXT + 2;
}

/* Without the port, and without the brackets of IPv6. */
static bool take_name(char name[HOST_BYTES], const char *host)
{
    bool bracket = *host == '[';
    const char *begin = bracket ? host + 1 : host;
    size_t length = strcspn(begin, bracket ? "]" : ":");
    const char *rest = begin + length + bracket;

    if (length == 0 || length >= HOST_BYTES || (bracket && !begin[length]))
        return false;
    memcpy(name, begin, length);
    name[length] = 0;
    return !*rest ||
           (*rest == ':' && strspn(rest + 1, "0123456789") == strlen(rest + 1));
}

bool viewer__host_pass(const char *host, const char *own)
{
    unsigned char address[sizeof(struct in6_addr)];
    char name[HOST_BYTES];

    if (!host || !take_name(name, host))
        return false;
    return strcasecmp(name, "localhost") == 0 || strcasecmp(name, own) == 0 ||
           inet_pton(AF_INET, name, address) == 1 ||
           inet_pton(AF_INET6, name, address) == 1;
}
