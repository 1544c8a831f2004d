/* archive_names.c - numbers for the names of streams, by a hash table. A
 * damaged file may claim any number of streams, so that looking at one after
 * the other would not do. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "scopes/archive/archive_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/array.h"
#include "pastset/status.h"

struct archive_name {
    UT_hash_handle hh;
    uint32_t number;
    char text[];
};

uint32_t scopes__archive_name_find(const archive_names *names, const char *name)
{
    archive_name *found;

    HASH_FIND_STR(names->by_text, name, found);
    return found ? found->number : UINT32_MAX;
}

int scopes__archive_name_add(archive_names *names, const char *name)
{
    size_t length = strlen(name);
    const char **more =
        pastset_array_grow((void *)names->names, names->count, sizeof(*more));
    archive_name *added;

    if (!more)
        return pastset_no_memory("for %u streams", names->count + 1);
    names->names = more;
    added = malloc(sizeof(*added) + length + 1);
    if (added) {
        added->number = names->count;
        memcpy(added->text, name, length + 1);
        HASH_ADD_KEYPTR(hh, names->by_text, added->text, length, added);
    }
    if (!added || !added->hh.tbl) {
        free(added);
        return pastset_no_memory("for the stream %s", name);
    }
    names->names[names->count++] = added->text;
    return 0;
}

void scopes__archive_names_fini(archive_names *names)
{
    archive_name *name, *next;

    HASH_ITER(hh, names->by_text, name, next)
    {
        HASH_DEL(names->by_text, name);
        free(name);
    }
    free((void *)names->names);
    *names = (archive_names){0};
}
