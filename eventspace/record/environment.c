/* environment.c - see environment.h. */
#include "eventspace/record/environment.h"

#include <stdio.h>

void eventspace_rank_name(char out[32], uint32_t rank, uint32_t ranks)
{
    int digits = snprintf(NULL, 0, "%u", ranks ? ranks - 1 : 0);

    snprintf(out, 32, "rank_%0*u", digits, rank);
}
