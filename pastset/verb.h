/* verb.h - what can be done with elements, and patterns of tuples. */
#ifndef PASTSET_VERB_H
#define PASTSET_VERB_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The numbers are written into trace tuples and onto the wire. */
typedef enum pastset_verb {
    PASTSET_WRITE = 1,
    PASTSET_READ, /* by `index` */
    PASTSET_READ_FIRST,
    PASTSET_READ_LAST,
    PASTSET_READ_NEXT, /* the first tuple at or after `index` */
    PASTSET_READ_MATCH,
    PASTSET_OBSERVE,
    PASTSET_TAKE,
    PASTSET_VERBS, /* of elements: their number, plus one */
    /* A write that brings back a tuple: what paths add to these. */
    PASTSET_EXCHANGE = PASTSET_VERBS,
    PASTSET_ALL_VERBS,
} pastset_verb;

/* "write", "read", "read_first" ...; "?" for a number that is none. */
const char *pastset_verb_name(unsigned verb);

/* Values to match: `values` has the layout of a tuple, and bit i of `fields`
 * says that field i must be equal, byte by byte. For `bytes[N]` field 0 is
 * the whole tuple, `bytes` long. */
typedef struct pastset_pattern {
    uint64_t fields;
    const void *values;
    uint32_t bytes;
} pastset_pattern;

/* longest name of an element, with its 0 */
#define PASTSET_NOWAIT 0
#define PASTSET_FOREVER (-1)

#ifdef __cplusplus
}
#endif

#endif
