/* register_conditions.c - what a cluster file says of its machines that path
 * maps need not know: how fast and how loaded they are at present. */
#include "predict/register_conditions.h"

#include "eventspace/register_collectors.h"
#include "paths/map/attribute_types.h"

static const paths_attribute_type attributes[] = {
    {.name = "load", .of_machines = true},
    {.name = "law", .of_machines = true},
    {.name = "speed", .of_machines = true},
    {.name = "processors", .of_machines = true},
    {.name = "place", .of_machines = true},
};

int predict_register(void)
{
    int err = eventspace_register();

    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]) && !err;
         i++)
        err = paths_attribute_register(&attributes[i]);
    return err;
}
