/* attribute_types.c - the attributes of processes that upper layers read. */
#include "paths/map/attribute_types.h"

#include <string.h>

#include "paths/map/map_internal.h"
#include "paths/map/nearest_word.h"
#include "pastset/status.h"

/* Written before maps are looked at, read afterwards: no lock. */
static const paths_attribute_type *types[PATHS__ATTRIBUTE_TYPES_MAX];
static size_t type_count;

/* Those that this layer reads itself. */
static const char *const own[] = {"address", "polling", "encrypt", "networks"};

/* Those of the graph that nobody registers. */
static const char *const of_graphs[] = {"wrappers",       "trace_policy",
                                        "trace_capacity", "cluster",
                                        "succession",     "restart"};

#define OWN (sizeof(own) / sizeof(*own))
#define OF_GRAPHS (sizeof(of_graphs) / sizeof(*of_graphs))

const char *paths__attribute_meant(const char *key)
{
    const char *words[OWN + OF_GRAPHS + PATHS__ATTRIBUTE_TYPES_MAX];
    size_t count = 0;

    for (size_t i = 0; i < OWN; i++)
        words[count++] = own[i];
    for (size_t i = 0; i < OF_GRAPHS; i++)
        words[count++] = of_graphs[i];
    for (size_t i = 0; i < type_count; i++) {
        if (types[i]->of_processes)
            words[count++] = types[i]->name;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], key) == 0)
            return NULL;
    }
    /* By one letter: programs have words of their own. */
    return paths_word_within(key, words, count, 1);
}

int paths_attribute_register(const paths_attribute_type *type)
{
    if (!type->name || !*type->name)
        return pastset_fail(PASTSET_EINVAL, "an attribute needs a name");
    for (size_t i = 0; i < OWN; i++) {
        if (strcmp(own[i], type->name) == 0)
            return pastset_fail(PASTSET_EEXIST,
                                "there is an attribute \"%s\" already",
                                type->name);
    }
    for (size_t i = 0; i < type_count; i++) {
        if (types[i] == type)
            return 0;
        if (strcmp(types[i]->name, type->name) == 0)
            return pastset_fail(PASTSET_EEXIST,
                                "there is an attribute \"%s\" already",
                                type->name);
    }
    if (type_count == PATHS__ATTRIBUTE_TYPES_MAX)
        return pastset_fail(PASTSET_ELIMIT, "more than %d attributes",
                            PATHS__ATTRIBUTE_TYPES_MAX);
    types[type_count++] = type;
    return 0;
}

const paths_attribute_type *paths_attribute_at(size_t position)
{
    return position < type_count ? types[position] : NULL;
}
