/* launcher.c - the line to whoever started this process: a stream socket.
 *
 * Until a host has joined the others nobody but whoever started it can know
 * that it died, and says so (stand_in.c). So it writes there who has joined
 * (paths_joined). Nothing is read from it but its end, at which the run ends: a
 * run without its launcher is nobody's.
 *
 * No order of the two makes it one step that a host is let in and that the
 * launcher knows. So it is told before that it is about to happen: when this
 * process dies in between, that host either knows, and never comes again, or
 * sees its connection break, and comes again at once. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#include "paths/net/member_internal.h"

static void on_launcher(uv_poll_t *handle, int status, int events)
{
    paths_host *host = handle->data;
    char rest[64];
    ssize_t got = recv(host->launcher_fd, rest, sizeof(rest), MSG_DONTWAIT);

    (void)status;
    (void)events;
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    uv_poll_stop(handle);
    if (host->ended)
        return;
    pastset_fail(PASTSET_EHOST, "host %s died with its launcher",
                 paths_host_name(host));
    paths_host_fail(host, PASTSET_EHOST);
}

int paths__launcher_open(paths_host *host, int fd)
{
    int err = uv_poll_init(&host->loop, &host->launcher, fd);

    if (err)
        return pastset_fail(PASTSET_EINVAL,
                            "descriptor %d is no socket to the launcher: %s",
                            fd, uv_strerror(err));
    host->launcher_fd = fd;
    /* What this process starts must not keep the line open. */
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    host->launcher.data = host;
    uv_poll_start(&host->launcher, UV_READABLE, on_launcher);
    return 0;
}

void paths__launcher_tell(paths_host *host, uint32_t joined, paths_join state)
{
    paths_joined said = {.host = joined, .state = state};

    /* Few bytes, which find room. If nobody takes them nobody is left to care,
     * and the loop finds that out. */
    if (host->launcher_fd >= 0 && send(host->launcher_fd, &said, sizeof(said),
                                       MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return;
}
