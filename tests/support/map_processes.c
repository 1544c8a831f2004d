/* map_processes.c - see map_processes.h. */
#include "tests/support/map_processes.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
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
#include "tests/support/command.h"

paths_process *processes_here;

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

static int process_run(const processes *h, uint32_t self, int listen_fd)
{
    paths_process_options options = {.map = h->map,
                                     .process = h->map->processes[self].name,
                                     .listen_fd = listen_fd,
                                     .key = h->key,
                                     .contexts = h->contexts,
                                     .held_max = h->held_max,
                                     .connect_timeout_ms =
                                         h->connect_timeout_ms};
    int err = paths_process_start(&processes_here, &options);

    for (const process_program *p = h->programs; p->pattern && !err; p++)
        err = paths_process_program(processes_here, p->pattern, p->program,
                                    p->argument);
    if (!err)
        err = paths_process_run(processes_here);
    h->results[self].status = err;
    if (err)
        snprintf(h->results[self].text, sizeof(h->results[self].text), "%s",
                 pastset_error());
    paths_process_stop(processes_here);
    processes_here = NULL;
    return err;
}

/* Looked for here, since _exit does not; it says what it finds. It takes
 * descriptors, which a test may have taken from the process. */
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

static void address_set(processes *h, uint32_t process, int port)
{
    char address[32];

    snprintf(address, sizeof(address), "127.0.0.1:%d", port);
    paths_attributes_set(&h->map->processes[process].attributes, "address",
                         address);
}

static void sockets_open(processes *h)
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

void processes_start_late(processes *h, uint32_t process)
{
    h->pids[process] = fork();
    if (h->pids[process] == 0) {
        int err;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (uint32_t k = 0; k < h->count; k++) {
            if (k != process && h->sockets[k] >= 0)
                close(h->sockets[k]);
            if (h->doors[k] >= 0)
                close(h->doors[k]);
        }
        err = process_run(h, process, h->sockets[process]);
        _exit(leaks() ? 2 : err ? 1 : 0);
    }
    close(h->sockets[process]);
    h->sockets[process] = -1;
}

void processes_start(processes *h)
{
    h->results = shared_memory(PROCESSES_MAX * sizeof(h->results[0]));
    memset(h->key, 42, sizeof(h->key));
    check_status(
        paths_map_parse(&h->map, h->map_text, strlen(h->map_text), "test.dot"),
        0);
    if (getenv("PROCESSES_ENCRYPT"))
        paths_attributes_set(&h->map->attributes, "encrypt",
                             getenv("PROCESSES_ENCRYPT"));
    h->count = h->map->process_count;
    sockets_open(h);
    for (uint32_t i = 0; i < h->count; i++) {
        if (!(h->absent >> i & 1))
            processes_start_late(h, i);
    }
}

void processes_wait(processes *h, unsigned seconds)
{
    for (uint32_t i = 0; i < h->count; i++) {
        if (h->pids[i])
            h->exit_codes[i] = child_wait(h->pids[i], seconds);
        h->pids[i] = 0;
    }
}

void processes_end_well(processes *h, unsigned seconds)
{
    processes_wait(h, seconds);
    for (uint32_t i = 0; i < h->count; i++)
        cr_expect_eq(h->exit_codes[i], 0, "process %s: exit code %d, %s",
                     h->map->processes[i].name, h->exit_codes[i],
                     h->results[i].text);
}

void processes_free(processes *h)
{
    for (uint32_t i = 0; i < h->count; i++) {
        if (h->doors[i] >= 0)
            close(h->doors[i]);
        if (h->sockets[i] >= 0)
            close(h->sockets[i]);
    }
    munmap(h->results, PROCESSES_MAX * sizeof(h->results[0]));
    paths_map_destroy(h->map);
}
