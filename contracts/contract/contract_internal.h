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

#endif
