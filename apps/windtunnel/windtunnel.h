/* windtunnel.h - the parts of the program `windtunnel`.
 *
 *   main.c     reads the arguments
 *   mapping.c  prints the application mapping
 *   run.c      the threads of a run, one slice each
 *   single.c   one slice in this process, without any run
 *   report.c   writes the results of both
 *
 * All functions return 0 or a negative code with its text, as of
 * pastset/status.h. */
#ifndef WINDTUNNEL_WINDTUNNEL_H
#define WINDTUNNEL_WINDTUNNEL_H

#include "apps/common/pixels_slices.h"
#include "apps/windtunnel/lattice.h"

typedef struct windtunnel_options {
    uint32_t threads;       /* mapping */
    const char *shares;     /* mapping: as in division.h; NULL */
    uint32_t commit;        /* mapping: steps after which the lattice is kept;
                               0: never */
    uint32_t width, height; /* 0: not given */
    uint32_t steps;
    uint32_t average; /* the picture shows the mean of so many steps */
    uint64_t seed;
    lattice_obstacle obstacle;
    const char *dump, *picture; /* files; NULL: in the directory */
    const char *out;            /* single: the directory */
} windtunnel_options;

#define WINDTUNNEL_WIDTH 1024u /* when neither option nor map tell */
#define WINDTUNNEL_HEIGHT 512u

/* The attribute of a thread in the map that tells the size of the tunnel,
 * "1024x512". (`width` and `height` are those of the node when it is drawn.) */
#define WINDTUNNEL_SIZE_ATTRIBUTE "tunnel"

/* After how many steps it keeps its slice; none: never. */
#define WINDTUNNEL_COMMIT_ATTRIBUTE "commit"

/* The name of a thread, of its number, as the mapping has it. */
#define WINDTUNNEL_THREAD "t%" PRIu32

/* The tunnel of these options, with the sizes `width` and `height` where the
 * options give none. Errors: PASTSET_EINVAL. */
int windtunnel_tunnel(lattice_tunnel *out, const windtunnel_options *options,
                      uint32_t width, uint32_t height);

int windtunnel_mapping(const windtunnel_options *options);
int windtunnel_single(const windtunnel_options *options);

/* Runs this process of a run. Returns the exit code: errors are told
 * already. */
int windtunnel_run(const windtunnel_options *options);

/* True when the slice is to be sampled after the step it has just done: every
 * fourth of the last steps. */
bool windtunnel_is_sampled(const windtunnel_options *options, uint64_t steps);

/* Shows on standard error, when that is a terminal, how far the slice is. */
void windtunnel_progress(const windtunnel_options *options, uint64_t steps);

/* --- results --- */

/* What a thread writes behind its slice into the tuple of its result. Times are
 * those of the steps, by its own clock. */
typedef struct windtunnel_times {
    uint64_t thread;
    uint64_t computing_ns;     /* between operations */
    uint64_t communicating_ns; /* in operations */
} windtunnel_times;

typedef struct windtunnel_report {
    const lattice_slice *whole; /* all rows, after the last step */
    uint64_t particles_before;  /* before the first */
    uint32_t threads;
    const pixels_slice *slices; /* one for each thread */
    double seconds;             /* that all steps took */
    const char *directory;      /* of the files without a name */
} windtunnel_report;

/* Seconds and nanoseconds of a clock that only goes forward. */
double windtunnel_seconds(void);
uint64_t windtunnel_now_ns(void);

/* Writes these files, and a line to standard output:
 *
 *   lattice.bin      for each row from the top, its eight planes of width/64
 *                    64-bit words in native byte order: the directions
 *                    counter-clockwise from east, rest, obstacle
 *   flow.png         the mean flow, when there are samples
 *   windtunnel.json  sizes, steps, particles, the FNV-1a checksum of the bytes
 *                    of lattice.bin, and of each thread its rows and times
 *
 * Errors: PASTSET_EIO, PASTSET_ENOMEM, PASTSET_EAPP (the number of particles
 * has changed; the files are there). */
int windtunnel_report_write(const windtunnel_report *report,
                            const windtunnel_options *options);

#endif
