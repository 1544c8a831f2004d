/* table1_print.c - what docs/figures/make.mjs draws, as CSV: the models for
 * paper 001's table 1 and the busy and idle patterns of its figure 4. Times are
 * normalised to 100 for the dedicated ones. `--profile NAME FILE` writes one of
 * them as a profile instead. */
#include "tests/predict/table1.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pastset/status.h"

static void line(const char *figure, const char *program, const char *series,
                 double value)
{
    printf("%s,%s,%s,%.3f\n", figure, program, series, value);
}

static void print_nodes(const table1_row *row)
{
    predict_times t = table1_times(row);
    predict_bounds b = {0, 0};
    double factor = 0;
    if (!predict_node_by_phases(&factor, row->busy_phase_ms / 1e3,
                                row->idle_phase_ms / 1e3, 1,
                                PREDICT_SCHEDULER_CREDIT))
        line("5", row->name, "credit by phases", 100 * factor);
    if (!predict_node_by_totals(&factor, t.comp_s + t.comm_s, t.idle_s, 1,
                                PREDICT_SCHEDULER_CREDIT))
        line("5", row->name, "credit by totals", 100 * factor);
    if (!predict_node_by_phases(&factor, row->busy_phase_ms / 1e3,
                                row->idle_phase_ms / 1e3, 1,
                                PREDICT_SCHEDULER_FAIR))
        line("5", row->name, "fair by phases", 100 * factor);
    if (!predict_all_nodes(&b, t, 1)) {
        line("6", row->name, "lower bound", 100 * b.lower_s / row->wall_s);
        line("6", row->name, "upper bound", 100 * b.upper_s / row->wall_s);
    }
}

static void print_links(const table1_row *row)
{
    predict_bounds b = {0, 0};
    uint64_t size = (uint64_t)llround(row->kbytes * 1000);
    double added_s = 0, r = 1;
    if (!predict_link_added(&added_s, TABLE1_OLD, TABLE1_NEW, (double)size,
                            row->messages))
        line("7", row->name, "predicted", 100 * (1 + added_s / row->wall_s));
    if (!predict_comm_ratio(&r, &TABLE1_OLD, &TABLE1_NEW, &size,
                            row->messages > 0) &&
        !predict_all_links(&b, table1_times(row), r)) {
        line("8", row->name, "lower bound", 100 * b.lower_s / row->wall_s);
        line("8", row->name, "upper bound", 100 * b.upper_s / row->wall_s);
    }
}

/* 000, figure 2 and 001, figure 4: the same patterns, in milliseconds. */
static void print_patterns(void)
{
    static const struct {
        const char *name;
        double busy_ms, idle_ms;
    } cases[] = {{"a", 350, 0}, {"b", 50, 300}, {"c", 300, 50}};
    for (int i = 0; i < 3; i++) {
        double busy_s = cases[i].busy_ms / 1e3;
        double idle_s = cases[i].idle_ms / 1e3;
        double credit = predict_scheduler_extra(PREDICT_SCHEDULER_CREDIT,
                                                busy_s, idle_s, 1);
        double fair =
            predict_scheduler_extra(PREDICT_SCHEDULER_FAIR, busy_s, idle_s, 1);
        line("4", cases[i].name, "busy", cases[i].busy_ms);
        line("4", cases[i].name, "idle", cases[i].idle_ms);
        line("4", cases[i].name, "extra by credit", credit * 1e3);
        line("4", cases[i].name, "extra by fair", fair * 1e3);
    }
}

static int save(const char *name, const char *file)
{
    for (int i = 0; i < TABLE1_COUNT; i++) {
        predict_profile *profile;
        int err;
        if (strcmp(table1[i].name, name) != 0)
            continue;
        profile = table1_profile(&table1[i]);
        err = profile ? predict_profile_save(profile, file) : PASTSET_ENOMEM;
        predict_profile_destroy(profile);
        if (err)
            fprintf(stderr, "table1_print: %s\n", pastset_error());
        return err != 0;
    }
    fprintf(stderr, "table1_print: no program %s\n", name);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--profile") == 0)
        return save(argv[2], argv[3]);
    printf("figure,program,series,value\n");
    print_patterns();
    for (int i = 0; i < TABLE1_COUNT; i++) {
        print_nodes(&table1[i]);
        print_links(&table1[i]);
    }
    return 0;
}
