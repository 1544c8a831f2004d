/* archive_names.c - numbers for the names of streams, by a hash table. A
 * damaged file may claim any number of streams, so that looking at one after
 * the other would not do. */
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#include "scopes/archive/archive_internal.h"

#include <stdlib.h>
#include <string.h>

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

static int names_grow(archive_names *names)
{
    uint32_t capacity = names->capacity ? 2 * names->capacity : 32;
    const char **more =
        realloc((void *)names->names, capacity * sizeof(names->names[0]));

    if (!more)
        return pastset_no_memory("for %u streams", capacity);
    names->names = more;
    names->capacity = capacity;
    return 0;
}

int scopes__archive_name_add(archive_names *names, const char *name,
                             uint32_t *number)
{
    size_t length = strlen(name);
    archive_name *added;
    int err = 0;

    *number = scopes__archive_name_find(names, name);
    if (*number != UINT32_MAX)
        return 0;
    if (names->count == names->capacity)
        err = names_grow(names);
    if (err)
        return err;
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
    names->names[names->count] = added->text;
    *number = names->count++;
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
