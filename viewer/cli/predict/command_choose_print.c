/* command_choose_print.c - what eventspace choose prints. */
#include "viewer/cli/predict/command_choose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "pastset/text.h"
#include "viewer/tables/table_print.h"

#define BEFORE_MACHINES 5 /* columns */
#define WITH_HISTORIES 8  /* the same with histories */

static const scopes_column first_columns[BEFORE_MACHINES] = {
    {"rank", "rank", SCOPES_NUMBER},
    {"time_s", "time s", SCOPES_REAL},
    {"slowdown", "times dedicated", SCOPES_REAL},
    {"lower_s", "bounds: from s", SCOPES_REAL},
    {"upper_s", "to s", SCOPES_REAL},
};

static const scopes_column first_columns_with[WITH_HISTORIES] = {
    {"rank", "rank", SCOPES_NUMBER},
    {"time_s", "time s", SCOPES_REAL},
    {"range_s", "+- s", SCOPES_REAL},
    {"risk_s", "to count on s", SCOPES_REAL},
    {"slowdown", "times dedicated", SCOPES_REAL},
    {"lower_s", "bounds: from s", SCOPES_REAL},
    {"upper_s", "to s", SCOPES_REAL},
    {"cause", "least sure is", SCOPES_TEXT},
};

/* A column for each node, whose name is its head. The caller frees it. */
static scopes_column *columns_of(const chosen *c, size_t *count)
{
    size_t first = c->outlook ? WITH_HISTORIES : BEFORE_MACHINES;
    scopes_column *columns =
        calloc(first + 1 + c->profile->node_count, sizeof(*columns));

    if (!columns)
        return NULL;
    if (c->outlook)
        memcpy(columns, first_columns_with, sizeof(first_columns_with));
    else
        memcpy(columns, first_columns, sizeof(first_columns));
    if (c->a->split)
        columns[first++] = (scopes_column){"shares", "shares", SCOPES_TEXT};
    for (size_t i = 0; i < c->profile->node_count; i++)
        columns[first + i] = (scopes_column){
            c->profile->nodes[i].name, c->profile->nodes[i].name, SCOPES_TEXT};
    *count = first + c->profile->node_count;
    return columns;
}

static const char *cause_of(const chosen *c, const predict_placement *p)
{
    return p->cause == PREDICT_NONE
               ? ""
               : c->outlook->given[p->cause].history->series;
}

/* "1,1,0.5": of each thread, by its number; the largest is 1. The caller frees
 * it; NULL: no memory. */
static char *shares_text(const chosen *c, const predict_placement *p)
{
    double *factors = calloc(c->choice->nodes + 1, sizeof(*factors));
    char *text = NULL;
    size_t bytes;
    FILE *out = factors ? pastset_text_begin(&text, &bytes) : NULL;
    double most = 0;

    if (!out) {
        free(factors);
        return NULL;
    }
    predict_split(factors, c->profile, c->cluster, p->machines,
                  c->a->threads_on);
    for (uint32_t i = 0; i < c->a->thread_count; i++)
        most = fmax(most, factors[c->a->node_of[i]]);
    for (uint32_t i = 0; i < c->a->thread_count; i++)
        fprintf(out, "%s%.4g", i ? "," : "", factors[c->a->node_of[i]] / most);
    free(factors);
    return pastset_text_end(out) ? text : NULL;
}

static void add_shares(scopes_table *table, const chosen *c,
                       const predict_placement *p)
{
    char *text = shares_text(c, p);

    scopes_table_copy(table, text ? text : "");
    free(text);
}

static void add_row(scopes_table *table, const chosen *c, uint32_t rank)
{
    const predict_placement *p = &c->choice->placements[rank];
    double time_s = c->outlook ? p->sure.mean : p->time_s;
    double dedicated_s = c->choice->dedicated_s;

    scopes_table_integer(table, rank + 1);
    scopes_table_real(table, time_s);
    if (c->outlook) {
        scopes_table_real(table, p->sure.range);
        scopes_table_real(table, p->risk_s);
    }
    scopes_table_real(table, dedicated_s > 0 ? time_s / dedicated_s : NAN);
    scopes_table_real(table, p->lower_s);
    scopes_table_real(table, p->upper_s);
    if (c->outlook)
        scopes_table_copy(table, cause_of(c, p));
    if (c->a->split)
        add_shares(table, c, p);
    for (uint32_t i = 0; i < c->choice->nodes; i++)
        scopes_table_text(table, c->cluster->machines[p->machines[i]].name);
}

