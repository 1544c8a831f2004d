/* member.c - the hosts of a run: who is there, who is done, what failed.
 *
 * The first host of the map is the coordinator; every other host keeps one
 * connection to it. A host tells it DONE when its threads have ended, and goes
 * on serving its elements; when all are done the coordinator tells END, and
 * they stop. A host whose connection breaks before has died: the coordinator
 * tells the others, and they go on as far as they can without it (gone.c); if
 * it is the coordinator that has died, they end. Whoever fails
 * tells FAILED with the cause, on every connection that it serves, before it
 * closes them, so that the others name the cause and not its consequence. */
#include <stdio.h>
#include <string.h>

#include "paths/host_internal.h"

/* How long a coordinator that failed waits for hosts that have not come yet,
 * to tell them why. */
#define LINGER_MS 2000

static bool is_coordinator(const paths_host *host)
{
    return host->self == 0;
}

static void tell(connection *c, wire_kind kind, const char *text)
{
    wire_header header = {.kind = (uint16_t)kind,
                          .bytes = (uint32_t)strnlen(text, WIRE_TEXT_BYTES)};
    connection_send(c, &header, text);
}

static bool refuse(connection *c, const char *why)
{
    char text[WIRE_TEXT_BYTES];

    snprintf(text, sizeof(text), "host %s refused: %s",
             paths_host_name(c->host), why);
    tell(c, WIRE_FAILED, text);
    return false;
}

bool paths__member_hello(connection *c)
{
    paths_host *host = c->host;
    wire_hello hello;

    if (wire_hello_decode(&hello, c->target, c->header.bytes) != 0)
        return false;
    if (hello.digest != host->digest)
        return refuse(c, "the two hosts were started with different path "
                         "maps; give all the same file");
    c->peer = paths_map_find_host(host->map, hello.host);
    if (c->peer == PATHS_NONE || c->peer == host->self)
        return refuse(c, "the map has no such other host");
    if (hello.role == ROLE_MEMBER) {
        if (!is_coordinator(host) || host->peers[c->peer].member)
            return refuse(c, "a second host of this name");
        host->peers[c->peer].came = true;
    }
    if (atomic_load(&host->failed)) {
        paths__host_failure(host);
        refuse(c, pastset_error());
        paths__member_turn(host);
        return false;
    }
    if (hello.role == ROLE_MEMBER)
        host->peers[c->peer].member = c;
    c->role = hello.role;
    c->state = CONNECTION_OPEN;
    host->strangers--;
    tell(c, WIRE_WELCOME, "");
    return true;
}

/* A member is told of one that died: its name, a blank, the text. */
static void gone_take(paths_host *host, connection *c)
{
    char text[WIRE_TEXT_BYTES + 1];
    size_t length;
    uint32_t gone;

    snprintf(text, sizeof(text), "%.*s", (int)c->header.bytes,
             (const char *)c->small);
    length = strcspn(text, " ");
    if (text[length])
        text[length++] = 0;
    gone = paths_map_find_host(host->map, text);
    if (gone == PATHS_NONE || gone == host->self || gone == 0)
        connection_close(c, "it broke the protocol");
    else
        paths__gone(host, gone, text + length);
}

void paths__member_frame(connection *c)
{
    paths_host *host = c->host;

    if (c->header.kind == WIRE_FAILED) {
        pastset_fail(PASTSET_EHOST, "%.*s", (int)c->header.bytes,
                     (const char *)c->small);
        paths_host_fail(host, PASTSET_EHOST);
    } else if (c->role != ROLE_MEMBER) {
        connection_close(c, "it broke the protocol");
    } else if (c->header.kind == WIRE_DONE && is_coordinator(host)) {
        host->peers[c->peer].done = true;
    } else if (c->header.kind == WIRE_END && c->outgoing) {
        host->ended = true;
    } else if (c->header.kind == WIRE_GONE && c->outgoing) {
        gone_take(host, c);
    } else {
        connection_close(c, "it broke the protocol");
    }
    paths__member_turn(host);
}

