/* join.c - how a process joins the others.
 *
 * A thread of its own, the connector, connects, since the loop must answer
 * meanwhile. First it joins the coordinator, and the loop takes this connection
 * over at once: by it the process hears of those that have died, for which the
 * connector would otherwise wait in vain. Then it makes the loop's links to
 * other processes; those that have died stay without one. See member.pml. When
 * the coordinator dies later, another thread joins the next one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paths/net/connect_internal.h"
#include "paths/net/loop_link_internal.h"
#include "paths/net/member_internal.h"
#include "pastset/schedule.h"

/* What the connector has done; negative: the error that it came upon. */
enum { CONNECTING, CONNECTED_MEMBER, CONNECTED_ALL };

/* --- the connector --- */

static channel *place_of(paths_process *process, uint32_t to, uint16_t role)
{
    return &process->connector_channels[2 * to + (role == ROLE_MEMBER)];
}

static void state_tell(paths_process *process, int state)
{
    PASTSET_POINT("join.state");
    atomic_store(&process->connector_state, state);
    paths__wake(&process->wakeup);
}

/* Those that have died are done without, except for the coordinator. */
static int connect_to(paths_process *process, uint32_t to, uint16_t role)
{
    int err = paths__connect(process, to, role, place_of(process, to, role));

    return err && atomic_load(&process->peers[to].dead) ? 0 : err;
}

static void *connector_run(void *argument)
{
    paths_process *process = argument;
    int err = 0;

    if (process->self != 0)
        err = connect_to(process, 0, ROLE_MEMBER);
    if (!err)
        state_tell(process, CONNECTED_MEMBER);
    for (uint32_t i = 0; i < process->process_count && !err; i++) {
        if (i != process->self && process->peers[i].loop_needs)
            err = connect_to(process, i, ROLE_LOOP);
    }
    if (err)
        snprintf(process->connector_text, sizeof(process->connector_text), "%s",
                 pastset_error());
    state_tell(process, err ? err : CONNECTED_ALL);
    return NULL;
}

int paths__join_start(paths_process *process)
{
    int error;

    process->connector_channels = malloc(2 * process->process_count *
                                         sizeof(*process->connector_channels));
    if (!process->connector_channels)
        return pastset_no_memory("for the connections");
    for (uint32_t i = 0; i < 2 * process->process_count; i++)
        process->connector_channels[i] = (channel){.fd = -1};
    error = pthread_create(&process->connector, NULL, connector_run, process);
    if (error)
        return pastset_fail(PASTSET_ELIMIT, "cannot start a thread: %s",
                            strerror(error));
    return 0;
}

/* --- the loop --- */

/* Takes a connection over, if there is one. */
static int adopt(paths_process *process, uint32_t to, uint16_t role)
{
    channel *place = place_of(process, to, role);
    connection *c;
    int err;

    if (place->fd < 0)
        return 0;
    fcntl(place->fd, F_SETFL, fcntl(place->fd, F_GETFL) | O_NONBLOCK);
    err = paths__connection_open(&c, process, *place, CONNECTION_OPEN);
    if (err)
        return err;
    *place = (channel){.fd = -1};
    c->peer = to;
    c->role = role;
    if (role == ROLE_MEMBER)
        process->peers[to].member = c;
    else
        paths__loop_link_adopt(process, &process->peers[to], c);
    return 0;
}

static int member_adopt(paths_process *process)
{
    int err = 0;

    if (process->self != 0 && place_of(process, 0, ROLE_MEMBER)->fd >= 0) {
        err = adopt(process, 0, ROLE_MEMBER);
        if (!err)
            paths__launcher_tell(process, process->self, PATHS_COME);
    }
    return err;
}

static int links_adopt(paths_process *process)
{
    int err = 0;

    for (uint32_t i = 0; i < process->process_count && !err; i++)
        err = adopt(process, i, ROLE_LOOP);
    pthread_mutex_lock(&process->held_lock);
    process->links_adopted = true;
    pthread_mutex_unlock(&process->held_lock);
    for (uint32_t i = 0; i < process->process_count && !err; i++) {
        if (process->peers[i].loop_needs && !process->peers[i].link)
            paths__loop_link_none(process, i);
    }
    return err;
}

