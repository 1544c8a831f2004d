/* serve.c - operations that come from other processes.
 *
 * A request becomes an operation without a home. It runs down its stages on
 * the loop; when it is complete, on whatever thread that happens, its reply is
 * sent from there, so that nobody has to be woken to send it. */
#include <stdlib.h>
#include <string.h>

#include "paths/net/loop_link_internal.h"
#include "paths/net/member_internal.h"
#include "paths/net/relay_internal.h"
#include "paths/net/serve_internal.h"
#include "paths/wrappers/collectives_internal.h"

/* --- requests --- */

/* Room for a tuple behind where the header of the reply goes. */
static void *serve_capacity(operation *o, size_t bytes)
{
    bool exchange = o->op.verb == PASTSET_EXCHANGE;

    if (bytes > (exchange ? o->op.capacity : o->op.bytes))
        return NULL; /* the reader told how much he takes */
    if (bytes > o->reply_capacity || !o->reply) {
        unsigned char *reply = realloc(o->reply, bytes ? bytes : 1);
        if (!reply)
            return NULL;
        o->reply = reply;
        o->reply_capacity = bytes;
    }
    /* Where wrappers find it on the way up. */
    *(exchange ? &o->op.result : &o->op.tuple) = o->reply;
    return o->reply;
}

static void serve_free(operation *o)
{
    paths__connection_unref(o->from);
    free(o->reply);
    free(o->text);
    free(o);
}

static void serve_complete(operation *o)
{
    wire_header header = {.reply = {.id = o->from_id,
                                    .kind = WIRE_REPLY,
                                    .status = (int16_t)o->op.status,
                                    .thread = o->op.thread,
                                    .sequence = o->op.sequence,
                                    .index = o->op.index,
                                    .lost = o->op.lost}};
    const void *payload = o->reply;

    if (o->op.status) {
        const char *text =
            o->text ? o->text : pastset_status_text(o->op.status);
        header.bytes = (uint32_t)strnlen(text, WIRE_TEXT_BYTES);
        payload = text;
    } else if (o->answer) {
        header.bytes =
            (uint32_t)(o->op.verb == PASTSET_EXCHANGE ? o->op.capacity
                                                      : o->op.bytes);
        payload = o->answer;
    } else if (o->op.verb == PASTSET_EXCHANGE && o->reply) {
        header.bytes = (uint32_t)o->op.capacity;
    } else if (o->op.verb != PASTSET_WRITE && o->reply) {
        header.bytes = (uint32_t)o->op.bytes;
    } /* no reply: a wrapper answered it, and has no tuple to give */
    /* When it cannot be sent, the reader is gone. */
    paths__connection_send(o->from, &header, payload);
    serve_free(o);
}

/* Where those of a proxy come in, if the map lets this peer send them. */
static paths_stage *stage_of(const connection *c, uint32_t rank)
{
    const paths_process *process = c->process;
    const paths_map_node *proxy;
    paths_stage *stage;

    if (c->outgoing || c->role == ROLE_MEMBER || c->role == ROLE_RELAY ||
        rank >= process->map->node_count)
        return NULL;
    proxy = &process->map->nodes[process->numbered[rank]];
    if (proxy->process != c->peer || proxy->kind != PATHS_WRAPPER)
        return NULL;
    stage = process->entries[proxy->out[0]];
    return stage && stage->entry ? stage : NULL;
}

/* A REQUEST, or a SPOILT, which begins as one. */
static unsigned char *request_begin(connection *c)
{
    const wire_request *h = &c->header.request;
    paths_stage *stage = stage_of(c, h->proxy);
    operation *o;
    unsigned char *payload;

    c->request = NULL;
    if (!stage)
        return NULL;
    o = malloc(sizeof(*o) + ROUTE_ENTRIES * sizeof(route_entry) + h->bytes + 1);
    if (!o) { /* request_run() says so */
        c->away = true;
        return c->small;
    }
    memset(o, 0, sizeof(*o));
    o->route = (route_entry *)(void *)(o + 1);
    payload = (unsigned char *)(o->route + ROUTE_ENTRIES);
    o->stage = stage;
    o->op.verb = h->verb;
    o->op.nowait = h->timeout_ms == 0;
    o->op.thread = h->thread;
    o->op.sequence = h->sequence;
    o->op.index = h->index;
    o->op.bytes = h->capacity;
    if (h->timeout_ms != WIRE_FOREVER && h->timeout_ms != 0)
        o->op.deadline_ns = pastset_now_ns() + (int64_t)h->timeout_ms * 1000000;
    o->carry_depth = PATHS_STAGES_MAX + 1;
    if (h->kind == WIRE_SPOILT) {
        o->op.status = -(int)c->header.spoilt.error;
        o->op.bytes = 0;
        payload[h->bytes] = 0; /* the text; see request_run() */
    } else if (brings_tuple(&o->op)) {
        o->op.tuple = payload;
        o->op.bytes = h->bytes;
        o->op.capacity = h->capacity;
        o->capacity = o->op.verb == PASTSET_EXCHANGE ? serve_capacity : NULL;
    } else {
        o->capacity = serve_capacity;
        if (h->bytes || h->pattern_fields) {
            o->pattern.fields = h->pattern_fields;
            o->pattern.values = payload;
            o->pattern.bytes = h->bytes;
            o->op.pattern = &o->pattern;
        }
    }
    o->from_id = h->id;
    o->complete = serve_complete;
    o->from = c;
    paths__connection_ref(c);
    c->request = o;
    return payload;
}

