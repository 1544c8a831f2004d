/* register_gather.c - makes the wrapper types of gather trees known. */
#include "scopes/wrappers/register_gather.h"

#include "eventspace/register_collectors.h"
#include "scopes/wrappers/leaf_internal.h"

int scopes_register(void)
{
    static const paths_wrapper_type *const types[] = {
        &scopes__traces_type, &scopes__filter_type, &scopes__statistics_type,
        &scopes__recorder_type};
    int err = eventspace_register();

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]) && !err; i++)
        if (paths_wrapper_find(types[i]->name) != types[i])
            err = paths_wrapper_register(types[i]);
    return err;
}
