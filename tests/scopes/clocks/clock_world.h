/* clock_world.h - processes with known clocks, and the operations between them.
 *
 * There is a true time, in nanoseconds, by which all things happen. Each
 * process has a counter with its own start, offset, rate and ticks a second.
 * Over each hop operations go at random times; what they take is a least time,
 * another one for each way, and a random one. From that a run directory and an
 * event table are made, as a run would leave them. */
#ifndef TESTS_SCOPES_CLOCK_WORLD_H
#define TESTS_SCOPES_CLOCK_WORLD_H

#include "eventspace/run/run.h"
#include "scopes/clocks/clock.h"
#include "scopes/reading/event_table.h"
#include "scopes/causality/topology.h"

#define WORLD_PROCESSES 32
#define WORLD_HOPS 128

typedef struct world_process {
    double hz;           /* as the process believes */
    double rate;         /* true ticks are by 1 + rate more */
    int64_t offset_ns;   /* of the wall clock */
    uint64_t base_ticks; /* at time 0 */
    double start_ns;     /* when it came up; true time */
    double bend;         /* of its rate, a second: 0 for a good counter */
    uint32_t shares; /* counter of this other process; UINT32_MAX: its own */
    bool missing;    /* it never came up */
} world_process;

typedef struct world_hop {
    uint32_t upper, lower; /* processes */
    uint32_t pairs;
    double min_down_ns, min_up_ns, more_ns;
} world_hop;

typedef struct world {
    uint64_t seed;
    double length_ns;
    uint32_t process_count, hop_count;
    world_process processes[WORLD_PROCESSES];
    world_hop hops[WORLD_HOPS];
    bool backwards; /* a few operations are failures that came up too early */
    eventspace_run *run;
    scopes_event_table *event_table;
    scopes_topology *topology;
} world;

/* From 0 to below 1. */
double world_random(world *w);

/* Processes with random clocks, without hops. */
void world_begin(world *w, uint64_t seed, uint32_t processes, double length_ns);
world_hop *world_hop_add(world *w, uint32_t upper, uint32_t lower,
                         uint32_t pairs);
/* Makes all of the run; needs scratch_make. */
void world_make(world *w);
void world_end(world *w);

/* The ticks of a process at a true time. */
uint64_t world_ticks(const world *w, uint32_t process, double time_ns);

/* What the reference process's clock says at a true time, if that is a good
 * one, to 2 ns: ticks and nanoseconds are whole. */
double world_truth(const world *w, const scopes_clocks *clocks, double time_ns);

#endif
