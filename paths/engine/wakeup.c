/* wakeup.c - see wakeup_internal.h. An eventfd of our own and not uv_async_t:
 * there the loop spins while a thread is between two steps of uv_async_send
 * (libuv 1.44). A thread that the loop's own waking put off the processor is
 * just there, and if the loop has a real-time priority and the thread has none,
 * it gets no processor for as long as the kernel throttles the loop: a second.
 */
#include "paths/engine/wakeup_internal.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TRIES 3

static void on_told(uv_poll_t *poll, int status, int events)
{
    wakeup *w = (wakeup *)(void *)poll; /* its first member */
    uint64_t times;
    ssize_t got = read(w->fd, &times, sizeof(times));

    (void)status;
    (void)events;
    (void)got;
    /* Before looking: who leaves something now tells again. An exchange, so
     * that what those have left who told before is seen. */
    (void)atomic_exchange(&w->told, false);
    w->look(poll->data);
}

int paths__wakeup_open(wakeup *w, uv_loop_t *loop, paths_process *process,
                       void (*look)(paths_process *process))
{
    int error;

    w->look = look;
    w->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (w->fd < 0)
        return -errno;
    error = uv_poll_init(loop, &w->poll, w->fd);
    if (error)
        return error;
    w->poll.data = process;
    return uv_poll_start(&w->poll, UV_READABLE, on_told);
}

void paths__wakeup_close(wakeup *w)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
}

void paths__wake(wakeup *w)
{
    const uint64_t once = 1;

    if (atomic_exchange(&w->told, true))
        return;
    /* It cannot be full, as it is told once; if the kernel has something else
     * against it, whoever wakes next tries again. */
    for (int i = 0; i < TRIES; i++)
        if (write(w->fd, &once, sizeof(once)) == sizeof(once))
            return;
    atomic_store(&w->told, false);
}
