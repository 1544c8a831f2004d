/* units.h - numbers, durations and rates as texts: in path maps, in cluster
 * files, and on the command line. They do not depend on the locale.
 *
 * Threads: any. */
#ifndef PATHS_UNITS_H
#define PATHS_UNITS_H

#include <stddef.h>
#include <stdint.h>

/* Read a number with its unit.
 *   number    `64`, `64k` = 64,000, `4M`, `1G`, `256Ki` = 262,144, `1Mi`, `1Gi`
 *   duration  `250ns`, `400us`, `1.5ms`, `2s`, `1min`; nanoseconds come back
 *   rate      `9600bit`, `64kbit`, `10mbit`, `1gbit`, `100B`, `10kB`, `125MB`,
 *             `1GB`; bytes per second come back
 *   offset    a duration with a sign or none: `-3.2s`, `+250us`
 *   ppm       of a counter, by how much it is too fast: `+150ppm`, `-0.5ppm`,
 *             `20ppb`; thousand-millionths come back
 *   real      `12`, `0.5`: from 0, written with digits (strtod knows "inf",
 *             "nan" and exponents too)
 * Errors: PASTSET_EINVAL with a text that says what was expected; `*out` stays
 * as it is. */
int paths_parse_number(const char *text, uint64_t *out);
int paths_parse_duration(const char *text, uint64_t *out_ns);
int paths_parse_rate(const char *text, uint64_t *out_bytes_s);
int paths_parse_offset(const char *text, int64_t *out_ns);
int paths_parse_ppm(const char *text, int64_t *out_ppb);
int paths_parse_real(const char *text, double *out);

/* Write what the functions above read; 32 bytes are enough. Give `buffer`.
 *   duration        four digits: "151.2us"
 *   rate            bytes per second, four digits: "94.12mbit"
 *   exact_duration  to the nanosecond, in milliseconds: "6ms", "0.25ms" */
const char *paths_duration_text(double seconds, char *buffer, size_t bytes);
const char *paths_rate_text(double bytes_s, char *buffer, size_t bytes);
const char *paths_exact_duration_text(uint64_t ns, char *buffer, size_t bytes);

#endif
