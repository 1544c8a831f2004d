/* balance.c - see balance.h. */
#include "contracts/check/balance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

/* Who is hardly ever busy might do any number of times as much: not more than
 * that at once. */
#define BUSY_LEAST 0.1

int contracts_balance_make(contracts_balance *b, uint32_t processes)
{
    *b = (contracts_balance){
        .processes = processes,
        .busy = calloc(processes + (size_t)1, sizeof(*b->busy)),
        .all = calloc(processes + (size_t)1, sizeof(*b->all))};
    return b->busy && b->all
               ? 0
               : pastset_no_memory("for what processes have done");
}

void contracts_balance_free(contracts_balance *b)
{
    free(b->busy);
    free(b->all);
}

void contracts_balance_add(contracts_balance *b, const contracts_course *course,
                           size_t interval)
{
    for (uint32_t p = 0; p < b->processes; p++) {
        const double *q = contracts_course_at(course, p, interval);
        double all = q[CONTRACTS_SECONDS] * q[CONTRACTS_THREADS];
        double busy = all - q[CONTRACTS_WAITING];
        if (isnan(busy))
            continue;
        b->all[p] += all;
        b->busy[p] += busy;
    }
    b->intervals++;
}

void contracts_balance_clear(contracts_balance *b)
{
    memset(b->busy, 0, b->processes * sizeof(*b->busy));
    memset(b->all, 0, b->processes * sizeof(*b->all));
    b->intervals = 0;
}

static double busy_of(const contracts_balance *b, uint32_t process)
{
    return fmax(b->busy[process] / b->all[process], BUSY_LEAST);
}

/* False: it is not known, or they hardly differ. */
static bool is_uneven(const contracts_balance *b, const double *shares,
                      double tolerance)
{
    double least = INFINITY, most = 0;

    for (uint32_t p = 0; p < b->processes; p++) {
        if (isnan(shares[p]))
            continue;
        if (!(b->all[p] > 0) || !(shares[p] > 0) || isinf(shares[p]))
            return false;
        least = fmin(least, busy_of(b, p));
        most = fmax(most, busy_of(b, p));
    }
    return most - least > tolerance * most;
}

bool contracts_balance_shares(const contracts_balance *b, double *shares,
                              double tolerance)
{
    double before = 0, after = 0;

    if (!is_uneven(b, shares, tolerance))
        return false;
    for (uint32_t p = 0; p < b->processes; p++) {
        if (isnan(shares[p]))
            continue;
        before += shares[p];
        shares[p] /= busy_of(b, p);
        after += shares[p];
    }
    for (uint32_t p = 0; p < b->processes; p++)
        shares[p] *= before / after;
    return true;
}
