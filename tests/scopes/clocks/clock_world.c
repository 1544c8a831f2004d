/* clock_world.c - processes with known clocks, without a run. */
#include "tests/scopes/clocks/clock_world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/check.h"
#include "tests/support/scratch.h"
#include "scopes/reading/reading_internal.h"

#define WALL 1700000000000000000u

/* xorshift64* */
static uint64_t next(world *w)
{
    w->seed ^= w->seed >> 12;
    w->seed ^= w->seed << 25;
    w->seed ^= w->seed >> 27;
    return w->seed * 0x2545f4914f6cdd1du;
}

double world_random(world *w)
{
    return (double)(next(w) >> 11) * 0x1p-53;
}

static double between(world *w, double min, double max)
{
    return min + (max - min) * world_random(w);
}

void world_begin(world *w, uint64_t seed, uint32_t processes, double length_ns)
{
    *w = (world){.seed = seed * 0x9e3779b97f4a7c15u + 1,
                 .length_ns = length_ns,
                 .process_count = processes};
    for (uint32_t i = 0; i < processes; i++) {
        world_process *h = &w->processes[i];
        h->hz = floor(between(w, 1e9, 4e9));
        h->rate = between(w, -200e-6, 200e-6);
        h->offset_ns = (int64_t)between(w, -10e9, 10e9);
        h->base_ticks = (uint64_t)between(w, 1e12, 1e15);
        h->start_ns = -between(w, 1e6, 30e6);
        h->shares = UINT32_MAX;
    }
}

world_hop *world_hop_add(world *w, uint32_t upper, uint32_t lower,
                         uint32_t pairs)
{
    world_hop *hop = &w->hops[w->hop_count++];

    *hop = (world_hop){upper,
                       lower,
                       pairs,
                       between(w, 4000, 8000),
                       between(w, 4000, 8000),
                       between(w, 5000, 40000)};
    return hop;
}

uint64_t world_ticks(const world *w, uint32_t process, double time_ns)
{
    const world_process *h = &w->processes[process];
    long double seconds = (long double)time_ns / 1e9L;

    if (h->shares != UINT32_MAX)
        return world_ticks(w, h->shares, time_ns);
    return h->base_ticks +
           (uint64_t)(int64_t)floorl(seconds * h->hz *
                                     (1 + h->rate + h->bend * seconds / 2));
}

double world_truth(const world *w, const scopes_clocks *clocks, double time_ns)
{
    uint32_t index = scopes_clocks_reference(clocks);
    const world_process *h = &w->processes[index];
    double start_ns = h->start_ns;
    uint64_t start = world_ticks(w, index, start_ns);

    if (h->shares != UINT32_MAX)
        h = &w->processes[h->shares];
    return (double)scopes_clocks_ns(clocks, index, start) +
           (time_ns - start_ns) * (1 + h->rate);
}

/* --- the map: over each hop, a thread writes to an element --- */

static void map_write(const world *w)
{
    FILE *out = fopen(scratch_file("pathmap.dot"), "w");

    cr_assert(out);
    fprintf(out, "digraph world {\n");
    for (uint32_t h = 0; h < w->process_count; h++) {
        fprintf(out, "subgraph cluster_h%u {\n", h);
        for (uint32_t i = 0; i < w->hop_count; i++) {
            if (w->hops[i].upper == h)
                fprintf(out,
                        "t%u [kind=thread, number=%u]; c%u [kind=collector, "
                        "id=%u]; p%u [kind=proxy];\n",
                        i, i, 2 * i, 2 * i, i);
            if (w->hops[i].lower == h)
                fprintf(out,
                        "c%u [kind=collector, id=%u]; e%u [kind=element, "
                        "type=\"i64\"];\n",
                        2 * i + 1, 2 * i + 1, i);
        }
        fprintf(out, "}\n");
    }
    for (uint32_t i = 0; i < w->hop_count; i++)
        fprintf(out, "t%u -> c%u [use=write]; c%u -> p%u -> c%u -> e%u;\n", i,
                2 * i, 2 * i, i, 2 * i + 1, i);
    fprintf(out, "}\n");
    fclose(out);
}

static void meta_write(const world *w, uint32_t index)
{
    const world_process *h = &w->processes[index];
    uint32_t counter = h->shares == UINT32_MAX ? index : h->shares;
    eventspace_meta meta = {
        .pid = 1,
        .tick_hz = w->processes[counter].hz,
        .start_tick = world_ticks(w, index, h->start_ns),
        .start_wall_ns =
            WALL + (uint64_t)(int64_t)h->start_ns + (uint64_t)h->offset_ns,
        .threads = 1,
        .state = EVENTSPACE_FINISHED,
    };

    snprintf(meta.eventspace, sizeof(meta.eventspace), "test");
    snprintf(meta.process, sizeof(meta.process), "h%u", index);
    snprintf(meta.tick_source, sizeof(meta.tick_source), "test");
    snprintf(meta.counter, sizeof(meta.counter), "counter %u", counter);
    check_status(eventspace_meta_save(&meta, scratch_file("h%u.meta", index)),
                 0);
}

/* --- operations --- */

static int compare(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static double delay(world *w, double min, double more)
{
    return min - more * log(1 - world_random(w));
}

static void hop_play(world *w, uint32_t index, eventspace_trace *out)
{
    const world_hop *hop = &w->hops[index];
    double *times = calloc(hop->pairs, sizeof(*times));

    for (uint32_t i = 0; i < hop->pairs; i++)
        times[i] = world_random(w) * w->length_ns;
    qsort(times, hop->pairs, sizeof(*times), compare);
    for (uint32_t i = 0; i < hop->pairs; i++) {
        double t1 = times[i];
        double t2 = t1 + delay(w, hop->min_down_ns, hop->more_ns);
        double t3 = t2 + delay(w, 500, 100000);
        double t4 = t3 + delay(w, hop->min_up_ns, hop->more_ns);
        bool early = w->backwards && i % 16 == 3;
        eventspace_trace event = {.thread = index, .sequence = i + 1};
        event.collector = 2 * index;
        event.start = world_ticks(w, hop->upper, t1);
        event.end = world_ticks(w, hop->upper, early ? t3 - 1e9 : t4);
        event.status = early ? -PASTSET_ETIMEDOUT : 0;
        *out++ = event;
        event.collector = 2 * index + 1;
        event.start = world_ticks(w, hop->lower, t2);
        event.end = world_ticks(w, hop->lower, t3);
        event.status = 0;
        *out++ = event;
    }
    free(times);
}

void world_make(world *w)
{
    size_t count = 0, at = 0;
    eventspace_trace *events;

    for (uint32_t i = 0; i < w->hop_count; i++)
        count += 2 * (size_t)w->hops[i].pairs;
    events = calloc(count + 1, sizeof(*events));
    for (uint32_t i = 0; i < w->hop_count; i++) {
        hop_play(w, i, events + at);
        at += 2 * (size_t)w->hops[i].pairs;
    }
    map_write(w);
    for (uint32_t i = 0; i < w->process_count; i++) {
        if (!w->processes[i].missing)
            meta_write(w, i);
    }
    check_status(eventspace_run_open(&w->run, scratch_file(".")), 0);
    check_status(
        scopes_topology_create(&w->topology, eventspace_run_map(w->run)), 0);
    check_status(scopes_event_table_create(&w->event_table,
                                           eventspace_run_map(w->run), events,
                                           count, NULL),
                 0);
    free(events);
}

void world_end(world *w)
{
    scopes_event_table_destroy(w->event_table);
    scopes_topology_destroy(w->topology);
    eventspace_run_close(w->run);
}
