/* serve_http.c - requests and what is answered, by libmicrohttpd.
 *
 * What a request says is looked at in this order: its method, its length, the
 * name by which it came, the token, the address, the parameters. Nothing that
 * comes later is looked at for somebody who has no token. */
#include "viewer/serve/run_server_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/tables/table.h"
#include "viewer/serve/serve_page_internal.h"
#include "viewer/tables/table_print.h"

#define MEMORY_BYTES                                                           \
    32768            /* of a connection: its headers, and what it sends        \
                      */
#define SILENT_S 30u /* nothing comes or goes: it is ended */
#define EVENTS_BYTES 16384

/* --- answers --- */

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status,
                             struct MHD_Response *response)
{
    enum MHD_Result result;

    if (!response)
        return MHD_NO;
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

/* --- who may ask, and what for --- */

static bool is_read_only(const char *method)
{
    return strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
           strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
}

static const char *header(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool has_body(struct MHD_Connection *connection)
{
    const char *length = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);

    return header(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING) ||
           (length && strcmp(length, "0") != 0);
}

typedef struct taking {
    viewer__asked *asked;
    int err;
} taking;

static enum MHD_Result take_parameter(void *context, enum MHD_ValueKind kind,
                                      const char *key, size_t key_bytes,
                                      const char *value, size_t value_bytes)
{
    taking *t = context;

    (void)kind;
    if (strlen(key) != key_bytes || (value && strlen(value) != value_bytes))
        t->err = pastset_fail(PASTSET_EINVAL, "a parameter has a zero byte");
    else
        t->err = viewer__asked_set(t->asked, key, value);
    return t->err ? MHD_NO : MHD_YES;
}

static int read_asked(const viewer_server *server, viewer__request *r,
                      const char *path)
{
    taking t = {.asked = &r->asked};

    t.err = viewer__asked_init(&r->asked, path);
    if (!t.err)
        MHD_get_connection_values_n(r->connection, MHD_GET_ARGUMENT_KIND,
                                    take_parameter, &t);
    return t.err ? t.err : viewer__asked_check(&r->asked, server->run_count);
}

/* How HTTP calls what is wrong, and pastset_error says it; or MHD_HTTP_OK. */
static unsigned admit(const viewer_server *server, viewer__request *r,
                      const char *url, const char *method)
{
    const char *path;
    int err;

    if (!is_read_only(method)) {
        pastset_fail(PASTSET_EINVAL, "only GET and HEAD are answered");
        return MHD_HTTP_METHOD_NOT_ALLOWED;
    }
    if (r->too_long) {
        pastset_fail(PASTSET_ELIMIT, "the address is longer than %d bytes",
                     VIEWER__URL_MAX);
        return MHD_HTTP_URI_TOO_LONG;
    }
    if (has_body(r->connection)) {
        pastset_fail(PASTSET_EINVAL, "a request has no body here");
        return MHD_HTTP_CONTENT_TOO_LARGE;
    }
    if (!viewer__host_pass(header(r->connection, MHD_HTTP_HEADER_HOST),
                           server->host)) {
        pastset_fail(PASTSET_EPERM, "this server is not called that: take the "
                                    "address that `eventspace serve` has "
                                    "printed");
        return MHD_HTTP_FORBIDDEN;
    }
    path = viewer__token_pass(url, server->token);
    if (!path) {
        pastset_fail(PASTSET_EPERM, "the token is missing or wrong: take the "
                                    "address that `eventspace serve` has "
                                    "printed");
        return MHD_HTTP_FORBIDDEN;
    }
    err = read_asked(server, r, path);
    return err ? viewer__status_of(err) : MHD_HTTP_OK;
}

/* --- what is answered at once --- */

static json_t *run_names(const viewer_server *server)
{
    json_t *runs = json_array();

    for (size_t i = 0; i < server->run_count; i++)
        json_array_append_new(
            runs,
            json_pack("{s:o}", "name", viewer_json_text(server->runs[i].name)));
    return runs;
}

static json_t *view_names(void)
{
    json_t *views = json_array();
    const scopes_view *view;

    for (size_t i = 0; (view = scopes_view_at(i)); i++)
        json_array_append_new(
            views, json_pack("{s:s, s:s, s:s*}", "view", view->name, "summary",
                             view->summary, "detail", view->each));
    return views;
}

static struct MHD_Response *json_response(json_t *json)
{
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

