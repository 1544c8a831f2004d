/* whatif.c - see whatif.h. */
#include "scopes/whatif/whatif_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"
#include "scopes/memory/memory_internal.h"

#define FACTOR_MAX 1e6 /* times of runs have to fit into 64 bits */

struct scopes_whatif {
    scopes__waiting *waiting;
    scopes__rerun *rerun;
};

static const char *const words[] = {
    [SCOPES_CHANGE_COMPUTING] = "compute",
    [SCOPES_CHANGE_RUNNABLE] = "runnable",
    [SCOPES_CHANGE_SLEEPING] = "sleep",
    [SCOPES_CHANGE_CALLS] = "calls",
    [SCOPES_CHANGE_HOP] = "time",
    [SCOPES_CHANGE_ROOM] = "room",
    [SCOPES_CHANGE_BALANCE] = "balance",
};

const char *scopes_change_word(scopes_change_kind kind)
{
    return words[kind];
}

int scopes_whatif_create(scopes_whatif **out,
                         const scopes_view_input *view_input)
{
    scopes__waiting_input input = {view_input->topology,
                                   view_input->event_table, view_input->clocks,
                                   view_input->scheduling, view_input->run};
    scopes_whatif *whatif = calloc(1, sizeof(*whatif));
    int err;

    *out = NULL;
    if (!whatif)
        return scopes__no_room("to replay the run");
    err = scopes__waiting_create(&whatif->waiting, &input);
    if (!err && whatif->waiting->count == 0)
        err = pastset_fail(PASTSET_ENOENT,
                           "no operations were recorded that can be replayed");
    if (!err)
        err = scopes__rerun_create(&whatif->rerun, whatif->waiting);
    if (err)
        scopes_whatif_destroy(whatif);
    else
        *out = whatif;
    return err;
}

void scopes_whatif_destroy(scopes_whatif *whatif)
{
    if (!whatif)
        return;
    scopes__rerun_destroy(whatif->rerun);
    scopes__waiting_destroy(whatif->waiting);
    free(whatif);
}

int64_t scopes_whatif_recorded_ns(const scopes_whatif *whatif)
{
    const scopes_communication *times = whatif->waiting->times;
    int64_t end_ns = times->start_ns;

    for (uint32_t i = 0; i < times->thread_count; i++)
        if (times->threads[i].operations && times->threads[i].end_ns > end_ns)
            end_ns = times->threads[i].end_ns;
    return end_ns - times->start_ns;
}

int64_t scopes_whatif_replayed_ns(scopes_whatif *whatif)
{
    return scopes__rerun_time(whatif->rerun,
                              scopes__rerun_recorded(whatif->rerun));
}

static int change_one(scopes__costs *costs, const scopes__waiting *w,
                      const scopes_change *change)
{
    bool has_factor = change->kind != SCOPES_CHANGE_ROOM &&
                      change->kind != SCOPES_CHANGE_BALANCE &&
                      !change->to_peers;

    if (has_factor && !(change->factor >= 0 && change->factor <= FACTOR_MAX))
        return pastset_fail(
            PASTSET_EINVAL,
            "%s of %s: the factor is not a number from 0 to %.0f",
            scopes_change_word(change->kind), change->what, FACTOR_MAX);
    switch (change->kind) {
    case SCOPES_CHANGE_HOP:
        return scopes__change_hop(costs, w, change);
    case SCOPES_CHANGE_ROOM:
        return scopes__change_room(costs, w, change);
    case SCOPES_CHANGE_BALANCE:
        return scopes__change_balance(costs, w, change);
    default:
        return scopes__change_threads(costs, w, change);
    }
}

static bool are_alike(const scopes_change *a, const scopes_change *b)
{
    bool same =
        a->what && b->what ? strcmp(a->what, b->what) == 0 : a->what == b->what;

    return same && a->kind == b->kind && a->to_peers == b->to_peers;
}

/* What is changed more than once in the same way is changed by the product of
 * the factors, in the place of the first. False: it is not the first. */
static bool together(scopes_change *out, const scopes_change *changes,
                     size_t count, size_t i)
{
    *out = changes[i];
    for (size_t n = 0; n < count; n++) {
        if (n == i || !are_alike(&changes[n], out))
            continue;
        if (n < i)
            return false;
        out->factor *= changes[n].factor;
    }
    return true;
}

int scopes_whatif_time(scopes_whatif *whatif, const scopes_change *changes,
                       size_t count, int64_t *time_ns)
{
    scopes__costs costs;
    scopes_change change;
    int err = scopes__costs_copy(&costs, scopes__rerun_recorded(whatif->rerun));

    for (size_t i = 0; i < count && !err; i++)
        if (together(&change, changes, count, i))
            err = change_one(&costs, whatif->waiting, &change);
    if (!err)
        *time_ns = scopes__rerun_time(whatif->rerun, &costs);
    scopes__costs_free(&costs);
    return err;
}
