/* hosts.c - see hosts.h. */
#include "tests/support/hosts.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

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
                                  .contexts = h->contexts,
                                  .held_max = h->held_max,
                                  .connect_timeout_ms = h->connect_timeout_ms};
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

/* Looked for here, since _exit does not; it says what it finds. It takes
 * descriptors, which a test may have taken from the host. */
static bool leaks(void)
{
#ifdef __SANITIZE_ADDRESS__
    struct rlimit limit;

    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return __lsan_do_recoverable_leak_check() != 0;
#else
    return false;
#endif
}

static void address_set(hosts *h, uint32_t host, int port)
{
    char address[32];

    snprintf(address, sizeof(address), "127.0.0.1:%d", port);
    paths_attributes_set(&h->map->hosts[host].attributes, "address", address);
}

static void sockets_open(hosts *h)
{
    for (uint32_t i = 0; i < h->count; i++) {
        int port;

        h->doors[i] = -1;
        h->sockets[i] = listen_anywhere(&h->ports[i]);
        if (h->intercepted >> i & 1)
            h->doors[i] = listen_anywhere(&port);
        else
            port = h->ports[i];
        if (h->relay_port && i + 1 == h->count)
            port = h->relay_port;
        address_set(h, i, port);
    }
}

void hosts_start_late(hosts *h, uint32_t host)
{
    h->pids[host] = fork();
    if (h->pids[host] == 0) {
        int err;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (uint32_t k = 0; k < h->count; k++) {
            if (k != host && h->sockets[k] >= 0)
                close(h->sockets[k]);
            if (h->doors[k] >= 0)
                close(h->doors[k]);
        }
        err = host_run(h, host, h->sockets[host]);
        _exit(leaks() ? 2 : err ? 1 : 0);
    }
    close(h->sockets[host]);
    h->sockets[host] = -1;
}

void hosts_start(hosts *h)
{
    h->results = shared_memory(HOSTS_MAX * sizeof(h->results[0]));
    memset(h->key, 42, sizeof(h->key));
    check_status(
        paths_map_parse(&h->map, h->map_text, strlen(h->map_text), "test.dot"),
        0);
    h->count = h->map->host_count;
    sockets_open(h);
    for (uint32_t i = 0; i < h->count; i++) {
        if (!(h->absent >> i & 1))
            hosts_start_late(h, i);
    }
}

void hosts_wait(hosts *h, unsigned seconds)
{
    for (uint32_t i = 0; i < h->count; i++) {
        if (h->pids[i])
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
    for (uint32_t i = 0; i < h->count; i++) {
        if (h->doors[i] >= 0)
            close(h->doors[i]);
        if (h->sockets[i] >= 0)
            close(h->sockets[i]);
    }
    munmap(h->results, HOSTS_MAX * sizeof(h->results[0]));
    paths_map_destroy(h->map);
}
