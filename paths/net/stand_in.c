/* stand_in.c - speaking for a process that ended before it had joined.
 *
 * The others cannot see that it did: those who connect to it wait in the queue
 * of its listening socket, and the coordinator waits for it to come. Whoever
 * started the process knows, and has its socket, the key and the map. So it
 * takes the process's place for as long as it takes to say so, in the way of
 * any process (member.c):
 *
 *   for the coordinator  it listens in its place, as one that has failed, and
 *                        tells each process that comes and had not joined
 *                        before; one that was just being let in may not come
 *   for another          it joins the coordinator and says GONE or FAILED; the
 *                        coordinator tells those who come and have come
 *
 * The others may be started later than the one that has ended, so it waits for
 * them. See member.pml. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "paths/net/connect_internal.h"
#include "paths/net/wire_internal.h"
#include "paths/net/handshake_internal.h"

#define REFUSED_MS 1000 /* where somebody listened before */

struct paths_stand_in {
    paths_process *process;
    wire_kind kind;
    char text[WIRE_TEXT_BYTES];
};

/* --- for the coordinator --- */

/* As a process that has failed: it tells whoever comes. */
static int listen_in_place(paths_stand_in *s)
{
    paths_process *process = s->process;

    pastset_fail(PASTSET_EHOST, "%s", s->text);
    paths_process_fail(process, PASTSET_EHOST);
    uv_update_time(&process->loop);
    paths__loop_run(process);
    return 0;
}

/* --- for another --- */

/* Until the coordinator has closed the connection, or this is cancelled. */
static void await_end(const paths_process *process, channel *c)
{
    struct pollfd end = {.fd = c->fd, .events = POLLIN};
    int64_t deadline =
        pastset_now_ns() + (int64_t)process->connect_timeout_ms * 1000000;
    char rest[256];

    while (!atomic_load(&process->failed) && pastset_now_ns() < deadline) {
        int ready = poll(&end, 1, 100);
        if (ready < 0 && errno != EINTR)
            return;
        ssize_t got = ready > 0 ? paths__channel_receive(c, rest, sizeof(rest),
                                                         MSG_DONTWAIT)
                                : 1;
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return;
    }
}

static int say_to_coordinator(paths_stand_in *s)
{
    wire_header header = {.kind = (uint16_t)s->kind};
    struct iovec parts[2] = {{&header, sizeof(header)},
                             {s->text, strlen(s->text)}};
    channel c = {.fd = -1};
    int err = paths__connect(s->process, 0, ROLE_MEMBER, &c);

    if (err)
        return err;
    header.bytes = (uint32_t)strlen(s->text);
    /* An empty socket takes it whole. */
    if (paths__channel_send(&c, parts, 2, MSG_NOSIGNAL) < 0)
        err = pastset_fail(PASTSET_EHOST, "%s", paths__channel_error(errno));
    else
        await_end(s->process, &c);
    paths__channel_close(&c);
    return err;
}

/* --- both --- */

static int loop_make(paths_process *process, int listen_fd)
{
    int fd = fcntl(listen_fd, F_DUPFD_CLOEXEC, 0);

    if (fd < 0)
        return pastset_fail(PASTSET_ELIMIT, "cannot listen: %s",
                            strerror(errno));
    return paths__loop_open(process, fd);
}

static int peers_make(paths_process *process, const paths_join *joins)
{
    const paths_map *map = process->map;

    process->stages =
        calloc((size_t)map->node_count + 1, sizeof(*process->stages));
    process->peers = calloc(process->process_count, sizeof(*process->peers));
    if (!process->stages || !process->peers)
        return pastset_no_memory("for the other processes");
    for (uint32_t i = 0; joins && i < process->process_count; i++)
        process->peers[i].join = joins[i];
    return 0;
}

/* The first process is waited for unless it was there before: then it has died
 * with all who would have spoken for it. */
static uint32_t refused_ms(const paths_stand_in_options *options)
{
    uint32_t self = paths_map_find_process(options->map, options->process);
    bool reached = options->joins && self != PATHS_NONE &&
                   options->joins[self] != PATHS_NOT_COME;

    return reached ? REFUSED_MS : 0;
}

int paths_stand_in_create(paths_stand_in **out,
                          const paths_stand_in_options *options)
{
    paths_process_options as = {.map = options->map,
                                .process = options->process,
                                .key = options->key,
                                .connect_timeout_ms = options->wait_ms,
                                .refused_ms = refused_ms(options)};
    paths_stand_in *s = calloc(1, sizeof(*s));
    bool named;
    int err;

    *out = s;
    if (!s)
        return pastset_no_memory("to speak for a process");
    err = paths__process_create(&s->process, &as);
    if (!err)
        err = peers_make(s->process, options->joins);
    if (!err)
        err = loop_make(s->process, options->listen_fd);
    if (err) {
        paths_stand_in_destroy(s);
        *out = NULL;
        return err;
    }
    s->process->begun = true; /* it has no threads */
    atomic_store(&s->process->linger_ms, s->process->connect_timeout_ms);
    s->kind = options->died ? WIRE_GONE : WIRE_FAILED;
    named = options->died && s->process->self != 0; /* in a GONE */
    snprintf(s->text, sizeof(s->text), "%s%s%s", named ? options->process : "",
             named ? " " : "", options->how);
    return 0;
}

int paths_stand_in_run(paths_stand_in *s)
{
    return s->process->self == 0 ? listen_in_place(s) : say_to_coordinator(s);
}

void paths_stand_in_cancel(paths_stand_in *s)
{
    atomic_store(&s->process->linger_ms, 0);
    pastset_fail(PASTSET_ECANCELED, "no process is left to notify");
    paths_process_fail(s->process, PASTSET_ECANCELED);
}

void paths_stand_in_destroy(paths_stand_in *s)
{
    if (!s)
        return;
    paths_process_stop(s->process);
    free(s);
}
