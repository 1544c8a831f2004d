/* balancing.c - see balancing.h. */
#include "viewer/cli/contract/balancing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "pastset/waiter.h"
#include "viewer/cli/contract/measured_run.h"
#include "viewer/cli/tunable_check.h"

#define RECENT 4 /* intervals: what was before says nothing of now */

/* The number of each process, by its number in the map. */
typedef struct held {
    const eventspace_run_process *process; /* NULL: it has none any more */
    eventspace_tunable_seen seen;
} held;

static void held_find(held *h, const eventspace_run *run, const char *name,
                      const char *tunable)
{
    const eventspace_run_process *p = cli_measured_process(run, name);
    bool is_here = p && p->space && p->meta.state == EVENTSPACE_RUNNING;
    size_t elements = is_here ? pastset_space_count(p->space) : 0;

    *h = (held){NULL, {0}};
    for (size_t i = 0; i < elements && !h->process; i++)
        if (eventspace_tunable_at(&h->seen, p->space, i) &&
            strcmp(h->seen.name, tunable) == 0)
            h->process = p;
}

static double within(double value, const eventspace_tunable_bounds *bounds)
{
    return fmax(fmin(value, bounds->most), bounds->least);
}

/* All of them, or none. */
static int held_check(const held *all, const double *shares, uint32_t count)
{
    int err = 0;

    for (uint32_t i = 0; i < count && !err; i++)
        if (all[i].process)
            err = cli_tunable_check(all[i].process, &all[i].seen, shares[i]);
    return err;
}

static int held_tell(const held *all, const double *shares, uint32_t count)
{
    int err = held_check(all, shares, count);

    for (uint32_t i = 0; i < count && !err; i++)
        if (all[i].process)
            err = pastset_element_tell(all[i].seen.element,
                                       eventspace_tunable_bits(shares[i]));
    return err;
}

static int text_make(char **told, const held *all, const double *shares,
                     uint32_t count)
{
    size_t bytes;
    FILE *out = open_memstream(told, &bytes);
    const char *before = "";

    if (!out)
        return pastset_no_memory("for what was changed");
    for (uint32_t i = 0; i < count; i++) {
        if (!all[i].process)
            continue;
        fprintf(out, "%s%s %.3g", before, all[i].process->name, shares[i]);
        before = ", ";
    }
    return fclose(out) == 0 ? 0 : pastset_no_memory("for what was changed");
}

static void complain(cli_balancing *b, const char *text)
{
    if (strncmp(b->complaint, text, sizeof(b->complaint) - 1) == 0)
        return;
    fprintf(stderr, "eventspace: --balance=%s: %s\n", b->tunable, text);
    snprintf(b->complaint, sizeof(b->complaint), "%s", text);
}

static int change(cli_balancing *b, char **told, held *all, double *shares,
                  double tolerance)
{
    uint32_t count = b->balance.processes, known = 0;

    for (uint32_t i = 0; i < count; i++) {
        shares[i] = all[i].process ? all[i].seen.value : NAN;
        known += all[i].process != NULL;
    }
    if (known == 0)
        complain(b, "no process that runs here has a tunable of this name "
                    "(yet)");
    if (!contracts_balance_shares(&b->balance, shares, tolerance))
        return 0;
    for (uint32_t i = 0; i < count; i++)
        if (all[i].process)
            shares[i] = within(shares[i], &all[i].seen.bounds);
    if (held_tell(all, shares, count)) {
        complain(b, pastset_error());
        return 0;
    }
    return text_make(told, all, shares, count);
}

static int balance(cli_balancing *b, char **told, eventspace_run *run,
                   const cli_measured *m, double tolerance)
{
    held *all = calloc(m->processes + (size_t)1, sizeof(*all));
    double *shares = calloc(m->processes + (size_t)1, sizeof(*shares));
    int err = all && shares ? 0 : pastset_no_memory("for shares");

    for (uint32_t i = 0; i < m->processes && !err; i++)
        held_find(&all[i], run, m->names[i], b->tunable);
    if (!err)
        err = change(b, told, all, shares, tolerance);
    free(all);
    free(shares);
    return err;
}

/* For so many processes; more may have become known. */
static int fit(cli_balancing *b, uint32_t processes)
{
    int err = 0;

    if (!b->is_made || b->balance.processes != processes) {
        contracts_balance_free(&b->balance);
        err = contracts_balance_make(&b->balance, processes);
        b->is_made = true;
    }
    return err;
}

int cli_balancing_take(cli_balancing *b, char **told, eventspace_run *run,
                       const cli_measured *m, size_t interval,
                       const contracts_contract *contract, bool is_violated,
                       int64_t looked_ns)
{
    const contracts_course *c = m->course;
    int64_t start_ns = c->from_ns + (int64_t)interval * c->interval_ns;
    int err = fit(b, m->processes);

    *told = NULL;
    if (err || start_ns < b->from_ns)
        return err;
    if (!is_violated || c->intervals - interval > RECENT) {
        contracts_balance_clear(&b->balance);
        return 0;
    }
    contracts_balance_add(&b->balance, c, interval);
    if (b->balance.intervals < contract->violated)
        return 0;
    err = balance(b, told, run, m, contract->tolerance);
    contracts_balance_clear(&b->balance);
    if (*told) /* the interval that it is now, and one to take it in */
        b->from_ns = c->from_ns + ((int64_t)c->intervals + 1) * c->interval_ns +
                     (int64_t)pastset_now_ns() - looked_ns;
    return err;
}

void cli_balancing_end(cli_balancing *b)
{
    contracts_balance_free(&b->balance);
}
