/* kept.h - what a thread has after a step, kept so that it can go on from there
 * when its run is started again (paths_commit).
 *
 * It is written to an element of the thread's own, in pieces, and read back
 * from there. The element has room for what the thread has after three steps:
 * so no thread may commit a step before all others have committed the last but
 * one.
 *
 * Threads:   a `kept` belongs to one thread.
 * Functions return 0 or a negative code with its text. */
#ifndef COMMON_KEPT_H
#define COMMON_KEPT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "paths/paths.h"

typedef struct kept {
    paths_thread *self;
    paths_path *to, *from;
    size_t bytes; /* that the thread has after a step */
} kept;

/* Prints into an application mapping that the run is started again when a
 * process dies. */
void kept_mapping_begin(FILE *out);
/* Prints the element of thread t<`thread`>, which has `bytes` after a step. */
void kept_mapping(FILE *out, uint32_t thread, size_t bytes);

/* Errors: those of paths_open; PASTSET_ETYPE (the map has no room for so many
 * bytes). */
int kept_open(kept *k, paths_thread *self, size_t bytes);

/* Keeps what the thread has after this step, and commits it. */
int kept_save(const kept *k, uint64_t step, const void *state);

/* What it had after the step from which it goes on; 0: it begins, and `state`
 * stays as it is. Errors: those of paths_call; PASTSET_EAPP (it is not of so
 * many bytes). */
int kept_load(const kept *k, uint64_t *step, void *state);

#endif
