/* contract_panels.c - see contract_panels.h. */
#include "viewer/cli/contract/contract_panels.h"

#include <stdio.h>
#include <stdlib.h>

#include "pastset/status.h"

static int panel_add(cli_contract_panels *p, const char *title,
                     const char *called, const scopes_table *table)
{
    size_t number = p->count++;

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
    for (size_t i = 1; i < p->count; i++) {
        p->panels[i].chart = "matrix";
        p->panels[i].columns = p->columns;
        p->panels[i].column_count = count;
    }
    return 0;
}

static int panels_make(cli_contract_panels *p,
                       const contracts_contract *contract, const char *called,
                       eventspace_run *run, const char *name, bool again)
{
    static const struct {
        contracts_kind kind;
        const char *title;
    } levels[] = {
        {CONTRACTS_PERFORMANCE, "how far from the performance promised"},
        {CONTRACTS_INTRINSIC, "how far from what the program does"},
    };
    int err;

    *p = (cli_contract_panels){0};
    err =
        cli_judging_make(&p->judging, contract, run, name,
                         (cli_judging_tables){.levels = true, .again = again});
    if (!err)
        err = panel_add(p, "who broke it, and why", called,
                        cli_judging_violations(p->judging));
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels) && !err; i++)
        err = panel_add(p, levels[i].title, called,
                        cli_judging_levels(p->judging, levels[i].kind));
    return err ? err : columns_find(p, p->panels[1].table);
}

int cli_contract_panels_make(cli_contract_panels *out,
                             const contracts_contract *contract,
                             const char *called, eventspace_run *run,
                             const char *name)
{
    return panels_make(out, contract, called, run, name, false);
}

static int why_make(cli_contract_panels *p, const char *called)
{
    static const scopes_column column = {"why", "why", SCOPES_TEXT};

    p->why = scopes_table_create(&column, 1);
    if (!p->why)
        return pastset_no_memory("for a panel");
    scopes_table_copy(p->why, pastset_error());
    return panel_add(p, "nothing is judged", called, p->why);
}

int cli_contract_panels_make_again(cli_contract_panels *out,
                                   const contracts_contract *contract,
                                   const char *called, eventspace_run *run,
                                   const char *name)
{
    int err = panels_make(out, contract, called, run, name, true);

    return err == PASTSET_ENOENT || err == PASTSET_EINVAL
               ? why_make(out, called)
               : err;
}

void cli_contract_panels_fini(cli_contract_panels *p)
{
    for (size_t i = 0; i < p->count; i++)
        free(p->titles[i]);
    free(p->columns);
    scopes_table_destroy(p->why);
    cli_judging_destroy(p->judging);
}
