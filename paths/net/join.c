/* join.c - how a host joins the others.
 *
 * A thread of its own, the connector, connects, since the loop must answer
 * meanwhile. First it joins the coordinator, and the loop takes this connection
 * over at once: by it the host hears of those that have died, for which the
 * connector would otherwise wait in vain. Then it makes the loop's links to
 * other hosts; those that have died stay without one. See member.pml. */
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

static int *place_of(paths_host *host, uint32_t to, uint16_t role)
{
    return &host->connector_fds[2 * to + (role == ROLE_MEMBER)];
}

static void state_tell(paths_host *host, int state)
{
    PASTSET_POINT("join.state");
    atomic_store(&host->connector_state, state);
    uv_async_send(&host->wakeup);
}

/* Those that have died are done without, except for the coordinator. */
static int connect_to(paths_host *host, uint32_t to, uint16_t role)
{
    int err = paths__connect(host, to, role, place_of(host, to, role));

    return err && atomic_load(&host->peers[to].dead) ? 0 : err;
}

static void *connector_run(void *argument)
{
    paths_host *host = argument;
    int err = 0;

    if (host->self != 0)
        err = connect_to(host, 0, ROLE_MEMBER);
    if (!err)
        state_tell(host, CONNECTED_MEMBER);
    for (uint32_t i = 0; i < host->host_count && !err; i++) {
        if (i != host->self && host->peers[i].loop_needs)
            err = connect_to(host, i, ROLE_LOOP);
    }
    if (err)
        snprintf(host->connector_text, sizeof(host->connector_text), "%s",
                 pastset_error());
    state_tell(host, err ? err : CONNECTED_ALL);
    return NULL;
}

int paths__join_start(paths_host *host)
{
    int error;

    host->connector_fds = malloc(2 * host->host_count * sizeof(int));
    if (!host->connector_fds)
        return pastset_fail(PASTSET_ENOMEM, "no memory for the connections");
    for (uint32_t i = 0; i < 2 * host->host_count; i++)
        host->connector_fds[i] = -1;
    error = pthread_create(&host->connector, NULL, connector_run, host);
    if (error)
        return pastset_fail(PASTSET_ELIMIT, "cannot start a thread: %s",
                            strerror(error));
    return 0;
}

/* --- the loop --- */

/* Takes a connection over, if there is one. */
static int adopt(paths_host *host, uint32_t to, uint16_t role)
{
    int *fd = place_of(host, to, role);
    connection *c;
    int err;

    if (*fd < 0)
        return 0;
    fcntl(*fd, F_SETFL, fcntl(*fd, F_GETFL) | O_NONBLOCK);
    err = paths__connection_open(&c, host, *fd, CONNECTION_OPEN);
    if (err)
        return err;
    *fd = -1;
    c->peer = to;
    c->role = role;
    if (role == ROLE_MEMBER)
        host->peers[to].member = c;
    else
        paths__loop_link_adopt(host, &host->peers[to], c);
    return 0;
}

static int member_adopt(paths_host *host)
{
    int err = 0;

    if (host->self != 0 && *place_of(host, 0, ROLE_MEMBER) >= 0) {
        err = adopt(host, 0, ROLE_MEMBER);
        if (!err)
            paths__launcher_tell(host, host->self, PATHS_COME);
    }
    return err;
}

static int links_adopt(paths_host *host)
{
    int err = 0;

    for (uint32_t i = 0; i < host->host_count && !err; i++)
        err = adopt(host, i, ROLE_LOOP);
    pthread_mutex_lock(&host->held_lock);
    host->links_adopted = true;
    pthread_mutex_unlock(&host->held_lock);
    for (uint32_t i = 0; i < host->host_count && !err; i++) {
        if (host->peers[i].loop_needs && !host->peers[i].link)
            paths__loop_link_none(host, i);
    }
    return err;
}

int paths__join_turn(paths_host *host)
{
    int state = atomic_load(&host->connector_state);
    int err = 0;

    if (host->begun || state == CONNECTING)
        return 0;
    err = member_adopt(host);
    if (!err && state == CONNECTED_MEMBER)
        return 0;
    host->begun = true;
    host->loop_executor.noted = true; /* that it is starting */
    if (!err && state < 0)
        err = pastset_fail(state, "%s", host->connector_text);
    if (!err)
        err = links_adopt(host);
    return err ? err : 1;
}

/* Whoever has the wrong key knows it, but not who waits for him. */
static void not_come(const paths_host *host, uint32_t other)
{
    char away[160] = "";

    if (host->turned_away)
        snprintf(away, sizeof(away), "; turned away: %u, the last because %s",
                 host->turned_away, host->turned_away_why);
    pastset_fail(PASTSET_EHOST, "host %s did not come within %u s%s",
                 host_name(host, other), host->connect_timeout_ms / 1000, away);
}

/* A host that never came would be waited for in vain. Whoever starts hosts
 * says of those that ended while they were starting that they did
 * (stand_in.c); this is for those that nobody has started. */
void paths__join_late(paths_host *host)
{
    if (host->self != 0 || host->ended ||
        uv_now(&host->loop) - host->since_ms < host->connect_timeout_ms)
        return;
    for (uint32_t i = 1; i < host->host_count; i++) {
        if (host->peers[i].join != PATHS_COME && !atomic_load(&host->failed)) {
            not_come(host, i);
            paths_host_fail(host, PASTSET_EHOST);
        }
    }
}
