/* contract_internal.h - between the files of a contract. */
#ifndef CONTRACTS_CONTRACT_INTERNAL_H
#define CONTRACTS_CONTRACT_INTERNAL_H

#include "contracts/contract/contract.h"

/* Reads a text; errors call it `name`, and a rulebase is looked for beside it.
 */
int contracts__contract_parse(contracts_contract **out, const char *text,
                              const char *name);
/* With no metrics and no classes. Errors: PASTSET_ENOMEM. */
int contracts__contract_create(contracts_contract **out);
/* Classes, projections, and what is usual. */
void contracts__contract_forget(contracts_contract *c);
/* Once all metrics are there. Errors: PASTSET_ENOMEM. */
int contracts__contract_members(contracts_contract *c);

/* --- contract_examples.c --- */

#define CONTRACTS__ABSENT UINT32_MAX

/* An interval of one of the runs that are learnt from. */
typedef struct contracts__place {
    const contracts_example *example;
    size_t run, interval;
} contracts__place;

typedef struct contracts__examples {
    const contracts_example *runs; /* borrowed */
    size_t run_count;
    contracts__place *places; /* of all runs, one run after the other */
    size_t place_count;
    const char **names; /* of the processes of all runs, once each */
    uint32_t name_count;
    uint32_t *called;  /* by run and process of it: its number among names */
    size_t *first;     /* by run: where it begins there */
    uint32_t *numbers; /* by run and name: which process that is */
} contracts__examples;

/* To be ended in any case. Errors: PASTSET_ENOMEM. */
int contracts__examples_create(contracts__examples *e,
                               const contracts_example *runs, size_t count);
void contracts__examples_fini(contracts__examples *e);
/* The process of a run that has this name, by its number. CONTRACTS__ABSENT: it
 * has none. */
uint32_t contracts__examples_number(const contracts__examples *e, size_t run,
                                    uint32_t name);

#endif
