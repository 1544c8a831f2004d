/* program.h - what the small applications share: their command line, how
 * their results are told, and a few lines that each would write again.
 *
 *     NAME mapping --threads N --size S    prints the application mapping
 *     NAME single --size S [-o DIR]         the sequential computation
 *     NAME [run]                           one process of a run, started by
 *                                          `eventspace run MAP -- NAME run`
 *
 * A program is a `program`, filled in, and `return program_main(&it, argc,
 * argv)`. Functions return 0 or a negative code with its text, as of
 * pastset/status.h.
 *
 * A map says all that a run needs: program_mapping_threads gives the threads
 * the options of `mapping` as attributes, and in a run they are read from
 * there again. Those that are given to `run` as well win, but for --size.
 *
 * Results are NAME.json in the run directory, or that of --output,
 *
 *     {"program": "ep", "size": "S", "threads": 4, "processes": 2,
 *      "seconds": 0.31, "values": {"sx": -3247.8346520347401, ...}}
 *
 * and a table on standard output. `single` has no "processes" and one
 * thread. */
#ifndef COMMON_PROGRAM_H
#define COMMON_PROGRAM_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "paths/paths.h"

typedef struct program_options {
    char size;        /* 'S' well below a second alone, 'W' a few seconds, 'A'
                         10 to 60 s, 'B' and 'C' minutes */
    uint32_t threads; /* mapping: how many; in a run, how many there are */
    uint64_t seed;    /* 1 when not given */
    uint32_t rounds;  /* 0: as the size says */
    const char *out;  /* directory for files: in a run the run directory;
                         single: NULL when none are wanted */
    void *own;        /* the program's own, of own_bytes */
    const char *attributes; /* mapping: all of these as attributes of a thread,
                               `size="S", seed="1"` ... */
    const char *shares;     /* mapping: how much of the work each thread has, as
                               in division.h; NULL: equally much */
} program_options;

typedef struct program_result program_result; /* named values, in order */

typedef struct program_run {
    const program_options *options; /* those of the map, see above */
    program_result *result;         /* NULL but for thread 0 */
} program_run;

/* Options that only `mapping` heeds are of this group; they do not go into
 * the attributes of threads. */
#define PROGRAM_OF_MAPPING 100

/* Keys of own options: this and above. */
#define PROGRAM_KEY 1000

typedef struct program {
    const char *name;
    /* For --help: one line that says what it computes; then, behind a \v, the
     * sizes, what is checked, and what the results mean. */
    const char *about;
    const char *sizes;         /* those it has, "SWA"; NULL: "SWABC" */
    bool single_takes_threads; /* the problem depends on how many there are */
    bool no_seed, no_rounds;   /* these options mean nothing here */
    bool divides;              /* takes --shares: see program_mapping_divided */

    /* Own options, up to one that is all zero; NULL: none. Long names, which
     * become attributes of the map's threads: do not take those that mean
     * something when a node is drawn (width, shape ...), but for
     * PROGRAM_OF_MAPPING. An option without argument has the value "true". */
    const struct argp_option *options;
    /* Takes one of them. `text` is the argument, in mapping and single from
     * the command line, in a run maybe from the map; NULL without argument.
     * It stays in place. Returns 0, ARGP_ERR_UNKNOWN, or an error. */
    int (*parse)(program_options *o, int key, const char *text);
    size_t own_bytes;
    const void *own_defaults; /* NULL: zeros */

    /* Prints the application mapping; on an error, nothing that was printed
     * comes out. Refuses numbers of threads that the problem does not have. */
    int (*mapping)(const program_options *o, FILE *out);
    /* The sequential computation, which shares no code with `thread` but the
     * statement of the problem. */
    int (*single)(const program_options *o, program_result *r);
    /* What each thread of a run does. Its argument is a `program_run`. */
    paths_main *thread;
} program;

/* The exit code of wrong usage: PASTSET_EINVAL of mapping and single too. */
#define PROGRAM_USAGE 2

/* The whole main: gives its exit code, 0 or 1; wrong usage ends it. */
int program_main(const program *p, int argc, char **argv);

/* --- results --- */

/* Add a value. What goes wrong is kept, and told when the results are written
 * (so that callers need not look): PASTSET_EEXIST (the name is taken),
 * PASTSET_EAPP (the value is not finite, the count is above 2^63 - 1),
 * PASTSET_ENOMEM. */
int program_value(program_result *r, const char *name, double value);
int program_count(program_result *r, const char *name, uint64_t count);
int program_text(program_result *r, const char *name, const char *text);

/* Opens DIR/`name` for writing, DIR being the `out` of the options.
 * Errors: PASTSET_EIO. */
int program_file_open(FILE **out, const program_options *o, const char *name);
/* Closes it; tells if anything could not be written. `name` as above. */
int program_file_close(FILE *file, const char *name);

/* --- arguments, for `parse` --- */

/* Read a number from `min` to `max` / a duration / one of `names` (up to a
 * NULL; its place comes out). `option` is its name without dashes, for the
 * text of PASTSET_EINVAL. */
int program_parse_number(uint64_t *out, const char *option, const char *text,
                         uint64_t min, uint64_t max);
int program_parse_duration(uint64_t *out_ns, const char *option,
                           const char *text);
int program_parse_name(unsigned *out, const char *option, const char *text,
                       const char *const *names);

/* --- mappings --- */

/* `digraph NAME {`, the threads t0 ... with the options as attributes, `}`. */
void program_mapping_begin(FILE *out, const char *name);
void program_mapping_threads(FILE *out, const program_options *o);
/* The same with the rows that each thread has, of so many, as an attribute that
 * division.h knows, where there are `shares`. Errors: those of division_cut. */
int program_mapping_divided(FILE *out, const program_options *o, uint32_t rows);
/* The same by a cut, which may be NULL. Errors: PASTSET_ENOMEM. */
int program_mapping_cut(FILE *out, const program_options *o, const char *cut);
void program_mapping_end(FILE *out);

/* --- small things --- */

/* Shares `items` among `parts`: all have as many as any other or one more, and
 * the first ones have more. */
static inline void program_share(uint64_t items, uint32_t parts, uint32_t part,
                                 uint64_t *first, uint64_t *count)
{
    uint64_t each = items / parts, more = items % parts;

    *first = part * each + (part < more ? part : more);
    *count = each + (part < more);
}

/* Seconds and nanoseconds of a clock that only goes forward. */
double program_seconds(void);
uint64_t program_now_ns(void);

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
 * generators, 2014): any state will do, so `{seed}` begins a sequence. */
typedef struct program_random {
    uint64_t state;
} program_random;

/* The function that makes bits of it, good as a hash: program_mix(a ^
 * program_mix(b)) depends on a and b and nothing else. */
static inline uint64_t program_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t program_random_bits(program_random *r)
{
    uint64_t bits = program_mix(r->state);

    r->state += 0x9e3779b97f4a7c15u;
    return bits;
}

/* In [0, 1), of 53 bits. */
static inline double program_fraction(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

static inline double program_random_real(program_random *r)
{
    return program_fraction(program_random_bits(r));
}

#endif
