/* observe.c - what it costs to watch a collective.
 *
 * One map has the same tree three times: bare, with a collector at the top of
 * each thread's path, and with collectors around every wrapper. All threads go
 * through each of them in turns, and each turn gives the ratio to the bare one
 * right before it: how threads are scheduled drifts by more than what is to be
 * measured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventspace/instrument.h"
#include "pastset/status.h"
#include "tests/bench/bench.h"
#include "tests/bench/many_processes.h"

#define TURNS 401
#define TREES 3

static const char *const trees[TREES] = {"bare", "top", "every"};

typedef struct turns {
    int batch;
    double us[TREES][TURNS];
} turns;

static int go_round(paths_thread *self, void *argument)
{
    turns *t = argument;
    paths_path *paths[TREES];
    int err = 0;

    for (int k = 0; k < TREES && !err; k++)
        err = paths_open(&paths[k], self, trees[k]);
    for (int turn = -2; turn < TURNS && !err; turn++) {
        for (int k = 0; k < TREES && !err; k++) {
            double x = 1, begin = bench_now_ns();
            for (int i = 0; i < t->batch && !err; i++)
                err = paths_exchange(paths[k], &x, sizeof(x), &x, sizeof(x));
            if (paths_thread_number(self) == 0 && turn >= 0)
                t->us[k][turn] = (bench_now_ns() - begin) / t->batch / 1000;
        }
    }
    return err;
}

/* Adds what `map` has not got of `more`; the ids of collectors go on. */
static void merge(paths_map *map, const paths_map *more, unsigned *next_id)
{
    for (uint32_t i = 0; i < more->node_count; i++) {
        const paths_map_node *node = &more->nodes[i];
        uint32_t index;
        char id[16];
        if (paths_map_find_node(map, node->name) != PATHS_NONE)
            continue;
        index = paths_map_add_node(map, node->process, node->type, node->name);
        bench_check(paths_attributes_copy(&map->nodes[index].attributes,
                                          &node->attributes),
                    "attributes");
        if (strcmp(node->type, "collector") != 0)
            continue;
        snprintf(id, sizeof(id), "%u", (*next_id)++);
        bench_check(
            paths_attributes_set(&map->nodes[index].attributes, "id", id),
            "id");
    }
    for (uint32_t i = 0; i < more->edge_count; i++) {
        const paths_map_edge *edge = &more->edges[i];
        uint32_t index = paths_map_add_edge(
            map, paths_map_find_node(map, more->nodes[edge->from].name),
            paths_map_find_node(map, more->nodes[edge->to].name));
        bench_check(paths_attributes_copy(&map->edges[index].attributes,
                                          &edge->attributes),
                    "attributes");
    }
}

static paths_map *map_make(unsigned threads, unsigned processes)
{
    static const eventspace_collectors collectors[TREES] = {
        EVENTSPACE_NO_COLLECTORS, EVENTSPACE_THREAD_COLLECTORS,
        EVENTSPACE_ALL_COLLECTORS};
    paths_map *whole = NULL;
    unsigned next_id = 0;

    for (int k = 0; k < TREES; k++) {
        const char *const element[] = {trees[k], NULL};
        eventspace_instrument_options options = {.collectors = collectors[k],
                                                 .trace_capacity = 1 << 16,
                                                 .trace_policy = "discard",
                                                 .prefault = true};
        paths_map *map =
            many_processes_map(threads, processes, "sum", "f64", element);
        paths_map *instrumented;
        bench_check(eventspace_instrument(&instrumented, map, &options),
                    "instrument");
        if (!whole)
            bench_check(paths_map_copy_processes(&whole, instrumented), "map");
        if (k == TREES - 1) /* the attributes of the graph are for all */
            bench_check(paths_attributes_copy(&whole->attributes,
                                              &instrumented->attributes),
                        "attributes");
        merge(whole, instrumented, &next_id);
        paths_map_destroy(map);
        paths_map_destroy(instrumented);
    }
    return whole;
}

/* The median of the ratios, and of the bare times. */
static void tell(const char *place, const char *more, turns *t, int tree)
{
    double ratios[TURNS], bare[TURNS];
    char name[64];

    for (int i = 0; i < TURNS; i++) {
        bare[i] = t->us[0][i];
        ratios[i] = t->us[tree][i] / t->us[0][i];
    }
    snprintf(name, sizeof(name), "observe.%s%s", place, more);
    bench_print(name, bench_median(ratios, TURNS) * bench_median(bare, TURNS),
                "us", bench_median(bare, TURNS));
}

static void observe(const char *place, unsigned threads, unsigned processes)
{
    turns *t = calloc(1, sizeof(*t));
    paths_map *map = map_make(threads, processes);

    t->batch = 20;
    many_processes_run(map, go_round, t);
    tell(place, "", t, 2);
    tell(place, ".top", t, 1);
    paths_map_destroy(map);
    free(t);
}

void bench_observe(void)
{
    observe("threads32", 32, 1);
    observe("processes4x8", 32, 4);
}