    json_decref(json);
    return text ? viewer__response(text, strlen(text), "application/json", true)
                : NULL;
}

static struct MHD_Response *file_response(viewer_page_file file,
                                          const char *type)
{
    /* It is only read. */
    return viewer__response((char *)(uintptr_t)file.begin,
                            (size_t)(file.end - file.begin), type, false);
}

#define EVENTS_TYPE "text/event-stream"

static enum MHD_Result follow(viewer_server *server, viewer__request *r)
{
    viewer__follower *f;
    struct MHD_Response *response;

    if (r->is_head)
        return queue(r->connection, MHD_HTTP_OK,
                     viewer__response(NULL, 0, EVENTS_TYPE, false));
    f = viewer__follower_create(server, r->connection);

    if (!f) {
        pastset_fail(PASTSET_ELIMIT, "%d pages follow already",
                     VIEWER__FOLLOWERS_MAX);
        return queue(r->connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                     viewer__response_error());
    }
    response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, EVENTS_BYTES,
                                                 viewer__follower_read, f,
                                                 viewer__follower_destroy);
    if (!response)
        viewer__follower_destroy(f);
    return queue(r->connection, MHD_HTTP_OK,
                 viewer__response_with_headers(response, EVENTS_TYPE));
}

static enum MHD_Result answer(viewer_server *server, viewer__request *r)
{
    struct MHD_Response *response;

    switch (r->asked.kind) {
    case VIEWER__ASKED_PAGE:
        response =
            file_response(viewer__serve_html, "text/html; charset=utf-8");
        break;
    case VIEWER__ASKED_SCRIPT:
        response = file_response(viewer__serve_script,
                                 "text/javascript; charset=utf-8");
        break;
    case VIEWER__ASKED_STYLE:
        response =
            file_response(viewer__serve_style, "text/css; charset=utf-8");
        break;
    case VIEWER__ASKED_RUNS:
        response = json_response(run_names(server));
        break;
    case VIEWER__ASKED_VIEWS:
        response = json_response(view_names());
        break;
    case VIEWER__ASKED_LIVE:
        return follow(server, r);
    default:
        return viewer__maker_ask(server, r);
    }
    return queue(r->connection, MHD_HTTP_OK, response);
}

/* --- libmicrohttpd's calls --- */

/* The first of a request, when its first line is there. NULL: no memory. */
static void *request_begin(void *context, const char *uri,
                           struct MHD_Connection *connection)
{
    viewer__request *r = calloc(1, sizeof(*r));

    (void)context;
    if (!r)
        return NULL;
    r->connection = connection;
    r->too_long = strlen(uri) > VIEWER__URL_MAX;
    r->begun_ns = viewer__serve_now_ns();
    return r;
}

static enum MHD_Result request_go_on(void *context,
                                     struct MHD_Connection *connection,
                                     const char *url, const char *method,
                                     const char *version, const char *upload,
                                     size_t *upload_bytes, void **place)
{
    viewer_server *server = context;
    viewer__request *r = *place;
    unsigned status;

    (void)version;
    (void)upload;
    if (!r || *upload_bytes > 0)
        return MHD_NO;
    if (r->admitted)
        return answer(server, r);
    r->admitted = true;
    r->is_head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    viewer__caller_busy(server, connection, true);
    status = admit(server, r, url, method);
    return status == MHD_HTTP_OK
               ? MHD_YES
               : queue(connection, status, viewer__response_error());
}

static void request_end(void *context, struct MHD_Connection *connection,
                        void **place, enum MHD_RequestTerminationCode why)
{
    (void)why;
    viewer__caller_busy(context, connection, false);
    if (*place)
        viewer__maker_forget(context, *place);
    free(*place);
    *place = NULL;
}

/* What it would print is about its callers. */
static void say_nothing(void *context, const char *format, va_list list)
{
    (void)context;
    (void)format;
    (void)list;
}

int viewer__http_start(viewer_server *server, int fd)
{
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_ERROR_LOG;

    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, request_go_on, server,   /* */
        MHD_OPTION_EXTERNAL_LOGGER, say_nothing, NULL, /* */
        MHD_OPTION_LISTEN_SOCKET, fd,                  /* */
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)VIEWER__CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, SILENT_S, /* */
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_BYTES,
        MHD_OPTION_URI_LOG_CALLBACK, request_begin, server, /* */
        MHD_OPTION_NOTIFY_COMPLETED, request_end, server,   /* */
        MHD_OPTION_NOTIFY_CONNECTION, viewer__callers_note, server,
        MHD_OPTION_END);
    return server->daemon ? 0
                          : pastset_fail(PASTSET_ELIMIT,
                                         "the HTTP server cannot be started");
}

/* Nobody must be suspended any more. */
void viewer__http_stop(viewer_server *server)
{
    if (server->daemon)
        MHD_stop_daemon(server->daemon);
    server->daemon = NULL;
}
