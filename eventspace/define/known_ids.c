/* known_ids.c - see known_ids_internal.h. */
#include "eventspace/define/known_ids_internal.h"

#include <stdlib.h>

#include "pastset/array.h"
#include "pastset/status.h"
#include "paths/map/map.h"

static int compare_id(const void *left, const void *right)
{
    const known_id *a = left, *b = right;

    return a->id < b->id ? -1 : a->id > b->id;
}

uint32_t eventspace__id_known(const known_ids *ids, uint32_t id)
{
    const known_id wanted = {.id = id}, *found = NULL;

    if (ids->count)
        found = bsearch(&wanted, ids->items, ids->count, sizeof(wanted),
                        compare_id);
    return found ? found->index : PATHS_NONE;
}

int eventspace__id_know(known_ids *ids, uint32_t id, uint32_t index)
{
    known_id *more = pastset_array_grow(ids->items, ids->count, sizeof(*more));

    if (!more)
        return pastset_no_memory("for a path map");
    ids->items = more;
    more[ids->count++] = (known_id){id, index};
    return 0;
}
