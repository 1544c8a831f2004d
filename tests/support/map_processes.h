/* hosts.h - the hosts of a map as processes of a test, without a launcher.
 *
 * Each host is forked from the test. What its threads find wrong they return
 * as an error, with `expect`; that ends the run, and `hosts_end_well` shows
 * the text. A failing assertion of the test framework cannot leave a forked
 * process, so the programs of threads must not use those. */
#ifndef TESTS_SUPPORT_HOSTS_H
#define TESTS_SUPPORT_HOSTS_H

#include <stdatomic.h>
#include <sys/types.h>

#include "paths/engine/host.h"

#define HOSTS_MAX 8

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

typedef struct host_program {
    const char *pattern;
    paths_main *program;
    void *argument;
} host_program;

typedef struct host_result {
    int status; /* of the run */
    char text[1100];
} host_result;

typedef struct hosts {
    const char *map_text;
    const host_program *programs;          /* ended by one without pattern */
    const paths_wrapper_context *contexts; /* NULL: none */
    uint32_t held_max;                     /* 0: as usual */
    uint32_t connect_timeout_ms;           /* 0: as usual */
    unsigned absent;      /* bits: hosts that are not started */
    unsigned intercepted; /* bits: hosts at whose address of the map
                             the test listens, and not they */
    int relay_port;       /* 0, or where whoever wants to the last host
                             is to connect */
    /* What follows is filled in. */
    paths_map *map; /* with addresses */
    uint32_t count;
    uint8_t key[PATHS_KEY_BYTES];
    int ports[HOSTS_MAX];   /* where they listen */
    int doors[HOSTS_MAX];   /* of those that are intercepted: our sockets */
    int sockets[HOSTS_MAX]; /* of those that are absent: theirs, else -1 */
    pid_t pids[HOSTS_MAX];
    int exit_codes[HOSTS_MAX]; /* after hosts_wait; 0, 1 or minus a signal */
    host_result *results;      /* shared with the hosts */
} hosts;

/* The host of this process, for the programs of threads. */
extern paths_host *hosts_here;

void hosts_start(hosts *h);
/* One that was absent comes. */
void hosts_start_late(hosts *h, uint32_t host);
/* Until all have ended; kills them, and fails, after timeout(seconds). */
void hosts_wait(hosts *h, unsigned seconds);
/* Waits, and fails unless each of them ended well. */
void hosts_end_well(hosts *h, unsigned seconds);
void hosts_free(hosts *h);

/* Memory of zeros that hosts share with the test; start them after it. */
void *shared_memory(size_t bytes);

#endif
