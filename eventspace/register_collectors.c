/* register_collectors.c - what this layer adds to path maps: collectors, the
 * counters of processes, and where processes run. */
#include "eventspace/register_collectors.h"

#include <string.h>

#include "eventspace/collect/collector_internal.h"
#include "eventspace/collect/ticks.h"
#include "paths/engine/processors.h"
#include "paths/map/attribute_types.h"
#include "paths/map/map.h"
#include "pastset/status.h"

#define COUNTER_OFFSET_NS_MAX 3600000000000
#define COUNTER_RATE_PPB_MAX 1000000

/* What a process's counter is to be, for tests of clocks. */
static int counter_check(const char *key, const char *text,
                         int (*parse)(const char *text, int64_t *value),
                         int64_t max, const char *max_text)
{
    int64_t value;
    int err = parse(text, &value);

    if (err)
        return pastset_fail_while(err, "%s", key);
    if (value < -max || value > max)
        return pastset_fail(PASTSET_EINVAL, "%s=%s: it must be at most %s", key,
                            text, max_text);
    return 0;
}

static int offset_check(const char *text)
{
    return counter_check("counter_offset", text, paths_parse_offset,
                         COUNTER_OFFSET_NS_MAX, "one hour");
}

static int rate_check(const char *text)
{
    return counter_check("counter_rate", text, paths_parse_ppm,
                         COUNTER_RATE_PPB_MAX, "1000ppm");
}

static int affinity_check(const char *text)
{
    cpu_set_t set;
    int err = paths_processors_parse(&set, text);

    return err ? pastset_fail_while(err, "affinity") : 0;
}

static int netns_check(const char *name)
{
    if (strchr(name, '/') || name[0] == '.')
        return pastset_fail(PASTSET_EINVAL,
                            "netns=\"%s\" is not a name of ip-netns(8)", name);
    return 0;
}

static const paths_attribute_type attributes[] = {
    {.name = "counter_offset", .of_processes = true, .check = offset_check},
    {.name = "counter_rate", .of_processes = true, .check = rate_check},
    {.name = "affinity",
     .of_processes = true,
     .of_machines = true,
     .check = affinity_check},
    {.name = "netns",
     .of_processes = true,
     .of_machines = true,
     .check = netns_check},
};

int eventspace_register(void)
{
    int err = 0;

    eventspace_ticks_init();
    for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]) && !err;
         i++)
        err = paths_attribute_register(&attributes[i]);
    return err ? err : paths_wrapper_register(&eventspace__collector_type);
}
