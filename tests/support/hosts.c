/* hosts.c - see hosts.h. */
#include "tests/support/hosts.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/support/process.h"

paths_host *hosts_here;

void *shared_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(memory, MAP_FAILED);
    return memory;
}

static int listen_anywhere(int *port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    cr_assert_eq(bind(fd, (struct sockaddr *)&address, length), 0);
    cr_assert_eq(listen(fd, SOMAXCONN), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &length), 0);
    *port = ntohs(address.sin_port);
    return fd;
}

static int host_run(const hosts *h, uint32_t self, int listen_fd)
{
    paths_host_options options = {.map = h->map,
                                  .host = h->map->hosts[self].name,
                                  .listen_fd = listen_fd,
                                  .key = h->key,
                                  .held_max = h->held_max};
    int err = paths_host_start(&hosts_here, &options);

    for (const host_program *p = h->programs; p->pattern && !err; p++)
        err =
            paths_host_program(hosts_here, p->pattern, p->program, p->argument);
    if (!err)
        err = paths_host_run(hosts_here);
    h->results[self].status = err;
    if (err)
        snprintf(h->results[self].text, sizeof(h->results[self].text), "%s",
                 pastset_error());
    paths_host_stop(hosts_here);
    hosts_here = NULL;
    return err;
}

void hosts_start(hosts *h)
{
    int fds[HOSTS_MOST];

    h->results = shared_memory(HOSTS_MOST * sizeof(h->results[0]));
    memset(h->key, 42, sizeof(h->key));
    check_status(
        paths_map_parse(&h->map, h->map_text, strlen(h->map_text), "test.dot"),
        0);
    h->count = h->map->host_count;
    for (uint32_t i = 0; i < h->count; i++) {
        char address[32];
        fds[i] = listen_anywhere(&h->ports[i]);
        snprintf(address, sizeof(address), "127.0.0.1:%d", h->ports[i]);
        paths_attributes_set(&h->map->hosts[i].attributes, "address", address);
    }
    for (uint32_t i = 0; i < h->count; i++) {
        h->pids[i] = fork();
        if (h->pids[i] == 0) {
            int err;
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (uint32_t k = 0; k < h->count; k++) {
                if (k != i)
                    close(fds[k]);
            }
            err = host_run(h, i, fds[i]);
            _exit(err ? 1 : 0);
        }
    }
    for (uint32_t i = 0; i < h->count; i++)
        close(fds[i]);
}

void hosts_wait(hosts *h, unsigned seconds)
{
    for (uint32_t i = 0; i < h->count; i++) {
        h->exit_codes[i] = child_wait(h->pids[i], seconds);
        h->pids[i] = 0;
    }
}

void hosts_end_well(hosts *h, unsigned seconds)
{
    hosts_wait(h, seconds);
    for (uint32_t i = 0; i < h->count; i++)
        cr_expect_eq(h->exit_codes[i], 0, "host %s: exit code %d, %s",
                     h->map->hosts[i].name, h->exit_codes[i],
                     h->results[i].text);
}

void hosts_free(hosts *h)
{
    munmap(h->results, HOSTS_MOST * sizeof(h->results[0]));
    paths_map_destroy(h->map);
}
