/* archive_names.c - numbers for the names of streams: a table with open
 * addressing, at most half full. A damaged file may claim any number of
 * streams, so that looking at one after the other would not do. */
#include "scopes/archive/archive_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pastset/status.h"

/* FNV-1a. */
static uint32_t hash(const char *name)
{
    uint32_t h = 2166136261u;

    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return h;
}

/* Where the name is, or the free slot where it would be. */
static uint32_t *slot_find(const archive_names *names, const char *name)
{
    uint32_t mask = names->slot_count - 1;
    uint32_t at = hash(name) & mask;

    while (names->slots[at] &&
           strcmp(names->names[names->slots[at] - 1], name) != 0)
        at = (at + 1) & mask;
    return &names->slots[at];
}

uint32_t scopes__archive_name_find(const archive_names *names, const char *name)
{
    if (!names->slot_count)
        return UINT32_MAX;
    return *slot_find(names, name) - 1; /* free: 0 - 1 is UINT32_MAX */
}

static int slots_grow(archive_names *names)
{
    uint32_t count = names->slot_count ? 2 * names->slot_count : 64;
    uint32_t *old = names->slots;
    uint32_t *slots = calloc(count, sizeof(*slots));

    if (!slots)
        return pastset_fail(PASTSET_ENOMEM, "no memory for %u streams", count);
    names->slots = slots;
    names->slot_count = count;
    for (uint32_t i = 0; i < names->count; i++)
        *slot_find(names, names->names[i]) = i + 1;
    free(old);
    return 0;
}

static int names_grow(archive_names *names)
{
    uint32_t capacity = names->capacity ? 2 * names->capacity : 32;
    const char **more =
        realloc((void *)names->names, capacity * sizeof(names->names[0]));

    if (!more)
        return pastset_fail(PASTSET_ENOMEM, "no memory for %u streams",
                            capacity);
    names->names = more;
    names->capacity = capacity;
    return 0;
}

int scopes__archive_name_add(archive_names *names, const char *name,
                             uint32_t *number)
{
    char *copy;
    int err = 0;

    *number = scopes__archive_name_find(names, name);
    if (*number != UINT32_MAX)
        return 0;
    if (2 * (names->count + 1) > names->slot_count)
        err = slots_grow(names);
    if (!err && names->count == names->capacity)
        err = names_grow(names);
    if (err)
        return err;
    copy = strdup(name);
    if (!copy)
        return pastset_fail(PASTSET_ENOMEM, "no memory for the stream %s",
                            name);
    *slot_find(names, name) = names->count + 1; /* before the count grows */
    names->names[names->count] = copy;
    *number = names->count++;
    return 0;
}

void scopes__archive_names_free(archive_names *names)
{
    for (uint32_t i = 0; i < names->count; i++)
        free((void *)(uintptr_t)names->names[i]);
    free((void *)names->names);
    free(names->slots);
    *names = (archive_names){0};
}
