/* inside.c - see inside.h. */
#include "tests/support/inside.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "paths/generate/generate.h"

#define PROCESSES_MAX 64

typedef struct inside_process {
    const paths_map *map;
    uint32_t number;
    int listen_fd;
    paths_main *program;
    void *argument;
    pthread_t id;
    int status;
} inside_process;

static paths_map *mapping_read(const char *text, const char *name)
{
    paths_map *mapping;

    if (paths_map_parse(&mapping, text, strlen(text), name) != 0) {
        fprintf(stderr, "%s\n%s", pastset_error(), text);
        exit(1);
    }
    return mapping;
}

paths_map *inside_map(const char *application, const char *cluster)
{
    paths_map *first = mapping_read(application, "application.dot");
    paths_map *second = mapping_read(cluster, "cluster.dot");
    paths_generate_options options = {.application = first, .cluster = second};
    paths_map *map;

    if (paths_generate(&map, &options) != 0) {
        fprintf(stderr, "%s\n", pastset_error());
        exit(1);
    }
    paths_map_destroy(first);
    paths_map_destroy(second);
    return map;
}

int inside_listen(paths_map_process *process)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(at);
    char address[32];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0 ||
        listen(fd, SOMAXCONN) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &length) != 0) {
        perror("a socket");
        exit(1);
    }
    snprintf(address, sizeof(address), "127.0.0.1:%d", ntohs(at.sin_port));
    paths_attributes_set(&process->attributes, "address", address);
    return fd;
}

static void *process_main(void *argument)
{
    static const uint8_t key[PATHS_KEY_BYTES] = {1, 2, 3};
    inside_process *self = argument;
    paths_process_options options = {
        .map = self->map,
        .process = self->map->processes[self->number].name,
        .listen_fd = self->listen_fd,
        .key = key};
    char file[64]; /* elements are in a file, as those of a run */
    paths_process *process;
    int err;

    snprintf(file, sizeof(file), "/tmp/inside.%d.%u", (int)getpid(),
             self->number);
    options.space_file = file;
    err = paths_process_start(&process, &options);
    remove(file);
    if (!err)
        err =
            paths_process_program(process, "*", self->program, self->argument);
    if (!err)
        err = paths_process_run(process);
    if (err)
        fprintf(stderr, "%s\n", pastset_error());
    paths_process_stop(process);
    self->status = err;
    return NULL;
}

int inside_run(paths_map *map, paths_main *program, void *argument)
{
    inside_process processes[PROCESSES_MAX];
    int status = 0;

    for (uint32_t i = 0; i < map->process_count; i++)
        processes[i] =
            (inside_process){.map = map,
                             .number = i,
                             .listen_fd = inside_listen(&map->processes[i]),
                             .program = program,
                             .argument = argument};
    for (uint32_t i = 0; i < map->process_count; i++) {
        if (pthread_create(&processes[i].id, NULL, process_main,
                           &processes[i]) != 0) {
            fprintf(stderr, "cannot start a thread\n");
            exit(1);
        }
    }
    for (uint32_t i = 0; i < map->process_count; i++) {
        pthread_join(processes[i].id, NULL);
        status = status ? status : processes[i].status;
    }
    return status;
}
