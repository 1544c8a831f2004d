/* collective_kinds.h - what collective_stress does together: an element of
 * each kind, what its threads bring to it, and what must come back. All of it
 * follows from who it is and which round it is. */
#ifndef TESTS_PATHS_COLLECTIVE_KINDS_H
#define TESTS_PATHS_COLLECTIVE_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREADS 32
#define TUPLE_BYTES 4096 /* of the largest */

typedef struct kind {
    const char *name; /* of the element, and of the paths to it */
    const char *use;
    const char *attributes; /* of the element */
    size_t bytes;           /* of what a thread brings */
    size_t result_bytes;    /* of what comes back to it */
    bool from_one;          /* only the source of the round brings something */
    bool varies;            /* `bytes` are the most; see length_of() */
    void (*make)(void *tuple, uint32_t thread, uint64_t round);
    bool (*is_right)(const void *result, uint32_t thread, uint64_t round);
} kind;

enum {
    TOTAL,
    BLOCK,
    MEET,
    MAX,
    TOLD,
    ALL,
    PARTS,
    TURNED,
    PRODUCT,
    MIXED,
    KINDS,
};
extern const kind kinds[KINDS];

/* Bits that look random, and are the same for the same numbers. */
uint64_t mix(uint64_t a, uint64_t b);
/* The bytes that are brought, and come back, where that varies. */
size_t length_of(uint64_t round);
/* The thread that brings the tuple, where one does. */
uint32_t source_of(uint64_t round);

#endif