/* The coordinator: the others go on without it, as far as they can. */
static void member_died(paths_host *host, uint32_t member, const char *why)
{
    char text[WIRE_TEXT_BYTES];

    snprintf(text, sizeof(text), "%s", why);
    host->peers[member].done = true;
    for (uint32_t i = 0; i < host->host_count; i++) {
        if (host->peers[i].member) {
            char frame[2 * WIRE_TEXT_BYTES]; /* tell() cuts it */
            snprintf(frame, sizeof(frame), "%s %s", host_name(host, member),
                     text);
            tell(host->peers[i].member, WIRE_GONE, frame);
        }
    }
    paths__gone(host, member, text);
    paths__member_turn(host);
}

void paths__member_lost(connection *c, const char *why)
{
    paths_host *host = c->host;

    if (c->role != ROLE_MEMBER)
        return; /* threads come and go; they see for themselves */
    if (host->peers[c->peer].member == c)
        host->peers[c->peer].member = NULL;
    if (host->closing || host->ended)
        return;
    pastset_fail(PASTSET_EHOST, "host %s died: %s", host_name(host, c->peer),
                 why);
    if (!is_coordinator(host))
        paths_host_fail(host, PASTSET_EHOST);
    else if (!atomic_load(&host->failed))
        member_died(host, c->peer, pastset_error());
}

/* --- turns of the loop --- */

static void tell_failure(paths_host *host)
{
    char text[sizeof(host->failure)];

    host->failure_told = true;
    host->failed_ms = uv_now(&host->loop);
    pthread_mutex_lock(&host->failure_lock);
    memcpy(text, host->failure, sizeof(text));
    pthread_mutex_unlock(&host->failure_lock);
    for (connection *c = host->connections; c; c = c->next) {
        if (c->state == CONNECTION_OPEN &&
            (!c->outgoing || c->role == ROLE_MEMBER))
            tell(c, WIRE_FAILED, text);
    }
    for (uint32_t i = 0; i < host->thread_count; i++)
        paths__thread_interrupt(&host->threads[i]);
}

static bool all_done(const paths_host *host)
{
    for (uint32_t i = 0; i < host->host_count; i++) {
        if (!host->peers[i].done)
            return false;
    }
    return true;
}

static void tell_done(paths_host *host)
{
    host->told_done = true;
    host->peers[host->self].done = true;
    if (!is_coordinator(host) && host->peers[0].member)
        tell(host->peers[0].member, WIRE_DONE, "");
}

static void tell_end(paths_host *host)
{
    host->ended = true;
    for (uint32_t i = 0; i < host->host_count; i++) {
        if (host->peers[i].member)
            tell(host->peers[i].member, WIRE_END, "");
    }
}

bool paths__member_gone(const paths_host *host)
{
    bool all = true;

    if (!atomic_load(&host->failed) || !host->failure_told ||
        atomic_load(&host->threads_running) != 0)
        return false;
    for (uint32_t i = 1; i < host->host_count; i++)
        all &= host->peers[i].came;
    return all || !is_coordinator(host) ||
           uv_now(&host->loop) - host->failed_ms > LINGER_MS;
}

void paths__member_turn(paths_host *host)
{
    bool idle =
        host->begun &&
        /* Acquire: pairs with the release in paths__thread_run(). */
        atomic_load_explicit(&host->threads_running, memory_order_acquire) == 0;

    if (atomic_load(&host->failed)) {
        if (!host->failure_told) {
            tell_failure(host);
            paths__collectives_end(host);
        }
        /* Also those that were held since. */
        paths__end_all(host);
        if (paths__member_gone(host))
            uv_stop(&host->loop);
        return;
    }
    if (idle && !host->told_done)
        tell_done(host);
    if (is_coordinator(host) && !host->ended && all_done(host))
        tell_end(host);
    if (host->ended)
        uv_stop(&host->loop);
}
