/* command_load.h - what the files of `eventspace load` share. */
#ifndef VIEWER_COMMAND_LOAD_H
#define VIEWER_COMMAND_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/links/links.h"
#include "measure/load/load.h"
#include "viewer/cli/command.h"

typedef struct load_machine {
    char *name;
    measure_load load;
    bool has_scheduler;
    predict_scheduler scheduler;
    double scheduler_error; /* NaN: not told */
} load_machine;

typedef struct load_link {
    const char *address, *to; /* as given */
    bool measured;
    measure_link link;
} load_link;

typedef enum load_table { LOAD_ALL, LOAD_MACHINES, LOAD_LINKS } load_table;

typedef struct load_arguments {
    const char *cluster, *machine, *remote;
    viewer_format format;
    load_table table; /* which, of tables and CSV */
    int processor;
    double seconds_s;
    bool scheduler;
} load_arguments;

typedef struct load {
    load_arguments a;
    load_machine *machines;
    size_t machine_count;
    load_link *links;
    size_t link_count;
    char here[256]; /* its name */
} load;

/* Measures this machine and the links; what cannot be measured does not keep
 * the rest from it. Errors: those of measure/load/load.h and link.h. */
int cli_load_here(load *load);

/* Asks the machines of the cluster file. Of those that do not answer each is
 * told, and the others go on; then it is PASTSET_EHOST. */
int cli_load_remote(load *load);

/* A row for a machine, to be filled in. NULL when memory is out. */
load_machine *cli_load_add(load *load, const char *name);

int cli_load_print(const load *load);

#endif
