/* many_hosts.c - see many_hosts.h. */
#include "tests/bench/many_hosts.h"

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
#include "paths/engine/host.h"
#include "tests/bench/bench.h"

#define HOSTS_MAX 32

static int listen_any(paths_map_host *host)
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
    bench_check(paths_attributes_set(&host->attributes, "address", text),
                "address");
    return fd;
}

static void host_run(const paths_map *map, uint32_t self, int listen_fd,
                     paths_main *program, void *argument)
{
    static const uint8_t key[PATHS_KEY_BYTES] = "bench";
    paths_host_options options = {.map = map,
                                  .host = map->hosts[self].name,
                                  .listen_fd = listen_fd,
                                  .key = key};
    paths_host *host;

    bench_check(paths_host_start(&host, &options), options.host);
    bench_check(paths_host_program(host, "*", program, argument), options.host);
    bench_check(paths_host_run(host), options.host);
    paths_host_stop(host);
}

void many_hosts_run(paths_map *map, paths_main *program, void *argument)
{
    pid_t children[HOSTS_MAX];
    int fds[HOSTS_MAX];

    bench_check(eventspace_register(), "register");
    for (uint32_t i = 0; i < map->host_count; i++)
        fds[i] = listen_any(&map->hosts[i]);
    for (uint32_t i = 1; i < map->host_count; i++) {
        children[i] = fork();
        if (children[i] != 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (uint32_t k = 0; k < map->host_count; k++) {
            if (k != i)
                close(fds[k]);
        }
        host_run(map, i, fds[i], program, argument);
        _exit(0);
    }
    for (uint32_t i = 1; i < map->host_count; i++)
        close(fds[i]);
    host_run(map, 0, fds[0], program, argument);
    for (uint32_t i = 1; i < map->host_count; i++)
        waitpid(children[i], NULL, 0);
}

paths_map *many_hosts_map(unsigned threads, unsigned hosts, const char *use,
                          const char *type, const char *const *elements)
{
    paths_generate_options options = {.hosts = hosts};
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
