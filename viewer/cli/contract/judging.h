/* judging.h - a run held against a contract, interval by interval, for
 * commands: as tables.
 *
 * Threads:   one thread per judging.
 * Ownership: make gives, destroy takes back, before the run; contract and name
 *            are borrowed. */
#ifndef VIEWER_JUDGING_H
#define VIEWER_JUDGING_H

#include "contracts/contract/contract.h"
#include "eventspace/run/run.h"
#include "scopes/tables/table.h"

typedef struct cli_judging cli_judging;

#define CLI_LEVELS_MAX 1000 /* rows: as many as a page shows of a panel */

/* What else is to be made than violations. */
typedef struct cli_judging_tables {
    bool detail; /* a row for each process and interval */
    bool levels; /* a row for each interval, with all processes */
    bool again;  /* nothing is told, as for a run that is judged again */
} cli_judging_tables;

/* Tells what is wrong with the run, which is called `name`, and who is not
 * judged. Errors: those of snapshots and courses; PASTSET_ENOENT (it has no
 * events); PASTSET_EINVAL (nothing of what the contract is about is known). */
int cli_judging_make(cli_judging **out, const contracts_contract *contract,
                     eventspace_run *run, const char *name,
                     cli_judging_tables tables);
/* NULL is allowed. */
void cli_judging_destroy(cli_judging *j);

/* In how many intervals of processes something was violated. */
size_t cli_judging_violated(const cli_judging *j);
/* A row for each time that a process violated a contract: when, by how much,
 * and why. */
const scopes_table *cli_judging_violations(const cli_judging *j);
/* NULL without `detail`. */
const scopes_table *cli_judging_detail(const cli_judging *j);
/* The time, and then the level of each process (p0, p1 ...) and of all; NULL
 * without `levels`. Where there are more intervals than rows may be, a row
 * stands for some, with the highest of their levels. */
const scopes_table *cli_judging_levels(const cli_judging *j,
                                       contracts_kind kind);

#endif
