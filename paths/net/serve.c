/* serve.c - operations that come from other hosts, and the loop's own links.
 *
 * A request becomes an operation without a home. It runs down its stages on
 * the loop; when it is complete, on whatever thread that happens, its reply is
 * sent from there, so that nobody has to be woken to send it. */
#include <stdlib.h>
#include <string.h>

#include "paths/engine/host_internal.h"

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
    wire_header header = {.id = o->from_id,
                          .kind = WIRE_REPLY,
                          .status = (int16_t)o->op.status,
                          .thread = o->op.thread,
                          .sequence = o->op.sequence,
                          .index = o->op.index,
                          .lost = o->op.lost};
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

/* Is the request one that the map lets this peer make? */
static paths_stage *request_stage(connection *c)
{
    const wire_header *h = &c->header;
    const paths_host *host = c->host;
    const paths_map_node *proxy;
    paths_stage *stage;

    if (c->outgoing || c->role == ROLE_MEMBER ||
        h->stage >= host->map->node_count)
        return NULL;
    proxy = &host->map->nodes[host->numbered[h->stage]];
    if (proxy->host != c->peer || proxy->kind != PATHS_WRAPPER)
        return NULL;
    stage = host->entries[proxy->out[0]];
    return stage && stage->entry ? stage : NULL;
}

static bool request_verb_holds(const wire_header *h)
{
    return h->status > 0 && h->status < PASTSET_ALL_VERBS &&
           (h->kind != WIRE_SPOILT ||
            (h->capacity > 0 && h->capacity < INT16_MAX));
}

