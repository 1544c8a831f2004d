/* many_processes.c - see many_processes.h. */
#include "tests/bench/many_processes.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventspace/register_collectors.h"
#include "paths/generate/generate.h"
#include "paths/engine/process.h"
#include "tests/bench/bench.h"

#define PROCESSES_MAX 32

static int listen_any(paths_map_process *process)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char text[64];

    if (bind(fd, (struct sockaddr *)&address, length) != 0 ||
        listen(fd, 256) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        perror("bench: listen");
        exit(1);
    }
    snprintf(text, sizeof(text), "127.0.0.1:%d", ntohs(address.sin_port));
    bench_check(paths_attributes_set(&process->attributes, "address", text),
                "address");
    return fd;
}

static void process_run(const paths_map *map, uint32_t self, int listen_fd,
                        paths_main *program, void *argument)
{
    static const uint8_t key[PATHS_KEY_BYTES] = "bench";
    paths_process_options options = {.map = map,
                                     .process = map->processes[self].name,
                                     .listen_fd = listen_fd,
                                     .key = key};
    paths_process *process;

    bench_check(paths_process_start(&process, &options), options.process);
    bench_check(paths_process_program(process, "*", program, argument),
                options.process);
    bench_check(paths_process_run(process), options.process);
    paths_process_stop(process);
}

void many_processes_run(paths_map *map, paths_main *program, void *argument)
{
    pid_t children[PROCESSES_MAX];
    int fds[PROCESSES_MAX];

    bench_check(eventspace_register(), "register");
    for (uint32_t i = 0; i < map->process_count; i++)
        fds[i] = listen_any(&map->processes[i]);
    for (uint32_t i = 1; i < map->process_count; i++) {
        children[i] = fork();
        if (children[i] != 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (uint32_t k = 0; k < map->process_count; k++) {
            if (k != i)
                close(fds[k]);
        }
        process_run(map, i, fds[i], program, argument);
        _exit(0);
    }
    for (uint32_t i = 1; i < map->process_count; i++)
        close(fds[i]);
    process_run(map, 0, fds[0], program, argument);
    for (uint32_t i = 1; i < map->process_count; i++)
        waitpid(children[i], NULL, 0);
}

paths_map *many_processes_map(unsigned threads, unsigned processes,
                              const char *use, const char *type,
                              const char *const *elements)
{
    paths_generate_options options = {.processes = processes};
    paths_map *mapping, *map;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    fprintf(out, "digraph bench {\n");
    for (unsigned i = 0; i < threads; i++)
        fprintf(out, "t%u [kind=thread, number=%u];\n", i, i);
    for (; *elements; elements++) {
        fprintf(out, "%s [kind=element, type=\"%s\", capacity=16];\n",
                *elements, type);
        for (unsigned i = 0; i < threads; i++)
            fprintf(out, "t%u -> %s [use=%s];\n", i, *elements, use);
    }
    fprintf(out, "}\n");
    fclose(out);
    bench_check(paths_map_parse(&mapping, text, bytes, "bench"), "mapping");
    options.application = mapping;
    bench_check(paths_generate(&map, &options), "map");
    paths_map_destroy(mapping);
    free(text);
    return map;
}
