/* detail.c - see detail_internal.h. */
#include "eventspace/collect/detail_internal.h"

#include <stdio.h>

#include "eventspace/collect/regions_internal.h"
#include "eventspace/collect/ticks.h"
#include "eventspace/collect/tunable_internal.h"
#include "eventspace/define/definition.h"
#include "eventspace/run/tunables.h"
#include "paths/engine/process.h"
#include "paths/map/map.h"
#include "pastset/element.h"

int eventspace__detail_initial(uint64_t *out, const paths_map *map)
{
    const char *text =
        paths_attributes_get(&map->attributes, EVENTSPACE__TUNABLE_DETAIL);

    *out = 0;
    if (!text ||
        (paths_parse_number(text, out) == 0 && *out <= EVENTSPACE__DETAIL_MAX))
        return 0;
    return pastset_fail(PASTSET_EMAP,
                        "the graph's " EVENTSPACE__TUNABLE_DETAIL
                        "=\"%.60s\" is not a number from 0 to %d",
                        text, EVENTSPACE__DETAIL_MAX);
}

static int told_find(eventspace__detail *detail, paths_stage *stage)
{
    const paths_map *map = paths_stage_map(stage);
    eventspace_tunable_bounds bounds = {0, 0, EVENTSPACE__DETAIL_MAX};
    pastset_element *element;
    uint64_t initial;
    int err = eventspace__detail_initial(&initial, map);

    if (err)
        return err;
    bounds.initial = (double)initial;
    err = eventspace__tunable_make(&element, paths_stage_process(stage),
                                   EVENTSPACE__TUNABLE_DETAIL, &bounds);
    if (err)
        return err;
    atomic_init(&detail->seen, eventspace_tunable_bits(bounds.initial));
    detail->told = pastset_element_told(element);
    return 0;
}

int eventspace__detail_open(eventspace__detail *detail, uint64_t *level,
                            paths_stage *stage)
{
    uint64_t number;
    int err = paths_node_number(paths_stage_map(stage), paths_stage_node(stage),
                                "detail", 0, &number);

    *level = eventspace_tunable_bits((double)number);
    if (err || number == 0 || detail->told)
        return err;
    return told_find(detail, stage);
}

void eventspace__detail_mark(eventspace__detail *detail, uint64_t told,
                             const paths_operation *op)
{
    eventspace_trace event = {.thread = op->thread,
                              .sequence = op->sequence,
                              .operation = EVENTSPACE_TRACE_MARK};
    eventspace__name name;
    char text[64];

    if (paths_executor() == 0 ||
        atomic_exchange_explicit(&detail->seen, told, memory_order_relaxed) ==
            told)
        return;
    snprintf(text, sizeof(text), EVENTSPACE__TUNABLE_DETAIL " = %.15g",
             eventspace_tunable_of_bits(told));
    event.start = event.end = eventspace_ticks();
    if (eventspace__program_is_recorded() &&
        eventspace__program_name(&name, EVENTSPACE_DEFINES_MARK, text) == 0)
        eventspace__program_event(&name, &event);
}
