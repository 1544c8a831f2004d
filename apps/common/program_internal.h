/* program_internal.h - what the files of this folder share. */
#ifndef COMMON_PROGRAM_INTERNAL_H
#define COMMON_PROGRAM_INTERNAL_H

#include "apps/common/program.h"

/* --- arguments.c --- */

typedef enum program_command {
    PROGRAM_RUN,
    PROGRAM_SINGLE,
    PROGRAM_MAPPING,
    PROGRAM_COMMANDS,
} program_command;

/* An own option that was given; the text is of argv. */
typedef struct given {
    const struct argp_option *option;
    const char *text; /* NULL: it has no argument */
} given;

typedef struct arguments {
    const program *program;
    program_command command;
    program_options options; /* own: owned */
    bool has_command, has_size, has_seed, has_rounds;
    given *given; /* each option once */
    size_t given_count;
    char *attributes; /* behind options.attributes */
} arguments;

/* Reads argv. Ends the program by argp_error when it is wrong. */
int arguments_read(arguments *a, const program *p, int argc, char **argv);
void arguments_free(arguments *a);

/* The options as they hold for a thread: those of the command line, then those
 * of the map. `own` is new, and the caller's to free, also after an error. */
int arguments_of_thread(program_options *out, const arguments *a,
                        paths_thread *self);

/* --- result.c --- */

/* What is told beside the values. */
typedef struct result_facts {
    const program *program;
    const program_options *options;
    uint32_t threads, processes; /* processes 0: not a run */
    double seconds;
} result_facts;

/* With room on the disk for NAME.json, when the options have a directory. */
int result_create(program_result **out, const program *p,
                  const program_options *o);
/* Removes a NAME.json that was not written. */
void result_destroy(program_result *r);

/* Prints the table to standard output, and writes NAME.json when the options
 * have a directory; each also when the other one fails. Errors: what was kept
 * when values were added; PASTSET_EIO, PASTSET_ENOMEM. */
int result_write(program_result *r, const result_facts *facts);

#endif
