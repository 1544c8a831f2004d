/* single.c - all rounds one after another, each sum by adding. */
#include "apps/gsum/gsum.h"

int gsum_single(const program_options *o, program_result *r)
{
    const gsum_options *own = o->own;
    uint32_t contributors, rounds = gsum_rounds(o);
    uint64_t checksum = 0, number = 0;
    int err = gsum_contributors(&contributors, o);

    if (err)
        return err;
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint64_t k = 0; k < own->doubles; k++) {
            double weight = (double)gsum_weight(o->seed, round, k), sum = 0;
            for (uint32_t i = 0; i < contributors; i++)
                sum += (i + 1) * weight;
            checksum = gsum_checksum(checksum, number++, sum);
        }
    }
    return gsum_report(o, checksum, r);
}
