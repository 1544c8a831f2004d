/* contract_panels.c - see contract_panels.h. */
#include "viewer/cli/contract/contract_panels.h"

#include <stdio.h>
#include <stdlib.h>

#include "pastset/status.h"

static int panel_make(cli_contract_panels *p, size_t number, const char *title,
                      const char *called, const scopes_table *table)
{
    if (asprintf(&p->titles[number], "%s: %s", called, title) < 0) {
        p->titles[number] = NULL;
        return pastset_no_memory("for a title");
    }
    p->panels[number] = (viewer_report_panel){
        .title = p->titles[number], .table = table, .chart = "none"};
    return 0;
}

/* The time, and all processes. */
static int columns_find(cli_contract_panels *p, const scopes_table *levels)
{
    size_t count = scopes_table_columns(levels);

    p->columns = calloc(count, sizeof(*p->columns));
    if (!p->columns)
        return pastset_no_memory("for a picture");
    for (size_t i = 0; i < count; i++)
        p->columns[i] = scopes_table_column(levels, i)->key;
    for (size_t i = 1; i < CLI_CONTRACT_PANELS; i++) {
        p->panels[i].chart = "matrix";
        p->panels[i].columns = p->columns;
        p->panels[i].column_count = count;
    }
    return 0;
}

int cli_contract_panels_make(cli_contract_panels *out,
                             const contracts_contract *contract,
                             const char *called, eventspace_run *run,
                             const char *name)
{
    static const struct {
        contracts_kind kind;
        const char *title;
    } levels[] = {
        {CONTRACTS_PERFORMANCE, "how far from the performance promised"},
        {CONTRACTS_INTRINSIC, "how far from what the program does"},
    };
    cli_contract_panels *p = out;
    int err;

    *p = (cli_contract_panels){0};
    err = cli_judging_make(&p->judging, contract, run, name,
                           (cli_judging_tables){.levels = true});
    if (!err)
        err = panel_make(p, 0, "who broke it, and why", called,
                         cli_judging_violations(p->judging));
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels) && !err; i++)
        err = panel_make(p, i + 1, levels[i].title, called,
                         cli_judging_levels(p->judging, levels[i].kind));
    return err ? err : columns_find(p, p->panels[1].table);
}

void cli_contract_panels_fini(cli_contract_panels *p)
{
    for (size_t i = 0; i < CLI_CONTRACT_PANELS; i++)
        free(p->titles[i]);
    free(p->columns);
    cli_judging_destroy(p->judging);
}
