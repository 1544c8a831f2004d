/* executor_stress.c - notes of executors are whole, whenever they are read.
 *
 *     executor_stress [SECONDS]
 *
 * Four threads hand tuples around in a ring of elements and meet in a barrier,
 * so that each waits and goes on all the time; another one reads their notes
 * meanwhile. Whether what it reads has a data race is for ThreadSanitizer; that
 * no note is made of parts of two is seen from the numbers in it. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "paths/engine/executor.h"
#include "paths/engine/process.h"
#include "pastset/waiter.h"

#define THREADS 4

static const char map_text[] =
    "digraph ring { subgraph cluster_h {\n"
    "t0 [kind=thread, number=0]; t1 [kind=thread, number=1];\n"
    "t2 [kind=thread, number=2]; t3 [kind=thread, number=3];\n"
    "e0 [kind=element, type=u64]; e1 [kind=element, type=u64];\n"
    "e2 [kind=element, type=u64]; e3 [kind=element, type=u64];\n"
    "meet [kind=barrier, waiting=sleep];\n"
    "all [kind=element, type=\"bytes[8]\", policy=discard];\n"
    "t0 -> e0 [as=in]; t1 -> e1 [as=in]; t2 -> e2 [as=in]; t3 -> e3 [as=in];\n"
    "t0 -> e1 [as=out]; t1 -> e2 [as=out]; t2 -> e3 [as=out];\n"
    "t3 -> e0 [as=out]; t0 -> meet [as=meet]; t1 -> meet [as=meet];\n"
    "t2 -> meet [as=meet]; t3 -> meet [as=meet]; meet -> all; } }\n";

static paths_map *map;
static int64_t end_ns;
static _Atomic bool over;
static _Atomic uint64_t notes_read;

/* The first thread says when it is over, in the tuple that goes around. */
static int hand_around(paths_thread *self, void *argument)
{
    bool first = paths_thread_number(self) == 0;
    uint64_t tuple = 1;
    paths_path *in, *out, *meet;
    int err = paths_open(&in, self, "in");

    (void)argument;
    if (!err)
        err = paths_open(&out, self, "out");
    if (!err)
        err = paths_open(&meet, self, "meet");
    while (!err && tuple) {
        if (first) {
            tuple = pastset_now_ns() < end_ns;
            err = paths_write(out, &tuple, sizeof(tuple));
        }
        if (!err)
            err = paths_observe(in, &tuple, sizeof(tuple));
        if (!err && !first)
            err = paths_write(out, &tuple, sizeof(tuple));
        if (!err)
            err = paths_barrier(meet);
    }
    return err;
}

static void fail(uint32_t executor, const paths_executor_note *note,
                 const char *why)
{
    fprintf(stderr, "executor %u: %s: %s, since %llu, at %llu, thread %u\n",
            executor, why, paths_activity_name(note->activity),
            (unsigned long long)note->since, (unsigned long long)note->at,
            note->thread);
    exit(1);
}

static void check(uint32_t executor, const paths_executor_note *note,
                  const paths_executor_note *before)
{
    bool waits = note->activity == PATHS_WAITING;

    if (note->since > note->at || note->at < before->at)
        fail(executor, note, "its times are mixed up");
    if (executor && note->thread != executor - 1)
        fail(executor, note, "it is another thread's");
    if (waits != (note->stage < map->node_count) ||
        waits != (note->sequence > 0) || (executor == 0 && waits))
        fail(executor, note, "it waits for nothing, or is where it cannot be");
    if (waits && note->verb != PASTSET_OBSERVE && note->verb != PASTSET_WRITE)
        fail(executor, note, "it waits for a verb that nobody used");
}

static void *read_notes(void *process)
{
    paths_executor_note before[THREADS + 1] = {{.at = 0}};

    while (!atomic_load(&over)) {
        for (uint32_t i = 0; i <= THREADS; i++) {
            paths_executor_note note;
            if (paths_executor_read(paths_process_space(process), i, &note)) {
                fprintf(stderr, "executor %u: %s\n", i, pastset_error());
                exit(1);
            }
            check(i, &note, &before[i]);
            before[i] = note;
            atomic_fetch_add(&notes_read, 1);
        }
        sched_yield(); /* there may be one processor */
    }
    return NULL;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 2;
    char file[64];
    paths_process_options options = {
        .process = "h", .space_file = file, .listen_fd = -1};
    pthread_t reader;
    paths_process *process;
    int err = paths_map_parse(&map, map_text, strlen(map_text), "ring.dot");

    snprintf(file, sizeof(file), "/tmp/executor_stress.%d", (int)getpid());
    end_ns = pastset_now_ns() + (int64_t)(seconds * 1e9);
    options.map = map;
    if (!err)
        err = paths_process_start(&process, &options);
    remove(file);
    if (!err)
        err = paths_process_program(process, "*", hand_around, NULL);
    if (err || pthread_create(&reader, NULL, read_notes, process) != 0) {
        fprintf(stderr, "it does not start: %s\n", pastset_error());
        return 1;
    }
    err = paths_process_run(process);
    if (err)
        fprintf(stderr, "%s\n", pastset_error());
    atomic_store(&over, true);
    pthread_join(reader, NULL);
    printf("{\"test\": \"executor_stress\", \"notes\": %llu}\n",
           (unsigned long long)atomic_load(&notes_read));
    paths_process_stop(process);
    paths_map_destroy(map);
    return err != 0;
}
