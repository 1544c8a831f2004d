/* tunables.c - see tunables.h. */
#include "eventspace/run/tunables.h"

#include <stdatomic.h>

bool eventspace_tunable_bounds_read(eventspace_tunable_bounds *out,
                                    pastset_element *element)
{
    size_t bytes = sizeof(*out);

    return strcmp(pastset_element_type(element)->text,
                  EVENTSPACE_TUNABLE_TYPE) == 0 &&
           pastset_read(element, 0, out, &bytes, PASTSET_NOWAIT) == 0;
}

bool eventspace_tunable_at(eventspace_tunable_seen *out, pastset_space *space,
                           size_t index)
{
    pastset_element *element = pastset_space_at(space, index);
    size_t prefix = strlen(EVENTSPACE_TUNABLE_PREFIX);
    const char *name = element ? pastset_element_name(element) : "";

    if (strncmp(name, EVENTSPACE_TUNABLE_PREFIX, prefix) != 0 ||
        !eventspace_tunable_bounds_read(&out->bounds, element))
        return false;
    out->name = name + prefix;
    out->element = element;
    out->value = eventspace_tunable_of_bits(atomic_load_explicit(
        pastset_element_told(element), memory_order_acquire));
    return true;
}
