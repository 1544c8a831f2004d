/* other_clocks.c - a run as it would be if its processes had been on other
 * machines, and whether its clocks are then aligned as they are known to be.
 *
 *     other_clocks copy RUN COPY [PROCESS=OFFSET,RATE,WALL ...]
 *     other_clocks check COPY [PROCESS=OFFSET,RATE,WALL ...]
 *
 * OFFSET is in ticks, RATE in billionths, and WALL in nanoseconds by which the
 * wall clock is wrong. `copy` writes all tuples of a run that has ended with
 * the stamps of those counters; whoever is not named keeps his. It uses
 * elements and meta files, and nothing that reads runs or aligns clocks.
 *
 * `check` writes a line for each process: its name, what it is aligned by, by
 * how many ns at most its times are wrong, half of the widest interval that is
 * certain, and from which sides it is bounded: "both", "from", "to" or "none".
 * It fails where the truth is not in an interval. */
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/collect/message.h"
#include "eventspace/collect/scheduling.h"
#include "eventspace/collect/trace.h"
#include "eventspace/run/run.h"
#include "pastset/element.h"
#include "pastset/space.h"
#include "pastset/status.h"
#include "scopes/reading/snapshot.h"

#define MOMENTS 41
#define ROUNDED 3 /* ns: ticks and nanoseconds are whole */
#define TUPLE_BYTES 65536

typedef struct counter {
    int64_t offset, rate_ppb, wall_ns;
    bool is_other;
} counter;

static int fail(const char *what)
{
    fprintf(stderr, "other_clocks: %s: %s\n", what, pastset_error());
    return 1;
}

static counter counter_of(char **given, int count, const char *process)
{
    size_t length = strlen(process);
    counter c = {0};

    for (int i = 0; i < count; i++)
        if (strncmp(given[i], process, length) == 0 && given[i][length] == '=')
            c.is_other = sscanf(given[i] + length + 1,
                                "%" SCNd64 ",%" SCNd64 ",%" SCNd64, &c.offset,
                                &c.rate_ppb, &c.wall_ns) == 3;
    return c;
}

static void stamp(uint64_t *ticks, const counter *c)
{
    *ticks += (uint64_t)(int64_t)((__int128)*ticks * c->rate_ppb / 1000000000);
    *ticks += (uint64_t)c->offset;
}

/* --- copying --- */

static void tuple_stamp(void *tuple, const char *type, const counter *c)
{
    if (strcmp(type, EVENTSPACE_TRACE_TYPE) == 0) {
        eventspace_trace *own = tuple;
        stamp(&own->start, c);
        stamp(&own->end, c);
    } else if (strcmp(type, EVENTSPACE_MESSAGE_TYPE) == 0) {
        eventspace_message *own = tuple;
        stamp(&own->tick, c);
    } else if (strcmp(type, EVENTSPACE_SCHEDULING_TYPE) == 0) {
        eventspace_scheduling *own = tuple;
        stamp(&own->start, c);
        stamp(&own->end, c);
    }
}

static int element_copy(pastset_space *to, pastset_element *from,
                        const counter *c)
{
    static _Alignas(16) unsigned char tuple[TUPLE_BYTES];
    const pastset_type *type = pastset_element_type(from);
    pastset_cursor cursor = {0};
    pastset_ledger ledger;
    pastset_element *element;
    size_t bytes = sizeof(tuple);
    int err;

    pastset_element_ledger(from, &ledger);
    err = pastset_element_create(
        &element, to,
        &(pastset_element_options){.name = pastset_element_name(from),
                                   .type = type,
                                   .policy = PASTSET_GROW,
                                   .capacity = ledger.written + 1,
                                   .single_writer = true});
    while (!err && pastset_read_next(from, &cursor, tuple, &bytes,
                                     PASTSET_NOWAIT) == 0) {
        tuple_stamp(tuple, type->text, c);
        err = pastset_write(element, tuple, bytes, PASTSET_NOWAIT, NULL);
        bytes = sizeof(tuple);
    }
    return err;
}

/* Notes of what threads wait for are left out: nobody does. */
static int space_copy(const char *from, const char *to, const counter *c)
{
    pastset_space *old = NULL, *new = NULL;
    pastset_space_options options = {.path = to};
    int err = pastset_space_open(&old, from);

    if (!err)
        err = pastset_space_create(&new, &options);
    for (size_t i = 0; !err && i < pastset_space_count(old); i++) {
        pastset_element *element = pastset_space_at(old, i);
        if (strncmp(pastset_element_name(element), "~executor", 9) != 0)
            err = element_copy(new, element, c);
    }
    if (old)
        pastset_space_close(old);
    if (new)
        pastset_space_close(new);
    return err ? err : pastset_space_settle(to);
}

