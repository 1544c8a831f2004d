/* serve_fuzz.c - any bytes as what comes over HTTP: a name of the server, and
 * in the next line an address with its parameters. What passes must be within
 * its bounds, and what does not must have a text that says why. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "viewer/serve/serve_asked_internal.h"
#include "viewer/serve/serve_guard_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RUNS 2

static const char token[] = "0123456789abcdef0123456789abcdef";

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_refused(int err)
{
    must((err == PASTSET_EINVAL || err == PASTSET_ENOENT) &&
         pastset_error()[0]);
}

static void check_asked(const viewer__asked *asked)
{
    scopes_snapshot_options window = viewer__asked_window(asked);

    must(asked->kind < VIEWER__ASKED_KINDS && asked->run < RUNS);
    must((asked->kind == VIEWER__ASKED_VIEW) == (asked->view != NULL));
    must(memchr(asked->threads, 0, sizeof(asked->threads)) != NULL);
    must(memchr(asked->name, 0, sizeof(asked->name)) != NULL);
    must(window.from_ns <= window.to_ns && window.last_ns >= 0);
    must(window.last_ns == 0 ||
         (window.from_ns == INT64_MIN && window.to_ns == INT64_MAX));
    must(!asked->detail || asked->view->each != NULL);
    must(viewer__asked_equal(asked, asked));
}

/* "path?key=value&key=value", as libmicrohttpd takes it apart. */
static int read_address(viewer__asked *asked, char *address)
{
    char *next = strchr(address, '?'), *key;
    int err;

    if (next)
        *next++ = 0;
    err = viewer__asked_init(asked, address);
    while (!err && (key = strsep(&next, "&"))) {
        char *value = strchr(key, '=');
        if (value)
            *value++ = 0;
        err = viewer__asked_set(asked, key, value);
    }
    return err ? err : viewer__asked_check(asked, RUNS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *address;
    const char *behind;
    viewer__asked asked;
    int err;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    address = strchr(text, '\n');
    if (address)
        *address++ = 0;
    if (viewer__host_pass(text, "own"))
        must(text[strcspn(text, "/@ ?#")] == 0 && *text);
    if (address) {
        behind = viewer__token_pass(address, token);
        must(!behind || memcmp(address + 1, token, strlen(token)) == 0);
        err = read_address(&asked,
                           behind ? address + (behind - address) : address);
        if (err)
            check_refused(err);
        else
            check_asked(&asked);
    }
    free(text);
    return 0;
}
