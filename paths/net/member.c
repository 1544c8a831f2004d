/* member.c - the processes of a run: who is there, who is done, what failed.
 *
 * The first process of the map is the coordinator; every other process keeps
 * one connection to it. A process tells it DONE when its threads have ended,
 * and goes on serving its elements; when all are done the coordinator tells
 * END, and they stop. A process whose connection breaks before has died: the
 * coordinator tells the others, and they go on as far as they can without it
 * (gone.c). If it is the coordinator that has died, the next process of the map
 * that lives takes its place, once all had joined; before that they end. For a
 * process that dies before it has joined, whoever started it says so in its
 * place (stand_in.c). Whoever fails tells FAILED with the cause, on every
 * connection that it serves, before it closes them, so that the others name the
 * cause and not its consequence. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/net/connect_internal.h"
#include "paths/net/connection_internal.h"
#include "paths/net/member_internal.h"
#include "paths/wrappers/collectives_internal.h"
#include "pastset/schedule.h"

/* Who was being let in by a process that died comes again within that, or knows
 * that it did. */
#define COMING_MS 5000
/* What breaks at one moment is seen within that. */
#define LOST_MS 200
/* Who has not come to the next coordinator within that, and cannot be reached,
 * has died. One may see later than another that a machine has vanished
 * (silence.c). */
#define REJOIN_MS 20000

static bool is_coordinator(const paths_process *process)
{
    return process->self == process->first;
}

static void tell(connection *c, wire_kind kind, const char *text)
{
    wire_header header = {.kind = (uint16_t)kind,
                          .bytes = (uint32_t)strnlen(text, WIRE_TEXT_BYTES)};
    paths__connection_send(c, &header, text);
}

static void failure_tell(paths_process *process, connection *c)
{
    char text[sizeof(process->failure)];

    pthread_mutex_lock(&process->failure_lock);
    memcpy(text, process->failure, sizeof(text));
    pthread_mutex_unlock(&process->failure_lock);
    tell(c, WIRE_FAILED, text);
}

static bool refuse(connection *c, const char *why)
{
    char text[WIRE_TEXT_BYTES];

    snprintf(text, sizeof(text), "process %s refused: %s",
             paths_process_name(c->process), why);
    tell(c, WIRE_FAILED, text);
    return false;
}

static void join_note(paths_process *process, uint32_t other, paths_join state)
{
    if (process->peers[other].join >= state)
        return; /* by another connection */
    process->peers[other].join = state;
    paths__launcher_tell(process, other, state);
}

/* The run has failed: says why instead of letting it in. */
static bool refuse_failed(connection *c)
{
    paths_process *process = c->process;

    join_note(process, c->peer, PATHS_COMING);
    failure_tell(process, c);
    join_note(process, c->peer, PATHS_COME);
    paths__member_turn(process);
    return false;
}

static void tell_gone(connection *c, uint32_t gone)
{
    paths_process *process = c->process;
    char frame[2 * WIRE_TEXT_BYTES]; /* tell() cuts it */

    paths__gone_why(process, gone);
    snprintf(frame, sizeof(frame), "%s %s", process_name(process, gone),
             pastset_error());
    tell(c, WIRE_GONE, frame);
}

static void tell_ended(connection *c, uint32_t node)
{
    wire_header header = {
        .ended = {.kind = WIRE_ENDED, .node = c->process->numbers[node]}};
    paths__connection_send(c, &header, NULL);
}

/* Tells it of those that it has missed. */
static void brief(connection *c)
{
    paths_process *process = c->process;

    for (uint32_t i = 0; i < process->process_count; i++) {
        if (atomic_load(&process->peers[i].dead))
            tell_gone(c, i);
    }
    for (uint32_t i = 0; i < process->map->node_count; i++) {
        if (process->ended_threads[i] &&
            process->map->nodes[i].process != c->peer)
            tell_ended(c, i);
    }
}

/* Once all have joined, each of them can take the coordinator's place. */
static void complete_look(paths_process *process)
{
    if (!is_coordinator(process) || process->complete)
        return;
    for (uint32_t i = 0; i < process->process_count; i++) {
        if (i != process->self && process->peers[i].join != PATHS_COME)
            return;
    }
    process->complete = true;
    for (uint32_t i = 0; i < process->process_count; i++) {
        PASTSET_POINT("member.complete");
        if (process->peers[i].member)
            tell(process->peers[i].member, WIRE_COMPLETE, "");
    }
}

