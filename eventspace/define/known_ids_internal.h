/* known_ids_internal.h - what became of definitions, by their ids, which
 * ascend. */
#ifndef EVENTSPACE_KNOWN_IDS_INTERNAL_H
#define EVENTSPACE_KNOWN_IDS_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

typedef struct known_id {
    uint32_t id, index;
} known_id;

typedef struct known_ids {
    known_id *items; /* to be freed */
    size_t count;
} known_ids;

/* PATHS_NONE: it is not known. */
uint32_t eventspace__id_known(const known_ids *ids, uint32_t id);
/* Errors: PASTSET_ENOMEM. */
int eventspace__id_know(known_ids *ids, uint32_t id, uint32_t index);

#endif