static unsigned char *request_begin(connection *c)
{
    const wire_header *h = &c->header;
    paths_stage *stage = request_stage(c);
    operation *o;
    unsigned char *payload;

    c->request = NULL;
    if (!stage || !request_verb_holds(h))
        return NULL;
    o = malloc(sizeof(*o) + PATHS_STAGES_MAX * sizeof(route_entry) + h->bytes +
               1);
    if (!o) { /* request_run() says so */
        c->away = true;
        return c->small;
    }
    memset(o, 0, sizeof(*o));
    o->route = (route_entry *)(void *)(o + 1);
    payload = (unsigned char *)(o->route + PATHS_STAGES_MAX);
    o->stage = stage;
    o->op.verb = (uint16_t)h->status;
    o->op.nowait = h->timeout_ms == 0;
    o->op.thread = h->thread;
    o->op.sequence = h->sequence;
    o->op.index = h->index;
    o->op.bytes = h->capacity;
    if (h->timeout_ms != WIRE_FOREVER && h->timeout_ms != 0)
        o->op.deadline_ns = pastset_now_ns() + (int64_t)h->timeout_ms * 1000000;
    o->carry_depth = PATHS_STAGES_MAX + 1;
    if (h->kind == WIRE_SPOILT) {
        o->op.status = -(int)h->capacity;
        o->op.bytes = 0;
        payload[h->bytes] = 0; /* the text; see request_run() */
    } else if (brings_tuple(&o->op)) {
        o->op.tuple = payload;
        o->op.bytes = h->bytes;
        o->op.capacity = h->capacity;
        o->capacity = o->op.verb == PASTSET_EXCHANGE ? serve_capacity : NULL;
    } else {
        o->capacity = serve_capacity;
        if (h->bytes || h->lost) {
            o->pattern.fields = h->lost;
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
        return true; /* the host at the end will look */
    return type->variable ? o->pattern.bytes <= type->max_bytes
                          : o->pattern.bytes == type->max_bytes;
}

/* May an operation like this come by this way, and go to its end? */
static int request_check(const connection *c, const operation *o)
{
    const paths_host *host = c->host;
    uint32_t proxy = host->numbered[c->header.stage];

    if (!is_allowed(host->verbs[proxy], o->op.verb))
        return pastset_fail(PASTSET_EPERM,
                            "host %s may not %s through \"%s\": none of the "
                            "threads whose way that is has such a use in the "
                            "map",
                            host_name(host, c->peer),
                            pastset_verb_name(o->op.verb),
                            host->map->nodes[proxy].name);
    if (!pattern_fits(o))
        return pastset_fail(PASTSET_EINVAL,
                            "a pattern that does not fit the type");
    return 0;
}

static void no_memory_reply(connection *c)
{
    static const char text[] = "no memory for the operation";
    wire_header header = {.id = c->header.id,
                          .kind = WIRE_REPLY,
                          .status = PASTSET_ENOMEM,
                          .thread = c->header.thread,
                          .sequence = c->header.sequence,
                          .bytes = sizeof(text) - 1};

    paths_stage *stage = request_stage(c);

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
        o->text = strndup((const char *)(o->route + PATHS_STAGES_MAX),
                          WIRE_TEXT_BYTES);
    if (err) {
        o->op.status = err;
        paths__replace_text(o, err);
        serve_complete(o);
        return;
    }
    paths__executor_runs(&c->host->loop_executor, o);
    if (paths__run(o) == RUN_DONE)
        serve_complete(o);
}

/* --- those who leave --- */

static void left_take(connection *c)
{
    paths_stage *stage = request_stage(c);
    char text[WIRE_TEXT_BYTES + 1];

    if (!stage || c->role != ROLE_LOOP) {
        paths__connection_close(c, "it broke the protocol");
        return;
    }
    snprintf(text, sizeof(text), "%.*s", (int)c->header.bytes,
             (const char *)c->small);
    paths__collective_left(stage, text);
}

void paths__serve_left(const paths_stage *proxy, const char *why)
{
    paths_host *host = proxy->host;
    peer *p = &host->peers[proxy->far_host];
    wire_header header = {.kind = WIRE_LEFT,
                          .stage = host->numbers[proxy->node],
                          .bytes = (uint32_t)strnlen(why, WIRE_TEXT_BYTES)};

    pthread_mutex_lock(&host->held_lock);
    if (p->link) /* else that host has died, and others will say so */
        paths__connection_send(p->link, &header, why);
    pthread_mutex_unlock(&host->held_lock);
}

/* --- the loop's links --- */

/* Under held_lock. False: it is not there, or no longer. */
static bool pending_remove(peer *p, operation *o)
{
    if (o->on_peer != p)
        return false;
    pending_take(&p->pending, o);
    o->on_peer = NULL;
    return true;
}

bool paths__serve_forget(paths_host *host, operation *o)
{
    /* Under held_lock, which guards the pending operations too. */
    return pending_remove(&host->peers[o->stage->far_host], o);
}

int paths__serve_send(paths_host *host, operation *o, const paths_stage *proxy)
{
    peer *p = &host->peers[proxy->far_host];
    static _Atomic uint32_t next_id;
    wire_header header;
    const void *payload;
    int err = 0;

    o->id = atomic_fetch_add(&next_id, 1);
    payload = paths__request_header(&header, o, proxy);
    /* It is sent (or copied, where the socket does not take it) under the
     * lock: until then its home cannot give it up and use its tuple anew, and
     * its reply is not looked at. */
    pthread_mutex_lock(&host->held_lock);
    if (p->link)
        err = paths__connection_send(p->link, &header, payload);
    else if (host->links_adopted)
        err = pastset_fail(PASTSET_EHOST, "there is no connection to it");
    if (!err) { /* without a link yet, paths__serve_linked() sends it */
        pending_add(&p->pending, o);
        o->on_peer = p;
    }
    pthread_mutex_unlock(&host->held_lock);
    if (!err)
        return PATHS_HOLD; /* it may be complete and gone by now */
    paths__unhold(o);
    return pastset_fail_while(
        err, err == PASTSET_EHOST ? "host %s died" : "asking host %s",
        host_name(host, proxy->far_host));
}

void paths__serve_linked(paths_host *host, peer *p, connection *link)
{
    pthread_mutex_lock(&host->held_lock);
    p->link = link;
    for (operation *o = p->pending.first; o; o = o->pending_next) {
        wire_header header;
        const void *payload = paths__request_header(&header, o, o->stage);
        /* If it cannot be sent, the link is about to be found broken, and
         * the operation is ended then. */
        paths__connection_send(link, &header, payload);
    }
    pthread_mutex_unlock(&host->held_lock);
}

/* Without memory for it the operation fails, and not the connection. */
static unsigned char *reply_capacity(connection *c, operation *o)
{
    size_t told = o->op.verb == PASTSET_EXCHANGE ? o->op.capacity : o->op.bytes;
    void *target = o->capacity(o, c->header.bytes);

    if (target || c->header.bytes > told)
        return target;
    c->away = true; /* reply_end() says so */
    return c->small;
}

/* The operation that a reply is for; from here on nobody drops it. */
static unsigned char *reply_begin(connection *c)
{
    paths_host *host = c->host;
    void *target;
    peer *p;
    operation *o;

    if (!c->outgoing || c->role != ROLE_LOOP)
        return NULL;
    p = &host->peers[c->peer];
    pthread_mutex_lock(&host->held_lock);
    o = pending_find(&p->pending, c->header.id);
    if (o)
        pending_remove(p, o);
    pthread_mutex_unlock(&host->held_lock);
    c->request = o;
    if (c->header.status) /* limited by paths__wire_header_check */
        return c->small;
    if (!o) { /* dropped: its deadline passed */
        c->away = true;
        return c->small;
    }
    if (o->op.verb == PASTSET_WRITE)
        return c->header.bytes ? NULL : c->small;
    if (o->capacity)
        return reply_capacity(c, o);
    if (!paths__reply_target(o, c->header.bytes, &target))
        return NULL;
    return c->header.bytes ? target : c->small; /* its tuple may be NULL */
}

static void reply_end(connection *c)
{
    operation *o = c->request;

    c->request = NULL;
    if (!o) /* dropped */
        return;
    if (c->away) {
        pastset_fail(PASTSET_ENOMEM,
                     "host %s: no memory for a tuple of %u "
                     "bytes",
                     paths_host_name(c->host), c->header.bytes);
        paths_resume(&o->op, PASTSET_ENOMEM);
        return;
    }
    paths__reply_take(o, &c->header);
    if (c->header.status < 0) {
        pastset_fail(c->header.status, "host %s: %.*s",
                     host_name(c->host, c->peer), (int)c->header.bytes,
                     (const char *)c->small);
        paths__replace_text(o, c->header.status);
    }
    paths__executor_runs(&c->host->loop_executor, o);
    paths_resume(&o->op, c->header.status < 0 ? c->header.status : 0);
}

/* --- frames --- */

unsigned char *paths__serve_payload_at(connection *c)
{
    switch (c->header.kind) {
    case WIRE_REQUEST:
    case WIRE_SPOILT:
        return request_begin(c);
    case WIRE_REPLY:
        return reply_begin(c);
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
        reply_end(c);
        break;
    default:
        paths__member_frame(c);
    }
}

static void lost(connection *c, operation *o, const char *why)
{
    pastset_fail(PASTSET_EHOST, "host %s died: %s", host_name(c->host, c->peer),
                 why);
    paths_resume(&o->op, PASTSET_EHOST);
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
        lost(c, o, "it closed the connection");
}

/* The operations that wait for replies of a host, whose link is no more. */
static operation *pending_all(paths_host *host, peer *p)
{
    operation *list;

    pthread_mutex_lock(&host->held_lock);
    p->link = NULL;
    list = p->pending.first;
    for (operation *o = list; o; o = o->pending_next)
        o->on_peer = NULL;
    p->pending = (pending_list){NULL, NULL};
    pthread_mutex_unlock(&host->held_lock);
    return list;
}

void paths__serve_lost(connection *c, const char *why)
{
    paths_host *host = c->host;
    operation *list;

    if (!c->outgoing) {
        paths__end_from(host, c);
        return;
    }
    if (c->role != ROLE_LOOP)
        return;
    list = pending_all(host, &host->peers[c->peer]);
    while (list) {
        operation *next = list->pending_next;
        lost(c, list, why);
        list = next;
    }
}

void paths__serve_unlinked(paths_host *host, uint32_t other)
{
    operation *list = pending_all(host, &host->peers[other]);

    while (list) {
        operation *next = list->pending_next;
        paths__gone_why(host, other);
        paths_resume(&list->op, PASTSET_EHOST);
        list = next;
    }
}
