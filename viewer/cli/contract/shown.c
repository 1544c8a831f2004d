/* shown.c - see shown.h. */
#include "viewer/cli/contract/shown.h"

#include <math.h>
#include <stdio.h>

#include "pastset/status.h"
#include "viewer/cli/command.h"
#include "viewer/live/top_terminal.h"

#define BAR 10

const char *cli_shown_other(const contracts_checker *checker,
                            const contracts_judgement *j)
{
    return j->other == CONTRACTS_NONE
               ? ""
               : contracts_checker_name(checker, j->other);
}

static const scopes_column json_columns[] = {
    {"process", "", SCOPES_TEXT},
    {"start_ns", "", SCOPES_TIME_NS},
    {"intrinsic_level", "", SCOPES_REAL},
    {"performance_level", "", SCOPES_REAL},
    {"intrinsic_violated", "", SCOPES_COUNT},
    {"performance_violated", "", SCOPES_COUNT},
    {"cause", "", SCOPES_TEXT},
    {"other", "", SCOPES_TEXT},
    {"link", "", SCOPES_TEXT},
};

int cli_show_json(const cli_shown *s, uint32_t process,
                  const contracts_judgement *j, int64_t start_ns)
{
    scopes_table *table = scopes_table_create(CLI_LIST(json_columns));
    char link[CONTRACTS_LINK_BYTES];
    int err;

    if (!table)
        return pastset_no_memory("for a table");
    scopes_table_text(table, contracts_checker_name(s->checker, process));
    scopes_table_integer(table, start_ns);
    for (int k = 0; k < CONTRACTS_KINDS; k++)
        scopes_table_real(table, j->levels[k].level);
    for (int k = 0; k < CONTRACTS_KINDS; k++)
        scopes_table_integer(table, j->levels[k].is_violated);
    scopes_table_text(table, contracts_cause_names[j->cause]);
    scopes_table_text(table, cli_shown_other(s->checker, j));
    contracts_link_text(link, s->contract, j->link);
    scopes_table_text(table, link);
    putchar('{');
    err = viewer_table_print_members(table, 0, stdout);
    puts("}");
    scopes_table_destroy(table);
    return err;
}

static void print_cause(const cli_shown *s, const contracts_judgement *j)
{
    char link[CONTRACTS_LINK_BYTES];

    fputs(contracts_cause_names[j->cause], stdout);
    if (j->other != CONTRACTS_NONE)
        printf(j->cause == CONTRACTS_WAITS ? " for %s" : " to %s",
               cli_shown_other(s->checker, j));
    contracts_link_text(link, s->contract, j->link);
    if (link[0])
        printf(" (%s)", link);
}

void cli_show_change(const cli_shown *s, uint32_t process, contracts_kind kind,
                     const contracts_judgement *j, int64_t start_ns)
{
    const contracts_level *level = &j->levels[kind];

    printf("%9.3f s  %s: %s %s", 1e-9 * (double)start_ns,
           contracts_checker_name(s->checker, process),
           contracts_kind_names[kind],
           level->is_violated ? "violated" : "kept again");
    if (level->is_violated) {
        printf(", %s %.4g instead of %.4g: ",
               contracts_metric_name(s->contract->metrics, level->metric),
               level->value, level->expected);
        print_cause(s, j);
    }
    putchar('\n');
}

static void print_bar(double level)
{
    int filled = isnan(level) ? 0 : (int)lround(fmin(fmax(level, 0), 1) * BAR);

    for (int i = 0; i < BAR; i++)
        putchar(i < filled ? '#' : '.');
    if (isnan(level))
        fputs("     -", stdout);
    else
        printf("  %.2f", level);
}

void cli_show_screen(const cli_shown *s, const contracts_judgement *all,
                     int64_t start_ns)
{
    unsigned rows, columns;

    viewer_terminal_size(&rows, &columns);
    printf("\033[H%s, %.3f s\033[K\n\033[K\n%-16s %-17s %-17s cause\033[K\n",
           s->run, 1e-9 * (double)start_ns, "process", "intrinsic",
           "performance");
    for (uint32_t p = 0; p < contracts_checker_rows(s->checker) && p + 5 < rows;
         p++) {
        printf("%-16.16s ", contracts_checker_name(s->checker, p));
        for (int k = 0; k < CONTRACTS_KINDS; k++) {
            print_bar(all[p].levels[k].level);
            putchar(all[p].levels[k].is_violated ? '!' : ' ');
            putchar(' ');
        }
        print_cause(s, &all[p]);
        fputs("\033[K\n", stdout);
    }
    fputs("\033[J", stdout);
    fflush(stdout);
}