static const scopes_column choice_columns[] = {
    {"model", "model", SCOPES_TEXT},
    {"how", "how", SCOPES_TEXT},
    {"dedicated_s", "dedicated s", SCOPES_REAL},
    {"worst_s", "worst s", SCOPES_REAL},
    {"all", "all", SCOPES_REAL}, /* more than an integer holds, it may be */
    {"tried", "tried", SCOPES_COUNT},
    {"estimated", "estimated", SCOPES_COUNT},
};

static int print_json(const predict_choice *choice, const scopes_table *table)
{
    scopes_table *head = scopes_table_create(CLI_LIST(choice_columns));
    int err;

    scopes_table_text(head, choice->model);
    scopes_table_text(head, choice->how);
    scopes_table_real(head, choice->dedicated_s);
    scopes_table_real(head, choice->worst_s);
    scopes_table_real(head, choice->all);
    scopes_table_integer(head, (int64_t)choice->tried);
    scopes_table_integer(head, (int64_t)choice->estimated);
    putchar('{');
    err = viewer_table_print_members(head, 0, stdout);
    scopes_table_destroy(head);
    fputs(",\n\"placements\": ", stdout);
    if (!err)
        err = viewer_table_print(table, VIEWER_JSON, stdout);
    puts("}");
    return err;
}

/* The one with the least mean of those that are given. */
static uint32_t fastest(const predict_choice *choice)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < choice->count; i++)
        if (choice->placements[i].sure.mean <
            choice->placements[best].sure.mean)
            best = i;
    return best;
}

static uint32_t safest(const predict_choice *choice)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < choice->count; i++)
        if (predict_upper(choice->placements[i].sure) <
            predict_upper(choice->placements[best].sure))
            best = i;
    return best;
}

/* Which one is fastest on average, which one is safe, and why that is not the
 * same. */
static void print_why(const chosen *c)
{
    uint32_t fast = fastest(c->choice), safe = safest(c->choice);
    const predict_placement *f = &c->choice->placements[fast],
                            *s = &c->choice->placements[safe];

    if (fast == safe) {
        printf("\nFastest on average, and safe: number %u, %.4g s +- %.2g.\n",
               fast + 1, f->sure.mean, f->sure.range);
        return;
    }
    printf("\nFastest on average: number %u, %.4g s +- %.2g, up to %.4g s.\n"
           "Safe: number %u, %.4g s +- %.2g, up to %.4g s.\n",
           fast + 1, f->sure.mean, f->sure.range, predict_upper(f->sure),
           safe + 1, s->sure.mean, s->sure.range, predict_upper(s->sure));
    if (f->cause != PREDICT_NONE)
        printf("Number %u is less sure by the %s, whose range adds %.2g s.\n",
               fast + 1, cause_of(c, f), f->cause_s);
}

static int print_histories(const cli_outlook *outlook)
{
    scopes_table *table = cli_outlook_table(outlook, false, true);
    int err;

    putchar('\n');
    err = viewer_table_print(table, VIEWER_TABLE, stdout);
    scopes_table_destroy(table);
    return err;
}

static void print_split(const chosen *c)
{
    char *text = shares_text(c, &c->choice->placements[0]);

    if (text)
        printf("\nDivide the work of number 1 so: --shares=%s\n", text);
    if (predict_is_fine_grained(c->profile))
        puts(
            "(By speed only: between two waits for others the program computes "
            "for less\nthan half a slice of the scheduler. So it stands still "
            "while one of its threads\nhas no processor, and less work for "
            "that "
            "one would not help.)");
    free(text);
}

int cli_choose_print(const chosen *c)
{
    const choose_arguments *a = c->a;
    const predict_choice *choice = c->choice;
    size_t count = 0;
    scopes_column *columns = columns_of(c, &count);
    scopes_table *table;
    int err;

    if (!columns)
        return pastset_no_memory("to print");
    table = scopes_table_create(columns, count);
    for (uint32_t i = 0; i < choice->count; i++)
        add_row(table, c, i);
    if (a->format == VIEWER_JSON)
        err = print_json(choice, table);
    else
        err = viewer_table_print(table, a->format, stdout);
    if (a->format == VIEWER_TABLE && !err && c->outlook)
        print_why(c);
    if (a->format == VIEWER_TABLE && !err)
        printf("\nBy the %s: %s.\nMeasured alone %.3f s; the worst that was "
               "tried %.3f s.\n",
               choice->model, choice->how, choice->dedicated_s,
               choice->worst_s);
    if (a->format == VIEWER_TABLE && !err && a->split)
        print_split(c);
    if (a->format == VIEWER_TABLE && !err && c->outlook)
        err = print_histories(c->outlook);
    scopes_table_destroy(table);
    free(columns);
    return err;
}