/* A process has joined. Who is not the coordinator yet briefs it when it is. */
static void welcome_member(connection *c)
{
    paths_process *process = c->process;

    PASTSET_POINT("member.welcome");
    process->peers[c->peer].member = c;
    if (is_coordinator(process))
        brief(c);
    join_note(process, c->peer, PATHS_COME);
    complete_look(process);
}

/* Others may see sooner than this process that it is to take the coordinator's
 * place. */
static bool takes_members(const paths_process *process, uint32_t other)
{
    return is_coordinator(process) ||
           (process->complete && process->has_succession &&
            process->self < other);
}

bool paths__member_come(connection *c, const handshake_claim *claim)
{
    paths_process *process = c->process;

    if (claim->digest != process->digest)
        return refuse(c, HANDSHAKE_OTHER_MAP);
    c->peer = paths_map_find_process(process->map, claim->from);
    if (c->peer == PATHS_NONE || c->peer == process->self)
        return refuse(c, "the map has no such other process");
    if (claim->role == ROLE_MEMBER &&
        (!takes_members(process, c->peer) || process->peers[c->peer].member))
        return refuse(c, "a second process of this name");
    if (claim->role == ROLE_MEMBER &&
        atomic_load(&process->peers[c->peer].dead))
        return refuse(c, "the process of this name has died");
    if (atomic_load(&process->failed))
        return refuse_failed(c);
    if (claim->role == ROLE_MEMBER)
        join_note(process, c->peer, PATHS_COMING);
    c->role = claim->role;
    c->state = CONNECTION_OPEN;
    process->unauthenticated--;
    tell(c, WIRE_WELCOME, "");
    if (claim->role == ROLE_MEMBER)
        welcome_member(c);
    return true;
}

/* The coordinator: the others go on without it, as far as they can. */
static void member_died(paths_process *process, uint32_t member,
                        const char *why)
{
    PASTSET_POINT("member.died");
    process->peers[member].done = true;
    process->peers[member].member = NULL;
    paths__gone(process, member, why);
    for (uint32_t i = 0; i < process->process_count; i++) {
        if (process->peers[i].member)
            tell_gone(process->peers[i].member, member);
    }
    paths__member_turn(process);
}

/* GONE: a name, a blank, a text. Members are told of others that died, the
 * coordinator by whoever speaks for a process that died before it had joined
 * (stand_in.c), and of none but that. */
static void gone_take(paths_process *process, connection *c)
{
    char text[WIRE_TEXT_BYTES + 1];
    size_t length;
    uint32_t gone;

    snprintf(text, sizeof(text), "%.*s", (int)c->header.bytes,
             (const char *)c->small);
    length = strcspn(text, " ");
    if (text[length])
        text[length++] = 0;
    gone = paths_map_find_process(process->map, text);
    if (gone == PATHS_NONE || gone == process->self || gone == process->first ||
        (is_coordinator(process) ? gone != c->peer : !c->outgoing)) {
        paths__connection_close(c, "it broke the protocol");
    } else if (is_coordinator(process)) {
        member_died(process, gone, text + length);
        paths__connection_close(c, "it has died");
    } else {
        paths__gone(process, gone, text + length);
    }
}

/* A thread has ended, here or elsewhere. The coordinator passes it on to all
 * but the process of that thread, the others tell it of theirs. */
static void thread_ended(paths_process *process, uint32_t node)
{
    uint32_t at = process->map->nodes[node].process;

    for (uint32_t i = 0; i < process->process_count; i++) {
        connection *c = process->peers[i].member;
        if (c && i != at && (is_coordinator(process) || at == process->self))
            tell_ended(c, node);
    }
    paths__gone_ended(process, node);
}

static bool ended_take(paths_process *process, const connection *c)
{
    const paths_map_node *node;
    uint32_t i;

    if (c->header.ended.node >= process->map->node_count)
        return false;
    i = process->numbered[c->header.ended.node];
    node = &process->map->nodes[i];
    if (node->kind != PATHS_THREAD || node->process == process->self ||
        (!c->outgoing && node->process != c->peer))
        return false;
    thread_ended(process, i);
    return true;
}

