/* stand_in_stress.c - runs of three processes of which one never comes, since
 * it has ended: somebody stands in for it and says so.
 *
 *     stand_in_stress [RUNS]
 *
 * The processes and who stands in are threads of this program, so that
 * ThreadSanitizer sees them. It does not see libuv close its files, so none is
 * closed before all are open, and none opened after. Each of the other
 * processes has to fail, naming that one, while it joins or when its thread
 * needs it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "paths/engine/process_internal.h"
#include "tests/support/inside.h"

#define PROCESSES 3

static const uint8_t key[PATHS_KEY_BYTES] = {4, 5, 6};
static pthread_barrier_t together;

typedef struct one {
    const paths_map *map;
    const char *name;
    int listen_fd;
    bool absent, died;
    pthread_t id;
    int status;
    char text[1200];
} one;

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "stand_in_stress: %s: %s\n", what, pastset_error());
    exit(1);
}

static paths_map *map_make(void)
{
    static const char text[] =
        "digraph ring {"
        "subgraph cluster_h0 { t0 [kind=thread, number=0]; p0 [kind=proxy];"
        " e0 [kind=element, type=u64]; }"
        "subgraph cluster_h1 { t1 [kind=thread, number=1]; p1 [kind=proxy];"
        " e1 [kind=element, type=u64]; }"
        "subgraph cluster_h2 { t2 [kind=thread, number=2]; p2 [kind=proxy];"
        " e2 [kind=element, type=u64]; }"
        "t0 -> p0 [as=out, use=write]; p0 -> e1; t0 -> e0 [as=in, use=read];"
        "t1 -> p1 [as=out, use=write]; p1 -> e2; t1 -> e1 [as=in, use=read];"
        "t2 -> p2 [as=out, use=write]; p2 -> e0; t2 -> e2 [as=in, use=read];"
        "}";
    paths_map *map;

    must(paths_map_parse(&map, text, strlen(text), "ring.dot") == 0, "map");
    return map;
}

static int go_round(paths_thread *self, void *argument)
{
    paths_path *out, *in;
    uint64_t value = 0;
    int err = paths_open(&out, self, "out");

    (void)argument;
    if (!err)
        err = paths_open(&in, self, "in");
    while (!err) {
        err = paths_write(out, &value, sizeof(value));
        if (!err)
            err = paths_observe(in, &value, sizeof(value));
    }
    return err;
}

static void *be_there(void *argument)
{
    one *self = argument;
    paths_process_options options = {.map = self->map,
                                     .process = self->name,
                                     .listen_fd = self->listen_fd,
                                     .key = key};
    paths_process *process;

    must(paths_process_start(&process, &options) == 0, "a process");
    must(paths_process_program(process, "*", go_round, NULL) == 0,
         "its program");
    /* However slow the machine is: nobody stands in for a coordinator that has
     * left, as `eventspace run` would. */
    atomic_store(&process->linger_ms, 60000);
    pthread_barrier_wait(&together);
    self->status = paths_process_run(process);
    snprintf(self->text, sizeof(self->text), "%s", pastset_error());
    pthread_barrier_wait(&together);
    paths_process_stop(process);
    return NULL;
}

static void *stand_in(void *argument)
{
    one *self = argument;
    char how[60];
    paths_stand_in_options options = {.map = self->map,
                                      .process = self->name,
                                      .listen_fd = self->listen_fd,
                                      .key = key,
                                      .died = self->died,
                                      .how = how};
    paths_stand_in *s;

    snprintf(how, sizeof(how), "process %s ended too early", self->name);
    must(paths_stand_in_create(&s, &options) == 0, "a stand-in");
    pthread_barrier_wait(&together);
    paths_stand_in_run(s);
    pthread_barrier_wait(&together);
    paths_stand_in_destroy(s);
    close(self->listen_fd);
    return NULL;
}

static void run(int absent, bool died)
{
    paths_map *map = map_make();
    one all[PROCESSES];
    char how[60];

    for (int i = 0; i < PROCESSES; i++)
        all[i] = (one){.map = map,
                       .name = map->processes[i].name,
                       .listen_fd = inside_listen(&map->processes[i]),
                       .absent = i == absent,
                       .died = died};
    for (int i = 0; i < PROCESSES; i++)
        must(pthread_create(&all[i].id, NULL,
                            all[i].absent ? stand_in : be_there, &all[i]) == 0,
             "a thread");
    snprintf(how, sizeof(how), "process h%d ended too early", absent);
    for (int i = 0; i < PROCESSES; i++) {
        pthread_join(all[i].id, NULL);
        if (i == absent || (all[i].status && strstr(all[i].text, how)))
            continue;
        fprintf(stderr, "process %s: status %d, \"%s\", which lacks \"%s\"\n",
                all[i].name, all[i].status, all[i].text, how);
        exit(1);
    }
    paths_map_destroy(map);
}

int main(int argc, char **argv)
{
    int runs = argc == 2 ? atoi(argv[1]) : 24;

    pthread_barrier_init(&together, NULL, PROCESSES);
    for (int i = 0; i < runs; i++)
        run(i % PROCESSES, i / PROCESSES % 2);
    printf("%d runs\n", runs);
    return 0;
}
