/* single.c - all tasks, one after another. */
#include "apps/farm/farm.h"

int farm_single(const program_options *options, program_result *result)
{
    uint64_t state;
    farm f;

    farm_make(&f, options);
    state = f.state;
    for (uint32_t round = 0; round < f.rounds; round++) {
        uint64_t sum = 0;
        for (uint32_t task = 0; task < f.tasks; task++) {
            uint64_t x = program_mix(state ^ program_mix(task));
            uint32_t left = f.steps;
            while (left-- > 0)
                x = program_mix(x);
            sum += x;
        }
        state = farm_next(state, sum);
    }
    return farm_report(&f, state, NULL, 0, result);
}
