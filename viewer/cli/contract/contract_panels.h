/* contract_panels.h - what a page shows of a contract: when each process was
 * how far from it, and why (as figures 6 to 10 of paper 003).
 *
 * Threads:   one thread per panels.
 * Ownership: make gives, fini takes back, before the run. */
#ifndef VIEWER_CONTRACT_PANELS_H
#define VIEWER_CONTRACT_PANELS_H

#include "viewer/cli/contract/judging.h"
#include "viewer/report/report.h"

#define CLI_CONTRACT_PANELS_MAX 3

typedef struct cli_contract_panels {
    cli_judging *judging;
    const char **columns; /* of levels */
    scopes_table *why;    /* nothing is judged */
    char *titles[CLI_CONTRACT_PANELS_MAX];
    viewer_report_panel panels[CLI_CONTRACT_PANELS_MAX];
    size_t count;
} cli_contract_panels;

/* Of a contract, which the page calls `called`, and a run that is called
 * `name`; all are borrowed. To be ended in any case. Errors: those of
 * cli_judging_make. */
int cli_contract_panels_make(cli_contract_panels *out,
                             const contracts_contract *contract,
                             const char *called, eventspace_run *run,
                             const char *name);
/* Of a run that may go on, and is judged again: tells nothing, and where there
 * is nothing to judge a panel says why. */
int cli_contract_panels_make_again(cli_contract_panels *out,
                                   const contracts_contract *contract,
                                   const char *called, eventspace_run *run,
                                   const char *name);
void cli_contract_panels_fini(cli_contract_panels *p);

#endif
