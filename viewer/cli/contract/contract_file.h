/* contract_file.h - a contract that is written by a command.
 *
 * Threads: any. */
#ifndef VIEWER_CONTRACT_FILE_H
#define VIEWER_CONTRACT_FILE_H

#include "contracts/contract/contract.h"

/* The files that a contract names are looked for beside it: makes their names
 * such that they are found from the file `to` (NULL: from the working
 * directory). Errors: PASTSET_EINVAL (one cannot be named), PASTSET_EIO,
 * PASTSET_ENOMEM. */
int cli_contract_files_fit(contracts_contract *c, const char *to);
/* To this file, or (NULL or "-") to standard output. Errors: PASTSET_EIO,
 * PASTSET_ENOMEM. */
int cli_contract_write(const contracts_contract *c, const char *file);

#endif
