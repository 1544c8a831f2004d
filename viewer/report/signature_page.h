/* signature_page.h - the page of a signature: the way of each process through
 * the space of its metrics, and the classes of a contract (paper 003, figures 1
 * to 3 and 5).
 *
 * Threads:   any.
 * Ownership: all is borrowed. */
#ifndef VIEWER_SIGNATURE_PAGE_H
#define VIEWER_SIGNATURE_PAGE_H

#include <stdio.h>

#include "contracts/contract/contract.h"

typedef struct viewer_signature_page {
    const char *run;
    const char *called; /* the contract; NULL: its classes are of this run */
    const contracts_contract *contract;
    const contracts_signature *signature; /* of the contract's metrics */
    const char *const *names;             /* of processes */
} viewer_signature_page;

/* Errors: PASTSET_EIO, PASTSET_ENOMEM. */
int viewer_signature_page_print(const viewer_signature_page *page, FILE *file);

#endif
