/* made_runs.h - runs of different kinds, made by hand and always the same: of 6
 * threads on 3 processes, that hand tuples around, add up and meet at a
 * barrier. */
#ifndef TESTS_SCOPES_MADE_RUNS_H
#define TESTS_SCOPES_MADE_RUNS_H

#include <stdint.h>

typedef struct made_run {
    const char *name;
    const char *trace; /* attributes of the map for trace elements */
    unsigned missing;  /* of a hundred events, so many are not there */
    int64_t apart_ns;  /* how far the counters of processes are from each
                          other */
    unsigned killed; /* one process was killed, after so many steps; 0: none */
    int running;     /* it goes on */
    int archived;    /* 1: there are archives, too; 2: archives only */
    int64_t from_ns, to_ns; /* a window; 0 and 0: none */
} made_run;

extern const made_run made_runs[];
extern const unsigned made_run_count;

/* Makes it in a directory that is there. */
void made_run_make(const char *directory, const made_run *kind);

#endif