static void complete_take(paths_process *process)
{
    process->complete = true;
    for (uint32_t i = 0; i < process->process_count; i++)
        process->peers[i].join = PATHS_COME;
}

void paths__member_frame(connection *c)
{
    paths_process *process = c->process;

    if (c->header.kind == WIRE_FAILED &&
        (c->outgoing || c->role == ROLE_MEMBER)) {
        process->acknowledged |= c->outgoing && c->role == ROLE_MEMBER;
        pastset_fail(PASTSET_EHOST, "%.*s", (int)c->header.bytes,
                     (const char *)c->small);
        paths_process_fail(process, PASTSET_EHOST);
    } else if (c->role != ROLE_MEMBER) {
        paths__connection_close(c, "it broke the protocol");
    } else if (c->header.kind == WIRE_DONE && !c->outgoing) {
        process->peers[c->peer].done = true;
    } else if (c->header.kind == WIRE_COMPLETE && c->outgoing) {
        complete_take(process);
    } else if (c->header.kind == WIRE_END && c->outgoing &&
               process->told_done) {
        process->ended = true;
    } else if (c->header.kind == WIRE_GONE) {
        gone_take(process, c);
    } else if (c->header.kind == WIRE_ENDED && ended_take(process, c)) {
        /* It has been taken. */
    } else {
        paths__connection_close(c, "it broke the protocol");
    }
    paths__member_turn(process);
}

/* Who has connected would only see that it is closed. Of a member, and of
 * where this side has connected, that is an end with a text already. */
void paths__member_broken(connection *c)
{
    char text[WIRE_TEXT_BYTES];

    if (c->outgoing || c->role == ROLE_MEMBER)
        return;
    snprintf(text, sizeof(text), "process %s: from process %s, %s",
             paths_process_name(c->process), process_name(c->process, c->peer),
             paths__channel_error(EBADMSG));
    tell(c, WIRE_FAILED, text);
}

/* --- those behind gateways --- */

/* Whose connection broke may be there still, and one on the way gone: with
 * those behind it, whose connections break at the same moment. So this waits
 * until all of them can have been seen. False: nobody is between. */
static bool lost_note(paths_process *process, uint32_t other, const char *why)
{
    uint32_t *between = paths__between_room(process);
    bool noted =
        between && paths__between(process, other, process->self, between) > 0;

    free(between);
    if (noted)
        process->peers[other].lost = strdup(why);
    process->peers[other].lost_ms = uv_now(&process->loop);
    return noted && process->peers[other].lost;
}

/* The first on the way to a process that is gone, or that one itself. */
static uint32_t culprit_of(const paths_process *process, uint32_t lost,
                           uint32_t *between)
{
    uint32_t count = paths__between(process, lost, process->self, between);

    for (uint32_t i = 0; i < count; i++) {
        const peer *p = &process->peers[between[i]];
        if (p->lost || atomic_load(&p->dead))
            return between[i];
    }
    return lost;
}

static void lost_tell(paths_process *process, uint32_t lost, uint32_t culprit)
{
    if (culprit == lost)
        pastset_fail(PASTSET_EHOST, "process %s died: %s",
                     process_name(process, lost), process->peers[lost].lost);
    else
        pastset_fail(PASTSET_EHOST,
                     "process %s cannot be reached any more: process %s, on "
                     "the way to it, died",
                     process_name(process, lost),
                     process_name(process, culprit));
    free(process->peers[lost].lost);
    process->peers[lost].lost = NULL;
    member_died(process, lost, pastset_error());
}

/* Those who died before or with the coordinator would be waited for in vain. A
 * thread finds out whether they are there. */
static void late_look(paths_process *process)
{
    bool any = false;

    if (!process->took_ms || process->rejoining || process->ended ||
        atomic_load(&process->failed))
        return;
    for (uint32_t i = 0; i < process->process_count; i++)
        any |= is_late(process, i);
    if (any)
        paths__probe_start(process); /* or at the next tidying */
    else
        process->took_ms = 0;
}

