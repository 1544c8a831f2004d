/* farm.h - the parts of the program `farm`, and the problem that its two
 * computations agree on: tasks in rounds, as of paper 003, where a master hands
 * them out to workers.
 *
 *   problem.c   sizes, a task; the results
 *   single.c    all tasks, one after another
 *   parallel.c  a master and workers, as threads
 *   mapping.c   which threads use which elements
 *   main.c      the program
 *
 * A round has the same tasks each time; what they compute depends on the sum of
 * the round before. Sums are modulo 2^64, so it does not matter who has done
 * which task. */
#ifndef FARM_FARM_H
#define FARM_FARM_H

#include <stdint.h>

#include "apps/common/program.h"

typedef struct farm {
    uint32_t rounds;
    uint32_t tasks; /* of a round */
    uint32_t steps; /* of a task: some 2 ns each */
    uint64_t state; /* of the first round */
} farm;

void farm_make(farm *f, const program_options *options);

/* Errors: PASTSET_EINVAL (there must be a master, a worker, and a task for each
 * of these). */
int farm_check(const farm *f, uint32_t threads);

/* Tasks `first` ... `first` + `count` - 1 of a round that begins with `state`:
 * the sum of what they give. */
uint64_t farm_tasks(const farm *f, uint64_t state, uint64_t first,
                    uint64_t count);
/* What the next round begins with. */
uint64_t farm_next(uint64_t state, uint64_t sum);

/* `state` is what there is after the last round. `handed`: how many tasks each
 * worker has had, `workers` numbers; NULL where there are none. */
int farm_report(const farm *f, uint64_t state, const uint64_t *handed,
                uint32_t workers, program_result *result);

/* --- the parts of the program --- */

int farm_mapping(const program_options *options, FILE *out);
int farm_single(const program_options *options, program_result *result);
int farm_thread(paths_thread *self, void *run); /* parallel.c */

#endif