int paths__join_turn(paths_process *process)
{
    int state = atomic_load(&process->connector_state);
    int err = 0;

    if (process->begun || state == CONNECTING)
        return 0;
    err = member_adopt(process);
    if (!err && state == CONNECTED_MEMBER)
        return 0;
    process->begun = true;
    process->loop_executor.noted = true; /* that it is starting */
    if (!err && state < 0)
        err = pastset_fail(state, "%s", process->connector_text);
    if (!err)
        err = links_adopt(process);
    return err ? err : 1;
}

/* --- joining the next coordinator --- */

static void *rejoiner_run(void *argument)
{
    paths_process *process = argument;
    uint32_t to = process->first;
    int err = paths__reconnect(process, to, &process->rejoin_refused,
                               place_of(process, to, ROLE_MEMBER));

    if (err)
        snprintf(process->rejoin_text, sizeof(process->rejoin_text), "%s",
                 pastset_error());
    PASTSET_POINT("join.again");
    atomic_store(&process->rejoin_state, err ? err : CONNECTED_MEMBER);
    paths__wake(&process->wakeup);
    return NULL;
}

static int rejoiner_start(paths_process *process, void *(*run)(void *))
{
    int error;

    atomic_store(&process->rejoin_state, CONNECTING);
    error = pthread_create(&process->rejoiner, NULL, run, process);
    if (error)
        return pastset_fail(PASTSET_ELIMIT, "cannot start a thread: %s",
                            strerror(error));
    process->rejoining = true;
    return 0;
}

int paths__rejoin_start(paths_process *process)
{
    return rejoiner_start(process, rejoiner_run);
}

bool paths__rejoin_over(paths_process *process, int *err, bool *refused)
{
    int state = atomic_load(&process->rejoin_state);

    if (!process->rejoining || process->probing || state == CONNECTING)
        return false;
    paths__rejoin_end(process);
    *refused = process->rejoin_refused || state > 0;
    *err = state < 0 ? pastset_fail(state, "%s", process->rejoin_text)
                     : adopt(process, process->first, ROLE_MEMBER);
    return true;
}

void paths__rejoin_end(paths_process *process)
{
    if (process->rejoining)
        pthread_join(process->rejoiner, NULL);
    process->rejoining = process->probing = false;
}

/* --- who is there --- */

static void *prober_run(void *argument)
{
    paths_process *process = argument;

    for (uint32_t i = 0; i < process->process_count; i++) {
        if (process->probes[i] == PROBE_UNREACHABLE &&
            !atomic_load(&process->failed))
            process->probes[i] = (uint8_t)paths__probe(process, i);
    }
    atomic_store(&process->rejoin_state, CONNECTED_ALL);
    paths__wake(&process->wakeup);
    return NULL;
}

int paths__probe_start(paths_process *process)
{
    int err;

    if (!process->probes)
        process->probes = calloc(process->process_count, 1);
    if (!process->probes)
        return pastset_no_memory("for the other processes");
    for (uint32_t i = 0; i < process->process_count; i++)
        process->probes[i] =
            is_late(process, i) ? PROBE_UNREACHABLE : PROBE_THERE;
    err = rejoiner_start(process, prober_run);
    process->probing = !err;
    return err;
}

bool paths__probe_over(paths_process *process)
{
    if (!process->probing || atomic_load(&process->rejoin_state) == CONNECTING)
        return false;
    paths__rejoin_end(process);
    return true;
}

/* --- those that are late --- */

/* Whoever has the wrong key knows it, but not who waits for him. */
static void not_come(const paths_process *process, uint32_t other)
{
    char away[160] = "";

    if (process->turned_away)
        snprintf(away, sizeof(away), "; refused: %u, the last because %s",
                 process->turned_away, process->turned_away_why);
    pastset_fail(PASTSET_EHOST, "process %s did not join within %u s%s",
                 process_name(process, other),
                 process->connect_timeout_ms / 1000, away);
}

/* A process that never came would be waited for in vain. Whoever starts
 * processes says of those that ended while they were starting that they did
 * (stand_in.c); this is for those that nobody has started. */
void paths__join_late(paths_process *process)
{
    if (process->self != 0 || process->ended ||
        uv_now(&process->loop) - process->since_ms <
            process->connect_timeout_ms)
        return;
    for (uint32_t i = 1; i < process->process_count; i++) {
        if (process->peers[i].join != PATHS_COME &&
            !atomic_load(&process->failed)) {
            not_come(process, i);
            paths_process_fail(process, PASTSET_EHOST);
        }
    }
}
