/* balance.h - how much of the work each process shall have so that all are busy
 * for equally long.
 *
 * A process that has a share s of the work, and is busy for a part b of its
 * threads' time - whatever it does then, or others do with its processor -
 * could do s / b; the rest it waits for others (course.h). So it gets a share
 * in proportion to that, and the sum of all stays what it is.
 *
 * Threads: one thread per balance. */
#ifndef CONTRACTS_BALANCE_H
#define CONTRACTS_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "contracts/signature/course.h"

typedef struct contracts_balance {
    uint32_t processes;
    uint32_t intervals; /* that were added since it was cleared */
    double *busy, *all; /* of each process, in seconds of its threads */
} contracts_balance;

/* Errors: PASTSET_ENOMEM. End it with free, in any case. */
int contracts_balance_make(contracts_balance *b, uint32_t processes);
void contracts_balance_free(contracts_balance *b);

/* Adds an interval of a course of these processes. */
void contracts_balance_add(contracts_balance *b, const contracts_course *course,
                           size_t interval);
void contracts_balance_clear(contracts_balance *b);

/* What the shares shall be, of what they are; those that are NAN stay as they
 * are. False, and nothing is changed: of a process it is not known what it did;
 * a share is not above 0; or the times that they are busy for differ by no more
 * than this share of the longest. */
bool contracts_balance_shares(const contracts_balance *b, double *shares,
                              double tolerance);

#endif
