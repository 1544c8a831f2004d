/* diff_whole.c - from when to when a run has all of its events.
 *
 * What lies next to lost events looks different, though nothing is: a step
 * seems to begin later, nobody seems to be waited for, a region seems to
 * compute what was an operation in it. So only what lies between is compared.
 *
 * A stream is in the order of the ends of its events. If the first one that is
 * there has not the index 0, or if indexes are left out before it, what is lost
 * ended before it did. What else is lost was refused, at the end. */
#include "scopes/compare/diff_internal.h"

#include <stdio.h>
#include <string.h>

#include "scopes/reading/source.h"

typedef struct finding {
    const scopes_snapshot *snapshot;
    size_t process;
    char stream[256]; /* the last one */
    uint64_t next;    /* index in it */
    uint64_t before;  /* lost before some event of the process */
    int64_t end_ns;   /* of the last event in it */
    int64_t first_ns; /* the earliest of these, of all streams */
    scopes__diff_whole *out;
} finding;

static int64_t end_of(const finding *f, const eventspace_trace *event)
{
    return scopes_clocks_ns(f->snapshot->clocks, (uint32_t)f->process,
                            event->end);
}

static void end_stream(finding *f)
{
    if (f->end_ns < f->first_ns)
        f->first_ns = f->end_ns;
    f->end_ns = INT64_MAX;
    f->next = 0;
}

static int take(const scopes_batch *batch, void *context)
{
    finding *f = context;

    if (batch->count == 0)
        return 0;
    if (strcmp(f->stream, batch->stream) != 0) {
        end_stream(f);
        snprintf(f->stream, sizeof(f->stream), "%s", batch->stream);
    }
    if (batch->index > f->next) {
        int64_t from_ns = end_of(f, &batch->events[0]);
        f->before += batch->index - f->next;
        f->out->gone |= SCOPES__GONE_BEFORE;
        if (from_ns > f->out->from_ns)
            f->out->from_ns = from_ns;
    }
    f->next = batch->index + batch->count;
    f->end_ns = end_of(f, &batch->events[batch->count - 1]);
    return 0;
}

/* Which of the streams has refused events is not known: it is taken to be the
 * one that ends first. */
static int find_process(scopes__diff_whole *out,
                        const scopes_snapshot *snapshot, scopes_source *source,
                        size_t process)
{
    finding f = {.snapshot = snapshot,
                 .process = process,
                 .first_ns = INT64_MAX,
                 .end_ns = INT64_MAX,
                 .out = out};
    scopes_ledger ledger = {0};
    int err = scopes_source_each(source, process, NULL, take, &f, &ledger);

    end_stream(&f);
    if (err || ledger.lost <= f.before)
        return err;
    out->gone |= SCOPES__GONE_AFTER;
    if (f.first_ns < out->to_ns)
        out->to_ns = f.first_ns;
    return 0;
}

int scopes__diff_whole_find(scopes__diff_whole *out,
                            const scopes_snapshot *snapshot)
{
    const scopes_event_table *table = snapshot->event_table;
    scopes_source *source;
    int err;

    *out = (scopes__diff_whole){.from_ns = INT64_MIN, .to_ns = INT64_MAX};
    if (eventspace_run_damaged(snapshot->run))
        out->gone = SCOPES__GONE_BEFORE | SCOPES__GONE_AFTER;
    if (table->ledger.lost == 0)
        return 0;
    err = scopes_source_open(&source, snapshot->run);
    if (err)
        return err;
    for (uint32_t i = 0; i < table->map->process_count && !err; i++)
        if (table->ledgers[i].lost > 0)
            err = find_process(out, snapshot, source, i);
    scopes_source_close(source);
    return err;
}
