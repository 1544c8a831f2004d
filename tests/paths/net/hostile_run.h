/* hostile_run.h - the run that hostile peers are let loose on: three processes,
 * whose names cannot be found by accident in what looks random. */
#ifndef TESTS_PATHS_HOSTILE_RUN_H
#define TESTS_PATHS_HOSTILE_RUN_H

#include "tests/paths/net/attacker.h"
#include "tests/support/map_processes.h"

enum { HARBOUR, LIGHTHOUSE, ISLAND }; /* the first is the coordinator */
extern const char *const hostile_names[3];

extern processes hostile_run;
extern bool hostile_run_is_sealed; /* before it is started: false */

/* Threads of harbour and lighthouse play ping-pong through both processes. */
extern const process_program hostile_play[];
/* They do nothing; both until hostile_run_stop. */
extern const process_program hostile_idle[];

void hostile_run_start(const process_program *programs, unsigned absent,
                       unsigned intercepted);
/* Until the game has gone on for a while: nobody hangs. */
void hostile_run_goes_on(void);
void hostile_run_stop(void);
/* All that were started have ended: well, or with this in the text. */
void hostile_run_ends_well(void);
void hostile_run_ends_with(int process, const char *text);

/* What stands for a node on the wire. */
uint32_t hostile_node(const char *name);
/* What a process claims to another. */
handshake_claim hostile_claim(uint16_t role, int from, int to);
/* As one of `from`, let in at `to`. */
int hostile_dial(uint16_t role, int from, int to);
/* Nobody who listens learns anything of the map from these bytes. */
void hostile_is_secret(const void *bytes, size_t count);

#endif
