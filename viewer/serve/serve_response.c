/* serve_response.c - what all answers say of themselves. */
#include "viewer/serve/run_server_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

/* Only from this server, and only what this server has sent with its name; and
 * nobody else may show its pages. */
#define POLICY                                                                 \
    "default-src 'none'; script-src 'self'; style-src 'self'; "                \
    "connect-src 'self'; frame-src 'self'; img-src data:; base-uri 'none'; "   \
    "form-action 'none'; frame-ancestors 'none'"
/* A report says itself what it may do; it is shown in the page. */
#define REPORT_POLICY                                                          \
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

static bool add_headers(struct MHD_Response *r, const char *type)
{
    bool is_report = strcmp(type, VIEWER__REPORT_TYPE) == 0;
    const char *const headers[][2] = {
        {MHD_HTTP_HEADER_CONTENT_TYPE, type},
        {MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
        {"Content-Security-Policy", is_report ? REPORT_POLICY : POLICY},
    };

    for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
        if (MHD_add_response_header(r, headers[i][0], headers[i][1]) != MHD_YES)
            return false;
    return true;
}

struct MHD_Response *viewer__response_with_headers(struct MHD_Response *r,
                                                   const char *type)
{
    if (r && !add_headers(r, type)) {
        MHD_destroy_response(r);
        return NULL;
    }
    return r;
}

struct MHD_Response *viewer__response(char *text, size_t bytes,
                                      const char *type, bool is_own)
{
    struct MHD_Response *r = MHD_create_response_from_buffer(
        bytes, text, is_own ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);

    if (!r && is_own)
        free(text);
    return viewer__response_with_headers(r, type);
}

/* One line of text, for whoever has typed the address. */
struct MHD_Response *viewer__response_error(void)
{
    const char *text = pastset_error();
    size_t bytes = strlen(text);
    char *copy = malloc(bytes + 2);

    if (!copy)
        return NULL;
    memcpy(copy, text, bytes);
    copy[bytes] = '\n';
    return viewer__response(copy, bytes + 1, "text/plain; charset=utf-8", true);
}

unsigned viewer__status_of(int err)
{
    switch (err) {
    case PASTSET_EINVAL:
        return MHD_HTTP_BAD_REQUEST;
    case PASTSET_ENOENT:
        return MHD_HTTP_NOT_FOUND;
    default:
        return MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
}