static int process_copy(const char *from, const char *to, const char *process,
                        const counter *c)
{
    char old[4096], new[4096];
    eventspace_meta meta;
    int err;

    snprintf(old, sizeof(old), "%s/%s.meta", from, process);
    snprintf(new, sizeof(new), "%s/%s.meta", to, process);
    err = eventspace_meta_load(&meta, old);
    if (err)
        return err;
    stamp(&meta.start_tick, c);
    if (meta.end_tick)
        stamp(&meta.end_tick, c);
    meta.start_wall_ns += (uint64_t)c->wall_ns;
    if (c->is_other)
        snprintf(meta.counter, sizeof(meta.counter),
                 "of a machine %" PRId64 " %" PRId64, c->offset, c->rate_ppb);
    err = eventspace_meta_save(&meta, new);
    snprintf(old, sizeof(old), "%s/%s.space", from, process);
    snprintf(new, sizeof(new), "%s/%s.space", to, process);
    return err ? err : space_copy(old, new, c);
}

static int copy(const char *from, const char *to, char **given, int count)
{
    char old[4096], new[4096];
    DIR *directory = opendir(from);
    struct dirent *entry;
    int err;

    snprintf(old, sizeof(old), "%s/definitions", from);
    snprintf(new, sizeof(new), "%s/definitions", to);
    err = space_copy(old, new, &(counter){0});
    while (!err && directory && (entry = readdir(directory))) {
        char *end = strrchr(entry->d_name, '.');
        if (!end || strcmp(end, ".meta") != 0)
            continue;
        *end = 0;
        counter c = counter_of(given, count, entry->d_name);
        err = process_copy(from, to, entry->d_name, &c);
    }
    if (directory)
        closedir(directory);
    return err ? fail("copy") : 0;
}

/* --- checking --- */

typedef struct checking {
    const scopes_snapshot *snapshot;
    counter reference;
    const scopes_clock *its;
    uint32_t number;
} checking;

/* What the reference's clock says when a counter is at `ticks`. */
static double truth(const checking *k, const counter *c, uint64_t ticks)
{
    long double raw = ((long double)ticks - c->offset) /
                      (1 + (long double)c->rate_ppb / 1e9L);
    long double its = raw * (1 + (long double)k->reference.rate_ppb / 1e9L) +
                      k->reference.offset;

    return (double)scopes_clocks_ns(k->snapshot->clocks, k->number,
                                    k->its->at_ticks) +
           (double)(its - (long double)k->its->at_ticks) * k->its->ns_per_tick;
}

/* From a tenth of the run before it began to a tenth after its end. */
static int process_check(const checking *k, uint32_t process, const counter *c)
{
    static const char *const hows[] = {"reference", "shared", "exchanges",
                                       "wall", "none"};
    const scopes_clocks *clocks = k->snapshot->clocks;
    const eventspace_run_process *p =
        eventspace_run_process_at(k->snapshot->run, process);
    double length = (double)(p->meta.end_tick - p->meta.start_tick);
    double error = 0, wide = 0;
    bool from_told = true, to_told = true, is_right = true;

    for (int i = 0; i < MOMENTS; i++) {
        uint64_t ticks =
            p->meta.start_tick +
            (uint64_t)(int64_t)(length * (1.2 * i / (MOMENTS - 1) - 0.1));
        double at = truth(k, c, ticks);
        int64_t from, to;
        scopes_clocks_certain(clocks, process, ticks, &from, &to);
        is_right &= (double)from <= at + ROUNDED && (double)to >= at - ROUNDED;
        from_told &= from != INT64_MIN;
        to_told &= to != INT64_MAX;
        wide = fmax(wide, ((double)to - (double)from) / 2);
        error = fmax(
            error, fabs((double)scopes_clocks_ns(clocks, process, ticks) - at));
    }
    printf("%s %s %.0f %.0f %s\n", p->name,
           hows[scopes_clocks_process(clocks, process)->how], error, wide,
           from_told && to_told ? "both"
           : from_told          ? "from"
           : to_told            ? "to"
                                : "none");
    if (!is_right)
        fprintf(stderr, "other_clocks: %s: the truth is not in the interval\n",
                p->name);
    return is_right ? 0 : 1;
}

static int check(const char *directory, char **given, int count)
{
    scopes_snapshot_options options = SCOPES_SNAPSHOT_ALL;
    scopes_snapshot *snapshot;
    eventspace_run *run;
    checking k;
    int wrong = 0;

    if (eventspace_run_open(&run, directory) ||
        scopes_snapshot_take(&snapshot, run, &options))
        return fail(directory);
    k = (checking){.snapshot = snapshot,
                   .number = scopes_clocks_reference(snapshot->clocks)};
    k.its = scopes_clocks_process(snapshot->clocks, k.number);
    k.reference = counter_of(given, count,
                             eventspace_run_process_at(run, k.number)->name);
    for (uint32_t i = 0; i < eventspace_run_process_count(run); i++) {
        counter c =
            counter_of(given, count, eventspace_run_process_at(run, i)->name);
        wrong |= process_check(&k, i, &c);
    }
    scopes_snapshot_destroy(snapshot);
    eventspace_run_close(run);
    return wrong;
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "copy") == 0)
        return copy(argv[2], argv[3], argv + 4, argc - 4);
    if (argc > 2 && strcmp(argv[1], "check") == 0)
        return check(argv[2], argv + 3, argc - 3);
    return 2;
}
