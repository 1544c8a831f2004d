/* silence.c - see silence_internal.h. */
#include "paths/net/silence_internal.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>

#include "paths/net/connection_internal.h"
#include "paths/net/link_internal.h"

#define SILENT_MS 10000
#define RESENT 3 /* so often at least without an answer */
/* What a process had said before it died has come by then. */
#define GONE_MS 1000

bool paths__socket_is_silent(int fd)
{
    struct tcp_info info;
    socklen_t bytes = sizeof(info);

    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) == 0 &&
           bytes >= offsetof(struct tcp_info, tcpi_last_ack_recv) +
                        sizeof(info.tcpi_last_ack_recv) &&
           info.tcpi_unacked > 0 && info.tcpi_retransmits >= RESENT &&
           info.tcpi_last_ack_recv > SILENT_MS;
}

static bool is_long_dead(const paths_process *process, uint32_t other)
{
    const peer *p = &process->peers[other];

    return atomic_load(&p->dead) &&
           uv_now(&process->loop) - p->dead_ms >= GONE_MS;
}

static void connections_look(paths_process *process)
{
    connection *next;

    for (connection *c = process->connections; c; c = next) {
        next = c->next;
        if (c->state != CONNECTION_OPEN)
            continue;
        if (is_long_dead(process, c->peer))
            paths__connection_close(c, "it has died");
        else if (paths__socket_is_silent(c->channel.fd))
            paths__connection_close(c, "nothing is heard of it any more");
    }
}

/* Their threads find out by reading what has still come, and then the end. */
static void links_look(paths_process *process)
{
    pthread_mutex_lock(&process->failure_lock);
    for (uint32_t i = 0; i < process->thread_count; i++) {
        for (uint32_t k = 0; k < process->process_count; k++) {
            thread_link *link = process->threads[i].links[k];
            if (link && (is_long_dead(process, k) ||
                         paths__socket_is_silent(link->channel.fd)))
                paths__link_interrupt(link);
        }
    }
    pthread_mutex_unlock(&process->failure_lock);
}

void paths__silence_tidy(paths_process *process)
{
    connections_look(process);
    links_look(process);
}
