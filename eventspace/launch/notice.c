/* notice.c - telling the other processes of a process that ended before it had
 * joined them.
 *
 * Nobody but the launcher sees that, here or on other machines. Each process
 * has a line to it, a socket, by which it says who has joined
 * (paths/net/launcher.c). When it ends too early the launcher stands in for it,
 * on a thread, as that may take as long as the others take to come. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "eventspace/launch/launch_internal.h"
#include "pastset/status.h"

/* How long after its start others are waited for, as the process itself
 * would. */
#define WAIT_MS 60000
/* How long at least, and for one that ended well: it need not be a program
 * that wants to join anybody. */
#define SHORT_MS 1000

/* --- the line --- */

void eventspace__notice_read(launch_notice *n)
{
    paths_joined said;

    while (n->open && recv(n->line_fd, &said, sizeof(said), MSG_DONTWAIT) ==
                          (ssize_t)sizeof(said)) {
        if (said.process < n->plan->map->process_count &&
            said.state <= PATHS_COME)
            n->joins[said.process] = (paths_join)said.state;
    }
}

static void on_line(uv_poll_t *handle, int status, int events)
{
    launch_notice *n = handle->data;
    char end;

    (void)events;
    eventspace__notice_read(n);
    if (status < 0 || recv(n->line_fd, &end, 1, MSG_DONTWAIT | MSG_PEEK) == 0)
        uv_poll_stop(handle);
}

int eventspace__notice_open(launch_notice *n, const launch_plan *plan,
                            const launch_process *process, uv_loop_t *loop,
                            paths_join *joins, int *child_fd)
{
    int ends[2], err;

    n->plan = plan;
    n->process = process;
    n->self = paths_map_find_process(plan->map, process->name);
    n->loop = loop;
    n->since_ms = uv_now(loop);
    n->joins = joins;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    *child_fd = ends[1];
    err = uv_poll_init(loop, &n->line, ends[0]);
    if (err) {
        close(ends[0]);
        return err;
    }
    n->line_fd = ends[0];
    n->line.data = n;
    n->open = true;
    return uv_poll_start(&n->line, UV_READABLE, on_line);
}

static void line_closed(uv_handle_t *handle)
{
    launch_notice *n = handle->data;
    close(n->line_fd);
}

void eventspace__notice_close(launch_notice *n)
{
    if (n->open)
        uv_close((uv_handle_t *)&n->line, line_closed);
    n->open = false;
}

bool eventspace__notice_is_due(launch_notice *n)
{
    bool all = true;

    eventspace__notice_read(n);
    for (uint32_t i = 1; i < n->plan->map->process_count; i++)
        all &= n->joins[i] == PATHS_COME;
    return n->self == 0 ? !all : n->joins[n->self] != PATHS_COME;
}

/* --- standing in --- */

/* On a thread. The process's place may be another network. */
static void speak(uv_work_t *work)
{
    launch_notice *n = work->data;
    launch_place place;

    if (eventspace__place_enter(&place, n->process->process) != 0)
        return;
    paths_stand_in_run(n->stand_in);
    eventspace__place_leave(&place);
}

static void spoken(uv_work_t *work, int status)
{
    launch_notice *n = work->data;

    (void)status;
    paths_stand_in_destroy(n->stand_in);
    n->stand_in = NULL;
    n->over(n->context);
}

static uint32_t timeout_ms(const launch_notice *n, bool well)
{
    uint64_t age = uv_now(n->loop) - n->since_ms;

    if (well || age + SHORT_MS >= WAIT_MS)
        return SHORT_MS;
    return (uint32_t)(WAIT_MS - age);
}

int eventspace__notice_send(launch_notice *n, launch_end end, const char *how)
{
    const char *before = n->self == 0 ? "before all others had joined it"
                                      : "before it had joined the others";
    paths_stand_in_options options = {.map = n->plan->map,
                                      .process = n->process->name,
                                      .listen_fd = n->process->listen_fd,
                                      .key = n->plan->key,
                                      .joins = n->joins,
                                      .died = end == LAUNCH_DIED};
    char text[800];
    int err;

    if (end == LAUNCH_DIED)
        snprintf(text, sizeof(text), "process %s died %s: %s", n->process->name,
                 before, how);
    else
        snprintf(text, sizeof(text), "process %s ended %s: %s",
                 n->process->name, before, how);
    options.how = text;
    options.wait_ms = timeout_ms(n, end == LAUNCH_ENDED_WELL);
    err = paths_stand_in_create(&n->stand_in, &options);
    if (err)
        return err;
    n->work.data = n;
    if (uv_queue_work(n->loop, &n->work, speak, spoken) == 0)
        return 0;
    paths_stand_in_destroy(n->stand_in);
    n->stand_in = NULL;
    return pastset_fail(PASTSET_ELIMIT,
                        "cannot start a thread to notify the other processes");
}

void eventspace__notice_cancel(launch_notice *n)
{
    if (n->stand_in)
        paths_stand_in_cancel(n->stand_in);
}
