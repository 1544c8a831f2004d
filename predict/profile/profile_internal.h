/* profile_internal.h - what the files about profiles share: how a profile is
 * laid out in its file.
 *
 * Behind eight bytes that tell what it is and a version (u32, little-endian)
 * stands one zstd frame with its checksum, and in it one flat msgpack map:
 *
 *   scalars   "command", "wall_ns" ...: texts, unsigned integers, booleans
 *   counts    "nodes", "messages" ...: how many there are of each
 *   columns   "message.bytes" ...: a bin with that number for each message,
 *             one after the other
 *
 * Columns rather than a map for each message: they are read in one pass, and
 * compress better as what stands beside each other is alike. The tables below
 * say where in the structs each belongs; packing and unpacking follow them. */
#ifndef PREDICT_PROFILE_INTERNAL_H
#define PREDICT_PROFILE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "predict/profile/profile.h"

/* No time of a profile is longer: three years. Sums of many fit well. */
#define PREDICT__MAX_NS INT64_C(100000000000000000)

#define PREDICT__MAGIC "ESprofil"
#define PREDICT__MAGIC_BYTES 8
#define PREDICT__VERSION 1
#define PREDICT__HEAD_BYTES (PREDICT__MAGIC_BYTES + 4)

typedef enum predict__coding {
    PREDICT__UNSIGNED, /* 7 bits a byte, lowest first, 0x80: more follow */
    PREDICT__DELTA,    /* the difference from the one before (0 at first), as
                          0 -1 1 -2 2 ..., written like UNSIGNED */
    PREDICT__REAL,     /* f64, little-endian */
    PREDICT__TEXT,     /* the characters and a 0 */
    PREDICT__STEP,     /* of a whole step, like UNSIGNED: its kind in the two
                          lowest bits; above them `ns`, or the DELTA of
                          `message` from that of the last step that had one */
    PREDICT__EARLY,    /* of a step, like UNSIGNED: the `ns` of a RECEIVE, else
                          0 */
} predict__coding;

/* The arrays of a profile. Phases are those of all nodes, one node after the
 * other. */
typedef enum predict__array {
    PREDICT__PLACES,
    PREDICT__NODES,
    PREDICT__PHASES,
    PREDICT__LINKS,
    PREDICT__MESSAGES,
    PREDICT__ACTORS,
    PREDICT__STEPS,
    PREDICT__ARRAYS,
} predict__array;

typedef struct predict__column {
    const char *key;
    predict__array array;
    predict__coding coding;
    uint16_t offset, bytes; /* of the member in an item of the array */
    bool optional;          /* left out where all are 0 */
} predict__column;

typedef enum predict__scalar_kind {
    PREDICT__STRING,
    PREDICT__NUMBER,
    PREDICT__BOOL,
} predict__scalar_kind;

typedef struct predict__scalar {
    const char *key;
    predict__scalar_kind kind;
    size_t offset; /* in predict_profile */
    bool optional; /* 0 where a file does not have it */
} predict__scalar;

#define PREDICT__SCALARS 8
#define PREDICT__COLUMNS 35

extern const predict__scalar predict__scalars[PREDICT__SCALARS];
extern const predict__column predict__columns[PREDICT__COLUMNS];
extern const char *const predict__array_keys[PREDICT__ARRAYS];
extern const size_t predict__item_bytes[PREDICT__ARRAYS];

/* The flat map of a profile. The caller frees `*out`. */
int predict__profile_pack(char **out, size_t *bytes,
                          const predict_profile *profile);
/* From such a map, which may be any bytes; the profile is not checked yet.
 * Errors: PASTSET_EFORMAT, PASTSET_ENOMEM. */
int predict__profile_unpack(predict_profile **out, const uint8_t *data,
                            size_t bytes);

/* As predict_profile_load, of bytes. */
int predict_profile_parse(predict_profile **out, const void *bytes,
                          size_t count);

#endif
