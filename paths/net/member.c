/* member.c - the hosts of a run: who is there, who is done, what failed.
 *
 * The first host of the map is the coordinator; every other host keeps one
 * connection to it. A host tells it DONE when its threads have ended, and goes
 * on serving its elements; when all are done the coordinator tells END, and
 * they stop. A host whose connection breaks before has died: the coordinator
 * tells the others, and they go on as far as they can without it (gone.c); if
 * it is the coordinator that has died, they end. For a host that dies before it
 * has joined, whoever started it says so in its place (stand_in.c). Whoever
 * fails tells FAILED with the cause, on every connection that it serves, before
 * it closes them, so that the others name the cause and not its consequence. */
#include <stdio.h>
#include <string.h>

#include "paths/net/connection_internal.h"
#include "paths/net/member_internal.h"
#include "paths/wrappers/collectives_internal.h"
#include "pastset/schedule.h"

/* Who was being let in by a process that died comes again within that, or knows
 * that it did. */
#define COMING_MS 5000

static bool is_coordinator(const paths_host *host)
{
    return host->self == 0;
}

static void tell(connection *c, wire_kind kind, const char *text)
{
    wire_header header = {.kind = (uint16_t)kind,
                          .bytes = (uint32_t)strnlen(text, WIRE_TEXT_BYTES)};
    paths__connection_send(c, &header, text);
}

static bool refuse(connection *c, const char *why)
{
    char text[WIRE_TEXT_BYTES];

    snprintf(text, sizeof(text), "host %s refused: %s",
             paths_host_name(c->host), why);
    tell(c, WIRE_FAILED, text);
    return false;
}

static void join_note(paths_host *host, uint32_t other, paths_join state)
{
    if (host->peers[other].join >= state)
        return; /* by another connection */
    host->peers[other].join = state;
    paths__launcher_tell(host, other, state);
}

/* The run has failed: says why instead of letting it in. */
static bool refuse_failed(connection *c)
{
    paths_host *host = c->host;
    char text[sizeof(host->failure)];

    join_note(host, c->peer, PATHS_COMING);
    pthread_mutex_lock(&host->failure_lock);
    memcpy(text, host->failure, sizeof(text));
    pthread_mutex_unlock(&host->failure_lock);
    tell(c, WIRE_FAILED, text);
    join_note(host, c->peer, PATHS_COME);
    paths__member_turn(host);
    return false;
}

static void tell_gone(connection *c, uint32_t gone)
{
    paths_host *host = c->host;
    char frame[2 * WIRE_TEXT_BYTES]; /* tell() cuts it */

    paths__gone_why(host, gone);
    snprintf(frame, sizeof(frame), "%s %s", host_name(host, gone),
             pastset_error());
    tell(c, WIRE_GONE, frame);
}

static void tell_ended(connection *c, uint32_t node)
{
    wire_header header = {
        .ended = {.kind = WIRE_ENDED, .node = c->host->numbers[node]}};
    paths__connection_send(c, &header, NULL);
}

/* A host has joined: it is told of those that it has missed. */
static void welcome_member(connection *c)
{
    paths_host *host = c->host;

    PASTSET_POINT("member.welcome");
    host->peers[c->peer].member = c;
    for (uint32_t i = 0; i < host->host_count; i++) {
        if (atomic_load(&host->peers[i].dead))
            tell_gone(c, i);
    }
    for (uint32_t i = 0; i < host->map->node_count; i++) {
        if (host->ended_threads[i])
            tell_ended(c, i);
    }
    join_note(host, c->peer, PATHS_COME);
}

bool paths__member_come(connection *c, const handshake_claim *claim)
{
    paths_host *host = c->host;

    if (claim->digest != host->digest)
        return refuse(c, HANDSHAKE_OTHER_MAP);
    c->peer = paths_map_find_host(host->map, claim->from);
    if (c->peer == PATHS_NONE || c->peer == host->self)
        return refuse(c, "the map has no such other host");
    if (claim->role == ROLE_MEMBER &&
        (!is_coordinator(host) || host->peers[c->peer].member))
        return refuse(c, "a second host of this name");
    if (claim->role == ROLE_MEMBER && atomic_load(&host->peers[c->peer].dead))
        return refuse(c, "the host of this name has died");
    if (atomic_load(&host->failed))
        return refuse_failed(c);
    if (claim->role == ROLE_MEMBER)
        join_note(host, c->peer, PATHS_COMING);
    c->role = claim->role;
    c->state = CONNECTION_OPEN;
    host->unauthenticated--;
    tell(c, WIRE_WELCOME, "");
    if (claim->role == ROLE_MEMBER)
        welcome_member(c);
    return true;
}

