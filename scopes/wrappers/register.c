/* register.c - makes the wrapper types of gather trees known. */
#include "scopes/wrappers/register.h"

#include "eventspace/register.h"
#include "scopes/gather/gather_internal.h"

bool scopes__gather_meta_take(eventspace_meta *meta, const gather_part *part,
                              const void *body)
{
    eventspace_meta taken;

    if (part->kind != SCOPES_RECORD_META ||
        eventspace_meta_decode(&taken, body, part->bytes, "meta") != 0 ||
        !(taken.tick_hz > 0))
        return false;
    *meta = taken;
    return true;
}

int scopes_register(void)
{
    static const paths_wrapper_type *const types[] = {
        &scopes__gather_traces_type, &scopes__gather_filter_type,
        &scopes__gather_statistics_type};
    int err = eventspace_register();

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]) && !err; i++)
        if (paths_wrapper_find(types[i]->name) != types[i])
            err = paths_wrapper_register(types[i]);
    return err;
}
