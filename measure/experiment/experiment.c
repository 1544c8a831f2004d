/* experiment.c - the course of an experiment: profile, predictions, and then
 * rounds of runs. */
#include "measure/experiment/experiment.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure/experiment/experiment_internal.h"
#include "measure/load/others.h"
#include "pastset/status.h"

/* --- what was measured --- */

static int by_time(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int summarise(measure_case *c)
{
    double *sorted;
    if (!c->runs)
        return 0;
    sorted = malloc(c->runs * sizeof(*sorted));
    if (!sorted)
        return pastset_no_memory("for the medians");
    memcpy(sorted, c->times_s, c->runs * sizeof(*sorted));
    qsort(sorted, c->runs, sizeof(*sorted), by_time);
    c->min_s = sorted[0];
    c->max_s = sorted[c->runs - 1];
    c->median_s = (sorted[(c->runs - 1) / 2] + sorted[c->runs / 2]) / 2;
    free(sorted);
    return 0;
}

/* --- runs --- */

static int run_once(experiment_setup *s, size_t number, uint32_t round)
{
    static const experiment_conditions none;
    measure_case *c = &s->result->cases[number];
    const experiment_conditions *conditions =
        number ? &s->conditions[number - 1] : &none;
    experiment_applied applied = {0};
    char map[EXPERIMENT_PATH] = "", run[EXPERIMENT_PATH];
    char **argv = NULL;
    measure_others others;
    double took = 0, share;
    int err = 0;
    measure_others_begin(&others);
    snprintf(run, sizeof(run), "%s/run", s->folder);
    if (s->options->map)
        err = measure__experiment_map_write(s, "run", conditions, false, map);
    if (err)
        goto done;
    argv = measure__experiment_arguments(s, map, run);
    if (!argv) {
        err = pastset_no_memory("for the experiment");
        goto done;
    }
    err = measure__experiment_apply(&applied, s, conditions);
    if (err)
        goto done;
    err = measure__experiment_time(&took, s, argv);
done:
    measure__experiment_undo(&applied, s, conditions);
    free(argv);
    /* Competitors are children of ours, and have ended by now. */
    share = measure_others_end(&others);
    if (err)
        return pastset_fail_while(err, "\"%s\", run %u", c->text, round + 1);
    c->others[c->runs] = share;
    c->times_s[c->runs++] = took;
    return 0;
}

/* xorshift64*: any seed but 0. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static void shuffle(size_t *order, size_t count, uint64_t *state)
{
    for (size_t i = count; i > 1; i--) {
        size_t with = (size_t)(next(state) % i);
        size_t other = order[i - 1];
        order[i - 1] = order[with];
        order[with] = other;
    }
}

static int run_rounds(experiment_setup *s)
{
    measure_experiment *e = s->result;
    uint32_t runs = s->options->runs ? s->options->runs : 5;
    uint32_t all = runs * (uint32_t)e->case_count, done = 0;
    uint64_t state = s->options->seed ? s->options->seed : 1;
    size_t *order = calloc(e->case_count, sizeof(*order));
    int err = 0;
    if (!order)
        return pastset_no_memory("for the experiment");
    for (size_t i = 0; i < e->case_count; i++)
        order[i] = i;
    for (uint32_t round = 0; round < runs && !err; round++) {
        for (size_t i = 0; i < e->case_count && !err; i++) {
            measure__experiment_tell(s, e->cases[order[i]].text, done++, all);
            err = run_once(s, order[i], round);
        }
        shuffle(order, e->case_count, &state);
    }
    free(order);
    return err;
}

/* --- all of it --- */

static int go(experiment_setup *s)
{
    int err = measure__experiment_setup_init(s);
    if (err)
        return err;
    err = measure__experiment_make_quiet(s);
    if (err)
        return err;
    err = measure__experiment_profile(s);
    if (err)
        return err;
    err = measure__experiment_wires_measure(s);
    if (err)
        return err;
    err = measure__experiment_make_quiet(s);
    if (err)
        return err;
    err = measure__experiment_links_set(s);
    if (err)
        return err;
    err = measure__experiment_predict(s);
    if (err)
        return err;
    return run_rounds(s);
}

int measure_experiment_run(measure_experiment **out,
                           const measure_experiment_options *options)
{
    experiment_setup *s = calloc(1, sizeof(*s));
    measure_experiment *e = calloc(1, sizeof(*e));
    char text[1024];
    int err;
    *out = NULL;
    if (!s || !e) {
        free(s);
        free(e);
        return pastset_no_memory("for the experiment");
    }
    s->options = options;
    s->result = e;
    err = go(s);
    /* Whatever it was that a signal has ended. */
    if (err && measure__experiment_stopped(s))
        err = pastset_fail(PASTSET_ECANCELED, "interrupted");
    /* What failed first is to be told. */
    snprintf(text, sizeof(text), "%s", pastset_error());
    measure__experiment_setup_fini(s);
    free(s);
    for (size_t i = 0; i < e->case_count; i++)
        if (summarise(&e->cases[i]) != 0 && !err)
            err = PASTSET_ENOMEM;
    if (err)
        pastset_fail(err, "%s", text);
    *out = e;
    if (err && !(e->case_count && (e->profile || e->cases[0].runs))) {
        measure_experiment_destroy(e);
        *out = NULL;
    }
    return err;
}

void measure_experiment_destroy(measure_experiment *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->case_count; i++) {
        free(e->cases[i].text);
        free(e->cases[i].times_s);
        free(e->cases[i].others);
    }
    free(e->cases);
    free(e->wires);
    predict_profile_destroy(e->profile);
    measure_profile_notes_clear(&e->notes);
    free(e);
}