/* The coordinator: the others go on without it, as far as they can. */
static void member_died(paths_host *host, uint32_t member, const char *why)
{
    PASTSET_POINT("member.died");
    host->peers[member].done = true;
    host->peers[member].member = NULL;
    paths__gone(host, member, why);
    for (uint32_t i = 0; i < host->host_count; i++) {
        if (host->peers[i].member)
            tell_gone(host->peers[i].member, member);
    }
    paths__member_turn(host);
}

/* GONE: a name, a blank, a text. Members are told of others that died, the
 * coordinator by whoever speaks for a host that died before it had joined
 * (stand_in.c), and of none but that. */
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
    if (gone == PATHS_NONE || gone == host->self || gone == 0 ||
        (is_coordinator(host) && gone != c->peer)) {
        paths__connection_close(c, "it broke the protocol");
    } else if (is_coordinator(host)) {
        member_died(host, gone, text + length);
        paths__connection_close(c, "it has died");
    } else {
        paths__gone(host, gone, text + length);
    }
}

/* A thread has ended, here or elsewhere. The coordinator passes it on to all
 * but the host of that thread, the others tell it of theirs. */
static void thread_ended(paths_host *host, uint32_t node)
{
    uint32_t at = host->map->nodes[node].host;

    for (uint32_t i = 0; i < host->host_count; i++) {
        connection *c = host->peers[i].member;
        if (c && i != at && (is_coordinator(host) || at == host->self))
            tell_ended(c, node);
    }
    paths__gone_ended(host, node);
}

static bool ended_take(paths_host *host, const connection *c)
{
    const paths_map_node *node;
    uint32_t i;

    if (c->header.ended.node >= host->map->node_count)
        return false;
    i = host->numbered[c->header.ended.node];
    node = &host->map->nodes[i];
    if (node->kind != PATHS_THREAD || node->host == host->self ||
        (!c->outgoing && node->host != c->peer))
        return false;
    thread_ended(host, i);
    return true;
}

void paths__member_frame(connection *c)
{
    paths_host *host = c->host;

    if (c->header.kind == WIRE_FAILED &&
        (c->outgoing || c->role == ROLE_MEMBER)) {
        pastset_fail(PASTSET_EHOST, "%.*s", (int)c->header.bytes,
                     (const char *)c->small);
        paths_host_fail(host, PASTSET_EHOST);
    } else if (c->role != ROLE_MEMBER) {
        paths__connection_close(c, "it broke the protocol");
    } else if (c->header.kind == WIRE_DONE && is_coordinator(host)) {
        host->peers[c->peer].done = true;
    } else if (c->header.kind == WIRE_END && c->outgoing && host->told_done) {
        host->ended = true;
    } else if (c->header.kind == WIRE_GONE) {
        gone_take(host, c);
    } else if (c->header.kind == WIRE_ENDED && ended_take(host, c)) {
        /* It has been taken. */
    } else {
        paths__connection_close(c, "it broke the protocol");
    }
    paths__member_turn(host);
}

void paths__member_lost(connection *c, const char *why)
{
    paths_host *host = c->host;

    if (c->role != ROLE_MEMBER)
        return; /* threads come and go; they see for themselves */
    if (host->peers[c->peer].member != c)
        return; /* it has said that it died */
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

/* Those of this host, once one has died. */
static void tell_ended_threads(paths_host *host)
{
    for (uint32_t i = 0; i < host->thread_count; i++) {
        paths_thread *thread = &host->threads[i];
        if (thread->ended_told || !atomic_load(&thread->ended))
            continue;
        thread->ended_told = true;
        thread_ended(host, (uint32_t)(thread->node - host->map->nodes));
    }
}

static void tell_end(paths_host *host)
{
    host->ended = true;
    for (uint32_t i = 0; i < host->host_count; i++) {
        if (host->peers[i].member)
            tell(host->peers[i].member, WIRE_END, "");
    }
}

/* Does a host that has failed stay for that one, to tell it? */
static bool is_stayed_for(const paths_host *host, uint32_t other)
{
    uint64_t since = uv_now(&host->loop) - host->failed_ms;
    paths_join join = host->peers[other].join;

    return join != PATHS_COME && since < atomic_load(&host->linger_ms) &&
           (join == PATHS_NOT_COME || since < COMING_MS);
}

bool paths__member_gone(const paths_host *host)
{
    bool stays = false;

    if (!atomic_load(&host->failed) || !host->failure_told ||
        atomic_load(&host->threads_running) != 0)
        return false;
    for (uint32_t i = 1; i < host->host_count; i++)
        stays |= is_stayed_for(host, i);
    return !stays || !is_coordinator(host);
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
    if (host->bereaved)
        tell_ended_threads(host);
    if (idle && !host->told_done)
        tell_done(host);
    if (is_coordinator(host) && !host->ended && all_done(host))
        tell_end(host);
    if (host->ended)
        uv_stop(&host->loop);
}
