/* definition_internal.h - definitions, tuple by tuple. */
#ifndef EVENTSPACE_DEFINITION_INTERNAL_H
#define EVENTSPACE_DEFINITION_INTERNAL_H

#include "eventspace/define/definition.h"

#define EVENTSPACE__ATTRIBUTES_MAX 4096 /* of one thing */

typedef struct eventspace_attribute {
    const char *key, *value;
    bool html;
} eventspace_attribute;

/* The attribute at `*at`, which is 0 for the first one and moves on; false:
 * there are no more. */
bool eventspace__definition_attribute(const eventspace_definition *definition,
                                      size_t *at, eventspace_attribute *out);

/* The type of the node that a definition is of. */
const char *
eventspace__definition_type(const eventspace_definition *definition);

/* The next tuple of a definition: `out` has EVENTSPACE_DEFINITION_BYTES, `*at`
 * is 0 for the first one and moves on. 0: there are no more. */
size_t eventspace__definition_encode(void *out, size_t *at,
                                     const eventspace_definition *definition);

/* As eventspace_definition_next, fed with the bytes of one tuple.
 * PASTSET_EAGAIN: it was not the last of a definition, or damaged. */
int eventspace__definition_take(eventspace_definition_reader *reader,
                                const void *tuple, size_t bytes,
                                eventspace_definition *out);

/* Nothing more will come: one that has begun is damaged. */
void eventspace__definition_end(eventspace_definition_reader *reader);

#endif