/* A pattern must be as long as what it is compared with. */
static bool pattern_fits(const operation *o)
{
    const paths_stage *stage = o->stage;
    const pastset_type *type;

    if (!o->op.pattern)
        return o->op.verb != PASTSET_READ_MATCH;
    while (stage->next && !stage->answers)
        stage = stage->next;
    type =
        stage->element ? pastset_element_type(stage->element) : stage->answers;
    if (!type)
        return true; /* the process at the end will look */
    return type->variable ? o->pattern.bytes <= type->max_bytes
                          : o->pattern.bytes == type->max_bytes;
}

/* May an operation like this come by this way, and go to its end? */
static int request_check(const connection *c, const operation *o)
{
    const paths_process *process = c->process;
    uint32_t proxy = process->numbered[c->header.request.proxy];

    if (!is_allowed(process->verbs[proxy], o->op.verb))
        return pastset_fail(PASTSET_EPERM,
                            "process %s may not %s through \"%s\": no thread "
                            "with this path has such a use in the map",
                            process_name(process, c->peer),
                            pastset_verb_name(o->op.verb),
                            process->map->nodes[proxy].name);
    if (!pattern_fits(o))
        return pastset_fail(PASTSET_EINVAL,
                            "a pattern that does not fit the type");
    return 0;
}

static void no_memory_reply(connection *c)
{
    static const char text[] = "no memory for the operation";
    const wire_request *request = &c->header.request;
    wire_header header = {.reply = {.id = request->id,
                                    .kind = WIRE_REPLY,
                                    .status = PASTSET_ENOMEM,
                                    .thread = request->thread,
                                    .sequence = request->sequence,
                                    .bytes = sizeof(text) - 1}};
    paths_stage *stage = stage_of(c, request->proxy);

    /* A contribution that is lost: the next would be taken for it. */
    if (stage && (stage->joins || stage->leads))
        paths__collective_left(stage, text);
    paths__connection_send(c, &header, text);
}

static void request_run(connection *c)
{
    operation *o = c->request;
    int err;

    c->request = NULL;
    if (!o) {
        no_memory_reply(c);
        return;
    }
    err = request_check(c, o);
    if (o->op.status)
        o->text =
            strndup((const char *)(o->route + ROUTE_ENTRIES), WIRE_TEXT_BYTES);
    if (err) {
        o->op.status = err;
        paths__replace_text(o, err);
        serve_complete(o);
        return;
    }
    paths__executor_runs(&c->process->loop_executor, o);
    if (paths__run(o) == RUN_DONE)
        serve_complete(o);
}

/* --- those who leave --- */

static void left_take(connection *c)
{
    paths_stage *stage = stage_of(c, c->header.left.proxy);
    char text[WIRE_TEXT_BYTES + 1];

    if (!stage || c->role != ROLE_LOOP) {
        paths__connection_close(c, "it broke the protocol");
        return;
    }
    snprintf(text, sizeof(text), "%.*s", (int)c->header.bytes,
             (const char *)c->small);
    paths__collective_left(stage, text);
}

/* --- frames --- */

unsigned char *paths__serve_payload_at(connection *c)
{
    switch (c->header.kind) {
    case WIRE_REQUEST:
    case WIRE_SPOILT:
        return request_begin(c);
    case WIRE_REPLY:
        return paths__loop_link_reply_begin(c);
    default:
        return c->small;
    }
}

void paths__serve_frame(connection *c)
{
    switch (c->header.kind) {
    case WIRE_REQUEST:
    case WIRE_SPOILT:
        request_run(c);
        break;
    case WIRE_LEFT:
        left_take(c);
        break;
    case WIRE_REPLY:
        paths__loop_link_reply_end(c);
        break;
    case WIRE_RELAY:
        if (!paths__relay_ask(c))
            paths__connection_close(c, "it broke the protocol");
        break;
    default:
        paths__member_frame(c);
    }
}

void paths__serve_abandon(connection *c)
{
    operation *o = c->request;

    c->request = NULL;
    c->in_payload = false;
    if (!o)
        return;
    if (c->header.kind == WIRE_REQUEST || c->header.kind == WIRE_SPOILT)
        serve_free(o);
    else
        paths__loop_link_reply_abandon(c, o);
}

void paths__serve_lost(connection *c, const char *why)
{
    if (!c->outgoing)
        paths__end_from(c->process, c);
    else if (c->role == ROLE_LOOP)
        paths__loop_link_lost(c, why);
}
