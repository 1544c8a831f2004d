/* loop_link.c - the loop's links to other processes: operations that the loop
 * carries on, or that others let go of, and the replies to them.
 *
 * An operation that waits here is held, and in the list of those that wait for
 * a reply of that process; the lock of held operations guards both. */
#include <string.h>

#include "paths/net/loop_link_internal.h"
#include "paths/net/connect_internal.h"
#include "paths/net/request_frame_internal.h"

/* --- requests --- */

/* Under held_lock. False: it is not there, or no longer. */
static bool pending_remove(peer *p, operation *o)
{
    if (o->on_peer != p)
        return false;
    pending_take(&p->pending, o);
    o->on_peer = NULL;
    return true;
}

bool paths__loop_link_forget(paths_process *process, operation *o)
{
    /* Under held_lock, which guards the pending operations too. */
    return pending_remove(&process->peers[o->stage->far_process], o);
}

int paths__loop_link_send(paths_process *process, operation *o,
                          const paths_stage *proxy)
{
    peer *p = &process->peers[proxy->far_process];
    static _Atomic uint32_t next_id;
    wire_header header;
    const void *payload;
    int err = 0;

    o->id = atomic_fetch_add(&next_id, 1);
    payload = paths__request_header(&header, o, proxy);
    /* It is sent (or copied, where the socket does not take it) under the
     * lock: until then its home cannot give it up and use its tuple anew, and
     * its reply is not looked at. */
    pthread_mutex_lock(&process->held_lock);
    if (p->link)
        err = paths__connection_send(p->link, &header, payload);
    else if (process->links_adopted)
        err = pastset_fail(PASTSET_EHOST, "there is no connection to it");
    if (!err) { /* without a link yet, paths__loop_link_adopt() sends it */
        pending_add(&p->pending, o);
        o->on_peer = p;
    }
    pthread_mutex_unlock(&process->held_lock);
    if (!err)
        return PATHS_HOLD; /* it may be complete and gone by now */
    paths__unhold(o);
    return pastset_fail_while(
        err, err == PASTSET_EHOST ? "process %s died" : "asking process %s",
        process_name(process, proxy->far_process));
}

void paths__loop_link_adopt(paths_process *process, peer *p, connection *link)
{
    pthread_mutex_lock(&process->held_lock);
    p->link = link;
    for (operation *o = p->pending.first; o; o = o->pending_next) {
        wire_header header;
        const void *payload = paths__request_header(&header, o, o->stage);
        /* If it cannot be sent, the link is about to be found broken, and
         * the operation is ended then. */
        paths__connection_send(link, &header, payload);
    }
    pthread_mutex_unlock(&process->held_lock);
}

void paths__loop_link_left(const paths_stage *proxy, const char *why)
{
    paths_process *process = proxy->process;
    peer *p = &process->peers[proxy->far_process];
    wire_header header = {
        .left = {.kind = WIRE_LEFT,
                 .proxy = process->numbers[proxy->node],
                 .bytes = (uint32_t)strnlen(why, WIRE_TEXT_BYTES)}};

    pthread_mutex_lock(&process->held_lock);
    if (p->link) /* else that process has died, and others will say so */
        paths__connection_send(p->link, &header, why);
    pthread_mutex_unlock(&process->held_lock);
}

/* --- replies --- */

/* Without memory for it the operation fails, and not the connection. */
static unsigned char *reply_place(connection *c, operation *o)
{
    size_t told = o->op.verb == PASTSET_EXCHANGE ? o->op.capacity : o->op.bytes;
    void *target = o->capacity(o, c->header.bytes);

    if (target || c->header.bytes > told)
        return target;
    c->away = true; /* paths__loop_link_reply_end() says so */
    return c->small;
}

/* The operation that a reply is for; from here on nobody drops it. */
unsigned char *paths__loop_link_reply_begin(connection *c)
{
    paths_process *process = c->process;
    void *target;
    peer *p;
    operation *o;

    if (!c->outgoing || c->role != ROLE_LOOP)
        return NULL;
    p = &process->peers[c->peer];
    pthread_mutex_lock(&process->held_lock);
    o = pending_find(&p->pending, c->header.id);
    if (o)
        pending_remove(p, o);
    pthread_mutex_unlock(&process->held_lock);
    c->request = o;
    if (c->header.reply.status) /* limited by paths__wire_header_check */
        return c->small;
    if (!o) { /* dropped: its deadline passed */
        c->away = true;
        return c->small;
    }
    if (o->op.verb == PASTSET_WRITE)
        return c->header.bytes ? NULL : c->small;
    if (o->capacity)
        return reply_place(c, o);
    if (!paths__reply_target(o, c->header.bytes, &target))
        return NULL;
    return c->header.bytes ? target : c->small; /* its tuple may be NULL */
}

void paths__loop_link_reply_end(connection *c)
{
    const wire_reply *reply = &c->header.reply;
    operation *o = c->request;

    c->request = NULL;
    if (!o) /* dropped */
        return;
    if (c->away) {
        pastset_fail(PASTSET_ENOMEM,
                     "process %s: no memory for a tuple of %u bytes",
                     paths_process_name(c->process), reply->bytes);
        paths_resume(&o->op, PASTSET_ENOMEM);
        return;
    }
    paths__reply_take(o, reply);
    if (reply->status < 0) {
        pastset_fail(reply->status, "process %s: %.*s",
                     process_name(c->process, c->peer), (int)reply->bytes,
                     (const char *)c->small);
        paths__replace_text(o, reply->status);
    }
    paths__executor_runs(&c->process->loop_executor, o);
    paths_resume(&o->op, reply->status);
}

/* --- the end of a link --- */

static void lost(connection *c, operation *o, const char *why)
{
    paths__lost_why(c->process, c->peer, why);
    paths_resume(&o->op, PASTSET_EHOST);
}

void paths__loop_link_reply_abandon(connection *c, operation *o)
{
    lost(c, o, "it closed the connection");
}

/* The operations that wait for replies of a process, whose link is no more. */
static operation *pending_all(paths_process *process, peer *p)
{
    operation *list;

    pthread_mutex_lock(&process->held_lock);
    p->link = NULL;
    list = p->pending.first;
    for (operation *o = list; o; o = o->pending_next)
        o->on_peer = NULL;
    p->pending = (pending_list){NULL, NULL};
    pthread_mutex_unlock(&process->held_lock);
    return list;
}

void paths__loop_link_lost(connection *c, const char *why)
{
    operation *list = pending_all(c->process, &c->process->peers[c->peer]);

    while (list) {
        operation *next = list->pending_next;
        lost(c, list, why);
        list = next;
    }
}

void paths__loop_link_none(paths_process *process, uint32_t other)
{
    operation *list = pending_all(process, &process->peers[other]);

    while (list) {
        operation *next = list->pending_next;
        paths__gone_why(process, other);
        paths_resume(&list->op, PASTSET_EHOST);
        list = next;
    }
}