/* Whoever answers is only slow. */
static void probed_take(paths_process *process)
{
    bool is_long = uv_now(&process->loop) - process->took_ms >= REJOIN_MS;

    for (uint32_t i = 0; i < process->process_count; i++) {
        if (!is_late(process, i) || atomic_load(&process->failed) ||
            process->probes[i] == PROBE_THERE ||
            (process->probes[i] != PROBE_REFUSED && !is_long))
            continue;
        pastset_fail(PASTSET_EHOST,
                     "process %s died: it did not come to process %s, which "
                     "is the first now",
                     process_name(process, i), paths_process_name(process));
        member_died(process, i, pastset_error());
    }
}

void paths__member_tidy(paths_process *process)
{
    uint32_t *between = NULL;

    late_look(process);

    for (uint32_t i = 0; i < process->process_count; i++) {
        const peer *p = &process->peers[i];
        if (!p->lost || process->ended || atomic_load(&process->failed) ||
            uv_now(&process->loop) - p->lost_ms < LOST_MS)
            continue;
        if (!between)
            between = paths__between_room(process);
        if (!between)
            return; /* at the next one */
        /* Who is behind it says so, and so must come after it. */
        for (uint32_t culprit = i;;) {
            culprit = culprit_of(process, i, between);
            if (culprit == i || !process->peers[culprit].lost) {
                lost_tell(process, i, culprit);
                break;
            }
            lost_tell(process, culprit, culprit);
        }
    }
    free(between);
}

/* --- the next coordinator --- */

/* Those who come later are briefed as they come, and if this process fails it
 * stays for them. What members have said of themselves before is kept. */
static void take_over(paths_process *process)
{
    PASTSET_POINT("member.take_over");
    /* Loop times are milliseconds since the machine started. */
    process->took_ms = uv_now(&process->loop);
    for (uint32_t i = 0; i < process->process_count; i++) {
        peer *p = &process->peers[i];
        p->done |= atomic_load(&p->dead);
        if (p->member)
            brief(p->member);
        else if (i != process->self && !p->done)
            p->join = PATHS_NOT_COME; /* again */
    }
}

/* The coordinator has died: the first of those that live is it now. */
static void first_died(paths_process *process, const char *why)
{
    PASTSET_POINT("member.first_died");
    if (atomic_load(&process->failed)) /* all of it has ended */
        atomic_store(&process->peers[process->first].dead, true);
    else
        paths__gone(process, process->first, why);
    while (atomic_load(&process->peers[process->first].dead))
        process->first++; /* this one is not dead */
    if (is_coordinator(process))
        take_over(process);
    else if (paths__rejoin_start(process) != 0)
        paths_process_fail(process, PASTSET_ELIMIT);
    paths__wake(&process->wakeup); /* it may be that all are done */
}

static void first_lost(paths_process *process, const char *why)
{
    paths__lost_why(process, process->first, why);
    if (process->complete && process->has_succession && !process->acknowledged)
        first_died(process, pastset_error());
    else
        paths_process_fail(process, PASTSET_EHOST);
}

/* What the one before was told the next one may not know. */
static void rejoin_look(paths_process *process)
{
    connection *c;
    bool refused;
    int err;

    if (paths__probe_over(process))
        probed_take(process);
    if (!paths__rejoin_over(process, &err, &refused))
        return;
    c = process->peers[process->first].member;
    if (err && refused) {
        process->acknowledged = true;
        paths_process_fail(process, err);
    } else if (err) {
        /* The one before may have told some that all is over. */
        pastset_fail(err, "process %s %s: %s",
                     process_name(process, process->first),
                     process->told_done ? "died, or has ended" : "died",
                     pastset_error());
        first_died(process, pastset_error());
    } else if (atomic_load(&process->failed)) {
        if (process->failure_told)
            failure_tell(process, c);
    } else {
        for (uint32_t i = 0; i < process->thread_count; i++)
            process->threads[i].ended_told = false;
        if (process->told_done)
            tell(c, WIRE_DONE, "");
    }
}

