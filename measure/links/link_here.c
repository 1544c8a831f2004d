/* link_here.c - both ends of a link on this machine. */
#include "measure/links/links.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/load/load_internal.h"
#include "paths/net/address.h"
#include "pastset/status.h"

static void tell(void *context, const char *address)
{
    const int *to = context;
    /* The 0 too; it fits into a pipe, and if nobody reads, nobody comes. */
    if (write(*to, address, strlen(address) + 1) < 0)
        _exit(1);
    close(*to);
}

static int hear(int from, char address[PATHS_ADDRESS_TEXT])
{
    size_t have = 0;
    while (have < PATHS_ADDRESS_TEXT) {
        ssize_t got = read(from, address + have, PATHS_ADDRESS_TEXT - have);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        have += (size_t)got;
        if (address[have - 1] == 0)
            return 0;
    }
    return pastset_fail(PASTSET_EIO, "the other end on this machine died");
}

int measure_link_here(measure_link *out, const measure_link_options *options)
{
    measure_link_options o =
        options ? *options : (measure_link_options){.processor = -1};
    char address[PATHS_ADDRESS_TEXT];
    pid_t parent = getpid(), pid;
    int ends[2], err;
    if (o.processor < 0)
        o.processor = measure__processor_first();
    if (pipe(ends))
        return pastset_fail(PASTSET_EIO, "cannot make a pipe: %s",
                            strerror(errno));
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        if (measure__child_begin(parent) == 0)
            measure_link_serve(PATHS_ADDRESS_LOOPBACK, 1,
                               measure__processor_after(o.processor), tell,
                               &ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (pid < 0) {
        err = pastset_fail(PASTSET_EIO, "cannot start the other end: %s",
                           strerror(errno));
    } else {
        err = hear(ends[0], address);
        if (!err)
            err = measure_link_run(out, address, &o);
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    close(ends[0]);
    return err;
}
