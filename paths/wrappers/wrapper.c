/* wrapper.c - the types of wrappers that this process knows: those that come
 * with paths, and then the registered ones.
 *
 * The built-in ones are named here, above all that they are made of. What is
 * below asks only for those that are registered (registry.c). */
#include "paths/wrappers/wrapper.h"

#include <string.h>

#include "paths/wrappers/builtin_internal.h"
#include "paths/wrappers/registry_internal.h"

static const paths_wrapper_type *const builtin[] = {
    &paths__proxy_type,   &paths__delay_type,   &paths__sum_type,
    &paths__min_type,     &paths__max_type,     &paths__product_type,
    &paths__and_type,     &paths__or_type,      &paths__xor_type,
    &paths__reduce_type,  &paths__barrier_type, &paths__broadcast_type,
    &paths__scatter_type, &paths__gather_type,  &paths__alltoall_type,
};

#define BUILTIN (sizeof(builtin) / sizeof(builtin[0]))

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
    const paths_wrapper_type *known;

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
    if (type->element_prefix && !*type->element_prefix)
        return pastset_fail(PASTSET_EINVAL,
                            "wrapper type \"%s\" has an empty element_prefix, "
                            "with which all names begin: give NULL",
                            type->name);
    known = paths_wrapper_find(type->name);
    if (known == type)
        return 0;
    if (known)
        return pastset_fail(PASTSET_EEXIST,
                            "there is a wrapper type \"%s\" already",
                            type->name);
    if (paths_wrapper_at(PATHS__TYPES_MAX - 1))
        return pastset_fail(PASTSET_ELIMIT, "more than %d wrapper types",
                            PATHS__TYPES_MAX);
    paths__registry_add(type);
    return 0;
}

const paths_wrapper_type *paths_wrapper_find(const char *name)
{
    for (size_t i = 0; i < BUILTIN; i++) {
        if (strcmp(builtin[i]->name, name) == 0)
            return builtin[i];
    }
    return paths__registry_find(name);
}

const paths_wrapper_type *paths_wrapper_at(size_t position)
{
    return position < BUILTIN ? builtin[position]
                              : paths__registry_at(position - BUILTIN);
}
