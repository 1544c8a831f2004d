/* launcher.c - the line to whoever started this process: a stream socket.
 *
 * Until a process has joined the others nobody but whoever started it can know
 * that it died, and says so (stand_in.c). So it writes there who has joined
 * (paths_joined). Nothing is read from it but its end, at which the run ends: a
 * run without its launcher is nobody's.
 *
 * No order of the two makes it one step that a process is let in and that the
 * launcher knows. So it is told before that it is about to happen: when this
 * process dies in between, that process either knows, and never comes again, or
 * sees its connection break, and comes again at once. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "paths/net/member_internal.h"

static void on_launcher(uv_poll_t *handle, int status, int events)
{
    paths_process *process = handle->data;
    char rest[64];
    ssize_t got = recv(process->launcher_fd, rest, sizeof(rest), MSG_DONTWAIT);

    (void)status;
    (void)events;
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    uv_poll_stop(handle);
    if (process->ended)
        return;
    pastset_fail(PASTSET_EHOST, "process %s died with its launcher",
                 paths_process_name(process));
    paths_process_fail(process, PASTSET_EHOST);
}

int paths__launcher_open(paths_process *process, int fd)
{
    int err = uv_poll_init(&process->loop, &process->launcher, fd);

    if (err)
        return pastset_fail(PASTSET_EINVAL,
                            "descriptor %d is not a socket to the launcher: %s",
                            fd, uv_strerror(err));
    process->launcher_fd = fd;
    /* What this process starts must not keep the line open. */
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    process->launcher.data = process;
    uv_poll_start(&process->launcher, UV_READABLE, on_launcher);
    return 0;
}

void paths__launcher_tell(paths_process *process, uint32_t joined,
                          paths_join state)
{
    paths_joined said = {.process = joined, .state = state};

    /* Few bytes, which find room. If nobody takes them nobody is left to care,
     * and the loop finds that out. */
    if (process->launcher_fd >= 0 &&
        send(process->launcher_fd, &said, sizeof(said),
             MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return;
}
