/* command_load_print.c - eventspace load: what was measured, printed. */
#include "viewer/cli/predict/command_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "predict/cluster/condition.h"

static const scopes_column machine_columns[] = {
    {"machine", "machine", SCOPES_TEXT},
    {"load", "load", SCOPES_REAL},
    {"running", "running or ready", SCOPES_REAL},
    {"average", "load average", SCOPES_REAL},
    {"busy", "busy", SCOPES_SHARE},
    {"processors", "processors", SCOPES_COUNT},
    {"place", "place", SCOPES_TEXT},
    {"law", "law", SCOPES_TEXT},
    {"law_error", "law's error", SCOPES_SHARE},
};

static const scopes_column link_columns[] = {
    {"from", "from", SCOPES_TEXT},
    {"to", "to", SCOPES_TEXT},
    {"latency_ns", "latency ms", SCOPES_TIME_NS},
    {"bandwidth_mbit_s", "bandwidth Mbit/s", SCOPES_REAL},
    {"residual", "residual", SCOPES_SHARE},
    {"busy", "busy", SCOPES_SHARE},
    {"rate_mbit_s", "rate Mbit/s", SCOPES_REAL},
    {"burst_bytes", "burst", SCOPES_REAL},
    {"alone_ns", "alone ms", SCOPES_TIME_NS},
    {"condition", "condition", SCOPES_TEXT},
};

static scopes_table *machines_table(const load *l)
{
    scopes_table *table = scopes_table_create(
        machine_columns, sizeof(machine_columns) / sizeof(*machine_columns));
    for (size_t i = 0; i < l->machine_count; i++) {
        const load_machine *row = &l->machines[i];
        char scheduler[32];
        scopes_table_text(table, row->name);
        scopes_table_real(table, row->load.load);
        scopes_table_real(table, row->load.running);
        scopes_table_real(table, row->load.average);
        scopes_table_real(table, row->load.busy);
        scopes_table_integer(table, row->load.processors);
        scopes_table_text(table, row->load.place[0] ? row->load.place : NULL);
        if (row->has_scheduler)
            scopes_table_copy(table,
                              predict_scheduler_text(row->scheduler, scheduler,
                                                     sizeof(scheduler)));
        else
            scopes_table_text(table, NULL);
        scopes_table_real(table, row->scheduler_error);
    }
    return table;
}

/* As `eventspace predict --link` reads it. */
static void add_condition(scopes_table *table, const char *from,
                          const load_link *row)
{
    predict_wire wire = {row->link.latency_s, row->link.bandwidth};
    predict_flow flow = {row->link.rate, round(row->link.burst),
                         row->link.alone_s};
    char link[PREDICT_LINK_TEXT_BYTES], *text;

    if (asprintf(&text, "%s-%s:%s", from, row->to,
                 predict_link_text(wire, flow, link, sizeof(link))) < 0)
        text = NULL;
    if (text)
        scopes_table_copy(table, text);
    else
        scopes_table_text(table, NULL);
    free(text);
}

static scopes_table *links_table(const load *l)
{
    scopes_table *table = scopes_table_create(
        link_columns, sizeof(link_columns) / sizeof(*link_columns));
    for (size_t i = 0; i < l->link_count; i++) {
        const load_link *row = &l->links[i];
        bool flows = row->link.rate > 0; /* apart from B */
        if (!row->measured)
            continue;
        scopes_table_text(table, l->here);
        scopes_table_text(table, row->to);
        scopes_table_integer(table, llround(row->link.latency_s * 1e9));
        scopes_table_real(table, row->link.bandwidth * 8 / 1e6);
        scopes_table_real(table, row->link.residual);
        scopes_table_real(table, row->link.busy);
        scopes_table_real(table, flows ? row->link.rate * 8 / 1e6 : NAN);
        scopes_table_real(table, flows ? round(row->link.burst) : NAN);
        scopes_table_integer(table, llround(row->link.alone_s * 1e9));
        add_condition(table, l->here, row);
    }
    return table;
}

static int print_json(const scopes_table *machines, const scopes_table *links)
{
    int err;

    fputs("{\"machines\": ", stdout);
    err = viewer_table_print(machines, VIEWER_JSON, stdout);
    fputs(",\n\"links\": ", stdout);
    if (!err)
        err = viewer_table_print(links, VIEWER_JSON, stdout);
    puts("}");
    return err;
}

static int print_tables(const load *l, const scopes_table *machines,
                        const scopes_table *links)
{
    bool both = l->a.format == VIEWER_TABLE && l->a.table == LOAD_ALL &&
                scopes_table_rows(links) > 0;
    int err;

    if (l->a.format == VIEWER_JSON)
        return print_json(machines, links);
    if (l->a.table == LOAD_LINKS)
        return viewer_table_print(links, l->a.format, stdout);
    err = viewer_table_print(machines, l->a.format, stdout);
    if (err || !both)
        return err;
    putchar('\n');
    return viewer_table_print(links, l->a.format, stdout);
}

int cli_load_print(const load *l)
{
    scopes_table *machines = machines_table(l), *links = links_table(l);
    int err = print_tables(l, machines, links);
    scopes_table_destroy(machines);
    scopes_table_destroy(links);
    return err;
}