void paths__member_lost(connection *c, const char *why)
{
    paths_process *process = c->process;

    if (c->role != ROLE_MEMBER)
        return; /* threads come and go; they see for themselves */
    if (process->peers[c->peer].member != c)
        return; /* it has said that it died */
    process->peers[c->peer].member = NULL;
    if (process->closing || process->ended)
        return;
    if (c->peer == process->first) {
        first_lost(process, why);
    } else if (!is_coordinator(process)) {
        process->peers[c->peer].done = false; /* it comes again, or has died */
    } else if (!atomic_load(&process->failed) &&
               !lost_note(process, c->peer, why)) {
        pastset_fail(PASTSET_EHOST, "process %s died: %s",
                     process_name(process, c->peer), why);
        member_died(process, c->peer, pastset_error());
    }
}

/* --- turns of the loop --- */

static void tell_failure(paths_process *process)
{
    process->failure_told = true;
    process->failed_ms = uv_now(&process->loop);
    for (connection *c = process->connections; c; c = c->next) {
        if (c->state == CONNECTION_OPEN &&
            (!c->outgoing || c->role == ROLE_MEMBER))
            failure_tell(process, c);
    }
    for (uint32_t i = 0; i < process->thread_count; i++)
        paths__thread_interrupt(&process->threads[i]);
}

static bool all_done(const paths_process *process)
{
    for (uint32_t i = 0; i < process->process_count; i++) {
        if (!process->peers[i].done || process->peers[i].lost)
            return false;
    }
    return true;
}

static void tell_done(paths_process *process)
{
    process->told_done = true;
    process->peers[process->self].done = true;
    if (!is_coordinator(process) && process->peers[process->first].member)
        tell(process->peers[process->first].member, WIRE_DONE, "");
}

/* Those of this process, once one has died. */
static void tell_ended_threads(paths_process *process)
{
    for (uint32_t i = 0; i < process->thread_count; i++) {
        paths_thread *thread = &process->threads[i];
        if (thread->ended_told || !atomic_load(&thread->ended))
            continue;
        thread->ended_told = true;
        thread_ended(process, (uint32_t)(thread->node - process->map->nodes));
    }
}

static void tell_end(paths_process *process)
{
    process->ended = true;
    for (uint32_t i = 0; i < process->process_count; i++) {
        if (process->peers[i].member)
            tell(process->peers[i].member, WIRE_END, "");
    }
}

/* Does a process that has failed stay for that one, to tell it? */
static bool is_stayed_for(const paths_process *process, uint32_t other)
{
    uint64_t since = uv_now(&process->loop) - process->failed_ms;
    paths_join join = process->peers[other].join;

    return join != PATHS_COME && since < atomic_load(&process->linger_ms) &&
           (join == PATHS_NOT_COME || since < COMING_MS);
}

/* A failure is to be known also when the coordinator dies just then: it says
 * that it has failed, too, or the next one is told. */
static bool is_acknowledged(const paths_process *process)
{
    uint64_t since = uv_now(&process->loop) - process->failed_ms;

    return process->acknowledged || !process->complete ||
           !process->has_succession || !process->peers[process->first].member ||
           since >= atomic_load(&process->linger_ms);
}

bool paths__member_gone(const paths_process *process)
{
    bool stays = false;

    if (!atomic_load(&process->failed) || !process->failure_told ||
        (process->rejoining && !process->probing) ||
        atomic_load(&process->threads_running) != 0)
        return false;
    if (!is_coordinator(process))
        return is_acknowledged(process);
    for (uint32_t i = 0; i < process->process_count; i++)
        stays |= i != process->self && is_stayed_for(process, i);
    return !stays;
}

void paths__member_turn(paths_process *process)
{
    bool idle = process->begun &&
                /* Acquire: pairs with the release in paths__thread_run(). */
                atomic_load_explicit(&process->threads_running,
                                     memory_order_acquire) == 0;

    rejoin_look(process);
    if (atomic_load(&process->failed)) {
        if (!process->failure_told) {
            tell_failure(process);
            paths__collectives_end(process);
        }
        /* Also those that were held since. */
        paths__end_all(process);
        if (paths__member_gone(process))
            uv_stop(&process->loop);
        return;
    }
    if (process->bereaved)
        tell_ended_threads(process);
    if (idle && !process->told_done)
        tell_done(process);
    if (is_coordinator(process) && !process->ended && all_done(process))
        tell_end(process);
    if (process->ended)
        uv_stop(&process->loop);
}
