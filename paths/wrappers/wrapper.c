/* wrapper.c - the types of wrappers that this process knows. */
#include "paths/wrappers/wrapper.h"

#include <string.h>

#include "paths/wrappers/builtin_internal.h"

#define TYPES_MAX 64

/* Written before hosts are started, read afterwards: no lock. */
static const paths_wrapper_type *types[TYPES_MAX] = {
    &paths__proxy_type,   &paths__delay_type,   &paths__sum_type,
    &paths__min_type,     &paths__max_type,     &paths__product_type,
    &paths__and_type,     &paths__or_type,      &paths__xor_type,
    &paths__reduce_type,  &paths__barrier_type, &paths__broadcast_type,
    &paths__scatter_type, &paths__gather_type,  &paths__alltoall_type,
};
static size_t type_count = 15;

static bool has_attribute(const paths_wrapper_type *type, const char *key)
{
    for (size_t i = 0; type->attributes && type->attributes[i]; i++) {
        if (strcmp(type->attributes[i], key) == 0)
            return true;
    }
    return false;
}

int paths_wrapper_register(const paths_wrapper_type *type)
{
    if (!type->name || !*type->name || strcmp(type->name, "thread") == 0 ||
        strcmp(type->name, "element") == 0)
        return pastset_fail(PASTSET_EINVAL,
                            "a wrapper type needs a name, and it must not be "
                            "\"thread\" or \"element\"");
    if (type->source && !has_attribute(type, "type"))
        return pastset_fail(PASTSET_EINVAL,
                            "wrapper type \"%s\" is a source: its nodes say "
                            "what its tuples are by the attribute `type`",
                            type->name);
    if (paths_wrapper_find(type->name)) {
        if (paths_wrapper_find(type->name) == type)
            return 0;
        return pastset_fail(PASTSET_EEXIST,
                            "there is a wrapper type \"%s\" already",
                            type->name);
    }
    if (type_count == TYPES_MAX)
        return pastset_fail(PASTSET_ELIMIT, "more than %d wrapper types",
                            TYPES_MAX);
    types[type_count++] = type;
    return 0;
}

const paths_wrapper_type *paths_wrapper_find(const char *name)
{
    for (size_t i = 0; i < type_count; i++) {
        if (strcmp(types[i]->name, name) == 0)
            return types[i];
    }
    return NULL;
}

const paths_wrapper_type *paths_wrapper_at(size_t position)
{
    return position < type_count ? types[position] : NULL;
}
