/* map_processes.h - the processes of a map, started by a test without a
 * launcher.
 *
 * With PROCESSES_ENCRYPT=always in the environment all that they say to each
 * other is encrypted, whatever the map says.
 *
 * Each process is forked from the test. What its threads find wrong they return
 * as an error, with `expect`; that ends the run, and `processes_end_well` shows
 * the text. A failing assertion of the test framework cannot leave a forked
 * process, so the programs of threads must not use those. */
#ifndef TESTS_SUPPORT_MAP_PROCESSES_H
#define TESTS_SUPPORT_MAP_PROCESSES_H

#include <stdatomic.h>
#include <sys/types.h>

#include "paths/engine/process.h"

#define PROCESSES_MAX 8

/* In the program of a thread. */
#define expect(holds)                                                          \
    do {                                                                       \
        if (!(holds))                                                          \
            return pastset_fail(PASTSET_EAPP, "%s:%d: %s does not hold",       \
                                __FILE__, __LINE__, #holds);                   \
    } while (0)
#define expect_status(call, want)                                              \
    do {                                                                       \
        int got_ = (call);                                                     \
        if (got_ != (want))                                                    \
            return pastset_fail_while(PASTSET_EAPP, "%s:%d: %s gave %s",       \
                                      __FILE__, __LINE__, #call,               \
                                      pastset_status_name(got_));              \
    } while (0)
/* The last error's text has this in it. */
#define expect_error(part)                                                     \
    do {                                                                       \
        if (!strstr(pastset_error(), (part)))                                  \
            return pastset_fail_while(PASTSET_EAPP, "%s:%d: no \"%s\" in",     \
                                      __FILE__, __LINE__, (part));             \
    } while (0)

typedef struct process_program {
    const char *pattern;
    paths_main *program;
    void *argument;
} process_program;

typedef struct process_result {
    int status; /* of the run */
    char text[1100];
} process_result;

typedef struct processes {
    const char *map_text;
    const process_program *programs;       /* ended by one without pattern */
    const paths_wrapper_context *contexts; /* NULL: none */
    uint32_t held_max;                     /* 0: as usual */
    uint32_t connect_timeout_ms;           /* 0: as usual */
    unsigned absent;      /* bits: processes that are not started */
    unsigned intercepted; /* bits: processes at whose address of the map
                             the test listens, and not they */
    int relay_port;       /* 0, or where whoever wants to the last process
                             is to connect */
    /* What follows is filled in. */
    paths_map *map; /* with addresses */
    uint32_t count;
    uint8_t key[PATHS_KEY_BYTES];
    int ports[PROCESSES_MAX];   /* where they listen */
    int doors[PROCESSES_MAX];   /* of those that are intercepted: our sockets */
    int sockets[PROCESSES_MAX]; /* of those that are absent: theirs, else -1 */
    pid_t pids[PROCESSES_MAX];
    int exit_codes[PROCESSES_MAX]; /* after processes_wait; 0, 1 or minus a
                                      signal */
    process_result *results;       /* shared with the processes */
} processes;

/* What this process is in the map, for the programs of threads. */
extern paths_process *processes_here;

void processes_start(processes *h);
/* One that was absent comes. */
void processes_start_late(processes *h, uint32_t process);
/* Until all have ended; kills them, and fails, after timeout(seconds). */
void processes_wait(processes *h, unsigned seconds);
/* Waits, and fails unless each of them ended well. */
void processes_end_well(processes *h, unsigned seconds);
void processes_free(processes *h);

/* Memory of zeros that processes share with the test; start them after it. */
void *shared_memory(size_t bytes);

#endif
