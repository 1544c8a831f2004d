/* history.h - what was measured of one thing for a long time: a series in a
 * file.
 *
 * A file is text that any tool reads: comma-separated values behind lines that
 * begin with '#'.
 *
 *     # eventspace history 1
 *     # series: availability of n0
 *     # unit: share
 *     # time in ms,value,lasts ms,count,deviation,least,most
 *     # interval: 5000 ms
 *     1764216000000,0.4812,60000,12,0.0103,0.47,0.502
 *     1764216061250,0.4809
 *     1764216066251,0.4793
 *
 * A row of two fields is a sample: when it was taken, in milliseconds since
 * 1970 (UTC), and its value. What is old is kept in coarser steps: a row of
 * seven is the mean of `count` samples that were taken from then on in `lasts`,
 * their standard deviation (of these, not of a sample), the least and the most.
 * Samples are kept for two days, minutes for thirty, ten minutes for two years,
 * and hours for ever. Times ascend.
 *
 * Each sample is one write to the end of the file: a process that is killed
 * loses nothing that it had added. Older rows are put together in a copy that
 * then takes the file's place. A last line that is not whole (it is being
 * written, or the machine lost its power) is left out by readers, and cut off
 * by the next who writes. A time in which nothing was measured is a gap: there
 * are no rows for it.
 *
 * Threads:   one thread per history.
 * Ownership: read gives, destroy takes back. */
#ifndef MEASURE_HISTORY_H
#define MEASURE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MEASURE_HISTORY_NAME_BYTES 256
#define MEASURE_HISTORY_VALUE_MAX 1e100 /* of either sign */
#define MEASURE_HISTORY_SUFFIX ".history"
/* What the first line of a file is. */
#define MEASURE_HISTORY_MAGIC "# eventspace history 1"

typedef struct measure_history_row {
    int64_t time_ms;
    double value;
    int64_t lasts_ms;     /* 0: a sample */
    uint32_t count;       /* of samples: 1 */
    uint32_t interval_ms; /* between samples, then */
    double deviation;     /* of them; 0 */
    double least, most;
} measure_history_row;

typedef struct measure_history {
    char series[MEASURE_HISTORY_NAME_BYTES];
    char unit[16]; /* "share", "s", "B/s" */
    measure_history_row *rows;
    size_t count;
    size_t first_sample; /* all from here on are samples */
    int64_t interval_ms; /* the last one */
    bool torn;           /* the last line was not whole */
} measure_history;

/* Errors: PASTSET_EIO; PASTSET_EFORMAT: it is no history, or damaged, with
 * "file:line: "; PASTSET_ENOMEM. */
int measure_history_read(measure_history **out, const char *file);
/* The same, but of what is long past at `from_ms` rows may be left out: of a
 * file of years only its end is read. The interval may be that with which the
 * file begins. */
int measure_history_read_since(measure_history **out, const char *file,
                               int64_t from_ms);
/* The same of a text in memory that `name` stands for. */
int measure_history_parse(measure_history **out, const char *text, size_t bytes,
                          const char *name);
/* NULL is allowed. */
void measure_history_destroy(measure_history *history);

/* Were more than three intervals, or steps, between the end of the row before
 * and this one? False of the first. */
bool measure_history_is_gap(const measure_history *history, size_t row);
/* The first of the last rows that are of one step: samples, or where there are
 * none any more, means over equally long times. 0 where there are no rows. */
size_t measure_history_alike(const measure_history *history);
/* What it was from then until `to_ms`: the mean of what was sampled there, or
 * the last value before that, unless it is older than three times what the last
 * rows are apart. NAN: that is not known. */
double measure_history_value(const measure_history *history, int64_t from_ms,
                             int64_t to_ms);
/* The rows that begin at `from_ms` or later, and before `to_ms`: `*first` and
 * how many. */
size_t measure_history_between(const measure_history *history, int64_t from_ms,
                               int64_t to_ms, size_t *first);

#endif
